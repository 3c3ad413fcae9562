/** Names that are polled by themselves, and the signs of life of a watch. */
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../src/door/errors.js";
import type { JsonValue } from "../../src/decode/json.js";
import { Forge, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { FetchError, memoryStore } from "../../src/watch/index.js";
import { NEVER, START, SimulatedClock } from "./support.js";
import { HOUR, MINUTE, SECOND, type Seen, anchorPem, bootProof, watched } from "./watched.js";

const fails = (kind: "unreachable" | "missing" | "credentials"): never => {
  throw new FetchError(kind, `it is ${kind}`);
};

const timesOf = ({ requests }: Seen, name: string): number[] =>
  requests.flatMap(({ app, elapsedMs }) => (app === name ? [elapsedMs] : []));
const twelve = Array.from({ length: 12 }, (_, index) => `hangs ${index}`);

describe("a name", () => {
  it("is not delayed by twelve names that hang, from its first poll on", async () => {
    const seen = await watched((app) => (app === "good" ? bootProof : NEVER), {
      apps: [...twelve, "good"],
      until: 20 * MINUTE,
    });
    const times = timesOf(seen, "good");
    expect(times[0]).toBeLessThanOrEqual(6 * SECOND);
    expect(times.length).toBeGreaterThanOrEqual(20);
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(MINUTE + 2 * SECOND);
  });

  it("is not delayed by twelve names that fail late, which have places of their own", async () => {
    const late = (clock: SimulatedClock): Promise<never> =>
      clock.sleep(20 * SECOND, new AbortController().signal).then(() => fails("unreachable"));
    const clock = new SimulatedClock();
    clock.letRequestsLast();
    const seen = await watched((app) => (app === "good" ? bootProof : late(clock)), {
      ...{ apps: [...twelve, "good"], until: 10 * MINUTE, clock },
    });
    const gaps = timesOf(seen, "good").map((time, index, all) => time - (all[index - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(MINUTE + 6 * SECOND);
    expect(timesOf(seen, "hangs 11").length).toBeGreaterThan(2);
  });

  it("has waits of its own after failures, and the interval after a good poll", async () => {
    const seen = await watched((app) => (app === "bad" ? fails("missing") : bootProof), {
      ...{ apps: ["good", "bad"], until: 5 * MINUTE },
    });
    expect(timesOf(seen, "good")).toEqual([0, 1, 2, 3, 4].map((minute) => minute * MINUTE));
    expect(timesOf(seen, "bad")).toEqual([0, 3750, 11_250, 26_250, 56_250, 116_250, 236_250]);
    expect(
      seen.polls.filter(({ watched: one }) => "app" in one && one.app === "bad").map(({ polls }) => polls),
    ).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it("is not requested before the Retry-After of another one ends, which is at most five minutes", async () => {
    for (const [wanted, held] of [
      [100 * SECOND, 100 * SECOND],
      [HOUR, 5 * MINUTE],
    ] as const) {
      const facts = { status: 429, grpcCode: null, serviceMessage: null, details: [], category: null };
      const error = new ServiceError({ ...facts, retryAfterMs: wanted }, { operation: "get_boot_proof" } as never);
      const answer = (app: string, elapsed: number): JsonValue => {
        if (app === "limited" && elapsed === 0) throw error;
        return bootProof;
      };
      const { requests } = await watched(answer, { apps: ["limited", "other"], until: 10 * MINUTE });
      expect(requests.filter(({ elapsedMs }) => elapsedMs > 0 && elapsedMs < held)).toEqual([]);
      expect(requests.filter(({ elapsedMs }) => elapsedMs === held)).toHaveLength(2);
    }
  });

  it("shares a message and an entry with those that fail and recover within an interval", async () => {
    const apps = ["one", "two", "three"];
    // The third one is polled 20 seconds after the others.
    const answer = (app: string, elapsed: number): JsonValue => {
      const from = app === "three" ? 80 * SECOND : MINUTE;
      return elapsed >= from && elapsed < 30 * MINUTE ? fails("unreachable") : bootProof;
    };
    const { messages, entries } = await watched(answer, { apps, until: HOUR, outageAfter: 0 });
    const all = apps.map((app) => ({ app }));
    expect(messages.map(({ event, ...message }) => [event, "watched" in message && message.watched])).toEqual([
      ["outage", expect.toSatisfy((told: unknown[]) => told.length >= 2)],
      ...messages.slice(1, -1).map(({ event }) => [event, expect.anything()]),
      ["recovered", expect.anything()],
    ]);
    expect(messages.filter(({ event }) => event === "outage").length).toBeLessThanOrEqual(2);
    for (const { app } of all) {
      const events = entries.filter(
        (entry) => "watched" in entry && entry.watched.some((one) => "app" in one && one.app === app),
      );
      expect(events.map((entry) => "event" in entry && entry.event)).toEqual(["outage-began", "outage-ended"]);
    }
  });

  it("is due at once after a reload, and is judged by the setting of the entry before", async () => {
    let ask = (): void => {};
    const other = labPolicy(anchorPem, [labDeployment(new Forge())], { name: "other" });
    const clock = new SimulatedClock();
    const seen = await watched((_, elapsed) => (elapsed >= 10 * MINUTE && ask(), bootProof), {
      ...{ apps: ["one", "two", "three", "four", "five"], until: 30 * MINUTE, intervalMs: 10 * MINUTE, clock },
      reload: {
        read: async () => ({ policy: { text: JSON.stringify(other) } }),
        when: (given) => {
          ask = (): void => {
            ask = () => {};
            given();
          };
          return () => {};
        },
      },
    });
    const digests = seen.entries.map((entry) => ("settingDigest" in entry ? entry.settingDigest : ""));
    const changed = seen.entries.findIndex((entry) => "event" in entry && entry.event === "setting-changed");
    expect(changed).toBe(5);
    expect(new Set(digests.slice(0, 5)).size).toBe(1);
    expect(digests.slice(changed)).toEqual(Array<string>(6).fill(digests[changed]!));
    const ats = seen.entries.slice(changed).map(({ at }) => Date.parse(at) - START.getTime());
    expect(Math.max(...ats)).toBeLessThan(10 * MINUTE + 5 * SECOND);
  });
});

describe("signs of life", () => {
  const at = (milliseconds: number): string => new Date(START.getTime() + milliseconds).toISOString();

  it("count the polls of each name since the one before", async () => {
    const { entries, summary } = await watched((app) => (app === "bad" ? fails("missing") : bootProof), {
      ...{ apps: ["good", "bad"], until: 2 * HOUR + 30 * MINUTE, log: memoryStore(), outageAfter: 1000 },
      intervalMs: 5 * MINUTE,
    });
    const signs = entries.filter((entry) => "event" in entry);
    expect(signs.map((entry) => [entry.event, entry.at, "since" in entry && entry.since])).toEqual([
      ["started", at(0), false],
      ["heartbeat", at(HOUR), at(0)],
      ["heartbeat", at(2 * HOUR), at(HOUR)],
      ["stopped", expect.anything(), at(2 * HOUR)],
    ]);
    expect(signs[0]).toMatchObject({
      log: "bootproof-log/3",
      heartbeatMs: HOUR,
      watched: [{ app: "good" }, { app: "bad" }],
    });
    const counts = signs.flatMap((entry) => ("polls" in entry ? [entry.polls] : []));
    const sum = (index: number, what: "good" | "failed"): number =>
      counts.reduce((all, polls) => all + polls[index]![what], 0);
    expect([sum(0, "failed"), sum(1, "good"), sum(0, "good") + sum(1, "failed")]).toEqual([0, 0, summary!.polls]);
    expect(counts[1]![0]).toEqual({ app: "good", good: 12, failed: 0 });
  });

  it("are not written without a log, and do not depend on the clock", async () => {
    expect((await watched(() => bootProof, { until: 3 * HOUR, intervalMs: 10 * MINUTE })).entries).toHaveLength(1);
    const clock = new SimulatedClock();
    let polls = 0;
    const back = (): JsonValue => {
      // By less than the five minutes that a document may be dated ahead.
      if (++polls === 15) clock.set(-4 * MINUTE);
      return bootProof;
    };
    const { entries } = await watched(back, {
      ...{ log: memoryStore(), heartbeatMs: 10 * MINUTE, intervalMs: 2 * MINUTE, clock, most: 8 },
    });
    // Three heartbeats before the step of the clock, and three after it.
    expect([polls >= 30, polls <= 34]).toEqual([true, true]);
    const beats = entries.flatMap((entry) => ("event" in entry && entry.event === "heartbeat" ? [entry.at] : []));
    const gaps = beats.slice(1).map((time, index) => Date.parse(time) - Date.parse(beats[index]!));
    expect(gaps).toEqual([10, 6, 10, 10, 10].map((minutes) => minutes * MINUTE));
  });

  it.each<[string, number, boolean]>([
    ["in the hour after the last one, are not due", 59 * MINUTE, false],
    ["after an hour, are due", HOUR, true],
    ["before a clock that was set back, are due", -MINUTE, true],
  ])("of a watch that polls once, %s", async (_, later, isDue) => {
    const [log, clock] = [memoryStore(), new SimulatedClock()];
    const once = async (): Promise<Seen["entries"]> =>
      (await watched(() => bootProof, { until: Infinity, once: true, log, clock })).entries;
    expect(await once()).toMatchObject([{ verdict: "verified" }, { event: "heartbeat", since: at(0), at: at(0) }]);
    clock.set(later);
    const due = { event: "heartbeat", since: at(0), at: at(later), polls: [{ app: "one", good: 1, failed: 0 }] };
    expect(await once()).toMatchObject(isDue ? [due] : []);
  });
});

it("reports the status at the start, and when it changes", async () => {
  const refused = (): Promise<void> => Promise.reject(new Error("HTTP 500"));
  const { statuses } = await watched(() => ({ boot: 1 }), { until: 10 * MINUTE, onRefusal: refused });
  const { policyDigest } = statuses[0]!;
  expect(policyDigest).toMatch(/^[0-9a-f]{64}$/);
  const unsigned = { policyExpiresAt: null, isFeedContradicted: false };
  const status = { settingRefusedSince: null, settingReadAt: START, policyDigest, ...unsigned, isLogWritable: true };
  expect(statuses).toEqual([
    { ...status, undelivered: { count: 0, oldest: null } },
    { ...status, undelivered: { count: 1, oldest: START } },
  ]);
});
