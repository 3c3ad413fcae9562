/** Delivers refusals: each at least once, in order, without delaying the polls. */
import type { Signal } from "../client/platform.js";
import { ownMembers } from "../decode/input.js";
import { untilAborted } from "../client/transport.js";
import type { FindingEntry, LogLine } from "./entry.js";
import { type WatchMessage, backoffMs } from "./outages.js";
import type { LogStore } from "./store.js";

interface HandoverOptions {
  readonly log: LogStore;
  readonly onRefusal?: (line: LogLine<FindingEntry>, signal: Signal) => Promise<void>;
  readonly once?: boolean;
  readonly now: () => Date;
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  readonly random: () => number;
  readonly tell: (message: WatchMessage) => void;
}

const NAMES: Readonly<Record<keyof HandoverOptions, true>> = {
  log: true,
  onRefusal: true,
  once: true,
  now: true,
  sleep: true,
  random: true,
  tell: true,
};

const ATTEMPTS_ONCE = 3;

export class Handover {
  readonly #options: HandoverOptions;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(options: HandoverOptions) {
    this.#options = ownMembers(options, NAMES);
  }

  wake(): void {
    this.#wake();
  }

  /** Ends the run after the refusals in the log. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Runs until closed or aborted. Rejects if the log cannot be read or marked. */
  async run(signal: Signal): Promise<void> {
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      // Created before the log is read, so that a refusal that arrives meanwhile is not missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const isLast = this.#isClosed;
      const line = await this.#options.log.nextRefusal();
      if (line !== null) {
        if (!(await this.#handOn(line, signal))) return;
      } else if (isLast) return;
      else await woken;
    }
  }

  /** False if it gave up. */
  async #handOn(line: LogLine<FindingEntry>, signal: Signal): Promise<boolean> {
    const { log, now, onRefusal, once = false, random, sleep, tell } = this.#options;
    const { n } = line.entry;
    for (let attempts = 1; ; attempts++) {
      const failure =
        onRefusal === undefined ? null : await failureOfCall(() => untilAborted(onRefusal(line, signal), signal));
      if (failure === null) {
        await log.markHandedOn(n);
        if (attempts > 1) tell({ event: "handed-on", at: now(), n, attempts });
        return true;
      }
      if (signal.aborted) return false;
      const tries = !once || attempts < ATTEMPTS_ONCE;
      // Only the first failure and the end are reported: one message per attempt would flood the operator.
      if (attempts === 1 || !tries) tell({ event: "not-handed-on", at: now(), n, message: failure, attempts, tries });
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
