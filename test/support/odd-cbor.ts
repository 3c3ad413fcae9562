/** CBOR encodings of the lab's items that a strict reader has to refuse. */
import { concatBytes } from "../../src/bytes.js";
import { type CborItem, RawCbor, encodeCbor } from "../../src/lab/cbor.js";
import { head } from "./cbor.js";

const TEXT = 3;
const MAP = 5;
const TAG = 6;

/** The item with its own head (not those inside it) in 1, 2, 4 or 8 additional bytes, needed or not. */
export function withHeadWidth(item: CborItem, width: 1 | 2 | 4 | 8): RawCbor {
  const [first, ...rest] = encodeCbor(item);
  const [major, info] = [first! >> 5, first! & 0x1f];
  const own = info < 24 ? 0 : 1 << (info - 24);
  const argument =
    own === 0 ? BigInt(info) : rest.slice(0, own).reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  return new RawCbor(concatBytes(head(major, argument, width), Uint8Array.from(rest.slice(own))));
}

export function withTag(tag: number, item: CborItem): RawCbor {
  return new RawCbor(concatBytes(head(TAG, tag), encodeCbor(item)));
}

/** A map with these entries in this order, duplicate keys included. */
export function cborEntries(entries: readonly (readonly [CborItem, CborItem])[]): RawCbor {
  return new RawCbor(concatBytes(head(MAP, entries.length), ...entries.flat().map(encodeCbor)));
}

/** Text of arbitrary bytes, UTF-8 or not. */
export function cborTextOf(bytes: Uint8Array): RawCbor {
  return new RawCbor(concatBytes(head(TEXT, bytes.length), bytes));
}

/** A float of double precision. */
export function cborFloat(value: number): RawCbor {
  const bytes = new Uint8Array(9);
  bytes[0] = 0xfb;
  new DataView(bytes.buffer).setFloat64(1, value);
  return new RawCbor(bytes);
}
