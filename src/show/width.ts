/**
 * Width of printable text on a terminal, by code points (show/README.md, "Width"). Code points that a terminal draws
 * as one, such as an emoji with a skin tone, count separately, so the width may be too large but is never too small.
 */

/** Marks that are drawn over the character before. */
const MARK = /[\p{Mn}\p{Me}]/u;
/** The mark that makes a keycap of a digit, as wide as an emoji. */
const KEYCAP = "\u20e3";

/** East Asian Width W and F. MARK is tested first, so marks in these ranges have no width. */
const WIDE = new RegExp(
  "[\\u1100-\\u115f\\u2329\\u232a\\u2630-\\u2637\\u268a-\\u268f\\u2e80-\\u303e\\u3041-\\u3247" +
    "\\u3250-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe10-\\ufe6b\\uff01-\\uff60" +
    "\\uffe0-\\uffe6\\u{16fe0}-\\u{1b2ff}\\u{1d300}-\\u{1d376}\\u{1f200}-\\u{1f265}\\u{20000}-\\u{3fffd}]",
  "u",
);
/** Emoji, and halves of flags, which are narrow. Literals, because React Native's compiler rewrites only those. */
const EMOJI = /\p{Emoji_Presentation}/u;
const FLAG_HALF = /[\u{1f1e6}-\u{1f1ff}]/u;
const ASCII = /^[\x20-\x7e]*$/;
const CLUSTER = /\P{M}?\p{M}*/gu;

export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const char of text) columns += columnsOf(char);
  return columns;
}

function columnsOf(char: string): number {
  if (ASCII.test(char) || char === KEYCAP) return 1;
  if (MARK.test(char)) return 0;
  return WIDE.test(char) || (EMOJI.test(char) && !FLAG_HALF.test(char)) ? 2 : 1;
}

/**
 * Cuts text into parts of at most `columns` columns, which must be 2 or more. A character and its marks stay together
 * if they fit into one part.
 */
export function piecesOf(text: string, columns: number): string[] {
  if (ASCII.test(text)) return text.match(new RegExp(`.{1,${columns}}`, "g")) ?? [text];
  const pieces: string[] = [];
  let piece = "";
  let width = 0;
  for (const cluster of clustersOf(text, columns)) {
    const own = displayWidth(cluster);
    if (width + own > columns && piece !== "") {
      pieces.push(piece);
      [piece, width] = ["", 0];
    }
    piece += cluster;
    width += own;
  }
  return [...pieces, piece];
}

/** Returns clusters. Spacing marks have their own columns, so a cluster may be wider than a part and is then split. */
function clustersOf(text: string, columns: number): string[] {
  return [...text.matchAll(CLUSTER)].flatMap(([cluster]) =>
    displayWidth(cluster) > columns ? [...cluster] : [cluster],
  );
}
