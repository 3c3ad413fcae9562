/** The error of signed policies. */

export type SignedPolicyCode =
  | "malformed"
  | "signatures"
  | "name"
  | "version"
  | "fork"
  | "previous"
  | "state"
  | "fetch";

/** Facts of a refusal. Each is present where the code is about it. */
interface SignedPolicyFacts {
  /** Version of the refused payload. */
  readonly version?: number;
  /** How many keys of the set signed, how many must, and the key ids of those that did. */
  readonly counted?: number;
  readonly needed?: number;
  readonly keyids?: readonly string[];
}

/** Thrown if a signed policy is refused. It is never a verdict: without a policy, nothing can be judged. */
export class SignedPolicyError extends Error {
  override readonly name = "SignedPolicyError";
  readonly code: SignedPolicyCode;
  readonly facts: SignedPolicyFacts;

  constructor(code: SignedPolicyCode, message: string, facts: SignedPolicyFacts = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.facts = facts;
  }

  /** Whether the feed contradicts what was accepted before: it was rolled back or forked. */
  get isContradiction(): boolean {
    return ["version", "fork", "previous"].includes(this.code);
  }
}
