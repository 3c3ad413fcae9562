/** CBOR encodings of the lab's items that a strict reader has to refuse. */
import { concatBytes } from "../../src/bytes.js";
import { type CborInput, Raw, encodeCbor, head } from "./cbor.js";

const TEXT = 3;
const ARRAY = 4;
const MAP = 5;
const TAG = 6;

/** The item with its own head (not those inside it) in 1, 2, 4 or 8 additional bytes, needed or not. */
export function withHeadWidth(item: CborInput, width: 1 | 2 | 4 | 8): Raw {
  const [first, ...rest] = encodeCbor(item);
  const [major, info] = [first! >> 5, first! & 0x1f];
  const own = info < 24 ? 0 : 1 << (info - 24);
  const argument =
    own === 0 ? BigInt(info) : rest.slice(0, own).reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  return new Raw(concatBytes(head(major, argument, width), Uint8Array.from(rest.slice(own))));
}

/** The item with indefinite length: a string in one chunk, an array or a map, each with a break at its end. */
export function withIndefiniteLength(item: CborInput): Raw {
  const bytes = encodeCbor(item);
  const major = bytes[0]! >> 5;
  const length = bytes[0]! & 0x1f;
  const content = major < ARRAY ? bytes : bytes.subarray(length < 24 ? 1 : 1 + (1 << (length - 24)));
  return new Raw(concatBytes(Uint8Array.of((major << 5) | 0x1f), content, Uint8Array.of(0xff)));
}

export function withTag(tag: number, item: CborInput): Raw {
  return new Raw(concatBytes(head(TAG, tag), encodeCbor(item)));
}

/** A map with these entries in this order, duplicate keys included. */
export function cborEntries(entries: readonly (readonly [CborInput, CborInput])[]): Raw {
  return new Raw(concatBytes(head(MAP, entries.length), ...entries.flat().map(encodeCbor)));
}

/** Text of arbitrary bytes, UTF-8 or not. */
export function cborTextOf(bytes: Uint8Array): Raw {
  return new Raw(concatBytes(head(TEXT, bytes.length), bytes));
}

/** A float of double precision. */
export function cborFloat(value: number): Raw {
  const bytes = new Uint8Array(9);
  bytes[0] = 0xfb;
  new DataView(bytes.buffer).setFloat64(1, value);
  return new Raw(bytes);
}
