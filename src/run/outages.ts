/** Outages (run/README.md, "Outages"): messages, entries, and the wait after a failed poll. */
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

/** Clock, timer and randomness of a watch, and who gets its messages. */
export interface WatchTools {
  readonly now: () => Date;
  readonly random: () => number;
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  readonly report: (message: WatchMessage) => void;
}

/** What is known of a name from its first failed poll to its next good one. The kind of its failures may change. */
export interface Outage {
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

export function newOutage(since: Date, isRecorded: boolean): Outage {
  return { since, failedPolls: 0, failure: null, isRecorded, reportedKinds: [], reportedAt: null };
}

interface Poll {
  readonly watched: Watched;
  readonly at: Date;
  /** A message is due first, for a new kind of failure, and after each `repeatMs`. */
  readonly repeatMs: number;
  /** What ends after at most so many failed polls is not recorded. */
  readonly after: number;
}

/** The outage of a name after a poll, what to report of it, and what to record. */
interface Polled {
  readonly outage: Outage | null;
  readonly message?: WatchMessage | false;
  readonly event?: OutageEvent | false;
}

export function outageAfterFailure(outage: Outage, failure: Failure, { watched, at, repeatMs, after }: Poll): Polled {
  const { since, failedPolls, isRecorded, reportedKinds, reportedAt } = outage;
  const { kind, message } = failure;
  const isDue = reportedAt === null || !reportedKinds.includes(kind) || passedMs(reportedAt, at) >= repeatMs;
  const isNews = !isRecorded && failedPolls >= after;
  const again = isRecorded || reportedAt !== null;
  const own = { kind, watched: [watched] };
  return {
    outage: {
      ...{ since, failure, failedPolls: failedPolls + 1, isRecorded: isRecorded || isNews },
      ...(isDue ? { reportedKinds: [...reportedKinds, kind], reportedAt: at } : { reportedKinds, reportedAt }),
    },
    message: isDue && { event: "outage", at, since, ...own, message, again },
    event: isNews && { event: "outage-began", ...own, since: since.toISOString(), message: recordable(message) },
  };
}

export function outageEnd({ since, failedPolls, isRecorded }: Outage, { watched, at }: Poll): Polled {
  const own = { watched: [watched], failedPolls };
  return {
    outage: null,
    message: { event: "recovered", at, since, ...own },
    event: isRecorded && { event: "outage-ended", ...own, since: since.toISOString() },
  };
}

/** Returns the absolute difference. With a signed one, a clock that was set back would delay the reminder. */
export function passedMs(from: Date, to: Date): number {
  return Math.abs(to.getTime() - from.getTime());
}

const MAX_MESSAGE = 1000;

/** Shortens the text and replaces lone surrogates, because the service may have chosen it. */
function recordable(message: string): string {
  return fromUtf8(toUtf8(message.slice(0, MAX_MESSAGE)))!;
}
