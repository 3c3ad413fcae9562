/** Build provenance: signed statements of where a binary was built (verify/README.md, "Provenance"). */
import { toHex, toUtf8 } from "../bytes.js";
import type { CheckSubject, Checklist } from "../checks.js";
import type { BuildIdentity } from "../decode/build-identity.js";
import type { InputCopy } from "../decode/input.js";
import type { ProvenanceStatement } from "../decode/provenance-bundle.js";
import { sha256 } from "./digest.js";

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
  /** The boot proof. */
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

/** A bundle that meets a demand of the policy. Only verification makes one. */
export class VerifiedProvenance {
  readonly #verified = true;
  readonly statement: ProvenanceStatement;
  /** By the certificate that signed. */
  readonly identity: BuildIdentity;
  /** In RFC 3339. */
  readonly signedTimes: readonly string[];
  /** The root of the policy under which it was verified: its name there, and SHA-256 of its JSON text in hex. */
  readonly trustedRoot: { readonly name: string; readonly sha256: string };
  /** What that root demands of a bundle. */
  readonly demanded: ProvenanceThresholds;
  /** The demands that it meets: the boot proof, the deployment's name, the workload (null: the pivot), the digest. */
  readonly meets: readonly MetDemand[];

  /** @internal */
  constructor(facts: ProvenanceFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedProvenance is made by verification only");
    const { name, sha256, thresholds } = facts.trustedRoot;
    this.statement = facts.statement;
    this.identity = facts.identity;
    this.signedTimes = Object.freeze(facts.signedTimes.map((time) => time.toISOString()));
    this.trustedRoot = Object.freeze({ name, sha256 });
    this.demanded = Object.freeze({ ...thresholds });
    this.meets = Object.freeze(facts.meets.map(metDemand));
    Object.freeze(this);
  }

  static isVerified(value: unknown): value is VerifiedProvenance {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

export interface MetDemand {
  readonly bootProof: CheckSubject;
  readonly deployment: string;
  readonly workload: string | null;
  /** SHA-256, in hex. */
  readonly digest: string;
}

function metDemand({ about, deployment, demand, digest }: HeldDemand): MetDemand {
  return Object.freeze({ bootProof: about, deployment, workload: demand.workload, digest: digest! });
}

/** Stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

/** How many bundles one verification accepts: each takes time. */
export const MAX_PROVENANCE = 64;

/** A bundle as JSON text, its bytes, or the copied value. */
export type ProvenanceInput = string | Uint8Array | InputCopy;

interface CheckedProvenance {
  /** Null for a bundle that meets no demand. */
  readonly verified: readonly (VerifiedProvenance | null)[];
  readonly checklists: readonly Checklist[];
}

/** SHA-256 of a text, in hex. */
async function digestOf(text: string): Promise<string> {
  return toHex(await sha256(toUtf8(text)));
}

/** Compares bundles with the demands of the policy. Loads the checks unless there is nothing to check. */
export async function checkProvenance(
  inputs: readonly ProvenanceInput[],
  demands: readonly HeldDemand[],
  verifier: ProvenanceVerifier | null,
): Promise<CheckedProvenance> {
  if (inputs.length === 0 && demands.length === 0) return { verified: [], checklists: [] };
  const { runProvenanceChecks } = await import("./provenance-checks.js");
  const { facts, checklists } = await runProvenanceChecks(inputs, demands, { verifier, digestOf });
  return { verified: facts.map((each) => each && new VerifiedProvenance(each, TOKEN)), checklists };
}
