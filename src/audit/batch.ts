/** Entries on their way to whoever judges them, and what comes back. */
import type { AuditResult } from "./result.js";

/** Some entries of the input that follow one another. Plain data: it goes to other threads and machines. */
export interface Batch {
  /** 0 for the first of a run, and one more for each. */
  readonly index: number;
  /** The number of its first entry. */
  readonly first: number;
  /** A line of NDJSON without its line feed, or the bytes of a file; each as long as it came, or cut off. */
  readonly entries: readonly Uint8Array[];
}

/** A batch with copies of its entries: who hands it over may use its buffers again. */
export function ownBatch({ index, first, entries }: Batch): Batch {
  return { index, first, entries: entries.map((entry) => new Uint8Array(entry)) };
}

/** What became of a batch: a result for each entry, in their order. */
export interface JudgedBatch {
  readonly index: number;
  readonly results: readonly AuditResult[];
  /** The entry that took longest, for who waits; never a part of a result. */
  readonly slowest?: { readonly n: number; readonly milliseconds: number };
}

/** Judges batches: in this process, in threads, or on other machines. */
export interface Judge {
  /** In any order, several at once. Rejects only where nothing more can be judged: what entries do is a result. */
  judge(batch: Batch): Promise<JudgedBatch>;
  /** How many batches it can work on at once. */
  readonly concurrency: number;
  /** Lets go of everything; batches that are not judged by then never are. */
  close(): Promise<void>;
}
