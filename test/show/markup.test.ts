import { parseFragment } from "parse5";
import { describe, expect, it } from "vitest";
import { element, toHtml } from "../../src/show/markup.js";
import { character, fc } from "../support/property.js";
import { type Element, attribute, textOf } from "../page/html.js";

/** Without what every reader of HTML makes another character of: CR, NUL, and halves of surrogate pairs. */
const TEXTS = fc.string({
  unit: fc.oneof(fc.constantFrom(...`<>&"'/!-=;#x `), character),
});
const legible = (text: string): string => text.replace(/[\r\0\p{Cs}]/gu, "");

function readBack(html: string): Element {
  return parseFragment(html).childNodes[0] as Element;
}

describe("text of markup", () => {
  it("is text to a parser, and an attribute's value its value, whatever they are", () => {
    fc.assert(
      fc.property(TEXTS.map(legible), TEXTS.map(legible), (text, value) => {
        const html = toHtml([element("p", { title: value }, element("b", {}, text), text)]);
        const read = readBack(html);
        expect(read.childNodes.filter(({ nodeName }) => nodeName !== "#text").map(({ nodeName }) => nodeName)).toEqual([
          "b",
        ]);
        expect(textOf(read)).toBe(text + text);
        expect(attribute(read, "title")).toBe(value);
      }),
    );
  });

  it("leaves out what is null, and takes a list for its members", () => {
    const list = [element("li", {}, "a"), "b"];
    expect(toHtml([element("ul", {}, null, list, "c")])).toBe("<ul><li>a</li>bc</ul>");
  });

  it("gives void elements no end tag", () => {
    expect(toHtml([element("br"), element("input", { type: "text" }), "x"])).toBe('<br><input type="text">x');
  });

  it("puts into scripts and styles only what cannot end them", () => {
    expect(toHtml([element("script", {}, 'if (a < b && c > "d") e();')])).toBe(
      '<script>if (a < b && c > "d") e();</script>',
    );
    for (const text of ["</script>", "a</ b", "<!-- <script>", "<SCRIPT"])
      expect(() => toHtml([element("script", {}, text)]), text).toThrow("could end it");
    expect(() => toHtml([element("style", {}, "a{", "}</STYLE>")])).toThrow("could end it");
    expect(() => toHtml([element("style", {}, element("b"))])).toThrow("could end it");
    expect(() => toHtml([element("script", {}, "a <", "/script>")])).toThrow("could end it");
  });
});
