/** Text from evidence, made safe to print: it can neither steer a terminal nor pass for text of ours. */
import { UNPRINTABLE } from "../decode/json.js";
import { startOf } from "../errors.js";

/** The text with each unprintable character written as `\u{hex}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** Printable, of at most `length` characters, no pair of surrogates cut in two: the rest is left out, and counted. */
export function printableStart(text: string, length: number): string {
  return printable(startOf(text, length)) + rest(text, length);
}

/** Between double quotes, so that it cannot run into the words around it: for names that evidence chose. */
export function quoted(text: string, length = 80): string {
  return `"${printable(startOf(text, length).replace(/["\\]/g, "\\$&"))}"${rest(text, length)}`;
}

/** `ab12cd34…5678ef90` of a long hex text, the whole of a short one. */
export function shortHex(hex: string, digits = 8): string {
  return printable(hex.length <= 3 * digits ? hex : `${hex.slice(0, digits)}…${hex.slice(-digits)}`);
}

function rest(text: string, length: number): string {
  return text.length > length ? `… (${text.length} characters)` : "";
}
