/** What the times of a log's entries show: gaps, times that go backwards, and when the watch was running. */
import { type LogEntry, isFinding } from "./entry.js";

/** The step from an entry to the next one, or from the last entry to the present. */
export interface LogStep {
  /** Number of the earlier entry. */
  readonly entry: number;
  readonly from: string;
  readonly to: string;
}

const MOST_LISTED = 100;
/** Verifications run beside one another, so their times may be recorded in another order. */
const TOLERANCE_MS = 1000;

export class LogTimes {
  readonly backwards: LogStep[] = [];
  readonly gaps: LogStep[] = [];
  /** Time of the newest `started` or `heartbeat`. */
  lastSign: string | null = null;
  readonly #maxGapMs: number;
  #last: LogEntry | null = null;

  constructor(maxGapMs = Infinity) {
    this.#maxGapMs = maxGapMs;
  }

  add(entry: LogEntry): void {
    this.stepTo(entry.at);
    this.#last = entry;
    if (!isFinding(entry) && (entry.event === "started" || entry.event === "heartbeat")) this.lastSign = entry.at;
  }

  /** Compares the newest entry with the time of the next one, or with the present. */
  stepTo(to: string): void {
    if (this.#last === null) return;
    const { n: entry, at: from } = this.#last;
    const ms = Date.parse(to) - Date.parse(from);
    if (ms < -TOLERANCE_MS && this.backwards.length < MOST_LISTED) this.backwards.push({ entry, from, to });
    if (ms > this.#maxGapMs && this.lastSign !== null && this.gaps.length < MOST_LISTED)
      this.gaps.push({ entry, from, to });
  }
}
