/** The bytes that exchanges have in memory at one time (proxy/README.md, "Bytes in transit"). */
import { BoundedBytes } from "../door/bounded-bytes.js";

/** Bytes that all exchanges share. An exchange waits until there is room. */
export class Pool {
  readonly #waitMs: number;
  readonly #waiting = new Set<Waiter>();
  /**
   * Bytes that only small shares may take, of at most an eighth of the reserve. They find room even if clients that do
   * not read their replies hold all other bytes.
   */
  readonly #reserve: number;
  #free: number;

  /** A waiter gives up after `waitMs` milliseconds in which no waiter got room. */
  constructor(bytes: number, waitMs: number) {
    this.#free = bytes;
    this.#reserve = bytes / 8;
    this.#waitMs = waitMs;
  }

  /** Takes bytes. Resolves to false if there was no room in time, or if `signal` aborts. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#takeNow(bytes)) return true;
    return new Promise((resolve) => {
      const end = (isTaken: boolean): void => {
        clearTimeout(waiter.timer);
        signal.removeEventListener("abort", giveUp);
        this.#waiting.delete(waiter);
        resolve(isTaken);
      };
      const giveUp = (): void => end(false);
      const waiter = { bytes, begin: () => end(true), timer: setTimeout(giveUp, this.#waitMs) };
      signal.addEventListener("abort", giveUp);
      this.#waiting.add(waiter);
    });
  }

  #takeNow(bytes: number): boolean {
    const isFree = bytes <= this.#free - (bytes > this.#reserve / 8 ? this.#reserve : 0);
    if (isFree) this.#free -= bytes;
    return isFree;
  }

  /**
   * Gives bytes back. The oldest waiter gets room first, but a small one may pass a large one that does not fit yet.
   */
  give(bytes: number): void {
    this.#free += bytes;
    const begun = [...this.#waiting].filter((waiter) => this.#takeNow(waiter.bytes));
    for (const waiter of begun) waiter.begin();
    if (begun.length > 0) for (const { timer } of this.#waiting) timer.refresh();
  }
}

interface Waiter {
  readonly bytes: number;
  readonly begin: () => void;
  readonly timer: NodeJS.Timeout;
}

/** Bytes of a pool that one exchange holds. */
export class Share {
  readonly #pool: Pool;
  #bytes = 0;
  #isEnded = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Takes bytes like {@link Pool.take}. Also resolves to false if the exchange has ended. */
  async take(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (!(await this.#pool.take(bytes, signal))) return false;
    this.#bytes += bytes;
    if (this.#isEnded) this.keep(0);
    return !this.#isEnded;
  }

  /** Returns all bytes of the share to the pool except `bytes`. */
  keep(bytes: number): void {
    const above = Math.max(0, this.#bytes - bytes);
    this.#bytes -= above;
    if (above > 0) this.#pool.give(above);
  }

  end(): void {
    this.#isEnded = true;
    this.keep(0);
  }
}

interface Reading {
  /** Length that the head declares; null if it declares none. */
  readonly length: number | null;
  readonly limit: number;
  /** Resolves to whether `bytes` more bytes may be held in memory. */
  readonly take: (bytes: number) => Promise<boolean>;
}

/**
 * Bytes that a body of unknown length takes at first. A longer body then takes its whole limit. A pool has room for
 * this many bytes from every connection at once.
 */
const SMALL_BYTES = 64 * 1024;

/** Reads a body. Takes room for its bytes before it reads them. */
export async function readWhole(
  pieces: AsyncIterable<Uint8Array>,
  { length, limit, take }: Reading,
): Promise<Uint8Array | "too-large" | "busy"> {
  if (length !== null && length > limit) return "too-large";
  let taken = length ?? Math.min(SMALL_BYTES, limit);
  if (!(await take(taken))) return "busy";
  const bytes = new BoundedBytes(limit, taken);
  let read = 0;
  for await (const piece of pieces) {
    read += piece.length;
    if (read > taken && taken < limit) {
      if (!(await take(limit - taken))) return "busy";
      taken = limit;
    }
    if (!bytes.add(piece)) return "too-large";
  }
  return bytes.bytes;
}

/**
 * Bytes for one parsed value. An empty object took 190 bytes when measured, and 300 with its share of garbage. A new
 * member name takes as much.
 */
const VALUE_BYTES = 300;
const MAX_VALUES = 350_000;

/** Returns an upper estimate of the memory that parsing JSON text takes for its values. */
export function valueBytes(json: Uint8Array): number {
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    // A value or a member name can follow each of `,`, `:`, `[` and `{`.
    if (byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) values++;
  }
  return VALUE_BYTES * Math.min(values, MAX_VALUES);
}
