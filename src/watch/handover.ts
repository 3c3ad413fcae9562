/** Delivers refusals and outages in order, each at least once. Polls do not wait for deliveries. */
import type { Signal } from "../client/platform.js";
import { withoutPrototype } from "../decode/input.js";
import { untilAborted } from "../client/transport.js";
import type { LogLine } from "./entry.js";
import { type Delivered, type WatchMessage, backoffMs } from "./outages.js";
import type { LogStore } from "./store.js";

/** Delivers a line of one kind, either a refusal or an outage. */
type Deliver = (line: never, signal: Signal) => Promise<void>;

interface HandoverOptions {
  readonly what: Delivered;
  readonly log: LogStore;
  /** Delivers a line. If undefined, all lines are treated as delivered. */
  readonly deliver: Deliver | undefined;
  readonly once?: boolean;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  readonly random: () => number;
  readonly tell: (message: WatchMessage) => void;
}

const ATTEMPTS_ONCE = 3;

export class Handover {
  readonly #options: HandoverOptions;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(options: HandoverOptions) {
    this.#options = withoutPrototype(options);
  }

  wake(): void {
    this.#wake();
  }

  /** Makes `run` end once it has delivered the lines that are in the log. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** The oldest line that is not marked as delivered, or null. */
  #next(): Promise<LogLine | null> {
    const { log, what } = this.#options;
    return what === "refusal" ? log.nextRefusal() : log.nextOutage();
  }

  /** Whether lines remain that were not delivered. */
  async isWaiting(): Promise<boolean> {
    return this.#options.deliver !== undefined && (await this.#next()) !== null;
  }

  /** Runs until closed or aborted. Rejects if the log cannot be read or a mark cannot be written. */
  async run(signal: Signal): Promise<void> {
    const { deliver, log, what } = this.#options;
    // One mark for all lines, because each mark costs a sync of the disk.
    if (deliver === undefined) return log.countAsDelivered(what);
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      // The promise exists before the log is read, so that a line that arrives meanwhile is not missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const isLast = this.#isClosed;
      const line = await this.#next();
      if (line !== null) {
        if (!(await this.#handOn(line, deliver, signal))) return;
      } else if (isLast) return;
      else await woken;
    }
  }

  /** Delivers a line, with retries. Resolves to false if it gave up. */
  async #handOn(line: LogLine, deliver: Deliver, signal: Signal): Promise<boolean> {
    const { log, what, now, once = false, random, sleep, tell } = this.#options;
    const { n } = line.entry;
    for (let attempts = 1; ; attempts++) {
      const failure = await failureOfCall(() => untilAborted(deliver(line as never, signal), signal));
      if (failure === null) {
        await (what === "refusal" ? log.markHandedOn(n) : log.markOutageHandedOn(n));
        if (attempts > 1) tell({ event: "handed-on", what, at: now(), n, attempts });
        return true;
      }
      if (signal.aborted) return false;
      const tries = !once || attempts < ATTEMPTS_ONCE;
      // Reports only the first failure and the last: a message for each attempt would be too many.
      if (attempts === 1 || !tries)
        tell({ event: "not-handed-on", what, at: now(), n, message: failure, attempts, tries });
      if (!tries) return false;
      await sleep(backoffMs(attempts - 1, random()), signal).catch(() => {});
      if (signal.aborted) return false;
    }
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
