/** The options of both sides of a queue. Their types name no type of ioredis or BullMQ, which users may lack. */
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

export const PLACE_OPTIONS: Readonly<Record<keyof QueuePlaceOptions, true>> = {
  prefix: true,
  tls: true,
  secret: true,
  onNote: true,
  onQueue: true,
  judgeOf: true,
};
