/** Exact JSON numbers. RFC 8259 section 6 lets a reader lose precision, which signed values must keep. */
import { type Fault, FaultList, shownName } from "../errors.js";
import { JsonNumber, type JsonObject, type JsonValue, isJsonObject, jsonKey, memberPath } from "./json.js";

/** Maximum length of a literal in messages. A literal can be as long as the text. */
const MAX_SHOWN = 40;

/**
 * Replaces each {@link JsonNumber} in place. If a double cannot hold the literal, this is a fault, and the literal
 * becomes a string. `value` must be fresh from the parser.
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
  faults.push({ path, message: `${shown}: not exact as a double, it would be shown as ${String(number)}` });
  return literal;
}

function isExactly(number: number, literal: string): boolean {
  return Number.isFinite(number) && decimalOf(literal) === decimalOf(String(number));
}

/** Whether two values are equal. The order of members is free, and numbers are compared by their decimal values. */
export function equalJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b || (isNumber(a) && isNumber(b) && equalNumbers(a, b));
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equalJson(a[name], b[name]))
  );
}

/** Returns a {@link jsonKey}. Two values have the same key exactly if {@link equalJson} is true for them. */
export function decimalKey(value: JsonValue): string {
  return jsonKey(value, (number) => decimalOf(literalOf(number)));
}

function isNumber(value: JsonValue | undefined): value is number | JsonNumber {
  return typeof value === "number" || value instanceof JsonNumber;
}

function equalNumbers(a: number | JsonNumber, b: number | JsonNumber): boolean {
  return decimalOf(literalOf(a)) === decimalOf(literalOf(b));
}

/** Returns the literal of a number. For a double, it is the literal that `JSON.stringify` writes. */
function literalOf(value: number | JsonNumber): string {
  return typeof value === "number" ? String(value) : value.text;
}

/**
 * Returns one text for each decimal value: an integer without zeros at either end and its power of ten, or `0` for
 * zero. The time is in proportion to the literal's length, whatever its power.
 */
function decimalOf(literal: string): string {
  const sign = literal.startsWith("-") ? "-" : "";
  const [mantissa, power = "0"] = literal.slice(sign.length).toLowerCase().split("e") as [string, string?];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === "0") start++;
  if (start === digits.length) return "0";
  let end = digits.length;
  while (digits[end - 1] === "0") end--;
  return `${sign}${digits.slice(start, end)}e${sumOf(power, digits.length - end - fraction.length)}`;
}

/** Number of digits that a double holds exactly. */
const CHUNK = 15;

/** Adds a summand smaller than 10^15 to an integer of any length, given as text. */
function sumOf(text: string, summand: number): string {
  const sign = text.startsWith("-") ? "-" : "";
  const digits = text.replace(/^[+-]?0*(?=[0-9])/, "");
  if (digits.length <= CHUNK) return String(Number(sign + digits) + summand);
  const low = Number(digits.slice(-CHUNK)) + (sign === "" ? summand : -summand);
  const carry = Math.floor(low / 10 ** CHUNK);
  const sum = carried(digits.slice(0, -CHUNK), carry) + String(low - carry * 10 ** CHUNK).padStart(CHUNK, "0");
  return sign + sum.replace(/^0+/, "");
}

/** Adds a carry of -1, 0 or 1 to digits. */
function carried(digits: string, carry: number): string {
  if (carry === 0) return digits;
  const [last, next] = carry > 0 ? ["9", "0"] : ["0", "9"];
  let end = digits.length;
  while (digits[end - 1] === last) end--;
  const changed = end === 0 ? "1" : digits.slice(0, end - 1) + String(Number(digits[end - 1]) + carry);
  return changed + next.repeat(digits.length - end);
}

/**
 * Returns the path of the first integer beyond 2^53 - 1, at any depth, or null. Other integers have the same double. A
 * {@link JsonNumber} is exact and never found. `value` comes from the parser or a copy, whose depth is bounded.
 */
export function unsafeInteger(value: JsonValue, path = ""): string | null {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? path : null;
  if (Array.isArray(value)) return firstUnsafe(value.entries(), (index) => `${path}[${index}]`);
  if (!isJsonObject(value)) return null;
  const names = Object.keys(value);
  return firstUnsafe(names.map((name) => value[name]!).entries(), (index) => memberPath(path, names[index]!, index));
}

function firstUnsafe(values: Iterable<[number, JsonValue]>, pathOf: (index: number) => string): string | null {
  for (const [index, value] of values) {
    const found = unsafeInteger(value, pathOf(index));
    if (found !== null) return found;
  }
  return null;
}
