/** Announces refusals and outages, each at least once, in the order of their lines. Polls do not wait for it. */
import type { Signal } from "../door/platform.js";
import { untilAborted } from "../door/waiting.js";
import type { RunLine } from "./line.js";
import { type Announced, type RunLog, lineOf } from "./log.js";
import { type WatchTools, backoffMs } from "./outages.js";

/** Delivers the bytes of a line, without its line feed. */
export type Deliver = (line: Pick<RunLine, "bytes">, signal: Signal) => Promise<void>;

interface AnnouncerOptions extends WatchTools {
  readonly what: Announced;
  readonly log: RunLog;
  readonly deliver: Deliver;
  /** Receives each line that was delivered, to record that. */
  readonly announced: (n: number) => Promise<void>;
}

/** Attempts of one line before the next one is tried: one that nobody accepts must not hold up the others. */
const ATTEMPTS = 5;
const ROUND_MS = 300_000;

export class Announcer {
  readonly #options: AnnouncerOptions;
  /** The lines that this process could not deliver in its last round. */
  readonly #failed = new Set<number>();
  /** Resolves when these are tried again. */
  #round: Promise<void> | null = null;
  #isClosed = false;
  #wake: () => void = () => {};

  constructor(options: AnnouncerOptions) {
    this.#options = options;
  }

  wake(): void {
    this.#wake();
  }

  /** Makes `run` end once it has tried what waits. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Runs until closed or aborted. Rejects if a line cannot be read, or the file takes no line `announced`. */
  async run(signal: Signal): Promise<void> {
    const { log, what } = this.#options;
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      // The promise exists before the log is read, so that a line that arrives meanwhile is not missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const isLast = this.#isClosed;
      const next = log.pending(what).find(({ n }) => !this.#failed.has(n));
      if (next !== undefined) {
        if (await this.deliver(await lineOf(next), signal, next.n)) await this.#options.announced(next.n);
        else this.#fail(next.n, signal);
      } else if (isLast) return;
      else await Promise.race([woken, this.#round ?? woken]);
    }
  }

  /** Leaves a line to the next round. A line that arrives meanwhile must neither begin nor delay that round. */
  #fail(n: number, signal: Signal): void {
    this.#failed.add(n);
    const begin = (): void => {
      this.#failed.clear();
      this.#round = null;
    };
    this.#round ??= this.#options.sleep(ROUND_MS, signal).then(begin, begin);
  }

  /** Delivers a line, with retries. Resolves to false if it was not delivered. `n`: null if no file has it. */
  async deliver(line: Pick<RunLine, "bytes">, signal: Signal, n: number | null): Promise<boolean> {
    const { deliver, what, now, random, sleep, report } = this.#options;
    for (let attempts = 1; !signal.aborted; attempts++) {
      const message = await failureOf(() => untilAborted(deliver(line, signal), signal));
      if (message === null) {
        if (attempts > 1) report({ event: "announced", what, at: now(), n, attempts });
        return true;
      }
      if (signal.aborted) return false;
      const tries = attempts < ATTEMPTS;
      // Only the first failure and the last are reported: a message for each attempt would be too many.
      if (attempts === 1 || !tries) report({ event: "not-announced", what, at: now(), n, message, attempts, tries });
      if (!tries) return false;
      await sleep(backoffMs(attempts - 1, random()), signal).catch(() => {});
    }
    return false;
  }
}

async function failureOf(call: () => Promise<void>): Promise<string | null> {
  try {
    await call();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
