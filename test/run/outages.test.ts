/** What a failure of a service is, how long a watch waits after it, and what is reported, recorded and announced. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decode/json.js";
import { ClientError, ServiceError } from "../../src/door/errors.js";
import type { FailureKind } from "../../src/run/line.js";
import { FetchError, backoffMs, failureOf, newOutage, outageAfterFailure, outageEnd } from "../../src/run/outages.js";
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
    ["evidence that is none", new ClientError("evidence", "none", {} as never), "answer"],
    ["a refusal that is final", serviceError(204), "credentials"],
    ["a connection that breaks", new ClientError("unreachable", "reset", {} as never), "unreachable"],
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

it("an outage begins and ends with a message and an event, whose text is short, and Unicode", () => {
  const [failure, own] = [failureOf(new Error(`\ud800${"x".repeat(5000)}`)), { watched: [{ app: "one" }] }];
  const poll = { watched: own.watched[0]!, at: START, after: 0, repeatMs: HOUR };
  const { kind, message } = failure;
  const { outage, ...began } = outageAfterFailure(newOutage(START, false), failure, poll);
  expect(began).toEqual({
    message: { event: "outage", at: START, kind, ...own, since: START, message, again: false },
    event: { event: "outage-began", kind, ...own, since: at(0), message: `\ufffd${"x".repeat(999)}` },
  });
  expect(outageEnd(outage!, { ...poll, at: later(2000) })).toEqual({
    outage: null,
    message: { event: "recovered", at: later(2000), ...own, since: START, failedPolls: 1 },
    event: { event: "outage-ended", ...own, since: at(0), failedPolls: 1 },
  });
  const both = outageAfterFailure(outage!, { ...failure, kind: "missing" }, poll);
  const again = outageAfterFailure(both.outage!, failure, poll);
  expect([both.message, again.message]).toEqual([expect.objectContaining({ kind: "missing", again: true }), false]);
  // A clock that is set back by hours makes a reminder due, too.
  const [sooner, back] = [later(HOUR - 1), later(-5 * HOUR)].map((time) =>
    outageAfterFailure(outage!, failure, { ...poll, at: time }),
  );
  expect([sooner!.message, back!.message]).toEqual([false, expect.objectContaining({ again: true })]);
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
