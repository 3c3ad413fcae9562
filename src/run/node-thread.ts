/** The module of a judging thread, which gets one batch at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { useOneThread } from "../verify/cryptography.js";
import { MARK, type PackedBatch, type ThreadAnswer, writeResults } from "./answered.js";
import type { Auditor } from "./auditor.js";
import { judgeOwnBatch } from "./judge.js";
import { nodeAuditor } from "./node-auditor.js";
import type { AuditSetting } from "./setting.js";

let auditor: Promise<Auditor> | undefined;

async function answerTo({ bytes, ends, marks, ...rest }: PackedBatch): Promise<ThreadAnswer> {
  marks[ends.length] = MARK.begun;
  const entries = ends.map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1]!, end));
  const onMark = (at: number, isDone: boolean): void => void (marks[at] = isDone ? MARK.done : MARK.begun);
  try {
    auditor ??= nodeAuditor(workerData as AuditSetting);
    const judged = await judgeOwnBatch(await auditor, { ...rest, entries }, () => performance.now(), onMark);
    return { ...judged, results: writeResults(judged.results) };
  } catch (error) {
    return { error };
  }
}

useOneThread();
parentPort!.on("message", async (batch: PackedBatch) => parentPort!.postMessage(await answerTo(batch)));
