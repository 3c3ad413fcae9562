import { describe, expect, it } from "vitest";
import { printableJson } from "../../src/decode/json.js";
import { printable, printableStart, quoted, shortHex } from "../../src/report/printable.js";

describe("printable", () => {
  it.each([
    ["an escape sequence", "\u001b[2J\u001b[1;32mVERIFIED", "\\u{1b}[2J\\u{1b}[1;32mVERIFIED"],
    ["the one-byte CSI of C1", "\u009b2J", "\\u{9b}2J"],
    ["line feed, carriage return, tab, backspace, bell", "a\nb\rc\td\be\u0007", "a\\u{a}b\\u{d}c\\u{9}d\\u{8}e\\u{7}"],
    ["NUL and DEL", "\u0000\u007f", "\\u{0}\\u{7f}"],
    ["bidi overrides and isolates", "\u202e\u2066\u2069\u200f\u061c", "\\u{202e}\\u{2066}\\u{2069}\\u{200f}\\u{61c}"],
    ["line and paragraph separator", "\u2028\u2029", "\\u{2028}\\u{2029}"],
    [
      "what takes no room",
      "\u200b\u200d\ufeff\u00ad\u3164\ufe0f",
      "\\u{200b}\\u{200d}\\u{feff}\\u{ad}\\u{3164}\\u{fe0f}",
    ],
    ["spaces that are not the space", "\u00a0\u2003\u3000", "\\u{a0}\\u{2003}\\u{3000}"],
    ["tag characters and private use", "\u{e0041}\u{f0000}\ue000", "\\u{e0041}\\u{f0000}\\u{e000}"],
    ["a lone surrogate", "\ud800x", "\\u{d800}x"],
  ])("escapes %s", (_, text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  it("leaves words of any script alone", () => {
    expect(printable('Straße, Ελλάδα, 日本, 🔑 "quoted" \\')).toBe('Straße, Ελλάδα, 日本, 🔑 "quoted" \\');
  });
});

describe("quoted", () => {
  it("keeps a text from running into the words around it", () => {
    expect(quoted('prod" approved by "alice')).toBe('"prod\\" approved by \\"alice"');
    expect(quoted("a\\")).toBe('"a\\\\"');
    expect(quoted("\u001b")).toBe('"\\u{1b}"');
  });

  it("marks what it leaves out", () => {
    expect(quoted("x".repeat(200), 10)).toBe('"xxxxxxxxxx"…');
  });
});

it("printableStart marks what it leaves out", () => {
  expect(printableStart("x".repeat(12), 10)).toBe("xxxxxxxxxx…");
  expect(printableStart("x\n", 10)).toBe("x\\u{a}");
});

it("shortHex keeps both ends", () => {
  expect(shortHex("ab".repeat(48))).toBe("abababab…abababab");
  expect(shortHex("abcd")).toBe("abcd");
  expect(shortHex(`${"a".repeat(30)}\u001b`)).toBe("aaaaaaaa…aaaaaaa\\u{1b}");
});

it("printableJson is the same value, and safe to print", () => {
  const value = { "\u202e": ["\u009b2J", "\u{e0041}", "\ud83d\ude00", "plain \u00a0"], n: 1 };
  const text = printableJson(`${JSON.stringify(value, undefined, 2)}\n`);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).toMatch(/^[\n\x20-\x7e😀]*$/u);
});
