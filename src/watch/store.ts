import { type FindingEntry, type LogEnd, type LogLine, NO_LINE, isFinding, standingOf, watchedName } from "./entry.js";
import type { Verdict } from "../report/report.js";

export interface Standing {
  readonly verdict: Verdict;
  /** Rejected, or refused under strict acceptance. Left out where the verdict alone decides. */
  readonly isRefused?: boolean;
  /** Equal for findings that are no news (`standingOf`). */
  readonly key: string;
}

/** A log for one watch at a time. */
export interface LogStore {
  tail(): LogEnd;
  /** By `watchedName`; undefined without an entry. */
  standing(name: string): Standing | undefined;
  /** Resolves when the line and its line feed are durable. A rejection ends the watch. */
  append(line: LogLine): Promise<void>;
  /** The oldest refusal that is not marked as delivered, or null. */
  nextRefusal(): Promise<LogLine<FindingEntry> | null>;
  /** Marks the refusals up to and including entry `n` as delivered. */
  markHandedOn(n: number): Promise<void>;
}

export class LogState {
  entries = 0;
  head = NO_LINE;
  readonly #standings = new Map<string, Standing>();

  tail(): LogEnd {
    return { entries: this.entries, head: this.head };
  }

  standing(name: string): Standing | undefined {
    return this.#standings.get(name);
  }

  add(line: LogLine): void {
    const { entry, hash } = line;
    this.entries = entry.n;
    this.head = hash;
    if (!isFinding(entry)) return;
    this.#standings.set(watchedName(entry), {
      verdict: entry.verdict,
      isRefused: isRefusal(line),
      key: standingOf(entry),
    });
  }
}

export function isRefusal(line: LogLine): line is LogLine<FindingEntry> {
  const { entry } = line;
  return isFinding(entry) && (entry.verdict === "rejected" || entry.refusedFor !== undefined);
}

/** Undelivered refusals; the oldest are dropped. */
const MOST_WAITING = 100;

/** Without a file. Keeps only what a watch needs to continue. */
export function memoryStore(): LogStore {
  const state = new LogState();
  const waiting: LogLine<FindingEntry>[] = [];
  return {
    tail: () => state.tail(),
    standing: (name) => state.standing(name),
    append: async (line) => {
      state.add(line);
      if (!isRefusal(line)) return;
      waiting.push(line);
      if (waiting.length > MOST_WAITING) waiting.shift();
    },
    nextRefusal: async () => waiting[0] ?? null,
    markHandedOn: async (n) => {
      while (waiting[0] !== undefined && waiting[0].entry.n <= n) waiting.shift();
    },
  };
}
