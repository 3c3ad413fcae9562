/** What producer and worker share: joining the queue, finding the other side, and reporting each note once. */
import { randomBytes } from "node:crypto";
import { printable } from "../report/printable.js";
import { TOOL } from "../version.js";
import type { QueueContact, QueueTls } from "./node-queue-url.js";
import { DAY_SECONDS, type Peer, Seal, queueName, readPeer } from "./node-queue-wire.js";
import { type RedisConnection, connectRedis, isOutage, mastersOf } from "./node-redis.js";
import { QueueError } from "./queue-error.js";
import { type AuditSetting, policyDigest } from "./setting.js";

export const TICK_MS = 1000;
/** A peer that was silent for longer is gone. */
const ALIVE_SECONDS = 10;
const MAX_PEERS = 1000;
const MAX_NOTES = 1000;

interface MemberOptions {
  readonly prefix?: string;
  readonly tls?: QueueTls;
  readonly secret?: string;
  readonly onNote?: (text: string) => void;
  readonly onQueue?: (contact: QueueContact) => void;
}

const TRUSTED =
  "without BOOTPROOF_QUEUE_SECRET anyone who can write to this server is trusted, and could forge results";

/** Throws QueueError if the server cannot be reached within ten seconds, or cannot be used. */
export async function joinQueue(
  url: string,
  held: Pick<AuditSetting, "policy" | "trustAnchors">,
  options: MemberOptions,
): Promise<QueueMember> {
  const { prefix = "bootproof", tls, secret, onNote = () => {} } = options;
  const policy = await policyDigest(held);
  if (!/^[\w.-]{1,100}$/.test(prefix))
    throw new QueueError("prefix", "expected a name of at most 100 letters, digits, _, . and -");
  const seal = new Seal(secret);
  const id = randomBytes(16).toString("hex");
  const peer: Peer = { id, queue: queueName(policy, seal), policy, version: TOOL.version };
  const connection = await connectRedis(url, onNote, tls && { tls });
  const member = new QueueMember(connection, { prefix, seal, peer, options });
  await connection.first(member.tryRights());
  if (!seal.isThere) member.tell(TRUSTED);
  await member.checkEviction();
  return member;
}

interface Membership {
  readonly prefix: string;
  readonly seal: Seal;
  readonly peer: Peer;
  readonly options: MemberOptions;
}

export class QueueMember {
  readonly connection: RedisConnection;
  readonly seal: Seal;
  readonly peer: Peer;
  /** As the caller has it. */
  readonly prefixName: string;
  /** The braces keep all keys in one slot of a cluster, as BullMQ's scripts need them. */
  readonly prefix: string;
  readonly #options: MemberOptions;
  readonly #said = new Set<string>();
  #waiting: number | null = null;

  constructor(connection: RedisConnection, { prefix, seal, peer, options }: Membership) {
    this.connection = connection;
    this.seal = seal;
    this.peer = peer;
    this.prefixName = prefix;
    this.prefix = `{${prefix}}`;
    this.#options = options;
  }

  /** The name of a key: of one run, or of all. */
  key(name: string, run?: string): string {
    return [this.prefix, name, ...(run === undefined ? [] : [run])].join(":");
  }

  /** The key of one of BullMQ's lists, or of a job by its id. */
  readonly queueKey = (name: string): string => `${this.prefix}:${this.peer.queue}:${name}`;

  tell(text: string): void {
    this.#options.onNote?.(`${this.connection.shown}: ${text}`);
  }

  once(text: string): void {
    if (this.#said.size >= MAX_NOTES || this.#said.has(text)) return;
    this.#said.add(text);
    this.tell(text);
  }

  /** The connection itself reports outages. A lock that was lost in one only costs the work of a batch. */
  sayError(error: unknown): void {
    if (this.connection.isClosed || isOutage(error)) return;
    const message = this.connection.messageOf(error);
    if (!/lock/i.test(message)) this.once(printable(message));
  }

  /** Calls `work` every second, but never twice at once. Returns a function that ends this. */
  everySecond(work: () => Promise<void>): () => Promise<void> {
    let running: Promise<void> | null = null;
    const tick = (): void => {
      const { shown, isAway } = this.connection;
      // Also while a command waits for a server that is away.
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

  /** Announces this member for ten seconds, by the server's clock. Returns the living members of the other side. */
  async meet(own: "producers" | "workers", others: "producers" | "workers"): Promise<Peer[]> {
    const keys = [this.key(own), this.key(others)];
    const found = await this.connection.client.eval(MEET, 2, ...keys, JSON.stringify(this.peer));
    return (found as string[]).flatMap((text) => readPeer(text) ?? []);
  }

  async leave(own: "producers" | "workers"): Promise<void> {
    await this.connection.client.zrem(this.key(own), JSON.stringify(this.peer));
  }

  /** Throws the server's error if the user may not run what a queue needs, or if the memory is full. */
  async tryRights(): Promise<void> {
    const commands = [
      "'HSET', KEYS[1], 'a', '1'",
      "'LPUSH', KEYS[1], '1'",
      "'ZADD', KEYS[1], redis.call('TIME')[1], '1'",
      "'SADD', KEYS[1], '1'",
      "'XADD', KEYS[1], '*', 'a', '1'",
      "'SET', KEYS[1], '1'",
    ];
    const lines = commands.map((command) => `redis.call(${command}) redis.call('DEL', KEYS[1])`);
    await this.connection.client.eval(lines.join("\n"), 1, this.key("rights", this.peer.id));
  }

  /** Throws QueueError for a server that may drop any key once its memory is full. */
  async checkEviction(): Promise<void> {
    for (const master of mastersOf(this.connection.client)) {
      const info = await master.info("memory").catch(() => "");
      const [, policy] = /^maxmemory_policy:([\w-]+)/m.exec(info) ?? [];
      if (policy === undefined) this.once(`warning: its maxmemory-policy cannot be read. ${NOEVICTION}`);
      else if (policy === "noeviction" || !/^maxmemory:[1-9]/m.test(info)) continue;
      else if (policy.startsWith("volatile-"))
        this.once(`it drops keys with a lifetime when its memory is full (maxmemory-policy ${policy}). ${NOEVICTION}`);
      else this.#refuse(policy);
    }
  }

  #refuse(policy: string): never {
    const { shown } = this.connection;
    this.connection.close();
    const found = `it drops keys when its memory is full, jobs too (maxmemory-policy ${policy})`;
    throw new QueueError("eviction", `${shown}: ${found}. ${NOEVICTION}`);
  }
}

const NOEVICTION =
  "Set noeviction: redis-cli CONFIG SET maxmemory-policy noeviction, or maxmemory-policy in the parameter group of a " +
  "managed server. An audit ends when the server drops one of its jobs three times";

const MEET = `
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ${ALIVE_SECONDS})
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('EXPIRE', KEYS[1], ${DAY_SECONDS})
return redis.call('ZRANGE', KEYS[2], 0, ${MAX_PEERS - 1})`;
