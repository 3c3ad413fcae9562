/** Batches by a queue, on a real server: the same bytes as in one process, whatever ends, restarts or lies. */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type TestContext, afterAll, beforeAll, describe, it, vi } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import type { Judge } from "../../src/audit/batch.js";
import { UNJUDGED_REASON, localJudge, unjudgedResult } from "../../src/audit/judge.js";
import { type QueueJudgeOptions, queueJudge } from "../../src/audit/node-queue.js";
import { type RunWorkerOptions, type WorkerSummary, runWorker } from "../../src/audit/node-worker.js";
import type { AuditSetting } from "../../src/audit/setting.js";
import { NO_REDIS, WITHOUT_REDIS, freePort, proxyTo, redisServer } from "../support/redis.js";
import type { ChildOptions } from "./queue-child.js";
import { entriesOf, linesBy, linesHere, settingOf } from "./queue-support.js";

if (NO_REDIS) console.warn(WITHOUT_REDIS);
vi.setConfig({ testTimeout: 60_000 });

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SETTING = settingOf();
let folder = "";
beforeAll(async () => {
  // Inside the package, where what is not bundled is found.
  folder = mkdtempSync(join(ROOT, "node_modules", ".queue-"));
  await build({
    entryPoints: [join(ROOT, "test/audit/queue-child.ts")],
    outfile: join(folder, "child.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    logLevel: "error",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function server(test: TestContext, ...args: Parameters<typeof redisServer>): ReturnType<typeof redisServer> {
  const redis = await redisServer(...args);
  test.onTestFinished(() => redis.close());
  return redis;
}

interface Worked {
  readonly notes: string[];
  readonly end: () => Promise<WorkerSummary>;
}

/** A worker in this process, ended with the test. */
function worker(
  test: TestContext,
  url: string,
  { setting = SETTING, ...options }: RunWorkerOptions & { readonly setting?: AuditSetting } = {},
): Worked {
  const controller = new AbortController();
  const notes: string[] = [];
  const running = runWorker(url, setting, {
    workers: 1,
    judgeOf: (each) => localJudge(each),
    onNote: (text) => void notes.push(text),
    signal: controller.signal,
    ...options,
  });
  running.catch(() => {});
  const end = (): Promise<WorkerSummary> => {
    controller.abort();
    return running;
  };
  test.onTestFinished(() => end().then(() => {}, () => {}));
  return { notes, end };
}

/** A producer's judge, and what it said. */
async function producer(
  test: TestContext,
  url: string,
  options: QueueJudgeOptions = {},
): Promise<{ readonly notes: string[]; readonly judge: Awaited<ReturnType<typeof queueJudge>> }> {
  const notes: string[] = [];
  const judge = await queueJudge(url, SETTING, { onNote: (text) => void notes.push(text), ...options });
  test.onTestFinished(() => judge.close());
  return { notes, judge };
}

const LOCK_MS = 1000;

/** Workers in processes of their own; one that ends is followed by another one. */
class Children {
  readonly #options: ChildOptions;
  readonly #running = new Set<ChildProcess>();
  #isClosed = false;
  ended = 0;
  batches = 0;

  constructor(test: TestContext, url: string, options: Partial<ChildOptions> = {}) {
    this.#options = { url, setting: SETTING, lockMs: LOCK_MS, slowMs: 0, ...options };
    test.onTestFinished(() => this.close());
  }

  start(): this {
    const child = fork(join(folder, "child.mjs"), [JSON.stringify(this.#options)], { stdio: ["ignore", 2, 2, "ipc"] });
    this.#running.add(child);
    child.on("message", (message: object) => {
      if ("judging" in message) this.batches++;
    });
    child.on("exit", () => {
      this.ended++;
      this.#running.delete(child);
      if (!this.#isClosed) this.start();
    });
    return this;
  }

  /** SIGKILL to all, in the middle of whatever they do. */
  kill(): void {
    for (const child of this.#running) child.kill("SIGKILL");
  }

  close(): void {
    this.#isClosed = true;
    this.kill();
  }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await holds()); await pause(10))
    if (Date.now() > end) throw new Error("it does not come to it");
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const ENTRIES = entriesOf(500);
let expected = "";
beforeAll(async () => {
  expected = await linesHere(SETTING, ENTRIES);
});

describe.skipIf(NO_REDIS).concurrent("a queue", () => {
  it("gives the bytes that one process gives, by two workers", async (test) => {
    const redis = await server(test);
    const workers = [worker(test, redis.url), worker(test, redis.url)];
    const { judge } = await producer(test, redis.url);
    test.expect(await linesBy(judge, ENTRIES)).toBe(expected);
    const [one, other] = await Promise.all(workers.map(({ end }) => end()));
    test.expect(one!.entries + other!.entries).toBe(ENTRIES.length);
    test.expect(Math.min(one!.entries, other!.entries)).toBeGreaterThan(0);
    test.expect(workers[0]!.notes).toEqual([
      test.expect.stringContaining("without BOOTPROOF_QUEUE_SECRET whoever can write to this server is trusted"),
      test.expect.stringContaining("ready for batches of policy"),
      test.expect.stringMatching(/takes batches of run [0-9a-f]{8}…$/),
      test.expect.stringContaining("ending; batches that it has are finished first"),
    ]);
    // Nothing of the run stays but what BullMQ keeps of a queue.
    const left = (await redis.client.keys("*")).map((key) => key.replace(/.*:/, ""));
    test.expect(left.filter((name) => !["id", "meta", "events", "stalled-check", "stalled"].includes(name))).toEqual([]);
  });

  it("cuts batches that are large, in bytes, and takes entries that are larger alone", async (test) => {
    const redis = await server(test);
    worker(test, redis.url);
    const { judge } = await producer(test, redis.url);
    const large = [900_000, 200_000, 3_000_000, 10].map((length) => toUtf8(`"${"x".repeat(length)}"`));
    test.expect(await linesBy(judge, large)).toBe(await linesHere(SETTING, large));
    const sizes = (await redis.client.xrange((await redis.client.keys("*:events"))[0]!, "-", "+")).filter(([, fields]) =>
      fields.includes("added"),
    );
    test.expect(sizes.length).toBe(4);
  });

  it("gives a batch to another worker when one is killed in the middle of it", async (test) => {
    const redis = await server(test);
    const { judge } = await producer(test, redis.url);
    const lines = linesBy(judge, ENTRIES);
    const children = new Children(test, redis.url, { slowMs: 20 }).start().start();
    for (const after of [3, 8]) {
      await until(() => children.batches >= after);
      children.kill();
    }
    test.expect(await lines).toBe(expected);
    test.expect(children.ended).toBeGreaterThanOrEqual(2);
  });

  it.for([true, false])("loses nothing when the server is killed and comes back (keeps its data: %s)", async (keeps, test) => {
    const redis = await server(test, { keeps });
    const one = worker(test, redis.url, { lockMs: LOCK_MS, judgeOf: slowly(30) });
    const { judge, notes } = await producer(test, redis.url);
    let done = false;
    const lines = linesBy(judge, ENTRIES).finally(() => (done = true));
    await pause(400);
    test.expect(done).toBe(false);
    await redis.kill();
    await pause(500);
    await redis.start();
    test.expect(await lines).toBe(expected);
    for (const said of [notes, one.notes]) {
      test.expect(said.filter((note) => note.includes("the connection is lost"))).toHaveLength(1);
      test.expect(said.filter((note) => note.includes("connected again"))).toHaveLength(1);
    }
  });

  it("goes on when connections drop, of worker and producer, again and again", async (test) => {
    const redis = await server(test);
    const [near, far] = [await proxyTo(redis.port), await proxyTo(redis.port)];
    test.onTestFinished(() => Promise.all([near.close(), far.close()]).then(() => {}));
    worker(test, far.url, { lockMs: LOCK_MS, judgeOf: slowly(30) });
    const { judge } = await producer(test, near.url);
    let done = false;
    const lines = linesBy(judge, ENTRIES).finally(() => (done = true));
    let drops = 0;
    for (; !done; drops++) {
      await pause(150 + 100 * (drops % 3));
      await (drops % 2 === 0 ? near : far).drop(drops % 5 === 0 ? 300 : 0);
    }
    test.expect(await lines).toBe(expected);
    test.expect(drops).toBeGreaterThan(3);
  });

  it("is left alone by a worker of another policy, which says so, as does the producer", async (test) => {
    const redis = await server(test);
    const other = worker(test, redis.url, { setting: settingOf("another") });
    const { judge, notes } = await producer(test, redis.url);
    const lines = linesBy(judge, ENTRIES);
    await until(() => other.notes.some((note) => /takes nothing from run .* holds another policy/.test(note)));
    await until(() => notes.some((note) => /no worker takes anything.*one that is there holds another policy/.test(note)));
    worker(test, redis.url);
    test.expect(await lines).toBe(expected);
    test.expect(other.notes.filter((note) => note.includes("takes nothing"))).toHaveLength(1);
    test.expect(await other.end()).toEqual({ batches: 0, entries: 0 });
  });

  it("is left alone by a worker without the secret, or with another", async (test) => {
    const redis = await server(test);
    const others = [worker(test, redis.url), worker(test, redis.url, { secret: "other" })];
    const { judge, notes } = await producer(test, redis.url, { secret: "secret" });
    test.expect(notes).toEqual([]);
    const lines = linesBy(judge, ENTRIES);
    for (const { notes: said } of others)
      await until(() => said.some((note) => /takes nothing from run .* has another secret, or only one/.test(note)));
    worker(test, redis.url, { secret: "secret" });
    test.expect(await lines).toBe(expected);
    for (const { end } of others) test.expect((await end()).entries).toBe(0);
  });

  it("finds the entry that ends its workers, and tells of it", async (test) => {
    const redis = await server(test);
    const { judge, notes } = await producer(test, redis.url);
    const entries = ENTRIES.with(100, toUtf8("poison: exit")).with(300, toUtf8("poison: throw"));
    const lines = linesBy(judge, entries);
    const children = new Children(test, redis.url).start().start();
    const written = (await lines).split("\n");
    const wanted = expected.split("\n");
    for (const n of [101, 301])
      wanted[n - 1] = JSON.stringify({ n, verdict: "malformed", failed: [], reason: UNJUDGED_REASON });
    test.expect(written).toEqual(wanted);
    // The batch, and three times alone.
    test.expect(children.ended).toBeGreaterThanOrEqual(8);
    const letters = (await redis.client.lrange("bootproof:dead-letters", 0, -1)).map((text) => JSON.parse(text) as object);
    test.expect(letters).toHaveLength(2);
    test.expect(letters).toContainEqual({
      run: test.expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      n: 101,
      sha256: test.expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      reason: UNJUDGED_REASON,
    });
    test.expect(await redis.client.ttl("bootproof:dead-letters")).toBeGreaterThan(0);
    test.expect(notes.filter((note) => note.startsWith("entry 101 (SHA-256 "))).toHaveLength(1);
  });

  it("does not take broken workers for a broken entry", async (test) => {
    const redis = await server(test);
    const { judge, notes } = await producer(test, redis.url);
    const entries = ENTRIES.slice(0, 3);
    const lines = linesBy(judge, entries);
    const isSaid = (): boolean => notes.some((note) => note.includes("workers end whatever they are given"));
    // They judge one entry, and no more.
    const broken = async (setting: AuditSetting): Promise<Judge> => {
      const judge = await localJudge(setting);
      let judged = 0;
      return { ...judge, judge: (batch) => (judged++ === 0 ? judge.judge(batch) : Promise.reject(new Error("broken"))) };
    };
    while (!isSaid()) {
      const running = runWorker(redis.url, SETTING, { workers: 1, judgeOf: broken });
      await test.expect(running).rejects.toThrow("broken");
    }
    worker(test, redis.url);
    test.expect(await lines).toBe(await linesHere(SETTING, entries));
    test.expect(await redis.client.exists("bootproof:dead-letters")).toBe(0);
  });

  it("is left alone by a worker that can judge nothing", async (test) => {
    const redis = await server(test);
    const { judge } = await producer(test, redis.url);
    const lines = linesBy(judge, ENTRIES);
    for (const judgeOf of [() => Promise.reject(new Error("broken")), () => Promise.resolve(unjudging)])
      await test.expect(runWorker(redis.url, SETTING, { workers: 1, judgeOf })).rejects.toThrow(/nothing more can be judged here: (broken|an empty entry)/);
    worker(test, redis.url);
    test.expect(await lines).toBe(expected);
    // Each batch as it was put there, and once more where a worker took it and left: none was cut into parts.
    test.expect(await redis.client.exists("bootproof:dead-letters")).toBe(0);
  });
});

/** As threads that end with each entry. */
const unjudging: Judge = {
  concurrency: 1,
  judge: ({ index, first, entries }) =>
    Promise.resolve({ index, results: entries.map((_, at) => unjudgedResult(first + at)) }),
  close: () => Promise.resolve(),
};

/** Judges with a wait before each batch. */
function slowly(milliseconds: number) {
  return async (setting: AuditSetting): Promise<Judge> => {
    const judge = await localJudge(setting);
    return { ...judge, judge: async (batch) => (await pause(milliseconds), judge.judge(batch)) };
  };
}
