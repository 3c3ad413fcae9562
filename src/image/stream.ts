/** A file's bytes as they come: each is seen once, and nothing is kept that nobody asked for. */

/** The bytes of a file in order, in pieces of any size. */
export type ByteStream = AsyncIterable<Uint8Array>;

export class StreamCursor {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #onProgress: ((bytes: number) => void) | undefined;
  #piece = new Uint8Array();
  #at = 0;
  #came = 0;
  #hasEnded = false;

  constructor(stream: ByteStream, onProgress?: (bytes: number) => void) {
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#onProgress = onProgress;
  }

  /** How many bytes were taken. */
  get position(): number {
    return this.#came - (this.#piece.length - this.#at);
  }

  /** Hands so many bytes on, in pieces that are good for the call alone. Answers how many there were. */
  async pass(length: number, use: (piece: Uint8Array) => void): Promise<number> {
    let passed = 0;
    while (passed < length && !(await this.atEnd())) {
      const piece = this.#piece.subarray(this.#at, this.#at + (length - passed));
      this.#at += piece.length;
      passed += piece.length;
      use(piece);
    }
    return passed;
  }

  /** A copy of the next bytes, fewer where the stream ends before. For lengths that are fixed and small. */
  async take(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let at = 0;
    const taken = await this.pass(length, (piece) => {
      bytes.set(piece, at);
      at += piece.length;
    });
    return bytes.subarray(0, taken);
  }

  async atEnd(): Promise<boolean> {
    while (this.#at === this.#piece.length && !this.#hasEnded) await this.#next();
    return this.#hasEnded;
  }

  /** Leaves the rest of the stream unread. */
  async close(): Promise<void> {
    if (!this.#hasEnded) await this.#iterator.return?.();
  }

  async #next(): Promise<void> {
    const { done, value } = await this.#iterator.next();
    if (done === true) {
      this.#hasEnded = true;
      return;
    }
    if (!(value instanceof Uint8Array)) throw new TypeError("stream: pieces of bytes (Uint8Array) wanted");
    this.#piece = value as Uint8Array<ArrayBuffer>;
    this.#at = 0;
    this.#came += value.length;
    this.#onProgress?.(this.#came);
  }
}
