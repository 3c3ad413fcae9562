/** The language of shapes: what each shape and setting reads, what it refuses, and its JSON Schema. */
import { describe, expect, it } from "vitest";
import { schemaOf } from "../../src/decode/json-schema.js";
import { editDistance, nearest } from "../../src/decode/nearest.js";
import {
  type Shape,
  anyObject,
  anything,
  either,
  flag,
  hex,
  instant,
  list,
  matching,
  nonEmptyText,
  nullable,
  nullish,
  number,
  object,
  oneOf,
  openObject,
  optional,
  readShape,
  record,
  refined,
  simple,
  sizedText,
  text,
  wholeNumber,
} from "../../src/decode/shapes.js";
import { fits } from "../support/json-schema.js";

const faultsOf = (shape: Shape<unknown>, value: unknown, path = ""): string[] =>
  readShape(shape, value, path).faults.map((fault) => `${fault.path}: ${fault.message}`);

/** Good values with what is read, where that is another value; and bad ones with their fault. */
type Row = readonly [name: string, shape: Shape<unknown>, good: readonly unknown[], bad: readonly [unknown, string][]];

const letter = matching(/^[a-z]$/, "a letter");
const isEven = simple("an even number", (value): value is number => typeof value === "number" && value % 2 === 0);

const ROWS: readonly Row[] = [
  ["anything", anything, [null, 1, "a", [], {}], []],
  ["any object", anyObject, [{}, { a: 1 }], [[[], ": expected an object, got an array"]]],
  ["a test of its own", isEven, [0, 2], [[3, ": expected an even number, got a number"]]],
  [
    "a text",
    text,
    ["", "a"],
    [
      [1, ": expected a string, got a number"],
      [true, ": expected a string, got a boolean"],
      [null, ": expected a string, got null"],
      [undefined, ": expected a string, got nothing"],
      [[], ": expected a string, got an array"],
      [{}, ": expected a string, got an object"],
    ],
  ],
  ["a flag", flag, [true, false], [["true", ": expected true or false, got a string"]]],
  ["a number", number, [0, 1.5], [["1", ": expected a number, got a string"]]],
  [
    "a whole number",
    wholeNumber(1, 9),
    [1, 9],
    [
      [0, ": expected a whole number of 1 to 9, got 0"],
      [10, ": expected a whole number of 1 to 9, got 10"],
      [1.5, ": expected a whole number of 1 to 9, got 1.5"],
      ["1", ": expected a whole number of 1 to 9, got a string"],
    ],
  ],
  [
    "a safe whole number",
    wholeNumber(0),
    [0, 2 ** 53 - 1],
    [[2 ** 53, `: expected a whole number of 0 or more, got ${2 ** 53}`]],
  ],
  [
    "a text of a pattern",
    letter,
    ["a"],
    [
      ["ab", ": expected a letter"],
      [1, ": expected a letter, got a number"],
    ],
  ],
  ["a text that passes a test", matching((value) => value === "a", "an a"), ["a"], [["b", ": expected an a"]]],
  [
    "a text of some characters",
    sizedText(1, 3),
    ["a", "\u{1f600}\u{1f600}\u{1f600}"],
    [
      ["", ": empty"],
      ["abcd", ": longer than 3 characters"],
      ["\u{1f600}\u{1f600}\u{1f600}\u{1f600}", ": longer than 3 characters"],
      [1, ": expected a string, got a number"],
    ],
  ],
  ["a text that is not empty", nonEmptyText, ["a", "a".repeat(10_000)], [["", ": empty"]]],
  [
    "hex",
    hex(2, 3),
    ["abcd", "abcdef"],
    [
      ["", ": 0 hex digits, expected 4 to 6"],
      ["abc", ": 3 hex digits, expected 4 to 6"],
      ["abcdef0", ": 7 hex digits, expected 4 to 6"],
      ["abcdef01", ": 8 hex digits, expected 4 to 6"],
      ["abcg", ": not hex, expected 4 to 6 digits"],
      [7, ": expected hex of 4 to 6 digits, got a number"],
    ],
  ],
  ["hex of one length", hex(1), ["ff"], [["f", ": 1 hex digits, expected 2"]]],
  [
    "one of several",
    oneOf("a", "b", 1, null),
    ["a", "b", 1, null],
    [
      ["c", ': expected "a", "b", 1 or null'],
      [2, ': expected "a", "b", 1 or null, got a number'],
      [undefined, ': expected "a", "b", 1 or null, got nothing'],
    ],
  ],
  [
    "an instant",
    instant,
    ["2026-03-04T05:06:07.000Z", "+012026-03-04T05:06:07.123Z"],
    ["2026-03-04", "2026-03-04T05:06:07Z", "2026-03-04T06:06:07.000+01:00", "2026-02-30T05:06:07.000Z", "x", 0].map(
      (value) => [value, `: expected a time such as 2026-03-04T05:06:07.000Z${value === 0 ? ", got a number" : ""}`],
    ),
  ],
  [
    "either of two",
    either(text, number, "a text or a number"),
    ["a", 1],
    [
      [true, ": expected a text or a number, got a boolean"],
      [undefined, ": expected a text or a number, got nothing"],
    ],
  ],
  ["an optional value", optional(text), ["a", undefined], [[null, ": expected a string, got null"]]],
  ["a nullable value", nullable(text), ["a", null], [[undefined, ": expected a string, got nothing"]]],
  ["an optional, nullable value", nullish(text), ["a", null, undefined], [[1, ": expected a string, got a number"]]],
  [
    "a list",
    list(text, 1, 2),
    [["a"], ["a", "b"]],
    [
      [[], ": empty: expected at least one"],
      [["a", "b", "c"], ": 3 entries, at most 2 allowed"],
      [["a", 1], "[1]: expected a string, got a number"],
      [{ length: 1 }, ": expected an array, got an object"],
    ],
  ],
  ["a list of any length", list(text), [[], ["a"]], [["a", ": expected an array, got a string"]]],
  [
    "an object",
    object({ a: text, b: optional(flag) }),
    [{ a: "" }, { a: "", b: true }],
    [
      [{}, "a: expected a string, got nothing"],
      [{ a: 1 }, "a: expected a string, got a number"],
      [{ a: "", b: null }, "b: expected true or false, got null"],
      [{ a: "", other: 1 }, "other: unknown member"],
      [{ a: "", b: true, bb: 1 }, "bb: unknown member, did you mean b?"],
      [[], ": expected an object, got an array"],
      [null, ": expected an object, got null"],
    ],
  ],
  [
    "an open object",
    openObject({ a: text }),
    [{ a: "" }, { a: "", b: 1 }],
    [[{}, "a: expected a string, got nothing"]],
  ],
  [
    "a record",
    record(number, { name: /^[a-z]$/, fault: "no letter", least: 1 }),
    [{ a: 1 }, { a: 1, b: 2 }],
    [
      [{}, ": empty: expected at least one"],
      [{ A: 1 }, "A: no letter"],
      [{ a: "" }, "a: expected a number, got a string"],
      [[1], ": expected an object, got an array"],
    ],
  ],
  ["a record of any names", record(number), [{}, { "": 1 }], [[{ a: "" }, "a: expected a number, got a string"]]],
];

/** Whole bytes, days of a month, exact numbers, and tests that are functions. */
const NOT_IN_SCHEMAS: readonly unknown[] = ["2026-02-30T05:06:07.000Z", 2 ** 53, 3, "b"];

describe.each(ROWS)("%s", (_, shape, good, bad) => {
  it("is read as it is", () => {
    for (const value of good) expect(readShape(shape, value)).toEqual({ value, faults: [] });
  });

  it("is anything else with a fault", () => {
    for (const [value, fault] of bad) {
      expect(readShape(shape, value).value).toBeUndefined();
      expect(faultsOf(shape, value)).toEqual([fault]);
    }
  });

  it("has a schema that agrees", () => {
    const isJson = (value: unknown): boolean => value !== undefined;
    for (const value of good.filter(isJson)) expect(fits(schemaOf(shape), value), JSON.stringify(value)).toBe(true);
    for (const [value] of bad.filter(([one]) => isJson(one) && !NOT_IN_SCHEMAS.includes(one)))
      expect(fits(schemaOf(shape), value), JSON.stringify(value)).toBe(false);
  });
});

it("hex is in lower case once read", () => {
  expect(readShape(hex(2), "ABcd").value).toBe("abcd");
  expect(faultsOf(hex(2, 3), "abcde")).toEqual([": 5 hex digits, expected 4 to 6"]);
});

describe("faults", () => {
  it("have the path of the value, and all of them are reported: known members first", () => {
    const shape = object({ a: list(openObject({ b: text })), c: flag, d: optional(text) });
    expect(faultsOf(shape, { other: 1, a: [{ b: "" }, { b: 1 }, 2], d: null }, "parameters")).toEqual([
      "parameters.a[1].b: expected a string, got a number",
      "parameters.a[2]: expected an object, got a number",
      "parameters.c: expected true or false, got nothing",
      "parameters.d: expected a string, got null",
      "parameters.other: unknown member",
    ]);
  });

  it("are the first hundred, and the number of the others", () => {
    const faults = faultsOf(list(text), ["good", ...Array(1000).fill(1)]);
    expect(faults).toHaveLength(101);
    expect(faults.slice(-2)).toEqual(["[100]: expected a string, got a number", ": and 900 more"]);
  });

  it("beyond those are not put in words, which would take time", () => {
    let made = 0;
    const counting: Shape<unknown> = { read: (_, place) => place.fault(() => `fault ${++made}`) };
    readShape(list(counting), Array(10_000).fill(1));
    expect(made).toBeLessThan(110);
  });

  it("never quote a text", () => {
    const shapes = [text, flag, number, oneOf("a"), list(text), object({}), letter, hex(2), instant, wholeNumber(1)];
    for (const shape of [...shapes, either(text, flag, "a text or a flag")])
      expect(faultsOf(shape, { toString: () => "s3cret", valueOf: () => "s3cret" }).join()).not.toContain("s3cret");
    for (const shape of shapes.slice(1)) expect(faultsOf(shape, "s3cret").join()).not.toContain("s3cret");
  });

  it("of long names are short", () => {
    expect(faultsOf(object({}), { ["n".repeat(10_000)]: 1 }).join().length).toBeLessThan(200);
  });
});

describe("an object", () => {
  it.each([
    ["that is closed", object({ a: text, toString: optional(text) })],
    ["that ignores others", object({ a: text, toString: optional(text) }, { unknown: "ignore" })],
    ["that is open", openObject({ a: text, toString: optional(text) })],
  ])("%s has only members of its own", (_, shape) => {
    expect(faultsOf(shape, Object.create({ a: "inherited" }))).toEqual(["a: expected a string, got nothing"]);
    expect(readShape<unknown>(shape, { a: "" }).faults).toEqual([]);
  });

  it("has its members in the order of the shape", () => {
    expect(Object.keys(readShape(object({ a: text, b: text }), { b: "", a: "" }).value!)).toEqual(["a", "b"]);
  });

  it("keeps unknown members, or drops them", () => {
    expect(readShape(openObject({ a: text }), { a: "", b: 1 }).value).toEqual({ a: "", b: 1 });
    expect(readShape(object({ a: text }, { unknown: "ignore" }), { a: "", b: 1 }).value).toEqual({ a: "" });
  });

  it("reads members beside its own, and drops them", () => {
    for (const shape of [
      object({ a: text }, { beside: { note: optional(text) } }),
      record(text, { beside: { note: text } }),
    ]) {
      expect(readShape<unknown>(shape, { a: "", note: "" }).value).toEqual({ a: "" });
      expect(faultsOf(shape, { a: "", note: 1 })).toEqual(["note: expected a string, got a number"]);
      expect(fits(schemaOf(shape), { a: "", note: "" })).toBe(true);
      expect(fits(schemaOf(shape), { a: "", note: 1 })).toBe(false);
    }
  });

  it("has in its schema a member beside it of another type, whose name fits, too", () => {
    const schema = schemaOf(record(number, { name: /^[a-z]+$/, beside: { note: text } }));
    for (const [value, isFit] of [
      [{ a: 1, note: "" }, true],
      [{ note: 1 }, false],
      [{ a: "" }, false],
      [{ A: 1 }, false],
      [{ notes: "" }, false],
    ] as const)
      expect(fits(schema, value), JSON.stringify(value)).toBe(isFit);
  });

  it("has no prototype, unless it is open", () => {
    for (const shape of [object({ a: text }), record(text)])
      expect(Object.getPrototypeOf(readShape<unknown>(shape, { a: "" }).value)).toBeNull();
    expect(Object.getPrototypeOf(readShape(openObject({ a: text }), { a: "" }).value)).toBe(Object.prototype);
  });
});

it("a rule of its own sees only good values", () => {
  const doubled = refined(number, (value, place) => (value > 9 ? place.fault<number>("too large") : 2 * value));
  expect(readShape(doubled, 2)).toEqual({ value: 4, faults: [] });
  expect(faultsOf(doubled, 10)).toEqual([": too large"]);
  expect(faultsOf(doubled, "10")).toEqual([": expected a number, got a string"]);
  expect(schemaOf(doubled)).toEqual({ type: "number" });
});

describe("a suggestion", () => {
  it.each([
    ["naem", ["name", "policy"], ", did you mean name?"],
    ["NAME", ["name"], ", did you mean name?"],
    ["quorum", ["name"], ""],
    ["x".repeat(65), ["x".repeat(64)], ""],
    ["name", [], ""],
  ])("for %s of %j", (name, known, suggestion) => {
    expect(nearest(name, known)).toBe(suggestion);
  });

  it.each([
    ["", "abc", 3],
    ["abc", "abc", 0],
    ["abc", "abd", 1],
    ["abc", "bc", 1],
    ["kitten", "sitting", 3],
  ])("counts the letters from %j to %j", (one, other, distance) => {
    expect(editDistance(one, other)).toBe(distance);
  });
});
