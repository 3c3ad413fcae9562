/**
 * The built command audits by a queue: producers and workers killed at any moment, and the server, and the results
 * never change by a byte. Five kills; a hundred with `npm run test:soak`. Needs `npm run build`, and redis-server.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BOOT_PROOF, NOW, POLICY, entriesOf } from "../audit/queue-support.js";
import { NO_REDIS, type RedisServer, WITHOUT_REDIS, freePort, redisServer } from "../support/redis.js";
import { Process, killAll, pause } from "./process.js";
import { type Answer, bootproof } from "./support.js";

if (NO_REDIS) console.warn(WITHOUT_REDIS);
const FULL = process.env["BOOTPROOF_SOAK"] === "full";
if (FULL) vi.setConfig({ testTimeout: 1_800_000 });

const folder = mkdtempSync(join(tmpdir(), "bootproof-built-worker-"));
const path = (name: string): string => join(folder, name);
const POLICY_FILE = path("policy.json");
const INPUT = path("input.ndjson");
writeFileSync(POLICY_FILE, JSON.stringify(POLICY));
writeFileSync(path("boot.json"), BOOT_PROOF);
// What has a line feed in it would be two lines.
const lines = entriesOf(FULL ? 6000 : 1200).map((entry) =>
  entry.includes(10) ? entry.filter((byte) => byte !== 10) : entry,
);
/** An empty line is not an entry. */
const COUNT = lines.filter(({ length }) => length > 0).length;
writeFileSync(INPUT, Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")])));
const ASKED = ["--policy", POLICY_FILE, INPUT, "--boot-proof", path("boot.json"), "--now", NOW];

let redis: RedisServer;
let expected = "";
beforeAll(async () => {
  const { code, stdout, stderr } = await run(["audit", ...ASKED]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${COUNT.toLocaleString("en")} entries: `)]);
  expected = stdout;
  if (!NO_REDIS) redis = await redisServer();
});
afterAll(async () => {
  killAll();
  if (!NO_REDIS) await redis.close();
  rmSync(folder, { recursive: true });
});

/** In this process. */
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  bootproof(args, { env, now: NOW });
const started = (args: readonly string[]): Process => new Process(args, { env: { BOOTPROOF_QUEUE_URL: "" } });
const worker = (): Process => started(["worker", "--queue", redis.url, "--policy", POLICY_FILE, "--workers", "1"]);

describe.skipIf(NO_REDIS)("the built command, by a queue", () => {
  it("gives the bytes that one process gives; and a worker that is ended says so", async () => {
    const one = worker();
    await one.until(() => one.stderr.includes("ready for batches of policy"));
    const { code, stdout, stderr } = await run(["audit", ...ASKED, "--queue", redis.url]);
    expect(stdout).toBe(expected);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^note: redis:\/\/127\.0\.0\.1:\d+: without BOOTPROOF_QUEUE_SECRET .* is trusted/);
    const ended = await one.end("SIGTERM");
    expect([ended.code, ended.stdout]).toEqual([0, ""]);
    expect(ended.stderr).toMatch(
      /takes batches of run [0-9a-f]{8}…\n.*: ending after .*\nnote: ended; \d+ entries were/,
    );
    expect(ended.stderr).toContain(`note: ended; ${COUNT} entries`);
  });

  it("ends with 2 for a secret that is too short", async () => {
    const env = { BOOTPROOF_QUEUE_SECRET: "fifteen letters\r\n" };
    const message =
      "BOOTPROOF_QUEUE_SECRET: expected 16 characters or more, without line breaks at the end. " +
      "Set the same secret on both sides, or unset it\n";
    for (const args of [
      ["worker", ...ASKED.slice(0, 2)],
      ["audit", ...ASKED],
    ]) {
      const { code, stdout, stderr } = await run([...args, "--queue", redis.url], env);
      expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
    }
  });

  it("takes an audit without a policy by a worker without one", async () => {
    const bare = ["--no-policy", "--trust-anchor"];
    writeFileSync(path("anchor.pem"), (POLICY["trustAnchors"] as { pem: string }[])[0]!.pem);
    cpSync(path("anchor.pem"), path("same.pem"));
    const asked = ["audit", ...bare, path("anchor.pem"), ...ASKED.slice(2)];
    const one = started(["worker", "--queue", redis.url, ...bare, path("same.pem"), "--workers", "1"]);
    const { stdout } = await run([...asked, "--queue", redis.url]);
    expect(stdout).toBe((await run(asked)).stdout);
    expect(stdout).toContain('"verdict":"authentic"');
    await one.end("SIGTERM");
  });

  it("changes no byte, whoever is killed in the middle: worker, producer, server", async () => {
    const kills = FULL ? 100 : 5;
    const [out, state] = [path("killed.ndjson"), path("killed.state")];
    const asked = ["audit", ...ASKED, "--queue", redis.url, "--out", out, "--state", state];
    const workers = [worker(), worker()];
    let audit = started(asked);
    let ended = false;
    const watch = (process: Process): void =>
      void process.ended.then(({ code }) => {
        if (process === audit && code !== null) ended = true;
      });
    watch(audit);
    let done = 0;
    for (let kill = 0; kill < kills; kill++) {
      await pause(100 + Math.random() * 900);
      if (ended) {
        // Through: as it should be, and once more from the start.
        expect(readFileSync(out, "utf8")).toBe(expected);
        for (const file of [out, state]) rmSync(file, { force: true });
        ended = false;
        done++;
        watch((audit = started(asked)));
      }
      const who = kill % 5;
      if (who === 0 || who === 3) {
        const at = kill % 2;
        await workers[at]!.end("SIGKILL");
        workers[at] = worker();
      } else if (who === 4) {
        await redis.kill();
        await pause(200);
        await redis.start();
      } else {
        const before = audit;
        await before.end("SIGKILL");
        if (!ended) watch((audit = started(asked)));
      }
    }
    const last = await audit.ended;
    expect(readFileSync(out, "utf8"), `${done} before; ${last.stderr}`).toBe(expected);
    expect(last.code).toBe(1);
    for (const one of workers) await one.end("SIGTERM");
    expect(await redis.client.exists("{bootproof}:dead-letters")).toBe(0);
  });

  it("ends with 2 where the server may drop jobs", async () => {
    const server = await redisServer({ args: ["--maxmemory", "1gb", "--maxmemory-policy", "allkeys-lru"] });
    for (const args of [
      ["audit", ...ASKED],
      ["worker", ...ASKED.slice(0, 2)],
    ]) {
      const { code, stderr } = await run([...args, "--queue", server.url]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("CONFIG SET maxmemory-policy noeviction")]);
    }
    await server.close();
  });
});

describe.skipIf(NO_REDIS)("the built command, with the URL of its queue in the environment", () => {
  it("needs no --queue for a worker, and none with a value or with credentials for an audit", async () => {
    const server = await redisServer({ password: "x" });
    const at = (user: string): string => server.url.replace("//", `//${user}`);
    const env = { BOOTPROOF_QUEUE_URL: at(":x@") };
    const one = new Process(["worker", "--policy", POLICY_FILE, "--workers", "1", "--queue-prefix", "p"], { env });
    try {
      for (const queue of [["--queue"], ["--queue", server.url], ["--queue", at(":x@")]]) {
        const { stdout, stderr } = await run(["audit", ...ASKED, ...queue, "--queue-prefix", "p"], env);
        expect(stdout).toBe(expected);
        expect(stderr).not.toContain("[password]");
      }
      expect((await run(["audit", ...ASKED], env)).stdout).toBe(expected);
      expect(await server.client.keys("*")).toEqual(expect.arrayContaining(["{p}:workers"]));
      const { code, stderr } = await run(["audit", ...ASKED, "--queue", server.url]);
      expect([code, stderr]).toEqual([3, expect.stringContaining("NOAUTH")]);
      expect((await one.end("SIGTERM")).stderr).toContain(`note: ended; ${3 * COUNT} entries`);
    } finally {
      await one.end("SIGKILL");
      await server.close();
    }
  });

  it.each([
    [
      "another host",
      ["--queue", "redis://10.0.0.1"],
      /--queue: redis:\/\/10.0.0.1:6379 has no credentials, and those in/,
    ],
    ["no TLS", ["--queue", "redis://127.0.0.1"], /those in BOOTPROOF_QUEUE_URL are for rediss:\/\/127.0.0.1:6379/],
    ["a file in place of a URL", ["--queue", INPUT], /--queue: unix:\/\/\S+ has no credentials/],
    ["a prefix with braces", ["--queue", "--queue-prefix", "{a}"], /--queue-prefix: expected a name of at most 100/],
    [
      "a file that is not a certificate",
      ["--queue", "--queue-ca", POLICY_FILE],
      /--queue-ca: expected a certificate in PEM/,
    ],
    ["a key alone", ["--queue", "--queue-key", POLICY_FILE], /--queue-key: without its cert/],
    ["a file without --queue", ["--queue-ca", INPUT], /--queue-ca requires --queue/],
    ["a file that is not there", ["--queue", "--queue-ca", path("none.pem")], /none.pem: no such file/],
  ])("refuses %s", async (_, queue, said) => {
    const env = { BOOTPROOF_QUEUE_URL: "rediss://me:hunter2@127.0.0.1" };
    const { code, stderr } = await run(["audit", ...ASKED, ...queue], env);
    expect(stderr).toMatch(said);
    expect(code).toBe(2);
    expect(stderr).not.toContain("hunter2");
  });

  it("refuses a URL there that is none, and names where it is", async () => {
    const { code, stderr } = await run(["worker", ...ASKED.slice(0, 2)], { BOOTPROOF_QUEUE_URL: "me:hunter2@here" });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/BOOTPROOF_QUEUE_URL: expected a URL such as/)]);
    expect(stderr).not.toContain("hunter2");
  });
});

describe("the built command, without a queue to be had", () => {
  it.each(["audit", "worker"])("ends %s with 3 where there is no server, and shows no password", async (command) => {
    const url = `redis://me:hunter2@127.0.0.1:${await freePort()}`;
    const args = command === "audit" ? ASKED : ASKED.slice(0, 2);
    const { code, stdout, stderr } = await run([command, ...args, "--queue", url]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/redis:\/\/127\.0\.0\.1:\d+: the queue cannot be reached: .*ECONNREFUSED/);
    expect(stderr).not.toContain("hunter2");
  });

  it.each([
    ["no URL", ["--queue", "me:hunter2@here"], /--queue: expected a URL such as redis:\/\/127\.0\.0\.1:6379/],
    ["no queue", [], /--queue URL is required/],
    ["no policy", ["--queue", "redis://127.0.0.1"], /--policy/],
    [
      "no number",
      ["--queue", "redis://127.0.0.1", "--workers", "0"],
      /--workers 0: expected a number of threads from 1 to 1024/,
    ],
  ])("refuses a worker of %s", async (what, args, said) => {
    const policy = what === "no policy" ? [] : ["--policy", POLICY_FILE];
    const { code, stderr } = await run(["worker", ...policy, ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(said);
    expect(stderr).not.toContain("hunter2");
  });
});
