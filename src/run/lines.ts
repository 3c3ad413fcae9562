import { concatBytes } from "../bytes.js";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
/** A source may yield a long line in many pieces. */
const MAX_PARTS = 1024;

/** Whether a line has only JSON white space, and is thus not an entry. */
export function isEmptyLine(line: Uint8Array): boolean {
  return line.every((byte) => byte === SPACE || byte === TAB || byte === CR);
}

export function withoutReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}

/**
 * Cuts chunks into lines, without line feeds. A line above the limit is truncated to one byte more than the limit,
 * which shows that it is too long.
 */
export class LineCutter {
  readonly #limit: number;
  #parts: Uint8Array[] = [];
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Yields the lines that end in this chunk, which may be views of it. */
  *cut(chunk: Uint8Array): Generator<Uint8Array> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.#hold(chunk.subarray(start, end));
      start = end + 1;
      yield this.#line();
    }
    this.#hold(chunk.subarray(start), (part) => new Uint8Array(part));
  }

  /** Whether the line that has not ended is above the limit. */
  get isOver(): boolean {
    return this.#held > this.#limit;
  }

  /** Returns the last line if no line feed ends it, otherwise null. */
  rest(): Uint8Array | null {
    return this.#held === 0 ? null : this.#line();
  }

  /** The end of a chunk is copied, because its source may reuse the chunk. */
  #hold(part: Uint8Array, own = (held: Uint8Array): Uint8Array => held): void {
    const room = this.#limit + 1 - this.#held;
    if (part.length === 0 || room <= 0) return;
    this.#parts.push(own(part.subarray(0, room)));
    this.#held += Math.min(part.length, room);
    if (this.#parts.length > MAX_PARTS) this.#parts = [concatBytes(...this.#parts)];
  }

  #line(): Uint8Array {
    const line = this.#parts.length === 1 ? this.#parts[0]! : concatBytes(...this.#parts);
    [this.#parts, this.#held] = [[], 0];
    return line;
  }
}

/** Yields the lines of a stream, and whether a line feed ends each. A line above the limit is truncated. */
export async function* linesOf(
  stream: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly isEnded: boolean }> {
  const cutter = new LineCutter(limit);
  for await (const piece of stream) {
    for (const bytes of cutter.cut(piece)) yield { bytes, isEnded: true };
    // A stream may never end, nor have a line feed.
    if (cutter.isOver) break;
  }
  const rest = cutter.rest();
  if (rest !== null) yield { bytes: rest, isEnded: rest.length > limit };
}
