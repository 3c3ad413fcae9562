/** Verified results from clients of other SDKs of this service. None of them is imported. */
export { UnverifiedMethodError, reportOf, stamperFrom, verified } from "./verified.js";
export type { ForeignClient, ForeignStamper, VerifiedOptions } from "./verified.js";
