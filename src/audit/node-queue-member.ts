/** Code that producer and worker share: joining the queue, finding the other side, and reporting each note once. */
import { randomBytes } from "node:crypto";
import { printable } from "../report/printable.js";
import { DAY_SECONDS, type Peer, Seal, queueName, readPeer } from "./node-queue-wire.js";
import { type RedisConnection, connectRedis, isOutage, mastersOf } from "./node-redis.js";
import { QueueError, type QueuePlaceOptions } from "./queue-options.js";
import { type Held, policyDigest } from "./setting.js";

export const TICK_MS = 1000;
/** Seconds of silence after which a peer is considered gone. */
const ALIVE_SECONDS = 10;
const MAX_PEERS = 1000;
const MAX_NOTES = 1000;

const TRUSTED =
  "without BOOTPROOF_QUEUE_SECRET anyone who can write to this server is trusted, and could forge results";

/** Joins a queue. Throws QueueError if the server cannot be reached within ten seconds, or cannot be used. */
export async function joinQueue(url: string, held: Held, options: QueuePlaceOptions): Promise<QueueMember> {
  const { prefix = "bootproof", tls, onNote = () => {} } = options;
  const policy = await policyDigest(held);
  if (!/^[\w.-]{1,100}$/.test(prefix))
    throw new QueueError("prefix", "expected a name of at most 100 letters, digits, _, . and -");
  const connection = await connectRedis(url, onNote, tls && { tls });
  const member = new QueueMember(connection, policy, { ...options, prefix });
  await connection.first(member.checkServer());
  return member;
}

/** Resolves when all works have settled, or after this time. */
export async function settledWithin(milliseconds: number, ...works: readonly Promise<unknown>[]): Promise<void> {
  const timeout = new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
  await Promise.race([Promise.allSettled(works), timeout]);
}

export class QueueMember {
  readonly connection: RedisConnection;
  readonly seal: Seal;
  readonly peer: Peer;
  /** The braces put all keys into one slot of a cluster, which BullMQ's scripts require. */
  readonly prefix: string;
  readonly #announced: string;
  readonly #options: QueuePlaceOptions;
  readonly #said = new Set<string>();
  #waiting: number | null = null;

  constructor(connection: RedisConnection, policy: string, options: QueuePlaceOptions & { readonly prefix: string }) {
    this.connection = connection;
    this.seal = new Seal(options.secret);
    this.#announced = `${randomBytes(16).toString("hex")} ${queueName(policy, this.seal)}`;
    this.peer = readPeer(this.#announced)!;
    this.prefix = `{${options.prefix}}`;
    this.#options = options;
  }

  /** Returns the name of a key. Without `run`, the key is shared by all runs. */
  key(name: string, run?: string): string {
    return [this.prefix, name, ...(run === undefined ? [] : [run])].join(":");
  }

  /** Returns the key of one of BullMQ's lists, or of a job by its id. */
  readonly queueKey = (name: string): string => `${this.prefix}:${this.peer.queue}:${name}`;

  tell(text: string): void {
    this.#options.onNote?.(`${this.connection.shown}: ${text}`);
  }

  once(text: string): void {
    if (this.#said.size >= MAX_NOTES || this.#said.has(text)) return;
    this.#said.add(text);
    this.tell(text);
  }

  /**
   * Reports an error, but not an outage, which the connection reports itself. A lost lock is not reported either: it
   * only costs the work of a batch.
   */
  sayError(error: unknown): void {
    if (this.connection.isClosed || isOutage(error)) return;
    const message = this.connection.messageOf(error);
    if (!/lock/i.test(message)) this.once(printable(message));
  }

  /** Calls `work` every second, but never while it still runs. Returns a function that stops the calls. */
  everySecond(work: () => Promise<void>): () => Promise<void> {
    let running: Promise<void> | null = null;
    const tick = (): void => {
      const { shown, isAway } = this.connection;
      // The state is reported even while a command waits for a server that cannot be reached.
      this.#options.onQueue?.({ server: shown, isConnected: !isAway, waiting: this.#waiting });
      running ??= this.#count()
        .then(work)
        .catch((error: unknown) => this.sayError(error))
        .finally(() => (running = null));
    };
    const timer = setInterval(tick, TICK_MS);
    return async () => {
      clearInterval(timer);
      await running;
    };
  }

  async #count(): Promise<void> {
    if (this.#options.onQueue) this.#waiting = await this.connection.client.llen(this.queueKey("wait"));
  }

  /**
   * Announces, for ten seconds by the server's clock, that this member runs. Returns the running members of the other
   * side.
   */
  async meet(own: "producers" | "workers", others: "producers" | "workers"): Promise<Peer[]> {
    const keys = [this.key(own), this.key(others)];
    const found = await this.connection.client.eval(MEET, 2, ...keys, this.#announced);
    return (found as string[]).flatMap((text) => readPeer(text) ?? []);
  }

  async leave(own: "producers" | "workers"): Promise<void> {
    await this.connection.client.zrem(this.key(own), this.#announced);
  }

  /** Throws the server's error if its memory is full, or if the user lacks a right that a queue needs. */
  async checkServer(): Promise<void> {
    const { client } = this.connection;
    await client.eval(NEEDED, 1, this.key("rights", this.peer.id));
    if (!this.seal.isThere) this.tell(TRUSTED);
    for (const master of mastersOf(client)) {
      const info = await master.info("memory").catch(() => "");
      const [, policy] = /^maxmemory_policy:([\w-]+)/m.exec(info) ?? [];
      const drops = `when its memory is full (maxmemory-policy ${policy}). ${NOEVICTION}`;
      if (policy === undefined) this.once(`warning: its maxmemory-policy cannot be read. ${NOEVICTION}`);
      else if (policy === "noeviction" || !/^maxmemory:[1-9]/m.test(info)) continue;
      else if (policy.startsWith("volatile-")) this.once(`it drops keys with a lifetime ${drops}`);
      else throw new QueueError("eviction", `${this.connection.shown}: it drops keys, also jobs, ${drops}`);
    }
  }
}

/** Script with every kind of write that BullMQ's scripts make, to find out whether the user has the rights for them. */
const NEEDED = [
  "'HSET', KEYS[1], 'a', '1'",
  "'LPUSH', KEYS[1], '1'",
  "'ZADD', KEYS[1], redis.call('TIME')[1], '1'",
  "'SADD', KEYS[1], '1'",
  "'XADD', KEYS[1], '*', 'a', '1'",
  "'SET', KEYS[1], '1'",
]
  .map((command) => `redis.call(${command}) redis.call('DEL', KEYS[1])`)
  .join("\n");

const NOEVICTION =
  "Set noeviction: redis-cli CONFIG SET maxmemory-policy noeviction, or maxmemory-policy in the parameter group of a " +
  "managed server. An audit ends when the server drops one of its jobs three times";

const MEET = `
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ${ALIVE_SECONDS})
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('EXPIRE', KEYS[1], ${DAY_SECONDS})
return redis.call('ZRANGE', KEYS[2], 0, ${MAX_PEERS - 1})`;
