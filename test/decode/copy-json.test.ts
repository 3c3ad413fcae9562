/** Copies of parsed values: what JSON.stringify would drop, refuse or write as another value has no copy. */
import { describe, expect, it } from "vitest";
import { copyJson, parseJson } from "../../src/decode/json.js";
import { attempt } from "../../src/errors.js";
import { faultsOf } from "../support/faults.js";
import { NOT_JSON } from "../support/not-json.js";

describe("a copy", () => {
  it.each(NOT_JSON)(
    "of %s is refused with its path, since JSON.stringify would write something else",
    (_, value, words) => {
      const copy = attempt(() => copyJson({ good: 1, "a b": [0, { c: value }] }));
      expect(copy.faults).toEqual([{ path: "a b[1].c", message: `${words}, which no JSON value is` }]);
    },
  );

  it("leaves out undefined members, and refuses undefined items and holes, which would be null", () => {
    expect(copyJson({ a: undefined, b: { c: undefined } })).toEqual({ b: {} });
    for (const list of [[0, undefined], Object.assign([0], { length: 2 })])
      expect(attempt(() => copyJson({ list })).faults).toEqual([
        { path: "list[1]", message: "nothing, which no JSON value is" },
      ]);
  });

  it("of own enumerable members is what JSON.stringify writes, whatever the class", () => {
    class Wallet {
      readonly walletName = "a";
      toString(): string {
        return "b";
      }
    }
    const hidden = Object.defineProperty({ a: 1 }, "b", { value: () => 1 });
    for (const value of [new Wallet(), hidden, { ["__proto__"]: 1, toJSON: "a" }, Object.create(null), -1.5e300, [[]]])
      expect(copyJson(value)).toEqual(parseJson(JSON.stringify(value)));
  });

  it("of a value that contains itself is refused", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic["a"] = [cyclic];
    expect(faultsOf(() => copyJson(cyclic))).toContain("nested deeper than 64");
  });
});
