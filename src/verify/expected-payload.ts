/** A caller's expectations of an app proof's payload (verify/README.md, "Expected payloads"). */
import type { JsonValue } from "../decode/json.js";
import { options } from "../decode/options.js";
import { type Place, type Shape, demand, nonEmptyText, record, refined, simple, text } from "../decode/shapes.js";

/** Values that the payload of an app proof must have. Never take them from the evidence. */
export interface ExpectedPayload {
  /** The `type` of the payload. */
  readonly type: string;
  /** Values by JSON pointer (RFC 6901). Name the members of an object or array one by one. */
  readonly values: Readonly<Record<string, string | number | boolean | null>>;
  /**
   * Pointer to one of the values, a random text that you sent with your request. The text has at least 22 base64url
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

/** Shape of {@link ExpectedPayload}. It refuses an expectation that would compare less than the caller means. */
export const expectedPayload: Shape<ExpectedPayload> = /* @__PURE__ */ refined(
  options<ExpectedPayload>({
    type: nonEmptyText,
    values: record(simple("a string, finite number, boolean or null (name members one by one)", isComparable), {
      least: 1,
    }),
    challenge: demand(text),
  }),
  (read, place) => {
    const { values, challenge } = read;
    for (const pointer of Object.keys(values)) {
      const fault = pointerFault(pointer);
      if (fault !== null) place.at("values").at(pointer).fault(fault);
    }
    if (challenge !== undefined) refuseChallenge(challenge, values, place.at("challenge"));
    return read;
  },
);

export function payloadExpectation({ type, values, challenge }: ExpectedPayload): PayloadExpectation {
  return {
    type,
    values: Object.entries(values).map(([pointer, value]) => ({ pointer, tokens: pointerTokens(pointer), value })),
    challenge:
      challenge === undefined ? null : Object.freeze({ pointer: challenge, value: values[challenge] as string }),
  };
}

function isComparable(value: unknown): value is string | number | boolean | null {
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

/** Pattern of challenges of 128 bits: 22 base64url characters or 32 hex digits. Shorter ones can be guessed. */
const LONG_ENOUGH = /^(?![0-9a-fA-F]{0,31}$)[0-9A-Za-z_-]{22,}$/;

function refuseChallenge(pointer: string, values: ExpectedPayload["values"], place: Place): void {
  const fault = Object.hasOwn(values, pointer)
    ? challengeFault(values[pointer])
    : "expected a pointer that values contains";
  if (fault !== null) place.fault(fault);
}

export function challengeFault(value: unknown): string | null {
  if (typeof value === "string" && LONG_ENOUGH.test(value)) return null;
  return (
    "its value is not random enough: expected a string of 22 or more base64url characters, or of 32 or more hex " +
    "digits"
  );
}
