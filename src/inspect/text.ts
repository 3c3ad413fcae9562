/** An inspection for a person at a terminal. */
import type { Described, DescribedObject, Inspection } from "./inspect.js";
import { type Page, type TextOptions, pageOf, padded, wrapped } from "../report/layout.js";
import { printable, printableJson, quoted } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";

const INDENT = "  ";
/** Deeper values are shown as JSON. */
const MAX_DEPTH = 8;
const ZEROS = /^(?:00){16,}$/;
/** Longer names do not push the values of the others to the right. */
const MAX_KEY = 24;
const NONE = "none";
/** Words of visible ASCII with one space between them: what needs no quotes. */
const PLAIN = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

const WANTED = "inspection: a whole one wanted, as inspectUnverified answers it once awaited";

/** Begins with the words NOT VERIFIED; ends with a line feed. Throws TypeError for what is no inspection. */
export function renderInspection(inspection: Inspection, options: TextOptions = {}): string {
  const page = pageOf(options);
  return renderWhole(inspection, WANTED, () => inspectionText(inspection, page));
}

function inspectionText(inspection: Inspection, page: Page): string {
  const [first, ...others] = wrapped(page, "", `NOT VERIFIED: ${inspection["NOT VERIFIED"]}`);
  const lines = [
    first!.replace("NOT VERIFIED", page.paint("NOT VERIFIED", "onYellow")),
    ...others,
    "",
    page.paint(`${inspection.kind} (${inspection.encoding})`, "bold"),
    ...faultLines(inspection.faults, page),
    "",
    ...(inspection.says === null
      ? ["(nothing of it could be read)"]
      : valueLines("", inspection.says, { page, indent: "", depth: 0 })),
  ];
  return `${lines.join("\n")}\n`;
}

function faultLines(faults: readonly string[], page: Page): string[] {
  return faults.flatMap((fault) => wrapped(page, "! ", printable(fault)).map((line) => page.paint(line, "red")));
}

/** Where a value stands. */
interface Place {
  readonly page: Page;
  readonly indent: string;
  readonly depth: number;
}

function valueLines(name: string, value: Described, place: Place): string[] {
  const { page, indent, depth } = place;
  if (value === null || typeof value !== "object") return leaf(name, scalar(value), place);
  const entries = entriesOf(value);
  if (entries.length === 0) return leaf(name, NONE, place);
  if (depth > MAX_DEPTH) return leaf(name, printable(printableJson(JSON.stringify(value))), place);
  const inside = { page, indent: depth === 0 ? indent : indent + INDENT, depth: depth + 1 };
  const width = entries.reduce(
    (widest, [key, item]) => (isLeaf(item) && key.length <= MAX_KEY ? Math.max(widest, key.length) : widest),
    0,
  );
  const lines = entries.flatMap(([key, item]) => valueLines(isLeaf(item) ? padded(key, width) : key, item, inside));
  return depth === 0 ? lines : [...wrapped(page, indent, printable(name)), ...lines];
}

function leaf(name: string, text: string, { page, indent }: Place): string[] {
  return wrapped(page, `${indent}${printable(name)}  `, text);
}

/** The members that are there; the items of a list by their place; neighbours that are all zeros in one. */
function entriesOf(value: readonly Described[] | DescribedObject): [string, Described][] {
  if (Array.isArray(value)) return value.map((item: Described, index) => [`[${index}]`, item]);
  const members = Object.entries(value as DescribedObject).filter(
    (entry): entry is [string, Described] => entry[1] !== undefined,
  );
  const merged: [string, Described][] = [];
  for (const [name, item] of members) {
    const last = merged.at(-1);
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
  return PLAIN.test(value) && value !== NONE ? value : quoted(value, Infinity);
}
