import { plain, requireShape } from "../decode/options.js";
import { count, list, nullable, objectOf, optional, text } from "../decode/shapes.js";
import type { AuditResult } from "./result.js";

/** Consecutive entries, as plain data for threads and machines. */
export interface Batch {
  /** The number of this batch in its run, from 0. */
  readonly index: number;
  /** The number of the first entry in the batch. A judge numbers the results from it. */
  readonly first: number;
  /** The number of each entry in the input, if the batch leaves some out. The results get these numbers in the end. */
  readonly numbers?: readonly number[];
  /** Lines without line feeds, or files. An entry above the maximum size is truncated. */
  readonly entries: readonly Uint8Array[];
  /**
   * What each entry must answer: JSON of an `Expected` from the caller, never from the entry. Null means that nothing
   * is expected of the entry.
   */
  readonly expected?: readonly (string | null)[];
}

/**
 * Copies the entries, so that the caller can reuse its buffers. Throws TypeError unless there is one expectation for
 * each entry, because entries would be compared with the expectations of other entries.
 */
export function ownBatch(batch: Batch): Batch {
  const own = requireShape("batch", batch, BATCH);
  const { entries, expected, numbers } = own;
  if (numbers !== undefined && numbers.length !== entries.length)
    throw new TypeError("batch.numbers: expected a number for each entry");
  if (expected !== undefined && expected.length !== entries.length)
    throw new TypeError("batch.expected: expected an expectation or null for each entry");
  return own;
}

const BATCH = /* @__PURE__ */ objectOf<Batch>(
  {
    index: count,
    first: count,
    numbers: optional(list(count)),
    entries: list(plain),
    expected: optional(list(nullable(text))),
  },
  { unknown: "ignore" },
);

/** Returns the number in the input of the entry that a judge numbered `n`. */
export function numberOf({ first, numbers }: Pick<Batch, "first" | "numbers">, n: number): number {
  return numbers?.[n - first] ?? n;
}

/** Some entries of a batch, with their numbers and expectations. */
export function partOf(
  { first, numbers, entries, expected }: Omit<Batch, "index">,
  from: number,
  to: number,
): Omit<Batch, "index"> {
  return {
    first: first + from,
    ...(numbers && { numbers: numbers.slice(from, to) }),
    entries: entries.slice(from, to),
    ...(expected && { expected: expected.slice(from, to) }),
  };
}

/** The states of an entry in a thread. */
export const MARK = { waiting: 0, begun: 1, done: 2 } as const;

/** One result for each entry, in their order. */
export interface JudgedBatch {
  readonly index: number;
  readonly results: readonly AuditResult[];
  /** The entry that took longest. It is for progress messages, and never part of a result. */
  readonly slowest?: { readonly n: number; readonly milliseconds: number };
}

/** Judges batches, in this process, in threads, or on other machines. */
export interface Judge {
  /**
   * Judges a batch. Several batches may be judged at once, and end in any order. Faults of entries are results. Rejects
   * only if no more batches can be judged.
   */
  judge(batch: Batch): Promise<JudgedBatch>;
  readonly concurrency: number;
  /** Frees all resources. Batches that are not judged yet are lost. */
  close(): Promise<void>;
}
