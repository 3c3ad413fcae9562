/** A judge in this process; and a batch judged entry by entry, wherever that is done. */
import { inTurns } from "../verify/in-turns.js";
import { Auditor } from "./auditor.js";
import { type Batch, type Judge, type JudgedBatch, ownBatch } from "./batch.js";
import { type AuditResult, malformedResult } from "./result.js";
import type { AuditSetting } from "./setting.js";

/**
 * The reason of an entry that ends whatever judges it, twice: the same in this process, in threads and on other
 * machines, so that results are.
 */
export const UNJUDGED_REASON = "it could not be judged: twice, what judged it failed";

/** The result of such an entry. */
export function unjudgedResult(n: number): AuditResult {
  return malformedResult(n, UNJUDGED_REASON);
}

/**
 * Judges the entries of a batch, a few at once, with results in their order; `clock`: milliseconds since whenever. The
 * slowest entry is the one that took longest from its start to its end, in which others were judged, too.
 */
export async function judgeBatch(
  auditor: Pick<Auditor, "judge">,
  batch: Batch,
  clock: () => number = () => 0,
): Promise<JudgedBatch> {
  const { index, first, entries } = ownBatch(batch);
  let slowest = { n: first, milliseconds: -1 };
  const results = await inTurns(entries, AT_ONCE, async (entry, at) => {
    const start = clock();
    const result = await judgeEntry(auditor, first + at, entry);
    const milliseconds = clock() - start;
    const { n, milliseconds: most } = slowest;
    // Of two the same, the one that stands first: they end in any order.
    if (milliseconds > most || (milliseconds === most && first + at < n)) slowest = { n: first + at, milliseconds };
    return result;
  });
  return { index, results, ...(entries.length > 0 && { slowest }) };
}

/** Parts of a batch that were judged apart, in their order, as one. */
export function joined(parts: readonly Omit<JudgedBatch, "index">[]): Omit<JudgedBatch, "index"> {
  const slowest = parts.flatMap((part) => part.slowest ?? []).sort((a, b) => b.milliseconds - a.milliseconds)[0];
  return { results: parts.flatMap(({ results }) => results), ...(slowest && { slowest }) };
}

/** What each of them decodes is held until it is judged, so that there are few. */
const AT_ONCE = 4;

async function judgeEntry(auditor: Pick<Auditor, "judge">, n: number, entry: Uint8Array): Promise<AuditResult> {
  for (let attempts = 0; attempts < 2; attempts++) {
    try {
      return await auditor.judge(n, entry);
    } catch {
      // No error is a verdict: once more, and then it is said.
    }
  }
  return unjudgedResult(n);
}

/** Judges here, one batch at a time: for where there are no threads. Throws as `Auditor.of` does. */
export async function localJudge(setting: AuditSetting, clock?: () => number): Promise<Judge> {
  const auditor = await Auditor.of(setting);
  let before: Promise<unknown> = Promise.resolve();
  return {
    concurrency: 1,
    judge(given) {
      const batch = ownBatch(given);
      const judged = before.then(() => judgeBatch(auditor, batch, clock));
      before = judged;
      return judged;
    },
    close: () => Promise.resolve(),
  };
}
