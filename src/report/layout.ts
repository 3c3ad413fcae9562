/** Lines of text for a terminal, wrapped to its width and coloured on request. */
import { ownMembers } from "../decode/input.js";
import { printable, shortHex } from "./printable.js";
import { displayWidth, piecesOf } from "./width.js";

/** `summary` is one screen, `normal` has every check or a line for each of several, and `verbose` has everything. */
export type Detail = "summary" | "normal" | "verbose";

export interface TextOptions {
  /** ANSI colours. Default: none. */
  readonly color?: boolean;
  /** Columns of the terminal. A value outside 60 to 200 becomes the nearest of these. Default: 80. */
  readonly width?: number;
  /** Rows of the terminal. A longer text repeats the verdict at its end. Default: no limit. */
  readonly height?: number;
  /** Amount of detail. `renderSummary` makes the summary. Default: `normal`. */
  readonly detail?: Exclude<Detail, "summary">;
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
const STYLES = { bold: "1", dim: "2", red: "31", green: "32", onGreen: "30;42", onYellow: "30;43" } as const;
export type Style = keyof typeof STYLES;

type Paint = (text: string, ...styles: Style[]) => string;

type PageOptions = Omit<TextOptions, "detail"> & { readonly detail?: Detail };

export interface Page {
  readonly width: number;
  readonly height: number;
  readonly detail: Detail;
  readonly paint: Paint;
  /** Returns long hex as this page shows it, in full or only its two ends. */
  readonly hex: (hex: string) => string;
}

const PAGE_OPTIONS: Readonly<Record<keyof PageOptions, true>> = {
  color: true,
  width: true,
  height: true,
  detail: true,
};

export function pageOf(options: PageOptions): Page {
  const own: PageOptions = ownMembers(options, PAGE_OPTIONS);
  const { color = false, width = DEFAULT_WIDTH, height = Infinity, detail = "normal" } = own;
  return {
    height,
    // NaN becomes the default.
    width: Math.min(Math.max(Math.floor(width) || DEFAULT_WIDTH, LEAST_WIDTH), MOST_WIDTH),
    detail,
    paint: color ? painted : (text) => text,
    hex: detail === "verbose" ? printable : (hex) => shortHex(hex),
  };
}

function painted(text: string, ...styles: readonly Style[]): string {
  return `\x1b[${styles.map((style) => STYLES[style]).join(";")}m${text}\x1b[0m`;
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

/** Wraps a text to at most so many lines. */
export function clipped(page: Page, first: string, text: string, most: number): string[] {
  return cutTo(most, wrapped(page, first, text), page);
}

/** Truncates lines, which then end in `…`. */
export function cutTo(most: number, lines: readonly string[], { width }: Page): string[] {
  if (lines.length <= most) return [...lines];
  const [start] = piecesOf(lines[most - 1]!, width - 1);
  return [...lines.slice(0, most - 1), `${start!.trimEnd()}…`];
}

export function headingLines(text: string, page: Page): string[] {
  return wrapped(page, "", text).map((line) => page.paint(line, "bold"));
}

const WARNING = "WARNING";

export function warningLines(text: string, page: Page): string[] {
  return wrapped(page, `${WARNING} `, text).map((line, index) => {
    const start = index === 0 ? WARNING : "";
    return (start && page.paint(start, "onYellow")) + page.paint(line.slice(start.length), "bold");
  });
}

/** Paints the word with which the first line begins, after any indentation. */
export function wordFirst(
  { paint }: Page,
  [word, ...styles]: readonly [string, ...Style[]],
  [first, ...others]: readonly string[],
): string[] {
  return [styles.length === 0 ? first! : first!.replace(word, paint(word, ...styles)), ...others];
}

export function notVerifiedLines(page: Page, one: { readonly "NOT VERIFIED": string }): string[] {
  return wordFirst(page, ["NOT VERIFIED", "onYellow"], wrapped(page, "", `NOT VERIFIED: ${one["NOT VERIFIED"]}`));
}

/** Joins paragraphs of lines. Those without lines are left out. */
export function paragraphs(list: readonly (readonly string[])[]): string {
  const texts = list.filter((lines) => lines.length > 0).map((lines) => lines.join("\n"));
  return `${texts.join("\n\n")}\n`;
}

export function padded(text: string, columns: number): string {
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
