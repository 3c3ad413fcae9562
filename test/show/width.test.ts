import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { printable } from "../../src/report/printable.js";
import { displayWidth, piecesOf } from "../../src/show/width.js";
import { IS_LONG } from "../support/long.js";

/** `BOOTPROOF_TESTS=long` takes each. */
const EACH = IS_LONG ? 1 : 16;
/** Those code points that are assigned, and shown as they are: beyond the first, which have most scripts, each 16th. */
const SHOWN = Array.from({ length: 0x110000 }, (_, point) => point)
  .filter((point) => (point < 0xd800 || point > 0xdfff) && (point < 0x3400 || point % EACH === 0))
  .map((point) => String.fromCodePoint(point))
  .filter((char) => printable(char) === char);
const KEYCAP = "\u20e3";

describe("the width of text", () => {
  it("is that of string-width for every character, but for the one that makes a keycap", () => {
    const other = SHOWN.filter((char) => displayWidth(char) !== stringWidth(char));
    // Alone it takes no column; over a digit it takes one more, which is counted where it stands.
    expect(other).toEqual([KEYCAP]);
    expect([displayWidth(`1${KEYCAP}`), stringWidth(`1${KEYCAP}`)]).toEqual([2, 2]);
    expect(SHOWN.length).toBeGreaterThan(140_000 / EACH);
  });

  it.each([
    ["ASCII", "boot[0] = a.json", 16],
    ["Chinese", "启动证明", 8],
    ["Hangul", "부팅", 4],
    ["a letter and its mark", "e\u0301", 1],
    ["an emoji beyond the first plane", "🔐", 2],
    ["a flag", "🇩🇪", 2],
    ["what is shortened", "ab…cd", 5],
  ])("of %s is counted in columns", (_, text, columns) => {
    expect([displayWidth(text), stringWidth(text)]).toEqual([columns, columns]);
  });

  it("is never less than string-width's, of any text that is shown", () => {
    const marked = ["e\u0301", KEYCAP, "👍🏽", "🇩🇪", "각", "\u1112\u1161\u11ab", "क्ष", "か゛"];
    const unit = fc.oneof(
      fc.constantFrom(...marked),
      fc.nat(SHOWN.length - 1).map((index) => SHOWN[index]!),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => displayWidth(text) >= stringWidth(text)),
      { numRuns: 1000 },
    );
  });
});

describe("pieces of a text", () => {
  it("part no character, and none from its marks", () => {
    expect(piecesOf("ab启动🔐cde\u0301\u0302f", 4)).toEqual(["ab启", "动🔐", "cde\u0301\u0302f"]);
    expect(piecesOf("\u0301\u0301a", 2)).toEqual(["\u0301\u0301a"]);
    expect(piecesOf("", 4)).toEqual([""]);
    // A spacing mark on a wide character takes a third column.
    expect(piecesOf("\u2e80\u0dd8", 3)).toEqual(["\u2e80\u0dd8"]);
    expect(piecesOf("\u2e80\u0dd8", 2)).toEqual(["\u2e80", "\u0dd8"]);
  });

  it("are the text, each no wider than asked for", () => {
    const unit = fc.nat(SHOWN.length - 1).map((index) => SHOWN[index]!);
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), fc.integer({ min: 2, max: 20 }), (text, columns) => {
        const pieces = piecesOf(text, columns);
        expect(pieces.join("")).toBe(text);
        for (const piece of pieces) expect(displayWidth(piece)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});
