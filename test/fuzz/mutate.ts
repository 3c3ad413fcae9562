/**
 * Changes inputs as their formats are built: items of CBOR, elements of DER and values of JSON are repeated, swapped,
 * left out, taken from elsewhere, or made extreme, and the lengths around them made right again, or wrong on purpose.
 * What stands inside a byte string or a text (base64, hex, JSON, certificates) is changed by its own format. So are
 * borsh and images, by the lengths that are found in them. Nothing here knows of the library.
 */
import { encodeItem, itemsOf, parseItem, type Item } from "./cbor-items.js";
import { type DerNode, contentOf, derLength, nodesIn, parseElements, writeDer } from "../support/der.js";
import { changeJson, jsonTree, jsonText } from "./json-tree.js";
import type { Random } from "./random.js";

/** What is grown is not grown beyond it. */
const MAX_LENGTH = 256 * 1024;
const MAX_DEPTH = 4;

export interface Around {
  readonly random: Random;
  /** Other inputs: parts of them are put in. */
  readonly others: readonly Uint8Array[];
  readonly depth: number;
}

const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}

/** The input with one change, or a few. */
export function mutate(input: Uint8Array, random: Random, others: readonly Uint8Array[]): Uint8Array {
  let changed = input;
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left--)
    changed = mutateBytes(changed, { random, others, depth: 0 });
  return changed.length > MAX_LENGTH ? changed.slice(0, MAX_LENGTH) : changed;
}

/** One change, by the format that the bytes seem to have. */
function mutateBytes(bytes: Uint8Array, around: Around): Uint8Array {
  const { random, depth } = around;
  if (depth > MAX_DEPTH || bytes.length === 0 || random.oneIn(6)) return havoc(bytes, around);
  const changed = mutateText(bytes, around) ?? mutateDer(bytes, around) ?? mutateCbor(bytes, around);
  return changed ?? (random.oneIn(2) ? mutateLengths(bytes, around) : havoc(bytes, around));
}

const inside = (around: Around): Around => ({ ...around, depth: around.depth + 1 });

function mutateText(bytes: Uint8Array, around: Around): Uint8Array | null {
  // A manifest in borsh may begin with any byte: what has a zero in it is not text.
  if (bytes.subarray(0, 64).includes(0)) return null;
  const text = textOf(bytes);
  return text === null ? null : utf8.encode(changeText(text, around));
}

/** One change of a text: as JSON, as the bytes that its base64 or hex stands for, or as words and lines. */
export function changeText(text: string, around: Around): string {
  const { random } = around;
  if (around.depth <= MAX_DEPTH && !random.oneIn(5)) {
    if (/^\s*[[{"]/.test(text)) {
      const tree = jsonTree(text);
      if (tree !== null) return jsonText(changeJson(tree, inside(around)), random);
    }
    if (/^(?:[0-9a-f]{2})+$/i.test(text))
      return Buffer.from(mutateBytes(Buffer.from(text, "hex"), inside(around))).toString("hex");
    if (text.length >= 8 && /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0)
      return Buffer.from(mutateBytes(Buffer.from(text, "base64"), inside(around))).toString("base64");
  }
  return changeWords(text, random);
}

const TOKENS = [
  ..."\"'{}[]:,|>&*!%@`#?-=\\/.\0\t\n\r \u007f\u202e\ud83d\ufeff\u2028é",
  "__proto__",
  "constructor",
  "0x",
  "-0",
  "1e999",
  "18446744073709551616",
  "9007199254740993",
  "null",
  "~",
  "<<: *a",
  "!!binary ",
  "!!js/function ",
  "---\n",
  "...\n",
  "\u001b[2J",
  "</script>",
  "-----END CERTIFICATE-----",
  "sha256:",
  "\r\n",
];

function changeWords(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const length = random.pick([1, 1, 2, 4, 16, 64]);
  const lines = text.split("\n");
  const line = random.below(lines.length);
  switch (random.below(9)) {
    case 0:
      return text.slice(0, at) + random.pick(TOKENS) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(at + length);
    case 2:
      return text.slice(0, at) + random.pick(TOKENS) + text.slice(at + length);
    case 3:
      return text.slice(0, at) + text.slice(at, at + length).repeat(random.pick([2, 3, 50, 1000])) + text.slice(at);
    case 4:
      return [...lines.slice(0, line), lines[line]!, ...lines.slice(line)].join("\n");
    case 5:
      return [...lines.slice(0, line), ...lines.slice(line + 1)].join("\n");
    case 6: {
      const other = random.below(lines.length);
      [lines[line], lines[other]] = [lines[other]!, lines[line]!];
      return lines.join("\n");
    }
    case 7: {
      const there = text[at] ?? "";
      return (
        text.slice(0, at) +
        (there === there.toUpperCase() ? there.toLowerCase() : there.toUpperCase()) +
        text.slice(at + 1)
      );
    }
    default:
      lines[line] = (random.oneIn(2) ? " ".repeat(1 + random.below(3)) : "") + lines[line]!.trimStart();
      return lines.join("\n");
  }
}

function mutateCbor(bytes: Uint8Array, around: Around): Uint8Array | null {
  const item = parseItem(bytes);
  if (item === null) return null;
  const { random } = around;
  const items = itemsOf(item);
  // What is deep is most: one in two changes is near the top.
  const chosen = random.oneIn(2) ? random.pick(items) : random.pick(items.slice(0, 30));
  changeItem(chosen, items, around);
  return encodeItem(item);
}

const BOUNDARIES = [
  0n,
  1n,
  23n,
  24n,
  31n,
  255n,
  256n,
  65535n,
  65536n,
  2n ** 32n,
  2n ** 53n,
  2n ** 53n - 1n,
  2n ** 64n - 1n,
];

function changeItem(item: Item, all: readonly Item[], around: Around): void {
  const { random } = around;
  const { children, content } = item;
  switch (random.below(content === null && children === null ? 4 : 9)) {
    case 0:
      // Another item of the same input, whole.
      Object.assign(item, structuredClone(random.pick(all)));
      return;
    case 1:
      item.argument = random.pick(BOUNDARIES);
      item.lies = random.oneIn(2);
      return;
    case 2:
      item.width = random.pick([0, 1, 2, 4, 8, -1]);
      return;
    case 3:
      item.major = random.below(8);
      return;
    default:
      if (content !== null) item.content = mutateBytes(content, inside(around));
      else changeList(children!, item.major === 5 ? 2 : 1, random);
  }
}

/** Of a list whose entries have so many places: one left out, repeated, moved, or swapped with another. */
function changeList<T>(list: T[], places: number, random: Random): void {
  const at = places * random.below(Math.ceil(list.length / places));
  const entry = list.slice(at, at + places);
  switch (random.below(5)) {
    case 0:
      list.splice(at, places);
      return;
    case 1:
      list.splice(at, 0, ...structuredClone(entry));
      return;
    case 2:
      list.splice(at, places);
      list.splice(places * random.below(list.length / places + 1), 0, ...entry);
      return;
    case 3:
      for (let left = random.pick([2, 20, 200]); left > 0; left--) list.push(...structuredClone(entry));
      return;
    default:
      list.splice(at, 1);
  }
}

function mutateDer(bytes: Uint8Array, around: Around): Uint8Array | null {
  if (bytes[0] !== 0x30) return null;
  const roots = parseElements(bytes);
  if (roots === null) return null;
  const { random } = around;
  const all = roots.flatMap(nodesIn);
  changeElement(random.pick(all), all, around);
  return Buffer.concat(roots.map(writeDer));
}

const TAGS = [
  0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x17, 0x18, 0x30, 0x31, 0x80, 0x81, 0xa0, 0xa3, 0x1f, 0x00,
];
/** Longer than needed, without an end, one less, one more, and huge. */
const LENGTHS: readonly ((length: number) => Uint8Array)[] = [
  (length) => Uint8Array.of(0x83, length >> 16, (length >> 8) & 255, length & 255),
  (length) => Uint8Array.of(0x88, 0, 0, 0, 0, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255),
  () => Uint8Array.of(0x80),
  (length) => derLength(Math.max(0, length - 1)),
  (length) => derLength(length + 1),
  () => Uint8Array.of(0x84, 0xff, 0xff, 0xff, 0xff),
];
const TIMES = [
  "491231235959Z",
  "500101000000Z",
  "20491231235959Z",
  "20500101000000Z",
  "20261301000000Z",
  "2601010000Z",
  "20260101000000.5Z",
  "260101000000+0000",
  "99991231235959Z",
  "00000000000000Z",
  "20260229000000Z",
];

function changeElement(element: DerNode, all: readonly DerNode[], around: Around): void {
  const { random } = around;
  const { children, content } = element;
  switch (random.below(8)) {
    case 0:
      Object.assign(element, structuredClone(random.pick(all)));
      return;
    case 1:
      element.tag = random.pick(TAGS);
      return;
    case 2:
      element.length = random.pick(LENGTHS)(contentOf(element).length);
      if (element.length[0] === 0x80) element.trailer = new Uint8Array(2);
      return;
    case 3:
      if (element.tag !== 0x17 && element.tag !== 0x18) break;
      element.content = utf8.encode(random.pick(TIMES));
      return;
  }
  if (children === null) element.content = random.oneIn(3) ? integerLike(random) : mutateBytes(content, inside(around));
  else changeList(children, 1, random);
}

function integerLike(random: Random): Uint8Array {
  return Uint8Array.from(
    random.pick([[], [0], [0, 0], [0xff], [0x80], [0, 0x80], [0xff, 0xff], Array(21).fill(0x7f) as number[]]),
  );
}

/**
 * Borsh, images, and whatever else has lengths of four or eight bytes in it: one that fits what follows it is found,
 * and what it is of grows or shrinks with it, or without it.
 */
function mutateLengths(bytes: Uint8Array, around: Around): Uint8Array {
  const { random } = around;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let tries = 0; tries < 20; tries++) {
    const at = random.below(bytes.length - 4);
    if (at + 4 > bytes.length) break;
    const little = random.oneIn(3) ? false : true;
    const length = view.getUint32(at, little);
    const [start, end] = [at + 4, at + 4 + length];
    if (length > 4096 || end > bytes.length) continue;
    const inner = bytes.subarray(start, end);
    const isCount = random.oneIn(4);
    const changed = isCount ? inner : mutateBytes(inner, inside(around));
    const told = isCount ? random.pick([length + 1, length - 1, 0, 2 ** 31, 2 ** 32 - 1, 10_001]) : changed.length;
    const head = new Uint8Array(4);
    new DataView(head.buffer).setUint32(0, told, little);
    return Buffer.concat([bytes.subarray(0, at), head, changed, bytes.subarray(end)]);
  }
  return havoc(bytes, around);
}

const MEANINGFUL = [
  0x00, 0x01, 0x0a, 0x22, 0x30, 0x5b, 0x7b, 0x7d, 0x7f, 0x80, 0x84, 0xa0, 0xa1, 0xbf, 0xc2, 0xd2, 0xff,
];

/** A change that knows of no format. */
function havoc(bytes: Uint8Array, { random, others }: Around): Uint8Array {
  const at = random.below(bytes.length + 1);
  const length = random.pick([1, 1, 2, 4, 8, 32, 128]);
  const put = (middle: Uint8Array, skip: number): Uint8Array =>
    Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(Math.min(bytes.length, at + skip))]);
  switch (random.below(8)) {
    case 0: {
      const copy = Uint8Array.from(bytes);
      if (at < copy.length) copy[at]! ^= 1 << random.below(8);
      return copy;
    }
    case 1:
      return put(Uint8Array.of(random.pick(MEANINGFUL)), 1);
    case 2:
      return put(new Uint8Array(), length);
    case 3:
      return put(random.bytes(length), random.oneIn(2) ? length : 0);
    case 4:
      return put(repeated(bytes.subarray(at, at + length), random.pick([2, 3, 100, 2000])), length);
    case 5:
      return bytes.slice(0, at);
    case 6: {
      const other = random.pick(others);
      const from = random.below(other.length);
      return put(other.subarray(from, from + random.below(other.length - from)), random.below(256));
    }
    default: {
      const width = random.pick([1, 2, 4, 8]);
      const value = Buffer.alloc(8);
      value.writeBigUInt64LE(BigInt.asUintN(64, random.pick(BOUNDARIES) - (random.oneIn(2) ? 0n : 1n)));
      return put(random.oneIn(2) ? value.subarray(0, width) : value.subarray(0, width).reverse(), width);
    }
  }
}

function repeated(bytes: Uint8Array, times: number): Uint8Array {
  return Buffer.concat(Array<Uint8Array>(times).fill(bytes));
}
