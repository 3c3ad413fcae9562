/** Reads a stream once, with at most one chunk buffered. */

/** The bytes of a file in chunks of any size, such as a Node read stream. */
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

  get position(): number {
    return this.#came - (this.#piece.length - this.#at);
  }

  /** Passes up to `length` bytes to `use`, in chunks that are valid until it is done. Returns their number. */
  async pass(length: number, use: (piece: Uint8Array) => void | Promise<void>): Promise<number> {
    let passed = 0;
    while (passed < length && !(await this.atEnd())) {
      const piece = this.#piece.subarray(this.#at, this.#at + (length - passed));
      this.#at += piece.length;
      passed += piece.length;
      await use(piece);
    }
    return passed;
  }

  /** Copies the next `length` bytes, or fewer at the end of the stream. Memory for `length` bytes is allocated. */
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

  async close(): Promise<void> {
    if (!this.#hasEnded) await this.#iterator.return?.();
  }

  async #next(): Promise<void> {
    const { done, value } = await this.#iterator.next();
    if (done === true) {
      this.#hasEnded = true;
      return;
    }
    if (!(value instanceof Uint8Array)) throw new TypeError("stream: expected chunks of bytes (Uint8Array)");
    this.#piece = value as Uint8Array<ArrayBuffer>;
    this.#at = 0;
    this.#came += value.length;
    this.#onProgress?.(this.#came);
  }
}
