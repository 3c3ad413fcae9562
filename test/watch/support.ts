/** Logs that no watch wrote, with their own clock. */
import { toUtf8 } from "../../src/bytes.js";
import {
  type Finding,
  type FindingEntry,
  type LogEnd,
  type LogEvent,
  type LogLine,
  NO_LINE,
  type UnrecordedLine,
  type Watched,
  eventLineAfter,
  isFinding,
  lineAfter,
  watchedName,
} from "../../src/watch/entry.js";
import {
  type LogStore,
  type LogVerification,
  type VerifyLogOptions,
  type WatchOptions,
  verifyLog,
} from "../../src/watch/index.js";
import { sha256 } from "../../src/verify/digest.js";
import { toHex } from "../../src/bytes.js";
import type { JsonValue } from "../../src/decode/json.js";

export const START = new Date("2026-03-04T05:06:07.000Z");

export async function finding(app: string, bootProof: JsonValue, more: Partial<Finding> = {}): Promise<Finding> {
  return {
    at: START.toISOString(),
    app,
    ephemeralKey: null,
    verdict: "verified",
    stale: false,
    failed: [],
    deployment: "prod",
    policy: "lab",
    policyDigest: null,
    settingDigest: "cd".repeat(32),
    tool: { name: "bootproof", version: "0.1.0" },
    evidenceDigest: toHex(await sha256(toUtf8(JSON.stringify(bootProof)))),
    bootProofs: [bootProof],
    ...more,
  };
}

const at = START.toISOString();
const watched = [{ app: "signer" }, { ephemeralKey: "04ab" }];

/** One of each kind. */
export const EVENTS: readonly LogEvent[] = [
  { at, event: "outage-began", kind: "unreachable", watched, since: at, message: "no \u202econnection" },
  { at, event: "outage-ended", watched, since: at, failedPolls: 3 },
  {
    ...{ at, event: "setting-changed", changed: ["policy", "trustedRoots"], policy: "lab" },
    ...{ policyDigest: "ab".repeat(32), settingDigest: "cd".repeat(32), before: "ef".repeat(32) },
  },
  { at, event: "setting-refused", since: at, faults: [{ file: "a\u202e.json", reason: "no such file" }] },
  { at, event: "continued", file: "boots.2.jsonl" },
  {
    ...{ at, event: "started", watched, heartbeatMs: 3_600_000, settingDigest: "cd".repeat(32) },
    ...{ tool: { name: "bootproof", version: "0.1.0" }, adopted: "ab".repeat(32) },
  },
  { at, event: "heartbeat", since: at, polls: watched.map((one) => ({ ...one, good: 60, failed: 0 })) },
  { at, event: "stopped", since: at, polls: watched.map((one) => ({ ...one, good: 1, failed: 2 })) },
  { at, event: "acknowledged", entry: 3, what: "refusal" },
];

/** So many lines, each an entry of its own. */
export async function linesOf(count: number, more: Partial<Finding> = {}): Promise<LogLine<FindingEntry>[]> {
  const lines: LogLine<FindingEntry>[] = [];
  let end: LogEnd = { entries: 0, head: NO_LINE };
  for (let n = 1; n <= count; n++) {
    const line = await lineAfter(end, await finding("signer", { enclaveApp: "signer", boot: n }, more));
    lines.push(line);
    end = { entries: n, head: line.hash };
  }
  return lines;
}

/** Three files: entries 1 to 4, 5 to 8, 9 to 10. */
export async function rotatedLog(): Promise<{ all: LogLine[]; files: Record<"b" | "b.2" | "b.3", LogLine[]> }> {
  const all: LogLine[] = await linesOf(3);
  const endOf = (): LogEnd => ({ entries: all.length, head: all.at(-1)!.hash });
  const turn = async (file: string): Promise<void> =>
    void all.push(await eventLineAfter(endOf(), { at, event: "continued", file }));
  const grow = async (): Promise<void> => void all.push(await lineAfter(endOf(), await finding("signer", all.length)));
  await turn("b.2");
  for (let n = 5; n <= 7; n++) await grow();
  await turn("b.3");
  for (let n = 9; n <= 10; n++) await grow();
  return { all, files: { b: all.slice(0, 4), "b.2": all.slice(4, 8), "b.3": all.slice(8) } };
}

/** Leaves out events. */
export function findingsInto(findings: LogLine<FindingEntry>[]): (line: LogLine | UnrecordedLine) => void {
  return (line) =>
    void ("n" in line.entry && isFinding(line.entry) && findings.push({ ...(line as LogLine), entry: line.entry }));
}

export function textOf(lines: readonly (LogLine | string)[]): string {
  return lines
    .map((line) => `${typeof line === "string" ? line : Buffer.from(line.bytes).toString("utf8")}\n`)
    .join("");
}

/** In pieces that end anywhere. */
export async function* inPieces(text: string | Uint8Array, size = 97): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === "string" ? toUtf8(text) : text;
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function verified(text: string, options: VerifyLogOptions = {}): Promise<LogVerification> {
  return verifyLog(inPieces(text), options);
}

/** Whether an entry says only that the watch is alive. */
export function isSign(entry: object): boolean {
  return "event" in entry && ["started", "heartbeat", "stopped"].includes(String(entry.event));
}

/** What a request that hangs returns. */
export const NEVER = new Promise<never>(() => {});

/** The function `newest` of a watch. What hangs stays {@link NEVER}. */
export function respondingBy(
  answer: (watched: Watched, signal: AbortSignal) => JsonValue | null | Promise<JsonValue | null>,
): WatchOptions["newest"] {
  return (watched, signal) => {
    try {
      const answered = answer(watched, signal);
      return answered === NEVER ? NEVER : Promise.resolve(answered);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  };
}

const [MOST_BUSY_MS, LAST_ROUND_MS] = [2000, 200];

/** A clock that advances only by sleeping. */
export class SimulatedClock {
  #time = START.getTime();
  #busy = 0;
  #isSlow = false;
  #isLastRound = false;
  #whenFree = (): void => {};
  readonly #requests = new Set<() => void>();
  #sleepers: { readonly at: number; readonly wake: () => void }[] = [];

  readonly now = (): Date => new Date(this.#time);
  readonly random = (): number => 0.5;
  readonly sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", wake);
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        resolve();
      };
      const sleeper = { at: this.#time + milliseconds, wake };
      if (signal.aborted) return resolve();
      this.#sleepers.push(sleeper);
      signal.addEventListener("abort", wake);
    });

  /** Time passes during a request, which then takes no real time. */
  letRequestsLast(): void {
    this.#isSlow = true;
  }

  /** Time does not pass during this work, which takes real time. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#busy++;
    return work.finally(() => {
      this.#busy--;
      this.#whenFree();
    });
  }

  /** Sets the clock by so many milliseconds. Sleepers do not notice. */
  set(milliseconds: number): void {
    this.#time += milliseconds;
    this.#sleepers = this.#sleepers.map((one) => Object.assign(one, { at: one.at + milliseconds }));
  }

  /** Time does not pass from a request of a watch, unless it hangs, to the end of its poll. */
  watching(options: Omit<WatchOptions, "now" | "sleep" | "random"> & Partial<WatchOptions>): WatchOptions {
    const [polling, log] = [new Map<string, () => void>(), options.log];
    return {
      ...{ now: this.now, sleep: this.sleep, random: this.random },
      ...options,
      newest: (watched, signal) => {
        const answer = options.newest(watched, signal);
        // The last round of a watch reports no poll.
        const begin = (): void =>
          void this.during(
            new Promise<void>((end) => {
              polling.set(watchedName(watched), end);
              this.#requests.add(end);
              setTimeout(end, this.#isLastRound ? LAST_ROUND_MS : MOST_BUSY_MS).unref();
            }),
          );
        if (this.#isSlow) answer.then(begin, begin);
        else if (answer !== NEVER) begin();
        return answer;
      },
      onPoll: (poll) => {
        options.onPoll?.(poll);
        polling.get(watchedName(poll.watched))?.();
      },
      ...(log !== undefined && { log: this.storing(log) }),
    };
  }

  /** A watch has one more round when its log was changed. */
  #using<T>(work: Promise<T>): Promise<T> {
    return this.during(work).catch((error: Error) => {
      this.#isLastRound ||= error.name === "LogChangedError";
      if (this.#isLastRound) for (const end of this.#requests) setTimeout(end, LAST_ROUND_MS);
      throw error;
    });
  }

  storing(log: LogStore): LogStore {
    return {
      tail: () => log.tail(),
      standing: (name) => log.standing(name),
      openOutage: (name) => log.openOutage(name),
      lastSign: () => log.lastSign(),
      undelivered: (what) => log.undelivered(what),
      check: () => this.#using(log.check()),
      append: (line) => this.#using(log.append(line)),
      lineOf: (what, n) => this.during(log.lineOf(what, n)),
      markDelivered: (what, n) => this.during(log.markDelivered(what, n)),
      countAsDelivered: (what) => this.during(log.countAsDelivered(what)),
    };
  }

  get sleeping(): number {
    return this.#sleepers.length;
  }

  get elapsedMs(): number {
    return this.#time - START.getTime();
  }

  /**
   * Wakes who sleeps, in order, once there is one who does. Where several sleep, one that works meanwhile has to be
   * busy: its work takes real time, in which the others would sleep for days.
   */
  async runUntil(isDone: () => boolean, isBusy = (): boolean => false): Promise<void> {
    while (!isDone()) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#busy > 0) {
        await new Promise<void>((resolve) => {
          this.#whenFree = resolve;
          setTimeout(resolve, 5);
        });
        continue;
      }
      if (isBusy()) continue;
      this.#sleepers.sort((a, b) => a.at - b.at);
      const [next] = this.#sleepers;
      if (next === undefined) continue;
      this.#time = Math.max(this.#time, next.at);
      next.wake();
    }
  }
}
