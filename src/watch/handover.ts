/** Delivers refusals and outages in order, each at least once. Polls do not wait for deliveries. */
import type { Signal } from "../client/platform.js";
import { withoutPrototype } from "../decode/input.js";
import { untilAborted } from "../client/transport.js";
import { type LogLine, type UnrecordedLine, standingOf, watchedName } from "./entry.js";
import { type Delivered, type WatchMessage, backoffMs } from "./outages.js";
import type { LogStore } from "./store.js";
import { inTurns } from "../verify/in-turns.js";

/** Delivers a line of one kind, either a refusal or an outage. */
type Deliver = (line: never, signal: Signal) => Promise<void>;

interface HandoverOptions {
  readonly what: Delivered;
  readonly log: LogStore;
  /** Delivers a line. If undefined, all lines are treated as delivered. */
  readonly deliver: Deliver | undefined;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  readonly random: () => number;
  readonly tell: (message: WatchMessage) => void;
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

export class Handover {
  readonly #options: HandoverOptions;
  #unrecorded: Unrecorded[] = [];
  /** Refusals and entries that this process could not deliver. They are tried again each hour. */
  readonly #failedRefusals = new Set<Unrecorded>();
  readonly #failed = new Set<number>();
  /** Those of `#failed` that are due for one more attempt. */
  #due: number[] = [];
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
    const { deliver, log, what } = this.#options;
    if (deliver === undefined) return [];
    const refusals = [...this.#unrecorded, ...this.#failedRefusals].filter(({ n }) => n === null);
    return [...refusals.map(({ line }) => line.entry.at), ...log.undelivered(what).map(({ at }) => at)];
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

  /** Delivers refusals that the log will never have, and those that waited for it. */
  async handOnLast(more: readonly Unrecorded[], signal: Signal): Promise<void> {
    if (this.#options.deliver === undefined) return;
    const refusals = [...this.#unrecorded, ...this.#failedRefusals, ...more].map(({ line }) => line);
    const distinct = new Map(refusals.map((line) => [`${watchedName(line.entry)} ${standingOf(line.entry)}`, line]));
    const options = { n: null, most: ATTEMPTS, signal };
    await inTurns([...distinct.values()], AT_ONCE, (line) => this.#deliver(line, options));
  }

  async #handOn(refusal: Unrecorded, signal: Signal): Promise<void> {
    refusal.isDelivered = await this.#deliver(refusal.line, { n: null, most: ATTEMPTS, signal });
    if (!refusal.isDelivered) this.#retryLater(() => this.#failedRefusals.add(refusal));
    else if (refusal.n !== null) await this.#options.log.markDelivered("refusal", refusal.n);
    this.#options.onChange();
  }

  /** Resolves to false if there is nothing to deliver now. */
  async #handOnNext(signal: Signal): Promise<boolean> {
    const { log, what } = this.#options;
    const refusal = this.#unrecorded.shift();
    if (refusal !== undefined) {
      // A refusal that was recorded meanwhile is a line of the log.
      if (refusal.n === null) await this.#handOn(refusal, signal);
      return true;
    }
    const waiting = log.undelivered(what).map(({ n }) => n);
    const fresh = waiting.find((n) => !this.#failed.has(n));
    const n = fresh ?? this.#due.find((one) => waiting.includes(one));
    this.#due = this.#due.filter((one) => one !== n);
    if (n === undefined) return false;
    const most = fresh === undefined ? 1 : ATTEMPTS;
    const line = await log.lineOf(what, n);
    if (await this.#deliver(line, { n, most, signal })) {
      await log.markDelivered(what, n);
      this.#failed.delete(n);
      this.#options.onChange();
    } else if (!signal.aborted) this.#retryLater(() => this.#failed.add(n));
    return true;
  }

  #retryLater(add: () => void): void {
    if (this.#failed.size + this.#failedRefusals.size === 0) this.#await();
    add();
  }

  /** Waits for an hour, then warns, and makes each undelivered line due. */
  #await(): void {
    const { now, sleep, tell, what } = this.#options;
    this.#timer.abort();
    const { signal } = (this.#timer = new AbortController());
    const retry = (): void => {
      const [oldest, ...more] = this.waitingSince();
      if (signal.aborted || this.#failed.size + this.#failedRefusals.size === 0 || oldest === undefined) return;
      tell({ event: "undelivered", what, at: now(), count: 1 + more.length, oldest: new Date(oldest) });
      this.#due = [...this.#failed];
      this.#unrecorded.push(...this.#failedRefusals);
      this.#failedRefusals.clear();
      this.#await();
      this.#wake();
    };
    sleep(RETRY_MS, signal).then(retry, () => {});
  }

  /** Delivers a line, with retries. Resolves to false if it was not delivered. */
  async #deliver(
    line: LogLine | UnrecordedLine,
    { n, most, signal }: { readonly n: number | null; readonly most: number; readonly signal: Signal },
  ): Promise<boolean> {
    const { deliver, what, now, random, sleep, tell } = this.#options;
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
