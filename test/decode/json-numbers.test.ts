/** Numbers without loss: which are the same, and which a double could not tell apart. */
import { describe, expect, it } from "vitest";
import { copyPlain } from "../../src/decode/input.js";
import { JsonNumber, type JsonValue, copyJson, isJsonObject, jsonKey, parseJson } from "../../src/decode/json.js";
import { decimalKey, equalJson, unsafeInteger } from "../../src/decode/json-numbers.js";
import { fc } from "../support/property.js";
import { leastCostMs } from "../support/cost.js";

const literal = (text: string): JsonValue => parseJson(text, { numbers: "literal" });
const same = (a: JsonValue, b: JsonValue): boolean => {
  const equal = equalJson(a, b);
  expect(equalJson(b, a)).toBe(equal);
  expect(decimalKey(a) === decimalKey(b)).toBe(equal);
  return equal;
};

it.each<[boolean, number | string, string]>([
  [true, "1", "0.01E+2"],
  [true, "1", "1e00"],
  [true, "0", "-0"],
  [true, "-0", "0.000e7"],
  [true, `1e00000${"9".repeat(40)}`, `1e+${"9".repeat(40)}`],
  [true, 0.1, `0.1e${"0".repeat(20)}`],
  [true, 5e-324, "5.0e-324"],
  [true, -0, "0"],
  [false, "1", "-1"],
  [false, "12", "21"],
  [false, "0", "1e-999999999"],
  [false, 2 ** 53, "9007199254740993"],
])("that numbers are the same is %s: %s and %s", (equal, a, b) => {
  expect(same(typeof a === "string" ? literal(a) : a, literal(b))).toBe(equal);
});

describe("numbers differ", () => {
  it.each<[JsonValue]>([["1"], [true], [null], [[1]], [{ text: "1" }]])("from %j, which is not a number", (other) => {
    expect(same(literal("1"), other)).toBe(false);
    expect(same(1, other)).toBe(false);
  });
});

it("values are compared at any depth, and without the order of members", () => {
  const value = literal('{"a":[1,{"b":10e-1}],"c":0}');
  expect(same(value, parseJson('{"c":-0,"a":[1.0,{"b":1}]}'))).toBe(true);
  for (const other of ['{"a":[1,{"b":2}],"c":0}', '{"a":[1],"c":0}', '{"a":[1,{"b":1}]}', '{"a":[1,{"d":1}],"c":0}'])
    expect(same(value, parseJson(other))).toBe(false);
});

it("powers of any length are added exactly", () => {
  const power = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n });
  const near = fc
    .tuple(fc.nat(60), fc.integer({ min: -40, max: 40 }))
    .map(([ten, by]) => 10n ** BigInt(ten) + BigInt(by));
  fc.assert(
    fc.property(fc.oneof(power, near), fc.nat(30), fc.boolean(), (exponent, zeros, isMore) => {
      const moved = literal(`1${"0".repeat(zeros)}e${exponent}`);
      expect(same(moved, literal(`1e${exponent + BigInt(zeros)}`))).toBe(true);
      expect(same(moved, literal(`1e${exponent + BigInt(zeros) + (isMore ? 1n : -1n)}`))).toBe(false);
      const fraction = literal(`0.${"0".repeat(zeros)}1e${exponent}`);
      expect(same(fraction, literal(`1e${exponent - BigInt(zeros) - 1n}`))).toBe(true);
    }),
  );
});

it("doubles are the same as what JSON writes of them, and differ from every other double", () => {
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(double, double, (a, b) => {
      expect(same(a, literal(JSON.stringify(a)))).toBe(true);
      expect(same(a, literal(JSON.stringify(b)))).toBe(a === b);
    }),
  );
});

it.each([
  ["power", `1e${"9".repeat(4_000_000)}`, `1e-${"9".repeat(4_000_000)}`],
  ["power with a carry", `10e${"9".repeat(4_000_000)}`, `100e${"9".repeat(4_000_000)}`],
  ["mantissa", `1${"0".repeat(4_000_000)}1`, `2${"0".repeat(4_000_000)}1`],
  ["fraction", `0.${"0".repeat(4_000_000)}1`, `0.${"0".repeat(4_000_000)}2`],
  ["value beyond memory", "1e999999999", "1e-999999999"],
])("a literal costs its length, whatever its %s", async (_, a, b) => {
  const compare = (): void => expect(equalJson(literal(a), literal(b))).toBe(false);
  expect(await leastCostMs(2000, compare)).toBeLessThan(2000);
});

describe("a number as written", () => {
  it("survives a copy", () => {
    const value = literal('{"a":[9007199254740993]}');
    expect(copyJson(value)).toEqual(value);
    expect(copyPlain(value)).toEqual(value);
    expect((copyJson(value) as { a: JsonValue[] }).a[0]).toBeInstanceOf(JsonNumber);
    expect((copyPlain(value) as { a: JsonValue[] }).a[0]).toBeInstanceOf(JsonNumber);
  });

  it("is one for another copy of the module, as the package has it", async () => {
    const path = "../../src/decode/json.js?another";
    const other = (await import(path)) as { readonly JsonNumber: typeof JsonNumber };
    expect(other.JsonNumber).not.toBe(JsonNumber);
    const number = new other.JsonNumber("1.0");
    expect(isJsonObject(number)).toBe(false);
    expect(equalJson(number, 1)).toBe(true);
    expect(jsonKey(number)).toBe("#1.0");
  });

  it("keeps its own key, unlike its decimal value", () => {
    expect(new Set(["1", "1.0", "-0", "0"].map((text) => jsonKey(literal(text)))).size).toBe(4);
  });
});

describe("an unsafe integer", () => {
  it.each<[JsonValue, string]>([
    [2 ** 53, ""],
    [-(2 ** 53), ""],
    [1e300, ""],
    [[1, 2 ** 53, 2 ** 60], "[1]"],
    [{ a: { b: [0, { c: -(2 ** 53) }] }, d: 2 ** 53 }, "a.b[1].c"],
  ])("is found in %j", (value, path) => {
    expect(unsafeInteger(copyJson(value))).toBe(path);
  });

  it.each<[JsonValue]>([
    [Number.MAX_SAFE_INTEGER],
    [-Number.MAX_SAFE_INTEGER],
    [0.5],
    [1e-300],
    ["9007199254740993"],
    [{ a: [null, true, new JsonNumber("9007199254740993")] }],
  ])("is not in %j", (value) => {
    expect(unsafeInteger(copyJson(value))).toBeNull();
  });
});
