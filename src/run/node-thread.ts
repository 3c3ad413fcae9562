/** The module of a judging thread; the pool calls it with one batch at a time. */
import { workerData } from "node:worker_threads";
import { useOneThread } from "../verify/cryptography.js";
import { type WrittenResults, writeResults } from "./answered.js";
import type { Auditor } from "./auditor.js";
import { type JudgedBatch, judgeBatch } from "./judge.js";
import { nodeAuditor } from "./node-auditor.js";
import type { AuditSetting } from "./setting.js";

/** The states of an entry in a thread. */
export const MARK = { waiting: 0, begun: 1, done: 2 } as const;

/** A batch with its entries in one buffer, which is transferred to the thread and not copied. */
export interface PackedBatch {
  readonly bytes: Uint8Array;
  readonly ends: readonly number[];
  readonly expected?: readonly (string | null)[];
  /** Shared memory with the {@link MARK} of each entry and, at the end, the mark of the thread. */
  readonly marks: Uint8Array;
}

/**
 * Results in short form: copying each to the main thread took as long as parsing an entry. A module of the caller
 * (`ThreadOptions.module`) may return plain results.
 */
export type PackedResults = Omit<JudgedBatch, "results"> & {
  readonly results: WrittenResults | JudgedBatch["results"];
};

let auditor: Promise<Auditor> | undefined;

/** Returns the auditor. It is made with the first batch, because only threads of a pool have a setting. */
function auditorOfThread(): Promise<Auditor> {
  // The first item belongs to the pool.
  const [, setting] = workerData as readonly [unknown, AuditSetting];
  if (auditor === undefined) {
    useOneThread();
    auditor = nodeAuditor(setting);
  }
  return auditor;
}

export default async function judgeInThread({ bytes, ends, marks, ...rest }: PackedBatch): Promise<PackedResults> {
  const entries = ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1]!, end));
  const own = await auditorOfThread();
  marks[entries.length] = MARK.begun;
  const onMark = (at: number, isDone: boolean): void => void (marks[at] = isDone ? MARK.done : MARK.begun);
  const judged = await judgeBatch(own, { ...rest, entries }, () => performance.now(), onMark);
  return { ...judged, results: writeResults(judged.results) };
}
