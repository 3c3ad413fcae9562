/** Checks as lines, with the detail and, beneath a failure, the compared values and the advice. */
import { type Check, type CheckStatus, type CheckSubject, subjectLabel } from "../checks.js";
import { sideBySide } from "./compare.js";
import { type Page, type Style, clipped, padded, wrapped } from "./layout.js";
import { printable, printableStart } from "./printable.js";
import type { Report } from "./report.js";

/** A check as it is shown. A status `warn` that weakens nothing is a note. */
export type ShownCheck = Omit<Check, "status"> & { readonly status: CheckStatus | "note" };

const WORDS: Readonly<Record<ShownCheck["status"], string>> = {
  pass: "ok  ",
  fail: "FAIL",
  warn: "WARN",
  note: "note",
  skip: "skip",
};
const STYLES: Readonly<Record<ShownCheck["status"], Style[]>> = {
  pass: ["green"],
  fail: ["bold", "red"],
  warn: ["onYellow"],
  note: ["dim"],
  skip: ["dim"],
};
export const INDENT = "  ";
/** Indentation that leaves room for a hash of 32 bytes in 80 columns. */
const DEEP_INDENT = " ".repeat(6);
const ID_WIDTH = 20;
/** Minimum width of a page with a column of ids. On a narrower page, details would have too little room. */
const WIDE_ENOUGH = 80;
const MAX_LINES = 16;
/** Maximum characters of a detail, which may quote long evidence. The JSON report has all of it. */
const MAX_DETAIL = 1200;

/** Returns the value of a key, or undefined for an unknown key, which a report of another version may have. */
export function known<K extends string, V>(table: Readonly<Record<K, V>>, key: K): V | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

export function labelOf(subject: CheckSubject, { evidence }: Pick<Report, "evidence">): string {
  return printable(subjectLabel(subject, evidencePiece(subject, evidence)?.name));
}

type Pieces = Report["evidence"];

/** Index of evidence by subject. It saves a search for each check, because a report can have thousands. */
const PLACES = new WeakMap<Pieces, ReadonlyMap<CheckSubject, number>>();

export function evidencePiece(subject: CheckSubject, evidence: Pieces): Pieces[number] | undefined {
  const place = placesIn(evidence).get(subject);
  const piece = place === undefined ? undefined : evidence[place];
  // The caller may have changed the report since the index was made.
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

/** Returns the lines of a check. `prefix` precedes the detail. `shown` collects advice, so that none is repeated. */
export function checkLines(check: ShownCheck, prefix: string, page: Page, shown?: Set<string>): string[] {
  const lines = besideId(check, prefix + shownDetail(check, page), page);
  if (check.status === "fail") return [...lines, ...comparedLines(check, page), ...adviceLines(check, page, shown)];
  const value = page.detail === "verbose" ? check.actual : undefined;
  return value === undefined ? lines : [...lines, ...wholeLines("value", value, page)];
}

export function besideId(check: ShownCheck, text: string, page: Page): string[] {
  const id = printable(check.id);
  return page.width < WIDE_ENOUGH
    ? statusLines(check, `${id}: ${text}`, page)
    : statusLines(check, text, page, `${padded(id, ID_WIDTH)}  `);
}

export function mergedLines(checks: readonly ShownCheck[], page: Page): string[] {
  const [first] = checks as [ShownCheck];
  const ids = checks.map((check) => printable(check.id)).join(", ");
  return [...statusLines(first, ids, page), ...wrapped(page, DEEP_INDENT, shownDetail(first, page))];
}

function shownDetail({ detail }: ShownCheck, page: Page): string {
  return printableStart(detail, page.detail === "verbose" ? Infinity : MAX_DETAIL);
}

/** Returns lines that begin with a status. `before` is text between the painted status and the text. */
export function statusLines({ status }: Pick<ShownCheck, "status">, text: string, page: Page, before = ""): string[] {
  // An unknown status is never shown as good.
  const word = known(WORDS, status) ?? "????";
  const styles = known(STYLES, status) ?? ["bold", "red"];
  const [first, ...others] = wrapped(page, `${INDENT}${word}  ${before}`, text);
  return [INDENT + page.paint(word, ...styles) + first!.slice(INDENT.length + word.length), ...others];
}

export function adviceLines(check: ShownCheck, page: Page, shown = new Set<string>()): string[] {
  const { advice } = check;
  if (advice === undefined || shown.has(advice)) return [];
  shown.add(advice);
  return wrapped(page, `${DEEP_INDENT}-> `, printableStart(advice, MAX_DETAIL));
}

/** Returns the compared values: with `verbose` in full, and in a summary a line each. */
export function comparedLines({ expected, actual }: ShownCheck, page: Page): string[] {
  if (expected === undefined || actual === undefined) return [];
  if (page.detail === "verbose")
    return [...wholeLines("expected", expected, page), ...wholeLines("actual", actual, page)];
  const sides = sideBySide(expected, actual);
  const isShort = page.detail === "summary";
  const side = (title: "expected" | "actual", ...styles: Style[]): string[] => {
    const lines = isShort
      ? clipped(page, sideStart(title), sides[title].join(", ").replace(WHOLE_HEX, page.hex), 1)
      : sideLines(title, sides[title], page);
    return lines.map((line) => line.replace(/\[(?:[0-9a-f]{2})+\]/g, (bytes) => page.paint(bytes, ...styles)));
  };
  const note = sides.note === null || isShort ? [] : sideLines("", [sides.note], page);
  return [...side("expected", "green"), ...side("actual", "bold", "red"), ...note];
}

/** Long hex without differing bytes in brackets. */
const WHOLE_HEX = /[0-9a-f]{48,}/g;

function wholeLines(title: string, text: string, page: Page): string[] {
  return sideLines(title, text.split("\n").map(printable), page);
}

function sideLines(title: string, values: readonly string[], page: Page): string[] {
  const rest = values.length - MAX_LINES;
  const shown = rest > 0 && page.detail === "normal" ? [...values.slice(0, MAX_LINES), `and ${rest} more`] : values;
  return shown.flatMap((value, index) => wrapped(page, sideStart(index === 0 ? title : ""), value));
}

function sideStart(title: string): string {
  return `${DEEP_INDENT}${title.padEnd("expected".length)}  `;
}
