/** Watches by a simulated clock, and what is seen of them. */
import { parsePolicy } from "../../src/appraise/policy.js";
import type { JsonValue } from "../../src/decode/json.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type FailureKind, type RunEnd, type RunLine, type Watched, watchedName } from "../../src/run/line.js";
import { NO_LINES } from "../../src/run/line.js";
import { RunLog, type RunStore } from "../../src/run/log.js";
import { FetchError, type WatchMessage } from "../../src/run/outages.js";
import type { WatchPoll, WatchStatus } from "../../src/run/health.js";
import { type WatchOptions, type WatchSummary, watch } from "../../src/run/watch.js";

export const START = new Date("2026-03-04T05:06:07.000Z");
export const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
export const at = (milliseconds: number): string => new Date(START.getTime() + milliseconds).toISOString();
const forge = new Forge();
export const { bootProof, anchorPem } = forgeEvidence({ lab: forge, at: START });
export const policy = parsePolicy(JSON.stringify(labPolicy(anchorPem, [labDeployment(forge)])));

/** What a request that hangs returns. */
export const NEVER = new Promise<never>(() => {});

export function fails(kind: FailureKind): never {
  throw new FetchError(kind, `it is ${kind}`);
}

/** A file in memory. */
export class MemoryStore implements RunStore {
  readonly lines = new Map<number, RunLine>();
  end: RunEnd = NO_LINES;
  size = 0;

  append(line: RunLine): Promise<void> {
    this.lines.set(this.size, line);
    this.end = { entries: line.entry.n, head: line.hash };
    this.size += line.bytes.length + 1;
    return Promise.resolve();
  }

  read(offset: number): Promise<Uint8Array> {
    return Promise.resolve(this.lines.get(offset)!.bytes);
  }

  /** As a process that starts reads it. */
  opened(): RunLog {
    const log = new RunLog();
    for (const [offset, line] of this.lines) log.add(line, offset);
    return log.begin(this);
  }
}

/** A line, or a refusal that the file did not take. */
export interface Entry {
  readonly [name: string]: unknown;
  readonly n?: number;
  readonly at: string;
  readonly event?: string;
  readonly app?: string;
  readonly verdict?: string;
  readonly failed?: readonly string[];
  readonly settingDigest?: string;
  readonly since?: string;
  readonly watched?: readonly Watched[];
  readonly bootProofs?: readonly JsonValue[];
}

export function entryOf({ bytes }: Pick<RunLine, "bytes">): Entry {
  return JSON.parse(Buffer.from(bytes).toString("utf8")) as Entry;
}

/** Whether an entry says only that the watch is alive, or that something was announced. */
export function isSign({ event = "" }: Entry): boolean {
  return ["started", "alive", "stopped", "announced"].includes(event);
}

export const wordsOf = (entries: readonly Entry[]): string[] => entries.map(({ event, verdict }) => event ?? verdict!);

/** Real time after which a poll is taken to be over. The last polls of a watch are not reported. */
const MOST_BUSY_MS = 2000;

/** A clock that advances only by sleeping. */
export class SimulatedClock {
  #time = START.getTime();
  #isSlow = false;
  readonly #holds = new Set<() => void>();
  #whenFree = (): void => {};
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

  get sleeping(): number {
    return this.#sleepers.length;
  }

  get elapsedMs(): number {
    return this.#time - START.getTime();
  }

  /** Time passes during a request, which then takes no real time. */
  letRequestsLast(): void {
    this.#isSlow = true;
  }

  /** Sets the clock by so many milliseconds. Sleepers do not notice. */
  set(milliseconds: number): void {
    this.#time += milliseconds;
    this.#sleepers = this.#sleepers.map((one) => Object.assign(one, { at: one.at + milliseconds }));
  }

  /** Time does not pass until the returned function is called. */
  hold(): () => void {
    const end = (): void => {
      if (this.#holds.delete(end)) this.#whenFree();
    };
    this.#holds.add(end);
    return end;
  }

  release(): void {
    for (const end of this.#holds) end();
  }

  /** Time does not pass during this work, which takes real time. */
  during<T>(work: Promise<T>): Promise<T> {
    return work.finally(this.hold());
  }

  /**
   * Time does not pass from a request, unless it hangs, to the end of its poll, while a line is read or recorded, and
   * from the end of a `read` of the setting until it is held.
   */
  watching(options: Omit<WatchOptions, "now" | "sleep" | "random"> & Partial<WatchOptions>): WatchOptions {
    const held = new Map<string, () => void>();
    const begin = (name: string): void => {
      held.get(name)?.();
      held.set(name, this.hold());
    };
    const end = (name: string): void => held.get(name)?.();
    const { log = new RunLog(), newest, reload, onPoll, onRefusal, onOutage } = options;
    const [record, inOrder, pending] = [log.record.bind(log), log.inOrder.bind(log), log.pending.bind(log)];
    log.record = (time, content) =>
      this.during(record(time, content)).catch((error: unknown) => {
        this.release();
        throw error;
      });
    log.inOrder = (step) => {
      end("reload");
      return inOrder(step);
    };
    log.pending = (what) =>
      pending(what).map((one) => {
        const read = (): Promise<Uint8Array> => {
          begin(what);
          return one.read();
        };
        return { ...one, read };
      });
    return {
      ...{ now: this.now, sleep: this.sleep, random: this.random },
      ...options,
      log,
      newest: (watched, signal) => {
        const answer = newest(watched, signal);
        const polling = (): void => {
          begin(watchedName(watched));
          setTimeout(held.get(watchedName(watched))!, MOST_BUSY_MS).unref();
        };
        if (this.#isSlow) answer.then(polling, polling);
        else if (answer !== NEVER) polling();
        return answer;
      },
      onPoll: (poll) => {
        onPoll?.(poll);
        end(watchedName(poll.watched));
      },
      ...(onRefusal && { onRefusal: (line, signal) => (end("refusal"), onRefusal(line, signal)) }),
      ...(onOutage && { onOutage: (line, signal) => (end("outage"), onOutage(line, signal)) }),
      ...(reload && { reload: { ...reload, read: () => reload.read().finally(() => begin("reload")) } }),
    };
  }

  /** Wakes who sleeps, in order. */
  async runUntil(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#holds.size > 0) {
        await new Promise<void>((resolve) => {
          this.#whenFree = resolve;
          setTimeout(resolve, 5);
        });
        continue;
      }
      this.#sleepers.sort((one, other) => one.at - other.at);
      const [next] = this.#sleepers;
      if (next === undefined) continue;
      this.#time = Math.max(this.#time, next.at);
      next.wake();
    }
  }
}

/** The function `newest` of a watch. What hangs stays {@link NEVER}. */
function respondingBy(answer: (name: string) => JsonValue | null | Promise<JsonValue | null>): WatchOptions["newest"] {
  return (watched) => {
    try {
      const answered = answer("app" in watched ? watched.app : watched.ephemeralKey);
      return answered === NEVER ? NEVER : Promise.resolve(answered);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  };
}

/** What takes a line, or throws. */
export type Take = (entry: Entry, attempts: number) => void | Promise<void>;

export interface Seen {
  readonly entries: Entry[];
  /** Entries but the signs of life, and `announced`. */
  readonly news: Entry[];
  readonly refusals: Entry[];
  readonly outages: Entry[];
  readonly messages: WatchMessage[];
  readonly polls: (WatchPoll & { readonly elapsedMs: number })[];
  readonly statuses: WatchStatus[];
  readonly requests: { readonly app: string; readonly elapsedMs: number }[];
  readonly summary: WatchSummary | null;
  readonly error: Error | null;
  readonly elapsedMs: number;
}

export interface Given extends Partial<WatchOptions> {
  readonly clock?: SimulatedClock;
  readonly until?: number;
  /** Number of polls or entries after which the watch ends. */
  readonly most?: number;
  /** Takes refusals; null: there is no target. */
  readonly refusal?: Take | null;
  readonly outage?: Take | null | undefined;
}

/** Watches until a time of the clock, or until the watch ends. `answer` depends on the name and the time. */
export async function watched(
  answer: (name: string, elapsedMs: number) => JsonValue | null | Promise<JsonValue | null>,
  { clock = new SimulatedClock(), until = Infinity, most = Infinity, refusal, outage, ...more }: Given = {},
): Promise<Seen> {
  const lists = { entries: [], news: [], refusals: [], outages: [], messages: [], polls: [], statuses: [] };
  const seen = { ...lists, requests: [] } as unknown as Omit<Seen, "summary" | "error" | "elapsedMs">;
  const taking = (take: Take | undefined, taken: Entry[]): NonNullable<WatchOptions["onRefusal"]> => {
    const attempts = new Map<string, number>();
    return async (line) => {
      const entry = entryOf(line);
      const name = `${entry.n} ${entry.at}`;
      attempts.set(name, (attempts.get(name) ?? 0) + 1);
      await take?.(entry, attempts.get(name)!);
      taken.push(entry);
    };
  };
  const stop = new AbortController();
  more.signal?.addEventListener("abort", () => stop.abort());
  let [ended, error]: [boolean, Error | null] = [false, null];
  const options = clock.watching({
    policy,
    apps: ["one"],
    newest: respondingBy((app) => {
      seen.requests.push({ app, elapsedMs: clock.elapsedMs });
      return answer(app, clock.elapsedMs);
    }),
    ...(refusal !== null && { onRefusal: taking(refusal, seen.refusals) }),
    ...(outage !== null && { onOutage: taking(outage, seen.outages) }),
    ...more,
    onEntry: (line) => {
      more.onEntry?.(line);
      const entry = entryOf(line);
      seen.entries.push(entry);
      if (!isSign(entry)) seen.news.push(entry);
    },
    onMessage: (message) => void seen.messages.push(message),
    onStatus: (status) => void seen.statuses.push(status),
    onPoll: (poll) => {
      more.onPoll?.(poll);
      seen.polls.push({ ...poll, elapsedMs: clock.elapsedMs });
    },
    signal: stop.signal,
  });
  const work = watch(options)
    .catch((thrown: Error) => ((error = thrown), null))
    .finally(() => (ended = true));
  const isFull = (): boolean => Math.max(seen.polls.length, seen.entries.length) >= most;
  await clock.runUntil(() => ended || clock.elapsedMs >= until || isFull());
  const { elapsedMs } = clock;
  stop.abort();
  const summary = await work;
  clock.release();
  return { ...seen, summary, error, elapsedMs };
}
