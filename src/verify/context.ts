/** What verification takes from its caller: nothing is read from a clock or a network inside. */
import type { Expectation } from "./expectation.js";
import type { SignatureCache } from "./signature-cache.js";
import type { TrustAnchor } from "./trust-anchor.js";

export interface VerifyContext {
  readonly trustAnchors: readonly TrustAnchor[];
  /** The present, for "in the future". */
  readonly now: Date;
  /** The moment certificates are held against: the document's own time, the present, or an instant. */
  readonly at: "document" | "now" | Date;
  /** Debug mode becomes a warning. */
  readonly allowDebug: boolean;
  /** PCRs that each document has to attest, whatever a policy says; null where nobody gave any. */
  readonly measurements: ReadonlyMap<number, Uint8Array> | null;
  /** The nonce that was asked for; null where none was. */
  readonly nonce: Uint8Array | null;
  /** What was asked of activities and app proofs; null where nobody said. */
  readonly expectation: Expectation | null;
  readonly cache: SignatureCache;
  /** The same app proof is not expected again: what is valid of those is not remembered. */
  readonly appProofsOnce?: boolean;
}

/** How far the clocks of verifier and enclave may differ (verify/README.md, "App proofs"), in milliseconds. */
export const SKEW_MS = 60_000;
