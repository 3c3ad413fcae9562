/** Outages (run/README.md, "Outages"): messages, entries, the wait after a failed poll, and the limit of silence. */
import { fromUtf8, toUtf8 } from "../bytes.js";
import type { Client } from "../client/client.js";
import { ClientError, type ClientErrorCode, ServiceError } from "../door/errors.js";
import { fetchBootProof, fetchLatestBootProof } from "../door/evidence.js";
import type { AskService } from "../door/evidence-source.js";
import type { Signal } from "../door/platform.js";
import type { JsonValue } from "../decode/json.js";
import {
  type FailureKind,
  type ReloadedPart,
  type RunEvent,
  type SettingFault,
  type Watched,
  type WatchResult,
  isApp,
  watchedName,
} from "./line.js";
import type { Announced } from "./log.js";

export interface Failure {
  readonly kind: FailureKind;
  /** The text may quote the service: escape it before you print it. */
  readonly message: string;
  /** Milliseconds to wait that the service requests, or null. */
  readonly retryAfterMs: number | null;
}

/** The function `newest` of a watch rejects with this error to choose the kind of the failure. */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A line and its delivery. */
interface Delivery {
  readonly what: Announced;
  /** Number of the line; null if it is in no file. */
  readonly n: number | null;
  readonly attempts: number;
}

/** A message for an operator. Texts may quote the service: escape them before you print them. */
export type WatchMessage = { readonly at: Date } & (
  | {
      /** The boot proofs of these names can no longer be fetched or read. */
      readonly event: "outage";
      readonly since: Date;
      readonly kind: FailureKind;
      readonly watched: readonly Watched[];
      readonly message: string;
      /** Whether the outage was reported before: this is a reminder, or the failure is of a new kind. */
      readonly again: boolean;
    }
  | {
      /** The boot proofs of these names can be fetched and read again. */
      readonly event: "recovered";
      readonly since: Date;
      readonly watched: readonly Watched[];
      /** Number of failed polls of this process. It is 0 if only an earlier process saw the outage. */
      readonly failedPolls: number;
    }
  /** A line was not delivered. If `tries` is false, the next try is in five minutes. */
  | ({ readonly event: "not-announced"; readonly message: string; readonly tries: boolean } & Delivery)
  | ({ readonly event: "announced" } & Delivery)
  /** Policy and bundles were read again, and the next poll uses them. `changed` is empty if they are the same. */
  | { readonly event: "setting-read"; readonly changed: readonly ReloadedPart[] }
  | {
      /** Policy and bundles could not be read again. The previous ones stay in use. */
      readonly event: "setting-refused";
      readonly since: Date;
      readonly faults: readonly SettingFault[];
      /** Whether a refusal was reported before. */
      readonly again: boolean;
      /** Set if the feed of a signed policy was rolled back or forked. */
      readonly contradiction?: true;
    }
  /** A refusal that no file has, because the file takes no line any more. It is announced without a number. */
  | { readonly event: "unrecorded"; readonly result: Omit<WatchResult, "bootProofs"> }
);

type OutageEvent = Extract<RunEvent, { readonly event: "outage-began" | "outage-ended" }>;

/** Returns a function `newest` for a watch that uses a client of the service. */
export function askService(
  client: Pick<Client, "query">,
): (watched: Watched, signal: Signal) => Promise<JsonValue | null> {
  return (watched, signal) => {
    const query: AskService = (name, parameters) =>
      client.query(name, parameters, { signal }).catch((error: unknown) => {
        // An unknown organization has the status 404 like a missing boot proof, but is a failure of another kind.
        if (error instanceof ServiceError && error.category === "ORGANIZATION_NOT_FOUND")
          throw new FetchError("credentials", error.message);
        throw error;
      });
    return isApp(watched) ? fetchLatestBootProof(query, watched.app) : fetchBootProof(query, watched.ephemeralKey);
  };
}

const BY_CODE: Readonly<Record<ClientErrorCode, FailureKind>> = {
  request: "credentials",
  key: "credentials",
  "ephemeral-key": "answer",
  stamp: "credentials",
  aborted: "unreachable",
  timeout: "unreachable",
  unreachable: "unreachable",
  service: "unreachable",
  answer: "answer",
  limit: "answer",
  evidence: "answer",
  schema: "answer",
  bundle: "answer",
  webhook: "answer",
};

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof FetchError) return { kind: error.kind, message, retryAfterMs: null };
  if (error instanceof ServiceError) {
    const { status, retryAfterMs } = error;
    const passes = status === 408 || status === 429 || status >= 500;
    return { kind: passes ? "unreachable" : "credentials", message, retryAfterMs };
  }
  const kind = error instanceof ClientError ? BY_CODE[error.code] : "unreachable";
  return { kind, message, retryAfterMs: null };
}

const FIRST_WAIT_MS = 5000;
/** Longest wait in milliseconds, even if the service requests a longer one. */
export const MAX_WAIT_MS = 300_000;

/**
 * Returns the wait after failed attempts, in milliseconds. It doubles with each attempt up to a limit; half is jitter.
 */
export function backoffMs(attempts: number, random: number): number {
  const bound = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts, 16));
  return Math.round(bound * (0.5 + random / 2));
}

interface Outage {
  readonly watched: Watched;
  readonly since: Date;
  /** Number of failed polls of this process. */
  readonly failedPolls: number;
  /** The newest failure; null if this process has seen none. */
  readonly failure: Failure | null;
  /** Whether the log has the beginning of the outage. */
  readonly isRecorded: boolean;
  readonly reportedKinds: readonly FailureKind[];
  /** Time of the newest message; null if this process sent none. */
  readonly reportedAt: Date | null;
}

type Failing = Outage & { readonly failure: Failure };

export interface OutageOptions {
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  readonly report: (message: WatchMessage) => void;
  /** Receives the events to record in the log, in order. */
  readonly record: (event: OutageEvent) => void;
  /** Number of watched names. */
  readonly names: number;
  /** Milliseconds within which outages that begin or end share a message and an entry. */
  readonly togetherMs: number;
  /** Number of failed polls up to which an outage is not recorded. */
  readonly after: number;
  /** Milliseconds between two messages about the same thing, such as one outage. */
  readonly repeatMs: number;
  /** Outages that have no end in the log. */
  readonly open: readonly { readonly watched: Watched; readonly since: Date }[];
}

/** News that wait for those of other names. */
interface News {
  /** Time of the first outage that began meanwhile. Those that begin after it have the same `since`. */
  since: Date | null;
  readonly ended: Outage[];
  readonly polled: Set<string>;
  readonly timer: AbortController;
}

/**
 * The outages of all names. An outage lasts from the first failed poll of a name to its next good one, even if the kind
 * of failure changes. A network outage affects all names, but not at the same moment. News of one name are therefore
 * reported once each name was polled, at the latest after `togetherMs`.
 */
export class Outages {
  readonly #options: OutageOptions;
  readonly #open = new Map<string, Outage>();
  #news: News | null = null;

  constructor(options: OutageOptions) {
    this.#options = options;
    const known = { failedPolls: 0, failure: null, isRecorded: true, reportedKinds: [], reportedAt: null };
    for (const one of options.open) this.#open.set(watchedName(one.watched), { ...one, ...known });
  }

  get now(): (Failure & { readonly watched: Watched })[] {
    return this.#failing().map(({ failure, watched }) => ({ ...failure, watched }));
  }

  failureOf(watched: Watched): Failure | null {
    return this.#open.get(watchedName(watched))?.failure ?? null;
  }

  /** Returns the milliseconds from a failed poll of this name to its next one. */
  waitMs(watched: Watched): number {
    const { failedPolls = 1 } = this.#open.get(watchedName(watched)) ?? {};
    return backoffMs(failedPolls - 1, this.#options.random());
  }

  /** Notes the result of a poll; `failure` is null on success. */
  note(watched: Watched, failure: Failure | null): void {
    const name = watchedName(watched);
    // A name that fails again has two outages, which share no message.
    if (this.#news?.ended.some((one) => watchedName(one.watched) === name)) this.flush();
    if (failure !== null) this.#fail(watched, failure);
    else this.#end(name);
    this.#news?.polled.add(name);
    if (this.#news?.polled.size === this.#options.names) this.flush();
  }

  /** Reports and records what waits. */
  flush(): void {
    if (this.#news === null) return;
    const { ended, timer } = this.#news;
    this.#news = null;
    timer.abort();
    const at = this.#options.now();
    const failing = this.#failing();
    const events = [...this.#noteEnded(ended, at), ...this.#noteFailing(failing, at)];
    for (const event of events) this.#options.record(event);
  }

  #failing(): Failing[] {
    return [...this.#open.values()].flatMap((one) => (one.failure === null ? [] : [{ ...one, failure: one.failure }]));
  }

  #end(name: string): void {
    const ended = this.#open.get(name);
    if (ended === undefined) return;
    // The beginning is reported before the end.
    if (ended.reportedAt === null && ended.failure !== null) this.flush();
    const found = this.#open.get(name)!;
    this.#open.delete(name);
    this.#wait().ended.push(found);
  }

  #fail(watched: Watched, failure: Failure): void {
    const at = this.#options.now();
    const name = watchedName(watched);
    const since = this.#news?.since ?? at;
    const begun = { watched, since, failedPolls: 0, isRecorded: false, reportedKinds: [], reportedAt: null };
    const before = this.#open.get(name) ?? begun;
    const outage = { ...before, failure, failedPolls: before.failedPolls + 1 };
    this.#open.set(name, outage);
    if (before === begun) this.#wait().since ??= at;
    else if (this.#isDue(outage, at) || this.#isUnrecorded(outage)) this.#wait();
  }

  #wait(): News {
    if (this.#news !== null) return this.#news;
    const { names, sleep, togetherMs } = this.#options;
    const timer = new AbortController();
    this.#news = { since: null, ended: [], polled: new Set(), timer };
    const flush = (): void => {
      if (!timer.signal.aborted) this.flush();
    };
    if (names > 1) sleep(togetherMs, timer.signal).then(flush, () => {});
    return this.#news;
  }

  #noteEnded(ended: readonly Outage[], at: Date): OutageEvent[] {
    return grouped(ended, ({ since, failedPolls }) => `${since.getTime()} ${failedPolls}`).flatMap((group) => {
      const { since, failedPolls } = group[0]!;
      this.#options.report({ event: "recovered", at, since, watched: namesOf(group), failedPolls });
      const watched = namesOf(group.filter(({ isRecorded }) => isRecorded));
      if (watched.length === 0) return [];
      return { event: "outage-ended", watched, since: since.toISOString(), failedPolls };
    });
  }

  #noteFailing(failing: readonly Failing[], at: Date): OutageEvent[] {
    const isAgain = ({ isRecorded, reportedAt }: Outage): boolean => isRecorded || reportedAt !== null;
    for (const group of grouped(failing, (outage) => `${keyOf(outage)} ${isAgain(outage)}`)) {
      // One reminder is for all names of its group, since each name is polled at another moment.
      if (!group.some((outage) => this.#isDue(outage, at))) continue;
      const { failure, since } = group[0]!;
      const [watched, again] = [namesOf(group), isAgain(group[0]!)];
      this.#options.report({
        event: "outage",
        at,
        since,
        kind: failure.kind,
        watched,
        message: failure.message,
        again,
      });
      for (const outage of group) {
        const reportedKinds = [...new Set([...outage.reportedKinds, outage.failure.kind])];
        this.#change(outage, { reportedKinds, reportedAt: this.#reportedAt(outage, at) });
      }
    }
    return this.#recordBegan(failing);
  }

  /** Whether a message is due: the first one, one for a new kind of failure, or a reminder. */
  #isDue({ reportedKinds, reportedAt, failure }: Failing, at: Date): boolean {
    return (
      reportedAt === null || !reportedKinds.includes(failure.kind) || passedMs(reportedAt, at) >= this.#options.repeatMs
    );
  }

  #isUnrecorded({ isRecorded, failedPolls }: Outage): boolean {
    return !isRecorded && failedPolls > this.#options.after;
  }

  /**
   * Returns the time from which the next reminder is counted. This is when the last one was due, not when a poll sent
   * it, so delays do not add up.
   */
  #reportedAt({ reportedAt }: Failing, at: Date): Date {
    const { repeatMs } = this.#options;
    if (reportedAt === null) return at;
    const passed = at.getTime() - reportedAt.getTime();
    if (passed >= 0 && passed < repeatMs) return reportedAt;
    return passed >= repeatMs && passed < 2 * repeatMs ? new Date(reportedAt.getTime() + repeatMs) : at;
  }

  #recordBegan(failing: readonly Failing[]): OutageEvent[] {
    const began = failing.filter((outage) => this.#isUnrecorded(outage));
    for (const outage of began) this.#change(outage, { isRecorded: true });
    return grouped(began, keyOf).map((group) => {
      const { failure, since } = group[0]!;
      const message = recordable(failure.message);
      const [kind, watched] = [failure.kind, namesOf(group)];
      return { event: "outage-began", kind, watched, since: since.toISOString(), message };
    });
  }

  #change({ watched }: Outage, change: Partial<Outage>): void {
    const name = watchedName(watched);
    this.#open.set(name, { ...this.#open.get(name)!, ...change });
  }
}

/** Returns the absolute difference. With a signed one, a clock that was set back would delay the reminder. */
export function passedMs(from: Date, to: Date): number {
  return Math.abs(to.getTime() - from.getTime());
}

function keyOf({ failure, since }: Failing): string {
  return `${failure.kind} ${since.getTime()}`;
}

function namesOf(outages: readonly Outage[]): Watched[] {
  return outages.map(({ watched }) => watched);
}

const MAX_MESSAGE = 1000;

/** Shortens the text and replaces lone surrogates, because the service may have chosen it. */
function recordable(message: string): string {
  return fromUtf8(toUtf8(message.slice(0, MAX_MESSAGE)))!;
}

function grouped<T>(items: readonly T[], nameOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = nameOf(item);
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return [...groups.values()];
}

/**
 * Reports names whose last good poll is too long ago. It uses timers, because clocks may be set and a request may never
 * end.
 */
export class Silence {
  /** Resolves when the limit is reached. */
  readonly #wait: (signal: Signal) => Promise<void>;
  readonly #onSilent: (watched: Watched) => void;
  readonly #timers = new Map<string, AbortController>();

  constructor(wait: (signal: Signal) => Promise<void>, onSilent: (watched: Watched) => void) {
    this.#wait = wait;
    this.#onSilent = onSilent;
  }

  /** Restarts the timer of this name. */
  seen(watched: Watched): void {
    const name = watchedName(watched);
    this.#timers.get(name)?.abort();
    const timer = new AbortController();
    this.#timers.set(name, timer);
    this.#wait(timer.signal).then(
      () => timer.signal.aborted || this.#onSilent(watched),
      () => {},
    );
  }

  end(): void {
    for (const timer of this.#timers.values()) timer.abort();
  }
}
