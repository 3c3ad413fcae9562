/** Signed policies, beside their state in a file (`node.ts`). */
export { SignedPolicyError } from "./errors.js";
export type { SignedPolicyCode, SignedPolicyFacts } from "./errors.js";
export type { PolicySigners } from "./feed.js";
export { openSignedPolicy } from "./open.js";
export type { SignedPolicy, SignedPolicyOptions, SignedPolicyState } from "./open.js";
