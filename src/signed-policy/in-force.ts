/** What verifies under a signed policy needs of it, without what reads feeds. */
import type { Policy } from "../appraise/policy.js";

/** What an option `policy` has to be, in messages. */
export const ANY_POLICY = "the result of parsePolicy or openSignedPolicy";

interface Signed {
  readonly policy: Policy;
  current(): Promise<Policy>;
}

const SIGNED = /* @__PURE__ */ new WeakSet<object>();

/** Only {@link openSignedPolicy} makes a signed policy, whose constructor calls this. */
export function markSigned(policy: Signed): void {
  SIGNED.add(policy);
}

export function isSigned(value: unknown): value is Signed {
  return typeof value === "object" && value !== null && SIGNED.has(value);
}

/** Returns the policy in force, for a function that takes either a policy or a signed one. */
export async function policyInForce(policy: Policy | Signed): Promise<Policy> {
  return isSigned(policy) ? policy.current() : policy;
}
