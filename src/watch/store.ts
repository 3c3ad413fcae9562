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

/** The entry of a refused reload. It is delivered as a refusal if the feed of a signed policy contradicts itself. */
export type RefusedSettingEntry = Extract<EventEntry, { readonly event: "setting-refused" }>;

export interface Standing {
  readonly verdict: Verdict;
  /** Whether the boot proof is rejected, or refused under `strict` acceptance. If absent, only the verdict decides. */
  readonly isRefused?: boolean;
  /** The text that `standingOf` returns. A finding with the same text as the one before is not recorded. */
  readonly key: string;
}

/** The log was removed, cut, replaced or edited by another program. A watch hands its refusals on, and then ends. */
export class LogChangedError extends Error {
  override readonly name = "LogChangedError";
}

/** The disk refuses a line for now. Nothing was written, and the same line may be appended later. */
export class LogFullError extends Error {
  override readonly name = "LogFullError";
}

/** A line that was not delivered. */
export interface Undelivered {
  readonly n: number;
  /** Time of the entry, RFC 3339. */
  readonly at: string;
}

/** A log for one watch at a time. A watch recognises errors of a store by their `name`. */
export interface LogStore {
  tail(): LogEnd;
  /** Returns the newest finding about a name (`watchedName`); undefined without one. */
  standing(name: string): Standing | undefined;
  /**
   * Returns when the open outage of a name (`watchedName`) began, RFC 3339; undefined if the log has no open outage of
   * it.
   */
  openOutage(name: string): string | undefined;
  /** Returns the time, RFC 3339, of the newest `started` or `heartbeat`; undefined without one. */
  lastSign(): string | undefined;
  /** Returns the head that the operator adopted when the log was opened. Absent: nothing was adopted. */
  adopted?(): string | undefined;
  /**
   * Checks what `append` checks. It is called before each poll. Rejects with an error named `LogInUseError` if another
   * process has taken over the log, and with {@link LogChangedError} if it was removed, cut, replaced or edited.
   */
  check(): Promise<void>;
  /**
   * Resolves when the line and its line feed are durable. Rejects as `check` does, and with {@link LogFullError} if the
   * disk refuses the line for now. After any other rejection the watch ends.
   */
  append(line: LogLine): Promise<void>;
  /** The lines that are not marked as delivered, oldest first, including those of earlier processes. */
  undelivered(what: Delivered): readonly Undelivered[];
  /** Reads an undelivered line. Rejects if it was changed. */
  lineOf(what: Delivered, n: number): Promise<LogLine>;
  /** Marks this line alone as delivered. */
  markDelivered(what: Delivered, n: number): Promise<void>;
  /**
   * Marks all lines of this kind as delivered, including those appended until the log is opened again. It is called
   * before the first `append`. Resolves to the number of lines that are thus discarded.
   */
  countAsDelivered(what: Delivered): Promise<number>;
}

/** A {@link LogState} as JSON. */
export interface PlainLogState extends LogEnd {
  /** Time of the last line, RFC 3339. */
  readonly lastAt: string;
  readonly standings: Readonly<Record<string, Standing>>;
  readonly openOutages: Readonly<Record<string, string>>;
  /** Time of the newest `started` or `heartbeat`. */
  readonly lastSign?: string;
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
  lastSign: optional(instant),
} satisfies MembersOf<PlainLogState>;

export class LogState {
  entries = 0;
  head = NO_LINE;
  lastAt = "";
  lastSign: string | undefined;
  readonly #standings: Map<string, Standing>;
  readonly #openOutages: Map<string, string>;

  constructor(plain: PlainLogState | null = null) {
    this.#standings = new Map(Object.entries(plain?.standings ?? {}));
    this.#openOutages = new Map(Object.entries(plain?.openOutages ?? {}));
    if (plain === null) return;
    [this.entries, this.head, this.lastAt, this.lastSign] = [plain.entries, plain.head, plain.lastAt, plain.lastSign];
  }

  plain(): PlainLogState {
    const { entries, head, lastAt, lastSign } = this;
    const [standings, openOutages] = [Object.fromEntries(this.#standings), Object.fromEntries(this.#openOutages)];
    return { entries, head, lastAt, standings, openOutages, ...(lastSign !== undefined && { lastSign }) };
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
    if (!isFinding(entry)) {
      if (entry.event === "started" || entry.event === "heartbeat") this.lastSign = entry.at;
      return;
    }
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
  const { entry } = line;
  if (isRefusal(line) || ("contradiction" in entry && entry.contradiction)) return "refusal";
  return isOutageLine(line) ? "outage" : null;
}

/** Limit of undelivered lines of each kind. Over the limit, the oldest is dropped. */
const MOST_WAITING = 100;

/** A store in memory, which keeps only what a watch needs to continue. */
export function memoryStore(): LogStore {
  const state = new LogState();
  const waiting: Record<Delivered, LogLine[]> = { refusal: [], outage: [] };
  const ignored = new Set<Delivered>();
  return {
    tail: () => state.tail(),
    standing: (name) => state.standing(name),
    openOutage: (name) => state.openOutage(name),
    lastSign: () => state.lastSign,
    check: async () => {},
    append: async (line) => {
      state.add(line);
      const what = deliveredAs(line);
      if (what === null || ignored.has(what)) return;
      waiting[what].push(line);
      if (waiting[what].length > MOST_WAITING) waiting[what].shift();
    },
    undelivered: (what) => waiting[what].map(({ entry: { n, at } }) => ({ n, at })),
    lineOf: async (what, n) => {
      const line = waiting[what].find(({ entry }) => entry.n === n);
      if (line === undefined) throw new RangeError(`entry ${n} is not an undelivered ${what}`);
      return line;
    },
    markDelivered: async (what, n) => {
      waiting[what] = waiting[what].filter(({ entry }) => entry.n !== n);
    },
    countAsDelivered: async (what) => {
      ignored.add(what);
      return waiting[what].splice(0).length;
    },
  };
}
