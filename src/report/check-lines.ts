/** Checks as lines: what each says; beneath a failure what was compared, and what to do. */
import { type Check, type CheckStatus, type CheckSubject, subjectLabel } from "../checks.js";
import { sideBySide } from "./compare.js";
import { type Page, type Style, padded, wrapped } from "./layout.js";
import { printable, printableStart } from "./printable.js";
import type { Report } from "./report.js";

const WORDS: Readonly<Record<CheckStatus, string>> = { pass: "ok  ", fail: "FAIL", warn: "WARN", skip: "skip" };
const STYLES: Readonly<Record<CheckStatus, Style[]>> = {
  pass: ["green"],
  fail: ["bold", "red"],
  warn: ["onYellow"],
  skip: ["dim"],
};
export const INDENT = "  ";
/** Beneath the word and before the id: a hash of 32 bytes fits into 80 columns so. */
const DEEP_INDENT = " ".repeat(6);
const ID_WIDTH = 20;
/** On a narrower page a column of ids would leave too little for what they say. */
const WIDE_ENOUGH = 80;
const MAX_LINES = 16;
/** Details quote evidence, which may be long; the JSON report has the whole of them. */
const MAX_DETAIL = 1200;

/** The entry of a table that is total for reports of this version; undefined for what another report may say. */
export function known<K extends string, V>(table: Readonly<Record<K, V>>, key: K): V | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

/** `boot[0]`, or `boot[0] = boot.json` where the caller has a name for it. */
export function labelOf(subject: CheckSubject, { evidence }: Pick<Report, "evidence">): string {
  return printable(subjectLabel(subject, evidencePiece(subject, evidence)?.name));
}

type Pieces = Report["evidence"];

/** The place of each piece in the evidence of a report that has thousands: a label is wanted for each check. */
const PLACES = new WeakMap<Pieces, ReadonlyMap<CheckSubject, number>>();

/** The first piece of that subject. */
export function evidencePiece(subject: CheckSubject, evidence: Pieces): Pieces[number] | undefined {
  const place = placesIn(evidence).get(subject);
  const piece = place === undefined ? undefined : evidence[place];
  // A caller's report may have changed meanwhile.
  return piece?.subject === subject ? piece : evidence.find((one) => one.subject === subject);
}

function placesIn(evidence: Pieces): ReadonlyMap<CheckSubject, number> {
  const known = PLACES.get(evidence);
  if (known !== undefined) return known;
  const places = new Map<CheckSubject, number>();
  evidence.forEach(({ subject }, index) => {
    if (!places.has(subject)) places.set(subject, index);
  });
  PLACES.set(evidence, places);
  return places;
}

/** What a check says, after so much of it as goes before. */
export function checkLines(check: Check, prefix: string, page: Page, told?: Set<string>): string[] {
  const lines = besideId(check, prefix + shownDetail(check, page), page);
  if (check.status === "fail") return [...lines, ...comparisonLines(check, page), ...adviceLines(check, page, told)];
  const value = page.detail === "verbose" ? check.actual : undefined;
  return value === undefined ? lines : [...lines, ...wholeLines("value", value, page)];
}

/** The text after the word of the check's status and its id. */
export function besideId(check: Check, text: string, page: Page): string[] {
  const id = printable(check.id);
  return page.width < WIDE_ENOUGH
    ? statusLines(check, `${id}: ${text}`, page)
    : statusLines(check, text, page, `${padded(id, ID_WIDTH)}  `);
}

/** Checks that are skipped for the same reason, as one: their ids, and the reason. */
export function mergedLines(checks: readonly Check[], page: Page): string[] {
  const [first] = checks as [Check];
  const ids = checks.map((check) => printable(check.id)).join(", ");
  return [...statusLines(first, ids, page), ...wrapped(page, DEEP_INDENT, shownDetail(first, page))];
}

function shownDetail({ detail }: Check, page: Page): string {
  return printableStart(detail, page.detail === "verbose" ? Infinity : MAX_DETAIL);
}

/** The text after the word of a status, painted, and after what stands before it in each line. */
export function statusLines({ status }: Pick<Check, "status">, text: string, page: Page, before = ""): string[] {
  // A status that is none of ours is not taken for a good one.
  const word = known(WORDS, status) ?? "????";
  const styles = known(STYLES, status) ?? ["bold", "red"];
  const [first, ...others] = wrapped(page, `${INDENT}${word}  ${before}`, text);
  return [INDENT + page.paint(word, ...styles) + first!.slice(INDENT.length + word.length), ...others];
}

/** What to do; `told`: what was said already, and is not said again. */
function adviceLines(check: Check, page: Page, told = new Set<string>()): string[] {
  const { advice } = check;
  if (advice === undefined || told.has(advice)) return [];
  told.add(advice);
  return wrapped(page, `${DEEP_INDENT}-> `, printableStart(advice, MAX_DETAIL));
}

/** Expected and actual side by side. */
function comparisonLines({ expected, actual }: Check, page: Page): string[] {
  if (expected === undefined || actual === undefined) return [];
  if (page.detail === "verbose")
    return [...wholeLines("expected", expected, page), ...wholeLines("actual", actual, page)];
  const sides = sideBySide(expected, actual);
  return [
    ...sideLines("expected", sides.expected, page).map((line) => markDifferences(line, ["green"], page)),
    ...sideLines("actual", sides.actual, page).map((line) => markDifferences(line, ["bold", "red"], page)),
    ...(sides.note === null ? [] : sideLines("", [sides.note], page)),
  ];
}

function wholeLines(title: string, text: string, page: Page): string[] {
  return sideLines(title, text.split("\n").map(printable), page);
}

function sideLines(title: string, values: readonly string[], page: Page): string[] {
  const rest = values.length - MAX_LINES;
  const shown = rest > 0 && page.detail === "normal" ? [...values.slice(0, MAX_LINES), `and ${rest} more`] : values;
  return shown.flatMap((value, index) => wrapped(page, sideStart(index === 0 ? title : ""), value));
}

export function sideStart(title: string): string {
  return `${DEEP_INDENT}${title.padEnd("expected".length)}  `;
}

export function markDifferences(line: string, styles: readonly Style[], { paint }: Page): string {
  return line.replace(/\[(?:[0-9a-f]{2})+\]/g, (bytes) => paint(bytes, ...styles));
}
