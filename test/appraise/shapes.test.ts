/** Shapes beside those that the policy file uses: the rest is tested as the policy is read. */
import { describe, expect, it } from "vitest";
import { PolicyPlace, hex } from "../../src/appraise/shapes.js";
import { fits } from "../support/json-schema.js";

describe("hex of two or three bytes", () => {
  const shape = hex(2, 3);

  it.each([
    ["", "0 hex digits, 4 to 6 wanted"],
    ["abc", "3 hex digits, 4 to 6 wanted"],
    ["abcd", null],
    ["abcde", "5 hex digits, 4 to 6 wanted"],
    ["ABCDEF", null],
    ["abcdef0", "7 hex digits, 4 to 6 wanted"],
    ["abcdef01", "8 hex digits, 4 to 6 wanted"],
    ["abcg", "not hex, 4 to 6 digits wanted"],
    [7, "a number, hex of 4 to 6 digits wanted"],
  ])("%j", (value, fault) => {
    const place = new PolicyPlace();
    expect(shape.read(value, place)).toBe(fault === null ? String(value).toLowerCase() : undefined);
    expect(place.faults).toEqual(fault === null ? [] : [{ path: "", message: fault }]);
    // A schema has no word for whole bytes.
    if (value !== "abcde") expect(fits(shape.schema, value)).toBe(fault === null);
  });
});
