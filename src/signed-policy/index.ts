/** Signed policies, beside their state in a file (`node.ts`). */
export { SignedPolicyError } from "./errors.js";
export type { SignedPolicyCode } from "./errors.js";
export type { PolicySigners } from "./feed.js";
export type { SignerKey } from "./keys.js";
export {
  checkFeed,
  cosignPolicy,
  makeSigningKey,
  policyToSign,
  publishPolicy,
  readSigningKey,
  renewPolicy,
  reviewPolicy,
  signPolicy,
} from "./make.js";
export type { PolicyKey } from "./make.js";
export { openSignedPolicy } from "./open.js";
export type { SignedPolicy, SignedPolicyOptions, SignedPolicyState } from "./open.js";
