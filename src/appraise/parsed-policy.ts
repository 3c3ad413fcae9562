/**
 * A policy that was read. What reads policies and appraises is in other modules: verification without a policy loads
 * neither.
 */
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

type Appraise = (
  bootProofs: readonly (VerifiedBootProof | VerifiedAttestation | null)[],
  appProofs: readonly (VerifiedAppProof | null)[],
  policy: Policy,
  setting: AppraisalSetting,
) => Appraisal;

/** What a policy has beside its members. */
interface PolicySource {
  /** The bytes that it was read from; null if it was read from a parsed value. */
  readonly bytes: Uint8Array | null;
  readonly appraise: Appraise;
}

/** Only `parsePolicy` makes one: an object that was not read could lack pins, and match any enclave. */
export class ParsedPolicy implements Policy {
  declare readonly name: Policy["name"];
  declare readonly trustAnchors: Policy["trustAnchors"];
  declare readonly deployments: Policy["deployments"];
  declare readonly maxAge: Policy["maxAge"];
  declare readonly appProofs: Policy["appProofs"];
  declare readonly allowDebug: Policy["allowDebug"];
  readonly #source: PolicySource;

  /** @internal */
  constructor(members: Policy, source: PolicySource, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a policy is made by parsePolicy only");
    // With its getter of trust anchors.
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(members));
    this.#source = source;
    Object.freeze(this);
  }

  static is(value: unknown): value is ParsedPolicy {
    return typeof value === "object" && value !== null && #source in value;
  }

  /** A copy of the bytes that it was read from; null if it was read from a parsed value. */
  bytes(): Uint8Array | null {
    return this.#source.bytes?.slice() ?? null;
  }

  /** Appraises verified evidence; null stands for a rejected piece. */
  appraise(
    bootProofs: readonly (VerifiedBootProof | VerifiedAttestation | null)[],
    appProofs: readonly (VerifiedAppProof | null)[],
    setting: AppraisalSetting,
  ): Appraisal {
    return this.#source.appraise(bootProofs, appProofs, this, setting);
  }
}

/** Stays in this module, so that the constructor of a policy makes no other. */
const TOKEN = Symbol();

/** For `parsePolicy` only. */
export function madePolicy(members: Policy, source: PolicySource): ParsedPolicy {
  return new ParsedPolicy(members, source, TOKEN);
}
