import {
  type EventEntry,
  type FindingEntry,
  type LogEnd,
  type LogLine,
  NO_LINE,
  hash,
  isFinding,
  standingOf,
  watchedName,
} from "./entry.js";
import { type MembersOf, count, flag, instant, keyOf, objectOf, optional, record, text } from "../decode/shapes.js";
import { isAccepted } from "../report/accepted.js";
import type { Verdict } from "../report/report.js";
import type { Delivered } from "./outages.js";

/** The entry of an outage that began or ended. */
export type OutageEntry = Extract<EventEntry, { readonly event: "outage-began" | "outage-ended" }>;

export interface Standing {
  readonly verdict: Verdict;
  /** Whether the boot proof is rejected, or refused under `strict` acceptance. If absent, only the verdict decides. */
  readonly isRefused?: boolean;
  /** The text that `standingOf` returns. A finding with the same text as the one before is not recorded. */
  readonly key: string;
}

/** A log for one watch at a time. */
export interface LogStore {
  tail(): LogEnd;
  /** Returns the newest finding about a name (`watchedName`); undefined without one. */
  standing(name: string): Standing | undefined;
  /**
   * Returns when the open outage of a name (`watchedName`) began, RFC 3339; undefined if the log has no open outage of
   * it.
   */
  openOutage(name: string): string | undefined;
  /** Rejects if another process has taken over the log, and the watch then ends. It is called before each poll. */
  requireHeld(): Promise<void>;
  /** Resolves when the line and its line feed are durable. If it rejects, the watch ends. */
  append(line: LogLine): Promise<void>;
  /** The oldest refusal that is not marked as delivered, or null. */
  nextRefusal(): Promise<LogLine<FindingEntry> | null>;
  /** Marks the refusals up to and including entry `n` as delivered. */
  markHandedOn(n: number): Promise<void>;
  /** The oldest entry of an outage that is not marked as delivered, or null. */
  nextOutage(): Promise<LogLine<OutageEntry> | null>;
  /** Marks the entries of outages up to and including entry `n` as delivered. */
  markOutageHandedOn(n: number): Promise<void>;
  /**
   * Marks all lines of this kind as delivered, including those appended until the log is opened again. It is called
   * before the first `append`.
   */
  countAsDelivered(what: Delivered): Promise<void>;
}

/** A {@link LogState} as JSON. */
export interface PlainLogState extends LogEnd {
  /** Time of the last line, RFC 3339. */
  readonly lastAt: string;
  readonly standings: Readonly<Record<string, Standing>>;
  readonly openOutages: Readonly<Record<string, string>>;
}

const STANDING = objectOf<Standing>({
  verdict: keyOf<Verdict>({ verified: true, authentic: true, rejected: true }),
  isRefused: optional(flag),
  key: text,
});

export const PLAIN_LOG_STATE = {
  entries: count,
  head: hash,
  lastAt: instant,
  standings: record(STANDING),
  openOutages: record(instant),
} satisfies MembersOf<PlainLogState>;

export class LogState {
  entries = 0;
  head = NO_LINE;
  lastAt = "";
  readonly #standings: Map<string, Standing>;
  readonly #openOutages: Map<string, string>;

  constructor(plain: PlainLogState | null = null) {
    this.#standings = new Map(Object.entries(plain?.standings ?? {}));
    this.#openOutages = new Map(Object.entries(plain?.openOutages ?? {}));
    if (plain !== null) [this.entries, this.head, this.lastAt] = [plain.entries, plain.head, plain.lastAt];
  }

  plain(): PlainLogState {
    const { entries, head, lastAt } = this;
    const [standings, openOutages] = [Object.fromEntries(this.#standings), Object.fromEntries(this.#openOutages)];
    return { entries, head, lastAt, standings, openOutages };
  }

  tail(): LogEnd {
    return { entries: this.entries, head: this.head };
  }

  standing(name: string): Standing | undefined {
    return this.#standings.get(name);
  }

  openOutage(name: string): string | undefined {
    return this.#openOutages.get(name);
  }

  add(line: LogLine): void {
    const { entry } = line;
    this.entries = entry.n;
    this.head = line.hash;
    this.lastAt = entry.at;
    if (isOutageLine(line)) this.#addOutage(line.entry);
    if (!isFinding(entry)) return;
    this.#standings.set(watchedName(entry), {
      verdict: entry.verdict,
      isRefused: isRefusal(line),
      key: standingOf(entry),
    });
  }

  #addOutage({ event, watched, since }: OutageEntry): void {
    for (const name of watched.map(watchedName)) {
      if (event === "outage-began") this.#openOutages.set(name, since);
      else this.#openOutages.delete(name);
    }
  }
}

export function isRefusal(line: LogLine): line is LogLine<FindingEntry> {
  const { entry } = line;
  return isFinding(entry) && !isAccepted(entry);
}

function isOutageLine(line: LogLine): line is LogLine<OutageEntry> {
  const { entry } = line;
  return !isFinding(entry) && (entry.event === "outage-began" || entry.event === "outage-ended");
}

export function deliveredAs(line: LogLine): Delivered | null {
  if (isRefusal(line)) return "refusal";
  return isOutageLine(line) ? "outage" : null;
}

/** Limit of undelivered lines of each kind. Over the limit, the oldest is dropped. */
const MOST_WAITING = 100;

/** A store in memory, which keeps only what a watch needs to continue. */
export function memoryStore(): LogStore {
  const state = new LogState();
  const waiting: Record<Delivered, LogLine[]> = { refusal: [], outage: [] };
  const ignored = new Set<Delivered>();
  const mark = (what: Delivered, n: number): void => {
    waiting[what] = waiting[what].filter(({ entry }) => entry.n > n);
  };
  return {
    tail: () => state.tail(),
    standing: (name) => state.standing(name),
    openOutage: (name) => state.openOutage(name),
    requireHeld: async () => {},
    append: async (line) => {
      state.add(line);
      const what = deliveredAs(line);
      if (what === null || ignored.has(what)) return;
      waiting[what].push(line);
      if (waiting[what].length > MOST_WAITING) waiting[what].shift();
    },
    nextRefusal: async () => (waiting.refusal[0] as LogLine<FindingEntry> | undefined) ?? null,
    markHandedOn: async (n) => mark("refusal", n),
    nextOutage: async () => (waiting.outage[0] as LogLine<OutageEntry> | undefined) ?? null,
    markOutageHandedOn: async (n) => mark("outage", n),
    countAsDelivered: async (what) => {
      ignored.add(what);
      waiting[what] = [];
    },
  };
}
