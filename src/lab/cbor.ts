/** A CBOR encoder (RFC 8949) in shortest form with definite lengths. */
import { concatBytes, toUtf8 } from "../bytes.js";

/** An encoded item. */
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

const CBOR_MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5 } as const;
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

function cborHead(major: number, argument: number | bigint): Uint8Array {
  const width = shortestWidth(BigInt(argument));
  if (width === 0) return Uint8Array.of((major << 5) | Number(argument));
  const bytes = new Uint8Array(1 + width);
  bytes[0] = (major << 5) | (24 + Math.log2(width));
  let rest = BigInt(argument);
  for (let at = width; at > 0; at--, rest >>= 8n) bytes[at] = Number(rest & 0xffn);
  return bytes;
}

/** Encodes an item with indefinite length: a string in one chunk, an array or a map, each with a break at its end. */
export function withIndefiniteLength(item: CborItem): RawCbor {
  const [major, , content] = parts(item);
  const chunked = major === CBOR_MAJOR.bytes || major === CBOR_MAJOR.text;
  const inner = chunked ? encodeCbor(item) : content;
  return new RawCbor(concatBytes(Uint8Array.of((major << 5) | INDEFINITE), inner, BREAK));
}

function integer(value: bigint): Uint8Array {
  return value < 0n ? cborHead(CBOR_MAJOR.negative, -1n - value) : cborHead(CBOR_MAJOR.unsigned, value);
}

function parts(item: CborItem): [major: number, count: number, content: Uint8Array] {
  if (item instanceof Uint8Array) return [CBOR_MAJOR.bytes, item.length, item];
  if (typeof item === "string") return [CBOR_MAJOR.text, toUtf8(item).length, toUtf8(item)];
  if (item instanceof Map) return [CBOR_MAJOR.map, item.size, concatBytes(...[...item].flat().map(encodeCbor))];
  if (Array.isArray(item)) return [CBOR_MAJOR.array, item.length, concatBytes(...item.map(encodeCbor))];
  throw new TypeError("only strings, arrays and maps have a length");
}

function shortestWidth(argument: bigint): number {
  if (argument < 24n) return 0;
  return [1, 2, 4].find((width) => argument < 1n << BigInt(8 * width)) ?? 8;
}
