import { describe, expect, it } from "vitest";
import {
  JsonNumber,
  copyJson,
  jsonKey,
  jsonKind,
  memberPath,
  parseJson,
  type JsonObject,
} from "../../src/decode/json.js";
import { list, placeOf, readShape, text } from "../../src/decode/shapes.js";
import { FaultList, attempt } from "../../src/errors.js";
import { faultsOf, isRefused, refusalOf } from "../support/faults.js";
import { fc } from "../support/property.js";

const nested = (depth: number, inside: string): string => "[".repeat(depth) + inside + "]".repeat(depth);

describe("parseJson", () => {
  it.each([
    ['["a\r\nb"]', "line-breaks"],
    ['["a', "cut-off"],
    ['{"a":nul', "cut-off"],
    ['{"a":1, \n', "cut-off"],
    [`["\\u12`, "cut-off"],
    ['["a\tb"]', undefined],
    ["[1,]", undefined],
    ["nul, 1]", undefined],
    [" \n", undefined],
    ["1e999", undefined],
    ['{"a":1,"a"', undefined],
  ])("knows whether %j was wrapped or cut off", (text, code) => {
    expect(attempt(() => parseJson(text)).faults.map(({ cause }) => cause?.code)).toEqual([code]);
  });

  it.each([
    ["__proto__ twice", '{"__proto__":1,"__proto__":2}', "appears twice"],
    ["a line break in a string", '"a\nb"', "a line break in a string"],
    ["a byte order mark", "\ufeff{}", "byte order mark"],
    ["65 levels", nested(65, "1"), "nested deeper than 64"],
    ["a hundred thousand levels", "[".repeat(100_000), "nested deeper than 64"],
  ])("refuses %s", (_, text, fault) => {
    const refusal = refusalOf(() => parseJson(text));
    expect(refusal.code).toBe("json");
    expect(refusal.faults).toContain(fault);
    expect(() => parseJson(text, { numbers: "literal" })).toThrow(fault);
  });

  it("says where the fault is", () => {
    expect(faultsOf(() => parseJson('{\n  "a": 1,\n  "a": 2\n}'))).toContain("(line 3, column 3)");
    expect(faultsOf(() => parseJson("[1, x]"))).toContain("(line 1, column 5)");
  });

  it("keeps a member called __proto__ as any other, and gives objects no prototype", () => {
    const value = parseJson('{"__proto__":{"polluted":true},"a":1}') as JsonObject;
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.keys(value)).toEqual(["__proto__", "a"]);
    expect(value["__proto__"]).toEqual(Object.assign(Object.create(null) as object, { polluted: true }));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("returns number literals on request", () => {
    const literals = ["1", "1.0", "1e0", "-0", "12345678901234567890"];
    const value = parseJson(`[${literals.join(",")}]`, { numbers: "literal" }) as JsonNumber[];
    expect(value.map((number) => number.text)).toEqual(literals);
    expect(value.every((number) => number instanceof JsonNumber)).toBe(true);
    expect(parseJson("1.50")).toBe(1.5);
  });
});

describe("the values of a text", () => {
  const list = (count: number): string =>
    `[${Array(count - 1)
      .fill("0")
      .join()}]`;

  it("are 250,000 at most, members and items alike", () => {
    expect(parseJson(list(250_000))).toHaveLength(249_999);
    expect(faultsOf(() => parseJson(list(250_001)))).toContain("more than 250000 values (line 1, column");
    const members = (count: number): string =>
      `{${Array.from({ length: count - 1 }, (_, index) => `"${index}":0`).join()}}`;
    expect(isRefused(() => parseJson(members(250_000)))).toBe(false);
    expect(isRefused(() => parseJson(members(250_001)))).toBe(true);
  });

  it("are counted in parsed values, including holes", () => {
    expect(copyJson(Array(249_999).fill(0))).toHaveLength(249_999);
    expect(faultsOf(() => copyJson(Array(250_000).fill(0)))).toContain("more than 250000 values");
    expect(faultsOf(() => copyJson([Array(130_000).fill(0), Array(130_000).fill(0)]))).toContain(
      "more than 250000 values",
    );
    expect(faultsOf(() => copyJson(new Array(2 ** 32 - 1)))).toContain("more than 250000 values");
  });
});

describe("FaultList", () => {
  const filled = (count: number): FaultList => {
    const faults = new FaultList();
    for (let index = 0; index < count; index++) faults.push({ path: `[${index}]`, message: "bad" });
    return faults;
  };

  it("is an array like any other where it is read", () => {
    expect(filled(3).map(({ path }) => path)).toEqual(["[0]", "[1]", "[2]"]);
    expect(filled(200).filter(() => true)).not.toBeInstanceOf(FaultList);
    expect(JSON.stringify(filled(1))).toBe('[{"path":"[0]","message":"bad"}]');
  });

  it("is what shapes fill", () => {
    const { faults } = readShape(list(text), parseJson(`[${Array(500).fill("0").join()}]`));
    expect(faults).toHaveLength(101);
  });
});

it("jsonKind has a word for every value", () => {
  expect([undefined, null, [], {}, 1, new JsonNumber("1"), "a", true].map(jsonKind)).toEqual([
    "nothing",
    "null",
    "an array",
    "an object",
    "a number",
    "a number",
    "a string",
    "a boolean",
  ]);
});

describe("names in paths", () => {
  it("are cut in faults", () => {
    expect(placeOf(new FaultList()).at("n".repeat(100_000)).path).toBe(`${"n".repeat(64)}…`);
    expect(refusalOf(() => parseJson(`{"${"n".repeat(9999)}":1,"${"n".repeat(9999)}":1}`)).faults.length).toBeLessThan(
      200,
    );
  });

  it("are unique and short for any name", () => {
    const name = fc.oneof(
      fc.constantFrom("", "a", "#0", "…#1", "a.b"),
      fc.string({ minLength: 60, maxLength: 70 }),
      fc.constantFrom("x", "y").map((end) => "n".repeat(80) + end),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(name, { minLength: 2, maxLength: 4 }),
        fc.array(name, { maxLength: 64 }),
        (names, above) => {
          const holder = above.reduce((path, step, index) => memberPath(path, step, index % 3), "");
          const paths = names.map((one, index) => memberPath(holder, one, index));
          expect(new Set(paths).size).toBe(names.length);
          for (const path of paths) expect(path.length).toBeLessThan(500);
        },
      ),
    );
    expect(["a", ""].map((one) => memberPath("", one, 0))).toEqual(["a", '""']);
  });
});

it("texts share a budget of values", () => {
  const budget = { left: 5 };
  parseJson("[1,2]", { budget });
  expect(budget.left).toBe(2);
  expect(() => parseJson("[1,2]", { budget })).toThrow(
    "too many values: the limit for all texts of this kind together is reached",
  );
  expect(() => parseJson("1", { budget })).toThrow("together");
});

describe("numbers that no double holds", () => {
  it.each(["-1e999", `1${"0".repeat(309)}`])("are refused: %s", (text) => {
    expect(faultsOf(() => parseJson(text))).toContain("a number that is too large for a double");
  });

  it.each(["1.7976931348623157e308", "1e-999", "-0"])("are none of these: %s", (text) => {
    expect(parseJson(text)).toBe(Number(text));
  });

  it("are kept as they were written for a payload, whose own rule refuses them", () => {
    expect(parseJson("1e999", { numbers: "literal" })).toEqual(new JsonNumber("1e999"));
  });

  it.each([Infinity, -Infinity, NaN])("are refused in parsed values: %s", (value) => {
    expect(isRefused(() => copyJson({ a: [value] }))).toBe(true);
  });
});

describe("a lone surrogate", () => {
  it.each([["\ud800"], [["a\udc00"]], [{ a: "\udc00\ud800" }], [{ "\ud800": 1 }]])(
    "is refused in parsed values: %j",
    (value) => {
      expect(faultsOf(() => copyJson(value))).toContain("a lone surrogate in a string");
      expect(isRefused(() => parseJson(JSON.stringify(value)))).toBe(true);
    },
  );

  it("is not a pair", () => {
    expect(copyJson({ "😀": "😀" })).toEqual({ "😀": "😀" });
  });
});

describe("the key of a value", () => {
  it("does not depend on member order, and is unique to the value", () => {
    expect(jsonKey(parseJson('{"b":[1,{}],"a":{"d":null,"c":"x"}}'))).toBe(
      jsonKey(parseJson('{"a":{"c":"x","d":null},"b":[1.0,{}]}')),
    );
    const values = [
      "0",
      "-0",
      '"0"',
      "null",
      '"null"',
      "[]",
      "{}",
      "[[]]",
      '{"a":0}',
      '{"a":-0}',
      '["a",0]',
      '["a,0"]',
    ];
    const keys = [...values.map((text) => jsonKey(parseJson(text))), jsonKey(new JsonNumber("0"))];
    expect(new Set(keys).size).toBe(values.length + 1);
  });
});
