/** A queue on a real server gives the results of one process, whatever ends, restarts or lies. */
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Queue, QueueEvents } from "bullmq";
import { build } from "esbuild";
import { type TestContext, afterAll, beforeAll, describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import { type Batch, type Judge, UNJUDGED, localJudge } from "../../src/run/judge.js";
import { isLocal, parseQueueUrl } from "../../src/run/node-queue-url.js";
import { joinQueue } from "../../src/run/node-redis.js";
import type { QueueContact } from "../../src/run/queue-options.js";
import { type QueuePlaceOptions, type RunWorkerOptions, queueJudge, runWorker } from "../../src/run/queue.js";
import { Seals, sealedFacts } from "../../src/run/node-seal.js";
import type { AuditSetting } from "../../src/run/setting.js";
import { faultyServer } from "../faults/servers.js";
import { NO_REDIS, type RedisServer, VALKEY, WITHOUT_REDIS, freePort, proxyTo, redisServer } from "../support/redis.js";
import type { ChildOptions } from "./queue-child.js";
import { SECRET, batchesOf, entriesOf, resultsBy, resultsHere, settingOf } from "./queue-support.js";

if (NO_REDIS) console.warn(WITHOUT_REDIS);

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SETTING = settingOf();
const ENTRIES = entriesOf(192);
const SOME = ENTRIES.slice(0, 16);
const HERE = resultsHere(SETTING, ENTRIES);
/** With `BOOTPROOF_SOAK=full` a hundred: of two workers at once, and of servers of both kinds. */
const KILLS = process.env["BOOTPROOF_SOAK"] === "full" ? 50 : 1;
const MANY = KILLS === 1 ? ENTRIES : entriesOf(8000);
const LONG = { timeout: 900_000 };
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await pause(10))
    if (Date.now() > end) throw new Error("it does not come to it");
}

async function server(test: TestContext, ...args: Parameters<typeof redisServer>): Promise<RedisServer> {
  const redis = await redisServer(...args);
  test.onTestFinished(() => redis.close());
  return redis;
}

interface Given {
  readonly setting?: AuditSetting;
}

/** A worker in this process, which is ended with the test. Its locks do not run out on a busy machine. */
function worker(test: TestContext, url: string, { setting = SETTING, ...options }: RunWorkerOptions & Given = {}) {
  const controller = new AbortController();
  const notes: string[] = [];
  const common = { workers: 1, lockMs: 60_000, judgeOf: (each: AuditSetting) => localJudge(each) };
  const onNote = (text: string): void => void notes.push(text);
  const ended = runWorker(url, setting, { ...common, onNote, signal: controller.signal, ...options });
  ended.catch(() => {});
  const end = (): typeof ended => (controller.abort(), ended);
  test.onTestFinished(() =>
    end()
      .then(() => {})
      .catch(() => {}),
  );
  return { notes, end, ended };
}

async function producer(
  test: TestContext,
  url: string,
  { setting = SETTING, ...options }: QueuePlaceOptions & Given = {},
) {
  const notes: string[] = [];
  const onNote = (text: string): void => void notes.push(text);
  const judge = await queueJudge(url, setting, {
    onNote,
    ...options,
  });
  test.onTestFinished(() => judge.close());
  return { notes, judge };
}

/** Judges with a wait before each batch. */
function slowly(milliseconds: number) {
  return async (setting: AuditSetting): Promise<Judge> => {
    const judge = await localJudge(setting);
    return { ...judge, judge: async (batch) => (await pause(milliseconds), judge.judge(batch)) };
  };
}

let folder = "";
beforeAll(async () => {
  // Inside the package, where what is not bundled is found.
  folder = mkdtempSync(join(ROOT, "node_modules", ".queue-"));
  const [entryPoints, outfile] = [[join(ROOT, "test/run/queue-child.ts")], join(folder, "child.mjs")];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", packages: "external" });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Workers in processes of their own; one that ends is followed by another one. */
class Children {
  readonly #argument: string;
  readonly #running = new Set<ChildProcess>();
  #isClosed = false;
  killed = 0;
  batches = 0;

  constructor(test: TestContext, url: string, slowMs = 0) {
    const options: ChildOptions = { url, setting: SETTING, lockMs: 500, slowMs };
    this.#argument = JSON.stringify(options);
    test.onTestFinished(() => {
      this.#isClosed = true;
      this.kill();
    });
  }

  start(): this {
    const child = fork(join(folder, "child.mjs"), [this.#argument], { stdio: ["ignore", 2, 2, "ipc"] });
    this.#running.add(child);
    child.on("message", () => this.batches++);
    child.on("exit", () => {
      this.#running.delete(child);
      if (!this.#isClosed) this.start();
    });
    return this;
  }

  kill(): void {
    for (const child of this.#running) if (!child.killed && child.kill("SIGKILL")) this.killed++;
  }
}

const PROGRAMS = [undefined, ...(VALKEY === undefined ? [] : [VALKEY])];

describe.skipIf(NO_REDIS).concurrent("a queue", () => {
  it.for(PROGRAMS)("with two workers gives the results of one process (%s)", async (program, test) => {
    const redis = await server(test, program === undefined ? {} : { program });
    const [workers, contacts] = [[worker(test, redis.url), worker(test, redis.url)], [] as QueueContact[]];
    const { judge, notes } = await producer(test, redis.url, { onQueue: (contact) => contacts.push(contact) });
    test.expect(await resultsBy(judge, ENTRIES)).toEqual(await HERE);
    const [one, other] = await Promise.all(workers.map(({ end }) => end()));
    test.expect(one!.entries + other!.entries).toBe(ENTRIES.length);
    test.expect(Math.min(one!.entries, other!.entries)).toBeGreaterThan(0);
    for (const said of [notes, workers[0]!.notes])
      test.expect(said[0]).toMatch(/without a secret, anyone who can write/);
    test.expect(workers[0]!.notes[1]).toMatch(/: ready for batches under the prefix bootproof$/);
    for (const { server } of contacts) test.expect(server).toBe(redis.url);
  });

  // Two at once. Fewer than four: the second time, one of them may not run again yet.
  const workerKills = Math.max(3, 2 * KILLS);
  it(`gives batches to other workers when some are killed: ${workerKills} or more`, LONG, async (test) => {
    const redis = await server(test);
    const { judge } = await producer(test, redis.url);
    const results = resultsBy(judge, MANY);
    const children = new Children(test, redis.url, 20).start().start();
    for (let wait = 2; children.killed < workerKills; wait = 2 + (wait % 3)) {
      const after = children.batches + wait;
      await until(() => children.batches >= after);
      children.kill();
    }
    test.expect(await results).toEqual(await resultsHere(SETTING, MANY));
  });

  it.for([true, false])(
    `loses nothing when the server is killed: ${KILLS} times (keeps its data: %s)`,
    LONG,
    async (keeps, test) => {
      const redis = await server(test, { keeps });
      const one = worker(test, redis.url, { lockMs: 3000, judgeOf: slowly(60) });
      const { judge, notes } = await producer(test, redis.url);
      let done = 0;
      const judged = batchesOf(MANY).map(async (batch) => {
        const { results } = await judge.judge(batch);
        done++;
        return results;
      });
      for (let round = 0; round < KILLS; round++) {
        const before = done;
        await until(() => done > before + 1);
        await redis.kill();
        test.expect(done).toBeLessThan(judged.length);
        await pause(100 * (1 + (round % 4)));
        await redis.start();
      }
      test.expect((await Promise.all(judged)).flat()).toEqual(await resultsHere(SETTING, MANY));
      for (const said of [notes, one.notes])
        for (const text of ["the connection is lost", "connected again"])
          test.expect(said.filter((note) => note.includes(text))).toHaveLength(KILLS);
      test.expect(notes.some((note) => note.includes("the server lost jobs"))).toBe(!keeps);
      // After a loss too, the server keeps few answers.
      const [events] = await redis.client.keys("*:events");
      await until(async () => (await redis.client.xlen(events!)) <= 200);
    },
  );

  it("goes on when connections drop, of worker and producer, again and again", async (test) => {
    const redis = await server(test);
    const [near, far] = [await proxyTo(redis.port), await proxyTo(redis.port)];
    test.onTestFinished(() => Promise.all([near.close(), far.close()]).then(() => {}));
    // A job whose lock ran out twice fails: on a busy machine a short one runs out beside the drops.
    const one = worker(test, far.url, { lockMs: 8000, judgeOf: slowly(60) });
    await until(() => one.notes.length > 1);
    const { judge } = await producer(test, near.url);
    let done = false;
    const results = resultsBy(judge, ENTRIES).finally(() => (done = true));
    let drops = 0;
    for (; !done && drops < 8; drops++) {
      await pause(200 + 100 * (drops % 3));
      await (drops % 2 === 0 ? near : far).drop(drops % 5 === 0 ? 300 : 0);
    }
    test.expect(await results).toEqual(await HERE);
    test.expect(drops).toBeGreaterThan(0);
  });

  it.for([
    ["another policy", { setting: settingOf("another"), secret: SECRET }],
    ["another secret", { secret: SECRET.replace("5", "6") }],
    ["no secret", {}],
    ["another prefix", { secret: SECRET, prefix: "other" }],
  ] as const)("is not judged by a worker with %s, and its producer says so", async ([, given], test) => {
    const redis = await server(test);
    const other = worker(test, redis.url, given);
    const { judge, notes } = await producer(test, redis.url, { secret: SECRET });
    const results = resultsBy(judge, SOME);
    await until(() => notes.some((note) => note.includes("waiting for a worker: none takes these jobs")));
    worker(test, redis.url, { secret: SECRET });
    test.expect(await results).toEqual(await resultsHere(SETTING, SOME));
    test.expect(await other.end()).toMatchObject({ batches: 0, entries: 0 });
  });

  it("is judged by the present of its own run, also if another run differs in that alone", async (test) => {
    const redis = await server(test);
    const presents: string[] = [];
    const judgeOf = (setting: AuditSetting): Promise<Judge> => (presents.push(setting.now), localJudge(setting));
    worker(test, redis.url, { judgeOf });
    const days = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"];
    for (const now of days) {
      const setting = { ...SETTING, now };
      const { judge } = await producer(test, redis.url, { setting });
      test.expect(await resultsBy(judge, SOME)).toEqual(await resultsHere(setting, SOME));
    }
    test.expect(presents).toEqual(days);
  });

  it("leaves the entries of a job unjudged that failed three times, and ends those workers", async (test) => {
    const redis = await server(test);
    const { judge } = await producer(test, redis.url);
    const broken = async (setting: AuditSetting): Promise<Judge> => {
      const judge = await localJudge(setting);
      const isPoisoned = ({ entries }: Batch): boolean => entries.includes(SOME[0]!) || entries[0]!.length === 6;
      return {
        ...judge,
        judge: async (batch) => {
          if (!isPoisoned(batch)) return judge.judge(batch);
          // A server that takes its time: the worker ends once that has learnt of the failure.
          await redis.client.call("CLIENT", "PAUSE", 300, "WRITE");
          throw new Error("broken");
        },
      };
    };
    const poisoned = judge.judge({ entries: [toUtf8("poison"), SOME[0]!] });
    for (let times = 0; times < 3; times++)
      await test.expect(worker(test, redis.url, { judgeOf: broken }).ended).rejects.toMatchObject({
        name: "QueueError",
        code: "judge",
        message: "nothing more can be judged here: broken",
      });
    test.expect((await poisoned).results).toEqual([UNJUDGED, UNJUDGED]);
    worker(test, redis.url, { judgeOf: broken });
    test.expect((await judge.judge({ entries: SOME.slice(1, 3) })).results).toEqual((await HERE).slice(1, 3));
  });

  it("refuses a server that may drop its jobs", async (test) => {
    const redis = await server(test, { args: ["--maxmemory", "1gb"] });
    for (const policy of ["allkeys-lru", "volatile-ttl"]) {
      await redis.client.config("SET", "maxmemory-policy", policy);
      for (const start of [queueJudge, runWorker]) {
        const message = matching(new RegExp(`maxmemory-policy ${policy}\\). .*CONFIG SET maxmemory-policy noeviction`));
        await test.expect(start(redis.url, SETTING)).rejects.toMatchObject({ code: "eviction", message });
      }
    }
    // Without a limit nothing is dropped.
    await redis.client.config("SET", "maxmemory", "0");
    await producer(test, redis.url);
  });

  it("waits for a server whose memory is full, and goes on when it has some again", async (test) => {
    const redis = await server(test);
    const { judge, notes } = await producer(test, redis.url);
    const one = worker(test, redis.url, { judgeOf: slowly(50), lockMs: 5000 });
    await until(() => one.notes.length > 1);
    await redis.client.config("SET", "maxmemory", "1");
    for (const start of [queueJudge, runWorker])
      await test.expect(start(redis.url, SETTING)).rejects.toMatchObject({ message: matching(/cannot be used: OOM/) });
    const results = resultsBy(judge, ENTRIES);
    await until(() => notes.some((text) => text.includes(": OOM ")));
    await redis.client.config("SET", "maxmemory", "0");
    test.expect(await results).toEqual(await HERE);
  });

  it("demands a secret of 32 bytes where the server may be another host", async (test) => {
    for (const secret of ["", "too short", "ab".repeat(31), `${"x".repeat(64)}!`])
      for (const start of [queueJudge, runWorker])
        await test
          .expect(start("redis://10.0.0.1", SETTING, { secret }))
          .rejects.toThrow(/^options.secret: expected at least 32 random bytes in hex or base64/);
    for (const url of ["redis://10.0.0.1", "rediss://redis.example", "redis+sentinel://127.0.0.1/main"])
      for (const start of [queueJudge, runWorker])
        await test
          .expect(start(url, SETTING))
          .rejects.toMatchObject({ code: "secret", message: matching(/--queue-secret-file/) });
    const hosts = [
      "redis://localhost",
      "redis://127.1.2.3:1",
      "redis://[::1]",
      "/run/r.sock",
      "redis://127.0.0.1.example",
    ];
    test.expect(hosts.map((url) => isLocal(parseQueueUrl(url)))).toEqual([true, true, true, true, false]);
  });
});

/** The data of a job, as its producer wrote it. */
interface JobData {
  readonly entries: readonly string[];
  readonly expected?: readonly (string | null)[];
  readonly sent: string;
  readonly seal: string;
}

/** Everything between a producer and a worker that have a secret. */
class Between {
  /** The jobs of the run, and those of an earlier run about other entries. */
  readonly jobs: readonly JobData[];
  readonly earlier: readonly JobData[];
  readonly #redis: RedisServer;
  readonly #prefix: string;
  readonly #ids: readonly string[];
  readonly #queue: Queue;
  readonly #events: QueueEvents;

  private constructor(
    redis: RedisServer,
    prefix: string,
    [ids, jobs, earlier]: [string[], JobData[], JobData[]],
    name: string,
  ) {
    [this.#redis, this.#prefix, this.#ids, this.jobs, this.earlier] = [redis, prefix, ids, jobs, earlier];
    const options = { connection: redis.client, prefix: `{w${prefix}}` };
    this.#queue = new Queue(name, options);
    this.#events = new QueueEvents(name, { ...options, lastEventId: "0" });
  }

  static async of(redis: RedisServer, prefix: string): Promise<Between> {
    const [ids, jobs, name] = await Between.#waiting(redis, prefix);
    const [, earlier] = await Between.#waiting(redis, "earlier");
    return new Between(redis, prefix, [ids, jobs, earlier], name);
  }

  static async #waiting({ client }: RedisServer, prefix: string): Promise<[string[], JobData[], string]> {
    const all = async (): Promise<string[]> =>
      (await client.keys(`{${prefix}}:*`)).filter((key) => /-\d+$/.test(key)).sort();
    await until(async () => (await all()).length === 2);
    const keys = await all();
    const data = await Promise.all(keys.map(async (key) => JSON.parse((await client.hget(key, "data"))!) as JobData));
    return [keys.map((key) => key.replace(/.*:/, "")), data, keys[0]!.split(":")[1]!];
  }

  /** What an honest worker answers to a job. */
  async answer(data: JobData): Promise<string | null> {
    const job = await this.#queue.add("batch", data);
    return (await job.waitUntilFinished(this.#events)) as string | null;
  }

  /** Gives an answer to the producer, to the batch of this number, and waits until it was taken or refused. */
  send(batch: number, answer: unknown): Promise<void> {
    return this.sendText(batch, JSON.stringify(answer));
  }

  async sendText(batch: number, text: string): Promise<void> {
    const id = this.#ids[batch]!;
    const isOpen = (await this.#redis.client.exists(this.#key(id))) === 1;
    await this.#redis.client.hset(this.#key(id), "returnvalue", text);
    await this.#redis.client.zadd(this.#key("completed"), Date.now(), id);
    if (isOpen) await until(async () => (await this.#redis.client.zscore(this.#key("completed"), id)) === null);
  }

  async fail(batch: number): Promise<void> {
    await this.#redis.client.zadd(this.#key("failed"), Date.now(), this.#ids[batch]!);
  }

  #key(name: string): string {
    return `{${this.#prefix}}:${this.#queue.name}:${name}`;
  }
}

/** Changes a batch's job, and gives the worker's answer to the producer. */
const changed = (change: (data: JobData, between: Between) => Partial<JobData>) => async (between: Between) => {
  const data = between.jobs[1]!;
  await between.send(1, await between.answer({ ...data, ...change(data, between) }));
};

const ATTACKS: Readonly<Record<string, (between: Between) => Promise<void>>> = {
  "a return value that is no JSON": (between) => between.sendText(1, "no JSON"),
  "a job of an earlier run": changed((_, { earlier }) => earlier[1]!),
  "an answer of an earlier run": async (between) => between.send(1, await between.answer(between.earlier[1]!)),
  "two batches exchanged": async (between) => {
    const answers = await Promise.all(between.jobs.map((job) => between.answer(job)));
    await between.send(0, answers[1]);
    await between.send(1, answers[0]);
  },
  "a job as an answer": (between) => between.send(1, `${between.jobs[1]!.seal}\n`),
  "the job's own data as an answer": (between) => between.send(1, between.jobs[1]),
  "a changed entry": changed((_, { jobs }) => ({ entries: jobs[0]!.entries })),
  "a removed entry": changed(({ entries }) => ({ entries: entries.slice(1) })),
  "entries in another order": changed(({ entries }) => ({ entries: entries.toReversed() })),
  "a changed expectation": changed(({ expected }) => ({ expected: expected!.map(() => '{"organizationId":"o"}') })),
  "no expectation": changed(({ expected }) => ({ expected: expected!.map(() => null) })),
  "another setting": changed(({ sent }) => ({ sent: JSON.stringify({ ...JSON.parse(sent), allowDebug: true }) })),
  "a changed result": async (between) => {
    const answer = await between.answer(between.jobs[1]!);
    await between.send(1, answer!.replace(/"(?:malformed|rejected)"/g, '"verified"'));
    await between.send(1, answer!.replace(/\d\]\}$/, "0]}"));
  },
  "an answer without a seal": async (between) => {
    const answer = await between.answer(between.jobs[1]!);
    await between.send(1, answer!.replace(/^\w+/, ""));
    await between.send(1, answer!.replace(/^\w+/, "0".repeat(64)));
  },
  "an answer twice, to both batches": async (between) => {
    const answer = await between.answer(between.jobs[0]!);
    for (const batch of [0, 0, 1, 1]) await between.send(batch, answer);
  },
  "failures without a seal": async (between) => {
    for (let times = 0; times < 40; times++, await pause(80)) await between.fail(1);
  },
};

describe.skipIf(NO_REDIS)("between producer and worker", () => {
  let redis: RedisServer;
  /** Two batches, of which the second one has other verdicts than the first. */
  const batches: Batch[] = [
    { entries: [ENTRIES[0]!, ENTRIES[6]!, ENTRIES[5]!], expected: [null, null, null] },
    { entries: [ENTRIES[2]!, ENTRIES[1]!, ENTRIES[0]!], expected: [null, null, '{"organizationId":"none"}'] },
  ];
  const judgedBy = (judge: Judge): Promise<unknown[]> =>
    Promise.all(batches.map(async (batch) => (await judge.judge(batch)).results.map(({ verdict }) => verdict)));
  beforeAll(async () => {
    redis = await redisServer();
    const judge = await queueJudge(redis.url, SETTING, { secret: SECRET, prefix: "earlier" });
    const earlier = judgedBy({
      ...judge,
      judge: ({ entries }) => judge.judge({ entries: entries.map(() => ENTRIES[0]!), expected: [null, null, null] }),
    });
    earlier.catch(() => {});
  });
  afterAll(async () => {
    await redis.close();
  });

  const UNJUDGED_THREE = ["unjudged", "unjudged", "unjudged"];

  it.concurrent.for(Object.entries(ATTACKS))("changes no verdict: %s", async ([, attack], test) => {
    const prefix = test.task.name.replaceAll(/\W/g, "");
    const { judge, notes } = await producer(test, redis.url, { secret: SECRET, prefix });
    const judged = judgedBy(judge);
    worker(test, redis.url, { secret: SECRET, prefix: `w${prefix}` });
    await attack(await Between.of(redis, prefix));
    await pause(100);
    worker(test, redis.url, { secret: SECRET, prefix });
    const second =
      attack === ATTACKS["failures without a seal"] ? UNJUDGED_THREE : ["malformed", "rejected", "rejected"];
    test.expect(await judged).toEqual([["verified", "verified", "verified"], second]);
    test.expect(notes.length).toBeGreaterThan(0);
  });

  it("has seals that differ by direction, key and every part of a batch", () => {
    const batch = { run: "00", batch: 1, setting: "s", now: "n", sent: "{}", entries: [toUtf8("a"), toUtf8("b")] };
    const others = [
      { run: "01" },
      { batch: 2 },
      { setting: "t" },
      { now: "m" },
      { run: "0", setting: "0s" },
      { entries: [toUtf8("ab")] },
      { entries: [toUtf8("b"), toUtf8("a")] },
      { entries: [toUtf8("a")] },
      { expected: [null, "b"] },
      { expected: ["b", null] },
      { expected: [null, null] },
    ];
    const seals = new Seals(SECRET);
    const all = [batch, ...others.map((other) => ({ ...batch, ...other }))].map((each) =>
      seals.of("answer", sealedFacts(each)),
    );
    all.push(
      seals.of("job", sealedFacts(batch)),
      seals.of("answer", sealedFacts(batch), "r"),
      new Seals().of("answer", sealedFacts(batch)),
    );
    expect(new Set(all).size).toBe(others.length + 4);
    expect(seals.isValid(all[0], "answer", sealedFacts(batch))).toBe(true);
    for (const other of [...all.slice(1), "", undefined])
      expect(seals.isValid(other, "answer", sealedFacts(batch))).toBe(false);
  });
});

/** Writes keys and certificates: ca.pem, redis.pem from it, other.pem. */
function makeCertificates(folder: string): void {
  const openssl = (line: string): void =>
    void execFileSync("openssl", line.split(" "), { cwd: folder, stdio: "ignore" });
  const curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
  for (const name of ["ca", "other"])
    openssl(`req -x509 ${curve} -days 2 -subj /CN=${name} -keyout ${name}.key -out ${name}.pem`);
  openssl(`req ${curve} -subj /CN=redis -keyout redis.key -out redis.csr`);
  writeFileSync(join(folder, "ext"), "subjectAltName=IP:127.0.0.1\n");
  openssl("x509 -req -in redis.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out redis.pem");
}

/** An audit of a few entries through a queue, with a worker of the same URL. */
async function auditBy(
  test: TestContext,
  url: string,
  options: QueuePlaceOptions & RunWorkerOptions = {},
): Promise<void> {
  const { end } = worker(test, url, options);
  const { judge } = await producer(test, url, options);
  test.expect(await resultsBy(judge, SOME)).toEqual((await HERE).slice(0, SOME.length));
  test.expect((await end()).entries).toBe(SOME.length);
}

/** What a refused start says, before the test's own time is up. */
async function refusal(url: string, options: QueuePlaceOptions = {}): Promise<{ code: string; message: string }> {
  return joinQueue(url, SETTING, options, 3000).then(
    (side) => (side.close(), { code: "", message: "" }),
    (error: unknown) => error as { code: string; message: string },
  );
}

describe.skipIf(NO_REDIS).concurrent("a queue on servers of every kind", () => {
  it("is a Unix socket, and has its own prefix", async (test) => {
    const redis = await server(test, { args: (folder) => ["--unixsocket", join(folder, "redis.sock")] });
    const path = join(redis.folder, "redis.sock");
    for (const url of [path, `unix://${path}`]) await auditBy(test, url, { prefix: "one.two" });
    const keys = await redis.client.keys("*");
    test.expect(keys.length).toBeGreaterThan(0);
    test.expect(keys.filter((key) => !key.startsWith("{one.two}:"))).toEqual([]);
    for (const prefix of ["", "a b", "{a}", "a:b", "x".repeat(101)])
      test.expect(await refusal(redis.url, { prefix })).toMatchObject({ name: "QueueError", code: "prefix" });
  });

  it("is a cluster of three masters", async (test) => {
    const args = (folder: string): string[] => [
      ...["--cluster-enabled", "yes", "--cluster-config-file", join(folder, "nodes.conf")],
    ];
    const nodes = await Promise.all([1, 2, 3].map(() => server(test, { args })));
    const ranges = [0, 5000, 10_000, 16_384];
    for (const [at, { client }] of nodes.entries())
      await client.call("CLUSTER", "ADDSLOTSRANGE", ranges[at]!, ranges[at + 1]! - 1);
    for (const { port } of nodes.slice(1)) await nodes[0]!.client.call("CLUSTER", "MEET", "127.0.0.1", port);
    for (const { client } of nodes)
      await until(async () => /cluster_state:ok[^]*known_nodes:3/.test(String(await client.call("CLUSTER", "INFO"))));
    const hosts = nodes.slice(0, 2).map(({ port }) => `127.0.0.1:${port}`);
    await auditBy(test, `redis+cluster://${hosts.join(",")}`, { secret: SECRET });
    const refused = await Promise.all(nodes.map(({ url }) => refusal(url)));
    const said = refused.filter(({ message }) => message.includes("it is a node of a cluster: use redis+cluster://"));
    test.expect(said).toHaveLength(2);
  });

  it("is found by a sentinel", async (test) => {
    const redis = await server(test);
    const port = await freePort();
    const file = join(redis.folder, "sentinel.conf");
    writeFileSync(file, `port ${port}\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 ${redis.port} 1\n`);
    const sentinel = spawn("redis-server", [file, "--sentinel"], { stdio: "ignore" });
    test.onTestFinished(() => void sentinel.kill("SIGKILL"));
    await auditBy(test, `redis+sentinel://127.0.0.1:${port}/main`, { secret: SECRET });
    const { message } = await refusal(redis.url.replace("redis:", "redis+cluster:"), { secret: SECRET });
    test.expect(message).toMatch(/cluster support disabled.*it is not a cluster: use redis:\/\//);
  });

  it("has TLS, and demands a certificate of each client", async (test) => {
    const port = await freePort();
    const redis = await server(test, {
      args(folder) {
        makeCertificates(folder);
        const [cert, key, ca] = ["redis.pem", "redis.key", "ca.pem"].map((name) => join(folder, name));
        return ["--tls-port", `${port}`, "--tls-cert-file", cert!, "--tls-key-file", key!, "--tls-ca-cert-file", ca!];
      },
    });
    const text = (name: string): string => readFileSync(join(redis.folder, name), "utf8");
    const url = `rediss://127.0.0.1:${port}`;
    const [ca, cert, key] = [text("ca.pem"), text("redis.pem"), text("redis.key")];
    await auditBy(test, url, { tls: { ca, cert, key } });
    for (const [tls, code, said] of [
      [{ cert, key }, "unreachable", /--queue-ca/],
      [{ ca: text("other.pem"), cert, key }, "unreachable", /--queue-ca/],
      [{ ca }, "unreachable", /check --queue-cert and --queue-key/],
      [{ ca: "none" }, "tls", /^--queue-ca, --queue-cert or --queue-key cannot be used: /],
      [{ cert }, "tls", /need each other/],
      [{ cert, key: text("other.key") }, "tls", /cannot be used: /],
    ] as const)
      test.expect(await refusal(url, { tls })).toMatchObject({ code, message: matching(said) });
    test.expect(await refusal(redis.url, { tls: { ca } })).toMatchObject({ code: "url" });
  });

  it("needs a password and rights, and those that a refusal names are enough", async (test) => {
    const redis = await server(test, { password: "right" });
    const at = (user: string): string => redis.url.replace("//", `//${user}@`);
    const add = (user: string, ...rules: string[]): Promise<unknown> =>
      redis.client.call("ACL", "SETUSER", user, "on", ">pw", ...rules);
    await add("none", "~*", "-@all", "+hello", "+auth", "+info");
    const { message } = await refusal(at("none:pw"));
    const [, rights = ""] = /this user lacks rights: it needs the keys of the prefix, as (\S+, and [^)]*)\)/.exec(
      message,
    )!;
    await add("enough", "-@all", ...rights.split(/(?:,? and)? /));
    await auditBy(test, at("enough:pw"));
    test.expect((await refusal(redis.url)).message).toMatch(/NOAUTH.*it demands a password: write USER:PASSWORD@/);
    test.expect((await refusal(at(":wrong"))).message).toMatch(/WRONGPASS.*it refuses this user or this password/);
  });
});

/** Gives each command the same answer. */
const answering =
  (answer: string) =>
  (socket: Socket): void =>
    void socket.on("data", (piece) => socket.write(answer.repeat(String(piece).match(/^\*\d+/gm)?.length ?? 0)));

/** What is there, and is not a server of a queue; and what is said of it. */
const SERVERS: Readonly<Record<string, readonly [(socket: Socket) => void, RegExp]>> = {
  "says nothing": [() => {}, /cannot be reached: no answer/],
  "ends at once": [(socket) => void socket.end(), /cannot be reached: /],
  "is another one": [(socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), /cannot be reached: .*RESP/],
  "knows no passwords, and quotes them": [
    answering("-ERR unknown, with args beginning with: 'hunter2'\r\n"),
    /cannot be reached: ERR unknown$/,
  ],
  "quotes the password in other words": [answering("-ERR not hunter2\r\n"), /cannot be reached: ERR not \[password\]$/],
};

describe.concurrent("the URL of a queue", () => {
  it.each(Object.entries(SERVERS))("of a server that %s is sent without the password", async (_, [connected, said]) => {
    const { port, close } = await faultyServer({ connected });
    const { message } = await refusal(`redis://me:hunter2@127.0.0.1:${port}`);
    await close();
    expect(message).toMatch(said);
    expect(message.startsWith(`redis://127.0.0.1:${port}: `)).toBe(true);
  });

  it.each([
    ["redis://u:p%40@h", "redis://h:6379", { kind: "server", username: "u", password: "p@", db: 0 }],
    ["rediss://:p@[::1]:1/3", "rediss://[::1]:1/3", { isTls: true, username: "", password: "p", db: 3 }],
    ["redis+cluster://a,b:1", "redis+cluster://a:6379,b:1", { kind: "cluster" }],
    ["rediss+sentinel://a,b/m/2", "rediss+sentinel://a:26379,b:26379/m/2", { kind: "sentinel", name: "m", db: 2 }],
    ["/run/r.sock", "unix:///run/r.sock", { kind: "socket", name: "/run/r.sock", hosts: [] }],
  ])("%s is read and shown as %s", (url, shown, parts) => {
    expect(parseQueueUrl(url)).toMatchObject({ shown, ...parts });
  });

  it.each(["", "redis", "http://h", "redis://", "redis://h/x", "redis://h:70000", "redis://:a%zz@h", "redis://h?a=1"])(
    "is refused if invalid, and not quoted: %s",
    async (url) => {
      const message = matching(/^expected a URL such as redis:\/\/127\.0\.0\.1:6379/);
      await expect(queueJudge(url, SETTING)).rejects.toMatchObject({ name: "QueueError", code: "url", message });
    },
  );
});
