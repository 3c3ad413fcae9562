/** Writes a document as elements of a page, which has the style for their classes (page/style.ts). */
import { runsOf } from "../report/compare.js";
import { numbered } from "../report/facts.js";
import { printable } from "../report/printable.js";
import { type Block, type Doc, type Row, type Section, isValue, asSentence } from "./doc.js";
import { type Markup, element } from "./markup.js";

/** Returns an element for each section. */
export function writeHtml({ sections }: Doc): Markup[] {
  return sections.map(sectionElement);
}

/** The class of a section is its heading up to a colon or a digit, such as `not-proven`. */
function sectionElement({ heading, blocks, isFolded = false }: Section): Markup {
  const isWarning = ({ kind }: Block): boolean => kind === "warning";
  const content = runsOf(blocks, (last, block) => isWarning(last) && isWarning(block)).map(written);
  if (heading === undefined) return element("section", {}, content);
  const [name] = /^[a-z ]*[a-z]/i.exec(heading) ?? [""];
  const given = { class: name.toLowerCase().replaceAll(" ", "-") };
  const title = printable(heading);
  return isFolded
    ? element("details", given, element("summary", {}, title), content)
    : element("section", given, element("h2", {}, title), element("div", {}, content));
}

function warningList(texts: readonly string[]): Markup {
  return element(
    "div",
    { class: "warnings" },
    element("strong", {}, numbered(texts.length, "warning")),
    listOf(texts.map(asSentence)),
  );
}

/** Writes a block. Warnings that follow one another are one list. */
function written([block, ...more]: readonly [Block, ...Block[]]): Markup {
  switch (block.kind) {
    case "warning":
      return warningList([block, ...(more as (typeof block)[])].map(({ text }) => text));
    case "verdict": {
      const [, word, count = null, rest] = /^(.*?)( with \d+ warnings?)?: (.*)$/s.exec(printable(block.text))!;
      const title = element("h1", {}, word!, count && element("span", { class: "count" }, count));
      return element("header", { class: `verdict tone-${block.tone}` }, title, element("p", {}, asSentence(rest!)));
    }
    case "words":
      return element("p", toneOf(block), printable(block.text));
    case "list": {
      const { items, inSight = items.length } = block;
      const rest = items.slice(inSight);
      if (rest.length === 0) return listOf(items);
      const others = element("details", {}, element("summary", {}, `and ${rest.length} more`), listOf(rest));
      return element("div", {}, listOf(items.slice(0, inSight)), others);
    }
    case "rows":
      return rowList(block.rows);
    case "value":
      return element("p", {}, element("code", { class: "hex" }, printable(block.text)));
  }
}

function toneOf({ tone }: Pick<Row, "tone">): Readonly<Record<string, string>> {
  return tone === undefined ? {} : { class: `tone-${tone}` };
}

export function listOf(items: readonly string[]): Markup {
  return element(
    "ul",
    {},
    items.map((item) => element("li", {}, printable(item))),
  );
}

function rowList(rows: readonly Row[]): Markup {
  return element("ul", { class: "rows" }, rows.map(rowElement));
}

function rowElement(row: Row): Markup {
  const { label, id, text, fold, below = [] } = row;
  const head = [
    ...(label === undefined || label === "" ? [] : [element("strong", {}, printable(label)), " "]),
    ...(id === undefined ? [] : [element("code", { class: "id" }, printable(id)), " "]),
    ...(text === undefined ? [] : [shown(text, row)]),
  ];
  const inner = below.length === 0 ? null : rowList(below);
  if (fold === undefined) return element("li", toneOf(row), head, inner);
  const opened = fold === "open" ? { class: "kept", open: "" } : {};
  return element("li", toneOf(row), element("details", opened, element("summary", {}, head), inner));
}

/** Hex beside words, such as the value of a PCR. Its digits stand below those that it is compared with. */
const HEX = /[0-9a-f]{32}/;

/** Marks the bytes in `[brackets]`. */
function shown(text: string, { isCommand = false }: Row): Markup {
  if (isCommand || !(isValue(text) || HEX.test(text)))
    return element(isCommand ? "code" : "span", { class: "text" }, printable(text));
  const parts = printable(text).split(/(\[(?:[0-9a-f]{2})+\])/);
  return element(
    "code",
    { class: "text hex" },
    parts.map((part, index) => (index % 2 === 1 ? element("mark", {}, part) : part)),
  );
}
