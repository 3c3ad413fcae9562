/** Draws a chain as a picture. Each state has its own shape and word, so the reader need not tell colours apart. */
import type { Link } from "./chain.js";
import type { LinkState } from "./links.js";
import { type Markup, element } from "../show/markup.js";

/** Shapes around 0, 0 with a radius of 20. */
const SHAPES: Readonly<Record<LinkState, readonly Markup[]>> = {
  proven: [
    element("circle", { class: "solid", r: "18" }),
    element("path", { class: "sign", d: "M-8.5 .5l6 6 11-12.5" }),
  ],
  warned: [
    element("path", { class: "solid", d: "M0-19L21 16H-21Z" }),
    element("path", { class: "sign", d: "M0-6V4M0 10.500V11" }),
  ],
  failed: [
    element("path", { class: "solid", d: "M-8-19H8L19-8V8L8 19H-8L-19 8V-8Z" }),
    element("path", { class: "sign", d: "M-7-7L7 7M7-7L-7 7" }),
  ],
  word: [
    element("path", { class: "solid", d: "M-18-16H18V10H-2L-11 19V10H-18Z" }),
    element("path", { class: "sign thin", d: "M-10-7H10M-10 1H5" }),
  ],
  open: [
    element("circle", { class: "outline dashed", r: "17" }),
    element("path", { class: "mark", d: "M-5-4.500A5 5 0 1 1 2 1.500Q0 2.500 0 5M0 10V10.500" }),
  ],
  unproven: [element("circle", { class: "outline", r: "17" }), element("path", { class: "mark", d: "M-8 0H8" })],
};
const WARNING = element(
  "g",
  { class: "warned", transform: "translate(15 -13)" },
  element("path", { class: "solid", d: "M0-10L10.500 8H-10.500Z" }),
  element("path", { class: "sign thin", d: "M0-4V1.500M0 4.500V5" }),
);

function shape({ state, warnings }: Pick<Link, "state" | "warnings">): Markup[] {
  return [...SHAPES[state], ...(warnings.length > 0 && state !== "warned" ? [WARNING] : [])];
}

/** Draws the icon of a link. Screen readers skip it, since the text next to it says the same. */
export function icon(link: Pick<Link, "state" | "warnings">): Markup {
  const attributes = { class: "icon", viewBox: "-26 -26 52 52", "aria-hidden": "true" };
  return element("svg", attributes, element("g", { class: `state-${link.state}` }, shape(link)));
}

const STEP = 116;

/** Draws the chain from left to right, for wide pages. `id` makes its element ids unique in the page. */
export function overview(links: readonly Link[], id: string): Markup {
  const lines = Math.max(...links.map(({ word }) => wordLines(word).length));
  const viewBox = `0 0 ${STEP * links.length} ${92 + 16 * lines}`;
  const said = links.map(({ title, word, warnings }) => {
    return `${title}: ${word}${warnings.length > 0 ? ", with a warning" : ""}`;
  });
  return element(
    "svg",
    { class: "overview", viewBox, role: "img", "aria-labelledby": `${id}-title ${id}-desc` },
    element("title", { id: `${id}-title` }, "The chain of trust, from its anchor"),
    element("desc", { id: `${id}-desc` }, `${said.join("; ")}.`),
    links.slice(1).map((link, index) => connector(link, index)),
    links.map((link, index) => {
      const place = { class: `state-${link.state}`, transform: `translate(${STEP * (index + 0.5)} 34)` };
      return element(
        "g",
        place,
        shape(link),
        element("text", { class: "name", y: "42", "text-anchor": "middle" }, link.title),
        wordLines(link.word).map((line, index) => {
          return element("text", { class: "state", y: String(60 + 16 * index), "text-anchor": "middle" }, line);
        }),
      );
    }),
  );
}

/** Returns words in lines that fit under a shape. */
function wordLines(word: string): string[] {
  return word.match(/\S.{0,14}(?=\s|$)/g) ?? [word];
}

/** Draws the line to the next link: solid if that link is proven, dashed otherwise. */
function connector({ state }: Link, index: number): Markup {
  const [from, to] = [STEP * (index + 0.5) + 26, STEP * (index + 1.5) - 26];
  return element("path", { class: `connector to-${state}`, d: `M${from} 34H${to}` });
}

export function strip(links: readonly Link[]): Markup {
  const attributes = { class: "strip", viewBox: `0 0 ${52 * links.length} 52`, "aria-hidden": "true" };
  return element(
    "svg",
    attributes,
    links.map((link, index) => {
      return element("g", { class: `state-${link.state}`, transform: `translate(${52 * index + 26} 26)` }, shape(link));
    }),
  );
}
