/** Verified results from clients of other SDKs of this service, and from any fetch. No SDK is imported. */
export { UnverifiedMethodError, stamperFrom, verified } from "./verified.js";
export type { ForeignClient, ForeignStamper, VerifiedOptions } from "./verified.js";
export { parsePolicy } from "../appraise/policy.js";
export { verifiedFetch } from "./fetch.js";
export type { VerifiedFetchOptions } from "./fetch.js";
export type { UnverifiedReport } from "./results.js";
export { isUnproven, reportOf, tokenReportOf } from "./results.js";
export { createDoor } from "./create-door.js";
export type { DoorOptions, SharedDoor } from "../door/door.js";
export { RejectedAuthProxyError } from "../door/errors.js";
