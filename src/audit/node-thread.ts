/** The module of a judging thread; the pool calls it with one batch at a time. */
import { workerData } from "node:worker_threads";
import type { Auditor } from "./auditor.js";
import type { JudgedBatch } from "./batch.js";
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
}

let auditor: Promise<Auditor> | undefined;

/** Made with the first batch: outside of a pool there is no setting. */
function auditorOfThread(): Promise<Auditor> {
  // The pool uses the first item.
  const [, setting] = workerData as readonly [unknown, AuditSetting];
  auditor ??= nodeAuditor(setting);
  return auditor;
}

export default async function judgeInThread({ bytes, ends, ...batch }: PackedBatch): Promise<JudgedBatch> {
  const entries = ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1]!, end));
  return judgeBatch(await auditorOfThread(), { ...batch, entries }, () => performance.now());
}
