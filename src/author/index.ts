/** `bootproof/author`: policies made of evidence, builds and releases, edited, and explained. */
export { makeBuildPolicy, makePolicy, makeReleasePolicy, pinPolicy, policyFromRelease } from "../appraise/pin.js";
export type { BuildOptions, MadePolicy, PinOptions, ReleaseOptions } from "../appraise/pin.js";
export { addToPolicy, dropDeployment } from "../appraise/edit.js";
export type { AddOptions, EditedPolicy } from "../appraise/edit.js";
export { DemandError } from "../appraise/siblings.js";
export { pinProvenance } from "../appraise/pin-provenance.js";
export type { PinProvenanceOptions } from "../appraise/pin-provenance.js";
export { compareBuild, compareMeasured } from "../appraise/measured.js";
export type { Measured, MeasuredComparison } from "../appraise/measured.js";
export { checkPolicy, describePolicy } from "../appraise/describe.js";
export type { PolicyCheck, PolicyDescription } from "../appraise/describe.js";
export { renderPolicyCheck } from "../show/policy.js";
export { manifestHash } from "../verify/manifest-binding.js";
