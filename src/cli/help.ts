/** Help texts as wide as the terminal. */

const NARROWEST = 60;
const WIDEST = 200;
const PROMPT = "$ ";
/** Of what continues a command or a row. */
const HANGING = 4;

/** Columns that a help text is made for. */
export function helpWidth(columns: number): number {
  return Math.min(Math.max(columns, NARROWEST), WIDEST);
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

/** At the margin, and no heading of its own. */
function isText(line: string): boolean {
  return /^\S/.test(line);
}

function broken(line: string, width: number): string[] {
  const indent = /^ */.exec(line)![0].length;
  const isCommand = line.startsWith(PROMPT, indent);
  const rest = " ".repeat(indent + (indent === 0 ? 0 : HANGING));
  const words = isCommand ? shellWords(line.slice(indent)) : line.slice(indent).split(/(?<=\S) /);
  const room = width - (isCommand ? 2 : 0);
  const lines: string[] = [];
  let current = " ".repeat(indent) + words[0]!;
  for (const word of words.slice(1)) {
    if (current.length + 1 + word.length <= room) current += ` ${word}`;
    else {
      lines.push(current);
      current = rest + word;
    }
  }
  return [...lines, current].map((one, index, all) => (isCommand && index < all.length - 1 ? `${one} \\` : one));
}

/** Words that stay together: an option with its value, what is quoted, the prompt with the program. */
function shellWords(command: string): string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [];
  const whole: string[] = [];
  for (const word of words) {
    const before = whole.at(-1);
    const isValue = before !== undefined && /^--[\w-]+$/.test(before) && !/^(?:-|&&|\||>)/.test(word);
    if (isValue || before === PROMPT.trim()) whole[whole.length - 1] = `${before} ${word}`;
    else whole.push(word);
  }
  return whole;
}
