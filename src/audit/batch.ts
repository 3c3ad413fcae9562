import type { AuditResult } from "./result.js";

/** Consecutive entries, as plain data for threads and machines. */
export interface Batch {
  /** Counts the batches of a run, from 0. */
  readonly index: number;
  readonly first: number;
  /** Lines without line feeds, or files; cut off where longer than an entry may be. */
  readonly entries: readonly Uint8Array[];
}

/** Copies the entries, so that the caller may reuse its buffers. */
export function ownBatch({ index, first, entries }: Batch): Batch {
  return { index, first, entries: entries.map((entry) => new Uint8Array(entry)) };
}

/** One result for each entry, in their order. */
export interface JudgedBatch {
  readonly index: number;
  readonly results: readonly AuditResult[];
  /** For progress messages; never part of a result. */
  readonly slowest?: { readonly n: number; readonly milliseconds: number };
}

/** Judges batches: in this process, in threads, or on other machines. */
export interface Judge {
  /**
   * Judges several at once, in any order. Faults of entries are results: it rejects only where nothing more can be
   * judged.
   */
  judge(batch: Batch): Promise<JudgedBatch>;
  readonly concurrency: number;
  /** Frees everything; batches not judged by then are lost. */
  close(): Promise<void>;
}
