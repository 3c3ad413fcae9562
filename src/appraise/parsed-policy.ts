/** A policy once it was read, and which policies were: apart from what reads them, for who only verifies. */
import type { VerifiedAppProof } from "../verify/app-proof.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import type { Appraisal, AppraisalSetting } from "./appraisal.js";
import type { DeploymentKind, Pins } from "./pins.js";
import type { Question } from "./questions.js";

/** A policy that was read and found well-formed. Durations are in milliseconds. It cannot be changed, at any depth. */
export interface Policy {
  readonly name: string | null;
  /** Copies: the policy keeps its own. */
  readonly trustAnchors: readonly TrustAnchor[];
  readonly deployments: readonly DeploymentPins[];
  readonly maxAge: number | null;
  readonly appProofs: AppProofRules;
  readonly allowDebug: boolean;
}

/**
 * What one deployment pins. What is undefined is not pinned; where a list is given, one of its values has to be met.
 */
export interface DeploymentPins extends Pins {
  /** Its place in the file, such as `deployments[0]`, where the file names none. */
  readonly name: string;
  readonly kind: DeploymentKind;
  readonly open: readonly Question[];
  /** The types of app proof that its enclaves may sign; null: any that the policy allows. */
  readonly appProofTypes: readonly string[] | null;
}

export interface AppProofRules {
  /** Null: any type. */
  readonly types: readonly string[] | null;
  readonly maxAge: number | null;
  readonly required: boolean;
  readonly coverage: boolean;
  readonly decision: boolean;
}

/** What reading a policy leaves for those who verify under it. */
interface Parsed {
  /** Those that it was read from; null where it was given as a parsed value. */
  readonly bytes: Uint8Array | null;
  readonly appraise: Appraise;
}

type Appraise = (
  bootProofs: readonly (VerifiedBootProof | VerifiedAttestation | null)[],
  appProofs: readonly (VerifiedAppProof | null)[],
  policy: Policy,
  setting: AppraisalSetting,
) => Appraisal;

const parsedPolicies = new WeakMap<object, Parsed>();

/** Only for what reads policies: nothing else has found one well-formed. */
export function keepParsed(policy: Policy, parsed: Parsed): void {
  parsedPolicies.set(policy, parsed);
}

/**
 * Whether `parsePolicy` made it: nothing else was found well-formed, and an object without pins would fit anything.
 */
export function isPolicy(value: unknown): value is Policy {
  return parsedPolicies.has(value as object);
}

/**
 * A copy of the bytes that the policy was read from, of its text in UTF-8; null where it was given as a parsed value.
 */
export function policyBytes(policy: Policy): Uint8Array | null {
  return parsedPolicies.get(policy)?.bytes?.slice() ?? null;
}

/**
 * Holds verified evidence against the policy, as `appraise.ts` does it; null stands for a piece that was rejected. It
 * comes with the policy, so that who verifies without one does not load it.
 */
export const appraiseUnder: Appraise = (bootProofs, appProofs, policy, setting) =>
  parsedPolicies.get(policy)!.appraise(bootProofs, appProofs, policy, setting);
