/** A minimal CBOR encoder for these tests, with access to every encoding that the profile refuses. */

import { concatBytes as join } from "../../src/bytes.js";

export { join };

/** Bytes that appear in the encoding unchanged. */
export class Raw {
  readonly bytes: Uint8Array;

  constructor(hexOrBytes: string | Uint8Array) {
    this.bytes = typeof hexOrBytes === "string" ? hex(hexOrBytes) : hexOrBytes;
  }
}

export type CborInput =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Raw
  | readonly CborInput[]
  | ReadonlyMap<CborInput, CborInput>;

/** Bytes of hex text; white space between bytes is ignored. */
export function hex(text: string): Uint8Array {
  const digits = text.replaceAll(/\s/g, "");
  if (!/^(?:[0-9a-f]{2})*$/i.test(digits)) throw new Error(`not hex: ${text}`);
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** A head in its shortest form, or with an argument of `width` bytes. */
export function head(major: number, argument: number | bigint, width?: 0 | 1 | 2 | 4 | 8): Uint8Array {
  const value = BigInt(argument);
  const size = width ?? (value < 24n ? 0 : value < 0x100n ? 1 : value < 0x10000n ? 2 : value < 0x100000000n ? 4 : 8);
  if (size === 0) return Uint8Array.of((major << 5) | Number(value));
  const info = { 1: 24, 2: 25, 4: 26, 8: 27 }[size];
  const digits = Array.from({ length: size }, (_, index) => Number((value >> BigInt(8 * (size - 1 - index))) & 0xffn));
  return Uint8Array.of((major << 5) | info, ...digits);
}

export function encodeCbor(value: CborInput): Uint8Array {
  if (value === null) return hex("f6");
  if (value === false) return hex("f4");
  if (value === true) return hex("f5");
  if (value instanceof Raw) return value.bytes;
  if (typeof value === "number" || typeof value === "bigint") {
    return value >= 0 ? head(0, value) : head(1, -1n - BigInt(value));
  }
  if (typeof value === "string") {
    const utf8 = new TextEncoder().encode(value);
    return join(head(3, utf8.length), utf8);
  }
  if (value instanceof Uint8Array) return join(head(2, value.length), value);
  if (Array.isArray(value)) return join(head(4, value.length), ...value.map((item: CborInput) => encodeCbor(item)));
  return mapOf([...(value as ReadonlyMap<CborInput, CborInput>)]);
}

function mapOf(entries: readonly (readonly [CborInput, CborInput])[]): Uint8Array {
  return join(head(5, entries.length), ...entries.flatMap(([key, value]) => [encodeCbor(key), encodeCbor(value)]));
}

/** What the NSM driver answers to a request for a document. */
export function nsmAnswer(document: Uint8Array): Uint8Array {
  return encodeCbor(new Map([["Attestation", new Map([["document", document]])]]));
}
