/** Policies that were read. Reading and appraisal are in other modules, which verification without a policy omits. */
import { type Shape, simple } from "../decode/shapes.js";
import type { VerifiedAppProof } from "../verify/app-proof.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { HeldDemand } from "../verify/provenance-demand.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import type { Appraisal, AppraisalSetting } from "./appraisal.js";
import type { DeploymentKind, Pins } from "./pins.js";
import type { Question } from "./questions.js";

/** A well-formed policy, immutable at every depth. Durations are in milliseconds. */
export interface Policy {
  readonly name: string | null;
  /** New copies each time. */
  readonly trustAnchors: readonly TrustAnchor[];
  readonly deployments: readonly DeploymentPins[];
  readonly maxAge: number | null;
  readonly appProofs: AppProofRules;
  readonly allowDebug: boolean;
}

/** The pins of one deployment. An undefined member is not pinned; of a list one value must match. */
export interface DeploymentPins extends Pins {
  /** Default: its place in the file, for example `deployments[0]`. */
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
  /** The types that may have no time. */
  readonly untimed: readonly string[];
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

type Demands = (bootProofs: readonly (VerifiedBootProof | null)[], policy: Policy, now: Date) => readonly HeldDemand[];

interface PolicySource {
  /** The bytes that it was read from, or the JSON text of the parsed value. */
  readonly content: Uint8Array;
  readonly isText: boolean;
  readonly appraise: Appraise;
  readonly demands: Demands;
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
    // Keeps `trustAnchors` a getter.
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(members));
    this.#source = source;
    Object.freeze(this);
  }

  static is(value: unknown): value is ParsedPolicy {
    return typeof value === "object" && value !== null && #source in value;
  }

  /** A copy of the bytes that it was read from; null if it was read from a parsed value. */
  bytes(): Uint8Array | null {
    return this.#source.isText ? this.content() : null;
  }

  /** A copy of {@link bytes}, or of the JSON text of the parsed value. */
  content(): Uint8Array {
    return this.#source.content.slice();
  }

  /** Appraises verified evidence; null stands for a rejected piece. */
  appraise(
    bootProofs: readonly (VerifiedBootProof | VerifiedAttestation | null)[],
    appProofs: readonly (VerifiedAppProof | null)[],
    setting: AppraisalSetting,
  ): Appraisal {
    return this.#source.appraise(bootProofs, appProofs, this, setting);
  }

  /** What the deployments that the boot proofs match demand of the builds. */
  demands(bootProofs: readonly (VerifiedBootProof | null)[], now: Date): readonly HeldDemand[] {
    return this.#source.demands(bootProofs, this, now);
  }
}

/** Not exported: `policy.constructor` makes no other policy. */
const TOKEN = Symbol();

/** For `parsePolicy` only. */
export function madePolicy(members: Policy, source: PolicySource): ParsedPolicy {
  return new ParsedPolicy(members, source, TOKEN);
}

/** The first deployment that demands provenance of a build. */
export function demandingDeployment({ deployments }: Pick<Policy, "deployments">): DeploymentPins | undefined {
  return deployments.find(({ provenance }) => provenance !== undefined);
}

export const policyShape: Shape<Policy> = /* @__PURE__ */ simple(
  "a policy from parsePolicy",
  (value): value is Policy => ParsedPolicy.is(value),
);
