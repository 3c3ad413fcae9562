/** The connection to Redis or Valkey. Its packages are loaded on demand. */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type * as BullMq from "bullmq";
import type * as IoRedis from "ioredis";
import type { Cluster, Redis, RedisOptions } from "ioredis";
import { otherMembers } from "../decode/input.js";
import { type QueueAddress, parseQueueUrl } from "./node-queue-url.js";
import { QueueError, type QueueTls } from "./queue-options.js";
import { withLifetime } from "./node-queue-wire.js";

type ClientOptions = Omit<RedisOptions, "replyMapping">;

/**
 * Arguments in the error of a server that does not know AUTH. They are removed, because the server quotes the password
 * there, possibly truncated.
 */
const QUOTED_ARGUMENTS = /,? with args beginning with\b.*$/s;
/**
 * Minimum length of a password that is replaced everywhere in a text. A shorter one is replaced only as a whole word.
 */
const LONG = 6;

function messageOf(error: unknown, { password, isTls }: QueueAddress): string {
  // The error of a cluster wraps the error of a node.
  const { lastNodeError = error } = error as { readonly lastNodeError?: unknown };
  const { message, code, name } = lastNodeError as NodeJS.ErrnoException;
  const text = (message || code || name || String(lastNodeError)).replace(QUOTED_ARGUMENTS, "");
  const shown = withoutPassword(text, password);
  const told = `${code ?? ""} ${text}`;
  const advice = isTls && RESET.test(told) ? RESET_ADVICE : ADVICE.find(([pattern]) => pattern.test(told))?.[1];
  return advice === undefined ? shown : `${shown} (${advice})`;
}

/** Removes the password from a text. Only a hostile server repeats it. */
function withoutPassword(text: string, password: string): string {
  if (password === "") return text;
  if (password.length >= LONG) return text.replaceAll(password, "[password]");
  const words = text.split(/([\s'"`]+)/);
  return words.map((word) => (word === password ? "[password]" : word)).join("");
}

const CERTIFICATE =
  /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|alert number (?:4[0-9]|116)\b|alert (?:certificate|unknown ca)/;

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/NOAUTH/, "it demands a password: write USER:PASSWORD@ before the host, in the URL in BOOTPROOF_QUEUE_URL"],
  [/WRONGPASS|invalid password/i, "it refuses this user or this password: correct those in the URL of the queue"],
  [
    /NOPERM|user executing the script/,
    "this user lacks rights: it needs the keys of the prefix, as ~{bootproof}:*, and +@read +@write +@transaction " +
      "+@scripting +@connection +info +time",
  ],
  [/cluster support disabled/i, "it is not a cluster: use redis://"],
  [/^ MOVED/, "it is a node of a cluster: use redis+cluster://"],
  [
    /alert number|alert (?:certificate|unknown ca)/,
    "it refuses the certificate of this client: check --queue-cert and --queue-key",
  ],
  [CERTIFICATE, "its certificate is not trusted: give the authority that issued it with --queue-ca"],
];

/**
 * A reset after the handshake of TLS. In TLS 1.3 a server refuses the certificate of a client only then, and its alert
 * is lost if the client has already written (RFC 8446, sections 2 and 6; RFC 9293, section 3.10.7).
 */
const RESET = /^(?:ECONNRESET|EPIPE) (?!.*before secure TLS)/;
const RESET_ADVICE =
  "it closed the connection after the handshake: if it demands a certificate of each client, check --queue-cert and " +
  "--queue-key";

const START_MS = 10_000;
const RETRY_MS = 2000;
/** Milliseconds of silence after which a server is considered gone. No command here blocks for that long. */
const SILENCE_MS = 15_000;

function retryAfter(attempt: number): number {
  return Math.min(100 * attempt, RETRY_MS);
}

const PATIENT: ClientOptions = {
  lazyConnect: true,
  // Null means no limit: commands wait until the server can be reached again.
  maxRetriesPerRequest: null,
  retryStrategy: retryAfter,
  // If a server became a replica, the client connects to the current primary.
  reconnectOnError: ({ message }) => (/^(?:READONLY|UNBLOCKED)/.test(message) ? 2 : false),
  connectTimeout: 5000,
  socketTimeout: SILENCE_MS,
};

/** A connection to a server that was reached at least once. Reports the beginning and the end of each outage. */
export class RedisConnection {
  readonly shown: string;
  readonly client: Redis;
  readonly bullmq: typeof BullMq;
  isClosed = false;
  isAway = false;
  readonly #address: QueueAddress;
  readonly #others: Redis[] = [];

  constructor(address: QueueAddress, client: Redis, bullmq: typeof BullMq, note: (text: string) => void) {
    const { shown } = address;
    this.shown = shown;
    this.#address = address;
    this.client = client;
    this.bullmq = bullmq;
    // BullMQ sets no lifetime on its keys, so its scripts are wrapped to set one.
    const define = client.defineCommand.bind(client);
    client.defineCommand = (name, definition) => define(name, { ...definition, lua: withLifetime(definition.lua) });
    // BullMQ duplicates clients and does not always close them, so the duplicates are kept in a list.
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (...args) => {
      const other = duplicate(...args);
      this.#others.push(other);
      return other;
    };
    client.on("close", () => {
      if (!this.isAway && !this.isClosed)
        note(`${shown}: the connection is lost; trying again until the server is there`);
      this.isAway = true;
    });
    client.on("ready", () => {
      if (this.isAway) note(`${shown}: connected again`);
      this.isAway = false;
    });
  }

  messageOf(error: unknown): string {
    return messageOf(error, this.#address);
  }

  /** Waits for the first commands. If they fail, closes the connection and throws QueueError. */
  async first(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.close();
      if (error instanceof QueueError) throw error;
      throw new QueueError("unreachable", `${this.shown}: the queue cannot be used: ${this.messageOf(error)}`);
    }
  }

  close(): void {
    this.isClosed = true;
    for (const client of [this.client, ...this.#others]) client.disconnect();
  }
}

const OUTAGE =
  /Connection is closed|connection close|Socket timeout|Socket closed|Stream isn't|LOADING|Failed to refresh slots/;

export function isOutage(error: unknown): boolean {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return /^E[A-Z]+$/.test(code) || OUTAGE.test(message);
}

/** Whether the error is an outage, or a temporary refusal of writes. */
export function isPassing(error: unknown): boolean {
  const { message } = error as Error;
  const refuses = /\b(?:OOM|MISCONF|READONLY|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/;
  return isOutage(error) || refuses.test(message);
}

interface ConnectOptions {
  readonly tls?: QueueTls;
  readonly startMs?: number;
}

/** Connects to a server. Throws QueueError if the packages are missing, or no server was reached within ten seconds. */
export async function connectRedis(
  url: string,
  note: (text: string) => void,
  { tls, startMs = START_MS }: ConnectOptions = {},
): Promise<RedisConnection> {
  const address = parseQueueUrl(url);
  const secure = tlsOptions(address, tls);
  const { bullmq, ioredis } = await loadPackages();
  const client = clientOf(ioredis, address, secure);
  try {
    await firstReady(client, address, startMs);
  } catch (error) {
    client.disconnect();
    throw error;
  }
  return new RedisConnection(address, client, bullmq, note);
}

function tlsOptions({ isTls, shown }: QueueAddress, tls: QueueTls = {}): QueueTls | undefined {
  const members = Object.keys(tls) as (keyof QueueTls)[];
  if (!isTls) {
    if (members.length === 0) return undefined;
    throw new QueueError("url", `certificates and keys are for rediss:// URLs, and this one is ${shown}`);
  }
  for (const [one, other] of [["cert", "key"] as const, ["key", "cert"] as const])
    if (tls[one] !== undefined && tls[other] === undefined)
      throw new QueueError("tls", `${one}: without its ${other}, it cannot be used`);
  for (const member of members) requirePem(member, tls);
  return tls;
}

const CERTIFICATES = /^-----BEGIN CERTIFICATE-----.*?(?:^-----END CERTIFICATE-----|$(?![^]))/gms;

function requirePem(member: keyof QueueTls, tls: QueueTls): void {
  const text = tls[member]!;
  const kind = member === "key" ? "private key" : "certificate";
  const isPem = new RegExp(`^-----BEGIN [A-Z ]*${kind.toUpperCase()}-----`, "m").test(text);
  try {
    if (!isPem) throw new Error("no such block");
    // Node silently ignores certificates of authorities that it cannot read, so each is parsed.
    if (member === "ca") for (const [block] of text.matchAll(CERTIFICATES)) new X509Certificate(block);
    // This throws if the text is not valid, or if the key does not belong to the certificate.
    createSecureContext(member === "key" ? { key: tls.key, cert: tls.cert } : { [member]: text });
  } catch (error) {
    const reason = isPem ? ` (${(error as Error).message})` : "";
    throw new QueueError("tls", `${member}: expected a ${kind} in PEM${reason}`, { cause: error });
  }
}

type Ioredis = Pick<typeof IoRedis, "Redis" | "Cluster">;

function clientOf({ Redis: Client, Cluster: Nodes }: Ioredis, address: QueueAddress, tls: QueueTls | undefined): Redis {
  const { kind, hosts, name, db, username, password } = address;
  const options: ClientOptions = {
    ...PATIENT,
    ...(username !== "" && { username }),
    ...(password !== "" && { password }),
    ...(tls && { tls }),
  };
  if (kind === "cluster") return clusterOf(Nodes, hosts, options);
  if (kind === "socket") return new Client({ ...options, path: name });
  if (kind === "server") return new Client({ ...options, ...hosts[0]!, db });
  const secure = tls && { enableTLSForSentinelMode: true, sentinelTLS: tls };
  return new Client({ ...options, sentinels: [...hosts], name, db, sentinelRetryStrategy: retryAfter, ...secure });
}

/** Makes a client for a cluster. It has the commands of a single client: only `duplicate` and `nodes` differ. */
function clusterOf(Nodes: typeof Cluster, hosts: QueueAddress["hosts"], options: ClientOptions): Redis {
  const redisOptions = { ...otherMembers(options, "retryStrategy", "lazyConnect") };
  const cluster = new Nodes([...hosts], {
    lazyConnect: true,
    clusterRetryStrategy: retryAfter,
    // Host names are kept, because certificates have them and a look-up here would replace them with addresses.
    dnsLookup: (host, done) => done(null, host),
    redisOptions,
  });
  return cluster as unknown as Redis;
}

/** Returns the servers that have data: one, or the masters of a cluster. */
export function mastersOf(client: Redis): readonly Redis[] {
  const { isCluster = false } = client as { readonly isCluster?: boolean };
  return isCluster ? (client as unknown as Cluster).nodes("master") : [client];
}

/** Loads the packages on demand, since users without a queue need not install them. */
async function loadPackages(): Promise<{ bullmq: typeof BullMq; ioredis: Ioredis }> {
  try {
    const [bullmq, ioredis] = await Promise.all([import("bullmq"), import("ioredis")]);
    return { bullmq, ioredis };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ERR_MODULE_NOT_FOUND" ? "are not both installed" : `cannot be loaded (${message})`;
    throw new QueueError(
      "missing",
      `a queue needs the packages bullmq and ioredis, which ${reason}: npm install bullmq@6 ioredis@6`,
      { cause: error },
    );
  }
}

/** Errors that do not end by waiting, so that the first connection fails at once. */
const LASTING = /NOAUTH|WRONGPASS|NOPERM|invalid password|DB index|cluster support disabled/i;

function firstReady(client: Redis, address: QueueAddress, startMs: number): Promise<void> {
  const { shown } = address;
  return new Promise((resolve, reject) => {
    let last = "no answer";
    const fail = (): void => reject(new QueueError("unreachable", `${shown}: the queue cannot be reached: ${last}`));
    const timer = setTimeout(fail, startMs);
    client.on("error", (error: NodeJS.ErrnoException) => {
      last = messageOf(error, address);
      if (!LASTING.test(last) && !CERTIFICATE.test(`${error.code ?? ""} ${last}`)) return;
      clearTimeout(timer);
      fail();
    });
    client.once("ready", () => {
      clearTimeout(timer);
      resolve();
    });
    // The promise rejects after the first failure, but ioredis keeps trying, so the rejection is ignored.
    client.connect().catch(() => {});
  });
}
