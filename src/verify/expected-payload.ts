/** A caller's expectations of an app proof's payload (verify/README.md, "Expected payloads"). */
import { ownOptions } from "../decode/input.js";
import type { JsonValue } from "../decode/json.js";

/** Values that the payload of an app proof must have. Never take them from the evidence. */
export interface ExpectedPayload {
  /** The `type` of the payload. */
  readonly type: string;
  /** Values by JSON pointer (RFC 6901). Name the members of an object or array one by one. */
  readonly values: Readonly<Record<string, string | number | boolean | null>>;
  /**
   * One of the pointers. Its value is random, and you sent it with your request. It has at least 22 base64url
   * characters, or 32 hex digits.
   */
  readonly challenge?: string;
}

export interface ExpectedValue {
  readonly pointer: string;
  readonly tokens: readonly string[];
  readonly value: JsonValue;
}

/** A copied {@link ExpectedPayload}. */
export interface PayloadExpectation {
  readonly type: string;
  readonly values: readonly ExpectedValue[];
  readonly challenge: Challenge | null;
}

/** A value that the caller made at random. */
export interface Challenge {
  readonly pointer: string;
  readonly value: string;
}

const MEMBERS: Readonly<Record<keyof ExpectedPayload, true>> = { type: true, values: true, challenge: true };

/** Copies expectations. Throws TypeError for anything that would compare less than the caller means. */
export function payloadExpectations(value: unknown): readonly PayloadExpectation[] {
  if (!Array.isArray(value) || value.length === 0) throw new TypeError("expected.payload: expected a non-empty list");
  return Array.from(value, (item, index) => payloadExpectation(item, `expected.payload[${index}]`));
}

function payloadExpectation(item: ExpectedPayload, path: string): PayloadExpectation {
  const { type, values, challenge } = ownOptions(path, item, MEMBERS);
  if (typeof type !== "string" || type === "") throw new TypeError(`${path}.type: expected a non-empty string`);
  const expected = expectedValues(values, `${path}.values`);
  return { type, values: expected, challenge: challenge === undefined ? null : challengeOf(challenge, expected, path) };
}

function expectedValues(values: unknown, path: string): readonly ExpectedValue[] {
  const wanted = `${path}: expected an object of values by JSON pointer, such as { "/order/id": "…" }`;
  if (typeof values !== "object" || values === null || Array.isArray(values)) throw new TypeError(wanted);
  const entries = Object.entries(values);
  if (entries.length === 0) throw new TypeError(`${wanted}; an empty one would compare nothing`);
  return entries.map(([pointer, value]) => {
    const place = `${path}[${JSON.stringify(pointer)}]`;
    if (!isComparable(value))
      throw new TypeError(`${place}: expected a string, finite number, boolean or null; name the members of others`);
    const fault = pointerFault(pointer);
    if (fault !== null) throw new TypeError(`${place}: ${fault}`);
    return { pointer, tokens: pointerTokens(pointer), value };
  });
}

function isComparable(value: unknown): value is JsonValue {
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

/** Returns the fault of a text that is not a JSON pointer (RFC 6901 sections 3 and 4). */
export function pointerFault(pointer: string): string | null {
  const isPointer = /^\/(?:[^~]|~[01])*$/su.test(pointer);
  return isPointer ? null : "expected a JSON pointer, such as /order/id, with ~0 for ~ and ~1 for /";
}

function pointerTokens(pointer: string): readonly string[] {
  const tokens = pointer.slice(1).split("/");
  return tokens.map((token) => token.replace(/~1/g, "/").replace(/~0/g, "~"));
}

/** Challenges of 128 bits: 22 base64url characters or 32 hex digits. Shorter ones can be guessed or repeat. */
const LONG_ENOUGH = /^(?![0-9a-fA-F]{0,31}$)[0-9A-Za-z_-]{22,}$/;

function challengeOf(pointer: unknown, values: readonly ExpectedValue[], path: string): Challenge {
  const own = values.find((each) => each.pointer === pointer);
  if (own === undefined) throw new TypeError(`${path}.challenge: expected one of the pointers of values`);
  const fault = challengeFault(own.value);
  if (fault !== null) throw new TypeError(`${path}.challenge: ${fault}`);
  return Object.freeze({ pointer: own.pointer, value: own.value as string });
}

export function challengeFault(value: unknown): string | null {
  if (typeof value === "string" && LONG_ENOUGH.test(value)) return null;
  return (
    "its value is not random enough: expected a string of 22 or more base64url characters, or of 32 or more hex " +
    "digits"
  );
}
