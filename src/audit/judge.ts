import { attempt, faultText } from "../errors.js";
import { inTurns } from "../verify/in-turns.js";
import type { ProvenanceVerifier } from "../verify/provenance-demand.js";
import { Auditor } from "./auditor.js";
import { type Batch, type Judge, type JudgedBatch, ownBatch } from "./batch.js";
import { expectedOfText } from "./expected.js";
import { type AuditResult, malformedResult } from "./result.js";
import type { AuditSetting } from "./setting.js";

/**
 * Reason for an entry whose judging failed twice. It is the same for every judge, so that results do not depend on the
 * judge.
 */
export const UNJUDGED_REASON = "it could not be judged: judging it failed twice";

/** Reason for an entry that was stopped twice because it took too long. It does not name the limit, which may vary. */
export const TOO_SLOW_REASON = "it could not be judged: it twice took longer than one entry may take";

export function unjudgedResult(n: number): AuditResult {
  return malformedResult(n, UNJUDGED_REASON);
}

/**
 * Judges the entries of a batch, a few at once. Results are in the order of the entries. `clock` returns milliseconds.
 * The time of the slowest entry includes the time of entries that are judged meanwhile.
 */
export async function judgeBatch(
  auditor: Pick<Auditor, "judge">,
  batch: Batch,
  clock: () => number = () => 0,
): Promise<JudgedBatch> {
  return judgeOwnBatch(auditor, ownBatch(batch), clock);
}

/** Judges as {@link judgeBatch} does, without a copy: nothing may change the batch meanwhile. */
export async function judgeOwnBatch(
  auditor: Pick<Auditor, "judge">,
  { index, first, entries, expected }: Batch,
  clock: () => number,
): Promise<JudgedBatch> {
  let slowest = { n: first, milliseconds: -1 };
  const results = await inTurns(entries, AT_ONCE, async (entry, at) => {
    const start = clock();
    const result = await judgeEntry(auditor, first + at, entry, expected?.[at] ?? null);
    const milliseconds = clock() - start;
    const { n, milliseconds: most } = slowest;
    // Entries end in any order. Of equally slow entries, the first in the batch is reported.
    if (milliseconds > most || (milliseconds === most && first + at < n)) slowest = { n: first + at, milliseconds };
    return result;
  });
  return { index, results, ...(entries.length > 0 && { slowest }) };
}

export function joined(parts: readonly Omit<JudgedBatch, "index">[]): Omit<JudgedBatch, "index"> {
  const slowest = parts.flatMap((part) => part.slowest ?? []).sort((a, b) => b.milliseconds - a.milliseconds)[0];
  return { results: parts.flatMap(({ results }) => results), ...(slowest && { slowest }) };
}

/** Number of entries that are judged at once. It is small, because each entry's decoded data is in memory meanwhile. */
const AT_ONCE = 4;

async function judgeEntry(
  auditor: Pick<Auditor, "judge">,
  n: number,
  entry: Uint8Array,
  text: string | null,
): Promise<AuditResult> {
  const read = attempt(() => (text === null ? undefined : expectedOfText(text)));
  if (read.faults.length > 0) return malformedResult(n, `its expectation: ${faultText(read.faults)}`);
  for (let attempts = 0; attempts < 2; attempts++) {
    try {
      return await auditor.judge(n, entry, read.value);
    } catch {
      // An error is not a verdict, so the entry is judged once more. After a second error, it is reported as not
      // judged.
    }
  }
  return unjudgedResult(n);
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
      const judged = before.then(() => judgeOwnBatch(auditor, batch, clock));
      before = judged;
      return judged;
    },
    close: () => Promise.resolve(),
  };
}
