/** What a failure of a service is, how long a watch waits after it, and what is reported, recorded and announced. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decode/json.js";
import { ClientError, ServiceError } from "../../src/door/errors.js";
import type { FailureKind, RunEvent, Watched } from "../../src/run/line.js";
import {
  type Failure,
  FetchError,
  type Outage,
  type WatchMessage,
  backoffMs,
  failureOf,
  newOutage,
  outageAfterFailure,
  outageEnd,
} from "../../src/run/outages.js";
import { SYSTEM } from "../../src/run/node.js";
import { watch } from "../../src/run/watch.js";
import { IS_LONG } from "../support/long.js";
import {
  DAY,
  type Entry,
  HOUR,
  MINUTE,
  MemoryStore,
  NEVER,
  SECOND,
  START,
  type Seen,
  SimulatedClock,
  at,
  bootProof,
  fails,
  policy,
  watched,
  wordsOf,
} from "./watch-support.js";

function serviceError(status: number, retryAfterMs: number | null = null): ServiceError {
  const facts = { status, grpcCode: null, serviceMessage: null, details: [], category: null, retryAfterMs };
  return new ServiceError(facts, { operation: "get_boot_proof" } as never);
}
const later = (milliseconds: number): Date => new Date(START.getTime() + milliseconds);

describe("a failure", () => {
  it.each<[string, unknown, FailureKind]>([
    ["a request that takes too long", serviceError(408), "unreachable"],
    ["too many requests", serviceError(429), "unreachable"],
    ["a fault of the service", serviceError(500), "unreachable"],
    ["what is just none of its faults", serviceError(499), "credentials"],
    ["a key that cannot stamp", new ClientError("key", "no key", {} as never), "credentials"],
    ["an answer that is none", new ClientError("answer", "no JSON", {} as never), "answer"],
    ["a time limit", new ClientError("timeout", "too late", {} as never), "unreachable"],
    ["an error of its own kind", new FetchError("missing", "none"), "missing"],
    ["any other error", new Error("down"), "unreachable"],
  ])("of %s", (_, error, kind) => {
    expect(failureOf(error)).toEqual({ kind, message: (error as Error).message, retryAfterMs: null });
  });

  it("has the wait that the service wants, and the text of what is not an error", () => {
    expect(failureOf(serviceError(503, 1200)).retryAfterMs).toBe(1200);
    expect(failureOf("down")).toEqual({ kind: "unreachable", message: "down", retryAfterMs: null });
  });
});

it("waits double up to five minutes, half of each by chance", () => {
  expect([0, 1, 5, 6, 7, 100].map((attempts) => backoffMs(attempts, 1))).toEqual([
    ...[5000, 10_000, 160_000, 300_000, 300_000, 300_000],
  ]);
  expect([backoffMs(0, 0), backoffMs(0, 0.5)]).toEqual([2500, 3750]);
});

describe("outages", () => {
  const [one, other]: readonly Watched[] = [{ app: "one" }, { app: "other" }];
  const failing = (kind: FailureKind): Failure => ({ kind, message: "down", retryAfterMs: null });
  const down = failing("unreachable");
  type Polls = readonly (readonly [after: number, ...failures: (Failure | null)[]])[];

  /** The messages and events of polls, each after so many milliseconds. */
  function noted(polls: Polls, { after = 1, open = null as Outage | null } = {}) {
    const [messages, events]: [WatchMessage[], RunEvent[]] = [[], []];
    const outages = [open, null];
    let time = START.getTime();
    for (const [passed, ...failures] of polls) {
      time += passed;
      for (const [index, failure] of failures.entries()) {
        const poll = { watched: [one!, other!][index]!, at: new Date(time), after, repeatMs: HOUR };
        const before = outages[index];
        const polled: Partial<ReturnType<typeof outageEnd>> =
          failure === null
            ? before
              ? outageEnd(before, poll)
              : {}
            : outageAfterFailure(before ?? newOutage(poll.at, false), failure, poll);
        const { outage = null, message, event } = polled;
        outages[index] = outage;
        if (message) messages.push(message);
        if (event) events.push(event);
      }
    }
    return { messages, events };
  }

  it("begin and end with a message and an event", () => {
    const { messages, events } = noted([
      [0, down],
      [1000, down],
      [1000, null],
    ]);
    const own = { since: START, watched: [one] };
    expect(messages).toEqual([
      { event: "outage", at: START, kind: "unreachable", ...own, message: "down", again: false },
      { event: "recovered", at: later(2000), ...own, failedPolls: 2 },
    ]);
    expect(events).toEqual([
      { event: "outage-began", kind: "unreachable", ...own, since: at(0), message: "down" },
      { event: "outage-ended", ...own, since: at(0), failedPolls: 2 },
    ]);
  });

  it("are reported again each hour", () => {
    const { messages } = noted([
      [0, down],
      [HOUR - 1, down],
      [60_001, down],
      [HOUR - 1, down],
      [1, down],
    ]);
    expect(messages.map((message) => [message.at, "again" in message && message.again])).toEqual([
      [later(0), false],
      [later(HOUR + 60_000), true],
      [later(2 * HOUR + 60_000), true],
    ]);
  });

  it("that alternate their kind are one: each kind is reported once, and the time goes on", () => {
    const polls = Array.from(
      { length: 120 },
      (_, index) => [60_000, index % 2 === 0 ? down : failing("missing")] as const,
    );
    const { messages, events } = noted([...polls, [60_000, null]]);
    expect(messages.map((message) => [message.event, "again" in message && message.again])).toEqual([
      ["outage", false],
      ["outage", true],
      ["outage", true],
      ["recovered", false],
    ]);
    for (const message of messages) expect(message).toMatchObject({ since: later(60_000) });
    expect(events).toMatchObject([{ event: "outage-began" }, { event: "outage-ended", failedPolls: 120 }]);
  });

  it.each([0, 1, 5])("are recorded when they last longer than %d polls, and only these have an end", (after) => {
    const polls = (count: number): Polls => [
      ...Array.from({ length: count }, () => [1000, down] as const),
      [1000, null],
    ];
    expect(noted(polls(after), { after }).events).toEqual([]);
    for (const count of [after + 1, 50])
      expect(noted(polls(count), { after }).events).toMatchObject([
        { event: "outage-began" },
        { event: "outage-ended", failedPolls: count },
      ]);
  });

  it("have an event for each name that begins or ends by itself", () => {
    const { events } = noted([
      [0, down, null],
      [1000, down, down],
      [1000, down, down],
      [1000, null, down],
      [1000, null, null],
    ]);
    expect(events.map((event) => [event.event, "watched" in event && event.watched])).toEqual([
      ["outage-began", [one]],
      ["outage-began", [other]],
      ["outage-ended", [one]],
      ["outage-ended", [other]],
    ]);
  });

  it("that are open in the file go on, and are not recorded again", () => {
    const open = newOutage(later(-HOUR), true);
    const answer = failing("answer");
    const { messages, events } = noted(
      [
        [0, answer],
        [1000, answer],
        [1000, null],
      ],
      { open },
    );
    expect(messages).toMatchObject([
      { event: "outage", again: true, since: later(-HOUR) },
      { event: "recovered", failedPolls: 2, since: later(-HOUR) },
    ]);
    expect(events).toMatchObject([{ event: "outage-ended", since: at(-HOUR), failedPolls: 2 }]);
    expect(noted([[0, null]], { open }).events).toMatchObject([{ event: "outage-ended", failedPolls: 0 }]);
    expect(noted([], { open })).toEqual({ messages: [], events: [] });
  });

  it("have a message in the file that is short, and Unicode", () => {
    const [began] = noted([[0, { ...down, message: `\ud800${"x".repeat(5000)}` }]], { after: 0 }).events;
    expect(began).toMatchObject({ message: `\ufffd${"x".repeat(999)}` });
  });
});

const BOTH = ["outage-began", "outage-ended"];
/** Thirty with `BOOTPROOF_TESTS=long`. */
const DAYS = IS_LONG ? 30 : 2;
const down =
  (from: number, to: number) =>
  (_: string, elapsed: number): JsonValue =>
    elapsed >= from && elapsed < to ? fails("unreachable") : bootProof;

describe("an outage", () => {
  it("of days is reported each hour, and recorded and announced once, whatever its kinds and restarts", async () => {
    const [store, clock] = [new MemoryStore(), new SimulatedClock()];
    const end = DAYS * DAY + HOUR;
    let polls = 0;
    const answer = (_: string, elapsed: number): JsonValue => {
      if (elapsed < HOUR || elapsed >= end) return bootProof;
      return fails(polls++ % 2 === 0 ? "missing" : "unreachable");
    };
    const seen: Seen[] = [];
    for (let day = 1; day <= DAYS + 1; day++)
      seen.push(await watched(answer, { log: store.opened(), clock, until: day * DAY + 2 * HOUR }));
    expect(wordsOf(seen.flatMap(({ news }) => news))).toEqual(["verified", ...BOTH]);
    const announced = seen.flatMap(({ outages }) => outages);
    expect(announced.map(({ event, since }) => [event, since])).toEqual(BOTH.map((event) => [event, at(HOUR)]));
    const messages = seen.flatMap((one) => one.messages);
    const reports = messages.filter(({ event }) => event === "outage");
    expect(reports.length).toBeGreaterThanOrEqual(24 * DAYS - 1);
    expect(reports.length).toBeLessThanOrEqual(26 * DAYS + 3);
    for (const report of reports) expect(report).toMatchObject({ since: later(HOUR) });
    expect(messages.at(-1)!.event).toBe("recovered");
  });

  it("is not announced while it has lasted no more polls than it may, five unless given", async () => {
    let polls = 0;
    const twoFail = (): JsonValue => (polls++ % 3 === 0 ? bootProof : fails("unreachable"));
    const quiet = await watched(twoFail, { until: HOUR, outageAfter: 2 });
    expect([wordsOf(quiet.news), quiet.outages]).toEqual([["verified"], []]);
    const loud = await watched(twoFail, { until: HOUR, outageAfter: 1 });
    expect(loud.outages.length).toBeGreaterThan(10);
    expect(loud.outages.every(({ event }, index) => event === BOTH[index % 2])).toBe(true);
    const usual = await watched(() => fails("missing"), { until: HOUR });
    expect(usual.outages).toMatchObject([{ at: usual.polls[5]!.at.toISOString(), event: "outage-began" }]);
  });

  it("is announced until that succeeds, in order, after a restart too, and not without a target", async () => {
    const [store, clock] = [new MemoryStore(), new SimulatedClock()];
    const run = (until: number, outage?: (() => void) | null): Promise<Seen> =>
      watched(down(MINUTE, 2 * HOUR), { log: store.opened(), clock, until, outage });
    const before = await run(20 * MINUTE, () => {
      throw new Error("HTTP 500");
    });
    expect([before.summary!.waiting, before.outages]).toEqual([["outage"], []]);
    expect(before.messages).toContainEqual(
      expect.objectContaining({ event: "not-announced", what: "outage", message: "HTTP 500", tries: true }),
    );
    expect((await run(30 * MINUTE, null)).summary!.waiting).toEqual([]);
    const after = await run(3 * HOUR);
    expect([wordsOf(after.outages), after.summary!.waiting]).toEqual([BOTH, []]);
    expect((await run(4 * HOUR)).outages).toEqual([]);
  });
});

const timesOf = ({ requests }: Seen, name: string): number[] =>
  requests.flatMap(({ app, elapsedMs }) => (app === name ? [elapsedMs] : []));
const twelve = Array.from({ length: 12 }, (_, index) => `hangs ${index}`);

describe("a name", () => {
  it("is not delayed by twelve names that hang, or that fail late", async () => {
    for (const isLate of [false, true]) {
      const clock = new SimulatedClock();
      if (isLate) clock.letRequestsLast();
      const late = (): Promise<never> =>
        clock.sleep(20 * SECOND, new AbortController().signal).then(() => fails("unreachable"));
      const answer = (app: string): JsonValue | Promise<JsonValue> =>
        app === "good" ? bootProof : isLate ? late() : NEVER;
      const seen = await watched(answer, { apps: [...twelve, "good"], until: 10 * MINUTE, clock });
      const gaps = timesOf(seen, "good").map((time, index, all) => time - (all[index - 1] ?? 0));
      expect([gaps.length >= 9, Math.max(...gaps) <= MINUTE + 6 * SECOND]).toEqual([true, true]);
      if (isLate) expect(timesOf(seen, "hangs 11").length).toBeGreaterThan(2);
    }
  });

  it("has waits of its own after failures, and the interval after a good poll", async () => {
    const seen = await watched((app) => (app === "bad" ? fails("missing") : bootProof), {
      ...{ apps: ["good", "bad"], until: 5 * MINUTE },
    });
    expect(timesOf(seen, "good")).toEqual([0, 1, 2, 3, 4].map((minute) => minute * MINUTE));
    expect(timesOf(seen, "bad")).toEqual([0, 3750, 11_250, 26_250, 56_250, 116_250, 236_250]);
  });

  it.each([
    [100 * SECOND, 100 * SECOND],
    [HOUR, 5 * MINUTE],
  ])("is not requested before the Retry-After of another one ends: of %d ms", async (wanted, held) => {
    const answer = (app: string, elapsed: number): JsonValue => {
      if (app === "limited" && elapsed === 0) throw serviceError(429, wanted);
      return bootProof;
    };
    const { requests } = await watched(answer, { apps: ["limited", "other"], until: 10 * MINUTE });
    expect(requests.filter(({ elapsedMs }) => elapsedMs > 0 && elapsedMs < held)).toEqual([]);
    expect(requests.filter(({ elapsedMs }) => elapsedMs === held)).toHaveLength(2);
  });
});

describe("the limit of silence", () => {
  /** The end of a watch takes up to five seconds. */
  const endingAt = (milliseconds: number): unknown =>
    expect.toSatisfy((elapsed: number) => elapsed >= milliseconds && elapsed <= milliseconds + 5000);
  const limit = { maxSilenceMs: HOUR, until: 6 * HOUR };

  it("ends a watch of a service that cannot be reached, or does not respond", async () => {
    const failing = await watched(down(2 * MINUTE, Infinity), limit);
    const own = { watched: { app: "one" }, since: later(MINUTE), message: "it is unreachable" };
    expect([failing.summary, failing.elapsedMs]).toMatchObject([
      { silent: [own], unseen: [] },
      endingAt(HOUR + MINUTE),
    ]);
    const silent = [{ watched: { app: "one" }, since: START, message: null }];
    for (const once of [false, true]) {
      const { summary, elapsedMs } = await watched(() => NEVER, { ...limit, once });
      expect([summary, elapsedMs]).toMatchObject([{ silent, unseen: [{ app: "one" }], polls: 0 }, endingAt(HOUR)]);
    }
  });

  it("and an interruption end a watch whose file hangs", async () => {
    const store = new MemoryStore();
    store.append = () => NEVER;
    // Time passes although the file is in use: nothing else works.
    const clock = new SimulatedClock();
    clock.watching = (given) => ({ now: clock.now, sleep: clock.sleep, random: clock.random, ...given });
    const { summary, elapsedMs } = await watched(() => bootProof, { ...limit, log: store.opened(), clock });
    expect([summary!.silent.length, elapsedMs]).toEqual([1, endingAt(HOUR)]);
    const stop = new AbortController();
    const options = { ...new SimulatedClock(), sleep: SYSTEM.sleep, policy, apps: ["one"], signal: stop.signal };
    setTimeout(() => stop.abort(), 20);
    expect(await watch({ ...options, newest: async () => bootProof, log: store.opened() })).toMatchObject({ polls: 0 });
  });

  it("is that of each name, and leaves no timer behind, which would keep a process", async () => {
    const clock = new SimulatedClock();
    const answer = (name: string): JsonValue => (name === "one" ? bootProof : fails("missing"));
    const { summary } = await watched(answer, { ...limit, apps: ["one", "other"], clock });
    expect(summary).toMatchObject({
      silent: [{ watched: { app: "other" }, since: START }],
      unseen: [{ app: "other" }],
    });
    expect(summary!.unfetched).toMatchObject([{ watched: { app: "other" }, kind: "missing" }]);
    await watched(() => bootProof, { ...limit, once: true, clock, until: Infinity });
    expect(clock.sleeping).toBe(0);
  });

  it("begins anew with each good poll, also of a rejected boot proof, whatever the clock says", async () => {
    const answer = (_: string, elapsed: number): JsonValue =>
      elapsed % HOUR < 20 * MINUTE ? { boot: 1 } : fails("unreachable");
    const { summary } = await watched(answer, limit);
    expect(summary).toMatchObject({ silent: [], refused: [{ app: "one" }] });
    let polls = 0;
    const now = (): Date => later((polls % 2) * 10 * DAY);
    const stepping = await watched(() => (polls++, bootProof), { ...limit, now });
    expect([stepping.summary!.silent, polls > 300]).toEqual([[], true]);
  });
});

describe("signs of life", () => {
  it("count the polls of each name since the one before", async () => {
    const { entries, summary } = await watched((app) => (app === "bad" ? fails("missing") : bootProof), {
      ...{ apps: ["good", "bad"], until: 2 * HOUR + 30 * MINUTE, outageAfter: 1000, intervalMs: 5 * MINUTE },
      log: new MemoryStore().opened(),
    });
    const signs = entries.filter(({ event }) => event !== undefined);
    expect(signs.map(({ event, at: time, since }) => [event, time, since])).toEqual([
      ["started", at(0), undefined],
      ["alive", at(HOUR), at(0)],
      ["alive", at(2 * HOUR), at(HOUR)],
      ["stopped", expect.anything(), at(2 * HOUR)],
    ]);
    expect(signs[0]).toMatchObject({ aliveMs: HOUR, watched: [{ app: "good" }, { app: "bad" }], setting: null });
    const counts = signs.flatMap(({ polls }) => (polls ? [polls as { good: number; failed: number }[]] : []));
    const sum = (index: number, what: "good" | "failed"): number =>
      counts.reduce((all, polls) => all + polls[index]![what], 0);
    expect([sum(0, "failed"), sum(1, "good"), sum(0, "good") + sum(1, "failed")]).toEqual([0, 0, summary!.polls]);
    expect(counts[1]![0]).toEqual({ app: "good", good: 12, failed: 0 });
  });

  it("are not written without a file, and do not depend on the clock", async () => {
    expect((await watched(() => bootProof, { until: 3 * HOUR, intervalMs: 10 * MINUTE })).entries).toHaveLength(1);
    const clock = new SimulatedClock();
    let polls = 0;
    const back = (): JsonValue => {
      // By less than the five minutes that a document may be dated ahead.
      if (++polls === 15) clock.set(-4 * MINUTE);
      return bootProof;
    };
    const { entries } = await watched(back, {
      ...{ log: new MemoryStore().opened(), aliveMs: 10 * MINUTE, intervalMs: 2 * MINUTE, clock, until: 65 * MINUTE },
    });
    const beats = entries.flatMap((entry: Entry) => (entry.event === "alive" ? [Date.parse(entry.at)] : []));
    const gaps = beats.slice(1).map((time, index) => (time - beats[index]!) / MINUTE);
    expect(gaps).toEqual([10, 6, 10, 10, 10]);
  });

  it.each<[string, number, boolean]>([
    ["in the hour after the last one, are not due", 59 * MINUTE, false],
    ["after an hour, are due", HOUR, true],
    ["before a clock that was set back, are due", -MINUTE, true],
  ])("of a watch that polls once, %s", async (_, passed, isDue) => {
    const [store, clock] = [new MemoryStore(), new SimulatedClock()];
    const once = async (): Promise<Entry[]> =>
      (await watched(() => bootProof, { once: true, log: store.opened(), clock })).entries;
    expect(await once()).toMatchObject([{ verdict: "verified" }, { event: "alive", since: at(0), at: at(0) }]);
    clock.set(passed);
    const due = { event: "alive", since: at(0), at: at(passed), polls: [{ app: "one", good: 1, failed: 0 }] };
    expect(await once()).toMatchObject(isDue ? [due] : []);
  });
});
