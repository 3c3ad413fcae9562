/**
 * What callers hand in: JSON text, its bytes, or a parsed value. Taken over once, so that later changes to it change
 * nothing.
 */
import { type Fault, type Reading, attempt } from "../errors.js";
import { type JsonValue, copyJson, isJsonObject, parseJson } from "./json.js";

/**
 * The JSON value of an input, the caller's own object copied; undefined of undefined. Throws {@link MalformedError}
 * (`json`).
 */
export function jsonInput(input: unknown): JsonValue | undefined {
  if (input === undefined) return undefined;
  return typeof input === "string" || input instanceof Uint8Array ? parseJson(input) : copyJson(input);
}

/** An input as it was when it was taken: a value, or why it is no JSON. */
export interface InputCopy {
  readonly value: JsonValue | undefined;
  readonly faults: readonly Fault[];
}

export function copyInput(input: unknown): InputCopy {
  return attempt(() => jsonInput(input));
}

/** Reads a taken input: what makes it no JSON is a fault like any other. */
export function readInput<T>(input: InputCopy, read: (value: unknown) => Reading<T>): Reading<T> {
  return input.faults.length > 0 ? { value: {}, faults: input.faults } : read(input.value);
}

/**
 * The options of a caller: its own members, each read once, on an object without a prototype. So nothing that changes
 * later decides anything, and neither does `Object.prototype`. Throws TypeError for anything but an object, for a name
 * that is not in `names`, and for an option that comes from another prototype: it would be ignored silently.
 */
export function ownOptions<T extends object>(what: string, value: T, names: Readonly<Record<keyof T, unknown>>): T {
  const known = (): string => Object.keys(names).join(", ");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`${what}: an object wanted, with ${known()}`);
  const unknown = Object.getOwnPropertyNames(value).find((name) => !Object.hasOwn(names, name));
  if (unknown !== undefined) throw new TypeError(`${what}.${unknown}: unknown; known are ${known()}`);
  const inherited = Object.keys(names).find((name) => !Object.hasOwn(value, name) && isInherited(value, name));
  if (inherited !== undefined)
    throw new TypeError(`${what}.${inherited}: inherited from a prototype; make it a member of the object itself`);
  return ownMembers(value, names) as T;
}

/** The object's own members of these names, each read once, on an object without a prototype. Others are left out. */
export function ownMembers<T extends object, N extends keyof T>(
  value: T,
  names: Readonly<Record<N, unknown>>,
): Pick<T, N> {
  const own = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(names))
    if (Object.hasOwn(value, name)) own[name] = (value as Record<string, unknown>)[name];
  return own as Pick<T, N>;
}

/** What is deeper stays as it is: evidence and policies are read to 64. */
const MAX_COPIED = 256;

/**
 * A copy of plain data at every depth: of Dates, of bytes, of lists, and of the own members of objects, each read once,
 * on objects without a prototype. Anything else, such as a function or an instance of a class, stays as it is.
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

/** The members but for those that are named, on an object without a prototype: a rest pattern makes one with it. */
export function otherMembers<T extends object, N extends keyof T>(own: T, ...names: readonly N[]): Omit<T, N> {
  const others = Object.entries(own).filter(([name]) => !names.includes(name as N));
  return Object.assign(Object.create(null) as Omit<T, N>, Object.fromEntries(others));
}

/** From any prototype but `Object.prototype`, of this realm or another. */
function isInherited(value: object, name: string): boolean {
  if (!(name in value)) return false;
  for (let one = prototypeOf(value); one !== null; one = prototypeOf(one))
    if (Object.hasOwn(one, name)) return prototypeOf(one) !== null || !Object.hasOwn(one, "hasOwnProperty");
  return false;
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null;
}

/** The value inside its wrapper object, where it comes in one. */
export function unwrap(input: unknown, name: string): unknown {
  return isJsonObject(input) && Object.hasOwn(input, name) ? input[name] : input;
}
