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
export interface TakenInput {
  readonly value: JsonValue | undefined;
  readonly faults: readonly Fault[];
}

export function takeInput(input: unknown): TakenInput {
  return attempt(() => jsonInput(input));
}

/** Reads a taken input: what makes it no JSON is a fault like any other. */
export function readInput<T>(input: TakenInput, read: (value: unknown) => Reading<T>): Reading<T> {
  return input.faults.length > 0 ? { value: {}, faults: input.faults } : read(input.value);
}

/**
 * Options that a caller hands in: an object with these names alone, so that no option is silently ignored. Throws
 * TypeError.
 */
export function requireOptions(what: string, value: unknown, names: object): void {
  const known = (): string => Object.keys(names).join(", ");
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError(`${what}: an object wanted, with ${known()}`);
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(names, name));
  if (unknown !== undefined) throw new TypeError(`${what}.${unknown}: unknown; known are ${known()}`);
}

/** The value inside its wrapper object, where it comes in one. */
export function unwrap(input: unknown, name: string): unknown {
  return isJsonObject(input) && Object.hasOwn(input, name) ? input[name] : input;
}
