/** Shapes of requests and responses: the values that each accepts, and its faults. */
import { describe, expect, it } from "vitest";
import { parseJson } from "../../src/decode/json.js";
import {
  type Shape,
  either,
  flag,
  list,
  loose,
  matching,
  nullish,
  number,
  oneOf,
  optional,
  readShape,
  refined,
  strict,
  text,
} from "../../src/client/shapes.js";

const faultsOf = (shape: Shape<unknown>, value: unknown, path = ""): string[] =>
  readShape(shape, value, path).faults.map((fault) => `${fault.path}: ${fault.message}`);

describe("a value", () => {
  it.each<[string, Shape<unknown>, readonly unknown[], readonly unknown[]]>([
    ["a text", text, ["", "a"], [1, true, null, undefined, [], {}]],
    ["a flag", flag, [true, false], ["true", 0, null, undefined]],
    ["a number", number, [0, 1.5], ["1", null, undefined]],
    ["a text that matches", matching((value) => value === "a", "an a wanted"), ["a"], ["b", 1, undefined]],
    ["one of several", oneOf<string | number>("a", 1), ["a", 1], ["b", "1", 2, undefined]],
    ["either of two", either(text, number, "a text or a number"), ["a", 1], [true, null, undefined]],
    ["what may be left out", optional(text), ["a", undefined], [null, 1]],
    ["what may be null", nullish(text), ["a", undefined, null], [1, {}]],
    ["a list", list(text, 1, 2), [["a"], ["a", "b"]], [[], ["a", "b", "c"], ["a", 1], {}, "a", undefined]],
    ["an object", strict({ a: text }), [{ a: "" }], [{}, { a: 1 }, { a: "", b: 1 }, [], "a", null, undefined]],
    ["an open object", loose({ a: text }), [{ a: "" }, { a: "", b: 1 }], [{}, { a: 1 }, [], null]],
  ])("that is %s is read as it is, and anything else is a fault", (_, shape, good, bad) => {
    for (const value of good) expect(readShape(shape, value)).toEqual({ value, faults: [] });
    for (const value of bad) {
      const read = readShape(shape, value);
      expect(read.value).toBeUndefined();
      expect(read.faults.length).toBeGreaterThan(0);
    }
  });
});

describe("faults", () => {
  it("are all reported, with their paths", () => {
    const shape = strict({ a: list(loose({ b: text })), c: flag, d: optional(text) });
    expect(faultsOf(shape, { a: [{ b: "" }, { b: 1 }, 2], e: 1, d: null }, "parameters")).toEqual([
      'parameters: unknown: "e"',
      "parameters.a[1].b: a number, a string wanted",
      "parameters.a[2]: a number, an object wanted",
      "parameters.c: missing, true or false wanted",
      "parameters.d: null, a string wanted",
    ]);
  });

  it("of a list are those of its first ten faulty items", () => {
    const faults = faultsOf(list(text), ["good", ...Array(1000).fill(1)]);
    expect(faults).toHaveLength(10);
    expect(faults.at(-1)).toBe("[10]: a number, a string wanted");
  });

  it("never quote a value", () => {
    const shapes = [text, flag, number, oneOf("a"), list(text), strict({}), either(text, flag, "a text or a flag")];
    for (const shape of shapes)
      expect(faultsOf(shape, { toString: () => "s3cret", valueOf: () => "s3cret" }).join()).not.toContain("s3cret");
    expect(faultsOf(oneOf("a"), "s3cret").join()).not.toContain("s3cret");
  });

  it("of long names are short", () => {
    expect(faultsOf(strict({}), { ["n".repeat(10_000)]: 1 }).join().length).toBeLessThan(200);
  });
});

describe("an object", () => {
  it("is a copy, and so are the objects inside that its shape knows", () => {
    const given = { a: { b: "before" } };
    const { value } = readShape(loose({ a: loose({ b: text }) }), given);
    given.a.b = "after";
    expect(value).toEqual({ a: { b: "before" } });
  });

  it("has only members of its own", () => {
    expect(faultsOf(loose({ toString: text, constructor: text }), {})).toHaveLength(2);
    expect(faultsOf(strict({ a: text }), Object.create({ a: "inherited" }))).toEqual(["a: missing, a string wanted"]);
  });

  it("may have a member called __proto__, which is data", () => {
    const { value } = readShape(loose({ a: text }), parseJson('{"a": "", "__proto__": {"polluted": 1}}'));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.hasOwn(value!, "__proto__")).toBe(true);
    expect(faultsOf(strict({ a: text }), parseJson('{"a": "", "__proto__": 1}'))).toEqual([': unknown: "__proto__"']);
  });

  it("does not get members that were not there", () => {
    expect(Object.keys(readShape(loose({ a: optional(text), b: nullish(text) }), { b: null }).value!)).toEqual(["b"]);
  });
});

it("a mapping applies only to valid values", () => {
  const doubled = refined(number, (value, place) => (value > 9 ? place.fault<number>("too large") : 2 * value));
  expect(readShape(doubled, 2)).toEqual({ value: 4, faults: [] });
  expect(faultsOf(doubled, 10)).toEqual([": too large"]);
  expect(faultsOf(doubled, "10")).toEqual([": a string, a number wanted"]);
});
