/** The connection to Redis or Valkey. Its packages are loaded on demand. */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type * as BullMq from "bullmq";
import type * as IoRedis from "ioredis";
import type { Cluster, Redis, RedisOptions } from "ioredis";
import { otherMembers } from "../decode/input.js";
import { printable } from "../report/printable.js";
import { TOOL } from "../version.js";
import { type QueueAddress, isLocal, parseQueueUrl } from "./node-queue-url.js";
import { QueueError, type QueuePlaceOptions, type QueueTls, SECRET_FORM } from "./queue-options.js";
import { Seals } from "./seal.js";
import { type Held, policyDigest } from "./setting.js";

/** Errors that do not end by waiting, and what to do. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/NOAUTH/, "it demands a password: write USER:PASSWORD@ before the host, in the URL in BOOTPROOF_QUEUE_URL"],
  [/WRONGPASS|invalid password/i, "it refuses this user or this password: correct those in the URL of the queue"],
  [
    /NOPERM|user executing the script/,
    "this user lacks rights: it needs the keys of the prefix, as ~{bootproof}:*, and +@read +@write +@transaction " +
      "+@scripting +@connection +info +time",
  ],
  [/DB index/i, "correct the database in the URL of the queue"],
  [/cluster support disabled/i, "it is not a cluster: use redis://"],
  [/\bMOVED \d+ /, "it is a node of a cluster: use redis+cluster://"],
  [/alert (?:number|cert|unknown ca)/, "it refuses the certificate of this client: check --queue-cert and --queue-key"],
  [/CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/, "its certificate is not trusted: give its authority with --queue-ca"],
];

/**
 * A reset after the handshake of TLS. In TLS 1.3 a server refuses the certificate of a client only then, and its alert
 * is lost if the client has already written (RFC 8446, sections 2 and 6; RFC 9293, section 3.10.7).
 */
const RESET = /^(?:ECONNRESET|EPIPE) (?!.*before secure TLS)/;
const RESET_ADVICE = "it closed the connection after the handshake: check --queue-cert and --queue-key";

/** Returns an error's message, without the password, and whether waiting does not help. */
function explained(error: unknown, { password, isTls }: QueueAddress): { text: string; isLasting: boolean } {
  // The error of a cluster wraps the error of a node.
  const { lastNodeError = error } = error as {
    readonly lastNodeError?: unknown;
  };
  const { message, code = "" } = lastNodeError as NodeJS.ErrnoException;
  // A server that does not know AUTH quotes the password, possibly truncated.
  const found = (message || code).replace(/,? with args beginning with\b.*$/s, "");
  const lasting = ADVICE.find(([pattern]) => pattern.test(`${code} ${found}`))?.[1];
  const advice = lasting ?? (isTls && RESET.test(`${code} ${found}`) ? RESET_ADVICE : null);
  // A short password may be part of a word, so it is replaced only where it is a whole word.
  const isLong = password.length > 5;
  const hidden = isLong ? found.replaceAll(password, "[password]") : found;
  const shown = hidden.replaceAll(/[^\s'"`]+/g, (word) => (word === password ? "[password]" : word));
  return {
    text: advice === null ? shown : `${shown} (${advice})`,
    isLasting: lasting !== undefined,
  };
}

const OUTAGE =
  /^E[A-Z]+ |Connection is closed|connection close|Socket timeout|Socket closed|Stream isn't|LOADING|Failed to refresh/;
const REFUSAL = /\b(?:OOM|MISCONF|READONLY|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/;

function isMatch(error: unknown, pattern: RegExp): boolean {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return pattern.test(`${code} ${message}`);
}

/** A connection to a server that was reached at least once. It reports the beginning and the end of each outage. */
export class RedisConnection {
  readonly client: Redis;
  readonly bullmq: typeof BullMq;
  readonly address: QueueAddress;
  isClosed = false;
  isAway = false;
  readonly #onNote: (text: string) => void;
  readonly #others: Redis[] = [];
  readonly #said = new Set<string>();

  constructor(address: QueueAddress, client: Redis, bullmq: typeof BullMq, onNote: (text: string) => void) {
    this.address = address;
    this.client = client;
    this.bullmq = bullmq;
    this.#onNote = onNote;
    // BullMQ duplicates clients and does not always close them, so the duplicates are kept in a list.
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (...args) => this.#others[this.#others.push(duplicate(...args)) - 1]!;
    client.on("close", () => {
      if (!this.isAway && !this.isClosed) this.note("the connection is lost; trying again until the server is there");
      this.isAway = true;
    });
    client.on("ready", () => {
      if (this.isAway) this.note("connected again");
      this.isAway = false;
    });
  }

  note(text: string): void {
    this.#onNote(`${this.address.shown}: ${text}`);
  }

  readonly once = (text: string): void => {
    if (this.#said.size > 1000 || this.#said.has(text)) return;
    this.#said.add(text);
    this.note(text);
  };

  /** Reports an error once, but no outage, which is reported above, and no lost lock, which only costs work. */
  readonly report = (error: unknown): void => {
    if (!this.isClosed && !isMatch(error, OUTAGE) && !isMatch(error, /lock/i))
      this.once(printable(explained(error, this.address).text));
  };

  /** Calls `work` again while the server is away or refuses to write. Throws QueueError for any other error. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.isClosed || !(isMatch(error, OUTAGE) || isMatch(error, REFUSAL))) throw this.unusable(error);
        this.report(error);
        await new Promise((resolve) => setTimeout(resolve, 1000).unref());
      }
    }
  }

  unusable(error: unknown): QueueError {
    const { text } = explained(error, this.address);
    return new QueueError("unreachable", `${this.address.shown}: the queue cannot be used: ${text}`, { cause: error });
  }

  close(): void {
    this.isClosed = true;
    for (const client of [this.client, ...this.#others]) client.disconnect();
  }
}

export interface Counts {
  readonly waiting: number;
  readonly active: number;
}

/** What producer and worker share. */
export interface QueueSide {
  readonly connection: RedisConnection;
  readonly seals: Seals;
  /** One queue for each policy, package version and secret, so that a worker gets only jobs that it can judge. */
  readonly name: string;
  /** Options of BullMQ. The braces of the prefix put all keys into one slot of a cluster, which its scripts require. */
  readonly place: { readonly connection: Redis; readonly prefix: string; readonly skipVersionCheck: true };
  /** Reports the state for health every second, and calls `work` unless it still runs. Returns a function to stop it. */
  everySecond(work?: (counts: Counts) => Promise<void>): () => void;
}

/** Version of the data. Increment it if the result of an entry may change, or if the form of jobs or answers changes. */
const FORMAT = 6;

/** Joins the queue of a policy. Throws QueueError if it cannot be used. */
export async function joinQueue(url: string, held: Held, options: QueuePlaceOptions): Promise<QueueSide> {
  const { prefix: given = "bootproof", tls, secret, onNote = () => {}, onQueue } = options;
  if (!/^[\w.-]{1,100}$/.test(given))
    throw new QueueError("prefix", "expected a name of at most 100 letters, digits, _, . and -");
  const address = parseQueueUrl(url);
  if (secret === undefined && !isLocal(address)) throw new QueueError("secret", `${address.shown}: ${NO_SECRET}`);
  const [policy, seals, prefix] = [await policyDigest(held), new Seals(secret), `{${given}}`];
  const connection = await connectRedis(address, onNote, { tls });
  const { client } = connection;
  const of = secret === undefined ? [] : [seals.of("queue", policy).slice(0, 16)];
  const name = ["bootproof", policy.slice(0, 32), TOOL.version, FORMAT, ...of].join("-");
  if (secret === undefined) connection.note("without a secret, anyone who can write to this server can forge results");
  // It fails if the server's memory is full, or if the user lacks rights.
  await client
    .eval("redis.call('SET', KEYS[1], '', 'PX', 1)", 1, `${prefix}:${name}:rights`)
    .catch((error: unknown) => {
      connection.close();
      throw connection.unusable(error);
    });
  let [isRunning, waiting]: [boolean, number | null] = [false, null];
  const look = async (work: (counts: Counts) => Promise<void>): Promise<void> => {
    isRunning = true;
    const [waits, active] = await Promise.all(
      ["wait", "active"].map((list) => client.llen(`${prefix}:${name}:${list}`)),
    );
    waiting = waits!;
    await work({ waiting, active: active! });
  };
  return {
    ...{ connection, seals, name, place: { connection: client, prefix, skipVersionCheck: true } },
    everySecond(work = () => Promise.resolve()) {
      const timer = setInterval(() => {
        onQueue?.({ server: address.shown, isConnected: !connection.isAway, waiting });
        if (!isRunning)
          void look(work)
            .catch(connection.report)
            .finally(() => (isRunning = false));
      }, 1000);
      return () => clearInterval(timer);
    },
  };
}

const NO_SECRET = `it may be another host, so both sides need --queue-secret-file or BOOTPROOF_QUEUE_SECRET: ${SECRET_FORM}`;

/** Connects to a server. Throws QueueError if it was not reached within ten seconds, or may drop jobs. */
export async function connectRedis(
  address: QueueAddress,
  onNote: (text: string) => void,
  { tls, startMs = 10_000 }: { readonly tls?: QueueTls | undefined; readonly startMs?: number } = {},
): Promise<RedisConnection> {
  if (tls !== undefined) checkTls(address, tls);
  const { bullmq, ioredis } = await loadPackages();
  const client = clientOf(ioredis, address, address.isTls ? (tls ?? {}) : undefined);
  const connection = new RedisConnection(address, client, bullmq, onNote);
  try {
    await firstReady(client, address, startMs);
    await refuseEviction(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function checkTls({ isTls, shown }: QueueAddress, tls: QueueTls): void {
  if (!isTls) throw new QueueError("url", `certificates and keys are for rediss:// URLs, and this one is ${shown}`);
  try {
    if ((tls.cert === undefined) !== (tls.key === undefined))
      throw new Error("a certificate and its key need each other");
    // This throws if a text is not PEM, or if the key does not belong to the certificate.
    createSecureContext(tls);
    // Node ignores an authority that it cannot read.
    if (tls.ca !== undefined) new X509Certificate(tls.ca);
  } catch (error) {
    const text = `--queue-ca, --queue-cert or --queue-key cannot be used: ${(error as Error).message}`;
    throw new QueueError("tls", text, { cause: error });
  }
}

type Ioredis = Pick<typeof IoRedis, "Redis" | "Cluster">;

function clientOf({ Redis: Client, Cluster: Nodes }: Ioredis, address: QueueAddress, tls: QueueTls | undefined): Redis {
  const { kind, hosts, name, db, username, password } = address;
  const retryAfter = (attempt: number): number => Math.min(100 * attempt, 2000);
  const common: Omit<RedisOptions, "replyMapping"> = {
    lazyConnect: true,
    // Null means no limit: commands wait until the server can be reached again.
    maxRetriesPerRequest: null,
    retryStrategy: retryAfter,
    // If a server became a replica, the client connects to the current primary.
    reconnectOnError: ({ message }) => (/^(?:READONLY|UNBLOCKED)/.test(message) ? 2 : false),
    connectTimeout: 5000,
    // No command here blocks for that long.
    socketTimeout: 15_000,
    ...(username !== "" && { username }),
    ...(password !== "" && { password }),
    ...(tls && { tls }),
  };
  if (kind === "socket") return new Client({ ...common, path: name });
  if (kind === "server") return new Client({ ...common, ...hosts[0]!, db });
  if (kind === "sentinel") {
    const secure = tls && { enableTLSForSentinelMode: true, sentinelTLS: tls };
    return new Client({
      ...common,
      sentinels: [...hosts],
      name,
      db,
      sentinelRetryStrategy: retryAfter,
      ...secure,
    });
  }
  // A cluster has the commands of a single client. Host names are kept, because certificates have them.
  const redisOptions = {
    ...otherMembers(common, "retryStrategy", "lazyConnect"),
  };
  const dnsLookup = (host: string, done: (error: null, address: string) => void): void => done(null, host);
  const options = {
    lazyConnect: true,
    clusterRetryStrategy: retryAfter,
    dnsLookup,
    redisOptions,
  };
  return new Nodes([...hosts], options) as unknown as Redis;
}

/** Loads the packages on demand, since users without a queue need not install them. */
async function loadPackages(): Promise<{
  bullmq: typeof BullMq;
  ioredis: Ioredis;
}> {
  try {
    const [bullmq, ioredis] = await Promise.all([import("bullmq"), import("ioredis")]);
    return { bullmq, ioredis };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ERR_MODULE_NOT_FOUND" ? "are not both installed" : `cannot be loaded (${message})`;
    const advice = "npm install bullmq@6 ioredis@6";
    const text = `a queue needs the packages bullmq and ioredis, which ${reason}: ${advice}`;
    throw new QueueError("missing", text, { cause: error });
  }
}

function firstReady(client: Redis, address: QueueAddress, startMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let last = "no answer";
    const fail = (): void =>
      reject(new QueueError("unreachable", `${address.shown}: the queue cannot be reached: ${last}`));
    const timer = setTimeout(fail, startMs);
    client.on("error", (error: Error) => {
      const { text, isLasting } = explained(error, address);
      last = text;
      if (isLasting) fail();
    });
    client.once("ready", resolve);
    client.once("end", () => clearTimeout(timer));
    // The promise rejects after the first failure, but ioredis keeps trying, so the rejection is ignored.
    client.connect().then(
      () => clearTimeout(timer),
      () => {},
    );
  });
}

async function refuseEviction({ client, address, once }: RedisConnection): Promise<void> {
  const { isCluster = false } = client as { readonly isCluster?: boolean };
  for (const master of isCluster ? (client as unknown as Cluster).nodes("master") : [client]) {
    const info = await master.info("memory").catch(() => "");
    const [, policy = "noeviction"] = /^maxmemory_policy:([\w-]+)/m.exec(info) ?? [once(`warning: ${UNKNOWN_POLICY}`)];
    if (policy === "noeviction" || /^maxmemory:0/m.test(info)) continue;
    const drops = `it drops jobs, or their locks, when its memory is full (maxmemory-policy ${policy})`;
    throw new QueueError("eviction", `${address.shown}: ${drops}. ${NOEVICTION}`);
  }
}

const NOEVICTION =
  "Set noeviction: redis-cli CONFIG SET maxmemory-policy noeviction, or in the parameter group of a managed server";
const UNKNOWN_POLICY = `its maxmemory-policy cannot be read. ${NOEVICTION}`;
