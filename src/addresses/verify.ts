/** Verification of the activities that make addresses, each proof for itself (addresses/README.md, "Evidence"). */
import { type ParsedPolicy, policyShape } from "../appraise/parsed-policy.js";
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
import { plain, typedOptions } from "../decode/options.js";
import { privateMark } from "../decode/private-mark.js";
import { type MembersOf, list, nonEmptyText, optional } from "../decode/shapes.js";
import { attempt } from "../errors.js";
import {
  NamedEvidence,
  VERIFY_OPTIONS,
  type VerifyOptions,
  type VerifySetting,
  namedSharing,
  readOptions,
} from "../inputs.js";
import { isAccepted } from "../report/accepted.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { type AddressActivity, readAddressActivity } from "./lists.js";

const DERIVATION_TYPE = "APP_PROOF_TYPE_ADDRESS_DERIVATION";

type OwnOptions = "now" | "at" | "allowDebug" | "acceptance" | "cache" | "provenanceVerifier";

/** Options of {@link verifyAddressActivity}. */
export interface AddressVerifyOptions extends Pick<VerifyOptions, OwnOptions> {
  readonly policy: Policy;
  /** The organization whose addresses are verified. */
  readonly organizationId: string;
  /** Its parent, whose activity made the organization. Without it such an activity is set aside. */
  readonly parentOrganizationId?: string;
  /** The id by which the activity or its proofs were requested. */
  readonly activityId?: string;
  /** Sigstore bundles of builds that the policy demands. */
  readonly provenance?: readonly unknown[];
}

const { now, at, allowDebug, acceptance, cache, provenanceVerifier } = VERIFY_OPTIONS;
const OPTIONS: MembersOf<AddressVerifyOptions> = {
  ...{ now, at, allowDebug, acceptance, cache, provenanceVerifier },
  policy: policyShape,
  organizationId: nonEmptyText,
  parentOrganizationId: optional(nonEmptyText),
  activityId: optional(nonEmptyText),
  provenance: optional(list(plain)),
};

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
  return new ActivityRun(activity, bootProofs, options).evidence();
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
  readonly #facts: AddressActivity;
  readonly #json: JsonObject;
  readonly #options: AddressVerifyOptions;
  readonly #bootProofs: readonly StatedBootProof[];
  readonly #counting: ReadonlySet<string>;
  readonly #settings: Readonly<Record<"together" | "alone", VerifySetting>>;

  /** Copies its arguments, so that later changes of the caller have no effect. */
  constructor(activity: unknown, bootProofs: readonly unknown[], given: AddressVerifyOptions) {
    const options = typedOptions("options", given, OPTIONS);
    const { activityId, policy } = options;
    const common = otherMembers(
      options,
      "organizationId",
      "parentOrganizationId",
      "activityId",
      "policy",
      "provenance",
    );
    this.#options = options;
    this.#counting = requireDerivationPolicy(policy);
    const json = jsonInput(activity instanceof NamedEvidence ? activity.value : activity);
    this.#facts = readAddressActivity(json);
    this.#json = unwrap(json, "activity") as JsonObject;
    this.#bootProofs = bootProofs.map(statedBootProof);
    const { organizationId } = this.#facts;
    const expected = { organizationId, ...(activityId !== undefined && { id: activityId }) };
    const settingOf = (isAlone: boolean): VerifySetting => ({
      ...readOptions({ ...common, policy: policyOfCreation(policy as ParsedPolicy, isAlone), expected }),
      isOwnEvidence: true,
    });
    this.#settings = { together: settingOf(false), alone: settingOf(true) };
  }

  /** Returns null if the activity belongs to another organization, and did not make the one that was asked for. */
  async evidence(): Promise<AddressEvidence | null> {
    const { organizationId, type, subOrganizationId } = this.#facts;
    const { organizationId: asked, parentOrganizationId: parent } = this.#options;
    const isOfParent = organizationId === parent && isSubOrganizationType(type) && subOrganizationId === asked;
    if (organizationId !== asked && !isOfParent) return null;
    const parts = (readActivity(this.#json).value.appProofs ?? []).map((json) => this.#part(json as JsonValue));
    const judged = await this.#judged(parts.filter(({ boots }) => boots.length > 0));
    const proofs = parts.filter(isOfAddress).map((part) => this.#proof(part, judged.get(part)));
    return EVIDENCE.on({ organizationId: asked, activity: this.#facts, proofs: Object.freeze(proofs) });
  }

  #part(json: JsonValue): Part {
    const proof = attempt(() => decodeAppProof(json)).value;
    const { untimed } = this.#options.policy.appProofs;
    const payload = attempt(() => decodeAppProofPayload(proof?.proofPayload ?? "", untimed)).value ?? null;
    const key = proof && toHex(proof.publicKey);
    const stating = this.#bootProofs.filter(({ stated }) => key !== undefined && stated?.endsWith(key) === true);
    const unread = this.#bootProofs.filter(({ stated }) => key === undefined || stated === null);
    return { json, payload, boots: (stating.length > 0 ? stating : unread).map(({ input }) => input) };
  }

  #proof({ payload }: Part, judged: Judged | undefined): AddressProof {
    const { deployment = null, failed = [] } = judged ?? {};
    return Object.freeze({ status: this.#statusOf(judged), says: payload && sayingOf(payload), deployment, failed });
  }

  #statusOf(judged: Judged | undefined): AddressProofStatus {
    if (judged === undefined) return "no-boot-proof";
    if (judged.failed.length > 0) return "refused";
    return this.#counting.has(judged.deployment!) ? "verified" : "other";
  }

  /** Judges all proofs at once. If that refuses them, judges each alone, and then the good ones together. */
  async #judged(parts: readonly Part[]): Promise<ReadonlyMap<Part, Judged>> {
    if (parts.length === 0) return new Map();
    const all = await this.#judge(parts, "together");
    if (parts.length === 1 || isGood(all.get(parts[0]!)!)) return all;
    const judged = new Map<Part, Judged>();
    for (const part of parts) judged.set(part, (await this.#judge([part], "alone")).get(part)!);
    // A decision of the policy engine that contradicts the activity is not dropped with the proofs that are bad.
    const kept = parts.filter((part) => isGood(judged.get(part)!) || this.#isDecision(part, judged.get(part)!));
    if (kept.some(isOfAddress)) for (const [part, each] of await this.#judge(kept, "together")) judged.set(part, each);
    return judged;
  }

  #isDecision({ payload }: Part, { failed }: Judged): boolean {
    const { organizationId } = payload?.policyOutcomeProof ?? {};
    const isOwn = organizationId === this.#facts.organizationId || organizationId === this.#options.organizationId;
    return isOwn && failed.every((id) => id === "activity.claims");
  }

  async #judge(parts: readonly Part[], how: "together" | "alone"): Promise<ReadonlyMap<Part, Judged>> {
    const activity = withAppProofs(
      this.#json,
      parts.map(({ json }) => json),
    );
    const { provenance = [] } = this.#options;
    const bootProofs = [...new Set(parts.flatMap(({ boots }) => boots))];
    const judgement = await judgeEvidence({ bootProofs, activity, provenance }, this.#settings[how]);
    const failed = await failedChecks(judgement);
    const { appraisal, appProofs } = judgement;
    const boots = new Map(judgement.bootProofs.map((each, index) => [each, appraisal!.deployments[index] ?? null]));
    const deploymentOf = (index: number): string | null => boots.get(appProofs[index]?.bootProof ?? null)?.name ?? null;
    return new Map(parts.map((part, index) => [part, { deployment: deploymentOf(index), failed }]));
  }
}

interface StatedBootProof {
  readonly input: unknown;
  /** The key that it states, in hex. Null if it could not be read. */
  readonly stated: string | null;
}

function statedBootProof(given: unknown): StatedBootProof {
  const named = given instanceof NamedEvidence ? given : new NamedEvidence(null, given);
  const { name, value, ephemeralKey } = named;
  if (VerifiedBootProof.isVerified(value)) return { input: given, stated: toHex(value.ephemeralKey) };
  const copy = attempt(() => jsonInput(value)).value ?? null;
  const key = attempt(() => decodeBootProof(copy)).value?.ephemeralPublicKey ?? null;
  return { input: namedSharing(name, copy, ephemeralKey === null ? {} : { ephemeralKey }), stated: key && toHex(key) };
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
