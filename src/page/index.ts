/** What `bootproof/page` exports. */
export { plainOptions } from "../plain-settings.js";
export type { PlainOptions, PlainPolicy } from "../plain-settings.js";
export { checkPage } from "./check.js";
export type { PageCheck, PageCheckOptions, PageMaking, PagePart } from "./check.js";
export { MAX_PAGE_BYTES, pageData } from "./data.js";
export { readPageData } from "./read-data.js";
export type { BundleBytes, PageContent, PageData, PageEvidence, PieceData, PieceValue } from "./data.js";
export { renderPage, renderVerifier } from "./page.js";
export type { PageParts } from "./page.js";
export { verifyPageData } from "./verify.js";
export type { JudgedPage, PageDifference, PageSetting, PageVerification } from "./verify.js";
