/**
 * Changes of JSON text that leave every other character as it was written, so that a reviewer sees what changed and
 * nothing else. The text is strict JSON: whoever changes it has parsed it before.
 */
import { printableJson } from "../decode/json.js";

/** An item of an array or a member of an object, by its place in the text. */
export interface JsonEntry {
  /** Of a member its name; null of an item. */
  readonly name: string | null;
  /** Where it begins: a member with its name. */
  readonly start: number;
  /** Where its value begins. */
  readonly value: number;
  readonly end: number;
}

/** Put in place of what stands between the two. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g;

/** The entries of the array or object that begins there. */
export function entriesAt(text: string, start: number): readonly JsonEntry[] {
  const entries: JsonEntry[] = [];
  /** The places of the tokens of the entry that is read, those inside its value left out. */
  let own: number[] = [];
  let before = start;
  for (const { token, at, depth } of tokensAt(text, start)) {
    const ends = (depth === 1 && token === ",") || (depth === 0 && at > start);
    if (ends && own.length > 0) entries.push(entryOf(text, own, before));
    if (ends) own = [];
    else if (depth === 1 && !isClosing(token)) own.push(at);
    before = at + token.length;
  }
  return entries;
}

interface Token {
  readonly token: string;
  readonly at: number;
  /** How many arrays and objects are around it; brackets are outside of what they hold. */
  readonly depth: number;
}

/** Those of one array or object, its brackets included. */
function* tokensAt(text: string, start: number): Generator<Token> {
  const tokens = new RegExp(TOKEN);
  tokens.lastIndex = start;
  let depth = 0;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    const [token] = found;
    if (isClosing(token)) depth--;
    yield { token, at: found.index, depth };
    if (depth === 0 && isClosing(token)) return;
    if (token === "[" || token === "{") depth++;
  }
}

function isClosing(token: string): boolean {
  return token === "]" || token === "}";
}

/** Of one token an item; of a name, a colon and a value a member. */
function entryOf(text: string, own: readonly number[], end: number): JsonEntry {
  const [start, colon, value] = own as [number, number?, number?];
  if (colon === undefined || value === undefined) return { name: null, start, value: start, end };
  return { name: JSON.parse(text.slice(start, colon)) as string, start, value, end };
}

/** The text with all changes made, none of which touches another. */
export function changed(text: string, changes: readonly TextEdit[]): string {
  return [...changes]
    .sort((a, b) => b.start - a.start)
    .reduce((edited, change) => edited.slice(0, change.start) + change.text + edited.slice(change.end), text);
}

/** Puts values behind the last entry of an array that is not empty, laid out as that one is. */
export function appended(text: string, entries: readonly JsonEntry[], values: readonly unknown[]): TextEdit {
  const last = entries.at(-1)!;
  const layout = layoutAt(text, last);
  const between = layout.ownLine ? `,${layout.feed}${layout.indent}` : ", ";
  return { start: last.end, end: last.end, text: values.map((value) => between + written(value, layout)).join("") };
}

/** Puts a member before another one, laid out as that one is. */
export function insertedBefore(text: string, entry: JsonEntry, name: string, value: unknown): TextEdit {
  const layout = layoutAt(text, entry);
  const after = layout.ownLine ? `,${layout.feed}${layout.indent}` : ", ";
  return {
    start: entry.start,
    end: entry.start,
    text: `${JSON.stringify(name)}: ${written(value, layout)}${after}`,
  };
}

/** Takes one of several entries out, with its comma. */
export function removed(entries: readonly JsonEntry[], index: number): TextEdit {
  const next = entries[index + 1];
  return index === 0
    ? { start: entries[0]!.start, end: next!.start, text: "" }
    : { start: entries[index - 1]!.end, end: entries[index]!.end, text: "" };
}

interface Layout {
  /** The entry begins a line of its own. */
  readonly ownLine: boolean;
  /** Values stand on several lines. */
  readonly lines: boolean;
  /** White space at the begin of the entry's line. */
  readonly indent: string;
  readonly unit: string;
  readonly feed: string;
}

const INDENTATION = "  ";

function layoutAt(text: string, { start, end }: JsonEntry): Layout {
  const line = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  const ownLine = start > line.length && line.trim() === "";
  return {
    ownLine,
    lines: ownLine || text.slice(start, end).includes("\n"),
    indent: /^[ \t]*/.exec(line)![0],
    unit: /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? INDENTATION,
    feed: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

/** JSON whose every character can be seen: evidence chose the texts in it, and a person reviews them. */
function written(value: unknown, { lines, indent, unit, feed }: Layout): string {
  const json = printableJson(lines ? JSON.stringify(value, undefined, "  ") : JSON.stringify(value));
  return json
    .split("\n")
    .map((line, index) =>
      index === 0 ? line : indent + line.replace(/^(?: {2})+/, (deep) => unit.repeat(deep.length / 2)),
    )
    .join(feed);
}
