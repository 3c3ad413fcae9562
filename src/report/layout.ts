/** Lines of text for a terminal: wrapped to its width, coloured where that is wanted. */
import { ownMembers } from "../decode/input.js";
import { printable, shortHex } from "./printable.js";
import { displayWidth, piecesOf } from "./width.js";

/** `summary`: one screen. `normal`: every check; of several pieces a line each. `verbose`: everything in full. */
export type Detail = "summary" | "normal" | "verbose";

export interface TextOptions {
  /** ANSI colours. Default: none. */
  readonly color?: boolean;
  /** Columns of the terminal, 60 to 200; what is beyond counts as the nearest of them. Default: 80. */
  readonly width?: number;
  /** Rows of the terminal: what is longer ends with the verdict once more. Default: any number. */
  readonly height?: number;
  /** How much of a report is shown; `renderSummary` makes the summary. Default: `normal`. */
  readonly detail?: Exclude<Detail, "summary">;
}

const DEFAULT_WIDTH = 80;
const LEAST_WIDTH = 60;
const MOST_WIDTH = 200;
/** Text in fewer columns is not readable. */
const LEAST_ROOM = 24;

/**
 * Colours are the terminal's own, and its background may be light or dark. Yellow letters cannot be read on white, bold
 * ones least of all, which many terminals make bright; nor can bright green. So what warns, and what is good in bold,
 * is black on a ground of that colour, which is the same everywhere. Dim may be next to nothing: only for what the text
 * beside it says too.
 */
const STYLES = { bold: "1", dim: "2", red: "31", green: "32", onGreen: "30;42", onYellow: "30;43" } as const;
export type Style = keyof typeof STYLES;

/** Puts a style around a text, or nothing where no colour is wanted. */
type Paint = (text: string, ...styles: Style[]) => string;

/** A page may be of a summary, too. */
type PageOptions = Omit<TextOptions, "detail"> & { readonly detail?: Detail };

/** What lines are made for. */
export interface Page {
  readonly width: number;
  readonly detail: Detail;
  readonly paint: Paint;
  /** Long hex as it is shown here: whole, or its two ends. */
  readonly hex: (hex: string) => string;
}

const PAGE_OPTIONS: Readonly<Record<keyof PageOptions, true>> = {
  color: true,
  width: true,
  height: true,
  detail: true,
};

/** The options of text: the object's own members, each read once. */
export function ownPageOptions<O extends PageOptions>(options: O): O {
  return ownMembers(options as PageOptions, PAGE_OPTIONS) as O;
}

export function pageOf(options: PageOptions): Page {
  const { color = false, width = DEFAULT_WIDTH, detail = "normal" } = ownPageOptions(options);
  return {
    // What is no number is none of ours.
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
 * The text's words in lines of the page's width: the first line after `first`, the others after as many spaces. Where
 * that leaves too little room, `first` stands above them. A word that is longer than a line is cut into even pieces.
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

/** A heading, in bold. */
export function headingLines(text: string, page: Page): string[] {
  return wrapped(page, "", text).map((line) => page.paint(line, "bold"));
}

export const BUT = "BUT";

/** Lines of what takes weight from the verdict: the first begins with BUT. */
export function butLines(lines: readonly string[], page: Page): string[] {
  return lines.map((line, index) => {
    const start = index === 0 ? BUT : "";
    return (start && page.paint(start, "onYellow")) + page.paint(line.slice(start.length), "bold");
  });
}

/** The text, and spaces up to so many columns. */
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
  // An even number of columns, so that no byte of a hex text is cut in two.
  const count = Math.ceil(columns / (room - (room % 2)));
  return piecesOf(word, 2 * Math.ceil(columns / count / 2));
}
