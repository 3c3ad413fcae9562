/** The policies that were read and found well-formed: apart from what reads them, for who only verifies. */
import type { Policy } from "./policy.js";

/** The bytes of each policy, where it was given as such. */
const parsedPolicies = new WeakMap<object, Uint8Array | null>();

/** Only for what reads policies: nothing else has found one well-formed. */
export function keepParsed(policy: Policy, bytes: Uint8Array | null): void {
  parsedPolicies.set(policy, bytes);
}

/**
 * Whether `parsePolicy` made it: nothing else was found well-formed, and an object without pins would fit anything.
 */
export function isPolicy(value: unknown): value is Policy {
  return typeof value === "object" && value !== null && parsedPolicies.has(value);
}

/**
 * A copy of the bytes that the policy was read from, of its text in UTF-8; null where it was given as a parsed value.
 */
export function policyBytes(policy: Policy): Uint8Array | null {
  return parsedPolicies.get(policy)?.slice() ?? null;
}
