import { describe, expect, it } from "vitest";
import { MAX_TIME_MS, decimalMilliseconds } from "../../src/decode/decimal-time.js";

describe("decimalMilliseconds", () => {
  it.each([
    ["0", 0],
    ["1700000000000", 1_700_000_000_000],
    ["999999999999999", 999_999_999_999_999],
  ])("reads %s", (text, milliseconds) => {
    expect(decimalMilliseconds(text)).toBe(milliseconds);
    expect(new Date(milliseconds).getTime()).toBe(milliseconds);
  });

  it.each(["", "00", "01", "-1", "1.5", "1e3", " 1", "1\n", "1000000000000000", 1_700_000_000_000, null, undefined])(
    "refuses %j",
    (value) => {
      expect(decimalMilliseconds(value)).toBeNull();
    },
  );

  it("stops where Dates do", () => {
    expect(new Date(MAX_TIME_MS).getTime()).toBe(MAX_TIME_MS);
    expect(new Date(MAX_TIME_MS + 1).getTime()).toBeNaN();
  });
});
