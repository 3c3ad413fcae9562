/** Edits of JSON text that keep all other characters, for readable diffs. The text must have been parsed before. */
import { lastOf } from "../bytes.js";
import { printableJson } from "../decode/json.js";

/** An item of an array or a member of an object, by its place in the text. */
export interface JsonEntry {
  /** A member's name, or null for an item. */
  readonly name: string | null;
  /** Position where it begins. A member begins with its name. */
  readonly start: number;
  readonly value: number;
  readonly end: number;
}

export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g;

export function entriesAt(text: string, start: number): readonly JsonEntry[] {
  const entries: JsonEntry[] = [];
  /** Positions of the current entry's tokens, without those inside its value. */
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
  /** Number of arrays and objects around the token. A bracket is not inside the array or object that it encloses. */
  readonly depth: number;
}

/** Yields the tokens of one array or object, with its brackets. */
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

/** Makes an item from one token, or a member from a name, a colon and a value. */
function entryOf(text: string, own: readonly number[], end: number): JsonEntry {
  const [start, colon, value] = own as [number, number?, number?];
  if (colon === undefined || value === undefined) return { name: null, start, value: start, end };
  return { name: JSON.parse(text.slice(start, colon)) as string, start, value, end };
}

/** Applies changes that do not overlap. */
export function changed(text: string, changes: readonly TextEdit[]): string {
  return [...changes]
    .sort((a, b) => b.start - a.start)
    .reduce((edited, change) => edited.slice(0, change.start) + change.text + edited.slice(change.end), text);
}

/** Appends values to an array that is not empty, in its layout. */
export function appended(text: string, entries: readonly JsonEntry[], values: readonly unknown[]): TextEdit {
  const last = lastOf(entries)!;
  const layout = layoutAt(text, last);
  const between = layout.ownLine ? `,${layout.feed}${layout.indent}` : ", ";
  return { start: last.end, end: last.end, text: values.map((value) => between + written(value, layout)).join("") };
}

/** Inserts a member before another member, in the layout of that member. */
export function insertedBefore(text: string, entry: JsonEntry, name: string, value: unknown): TextEdit {
  const layout = layoutAt(text, entry);
  const after = layout.ownLine ? `,${layout.feed}${layout.indent}` : ", ";
  return {
    start: entry.start,
    end: entry.start,
    text: `${JSON.stringify(name)}: ${written(value, layout)}${after}`,
  };
}

/** Removes one of several entries, with its comma. */
export function removed(entries: readonly JsonEntry[], index: number): TextEdit {
  const next = entries[index + 1];
  return index === 0
    ? { start: entries[0]!.start, end: next!.start, text: "" }
    : { start: entries[index - 1]!.end, end: entries[index]!.end, text: "" };
}

interface Layout {
  readonly ownLine: boolean;
  /** Whether values have several lines. */
  readonly lines: boolean;
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

/** Returns JSON with invisible characters escaped, since its strings come from evidence and a person reviews them. */
function written(value: unknown, { lines, indent, unit, feed }: Layout): string {
  const json = printableJson(lines ? JSON.stringify(value, undefined, "  ") : JSON.stringify(value));
  return json
    .split("\n")
    .map((line, index) =>
      index === 0 ? line : indent + line.replace(/^(?: {2})+/, (deep) => unit.repeat(deep.length / 2)),
    )
    .join(feed);
}
