/** A buffer for bytes from an untrusted sender, who chooses the number and size of the chunks. */
import type { HttpRequest, HttpResponse } from "./platform.js";

const FIRST_BUFFER = 65_536;

/**
 * A growing buffer with a limit. It copies all chunks into one array: an object for each small chunk would take many
 * times its size.
 */
export class BoundedBytes {
  readonly #limit: number;
  #buffer: Uint8Array;
  #length = 0;

  /** `limit` and `first`, the size that is reserved from the start, are in bytes. */
  constructor(limit: number, first = FIRST_BUFFER) {
    this.#limit = limit;
    this.#buffer = new Uint8Array(Math.min(first, limit));
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Adds a copy of the chunk. Returns false, and adds nothing, if the limit would be exceeded. */
  add(piece: Uint8Array): boolean {
    const length = this.#length + piece.length;
    if (length > this.#limit) return false;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(this.#limit, Math.max(2 * this.#buffer.length, length)));
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
    return true;
  }
}

/** Reads the decompressed body. Null if it exceeds the limit; the rest is then not read. */
export async function readBounded(message: HttpRequest | HttpResponse, limit: number): Promise<Uint8Array | null> {
  if (message.body === null) return new Uint8Array();
  const reader = message.body.getReader();
  const read = new BoundedBytes(limit);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return read.bytes;
    if (read.add(value)) continue;
    await reader.cancel().catch(() => {});
    return null;
  }
}
