/** Delivers refusals and outages in order, each at least once, without delaying the polls. */
import type { Signal } from "../client/platform.js";
import { withoutPrototype } from "../decode/input.js";
import { untilAborted } from "../client/transport.js";
import type { LogLine } from "./entry.js";
import { type Delivered, type WatchMessage, backoffMs } from "./outages.js";

type Deliver<L> = (line: L, signal: Signal) => Promise<void>;

interface HandoverOptions<L extends LogLine> {
  readonly what: Delivered;
  /** The oldest line that is not marked, or null. */
  readonly next: () => Promise<L | null>;
  readonly mark: (n: number) => Promise<void>;
  /** Undefined means that every line counts as delivered. */
  readonly deliver: Deliver<L> | undefined;
  /** Marks all lines at once. It is called instead of the others where `deliver` is undefined. */
  readonly ignore: () => Promise<void>;
  readonly once?: boolean;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  readonly random: () => number;
  readonly tell: (message: WatchMessage) => void;
}

const ATTEMPTS_ONCE = 3;

export class Handover<L extends LogLine> {
  readonly #options: HandoverOptions<L>;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(options: HandoverOptions<L>) {
    this.#options = withoutPrototype(options);
  }

  wake(): void {
    this.#wake();
  }

  /** Ends the run after the lines in the log. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Runs until closed or aborted. Rejects if the log cannot be read or marked. */
  async run(signal: Signal): Promise<void> {
    const { deliver, ignore } = this.#options;
    // A mark for each line would cost a sync of the disk.
    if (deliver === undefined) return ignore();
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      // The promise exists before the log is read, so that a line that arrives meanwhile is not missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const isLast = this.#isClosed;
      const line = await this.#options.next();
      if (line !== null) {
        if (!(await this.#handOn(line, deliver, signal))) return;
      } else if (isLast) return;
      else await woken;
    }
  }

  /** Resolves to false if it gave up. */
  async #handOn(line: L, deliver: Deliver<L>, signal: Signal): Promise<boolean> {
    const { what, mark, now, once = false, random, sleep, tell } = this.#options;
    const { n } = line.entry;
    for (let attempts = 1; ; attempts++) {
      const failure = await failureOfCall(() => untilAborted(deliver(line, signal), signal));
      if (failure === null) {
        await mark(n);
        if (attempts > 1) tell({ event: "handed-on", what, at: now(), n, attempts });
        return true;
      }
      if (signal.aborted) return false;
      const tries = !once || attempts < ATTEMPTS_ONCE;
      // Only the first failure and the end are reported: one message per attempt would flood the operator.
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
