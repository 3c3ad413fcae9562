/** Verification of the activities that make addresses, each proof for itself (README.md, "Evidence"). */
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import { type Policy, policyOfCreation } from "../appraise/policy.js";
import { type EvidenceVerdict, judgeEvidence } from "../bootproof.js";
import { toHex } from "../bytes.js";
import { type Check, type CheckId, checkRow } from "../checks.js";
import { outcomeOf, readActivity } from "../decode/activity.js";
import { isSubOrganizationType } from "../decode/activity-rules.js";
import { type AppProofPayload, decodeAppProof, decodeAppProofPayload } from "../decode/app-proof.js";
import { decodeBootProof } from "../decode/boot-proof.js";
import { jsonInput, otherMembers, unwrap } from "../decode/input.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { privateMark } from "../decode/private-mark.js";
import { attempt } from "../errors.js";
import { NamedEvidence, type VerifyOptions, readOptions } from "../inputs.js";
import { isAccepted } from "../report/accepted.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { type AddressActivity, readAddressActivity } from "./lists.js";

export const DERIVATION_TYPE = "APP_PROOF_TYPE_ADDRESS_DERIVATION";

/** Options of {@link verifyAddressActivity}. */
export interface AddressVerifyOptions extends Pick<
  VerifyOptions,
  "now" | "at" | "allowDebug" | "acceptance" | "cache" | "provenanceVerifier"
> {
  /** A policy that {@link requireDerivationPolicy} accepts. */
  readonly policy: Policy;
  /** The organization whose addresses are verified. */
  readonly organizationId: string;
  /** Its parent, whose activity made the organization. Without it such an activity is set aside. */
  readonly parentOrganizationId?: string | undefined;
  /** The id by which the activity or its proofs were requested. */
  readonly activityId?: string | undefined;
  /** Sigstore bundles of builds that the policy demands. */
  readonly provenance?: readonly unknown[] | undefined;
}

/** What a derivation proof says. Only that of a proof with the status `verified` is signed by a pinned enclave. */
export interface ProvenAddress {
  readonly organizationId: string;
  /** Null for a private key, which has no wallet. */
  readonly walletId: string | null;
  readonly path: string | null;
  readonly address: string;
  readonly timestampMs: number;
}

/**
 * `verified`: every check passed, in a deployment that derives addresses. `refused`: a check or the policy refuses it.
 * `no-boot-proof`: the service has no boot proof of its key. `other`: every check passed, in a deployment that the
 * policy does not say to derive addresses.
 */
export type AddressProofStatus = "verified" | "refused" | "no-boot-proof" | "other";

export interface AddressProof {
  readonly status: AddressProofStatus;
  /** Null if the payload could not be read. */
  readonly says: ProvenAddress | null;
  /** The deployment of the policy that matched, or null. */
  readonly deployment: string | null;
  /** Ids of the checks that refuse it. Empty unless it is refused. */
  readonly failed: readonly CheckId[];
}

/** An activity and its derivation proofs. Only {@link verifyAddressActivity} makes one. */
export interface AddressEvidence {
  /** The organization whose addresses it was verified for. */
  readonly organizationId: string;
  readonly activity: AddressActivity;
  readonly proofs: readonly AddressProof[];
}

const EVIDENCE = /* @__PURE__ */ privateMark<AddressEvidence>();

/** Throws TypeError for evidence that this package did not make, or made for another organization. */
export function requireAddressEvidence(evidence: unknown, organizationId: string): AddressEvidence {
  if (!EVIDENCE.isOn(evidence))
    throw new TypeError("evidence: expected what verifyAddressActivity returned: a copy proves nothing");
  if (evidence.organizationId !== organizationId)
    throw new TypeError(`evidence: verified for organization ${evidence.organizationId}, expected ${organizationId}`);
  return evidence;
}

/** Thrown for a policy under which another application could sign proofs of addresses. */
export class DerivationPolicyError extends Error {
  override readonly name = "DerivationPolicyError";
  readonly code = "derivation-policy";
}

/** Returns the names of the deployments whose proofs of addresses count. Throws {@link DerivationPolicyError}. */
export function requireDerivationPolicy({ deployments, appProofs }: Policy): ReadonlySet<string> {
  if (appProofs.types !== null && !appProofs.types.includes(DERIVATION_TYPE))
    throw new DerivationPolicyError(
      `the policy's appProofs.types refuses every proof of an address: add "${DERIVATION_TYPE}"`,
    );
  const signing = deployments.filter(({ kind }) => kind === "qos");
  const naming = signing.filter(({ appProofTypes }) => appProofTypes?.includes(DERIVATION_TYPE) === true);
  const namespaces = new Set(signing.flatMap(({ namespace }): readonly (string | null)[] => namespace ?? [null]));
  const counting = namespaces.size === 1 && !namespaces.has(null) ? signing : naming;
  if (counting.length > 0) return new Set(counting.map(({ name }) => name));
  throw new DerivationPolicyError(
    `no deployment of the policy is known to derive addresses, so another application could sign their proofs: add ` +
      `"appProofs": {"types": ["${DERIVATION_TYPE}"]} to the deployment of the signer, or pin one namespace for all`,
  );
}

/**
 * Verifies an activity and each of its derivation proofs. Returns null for an activity of another organization, which
 * is set aside. An activity without app proofs proves nothing, and has no proofs. Throws {@link DerivationPolicyError};
 * `MalformedError` (`activity`, `json`) for what is not an activity; TypeError as `verifyActivity` does.
 */
export async function verifyAddressActivity(
  activity: unknown,
  bootProofs: readonly unknown[],
  options: AddressVerifyOptions,
): Promise<AddressEvidence | null> {
  const run = new ActivityRun(activity, bootProofs, options);
  return run.isOfAnother() ? null : EVIDENCE.on(await run.evidence());
}

/** An app proof of the activity. */
interface Part {
  readonly json: JsonValue;
  readonly payload: AppProofPayload | null;
  /** The boot proofs that state its key. */
  readonly boots: readonly unknown[];
}

interface Judged {
  readonly deployment: string | null;
  readonly failed: readonly CheckId[];
}

class ActivityRun {
  readonly facts: AddressActivity;
  readonly #json: JsonObject;
  readonly #options: AddressVerifyOptions;
  readonly #bootProofs: readonly StatedBootProof[];
  readonly #counting: ReadonlySet<string>;

  constructor(activity: unknown, bootProofs: readonly unknown[], options: AddressVerifyOptions) {
    this.#options = { ...options };
    this.#counting = requireDerivationPolicy(options.policy);
    const json = jsonInput(activity instanceof NamedEvidence ? activity.value : activity);
    this.facts = readAddressActivity(json);
    this.#json = unwrap(json, "activity") as JsonObject;
    this.#bootProofs = bootProofs.map(statedBootProof);
  }

  /** Whether it belongs to another organization, and did not make the one that was asked for. */
  isOfAnother(): boolean {
    const { organizationId, type, subOrganizationId } = this.facts;
    const { organizationId: asked, parentOrganizationId } = this.#options;
    if (organizationId === asked) return false;
    return organizationId !== parentOrganizationId || !isSubOrganizationType(type) || subOrganizationId !== asked;
  }

  async evidence(): Promise<AddressEvidence> {
    const { organizationId } = this.#options;
    return { organizationId, activity: this.facts, proofs: await this.#proofs() };
  }

  async #proofs(): Promise<AddressProof[]> {
    const parts = (readActivity(this.#json).value.appProofs ?? []).map((json) => this.#part(json as JsonValue));
    const judged = await this.#judged(parts.filter(({ boots }) => boots.length > 0));
    return parts.filter(isOfAddress).map((part) => this.#proof(part, judged.get(part)));
  }

  #part(json: JsonValue): Part {
    const proof = attempt(() => decodeAppProof(json)).value;
    const payload = attempt(() =>
      decodeAppProofPayload(proof?.proofPayload ?? "", this.#options.policy.appProofs.untimed),
    );
    const key = proof === undefined ? null : toHex(proof.publicKey);
    const stating = this.#bootProofs.filter(({ stated }) => key !== null && stated?.endsWith(key) === true);
    const boots =
      stating.length > 0 ? stating : this.#bootProofs.filter(({ stated }) => key === null || stated === null);
    return { json, payload: payload.value ?? null, boots: boots.map(({ input }) => input) };
  }

  #proof({ payload }: Part, judged: Judged | undefined): AddressProof {
    const says = payload && sayingOf(payload);
    if (judged === undefined) return Object.freeze({ status: "no-boot-proof", says, deployment: null, failed: [] });
    const { deployment, failed } = judged;
    if (failed.length > 0) return Object.freeze({ status: "refused", says, deployment: null, failed });
    return Object.freeze({ status: this.#counting.has(deployment!) ? "verified" : "other", says, deployment, failed });
  }

  /** Judges all proofs at once. If that refuses them, judges each alone, and then the good ones together. */
  async #judged(parts: readonly Part[]): Promise<ReadonlyMap<Part, Judged>> {
    if (parts.length === 0) return new Map();
    const all = await this.#judge(parts);
    if (parts.length === 1 || isGood(all.get(parts[0]!)!)) return all;
    const judged = new Map<Part, Judged>();
    for (const part of parts) for (const [, each] of await this.#judge([part], true)) judged.set(part, each);
    // A decision of the policy engine that contradicts the activity is not dropped with the proofs that are bad.
    const kept = parts.filter((part) => isGood(judged.get(part)!) || this.#isDecision(part, judged.get(part)!));
    if (kept.some(isOfAddress)) for (const [part, each] of await this.#judge(kept)) judged.set(part, each);
    return judged;
  }

  #isDecision({ payload }: Part, { failed }: Judged): boolean {
    const { organizationId } = payload?.policyOutcomeProof ?? {};
    const isOwn = organizationId === this.facts.organizationId || organizationId === this.#options.organizationId;
    return isOwn && failed.every((id) => id === "activity.claims");
  }

  async #judge(parts: readonly Part[], isAlone = false): Promise<ReadonlyMap<Part, Judged>> {
    const { policy, activityId, provenance, ...rest } = this.#options;
    const options = otherMembers(rest, "organizationId", "parentOrganizationId");
    if (!ParsedPolicy.is(policy)) throw new TypeError("options.policy: expected a policy from parsePolicy");
    const expected = { organizationId: this.facts.organizationId, ...(activityId !== undefined && { id: activityId }) };
    const setting = readOptions({ ...options, policy: policyOfCreation(policy, isAlone), expected });
    const activity = withAppProofs(
      this.#json,
      parts.map(({ json }) => json),
    );
    const bootProofs = [...new Set(parts.flatMap(({ boots }) => boots))];
    const evidence = { bootProofs, activity, ...(provenance && { provenance }) };
    const judgement = await judgeEvidence(evidence, { ...setting, isOwnEvidence: true });
    const failed = await failedChecks(judgement);
    const deployments = parts.map((_, index) => {
      const position = judgement.bootProofs.indexOf(judgement.appProofs[index]?.bootProof ?? null);
      return judgement.appraisal?.deployments[position]?.name ?? null;
    });
    return new Map(parts.map((part, index) => [part, { deployment: deployments[index]!, failed }]));
  }
}

interface StatedBootProof {
  readonly input: unknown;
  /** The key that it states, in hex. Null if it could not be read. */
  readonly stated: string | null;
}

function statedBootProof(input: unknown): StatedBootProof {
  const value = input instanceof NamedEvidence ? input.value : input;
  if (VerifiedBootProof.isVerified(value)) return { input, stated: toHex(value.ephemeralKey) };
  const key = attempt(() => decodeBootProof(value)).value?.ephemeralPublicKey ?? null;
  return { input, stated: key && toHex(key) };
}

function isGood({ failed }: Judged): boolean {
  return failed.length === 0;
}

/** Whether the proof is of an address, or cannot be read. */
function isOfAddress({ payload }: Part): boolean {
  return payload === null || payload.type === DERIVATION_TYPE;
}

function sayingOf({ addressDerivationProof, timestampMs }: AppProofPayload): ProvenAddress | null {
  if (addressDerivationProof === undefined || timestampMs === null) return null;
  const { organizationId, walletId = null, derivationPath: path = null, address } = addressDerivationProof;
  return Object.freeze({ organizationId, walletId, path, address, timestampMs });
}

/** Returns the activity with these app proofs in place of its own. */
function withAppProofs(activity: JsonObject, appProofs: readonly JsonValue[]): JsonObject {
  const { repetition } = outcomeOf(activity);
  return {
    ...activity,
    ...(repetition && { result: { activity: otherMembers(repetition, "appProofs") as JsonObject } }),
    appProofs: [...appProofs],
  };
}

/** Ids of the checks that refuse the evidence: those that fail and, if the caller is strict, those that weaken. */
async function failedChecks({ verdict, checks, report }: EvidenceVerdict): Promise<readonly CheckId[]> {
  const idsOf = (test: (check: Check) => boolean): CheckId[] => [...new Set(checks.filter(test).map(({ id }) => id))];
  if (verdict !== "verified") return idsOf(({ status }) => status === "fail");
  if (isAccepted(await report())) return [];
  return idsOf(({ id, status }) => status === "warn" && checkRow(id)!.warn === "warning");
}
