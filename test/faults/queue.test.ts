/** The server of a queue, or the network before it, that goes wrong: what audit --queue and worker make of it. */
import type { Socket } from "node:net";
import { type TestContext, describe, expect, it } from "vitest";
import { localJudge } from "../../src/audit/judge.js";
import { connectRedis } from "../../src/audit/node-redis.js";
import { type RunWorkerOptions, queueJudge, runWorker } from "../../src/audit/queue.js";
import { entriesOf, linesBy, linesHere, settingOf } from "../audit/queue-support.js";
import { NO_REDIS, type RedisServer, WITHOUT_REDIS, freePort, redisServer } from "../support/redis.js";
import { type FaultyServer, faultyServer, writeForever } from "./servers.js";

if (NO_REDIS) console.warn(WITHOUT_REDIS);

const PASSWORD = "hunter2";
const START_MS = 1500;

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

/** What is there, and is no server of a queue; and what is said of it. */
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
    /cannot be reached: ERR unknown command/,
  ],
  "quotes the password in other words": [
    answering((words) => `-ERR no such thing: ${words.join(" ")}\r\n`),
    /cannot be reached: ERR no such thing: .*\[password\]/,
  ],
};

describe.concurrent("the server of a queue", () => {
  const refusalOf = async (url: string): Promise<Error> => {
    const error: unknown = await connectRedis(url, () => {}, { startMs: START_MS }).then(
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
    return { ...judge, judge: async (batch) => (await new Promise((go) => setTimeout(go, milliseconds)), judge.judge(batch)) };
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

/** Each that Redis has, and Valkey. */
const POLICIES = [
  "noeviction",
  "allkeys-lru",
  "allkeys-lfu",
  "allkeys-random",
  "volatile-lru",
  "volatile-lfu",
  "volatile-random",
  "volatile-ttl",
] as const;

/** Of 3 kB each, so that few of them fill the memory. */
const LARGE = entriesOf(480).map((entry) => Uint8Array.from([...entry, ...new Uint8Array(2000).fill(0x20)]));

interface Memory {
  readonly program?: string | undefined;
  readonly policy: (typeof POLICIES)[number];
  /** Bytes for the queue. */
  readonly room?: number;
}

async function auditWithLittleMemory(test: TestContext, { program, policy, room = 500_000 }: Memory): Promise<void> {
  const redis = await server(test, { program, args: ["--maxmemory-policy", policy] });
  const ended = new AbortController();
  const [workers, producers]: [string[], string[]] = [[], []];
  const worker = slowWorker(redis.url, workers, ended.signal, 20);
  await until(() => workers.some((text) => text.includes("ready for batches")));
  // Buffers of connections count, too.
  await linesBy(await queueJudge(redis.url, SETTING), LARGE.slice(0, 64));
  const used = Number(/used_memory:(\d+)/.exec(await redis.client.info("memory"))![1]);
  await redis.client.config("SET", "maxmemory", `${used + room}`);
  const judge = await queueJudge(redis.url, SETTING, { onNote: (text) => producers.push(text) });
  test.expect(await linesBy(judge, LARGE)).toBe(await linesHere(SETTING, LARGE));
  ended.abort();
  await worker;
  const evicted = Number(/evicted_keys:(\d+)/.exec(await redis.client.info("stats"))![1]);
  const warned = producers.filter((text) => text.includes(`(maxmemory-policy ${policy})`));
  if (policy === "noeviction") {
    test.expect([evicted, warned]).toEqual([0, []]);
    test.expect([...producers, ...workers].join("\n")).toContain("OOM");
  } else {
    test.expect(evicted).toBeGreaterThan(0);
    test.expect(warned).toHaveLength(1);
  }
}

describe.skipIf(NO_REDIS).concurrent("a server of a queue that evicts", () => {
  it.for(POLICIES)("changes no byte: %s", (policy, test) => auditWithLittleMemory(test, { policy }));
});
