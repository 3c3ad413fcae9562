/** The exports of `bootproof/page`. */
export { evidenceInPage } from "../bundle/page.js";
export { plainOptions } from "../plain-settings.js";
export type { PlainOptions, PlainPolicy } from "../plain-settings.js";
export { renderPage, renderVerifier } from "./page.js";
export type { PageContent } from "./page.js";
