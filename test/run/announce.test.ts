/** What is announced: in order, at least once, and nothing twice but what a kill cut off. The file is the memory. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decode/json.js";
import { openLog, runStreams } from "../../src/run/node.js";
import { verifyRun } from "../../src/run/chain.js";
import { fastTestFolder } from "../support/folder.js";
import {
  type Entry,
  HOUR,
  MINUTE,
  MemoryStore,
  NEVER,
  START,
  type Seen,
  SimulatedClock,
  at,
  bootProof,
  fails,
  watched,
} from "./watch-support.js";

const folder = fastTestFolder();
const bad = (boot: number): JsonValue => ({ boot });
/** Another refusal each minute, up to the fourth. */
const alternating = (_: string, elapsed: number): JsonValue => bad(Math.min(3, Math.floor(elapsed / MINUTE)));
const refuse = (): never => {
  throw new Error("HTTP 500");
};
const numbersOf = (entries: readonly Entry[]): unknown[] => entries.map(({ n }) => n);
const announcedIn = (store: MemoryStore): unknown[] =>
  [...store.lines.values()].flatMap(({ entry }) => ("event" in entry && entry.event === "announced" ? [entry.of] : []));
const told = ({ messages }: Seen): unknown[] =>
  messages.flatMap((one) => ("attempts" in one ? [[one.event, one.n, one.attempts]] : []));

describe("a refusal that its target takes", () => {
  it("is announced after attempts that fail, with the first failure and the success reported", async () => {
    const seen = await watched(() => bad(1), {
      until: HOUR,
      refusal: (_, attempts) => void (attempts < 3 && refuse()),
    });
    expect([numbersOf(seen.refusals), told(seen)]).toEqual([
      [1],
      [
        ["not-announced", 1, 1],
        ["announced", 1, 3],
      ],
    ]);
  });

  it("is announced once at the next start that has a target, also if its name is good by now", async () => {
    for (const once of [true, false]) {
      const [store, clock] = [new MemoryStore(), new SimulatedClock()];
      await watched(alternating, { log: store.opened(), clock, until: 5 * MINUTE, refusal: null });
      expect(announcedIn(store)).toEqual([]);
      const run = (): Promise<Seen> => watched(() => bootProof, { log: store.opened(), clock, once, until: HOUR });
      const after = await run();
      expect(after.refusals.map(({ bootProofs }) => bootProofs)).toEqual([0, 1, 2, 3].map((boot) => [bad(boot)]));
      expect([announcedIn(store), after.summary!.waiting]).toEqual([numbersOf(after.refusals), []]);
      expect((await run()).refusals).toEqual([]);
    }
  });

  it("is announced again after a kill between its delivery and the line that names it, and only then", async () => {
    const [store, left, clock] = [new MemoryStore(), new MemoryStore(), new SimulatedClock()];
    const killed = await watched(alternating, { log: store.opened(), clock, until: 30_000 });
    expect(announcedIn(store)).toEqual([2]);
    for (const line of store.lines.values()) if (line.entry.n <= 2) await left.append(line);
    const after = await watched(() => bad(0), { log: left.opened(), clock, once: true });
    expect([killed.refusals.length, numbersOf(after.refusals)]).toEqual([1, numbersOf(killed.refusals)]);
  });
});

describe("a refusal that no target takes", () => {
  it("holds back no other after five attempts, and is tried again every five minutes", async () => {
    const [clock, tries]: [SimulatedClock, number[]] = [new SimulatedClock(), []];
    const refusal = ({ n }: Entry): void => {
      if (n === 1) tries.push(clock.elapsedMs);
      if (n === 1) refuse();
    };
    const seen = await watched(alternating, { clock, refusal, until: 30 * MINUTE });
    expect(seen.refusals.map(({ bootProofs }) => bootProofs)).toEqual([1, 2, 3].map((boot) => [bad(boot)]));
    const rounds = tries.filter((time, index) => index % 5 === 0).slice(1);
    const lasts = tries.filter((time, index) => index % 5 === 4);
    expect(rounds.length).toBeGreaterThan(2);
    expect(rounds.map((time, index) => time - lasts[index]!)).toEqual(rounds.map(() => 5 * MINUTE));
    expect(told(seen).slice(0, 2)).toEqual([1, 5].map((attempts) => ["not-announced", 1, attempts]));
    expect([seen.summary!.waiting, seen.statuses.at(-1)!.undelivered]).toEqual([
      ["refusal"],
      { count: 1, oldest: START },
    ]);
  });

  it("is tried again also where other lines are recorded all the time", async () => {
    const answer = (_: string, elapsed: number): JsonValue => bad(Math.floor(elapsed / MINUTE));
    const seen = await watched(answer, {
      refusal: ({ n }, attempts) => void (n === 1 && attempts < 11 && refuse()),
      until: HOUR,
    });
    expect(numbersOf(seen.refusals)).toContain(1);
  });

  it("does not end the watch while it hangs, nor holds up an outage, nor the other way round", async () => {
    const answer = (_: string, elapsed: number): JsonValue =>
      elapsed > MINUTE && elapsed < 30 * MINUTE ? fails("missing") : bad(1);
    const one = await watched(answer, { until: HOUR, refusal: () => NEVER });
    expect(one.outages.map(({ event }) => event)).toEqual(["outage-began", "outage-ended"]);
    expect(one.summary!.waiting).toEqual(["refusal"]);
    const other = await watched(answer, { until: HOUR, outage: () => NEVER });
    expect([other.refusals.length, other.summary!.waiting]).toEqual([1, ["outage"]]);
  });

  it("without a file is kept in memory, a hundred at most, the newest ones", async () => {
    const answer = (_: string, elapsed: number): JsonValue => bad(elapsed);
    const seen = await watched(answer, { refusal: () => NEVER, most: 120 });
    expect(seen.statuses.at(-1)!.undelivered).toEqual({ count: 100, oldest: new Date(START.getTime() + 20 * MINUTE) });
  });
});

describe("a file that refuses a line", () => {
  /** Refuses lines from a time on. */
  function filling(from: number): { store: MemoryStore; clock: SimulatedClock } {
    const [store, clock] = [new MemoryStore(), new SimulatedClock()];
    const append = store.append.bind(store);
    store.append = (line) =>
      clock.elapsedMs >= from ? Promise.reject(new Error("no space left on the disk")) : append(line);
    return { store, clock };
  }

  it("ends the watch, once the refusal was announced and shown without a number", async () => {
    const { store, clock } = filling(10 * MINUTE);
    const answer = (_: string, elapsed: number): JsonValue => (elapsed < 10 * MINUTE ? bootProof : bad(1));
    const refusal = (_: Entry, attempts: number): void => void (attempts < 5 && refuse());
    const seen = await watched(answer, { log: store.opened(), clock, refusal });
    expect(seen.error?.message).toBe("no space left on the disk");
    const unrecorded = {
      run: "bootproof-run/1",
      recorded: false,
      at: at(10 * MINUTE),
      app: "one",
      verdict: "rejected",
    };
    expect(seen.refusals).toMatchObject([{ ...unrecorded, bootProofs: [bad(1)] }]);
    expect(seen.refusals[0]).not.toHaveProperty("n");
    expect(seen.entries.at(-1)).toEqual(seen.refusals[0]);
    expect(seen.messages).toMatchObject([
      { event: "unrecorded", result: { app: "one" } },
      { event: "not-announced", n: null, attempts: 1, tries: true },
      { event: "announced", n: null, attempts: 5 },
    ]);
    // A start with a disk that has room finds it anew, and announces it with its number.
    const again = await watched(() => bad(1), { log: new MemoryStore().opened(), clock, once: true });
    expect(again.refusals).toMatchObject([{ n: 1, bootProofs: [bad(1)] }]);
  });

  it("from the start still announces what each name's poll refuses, unless another process has the file", async () => {
    const { store, clock } = filling(0);
    const apps = ["one", "two", "three"];
    const answer = (app: string): JsonValue => (app === "two" ? bootProof : bad(app.length));
    const seen = await watched(answer, { log: store.opened(), clock, apps, refusal: () => {} });
    expect(seen.error?.message).toBe("no space left on the disk");
    expect(seen.refusals.map(({ app }) => app).toSorted()).toEqual(["one", "three"]);
    store.append = () => Promise.reject(Object.assign(new Error("in use"), { code: "in-use" }));
    const other = await watched(answer, { log: store.opened(), clock, apps, refusal: () => {} });
    expect([other.error?.message, other.refusals.length]).toEqual(["in use", 0]);
  });

  it("waits a minute at most for a name that does not respond", async () => {
    const { store, clock } = filling(0);
    const answer = (app: string): JsonValue | typeof NEVER => (app === "two" ? NEVER : bad(1));
    const seen = await watched(answer, { log: store.opened(), clock, apps: ["one", "two"], refusal: () => {} });
    expect([seen.error?.message, seen.refusals.length]).toEqual(["no space left on the disk", 1]);
    expect(clock.elapsedMs).toBeLessThanOrEqual(2 * MINUTE);
  });

  it("ends the watch also where it was no refusal, or no target takes it", async () => {
    const good = await watched(() => bootProof, {
      ...((it) => ({ log: it.store.opened(), clock: it.clock }))(filling(0)),
    });
    expect([good.error?.message, good.refusals, good.entries]).toEqual(["no space left on the disk", [], []]);
    const { store, clock } = filling(0);
    const lost = await watched(() => bad(1), { log: store.opened(), clock, refusal: refuse, once: true });
    expect([lost.error?.message, lost.refusals, lost.entries.length]).toEqual(["no space left on the disk", [], 1]);
    expect(told(lost)).toEqual([
      ["not-announced", null, 1],
      ["not-announced", null, 5],
    ]);
  });
});

it("a renamed file is gone on with in a new one: what waits, and the chain; nothing is recorded again", async () => {
  const [path, old, clock] = [join(folder, "boots.jsonl"), join(folder, "boots.1.jsonl"), new SimulatedClock()];
  const { log, reopen, close } = await openLog(path);
  const reopening = async (_: string, elapsed: number): Promise<JsonValue> => {
    if (elapsed === 30 * MINUTE) {
      renameSync(path, old);
      await clock.during(reopen());
    }
    return bad(1);
  };
  const refusal = (): void => void (clock.elapsedMs < HOUR && refuse());
  const seen = await watched(reopening, { log, clock, refusal, intervalMs: 10 * MINUTE, until: 2 * HOUR });
  await close();
  const after = seen.entries.filter((entry) => Date.parse(entry.at) >= Date.parse(at(30 * MINUTE)));
  expect([seen.news.length, numbersOf(seen.refusals)]).toEqual([1, numbersOf(seen.news)]);
  expect(after.map(({ event }) => event)).toEqual(expect.arrayContaining(["announced", "alive", "stopped"]));
  const parts = await Promise.all([[old, path], [path]].map((files) => verifyRun(runStreams(files))));
  expect(parts).toMatchObject([
    { complete: true, entries: seen.entries.length },
    { intact: true, entries: after.length, lastEntry: seen.entries.length },
  ]);
  const next = await openLog(path);
  expect(next.log.pending("refusal")).toEqual([]);
  await next.close();
});
