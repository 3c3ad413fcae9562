/** DER (X.690) as a tree that can be encoded wrongly: for changing, whatever it is of. */

export interface Element {
  tag: number;
  /** How its length is written, where that is not as it should be. */
  length: "right" | "long" | "longer" | "indefinite" | "short by one" | "too long" | "huge";
  content: Uint8Array;
  /** Of what is constructed, and of an octet or bit string that has elements in it. */
  children: Element[] | null;
  /** Bytes before the children: of a bit string the one that counts its unused bits. */
  prefix: number;
}

/** The elements that stand one after the other; null where the bytes are not all elements of definite length. */
export function parseElements(bytes: Uint8Array, depth = 0): Element[] | null {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at]!;
    const first = bytes[at + 1];
    if (first === undefined || (tag & 31) === 31 || depth > 30 || elements.length > 5000) return null;
    const width = first < 0x80 ? 0 : first & 0x7f;
    if (first === 0x80 || width > 4 || at + 2 + width > bytes.length) return null;
    const length = width === 0 ? first : Buffer.from(bytes).readUIntBE(at + 2, width);
    const start = at + 2 + width;
    if (start + length > bytes.length) return null;
    elements.push(element(tag, bytes.slice(start, start + length), depth));
    at = start + length;
  }
  return elements;
}

function element(tag: number, content: Uint8Array, depth: number): Element {
  const prefix = tag === 0x03 ? 1 : 0;
  const holdsOthers = (tag & 0x20) !== 0 || ((tag === 0x03 || tag === 0x04) && content[prefix] === 0x30);
  const children = holdsOthers && content.length > prefix ? parseElements(content.subarray(prefix), depth + 1) : null;
  return { tag, length: "right", content, children, prefix };
}

/** The element and all in it, outermost first. */
export function elementsOf(element: Element): Element[] {
  return [element, ...(element.children ?? []).flatMap(elementsOf)];
}

export function encodeElement({ tag, length, content, children, prefix }: Element): Uint8Array {
  const body =
    children === null ? content : Buffer.concat([content.subarray(0, prefix), ...children.map(encodeElement)]);
  const bytes = lengthBytes(body.length, length);
  const end = length === "indefinite" ? Uint8Array.of(0, 0) : new Uint8Array();
  return Buffer.concat([Uint8Array.of(tag), bytes, body, end]);
}

function lengthBytes(length: number, how: Element["length"]): Uint8Array {
  switch (how) {
    case "long":
      return Uint8Array.of(0x83, length >> 16, (length >> 8) & 255, length & 255);
    case "longer":
      return Uint8Array.of(0x88, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255);
    case "indefinite":
      return Uint8Array.of(0x80);
    case "short by one":
      return shortest(Math.max(0, length - 1));
    case "too long":
      return shortest(length + 1);
    case "huge":
      return Uint8Array.of(0x84, 0xff, 0xff, 0xff, 0xff);
    case "right":
      return shortest(length);
  }
}

function shortest(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([Uint8Array.of(0x80 | bytes.length), bytes]);
}
