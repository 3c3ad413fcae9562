/** The module of a judging thread; the pool calls it with one batch at a time. */
import { workerData } from "node:worker_threads";
import type { Auditor } from "./auditor.js";
import { type JudgedBatch, MARK } from "./batch.js";
import { useOneThread } from "../verify/cryptography.js";
import { judgeBatch } from "./judge.js";
import { nodeAuditor } from "./node-auditor.js";
import type { AuditSetting } from "./setting.js";

/** All entries in one buffer, which is transferred and not copied. */
export interface PackedBatch {
  readonly index: number;
  readonly first: number;
  readonly bytes: Uint8Array;
  readonly ends: readonly number[];
  readonly expected?: readonly (string | null)[];
  /** Shared memory: the {@link MARK} of each entry and, last, that of the thread. */
  readonly marks: Uint8Array;
}

let auditor: Promise<Auditor> | undefined;

/** Made with the first batch: outside of a pool there is no setting. */
function auditorOfThread(): Promise<Auditor> {
  // The pool uses the first item.
  const [, setting] = workerData as readonly [unknown, AuditSetting];
  if (auditor === undefined) {
    useOneThread();
    auditor = nodeAuditor(setting);
  }
  return auditor;
}

export default async function judgeInThread({ bytes, ends, marks, ...batch }: PackedBatch): Promise<JudgedBatch> {
  const entries = ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1]!, end));
  const own = await auditorOfThread();
  marks[entries.length] = MARK.begun;
  const judge: Auditor["judge"] = async (n, ...entry) => {
    marks[n - batch.first] = MARK.begun;
    try {
      return await own.judge(n, ...entry);
    } finally {
      marks[n - batch.first] = MARK.done;
    }
  };
  return judgeBatch({ judge }, { ...batch, entries }, () => performance.now());
}
