/** Types and limits of build provenance: demands of policies, and the verifier (verify/README.md, "Provenance"). */
import type { CheckSubject } from "../checks.js";
import type { BuildIdentity } from "../decode/build-identity.js";
import type { GithubRelease } from "../decode/github-release.js";
import type { InputCopy } from "../decode/input.js";
import type { ProvenanceStatement } from "../decode/provenance-bundle.js";

/** Minimum counts in a bundle. The trusted root decides them, never the bundle. */
export interface ProvenanceThresholds {
  /** Inclusions in a transparency log: 1 if the root has such logs, otherwise 0. */
  readonly inclusions: number;
  /** Signed certificate timestamps: 1 if the root has certificate transparency logs, otherwise 0. */
  readonly certificateTimestamps: number;
  /** Signed times by the promise of a log or by a timestamp authority. The value is always 1. */
  readonly signedTimes: number;
}

/** Result of a {@link ProvenanceVerifier} for a verified bundle. The bytes are those that were verified. */
export interface ProvenanceSignature {
  readonly verified: true;
  /** The certificate whose key signed, in DER. */
  readonly certificate: Uint8Array;
  /** The content of the signed envelope. */
  readonly payload: Uint8Array;
  /** The verified signed times, at least one. */
  readonly signedTimes: readonly Date[];
}

/** Result for a bundle that the verifier refused. */
export interface ProvenanceRefusal {
  readonly verified: false;
  /** Reason as a phrase for people, without a full stop. */
  readonly reason: string;
}

/**
 * Verifies certificate, log and signature of Sigstore bundles, but compares no identities. Make one with
 * `sigstoreVerifier` of `bootproof/provenance`: verification itself loads no Sigstore package.
 */
export interface ProvenanceVerifier {
  /**
   * Verifies one bundle under one trusted root, both as JSON text. Resolves to a refusal if either has a fault, and
   * rejects only if it cannot run.
   */
  verify(
    bundle: string,
    trustedRoot: string,
    thresholds: ProvenanceThresholds,
  ): Promise<ProvenanceSignature | ProvenanceRefusal>;
}

/** A trusted root that a policy names. Roots are never merged. */
export interface TrustedRoot {
  /** The file's name in the policy, with the line number if the file has several roots. */
  readonly name: string;
  /** JSON text of the root: the whole file, or one line of it without the line break. */
  readonly text: string;
  /** The file that the policy names, or null if the policy has the text itself. */
  readonly file: { readonly name: string; readonly text: string } | null;
  readonly thresholds: ProvenanceThresholds;
}

/** A demand in the list `provenance` of a policy. No bundle meets demands of both kinds. */
export type ProvenanceDemand = WorkflowDemand | GithubReleaseDemand;

interface AnyDemand {
  /** The workload whose digest is demanded. Null means the pivot. */
  readonly workload: string | null;
  readonly trustedRoots: readonly TrustedRoot[];
}

/** A demand on the run of a build that attested the binary. Absent members are not compared. */
export interface WorkflowDemand extends AnyDemand {
  readonly githubRelease?: never;
  readonly issuer: string;
  readonly repository?: string;
  readonly repositoryId?: string;
  readonly workflow?: readonly string[];
  readonly ref?: readonly string[];
  readonly signer?: string;
  readonly identity?: string;
  readonly runner?: string;
  readonly trigger?: string;
  /** Commit of 40 hex digits. */
  readonly commit?: string;
  readonly predicateTypes: readonly string[];
  readonly open: readonly ProvenanceQuestion[];
}

/** A demand that GitHub states of an immutable release that it carries the binary. */
export interface GithubReleaseDemand extends AnyDemand {
  readonly githubRelease: DemandedRelease;
}

/** A release. Without a tag, any release of the repository is accepted. */
export interface DemandedRelease extends Omit<GithubRelease, "tag"> {
  readonly tag?: string;
  /** The subdomain of an enterprise on ghe.com. Absent for github.com. */
  readonly tenant?: string;
}

/** Members that a demand may omit if it declares them open. */
export const PROVENANCE_QUESTIONS = ["ref", "workflow"] as const;
export type ProvenanceQuestion = (typeof PROVENANCE_QUESTIONS)[number];

/** A demand of the deployment that a boot proof matched. */
export interface HeldDemand {
  /** The boot proof, or `policy` if a binary was measured and there is no boot proof. */
  readonly about: CheckSubject;
  readonly deployment: string;
  /** Index in the deployment's list. */
  readonly index: number;
  readonly demand: ProvenanceDemand;
  /** SHA-256 in hex of the pivot or workload in the verified manifest, or null if the manifest has none. */
  readonly digest: string | null;
}

/** The facts of a bundle that passed every check for the demands in `meets`. */
export interface ProvenanceFacts {
  readonly statement: ProvenanceStatement;
  readonly identity: BuildIdentity;
  /** The release, if the demands are on a release. Otherwise null. */
  readonly release: GithubRelease | null;
  readonly signedTimes: readonly Date[];
  readonly trustedRoot: Pick<TrustedRoot, "name" | "thresholds"> & { readonly sha256: string };
  readonly meets: readonly HeldDemand[];
}

/** Maximum number of bundles in one verification. Each takes time. */
export const MAX_PROVENANCE = 64;

/** A bundle as JSON text, its bytes, or the copied value. */
export type ProvenanceInput = string | Uint8Array | InputCopy;
