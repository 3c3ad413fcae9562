/** The server of a queue, or the network before it, that goes wrong: what audit --queue and worker make of it. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { type TestContext, describe, expect, it } from "vitest";
import type { Batch } from "../../src/audit/batch.js";
import { localJudge } from "../../src/audit/judge.js";
import { connectRedis } from "../../src/audit/node-redis.js";
import { threadJudge } from "../../src/audit/node-threads.js";
import type { QueueTls } from "../../src/audit/queue-options.js";
import { type RunWorkerOptions, queueJudge, runWorker } from "../../src/audit/queue.js";
import { batchesOf, entriesOf, linesBy, linesHere, settingOf } from "../audit/queue-support.js";
import { NO_REDIS, type RedisServer, VALKEY, WITHOUT_REDIS, freePort, redisServer } from "../support/redis.js";
import { type FaultyServer, faultyServer, writeForever } from "./servers.js";

if (NO_REDIS) console.warn(WITHOUT_REDIS);

const PASSWORD = "hunter2";
const START_MS = 5000;

/** The words of each command that a client sends, one command after the other. */
function commandsIn(text: string): string[][] {
  return text
    .split(/^\*\d+\r\n/m)
    .slice(1)
    .map((command) => [...command.matchAll(/\$\d+\r\n([^\r]*)\r\n/g)].map(([, word]) => word!));
}

const answering =
  (answerTo: (words: readonly string[]) => string) =>
  (socket: Socket): void =>
    void socket.on("data", (piece) => {
      for (const words of commandsIn(piece.toString())) socket.write(answerTo(words));
    });

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** What is there, and is not a server of a queue; and what is said of it. */
const SERVERS: Readonly<Record<string, readonly [(socket: Socket) => void, RegExp]>> = {
  "says nothing": [() => {}, /cannot be reached: no answer/],
  "reads nothing": [(socket) => void socket.pause(), /cannot be reached: no answer/],
  "ends at once (FIN)": [(socket) => void socket.end(), /cannot be reached: /],
  "resets at once": [(socket) => void socket.resetAndDestroy(), /cannot be reached: .*(?:ECONNRESET|no answer)/],
  "is another one": [
    (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\ncontent-type: text/html\r\n\r\n<html>"),
    /cannot be reached: .*RESP/,
  ],
  "answers without an end": [
    (socket) => {
      socket.write("$99999999999\r\n");
      setTimeout(() => writeForever(socket, "x".repeat(1000)), START_MS / 2).unref();
    },
    /cannot be reached: /,
  ],
  "points to another host": [answering(() => "-MOVED 1 127.0.0.1:9\r\n"), /cannot be reached: MOVED 1/],
  "is loading": [answering(() => "-LOADING Redis is loading the dataset in memory\r\n"), /cannot be reached: LOADING/],
  "knows no passwords, and quotes them": [
    answering(
      ([name = "", ...words]) => `-ERR unknown command '${name}', with args beginning with: ${quoted(words)}\r\n`,
    ),
    /cannot be reached: ERR unknown command '[^']*'$/,
  ],
  "quotes the password in other words": [
    answering((words) => `-ERR no such thing: ${words.join(" ")}\r\n`),
    /cannot be reached: ERR no such thing: .*\[password\]/,
  ],
};

describe.concurrent("the server of a queue", () => {
  const refusalOf = async (url: string, tls: QueueTls = {}): Promise<Error> => {
    const error: unknown = await connectRedis(url, () => {}, { startMs: START_MS, tls }).then(
      (connection) => connection.close(),
      (refused: unknown) => refused,
    );
    expect(error).toMatchObject({ name: "QueueError", code: "unreachable" });
    expect(`${(error as Error).message}${(error as Error).stack ?? ""}`).not.toContain(PASSWORD);
    return error as Error;
  };

  it.each(Object.entries(SERVERS))("that %s is told, without the password", async (_, [connected, said]) => {
    const server: FaultyServer = await faultyServer({ connected });
    const shown = `redis://127.0.0.1:${server.port}`;
    try {
      const { message } = await refusalOf(shown.replace("//", `//me:${PASSWORD}@`));
      expect(message).toMatch(said);
      expect(message.startsWith(`${shown}: `)).toBe(true);
    } finally {
      await server.close();
    }
  });

  it.each([
    ["whose name is not known", () => Promise.resolve("service.invalid:6379"), /ENOTFOUND|EAI_AGAIN/],
    ["that is not there", async () => `127.0.0.1:${await freePort()}`, /ECONNREFUSED/],
  ] as const)("%s is told, without the password", async (_, host, said) => {
    expect((await refusalOf(`redis://me:${PASSWORD}@${await host()}`)).message).toMatch(said);
  });

  it("that resets connections after the handshake of TLS is told, with what to check", async (test) => {
    const folder = mkdtempSync(join(tmpdir(), "bootproof-queue-"));
    test.onTestFinished(() => rmSync(folder, { recursive: true }));
    makeCertificates(folder);
    const text = (name: string): string => readFileSync(join(folder, name), "utf8");
    const own = { isServer: true, cert: text("redis.pem"), key: text("redis.key") };
    const server = await faultyServer({
      connected: (socket) => {
        const secure = new TLSSocket(socket, own).on("error", () => {});
        secure.once("data", () => socket.resetAndDestroy());
      },
    });
    test.onTestFinished(() => server.close());
    const url = `rediss://127.0.0.1:${server.port}`;
    const { message } = await refusalOf(url, { ca: text("ca.pem") });
    test.expect(message).toMatch(/it closed the connection after the handshake: .*check --queue-cert and --queue-key/);
  });

  it("that has no TLS is told, and never sees the password", async () => {
    let seen = "";
    const server = await faultyServer({
      connected: (socket) => {
        socket.on("data", (piece) => (seen += piece.toString("latin1")));
        socket.write("-ERR Protocol error\r\n");
      },
    });
    await refusalOf(`rediss://me:${PASSWORD}@127.0.0.1:${server.port}`);
    await server.close();
    expect(seen).not.toBe("");
    expect(seen).not.toContain(PASSWORD);
  });
});

const SETTING = settingOf();
const ENTRIES = entriesOf(160);
const until = async (holds: () => boolean): Promise<void> => {
  for (const end = Date.now() + 120_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 20)))
    if (Date.now() > end) throw new Error("not come to it");
};

async function server(test: TestContext, ...args: Parameters<typeof redisServer>): Promise<RedisServer> {
  const redis = await redisServer(...args);
  test.onTestFinished(() => redis.close());
  return redis;
}

/** A worker that takes its time, so that there is a middle. */
function slowWorker(
  url: string,
  notes: string[],
  signal: AbortSignal,
  milliseconds = 100,
): ReturnType<typeof runWorker> {
  const judgeOf: RunWorkerOptions["judgeOf"] = async (setting) => {
    const judge = await localJudge(setting);
    return {
      ...judge,
      judge: async (batch) => (await new Promise((go) => setTimeout(go, milliseconds)), judge.judge(batch)),
    };
  };
  return runWorker(url, SETTING, { workers: 1, signal, judgeOf, onNote: (text) => notes.push(text) });
}

describe.skipIf(NO_REDIS).concurrent("a server of a queue without memory", () => {
  it("is told at the start", async (test) => {
    const redis = await server(test);
    await redis.client.config("SET", "maxmemory", "1");
    for (const start of [() => queueJudge(redis.url, SETTING), () => runWorker(redis.url, SETTING)])
      await test.expect(start()).rejects.toMatchObject({
        code: "unreachable",
        message: expect.stringMatching(/cannot be used: OOM/) as unknown,
      });
  });

  it("is told in the middle, and everybody goes on when it has some again", async (test) => {
    const redis = await server(test);
    const ended = new AbortController();
    const [workers, producers]: [string[], string[]] = [[], []];
    const worker = slowWorker(redis.url, workers, ended.signal);
    const judge = await queueJudge(redis.url, SETTING, { onNote: (text) => producers.push(text), concurrency: 2 });
    const lines = linesBy(judge, ENTRIES);
    await until(() => workers.some((text) => text.includes("takes batches")));
    await redis.client.config("SET", "maxmemory", "1");
    await until(() => [workers, producers].every((notes) => notes.some((text) => text.includes(": OOM "))));
    await redis.client.config("SET", "maxmemory", "0");
    test.expect(await lines).toBe(await linesHere(SETTING, ENTRIES));
    ended.abort();
    test.expect((await worker).batches).toBeGreaterThan(0);
    test.expect(await redis.client.exists("{bootproof}:dead-letters")).toBe(0);
  });
});

describe.skipIf(NO_REDIS).concurrent("a full server of a queue", () => {
  it("gets back what waits there, so that a worker can take what is left", async (test) => {
    const redis = await server(test);
    const judge = await queueJudge(redis.url, SETTING, { concurrency: 2 });
    test.onTestFinished(() => judge.close());
    const batches: Batch[] = [];
    for await (const batch of batchesOf(ENTRIES.slice(0, 64))) batches.push(batch);
    const jobs = async (): Promise<number> => (await redis.client.keys("*")).filter((key) => ofJob.test(key)).length;
    const judged = batches.slice(0, 2).map((batch) => judge.judge(batch));
    await becomes(async () => (await jobs()) === 2);
    await redis.client.config("SET", "maxmemory", "1");
    judged.push(...batches.slice(2).map((batch) => judge.judge(batch)));
    await becomes(async () => (await jobs()) <= 1);
    await redis.client.config("SET", "maxmemory", "0");
    const ended = new AbortController();
    const worker = slowWorker(redis.url, [], ended.signal, 1);
    const here = await localJudge(SETTING);
    const results = await Promise.all(batches.map((batch) => here.judge(batch)));
    test.expect((await Promise.all(judged)).map((each) => each.results)).toEqual(results.map((each) => each.results));
    ended.abort();
    await worker;
  });
});

/** One of each kind; each that Redis has, and Valkey, in `npm run test:soak`. */
const KINDS = ["noeviction", "allkeys-lru", "volatile-lru", "volatile-ttl"] as const;
const OTHERS = ["allkeys-lfu", "allkeys-random", "volatile-lfu", "volatile-random"] as const;
const POLICIES = [...KINDS, ...(process.env["BOOTPROOF_SOAK"] === "full" ? OTHERS : [])];

/** Of 3 kB each, so that few of them fill the memory. */
const LARGE = entriesOf(480).map((entry) => Uint8Array.from([...entry, ...new Uint8Array(2000).fill(0x20)]));

let byThreads: Promise<string> | undefined;
/** What the threads of an audit without a queue give. */
async function linesByThreads(): Promise<string> {
  byThreads ??= linesBy(threadJudge(SETTING, { threads: 2 }), LARGE);
  return byThreads;
}

interface Memory {
  readonly program?: string | undefined;
  readonly policy: (typeof POLICIES)[number];
}

/** Bytes for the queue. */
const MEMORY = 500_000;

async function auditWithLittleMemory(test: TestContext, { program, policy }: Memory): Promise<void> {
  const redis = await server(test, { program, args: ["--maxmemory-policy", policy] });
  const ended = new AbortController();
  const [workers, producers]: [string[], string[]] = [[], []];
  const worker = slowWorker(redis.url, workers, ended.signal, 20);
  await until(() => workers.some((text) => text.includes("ready for batches")));
  // Buffers of connections count, too.
  await linesBy(await queueJudge(redis.url, SETTING), LARGE.slice(0, 64));
  const used = Number(/used_memory:(\d+)/.exec(await redis.client.info("memory"))![1]);
  await redis.client.config("SET", "maxmemory", `${used + MEMORY}`);
  const starting = queueJudge(redis.url, SETTING, { onNote: (text) => producers.push(text) });
  if (policy.startsWith("allkeys")) await test.expect(starting).rejects.toMatchObject({ code: "eviction" });
  else {
    const outcome = linesBy(await starting, LARGE).catch((error: { readonly code: string }) => error.code);
    // A server that drops jobs may end an audit. It never changes a result.
    const wanted = [await linesByThreads(), ...(policy === "noeviction" ? [] : ["lost"])];
    test.expect(wanted).toContain(await outcome);
  }
  ended.abort();
  await worker;
  const evicted = Number(/evicted_keys:(\d+)/.exec(await redis.client.info("stats"))![1]);
  const noted = producers.filter((text) => text.includes(`(maxmemory-policy ${policy})`));
  test.expect(noted).toHaveLength(policy.startsWith("volatile") ? 1 : 0);
  if (policy.startsWith("volatile")) test.expect(evicted).toBeGreaterThan(0);
  if (policy !== "noeviction") return;
  test.expect(evicted).toBe(0);
  test.expect([...producers, ...workers].join("\n")).toContain("OOM");
}

describe.skipIf(NO_REDIS).concurrent("a server of a queue that evicts", () => {
  it.for(POLICIES)("changes no byte: %s", (policy, test) => auditWithLittleMemory(test, { policy }));
});

describe.skipIf(VALKEY === undefined).concurrent("Valkey (skipped where no valkey-server is installed)", () => {
  it.for(POLICIES)("changes no byte: %s", (policy, test) => auditWithLittleMemory(test, { policy, program: VALKEY }));
});

const DAY = 86_400;
const ofJob = /:[0-9a-f]{64}$/;

async function becomes(holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + 30_000; !(await holds()); await new Promise((go) => setTimeout(go, 50)))
    if (Date.now() > end) throw new Error("not come to it");
}

async function keysWithoutDay({ client }: RedisServer): Promise<string[]> {
  const keys = await client.keys("*");
  const lives = await Promise.all(keys.map((key) => client.ttl(key)));
  // -2: gone meanwhile.
  return keys.filter((_, at) => lives[at] === -1 || lives[at]! > DAY);
}

describe.skipIf(NO_REDIS).concurrent("each key of a queue expires within a day", () => {
  it("at any moment of a run, and after it", async (test) => {
    const redis = await server(test);
    const commands: string[] = [];
    const monitor = await redis.client.monitor();
    test.onTestFinished(() => monitor.disconnect());
    monitor.on("monitor", (_time: string, words: string[], source: string) => {
      if (source !== "lua" && words.some((word) => word.endsWith(":meta")))
        commands.push(`${words[0]!.toLowerCase()} of ${words.length}`);
    });
    const ended = new AbortController();
    const worker = slowWorker(redis.url, [], ended.signal, 30);
    const judge = await queueJudge(redis.url, SETTING, { concurrency: 2 });
    let done = false;
    const lines = linesBy(judge, ENTRIES).finally(() => (done = true));
    const seen = new Set<string>();
    for (; !done; await new Promise((go) => setTimeout(go, 1))) {
      test.expect(await keysWithoutDay(redis)).toEqual([]);
      for (const key of await redis.client.keys("*")) seen.add(key.replace(/.*:/, "").replace(/^[0-9a-f]{32}/, "ID"));
    }
    await lines;
    ended.abort();
    await worker;
    test.expect(await keysWithoutDay(redis)).toEqual([]);
    // No command but scripts makes it, not even for a moment without a lifetime.
    test.expect(commands.filter((name) => !/^(?:eval|ttl)/.test(name))).toEqual([]);
    test.expect([...seen]).toEqual(expect.arrayContaining(["meta", "id", "events", "active", "producers", "ID"]));
  });

  it("and is renewed while its producer lives", async (test) => {
    const redis = await server(test);
    const judge = await queueJudge(redis.url, SETTING);
    linesBy(judge, ENTRIES).catch(() => {});
    const own = async (): Promise<string[]> =>
      (await redis.client.keys("*")).filter((key) => /:wait$|:setting:/.test(key) || ofJob.test(key));
    await becomes(async () => (await own()).length > 10);
    const kept = await own();
    const rest = (key: string): number => (key.includes(":setting:") ? 5 : DAY - 100);
    for (const key of kept) await redis.client.expire(key, rest(key));
    for (const key of kept) await becomes(async () => (await redis.client.ttl(key)) > rest(key));
    test.expect(await keysWithoutDay(redis)).toEqual([]);
    await judge.close();
    test.expect(await keysWithoutDay(redis)).toEqual([]);
  });
});

type QueueOptions = Parameters<typeof queueJudge>[2] & Parameters<typeof runWorker>[2];

/** An audit through a queue, with a worker of the same URL. */
async function auditBy(url: string, options: QueueOptions = {}): Promise<string> {
  const ended = new AbortController();
  const working = runWorker(url, SETTING, { ...options, workers: 1, signal: ended.signal, judgeOf: localJudge });
  const judge = await queueJudge(url, SETTING, options);
  const lines = await linesBy(judge, ENTRIES);
  ended.abort();
  expect((await working).entries).toBe(ENTRIES.length);
  return lines;
}

/** What a refused start says; empty where it starts. */
async function refusal(url: string, options: QueueOptions = {}): Promise<{ code: string; message: string }> {
  try {
    await (await queueJudge(url, SETTING, options)).close();
    return { code: "", message: "" };
  } catch (error) {
    return error as { code: string; message: string };
  }
}

/** Waiting does not help: the test would run out of time first. */
async function refusedAtOnce(test: TestContext, url: string, tls?: RunWorkerOptions["tls"]): Promise<void> {
  const waiting = { startMs: 3_600_000, ...(tls && { tls }) };
  await test.expect(connectRedis(url, () => {}, waiting)).rejects.toMatchObject({ code: "unreachable" });
}

const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

/** Writes keys and certificates: ca.pem, redis.pem from it, other.pem. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]): void => void execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  for (const name of ["ca", "other"])
    openssl(
      "req",
      "-x509",
      ...curve,
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.pem`,
    );
  openssl("req", ...curve, "-subj", "/CN=redis", "-keyout", "redis.key", "-out", "redis.csr");
  writeFileSync(join(folder, "ext"), "subjectAltName=IP:127.0.0.1\n");
  const issued = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "ext"];
  openssl("x509", "-req", "-in", "redis.csr", ...issued, "-out", "redis.pem");
}

describe.skipIf(NO_REDIS).concurrent("a queue on servers of every kind", () => {
  const here = linesHere(SETTING, ENTRIES);

  it("has its own prefix, which both sides need", async (test) => {
    const redis = await server(test);
    test.expect(await auditBy(redis.url, { prefix: "one.two" })).toBe(await here);
    const keys = await redis.client.keys("*");
    test.expect(keys.length).toBeGreaterThan(0);
    test.expect(keys.filter((key) => !key.startsWith("{one.two}:"))).toEqual([]);
    for (const prefix of ["", "a b", "{a}", "a:b", "x".repeat(101)])
      test.expect(await refusal(redis.url, { prefix })).toMatchObject({ name: "QueueError", code: "prefix" });
  });

  it("says under which prefix it waits for a worker, where the other side has another one", async (test) => {
    const redis = await server(test);
    const ended = new AbortController();
    const notes: Record<"worker" | "producer", string[]> = { worker: [], producer: [] };
    const onNote = (side: "worker" | "producer") => (text: string) => void notes[side].push(text);
    const common = { workers: 1, judgeOf: localJudge, signal: ended.signal };
    const start = (prefix: string): Promise<unknown> =>
      runWorker(redis.url, SETTING, { ...common, prefix, onNote: onNote("worker") });
    const working = [start("one")];
    const judge = await queueJudge(redis.url, SETTING, { prefix: "two", onNote: onNote("producer") });
    const lines = linesBy(judge, ENTRIES);
    await until(() => notes.producer.some((text) => text.includes("waiting for a worker")));
    test
      .expect(notes.producer.at(-1))
      .toMatch(/waiting for a worker: none accepts these jobs under the prefix two \(--queue-prefix\)$/);
    test.expect(notes.worker.join("\n")).toMatch(/ready for batches of policy \S+ under the prefix one/);
    working.push(start("two"));
    test.expect(await lines).toBe(await here);
    ended.abort();
    await Promise.all(working);
  });

  it("is a Unix socket", async (test) => {
    const redis = await server(test, { args: (folder) => ["--unixsocket", join(folder, "redis.sock")] });
    const path = join(redis.folder, "redis.sock");
    test.expect(await auditBy(path)).toBe(await here);
    test.expect(await auditBy(`unix://${path}`)).toBe(await here);
  });

  it("is a cluster of three masters", async (test) => {
    const args = (folder: string): string[] => [
      ...["--cluster-enabled", "yes", "--cluster-config-file", join(folder, "nodes.conf")],
      ...["--cluster-node-timeout", "2000"],
    ];
    const nodes = await Promise.all([1, 2, 3].map(() => server(test, { args })));
    const ranges = [0, 5000, 10_000, 16_384];
    for (const [at, { client }] of nodes.entries())
      await client.call("CLUSTER", "ADDSLOTSRANGE", ranges[at]!, ranges[at + 1]! - 1);
    for (const { port } of nodes.slice(1)) await nodes[0]!.client.call("CLUSTER", "MEET", "127.0.0.1", port);
    for (const { client } of nodes)
      await becomes(async () => {
        const info = String(await client.call("CLUSTER", "INFO"));
        return info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3");
      });
    const hosts = nodes.slice(0, 2).map(({ port }) => `127.0.0.1:${port}`);
    test.expect(await auditBy(`redis+cluster://${hosts.join(",")}`)).toBe(await here);
    const keys = await Promise.all(nodes.map(({ client }) => client.keys("*")));
    test.expect(keys.filter((own) => own.length > 0)).toHaveLength(1);
    const refused = await Promise.all(nodes.map(({ url }) => refusal(url)));
    const said = refused.filter(({ message }) => message.includes("it is a node of a cluster: use redis+cluster://"));
    test.expect(said).toHaveLength(2);
  });

  it("is not a cluster, which is said", async (test) => {
    const redis = await server(test);
    const { message } = await refusal(redis.url.replace("redis:", "redis+cluster:"));
    test.expect(message).toMatch(/cluster support disabled.*it is not a cluster: use redis:\/\//);
  });

  it("is found by a sentinel", async (test) => {
    const redis = await server(test);
    const port = await freePort();
    const file = join(redis.folder, "sentinel.conf");
    writeFileSync(file, `port ${port}\nbind 127.0.0.1\nsentinel monitor main 127.0.0.1 ${redis.port} 1\n`);
    const sentinel = spawn("redis-server", [file, "--sentinel"], { stdio: "ignore" });
    test.onTestFinished(() => void sentinel.kill("SIGKILL"));
    test.expect(await auditBy(`redis+sentinel://127.0.0.1:${port}/main`)).toBe(await here);
  });

  it("has TLS, and demands a certificate of each client", async (test) => {
    const port = await freePort();
    const redis = await server(test, {
      args(folder) {
        makeCertificates(folder);
        const [cert, key, ca] = ["redis.pem", "redis.key", "ca.pem"].map((name) => join(folder, name));
        const files = ["--tls-cert-file", cert!, "--tls-key-file", key!, "--tls-ca-cert-file", ca!];
        return ["--tls-port", `${port}`, ...files];
      },
    });
    const text = (name: string): string => readFileSync(join(redis.folder, name), "utf8");
    const url = `rediss://127.0.0.1:${port}`;
    const [ca, cert, key] = [text("ca.pem"), text("redis.pem"), text("redis.key")];
    test.expect(await auditBy(url, { tls: { ca, cert, key } })).toBe(await here);
    const untrusted = matching(/give the authority that issued it with --queue-ca/);
    for (const tls of [
      { cert, key },
      { ca: text("other.pem"), cert, key },
    ])
      test.expect(await refusal(url, { tls })).toMatchObject({ code: "unreachable", message: untrusted });
    await refusedAtOnce(test, url, { ca: text("other.pem"), cert, key });
    const demanded = matching(/check --queue-cert and --queue-key/);
    test.expect(await refusal(url, { tls: { ca } })).toMatchObject({ code: "unreachable", message: demanded });
    for (const [tls, said] of [
      [{ ca: "none" }, /^ca: expected a certificate in PEM/],
      [{ ca: JSON.stringify({ ca }) }, /^ca: expected a certificate in PEM/],
      [{ ca: ca.replace("MII", "MIJ") }, /^ca: expected a certificate in PEM \(/],
      [{ ca: `${ca}${ca.slice(0, 200)}` }, /^ca: expected a certificate in PEM \(/],
      [{ cert }, /^cert: without its key/],
      [{ key }, /^key: without its cert/],
      [{ cert, key: text("other.key") }, /^key: expected a private key in PEM \(/],
    ] as const)
      test.expect(await refusal(url, { tls })).toMatchObject({ code: "tls", message: matching(said) });
    test.expect(await refusal(redis.url, { tls: { ca } })).toMatchObject({ code: "url" });
  });

  it("needs rights, and those that a refusal names are enough", async (test) => {
    const redis = await server(test);
    const at = (user: string): string => redis.url.replace("//", `//${user}:pw@`);
    const add = (user: string, ...rules: string[]): Promise<unknown> =>
      redis.client.call("ACL", "SETUSER", user, "on", ">pw", ...rules);
    await add("none", "~*", "-@all", "+hello", "+auth", "+info");
    await add("keys", "~other:*", "+@all");
    const said = matching(/this user lacks rights: it needs the keys of/);
    // It could begin, and would fail in the middle.
    for (const command of ["zadd", "xadd", "lpush", "evalsha|eval"])
      await add(command, "~*", "+@all", ...command.split("|").map((name) => `-${name}`));
    for (const user of ["none", "keys", "zadd", "xadd", "lpush", "evalsha%7Ceval"])
      test.expect(await refusal(at(user))).toMatchObject({ message: said });
    const [, rights = ""] = /as (\S+, and [^)]*)\)/.exec((await refusal(at("none"))).message) ?? [];
    await add("enough", "-@all", ...rights.split(/(?:,? and)? /));
    test.expect(await auditBy(at("enough"))).toBe(await here);
  });

  it.for(["x", "e", ":", "/", "maxmem"])("shows messages as they are with the password %s", async (password, test) => {
    const redis = await server(test, { password });
    await redis.client.config("SET", "maxmemory", "1");
    const at = redis.url.replace("//", `//:${encodeURIComponent(password)}@`);
    const { message } = await refusal(at);
    test.expect(message.includes("[password]")).toBe(password === "maxmem");
    test.expect(message).toMatch(/OOM command not allowed when used memory > '(?:max|\[password\]o)/);
  });

  it("names what a missing and a wrong password need", async (test) => {
    const redis = await server(test, { password: "right" });
    const missing = matching(/NOAUTH.*it demands a password: write USER:PASSWORD@ before the host/);
    test.expect(await refusal(redis.url)).toMatchObject({ code: "unreachable", message: missing });
    const wrong = matching(/WRONGPASS.*it refuses this user or this password/);
    const url = redis.url.replace("//", "//:wrong@");
    test.expect(await refusal(url)).toMatchObject({ code: "unreachable", message: wrong });
    for (const each of [redis.url, url]) await refusedAtOnce(test, each);
  });
});
