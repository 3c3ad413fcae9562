import { ownMembers } from "../decode/input.js";
import type { AuditResult } from "./result.js";

/** Consecutive entries, as plain data for threads and machines. */
export interface Batch {
  /** Counts the batches of a run, from 0. */
  readonly index: number;
  /** The number of the first entry. The results of a judge count from it. */
  readonly first: number;
  /** The number of each entry in the input, where some are left out: results get these once they are judged. */
  readonly numbers?: readonly number[];
  /** Lines without line feeds, or files; cut off where longer than an entry may be. */
  readonly entries: readonly Uint8Array[];
  /** What each entry must be an answer to: JSON of an `Expected`, from the caller, never from the entry. Null: none. */
  readonly expected?: readonly (string | null)[];
}

/**
 * Copies the entries, so that the caller may reuse its buffers. Throws TypeError unless each has its expectation, or
 * there are none: shifted, they would be compared with other entries.
 */
export function ownBatch(batch: Batch): Batch {
  const own = ownMembers(batch, BATCH);
  const { entries, expected, numbers } = own;
  if (numbers !== undefined && numbers.length !== entries.length)
    throw new TypeError("batch.numbers: expected one for each entry");
  if (expected !== undefined && expected.length !== entries.length)
    throw new TypeError("batch.expected: expected one for each entry, or null");
  const copy = { entries: entries.map((entry) => new Uint8Array(entry)) };
  return Object.assign(own, copy, expected && { expected: [...expected] }, numbers && { numbers: [...numbers] });
}

const BATCH: Readonly<Record<keyof Batch, true>> = {
  index: true,
  first: true,
  numbers: true,
  entries: true,
  expected: true,
};

/** The number in the input of an entry to which a judge gave `n`. */
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

/** How far a thread is with an entry. */
export const MARK = { waiting: 0, begun: 1, done: 2 } as const;

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
