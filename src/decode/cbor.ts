/**
 * A deliberately partial CBOR decoder (RFC 8949): the strict profile of attestation documents.
 *
 * Accepted: unsigned and negative integers, byte strings, UTF-8 text, arrays, maps with distinct keys, null, true,
 * false. Each head has its shortest form, each length is definite, and nothing follows the item. The caller can allow
 * an outermost map of indefinite length and one tag around the outermost item. Everything else is refused.
 *
 * One pass checks and decodes. Decoding with cbor-x after a check would be unsafe: other modules can change its global
 * settings (`addExtension`, `setSizeLimits`). Duplicate keys that are objects are found by their bytes, since each
 * value has one encoding.
 */
import { fromUtf8, toHex } from "../bytes.js";
import { MalformedError } from "../errors.js";

export type CborValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | CborValue[]
  | Map<CborValue, CborValue>;

interface CborProfile {
  readonly indefiniteOutermostMap?: boolean;
  /** A tag that is allowed around the outermost item, but not required. */
  readonly outermostTag?: number;
}

const MAX_DEPTH = 16;
const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;
const BREAK = 0xff;
const FALSE = 20,
  TRUE = 21,
  NULL = 22;

/**
 * Decodes one item. An integer is a number, or a bigint if its head has 64 bits. Byte strings are copies. Throws
 * {@link MalformedError} (`cbor`) with the offset of the first fault.
 */
export function decodeCbor(bytes: Uint8Array, profile: CborProfile = {}): CborValue {
  return new ProfileReader(bytes, profile).whole();
}

/** Returns a non-negative safe integer as a number, and undefined for any other value. */
export function cborUint(value: CborValue | undefined): number | undefined {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

interface Head {
  readonly major: number;
  /** Value, length or count. It is undefined for an indefinite length, and not exact above 2^53. */
  readonly argument: number | undefined;
  /** The exact argument, if the head has 64 bits. */
  readonly exact: bigint | undefined;
}

/** Returns the value of a negative integer (RFC 8949 section 3.1). */
function negative(argument: number, exact: bigint | undefined): number | bigint {
  return exact === undefined ? -1 - argument : -1n - exact;
}

class ProfileReader {
  readonly #bytes: Uint8Array;
  readonly #profile: CborProfile;
  #at = 0;

  constructor(bytes: Uint8Array, profile: CborProfile) {
    this.#bytes = bytes;
    this.#profile = profile;
  }

  whole(): CborValue {
    if (this.#bytes.length === 0) throw this.#fault("empty", 0);
    this.#outermostTag();
    const value = this.#item(0);
    if (this.#at !== this.#bytes.length) throw this.#fault(`${this.#bytes.length - this.#at} bytes after the end`);
    return value;
  }

  #outermostTag(): void {
    if (this.#bytes[0]! >> 5 !== MAJOR.tag || this.#profile.outermostTag === undefined) return;
    const { argument } = this.#head();
    if (argument !== this.#profile.outermostTag) throw this.#fault(`tag ${argument} is not allowed`, 0);
  }

  #item(depth: number): CborValue {
    if (depth > MAX_DEPTH) throw this.#fault(`nested deeper than ${MAX_DEPTH}`);
    const start = this.#at;
    const { major, argument, exact } = this.#head();
    if (argument === undefined) return this.#indefinite(major, depth, start);
    switch (major) {
      case MAJOR.unsigned:
        return exact ?? argument;
      case MAJOR.negative:
        return negative(argument, exact);
      case MAJOR.bytes:
        return new Uint8Array(this.#skip(argument, start));
      case MAJOR.text:
        return this.#text(argument, start);
      case MAJOR.array:
        return this.#array(argument, depth);
      case MAJOR.map: {
        let left = argument;
        return this.#mapEntries(depth, () => left-- === 0);
      }
      case MAJOR.simple:
        return argument === NULL ? null : argument === TRUE;
      default:
        throw this.#fault(`tag ${argument} is not allowed`, start);
    }
  }

  #indefinite(major: number, depth: number, start: number): CborValue {
    const isAllowed = major === MAJOR.map && depth === 0 && this.#profile.indefiniteOutermostMap === true;
    if (!isAllowed) throw this.#fault("an indefinite length", start);
    return this.#mapEntries(depth, () => this.#endsWithBreak());
  }

  #text(length: number, start: number): string {
    const text = fromUtf8(this.#skip(length, start));
    if (text === null) throw this.#fault("text that is not UTF-8", start);
    return text;
  }

  /** Reads an array. The list grows item by item, because the stated count may be false. */
  #array(count: number, depth: number): CborValue[] {
    const items: CborValue[] = [];
    for (let left = count; left > 0; left--) items.push(this.#item(depth + 1));
    return items;
  }

  #mapEntries(depth: number, atEnd: () => boolean): Map<CborValue, CborValue> {
    const entries = new Map<CborValue, CborValue>();
    const encodings = new Set<string>();
    while (!atEnd()) {
      const keyStart = this.#at;
      const key = this.#item(depth + 1);
      const isScalar = typeof key !== "object" || key === null;
      const encoding = isScalar ? "" : toHex(this.#bytes.subarray(keyStart, this.#at));
      if (isScalar ? entries.has(key) : encodings.has(encoding)) throw this.#fault("a map key appears twice", keyStart);
      encodings.add(encoding);
      entries.set(key, this.#item(depth + 1));
    }
    return entries;
  }

  #endsWithBreak(): boolean {
    if (this.#bytes[this.#at] !== BREAK) return false;
    this.#at++;
    return true;
  }

  #head(): Head {
    const start = this.#at;
    const initial = this.#bytes[start];
    if (initial === undefined) throw this.#fault("the input ends inside an item");
    this.#at++;
    const major = initial >> 5;
    const info = initial & 0x1f;
    if (major === MAJOR.simple) {
      if (info === FALSE || info === TRUE || info === NULL) return { major, argument: info, exact: undefined };
      throw this.#fault("a float, undefined, break or other simple value", start);
    }
    if (info < 24) return { major, argument: info, exact: undefined };
    if (info === 31) return { major, argument: undefined, exact: undefined };
    if (info > 27) throw this.#fault("a reserved head", start);
    const width = 1 << (info - 24);
    const digits = this.#skip(width, start);
    const argument = digits.reduce((value, byte) => value * 256 + byte, 0);
    const smallest = width === 1 ? 24 : 2 ** (4 * width);
    if (argument < smallest) throw this.#fault("a head longer than needed", start);
    return { major, argument, exact: width === 8 ? BigInt(`0x${toHex(digits)}`) : undefined };
  }

  #skip(length: number, itemStart: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw this.#fault("the input ends inside an item", itemStart);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #fault(message: string, offset = this.#at): MalformedError {
    return new MalformedError("cbor", [{ path: "", message: `${message} (at byte ${offset})` }]);
  }
}
