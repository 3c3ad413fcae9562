import { concatBytes } from "../bytes.js";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;

/** Whether a line has only JSON white space, and is thus not an entry. */
export function isEmptyLine(line: Uint8Array): boolean {
  return line.every((byte) => byte === SPACE || byte === TAB || byte === CR);
}

/**
 * Cuts chunks into lines, without line feeds and the carriage returns before them. A line above the limit is truncated
 * to one byte more than the limit, which shows that it is too long.
 */
export class LineCutter {
  readonly #limit: number;
  #parts: Uint8Array[] = [];
  #held = 0;
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Yields the lines that end in this chunk, each with the offset after its line feed. The lines may be views of the
   * chunk.
   */
  *cut(chunk: Uint8Array): Generator<{ readonly line: Uint8Array; readonly end: number }> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#hold(chunk.subarray(start, end));
      start = end + 1;
      yield { line: this.#line(), end: start };
    }
    this.#hold(chunk.subarray(start));
  }

  /** Returns the last line if no line feed ends it, otherwise null. */
  rest(): Uint8Array | null {
    return this.#length === 0 ? null : this.#line();
  }

  #hold(part: Uint8Array): void {
    this.#length += part.length;
    // Room for two bytes above the limit: one that shows that the line is too long, and a carriage return, which is
    // removed.
    const room = this.#limit + 2 - this.#held;
    if (part.length === 0 || room <= 0) return;
    this.#parts.push(part.subarray(0, room));
    this.#held += Math.min(part.length, room);
  }

  #line(): Uint8Array {
    const whole = this.#parts.length === 1 ? this.#parts[0]! : concatBytes(...this.#parts);
    const isWhole = this.#length === this.#held;
    this.#parts = [];
    [this.#held, this.#length] = [0, 0];
    const line = isWhole && whole.at(-1) === CR ? whole.subarray(0, -1) : whole;
    return line.subarray(0, this.#limit + 1);
  }
}
