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

/** Draws the icon of a link. Screen readers skip it, since the text next to it says the same. */
export function icon({ state, warnings }: Pick<Link, "state" | "warnings">): Markup {
  const attributes = { class: "icon", viewBox: "-26 -26 52 52", "aria-hidden": "true" };
  const shapes = [...SHAPES[state], ...(warnings.length > 0 && state !== "warned" ? [WARNING] : [])];
  return element("svg", attributes, element("g", { class: `state-${state}` }, shapes));
}

/** Draws the chain from left to right, for wide pages. Each link leads to its part below. */
export function overview(links: readonly Link[], boot: string): Markup {
  const items = links.map((link) => {
    const name = element("a", { href: `#${boot}-${link.id}` }, link.title);
    return element(
      "li",
      { class: `state-${link.state}` },
      icon(link),
      name,
      element("span", { class: "state" }, link.word),
    );
  });
  return element("ol", { class: "overview", "aria-label": "The chain of trust, from its anchor" }, items);
}
