/** Bytes that come in pieces from somebody else, who decides how many and how small they are. */

const FIRST_BUFFER = 65_536;

/** In one buffer that grows: an object for each piece is many times the size of small ones. */
export class BoundedBytes {
  readonly #limit: number;
  #buffer: Uint8Array;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#buffer = new Uint8Array(Math.min(FIRST_BUFFER, limit));
  }

  /** Those that came so far. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Takes a copy of the piece. False: it does not fit under the limit, and nothing was taken. */
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
