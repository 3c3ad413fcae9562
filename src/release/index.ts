/** `bootproof/release`: manifests and approvals that a service publishes, checked and pinned. */
export { readRelease } from "./release.js";
export type { ReadReleaseOptions, Release } from "./release.js";
export { checkReleases } from "./check.js";
export type { CheckReleasesOptions, ReleaseCheck } from "./check.js";
export { releasePolicy } from "./policy.js";
export type { ReleasePolicyOptions } from "./policy.js";
export { renderReleaseCheck } from "./text.js";
