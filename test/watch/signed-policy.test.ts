/** A watch under a signed policy: its feed grows, cannot be reached, is rolled back or forked, and expires. */
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/decode/json.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { openSignedPolicy } from "../../src/index.js";
import type { EventEntry, LogEntry, LogLine } from "../../src/watch/entry.js";
import type { WatchMessage } from "../../src/watch/outages.js";
import { memoryStore } from "../../src/watch/store.js";
import { type WatchOptions, type WatchStatus, type WatchSummary, watch } from "../../src/watch/watch.js";
import { DAY, TestFeed, type TestVersion, payloadIn, sha256Hex } from "../support/signed-policies.js";
import { START, SimulatedClock, isSign, textOf, verified } from "./support.js";

const MINUTE = 60_000;
const lab = new Forge();
const evidence = forgeEvidence({ lab, at: START });
const bootProof = evidence.bootProof as unknown as JsonValue;
const GOOD = labPolicy(evidence.anchorPem, [labDeployment(lab)], { name: "prod" });
const BAD = labPolicy(evidence.anchorPem, [labDeployment(new Forge())], { name: "prod" });

/** What happens at a time, before the poll of that minute. */
type Acts = Readonly<Record<number, (world: World) => void>>;

interface World {
  readonly feed: TestFeed;
  readonly clock: SimulatedClock;
  /** What is served; null if it cannot be reached. */
  shown: string | null;
  readonly publish: (policy: object, more?: Partial<TestVersion>) => void;
  /** Asks for a reload, as SIGHUP does. */
  ask: () => void;
}

interface Watched {
  readonly world: World;
  readonly lines: LogLine[];
  readonly entries: LogEntry[];
  readonly messages: WatchMessage[];
  readonly refusals: LogEntry[];
  readonly statuses: WatchStatus[];
  /** Minutes since the start at which the feed was fetched. */
  readonly fetches: number[];
  readonly summary: WatchSummary;
}

/** Watches for some minutes, with a version from the start that pins the boot proof. */
async function watched(
  minutes: number,
  acts: Acts = {},
  more: Partial<WatchOptions> = {},
  refreshMs = 5 * MINUTE,
): Promise<Watched> {
  const [clock, feed] = [new SimulatedClock(), new TestFeed()];
  const world: World = {
    ...{ feed, clock, shown: null, ask: () => {} },
    publish: (policy, version) => {
      feed.add({ policy, issuedAt: clock.now(), ...version });
      world.shown = feed.text();
    },
  };
  world.publish(GOOD);
  const fetches: number[] = [];
  const policy = await openSignedPolicy({
    signers: feed.pinned,
    source: async () => {
      fetches.push(clock.elapsedMs / MINUTE);
      if (world.shown === null) throw new Error("no connection");
      return world.shown;
    },
    now: clock.now,
    random: () => 0.5,
    refreshMs,
    onNotice: (notice) => expect.fail(notice),
  });
  const [lines, messages, refusals, statuses]: [LogLine[], WatchMessage[], LogEntry[], WatchStatus[]] = [
    [],
    [],
    [],
    [],
  ];
  const stop = new AbortController();
  const pending = new Map(Object.entries(acts).map(([minute, act]) => [Number(minute), act]));
  const options = clock.watching({
    policy,
    apps: ["signer"],
    log: memoryStore(),
    newest: async () => {
      for (const [minute, act] of pending) if (clock.elapsedMs >= minute * MINUTE && pending.delete(minute)) act(world);
      if (clock.elapsedMs >= minutes * MINUTE) stop.abort();
      return bootProof;
    },
    reload: {
      read: async () => ({ policy }),
      when: (ask) => {
        world.ask = ask;
        return () => {};
      },
    },
    onEntry: (line) => lines.push(line as LogLine),
    onMessage: (message) => messages.push(message),
    onStatus: (status) => statuses.push(status),
    onRefusal: async ({ entry }) => void refusals.push(entry as LogEntry),
    signal: stop.signal,
    intervalMs: minutes < 20 ? MINUTE : 5 * MINUTE,
    ...more,
  });
  let summary: WatchSummary | null = null;
  const ended = watch(options).then((one) => (summary = one));
  // A refresh takes real time: keys are imported, and signatures verified.
  let isRefreshing = false;
  const { refresh } = policy;
  policy.refresh = () => {
    isRefreshing = true;
    return refresh.call(policy).finally(() => setTimeout(() => (isRefreshing = false), 5));
  };
  await clock.runUntil(
    () => summary !== null,
    () => isRefreshing,
  );
  await ended;
  const entries = lines.map(({ entry }) => entry).filter((entry) => !isSign(entry));
  return { world, lines, entries, messages, refusals, statuses, fetches, summary: summary! };
}

const wordsOf = (entries: readonly LogEntry[]): string[] =>
  entries.map((entry) => ("event" in entry ? entry.event : entry.verdict));
const minutesOf = ({ at }: Pick<LogEntry, "at">): number => (Date.parse(at) - START.getTime()) / MINUTE;

describe("a watch under a signed policy", () => {
  it("fetches the feed every five minutes and a bit, and says nothing where nothing is new", async () => {
    const { fetches, messages, entries, statuses } = await watched(60);
    // Half of the jitter: 5.25 minutes. The first fetch opened the policy.
    expect(fetches).toEqual([0, ...Array.from({ length: 11 }, (_, index) => 5.25 * (index + 1))]);
    expect([messages, wordsOf(entries)]).toEqual([[], ["verified"]]);
    expect(statuses.at(-1)).toMatchObject({
      policyExpiresAt: new Date(START.getTime() + 14 * DAY),
      isFeedContradicted: false,
    });
  });

  it("fetches the feed once a second at most", async () => {
    const { fetches } = await watched(1, {}, {}, 0);
    expect(fetches.length).toBeLessThanOrEqual(62);
  });

  it("records a new version with its number and digest, and verifies by it at once", async () => {
    const { entries, world, messages, lines, statuses } = await watched(20, { 7: ({ publish }) => publish(BAD) });
    const digest = sha256Hex(payloadIn(world.feed.envelopes[1]!));
    expect(wordsOf(entries)).toEqual(["verified", "setting-changed", "rejected"]);
    const [first, changed, last] = entries as [LogEntry, EventEntry, LogEntry & { readonly failed: { id: string }[] }];
    expect(changed).toMatchObject({ changed: ["policy"], policy: "prod", policyVersion: 2, policyDigest: digest });
    expect(first).toMatchObject({ policyDigest: sha256Hex(payloadIn(world.feed.envelopes[0]!)) });
    expect(last).toMatchObject({ policyDigest: digest });
    expect(last.failed.every(({ id }) => id.startsWith("policy."))).toBe(true);
    // At the refresh, and not at the next poll.
    expect([minutesOf(changed), minutesOf(last)]).toEqual([10.5, 10.5]);
    expect(messages).toMatchObject([{ event: "setting-read", changed: ["policy"] }]);
    expect(statuses.at(-1)).toMatchObject({ policyDigest: digest });
    expect(await verified(textOf(lines))).toMatchObject({ intact: true });
  });

  it("fetches the feed when it is asked, as by SIGHUP", async () => {
    const { entries, fetches, messages } = await watched(5, {
      2: ({ publish, ask }) => {
        publish(BAD);
        ask();
      },
      4: ({ ask }) => ask(),
    });
    expect(fetches.slice(1)).toEqual([2, 4]);
    expect(wordsOf(entries)).toEqual(["verified", "setting-changed", "rejected"]);
    expect(messages).toMatchObject([
      { event: "setting-read", changed: ["policy"] },
      { event: "setting-read", changed: [] },
    ]);
  });

  it("goes on where the feed cannot be fetched, and reports each attempt", async () => {
    const { entries, messages, statuses, refusals, summary } = await watched(30, {
      7: (world) => (world.shown = null),
      22: (world) => (world.shown = world.feed.text()),
    });
    expect(wordsOf(entries)).toEqual(["verified", "setting-refused", "setting-changed"]);
    const [, refused, changed] = entries;
    const faults = [{ file: null, reason: "the feed of the signed policy: no connection" }];
    expect(refused).toMatchObject({ faults });
    expect(refused).not.toHaveProperty("contradiction");
    expect(changed).toMatchObject({ changed: [], policyVersion: 1 });
    const told = messages.map(({ event, at }) => [event, minutesOf({ at: at.toISOString() })]);
    expect(told).toEqual([
      ["setting-refused", 10.5],
      ["setting-refused", 15.75],
      ["setting-refused", 21],
      ["setting-read", 26.25],
    ]);
    const isRead = statuses.map(({ settingRefusedSince }) => settingRefusedSince === null);
    expect(isRead.filter((one, index) => one !== isRead[index - 1])).toEqual([true, false, true]);
    expect([refusals, summary.isFeedContradicted]).toEqual([[], false]);
  });

  it.each<[string, (world: World) => void, RegExp]>([
    ["rolled back", (world) => (world.shown = world.feed.text(1, 1)), /the feed ends at version 1.*: a rollback$/],
    [
      "forked",
      (world) => {
        const [first] = world.feed.envelopes;
        const fork = JSON.parse(payloadIn(first!).toString()) as { issuedAt: string };
        const other = new TestFeed();
        other.add({
          policy: GOOD,
          issuedAt: new Date(fork.issuedAt),
          change: { ...fork, version: 2, previous: "ab".repeat(32) },
        });
        world.shown = other.text();
      },
      /the feed is a fork$/,
    ],
  ])("reports a feed that was %s as it reports a refusal", async (_, attack, message) => {
    const { entries, refusals, summary, statuses, messages, lines } = await watched(30, {
      1: ({ publish, ask }) => {
        publish(GOOD);
        ask();
      },
      7: attack,
    });
    expect(wordsOf(entries)).toEqual(["verified", "setting-changed", "verified", "setting-refused"]);
    const refused = entries.at(-1) as EventEntry & { readonly faults: { reason: string }[] };
    expect(refused).toMatchObject({
      contradiction: true,
      faults: [{ reason: expect.stringMatching(message) as string }],
    });
    expect(refusals).toEqual([refused]);
    expect([summary.isFeedContradicted, summary.refused]).toEqual([true, []]);
    expect(statuses.at(-1)).toMatchObject({ isFeedContradicted: true });
    expect(messages.filter(({ event }) => event === "setting-refused")).toMatchObject(
      Array.from({ length: 4 }, () => ({ contradiction: true })),
    );
    expect(await verified(textOf(lines))).toMatchObject({ intact: true });
  });

  it("is over its alarm when the feed is whole again", async () => {
    const { summary, statuses, refusals } = await watched(30, {
      1: ({ publish, ask }) => {
        publish(GOOD);
        ask();
      },
      7: (world) => (world.shown = world.feed.text(1, 1)),
      15: (world) => (world.shown = world.feed.text()),
    });
    expect([summary.isFeedContradicted, statuses.at(-1)!.isFeedContradicted, refusals.length]).toEqual([
      false,
      false,
      1,
    ]);
  });

  it("keeps the undelivered entry of a rolled back feed until it is delivered", async () => {
    const log = memoryStore();
    const rollback: Acts = {
      1: ({ publish, ask }) => {
        publish(GOOD);
        ask();
      },
      7: (world) => (world.shown = world.feed.text(1, 1)),
    };
    const onRefusal = (): Promise<void> => Promise.reject(new Error("no target"));
    const { summary } = await watched(30, rollback, { log, onRefusal });
    expect([summary.waiting, log.undelivered("refusal").length]).toEqual([true, 1]);
    const line = await log.lineOf("refusal", log.undelivered("refusal")[0]!.n);
    expect(line.entry).toMatchObject({ event: "setting-refused", contradiction: true });
  });

  it("refuses every boot proof from the moment at which its policy has expired", async () => {
    const [hour, lost] = [60, { [24 * 60]: (world: World) => void (world.shown = null) }];
    const intervalMs = 6 * hour * MINUTE;
    const { entries, summary } = await watched(16 * 24 * hour, lost, { intervalMs }, DAY);
    const rejected = entries.filter((entry) => "verdict" in entry && entry.verdict === "rejected");
    expect(rejected).toHaveLength(1);
    const [first] = rejected as (LogEntry & { readonly failed: object[] })[];
    expect(first!.failed).toMatchObject([
      { id: "policy.current", detail: expect.stringContaining("expired at") as string },
    ]);
    expect(minutesOf(first!)).toBeGreaterThanOrEqual(14 * 24 * hour);
    expect(minutesOf(first!)).toBeLessThan(14 * 24 * hour + 6 * hour + 1);
    expect(summary.refused).toEqual([{ app: "signer" }]);
  });

  it("without a reload of its own refreshes its policy, too", async () => {
    const { entries, fetches } = await watched(20, { 7: ({ publish }) => publish(BAD) }, {
      reload: undefined,
    } as never);
    expect(wordsOf(entries)).toEqual(["verified", "setting-changed", "rejected"]);
    expect(fetches).toHaveLength(4);
  });
});
