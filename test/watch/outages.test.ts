/** What a failure of a service is, how long a watch waits after it, and what is reported, recorded and delivered. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { ClientError, ServiceError } from "../../src/door/errors.js";
import type { JsonValue } from "../../src/decode/json.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { FailureKind, FindingEntry, LogEntry, LogEvent, LogLine, Watched } from "../../src/watch/entry.js";
import { type Failure, FetchError, Outages, type WatchMessage, backoffMs, failureOf } from "../../src/watch/outages.js";
import { SYSTEM, openLog, readLog } from "../../src/watch/node.js";
import { verifyLog } from "../../src/watch/log.js";
import { type LogStore, type OutageEntry, memoryStore } from "../../src/watch/store.js";
import { type WatchOptions, type WatchSummary, watch } from "../../src/watch/watch.js";
import { fastTestFolder } from "../support/folder.js";
import { NEVER, START, SimulatedClock, respondingBy, isSign } from "./support.js";
import { IS_LONG } from "../support/long.js";

const HOUR = 3_600_000;

function serviceError(status: number, retryAfterMs: number | null = null): ServiceError {
  const facts = { status, grpcCode: null, serviceMessage: null, details: [], category: null, retryAfterMs };
  return new ServiceError(facts, { operation: "get_boot_proof" } as never);
}

describe("a failure", () => {
  it.each<[string, unknown, FailureKind]>([
    ["a request that takes too long", serviceError(408), "unreachable"],
    ["too many requests", serviceError(429), "unreachable"],
    ["a fault of the service", serviceError(500), "unreachable"],
    ["what is just none of its faults", serviceError(499), "credentials"],
    ["a refusal", serviceError(403), "credentials"],
    ["a key that cannot stamp", new ClientError("key", "no key", {} as never), "credentials"],
    ["an answer that is none", new ClientError("answer", "no JSON", {} as never), "answer"],
    ["a time limit", new ClientError("timeout", "too late", {} as never), "unreachable"],
    ["an error of its own kind", new FetchError("missing", "none"), "missing"],
    ["any other error", new Error("down"), "unreachable"],
  ])("of %s", (_, error, kind) => {
    expect(failureOf(error)).toMatchObject({ kind, message: (error as Error).message, retryAfterMs: null });
  });

  it("has the wait that the service wants, and the text of what is not an error", () => {
    expect(failureOf(serviceError(503, 1200)).retryAfterMs).toBe(1200);
    expect(failureOf("down")).toEqual({ kind: "unreachable", message: "down", retryAfterMs: null });
    expect(new FetchError("answer", "none").name).toBe("FetchError");
  });
});

describe("waits", () => {
  it("double up to five minutes, half of each by chance", () => {
    expect([0, 1, 5, 6, 7, 100].map((attempts) => backoffMs(attempts, 1))).toEqual([
      5000, 10_000, 160_000, 300_000, 300_000, 300_000,
    ]);
    expect([backoffMs(0, 0), backoffMs(0, 0.5)]).toEqual([2500, 3750]);
  });
});

describe("outages", () => {
  const [one, other]: readonly Watched[] = [{ app: "one" }, { app: "other" }];
  const failing = (kind: FailureKind): Failure => ({ kind, message: "down", retryAfterMs: null });

  type Polls = readonly (readonly [after: number, ...failures: (Failure | null)[]])[];
  type Options = Partial<ConstructorParameters<typeof Outages>[0]>;

  /** The messages and entries of polls, each after so many milliseconds. */
  function noted(polls: Polls, options: Options = {}): { messages: WatchMessage[]; events: LogEvent[] } {
    const [messages, events]: [WatchMessage[], LogEvent[]] = [[], []];
    let time = START.getTime();
    const outages = new Outages({
      now: () => new Date(time),
      random: () => 0,
      sleep: () => new Promise(() => {}),
      tell: (one) => messages.push(one),
      record: (event) => events.push(event),
      names: Math.max(1, ...polls.map((poll) => poll.length - 1)),
      togetherMs: 60_000,
      after: 1,
      repeatMs: HOUR,
      open: [],
      ...options,
    });
    for (const [after, ...failures] of polls) {
      time += after;
      failures.forEach((failure, index) => outages.note([one!, other!][index]!, failure));
    }
    outages.flush();
    return { messages, events };
  }
  const later = (milliseconds: number): Date => new Date(START.getTime() + milliseconds);

  it("of several at once are one message and one entry, and so is their end", () => {
    const down = failing("unreachable");
    const { messages, events } = noted([
      [0, down, down],
      [1000, down, down],
      [1000, null, null],
    ]);
    const since = START;
    expect(messages).toEqual([
      { event: "outage", at: START, since, kind: "unreachable", watched: [one, other], message: "down", again: false },
      { event: "recovered", at: later(2000), since, watched: [one, other], failedPolls: 2 },
    ]);
    const [began, ended] = [later(1000).toISOString(), later(2000).toISOString()];
    const both = { watched: [one, other], since: START.toISOString() };
    expect(events).toEqual([
      { event: "outage-began", at: began, kind: "unreachable", ...both, message: "down" },
      { event: "outage-ended", at: ended, ...both, failedPolls: 2 },
    ]);
  });

  it.each<FailureKind>(["credentials", "missing", "unreachable", "answer"])(
    "of the kind %s are reported again each hour",
    (kind) => {
      const { messages } = noted([
        [0, failing(kind)],
        [HOUR - 1, failing(kind)],
        // Counted from when it was due: the third is not an hour after the second.
        [60_001, failing(kind)],
        [HOUR - 60_000, failing(kind)],
        [HOUR - 1, failing(kind)],
      ]);
      expect(messages.map(({ at }) => at)).toEqual([0, HOUR + 60_000, 2 * HOUR].map(later));
      expect(messages.map((message) => "again" in message && message.again)).toEqual([false, true, true]);
    },
  );

  it("are reported again as often as wanted", () => {
    const down = failing("unreachable");
    const polls = Array.from({ length: 11 }, () => [60_000, down] as const);
    expect(noted(polls, { repeatMs: 120_000 }).messages).toHaveLength(6);
  });

  it("that alternate their kind are one: each kind is reported once, and the time goes on", () => {
    const [down, none] = [failing("unreachable"), failing("missing")];
    const polls = Array.from({ length: 120 }, (_, index) => [60_000, index % 2 === 0 ? down : none] as const);
    const { messages, events } = noted([...polls, [60_000, null]]);
    expect(messages.map((message) => [message.event, "again" in message && message.again])).toEqual([
      ["outage", false],
      ["outage", true],
      ["outage", true],
      ["recovered", false],
    ]);
    expect(
      messages.every((message) => "since" in message && message.since.getTime() === START.getTime() + 60_000),
    ).toBe(true);
    expect(messages.at(-1)).toMatchObject({ failedPolls: 120 });
    expect(events.map(({ event }) => event)).toEqual(["outage-began", "outage-ended"]);
  });

  it.each([
    [0, 1],
    [1, 2],
    [5, 6],
  ])("are recorded when they last longer than %d polls, and only these have an end", (after, least) => {
    const down = failing("unreachable");
    const polls = (count: number): Polls => [
      ...Array.from({ length: count }, () => [1000, down] as const),
      [1000, null],
    ];
    expect(noted(polls(least - 1), { after }).events).toEqual([]);
    expect(noted(polls(least), { after }).events).toMatchObject([
      { event: "outage-began" },
      { event: "outage-ended", failedPolls: least },
    ]);
    expect(noted(polls(50), { after }).events).toHaveLength(2);
  });

  it("have an entry for each name that begins or ends by itself", () => {
    const down = failing("unreachable");
    const { events } = noted([
      [0, down, null],
      [1000, down, down],
      [1000, down, down],
      [1000, null, down],
      [1000, null, null],
    ]);
    expect(events.map((event) => [event.event, "watched" in event && event.watched])).toEqual([
      ["outage-began", [one]],
      ["outage-ended", [one]],
      ["outage-began", [other]],
      ["outage-ended", [other]],
    ]);
  });

  it("that are open in the log go on, and are not recorded again", () => {
    const open = [{ watched: one!, since: later(-HOUR) }];
    const { messages, events } = noted(
      [
        [0, failing("answer")],
        [1000, failing("answer")],
        [1000, null],
      ],
      { open },
    );
    expect(messages).toMatchObject([
      { event: "outage", again: true, since: later(-HOUR) },
      { event: "recovered", failedPolls: 2, since: later(-HOUR) },
    ]);
    expect(events).toMatchObject([{ event: "outage-ended", since: later(-HOUR).toISOString(), failedPolls: 2 }]);
    const ended = noted([[0, null]], { open });
    expect(ended.events).toMatchObject([{ event: "outage-ended", failedPolls: 0 }]);
    expect(ended.messages).toMatchObject([{ event: "recovered", failedPolls: 0 }]);
    expect(noted([], { open })).toEqual({ messages: [], events: [] });
  });

  it("have a message in the log that is short, and Unicode", () => {
    const long = { ...failing("answer"), message: `\ud800${"x".repeat(5000)}` };
    const [began] = noted([[0, long]], { after: 0 }).events;
    expect(began).toMatchObject({ message: `\ufffd${"x".repeat(999)}` });
  });
});

const forge = new Forge();
const { bootProof, anchorPem } = forgeEvidence({ lab: forge, at: START });
const policyFile = labPolicy(anchorPem, [labDeployment(forge)]);
const policy = parsePolicy(JSON.stringify(policyFile));
const app = String(bootProof["enclaveApp"]);
const MINUTE = 60_000;
const DAY = 24 * HOUR;

const folder = fastTestFolder();
let logs = 0;
const newPath = (): string => join(folder, `log-${logs++}.jsonl`);

const fails = (kind: FailureKind): never => {
  throw new FetchError(kind, `it is ${kind}`);
};

interface Outcome {
  readonly entries: LogEntry[];
  readonly messages: WatchMessage[];
  readonly delivered: OutageEntry[];
  readonly summary: WatchSummary;
}

/**
 * Watches by this clock until it has gone so far, with so many deliveries, which take real time. `newest` depends on
 * the time and the number of the poll.
 */
async function watching(
  newest: (elapsedMs: number, poll: number, name: string) => JsonValue | Promise<JsonValue>,
  {
    until,
    deliveries = 0,
    isDone = () => true,
    clock = new SimulatedClock(),
    ...more
  }: Partial<WatchOptions> & { until: number; deliveries?: number; isDone?: () => boolean; clock?: SimulatedClock },
): Promise<Outcome> {
  const [entries, messages, delivered]: [LogEntry[], WatchMessage[], OutageEntry[]] = [[], [], []];
  const stop = new AbortController();
  let [polls, ended] = [0, false];
  const given = {
    policy,
    apps: [app],
    newest: respondingBy((one) => newest(clock.elapsedMs, polls++, "app" in one ? one.app : "")),
    onEntry: ({ entry }) => void (isSign(entry) || entries.push(entry as LogEntry)),
    onMessage: (message) => void messages.push(message),
    onOutage: async ({ entry }) => void delivered.push(entry),
    signal: stop.signal,
    ...more,
  } satisfies Partial<WatchOptions>;
  const work = watch(clock.watching(given)).finally(() => (ended = true));
  work.catch(() => {});
  await clock.runUntil(() => ended || (clock.elapsedMs >= until && delivered.length >= deliveries && isDone()));
  stop.abort();
  return { entries, messages, delivered, summary: await work };
}

const eventsOf = (entries: readonly LogEntry[]): string[] =>
  entries.flatMap((entry) => ("event" in entry && !isSign(entry) ? [entry.event] : []));
const BOTH = ["outage-began", "outage-ended"];

/** Thirty with `BOOTPROOF_TESTS=long`. */
const DAYS = IS_LONG ? 30 : 3;

describe("a watch of days without a service", () => {
  it.each<[string, (poll: number) => FailureKind]>([
    ["that is not there", () => "unreachable"],
    ["that alternates between two failures", (poll) => (poll % 2 === 0 ? "missing" : "unreachable")],
  ])("%s reports it each hour, records it once and delivers it once", async (_, kindOf) => {
    const end = DAYS * DAY + MINUTE;
    const service = (elapsed: number, poll: number): JsonValue =>
      elapsed < MINUTE || elapsed >= end ? bootProof : fails(kindOf(poll));
    const { entries, messages, delivered, summary } = await watching(service, { until: end + HOUR, deliveries: 2 });
    expect(summary.polls).toBeGreaterThan(360 * DAYS);
    expect(entries.map((entry) => ("event" in entry ? entry.event : entry.verdict))).toEqual(["verified", ...BOTH]);
    expect(delivered.map(({ event }) => event)).toEqual(BOTH);
    expect(messages.at(-1)!.event).toBe("recovered");
    const reports = messages.filter(({ event }) => event === "outage");
    expect(reports.length).toBeGreaterThanOrEqual(24 * DAYS - 1);
    expect(reports.length).toBeLessThanOrEqual(24 * DAYS + 3);
    expect(reports.every((one) => "since" in one && one.since.getTime() === START.getTime() + MINUTE)).toBe(true);
  });

  it("goes on with one outage over a restart each day", async () => {
    const [path, clock] = [newPath(), new SimulatedClock()];
    const service = (elapsed: number): JsonValue =>
      elapsed < HOUR || elapsed >= (DAYS - 0.1) * DAY ? bootProof : fails("answer");
    const delivered: OutageEntry[] = [];
    for (let day = 1; day <= DAYS; day++) {
      const log = await openLog(path);
      const deliveries = day === 1 || day === DAYS ? 1 : 0;
      const one = await watching(service, { until: day * DAY, deliveries, clock, log });
      delivered.push(...one.delivered);
      await log.close();
    }
    const entries: LogEntry[] = [];
    expect((await verifyLog(readLog(path), { onLine: ({ entry }) => entries.push(entry) })).intact).toBe(true);
    expect(eventsOf(entries)).toEqual(BOTH);
    expect(delivered).toEqual(entries.filter((entry) => "event" in entry && BOTH.includes(entry.event)));
    const since = new Date(START.getTime() + HOUR).toISOString();
    expect(delivered.map((entry) => entry.since)).toEqual([since, since]);
  });
});

describe("an outage that is delivered", () => {
  const down = (from: number, to: number) => (elapsed: number) =>
    elapsed >= from && elapsed < to ? fails("unreachable") : bootProof;

  it("is not, while it has lasted no more polls than it may, nor is its end", async () => {
    const twoFail = (_: number, poll: number): JsonValue => (poll % 3 === 0 ? bootProof : fails("unreachable"));
    const quiet = await watching(twoFail, { until: HOUR, outageAfter: 2 });
    expect([eventsOf(quiet.entries), quiet.delivered]).toEqual([[], []]);
    const loud = await watching(twoFail, { until: HOUR, outageAfter: 1 });
    expect(loud.delivered.length).toBeGreaterThan(10);
    expect(loud.delivered.map(({ event }, index) => event === BOTH[index % 2]).every(Boolean)).toBe(true);
  });

  it("is, after five polls, where the option is undefined, as where it is left out", async () => {
    const down = (): JsonValue => fails("unreachable");
    const lost = await watching(down, { until: HOUR, outageAfter: undefined } as never);
    const usual = await watching(down, { until: HOUR });
    expect(eventsOf(lost.entries)).toEqual(["outage-began"]);
    expect([lost.delivered, lost.entries]).toEqual([usual.delivered, usual.entries]);
  });

  it("is delivered again until that succeeds, in order, after a restart too", async () => {
    const [path, clock] = [newPath(), new SimulatedClock()];
    const attempts: number[] = [];
    const refuses = async ({ entry }: LogLine<OutageEntry>): Promise<void> => {
      attempts.push(entry.n);
      throw new Error("HTTP 500");
    };
    const first = await openLog(path);
    const service = down(MINUTE, 2 * HOUR);
    const isDone = (): boolean => attempts.length > 2;
    const before = await watching(service, { until: 20 * MINUTE, isDone, clock, log: first, onOutage: refuses });
    await first.close();
    expect([new Set(attempts), attempts.length > 2]).toEqual([new Set([3]), true]);
    expect(before.summary).toMatchObject({ outagesWaiting: true, waiting: false });
    const failed = before.messages.find(({ event }) => event === "not-handed-on");
    expect(failed).toMatchObject({ what: "outage", n: 3, message: "HTTP 500", tries: true });
    // It is killed while it delivers, so the beginning is delivered again with the end.
    const second = await openLog(path);
    const after = await watching(service, { until: 3 * HOUR, deliveries: 2, clock, log: second });
    await second.close();
    expect(after.delivered).toMatchObject([{ event: "outage-began", n: 3 }, { event: "outage-ended" }]);
    expect(after.summary.outagesWaiting).toBe(false);
    const third = await openLog(path);
    expect((await watching(service, { until: 4 * HOUR, clock, log: third })).delivered).toEqual([]);
    await third.close();
  });

  it("does not wait for a refusal that cannot be delivered, nor the other way round", async () => {
    const strangers = parsePolicy(JSON.stringify(labPolicy(anchorPem, [labDeployment(new Forge())])));
    const never = new Promise<never>(() => {});
    const refusals: number[] = [];
    const service = down(MINUTE, 30 * MINUTE);
    const options = { until: HOUR, policy: strangers };
    const one = await watching(service, { ...options, deliveries: 2, onRefusal: () => never });
    expect(one.delivered.map(({ event }) => event)).toEqual(BOTH);
    expect(one.summary).toMatchObject({ waiting: true, outagesWaiting: false });
    const onRefusal = async ({ entry }: object & { entry: object }): Promise<void> =>
      void refusals.push((entry as FindingEntry).n);
    const other = await watching(service, { ...options, onRefusal, onOutage: () => never });
    expect(refusals).toEqual([1]);
    expect(other.summary).toMatchObject({ waiting: false, outagesWaiting: true });
  });

  it("counts as delivered without a target", async () => {
    const path = newPath();
    const log = await openLog(path);
    const clock = new SimulatedClock();
    const base = { ...clock, log, policy, apps: [app] };
    const newest = async (): Promise<JsonValue> => fails("unreachable");
    expect(await watch({ ...base, newest, once: true, outageAfter: 0 })).toMatchObject({ outagesWaiting: false });
    expect([log.openOutage(`app ${app}`), log.undelivered("outage")]).toEqual([START.toISOString(), []]);
    await log.close();
    const again = await openLog(path);
    expect([again.openOutage(`app ${app}`), again.undelivered("outage")]).toEqual([START.toISOString(), []]);
    await again.close();
  });
});

describe("the limit of silence", () => {
  async function limited(
    newest: (elapsedMs: number, name: string) => JsonValue | Promise<JsonValue>,
    more: Partial<WatchOptions> = {},
    clock = new SimulatedClock(),
  ): Promise<WatchSummary & { elapsedMs: number }> {
    const stop = new AbortController();
    let ended = false;
    const given = {
      policy,
      apps: [app],
      newest: respondingBy((one) => {
        if (clock.elapsedMs >= 6 * HOUR) stop.abort();
        return newest(clock.elapsedMs, "app" in one ? one.app : "");
      }),
      maxSilenceMs: HOUR,
      signal: stop.signal,
      ...more,
    };
    const work = watch(clock.watching(given)).finally(() => (ended = true));
    work.catch(() => {});
    await clock.runUntil(() => ended);
    return { ...(await work), elapsedMs: clock.elapsedMs };
  }
  /** The end of a watch takes up to five seconds. */
  const endingAt = (milliseconds: number): unknown =>
    expect.toSatisfy((elapsed: number) => elapsed >= milliseconds && elapsed <= milliseconds + 5000);

  it("ends a watch of a service that cannot be reached", async () => {
    const newest = (elapsed: number): JsonValue => (elapsed < 2 * MINUTE ? bootProof : fails("unreachable"));
    const { silent, unseen, elapsedMs } = await limited(newest);
    const since = new Date(START.getTime() + MINUTE);
    expect(silent).toEqual([{ watched: { app }, since, message: "it is unreachable" }]);
    expect([elapsedMs, unseen]).toEqual([endingAt(HOUR + MINUTE), []]);
  });

  it("ends a watch of a service that does not respond", async () => {
    const newest = (elapsed: number): JsonValue | Promise<never> => (elapsed < MINUTE ? bootProof : NEVER);
    const { silent, elapsedMs } = await limited(newest);
    expect([silent, elapsedMs]).toEqual([[{ watched: { app }, since: START, message: null }], endingAt(HOUR)]);
    const never = await limited(() => NEVER, { once: true });
    expect(never).toMatchObject({
      silent: [{ message: null }],
      unseen: [{ app }],
      polls: 0,
      elapsedMs: endingAt(HOUR),
    });
  });

  it.each<[string, Partial<LogStore>]>([
    ["a lock that hangs", { check: () => NEVER }],
    ["a write that hangs", { append: () => NEVER }],
    ["a mark that hangs", { countAsDelivered: () => NEVER }],
  ])("and an interruption end a watch with %s", async (_, hanging) => {
    const log = { ...memoryStore(), ...hanging };
    const clock = new SimulatedClock();
    // Time passes although the log is in use: nothing else works.
    clock.watching = (given) => ({ now: clock.now, sleep: clock.sleep, random: clock.random, ...given });
    const { silent, elapsedMs } = await limited(() => bootProof, { log }, clock).catch(() => ({
      silent: [],
      elapsedMs: 0,
    }));
    expect([silent.length, elapsedMs]).toEqual([1, endingAt(HOUR)]);
    const stop = new AbortController();
    const work = watch({
      ...new SimulatedClock(),
      sleep: SYSTEM.sleep,
      policy,
      apps: [app],
      newest: async () => bootProof,
      log,
      signal: stop.signal,
    });
    setTimeout(() => stop.abort(), 20);
    expect(await work).toMatchObject({ silent: [] });
  });

  it("leaves no timer behind, which would keep a process", async () => {
    const clock = new SimulatedClock();
    await limited(() => bootProof, { once: true }, clock);
    expect(clock.sleeping).toBe(0);
  });

  it("is that of each name", async () => {
    const newest = (_: number, name: string): JsonValue => (name === "one" ? bootProof : fails("missing"));
    const { silent, unseen } = await limited(newest, { apps: ["one", "other"] });
    expect(silent).toEqual([{ watched: { app: "other" }, since: START, message: "it is missing" }]);
    expect(unseen).toEqual([{ app: "other" }]);
  });

  it("begins anew with each good poll, also of a rejected boot proof", async () => {
    const newest = (elapsed: number): JsonValue => (elapsed % HOUR < 20 * MINUTE ? { boot: 1 } : fails("unreachable"));
    const { silent, refused, elapsedMs } = await limited(newest);
    expect([silent, refused]).toEqual([[], [{ app }]]);
    expect(elapsedMs).toBeGreaterThanOrEqual(6 * HOUR);
  });

  it("does not depend on the clock, which steps", async () => {
    let polls = 0;
    const now = (): Date => new Date(START.getTime() + (polls % 2) * 10 * DAY);
    const { silent } = await limited(() => (polls++, bootProof), { now });
    expect([silent, polls > 300]).toEqual([[], true]);
  });
});

describe("what a watch has not seen once", () => {
  it("is in its summary, also if no poll has ended", async () => {
    const one = (_: number, __: number, name: string): JsonValue | Promise<JsonValue> =>
      name === "one" ? bootProof : new Promise<never>(() => {});
    const clock = new SimulatedClock();
    const stop = new AbortController();
    const apps = ["one", "other"];
    const work = watching(one, { apps, until: HOUR, clock, signal: stop.signal, onEntry: () => stop.abort() });
    expect((await work).summary).toMatchObject({ polls: 0, unfetched: [], unseen: [{ app: "other" }] });
    const down = await watching(() => fails("unreachable"), { until: HOUR });
    expect(down.summary).toMatchObject({ unseen: [{ app }], unfetched: [{ kind: "unreachable" }] });
    expect((await watching(() => bootProof, { until: HOUR })).summary.unseen).toEqual([]);
  });
});

it.each<[Partial<WatchOptions>, RegExp]>([
  [{ outageAfter: -1 }, /options\.outageAfter/],
  [{ outageAfter: 1_000_001 }, /outageAfter: expected a whole number of 0 to 1000000/],
  [{ outageRepeatMs: 1000 }, /outageRepeatMs: expected a whole number of 60000 to 604800000/],
  [{ maxSilenceMs: MINUTE }, /maxSilenceMs: expected 60001 to 604800000/],
  [{ maxSilenceMs: 2 ** 31 }, /maxSilenceMs: /],
  [{ onOutage: 7 as never }, /options\.onOutage: /],
])("a watch refuses %j", async (more, message) => {
  await expect(watching(() => bootProof, { until: 0, ...more })).rejects.toThrow(message);
});
