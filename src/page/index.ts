/** The exports of `bootproof/page`. */
export { plainOptions } from "../plain-settings.js";
export type { PlainOptions } from "../plain-settings.js";
export { renderPage, renderVerifier } from "./page.js";
export type { PageContent } from "./page.js";
