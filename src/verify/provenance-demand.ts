/** What policies demand of builds, and what verifies it (verify/README.md, "Provenance"): types and limits. */
import type { CheckSubject } from "../checks.js";
import type { BuildIdentity } from "../decode/build-identity.js";
import type { InputCopy } from "../decode/input.js";
import type { ProvenanceStatement } from "../decode/provenance-bundle.js";

/** How many of each a bundle must have. The trusted root decides, never the bundle. */
export interface ProvenanceThresholds {
  /** Inclusions in a transparency log: 1 if the root has such logs, otherwise 0. */
  readonly inclusions: number;
  /** Signed certificate timestamps: 1 if the root has certificate transparency logs, otherwise 0. */
  readonly certificateTimestamps: number;
  /** Signed times, by the promise of a log or by a timestamp authority: always 1. */
  readonly signedTimes: number;
}

/** What a {@link ProvenanceVerifier} verified. The bytes are those that it used. */
export interface ProvenanceSignature {
  readonly verified: true;
  /** The certificate whose key signed, in DER. */
  readonly certificate: Uint8Array;
  /** The content of the signed envelope. */
  readonly payload: Uint8Array;
  /** The verified signed times, at least one. */
  readonly signedTimes: readonly Date[];
}

/** The verifier refused the bundle. */
export interface ProvenanceRefusal {
  readonly verified: false;
  /** A phrase for people, without a full stop. */
  readonly reason: string;
}

/**
 * Verifies certificate, log and signature of Sigstore bundles. `sigstoreVerifier` of `bootproof/provenance` makes one:
 * verification itself loads no package for it. It compares no identities: verification does that.
 */
export interface ProvenanceVerifier {
  /**
   * Verifies one bundle under one trusted root, both as JSON text. Resolves to a refusal for any fault of the two, and
   * rejects only where it cannot run.
   */
  verify(
    bundle: string,
    trustedRoot: string,
    thresholds: ProvenanceThresholds,
  ): Promise<ProvenanceSignature | ProvenanceRefusal>;
}

/** A trusted root that a policy names. Each is used alone. */
export interface TrustedRoot {
  /** The file's name in the policy, with its line if the file has several roots. */
  readonly name: string;
  /** Its JSON text: the file, or the line without its line break. */
  readonly text: string;
  /** The file that the policy names; null if the policy has the text itself. */
  readonly file: { readonly name: string; readonly text: string } | null;
  readonly thresholds: ProvenanceThresholds;
}

/** A demand of a policy: its member `provenance` has a list of them. Null and absent members are not compared. */
export interface ProvenanceDemand {
  /** The workload whose digest is demanded; null: the pivot. */
  readonly workload: string | null;
  readonly issuer: string;
  readonly repository?: string;
  readonly repositoryId?: string;
  readonly workflow?: readonly string[];
  readonly ref?: readonly string[];
  readonly signer?: string;
  readonly identity?: string;
  readonly runner?: string;
  readonly trigger?: string;
  readonly commit?: string;
  readonly predicateTypes: readonly string[];
  readonly open: readonly ProvenanceQuestion[];
  readonly trustedRoots: readonly TrustedRoot[];
}

/** What a demand may leave open. */
export const PROVENANCE_QUESTIONS = ["ref", "workflow"] as const;
export type ProvenanceQuestion = (typeof PROVENANCE_QUESTIONS)[number];

/** A demand of the deployment that a boot proof matched. */
export interface HeldDemand {
  /** The boot proof; `policy` where there is none, and a binary was measured. */
  readonly about: CheckSubject;
  readonly deployment: string;
  /** Place in the deployment's list. */
  readonly index: number;
  readonly demand: ProvenanceDemand;
  /** SHA-256 of the pivot or workload in the verified manifest, in hex; null if the manifest has none. */
  readonly digest: string | null;
}

/** The facts of a bundle that passed every check for the demands in `meets`. */
export interface ProvenanceFacts {
  readonly statement: ProvenanceStatement;
  readonly identity: BuildIdentity;
  readonly signedTimes: readonly Date[];
  readonly trustedRoot: Pick<TrustedRoot, "name" | "thresholds"> & { readonly sha256: string };
  readonly meets: readonly HeldDemand[];
}

/** How many bundles one verification accepts: each takes time. */
export const MAX_PROVENANCE = 64;

/** A bundle as JSON text, its bytes, or the copied value. */
export type ProvenanceInput = string | Uint8Array | InputCopy;
