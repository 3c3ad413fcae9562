/** The report: a public contract (`bootproof-report/1`). Data only; `text.ts` makes it readable, `json.ts` a file. */
import type { Check } from "../checks.js";
import type { ManifestVersion } from "../decode/manifest/index.js";
import type { JsonObject } from "../decode/json.js";

/**
 * `verified`: every check passed, and the deployment is one that the policy pins. `authentic`: every check passed, and
 * the caller asked for no policy: a genuine enclave, anybody's. `rejected`: a check failed.
 */
export type Verdict = "verified" | "authentic" | "rejected";

export interface Report {
  readonly format: "bootproof-report/1";
  readonly verdict: Verdict;
  /** The policy's name; null where none was given, or it has none. */
  readonly policy: string | null;
  /** RFC 3339, the moment certificates were held against; null where it could not be read from the evidence. */
  readonly validationTime: string | null;
  /** Ordered by subject, then as in the table of checks. */
  readonly checks: readonly Check[];
  /** What was verified, and nothing else; null where the verdict is `rejected`. */
  readonly claims: Claims | null;
}

export interface Claims {
  readonly bootProofs: readonly BootProofClaims[];
  readonly appProofs: readonly AppProofClaims[];
  readonly activity: ActivityClaims | null;
}

/** All byte strings in lower-case hex, all times in RFC 3339. */
export interface BootProofClaims {
  /** Name of the trust anchor that the certificate path starts at. */
  readonly trustAnchor: string;
  readonly documentTime: string;
  readonly moduleId: string;
  /** By index: those that the document attests. */
  readonly pcrs: Readonly<Record<string, string>>;
  /** An enclave or an application in debug mode, which the caller allowed: nothing about its code is proven. */
  readonly debug: boolean;
  /** The attested key; null in a bare document without one. */
  readonly publicKey: string | null;
  /** As attested; null where there is none. */
  readonly userData: string | null;
  /** Null for a bare document. */
  readonly manifest: ManifestClaims | null;
  /** What the enclave itself committed to: null for a bare document. */
  readonly commitment: "live" | "setup" | "legacy" | null;
  /** Name of the deployment of the policy that matched (or its place in the policy); null without a policy. */
  readonly deployment: string | null;
}

export interface ManifestClaims {
  readonly version: ManifestVersion;
  readonly hash: string;
  readonly namespace: string;
  readonly nonce: number;
  readonly quorumKey: string;
  readonly pivotHash: string;
  readonly pivotArgs: readonly string[];
  readonly threshold: number;
  readonly members: number;
  /** Members of the manifest set whose approvals were verified. */
  readonly approvedBy: readonly { readonly alias: string; readonly pubKey: string }[];
}

export interface AppProofClaims {
  /** Index of the boot proof that it was judged under. */
  readonly bootProof: number;
  readonly type: string;
  readonly time: string;
  /** The signed payload, whole. */
  readonly payload: JsonObject;
}

export interface ActivityClaims {
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  /** Addresses in its result that a verified app proof backs. */
  readonly coveredAddresses: readonly string[];
  readonly uncoveredAddresses: readonly string[];
}
