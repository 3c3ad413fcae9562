/** What could not be fetched: told when it begins and ends, not at every poll; and how long to wait after it. */
import type { Client } from "../client/client.js";
import { ClientError, type ClientErrorCode, ServiceError } from "../client/errors.js";
import { type AskService, fetchBootProof, fetchLatestBootProof } from "../client/evidence.js";
import type { Signal } from "../client/platform.js";
import type { JsonValue } from "../decode/json.js";
import { type Watched, isApp, watchedName } from "./entry.js";

/**
 * `unreachable`: no connection, no answer in time, or an error that may pass (429, 5xx). `answer`: one that is no boot
 * proof of what was asked for. `missing`: the service says that it has none. `credentials`: the key, the organization
 * or the request is refused, or could not be made: waiting alone does not mend it.
 */
export type FailureKind = "unreachable" | "answer" | "missing" | "credentials";

export interface Failure {
  readonly kind: FailureKind;
  /** May quote the service: make it printable before it is shown. */
  readonly message: string;
  /** How long the service asks to wait; null where it does not. */
  readonly retryAfterMs: number | null;
}

/** For `newest` to reject with, where the kind of the failure is known. */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** What an operator is told. Texts may quote the service: make them printable before they are shown. */
export type WatchMessage =
  /** Nothing is known of these from now on. `again`: it was told before, and lasts. */
  | {
      readonly event: "outage";
      readonly at: Date;
      readonly since: Date;
      readonly kind: FailureKind;
      readonly watched: readonly Watched[];
      readonly message: string;
      readonly again: boolean;
    }
  /** They are known again, after so many polls without an answer. */
  | {
      readonly event: "recovered";
      readonly at: Date;
      readonly since: Date;
      readonly watched: readonly Watched[];
      readonly failedPolls: number;
    }
  /** A refusal could not be handed on: it is tried again where `tries` is true, and left for the next start else. */
  | {
      readonly event: "not-handed-on";
      readonly at: Date;
      readonly n: number;
      readonly message: string;
      readonly attempts: number;
      readonly tries: boolean;
    }
  | { readonly event: "handed-on"; readonly at: Date; readonly n: number; readonly attempts: number };

/** Asks a client of the service: for the newest boot proof of an application, or that of a key. */
export function askService(
  client: Pick<Client, "query">,
): (watched: Watched, signal: Signal) => Promise<JsonValue | null> {
  return (watched, signal) => {
    const query: AskService = (name, parameters) =>
      client.query(name, parameters, { signal }).catch((error: unknown) => {
        // Else it would pass for an application without a boot proof: both are answered with 404.
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
  stamp: "credentials",
  aborted: "unreachable",
  timeout: "unreachable",
  unreachable: "unreachable",
  service: "unreachable",
  answer: "answer",
  evidence: "answer",
  bundle: "answer",
  webhook: "answer",
};

/** What a rejected `newest` means. */
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
/** However long an outage lasts, and whatever the service asks for. */
const MAX_WAIT_MS = 300_000;
/** What waiting does not mend is told again after so long. */
const TELL_AGAIN_MS = 3_600_000;

/** The wait before the next of so many attempts: doubled each time, up to a bound, half of it jitter. */
export function backoffMs(attempts: number, random: number): number {
  const bound = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempts, 16));
  return Math.round(bound * (0.5 + random / 2));
}

interface Outage {
  readonly since: Date;
  readonly failure: Failure;
  readonly polls: number;
  readonly toldAt: Date;
}

interface OutageOptions {
  readonly now: () => Date;
  readonly random: () => number;
  readonly tell: (message: WatchMessage) => void;
}

export class Outages {
  readonly #options: OutageOptions;
  readonly #open = new Map<string, Outage & { readonly watched: Watched }>();
  #failedPolls = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** What is not to be had at present. */
  get now(): (Failure & { readonly watched: Watched })[] {
    return [...this.#open.values()].map(({ failure, watched }) => ({ ...failure, watched }));
  }

  /** How long to wait after a poll that answered nothing. */
  waitMs(failures: readonly Failure[]): number {
    const wanted = Math.max(...failures.map(({ retryAfterMs }) => retryAfterMs ?? 0));
    return Math.max(backoffMs(this.#failedPolls - 1, this.#options.random()), Math.min(wanted, MAX_WAIT_MS));
  }

  /** Takes what came of a poll; failure null where it was answered. */
  note(states: readonly { readonly watched: Watched; readonly failure: Failure | null }[]): void {
    const at = this.#options.now();
    this.#failedPolls = states.every(({ failure }) => failure !== null) ? this.#failedPolls + 1 : 0;
    this.#tellRecovered(
      states.filter(({ failure }) => failure === null).map(({ watched }) => watched),
      at,
    );
    const told = states.flatMap(({ watched, failure }) =>
      failure === null ? [] : this.#noteFailure(watched, failure, at),
    );
    // One message for all that fail alike: a network that is gone is gone for every application.
    for (const group of grouped(told, ({ failure, again }) => `${failure.kind} ${again}`)) {
      const { failure, since, again } = group[0]!;
      const watched = group.map((one) => one.watched);
      this.#options.tell({ event: "outage", at, since, kind: failure.kind, watched, message: failure.message, again });
    }
  }

  #tellRecovered(answered: readonly Watched[], at: Date): void {
    const ended = answered.flatMap((watched) => this.#open.get(watchedName(watched)) ?? []);
    for (const { watched } of ended) this.#open.delete(watchedName(watched));
    for (const group of grouped(ended, ({ since, polls }) => `${since.getTime()} ${polls}`)) {
      const { since, polls } = group[0]!;
      this.#options.tell({
        event: "recovered",
        at,
        since,
        watched: group.map(({ watched }) => watched),
        failedPolls: polls,
      });
    }
  }

  /** Answers what is to be told: where it begins, where it is of another kind than before, or lasts too long. */
  #noteFailure(watched: Watched, failure: Failure, at: Date): Told[] {
    const name = watchedName(watched);
    const before = this.#open.get(name) ?? null;
    const isNew = before === null || before.failure.kind !== failure.kind;
    // Also where the clock was set back: else nothing would be said for as long.
    const passed = isNew ? 0 : Math.abs(at.getTime() - before.toldAt.getTime());
    const again = isLoud(failure) && passed >= TELL_AGAIN_MS;
    const toldAt = isNew || again ? at : before.toldAt;
    const { since, polls } = before ?? { since: at, polls: 0 };
    this.#open.set(name, { watched, since, failure, polls: polls + 1, toldAt });
    return isNew || again ? [{ watched, failure, since, again }] : [];
  }
}

/** Waiting does not mend it. */
function isLoud({ kind }: Failure): boolean {
  return kind === "credentials" || kind === "missing";
}

interface Told {
  readonly watched: Watched;
  readonly failure: Failure;
  readonly since: Date;
  readonly again: boolean;
}

function grouped<T>(items: readonly T[], nameOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = nameOf(item);
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return [...groups.values()];
}
