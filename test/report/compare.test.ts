import { describe, expect, it } from "vitest";
import { sideBySide } from "../../src/report/compare.js";

const HASH = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

const AB = "ab".repeat(130);

it.each([
  [
    "only the bytes that differ, and a few beside them",
    HASH.replace("ccdd", "ccde"),
    ["…aabbcc[dd]eeff00…"],
    {
      actual: ["…aabbcc[de]eeff00…"],
      note: "1 of 32 bytes differs: byte 14",
    },
  ],
  [
    "neighbours as one, and places apart",
    `aaaa${HASH.slice(4, 60)}ffff`,
    ["[0011]223344…bbccdd[ee]ff"],
    {
      actual: ["[aaaa]223344…bbccdd[ff]ff"],
      note: "3 of 32 bytes differ: bytes 1 to 2, 31",
    },
  ],
  ["both whole where most differ", "f".repeat(64), [HASH], { actual: ["f".repeat(64)], note: null }],
  ["the lengths", HASH.slice(2), [HASH], { note: "32 bytes expected, 31 found" }],
  ["no difference by the case of digits", HASH.toUpperCase(), ["00112233…ccddeeff"], {}],
])("of two long hex texts shows %s", (_, other, expected, more) => {
  expect(sideBySide(HASH, other)).toMatchObject({ expected, ...more });
});

it("shows the ends of what is too long to be shown whole", () => {
  expect(sideBySide(AB, "cd".repeat(130)).expected).toEqual([`${AB.slice(0, 32)}…${AB.slice(0, 32)}`]);
});

describe("hex among words", () => {
  it("is compared line by line, equal hex shortened", () => {
    const sides = sideBySide(`PCR0 ${HASH}\nPCR1 ${HASH}`, `PCR0 ${HASH}\nPCR1 ${HASH.replace("22", "23")}`);
    expect(sides.expected).toEqual(["PCR0 00112233…ccddeeff", "PCR1 0011[22]334455…"]);
    expect(sides.actual).toEqual(["PCR0 00112233…ccddeeff", "PCR1 0011[23]334455…"]);
  });

  it("stays as it is where the words differ", () => {
    const sides = sideBySide(`PCR0 ${HASH}`, "PCR0 absent");
    expect(sides).toEqual({ expected: [`PCR0 ${HASH}`], actual: ["PCR0 absent"], note: null });
  });
});

it("escapes what is not printable, in texts of any kind", () => {
  const sides = sideBySide(`\u001b[31m ${HASH}`, `\u001b[31m ${HASH.replace("22", "23")}`);
  expect(sides.expected).toEqual(["\\u{1b}[31m 0011[22]334455…"]);
  expect(sideBySide("prod", "pr\u202eod").actual).toEqual(["pr\\u{202e}od"]);
});

it("bounds what evidence made long", () => {
  const { actual } = sideBySide("x", "y".repeat(100_000));
  expect(actual[0]!.length).toBeLessThan(700);
});
