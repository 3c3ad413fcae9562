/** Reads batches ahead of the judge, and yields them in their order once they are judged. */
import type { Batch, Judge, JudgedBatch } from "./judge.js";

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
  readonly #make: () => Promise<Judge>;
  #judge: Promise<Judge> | null = null;
  #concurrency = 1;
  readonly #inFlight: InFlight<B>[] = [];
  #bytes = 0;
  #reading: Promise<IteratorResult<B>> | null = null;
  #hasEnded = false;

  /** `make` is called with the first batch: without new entries, no thread is started and no queue is joined. */
  constructor(source: AsyncIterator<B>, make: () => Promise<Judge>) {
    [this.#source, this.#make] = [source, make];
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
    return isEmpty || (this.#inFlight.length < BATCHES_EACH * this.#concurrency && this.#bytes < MAX_BYTES);
  }

  async #take(): Promise<void> {
    const { done, value: batch } = await this.#reading!;
    this.#reading = null;
    if (done === true) {
      this.#hasEnded = true;
      return;
    }
    const bytes = batch.entries.reduce((sum, entry) => sum + entry.length, 0);
    const judged = batch.entries.length === 0 ? Promise.resolve({ results: [] }) : this.#judged(batch);
    // The promise may reject before it is awaited.
    judged.catch(() => {});
    this.#inFlight.push({ batch, bytes, judged });
    this.#bytes += bytes;
  }

  async #judged(batch: B): Promise<JudgedBatch> {
    const judge = await (this.#judge ??= this.#make());
    this.#concurrency = judge.concurrency;
    return judge.judge(batch);
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

  /** Closes the judge, and ends the source without waiting for it, because it may never answer. */
  async close(): Promise<void> {
    this.#reading?.catch(() => {});
    this.#source.return?.().catch(() => {});
    await (await this.#judge?.catch(() => null))?.close();
  }
}

const isRead = (): "read" => "read";
const isJudged = (): "judged" => "judged";
