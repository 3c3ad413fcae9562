/** Fits help texts to the width of the terminal. */
import { pageOf } from "../show/terminal.js";

const PROMPT = "$ ";
const HANGING = 4;
const CONTINUED = " \\";
/** Matches a word that stays on one line with the next word: an option, a pipe, a redirection, or the prompt. */
const TAKES_NEXT = /^(?:--?[\w-]+|[|>$]|&&)$/;

export function helpWidth(columns: number): number {
  return pageOf({ width: columns }).width;
}

/**
 * Fits a text to a width. Paragraphs are refilled. Long rows and commands are broken, commands so that a shell still
 * accepts them.
 */
export function fitted(text: string, width: number): string {
  return paragraphs(text)
    .flatMap((line) => (line.length <= width ? line : broken(line, width)))
    .join("\n");
}

/** Joins consecutive lines at the margin, except after a heading (a line that ends with a colon). */
function paragraphs(text: string): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const before = lines.at(-1);
    const isOfParagraph = before !== undefined && isText(before) && !before.endsWith(":") && isText(line);
    if (isOfParagraph) lines[lines.length - 1] = `${before} ${line}`;
    else lines.push(line);
  }
  return lines;
}

/** Returns whether a line is at the margin and is not the usage line. */
function isText(line: string): boolean {
  return /^\S/.test(line) && !line.startsWith("Usage:");
}

function broken(line: string, width: number): string[] {
  const indent = /^ */.exec(line)![0].length;
  const isCommand = line.startsWith(PROMPT, indent);
  const rest = " ".repeat(hangingOf(line, indent, isCommand));
  const words = isCommand ? shellWords(line.slice(indent)) : line.slice(indent).split(/(?<=\S) /);
  const room = width - (isCommand ? CONTINUED.length : 0);
  const lines: string[] = [];
  let current = " ".repeat(indent) + words[0]!;
  for (const word of words.slice(1)) {
    if (current.length + 1 + word.length <= room) current += ` ${word}`;
    else {
      lines.push(current);
      current = rest + word;
    }
  }
  return isCommand ? [...lines.map((one) => one + CONTINUED), current] : [...lines, current];
}

/** Returns the indent for the rest of a long line. For a row of two columns, this is where the second column begins. */
function hangingOf(line: string, indent: number, isCommand: boolean): number {
  if (isCommand || line.startsWith("Usage:")) return indent + HANGING;
  return /^ *\S.*? {2,}(?=\S)/.exec(line)?.[0].length ?? indent;
}

/**
 * Splits a command into parts that stay on one line: an option with its value, `>` with its file, the prompt with the
 * program.
 */
function shellWords(command: string): string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [];
  const whole: string[] = [];
  for (const word of words) {
    const before = whole.at(-1);
    if (before !== undefined && TAKES_NEXT.test(before) && !word.startsWith("-")) whole[whole.length - 1] += ` ${word}`;
    else whole.push(word);
  }
  return whole;
}
