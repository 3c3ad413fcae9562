/** `bootproof/inspect`: what a file is, and what it says, without verification. */
export { inspectImageUnverified, inspectUnverified } from "./inspect.js";
export type { InspectOptions, Inspection } from "./inspect.js";
export { kindOf } from "./kinds.js";
export type { EvidenceKind } from "./kinds.js";
export { describeUnrecognised } from "./unrecognised.js";
export { renderInspection } from "./text.js";
