/**
 * Writes CBOR (RFC 8949): shortest and definite by default, and on demand each of the encodings that a strict reader
 * has to refuse.
 */
import { concatBytes, toUtf8 } from "../bytes.js";

/** Bytes that stand in the output as they are, in the place of an item. */
export class RawCbor {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export type CborItem =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | RawCbor
  | readonly CborItem[]
  | ReadonlyMap<CborItem, CborItem>;

export const CBOR_MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6 } as const;
const INDEFINITE = 31;
const BREAK = Uint8Array.of(0xff);

export function encodeCbor(item: CborItem): Uint8Array {
  if (item instanceof RawCbor) return item.bytes;
  if (item === null) return Uint8Array.of(0xf6);
  if (typeof item === "boolean") return Uint8Array.of(item ? 0xf5 : 0xf4);
  if (typeof item === "number" || typeof item === "bigint") return integer(BigInt(item));
  const [major, count, content] = parts(item);
  return concatBytes(cborHead(major, count), content);
}

/** A head: major type and argument, in the shortest width, or in the given number of bytes after the first. */
export function cborHead(
  major: number,
  argument: number | bigint,
  width = shortestWidth(BigInt(argument)),
): Uint8Array {
  if (width === 0) return Uint8Array.of((major << 5) | Number(argument));
  const bytes = new Uint8Array(1 + width);
  bytes[0] = (major << 5) | (24 + Math.log2(width));
  let rest = BigInt(argument);
  for (let at = width; at > 0; at--, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return bytes;
}

/** The item with its own head (not those inside it) in 1, 2, 4 or 8 bytes more than one, needed or not. */
export function withHeadWidth(item: CborItem, width: 1 | 2 | 4 | 8): RawCbor {
  if (typeof item === "number") return new RawCbor(cborHead(CBOR_MAJOR.unsigned, item, width));
  const [major, count, content] = parts(item);
  return new RawCbor(concatBytes(cborHead(major, count, width), content));
}

/** A string in chunks (one), or an array or map that is ended by a break. */
export function withIndefiniteLength(item: CborItem): RawCbor {
  const [major, , content] = parts(item);
  const chunked = major === CBOR_MAJOR.bytes || major === CBOR_MAJOR.text;
  const inner = chunked ? encodeCbor(item) : content;
  return new RawCbor(concatBytes(Uint8Array.of((major << 5) | INDEFINITE), inner, BREAK));
}

export function withTag(tag: number, item: CborItem): RawCbor {
  return new RawCbor(concatBytes(cborHead(CBOR_MAJOR.tag, tag), encodeCbor(item)));
}

/** A map of these entries, in this order, equal keys and all. */
export function cborEntries(entries: readonly (readonly [CborItem, CborItem])[]): RawCbor {
  return new RawCbor(concatBytes(cborHead(CBOR_MAJOR.map, entries.length), ...entries.flat().map(encodeCbor)));
}

/** Text of arbitrary bytes, UTF-8 or not. */
export function cborTextOf(bytes: Uint8Array): RawCbor {
  return new RawCbor(concatBytes(cborHead(CBOR_MAJOR.text, bytes.length), bytes));
}

/** A float of double precision. */
export function cborFloat(value: number): RawCbor {
  const bytes = new Uint8Array(9);
  bytes[0] = 0xfb;
  new DataView(bytes.buffer).setFloat64(1, value);
  return new RawCbor(bytes);
}

function integer(value: bigint): Uint8Array {
  return value < 0n ? cborHead(CBOR_MAJOR.negative, -1n - value) : cborHead(CBOR_MAJOR.unsigned, value);
}

/** Major type, count for the head, and everything after the head, of an item that has a length. */
function parts(item: CborItem): [major: number, count: number, content: Uint8Array] {
  if (item instanceof Uint8Array) return [CBOR_MAJOR.bytes, item.length, item];
  if (typeof item === "string") return [CBOR_MAJOR.text, toUtf8(item).length, toUtf8(item)];
  if (item instanceof Map) return [CBOR_MAJOR.map, item.size, concatBytes(...[...item].flat().map(encodeCbor))];
  if (Array.isArray(item)) return [CBOR_MAJOR.array, item.length, concatBytes(...item.map(encodeCbor))];
  throw new TypeError("an item without a length");
}

function shortestWidth(argument: bigint): number {
  if (argument < 24n) return 0;
  return [1, 2, 4].find((width) => argument < 1n << BigInt(8 * width)) ?? 8;
}
