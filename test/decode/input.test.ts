import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import { copyInput, jsonInput, readInput, unwrap } from "../../src/decode/input.js";

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

  it("leaves members out that are undefined, and nothing else", () => {
    expect(jsonInput({ a: undefined, b: null, ["__proto__x"]: 1 })).toEqual({ b: null, ["__proto__x"]: 1 });
    expect(Object.getPrototypeOf(jsonInput({}))).toBeNull();
    expect(jsonInput(undefined)).toBeUndefined();
  });
});

it("unwrap takes an own member only", () => {
  expect(unwrap({ bootProof: 1 }, "bootProof")).toBe(1);
  expect(unwrap({ other: 1 }, "bootProof")).toEqual({ other: 1 });
  expect(unwrap({}, "constructor")).toEqual({});
  expect(unwrap([1], "0")).toEqual([1]);
});
