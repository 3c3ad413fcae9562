/** The page read back by a parser that is not ours, and the page whole, for a browser. */
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { type MarkupNode, element, toHtml, unbroken } from "../../src/show/markup.js";
import { STYLE } from "../../src/page/style.js";
import { type Shown, reportView } from "../../src/page/view.js";

type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;

/** What is shown as a page of its own, without what such a page carries and does. */
export async function pageOf(shown: Shown): Promise<string> {
  return htmlOf(await reportView(shown));
}

function htmlOf(nodes: readonly MarkupNode[]): string {
  const head = element(
    "head",
    {},
    element("meta", { charset: "utf-8" }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("title", {}, "a report"),
    element("style", {}, STYLE),
  );
  const html = element("html", { lang: "en" }, head, element("body", {}, element("main", {}, nodes.map(unbroken))));
  return `<!doctype html>${toHtml([html])}`;
}

/** Every element beneath, and the element itself. */
export function elementsOf(element: Element): Element[] {
  return [element, ...element.childNodes.filter(isElement).flatMap(elementsOf)];
}

/** All elements inside `main`. */
export function parsed(html: string): Element[] {
  const all = parse(html).childNodes.filter(isElement).flatMap(elementsOf);
  return elementsOf(all.find(({ tagName }) => tagName === "main")!).slice(1);
}

function isElement(node: Node): node is Element {
  return "tagName" in node;
}

export function textOf(node: Node | DefaultTreeAdapterTypes.Document): string {
  if (node.nodeName === "#text") return (node as DefaultTreeAdapterTypes.TextNode).value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

export function attribute({ attrs }: Element, name: string): string | null {
  return attrs.find((attr) => attr.name === name)?.value ?? null;
}

export function classed(elements: readonly Element[], name: string): Element[] {
  return elements.filter((one) => (attribute(one, "class") ?? "").split(" ").includes(name));
}
