/** A watch of a service that lies, fails and recovers, by a clock of its own. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { verifyBootProof } from "../../src/bootproof.js";
import { apiKeyStamper, createClient } from "../../src/client/index.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { startLab } from "../../src/lab/index.js";
import {
  FetchError,
  type FindingEntry,
  type LogLine,
  type OutageEntry,
  type WatchMessage,
  type WatchOptions,
  type WatchPoll,
  askService,
  isFinding,
  verifyLog,
  watch,
} from "../../src/watch/index.js";
import { readLine } from "../../src/watch/entry.js";
import { openLog, readLog } from "../../src/watch/node.js";
import { SimulatedClock, findingsInto, isSign, respondingBy } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-watch-"));
const clock = new SimulatedClock();
const lab = await startLab({ now: clock.now });
const policy = parsePolicy({ ...lab.policyFile, maxAge: "30m" });
afterAll(async () => {
  await lab.close();
  rmSync(folder, { recursive: true });
});

/** What the network makes of a request; undefined: it lets it through. */
type Interference = (() => Response) | undefined;

let interference: Interference;
const client = createClient({
  baseUrl: lab.baseUrl,
  organizationId: lab.organizationId,
  stamper: await apiKeyStamper(lab.apiKey),
  maxRetries: 0,
  now: clock.now,
  fetch: async (input, init) => interference?.() ?? fetch(input, init),
});

const lost: Interference = () => {
  throw new TypeError("fetch failed");
};
const answering =
  (status: number, body: string, headers: Record<string, string> = {}): Interference =>
  () =>
    new Response(body, { status, headers });
const huge: Interference = () => new Response(`{"bootProof":"${"a".repeat(3 * 1024 * 1024)}"}`);

const signerEnclave = lab.enclaves.filter(({ app }) => app === "signer").at(-1)!.enclaveId;

/** By the minute. */
const HOUR: readonly (readonly [minute: number, happens: () => unknown])[] = [
  [5, () => (interference = lost)],
  [12, () => (interference = undefined)],
  [14, () => lab.setFault("stale-manifest")],
  [17, () => lab.setFault(null)],
  [20, () => (interference = answering(200, "<!doctype html>"))],
  [22, () => (interference = answering(429, "{}", { "retry-after": "120" }))],
  [24, () => (interference = huge)],
  [28, () => (interference = undefined)],
  [29, () => lab.restartEnclave(signerEnclave)],
  [32, () => lab.setFault("altered-document")],
  [36, () => lab.setFault(null)],
  [40, () => (interference = answering(200, '{"bootProof":{"enclaveApp":"another"}}'))],
  [42, () => (interference = answering(404, "{}"))],
  [45, () => (interference = answering(401, "{}"))],
  [49, () => (interference = answering(503, "{}"))],
  [53, () => (interference = undefined)],
];

describe("an hour with a service that lies, fails and recovers", () => {
  const path = join(folder, "hour.jsonl");
  const messages: WatchMessage[] = [];
  const handedOn: FindingEntry[] = [];
  const outages: OutageEntry[] = [];
  let script = [...HOUR];
  /** Numbers of the entries that are not signs of life. */
  const news: number[] = [];

  const ask = askService(client);
  const options = (more: Partial<WatchOptions>): WatchOptions => ({
    apps: ["signer"],
    policy,
    newest: async (watched, signal) => {
      while (script[0] !== undefined && script[0][0] * 60_000 <= clock.elapsedMs) {
        await script[0][1]();
        script = script.slice(1);
      }
      return ask(watched, signal);
    },
    onMessage: (message) => messages.push(message),
    // The first attempt at each fails.
    onRefusal: async ({ entry: given }) => {
      const entry = given as FindingEntry;
      handedOn.push(entry);
      if (handedOn.filter(({ n }) => n === entry.n).length === 1) throw new Error("nobody answers");
    },
    onOutage: async ({ entry }) => void outages.push(entry),
    ...{ now: clock.now, sleep: clock.sleep, random: clock.random },
    ...more,
  });

  async function watchUntil(minute: number): Promise<void> {
    const log = await openLog(path);
    const stop = new AbortController();
    let ended = false;
    const watching = watch(clock.watching(options({ log, signal: stop.signal }))).finally(() => (ended = true));
    await clock.runUntil(() => ended || clock.elapsedMs >= minute * 60_000);
    stop.abort();
    await watching;
    await log.close();
  }

  it("leaves an intact log with exactly the expected entries", async () => {
    // Ended and begun again in between: nothing is lost, and nothing recorded twice.
    for (const minute of [3, 15, 34, 61]) await watchUntil(minute);
    const entries: FindingEntry[] = [];
    const onLine = ({ entry }: LogLine): void => {
      if (!isSign(entry)) news.push(entry.n);
      if (isFinding(entry)) entries.push(entry);
    };
    expect(await verifyLog(readLog(path), { onLine })).toMatchObject({ intact: true });
    expect(news).toHaveLength(13);
    expect(entries.map(({ verdict, stale, failed }) => [verdict, stale, ...failed.map(({ id }) => id)])).toEqual([
      ["verified", false],
      ["rejected", false, "policy.deployment", "policy.nonce"],
      ["verified", false],
      ["verified", false],
      ["rejected", false, "cose.signature"],
      ["verified", false],
      ["rejected", true, "policy.age"],
    ]);
    const digests = entries.map(({ evidenceDigest }) => evidenceDigest);
    expect([digests[2], digests[5], digests[6]]).toEqual([digests[0], digests[3], digests[3]]);
    expect(new Set(digests).size).toBe(4);
    expect(entries[0]).toMatchObject({ app: "signer", ephemeralKey: null, deployment: "signer lab.2", policy: "lab" });
  });

  it("has evidence in each entry with the same verdict", async () => {
    for (const line of readFileSync(path, "utf8").trimEnd().split("\n")) {
      if (line.includes('"event":')) continue;
      const { at, bootProofs, verdict, failed } = JSON.parse(line) as FindingEntry;
      const { report } = await verifyBootProof(bootProofs[0], { policy, now: new Date(at) });
      expect(report.verdict).toBe(verdict);
      expect(report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)).toEqual(
        failed.map(({ id }) => id),
      );
    }
  });

  it("has delivered each refusal in order, with retries", () => {
    const numbers = handedOn.map(({ n }) => news.indexOf(n) + 1);
    expect([...new Set(numbers)]).toEqual([4, 9, 13]);
    for (const n of [4, 9, 13]) expect(numbers.filter((one) => one === n).length).toBeGreaterThan(1);
  });

  it("has recorded and delivered each outage once, whatever its kinds", () => {
    expect(outages.map(({ event, n }) => [event, news.indexOf(n) + 1])).toEqual([
      ["outage-began", 2],
      ["outage-ended", 3],
      ["outage-began", 6],
      ["outage-ended", 7],
      ["outage-began", 11],
      ["outage-ended", 12],
    ]);
    for (const [began, ended] of [outages.slice(0, 2), outages.slice(2, 4), outages.slice(4)])
      expect(ended!.since).toBe(began!.since);
  });

  it("has reported the begin, each kind and the end of each outage", () => {
    const told = messages.flatMap((message) => {
      if (message.event === "outage") return [message.kind];
      return message.event === "recovered" ? [`recovered after ${message.failedPolls > 1 ? "polls" : "a poll"}`] : [];
    });
    expect(told).toEqual([
      "unreachable",
      "recovered after polls",
      "answer",
      "unreachable",
      "recovered after polls",
      "answer",
      "missing",
      "credentials",
      "unreachable",
      "recovered after polls",
    ]);
    const [first] = messages;
    expect(first).toMatchObject({ event: "outage", watched: [{ app: "signer" }], again: false });
  });
});

/** A watch of a scripted service, until the script ends. */
async function watched(
  answers: readonly ((app: string) => JsonValue | null)[],
  more: Partial<WatchOptions> = {},
): Promise<{
  lines: LogLine<FindingEntry>[];
  messages: WatchMessage[];
  waits: number[];
  summary: Awaited<ReturnType<typeof watch>>;
}> {
  const own = new SimulatedClock();
  const [lines, messages, waits]: [LogLine<FindingEntry>[], WatchMessage[], number[]] = [[], [], []];
  const stop = new AbortController();
  const polls = new Map<string, number>();
  let ended = false;
  const watching = watch({
    apps: ["signer"],
    policy: parsePolicy(lab.policyFile),
    newest: respondingBy((one) => {
      const name = "app" in one ? one.app : one.ephemeralKey;
      const poll = polls.get(name) ?? 0;
      polls.set(name, poll + 1);
      if (poll >= answers.length) stop.abort();
      return answers[Math.min(poll, answers.length - 1)]!(name);
    }),
    onEntry: findingsInto(lines),
    onMessage: (message) => messages.push(message),
    now: own.now,
    random: own.random,
    sleep: (milliseconds, signal) => {
      waits.push(milliseconds);
      return own.sleep(milliseconds, signal);
    },
    signal: stop.signal,
    ...more,
  }).finally(() => (ended = true));
  watching.catch(() => {});
  await own.runUntil(() => ended);
  return { lines, messages, waits, summary: await watching };
}

const failing = (error: Error) => (): never => {
  throw error;
};

describe("a watch", () => {
  it("records each change of a service that alternates", async () => {
    const [a, b] = [{ boot: "a" }, { boot: "b" }];
    const { lines } = await watched([() => a, () => b, () => a, () => a, () => b]);
    expect(lines.map(({ entry }) => entry.bootProofs[0])).toEqual([a, b, a, b]);
  });

  it("records a changed label, an unverified claim", async () => {
    const { lines } = await watched([() => ({ owner: "a" }), () => ({ owner: "b" })]);
    expect(lines).toHaveLength(2);
  });

  it("ends at once if the whole first poll is refused for its credentials", async () => {
    const refused = failing(new FetchError("credentials", "HTTP 401"));
    await expect(watched([refused, refused])).rejects.toThrow(FetchError);
    const half = (app: string): JsonValue => (app === "signer" ? { boot: 1 } : refused());
    expect((await watched([half, half], { apps: ["signer", "other"] })).messages).toHaveLength(1);
  });

  it("treats a response that is too large as a failure", async () => {
    const { lines, messages } = await watched([() => ({ a: "x".repeat(3 * 1024 * 1024) })]);
    expect(lines).toEqual([]);
    const message = expect.stringContaining("bytes as JSON text, expected at most 2097152") as string;
    expect(messages).toMatchObject([{ event: "outage", kind: "answer", message }]);
  });

  it("records the verdict of the evidence in its line", async () => {
    const ask = askService(client);
    const whole = (await ask({ app: "signer" }, new AbortController().signal)) as JsonObject;
    const answers = [null, Infinity, NaN, -0].map((createdAt) => () => ({ ...whole, createdAt }) as JsonValue);
    const { lines, messages } = await watched([...answers, () => ({ ...whole, owner: "\ud800" })]);
    const unreadable = lines.map(({ entry }) => entry.failed.some(({ id }) => id === "boot.decode"));
    expect(unreadable).toEqual([false, true]);
    expect(messages[0]).toMatchObject({ event: "outage", kind: "answer" });
    for (const { bytes } of lines) {
      const { verdict, bootProofs, at } = (await readLine(bytes)).entry as FindingEntry;
      const again = await verifyBootProof(bootProofs[0], { policy: parsePolicy(lab.policyFile), now: new Date(at) });
      expect(again.report.verdict).toBe(verdict);
    }
  });

  it("compares the boot proof of a key with that key", async () => {
    const [first, second] = lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    const ask = askService(client);
    const asked = { apps: [], ephemeralKeys: [first!.toUpperCase()], once: true };
    const right = await watched([() => null], { ...asked, newest: ask });
    expect(right.lines.map(({ entry }) => [entry.verdict, entry.app, entry.ephemeralKey])).toEqual([
      ["verified", null, first],
    ]);
    const other = (_: unknown, signal: AbortSignal) => ask({ ephemeralKey: second! }, signal);
    const wrong = await watched([() => null], { ...asked, newest: other });
    expect(wrong.lines.map(({ entry }) => entry.failed.map(({ id }) => id))).toEqual([["bind.key"]]);
  });

  it("distinguishes an unknown organization from an application without a boot proof", async () => {
    const ask = () => askService(client)({ app: "nobody" }, new AbortController().signal);
    await expect(ask()).resolves.toBe(null);
    interference = answering(404, '{"code":5,"details":[{"turnkeyErrorCode":"ORGANIZATION_NOT_FOUND"}]}');
    await expect(ask()).rejects.toMatchObject({ name: "FetchError", kind: "credentials" });
    interference = undefined;
  });

  it("reports why a refusal was not delivered, for any thrown value", async () => {
    const onRefusal = (): Promise<never> => Promise.reject("no address" as unknown as Error);
    const { messages } = await watched([() => ({ boot: 1 })], { once: true, onRefusal });
    expect(messages.map((message) => "message" in message && message.message)).toEqual(["no address", "no address"]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, RegExp]>([
    ["nothing", { apps: [] }, /options\.apps, options\.ephemeralKeys: expected at least one/],
    ["the same twice", { apps: ["a", "a"] }, /expected no name twice/],
    ["no key", { ephemeralKeys: ["04"] }, /hex digits, expected 260/],
    ["no policy", { policy: undefined }, /options\.policy is required/],
    ["another option", { interval: 1 }, /options\.interval: unknown/],
    ["a listener that is none", { onEntry: 7 }, /options\.onEntry: /],
    ["no interval", { intervalMs: 10 }, /expected a whole number of 1000 to 86400000/],
    ["more than a timer has", { intervalMs: 2 ** 31 }, /expected a whole number of 1000 to 86400000/],
  ])("refuses %s", async (_, more, message) => {
    const options = { apps: ["a"], policy, newest: async () => null, ...new SimulatedClock(), ...more };
    await expect(watch(options as unknown as WatchOptions)).rejects.toThrow(message);
  });
});

it("with strict acceptance records and hands on a boot proof with a warning as a refusal", async () => {
  // The lab's root is not AWS's.
  const path = join(folder, "strict.jsonl");
  const anyAge = parsePolicy(lab.policyFile);
  const refusals: FindingEntry[] = [];
  const watched = async (acceptance: "standard" | "strict") => {
    const log = await openLog(path);
    try {
      const onRefusal: WatchOptions["onRefusal"] = async ({ entry }) => void refusals.push(entry as FindingEntry);
      const options = { apps: ["signer"], policy: anyAge, newest: askService(client), log, once: true, onRefusal };
      return await watch({ ...options, acceptance, ...clock });
    } finally {
      await log.close();
    }
  };
  // With the heartbeat that is due.
  expect(await watched("standard")).toMatchObject({ recorded: 2, refused: [] });
  expect(await watched("strict")).toMatchObject({ recorded: 1, refused: [{ app: "signer" }], waiting: false });
  // Read from the file, it is still a refusal, and no news.
  expect(await watched("strict")).toMatchObject({ recorded: 0, refused: [{ app: "signer" }] });
  expect(refusals).toMatchObject([{ n: 3, verdict: "verified", failed: [] }]);
  expect(refusals[0]!.refusedFor!.join()).toContain("not to AWS");
  expect(await watched("standard")).toMatchObject({ recorded: 1, refused: [] });
  expect(await verifyLog(readLog(path))).toMatchObject({ intact: true, entries: 4 });
});

it("reports each poll: failures, refusals, and the time of the newest verified document", async () => {
  interference = undefined;
  const polls: WatchPoll[] = [];
  const ended = new AbortController();
  const before = [(): unknown => (interference = lost), (): unknown => (interference = undefined)];
  before.push(() => lab.setFault("altered-document"));
  const startedAt = clock.now();
  lab.restartEnclave(signerEnclave);
  const ask = askService(client);
  const watching = watch({
    apps: ["signer"],
    policy: parsePolicy(lab.policyFile),
    newest: (watched, signal) => {
      before[polls.length]!();
      return ask(watched, signal);
    },
    onPoll: (poll) => {
      polls.push(poll);
      if (polls.length === before.length) ended.abort();
    },
    signal: ended.signal,
    ...clock,
  });
  await clock.runUntil(() => ended.signal.aborted);
  await watching;
  lab.setFault(null);
  const seen = polls.map((one) => [one.failure?.kind, one.isRefused, one.refusals, one.evidenceAt]);
  const { evidenceAt } = polls[1]!;
  expect(seen).toEqual([
    // Before its first verdict, nothing is known of a name.
    ["unreachable", null, 0, null],
    [undefined, false, 0, evidenceAt],
    // The time in a rejected document is its maker's.
    [undefined, true, 1, evidenceAt],
  ]);
  expect(evidenceAt!.getTime()).toBeGreaterThanOrEqual(startedAt.getTime() - 1000);
  expect(polls.map(({ polls: count, recorded }) => [count, recorded])).toEqual([
    [1, 0],
    [2, 1],
    [3, 2],
  ]);
  expect(polls.map((one) => one.watched)).toEqual(polls.map(() => ({ app: "signer" })));
});
