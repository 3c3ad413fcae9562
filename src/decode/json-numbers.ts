/** JSON numbers without loss. RFC 8259 section 6 lets a reader lose precision; signed values must keep it. */
import { type Fault, FaultList, shownName } from "../errors.js";
import { JsonNumber, type JsonObject, type JsonValue, isJsonObject } from "./json.js";

/** Messages truncate a literal, which can be as long as the text. */
const MAX_SHOWN = 40;

/**
 * Replaces each {@link JsonNumber} in place. A literal that a double cannot hold is a fault, and becomes its text.
 * `value` must be fresh from the parser.
 */
export function plainNumbers(value: JsonValue): { readonly value: JsonValue; readonly faults: FaultList } {
  const faults = new FaultList();
  return { value: plainValue(value, "", faults), faults };
}

function plainValue(value: JsonValue, path: string, faults: Fault[]): JsonValue {
  if (value instanceof JsonNumber) return plainNumber(value.text, path, faults);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = plainValue(item, `${path}[${index}]`, faults);
  } else if (isJsonObject(value)) plainMembers(value, path === "" ? "" : `${path}.`, faults);
  return value;
}

function plainMembers(object: JsonObject, before: string, faults: Fault[]): void {
  for (const name of Object.keys(object)) object[name] = plainValue(object[name]!, before + shownName(name), faults);
}

function plainNumber(literal: string, path: string, faults: Fault[]): number | string {
  const number = Number(literal);
  if (isExactly(number, literal)) return number;
  const shown = literal.length > MAX_SHOWN ? `${literal.slice(0, MAX_SHOWN)}…` : literal;
  faults.push({ path, message: `${shown} is a number that would be shown as another, ${String(number)}` });
  return literal;
}

function isExactly(number: number, literal: string): boolean {
  if (!Number.isFinite(number)) return false;
  const [signed, shown] = [decimalOf(literal), decimalOf(String(number))];
  return signed.digits === shown.digits && signed.exponent === shown.exponent;
}

/**
 * An integer without zeros at either end, and its power of ten; zero has no digits. Without the sign, which parsing
 * keeps. The power is exact if the double is finite and not zero: the literal's length bounds it.
 */
function decimalOf(literal: string): { digits: string; exponent: number } {
  const [mantissa, power = "0"] = literal.replace(/^-/, "").toLowerCase().split("e") as [string, string?];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === "0") start++;
  if (start === digits.length) return { digits: "", exponent: 0 };
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return { digits: digits.slice(start, end), exponent: Number(power) - fraction.length + digits.length - end };
}
