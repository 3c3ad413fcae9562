/** Types of parsed policies. Verification without a policy does not load the modules that read and apply them. */
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
  /** Trust anchors. Each read returns new copies. */
  readonly trustAnchors: readonly TrustAnchor[];
  readonly deployments: readonly DeploymentPins[];
  /** Null means that evidence of any age passes. */
  readonly maxAge: number | null;
  readonly appProofs: AppProofRules;
  readonly allowDebug: boolean;
  /** The version of the signed policy, or null for a policy that is not signed. */
  readonly signed: SignedFacts | null;
}

/** A version of a signed policy that enough keys signed (signed-policy/README.md). */
export interface SignedFacts {
  /** What its signers and consumers call it, such as `prod/signer`. */
  readonly name: string;
  readonly version: number;
  /** SHA-256 of the signed payload in lower-case hex. */
  readonly sha256: string;
  /** Times in RFC 3339 as they were signed. */
  readonly issuedAt: string;
  readonly expiresAt: string;
  /** Key ids of those who signed. */
  readonly signedBy: readonly string[];
  /** Whether the consumer keeps a state, so that no older version can be shown to it again. */
  readonly remembered: boolean;
  /** The envelope as JSON text. A bundle shows it. */
  readonly envelope: string;
}

/** The type of a signed policy in its envelope. */
export const PAYLOAD_TYPE = "application/vnd.bootproof.signed-policy+json";

/** The pins of one deployment. An undefined member is not pinned. Of several accepted values, one must match. */
export interface DeploymentPins extends Pins {
  /** Name of the deployment. Default: its place in the file, for example `deployments[0]`. */
  readonly name: string;
  readonly kind: DeploymentKind;
  /** The questions that are declared open. */
  readonly open: readonly Question[];
  /** Types of app proof that its enclaves may sign. Null means any that the policy allows. */
  readonly appProofTypes: readonly string[] | null;
  /** Whether signatures of its enclaves over any bytes count. Its app proofs of known types then do not. */
  readonly appProofBytes: boolean;
}

export interface AppProofRules {
  /** Accepted types. Null means any type. */
  readonly types: readonly string[] | null;
  readonly maxAge: number | null;
  /** The types that need no time. */
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
  /** The bytes from which the policy was read, or its signed payload, or the JSON text of the parsed value. */
  readonly content: Uint8Array;
  readonly isText: boolean;
  readonly appraise: Appraise;
  readonly demands: Demands;
}

/** A policy that only `parsePolicy` makes, because any other object could lack pins and match any enclave. */
export class ParsedPolicy implements Policy {
  declare readonly name: Policy["name"];
  declare readonly trustAnchors: Policy["trustAnchors"];
  declare readonly deployments: Policy["deployments"];
  declare readonly maxAge: Policy["maxAge"];
  declare readonly appProofs: Policy["appProofs"];
  declare readonly allowDebug: Policy["allowDebug"];
  declare readonly signed: Policy["signed"];
  readonly #source: PolicySource;

  /** @internal */
  constructor(members: Policy, source: PolicySource, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a policy is made by parsePolicy only");
    // Copying the descriptors keeps `trustAnchors` a getter, so each read returns new copies.
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(members));
    this.#source = source;
    Object.freeze(this);
  }

  static is(value: unknown): value is ParsedPolicy {
    return typeof value === "object" && value !== null && #source in value;
  }

  /**
   * Returns a copy of the bytes from which the policy was read, or null if it was read from a parsed value. For a
   * signed policy they are the payload that was signed.
   */
  bytes(): Uint8Array | null {
    return this.#source.isText ? this.content() : null;
  }

  /** Returns a copy of {@link bytes}, or of the JSON text of the parsed value. */
  content(): Uint8Array {
    return this.#source.content.slice();
  }

  /** Appraises verified evidence. Rejected evidence is passed as null. */
  appraise(
    bootProofs: readonly (VerifiedBootProof | VerifiedAttestation | null)[],
    appProofs: readonly (VerifiedAppProof | null)[],
    setting: AppraisalSetting,
  ): Appraisal {
    return this.#source.appraise(bootProofs, appProofs, this, setting);
  }

  /** Returns the demands on builds of the deployments that match the boot proofs. */
  demands(bootProofs: readonly (VerifiedBootProof | null)[], now: Date): readonly HeldDemand[] {
    return this.#source.demands(bootProofs, this, now);
  }
}

/** A token that is not exported, so that `policy.constructor` cannot make another policy. */
const TOKEN = Symbol();

/** Makes a policy. Only `parsePolicy` may call it. */
export function madePolicy(members: Policy, source: PolicySource): ParsedPolicy {
  return new ParsedPolicy(members, source, TOKEN);
}

/** Returns the first deployment that demands provenance of a build. */
export function demandingDeployment({ deployments }: Pick<Policy, "deployments">): DeploymentPins | undefined {
  return deployments.find(({ provenance }) => provenance !== undefined);
}

export const policyShape: Shape<Policy> = /* @__PURE__ */ simple(
  "a policy from parsePolicy",
  (value): value is Policy => ParsedPolicy.is(value),
);
