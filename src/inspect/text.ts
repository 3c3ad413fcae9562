/** Renders an inspection for a terminal. */
import { lastOf } from "../bytes.js";
import { type Described, type DescribedObject, entriesOf } from "./described.js";
import type { Inspection } from "./inspect.js";
import { printableJson } from "../decode/json.js";
import { quoted } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import { type Doc, type Row, notVerified, rows, words } from "../show/doc.js";
import { type LineOptions, writeText } from "../show/terminal.js";

/** Maximum depth. Deeper values are shown as JSON. */
const MAX_DEPTH = 8;
const ZEROS = /^(?:00){16,}$/;
const NONE = "none";
const NOT_PLAIN = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;

const WANTED = "inspection: expected the awaited result of inspectUnverified";

/**
 * Renders an inspection, beginning with `NOT VERIFIED` and ending with a line feed. No value is shortened. Throws
 * TypeError for any other object.
 */
export function renderInspection(inspection: Inspection, options: LineOptions = {}): string {
  return renderWhole(inspection, WANTED, () => writeText(inspectionDoc(inspection), options));
}

function inspectionDoc(inspection: Inspection): Doc {
  const { kind, encoding, faults, leftOut, says } = inspection;
  const marked = [...faults, ...leftOut.map((place) => `left out, because there are too many values: ${place}`)];
  const title = words(`${kind} (${encoding})`, "strong");
  const flaws = rows(marked.map((text) => ({ label: "!", tone: "bad", text })));
  const content = says === null ? words("(nothing of it could be read)") : rows(contentRows(says));
  return { sections: [{ blocks: [notVerified(inspection)] }, { blocks: [title, flaws] }, { blocks: [content] }] };
}

export function contentRows(value: Described): readonly Row[] {
  const { below, text } = valueRow("", value, 0);
  return below ?? [{ text: text! }];
}

function valueRow(label: string, value: Described, depth: number): Row {
  if (value === null || typeof value !== "object") return { label, text: scalar(value) };
  const entries = mergedEntries(value);
  if (entries.length === 0) return { label, text: NONE };
  if (depth > MAX_DEPTH) return { label, text: printableJson(JSON.stringify(value)) };
  return { label, below: entries.map(([name, item]) => valueRow(name, item, depth + 1)) };
}

/** Returns the entries of a list or an object. Adjacent members that are all zeros are merged. */
function mergedEntries(value: readonly Described[] | DescribedObject): [string, Described][] {
  if (Array.isArray(value)) return entriesOf(value).map(([index, item]) => [`[${index}]`, item]);
  const merged: [string, Described][] = [];
  for (const [name, item] of entriesOf(value)) {
    const last = lastOf(merged);
    if (last !== undefined && last[1] === item && isZeros(item)) last[0] = `${last[0].split(" to ")[0]!} to ${name}`;
    else merged.push([name, item]);
  }
  return merged;
}

function isZeros(value: Described): value is string {
  return typeof value === "string" && ZEROS.test(value);
}

function scalar(value: null | boolean | number | string): string {
  if (value === null) return NONE;
  if (typeof value !== "string") return String(value);
  if (isZeros(value)) return `${value.length / 2} zero bytes`;
  return isPlain(value) && value !== NONE ? value : quoted(value, Infinity);
}

/**
 * Whether the text is words of visible ASCII with single spaces. A pattern of the whole text could overflow its stack.
 */
function isPlain(text: string): boolean {
  return text !== "" && !NOT_PLAIN.test(text) && !text.startsWith(" ") && !text.endsWith(" ") && !text.includes("  ");
}
