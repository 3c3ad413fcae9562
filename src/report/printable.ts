/** Text from evidence, made safe to print: it cannot control a terminal or imitate our own text. */
import { UNPRINTABLE } from "../decode/json.js";
import { startOf } from "../errors.js";

/** The text with each unprintable character written as `\u{hex}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** At most `length` characters, no surrogate pair cut in two; the rest is counted. */
export function printableStart(text: string, length: number): string {
  return printable(startOf(text, length)) + rest(text, length);
}

/** In double quotes, for names that evidence chose: they cannot run into the words around them. */
export function quoted(text: string, length = 80): string {
  return `"${printable(startOf(text, length).replace(/["\\]/g, "\\$&"))}"${rest(text, length)}`;
}

/** `ab12cd34…5678ef90` of a long hex text; a short one in full. */
export function shortHex(hex: string, digits = 8): string {
  return printable(hex.length <= 3 * digits ? hex : `${hex.slice(0, digits)}…${hex.slice(-digits)}`);
}

function rest(text: string, length: number): string {
  return text.length > length ? `… (${text.length} characters)` : "";
}
