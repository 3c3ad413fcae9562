/** Renders an inspection for a terminal. */
import { lastOf } from "../bytes.js";
import type { Described, DescribedObject, Inspection } from "./inspect.js";
import { printableJson } from "../decode/json.js";
import {
  type Page,
  type Style,
  type TextOptions,
  notVerifiedLines,
  padded,
  pageOf,
  wrapped,
} from "../report/layout.js";
import { displayWidth } from "../report/width.js";
import { printable, quoted } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";

const INDENT = "  ";
/** Maximum depth. Deeper values are shown as JSON. */
const MAX_DEPTH = 8;
const ZEROS = /^(?:00){16,}$/;
/** Maximum length of names that affect the alignment. */
const MAX_KEY = 24;
const NONE = "none";
const NOT_PLAIN = /[^\x20\x21\x23-\x5b\x5d-\x7e]/;

const WANTED = "inspection: expected the awaited result of inspectUnverified";

/** Minimum number of columns next to a name. With less room, the value moves to the next line. */
const LEAST_ROOM = 32;

/**
 * Renders an inspection, beginning with `NOT VERIFIED` and ending with a line feed. No value is shortened. Throws
 * TypeError for any other object.
 */
export function renderInspection(inspection: Inspection, options: TextOptions = {}): string {
  const page = pageOf(options);
  return renderWhole(inspection, WANTED, () => inspectionText(inspection, page));
}

function inspectionText(inspection: Inspection, page: Page): string {
  const lines = [
    ...notVerifiedLines(page, inspection),
    "",
    page.paint(`${inspection.kind} (${inspection.encoding})`, "bold"),
    ...marked(inspection.faults, page, "red"),
    ...marked(
      inspection.leftOut.map((place) => `left out, because there are too many values: ${place}`),
      page,
      "bold",
    ),
    "",
    ...(inspection.says === null
      ? ["(nothing of it could be read)"]
      : valueLines(page, { name: "", value: inspection.says, indent: "", depth: 0 })),
  ];
  return `${lines.join("\n")}\n`;
}

function marked(texts: readonly string[], page: Page, style: Style): string[] {
  return texts.flatMap((text) => wrapped(page, "! ", printable(text)).map((line) => page.paint(line, style)));
}

interface Shown {
  readonly name: string;
  readonly value: Described;
  readonly indent: string;
  readonly depth: number;
}

function valueLines(page: Page, { name, value, indent, depth }: Shown): string[] {
  if (value === null || typeof value !== "object") return leaf(page, indent + printable(name), scalar(value));
  const entries = entriesOf(value);
  if (entries.length === 0) return leaf(page, indent + printable(name), NONE);
  if (depth > MAX_DEPTH) return leaf(page, indent + printable(name), printable(printableJson(JSON.stringify(value))));
  const inside = depth === 0 ? indent : indent + INDENT;
  const width = entries.reduce(
    (widest, [key, item]) => (isLeaf(item) && key.length <= MAX_KEY ? Math.max(widest, key.length) : widest),
    0,
  );
  const lines = entries.flatMap(([key, item]) =>
    valueLines(page, { name: isLeaf(item) ? padded(key, width) : key, value: item, indent: inside, depth: depth + 1 }),
  );
  return depth === 0 ? lines : [...wrapped(page, indent, printable(name)), ...lines];
}

/**
 * Puts the value next to its name. It goes to the next line if there is too little room, or if a long word, such as a
 * hash, fits only there.
 */
function leaf(page: Page, name: string, text: string): string[] {
  const indent = name.slice(0, name.length - name.trimStart().length);
  const beside = page.width - displayWidth(name) - INDENT.length;
  const below = page.width - indent.length - INDENT.length;
  const longest = text.split(" ").reduce((most, word) => Math.max(most, displayWidth(word)), 0);
  const isShort = name.trim().length <= MAX_KEY && beside >= LEAST_ROOM;
  if (longest <= beside ? isShort || displayWidth(text) <= beside : longest > below && isShort)
    return wrapped(page, name + INDENT, text);
  return [...wrapped(page, indent, name.trim()), ...wrapped(page, indent + INDENT, text)];
}

/** Returns the defined members, or list items by index. Adjacent values that are all zeros are merged. */
function entriesOf(value: readonly Described[] | DescribedObject): [string, Described][] {
  if (Array.isArray(value)) return value.map((item: Described, index) => [`[${index}]`, item]);
  const members = Object.entries(value as DescribedObject).filter(
    (entry): entry is [string, Described] => entry[1] !== undefined,
  );
  const merged: [string, Described][] = [];
  for (const [name, item] of members) {
    const last = lastOf(merged);
    if (last !== undefined && last[1] === item && isZeros(item)) last[0] = `${last[0].split(" to ")[0]!} to ${name}`;
    else merged.push([name, item]);
  }
  return merged;
}

function isZeros(value: Described): value is string {
  return typeof value === "string" && ZEROS.test(value);
}

function isLeaf(value: Described): boolean {
  return value === null || typeof value !== "object";
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
