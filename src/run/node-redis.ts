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
import { Seals } from "./node-seal.js";
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
  // In TLS 1.3 a server refuses a certificate after the handshake, and its alert may be lost (RFC 8446, section 6.2).
  [/^TLS (?:ECONNRESET|EPIPE) (?!.*before secure TLS)/, "it closed the connection: check --queue-cert and --queue-key"],
  [/alert (?:number|cert|unknown ca)/, "it refuses the certificate of this client: check --queue-cert and --queue-key"],
  [/CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/, "its certificate is not trusted: give its authority with --queue-ca"],
];

/** Returns an error's message, without the password, and whether waiting does not help. */
function explained(error: unknown, { password, isTls }: QueueAddress): readonly [text: string, isLasting: boolean] {
  // The error of a cluster wraps the error of a node.
  const { lastNodeError = error } = error as { readonly lastNodeError?: unknown };
  const { message, code = "" } = lastNodeError as NodeJS.ErrnoException;
  // A server that does not know AUTH quotes the password, possibly truncated.
  const found = (message || code).replace(/,? with args beginning with\b.*$/s, "");
  const advice = ADVICE.find(([pattern]) => pattern.test(`${isTls ? "TLS " : ""}${code} ${found}`))?.[1];
  // A short password may be part of a word, so it is replaced only where it is a whole word.
  const hidden = password.length > 5 ? found.replaceAll(password, "[password]") : found;
  const shown = hidden.replaceAll(/[^\s'"`]+/g, (word) => (word === password ? "[password]" : word));
  return [advice === undefined ? shown : `${shown} (${advice})`, advice !== undefined];
}

const OUTAGE =
  /^E[A-Z]+ |Connection is closed|connection close|Socket timeout|Socket closed|Stream isn't|LOADING|Failed to refresh/;
const REFUSAL = /\b(?:OOM|MISCONF|READONLY|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY)\b/;

function isMatch(error: unknown, pattern: RegExp): boolean {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return pattern.test(`${code} ${message}`);
}

const NO_SECRET =
  "it may be another host, so both sides need --queue-secret-file or BOOTPROOF_QUEUE_SECRET: " + SECRET_FORM;

/**
 * Joins the queue of a policy. Throws QueueError if its server is not reached within ten seconds or cannot be used.
 */
export async function joinQueue(
  url: string,
  held: Held,
  options: QueuePlaceOptions,
  startMs = 10_000,
): Promise<QueueSide> {
  const { prefix = "bootproof", tls, secret } = options;
  if (!/^[\w.-]{1,100}$/.test(prefix))
    throw new QueueError("prefix", "expected a name of at most 100 letters, digits, _, . and -");
  const address = parseQueueUrl(url);
  if (secret === undefined && !isLocal(address)) throw new QueueError("secret", `${address.shown}: ${NO_SECRET}`);
  if (tls !== undefined) checkTls(address, tls);
  const policy = await policyDigest(held);
  const { bullmq, ioredis } = await loadPackages();
  const client = clientOf(ioredis, address, address.isTls ? (tls ?? {}) : undefined);
  const side = new QueueSide({ address, client, bullmq, policy }, options);
  try {
    await firstReady(client, address, startMs);
    await refuseEviction(side, address);
    // It fails if the server's memory is full, or if the user lacks rights.
    const key = `{${prefix}}:${side.name}:rights`;
    await client.eval("redis.call('SET', KEYS[1], '', 'PX', 1)", 1, key).catch((error: unknown) => {
      throw side.unusable(error);
    });
  } catch (error) {
    side.close();
    throw error;
  }
  side.watch();
  if (secret === undefined) side.note("without a secret, anyone who can write to this server can forge results");
  return side;
}

interface Joined {
  readonly address: QueueAddress;
  readonly client: Redis;
  readonly bullmq: typeof BullMq;
  /** The digest of the policy. */
  readonly policy: string;
}

/** What producer and worker share: a queue at a server that was reached at least once. */
export class QueueSide {
  readonly bullmq: typeof BullMq;
  readonly seals: Seals;
  /** One queue for each policy, package version and secret, so that a worker gets only jobs that it can judge. */
  readonly name: string;
  /** Options of BullMQ. The braces of the prefix put all keys into one slot of a cluster, which its scripts require. */
  readonly place: { readonly connection: Redis; readonly prefix: string; readonly skipVersionCheck: true };
  isAway = false;
  #isClosed = false;
  readonly #address: QueueAddress;
  readonly #options: QueuePlaceOptions;
  readonly #others: Redis[] = [];
  readonly #said = new Set<string>();

  constructor({ address, client, bullmq, policy }: Joined, options: QueuePlaceOptions) {
    [this.#address, this.bullmq, this.#options, this.seals] = [address, bullmq, options, new Seals(options.secret)];
    const secret = options.secret === undefined ? [] : [this.seals.of("queue", policy).slice(0, 16)];
    this.name = ["bootproof", policy.slice(0, 32), TOOL.version, ...secret].join("-");
    this.place = { connection: client, prefix: `{${options.prefix ?? "bootproof"}}`, skipVersionCheck: true };
    // BullMQ duplicates clients and does not always close them, so the duplicates are kept in a list.
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (...args) => this.#others[this.#others.push(duplicate(...args)) - 1]!;
  }

  /** Reports the beginning and the end of each outage from now on. */
  watch(): void {
    this.place.connection.on("close", () => {
      if (!this.isAway && !this.#isClosed) this.note("the connection is lost; trying again until the server is there");
      this.isAway = true;
    });
    this.place.connection.on("ready", () => {
      if (this.isAway) this.note("connected again");
      this.isAway = false;
    });
  }

  note(text: string): void {
    this.#options.onNote?.(`${this.#address.shown}: ${text}`);
  }

  once(text: string): void {
    if (this.#said.size > 1000 || this.#said.has(text)) return;
    this.#said.add(text);
    this.note(text);
  }

  /** Reports an error once, but no outage, which is reported above, and no lost lock, which only costs work. */
  readonly report = (error: unknown): void => {
    if (!this.#isClosed && !isMatch(error, OUTAGE) && !isMatch(error, /lock/i))
      this.once(printable(explained(error, this.#address)[0]));
  };

  /** Calls `work` again while the server is away or refuses to write. Throws QueueError for any other error. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    for (;;)
      try {
        return await work();
      } catch (error) {
        if (this.#isClosed || !(isMatch(error, OUTAGE) || isMatch(error, REFUSAL))) throw this.unusable(error);
        this.report(error);
        await new Promise((resolve) => setTimeout(resolve, 1000).unref());
      }
  }

  /** Returns the error of a command that failed. */
  unusable(error: unknown): QueueError {
    const text = `the queue cannot be used: ${explained(error, this.#address)[0]}`;
    return new QueueError("unreachable", `${this.#address.shown}: ${text}`, { cause: error });
  }

  /**
   * Reports the state for health every second, and calls `work` unless it still runs. Returns a function to stop it.
   */
  everySecond(work?: (waiting: number, active: number) => Promise<void>): () => void {
    const { connection, prefix } = this.place;
    const lengthOf = (list: string): Promise<number> => connection.llen(`${prefix}:${this.name}:${list}`);
    let [isRunning, waiting]: [boolean, number | null] = [false, null];
    const look = async (): Promise<void> => {
      waiting = await lengthOf("wait");
      await work?.(waiting, await lengthOf("active"));
    };
    const timer = setInterval(() => {
      this.#options.onQueue?.({ server: this.#address.shown, isConnected: !this.isAway, waiting });
      if (isRunning) return;
      isRunning = true;
      void look()
        .catch(this.report)
        .finally(() => (isRunning = false));
    }, 1000);
    return () => clearInterval(timer);
  }

  close(): void {
    this.#isClosed = true;
    for (const client of [this.place.connection, ...this.#others]) client.disconnect();
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
    return new Client({ ...common, sentinels: [...hosts], name, db, sentinelRetryStrategy: retryAfter, ...secure });
  }
  // A cluster has the commands of a single client. Host names are kept, because certificates have them.
  const redisOptions = { ...otherMembers(common, "retryStrategy", "lazyConnect") };
  const dnsLookup = (host: string, done: (error: null, address: string) => void): void => done(null, host);
  const options = { lazyConnect: true, clusterRetryStrategy: retryAfter, dnsLookup, redisOptions };
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
    const text = `a queue needs two packages: npm install bullmq@6 ioredis@6 (${(error as Error).message})`;
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
      const [text, isLasting] = explained(error, address);
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

async function refuseEviction(side: QueueSide, { shown }: QueueAddress): Promise<void> {
  const { connection: client } = side.place;
  const { isCluster = false } = client as { readonly isCluster?: boolean };
  for (const master of isCluster ? (client as unknown as Cluster).nodes("master") : [client]) {
    const info = await master.info("memory").catch(() => "");
    const [, policy = "unknown"] = /^maxmemory_policy:([\w-]+)/m.exec(info) ?? [];
    if (policy === "noeviction" || /^maxmemory:0/m.test(info)) continue;
    const drops = `it may drop jobs or locks when its memory is full (maxmemory-policy ${policy}). ${NOEVICTION}`;
    if (policy !== "unknown") throw new QueueError("eviction", `${shown}: ${drops}`);
    side.once(`warning: ${drops}`);
  }
}

const NOEVICTION =
  "Set noeviction: redis-cli CONFIG SET maxmemory-policy noeviction, or in the parameter group of a managed server";
