/** Text from evidence, made safe to print: it can neither steer a terminal nor pass for text of ours. */
import { startOf } from "../errors.js";

/**
 * What a terminal acts upon or does not show: controls and escapes, bidi overrides and other formatting, line and
 * paragraph separators, spaces that are not the space, surrogates, private and unassigned code points.
 */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** The text with each unprintable character written as `\u{hex}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** The JSON text with each unprintable character of its strings as JSON's own escape: the same value, safe to print. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (char) => (char === "\n" ? char : char.replace(/[^]/g, jsonEscape)));
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

function jsonEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
