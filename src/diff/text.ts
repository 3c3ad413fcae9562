/** The document of a difference. */
import { sideBySide } from "../report/compare.js";
import { printableStart, shortHex } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import { type Doc, type Row, type Tone, labelled, notVerified, rows, words } from "../show/doc.js";
import { type LineOptions, writeText } from "../show/terminal.js";
import { NOT_THERE, CHANGES, SEVERITIES, type Severity } from "./changes.js";
import type { Change, Difference } from "./diff.js";

export const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = { critical: "bad", notable: "warning", minor: "quiet" };
/** Maximum characters of names, and of values without a counterpart. */
const MAX_VALUE = 600;
const MAX_NAME = 160;
const MAX_PLACES = 6;

const WANTED = "difference: expected the awaited result of diffUnverified";

/**
 * Renders a difference. The first line is `same`, or `different` with the number of changes of each severity. `NOT
 * VERIFIED` and the changes follow. Ends with a line feed. Throws TypeError for any other object.
 */
export function renderDiff(difference: Difference, options: LineOptions = {}): string {
  return renderWhole(difference, WANTED, () => writeText(diffDoc(difference), options));
}

function diffDoc(difference: Difference): Doc {
  const { same, kind, compared, counts, changes, leftOut } = difference;
  const numbers = SEVERITIES.filter((severity) => counts[severity] > 0).map((one) => `${counts[one]} ${one}`);
  const head = [
    words(same ? "same" : `different: ${numbers.join(", ")}`, "strong"),
    notVerified(difference),
    words(compared === null ? `Both: ${kind}.` : partsText(kind, compared)),
  ];
  return {
    sections: [
      { blocks: head },
      ...changes.map((change) => ({ blocks: [rows([changeRow(change)])] })),
      ...(leftOut > 0 ? [{ blocks: [words(`and ${leftOut} more`)] }] : []),
    ],
  };
}

/** Returns a row with what changed and, beneath it, what that means, both values, and where. */
export function changeRow({ what, severity, place, also, entry, before, after, means }: Change): Row {
  const sides = before !== null && after !== null ? sideBySide(before, after) : null;
  // The note about lengths mentions an expected value, but neither file is the expected one.
  const note = before?.length === after?.length ? (sides?.note ?? null) : null;
  return {
    label: severity.toUpperCase(),
    tone: SEVERITY_TONES[severity],
    text: entry === "" ? CHANGES[what].title : `${CHANGES[what].title} ${nameText(entry)}`,
    below: [
      { label: "means", text: means },
      ...labelled("before", valueTexts(before, sides?.expected)),
      ...labelled("after", valueTexts(after, sides?.actual)),
      ...(note === null ? [] : [{ label: "", text: note }]),
      { label: "at", tone: "quiet", text: placesText([place, ...also]) },
    ],
  };
}

function valueTexts(text: string | null, compared: readonly string[] | undefined): readonly string[] {
  if (text === null) return [NOT_THERE];
  const lines = compared ?? text.split("\n").map((line) => printableStart(line, MAX_VALUE));
  return lines.map((line) => (line === "" ? "(empty)" : line));
}

function partsText(kind: string, parts: readonly string[]): string {
  return `${kind}: only the parts that both have were compared (${parts.join(", ")}).`;
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
