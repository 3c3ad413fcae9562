/**
 * A month of a watch in a container that is replaced each day, under another host name: it is stopped, or killed during
 * a poll, a write or a delivery. The service fails in each way, the enclave restarts, and the policy changes once.
 */
import { generateKeyPairSync } from "node:crypto";
import { appendFileSync, mkdirSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import type { JsonValue } from "../../src/decode/json.js";
import type * as locks from "../../src/disk/lock.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import {
  type FailureKind,
  type FindingEntry,
  type LogEntry,
  type UnrecordedFinding,
  type LogLine,
  isFinding,
  watchedName,
} from "../../src/watch/entry.js";
import {
  FetchError,
  LogFullError,
  type LogStore,
  type LogVerification,
  type VerifyLogOptions,
  type WatchMessage,
  type WatchOptions,
  type WatchPoll,
  type WatchStatus,
  type WatchSummary,
  type Watched,
  acknowledgeEntry,
  verifyLog,
  watch,
} from "../../src/watch/index.js";
import { type OpenedLog, openLog, readLog } from "../../src/watch/node.js";
import { fastTestFolder } from "../support/folder.js";
import { NEVER, START, SimulatedClock } from "./support.js";

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

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = 30;
const INTERVAL = HOUR;
const HEARTBEAT = 3 * HOUR;
/** After a poll that failed. */
const MOST_WAIT = 5 * MINUTE;
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

const app = "signer";
/** An application whose requests hang, for the whole month. */
const stuck = "stuck";
const ephemeralKey = toHex(forge.ephemeralKey.publicKey);
const [APP, KEY] = [watchedName({ app }), watchedName({ ephemeralKey })];

const policyNamed = (name: string): Uint8Array =>
  toUtf8(JSON.stringify(labPolicy(anchorPem, [labDeployment(forge)], { name })));
const [BEFORE, AFTER] = [policyNamed("before"), policyNamed("after")];
const HALF = toUtf8("{");
const POLICY_CHANGES_AT = 10.4 * DAY;

interface Outage {
  readonly from: number;
  readonly to: number;
  readonly kinds: readonly FailureKind[];
  readonly names: readonly string[];
}
const outage = (from: number, to: number, kinds: readonly FailureKind[], names = [APP, KEY]): Outage => ({
  ...{ from: from * DAY, to: to * DAY },
  ...{ kinds, names },
});
/** The second, third and last go on over restarts. */
const OUTAGES: readonly Outage[] = [
  outage(2.2, 2.5, ["unreachable"]),
  outage(5.8, 7.3, ["unreachable", "missing", "answer", "credentials"]),
  outage(12.4, 14.1, ["answer", "missing"], [KEY]),
  outage(20.1, 20.9, ["missing"]),
  outage(25.5, 26.3, ["credentials", "unreachable"]),
];
/** The disk is full. */
const FULL = { from: 17.1 * DAY, to: 17.8 * DAY };
/** Another program shortens the log, while a boot proof is rejected. The operator puts it back. */
const EDITED = { day: 23, at: 22.1 * DAY };
/** The clock of the machine is a day late. */
const LATE = { from: 28.4 * DAY, to: 28.6 * DAY };
/** The target refuses the first refusal after that day, until the operator acknowledges it. */
const POISON = { from: 8 * DAY, acknowledgedAfter: 11 };
/** Too short for an entry. */
const SHORT = { from: 9.2 * DAY, requests: 6 };
const isTargetDown = (elapsed: number): boolean =>
  (elapsed >= 4 * DAY && elapsed < 4.7 * DAY) || (elapsed >= 17.9 * DAY && elapsed < 19.2 * DAY);

const root = fastTestFolder();
const OWN = join(root, "own");
/** Kept where the watch's machine can only replace a checkpoint. */
const OTHERS = join(root, "others");
const LOG = "boots.jsonl";
const NOTE = join(OTHERS, "boots.note");
const pair = generateKeyPairSync("ed25519");
const privateKey = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const key = pair.publicKey.export({ type: "spki", format: "pem" }).toString();

const numberOf = (name: string): number => Number(/^boots\.(\d+)\.jsonl$/.exec(name)?.[1] ?? 1);
const filesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => /^boots(?:\.\d+)?\.jsonl$/.test(name))
    .sort((one, other) => numberOf(one) - numberOf(other))
    .map((name) => join(folder, name));
const textIn = (folder: string): string =>
  filesIn(folder)
    .map((file) => readFileSync(file, "utf8"))
    .join("");
const verifiedIn = (folder: string, options: VerifyLogOptions = {}): Promise<LogVerification> =>
  verifyLog(
    filesIn(folder).map((name) => ({ name, stream: readLog(name) })),
    options,
  );

interface Opening {
  readonly folder?: string;
  readonly onNote?: (text: string) => void;
  readonly onCheckpoint?: (note: string) => void;
}
const opened = ({ folder = OWN, onNote = () => {}, onCheckpoint = () => {} }: Opening = {}): Promise<OpenedLog> =>
  openLog(join(folder, LOG), {
    onNote,
    rotate: { bytes: 300_000, afterMs: 3 * DAY },
    checkpoint: { key: privateKey, file: NOTE, onCheckpoint },
  });

const ENDS = ["stopped", "killed in a write", "killed in a delivery", "killed in a poll"] as const;
type End = (typeof ENDS)[number];

/** What the month has shown outside the log. */
const clock = new SimulatedClock();
const acknowledged: string[] = [];
const checkpoints: string[] = [];
const messages: WatchMessage[] = [];
const openingNotes: string[] = [];
/** Refusals and outages that reached their target, by `n`. */
const delivered = { refusal: [] as number[], outage: [] as number[] };
/** Refusals that reached their target without a number: on the full disk, and from the edited log. */
const unrecorded: { readonly elapsed: number; readonly entry: UnrecordedFinding }[] = [];
let poison: number | null = null;
const statuses: WatchStatus[] = [];
const edited: Error[] = [];
const seen: Record<string, number[]> = { [APP]: [], [KEY]: [] };
const kills: Record<End, number> = Object.fromEntries(ENDS.map((end) => [end, 0])) as Record<End, number>;
let [policy, polls, requests, shortRequests] = [BEFORE, 0, 0, 0];

function timedOut(): never {
  throw new FetchError("unreachable", "no response in time");
}

function respond(watched: Watched): JsonValue {
  const elapsed = clock.elapsedMs;
  const name = watchedName(watched);
  const failing = OUTAGES.find(({ from, to, names }) => elapsed >= from && elapsed < to && names.includes(name));
  const kind = failing?.kinds[requests++ % failing.kinds.length];
  if (kind !== undefined) throw new FetchError(kind, `it is ${kind}`);
  if (elapsed >= SHORT.from && shortRequests++ < SHORT.requests) throw new FetchError("unreachable", "for a moment");
  return BOOTS[Math.floor(elapsed / SHIFT)]!;
}

function clockOfMachine(): Date {
  const { elapsedMs } = clock;
  return new Date(clock.now().getTime() - (elapsedMs >= LATE.from && elapsedMs < LATE.to ? DAY : 0));
}

/** The files of both folders. */
type Disk = readonly (readonly [path: string, bytes: Uint8Array])[];
function diskNow(): Disk {
  const paths = [OWN, OTHERS].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  return paths.map((path) => [path, readFileSync(path)]);
}
function putBack(disk: Disk): void {
  for (const folder of [OWN, OTHERS]) for (const name of readdirSync(folder)) rmSync(join(folder, name));
  for (const [path, bytes] of disk) writeFileSync(path, bytes, { mode: 0o600 });
}

/** A watch until the end of its day. What it does after a kill is undone, and seen by nobody else. */
class Container {
  readonly #until: number;
  readonly #end: End;
  readonly #stop = new AbortController();
  #disk: Disk | null = null;
  readonly #shifts = new Map<string, number>();
  #attempts = 0;
  #ask = (): void => {};
  #file = policy;
  /** Simulated time does not pass while a poll runs, or the disk is in use: both take real time. */
  readonly #polling = new Set(["the first poll"]);
  #inUse = 0;

  constructor(day: number) {
    this.#until = day * DAY;
    this.#end = day === DAYS ? "stopped" : ENDS[day % ENDS.length]!;
    container.host = `watch-${day}`;
  }

  async run(): Promise<WatchSummary> {
    const log = await opened({
      onNote: (text) => openingNotes.push(text),
      onCheckpoint: (note) => void (this.#isAlive && checkpoints.push(note)),
    });
    let ended = false;
    const work = watch(this.#options(log)).finally(() => (ended = true));
    work.catch(() => {});
    const isOver = (): boolean => this.#end === "stopped" && clock.elapsedMs >= this.#until + HOUR;
    await clock.runUntil(
      () => ended || !this.#isAlive || isOver(),
      () => this.#polling.size > 0 || this.#inUse > 0,
    );
    this.#stop.abort();
    try {
      return await work;
    } finally {
      await log.close();
      if (this.#disk !== null) putBack(this.#disk);
    }
  }

  get #isAlive(): boolean {
    return this.#disk === null;
  }

  #reach(point: End): void {
    const isDue = clock.elapsedMs >= this.#until && (point === this.#end || clock.elapsedMs > this.#until + 2 * HOUR);
    if (!this.#isAlive || this.#end === "stopped" || !isDue) return;
    this.#disk = diskNow();
    kills[point]++;
    this.#stop.abort();
  }

  #options(log: OpenedLog): WatchOptions {
    return {
      policy: parsePolicy(policy),
      ...{ apps: [app, stuck], ephemeralKeys: [ephemeralKey], intervalMs: INTERVAL, log: this.#store(log) },
      heartbeatMs: HEARTBEAT,
      ...{ sleep: clock.sleep, random: clock.random, now: clockOfMachine, signal: this.#stop.signal },
      newest: async (watched) => {
        if ("app" in watched && watched.app === stuck) return this.#isEdited ? timedOut() : NEVER;
        this.#polling.delete("the first poll");
        // The last round reports no poll.
        if (!this.#isEdited) this.#polling.add(watchedName(watched));
        this.#reach("killed in a poll");
        this.#shifts.set(watchedName(watched), Math.floor(clock.elapsedMs / SHIFT));
        if (clock.elapsedMs >= EDITED.at && edited.length === 0) this.#edit();
        return this.#isAlive ? respond(watched) : NEVER;
      },
      onEntry: ({ entry, bytes }) =>
        void (this.#isAlive && "n" in entry && acknowledged.push(Buffer.from(bytes).toString("utf8"))),
      onStatus: (status) => void statuses.push(status),
      onMessage: (message) => void (this.#isAlive && messages.push(message)),
      onPoll: (poll) => this.#afterPoll(poll),
      onRefusal: ({ entry }) => this.#deliver("refusal", entry),
      onOutage: ({ entry }) => this.#deliver("outage", entry),
      reload: {
        read: async () => ({ policy: { text: Buffer.from(this.#file).toString("utf8") } }),
        when: (ask) => {
          this.#ask = ask;
          return () => {};
        },
      },
    };
  }

  /** Cuts the end of the log, and ends the container when its watch has noticed. */
  #edit(): void {
    const disk = diskNow().filter(([path]) => !path.endsWith(".lock"));
    const file = filesIn(OWN).at(-1)!;
    truncateSync(file, readFileSync(file).length - 10);
    edited.push(new Error("not noticed"));
    this.#isEdited = true;
    this.#polling.clear();
    this.#onEdited = (): void => putBack(disk);
  }

  #isEdited = false;
  #onEdited = (): void => {};

  /** Runs a watch whose log is edited. */
  async runEdited(): Promise<void> {
    await this.run().catch((error: Error) => edited.splice(0, 1, error));
    this.#onEdited();
  }

  #afterPoll({ watched, failure }: WatchPoll): void {
    if (!this.#isAlive) return;
    polls++;
    const name = watchedName(watched);
    this.#polling.delete(name);
    const [shifts, shift] = [seen[name]!, this.#shifts.get(name)!];
    if (failure === null && shifts.at(-1) !== shift) shifts.push(shift);
    if (clock.elapsedMs < POLICY_CHANGES_AT || policy === AFTER) return;
    if (this.#file !== HALF) {
      this.#file = HALF;
      this.#ask();
    } else this.#file = policy = AFTER;
  }

  async #deliver(what: keyof typeof delivered, entry: { readonly n: number } | UnrecordedFinding): Promise<void> {
    if (!this.#isAlive) return NEVER;
    const elapsed = clock.elapsedMs;
    if (what === "refusal" && (isTargetDown(elapsed) || ++this.#attempts % 3 === 0)) throw new Error("HTTP 500");
    if (!("n" in entry)) return void unrecorded.push({ elapsed, entry });
    if (what === "refusal" && elapsed >= POISON.from) poison ??= entry.n;
    if (what === "refusal" && entry.n === poison) throw new Error("HTTP 413");
    delivered[what].push(entry.n);
    this.#reach("killed in a delivery");
    return this.#isAlive ? undefined : NEVER;
  }

  #store(log: OpenedLog): LogStore {
    const counted =
      <A extends unknown[], R>(use: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        this.#inUse++;
        return use(...args).finally(() => this.#inUse--);
      };
    return {
      tail: () => log.tail(),
      standing: (name) => log.standing(name),
      openOutage: (name) => log.openOutage(name),
      lastSign: () => log.lastSign(),
      undelivered: (what) => log.undelivered(what),
      check: counted(() => log.check()),
      append: counted((line) => this.#append(log, line)),
      lineOf: counted((what, n) => log.lineOf(what, n)),
      markDelivered: counted((what, n) => log.markDelivered(what, n)),
      countAsDelivered: counted((what) => log.countAsDelivered(what)),
    };
  }

  async #append(log: OpenedLog, line: LogLine): Promise<void> {
    if (clock.elapsedMs >= FULL.from && clock.elapsedMs < FULL.to) throw new LogFullError("no space left on the disk");
    const appended = log.append(line);
    // Wherever the write is then: each day at another place.
    for (let turns = 0; turns < (this.#until / DAY) % 7; turns++) await new Promise((resolve) => setImmediate(resolve));
    this.#reach("killed in a write");
    return appended;
  }
}

async function acknowledgePoison(): Promise<void> {
  container.host = "operator";
  const log = await opened({ onNote: (text) => openingNotes.push(text) });
  expect(await acknowledgeEntry(log, poison!, clock.now())).not.toBe(null);
  await log.close();
}

let last: WatchSummary | null = null;
const entries: LogEntry[] = [];
beforeAll(async () => {
  for (const folder of [OWN, OTHERS]) mkdirSync(folder);
  for (let day = 1; day <= DAYS; day++) {
    if (day === EDITED.day) await new Container(day).runEdited();
    last = await new Container(day).run();
    if (day === POISON.acknowledgedAfter) await acknowledgePoison();
    // As a kill in the middle of a write leaves it.
    if (day % ENDS.length === 3) appendFileSync(filesIn(OWN).at(-1)!, `{"log":"bootproof-log/2","n":${day}`);
  }
  await verifiedIn(OWN, { onLine: ({ entry }) => entries.push(entry) });
}, 600_000);

const findingsOf = (name: string): FindingEntry[] =>
  entries.flatMap((entry) => (isFinding(entry) && watchedName(entry) === name ? [entry] : []));
const eventsOf = (...events: string[]) =>
  entries.flatMap((entry) => ("event" in entry && events.includes(entry.event) ? [entry] : []));

describe("a month of a watch", () => {
  it("had polls, kills of each kind, and locks of hosts that are gone", () => {
    expect(polls).toBeGreaterThan(1500);
    const killed = ENDS.slice(1).map((end) => kills[end]);
    expect(Math.min(...killed)).toBeGreaterThan(3);
    const stale = openingNotes.filter((note) =>
      /^its lock belongs to process 1 of watch-\d+: watching it for up to/.test(note),
    );
    expect(stale).toHaveLength(killed.reduce((sum, count) => sum + count));
    expect(
      openingNotes.filter((note) => /was incomplete, perhaps since a process was killed/.test(note)).length,
    ).toBeGreaterThan(5);
  });

  it("left files that verify together, with each checkpoint that others kept", async () => {
    const checkpoint = readFileSync(NOTE);
    expect(filesIn(OWN).length).toBeGreaterThan(5);
    expect(await verifiedIn(OWN, { checkpoint, key })).toMatchObject({ intact: true, entries: entries.length });
    expect(checkpoints.length).toBeGreaterThan(100);
    for (const kept of checkpoints.filter((_, index) => index % 10 === 0))
      expect(await verifiedIn(OWN, { checkpoint: kept, key })).toMatchObject({ intact: true, fault: null });
  });

  it("lost no line, and recorded each boot proof that it saw, once", () => {
    const lines = textIn(OWN).split("\n");
    const places = acknowledged.map((line) => lines.indexOf(line));
    expect(places).toEqual(places.filter((place) => place >= 0).sort((one, other) => one - other));
    for (const name of [APP, KEY]) {
      const findings = findingsOf(name);
      const shifts = findings.map(({ bootProofs }) => shiftOf.get(JSON.stringify(bootProofs[0])));
      // The same one twice where the policy changed, and again where a late clock refuses what was made today.
      const again = shifts.filter((shift, index) => shift === shifts[index - 1]);
      expect([shifts.filter((shift, index) => shift !== shifts[index - 1]), again]).toEqual([
        seen[name],
        [POLICY_CHANGES_AT, LATE.from, LATE.to].map((at) => Math.floor(at / SHIFT)),
      ]);
      const ofLate = Math.floor(LATE.from / SHIFT);
      const early = shifts.findIndex((shift, index) => shift === ofLate && shift === shifts[index - 1]);
      const refused = shifts.map((shift, index) => index === early || isRejected(shift!));
      expect(findings.map(({ verdict }) => verdict === "rejected")).toEqual(refused);
    }
  });

  it("recorded each outage as a pair, and the change of the policy", () => {
    for (const name of [APP, KEY]) {
      const of = eventsOf("outage-began", "outage-ended").filter(
        (entry) => "watched" in entry && entry.watched.some((one) => watchedName(one) === name),
      );
      const planned = OUTAGES.filter(({ names }) => names.includes(name));
      expect(of.map(({ event }) => event)).toEqual(planned.flatMap(() => ["outage-began", "outage-ended"]));
      planned.forEach(({ from, to }, index) => {
        const [began, ended] = of.slice(2 * index).map((entry) => ({ since: "", ...entry }));
        expect(began!.since).toBe(ended!.since);
        const since = Date.parse(began!.since) - START.getTime() - from;
        const until = Date.parse(ended!.at) - START.getTime() - to;
        expect([since >= 0, since <= INTERVAL, until >= 0, until <= INTERVAL]).toEqual([true, true, true, true]);
      });
    }
    expect(eventsOf("setting-changed")).toMatchObject([{ policy: "after", changed: ["policy"] }]);
    expect(eventsOf("setting-refused")).toMatchObject([{ faults: [{ file: null }] }]);
    const policies = entries.flatMap((entry) => (isFinding(entry) ? [entry.policy] : []));
    expect(policies).toEqual([...policies].sort((one, other) => (one === other ? 0 : one === "before" ? -1 : 1)));
  });

  it.each(OUTAGES)("reported the outage of $kinds each hour", ({ from, to, kinds, names }) => {
    const restarts = Math.floor(to / DAY) - Math.floor(from / DAY);
    const hours = (to - from) / HOUR;
    for (const name of names) {
      const of = messages.flatMap((message) => {
        const after = message.at.getTime() - START.getTime();
        const isOf = "watched" in message && message.watched.some((one) => watchedName(one) === name);
        return isOf && after >= from && after <= to + INTERVAL ? [{ event: message.event, after }] : [];
      });
      expect(of.map(({ event }) => event)).toEqual([...of.slice(1).map(() => "outage"), "recovered"]);
      const gaps = of.slice(1).map(({ after }, index) => after - of[index]!.after);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(HOUR + MOST_WAIT);
      expect(of.length - 1).toBeGreaterThanOrEqual(Math.floor((hours * HOUR) / (HOUR + MOST_WAIT)));
      expect(of.length - 1).toBeLessThanOrEqual(hours + (restarts + 1) * (kinds.length + 1));
    }
  });

  it("delivered refusals and outages at least once, but for the one that was acknowledged", () => {
    const refused = entries.flatMap((entry) => (isFinding(entry) && entry.verdict === "rejected" ? [entry] : []));
    // Those that were delivered from the full disk have no number.
    const idOf = (entry: FindingEntry | UnrecordedFinding): string => `${entry.at} ${watchedName(entry)}`;
    const handedOn = unrecorded.map(({ entry }) => idOf(entry));
    const numbered = refused.filter((entry) => !handedOn.includes(idOf(entry)));
    const outages = eventsOf("outage-began", "outage-ended").map(({ n }) => n);
    expect(refused.length).toBeGreaterThan(40);
    const sorted = (numbers: readonly number[]): number[] => [...new Set(numbers)].sort((one, other) => one - other);
    expect(sorted(delivered.refusal)).toEqual(numbered.map(({ n }) => n).filter((n) => n !== poison));
    expect(sorted(delivered.outage)).toEqual(outages);
    // A kill between a delivery and its mark repeats it.
    expect(delivered.refusal.length).toBeGreaterThan(numbered.length);
    expect(messages.some((message) => message.event === "not-handed-on")).toBe(true);
    expect(last).toMatchObject({ waiting: false, outagesWaiting: false, unfetched: [], unseen: [{ app: stuck }] });
  });

  it("warned each hour of the refusal that could not be delivered, over restarts, until it was acknowledged", () => {
    const warned = messages
      .filter(({ event }) => event === "undelivered")
      .map(({ at }) => at.getTime() - START.getTime());
    const until = POISON.acknowledgedAfter * DAY;
    expect(warned.filter((time) => time > POISON.from && time < until).length).toBeGreaterThan(48);
    expect(warned.filter((time) => time > until + HOUR && time < 17 * DAY)).toEqual([]);
    expect(eventsOf("acknowledged")).toMatchObject([{ entry: poison, what: "refusal" }]);
  });

  it("went on with a full disk, and recorded later what it had handed on", () => {
    const full = unrecorded.filter(({ elapsed }) => elapsed >= FULL.from && elapsed < FULL.to);
    expect(full.length).toBeGreaterThan(0);
    for (const { entry } of full)
      expect(findingsOf(watchedName(entry)).map(({ evidenceDigest }) => evidenceDigest)).toContain(
        entry.evidenceDigest,
      );
    const events = messages.flatMap(({ event }) => (event.startsWith("log-") ? [event] : []));
    expect([events.filter((event) => event === "log-full").length >= 15, events.at(-1)]).toEqual([
      true,
      "log-writable",
    ]);
    expect(statuses.some(({ isLogWritable }) => !isLogWritable)).toBe(true);
  });

  it("noticed that its log was edited, and handed on what was refused", () => {
    expect(edited).toMatchObject([{ name: "LogChangedError" }]);
    const found = unrecorded.filter(({ elapsed }) => elapsed >= EDITED.at && elapsed < EDITED.at + HOUR);
    expect(new Set(found.map(({ entry }) => watchedName(entry)))).toEqual(new Set([APP, KEY]));
  });

  it("left a sign of life every three hours, but for the full disk", () => {
    const signs = eventsOf("started", "heartbeat", "stopped");
    const times = signs.map(({ at }) => Date.parse(at) - START.getTime());
    const gaps = times.slice(1).map((time, index) => ({ from: times[index]!, gap: time - times[index]! }));
    const long = gaps.filter(({ gap }) => gap > HEARTBEAT + 2 * HOUR);
    // Where the clock is set forward again, an entry of the day before is next to one of today.
    const isExplained = ({ from }: { readonly from: number }): boolean =>
      (from >= FULL.from - HEARTBEAT && from < FULL.to) || (from >= LATE.from - DAY && from < LATE.to - DAY);
    expect(long.filter((gap) => !isExplained(gap))).toEqual([]);
    expect(long.length).toBeGreaterThanOrEqual(2);
    expect(signs.filter(({ event }) => event === "heartbeat").length).toBeGreaterThan(6 * 22);
    expect(signs.filter(({ event }) => event === "started").length).toBe(DAYS + 1);
  });
});
