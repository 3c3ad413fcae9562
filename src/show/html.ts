/** Writes a document as elements of a page, which has the style for their classes (page/style.ts). */
import { printable } from "../report/printable.js";
import type { Block, Doc, Row, Section } from "./doc.js";
import { type Markup, element } from "./markup.js";

/** Returns an element for each section. */
export function writeHtml({ sections }: Doc): Markup[] {
  return sections.map(sectionElement);
}

function sectionElement({ heading, blocks, isFolded = false }: Section): Markup {
  const content = blocks.map(blockElement);
  if (heading === undefined) return element("section", {}, content);
  const title = printable(heading);
  return isFolded
    ? element("details", {}, element("summary", {}, title), content)
    : element("section", {}, element("h2", {}, title), content);
}

function blockElement(block: Block): Markup {
  switch (block.kind) {
    case "verdict":
      return element("header", { class: `verdict tone-${block.tone}` }, element("h1", {}, printable(block.text)));
    case "warning":
      return element("p", { class: "warning" }, element("strong", {}, "Warning"), " ", printable(block.text));
    case "words":
      return element("p", block.tone === undefined ? {} : { class: `tone-${block.tone}` }, printable(block.text));
    case "list": {
      const items = block.items.map((item) => element("li", {}, printable(item)));
      return element("ul", {}, items);
    }
    case "rows":
      return rowsElement(block.rows);
    case "value":
      return element("p", {}, element("code", { class: "hex" }, printable(block.text)));
  }
}

function rowsElement(rows: readonly Row[]): Markup {
  return element("ul", { class: "rows" }, rows.map(rowElement));
}

function rowElement({ label = "", tone, id, text, isCommand = false, below = [] }: Row): Markup {
  const names = [
    ...(label === ""
      ? []
      : [element("strong", tone === undefined ? {} : { class: `tone-${tone}` }, printable(label)), " "]),
    ...(id === undefined ? [] : [element("code", {}, printable(id)), " "]),
  ];
  const shown = (words: string): Markup => (isCommand ? element("code", {}, printable(words)) : marked(words));
  return element(
    "li",
    {},
    names,
    text === undefined ? null : shown(text),
    below.length === 0 ? null : rowsElement(below),
  );
}

/** Marks the bytes in `[brackets]`. */
function marked(text: string): Markup {
  const parts = printable(text).split(/(\[(?:[0-9a-f]{2})+\])/);
  return element(
    "span",
    {},
    parts.map((part, index) => (index % 2 === 1 ? element("mark", {}, part) : part)),
  );
}
