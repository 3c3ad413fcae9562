/** What runs in a thread that judges: a module of its own, which the pool calls with one batch after the other. */
import { workerData } from "node:worker_threads";
import { Auditor } from "./auditor.js";
import type { JudgedBatch } from "./batch.js";
import { judgeBatch } from "./judge.js";
import type { AuditSetting } from "./setting.js";

/** A batch as it goes to a thread: all entries in one buffer, which is handed over and not copied. */
export interface PackedBatch {
  readonly index: number;
  readonly first: number;
  readonly bytes: Uint8Array;
  /** Where each entry ends. */
  readonly ends: readonly number[];
}

let auditor: Promise<Auditor> | undefined;

/** Made with the first batch: whoever imports this module outside of a pool has no setting. */
function auditorOfThread(): Promise<Auditor> {
  // The pool keeps the first for itself.
  const [, setting] = workerData as readonly [unknown, AuditSetting];
  auditor ??= Auditor.of(setting);
  return auditor;
}

/** What the pool calls. */
export default async function judgeInThread({ index, first, bytes, ends }: PackedBatch): Promise<JudgedBatch> {
  const entries = ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1]!, end));
  return judgeBatch(await auditorOfThread(), { index, first, entries }, () => performance.now());
}
