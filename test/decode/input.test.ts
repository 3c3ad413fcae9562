import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import { copyInput, jsonInput, readInput, unwrap } from "../../src/decode/input.js";
import { MalformedError } from "../../src/errors.js";

const echo = (value: unknown) => ({ value: { value }, faults: [] });

describe("copyInput", () => {
  it("reports invalid JSON as a fault, and passes on the reader's errors", () => {
    for (const input of [
      "{",
      toUtf8("[1"),
      '{"a":1,"a":2}',
      () => 1,
      { a: Symbol("a") },
      { a: 1n },
      { a: NaN },
      { a: new Uint8Array(2) },
      [undefined],
    ]) {
      expect(copyInput(input).faults).toHaveLength(1);
      expect(readInput(copyInput(input), echo).value).toEqual({});
    }
    expect(() =>
      readInput(copyInput("{}"), () => {
        throw new RangeError("bug");
      }),
    ).toThrow(RangeError);
  });

  it("reads text, bytes and values alike", () => {
    const value = { a: [1, "b", null, true], c: { d: {} } };
    for (const input of [value, JSON.stringify(value), toUtf8(JSON.stringify(value))])
      expect(readInput(copyInput(input), echo).value).toEqual({ value });
  });

  it("copies, so that later changes change nothing", () => {
    const given = { a: { b: 1 } };
    const taken = copyInput(given);
    given.a.b = 2;
    expect(taken.value).toEqual({ a: { b: 1 } });
  });

  it("leaves members out that are undefined, and nothing else", () => {
    expect(jsonInput({ a: undefined, b: null, ["__proto__x"]: 1 })).toEqual({ b: null, ["__proto__x"]: 1 });
    expect(Object.getPrototypeOf(jsonInput({}))).toBeNull();
    expect(jsonInput(undefined)).toBeUndefined();
  });

  it("bounds the nesting of values too, cycles included", () => {
    const cycle: Record<string, unknown> = {};
    cycle["again"] = cycle;
    expect(() => jsonInput(cycle)).toThrow(MalformedError);
  });
});

it("unwrap takes an own member only", () => {
  expect(unwrap({ bootProof: 1 }, "bootProof")).toBe(1);
  expect(unwrap({ other: 1 }, "bootProof")).toEqual({ other: 1 });
  expect(unwrap({}, "constructor")).toEqual({});
  expect(unwrap([1], "0")).toEqual([1]);
});
