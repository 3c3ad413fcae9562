/** Options and errors of both sides of a queue. They use no types of ioredis or BullMQ, which users may lack. */
import { callable, options } from "../decode/options.js";
import { type MembersOf, demand, optional, refined, text } from "../decode/shapes.js";
import type { Judge } from "./batch.js";
import type { AuditSetting } from "./setting.js";

/** Certificates and key for `rediss://` URLs, as PEM texts. */
export interface QueueTls {
  /** The authorities that may have issued the server's certificate. Default: the authorities of Node. */
  readonly ca?: string;
  /** This client's certificate, for a server that demands one. */
  readonly cert?: string;
  /** The private key of `cert`. */
  readonly key?: string;
}

/** The current state of the connection to a queue's server. */
export interface QueueContact {
  /** The server's address without credentials. */
  readonly server: string;
  readonly isConnected: boolean;
  /** Number of jobs of this policy that no worker has taken, at the last count. Null before the first count. */
  readonly waiting: number | null;
}

/** Options of both sides, which need the same prefix and secret. */
export interface QueuePlaceOptions {
  /**
   * Prefix of all keys, at most 100 letters, digits, `_`, `.` and `-`. Keys have it in braces. Default: `bootproof`.
   */
  readonly prefix?: string;
  /** Certificates for `rediss://` URLs. Default: the authorities of Node, and no certificate of this client. */
  readonly tls?: QueueTls;
  /**
   * Secret of the HMAC that seals jobs and answers, of 16 characters or more. Line breaks at its end are removed.
   * Default: no seals.
   */
  readonly secret?: string;
  /** Called with messages for the operator: outages, a missing or ignored other side, refused jobs and answers. */
  readonly onNote?: (text: string) => void;
  /** Called every second. */
  readonly onQueue?: (contact: QueueContact) => void;
  /**
   * Makes the judge for a worker's batches and, at a producer, for entries whose jobs failed three times. Default:
   * threads.
   */
  readonly judgeOf?: (setting: AuditSetting) => Judge | Promise<Judge>;
}

/** Returns the secret without line breaks at its end, which files and secret stores add. Null if it is too short. */
export function ownSecret(given: string): string | null {
  const secret = given.replace(/[\r\n]+$/, "");
  return secret.length < 16 ? null : secret;
}

export const SHORT_SECRET = "expected 16 characters or more, without line breaks at the end";

export const PLACE_OPTIONS: MembersOf<QueuePlaceOptions> = {
  prefix: optional(text),
  tls: optional(options<QueueTls>({ ca: optional(text), cert: optional(text), key: optional(text) })),
  secret: demand(refined(text, (given, place) => ownSecret(given) ?? place.fault<string>(SHORT_SECRET))),
  onNote: optional(callable),
  onQueue: optional(callable),
  judgeOf: optional(callable),
};

/**
 * An error of a queue, by `code`. The caller can correct the causes of `url`, `prefix`, `tls`, `missing`, and
 * `eviction` (the server may drop jobs). `unreachable` may end by itself. `lost` means that the server dropped a job
 * three times, and `judge` that judging failed.
 */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: "url" | "prefix" | "tls" | "missing" | "eviction" | "unreachable" | "lost" | "judge";

  constructor(code: QueueError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
