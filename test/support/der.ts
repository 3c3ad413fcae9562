/** A tree of DER (X.690) for tests: parsed, edited, and written, also in encodings that are not DER. */
import { toUtf8 } from "../../src/bytes.js";
import { join } from "./cbor.js";

export interface DerNode {
  tag: number;
  /** The content of a primitive node. */
  content: Uint8Array;
  /** The nodes inside a constructed node, and inside a string that has some; null for a primitive one. */
  children: DerNode[] | null;
  /** The bytes of the length, where DER wants others. */
  length?: Uint8Array;
  /** What precedes the children: of a bit string the count of its unused bits. */
  prefix?: Uint8Array;
  /** What follows the content inside the node. */
  trailer?: Uint8Array;
}

const CONSTRUCTED = 0x20;

export function parseDer(bytes: Uint8Array): DerNode {
  const [node, ...more] = parseElements(bytes, false) ?? [];
  if (node === undefined || more.length > 0) throw new Error("not one DER element");
  return node;
}

/**
 * The elements that stand one after the other; null where the bytes are not all elements of definite length. If
 * `isDeep`, those inside octet and bit strings are children, too, and what holds none is primitive.
 */
export function parseElements(bytes: Uint8Array, isDeep = true, depth = 0): DerNode[] | null {
  const nodes: DerNode[] = [];
  for (let at = 0; at < bytes.length;) {
    const [tag, first] = [bytes[at]!, bytes[at + 1]];
    if (first === undefined || (isDeep && (tag & 31) === 31) || depth > 30 || nodes.length > 5000) return null;
    const width = first < 0x80 ? 0 : first & 0x7f;
    if (first === 0x80 || width > 4 || at + 2 + width > bytes.length) return null;
    const length = width === 0 ? first : Buffer.from(bytes).readUIntBE(at + 2, width);
    const start = at + 2 + width;
    at = start + length;
    if (at > bytes.length) return null;
    const node = nodeOf(tag, bytes.slice(start, at), isDeep, depth);
    if (!isDeep && (tag & CONSTRUCTED) !== 0 && node.children === null) return null;
    nodes.push(node);
  }
  return nodes;
}

function nodeOf(tag: number, content: Uint8Array, isDeep: boolean, depth: number): DerNode {
  const prefix = content.slice(0, tag === 0x03 ? 1 : 0);
  const isHolder = isDeep && (tag === 0x03 || tag === 0x04) && content[prefix.length] === 0x30;
  if ((tag & CONSTRUCTED) === 0 && !isHolder) return { tag, content, children: null };
  return { tag, content, children: parseElements(content.subarray(prefix.length), isDeep, depth + 1), prefix };
}

export function writeDer(node: DerNode): Uint8Array {
  const content = contentOf(node);
  return join(Uint8Array.of(node.tag), node.length ?? derLength(content.length), content);
}

export function contentOf({ content, children, prefix, trailer }: DerNode): Uint8Array {
  const whole = children === null ? content : join(prefix ?? new Uint8Array(), ...children.map(writeDer));
  return join(whole, trailer ?? new Uint8Array());
}

/** The node and all in it, outermost first. */
export function nodesIn(node: DerNode): DerNode[] {
  return [node, ...(node.children ?? []).flatMap(nodesIn)];
}

/** The length in DER's one way. */
export function derLength(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  if (length < 0x100) return Uint8Array.of(0x81, length);
  if (length < 0x10000) return Uint8Array.of(0x82, length >> 8, length & 0xff);
  return Uint8Array.of(0x83, length >> 16, (length >> 8) & 0xff, length & 0xff);
}

export function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = join(...parts);
  return join(Uint8Array.of(tag), derLength(content.length), content);
}

export function derNull(): Uint8Array {
  return der(0x05);
}

export const derSequence = (...items: readonly Uint8Array[]): Uint8Array => der(0x30, ...items);
export const derSet = (...items: readonly Uint8Array[]): Uint8Array => der(0x31, ...items);
export const derTrue = (): Uint8Array => der(0x01, Uint8Array.of(0xff));
export const derOctetString = (bytes: Uint8Array): Uint8Array => der(0x04, bytes);
export const derUtf8String = (text: string): Uint8Array => der(0x0c, toUtf8(text));
export const derPrintableString = (text: string): Uint8Array => der(0x13, toUtf8(text));
/** `[number] EXPLICIT`. */
export const derExplicit = (number: number, item: Uint8Array): Uint8Array => der(0xa0 | number, item);
/** A GeneralName of the kind uniformResourceIdentifier (RFC 5280 section 4.2.1.6). */
export const derUri = (text: string): Uint8Array => der(0x86, toUtf8(text));

export function derBitString(bytes: Uint8Array, unusedBits = 0): Uint8Array {
  return der(0x03, Uint8Array.of(unusedBits), bytes);
}

/** An integer of big-endian bytes, or a number below 128. */
export function derInteger(value: Uint8Array | number): Uint8Array {
  const bytes = typeof value === "number" ? Uint8Array.of(value) : value;
  return der(0x02, bytes[0]! > 0x7f ? Uint8Array.of(0) : new Uint8Array(), bytes);
}

export function derOid(id: string): Uint8Array {
  const [first, second, ...rest] = id.split(".").map(Number);
  return der(0x06, ...[40 * first! + second!, ...rest].map(base128));
}

function base128(value: number): Uint8Array {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return Uint8Array.from(bytes);
}

/** UTCTime until 2049, then GeneralizedTime. */
export function derTime(date: Date): Uint8Array {
  const digits = `${date.toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`;
  return date.getUTCFullYear() < 2050 ? der(0x17, toUtf8(digits.slice(2))) : der(0x18, toUtf8(digits));
}

/** The tree with the node at a path of child indexes changed. */
export function edited(node: DerNode, path: readonly number[], change: (node: DerNode) => DerNode): DerNode {
  const [first, ...rest] = path;
  if (first === undefined) return change(node);
  if (node.children?.[first] === undefined) throw new Error(`no node at ${path.join(".")}`);
  return {
    ...node,
    children: node.children.map((child, index) => (index === first ? edited(child, rest, change) : child)),
  };
}

export function nodeAt(node: DerNode, path: readonly number[]): DerNode {
  let at: DerNode = node;
  for (const index of path) at = at.children![index]!;
  return at;
}

/** The paths of all nodes, outermost first. */
export function allPaths(node: DerNode, path: readonly number[] = []): (readonly number[])[] {
  return [path, ...(node.children ?? []).flatMap((child, index) => allPaths(child, [...path, index]))];
}
