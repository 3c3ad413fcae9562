/** Outages, reported when they begin and end; and the wait after a failed poll. */
import type { Client } from "../client/client.js";
import { ClientError, type ClientErrorCode, ServiceError } from "../client/errors.js";
import { type AskService, fetchBootProof, fetchLatestBootProof } from "../client/evidence.js";
import type { Signal } from "../client/platform.js";
import type { JsonValue } from "../decode/json.js";
import { type Watched, isApp, watchedName } from "./entry.js";

/**
 * `unreachable`: no connection, a timeout, or an error that may pass (408, 429, 5xx). `answer`: not a boot proof of the
 * watched application or key. `missing`: the service reports that it has none. `credentials`: the key, the organization
 * or the request is refused: waiting alone does not help.
 */
export type FailureKind = "unreachable" | "answer" | "missing" | "credentials";

export interface Failure {
  readonly kind: FailureKind;
  /** May quote the service: escape it before you print it. */
  readonly message: string;
  /** The wait that the service requests, or null. */
  readonly retryAfterMs: number | null;
}

/** Reject `newest` with it to set the kind of the failure. */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** For an operator. Texts may quote the service: escape them before you print them. */
export type WatchMessage =
  /** These can no longer be observed. `again`: a reminder. */
  | {
      readonly event: "outage";
      readonly at: Date;
      readonly since: Date;
      readonly kind: FailureKind;
      readonly watched: readonly Watched[];
      readonly message: string;
      readonly again: boolean;
    }
  /** They can be observed again, after so many failed polls. */
  | {
      readonly event: "recovered";
      readonly at: Date;
      readonly since: Date;
      readonly watched: readonly Watched[];
      readonly failedPolls: number;
    }
  /** A refusal was not delivered. Without `tries` it is left for the next start. */
  | {
      readonly event: "not-handed-on";
      readonly at: Date;
      readonly n: number;
      readonly message: string;
      readonly attempts: number;
      readonly tries: boolean;
    }
  | { readonly event: "handed-on"; readonly at: Date; readonly n: number; readonly attempts: number };

/** The `newest` of a watch with a client of the service. */
export function askService(
  client: Pick<Client, "query">,
): (watched: Watched, signal: Signal) => Promise<JsonValue | null> {
  return (watched, signal) => {
    const query: AskService = (name, parameters) =>
      client.query(name, parameters, { signal }).catch((error: unknown) => {
        // Both have status 404: otherwise it would count as an application without a boot proof.
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
/** Also limits waits that the service requests. */
const MAX_WAIT_MS = 300_000;
/** Between reminders about outages that waiting does not end. */
const TELL_AGAIN_MS = 3_600_000;

/** Doubled with each failed attempt up to a limit, half of it jitter. */
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

  get now(): (Failure & { readonly watched: Watched })[] {
    return [...this.#open.values()].map(({ failure, watched }) => ({ ...failure, watched }));
  }

  waitMs(failures: readonly Failure[]): number {
    const wanted = Math.max(...failures.map(({ retryAfterMs }) => retryAfterMs ?? 0));
    return Math.max(backoffMs(this.#failedPolls - 1, this.#options.random()), Math.min(wanted, MAX_WAIT_MS));
  }

  /** `failure` is null on success. */
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
    // One message for all failures of a kind: a network outage affects every application.
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

  /** For a new outage, a change of its kind, or a reminder. */
  #noteFailure(watched: Watched, failure: Failure, at: Date): Told[] {
    const name = watchedName(watched);
    const before = this.#open.get(name) ?? null;
    const isNew = before === null || before.failure.kind !== failure.kind;
    // Absolute, because a clock that was set back would delay the reminder.
    const passed = isNew ? 0 : Math.abs(at.getTime() - before.toldAt.getTime());
    const again = isLoud(failure) && passed >= TELL_AGAIN_MS;
    const toldAt = isNew || again ? at : before.toldAt;
    const { since, polls } = before ?? { since: at, polls: 0 };
    this.#open.set(name, { watched, since, failure, polls: polls + 1, toldAt });
    return isNew || again ? [{ watched, failure, since, again }] : [];
  }
}

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
