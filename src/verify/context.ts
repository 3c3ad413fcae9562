/** Arguments of verification, which reads no clock and no network. */
import type { Expectation } from "./expectation.js";
import type { SignatureCache } from "./signature-cache.js";
import type { TrustAnchor } from "./trust-anchor.js";

/** Revocation lists of the caller, which are decoded only when a path is there to look up. */
export interface RevocationLists {
  /** The name by which reports call a list, and its bytes. */
  readonly given: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** Names of the lists whose issuer was in a path. Verification adds them. */
  readonly applied: Set<string>;
}

export interface VerifyContext {
  readonly trustAnchors: readonly TrustAnchor[];
  readonly now: Date;
  /** Validation time of certificates. */
  readonly at: "document" | "now" | Date;
  readonly allowDebug: boolean;
  /** PCRs that each document must attest; null if the caller pinned none. */
  readonly measurements: ReadonlyMap<number, Uint8Array> | null;
  /** Nonce of each document. Null means that documents must have none. */
  readonly nonce: Uint8Array | null;
  /** The caller's expectation. Null means that nothing is expected. */
  readonly expectation: Expectation | null;
  /** Types of app proof that need no time. */
  readonly untimed: readonly string[];
  readonly cache: SignatureCache;
  readonly crls: RevocationLists;
  /** Whether valid signatures of app proofs bypass the cache. */
  readonly appProofsOnce?: boolean;
}

/** Allowed difference between the clocks of verifier and enclave (verify/README.md, "App proofs"). */
export const SKEW_MS = 60_000;

/** How far after `now` documents, revocation lists and signed policies may be dated, since clocks differ. */
export const AHEAD_MS = 5 * 60_000;
