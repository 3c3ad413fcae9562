/** Borsh, the part of it that QOS manifests use: u8, u16, u32, bool, option, fixed bytes, byte vectors, strings, vectors. */
import { fromUtf8, joinBytes, toUtf8 } from "../bytes.js";
import { MalformedError } from "../errors.js";

/** Reads values in order; every length is held against what is left before anything is allocated. */
export class BorshReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  u8(what: string): number {
    return this.#take(1, what)[0]!;
  }

  u16(what: string): number {
    const [low, high] = this.#take(2, what);
    return low! | (high! << 8);
  }

  u32(what: string): number {
    const [a, b, c, d] = this.#take(4, what);
    return (a! | (b! << 8) | (c! << 16) | (d! << 24)) >>> 0;
  }

  bool(what: string): boolean {
    return this.variant(2, what) === 1;
  }

  /** A variant's number, below `count`. */
  variant(count: number, what: string): number {
    const value = this.u8(what);
    if (value >= count) throw malformed(what, `variant ${value}, below ${count} wanted`);
    return value;
  }

  option<T>(what: string, read: () => T): T | null {
    return this.variant(2, what) === 1 ? read() : null;
  }

  fixed(length: number, what: string): Uint8Array {
    return this.#take(length, what);
  }

  bytes(what: string): Uint8Array {
    return this.#take(this.u32(what), what);
  }

  string(what: string): string {
    const text = fromUtf8(this.bytes(what));
    if (text === null) throw malformed(what, "not UTF-8");
    return text;
  }

  vector<T>(what: string, read: (what: string) => T): T[] {
    const count = this.u32(what);
    // Every item of a manifest takes at least a byte, so that a longer count cannot be true.
    if (count > this.#bytes.length - this.#at) throw malformed(what, `${count} items, more than the input holds`);
    return Array.from({ length: count }, (_, index) => read(`${what}[${index}]`));
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw malformed("", `${left} bytes after the end`);
  }

  #take(length: number, what: string): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw malformed(what, "the input ends inside it");
    this.#at += length;
    return this.#bytes.slice(this.#at - length, this.#at);
  }
}

/** Writes what {@link BorshReader} reads. */
export class BorshWriter {
  readonly #parts: Uint8Array[] = [];

  u8(value: number): void {
    this.#parts.push(Uint8Array.of(value));
  }

  u16(value: number): void {
    this.#parts.push(Uint8Array.of(value & 0xff, value >> 8));
  }

  u32(value: number): void {
    this.#parts.push(Uint8Array.of(value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >>> 24));
  }

  bool(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  option<T>(value: T | null, write: (value: T) => void): void {
    this.bool(value !== null);
    if (value !== null) write(value);
  }

  fixed(value: Uint8Array): void {
    this.#parts.push(value);
  }

  bytes(value: Uint8Array): void {
    this.u32(value.length);
    this.#parts.push(value);
  }

  string(value: string): void {
    this.bytes(toUtf8(value));
  }

  vector<T>(values: readonly T[], write: (value: T) => void): void {
    this.u32(values.length);
    for (const value of values) write(value);
  }

  finish(): Uint8Array {
    return joinBytes(this.#parts);
  }
}

function malformed(path: string, message: string): MalformedError {
  return new MalformedError("manifest", [{ path, message }]);
}
