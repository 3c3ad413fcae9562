/** Copies of callers' inputs: JSON text, its bytes, or a parsed value. Later changes of an input have no effect. */
import { type Fault, MalformedError, type Reading, attempt } from "../errors.js";
import { type JsonValue, copyJson, isJsonObject, parseJson } from "./json.js";

/** Parses text and bytes, and copies any other value except undefined. Throws {@link MalformedError} (`json`). */
export function jsonInput(input: unknown): JsonValue | undefined {
  if (input === undefined) return undefined;
  if (typeof input === "string" && FILE_NAME.test(input))
    throw new MalformedError("json", [{ path: "", message: NOT_A_NAME }]);
  return typeof input === "string" || input instanceof Uint8Array ? parseJson(input) : copyJson(input);
}

const FILE_NAME = /^[^\s"{[]{1,255}\.(?:jsonl?|ya?ml|pem)$/i;
const NOT_A_NAME = "expected the content, got the name of a file: read the file first";

/** A copied input, which has faults if it is not JSON. */
export interface InputCopy {
  readonly value: JsonValue | undefined;
  readonly faults: readonly Fault[];
}

export function copyInput(input: unknown): InputCopy {
  return attempt(() => jsonInput(input));
}

/** Reads the value of a copied input, or returns the faults of its JSON. */
export function readInput<T>(input: InputCopy, read: (value: unknown) => Reading<T>): Reading<T> {
  return input.faults.length > 0 ? { value: {}, faults: input.faults } : read(input.value);
}

/** Copies own members, each read once, to an object without a prototype. */
export function ownMembers<T extends object, N extends keyof T>(
  value: T,
  names: Readonly<Record<N, unknown>>,
): Pick<T, N> {
  const own = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(names))
    if (Object.hasOwn(value, name)) own[name] = (value as Record<string, unknown>)[name];
  return own as Pick<T, N>;
}

/** Maximum depth of copies. Evidence and policies have at most 64 levels. */
const MAX_COPIED = 256;

/**
 * Deeply copies Dates, bytes, arrays and plain objects. Copies of objects have own members only, each read once, and no
 * prototype. Other values, such as functions and class instances, are kept.
 */
export function copyPlain<T>(value: T, depth = 0): T {
  return copiedPlain(value, depth) as T;
}

function copiedPlain(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || depth > MAX_COPIED) return value;
  if (value instanceof Date) return new Date(value);
  if (value instanceof Uint8Array) return new Uint8Array(value);
  if (Array.isArray(value)) return value.map((item: unknown) => copyPlain(item, depth + 1));
  const prototype = prototypeOf(value);
  if (prototype !== null && prototypeOf(prototype) !== null) return value;
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) copy[name] = copyPlain(member, depth + 1);
  return copy;
}

/** Copies all members except `names` to an object without a prototype. A rest pattern would give it a prototype. */
export function otherMembers<T extends object, N extends keyof T>(own: T, ...names: readonly N[]): Omit<T, N> {
  const others = Object.entries(own).filter(([name]) => !names.includes(name as N));
  return Object.assign(Object.create(null) as Omit<T, N>, Object.fromEntries(others));
}

/** Copies own members to an object without a prototype. Otherwise members of `Object.prototype` could be read. */
export function withoutPrototype<T extends object>(own: T): T {
  return Object.assign(Object.create(null) as T, own);
}

/** Whether the value inherits the member from a prototype other than `Object.prototype`, of this realm or another. */
export function isInherited(value: object, name: string): boolean {
  if (!(name in value)) return false;
  for (let one = prototypeOf(value); one !== null; one = prototypeOf(one))
    if (Object.hasOwn(one, name)) return prototypeOf(one) !== null || !Object.hasOwn(one, "hasOwnProperty");
  return false;
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null;
}

/** Returns the value inside `{[name]: …}`, or the input itself without that wrapper. */
export function unwrap(input: unknown, name: string): unknown {
  return isJsonObject(input) && Object.hasOwn(input, name) ? input[name] : input;
}
