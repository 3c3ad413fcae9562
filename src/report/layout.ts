/** Lines of text for a terminal: wrapped to a width, coloured where that is wanted. */

const WIDTH = 100;
/** What is left for text beside the deepest indentation. */
const NARROWEST = 32;

const STYLES = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33" } as const;
export type Style = keyof typeof STYLES;

/** Puts a style around a text, or nothing where no colour is wanted. */
export type Paint = (text: string, ...styles: Style[]) => string;

export function painter(color: boolean): Paint {
  if (!color) return (text) => text;
  return (text, ...styles) => `\x1b[${styles.map((style) => STYLES[style]).join(";")}m${text}\x1b[0m`;
}

/**
 * The text's words in lines of at most {@link WIDTH} columns, or as many as are named: the first line after
 * `first`, the others after as many spaces. A word that is longer than a line is cut into even pieces.
 */
export function wrapped(first: string, text: string, width = WIDTH): string[] {
  const room = Math.max(width - first.length, NARROWEST);
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(" ").flatMap((whole) => evenPieces(whole, room))) {
    if (line === undefined) line = word;
    else if (line.length + 1 + word.length <= room) line += ` ${word}`;
    else {
      lines.push(line);
      line = word;
    }
  }
  const indent = " ".repeat(first.length);
  return [...lines, line ?? ""].map((content, index) => (index === 0 ? first : indent) + content);
}

function evenPieces(word: string, room: number): string[] {
  // An even number of characters, so that no byte of a hex text is cut in two.
  const count = Math.ceil(word.length / (room - (room % 2))) || 1;
  const size = 2 * Math.ceil(word.length / count / 2);
  return Array.from({ length: count }, (_, index) => word.slice(index * size, (index + 1) * size));
}
