/** The data of a queue. Anyone with access to the server may have written it, so its form and its seal are checked. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Redis } from "ioredis";
import { fromBase64, fromUtf8, toBase64, toUtf8 } from "../bytes.js";
import { isJsonObject } from "../decode/json.js";
import { TOOL } from "../version.js";
import type { Part } from "./queue-parts.js";

/** Increment it if the same entry may yield another line, or jobs or answers are written in another form. */
const FORMAT = 2;
export const PREFIX = "bootproof";

/** A peer that was silent for longer is gone. */
const ALIVE_SECONDS = 10;
/** Lifetime of settings and answers. A producer that was away for longer enqueues its jobs again. */
const KEPT_SECONDS = 600;
const MAX_PEERS = 1000;
const RUN = /^[0-9a-f]{32}$/;
const DIGEST = /^[0-9a-f]{64}$/;

export const keys = {
  setting: (run: string): string => `${PREFIX}:setting:${run}`,
  answers: (run: string): string => `${PREFIX}:answers:${run}`,
  deadLetters: `${PREFIX}:dead-letters`,
};

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
  return [PREFIX, policy.slice(0, 32), TOOL.version, FORMAT, ...(secret === "" ? [] : [secret])].join("-");
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

export function jobDigest(setting: string, { first, entries, expected }: Part): string {
  const hash = createHash("sha256").update(`${setting}\n${first}\n`);
  for (const entry of entries) hash.update(`${entry.length}\n`).update(entry);
  // JSON separates them, and null from any text.
  if (expected !== undefined) hash.update(`expected\n${JSON.stringify(expected)}`);
  return hash.digest("hex");
}

const sealedJob = (id: string, { run, setting, digest }: Job): string => [run, id, setting, digest].join("\n");

export function writeJob(id: string, job: Job, seal: Seal): unknown {
  const entries = job.entries.map((bytes) => fromUtf8(bytes) ?? { base64: toBase64(bytes) });
  const { run, setting, first, expected } = job;
  return { run, setting, first, entries, ...(expected && { expected }), seal: seal.of("job", sealedJob(id, job)) };
}

/** Null for a malformed job, or one with a wrong seal. */
export function readJob(id: string, data: unknown, seal: Seal): Job | null {
  if (!isJsonObject(data)) return null;
  const { run, setting, first, entries: written, expected, seal: sealed } = data;
  const isWhole = isMatch(run, RUN) && isMatch(setting, DIGEST) && isNumber(first) && typeof sealed === "string";
  if (!isWhole || !Array.isArray(written)) return null;
  const entries = written.map(entryOf);
  if (!entries.every((entry) => entry !== null)) return null;
  if (expected !== undefined && !isExpected(expected, entries.length)) return null;
  const part = { first, entries, ...(expected && { expected }) };
  const job = { run, setting, ...part, digest: jobDigest(setting, part) };
  return seal.holds("job", sealedJob(id, job), sealed) ? job : null;
}

function isExpected(value: unknown, entries: number): value is readonly (string | null)[] {
  if (!Array.isArray(value) || value.length !== entries) return false;
  return value.every((each) => each === null || typeof each === "string");
}

function entryOf(written: unknown): Uint8Array | null {
  if (typeof written === "string") return toUtf8(written);
  return isJsonObject(written) && typeof written["base64"] === "string" ? fromBase64(written["base64"]) : null;
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

/** Adds an answer to the stream of its run, which expires. */
export async function putAnswer(client: Redis, answer: Answer, seal: Seal): Promise<void> {
  const text = JSON.stringify(answer);
  await client.xadd(keys.answers(answer.run), "*", "answer", text, "seal", seal.of("answer", text));
  await client.expire(keys.answers(answer.run), KEPT_SECONDS);
}

export interface Peer {
  readonly id: string;
  readonly queue: string;
  readonly policy: string;
  readonly version: string;
}

type PeerKind = "producers" | "workers";

const peerKey = (kind: PeerKind, id: string): string => `${PREFIX}:${kind}:${id}`;

/** Must be repeated within {@link ALIVE_SECONDS}. */
export async function announce(client: Redis, kind: PeerKind, peer: Peer): Promise<void> {
  await client.set(peerKey(kind, peer.id), JSON.stringify(peer), "EX", ALIVE_SECONDS);
  await client.sadd(`${PREFIX}:${kind}`, peer.id);
}

export async function withdraw(client: Redis, kind: PeerKind, id: string): Promise<void> {
  await client.del(peerKey(kind, id));
  await client.srem(`${PREFIX}:${kind}`, id);
}

export async function peersOf(client: Redis, kind: PeerKind): Promise<Peer[]> {
  const ids = (await client.smembers(`${PREFIX}:${kind}`)).filter((id) => RUN.test(id)).slice(0, MAX_PEERS);
  if (ids.length === 0) return [];
  const texts = await client.mget(ids.map((id) => peerKey(kind, id)));
  const gone = ids.filter((_, index) => texts[index] === null);
  if (gone.length > 0) await client.srem(`${PREFIX}:${kind}`, ...gone);
  return texts.flatMap((text) => peerOf(text) ?? []);
}

export async function isProducerAlive(client: Redis, run: string): Promise<boolean> {
  return (await client.exists(peerKey("producers", run))) === 1;
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
    return `holds another policy (${other.policy.slice(0, 16)}…, this one ${own.policy.slice(0, 16)}…)`;
  return "has another secret, or only one of them has one (BOOTPROOF_QUEUE_SECRET)";
}

/** Stores the setting. It expires unless this is called again. */
export async function keepSetting(client: Redis, run: string, text: string): Promise<void> {
  const isThere = (await client.expire(keys.setting(run), KEPT_SECONDS)) === 1;
  if (!isThere) await client.set(keys.setting(run), text, "EX", KEPT_SECONDS);
}

export interface DeadLetter {
  readonly run: string;
  readonly n: number;
  readonly sha256: string;
  readonly reason: string;
}

const MAX_DEAD_LETTERS = 1000;
const DEAD_LETTER_SECONDS = 30 * 86_400;

export async function addDeadLetter(client: Redis, letter: DeadLetter): Promise<void> {
  await client.lpush(keys.deadLetters, JSON.stringify(letter));
  await client.ltrim(keys.deadLetters, 0, MAX_DEAD_LETTERS - 1);
  await client.expire(keys.deadLetters, DEAD_LETTER_SECONDS);
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
