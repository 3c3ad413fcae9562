/** Reader and writer of the part of Borsh that QOS manifests use (decode/README.md, "Borsh"). */
import { fromUtf8, toUtf8 } from "../bytes.js";
import type { Fault } from "../errors.js";

/**
 * Maximum number of items in all vectors together, since an item of four bytes takes hundreds in memory. The largest
 * permitted v3 has about 6,000 values (decode/README.md, "Manifest v3").
 */
export const MAX_ITEMS = 10_000;

/**
 * Decodes all bytes. Returns the value or the first fault. It does not throw, because the dispatch tries several
 * versions and a failure must be cheap.
 */
export function readBorsh<T>(
  bytes: Uint8Array,
  read: (reader: BorshReader) => T,
): { readonly value: T; readonly fault: null } | { readonly value: undefined; readonly fault: Fault } {
  try {
    const reader = new BorshReader(bytes);
    const value = read(reader);
    reader.end();
    return { value, fault: null };
  } catch (error) {
    if (error instanceof BorshFault) return { value: undefined, fault: { path: error.path, message: error.message } };
    throw error;
  }
}

/** The first fault. It is not an Error because a stack trace would take time. */
class BorshFault implements Fault {
  readonly path: string;
  readonly message: string;

  constructor(path: string, message: string) {
    this.path = path;
    this.message = message;
  }
}

/** A reader that checks each length against the remaining input before it allocates. */
export class BorshReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #items = 0;

  constructor(bytes: Uint8Array) {
    // Slices of a `Buffer` would be views, not copies.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(what: string): number {
    return this.#bytes[this.#pass(1, what)]!;
  }

  u16(what: string): number {
    return this.#view.getUint16(this.#pass(2, what), true);
  }

  u32(what: string): number {
    return this.#view.getUint32(this.#pass(4, what), true);
  }

  bool(what: string): boolean {
    return this.variant(2, what) === 1;
  }

  variant(count: number, what: string): number {
    const value = this.u8(what);
    if (value >= count) throw malformed(what, `variant ${value}, expected below ${count}`);
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
    const length = this.u32(what);
    const start = this.#pass(length, what);
    const text = length === 0 ? "" : fromUtf8(this.#bytes.subarray(start, this.#at));
    if (text === null) throw malformed(what, "not UTF-8");
    return text;
  }

  vector<T>(what: string, read: (what: string) => T): T[] {
    const count = this.u32(what);
    // Each item takes at least one byte, so a larger count cannot be true.
    if (count > this.#bytes.length - this.#at) throw malformed(what, `${count} items, more than the input holds`);
    this.#items += count;
    if (this.#items > MAX_ITEMS) throw malformed(what, `more than ${MAX_ITEMS} items in all`);
    const items: T[] = [];
    for (let index = 0; index < count; index++) items.push(read(`${what}[${index}]`));
    return items;
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw malformed("", `${left} bytes after the end`);
  }

  #take(length: number, what: string): Uint8Array {
    const start = this.#pass(length, what);
    return this.#bytes.slice(start, this.#at);
  }

  /** Skips bytes, and returns where they start. */
  #pass(length: number, what: string): number {
    if (length > this.#bytes.length - this.#at) throw malformed(what, "the input ends inside it");
    this.#at += length;
    return this.#at - length;
  }
}

/** A writer with one growing buffer, since a manifest can have as many items as bytes. */
export class BorshWriter {
  #bytes = new Uint8Array(4096);
  #length = 0;

  u8(value: number): void {
    const at = this.#room(1);
    this.#bytes[at] = value;
  }

  u16(value: number): void {
    this.u8(value & 0xff);
    this.u8(value >>> 8);
  }

  u32(value: number): void {
    this.u16(value & 0xffff);
    this.u16(value >>> 16);
  }

  bool(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  option<T>(value: T | null, write: (value: T) => void): void {
    this.bool(value !== null);
    if (value !== null) write(value);
  }

  fixed(value: Uint8Array): void {
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
  }

  bytes(value: Uint8Array): void {
    this.u32(value.length);
    this.fixed(value);
  }

  string(value: string): void {
    if (value === "") this.u32(0);
    else this.bytes(toUtf8(value));
  }

  vector<T>(values: readonly T[], write: (value: T) => void): void {
    this.u32(values.length);
    for (const value of values) write(value);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Reserves bytes, and returns where they start. */
  #room(length: number): number {
    const start = this.#length;
    this.#length += length;
    if (this.#length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#length));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    return start;
  }
}

function malformed(path: string, message: string): BorshFault {
  return new BorshFault(path, message);
}
