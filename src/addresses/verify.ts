/** Verification of the activities that make addresses, each proof for itself (addresses/README.md, "Evidence"). */
import { requireDerivationPolicy } from "../appraise/derivation.js";
import { type ParsedPolicy, policyShape } from "../appraise/parsed-policy.js";
import { type Policy, policyOfCreation } from "../appraise/policy.js";
import { judgeEvidence } from "../bootproof.js";
import { toHex } from "../bytes.js";
import { type Blamed, CHECK_IDS, type Check, type CheckId, type CheckSubject, checkRow } from "../checks.js";
import { outcomeOf, readActivity } from "../decode/activity.js";
import { isSubOrganizationType } from "../decode/activity-rules.js";
import { type AppProofPayload, decodeAppProof, decodeAppProofPayload } from "../decode/app-proof.js";
import { DERIVATION_TYPE } from "../decode/app-proof-limits.js";
import { decodeBootProof } from "../decode/boot-proof.js";
import { jsonInput, otherMembers, unwrap } from "../decode/input.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { plain, typedOptions } from "../decode/options.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { privateMark } from "../decode/private-mark.js";
import { type MembersOf, demand, list, nonEmptyText, optional } from "../decode/shapes.js";
import { attempt } from "../errors.js";
import { NamedEvidence, VERIFY_OPTIONS, type VerifyOptions, type Setting, namedSharing, settingOf } from "../inputs.js";
import { quoted } from "../report/printable.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { inTurns } from "../verify/in-turns.js";
import { type AddressActivity, readAddressActivity } from "./lists.js";

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
  activityId: demand(nonEmptyText),
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
 * `verified`: every check passed. `refused`: a check or the policy refuses it. `no-boot-proof`: the service has no boot
 * proof of its key. `other`: the policy alone refuses it, as it does not say that this deployment derives addresses.
 */
type AddressProofStatus = "verified" | "refused" | "no-boot-proof" | "other";

export interface AddressProof {
  readonly status: AddressProofStatus;
  /** Null if the payload could not be read. */
  readonly says: ProvenAddress | null;
  /** The deployment of the policy that matched, or null. */
  readonly deployment: string | null;
  /** Ids of the checks that refuse it. Empty unless it is refused. */
  readonly failed: readonly CheckId[];
  /** What weakens the deployment (`policy.scope`). */
  readonly warnings: readonly string[];
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

/** An app proof of the activity. Of its payload, which can be large, only what is needed is kept. */
interface Part {
  readonly json: JsonValue;
  /** Whether the payload can be read. */
  readonly isRead: boolean;
  /** Whether it is of an address, or cannot be read. */
  readonly isOfAddress: boolean;
  readonly says: ProvenAddress | null;
  /** The boot proofs that state its key. Parts of one key share the list. */
  readonly boots: readonly unknown[];
}

interface Judged {
  readonly deployment: string | null;
  /** What weakens the deployment. */
  readonly scope: readonly string[];
  readonly failed: readonly CheckId[];
}

class ActivityRun {
  readonly #facts: AddressActivity;
  readonly #json: JsonObject;
  readonly #options: AddressVerifyOptions;
  readonly #bootProofsOf: ReturnType<typeof byStatedKey>;
  /** Names of the deployments that the policy does not say to derive addresses. */
  readonly #others: ReadonlySet<string>;
  readonly #setting: Setting;

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
    const counting = requireDerivationPolicy(policy);
    const others = policy.deployments.filter(({ name, appProofTypes }) => !counting.has(name) && !appProofTypes);
    this.#others = new Set(others.map(({ name }) => name));
    const json = jsonInput(activity instanceof NamedEvidence ? activity.value : activity);
    this.#facts = readAddressActivity(json);
    this.#json = unwrap(json, "activity") as JsonObject;
    this.#bootProofsOf = byStatedKey(bootProofs);
    const { organizationId } = this.#facts;
    const expected = { organizationId, ...(activityId !== undefined && { id: activityId }) };
    this.#setting = {
      ...settingOf({ ...common, policy: policyOfCreation(policy as ParsedPolicy), expected }),
      isOwnEvidence: true,
    };
  }

  /** Returns null if the activity belongs to another organization, and did not make the one that was asked for. */
  async evidence(): Promise<AddressEvidence | null> {
    const { organizationId, type, subOrganizationId } = this.#facts;
    const { organizationId: asked, parentOrganizationId: parent } = this.#options;
    const isOfParent = organizationId === parent && isSubOrganizationType(type) && subOrganizationId === asked;
    if (organizationId !== asked && !isOfParent) return null;
    const { appProofs = [] } = readActivity(this.#json).value;
    const parts = await inTurns(appProofs, 1, (json) => this.#part(json as JsonValue));
    const judged = await this.#judged(parts.filter(({ boots }) => boots.length > 0));
    const proofs = parts.filter(({ isOfAddress }) => isOfAddress).map((part) => this.#proof(part, judged.get(part)));
    return EVIDENCE.on({ organizationId: asked, activity: this.#facts, proofs: Object.freeze(proofs) });
  }

  #part(json: JsonValue): Part {
    const proof = attempt(() => decodeAppProof(json)).value;
    const { untimed } = this.#options.policy.appProofs;
    const payload = attempt(() => decodeAppProofPayload(proof?.proofPayload ?? "", untimed)).value;
    return {
      json,
      isRead: payload !== undefined,
      isOfAddress: payload === undefined || payload.type === DERIVATION_TYPE,
      says: payload ? sayingOf(payload) : null,
      boots: this.#bootProofsOf(proof && toHex(proof.publicKey)),
    };
  }

  #proof({ says }: Part, judged: Judged | undefined): AddressProof {
    const status = this.#statusOf(judged);
    const failed = status === "refused" ? judged!.failed : [];
    const { deployment = null, scope = [] } = judged ?? {};
    const reasons = status === "verified" ? scope : [];
    const warnings = reasons.map((text) => `the deployment ${quoted(deployment!)}: ${text}.`);
    return Object.freeze({ status, says, deployment, failed, warnings });
  }

  #statusOf(judged: Judged | undefined): AddressProofStatus {
    if (judged === undefined) return "no-boot-proof";
    if (judged.failed.length === 0) return "verified";
    const isOthers =
      judged.failed.every((id) => id === "policy.app-proof") && this.#others.has(judged.deployment ?? "");
    return isOthers ? "other" : "refused";
  }

  /**
   * Judges all proofs at once, then again without those that are refused each by itself, until none is. So a bad one
   * rejects itself alone, and what refuses the rest together refuses each of them.
   */
  async #judged(parts: readonly Part[]): Promise<ReadonlyMap<Part, Judged>> {
    const judged = new Map<Part, Judged>();
    for (let left = parts; left.some(({ isOfAddress }) => isOfAddress);) {
      const { together, alone } = await this.#judge(left);
      // Others may have left no room for a payload that can be read.
      const kept = left.filter((each) => alone.get(each)!.failed.every((id) => id === "app.payload" && each.isRead));
      const isLast = kept.length === left.length;
      for (const [part, each] of alone) judged.set(part, isLast ? { ...each, failed: together } : each);
      left = isLast ? [] : kept;
    }
    return judged;
  }

  /** Verifies the parts. Returns the checks that refuse some of them, and for each part those that refuse it alone. */
  async #judge(parts: readonly Part[]): Promise<{ together: readonly CheckId[]; alone: ReadonlyMap<Part, Judged> }> {
    const activity = withAppProofs(
      this.#json,
      parts.map(({ json }) => json),
    );
    const { provenance = [] } = this.#options;
    const lists = new Set(parts.map(({ boots }) => boots));
    const places = new Map([...new Set([...lists].flat())].map((boot, index) => [boot, index]));
    const judgement = await judgeEvidence({ bootProofs: [...places.keys()], activity, provenance }, this.#setting);
    const refusing = judgement.checks.filter((check) => refuses(check, this.#setting));
    const byPiece = new Map<CheckSubject, CheckId[]>();
    for (const [piece, id] of [...refusing.flatMap(blameOf), ...judgement.blamed()])
      byPiece.set(piece, [...(byPiece.get(piece) ?? []), id]);
    const of = (...pieces: readonly CheckSubject[]): CheckId[] => pieces.flatMap((piece) => byPiece.get(piece) ?? []);
    const ofBoots = new Map([...lists].map((list) => [list, list.flatMap((boot) => of(`boot[${places.get(boot)!}]`))]));
    const { appraisal, appProofs, bootProofs } = judgement;
    const deployments = new Map(bootProofs.map((boot, index) => [boot, appraisal!.deployments[index]]));
    const aloneOf = (part: Part, index: number): Judged => ({
      deployment: deployments.get(appProofs[index]?.bootProof ?? null)?.name ?? null,
      scope: deployments.get(appProofs[index]?.bootProof ?? null)?.scope ?? [],
      failed: inOrder([...ofBoots.get(part.boots)!, ...of(`app[${index}]`, "activity", "policy")]),
    });
    return {
      together: inOrder(refusing.map(({ id }) => id)),
      alone: new Map(parts.map((part, index) => [part, aloneOf(part, index)])),
    };
  }
}

const NONE: readonly unknown[] = [];

/**
 * Returns a function that finds the boot proofs that state a key in hex, or its signing half. If none does, or no key
 * can be read, those whose key could not be read.
 */
function byStatedKey(given: readonly unknown[]): (key: string | undefined) => readonly unknown[] {
  const lists = new Map<string | null | undefined, unknown[]>();
  for (const { input, stated } of given.map(statedBootProof))
    for (const key of [undefined, ...(stated === null ? [null] : [stated, stated.slice(QOS_PUBLIC_KEY_LENGTH)])]) {
      const list = lists.get(key) ?? [];
      lists.set(key, list);
      list.push(input);
    }
  return (key) => lists.get(key) ?? lists.get(null) ?? NONE;
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
  // A key of another length is no key, so that it refuses what names the boot proof.
  const stated = key?.length === QOS_PUBLIC_KEY_LENGTH ? toHex(key) : null;
  return { input: namedSharing(name, copy, ephemeralKey === null ? {} : { ephemeralKey }), stated };
}

/** Returns the piece that fails the check. One that some app proofs fail is the fault of those alone. */
function blameOf({ about, subject, id, status }: Check): Blamed[] {
  const isOfSome = status === "fail" && (id === "activity.claims" || id === "policy.app-proof");
  return isOfSome ? [] : [[about ?? subject, id]];
}

/** Whether the check refuses evidence: it fails or, if the caller is strict, weakens. */
function refuses({ id, status }: Check, { acceptance }: Setting): boolean {
  return status === "fail" || (acceptance === "strict" && status === "warn" && checkRow(id)!.warn === "warning");
}

/** Returns each id once, in the order of reports. */
function inOrder(ids: readonly CheckId[]): readonly CheckId[] {
  return CHECK_IDS.filter((id) => ids.includes(id));
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
