/** Batches by a queue, on a real server: the same bytes as in one process, whatever ends, restarts or lies. */
import { afterEach, describe, expect, it } from "vitest";
import { localJudge } from "../../src/audit/judge.js";
import { queueJudge } from "../../src/audit/node-queue.js";
import { type RunWorkerOptions, type WorkerSummary, runWorker } from "../../src/audit/node-worker.js";
import type { AuditSetting } from "../../src/audit/setting.js";
import { NO_REDIS, WITHOUT_REDIS, redisServer } from "../support/redis.js";
import { entriesOf, linesBy, linesHere, settingOf } from "./queue-support.js";

if (NO_REDIS) console.warn(WITHOUT_REDIS);

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function server(...args: Parameters<typeof redisServer>): ReturnType<typeof redisServer> {
  const redis = await redisServer(...args);
  closers.push(() => redis.close());
  return redis;
}

/** A worker in this process, ended with the test. */
function worker(
  url: string,
  setting: AuditSetting,
  options: RunWorkerOptions = {},
): { notes: string[]; end: () => Promise<WorkerSummary> } {
  const controller = new AbortController();
  const notes: string[] = [];
  const onNote = (text: string): void => void notes.push(text);
  const running = runWorker(url, setting, { judgeOf: (each) => localJudge(each), onNote, workers: 1, signal: controller.signal, ...options });
  running.catch(() => {});
  const end = (): Promise<WorkerSummary> => {
    controller.abort();
    return running;
  };
  closers.push(() => end().catch(() => {}));
  return { notes, end };
}

describe.skipIf(NO_REDIS)("a queue", () => {
  it("gives the bytes that one process gives", async () => {
    const redis = await server();
    const setting = settingOf();
    const entries = entriesOf(500);
    const one = worker(redis.url, setting);
    const other = worker(redis.url, setting);
    const judge = await queueJudge(redis.url, setting);
    expect(await linesBy(judge, entries)).toBe(await linesHere(setting, entries));
    const [a, b] = [await one.end(), await other.end()];
    expect(a.entries + b.entries).toBe(500);
    expect(Math.min(a.entries, b.entries)).toBeGreaterThan(0);
    console.log(a,b, one.notes, await redis.client.keys("*"));
  });
});
