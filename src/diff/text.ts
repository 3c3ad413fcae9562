/** Renders a difference for a terminal. */
import { sideBySide } from "../report/compare.js";
import {
  type Page,
  type Style,
  type TextOptions,
  notVerifiedLines,
  pageOf,
  wordFirst,
  wrapped,
} from "../report/layout.js";
import { printable, printableStart, shortHex } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import { NOT_THERE, CHANGES, SEVERITIES, type Severity } from "./changes.js";
import type { Change, Difference } from "./diff.js";

export const SEVERITY_STYLES: Readonly<Record<Severity, readonly Style[]>> = {
  critical: ["bold", "red"],
  notable: ["onYellow"],
  minor: ["dim"],
};
const LABEL = 10;
const LABEL_INSIDE = 8;
/** Maximum characters of names, and of values without a counterpart. */
const MAX_VALUE = 600;
const MAX_NAME = 160;
const MAX_PLACES = 6;

const WANTED = "difference: expected the awaited result of diffUnverified";

/**
 * Renders a difference. The first line is `same`, or `different` with the number of changes of each severity. `NOT
 * VERIFIED` and the changes follow. Ends with a line feed. Throws TypeError for any other object.
 */
export function renderDiff(difference: Difference, options: TextOptions = {}): string {
  return renderWhole(difference, WANTED, () => differenceText(difference, pageOf(options)));
}

function differenceText(difference: Difference, page: Page): string {
  const { same, kind, compared, counts, changes, leftOut } = difference;
  const numbers = SEVERITIES.filter((severity) => counts[severity] > 0).map((one) => `${counts[one]} ${one}`);
  const lines = [
    page.paint(same ? "same" : `different: ${numbers.join(", ")}`, "bold"),
    ...notVerifiedLines(page, difference),
    ...wrapped(page, "", compared === null ? `Both: ${printable(kind)}.` : partsText(kind, compared)),
    ...changes.flatMap((change) => ["", ...changeLines(page, change)]),
    ...(leftOut > 0 ? ["", `and ${leftOut} more`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns a paragraph: what changed, what it means, both values, and where. */
export function changeLines(
  page: Page,
  { what, severity, place, also, entry, before, after, means }: Change,
): string[] {
  const label = severity.toUpperCase();
  const sides = before !== null && after !== null ? sideBySide(before, after) : null;
  // The note about lengths mentions an expected value, but neither file is the expected one.
  const note = before?.length === after?.length ? (sides?.note ?? null) : null;
  return [
    ...wordFirst(page, [label, ...SEVERITY_STYLES[severity]], wrapped(page, label.padEnd(LABEL), titleOf(what, entry))),
    ...wrapped(page, " ".repeat(LABEL), printable(means)),
    ...valueLines(page, "before", before, sides?.expected),
    ...valueLines(page, "after", after, sides?.actual),
    ...(note === null ? [] : labelled(page, "", note)),
    ...labelled(page, "at", placesText([place, ...also])).map((line) => page.paint(line, "dim")),
  ];
}

function valueLines(page: Page, label: string, text: string | null, compared: readonly string[] | undefined): string[] {
  if (text === null) return labelled(page, label, NOT_THERE);
  const lines = compared ?? text.split("\n").map((line) => printableStart(line, MAX_VALUE));
  return lines.flatMap((line, index) => labelled(page, index === 0 ? label : "", line === "" ? "(empty)" : line));
}

function labelled(page: Page, label: string, text: string): string[] {
  return wrapped(page, " ".repeat(LABEL) + label.padEnd(LABEL_INSIDE), text);
}

function titleOf(what: Change["what"], entry: string): string {
  const { title } = CHANGES[what];
  return entry === "" ? title : `${title} ${nameText(entry)}`;
}

function partsText(kind: string, parts: readonly string[]): string {
  return `${printable(kind)}: only the parts that both have were compared (${parts.map(printable).join(", ")}).`;
}

function placesText(places: readonly string[]): string {
  const shown = places.slice(0, MAX_PLACES).map((place) => (place === "" ? "(the whole)" : nameText(place)));
  const rest = places.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Shortens a name. Long hex is shortened in its middle, because keys may differ only at their ends. */
function nameText(text: string): string {
  return printableStart(
    text.replace(/[0-9a-f]{64,}/g, (hex) => shortHex(hex)),
    MAX_NAME,
  );
}
