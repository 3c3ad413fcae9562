/** What the times of a log's entries show: gaps, times that go backwards, and when the watch was running. */
import { type LogEntry, isFinding } from "./entry.js";

/** The step from an entry to the next one, or from the last entry to the present. */
export interface LogStep {
  /** Number of the earlier entry. */
  readonly entry: number;
  readonly from: string;
  readonly to: string;
}

export interface LogGap extends LogStep {
  readonly ms: number;
  /** Whether the watch ended in order before it. Otherwise it was killed, or could not write its heartbeats. */
  readonly stopped: boolean;
}

/** Counts of entries by which a watch shows that it runs. A watch with `once` writes only heartbeats. */
export interface LogSigns {
  readonly started: number;
  readonly stopped: number;
  readonly heartbeat: number;
  /** Time of the newest `started` or `heartbeat`; null if there is none. */
  readonly newestAt: string | null;
}

const MOST_LISTED = 100;
/** Verifications run beside one another, so their times may be recorded in another order. */
const TOLERANCE_MS = 1000;

export class LogTimes {
  readonly backwards: LogStep[] = [];
  readonly gaps: LogGap[] = [];
  readonly signs = { started: 0, stopped: 0, heartbeat: 0, newestAt: null as string | null };
  readonly #maxGapMs: number;
  #last: LogEntry | null = null;
  #isStopped = false;

  constructor(maxGapMs = Infinity) {
    this.#maxGapMs = maxGapMs;
  }

  add(entry: LogEntry): void {
    this.stepTo(entry.at);
    this.#last = entry;
    const event = isFinding(entry) ? "finding" : entry.event;
    if (event === "started" || event === "stopped" || event === "heartbeat") this.signs[event]++;
    if (event === "started" || event === "heartbeat") this.signs.newestAt = entry.at;
    if (event !== "continued" && event !== "acknowledged") this.#isStopped = event === "stopped";
  }

  /** Compares the newest entry with the time of the next one, or with the present. */
  stepTo(to: string): void {
    if (this.#last === null) return;
    const { n: entry, at: from } = this.#last;
    const ms = Date.parse(to) - Date.parse(from);
    if (ms < -TOLERANCE_MS && this.backwards.length < MOST_LISTED) this.backwards.push({ entry, from, to });
    if (ms > this.#maxGapMs && this.signs.newestAt !== null && this.gaps.length < MOST_LISTED)
      this.gaps.push({ entry, from, to, ms, stopped: this.#isStopped });
  }
}
