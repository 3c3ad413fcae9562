/** `bootproof/bundle`: evidence, policy and options in one file. */
export { decodeBundle } from "./file.js";
export type { Bundle } from "./file.js";
export { packBundle, packEvidence, selfContainedPolicy } from "./pack.js";
export type { PackOptions } from "./pack.js";
export { evidenceInPage } from "./page.js";
export { POLICY_OF_THE_BUNDLE, verifyBundle } from "./verify.js";
export type { BundleVerification, BundleVerifyOptions } from "./verify.js";
