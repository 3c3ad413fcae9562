/** A refusal is never lost: logs that take no entries, and targets that take no lines. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decode/json.js";
import type { LogEntry, LogLine } from "../../src/watch/entry.js";
import {
  LogChangedError,
  LogFullError,
  type LogStore,
  type WatchMessage,
  acknowledgeEntry,
  memoryStore,
  watch,
} from "../../src/watch/index.js";
import { NEVER, START, SimulatedClock } from "./support.js";
import { type Deliver, HOUR, MINUTE, type Seen, type Told, bootProof, policy, watched } from "./watched.js";

const bad = (boot: number): JsonValue => ({ boot });

const numbersOf = (entries: readonly Told[]): (number | null)[] =>
  entries.map((entry) => ("n" in entry ? entry.n : null));
const eventsOf = ({ messages }: Seen): string[] => messages.map(({ event }) => event);

describe("a log that was changed", () => {
  const changed = (log: LogStore, isChanged: () => boolean, at: "check" | "append"): LogStore => {
    const refuse = async (): Promise<void> => {
      if (isChanged()) throw new LogChangedError("it was removed");
    };
    const append = async (line: LogLine): Promise<void> => (await refuse(), log.append(line));
    return { ...log, ...(at === "check" ? { check: refuse } : { append }) };
  };

  it.each(["check", "append"] as const)(
    "ends the watch, found at the %s, after each name was judged and its refusal delivered",
    async (at) => {
      let elapsed = 0;
      const log = changed(memoryStore(), () => elapsed >= 10 * MINUTE, at);
      const answer = (app: string, now: number): JsonValue => {
        elapsed = now;
        if (app === "good") return bootProof;
        return app === "old" || now >= 10 * MINUTE ? bad(app.length) : bootProof;
      };
      const apps = ["good", "old", "newly bad"];
      const seen = await watched(answer, { apps, log, deliver: (_, attempts) => attempts < 5 && fail("HTTP 500") });
      expect(seen.error).toBeInstanceOf(LogChangedError);
      const [first, ...last] = seen.delivered;
      expect(first).toMatchObject({ app: "old", n: 3 });
      expect(last.map((entry) => ("app" in entry ? entry.app : ""))).toEqual(
        expect.arrayContaining(["old", "newly bad"]),
      );
      expect(last).toHaveLength(2);
      for (const entry of last) {
        expect(Object.keys(entry).slice(0, 3)).toEqual(["finding", "recorded", "at"]);
        expect(entry).toMatchObject({ finding: "bootproof-finding/1", recorded: false, verdict: "rejected" });
        expect("n" in entry || "previous" in entry || "log" in entry).toBe(false);
      }
      expect(eventsOf(seen).filter((event) => event === "unrecorded").length).toBeGreaterThanOrEqual(2);
      expect(seen.entries).toEqual(expect.arrayContaining(last));
    },
  );

  it("ends the watch although a name hangs and no target takes its refusals", async () => {
    const clock = new SimulatedClock();
    clock.letRequestsLast();
    const log = changed(memoryStore(), () => true, "check");
    const timeout = (): Promise<never> =>
      clock.sleep(20_000, new AbortController().signal).then(() => fail("too late"));
    const answer = (app: string): JsonValue | Promise<JsonValue> => (app === "hangs" ? timeout() : bad(1));
    const seen = await watched(answer, { apps: ["hangs", "bad"], log, clock, deliver: () => fail("HTTP 500") });
    expect(seen.error?.name).toBe("LogChangedError");
    expect(seen.messages).toMatchObject([
      { event: "unrecorded", finding: { app: "bad" } },
      { event: "outage", watched: [{ app: "hangs" }] },
      { event: "not-handed-on", n: null, attempts: 1, tries: true },
      { event: "not-handed-on", n: null, attempts: 5, tries: false },
    ]);
  });

  it("is no reason for another round if another process has the log", async () => {
    const check = async (): Promise<never> => {
      throw Object.assign(new Error("taken"), { name: "LogInUseError" });
    };
    const seen = await watched(() => bad(1), { log: { ...memoryStore(), check } });
    expect([seen.error?.message, seen.delivered]).toEqual(["taken", []]);
  });
});

function fail(message: string): never {
  throw new Error(message);
}

describe("a full disk", () => {
  /** Refuses lines between two times. */
  function filling(from: number, to: number): { log: LogStore; clock: SimulatedClock; lines: LogEntry[] } {
    const [log, clock, lines] = [memoryStore(), new SimulatedClock(), [] as LogEntry[]];
    const append = async (line: LogLine): Promise<void> => {
      if (clock.elapsedMs >= from && clock.elapsedMs < to) throw new LogFullError("no space left on the disk");
      await log.append(line);
      lines.push(line.entry);
    };
    return { log: { ...log, append }, clock, lines };
  }
  const answer = (_: string, elapsed: number): JsonValue => {
    if (elapsed < HOUR) return bootProof;
    return elapsed < 2 * HOUR || elapsed >= 5 * HOUR ? bad(1) : bad(2);
  };

  it("does not end the watch: each finding is handed on once, and recorded when it can be", async () => {
    const { log, clock, lines } = filling(HOUR / 2, 6 * HOUR);
    const seen = await watched(answer, { log, clock, until: 8 * HOUR, intervalMs: 10 * MINUTE });
    expect(seen.error).toBe(null);
    expect(numbersOf(seen.delivered)).toEqual([null, null, null]);
    const findings = lines.filter((entry) => !("event" in entry));
    expect(findings.map((entry) => "bootProofs" in entry && entry.bootProofs[0])).toEqual([
      bootProof,
      ...[bad(1), bad(2), bad(1)],
    ]);
    const unrecorded = seen.delivered.map((entry) => ("bootProofs" in entry ? [entry.at, entry.evidenceDigest] : []));
    expect(findings.slice(1).map((entry) => ("bootProofs" in entry ? [entry.at, entry.evidenceDigest] : []))).toEqual(
      unrecorded,
    );
    expect(seen.summary).toMatchObject({ waiting: false, refused: [{ app: "one" }] });
    const [first, ...more] = seen.messages.filter(({ event }) => event === "log-full");
    expect(first).toMatchObject({ message: "no space left on the disk" });
    // The message comes at once and each hour.
    expect(more).toHaveLength(4);
    expect(eventsOf(seen).at(-1)).toBe("log-writable");
    const states = seen.statuses.map(({ isLogWritable }) => isLogWritable);
    expect([states[0], states.includes(false), states.at(-1)]).toEqual([true, true, true]);
  });

  it("delivers a refusal again that no target took, once it is recorded", async () => {
    const { log, clock } = filling(HOUR / 2, 3 * HOUR);
    const deliver: Deliver = (entry) => void (clock.elapsedMs < 4 * HOUR && fail(entry.at));
    const seen = await watched((_, elapsed) => (elapsed < HOUR ? bootProof : bad(1)), {
      ...{ log, clock, deliver, until: 6 * HOUR, intervalMs: 10 * MINUTE },
    });
    expect(seen.delivered).toMatchObject([{ n: expect.any(Number), evidenceDigest: expect.any(String) }]);
    expect(seen.summary).toMatchObject({ waiting: false });
    expect(Math.max(...seen.statuses.map(({ undelivered }) => undelivered.count))).toBe(1);
  });

  it("keeps a bounded number of findings, but each refusal until it was handed on", async () => {
    const { log, clock, lines } = filling(HOUR / 2, 5 * HOUR);
    const seen = await watched((_, elapsed) => (elapsed < HOUR ? bootProof : bad(elapsed)), {
      ...{ log, clock, until: 6 * HOUR },
    });
    expect(seen.delivered.length).toBeGreaterThan(200);
    expect(numbersOf(seen.delivered).filter((n) => n === null).length).toBeGreaterThanOrEqual(239);
    expect(lines.filter((entry) => !("event" in entry)).length).toBeLessThan(200);
    expect(seen.summary).toMatchObject({ waiting: false });
  });

  it("puts no heartbeat among what is kept", async () => {
    const { log, clock, lines } = filling(HOUR / 2, 6 * HOUR);
    await watched(() => bootProof, { log, clock, until: 8 * HOUR, intervalMs: 10 * MINUTE });
    const beats = lines.flatMap((entry) => ("event" in entry && entry.event === "heartbeat" ? [entry] : []));
    expect(beats[0]).toMatchObject({ since: START.toISOString(), polls: [{ app: "one", failed: 0 }] });
    expect(beats[0]!.polls[0]!.good).toBeGreaterThanOrEqual(36);
  });
});

describe("a refusal that no target takes", () => {
  const poison: Deliver = (entry) => void ("n" in entry && entry.n === 1 && fail("HTTP 413"));
  const alternating = (_: string, elapsed: number): JsonValue => bad(Math.min(3, Math.floor(elapsed / MINUTE)));

  it("holds back no other after five attempts, and is tried each hour", async () => {
    const tries: number[] = [];
    const clock = new SimulatedClock();
    const deliver: Deliver = (entry) => {
      if ("n" in entry && entry.n === 1) tries.push(clock.elapsedMs);
      poison(entry, 0);
    };
    const seen = await watched(alternating, { clock, deliver, until: 3 * HOUR + 30 * MINUTE });
    expect(numbersOf(seen.delivered)).toEqual([2, 3, 4]);
    // Five attempts, then one each hour.
    expect(tries).toHaveLength(8);
    expect(tries.slice(4)).toEqual([0, 1, 2, 3].map((hour) => hour * HOUR + tries[4]!));
    const undelivered = { event: "undelivered", what: "refusal", count: 1, oldest: START };
    expect(seen.messages).toMatchObject([
      { event: "not-handed-on", n: 1, attempts: 1, tries: true },
      { event: "not-handed-on", n: 1, attempts: 5, tries: false },
      ...[undelivered, undelivered, undelivered],
    ]);
    expect(seen.summary).toMatchObject({ waiting: true });
  });

  it("is tried again at the next start, as the only one", async () => {
    const [log, clock] = [memoryStore(), new SimulatedClock()];
    await watched(alternating, {
      log,
      clock,
      deliver: (entry) => "n" in entry && entry.n === 2 && fail("HTTP 413"),
      until: HOUR / 2,
    });
    const again = await watched(() => bad(3), { log, clock, until: HOUR });
    expect(numbersOf(again.delivered)).toEqual([2]);
    expect(again.summary).toMatchObject({ waiting: false });
  });

  it("is delivered at a later hour, and then counts no more", async () => {
    const clock = new SimulatedClock();
    const deliver: Deliver = () => void (clock.elapsedMs < 90 * MINUTE && fail("HTTP 500"));
    const seen = await watched(() => bad(1), { clock, deliver, until: 5 * HOUR });
    expect(eventsOf(seen)).toEqual(["not-handed-on", "not-handed-on", "undelivered", "undelivered", "handed-on"]);
    expect([numbersOf(seen.delivered), seen.statuses.at(-1)!.undelivered.count]).toEqual([[1], 0]);
  });

  it("is discarded by a start without a target, which says how many", async () => {
    const log = memoryStore();
    await watched(alternating, { log, deliver: () => fail("HTTP 500"), until: 10 * MINUTE });
    const count = log.undelivered("refusal").length;
    expect(count).toBeGreaterThan(1);
    const clock = new SimulatedClock();
    const messages: WatchMessage[] = [];
    const options = { policy, apps: ["one"], newest: async () => bad(3), log, once: true };
    await watch(clock.watching({ ...options, onMessage: (message) => messages.push(message) }));
    expect(messages).toMatchObject([{ event: "discarded", what: "refusal", count }]);
    expect(log.undelivered("refusal")).toEqual([]);
  });

  it("is acknowledged by its number, once", async () => {
    const log = memoryStore();
    await watched(() => bad(1), { log, deliver: () => fail("HTTP 413"), until: 10 * MINUTE });
    const [{ n }] = log.undelivered("refusal") as unknown as [{ n: number }];
    expect(await acknowledgeEntry(log, n + 1, START)).toBe(null);
    const line = await acknowledgeEntry(log, n, START);
    expect(line!.entry).toMatchObject({ log: "bootproof-log/3", event: "acknowledged", entry: n, what: "refusal" });
    expect([log.undelivered("refusal"), log.tail().entries]).toEqual([[], line!.entry.n]);
    expect(await acknowledgeEntry(log, n, START)).toBe(null);
  });

  it("does not end the watch while it hangs", async () => {
    const stop = new AbortController();
    const options = { policy, apps: ["one"], newest: async () => bad(1), onRefusal: () => NEVER, signal: stop.signal };
    setTimeout(() => stop.abort(), 50);
    expect(await watch({ ...new SimulatedClock(), ...options })).toMatchObject({ waiting: true });
  });
});
