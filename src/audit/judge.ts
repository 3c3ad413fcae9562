/** A judge in this process; and a batch judged entry by entry, wherever that is done. */
import { Auditor } from "./auditor.js";
import type { Batch, Judge, JudgedBatch } from "./batch.js";
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

/** Judges the entries of a batch, one after the other; `clock`: milliseconds since whenever. */
export async function judgeBatch(
  auditor: Pick<Auditor, "judge">,
  { index, first, entries }: Batch,
  clock: () => number = () => 0,
): Promise<JudgedBatch> {
  const results: AuditResult[] = [];
  let slowest = { n: first, milliseconds: -1 };
  for (const [at, entry] of entries.entries()) {
    const start = clock();
    results.push(await judgeEntry(auditor, first + at, entry));
    const milliseconds = clock() - start;
    if (milliseconds > slowest.milliseconds) slowest = { n: first + at, milliseconds };
  }
  return { index, results, ...(entries.length > 0 && { slowest }) };
}

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
    judge(batch) {
      const judged = before.then(() => judgeBatch(auditor, batch, clock));
      before = judged;
      return judged;
    },
    close: () => Promise.resolve(),
  };
}
