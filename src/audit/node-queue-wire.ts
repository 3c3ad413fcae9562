/** The data of a queue. Anyone with access to the server may have written it, so its form and its seal are checked. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { ChainableCommander, Redis } from "ioredis";
import { isJsonObject } from "../decode/json.js";
import { TOOL } from "../version.js";
import { QueueError } from "./queue-error.js";
import type { Part } from "./queue-parts.js";

/** Increment it if the same entry may yield another line, or jobs or answers are written in another form. */
const FORMAT = 4;
/** Of every queue's name, and the default prefix of all keys. */
const NAME = "bootproof";

/** A peer that was silent for longer is gone. */
const ALIVE_SECONDS = 10;
/** Lifetime of settings, batches and answers. A producer that was away for longer enqueues its jobs again. */
const KEPT_SECONDS = 600;
/** Lifetime of all other keys. The producer renews it. */
const DAY_SECONDS = 86_400;
const MAX_PEERS = 1000;
const RUN = /^[0-9a-f]{32}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** A server, and what the keys there begin with. */
export interface QueuePlace {
  readonly client: Redis;
  readonly prefix: string;
}

/** The braces keep all keys in one slot of a cluster, as BullMQ's scripts need them. */
export function prefixOf(name: string = NAME): string {
  if (!/^[\w.-]{1,100}$/.test(name))
    throw new QueueError("prefix", "expected a name of at most 100 letters, digits, _, . and -");
  return `{${name}}`;
}

/** The prefix as the caller has it. */
export function prefixName({ prefix }: QueuePlace): string {
  return prefix.slice(1, -1);
}

export const keys = {
  setting: ({ prefix }: QueuePlace, run: string): string => `${prefix}:setting:${run}`,
  batch: ({ prefix }: QueuePlace, job: string): string => `${prefix}:batch:${job}`,
  answers: ({ prefix }: QueuePlace, run: string): string => `${prefix}:answers:${run}`,
  deadLetters: ({ prefix }: QueuePlace): string => `${prefix}:dead-letters`,
};

/** Runs a transaction. Throws the first error of its commands. */
async function runAll(transaction: ChainableCommander): Promise<unknown[]> {
  const replies = await transaction.exec().catch((error: Error & { readonly previousErrors?: readonly Error[] }) => {
    throw error.previousErrors?.[0] ?? error;
  });
  return (replies ?? []).map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}

export function newRunId(): string {
  return randomBytes(16).toString("hex");
}

/** A shared secret, or none: then anyone who can write to the server is trusted. */
export class Seal {
  readonly #secret: string | null;

  constructor(secret: string | undefined) {
    this.#secret = secret === undefined || secret === "" ? null : secret;
  }

  get isThere(): boolean {
    return this.#secret !== null;
  }

  /** HMAC-SHA256 in hex; empty without a secret. */
  of(kind: "job" | "answer" | "queue", text: string): string {
    if (this.#secret === null) return "";
    return createHmac("sha256", this.#secret).update(`bootproof ${kind}\n${text}`).digest("hex");
  }

  /** Without a secret, only the empty seal is valid. */
  holds(kind: "job" | "answer", text: string, seal: string): boolean {
    const [own, other] = [Buffer.from(this.of(kind, text)), Buffer.from(seal)];
    return own.length === other.length && timingSafeEqual(own, other);
  }
}

/** One queue for each policy, package version and secret, so that a worker fetches only jobs that it can judge. */
export function queueName(policy: string, seal: Seal): string {
  const secret = seal.of("queue", policy).slice(0, 16);
  return [NAME, policy.slice(0, 32), TOOL.version, FORMAT, ...(secret === "" ? [] : [secret])].join("-");
}

export interface Job {
  readonly run: string;
  /** Covers the setting, and the entries with their numbers and expectations. */
  readonly digest: string;
  readonly setting: string;
  readonly first: number;
  readonly entries: readonly Uint8Array[];
  readonly expected?: readonly (string | null)[];
}

/** The entries of a job as one value: the bytes after a line of JSON that says where each ends. */
export function writeBatch({ first, entries, expected }: Part): Buffer {
  let length = 0;
  const ends = entries.map((entry) => (length += entry.length));
  const head = Buffer.from(`${JSON.stringify({ first, ends, ...(expected && { expected }) })}\n`);
  return Buffer.concat([head, ...entries], head.length + length);
}

/** Null if malformed. The entries are views of `batch`. */
export function readBatch(batch: Buffer): Part | null {
  const headEnd = batch.indexOf(LINE_FEED);
  const head = headEnd < 0 ? null : jsonOf(batch.toString("utf8", 0, headEnd));
  if (!isJsonObject(head)) return null;
  const { first, ends, expected } = head;
  const bytes = batch.subarray(headEnd + 1);
  if (!isNumber(first) || !areEnds(ends, bytes.length)) return null;
  if (expected !== undefined && !isExpected(expected, ends.length)) return null;
  const entries = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  return { first, entries, ...(expected && { expected }) };
}

const LINE_FEED = 10;

function areEnds(value: unknown, length: number): value is readonly number[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  const ends = value as readonly unknown[];
  const isRising = ends.every((end, index) => isNumber(end) && end >= ((ends[index - 1] as number | undefined) ?? 0));
  return isRising && ends.at(-1) === length;
}

function isExpected(value: unknown, entries: number): value is readonly (string | null)[] {
  if (!Array.isArray(value) || value.length !== entries) return false;
  return value.every((each) => each === null || typeof each === "string");
}

/** Of the setting, and of everything in the batch: entries, numbers and expectations. */
export function jobDigest(setting: string, batch: Uint8Array): string {
  return createHash("sha256").update(`${setting}\n`).update(batch).digest("hex");
}

const sealedJob = (id: string, { run, setting, digest }: Pick<Job, "run" | "setting" | "digest">): string =>
  [run, id, setting, digest].join("\n");

export function writeJob(id: string, job: Pick<Job, "run" | "setting" | "digest">, seal: Seal): unknown {
  const { run, setting } = job;
  return { run, setting, seal: seal.of("job", sealedJob(id, job)) };
}

/** Null for a malformed job. */
export function runOfJob(data: unknown): string | null {
  return isJsonObject(data) && isMatch(data["run"], RUN) ? data["run"] : null;
}

/** Null for a malformed job, or one with a wrong seal. */
export function readJob(id: string, data: unknown, batch: Buffer, seal: Seal): Job | null {
  if (!isJsonObject(data)) return null;
  const { run, setting, seal: sealed } = data;
  if (!isMatch(run, RUN) || !isMatch(setting, DIGEST) || typeof sealed !== "string") return null;
  const job = { run, setting, digest: jobDigest(setting, batch) };
  const part = seal.holds("job", sealedJob(id, job), sealed) ? readBatch(batch) : null;
  return part && { ...job, ...part };
}

export interface Answer {
  readonly run: string;
  readonly job: string;
  readonly digest: string;
  /** Unchecked. Null: the worker's judge failed. */
  readonly results: unknown;
  readonly slowest: { readonly n: number; readonly milliseconds: number } | null;
}

/** The caller checks the seal. */
export function readAnswer(text: string): Answer | null {
  const answer = jsonOf(text);
  if (!isJsonObject(answer)) return null;
  const { run, job, digest, results = null, slowest } = answer;
  if (!isMatch(run, RUN) || typeof job !== "string" || !isMatch(digest, DIGEST)) return null;
  return { run, job, digest, results, slowest: slowestOf(slowest) };
}

function slowestOf(value: unknown): Answer["slowest"] {
  if (!isJsonObject(value)) return null;
  const { n, milliseconds } = value;
  const isWhole = isNumber(n) && typeof milliseconds === "number" && milliseconds >= 0;
  return isWhole ? { n, milliseconds } : null;
}

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMatch(value: unknown, pattern: RegExp): value is string {
  return typeof value === "string" && pattern.test(value);
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Adds an answer to the stream of its run, which expires, and frees the memory of its batch. */
export async function putAnswer(place: QueuePlace, answer: Answer, seal: Seal): Promise<void> {
  const { client } = place;
  const text = JSON.stringify(answer);
  const stream = keys.answers(place, answer.run);
  // Before, and not in the transaction, which a full server refuses.
  const freed = client.unlink(keys.batch(place, answer.job));
  const put = client.multi().xadd(stream, "*", "answer", text, "seal", seal.of("answer", text));
  await Promise.all([freed, runAll(put.expire(stream, KEPT_SECONDS))]);
}

export interface Peer {
  readonly id: string;
  readonly queue: string;
  readonly policy: string;
  readonly version: string;
}

type PeerKind = "producers" | "workers";

const peerKey = ({ prefix }: QueuePlace, kind: PeerKind, id: string): string => `${prefix}:${kind}:${id}`;
const peersKey = ({ prefix }: QueuePlace, kind: PeerKind): string => `${prefix}:${kind}`;

/** Must be repeated within {@link ALIVE_SECONDS}. */
export async function announce(place: QueuePlace, kind: PeerKind, peer: Peer): Promise<void> {
  await runAll(
    place.client
      .multi()
      .set(peerKey(place, kind, peer.id), JSON.stringify(peer), "EX", ALIVE_SECONDS)
      .sadd(peersKey(place, kind), peer.id)
      .expire(peersKey(place, kind), DAY_SECONDS),
  );
}

export async function withdraw(place: QueuePlace, kind: PeerKind, id: string): Promise<void> {
  await place.client.del(peerKey(place, kind, id));
  await place.client.srem(peersKey(place, kind), id);
}

export async function peersOf(place: QueuePlace, kind: PeerKind): Promise<Peer[]> {
  const { client } = place;
  const ids = (await client.smembers(peersKey(place, kind))).filter((id) => RUN.test(id)).slice(0, MAX_PEERS);
  if (ids.length === 0) return [];
  const texts = await client.mget(ids.map((id) => peerKey(place, kind, id)));
  const gone = ids.filter((_, index) => texts[index] === null);
  if (gone.length > 0) await client.srem(peersKey(place, kind), ...gone);
  return texts.flatMap((text) => peerOf(text) ?? []);
}

/** The batch of a job; null if the server lost it. */
export async function batchOf(
  place: QueuePlace,
  run: string,
  job: string,
): Promise<{ readonly batch: Buffer | null; readonly isProducerAlive: boolean }> {
  const both = place.client
    .pipeline()
    .exists(peerKey(place, "producers", run))
    .getBuffer(keys.batch(place, job));
  const [isAlive, batch] = await runAll(both);
  return { batch: batch as Buffer | null, isProducerAlive: isAlive === 1 };
}

function peerOf(text: string | null): Peer | null {
  const value = text === null ? undefined : jsonOf(text);
  if (!isJsonObject(value)) return null;
  const { id, queue, policy, version } = value;
  const isWhole = isMatch(id, RUN) && isMatch(policy, DIGEST) && isMatch(version, /^[\w.+-]{1,40}$/);
  return isWhole && typeof queue === "string" ? { id, queue, policy, version } : null;
}

/** Why one peer ignores the other; null if it does not. */
export function difference(own: Peer, other: Peer): string | null {
  if (own.queue === other.queue) return null;
  if (own.version !== other.version) return `is of bootproof ${other.version}, this is ${own.version}`;
  if (own.policy !== other.policy)
    return (
      "holds another policy, or other content of the files that it names " +
      `(${other.policy.slice(0, 16)}…, this one ${own.policy.slice(0, 16)}…)`
    );
  return "has another secret, or only one of them has one (BOOTPROOF_QUEUE_SECRET)";
}

/** Sent before the job that needs it, over the same connection. */
export async function keepBatch(place: QueuePlace, job: string, batch: Buffer): Promise<void> {
  await place.client.set(keys.batch(place, job), batch, "EX", KEPT_SECONDS);
}

/** Whether both are still there. Renews their lifetimes. */
export async function renewJob(place: QueuePlace, job: string, jobKey: string): Promise<boolean> {
  const both = place.client.pipeline().expire(jobKey, DAY_SECONDS).expire(keys.batch(place, job), KEPT_SECONDS);
  return (await runAll(both)).every((isThere) => isThere === 1);
}

/** Stores the setting. It expires unless this is called again. */
export async function keepSetting(place: QueuePlace, run: string, text: string): Promise<void> {
  const key = keys.setting(place, run);
  const isThere = (await place.client.expire(key, KEPT_SECONDS)) === 1;
  if (!isThere) await place.client.set(key, text, "EX", KEPT_SECONDS);
}

export interface DeadLetter {
  readonly run: string;
  readonly n: number;
  readonly sha256: string;
  readonly reason: string;
}

const MAX_DEAD_LETTERS = 1000;

export async function addDeadLetter(place: QueuePlace, letter: DeadLetter): Promise<void> {
  const list = keys.deadLetters(place);
  const added = place.client.multi().lpush(list, JSON.stringify(letter));
  await runAll(added.ltrim(list, 0, MAX_DEAD_LETTERS - 1).expire(list, DAY_SECONDS));
}

/** What BullMQ keeps of a queue. */
const QUEUE_KEYS = ["id", "meta", "events", "wait", "active", "failed", "completed", "stalled", "marker"];

/** Renews the lifetime of the queue's keys, and keeps BullMQ's stream of events short: answers are in another. */
export async function keepQueue(client: Redis, toKey: (name: string) => string): Promise<void> {
  const kept = client.multi().hset(toKey("meta"), "opts.maxLenEvents", KEPT_EVENTS);
  for (const name of QUEUE_KEYS) kept.expire(toKey(name), DAY_SECONDS);
  await runAll(kept);
}

const KEPT_EVENTS = 100;

/**
 * A script of BullMQ that gives a lifetime to each key without one: those that it was called with, and the jobs that
 * it returns.
 */
export function withLifetime(lua: string): string {
  return `local function work()
${lua}
end
local result, queue = work(), nil
local function limit(key)
  if redis.call('TTL', key) == -1 then redis.call('EXPIRE', key, ${DAY_SECONDS}) end
end
for _, key in ipairs(KEYS) do
  limit(key)
  queue = queue or string.match(key, '^(.*:)wait$')
end
for _, id in ipairs(type(result) == 'table' and result or { result }) do
  if queue and type(id) == 'string' then limit(queue .. id) end
end
return result`;
}

/** Throws the server's error if the user may not run what a queue needs. */
export async function tryRights({ client, prefix }: QueuePlace): Promise<void> {
  const key = `${prefix}:rights:${newRunId()}`;
  const commands = [
    "'HSET', KEYS[1], 'a', '1'",
    "'LPUSH', KEYS[1], '1'",
    "'ZADD', KEYS[1], '1', '1'",
    "'SADD', KEYS[1], '1'",
    "'XADD', KEYS[1], '*', 'a', '1'",
    "'SET', KEYS[1], '1'",
  ];
  const lines = commands.map((command) => `redis.call(${command}) redis.call('DEL', KEYS[1])`);
  await client.info("memory");
  await client.eval(lines.join("\n"), 1, key);
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
