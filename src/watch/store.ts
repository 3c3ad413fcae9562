/** Where a log is kept: what a watch asks of it, and one that keeps no more than it needs to go on. */
import { type LogEnd, type LogEntry, type LogLine, NO_LINE, standingOf, watchedName } from "./entry.js";
import type { Verdict } from "../report/report.js";

/** What the newest entry of an application or a key says. */
export interface Standing {
  readonly verdict: Verdict;
  /** The same text for an answer that is nothing new. */
  readonly key: string;
}

/** A log that is added to. One watch at a time may use it. */
export interface LogStore {
  /** Where it ends. */
  tail(): LogEnd;
  /** What its newest entry of that name says (see `watchedName`); undefined where there is none. */
  standing(name: string): Standing | undefined;
  /** Resolves when the line, and a line feed, would survive a power cut. Rejects where not: the watch ends then. */
  append(line: LogLine): Promise<void>;
  /** The oldest refusal that is not marked as handed on; null where there is none. */
  nextRefusal(): Promise<LogLine | null>;
  /** Marks the refusals up to this entry as handed on. */
  markHandedOn(n: number): Promise<void>;
}

/** What every store keeps in memory, as it grows by lines. */
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

  add({ entry, hash }: LogLine): void {
    this.entries = entry.n;
    this.head = hash;
    this.#standings.set(watchedName(entry), { verdict: entry.verdict, key: standingOf(entry) });
  }
}

/** Refusals are handed on. */
export function isRefusal({ verdict }: Pick<LogEntry, "verdict">): boolean {
  return verdict === "rejected";
}

/** So many refusals wait; of more the oldest are dropped. */
const MOST_WAITING = 100;

/** A store without a file: it forgets all but what a watch needs to go on, and everything at its end. */
export function memoryStore(): LogStore {
  const state = new LogState();
  const waiting: LogLine[] = [];
  return {
    tail: () => state.tail(),
    standing: (name) => state.standing(name),
    append: async (line) => {
      state.add(line);
      if (!isRefusal(line.entry)) return;
      waiting.push(line);
      if (waiting.length > MOST_WAITING) waiting.shift();
    },
    nextRefusal: async () => waiting[0] ?? null,
    markHandedOn: async (n) => {
      while (waiting[0] !== undefined && waiting[0].entry.n <= n) waiting.shift();
    },
  };
}
