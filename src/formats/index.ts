/** The machine-readable formats as functions: `bootproof/formats`. */
export { bundleNotices } from "../bundle/text.js";
export { type EarOptions, renderEar } from "./ear.js";
export { renderGithub } from "./github.js";
export { renderJunit } from "./junit.js";
export { renderMarkdown } from "./markdown.js";
export { renderSarif } from "./sarif.js";
export { type VsaOptions, renderVsa } from "./vsa.js";
