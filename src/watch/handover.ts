/** Delivers refusals and outages in order, each at least once. Polls do not wait for deliveries. */
import type { Signal } from "../door/platform.js";
import { withoutPrototype } from "../decode/input.js";
import { untilAborted } from "../door/waiting.js";
import { type LogLine, type UnrecordedLine, standingOf, watchedName } from "./entry.js";
import { type Delivered, type OutageOptions, backoffMs } from "./outages.js";
import type { LogStore } from "./store.js";
import { inTurns } from "../verify/in-turns.js";

/** Delivers a line of one kind, either a refusal or an outage. */
type Deliver = (line: never, signal: Signal) => Promise<void>;

interface HandoverOptions extends Pick<OutageOptions, "now" | "sleep" | "random" | "tell"> {
  readonly what: Delivered;
  readonly log: LogStore;
  /** Delivers a line. If undefined, all lines are treated as delivered. */
  readonly deliver: Deliver | undefined;
  /** Is called when the set of undelivered lines may have changed. */
  readonly onChange: () => void;
}

/** A refusal that could not be recorded yet. */
export interface Unrecorded {
  readonly line: UnrecordedLine;
  /** Number of its entry, once it is recorded. */
  n: number | null;
  isDelivered: boolean;
}

const ATTEMPTS = 5;
/** Limit of concurrent deliveries when the watch ends. */
const AT_ONCE = 4;
const RETRY_MS = 3_600_000;

/** An entry by its number, or a refusal that has none. */
type Waiting = number | Unrecorded;

export class Handover {
  readonly #options: HandoverOptions;
  #unrecorded: Unrecorded[] = [];
  /** Those that this process could not deliver, and those of them that are due for one more attempt. */
  #failed = new Set<Waiting>();
  #due = new Set<Waiting>();
  #timer = new AbortController();
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(options: HandoverOptions) {
    this.#options = withoutPrototype(options);
  }

  wake(): void {
    this.#options.onChange();
    this.#wake();
  }

  /** Delivers a refusal that is not in the log, before all lines of the log. */
  add(refusal: Unrecorded): void {
    if (this.#options.deliver === undefined) refusal.isDelivered = true;
    else this.#unrecorded.push(refusal);
    this.wake();
  }

  /** Makes `run` end once it has tried to deliver the lines that are in the log. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Without a target, marks all lines as delivered: one mark for all, because each mark costs a sync of the disk. */
  async begin(): Promise<void> {
    const { deliver, log, now, tell, what } = this.#options;
    const count = deliver === undefined ? await log.countAsDelivered(what) : 0;
    if (count > 0) tell({ event: "discarded", what, at: now(), count });
  }

  /** Returns the time, RFC 3339, of each line that was not delivered. */
  waitingSince(): string[] {
    return this.#waiting().map(({ at }) => at);
  }

  #waiting(): { readonly one: Waiting; readonly at: string }[] {
    const { deliver, log, what } = this.#options;
    if (deliver === undefined) return [];
    // A refusal that was recorded meanwhile is a line of the log.
    this.#unrecorded = this.#unrecorded.filter(({ n, isDelivered }) => n === null && !isDelivered);
    const unrecorded = this.#unrecorded.map((one) => ({ one, at: one.line.entry.at }));
    return [...unrecorded, ...log.undelivered(what).map(({ n, at }) => ({ one: n, at }))];
  }

  /** Runs until closed or aborted. Rejects if the log cannot be read or a mark cannot be written. */
  async run(signal: Signal): Promise<void> {
    if (this.#options.deliver === undefined) return;
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      // The promise exists before the log is read, so that a line that arrives meanwhile is not missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const isLast = this.#isClosed;
      if (await this.#handOnNext(signal)) continue;
      if (isLast) break;
      await woken;
    }
    this.#timer.abort();
  }

  /** Delivers the refusals that the log will never have. */
  async handOnLast(signal: Signal): Promise<void> {
    const refusals = this.#unrecorded.map(({ line }) => line);
    const distinct = new Map(refusals.map((line) => [`${watchedName(line.entry)} ${standingOf(line.entry)}`, line]));
    await inTurns([...distinct.values()], AT_ONCE, (line) => this.#deliver(line, ATTEMPTS, signal));
  }

  /** Resolves to false if there is nothing to deliver now. */
  async #handOnNext(signal: Signal): Promise<boolean> {
    const { log, onChange, what } = this.#options;
    const waiting = this.#waiting().map(({ one }) => one);
    const fresh = waiting.find((one) => !this.#failed.has(one));
    const one = fresh ?? waiting.find((each) => this.#due.has(each));
    if (one === undefined) return false;
    this.#due.delete(one);
    const line = typeof one === "number" ? await log.lineOf(what, one) : one.line;
    if (await this.#deliver(line, fresh === undefined ? 1 : ATTEMPTS, signal)) {
      if (typeof one !== "number") one.isDelivered = true;
      const n = typeof one === "number" ? one : one.n;
      if (n !== null) await log.markDelivered(what, n);
      this.#failed.delete(one);
      onChange();
    } else if (!signal.aborted) {
      if (this.#failed.size === 0) this.#await();
      this.#failed.add(one);
    }
    return true;
  }

  /** Waits for an hour, then warns, and makes each undelivered line due. */
  #await(): void {
    const { now, sleep, tell, what } = this.#options;
    this.#timer.abort();
    const { signal } = (this.#timer = new AbortController());
    const retry = (): void => {
      const waiting = this.#waiting().flatMap(({ one }) => (this.#failed.has(one) ? [one] : []));
      [this.#failed, this.#due] = [new Set(waiting), new Set(waiting)];
      if (signal.aborted || waiting.length === 0) return;
      const [oldest, ...more] = this.waitingSince().sort();
      tell({ event: "undelivered", what, at: now(), count: 1 + more.length, oldest: new Date(oldest!) });
      this.#await();
      this.#wake();
    };
    sleep(RETRY_MS, signal).then(retry, () => {});
  }

  /** Delivers a line, with retries. Resolves to false if it was not delivered. */
  async #deliver(line: LogLine | UnrecordedLine, most: number, signal: Signal): Promise<boolean> {
    const { deliver, what, now, random, sleep, tell } = this.#options;
    const n = "n" in line.entry ? line.entry.n : null;
    for (let attempts = 1; !signal.aborted; attempts++) {
      const message = await failureOfCall(() => untilAborted(deliver!(line as never, signal), signal));
      if (message === null) {
        if (attempts > 1 || most === 1) tell({ event: "handed-on", what, at: now(), n, attempts });
        return true;
      }
      if (signal.aborted) return false;
      const tries = attempts < most;
      // Reports only the first failure and the last: a message for each attempt would be too many.
      if (most > 1 && (attempts === 1 || !tries))
        tell({ event: "not-handed-on", what, at: now(), n, message, attempts, tries });
      if (!tries) return false;
      await sleep(backoffMs(attempts - 1, random()), signal).catch(() => {});
    }
    return false;
  }
}

async function failureOfCall(call: () => Promise<void>): Promise<string | null> {
  try {
    await call();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
