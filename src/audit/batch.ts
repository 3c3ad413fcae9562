import { plain, requireShape } from "../decode/options.js";
import { count, list, nullable, objectOf, optional, text } from "../decode/shapes.js";
import type { AuditResult } from "./result.js";

/** Consecutive entries, as plain data for threads and machines. */
export interface Batch {
  /** The number of this batch in its run, from 0. */
  readonly index: number;
  /** The number of the first entry in the batch. A judge numbers the results consecutively from it. */
  readonly first: number;
  /**
   * The number of each entry in the input, if the batch skips lines. It replaces the judge's number in the final
   * result.
   */
  readonly numbers?: readonly number[];
  /** Lines without line feeds, or files. An entry above the maximum size is truncated. */
  readonly entries: readonly Uint8Array[];
  /**
   * The caller's expectation of each entry: JSON of an `Expected`, never taken from the entry. Null means that nothing
   * is expected of the entry.
   */
  readonly expected?: readonly (string | null)[];
}

/**
 * Copies the entries, so that the caller can reuse its buffers. Throws TypeError if the number of entries differs from
 * the number of expectations, because an entry would be compared with the expectation of another entry.
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

/** Converts `n`, the judge's number of an entry, to the number of the entry in the input. */
export function numberOf({ first, numbers }: Pick<Batch, "first" | "numbers">, n: number): number {
  return numbers?.[n - first] ?? n;
}

/** Returns the entries of a batch between two indices, with their numbers and expectations. */
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
