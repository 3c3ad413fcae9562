/** A worker process for `node-queue.test.ts`, which ends it in every way. */
import { fromUtf8 } from "../../src/bytes.js";
import type { Batch, Judge } from "../../src/audit/batch.js";
import { localJudge } from "../../src/audit/judge.js";
import { runWorker } from "../../src/audit/node-worker.js";
import type { AuditSetting } from "../../src/audit/setting.js";

export interface ChildOptions {
  readonly url: string;
  readonly setting: AuditSetting;
  readonly lockMs: number;
  /** Waits that long with each batch, so that a kill finds it in the middle of one. */
  readonly slowMs: number;
}

/** Judges entries, except those that control the worker. */
async function fragile(setting: AuditSetting, slowMs: number): Promise<Judge> {
  const judge = await localJudge(setting);
  return {
    ...judge,
    async judge(batch: Batch) {
      const texts = batch.entries.map((entry) => fromUtf8(entry));
      if (texts.includes("poison: exit")) process.exit(9);
      if (texts.includes("poison: throw")) throw new Error("poison");
      process.send?.({ judging: batch.first });
      if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));
      return judge.judge(batch);
    },
  };
}

const { url, setting, lockMs, slowMs } = JSON.parse(process.argv[2]!) as ChildOptions;
process.on("SIGTERM", () => controller.abort());
const controller = new AbortController();
const onNote = (note: string): void => void process.send?.({ note });
const running = runWorker(url, setting, {
  workers: 1,
  lockMs,
  onNote,
  signal: controller.signal,
  judgeOf: (each) => fragile(each, slowMs),
});
await running.catch(() => process.exit(1));
process.disconnect();
