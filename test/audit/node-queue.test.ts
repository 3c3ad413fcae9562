/** A queue on a real server returns the same bytes as one process, whatever ends, restarts or lies. */
import { type ChildProcess, fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromUtf8, toUtf8 } from "../../src/bytes.js";
import type { Batch, Judge } from "../../src/audit/batch.js";
import { UNJUDGED_REASON, localJudge, unjudgedResult } from "../../src/audit/judge.js";
import { type QueueJudgeOptions, queueJudge } from "../../src/audit/node-queue.js";
import { withCredentialsOf } from "../../src/audit/node-queue-url.js";
import { jobId } from "../../src/audit/node-queue-wire.js";
import { QueueRoom } from "../../src/audit/queue-room.js";
import { type RunWorkerOptions, type WorkerSummary, runWorker } from "../../src/audit/node-worker.js";
import type { AuditSetting } from "../../src/audit/setting.js";
import { NO_REDIS, type RedisServer, WITHOUT_REDIS, freePort, proxyTo, redisServer } from "../support/redis.js";
import type { ChildOptions } from "./queue-child.js";
import { AWS_NITRO_ROOT_G1, certificatePem } from "../../src/verify/trust-anchor.js";
import { entriesOf, linesBy, linesHere, namingSetting, settingOf } from "./queue-support.js";

if (NO_REDIS) console.warn(WITHOUT_REDIS);

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
    // It judges in this process: on a busy machine a shorter lock runs out.
    lockMs: 60_000,
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
  test.onTestFinished(() =>
    end()
      .then(() => {})
      .catch(() => {}),
  );
  return { notes, end };
}

/** A producer's judge, and its notes. */
async function producer(
  test: TestContext,
  url: string,
  { setting = SETTING, ...options }: QueueJudgeOptions & { readonly setting?: AuditSetting } = {},
): Promise<{ readonly notes: string[]; readonly judge: Awaited<ReturnType<typeof queueJudge>> }> {
  const notes: string[] = [];
  const judge = await queueJudge(url, setting, { onNote: (text) => void notes.push(text), ...options });
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
  for (const end = Date.now() + 120_000; !(await holds()); await pause(10))
    if (Date.now() > end) throw new Error("it does not come to it");
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const ENTRIES = entriesOf(500);
const SOME = ENTRIES.slice(0, 16);
let expected = "";
beforeAll(async () => {
  expected = await linesHere(SETTING, ENTRIES);
});

describe.skipIf(NO_REDIS).concurrent("a queue", () => {
  it("with two workers gives the same bytes as one process", async (test) => {
    const redis = await server(test);
    const workers = [worker(test, redis.url), worker(test, redis.url)];
    const { judge } = await producer(test, redis.url);
    test.expect(await linesBy(judge, ENTRIES)).toBe(expected);
    const [one, other] = await Promise.all(workers.map(({ end }) => end()));
    test.expect(one!.entries + other!.entries).toBe(ENTRIES.length);
    test.expect(Math.min(one!.entries, other!.entries)).toBeGreaterThan(0);
    test
      .expect(workers[0]!.notes)
      .toEqual([
        test.expect.stringContaining("without BOOTPROOF_QUEUE_SECRET anyone who can write to this server is trusted"),
        test.expect.stringContaining("ready for batches of policy"),
        test.expect.stringMatching(/takes batches of run [0-9a-f]{8}…$/),
        test.expect.stringContaining("ending after its current batches"),
      ]);
    // Nothing of the run stays but what BullMQ keeps of a queue.
    const left = (await redis.client.keys("*")).map((key) => key.replace(/.*:/, ""));
    test
      .expect(left.filter((name) => !["id", "meta", "events", "stalled-check", "stalled"].includes(name)))
      .toEqual([]);
  });

  it("compares each entry with its own expectation", async (test) => {
    const redis = await server(test);
    worker(test, redis.url);
    const { judge } = await producer(test, redis.url);
    const entries = ENTRIES.slice(0, 28);
    const each = entries.map((_, at) => (at % 2 === 0 ? null : JSON.stringify({ organizationId: `o${at}` })));
    const batch = { index: 0, first: 1, entries, expected: each };
    const here = await localJudge(SETTING);
    const { results } = await judge.judge(batch);
    test.expect(results).toEqual((await here.judge(batch)).results);
    test.expect(results).not.toEqual((await here.judge({ index: 0, first: 1, entries })).results);
  });

  it("cuts large batches by bytes, and sends larger entries alone", async (test) => {
    const redis = await server(test);
    worker(test, redis.url);
    const { judge } = await producer(test, redis.url);
    const large = [900_000, 200_000, 3_000_000, 10].map((length) => toUtf8(`"${"x".repeat(length)}"`));
    test.expect(await linesBy(judge, large)).toBe(await linesHere(SETTING, large));
    const sizes = (await redis.client.xrange((await redis.client.keys("*:events"))[0]!, "-", "+")).filter(
      ([, fields]) => fields.includes("added"),
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

  it.for([true, false])(
    "loses nothing when the server is killed and comes back (keeps its data: %s)",
    async (keeps, test) => {
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
    },
  );

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

  it.for([
    ["another policy", SETTING, settingOf("another"), SETTING],
    [
      "another content of a file that the policy names",
      namingSetting(),
      namingSetting(certificatePem(AWS_NITRO_ROOT_G1.certificate.der)),
      // The same content, under another path.
      namingSetting(undefined, "roots/root.pem"),
    ],
  ] as const)("is ignored by a worker with %s, and both report that", async ([, setting, others, same], test) => {
    const redis = await server(test);
    const other = worker(test, redis.url, { setting: others });
    const { judge, notes } = await producer(test, redis.url, { setting });
    const lines = linesBy(judge, ENTRIES);
    await until(() => other.notes.some((note) => /judges nothing for run .* has another policy/.test(note)));
    await until(() => notes.some((note) => /none accepts these jobs.*a running worker has another policy/.test(note)));
    worker(test, redis.url, { setting: same });
    test.expect(await lines).toBe(expected);
    test.expect(other.notes.filter((note) => note.includes("judges nothing"))).toHaveLength(1);
    test.expect(await other.end()).toEqual({ batches: 0, entries: 0 });
  });

  it("is ignored by a worker without the secret or with another", async (test) => {
    const redis = await server(test);
    const others = [worker(test, redis.url), worker(test, redis.url, { secret: "another long secret" })];
    const { judge, notes } = await producer(test, redis.url, { secret: "between both of us" });
    test.expect(notes).toEqual([]);
    const lines = linesBy(judge, ENTRIES);
    for (const { notes: said } of others)
      await until(() => said.some((note) => /judges nothing for run .* has another secret, or only one/.test(note)));
    // A file or a store of secrets may add line breaks.
    worker(test, redis.url, { secret: "between both of us\r\n\n" });
    test.expect(await lines).toBe(expected);
    for (const { end } of others) test.expect((await end()).entries).toBe(0);
  });

  it("finds and reports the entry that ends its workers", async (test) => {
    const redis = await server(test);
    // What ends workers ends threads, too.
    const { judge, notes } = await producer(test, redis.url, { judgeOf: endedByPoison });
    const entries = ENTRIES.with(100, toUtf8("poison: exit")).with(300, toUtf8("poison: throw"));
    const lines = linesBy(judge, entries);
    const children = new Children(test, redis.url).start().start();
    const written = (await lines).split("\n");
    const wanted = expected.split("\n");
    for (const n of [101, 301])
      wanted[n - 1] = JSON.stringify({ n, verdict: "malformed", failed: [], reason: UNJUDGED_REASON });
    test.expect(written).toEqual(wanted);
    // On a busy machine a job also fails without an end: when its lock runs out.
    test.expect(children.ended).toBeGreaterThan(0);
    const letters = (await redis.client.lrange("{bootproof}:dead-letters", 0, -1)).map(
      (text) => JSON.parse(text) as object,
    );
    test.expect(letters).toHaveLength(2);
    test.expect(letters).toContainEqual({
      run: test.expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      n: 101,
      sha256: test.expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      reason: UNJUDGED_REASON,
    });
    test.expect(await redis.client.ttl("{bootproof}:dead-letters")).toBeGreaterThan(0);
    test.expect(notes.filter((note) => note.includes(": entry 101 (SHA-256 "))).toHaveLength(1);
  });

  it("does not blame an entry for broken workers", async (test) => {
    const redis = await server(test);
    const { judge, notes } = await producer(test, redis.url, { judgeOf: localJudge });
    const entries = ENTRIES.slice(0, 3);
    const lines = linesBy(judge, entries);
    const isSaid = (): boolean => notes.some((note) => note.includes("such entries are judged here"));
    // They judge one entry, and no more.
    const broken = async (setting: AuditSetting): Promise<Judge> => {
      const judge = await localJudge(setting);
      let judged = 0;
      return {
        ...judge,
        judge: (batch) => (judged++ === 0 ? judge.judge(batch) : Promise.reject(new Error("broken"))),
      };
    };
    const controller = new AbortController();
    const { signal } = controller;
    void lines.finally(() => controller.abort());
    while (!signal.aborted) {
      const running = runWorker(redis.url, SETTING, { workers: 1, judgeOf: broken, signal });
      await running.catch((error: Error) => test.expect(error.message).toContain("broken"));
    }
    test.expect(isSaid()).toBe(true);
    test.expect(await lines).toBe(await linesHere(SETTING, entries));
    test.expect(await redis.client.exists("{bootproof}:dead-letters")).toBe(0);
  });

  it.each(["", "\r\n", "fifteen letters", "fifteen letters\r\n"])(
    "takes no secret that is too short: %j",
    async (secret) => {
      for (const start of [queueJudge, runWorker])
        await expect(start("redis://127.0.0.1:1", SETTING, { secret })).rejects.toThrow(
          new TypeError("options.secret: expected 16 characters or more, without line breaks at the end"),
        );
    },
  );

  it("refuses a forged answer", async (test) => {
    const redis = await server(test);
    const secret = "a secret that the forger does not have";
    const { judge, notes } = await producer(test, redis.url, { secret });
    const lines = linesBy(judge, SOME);
    const forger = new Forger(redis.client);
    const job = await forger.job();
    const verified = forger.answer(job, (n) => ({ n, verdict: "verified", failed: [] }));
    for (const seal of ["", "0".repeat(64), sealOf("another secret", job.id, verified)]) {
      await forger.send(job, verified, seal);
      test.expect(notes).toEqual([test.expect.stringContaining("an answer is refused: its seal is invalid")]);
    }
    worker(test, redis.url, { secret });
    test.expect(await lines).toBe(await linesHere(SETTING, SOME));
  });

  it("refuses an answer for other entries or of another form, sealed or not", async (test) => {
    const redis = await server(test);
    const secret = "shared by both of us";
    const { judge, notes } = await producer(test, redis.url, { secret });
    const lines = linesBy(judge, SOME);
    const forger = new Forger(redis.client);
    const job = await forger.job();
    const good = (n: number): object => ({ n, verdict: "verified", failed: [] });
    const all = forger.answer(job, good);
    const another = jobId({ run: "0".repeat(32), setting: "0".repeat(64), first: 1, entries: SOME });
    const wrong: readonly [string, string, string?][] = [
      ["other entries", all, OTHER_ID],
      ["another run", all, another],
      ["too few", forger.answer({ ...job, count: 15 }, good)],
      ["wrong numbers", forger.answer({ ...job, first: 2 }, good)],
      // Every other form: test/audit/answered.test.ts.
      ["an unknown verdict", forger.answer(job, (n) => ({ n, verdict: "fine", failed: [] }))],
      ["no JSON", "{"],
    ];
    for (const [what, text, id = job.id] of wrong) {
      await forger.send(job, text, sealOf(secret, id, text));
      test.expect(await Promise.race([lines, pause(1)]), what).toBeUndefined();
    }
    test
      .expect(notes.map((note) => note.replace(/^\S+: /, "")).filter((note) => !note.startsWith("waiting")))
      .toEqual([
        "an answer is refused: its seal is invalid: it was forged, or made with another BOOTPROOF_QUEUE_SECRET",
        "an answer is refused: it does not have the form of this version",
      ]);
    // Nobody waits for this job, so there is no note.
    await redis.client.hset(`{bootproof}:answers:${job.run}`, OTHER_ID, `${sealOf(secret, OTHER_ID, all)}\n${all}`);
    worker(test, redis.url, { secret });
    test.expect(await lines).toBe(await linesHere(SETTING, SOME));
  });

  it.for([false, true])(
    "verifies entries itself if the server falsely reports their jobs as failed (with a worker: %s)",
    async (isThere, test) => {
      const redis = await server(test);
      const secret = "a secret that the liar does not have";
      const entries = ENTRIES.filter(({ length }) => length > 0).slice(0, 20);
      const { judge, notes } = await producer(test, redis.url, { secret, judgeOf: localJudge });
      if (isThere) worker(test, redis.url, { secret, judgeOf: slowly(3000) });
      const liar = new Liar(redis.client);
      test.expect(await liar.during(linesBy(judge, entries))).toBe(await linesHere(SETTING, entries));
      test.expect(liar.lies).toBeGreaterThanOrEqual(isThere ? 1 : 3);
      // A job that a worker has locked is not given up.
      const said = notes.filter((note) => note.includes("such entries are judged here"));
      test.expect(said.length).toBe(isThere ? said.length : 1);
      test.expect(await redis.client.exists("{bootproof}:dead-letters")).toBe(0);
    },
  );

  it("verifies such entries in a thread by default", async (test) => {
    const redis = await server(test);
    const { judge } = await producer(test, redis.url, { secret: "between both of us" });
    const entries = ENTRIES.slice(0, 3);
    const lines = await new Liar(redis.client).during(linesBy(judge, entries));
    test.expect(lines).toBe(await linesHere(SETTING, entries));
  });

  it("has the same results if the list of dead letters cannot be written", async (test) => {
    const redis = await server(test);
    await redis.client.set("{bootproof}:dead-letters", "no list");
    const { judge, notes } = await producer(test, redis.url, {
      secret: "between both of us",
      judgeOf: () => unjudging,
    });
    const lines = await new Liar(redis.client).during(linesBy(judge, ENTRIES.slice(0, 1)));
    const wanted = { n: 1, verdict: "malformed", failed: [], reason: UNJUDGED_REASON };
    test.expect(lines).toBe(`${JSON.stringify(wanted)}\n`);
    test.expect(notes.some((note) => note.includes("WRONGTYPE"))).toBe(true);
  });

  it("enqueues jobs again, whatever a server does to jobs, settings and peers", async (test) => {
    const redis = await server(test);
    const secret = "a secret that the liar does not have";
    const entries = ENTRIES.slice(0, 200);
    const { judge, notes } = await producer(test, redis.url, { secret });
    const one = worker(test, redis.url, { secret, judgeOf: slowly(100) });
    const lines = linesBy(judge, entries);
    const liar = new Liar(redis.client);
    for (let times = 0; times < 30; times++, await pause(50)) await liar.meddle(times);
    test.expect(await lines).toBe(await linesHere(SETTING, entries));
    for (const note of [...notes, ...one.notes]) test.expect(note).not.toMatch(/[\u0000-\u001f]/);
  });

  it.for(["its data, while it is in progress", "its entries", "the list of what waits, and not its data"])(
    "adds a job again of which the server lost %s",
    async (lost, test) => {
      const redis = await server(test);
      const { judge, notes } = await producer(test, redis.url);
      const lines = linesBy(judge, SOME);
      const forger = new Forger(redis.client);
      const { key, id } = await forger.job();
      const [wait, active] = [beside(key, "wait"), beside(key, "active")];
      await until(async () => (await redis.client.llen(wait)) > 0);
      if (lost === "its entries") await redis.client.hdel(key, "data");
      else if (lost.startsWith("the list")) await redis.client.del(wait);
      else {
        // As a worker takes it, and as a server that evicts then leaves it.
        await redis.client.lmove(wait, active, "LEFT", "RIGHT");
        await redis.client.del(key);
      }
      if (lost !== "its entries") {
        await until(() => notes.some((note) => note.includes("the server lost jobs: they are added again")));
        await until(async () => (await redis.client.lrange(wait, 0, -1)).join() === id);
        test.expect(await redis.client.llen(active)).toBe(0);
      }
      worker(test, redis.url);
      test.expect(await lines).toBe(await linesHere(SETTING, SOME));
    },
  );

  it("ends where the server loses a job three times", async (test) => {
    const redis = await server(test);
    const { judge } = await producer(test, redis.url);
    const lines = linesBy(judge, SOME);
    const ended = lines.then(
      () => "judged",
      (error: unknown) => error,
    );
    const forger = new Forger(redis.client);
    for (let times = 0; times < 3; times++) {
      const { key } = await forger.job();
      await redis.client.del(key);
      await forger.wake(key);
      await until(async () => times === 2 || (await redis.client.exists(key)) === 1);
    }
    const error = {
      name: "QueueError",
      code: "lost",
      message: test.expect.stringContaining("lost a job 3 times") as string,
    };
    test.expect(await ended).toMatchObject(error);
  });

  it("takes no job that somebody else made up", async (test) => {
    const redis = await server(test);
    const secret = "shared by both of us";
    const { judge } = await producer(test, redis.url, { secret });
    const lines = linesBy(judge, SOME);
    const { key } = await new Forger(redis.client).job();
    const data = (await redis.client.hget(key, "data"))!;
    await redis.client.hset(key, "data", data.replace('"first":1,', '"first":17,'));
    const { notes } = worker(test, redis.url, { secret });
    await until(() => notes.some((note) => note.includes("a job is refused: invalid seal or form")));
    // Its producer cuts it into parts.
    test.expect(await lines).toBe(await linesHere(SETTING, SOME));
  });

  it("drops the jobs of a producer that is gone, and frees their memory", async (test) => {
    const redis = await server(test);
    const { judge } = await producer(test, redis.url);
    linesBy(judge, SOME).catch(() => {});
    const { key, id } = await new Forger(redis.client).job();
    const wait = beside(key, "wait");
    await until(async () => (await redis.client.llen(wait)) > 0);
    const job = await redis.client.hgetall(key);
    await judge.close();
    test.expect(await redis.client.exists(key)).toBe(0);
    // As if it had been killed: its job stays, but it is silent.
    await redis.client.hset(key, job);
    await redis.client.rpush(wait, id);
    const { end } = worker(test, redis.url);
    await redis.client.zadd(beside(key, "marker"), 0, "0");
    await until(async () => (await redis.client.zscore(beside(key, "completed"), id)) !== null);
    test.expect(await redis.client.hexists(key, "data")).toBe(0);
    test.expect((await end()).entries).toBe(0);
  });

  it("is refused or noted where a server with limited memory may drop its jobs", async (test) => {
    const redis = await server(test, { args: ["--maxmemory", "1gb"] });
    const advice = /redis-cli CONFIG SET maxmemory-policy noeviction, or .* in the parameter group/;
    const use = (policy: string): Promise<unknown> => redis.client.config("SET", "maxmemory-policy", policy);
    for (const policy of ["allkeys-lru", "allkeys-lfu", "allkeys-random"]) {
      await use(policy);
      for (const start of [queueJudge, runWorker]) {
        const refused = start(redis.url, SETTING);
        await test.expect(refused).rejects.toMatchObject({ name: "QueueError", code: "eviction" });
        await test.expect(refused).rejects.toThrow(`(maxmemory-policy ${policy})`);
        await test.expect(refused).rejects.toThrow(advice);
      }
    }
    for (const policy of ["volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl", "noeviction"]) {
      await use(policy);
      const { judge, notes } = await producer(test, redis.url);
      const said = notes.filter((note) => note.includes(`(maxmemory-policy ${policy})`) && advice.test(note));
      test.expect(said, policy).toHaveLength(policy === "noeviction" ? 0 : 1);
      const { end } = worker(test, redis.url);
      test.expect(await linesBy(judge, SOME)).toBe(await linesHere(SETTING, SOME));
      await end();
    }
    // Without a limit nothing is dropped.
    await redis.client.config("SET", "maxmemory", "0");
    test.expect((await producer(test, redis.url)).notes.join()).not.toContain("maxmemory");
  });

  it("warns where the policy of its memory cannot be read", async (test) => {
    const redis = await server(test);
    await redis.client.call("ACL", "SETUSER", "blind", "on", ">pw", "~*", "+@all", "-info");
    const { judge, notes } = await producer(test, redis.url.replace("//", "//blind:pw@"));
    test.expect(notes.join("\n")).toContain("warning: its maxmemory-policy cannot be read");
    worker(test, redis.url);
    test.expect(await linesBy(judge, SOME)).toBe(await linesHere(SETTING, SOME));
  });

  it("reports within ten seconds that there is no server, without the password", async (test) => {
    const url = `redis://user:pass-word@127.0.0.1:${await freePort()}/3`;
    const refused = queueJudge(url, SETTING);
    await test.expect(refused).rejects.toMatchObject({ name: "QueueError", code: "unreachable" });
    await test
      .expect(refused)
      .rejects.toThrow(/^redis:\/\/127\.0\.0\.1:\d+\/3: the queue cannot be reached: .*ECONNREFUSED/);
    await test.expect(refused).rejects.not.toThrow(/pass-word/);
  });

  it("reports a wrong password at once, and accepts the right one", async (test) => {
    const redis = await server(test, { password: "p@ss word" });
    const at = (password: string): string => redis.url.replace("//", `//:${encodeURIComponent(password)}@`);
    for (const url of [redis.url, at("wrong")])
      await test.expect(queueJudge(url, SETTING)).rejects.toThrow(/cannot be reached: (NOAUTH|WRONGPASS)/);
    worker(test, at("p@ss word"));
    const { judge, notes } = await producer(test, at("p@ss word"));
    test.expect(await linesBy(judge, SOME)).toBe(await linesHere(SETTING, SOME));
    test.expect(notes.join()).not.toContain("p@ss");
  });

  it("gets nothing from a worker that cannot verify", async (test) => {
    const redis = await server(test);
    const { judge } = await producer(test, redis.url);
    const lines = linesBy(judge, ENTRIES);
    for (const judgeOf of [() => Promise.reject(new Error("broken")), () => Promise.resolve(unjudging)])
      await test
        .expect(runWorker(redis.url, SETTING, { workers: 1, judgeOf }))
        .rejects.toThrow(/nothing more can be judged here: (broken|the judge fails even for an empty entry)/);
    worker(test, redis.url);
    test.expect(await lines).toBe(expected);
    // Each batch as it was put there, and once more where a worker took it and left: none was cut into parts.
    test.expect(await redis.client.exists("{bootproof}:dead-letters")).toBe(0);
  });
});

interface ForgedJob {
  readonly key: string;
  readonly id: string;
  readonly run: string;
  readonly first: number;
  readonly count: number;
}

const sealOf = (secret: string, id: string, text: string): string =>
  createHmac("sha256", secret).update(`bootproof answer\n${id}\n${text}`).digest("hex");

const OTHER_ID = "0".repeat(64);
const idOf = (key: string): string => key.replace(/.*:/, "");
const beside = (key: string, name: string): string => key.replace(/[^:]*$/, name);

async function jobsAt(client: RedisServer["client"]): Promise<string[]> {
  return (await client.keys("{bootproof}:bootproof-*")).filter((key) => /:[0-9a-f]{64}$/.test(key));
}

/** Another program with access to the server. */
class Forger {
  readonly #client: RedisServer["client"];

  constructor(client: RedisServer["client"]) {
    this.#client = client;
  }

  /** The first job that waits there. */
  async job(): Promise<ForgedJob> {
    for (; ; await pause(10))
      for (const key of await jobsAt(this.#client)) {
        const data = JSON.parse((await this.#client.hget(key, "data"))!) as { run: string; first: number; lengths: [] };
        if (data.first === 1) return { key, id: idOf(key), run: data.run, first: 1, count: data.lengths.length };
      }
  }

  answer({ first, count }: ForgedJob, result: (n: number) => object): string {
    const forms = Array.from({ length: count }, (_, index) => result(first + index));
    return JSON.stringify({ results: { first, forms, order: forms.map((_, index) => index) } });
  }

  /** Returns once the producer has read it. */
  async send({ key, id, run }: ForgedJob, text: string, seal: string): Promise<void> {
    const reads = async (): Promise<number> =>
      Number(/cmdstat_hget:calls=(\d+)/.exec(await this.#client.info("commandstats"))?.[1] ?? 0);
    const before = await reads();
    await this.#client.hset(`{bootproof}:answers:${run}`, id, `${seal}\n${text}`);
    await this.wake(key);
    await until(async () => (await reads()) > before);
    await pause(20);
  }

  /** An event is not a result: the producer looks at the job. */
  async wake(key: string): Promise<void> {
    const fields = ["event", "completed", "jobId", idOf(key), "returnvalue", "true"];
    await this.#client.xadd(beside(key, "events"), "*", ...fields);
  }
}

/** Another program that can write to the server, without the secret. */
class Liar {
  readonly #client: RedisServer["client"];
  readonly #deleted = new Set<string>();
  lies = 0;

  constructor(client: RedisServer["client"]) {
    this.#client = client;
  }

  /** Until this work ends, each job counts as failed, whatever becomes of it. */
  async during<T>(work: Promise<T>): Promise<T> {
    let done = false;
    for (work.finally(() => (done = true)).catch(() => {}); !done; await pause(5))
      for (const key of await jobsAt(this.#client)) {
        this.lies += await this.#client.zadd(beside(key, "failed"), Date.now(), idOf(key));
        await new Forger(this.#client).wake(key);
      }
    return work;
  }

  /** Jobs removed, completed, in progress or changed; settings and peers that are others; by turns. */
  async meddle(times: number): Promise<void> {
    const client = this.#client;
    const [keys, peer] = [await jobsAt(client), JSON.stringify({ id: "0".repeat(32), version: "\u001b[2J" })];
    for (const key of keys.slice(0, 2)) {
      // A job that is lost three times ends the audit.
      if (times % 4 === 0) await (this.#deleted.has(key) || client.del(key));
      else if (times % 4 === 1) await client.zadd(beside(key, "completed"), Date.now(), idOf(key));
      else if (times % 4 === 2)
        await client.hset(key, { progress: "100", returnvalue: '"verified"', failedReason: "x" });
      else await client.hset(key, "data", "{}");
      this.#deleted.add(key);
    }
    await client.del("{bootproof}:producers");
    for (const kind of ["workers", "producers"]) await client.zadd(`{bootproof}:${kind}`, 1e12, peer);
    // Put there again when it is missing.
    for (const key of await client.keys("{bootproof}:setting:*"))
      await (times % 2 === 0 ? client.set(key, '{"now":"2000-01-01T00:00:00.000Z","bootProofs":[]}') : client.del(key));
  }
}

/** As threads that end with each entry. */
const unjudging: Judge = {
  concurrency: 1,
  judge: ({ index, first, entries }) =>
    Promise.resolve({ index, results: entries.map((_, at) => unjudgedResult(first + at)) }),
  close: () => Promise.resolve(),
};

/** Judges as a thread does, which each entry of `poison` ends. On a busy machine other entries come here, too. */
async function endedByPoison(setting: AuditSetting): Promise<Judge> {
  const judge = await localJudge(setting);
  const isPoisoned = ({ entries }: Batch): boolean =>
    entries.some((entry) => fromUtf8(entry)?.startsWith("poison") === true);
  return { ...judge, judge: (batch) => (isPoisoned(batch) ? unjudging : judge).judge(batch) };
}

/** Judges with a wait before each batch. */
function slowly(milliseconds: number) {
  return async (setting: AuditSetting): Promise<Judge> => {
    const judge = await localJudge(setting);
    return { ...judge, judge: async (batch) => (await pause(milliseconds), judge.judge(batch)) };
  };
}

describe("the room at a server", () => {
  const entering = (room: QueueRoom, bytes: number): (() => boolean) => {
    let entered = false;
    void room.enter(bytes).then(() => (entered = true));
    return () => entered;
  };

  it("has a limit in bytes, and lets in one job whatever its size", async () => {
    const room = new QueueRoom(100);
    const [large, small] = [entering(room, 500), entering(room, 1)];
    await pause(1);
    expect([large(), small(), room.isOver(500), room.isOver(1)]).toEqual([true, false, false, true]);
    room.leave(500);
    await pause(1);
    expect([small(), room.isOver(1)]).toEqual([true, false]);
  });

  it("is halved by each refusal, and grows with answers up to its limit", async () => {
    const room = new QueueRoom(100);
    for (let jobs = 0; jobs < 4; jobs++) await room.enter(20);
    expect(room.isOver(20)).toBe(false);
    room.shrink();
    expect(room.isOver(20)).toBe(true);
    const next = entering(room, 20);
    for (let jobs = 0; jobs < 3; jobs++) room.leave(20);
    await pause(1);
    expect([next(), room.isOver(20)]).toEqual([true, false]);
    const after = entering(room, 20);
    room.leave(20);
    await pause(1);
    expect(after()).toBe(true);
    for (let answers = 0; answers < 20; answers++) room.grow(20);
    for (let jobs = 0; jobs < 3; jobs++) await room.enter(20);
    const full = entering(room, 20);
    await pause(1);
    expect([full(), room.isOver(20)]).toEqual([false, false]);
  });
});

describe("the URL of a queue", () => {
  it.each([
    "",
    "redis",
    "http://127.0.0.1",
    "redis://",
    "redis://h/x",
    "redis://h:70000",
    "redis://:a%zz@h",
    "redis://h?a=1",
  ])("is refused if invalid, and not quoted: %s", async (url) => {
    const refused = queueJudge(url, SETTING);
    await expect(refused).rejects.toMatchObject({ name: "QueueError", code: "url" });
    await expect(refused).rejects.toThrow(/^expected a URL such as redis:\/\/127\.0\.0\.1:6379/);
  });

  it.each([
    ["redis://h", "redis://:p@h", "redis://:p@h"],
    ["redis://h:6379/3", "redis://u:p@h/1", "redis://u:p@h:6379/3"],
    ["redis://h", "redis://u@h", "redis://u@h"],
    ["redis://h", "redis://:$&$1@h", "redis://:$&$1@h"],
    ["redis+cluster://b,a", "redis+cluster://:p@a,b", "redis+cluster://:p@b,a"],
    ["/run/r.sock", "unix://:p@/run/r.sock", "unix://:p@/run/r.sock"],
    // It has its own, or there are none.
    ["redis://a:b@h", "redis://u:p@h", "redis://a:b@h"],
    ["redis://a@h", "redis://u:p@h", "redis://a@h"],
    ["redis://:b@h", "redis://u:p@other", "redis://:b@h"],
    ["redis://h", "redis://other", "redis://h"],
  ])("%s has the credentials of %s of the environment: %s", (url, other, whole) => {
    expect(withCredentialsOf(url, other)).toBe(whole);
  });

  it.each([
    ["redis://other", "redis://u:hunter2@h"],
    ["redis://h:1", "redis://u:hunter2@h"],
    ["redis://h", "redis://:hunter2@h:1"],
    ["redis://h", "rediss://:hunter2@h"],
    ["redis://h", "redis+cluster://:hunter2@h"],
    ["redis+cluster://h,more", "redis+cluster://:hunter2@h"],
    ["redis+sentinel://h/one", "redis+sentinel://:hunter2@h/other"],
    ["unix:///run/one", "unix://:hunter2@/run/other"],
    ["redis://h", "redis://hunter2@other"],
  ])("%s does not have those of another server: %s", (url, other) => {
    const refused = (): string => withCredentialsOf(url, other);
    expect(refused).toThrow(/^\S+ has no credentials, and those in BOOTPROOF_QUEUE_URL are for \S+$/);
    expect(refused).not.toThrow(/hunter2/);
  });
});
