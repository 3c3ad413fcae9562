/** Verified build provenance: signed statements of where a binary was built (verify/README.md, "Provenance"). */
import { toHex, toUtf8 } from "../bytes.js";
import type { CheckSubject } from "../checks.js";
import type { BuildIdentity } from "../decode/build-identity.js";
import type { GithubRelease } from "../decode/github-release.js";
import type { ProvenanceStatement } from "../decode/provenance-bundle.js";
import { sha256 } from "./digest.js";
import type { RunProvenanceChecks } from "./provenance-checks.js";
import type {
  HeldDemand,
  ProvenanceFacts,
  ProvenanceInput,
  ProvenanceThresholds,
  ProvenanceVerifier,
} from "./provenance-demand.js";

/** A bundle that meets a demand of the policy. Only verification makes one. */
export class VerifiedProvenance {
  readonly #verified = true;
  readonly statement: ProvenanceStatement;
  /** Identity in the certificate that signed. */
  readonly identity: BuildIdentity;
  /** The release, if the demands are on a release of GitHub. Otherwise null. */
  readonly release: GithubRelease | null;
  /** Signed times in RFC 3339. */
  readonly signedTimes: readonly string[];
  /** The trusted root under which the bundle was verified: its name in the policy, and SHA-256 of its text in hex. */
  readonly trustedRoot: { readonly name: string; readonly sha256: string };
  /** Thresholds of that root. */
  readonly demanded: ProvenanceThresholds;
  /** The demands that the bundle meets. */
  readonly meets: readonly MetDemand[];

  /** @internal */
  constructor(facts: ProvenanceFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedProvenance is made by verification only");
    const { name, sha256, thresholds } = facts.trustedRoot;
    this.statement = facts.statement;
    this.identity = facts.identity;
    this.release = facts.release && Object.freeze({ ...facts.release });
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

interface MetDemand {
  readonly bootProof: CheckSubject;
  readonly deployment: string;
  readonly workload: string | null;
  /** SHA-256 in hex. */
  readonly digest: string;
}

function metDemand({ about, deployment, demand, digest }: HeldDemand): MetDemand {
  return Object.freeze({ bootProof: about, deployment, workload: demand.workload, digest: digest! });
}

/** A token that stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

interface CheckedProvenance extends Pick<RunProvenanceChecks, "checklists" | "unmet"> {
  /** The verified bundles, with null for a bundle that meets no demand. */
  readonly verified: readonly (VerifiedProvenance | null)[];
}

/** Returns SHA-256 of a text in hex. */
async function digestOf(text: string): Promise<string> {
  return toHex(await sha256(toUtf8(text)));
}

/** Compares bundles with the demands of the policy. Loads the checks unless there is nothing to check. */
export async function checkProvenance(
  inputs: readonly ProvenanceInput[],
  demands: readonly HeldDemand[],
  verifier: ProvenanceVerifier | null,
): Promise<CheckedProvenance> {
  if (inputs.length === 0 && demands.length === 0) return { verified: [], checklists: [], unmet: [] };
  const { runProvenanceChecks } = await import("./provenance-checks.js");
  const { facts, ...checked } = await runProvenanceChecks(inputs, demands, { verifier, digestOf });
  return { ...checked, verified: facts.map((each) => each && new VerifiedProvenance(each, TOKEN)) };
}
