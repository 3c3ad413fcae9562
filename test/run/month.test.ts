/**
 * A month of a watch in a container that is replaced each day, under another host name: it is stopped, or killed during
 * a poll, a write or a delivery. The service fails in each way, the enclave restarts, the policy changes once, the file
 * is renamed, and the disk is full.
 */
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { toHex } from "../../src/bytes.js";
import type { JsonValue } from "../../src/decode/json.js";
import type * as locks from "../../src/disk/lock.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type VerifyRunOptions, type RunVerification, verifyRun } from "../../src/run/chain.js";
import { readCheckpoint } from "../../src/run/checkpoint.js";
import { type FailureKind, watchedName } from "../../src/run/line.js";
import { openLog, runStreams } from "../../src/run/node.js";
import type { WatchMessage } from "../../src/run/outages.js";
import { fastTestFolder } from "../support/folder.js";
import { DAY, type Entry, HOUR, MINUTE, NEVER, START, type Seen, SimulatedClock, entryOf } from "./watch-support.js";
import { fails, watched } from "./watch-support.js";

const container = vi.hoisted(() => ({ host: "" }));
vi.mock("../../src/disk/lock.js", async (original) => {
  const lock = await original<typeof locks>();
  const takeLock: typeof lock.takeLock = (path, what, options) => {
    const { host } = container;
    const self = { pid: 1, started: `${host} 1`, host, space: `pid:[${host}]` };
    // A lock is observed for 60 ms instead of 15 s.
    return lock.takeLock(path, what, { ...options, self, beatMs: 20 });
  };
  return { ...lock, takeLock };
});

const [DAYS, ALIVE, MOST_WAIT] = [30, 3 * HOUR, 5 * MINUTE];
/** The enclave restarts. */
const SHIFT = 8 * HOUR;
const [forge, strangers] = [new Forge(), new Forge()];
const { anchorPem } = forgeEvidence({ lab: forge, at: START });
const isRejected = (shift: number): boolean => shift % 6 === 0 || shift % 7 === 3;
const BOOTS: readonly JsonValue[] = Array.from({ length: (DAYS * DAY) / SHIFT + 1 }, (_, shift) => {
  const at = new Date(START.getTime() + shift * SHIFT);
  return forgeEvidence({ lab: isRejected(shift) ? strangers : forge, at, ephemeralKey: forge.ephemeralKey }).bootProof;
});
const shiftOf = new Map(BOOTS.map((bootProof, shift) => [JSON.stringify(bootProof), shift]));
const ephemeralKey = toHex(forge.ephemeralKey.publicKey);
const NAMES = [watchedName({ app: "signer" }), watchedName({ ephemeralKey })];
const [APP, KEY] = NAMES as [string, string];

const policyNamed = (name: string): string => JSON.stringify(labPolicy(anchorPem, [labDeployment(forge)], { name }));
const [BEFORE, AFTER, HALF] = [policyNamed("before"), policyNamed("after"), "{"];
const [POLICY_CHANGES_AT, RENAMED_AT] = [10.4 * DAY, 15.5 * DAY];

const outage = (from: number, to: number, kinds: readonly FailureKind[], names = NAMES) => ({
  ...{ from: from * DAY, to: to * DAY, kinds, names },
});
/** The second, third and last go on over restarts. */
const OUTAGES = [
  outage(2.2, 2.5, ["unreachable"]),
  outage(5.8, 7.3, ["unreachable", "missing", "answer", "credentials"]),
  outage(12.4, 14.1, ["answer", "missing"], [KEY]),
  outage(20.1, 20.9, ["missing"]),
  outage(25.5, 26.3, ["credentials", "unreachable"]),
];
/** The disk is full, from before a boot proof is rejected. */
const FULL = { from: 17.31 * DAY, to: 17.8 * DAY };
const isTargetDown = (elapsed: number): boolean =>
  (elapsed >= 4 * DAY && elapsed < 4.7 * DAY) || (elapsed >= 17.9 * DAY && elapsed < 19.2 * DAY);

const [own, others] = [fastTestFolder(), fastTestFolder()];
const [LOG, OLD, NOTE] = [join(own, "boots.jsonl"), join(own, "boots.1.jsonl"), join(others, "boots.note")];
const pair = generateKeyPairSync("ed25519");
const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const key = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
const files = (): string[] => [OLD, LOG].filter((file) => existsSync(file));
const verified = (options: VerifyRunOptions): Promise<RunVerification> => verifyRun(runStreams(files()), options);

const ENDS = ["stopped", "killed in a write", "killed in a delivery", "killed in a poll"] as const;
type End = (typeof ENDS)[number];

/** What the month has shown outside the file. */
const clock = new SimulatedClock();
const acknowledged: string[] = [];
const checkpoints: string[] = [];
const notes: string[] = [];
const messages: WatchMessage[] = [];
/** What reached its target, and the run that delivered it. */
const delivered: { readonly what: "refusal" | "outage"; readonly entry: Entry; readonly run: number }[] = [];
const killed = new Map<number, End>();
const errors: Error[] = [];
const seen: Record<string, number[]> = { [APP]: [], [KEY]: [] };
let [file, policy, polls, attempts, run, requests] = [BEFORE, BEFORE, 0, 0, 0, 0];

function respond(name: string): JsonValue {
  const elapsed = clock.elapsedMs;
  const failing = OUTAGES.find(({ from, to, names }) => elapsed >= from && elapsed < to && names.includes(name));
  const kind = failing?.kinds[requests++ % failing.kinds.length];
  return kind === undefined ? BOOTS[Math.floor(elapsed / SHIFT)]! : fails(kind);
}

/** Watches until the end of a day. What is done after a kill is undone, and seen by nobody else. */
async function runUntil(until: number, end: End): Promise<Seen> {
  container.host = `watch-${++run}`;
  const stop = new AbortController();
  let disk: readonly (readonly [path: string, bytes: Uint8Array])[] | null = null;
  const reach = (point: End): void => {
    const isDue = clock.elapsedMs >= until && (point === end || clock.elapsedMs > until + 2 * HOUR);
    if (disk !== null || end === "stopped" || !isDue) return;
    disk = [own, others].flatMap((folder) =>
      readdirSync(folder).map((name) => [join(folder, name), readFileSync(join(folder, name))] as const),
    );
    killed.set(run, point);
    stop.abort();
  };
  const { log, reopen, close } = await openLog(LOG, {
    onNote: (text) => notes.push(text),
    checkpoint: { key: privateKey, file: NOTE, onCheckpoint: (note) => void (disk ?? checkpoints.push(note)) },
  });
  const record = log.record.bind(log);
  log.record = async (at, content) => {
    if (clock.elapsedMs >= FULL.from && clock.elapsedMs < FULL.to) throw new Error("no space left on the disk");
    const recorded = record(at, content);
    // Wherever the write is then: each day at another place.
    for (let turns = 0; turns < run % 7; turns++) await new Promise((resolve) => setImmediate(resolve));
    reach("killed in a write");
    return recorded;
  };
  const deliver = async (what: "refusal" | "outage", entry: Entry): Promise<void> => {
    if (disk !== null) return NEVER;
    if (what === "refusal" && (isTargetDown(clock.elapsedMs) || ++attempts % 3 === 0)) throw new Error("HTTP 500");
    delivered.push({ what, entry, run });
    reach("killed in a delivery");
    return disk === null ? undefined : NEVER;
  };
  let ask = (): void => {};
  const shifts = new Map<string, number>();
  const ended = await watched(() => null, {
    ...{ clock, log, policy: parsePolicy(policy), apps: ["signer", "stuck"], ephemeralKeys: [ephemeralKey] },
    ...{ intervalMs: HOUR, aliveMs: ALIVE, signal: stop.signal, until: until + (end === "stopped" ? HOUR : DAY) },
    newest: (one) => {
      const name = watchedName(one);
      if (name === "app stuck" || disk !== null) return NEVER;
      reach("killed in a poll");
      shifts.set(name, Math.floor(clock.elapsedMs / SHIFT));
      return disk === null ? Promise.resolve().then(() => respond(name)) : NEVER;
    },
    onEntry: ({ bytes }) =>
      void (disk ?? ("n" in entryOf({ bytes }) && acknowledged.push(Buffer.from(bytes).toString()))),
    onPoll: ({ watched: one, failure }) => {
      if (disk !== null) return;
      polls++;
      const [name, shift] = [watchedName(one), shifts.get(watchedName(one))!];
      if (failure === null && seen[name]!.at(-1) !== shift) seen[name]!.push(shift);
      if (clock.elapsedMs >= RENAMED_AT && !existsSync(OLD)) {
        renameSync(LOG, OLD);
        void clock.during(reopen());
      }
      if (clock.elapsedMs < POLICY_CHANGES_AT || policy === AFTER) return;
      if (file === HALF) file = policy = AFTER;
      else {
        file = HALF;
        ask();
      }
    },
    refusal: (entry) => deliver("refusal", entry),
    outage: (entry) => deliver("outage", entry),
    reload: {
      read: async () => ({ policy: { text: file } }),
      when: (given) => {
        ask = given;
        return () => {};
      },
    },
  });
  await close();
  const left = disk as readonly (readonly [string, Uint8Array])[] | null;
  messages.push(...ended.messages);
  if (left !== null) {
    for (const folder of [own, others]) for (const name of readdirSync(folder)) rmSync(join(folder, name));
    for (const [path, bytes] of left) writeFileSync(path, bytes, { mode: 0o600 });
    // As a kill in the middle of a write leaves it.
    if (end === "killed in a write") appendFileSync(LOG, `{"run":"bootproof-run/1","n":${run}`);
  }
  return ended;
}

let last: Seen | null = null;
const entries: Entry[] = [];
beforeAll(async () => {
  for (let day = 1; day <= DAYS; day++) {
    const end = day === DAYS ? "stopped" : ENDS[day % ENDS.length]!;
    last = await runUntil(day * DAY, end);
    if (last.error === null) continue;
    // An operator makes room on the disk, and starts it again.
    errors.push(last.error);
    clock.set(FULL.to - clock.elapsedMs);
    last = await runUntil(day * DAY, end);
  }
  for (const name of files())
    for (const line of readFileSync(name, "utf8").trimEnd().split("\n")) entries.push(JSON.parse(line) as Entry);
}, 600_000);

const eventsOf = (...events: string[]): Entry[] => entries.filter(({ event = "" }) => events.includes(event));
const nameOf = ({ app, ephemeralKey: of }: Entry): string =>
  watchedName(app === undefined ? { ephemeralKey: of as string } : { app });
const elapsedAt = (time: string): number => Date.parse(time) - START.getTime();
const repeated = (what: "refusal" | "outage"): number[] =>
  delivered.filter((one) => one.what === what && one.entry.n !== undefined).map(({ entry }) => entry.n!);

describe("a month of a watch", () => {
  it("had polls, kills of each kind, and locks of hosts that are gone", () => {
    expect(polls).toBeGreaterThan(1200);
    for (const end of ENDS.slice(1))
      expect([...killed.values()].filter((one) => one === end).length).toBeGreaterThan(3);
    const stale = notes.filter((note) => /^its lock belongs to process 1 of watch-\d+: watching it/.test(note));
    expect(stale).toHaveLength(killed.size);
    expect(notes.filter((note) => note.includes("was not finished")).length).toBeGreaterThan(3);
  });

  it("left files that verify together, with each checkpoint that others kept", async () => {
    expect(files()).toHaveLength(2);
    const checkpoint = await readCheckpoint(readFileSync(NOTE), { key });
    expect(await verified({ checkpoint })).toMatchObject({ complete: true, entries: entries.length });
    expect(checkpoints.length).toBeGreaterThan(100);
    for (const kept of checkpoints.filter((_, index) => index % 25 === 0))
      expect(await verified({ checkpoint: await readCheckpoint(kept, { key }) })).toMatchObject({ fault: null });
  });

  it("lost no line, and recorded each boot proof that it saw, once", () => {
    const lines = files().flatMap((name) => readFileSync(name, "utf8").split("\n"));
    const places = acknowledged.map((line) => lines.indexOf(line));
    expect(places).toEqual(places.filter((place) => place >= 0).sort((one, other) => one - other));
    for (const name of NAMES) {
      const own = entries.filter((entry) => entry.verdict !== undefined && nameOf(entry) === name);
      const shifts = own.map(({ bootProofs }) => shiftOf.get(JSON.stringify(bootProofs![0]))!);
      const again = shifts.filter((shift, index) => shift === shifts[index - 1]);
      // The same one twice only where the policy changed.
      expect(again).toEqual([Math.floor(POLICY_CHANGES_AT / SHIFT)]);
      expect(shifts.filter((shift, index) => shift !== shifts[index - 1])).toEqual(seen[name]);
      expect(own.map(({ verdict }) => verdict === "rejected")).toEqual(shifts.map(isRejected));
    }
  });

  it("recorded each outage as a pair, and the change of the policy", () => {
    for (const name of NAMES) {
      const of = eventsOf("outage-began", "outage-ended").filter(({ watched: names }) =>
        names!.some((one) => watchedName(one) === name),
      );
      const planned = OUTAGES.filter(({ names }) => names.includes(name));
      expect(of.map(({ event }) => event)).toEqual(planned.flatMap(() => ["outage-began", "outage-ended"]));
      planned.forEach(({ from, to }, index) => {
        const [began, ended] = of.slice(2 * index) as [Entry, Entry];
        expect(began.since).toBe(ended.since);
        const late = [elapsedAt(began.since!) - from, elapsedAt(ended.at) - to];
        expect(late.every((time) => time >= 0 && time <= HOUR)).toBe(true);
      });
    }
    expect(eventsOf("setting-changed", "setting-refused")).toMatchObject([
      { event: "setting-refused", faults: [{ file: null }] },
      { event: "setting-changed", policy: "after", changed: ["policy"] },
    ]);
  });

  it.each(OUTAGES)("reported the outage of $kinds each hour", ({ from, to, kinds, names }) => {
    const restarts = Math.floor(to / DAY) - Math.floor(from / DAY);
    const hours = (to - from) / HOUR;
    for (const name of names) {
      const of = messages.flatMap((message) => {
        const after = message.at.getTime() - START.getTime();
        const isOf = "watched" in message && message.watched.some((one) => watchedName(one) === name);
        return isOf && after >= from && after <= to + HOUR ? [{ event: message.event, after }] : [];
      });
      expect(of.map(({ event }) => event)).toEqual([...of.slice(1).map(() => "outage"), "recovered"]);
      const gaps = of.slice(1).map(({ after }, index) => after - of[index]!.after);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(HOUR + MOST_WAIT);
      expect(of.length - 1).toBeLessThanOrEqual(hours + (restarts + 1) * (kinds.length + 1));
    }
  });

  it("announced each refusal and outage, and nothing twice but what a kill cut off", () => {
    const numbers = {
      refusal: entries.filter(({ verdict }) => verdict === "rejected").map(({ n }) => n!),
      outage: eventsOf("outage-began", "outage-ended").map(({ n }) => n!),
    };
    expect([numbers.refusal.length > 35, last!.summary]).toMatchObject([
      true,
      { waiting: [], unseen: [{ app: "stuck" }] },
    ]);
    for (const what of ["refusal", "outage"] as const) {
      const all = repeated(what);
      expect([...new Set(all)]).toEqual(numbers[what]);
      const twice = all.filter((n, index) => all.indexOf(n) !== index);
      for (const n of twice) {
        const [first, second, ...more] = delivered.filter(({ entry }) => entry.n === n);
        const lastOfRun = delivered.filter((one) => one.run === first!.run && one.what === what).at(-1);
        expect([killed.has(first!.run), lastOfRun, second!.run, more]).toEqual([true, first, first!.run + 1, []]);
      }
      if (what === "refusal") expect(twice.length).toBeGreaterThan(0);
      const announced = eventsOf("announced").map(({ of }) => of);
      expect(announced.filter((of) => numbers[what].includes(of as number))).toEqual(numbers[what]);
    }
    expect(messages.some(({ event }) => event === "not-announced")).toBe(true);
  });

  it("ended for a full disk, once the refusal of each name was announced", () => {
    expect(errors).toMatchObject([{ message: "no space left on the disk" }]);
    const unrecorded = delivered.filter(({ entry }) => entry.n === undefined);
    const refused = { what: "refusal", entry: { recorded: false, verdict: "rejected" } };
    expect(unrecorded).toMatchObject([refused, refused]);
    expect(unrecorded.map(({ entry }) => nameOf(entry)).toSorted()).toEqual(NAMES.toSorted());
    for (const { entry } of unrecorded) expect(elapsedAt(entry.at)).toBeGreaterThanOrEqual(FULL.from);
  });

  it("left a sign of life every three hours, but for the full disk", () => {
    const times = eventsOf("started", "alive", "stopped").map(({ at }) => elapsedAt(at));
    const long = times.slice(1).filter((time, index) => time - times[index]! > ALIVE + 2 * HOUR);
    expect(long).toEqual([expect.toSatisfy((time: number) => time >= FULL.to && time < FULL.to + HOUR)]);
    expect(eventsOf("started")).toHaveLength(DAYS + 1);
  });
});
