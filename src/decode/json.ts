/**
 * Strict JSON (RFC 8259): no duplicate members, nothing after the value, no lone surrogates, bounded nesting. Objects
 * have no prototype, so that `__proto__` is an ordinary member.
 */
import { fromUtf8 } from "../bytes.js";
import { type Fault, MalformedError, attempt, shownName } from "../errors.js";

export type JsonValue = null | boolean | number | JsonNumber | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [member: string]: JsonValue;
}

/**
 * Mark of {@link JsonNumber}. It is global, because bin/build.mjs bundles copies of this file that exchange numbers.
 */
const NUMBER_MARK = Symbol.for("bootproof.JsonNumber");

/** A number as written, for formats that distinguish `1` from `1.0`. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** @internal */
  get [NUMBER_MARK](): true {
    return true;
  }

  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && NUMBER_MARK in value;
  }
}

const MAX_DEPTH = 64;
/**
 * Maximum number of members and items of one text. Two bytes of text can take 230 in memory, so a limit of the text's
 * size is not enough. The densest genuine text of 1 MiB, a manifest of small numbers, has a fifth of this number.
 */
const MAX_VALUES = 250_000;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LONE_SURROGATE = /\p{Surrogate}/u;
/** Text without quotes, backslashes, controls and surrogates. */
const PLAIN = /[^"\\\u0000-\u001f\ud800-\udfff]*/y;
/** Up to 64 escapes and pairs of surrogates, which bounds the work of one match, each with the plain text after it. */
const ESCAPED = new RegExp(
  `(?:(?:${[
    String.raw`\\["\\/bfnrt]`,
    String.raw`\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}`,
    String.raw`\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`,
    String.raw`[\ud800-\udbff][\udc00-\udfff]`,
  ].join("|")})${PLAIN.source}){1,64}`,
  "y",
);

export interface ValueBudget {
  left: number;
}

interface JsonOptions {
  /** `literal` returns numbers as {@link JsonNumber}. Default: `value`. */
  readonly numbers?: "value" | "literal";
  /** Maximum number of values, which includes the outermost one. Default: 250,000. */
  readonly maxValues?: number;
  /** A limit that several texts share. */
  readonly budget?: ValueBudget;
}

/** Parses one JSON text. Throws {@link MalformedError} (`json`) with line and column of the first fault. */
export function parseJson(input: string | Uint8Array, options: JsonOptions = {}): JsonValue {
  const text = typeof input === "string" ? input : fromUtf8(input);
  if (text === null) throw malformed("not UTF-8");
  if (text.startsWith("\ufeff")) throw malformed("starts with a byte order mark: save it without one");
  return new JsonParser(text, options).parse();
}

/** One of several JSON texts. */
interface JsonLine {
  readonly text: string;
  /** Line number from 1, or null for a text that is not a list of lines. */
  readonly number: number | null;
}

/** Returns the lines of JSON Lines that are not empty, or the whole text if it is one value or line 1 is not JSON. */
export function jsonLines(text: string): readonly JsonLine[] {
  const isJson = (part: string): boolean => attempt(() => parseJson(part)).faults.length === 0;
  const whole = [{ text, number: null }];
  if (isJson(text)) return whole;
  const lines = text.split("\n").map((line, index) => ({ text: line.replace(/\r$/, ""), number: index + 1 }));
  const filled = lines.filter((line) => line.text.trim() !== "");
  return filled.length > 1 && isJson(filled[0]!.text) ? filled : whole;
}

/**
 * Deeply copies a JSON value, in the form of {@link parseJson}. Omits undefined members, as JSON.stringify does. Throws
 * {@link MalformedError} (`json`) for deep nesting, too many values, and with the path of a value that JSON.stringify
 * would drop, refuse or write as another one.
 */
export function copyJson(value: unknown, maxValues = MAX_VALUES): JsonValue {
  return copied(value, { left: maxValues, path: [] });
}

interface Walk extends ValueBudget {
  /** The steps to the value that is copied now. */
  readonly path: (string | number)[];
}

function copied(value: unknown, walk: Walk): JsonValue {
  const { path } = walk;
  if (path.length > MAX_DEPTH) throw malformed(`nested deeper than ${MAX_DEPTH}`);
  // A sparse array can have any length, so it is checked before the walk.
  walk.left -= 1;
  if (walk.left < (Array.isArray(value) ? value.length : 0)) throw malformed(tooMany(MAX_VALUES));
  refuseLoneSurrogate(value, path);
  if (isScalar(value)) return value;
  const foreign = foreignKind(value);
  if (foreign !== null) throw malformed(`${foreign}, which no JSON value is`, path);
  if (Array.isArray(value)) return Array.from(value, (item, index) => copiedAt(index, item, walk));
  const copy = Object.create(null) as JsonObject;
  for (const [name, member] of Object.entries(value as object)) {
    if (member === undefined) continue;
    refuseLoneSurrogate(name, path);
    copy[name] = copiedAt(name, member, walk);
  }
  return copy;
}

function copiedAt(step: string | number, value: unknown, walk: Walk): JsonValue {
  walk.path.push(step);
  const copy = copied(value, walk);
  walk.path.pop();
  return copy;
}

/**
 * Returns a unique text for each value of {@link parseJson} or {@link copyJson}, independent of member order.
 * `JSON.stringify` would write -0 as 0, and null for what it cannot write. `keyOf` decides which numbers are the same.
 * Throws TypeError for any other value.
 */
export function jsonKey(value: JsonValue, keyOf: (number: number | JsonNumber) => string = numberKey): string {
  if (value instanceof JsonNumber || typeof value === "number") return keyOf(value);
  if (typeof value === "string" || typeof value === "boolean" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => jsonKey(item, keyOf)).join()}]`;
  if (!isJsonObject(value)) throw new TypeError(`${jsonKind(value)}, which no JSON value is`);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${jsonKey(value[name]!, keyOf)}`).join()}}`;
}

/**
 * Returns the JSON text of a value. Numbers are written as doubles, so `1.0` and `1` give the same text. A number that
 * is larger than any double is written as a string.
 */
export function jsonText(value: JsonValue): string {
  return JSON.stringify(value, (_, inner: unknown) => (inner instanceof JsonNumber ? doubleOf(inner) : inner));
}

function doubleOf({ text }: JsonNumber): number | string {
  const double = Number(text);
  return Number.isFinite(double) ? double : text;
}

function numberKey(value: number | JsonNumber): string {
  if (value instanceof JsonNumber) return `#${value.text}`;
  if (!Number.isFinite(value)) throw new TypeError("a number that JSON cannot write");
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Returns what a value is that JSON.stringify drops, refuses, or may write as another one. Null for any other. */
function foreignKind(value: unknown): string | null {
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") return jsonKind(value);
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === "function") return "an object with toJSON";
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return Array.isArray(value) || tag === "Object" ? null : `an object of ${shownName(tag)}`;
}

function isScalar(value: unknown): value is null | boolean | number | JsonNumber | string {
  if (typeof value === "number") return Number.isFinite(value);
  return value === null || typeof value === "string" || typeof value === "boolean" || value instanceof JsonNumber;
}

/** Refuses lone surrogates. UTF-8 replaces each with U+FFFD, so different values would become equal. */
function refuseLoneSurrogate(value: unknown, path: Walk["path"]): void {
  if (typeof value === "string" && LONE_SURROGATE.test(value)) throw malformed("a lone surrogate in a string", path);
}

/** The message of the fault of a text with too many values. */
export function tooMany(most: number): string {
  return `more than ${most} values`;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

const MAX_PATH = 128;

/**
 * Returns a unique path of a few hundred characters at most. A long name is truncated and followed by the member's
 * index. In a long path, the index replaces the name.
 */
export function memberPath(path: string, name: string, index: number): string {
  const shown = shownName(name);
  if (path.length > MAX_PATH) return `${path}.#${index}`;
  const step = shown === name ? name || '""' : `${shown}#${index}`;
  return path === "" ? step : `${path}.${step}`;
}

/** Returns the name that decoders read if they ignore letter case, `_` and `-`. U+017F is s, and U+212A is k. */
export function folded(name: string): string {
  return name.toUpperCase().toLowerCase().replace(/[_-]/g, "");
}

export function jsonKind(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (value instanceof JsonNumber || typeof value === "number") return "a number";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}

function malformed(message: string, path: Walk["path"] = []): MalformedError {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${shownName(step)}`));
  return new MalformedError("json", [{ path: steps.join("").replace(/^\./, ""), message }]);
}

class JsonParser {
  readonly #text: string;
  readonly #literalNumbers: boolean;
  readonly #maxValues: number;
  readonly #budget: ValueBudget | undefined;
  #values = 0;
  #at = 0;

  constructor(text: string, { numbers = "value", maxValues = MAX_VALUES, budget }: JsonOptions) {
    this.#text = text;
    this.#literalNumbers = numbers === "literal";
    this.#maxValues = maxValues;
    this.#budget = budget;
  }

  parse(): JsonValue {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#fault("text after the end of the value");
    return value;
  }

  #value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw this.#fault(`nested deeper than ${MAX_DEPTH}`);
    if (++this.#values > this.#maxValues) throw this.#fault(tooMany(this.#maxValues));
    if (this.#budget && --this.#budget.left < 0)
      throw this.#fault("too many values: the limit for all texts of this kind together is reached");
    this.#space();
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): JsonObject {
    const object = Object.create(null) as JsonObject;
    this.#at++;
    if (this.#accept("}")) return object;
    do {
      this.#space();
      if (this.#text[this.#at] !== '"') throw this.#fault("expected a member name");
      const start = this.#at;
      const name = this.#string();
      if (name in object) throw this.#fault(`member ${JSON.stringify(shownName(name))} appears twice`, start);
      if (!this.#accept(":")) throw this.#fault("expected ':'");
      object[name] = this.#value(depth + 1);
    } while (this.#accept(","));
    if (!this.#accept("}")) throw this.#fault("expected ',' or '}'");
    return object;
  }

  #array(depth: number): JsonValue[] {
    const items: JsonValue[] = [];
    this.#at++;
    if (this.#accept("]")) return items;
    do items.push(this.#value(depth + 1));
    while (this.#accept(","));
    if (!this.#accept("]")) throw this.#fault("expected ',' or ']'");
    return items;
  }

  #string(): string {
    const start = this.#at++;
    const whole = this.#match(PLAIN);
    const isWhole = this.#text[this.#at] === '"';
    while (this.#text[this.#at] !== '"') if (this.#match(ESCAPED) === "") throw this.#fault(this.#stringFault());
    this.#at++;
    return isWhole ? whole : (JSON.parse(this.#text.slice(start, this.#at)) as string);
  }

  #stringFault(): string {
    const [char, letter = ""] = this.#text.slice(this.#at, this.#at + 2).split("");
    if (char === undefined) return "a string does not end";
    if (char === "\n" || char === "\r") return LINE_BREAK;
    if (char !== "\\") return char < " " ? "a control character in a string" : "a lone surrogate in a string";
    if (letter !== "u") return "an unknown escape in a string";
    const isEscape = /^[0-9a-fA-F]{4}/.test(this.#text.slice(this.#at + 2, this.#at + 6));
    return isEscape ? "a lone surrogate in a string" : "\\u without four hex digits";
  }

  /** Reads a number, but refuses one that becomes Infinity, which JSON would write as null. */
  #number(): number | JsonNumber {
    const start = this.#at;
    const literal = this.#match(NUMBER);
    if (literal === "") throw this.#fault(this.#at < this.#text.length ? "expected a value" : "the text ends early");
    if (this.#literalNumbers) return new JsonNumber(literal);
    const number = Number(literal);
    if (!Number.isFinite(number)) throw this.#fault("a number that is too large for a double", start);
    return number;
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#fault("expected a value");
    this.#at += word.length;
    return value;
  }

  #accept(char: string): boolean {
    this.#space();
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at++;
    }
  }

  /** Returns the matched text. Unlike `exec`, it does not make a list of each match. */
  #match(pattern: RegExp): string {
    const start = this.#at;
    pattern.lastIndex = start;
    if (!pattern.test(this.#text)) return "";
    this.#at = pattern.lastIndex;
    return this.#text.slice(start, this.#at);
  }

  #fault(message: string, at = this.#at): MalformedError {
    let [line, start] = [1, 0];
    for (let feed = this.#text.indexOf("\n"); feed >= 0 && feed < at; feed = this.#text.indexOf("\n", start)) {
      line++;
      start = feed + 1;
    }
    const place = `line ${line}, column ${at - start + 1}`;
    return new MalformedError("json", [{ path: "", message: `${message} (${place})`, ...this.#cause(message, at) }]);
  }

  #cause(message: string, at: number): Pick<Fault, "cause"> {
    if (message === LINE_BREAK) return { cause: { code: "line-breaks" } };
    const isCutOff = CUT_OFF.test(this.#text.slice(at, at + MAX_CUT)) && this.#text.trim() !== "";
    return isCutOff ? { cause: { code: "cut-off" } } : {};
  }
}

const LINE_BREAK = "a line break in a string";
/** The end of a text that was cut off: white space, or the start of a word or an escape. Any longer rest is not one. */
const CUT_OFF = /^(?:tr?u?|fa?l?s?|nu?l?|-|\\.{0,4})?\s*$/;
const MAX_CUT = 64;

/**
 * Characters that a terminal interprets or does not show: controls and escapes, bidi overrides and other formatting,
 * separators, spaces other than U+0020, surrogates, private and unassigned code points.
 */
export const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

/** Escapes unprintable characters of JSON text. The value stays the same. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (char) => (char === "\n" ? char : char.replace(/[^]/g, jsonEscape)));
}

function jsonEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
