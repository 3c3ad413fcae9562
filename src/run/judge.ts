/** Judges batches of entries, in this process, in threads, or on other machines. */
import { withoutPrototype } from "../decode/input.js";
import { plain, requireShape } from "../decode/options.js";
import { list, nullable, objectOf, optional, text } from "../decode/shapes.js";
import { attempt, faultText } from "../errors.js";
import { inTurns } from "../verify/in-turns.js";
import type { ProvenanceVerifier } from "../verify/provenance-demand.js";
import { Auditor } from "./auditor.js";
import { expectedOfText } from "./expected.js";
import { type EntryResult, malformedResult } from "./result.js";
import type { AuditSetting } from "./setting.js";

/** Entries as plain data, for threads and other machines. */
export interface Batch {
  /** Lines without line feeds, or files. An entry above the maximum size is truncated. */
  readonly entries: readonly Uint8Array[];
  /**
   * The caller's expectation of each entry: JSON of an `Expected`, never taken from the entry. Null means that nothing
   * is expected of the entry.
   */
  readonly expected?: readonly (string | null)[];
}

export interface JudgedBatch {
  /** One result for each entry, in their order. */
  readonly results: readonly EntryResult[];
  /** The entry that took longest, by its index. It is for progress messages, and never part of a result. */
  readonly slowest?: { readonly at: number; readonly milliseconds: number };
}

export interface Judge {
  /**
   * Judges a batch. Several batches may be judged at once, and end in any order. Faults of entries are results. Rejects
   * only if no more batches can be judged.
   */
  judge(batch: Batch): Promise<JudgedBatch>;
  /** The number of batches that are judged at once. */
  readonly concurrency: number;
  /** Frees all resources. Batches that are not judged yet are lost. */
  close(): Promise<void>;
}

const BATCH = /* @__PURE__ */ objectOf<Batch>(
  { entries: list(plain), expected: optional(list(nullable(text))) },
  { unknown: "ignore" },
);

/**
 * Copies the lists, so that the caller can change its own. Throws TypeError if the number of entries differs from the
 * number of expectations, because an entry would be compared with the expectation of another entry.
 */
export function ownBatch(batch: Batch): Batch {
  const own = withoutPrototype(requireShape("batch", batch, BATCH));
  if (own.expected !== undefined && own.expected.length !== own.entries.length)
    throw new TypeError("batch.expected: expected an expectation or null for each entry");
  return own;
}

/** Returns the entries of a batch between two indices, with their expectations. */
export function partOf({ entries, expected }: Batch, from: number, to: number): Batch {
  return { entries: entries.slice(from, to), ...(expected && { expected: expected.slice(from, to) }) };
}

/** Joins the results of consecutive parts of a batch. */
export function joined(parts: readonly JudgedBatch[]): JudgedBatch {
  let before = 0;
  let slowest: JudgedBatch["slowest"];
  for (const part of parts) {
    if (part.slowest !== undefined && part.slowest.milliseconds > (slowest?.milliseconds ?? -1))
      slowest = { at: before + part.slowest.at, milliseconds: part.slowest.milliseconds };
    before += part.results.length;
  }
  return { results: parts.flatMap(({ results }) => results), ...(slowest && { slowest }) };
}

/**
 * The result of an entry whose judging failed twice. It is no verdict about the entry, and the same for every judge, so
 * that results do not depend on the judge.
 */
export const UNJUDGED: EntryResult = {
  verdict: "unjudged",
  failed: [],
  warnings: [],
  reason: "judging it failed twice",
};

/** The result of an entry that twice took too long. It does not name the limit, which may vary. */
export const TOO_SLOW: EntryResult = { ...UNJUDGED, reason: "it twice took longer than one entry may take" };

/** Number of entries that are judged at once. It is small, because each entry's decoded data is in memory meanwhile. */
const AT_ONCE = 4;

/**
 * Judges the entries of a batch, a few at once. `clock` returns milliseconds. The time of the slowest entry includes
 * the time of entries that are judged meanwhile. `onMark` is called when an entry begins, and when it is done.
 */
export async function judgeBatch(
  auditor: Pick<Auditor, "judge">,
  batch: Batch,
  clock: () => number = () => 0,
  onMark: (at: number, isDone: boolean) => void = () => {},
): Promise<JudgedBatch> {
  return judgeOwnBatch(auditor, ownBatch(batch), clock, onMark);
}

/** Judges a batch that nobody else can change. */
export async function judgeOwnBatch(
  auditor: Pick<Auditor, "judge">,
  { entries, expected }: Batch,
  clock: () => number,
  onMark: (at: number, isDone: boolean) => void,
): Promise<JudgedBatch> {
  let slowest = { at: 0, milliseconds: -1 };
  const results = await inTurns(entries, AT_ONCE, async (entry, at) => {
    const start = clock();
    onMark(at, false);
    const result = await judgeEntry(auditor, entry, expected?.[at] ?? null).finally(() => onMark(at, true));
    const milliseconds = clock() - start;
    if (milliseconds > slowest.milliseconds) slowest = { at, milliseconds };
    return result;
  });
  return { results, ...(entries.length > 0 && { slowest }) };
}

async function judgeEntry(
  auditor: Pick<Auditor, "judge">,
  entry: Uint8Array,
  text: string | null,
): Promise<EntryResult> {
  const read = attempt(() => (text === null ? undefined : expectedOfText(text)));
  if (read.faults.length > 0) return malformedResult(`its expectation: ${faultText(read.faults)}`);
  for (let attempts = 0; attempts < 2; attempts++) {
    try {
      return await auditor.judge(entry, read.value);
    } catch {
      // An error is not a verdict, so the entry is judged once more, and then reported as not judged.
    }
  }
  return UNJUDGED;
}

/** Makes a judge in this process. Throws as `Auditor.of` does. `clock` returns milliseconds. */
export async function localJudge(
  setting: AuditSetting,
  clock: () => number = () => 0,
  provenanceVerifier?: ProvenanceVerifier,
): Promise<Judge> {
  const auditor = await Auditor.of(setting, provenanceVerifier);
  let before: Promise<unknown> = Promise.resolve();
  return {
    concurrency: 1,
    judge(given) {
      const batch = ownBatch(given);
      const judged = before.then(() => judgeOwnBatch(auditor, batch, clock, () => {}));
      before = judged;
      return judged;
    },
    close: () => Promise.resolve(),
  };
}
