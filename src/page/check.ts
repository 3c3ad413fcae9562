/** Checks a page from outside: makes it again from its data, and compares every byte. */
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { otherMembers, ownMembers, ownOptions } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import { type Fault, MalformedError } from "../errors.js";
import { refusedReport } from "../report/report.js";
import { TOOL } from "../version.js";
import { sha256 } from "../verify/digest.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { MAX_PAGE_BYTES, type PageContent } from "./data.js";
import { readPageData } from "./read-data.js";
import { IDS } from "./ids.js";
import { type PageParts, renderPageContent, renderVerifier, scriptDigest, wholeParts } from "./page.js";
import {
  type JudgedPage,
  type PageDifference,
  type PageSetting,
  type PageSettingCopy,
  SETTING_NAMES,
  judgePage,
  readPageSetting,
} from "./verify.js";

/** A page with evidence needs `policy` and `now`; a page without evidence takes no demands, since it can meet none. */
export interface PageCheckOptions extends PageParts, Partial<PageSetting> {}

export interface PageCheck {
  /** With evidence, without, or null: no page of bootproof, without further results. */
  readonly kind: "report" | "verifier" | null;
  /** The version that made it, as the page states. */
  readonly version: string | null;
  /** SHA-256 of its script, in hex; null without one. */
  readonly script: { readonly found: string | null; readonly expected: string; readonly same: boolean };
  /** Whether this version makes the same bytes from its data. */
  readonly sameBytes: boolean;
  /** The first difference: part of the page, and byte of the file. */
  readonly differsAt: { readonly part: PagePart; readonly byte: number } | null;
  /** Whether verifying its evidence by its own policy gives its report; null without evidence. */
  readonly sameReport: boolean | null;
  readonly differences: readonly PageDifference[];
  /** Why its evidence cannot be verified. */
  readonly faults: readonly Fault[];
  /**
   * The evidence verified by the caller's options; null without evidence, or if it cannot be. Of a page that is not
   * intact the report has `refusedFor`.
   */
  readonly verification: JudgedPage | null;
  /** Who chose the policy, or chose none. Null without evidence. */
  readonly policyFrom: "caller" | "bundle" | null;
  /** The demands of the page's maker; null without readable evidence. */
  readonly made: PageMaking | null;
}

/** The demands of a page's maker. Image, nonce and key are demanded again, the request is not. */
export interface PageMaking {
  /** RFC 3339: the present of the page's report. */
  readonly now: string;
  readonly allowDebug: boolean;
  readonly bootProofsOnly: boolean;
  /** The request, if any. */
  readonly expected: JsonObject | null;
  readonly nonce: string | null;
}

export type PagePart = "head" | "style" | "text" | "data" | "script" | "end";

const GENERATOR = new RegExp(`<meta name="generator" content="${TOOL.name} ([^"<]{1,64})">`);
const DATA_START = `<script type="application/json" id="${IDS.data}">`;
const SCRIPT_START = `<script id="${IDS.script}">`;
const SCRIPT_END = "</script>";

/**
 * Checks a page. Never throws for faults of the page. Throws RangeError above {@link MAX_PAGE_BYTES}; TypeError for
 * invalid options, a page with evidence without a policy, and demands that nothing in the page could meet;
 * {@link MalformedError} for a malformed policy, and if the page's policy loosens what the caller does not.
 * @example
 * ```ts
 * const { sameBytes } = await checkPage(text, { policy: null, now: new Date() });
 * ```
 */
export async function checkPage(html: string | Uint8Array, options: PageCheckOptions): Promise<PageCheck> {
  const bytes = takePage(html);
  const own = ownOptions("options", options, CHECK_NAMES);
  const { policy } = own;
  // Without a policy of the caller: only for a page without evidence.
  const setting = policy === undefined ? null : readPageSetting(otherMembers(own, "script") as PageSetting);
  const text = fromUtf8(bytes) ?? "";
  const parts = await wholeParts(own);
  const version = GENERATOR.exec(text)?.[1] ?? null;
  const data = between(text, DATA_START);
  const script = await scriptFacts(between(text, SCRIPT_START), parts.script);
  if (version === null || (script.found === null && data === null)) return { ...NOT_A_PAGE, version, script };
  const { html: made, ...facts } =
    data === null ? await checkVerifier(parts, own) : await checkData(data, parts, setting);
  const whole = { ...facts, version, script };
  if (made === null) return { ...whole, sameBytes: false, differsAt: null };
  const differsAt = firstDifference(bytes, toUtf8(made));
  if (differsAt === null) return { ...whole, sameBytes: true, differsAt };
  return { ...whole, verification: refusedPage(facts.verification), sameBytes: false, differsAt };
}

const NOT_INTACT =
  `the page is not, byte for byte, the page that ${TOOL.name} ${TOOL.version} makes of its evidence. Only that ` +
  "evidence is verified here, and nothing else that the page shows.";

/** A good verdict on the evidence of a page that is not intact: a reader would take it for one on the page. */
function refusedPage(judged: JudgedPage | null): JudgedPage | null {
  return judged && { ...judged, report: refusedReport(judged.report, [NOT_INTACT]) };
}

function takePage(html: string | Uint8Array): Uint8Array {
  const bytes = typeof html === "string" ? toUtf8(html) : html;
  if (bytes.length > MAX_PAGE_BYTES) throw new RangeError(`the page: more than ${MAX_PAGE_BYTES} bytes`);
  return new Uint8Array(bytes);
}

const CHECK_NAMES: Readonly<Record<keyof PageCheckOptions, true>> = { script: true, ...SETTING_NAMES };

async function scriptFacts(inPage: string | null, ours: string): Promise<PageCheck["script"]> {
  const expected = await scriptDigest(ours);
  const found = inPage === null ? null : toHex(await sha256(toUtf8(inPage)));
  return { found, expected, same: found === expected };
}

type Facts = Omit<PageCheck, "version" | "script">;

const NOTHING = {
  sameReport: null,
  differences: [],
  faults: [],
  verification: null,
  policyFrom: null,
  made: null,
} as const;
const NOT_A_PAGE: Facts = { ...NOTHING, kind: null, sameBytes: false, differsAt: null };

/** `html`: the page as this version makes it; null if it cannot. */
type Checked = Omit<Facts, "sameBytes" | "differsAt"> & { readonly html: string | null };

const NOTHING_TO_JUDGE =
  "the page has no evidence, so that nothing in it could meet a demand: leave the policy and the question out";
const POLICY_WANTED =
  'policy: the page has evidence: expected plain data of a policy, null for none, or in so many words "bundle", the ' +
  "policy that the page's maker chose";

export class PolicyWantedError extends TypeError {}

async function checkVerifier(parts: Required<PageParts>, { policy, expected }: Partial<PageSetting>): Promise<Checked> {
  const isDemand = (policy !== undefined && policy !== null) || expected !== undefined;
  if (isDemand) throw new TypeError(NOTHING_TO_JUDGE);
  return { ...NOTHING, kind: "verifier", html: await renderVerifier(parts) };
}

async function checkData(text: string, parts: Required<PageParts>, setting: PageSettingCopy | null): Promise<Checked> {
  if (setting === null) throw new PolicyWantedError(POLICY_WANTED);
  const policyFrom = setting.policy === "bundle" ? "bundle" : "caller";
  const cache = new SignatureCache();
  let content: PageContent;
  let page: Awaited<ReturnType<typeof renderPageContent>>;
  try {
    content = readPageData(text);
    page = await renderPageContent(content, parts, cache);
  } catch (error) {
    return { ...NOTHING, kind: "report", faults: faultsOf(error), policyFrom, html: null };
  }
  const { same, differences } = page.verification;
  const verification = await judgePage(content, setting, cache);
  const made = makingOf(content);
  return {
    kind: "report",
    sameReport: same,
    differences,
    faults: [],
    verification,
    policyFrom,
    made,
    html: page.html,
  };
}

const MADE_WITH = { now: true, expected: true, nonce: true, allowDebug: true, bootProofsOnly: true } as const;

function makingOf({ options }: PageContent): PageMaking {
  const { now, expected, nonce, allowDebug = false, bootProofsOnly = false } = ownMembers(options, MADE_WITH);
  return {
    now: now.toISOString(),
    allowDebug,
    bootProofsOnly,
    expected: expected === undefined ? null : (expected as unknown as JsonObject),
    nonce: nonce === undefined ? null : toHex(nonce),
  };
}

/** Null for malformed data, or data of no page. Rethrows other errors. */
function faultsOf(error: unknown): readonly Fault[] {
  if (error instanceof TypeError) return [{ path: "", message: error.message }];
  if (!(error instanceof MalformedError)) throw error;
  return error.faults.map(({ path, message }) => ({ path, message: `${error.code}: ${message}` }));
}

/** The content of the first such element; null without one. */
function between(text: string, start: string): string | null {
  const from = text.indexOf(start);
  const to = from < 0 ? -1 : text.indexOf(SCRIPT_END, from);
  return to < 0 ? null : text.slice(from + start.length, to);
}

function firstDifference(page: Uint8Array, made: Uint8Array): PageCheck["differsAt"] {
  let at = 0;
  while (at < made.length && made[at] === page[at]) at++;
  return at === made.length && page.length === at ? null : { part: partAt(made, at), byte: at };
}

/** The start of each part after the head. */
const PART_STARTS: readonly (readonly [PagePart, string])[] = [
  ["style", "<style>"],
  ["text", "</style>"],
  ["data", DATA_START],
  ["script", SCRIPT_START],
  ["end", `\n${SCRIPT_END}`],
];

function partAt(made: Uint8Array, byte: number): PagePart {
  const text = fromUtf8(made)!;
  let part: PagePart = "head";
  let [at, bytes] = [0, 0];
  for (const [name, start] of PART_STARTS) {
    const found = text.indexOf(start, at);
    if (found < 0) continue;
    bytes += toUtf8(text.slice(at, found)).length;
    if (bytes > byte) return part;
    at = found;
    part = name;
  }
  return part;
}
