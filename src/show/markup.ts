/** HTML as data. It is rendered to text here, and to DOM in a browser. Strings of HTML are never joined. */

export interface Markup {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly MarkupNode[];
}
export type MarkupNode = Markup | string;

const VOID = new Set(["br", "hr", "img", "input", "link", "meta", "wbr"]);
/** Raw text elements. Escapes have no effect in them, so the content must not end the element. */
const RAW = new Set(["script", "style"]);

/** Makes an element. Omits `null` children, and flattens lists. */
export function element(
  tag: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (MarkupNode | readonly MarkupNode[] | null)[]
): Markup {
  return { tag, attributes, children: children.flatMap((child) => child ?? []) };
}

/** Limit of text whose words are looked at. */
const MAX_WORDS = 2000;

/** Puts words with hyphens, such as dates and ids, into elements, because browsers break lines after hyphens. */
export function unbroken(node: MarkupNode): MarkupNode {
  if (typeof node === "string") return node;
  return element(
    node.tag,
    node.attributes,
    node.children.flatMap((child) => (typeof child === "string" ? wordsOf(child) : unbroken(child))),
  );
}

function wordsOf(text: string): MarkupNode[] {
  if (text.length > MAX_WORDS || !text.includes("-")) return [text];
  return text.split(/(\s+)/).map((word) => (word.includes("-") ? element("span", { class: "whole" }, word) : word));
}

/** Limit of parts before they are joined, since each small string takes memory. */
const MAX_PARTS = 4096;

/** Returns HTML with escaped text. Throws RangeError once it is longer than `most` characters. */
export function toHtml(nodes: readonly MarkupNode[], most = Infinity): string {
  let parts: string[] = [];
  const joined: string[] = [];
  let left = most;
  const add = (text: string): void => {
    left -= text.length;
    if (left < 0) throw new RangeError(`more than ${most} characters`);
    parts.push(text);
    if (parts.length < MAX_PARTS) return;
    joined.push(parts.join(""));
    parts = [];
  };
  const addNode = (node: MarkupNode): void => {
    if (typeof node === "string") return add(escaped(node));
    const { tag, attributes, children } = node;
    add(`<${tag}${Object.entries(attributes).map(attributeText).join("")}>`);
    if (VOID.has(tag)) return;
    if (RAW.has(tag)) add(rawText(tag, children));
    else children.forEach(addNode);
    add(`</${tag}>`);
  };
  nodes.forEach(addNode);
  return [...joined, ...parts].join("");
}

function attributeText([name, value]: readonly [string, string]): string {
  return ` ${name}="${escaped(value)}"`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => ESCAPES[char]!);
}

/**
 * Returns raw text. Throws Error if it could end the element or change how a parser reads it: the caller must escape it
 * first.
 */
function rawText(tag: string, children: readonly MarkupNode[]): string {
  const text = children.join("");
  const isOurs = children.every((child) => typeof child === "string");
  if (!isOurs || /<(?:[/]|!--|script)/i.test(text)) throw new Error(`bug: ${tag} with text that could end it`);
  return text;
}
