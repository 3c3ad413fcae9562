/** Writes a document for a terminal: lines that fit its width, coloured on request. */
import { ownMembers } from "../decode/input.js";
import { printable } from "../report/printable.js";
import type { Block, Doc, Row, Section, Tone } from "./doc.js";
import { displayWidth, piecesOf } from "./width.js";

export interface LineOptions {
  /** ANSI colours. Default: none. */
  readonly color?: boolean;
  /** Columns of the terminal. A value outside 60 to 200 becomes the nearest of these. Default: 80. */
  readonly width?: number;
}

const DEFAULT_WIDTH = 80;
const LEAST_WIDTH = 60;
const MOST_WIDTH = 200;
/** Least number of columns for readable text. */
const LEAST_ROOM = 24;

/**
 * ANSI codes. The terminal defines its colours and may have a light or dark background, so yellow or bright green
 * letters may not be readable. Warnings and good verdicts are therefore black on that colour. Dim may be almost
 * invisible, so it is only for text that other text repeats.
 */
const CODES: Readonly<Record<Tone | "verdict", string>> = {
  good: "32",
  verdict: "30;42",
  warning: "30;43",
  bad: "1;31",
  strong: "1",
  quiet: "2",
};

type Paint = (text: string, tone: Tone | "verdict" | undefined) => string;

interface Page {
  readonly width: number;
  readonly paint: Paint;
}

const LINE_OPTIONS: Readonly<Record<keyof LineOptions, true>> = { color: true, width: true };

export function pageOf(options: LineOptions): Page {
  const own: LineOptions = ownMembers(options, LINE_OPTIONS);
  const { color = false, width = DEFAULT_WIDTH } = own;
  return {
    // NaN becomes the default.
    width: Math.min(Math.max(Math.floor(width) || DEFAULT_WIDTH, LEAST_WIDTH), MOST_WIDTH),
    paint: color ? painted : (text) => text,
  };
}

function painted(text: string, tone: Tone | "verdict" | undefined): string {
  return text === "" || tone === undefined ? text : `\x1b[${CODES[tone]}m${text}\x1b[0m`;
}

/**
 * Wraps a text to the page's width. The first line follows `first`, and the others have the same indentation. If
 * `first` leaves too little room, it is a line of its own above. A word longer than a line is split into parts of
 * similar length.
 */
export function wrapped({ width }: Pick<Page, "width">, first: string, text: string): string[] {
  const head = displayWidth(first);
  if (width - head >= LEAST_ROOM) return beside(first, " ".repeat(head), wordsIn(text, width - head));
  const indent = /^ {0,12}/.exec(first)![0];
  const inner = `${indent}  `;
  return [
    ...beside(indent, indent, wordsIn(first.trim(), width - indent.length)),
    ...beside(inner, inner, wordsIn(text, width - inner.length)),
  ];
}

/** Truncates lines, which then end in `…`. */
export function cutTo(most: number, lines: readonly string[], { width }: Pick<Page, "width">): string[] {
  if (lines.length <= most) return [...lines];
  const [start] = piecesOf(lines[most - 1]!, width - 1);
  return [...lines.slice(0, most - 1), `${start!.trimEnd()}…`];
}

/** Returns the document as text, with an empty line between sections and a line feed at its end. */
export function writeText({ sections }: Doc, options: LineOptions = {}): string {
  const page = pageOf(options);
  const texts = sections.map((one) => sectionLines(one, page).join("\n"));
  return `${texts.join("\n\n")}\n`;
}

function sectionLines({ heading, blocks }: Section, page: Page): string[] {
  const title = heading === undefined ? [] : wrapped(page, "", printable(heading));
  const indent = heading === undefined ? "" : INDENT;
  return [
    ...title.map((line) => page.paint(line, "strong")),
    ...blocks.flatMap((each) => blockLines(each, indent, page)),
  ];
}

const INDENT = "  ";

function blockLines(block: Block, indent: string, page: Page): string[] {
  switch (block.kind) {
    case "verdict": {
      const [word] = /^[A-Z, ]*[A-Z]/.exec(block.text) ?? [""];
      const [first, ...others] = clipped(page, "", block.text, block.lines);
      const tone = block.tone === "good" ? "verdict" : block.tone;
      return [page.paint(first!.slice(0, word.length), tone) + first!.slice(word.length), ...others];
    }
    case "warning":
      return wrapped(page, `${WARNING} `, printable(block.text)).map((line, index) => {
        const start = index === 0 ? WARNING : "";
        return page.paint(start, "warning") + page.paint(line.slice(start.length), "strong");
      });
    case "words":
      return clipped(page, indent, block.text, block.lines).map((line) => page.paint(line, block.tone));
    case "list":
      return block.items.flatMap((item) => clipped(page, `${indent}- `, item, block.lines));
    case "rows":
      return rowsLines(block.rows, indent, page);
    case "value":
      return [INDENT + printable(block.text)];
  }
}

const WARNING = "WARNING";

/** The widest label, and the widest id, that others stand in a column with. */
const MAX_LABEL = 24;
const MAX_ID = 40;
/** Width from which ids have a column. On a narrower page, texts would have too little room beside them. */
const WIDE_ENOUGH = 80;

/** Widths of the columns of rows that stand together; 0 for none. */
interface Columns {
  readonly label: number;
  readonly id: number;
}

function rowsLines(list: readonly Row[], indent: string, page: Page): string[] {
  const widest = (texts: readonly string[], most: number): number =>
    texts.reduce((found, text) => {
      const width = displayWidth(printable(text));
      return width > most ? found : Math.max(found, width);
    }, 0);
  const beside = list.filter(({ text, id }) => text !== undefined || id !== undefined);
  const labels = beside.map(({ label = "" }) => label);
  const ids = page.width < WIDE_ENOUGH ? [] : list.map(({ id = "" }) => id);
  const columns = { label: widest(labels, MAX_LABEL), id: widest(ids, MAX_ID) };
  return list.flatMap((row) => [
    ...rowLines(row, indent, columns, page),
    ...rowsLines(row.below ?? [], indent + INDENT, page),
  ]);
}

function rowLines(row: Row, indent: string, columns: Columns, page: Page): string[] {
  const { tone, marks, lines = Infinity } = row;
  const { label, first, text } = rowParts(row, indent, columns);
  if (row.text === undefined) return wrapped(page, indent, text).map((line) => page.paint(line, tone));
  const found = cutTo(lines, (row.isCommand ? pasted : fitted)(page, indent, first, text), page);
  const marked = found.map((line) => line.replace(MARKED, (bytes) => page.paint(bytes, marks)));
  if (label === "") return marked.map((line) => page.paint(line, tone));
  const start = indent + label;
  if (!marked[0]!.startsWith(start)) return marked;
  return [indent + page.paint(label, tone) + marked[0]!.slice(start.length), ...marked.slice(1)];
}

type TextParts = [label: string, id: string, text: string];

/** Returns the label, what stands before the text, and the text. An id without a column is part of the text. */
function rowParts(row: Row, indent: string, columns: Columns): Readonly<Record<"label" | "first" | "text", string>> {
  const [label, id, text] = ([row.label, row.id, row.text] as const).map((part) => printable(part ?? "")) as TextParts;
  const beside = columns.label === 0 ? label : `${padded(label, columns.label)}  `;
  if (row.text === undefined) return { label, first: "", text: `${beside}${id}`.trimEnd() };
  if (id === "") return { label, first: indent + beside, text };
  if (columns.id === 0) return { label, first: indent + beside, text: `${id}: ${text}` };
  return { label, first: `${indent}${beside}${padded(id, columns.id)}  `, text };
}

const MARKED = /\[(?:[0-9a-f]{2})+\]/g;

/** Wraps a text beside its label, or beneath it if its longest word, such as a hash, fits only there. */
function fitted(page: Page, indent: string, first: string, text: string): string[] {
  const head = displayWidth(first);
  const longest = text.split(" ").reduce((most, word) => Math.max(most, displayWidth(word)), 0);
  const below = indent + INDENT;
  const fitsBelow = longest > page.width - head && longest <= page.width - below.length && first.trim() !== "";
  if (!fitsBelow) return wrapped(page, first, text);
  return [...wrapped(page, indent, first.trim()), ...wrapped(page, below, text)];
}

/** Wraps a command so that a shell reads its lines as one. An option and its value stay together. */
function pasted({ width }: Page, _: string, first: string, command: string): string[] {
  const lines = wrapped({ width: width - 2 }, first, command.replace(/(--\S+) (?!--)/g, "$1\u00a0")).join(" \\\n");
  return lines.replaceAll("\u00a0", " ").split("\n");
}

function clipped(page: Page, first: string, text: string, most = Infinity): string[] {
  return cutTo(most, wrapped(page, first, printable(text)), page);
}

function padded(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - displayWidth(text)));
}

function beside(first: string, indent: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => (index === 0 ? first : indent) + line);
}

function wordsIn(text: string, room: number): string[] {
  const lines: string[] = [];
  let line: string | undefined;
  let used = 0;
  for (const word of text.split(" ").flatMap((whole) => evenPieces(whole, room))) {
    const columns = displayWidth(word);
    if (line !== undefined && used + 1 + columns <= room) {
      line += ` ${word}`;
      used += 1 + columns;
      continue;
    }
    if (line !== undefined) lines.push(line);
    line = word;
    used = columns;
  }
  return [...lines, line ?? ""];
}

function evenPieces(word: string, room: number): string[] {
  const columns = displayWidth(word);
  if (columns <= room) return [word];
  // Each part has an even number of columns, so that no byte of a hex text is split.
  const count = Math.ceil(columns / (room - (room % 2)));
  return piecesOf(word, 2 * Math.ceil(columns / count / 2));
}
