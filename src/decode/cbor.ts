/**
 * The strict CBOR profile (RFC 8949) of attestation documents; the only importer of cbor-x.
 *
 * Accepted: unsigned and negative integers, byte strings, text strings in UTF-8, arrays, maps with distinct keys, null,
 * true, false; every head in its shortest form, every length definite, nothing after the one item. Two exceptions, each
 * only where the caller names it: the outermost map may be of indefinite length, and one tag number may stand around
 * the outermost item. Everything else is refused: other tags, floats, undefined, other simple values, deep nesting.
 *
 * The profile is checked over the bytes before cbor-x sees them, since cbor-x lets most of it pass. Distinct keys can
 * be told apart by their bytes, because the profile leaves one encoding for each value.
 */
import { Decoder } from "cbor-x/decode";
import { fromUtf8, toHex } from "../bytes.js";
import { MalformedError } from "../errors.js";

export type CborValue = null | boolean | number | bigint | string | Uint8Array | CborValue[] | Map<CborValue, CborValue>;

export interface CborProfile {
  /** The outermost item may be a map of indefinite length. */
  readonly indefiniteOutermostMap?: boolean;
  /** A tag number allowed, not demanded, around the outermost item. */
  readonly outermostTag?: number;
}

const MAX_DEPTH = 16;
const MAJOR = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;
const BREAK = 0xff;
const FALSE = 20, TRUE = 21, NULL = 22;

// int64AsNumber would round 64-bit integers silently; byte strings must not alias the caller's buffer.
const decoder = new Decoder({ mapsAsObjects: false, useRecords: false, copyBuffers: true } as object);

/** Decodes one CBOR item in the profile. Throws {@link MalformedError} (`cbor`) with the offset of the first fault. */
export function decodeCbor(bytes: Uint8Array, profile: CborProfile = {}): CborValue {
  const itemStart = new ProfileWalk(bytes, profile).whole();
  return decoder.decode(bytes.subarray(itemStart)) as CborValue;
}

/** A non-negative integer as a number; undefined where the value is none, or too large to be exact. */
export function cborUint(value: CborValue | undefined): number | undefined {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

interface Head {
  readonly major: number;
  /** The argument: value, length, or count; undefined for an indefinite length. */
  readonly argument: number | undefined;
}

class ProfileWalk {
  readonly #bytes: Uint8Array;
  readonly #profile: CborProfile;
  #at = 0;

  constructor(bytes: Uint8Array, profile: CborProfile) {
    this.#bytes = bytes;
    this.#profile = profile;
  }

  /** Checks the whole input; answers the offset of the item inside the allowed tag. */
  whole(): number {
    if (this.#bytes.length === 0) throw this.#fault("empty", 0);
    const itemStart = this.#outermostTag();
    this.#item(0);
    if (this.#at !== this.#bytes.length) throw this.#fault(`${this.#bytes.length - this.#at} bytes after the end`);
    return itemStart;
  }

  #outermostTag(): number {
    if (this.#bytes[0]! >> 5 !== MAJOR.tag || this.#profile.outermostTag === undefined) return 0;
    const { argument } = this.#head();
    if (argument !== this.#profile.outermostTag) throw this.#fault(`tag ${argument} is not allowed`, 0);
    return this.#at;
  }

  #item(depth: number): void {
    if (depth > MAX_DEPTH) throw this.#fault(`nested deeper than ${MAX_DEPTH}`);
    const start = this.#at;
    const { major, argument } = this.#head();
    if (argument === undefined) {
      if (major !== MAJOR.map || depth > 0 || this.#profile.indefiniteOutermostMap !== true) {
        throw this.#fault("an indefinite length", start);
      }
      this.#mapEntries(depth, () => this.#endsWithBreak());
      return;
    }
    switch (major) {
      case MAJOR.bytes:
        this.#skip(argument, start);
        break;
      case MAJOR.text:
        if (fromUtf8(this.#skip(argument, start)) === null) throw this.#fault("text that is not UTF-8", start);
        break;
      case MAJOR.array:
        for (let left = argument; left > 0; left--) this.#item(depth + 1);
        break;
      case MAJOR.map: {
        let left = argument;
        this.#mapEntries(depth, () => left-- === 0);
        break;
      }
      case MAJOR.tag:
        throw this.#fault(`tag ${argument} is not allowed`, start);
      default: // integers are their head alone
        break;
    }
  }

  #mapEntries(depth: number, atEnd: () => boolean): void {
    const seen = new Set<string>();
    while (!atEnd()) {
      const keyStart = this.#at;
      this.#item(depth + 1);
      const key = toHex(this.#bytes.subarray(keyStart, this.#at));
      if (seen.has(key)) throw this.#fault("a map key appears twice", keyStart);
      seen.add(key);
      this.#item(depth + 1);
    }
  }

  #endsWithBreak(): boolean {
    if (this.#bytes[this.#at] !== BREAK) return false;
    this.#at++;
    return true;
  }

  #head(): Head {
    const start = this.#at;
    const initial = this.#skip(1, start)[0]!;
    const major = initial >> 5;
    const info = initial & 0x1f;
    if (major === MAJOR.simple) {
      if (info === FALSE || info === TRUE || info === NULL) return { major, argument: info };
      throw this.#fault("a float, undefined, break or other simple value", start);
    }
    if (info < 24) return { major, argument: info };
    if (info === 31) return { major, argument: undefined };
    if (info > 27) throw this.#fault("a reserved head", start);
    const width = 1 << (info - 24);
    const argument = this.#skip(width, start).reduce((value, byte) => value * 256 + byte, 0);
    const smallest = width === 1 ? 24 : 2 ** (4 * width);
    if (argument < smallest) throw this.#fault("a head longer than needed", start);
    return { major, argument };
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
