/** Options and errors of both sides of a queue. Their types name no type of ioredis or BullMQ, which users may lack. */
import { callable, options } from "../decode/options.js";
import { type MembersOf, optional, text } from "../decode/shapes.js";
import type { Judge } from "./batch.js";
import type { AuditSetting } from "./setting.js";

/** PEM texts for `rediss://` URLs. */
export interface QueueTls {
  /** The certificate authorities that the server's certificate must be from. Default: those of Node. */
  readonly ca?: string;
  /** This client's certificate, for servers that demand one. */
  readonly cert?: string;
  /** The private key of `cert`. */
  readonly key?: string;
}

/** The present state of the connection to a queue's server. */
export interface QueueContact {
  /** The server's address without credentials. */
  readonly server: string;
  readonly isConnected: boolean;
  /** Jobs of this policy that no worker has taken, as last counted; null before the first count. */
  readonly waiting: number | null;
}

/** Options of both sides, which need the same prefix and secret. */
export interface QueuePlaceOptions {
  /** All keys begin with this name in braces. Default: `bootproof`. At most 100 letters, digits, `_`, `.` and `-`. */
  readonly prefix?: string;
  /** Certificates for `rediss://` URLs. Default: the authorities of Node, and no certificate of this client. */
  readonly tls?: QueueTls;
  /** The text whose HMAC seals jobs and answers. Default: no seals. */
  readonly secret?: string;
  /** Messages for the operator: outages, a missing other side and why it is ignored, refused jobs and answers. */
  readonly onNote?: (text: string) => void;
  /** This is called every second. */
  readonly onQueue?: (contact: QueueContact) => void;
  /** Makes the judge of a worker's batches, or of a producer's entries that failed three times. Default: threads. */
  readonly judgeOf?: (setting: AuditSetting) => Judge | Promise<Judge>;
}

export const PLACE_OPTIONS: MembersOf<QueuePlaceOptions> = {
  prefix: optional(text),
  tls: optional(options<QueueTls>({ ca: optional(text), cert: optional(text), key: optional(text) })),
  secret: optional(text),
  onNote: optional(callable),
  onQueue: optional(callable),
  judgeOf: optional(callable),
};

/**
 * An error of a queue. The caller can correct `url`, `prefix`, `tls`, `missing`, and `eviction` (the server may drop
 * jobs). `unreachable` may pass. `lost` means that the server dropped a job three times, and `judge` that a judge
 * failed.
 */
export class QueueError extends Error {
  override readonly name = "QueueError";
  readonly code: "url" | "prefix" | "tls" | "missing" | "eviction" | "unreachable" | "lost" | "judge";

  constructor(code: QueueError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
