import { describe, expect, it } from "vitest";
import { pageOf, wrapped } from "../../src/show/terminal.js";
import { lookOf } from "../../src/show/text.js";
import { displayWidth } from "../../src/show/width.js";

const page = pageOf({ width: 60 });

describe("a page", () => {
  it.each([
    [undefined, 80],
    [1, 60],
    [60, 60],
    [101.9, 101],
    [200, 200],
    [5000, 200],
    [Infinity, 200],
    [-Infinity, 60],
    [NaN, 80],
  ])("of width %s has %s columns", (width, columns) => {
    expect(pageOf(width === undefined ? {} : { width }).width).toBe(columns);
  });

  it("shows hex whole where everything is shown", () => {
    const hex = "ab".repeat(48);
    expect(lookOf("normal").hex(hex)).toBe("abababab…abababab");
    expect(lookOf("verbose").hex(hex)).toBe(hex);
    expect(lookOf("verbose").hex("\u001b")).toBe("\\u{1b}");
  });
});

describe("wrapping", () => {
  it("breaks at spaces, and indents what follows", () => {
    expect(wrapped(page, "- ", `${"word ".repeat(11)}andlonger`)).toEqual([
      `- ${"word ".repeat(11).trim()}`,
      "  andlonger",
    ]);
  });

  it("breaks a word only where it is longer than a line, into even pieces", () => {
    const hex = "0123456789abcdef".repeat(6);
    expect(wrapped(page, "PCR0  ", hex)).toEqual([`PCR0  ${hex.slice(0, 48)}`, `      ${hex.slice(48)}`]);
    expect(wrapped(page, "", `short ${"x".repeat(60)}`)).toEqual(["short", "x".repeat(60)]);
  });

  it("counts columns, and parts neither a pair of surrogates nor a letter from its marks", () => {
    for (const char of ["启", "🔐", "e\u0301", "𐀀"]) {
      const lines = wrapped(page, "", `a${char.repeat(100)}`);
      expect(lines.join("")).toBe(`a${char.repeat(100)}`);
      for (const line of lines) {
        expect(displayWidth(line)).toBeLessThanOrEqual(60);
        expect(line).toMatch(/^(?:a|(?:启|🔐|e\u0301|𐀀))/u);
      }
    }
  });

  it("puts what goes before above the text where it leaves no room", () => {
    const first = `    ${"k".repeat(50)}  `;
    expect(wrapped(page, first, "the value of it")).toEqual([`    ${"k".repeat(50)}`, "      the value of it"]);
    for (const depth of [10, 40, 400]) {
      const lines = wrapped(page, `${" ".repeat(depth)}name  `, "many words ".repeat(20));
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(60);
    }
  });
});
