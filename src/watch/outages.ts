/** Outages (watch/README.md, "Outages"): messages, entries, the wait after a failed poll, and the limit of silence. */
import { fromUtf8, toUtf8 } from "../bytes.js";
import type { Client } from "../client/client.js";
import { ClientError, type ClientErrorCode, ServiceError } from "../client/errors.js";
import { type AskService, fetchBootProof, fetchLatestBootProof } from "../client/evidence.js";
import type { Signal } from "../client/platform.js";
import type { JsonValue } from "../decode/json.js";
import {
  type FailureKind,
  type OutageBegan,
  type OutageEnded,
  type ReloadedPart,
  type SettingFault,
  type Watched,
  isApp,
  watchedName,
} from "./entry.js";

export interface Failure {
  readonly kind: FailureKind;
  /** The text may quote the service: escape it before you print it. */
  readonly message: string;
  /** The wait that the service requests, or null. */
  readonly retryAfterMs: number | null;
}

/** A `newest` that rejects with this error sets the kind of the failure. */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A message for an operator. Texts may quote the service: escape them before you print them. */
export type WatchMessage =
  /**
   * These can no longer be observed. `again` means that the outage was reported before: this is a reminder, or the
   * outage has a kind that it did not have before.
   */
  | {
      readonly event: "outage";
      readonly at: Date;
      readonly since: Date;
      readonly kind: FailureKind;
      readonly watched: readonly Watched[];
      readonly message: string;
      readonly again: boolean;
    }
  /** They can be observed again. `failedPolls` counts those of this process: 0 if only another one saw the outage. */
  | {
      readonly event: "recovered";
      readonly at: Date;
      readonly since: Date;
      readonly watched: readonly Watched[];
      readonly failedPolls: number;
    }
  /** A refusal, or an entry of an outage, was not delivered. If `tries` is false, the next start delivers it. */
  | {
      readonly event: "not-handed-on";
      readonly what: Delivered;
      readonly at: Date;
      readonly n: number;
      readonly message: string;
      readonly attempts: number;
      readonly tries: boolean;
    }
  /** Policy and bundles were read again for the next poll. `changed` is empty if they are the same. */
  | { readonly event: "setting-read"; readonly at: Date; readonly changed: readonly ReloadedPart[] }
  /** They could not be read. The earlier ones stay, and each poll tries again. `again` means reported before. */
  | {
      readonly event: "setting-refused";
      readonly at: Date;
      readonly since: Date;
      readonly faults: readonly SettingFault[];
      readonly again: boolean;
    }
  | {
      readonly event: "handed-on";
      readonly what: Delivered;
      readonly at: Date;
      readonly n: number;
      readonly attempts: number;
    };

/** What is delivered to `onRefusal`, and to `onOutage`. */
export type Delivered = "refusal" | "outage";

/** The `newest` of a watch with a client of the service. */
export function askService(
  client: Pick<Client, "query">,
): (watched: Watched, signal: Signal) => Promise<JsonValue | null> {
  return (watched, signal) => {
    const query: AskService = (name, parameters) =>
      client.query(name, parameters, { signal }).catch((error: unknown) => {
        // An unknown organization has the status of a missing boot proof, 404, and must not count as one.
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
/** The limit of waits, also of those that the service requests. */
const MAX_WAIT_MS = 300_000;

/** The wait doubles with each failed attempt up to a limit. Half of it is jitter. */
export function backoffMs(attempts: number, random: number): number {
  const bound = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts, 16));
  return Math.round(bound * (0.5 + random / 2));
}

interface Outage {
  readonly watched: Watched;
  readonly since: Date;
  /** Failed polls of this process. */
  readonly failedPolls: number;
  /** The newest failure; null if only the log knows of the outage. */
  readonly failure: Failure | null;
  /** Whether its beginning is in the log. */
  readonly isRecorded: boolean;
  readonly toldKinds: readonly FailureKind[];
  /** Time of the newest message; null if this process sent none. */
  readonly toldAt: Date | null;
}

type Failing = Outage & { readonly failure: Failure };

interface OutageOptions {
  readonly now: () => Date;
  readonly random: () => number;
  readonly tell: (message: WatchMessage) => void;
  /** Most failed polls of an outage that is not recorded. */
  readonly after: number;
  /** Milliseconds between two messages about one outage. */
  readonly repeatMs: number;
  /** Outages that have no end in the log. */
  readonly open: readonly { readonly watched: Watched; readonly since: Date }[];
}

/** Each name has one outage from its first failed poll to its next good one, whatever kinds its failures have. */
export class Outages {
  readonly #options: OutageOptions;
  readonly #open = new Map<string, Outage>();
  #failedPolls = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
    const known = { failedPolls: 0, failure: null, isRecorded: true, toldKinds: [], toldAt: null };
    for (const one of options.open) this.#open.set(watchedName(one.watched), { ...one, ...known });
  }

  get now(): (Failure & { readonly watched: Watched })[] {
    return [...this.#open.values()].flatMap(({ failure, watched }) => (failure ? [{ ...failure, watched }] : []));
  }

  failureOf(watched: Watched): Failure | null {
    return this.#open.get(watchedName(watched))?.failure ?? null;
  }

  waitMs(failures: readonly Failure[]): number {
    const wanted = Math.max(...failures.map(({ retryAfterMs }) => retryAfterMs ?? 0));
    return Math.max(backoffMs(this.#failedPolls - 1, this.#options.random()), Math.min(wanted, MAX_WAIT_MS));
  }

  /** `failure` is null on success. Returns what the log has to record, in order. */
  note(
    states: readonly { readonly watched: Watched; readonly failure: Failure | null }[],
  ): (OutageBegan | OutageEnded)[] {
    const at = this.#options.now();
    this.#failedPolls = states.every(({ failure }) => failure !== null) ? this.#failedPolls + 1 : 0;
    const ended = states.flatMap(({ watched, failure }) => (failure === null ? this.#end(watched) : []));
    const failing = states.flatMap(({ watched, failure }) => (failure ? [this.#fail(watched, failure, at)] : []));
    const endings = this.#noteEnded(ended, at);
    this.#tellFailing(failing, at);
    return [...endings, ...this.#recordBegan(failing, at)];
  }

  #end(watched: Watched): Outage[] {
    const name = watchedName(watched);
    const ended = this.#open.get(name);
    this.#open.delete(name);
    return ended === undefined ? [] : [ended];
  }

  #fail(watched: Watched, failure: Failure, at: Date): Failing {
    const name = watchedName(watched);
    const begun = { watched, since: at, failedPolls: 0, isRecorded: false, toldKinds: [], toldAt: null };
    const before = this.#open.get(name) ?? begun;
    const outage = { ...before, failure, failedPolls: before.failedPolls + 1 };
    this.#open.set(name, outage);
    return outage;
  }

  /** All names with the same failure share a message, because a network outage affects every application. */
  #noteEnded(ended: readonly Outage[], at: Date): OutageEnded[] {
    return grouped(ended, ({ since, failedPolls }) => `${since.getTime()} ${failedPolls}`).flatMap((group) => {
      const { since, failedPolls } = group[0]!;
      this.#options.tell({ event: "recovered", at, since, watched: namesOf(group), failedPolls });
      const watched = namesOf(group.filter(({ isRecorded }) => isRecorded));
      if (watched.length === 0) return [];
      return { event: "outage-ended", at: at.toISOString(), watched, since: since.toISOString(), failedPolls };
    });
  }

  #tellFailing(failing: readonly Failing[], at: Date): void {
    const due = failing.filter((outage) => this.#isDue(outage, at));
    const isAgain = ({ isRecorded, toldAt }: Outage): boolean => isRecorded || toldAt !== null;
    for (const group of grouped(due, (outage) => `${keyOf(outage)} ${isAgain(outage)}`)) {
      const { failure, since } = group[0]!;
      const [watched, again] = [namesOf(group), isAgain(group[0]!)];
      this.#options.tell({ event: "outage", at, since, kind: failure.kind, watched, message: failure.message, again });
    }
    for (const outage of due) {
      const toldKinds = [...outage.toldKinds, outage.failure.kind];
      this.#change(outage, { toldKinds: [...new Set(toldKinds)], toldAt: this.#toldAt(outage, at) });
    }
  }

  /** A message is due for a kind that the outage did not have before, and as a reminder. */
  #isDue({ toldKinds, toldAt, failure }: Failing, at: Date): boolean {
    return toldAt === null || !toldKinds.includes(failure.kind) || passedMs(toldAt, at) >= this.#options.repeatMs;
  }

  /** Reminders are counted from when they were due, so that the time of the polls does not delay them more and more. */
  #toldAt({ toldAt }: Failing, at: Date): Date {
    const { repeatMs } = this.#options;
    if (toldAt === null) return at;
    const passed = at.getTime() - toldAt.getTime();
    if (passed >= 0 && passed < repeatMs) return toldAt;
    return passed >= repeatMs && passed < 2 * repeatMs ? new Date(toldAt.getTime() + repeatMs) : at;
  }

  #recordBegan(failing: readonly Failing[], at: Date): OutageBegan[] {
    const { after } = this.#options;
    const began = failing.filter(({ isRecorded, failedPolls }) => !isRecorded && failedPolls > after);
    for (const outage of began) this.#change(outage, { isRecorded: true });
    return grouped(began, keyOf).map((group) => {
      const { failure, since } = group[0]!;
      const message = recordable(failure.message);
      const [kind, watched] = [failure.kind, namesOf(group)];
      return { event: "outage-began", at: at.toISOString(), kind, watched, since: since.toISOString(), message };
    });
  }

  #change({ watched }: Outage, change: Partial<Outage>): void {
    const name = watchedName(watched);
    this.#open.set(name, { ...this.#open.get(name)!, ...change });
  }
}

/** The time is absolute, because a clock that was set back would delay the reminder. */
function passedMs(from: Date, to: Date): number {
  return Math.abs(to.getTime() - from.getTime());
}

function keyOf({ failure, since }: Failing): string {
  return `${failure.kind} ${since.getTime()}`;
}

function namesOf(outages: readonly Outage[]): Watched[] {
  return outages.map(({ watched }) => watched);
}

const MAX_MESSAGE = 1000;

/** The service may have chosen the text, so it is cut, and lone surrogates are replaced. */
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

/** Reports names that were not seen for too long. It uses timers, since clocks step and a request may never end. */
export class Silence {
  /** Resolves when the limit is reached. */
  readonly #wait: (signal: Signal) => Promise<void>;
  readonly #onSilent: (watched: Watched) => void;
  readonly #timers = new Map<string, AbortController>();

  constructor(wait: (signal: Signal) => Promise<void>, onSilent: (watched: Watched) => void) {
    this.#wait = wait;
    this.#onSilent = onSilent;
  }

  /** Restarts the time of this name. */
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
