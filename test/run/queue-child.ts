/** A worker process for `queue.test.ts`, which ends it in every way. */
import { type Judge, localJudge } from "../../src/run/judge.js";
import { runWorker } from "../../src/run/node-worker.js";
import type { AuditSetting } from "../../src/run/setting.js";

export interface ChildOptions {
  readonly url: string;
  readonly setting: AuditSetting;
  readonly lockMs: number;
  /** Waits that long with each batch, so that a kill finds it in the middle of one. */
  readonly slowMs: number;
}

async function slowly(setting: AuditSetting, slowMs: number): Promise<Judge> {
  const judge = await localJudge(setting);
  return {
    ...judge,
    async judge(batch) {
      process.send?.("judging");
      await new Promise((resolve) => setTimeout(resolve, slowMs));
      return judge.judge(batch);
    },
  };
}

const { url, setting, lockMs, slowMs } = JSON.parse(process.argv[2]!) as ChildOptions;
const judgeOf = (each: AuditSetting): Promise<Judge> => slowly(each, slowMs);
await runWorker(url, setting, { workers: 1, lockMs, judgeOf });
