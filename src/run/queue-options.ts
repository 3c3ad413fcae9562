/** Options and errors of both sides of a queue. They use no types of ioredis or BullMQ, which users may lack. */
import { fromBase64, fromHex } from "../bytes.js";
import { callable, options } from "../decode/options.js";
import { type MembersOf, optional, refined, text } from "../decode/shapes.js";
import type { Judge } from "./judge.js";
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
   * Key of the HMACs over jobs and answers: 32 random bytes or more, in hex or base64. It is required unless the server
   * is on this host.
   */
  readonly secret?: string;
  /** Called with messages for the operator: outages, no worker, refused jobs and answers. */
  readonly onNote?: (text: string) => void;
  /** Called every second. */
  readonly onQueue?: (contact: QueueContact) => void;
  /** Makes the judge for the batches of a run at a worker. Default: threads. */
  readonly judgeOf?: (setting: AuditSetting) => Judge | Promise<Judge>;
}

/** Returns the bytes of a secret. Null if they are fewer than 32, or neither hex nor base64. */
export function secretBytes(secret: string): Uint8Array | null {
  const bytes = fromHex(secret.trim()) ?? fromBase64(secret.trim());
  return bytes !== null && bytes.length >= 32 ? bytes : null;
}

export const SECRET_FORM = "expected at least 32 random bytes in hex or base64, such as from: openssl rand -hex 32";

export const PLACE_OPTIONS: MembersOf<QueuePlaceOptions> = {
  prefix: optional(text),
  tls: optional(options<QueueTls>({ ca: optional(text), cert: optional(text), key: optional(text) })),
  secret: optional(refined(text, (own, place) => (secretBytes(own) ? own : place.fault<string>(SECRET_FORM)))),
  onNote: optional(callable),
  onQueue: optional(callable),
  judgeOf: optional(callable),
};

/**
 * An error of a queue, by `code`. The caller can correct the causes of `url`, `prefix`, `tls`, `secret`, `missing`, and
 * `eviction` (the server may drop jobs). `unreachable` may end by itself. `judge` means that a worker's judge failed.
 */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: "url" | "prefix" | "tls" | "secret" | "missing" | "eviction" | "unreachable" | "judge";

  constructor(code: QueueError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
