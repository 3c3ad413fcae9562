/** Reads batches ahead of the judge, and yields them in their order once they are judged. */
import type { Batch, Judge, JudgedBatch } from "./judge.js";

/** The members of an `AbortSignal` that are used. Not every platform declares the type. */
export interface RunSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Resolves with work or with the abort signal, whichever is first. Unlike `Promise.race`, it retains no results. */
export class Abortion {
  readonly #signal: RunSignal | undefined;
  #wake: () => void = () => {};
  readonly #listener = (): void => this.#wake();

  constructor(signal: RunSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#listener);
  }

  or<T>(work: Promise<T>): Promise<T | "aborted"> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve("aborted");
      if (this.#signal?.aborted === true) resolve("aborted");
      work.then(resolve, reject);
    });
  }

  forget(): void {
    this.#signal?.removeEventListener("abort", this.#listener);
  }
}

/** Number of batches for each thread: one is judged while the next one waits. */
const BATCHES_EACH = 2;
/** Maximum bytes of pending entries. A single batch may exceed it. */
const MAX_BYTES = 64 * 1024 * 1024;

interface InFlight<B> {
  readonly batch: B;
  readonly bytes: number;
  readonly judged: Promise<JudgedBatch>;
}

/** Reads ahead as far as there is room. A batch without entries is not judged. */
export class Pipeline<B extends Batch> {
  readonly #source: AsyncIterator<B>;
  readonly #judge: Judge;
  readonly #inFlight: InFlight<B>[] = [];
  #bytes = 0;
  #reading: Promise<IteratorResult<B>> | null = null;
  #hasEnded = false;

  constructor(source: AsyncIterator<B>, judge: Judge) {
    [this.#source, this.#judge] = [source, judge];
  }

  /** Returns the next batch in the order of the source; null at its end. */
  async next(): Promise<{ readonly batch: B; readonly judged: JudgedBatch } | null> {
    for (;;) {
      if (this.#hasRoom) this.#reading ??= this.#source.next();
      const [head] = this.#inFlight;
      if (head === undefined && this.#reading === null) return null;
      // The reader and the first batch race: neither a slow source nor a slow entry may delay the other.
      const waits = [this.#reading?.then(isRead), head?.judged.then(isJudged)];
      if ((await Promise.race(waits.filter((each) => each !== undefined))) === "read") await this.#take();
      else return { batch: head!.batch, judged: await this.#remove(head!) };
    }
  }

  get #hasRoom(): boolean {
    if (this.#hasEnded) return false;
    const isEmpty = this.#inFlight.length === 0;
    return isEmpty || (this.#inFlight.length < BATCHES_EACH * this.#judge.concurrency && this.#bytes < MAX_BYTES);
  }

  async #take(): Promise<void> {
    const { done, value: batch } = await this.#reading!;
    this.#reading = null;
    if (done === true) {
      this.#hasEnded = true;
      return;
    }
    const bytes = batch.entries.reduce((sum, entry) => sum + entry.length, 0);
    const judged = batch.entries.length === 0 ? Promise.resolve({ results: [] }) : this.#judge.judge(batch);
    // The promise may reject before it is awaited.
    judged.catch(() => {});
    this.#inFlight.push({ batch, bytes, judged });
    this.#bytes += bytes;
  }

  async #remove({ batch, bytes, judged }: InFlight<B>): Promise<JudgedBatch> {
    this.#inFlight.shift();
    this.#bytes -= bytes;
    const found = await judged;
    // If some were lost, an unjudged entry could pass.
    if (found.results.length !== batch.entries.length)
      throw new Error(`${found.results.length} results of ${batch.entries.length} entries`);
    return found;
  }

  /** Ends the source without waiting for it, because it may never answer. */
  leave(): void {
    this.#reading?.catch(() => {});
    this.#source.return?.().catch(() => {});
  }
}

const isRead = (): "read" => "read";
const isJudged = (): "judged" => "judged";
