/** The page in one file: the report, the data, and the script that verifies. */
import { toBase64, toHex, toUtf8 } from "../bytes.js";
import { ownOptions } from "../decode/input.js";
import { printableJson } from "../decode/json.js";
import { MalformedError } from "../errors.js";
import type { Notice } from "../report/facts.js";
import type { Report } from "../report/report.js";
import { carriesNonce } from "../report/statements.js";
import { TOOL } from "../version.js";
import { sha256 } from "../verify/digest.js";
import type { SignatureCache } from "../verify/signature-cache.js";
import { MAX_PAGE_BYTES, type PageContent, type PageData, pageData } from "./data.js";
import { readPageData } from "./read-data.js";
import { IDS } from "./ids.js";
import { type Markup, type MarkupNode, element, toHtml } from "./markup.js";
import { PAGE_STYLE } from "./page-style.js";
import { STYLE } from "./style.js";
import { type PageVerification, reproducePage } from "./verify.js";
import { NOTHING_VERIFIED, verifierView } from "./verifier-view.js";
import { shownReport, titleOf, titleText } from "./shown.js";
import { thisPage } from "./this-page.js";

const WHOLE_STYLE = STYLE + PAGE_STYLE;

export interface PageParts {
  /** Default: the script of this package, which `npm run build` makes. */
  readonly script?: string;
}

function ownParts(parts: PageParts): PageParts {
  return ownOptions("parts", parts, { script: true });
}

export async function wholeParts({ script }: PageParts): Promise<Required<PageParts>> {
  return { script: script ?? (await import("#page-script")).PAGE_SCRIPT };
}

/**
 * The page of a verification. The evidence is verified again: throws Error if the report differs, for example one under
 * other options; {@link MalformedError} (`page`) for evidence whose page would be too large to be read; and as
 * {@link pageData} and `reproducePage` do.
 * @example
 * ```ts
 * const options = { policy, now: new Date() };
 * const { report } = await verifyEvidence(evidence, options);
 * const html = await renderPage({ evidence, options: plainOptions(options), report });
 * ```
 */
export async function renderPage(content: PageContent, parts: PageParts = {}): Promise<string> {
  const own = ownParts(parts);
  const data = readPageData(JSON.stringify(pageData(content)));
  const page = await renderPageContent(data, await wholeParts(own));
  const [difference] = page.verification.differences;
  if (difference !== undefined) {
    const { place, page: given, anew } = difference;
    throw new Error(`the report is not of this evidence and these options: ${place} is ${given}, and ${anew} anew`);
  }
  return page.html;
}

/** The page from the data of another page, with a new report. */
export async function renderPageContent(
  content: PageContent,
  parts: Required<PageParts>,
  cache?: SignatureCache,
): Promise<{ readonly html: string; readonly verification: PageVerification }> {
  const verification = await reproducePage(content, cache);
  const { report } = verification;
  const body = [
    ...(await shownReport(verification, makersNotes(report))),
    "\n",
    thisPage(await scriptDigest(parts.script), "report"),
  ];
  const data = pageData({ ...content, report });
  const html = await documentOf({ title: titleOf(verification), body, data }, parts);
  return { html, verification };
}

/** A reader must not take the maker's nonce or challenge for the reader's own. */
function makersNotes(report: Report): Notice[] {
  const { claims } = report;
  if (claims === null) return [];
  const { bootProofs, appProofs, activity } = claims;
  const chosen = [
    ...(bootProofs.some((_, index) => carriesNonce(report, index)) ? ["the nonce"] : []),
    ...(appProofs.some(({ answers }) => answers) ? ["the challenge"] : []),
    ...(appProofs.some(({ expectation }) => typeof expectation === "number") ? ["the expected payloads"] : []),
    ...(activity !== null && activity.asked.length > 0 ? ["the request"] : []),
  ];
  if (chosen.length === 0) return [];
  const text = `“You” and “your” on this page mean its maker, who chose ${chosen.join(", ")}.`;
  return [{ kind: "note", text }];
}

/** The page that verifies dropped files. */
export async function renderVerifier(parts: PageParts = {}): Promise<string> {
  const own = await wholeParts(ownParts(parts));
  const body = [...verifierView(), "\n", thisPage(await scriptDigest(own.script), "verifier")];
  return documentOf({ title: titleText(NOTHING_VERIFIED), body, data: null }, own);
}

interface Document {
  readonly title: string;
  readonly body: readonly MarkupNode[];
  readonly data: PageData | null;
}

async function documentOf({ title, body, data }: Document, { script }: Required<PageParts>): Promise<string> {
  const content = scriptContent(script);
  const head = element(
    "head",
    {},
    "\n",
    element("meta", { "http-equiv": "Content-Security-Policy", content: await contentPolicy(content) }),
    ...lines(
      element("meta", { charset: "utf-8" }),
      element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      element("meta", { name: "color-scheme", content: "light dark" }),
      element("meta", { name: "referrer", content: "no-referrer" }),
      element("meta", { name: "generator", content: `${TOOL.name} ${TOOL.version}` }),
      // Without one, browsers request it from the server.
      element("link", { rel: "icon", href: "data:," }),
      element("title", {}, title),
      element("style", {}, WHOLE_STYLE),
    ),
    "\n",
  );
  const end = [
    ...(data === null ? [] : [element("script", { type: "application/json", id: IDS.data }, dataText(data))]),
    element("script", { id: IDS.script }, content),
  ];
  const main = element("main", {}, "\n", ...body, "\n");
  const page = element(
    "html",
    { lang: "en" },
    "\n",
    head,
    "\n",
    element("body", {}, ...lines(main, ...end), "\n"),
    "\n",
  );
  return boundedText(page);
}

const MAX_PAGE_MIB = MAX_PAGE_BYTES / 1024 / 1024;

/** Not larger than a page that can be read and checked. */
function boundedText(page: Markup): string {
  const { value } = attemptRange(() => `<!doctype html>\n${toHtml([page], MAX_PAGE_BYTES)}\n`);
  if (value !== undefined && utf8Length(value) <= MAX_PAGE_BYTES) return value;
  const message = `its page would be larger than ${MAX_PAGE_MIB} MiB, the most that page --verify reads`;
  throw new MalformedError("page", [{ path: "evidence", message }]);
}

function attemptRange(make: () => string): { readonly value: string | undefined } {
  try {
    return { value: make() };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { value: undefined };
  }
}

/** Counts bytes only if the characters could exceed the limit. */
function utf8Length(text: string): number {
  return 3 * text.length <= MAX_PAGE_BYTES ? text.length : toUtf8(text).length;
}

/** Script and data are on their own lines, for tools that read lines. */
function lines(...elements: readonly Markup[]): MarkupNode[] {
  return elements.flatMap((each) => ["\n", each]);
}

/** Escapes every character that could end the element, or begin another one. */
function dataText(data: PageData): string {
  return printableJson(JSON.stringify(data)).replaceAll("<", "\\u003c");
}

/** Only ASCII, so that every reader of the file decodes it alike. */
function scriptContent(script: string): string {
  if (!/^[\n\x20-\x7e]+$/.test(script)) throw new Error("the script: expected printable ASCII and line feeds");
  return script.endsWith("\n") ? script : `${script}\n`;
}

/** The digest of the script between its tags. */
export async function scriptDigest(script: string): Promise<string> {
  return toHex(await sha256(toUtf8(scriptContent(script))));
}

/** Nothing is loaded, sent or submitted; only this script runs, and it cannot make elements from text. */
async function contentPolicy(script: string): Promise<string> {
  const [scriptHash, styleHash] = await Promise.all([script, WHOLE_STYLE].map(async (text) => sha256(toUtf8(text))));
  return [
    "default-src 'none'",
    `script-src 'sha256-${toBase64(scriptHash!)}'`,
    `style-src 'sha256-${toBase64(styleHash!)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}
