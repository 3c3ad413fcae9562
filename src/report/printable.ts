/** Text from evidence that is safe to print, since it cannot control a terminal or imitate this tool's text. */
import { UNPRINTABLE } from "../decode/json.js";
import { shownName, startOf } from "../errors.js";

/** Returns the text with each unprintable character written as `\u{hex}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** Returns at most `length` characters, with a mark if there are more. No surrogate pair is cut in two. */
export function printableStart(text: string, length: number): string {
  return printable(shownName(text, length));
}

/** Returns the lines of a text of which at most `length` characters are shown. */
export function printableLines(text: string, length: number): string[] {
  return shownName(text, length).split("\n").map(printable);
}

/** Returns a name that evidence chose in double quotes, so that it does not run into the words around it. */
export function quoted(text: string, length = 80): string {
  return `"${printable(startOf(text, length).replace(/["\\]/g, "\\$&"))}"${text.length > length ? "…" : ""}`;
}

/** Returns long hex as `ab12cd34…5678ef90`, and short hex in full. */
export function shortHex(hex: string, digits = 8): string {
  return printable(hex.length <= 3 * digits ? hex : `${hex.slice(0, digits)}…${hex.slice(-digits)}`);
}

/** Capitalizes a statement, unless it begins with a subject such as `app[0]`. */
export function capitalized(statement: string): string {
  return /^[a-z]+\[/.test(statement) ? statement : statement.charAt(0).toUpperCase() + statement.slice(1);
}
