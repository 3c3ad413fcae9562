/** `bootproof/diff`: what differs between two pieces of evidence, manifests, policies or images. */
export { diffImages, diffUnverified } from "./diff.js";
export type { Change, DiffInput, Difference } from "./diff.js";
export { CHANGE_IDS } from "./changes.js";
export { renderDiff } from "./text.js";
