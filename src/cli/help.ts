/** Help texts as wide as the terminal. */
import { pageOf } from "../report/layout.js";

const PROMPT = "$ ";
/** Of what continues a command. */
const HANGING = 4;
const CONTINUED = " \\";
/** An option, a pipe, a redirection, the prompt. */
const TAKES_NEXT = /^(?:--?[\w-]+|[|>$]|&&)$/;

/** Columns that a help text is made for. */
export function helpWidth(columns: number): number {
  return pageOf({ width: columns }).width;
}

/**
 * A help text in lines of at most so many columns: paragraphs are filled anew, rows of a list and commands that are too
 * long go on in the next line, commands as a shell takes them.
 */
export function fitted(text: string, width: number): string {
  return paragraphs(text)
    .flatMap((line) => (line.length <= width ? line : broken(line, width)))
    .join("\n");
}

/** Lines, where those at the margin that follow each other are one; not after a heading, which ends with a colon. */
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

/** At the margin, and not the line that says how a command is used. */
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

/** Where a line goes on: a row of two columns in the second of them. */
function hangingOf(line: string, indent: number, isCommand: boolean): number {
  if (isCommand || line.startsWith("Usage:")) return indent + HANGING;
  return /^ *\S.*? {2,}(?=\S)/.exec(line)?.[0].length ?? indent;
}

/** Words that stay together: an option with its value, `>` with its file, the prompt with the program. */
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
