/** Writes entries one at a time, and keeps those that a full disk refuses (watch/README.md, "A full disk"). */
import {
  type Finding,
  type LogEvent,
  type LogLine,
  type UnrecordedLine,
  eventLineAfter,
  lineAfter,
  standingOf,
  unrecordedLine,
  watchedName,
} from "./entry.js";
import type { Signal } from "../door/platform.js";
import { untilAborted } from "../door/waiting.js";
import { isAccepted } from "../report/accepted.js";
import type { Unrecorded } from "./handover.js";
import { type OutageOptions, passedMs } from "./outages.js";
import type { LogStore, Standing } from "./store.js";

interface RecorderOptions extends Pick<OutageOptions, "now" | "tell" | "repeatMs"> {
  readonly log: LogStore;
  readonly onEntry: (line: LogLine | UnrecordedLine) => void;
  /** Receives each refusal that cannot be recorded now. */
  readonly onUnrecorded: (refusal: Unrecorded) => void;
  /** Is called when what was kept is in the log. */
  readonly onKeptRecorded: () => void;
  /** Is called when the log became writable, or not. */
  readonly onChange: () => void;
}

type Recordable = Finding | LogEvent;

interface Kept {
  readonly what: Recordable;
  readonly refusal: Unrecorded | null;
}

/** Limit of kept entries. Over the limit, the oldest finding is dropped, but never a refusal that is not delivered. */
const MOST_KEPT = 100;

/** Ends the delivery of an entry, and records that. Resolves to null if the entry is not undelivered. */
export async function acknowledgeEntry(log: LogStore, n: number, now: Date): Promise<LogLine | null> {
  const what = (["refusal", "outage"] as const).find((each) => log.undelivered(each).some((one) => one.n === n));
  if (what === undefined) return null;
  const event = { event: "acknowledged", at: now.toISOString(), entry: n, what } as const;
  const line = await eventLineAfter(log.tail(), event);
  await log.append(line);
  await log.markDelivered(what, n);
  return line;
}

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #kept: Kept[] = [];
  #steps: Promise<unknown> = Promise.resolve();
  #full: { readonly since: Date; toldAt: Date } | null = null;
  /** Number of entries that this process recorded. */
  recorded = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  get isWritable(): boolean {
    return this.#full === null;
  }

  /**
   * Runs steps one after another, because each line has the hash of the line before it. The watch must end although a
   * disk hangs, so a step is not waited for after the signal.
   */
  inOrder<T>(step: () => Promise<T>, signal?: Signal): Promise<T> {
    const done = this.#steps.then(step);
    this.#steps = done.catch(() => {});
    return signal === undefined ? done : untilAborted(done, signal);
  }

  /** Returns the newest finding about a name, recorded or not. */
  standing(name: string): Standing | undefined {
    const kept = this.#kept.findLast(({ what }) => !("event" in what) && watchedName(what) === name)?.what;
    if (kept === undefined || "event" in kept) return this.#options.log.standing(name);
    return { verdict: kept.verdict, isRefused: !isAccepted(kept), key: standingOf(kept) };
  }

  /** Records a finding or an event. If the disk is full, it is kept, and a refusal is delivered without a number. */
  async record(what: Recordable): Promise<void> {
    try {
      if (await this.tryRecord(what)) return;
    } catch (error) {
      // The watch ends, but a refusal must not be lost with its log.
      if (!("event" in what)) this.showUnrecorded(what);
      throw error;
    }
    const refusal = "event" in what ? null : this.showUnrecorded(what);
    this.#kept.push({ what, refusal });
    if (this.#kept.length <= MOST_KEPT) return;
    const oldest = this.#kept.findIndex((kept) => !("event" in kept.what) && kept.refusal?.isDelivered !== false);
    if (oldest >= 0) this.#kept.splice(oldest, 1);
  }

  /** Records an entry behind those that were kept. Resolves to false if the disk is full. */
  async tryRecord(what: Recordable): Promise<boolean> {
    return (await this.recordKept()) && (await this.#append(what));
  }

  async recordKept(): Promise<boolean> {
    const isAny = this.#kept.length > 0;
    for (let kept = this.#kept[0]; kept !== undefined; kept = this.#kept[0]) {
      const { what, refusal } = kept;
      if (!(await this.#append(what, refusal))) return false;
      this.#kept.shift();
      if (refusal?.isDelivered === true) await this.#options.log.markDelivered("refusal", refusal.n!);
    }
    if (isAny) this.#options.onKeptRecorded();
    return true;
  }

  /** Hands on a finding that cannot be recorded. Returns null if it is not a refusal. */
  showUnrecorded(finding: Finding): Unrecorded | null {
    const { now, onEntry, onUnrecorded, tell } = this.#options;
    const line = unrecordedLine(finding);
    onEntry(line);
    if (isAccepted(finding)) return null;
    tell({ event: "unrecorded", at: now(), finding: { ...line.entry, bootProofs: [] } });
    const refusal = { line, n: null, isDelivered: false };
    onUnrecorded(refusal);
    return refusal;
  }

  /** Resolves to false if the disk is full. */
  async #append(what: Recordable, refusal: Unrecorded | null = null): Promise<boolean> {
    const { log, onEntry } = this.#options;
    const line = await ("event" in what ? eventLineAfter(log.tail(), what) : lineAfter(log.tail(), what));
    try {
      await log.append(line);
    } catch (error) {
      if ((error as Error).name !== "LogFullError") throw error;
      this.#noteFull((error as Error).message);
      return false;
    }
    this.recorded++;
    if (refusal !== null) refusal.n = line.entry.n;
    this.#noteWritable();
    onEntry(line);
    return true;
  }

  #noteFull(message: string): void {
    const { now, onChange, repeatMs, tell } = this.#options;
    const at = now();
    const before = this.#full;
    if (before !== null && passedMs(before.toldAt, at) < repeatMs) return;
    this.#full = { since: before?.since ?? at, toldAt: at };
    tell({ event: "log-full", at, since: this.#full.since, message });
    if (before === null) onChange();
  }

  #noteWritable(): void {
    if (this.#full === null) return;
    const { since } = this.#full;
    this.#full = null;
    this.#options.tell({ event: "log-writable", at: this.#options.now(), since });
    this.#options.onChange();
  }
}
