/** Checks a page from outside: whether it is, byte for byte, what this version makes of what it carries. */
import type { PlainPolicy } from "../appraise/plain-policy.js";
import { fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { copyPlain, ownOptions } from "../decode/input.js";
import { type Fault, MalformedError } from "../errors.js";
import { TOOL } from "../version.js";
import { sha256 } from "../verify/digest.js";
import { MAX_PAGE_BYTES, type PageContent, readPageData } from "./data.js";
import { IDS } from "./ids.js";
import { type PageParts, renderPageContent, renderVerifier, scriptDigest } from "./page.js";
import { type PageDifference, type PageVerification, verifyContent } from "./verify.js";

export interface PageCheckOptions extends PageParts {
  /** The caller's own: the evidence is held against it, and not only against the page's, which its maker chose. */
  readonly policy?: PlainPolicy;
}

const CHECK_OPTIONS: Readonly<Record<keyof PageCheckOptions, true>> = { script: true, policy: true };

export interface PageCheck {
  /** What it is: with evidence, without, or no page of bootproof at all, of which nothing else is said. */
  readonly kind: "report" | "verifier" | null;
  /** The version that the page says made it; null where it says none. */
  readonly version: string | null;
  /** SHA-256 of its script, in hex: null where there is none. */
  readonly script: { readonly found: string | null; readonly expected: string; readonly same: boolean };
  /** It is, byte for byte, what this version makes of what it carries. */
  readonly sameBytes: boolean;
  /** Where it first is not: which part of the page, and at which byte of the file. */
  readonly differsAt: { readonly part: PagePart; readonly byte: number } | null;
  /** Its report is what its evidence yields by the page's own policy; null where there is none. */
  readonly sameReport: boolean | null;
  readonly differences: readonly PageDifference[];
  /** Why what it carries cannot be verified. */
  readonly faults: readonly Fault[];
  /** The evidence verified anew: by the caller's policy where one was given, else by the page's. */
  readonly verification: PageVerification | null;
  readonly policyFrom: "caller" | "page";
}

/** Parts of a page, in their order. */
export type PagePart = "head" | "style" | "text" | "data" | "script" | "end";

const GENERATOR = new RegExp(`<meta name="generator" content="${TOOL.name} ([^"<]{1,64})">`);
const DATA_START = `<script type="application/json" id="${IDS.data}">`;
const SCRIPT_START = `<script id="${IDS.script}">`;
const SCRIPT_END = "</script>";

/**
 * Checks a page. Never throws for what is wrong with it. Throws RangeError for one of more than {@link MAX_PAGE_BYTES},
 * and {@link MalformedError} for a policy of the caller's that is none.
 */
export async function checkPage(html: string | Uint8Array, options: PageCheckOptions): Promise<PageCheck> {
  options = copyPlain(ownOptions("options", options, CHECK_OPTIONS));
  const bytes = takePage(html);
  const text = fromUtf8(bytes) ?? "";
  const version = GENERATOR.exec(text)?.[1] ?? null;
  const data = between(text, DATA_START);
  const script = await scriptFacts(between(text, SCRIPT_START), options.script);
  if (version === null || (script.found === null && data === null)) return { ...NOT_A_PAGE, version, script };
  const { made, ...facts } = data === null ? await checkVerifier(options) : await checkData(data, options);
  const differsAt = made === null ? null : firstDifference(bytes, toUtf8(made));
  return { ...facts, version, script, sameBytes: made !== null && differsAt === null, differsAt };
}

/** A copy, of no more than a page may have. */
function takePage(html: string | Uint8Array): Uint8Array {
  const bytes = typeof html === "string" ? toUtf8(html) : html;
  if (bytes.length > MAX_PAGE_BYTES) throw new RangeError(`the page: more than ${MAX_PAGE_BYTES} bytes`);
  return new Uint8Array(bytes);
}

async function scriptFacts(inPage: string | null, ours: string): Promise<PageCheck["script"]> {
  const expected = await scriptDigest(ours);
  const found = inPage === null ? null : toHex(await sha256(toUtf8(inPage)));
  return { found, expected, same: found === expected };
}

type Facts = Omit<PageCheck, "version" | "script">;

const NOTHING = { sameReport: null, differences: [], faults: [], verification: null, policyFrom: "page" } as const;
const NOT_A_PAGE: Facts = { ...NOTHING, kind: null, sameBytes: false, differsAt: null };

/** `made`: the page as this version makes it; null where it cannot. */
type Checked = Omit<Facts, "sameBytes" | "differsAt"> & { readonly made: string | null };

async function checkVerifier(parts: PageParts): Promise<Checked> {
  return { ...NOTHING, kind: "verifier", made: await renderVerifier({ script: parts.script }) };
}

async function checkData(text: string, { script, policy }: PageCheckOptions): Promise<Checked> {
  const policyFrom = policy === undefined ? "page" : "caller";
  let content: PageContent;
  let page: Awaited<ReturnType<typeof renderPageContent>>;
  try {
    content = readPageData(text);
    page = await renderPageContent(content, { script });
  } catch (error) {
    return { ...NOTHING, kind: "report", faults: faultsOf(error), policyFrom, made: null };
  }
  const { same, differences } = page.verification;
  const verification = policy === undefined ? page.verification : await verifyContent(content, policy);
  return { kind: "report", sameReport: same, differences, faults: [], verification, policyFrom, made: page.html };
}

/** Of data that is malformed, or can be of no page. Anything else is thrown on. */
function faultsOf(error: unknown): readonly Fault[] {
  if (error instanceof TypeError) return [{ path: "", message: error.message }];
  if (!(error instanceof MalformedError)) throw error;
  return error.faults.map(({ path, message }) => ({ path, message: `${error.code}: ${message}` }));
}

/** What stands between the first such tag and the end of its element; null where there is none. */
function between(text: string, start: string): string | null {
  const from = text.indexOf(start);
  const to = from < 0 ? -1 : text.indexOf(SCRIPT_END, from);
  return to < 0 ? null : text.slice(from + start.length, to);
}

/** Null where there is none. */
function firstDifference(page: Uint8Array, made: Uint8Array): PageCheck["differsAt"] {
  const byte = made.findIndex((value, index) => value !== page[index]);
  if (byte < 0 && page.length === made.length) return null;
  const at = byte < 0 ? made.length : byte;
  return { part: partAt(made, at), byte: at };
}

/** What begins each part that follows the head, in a page as it is made. */
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
  let at = 0;
  for (const [name, start] of PART_STARTS) {
    const found = text.indexOf(start, at);
    if (found < 0) continue;
    at = found;
    if (toUtf8(text.slice(0, found)).length <= byte) part = name;
  }
  return part;
}
