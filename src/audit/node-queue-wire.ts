/** The data of a queue. Anyone with access to the server can have written it, so its form and seal are checked. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import {
  anything,
  count,
  hex,
  list,
  nullable,
  number,
  object,
  objectOf,
  optional,
  readShape,
  text,
} from "../decode/shapes.js";
import { TOOL } from "../version.js";
import { readResults, writeResults } from "./answered.js";
import { type Batch, type JudgedBatch, partOf } from "./batch.js";
import { TOLD_SETTING, type ToldSetting } from "./setting.js";

/**
 * Version of the data. Increment it if the result of an entry may change, or if the form of jobs or answers changes.
 */
const FORMAT = 5;
export const DAY_SECONDS = 86_400;

/** Seals of jobs and answers under a shared secret. Without a secret, anyone who can write to the server is trusted. */
export class Seal {
  readonly #secret: string;

  constructor(secret = "") {
    this.#secret = secret;
  }

  get isThere(): boolean {
    return this.#secret !== "";
  }

  /** Returns HMAC-SHA256 in hex, or an empty text without a secret. */
  of(kind: "job" | "answer" | "queue", sealed: string): string {
    if (!this.isThere) return "";
    return createHmac("sha256", this.#secret).update(`bootproof ${kind}\n${sealed}`).digest("hex");
  }

  /** Whether the seal is valid. Without a secret, only the empty seal is valid. */
  holds(kind: "job" | "answer", sealed: string, seal: string): boolean {
    const [own, other] = [Buffer.from(this.of(kind, sealed)), Buffer.from(seal)];
    return own.length === other.length && timingSafeEqual(own, other);
  }
}

/** One queue for each policy, package version and secret, so that a worker fetches only jobs that it can judge. */
export function queueName(policy: string, seal: Seal): string {
  const secret = seal.of("queue", policy).slice(0, 16);
  return ["bootproof", policy.slice(0, 32), TOOL.version, FORMAT, ...(secret === "" ? [] : [secret])].join("-");
}

/** Maximum bytes of the entries and expectations in a job. A longer entry has a job of its own. */
const MAX_JOB_BYTES = 1024 * 1024;

/** Consecutive entries that become one job. */
export type Part = Omit<Batch, "index">;

export function partsOf(batch: Part): Part[] {
  const parts: Part[] = [];
  let [from, bytes] = [0, 0];
  batch.entries.forEach((entry, index) => {
    const size = entry.length + (batch.expected?.[index]?.length ?? 0);
    if (index > from && bytes + size > MAX_JOB_BYTES) {
      parts.push(partOf(batch, from, index));
      [from, bytes] = [index, 0];
    }
    bytes += size;
  });
  return batch.entries.length === 0 ? parts : [...parts, partOf(batch, from, batch.entries.length)];
}

export function splitPart(part: Part, size: number): Part[] {
  return Array.from({ length: Math.ceil(part.entries.length / size) }, (_, index) =>
    partOf(part, index * size, (index + 1) * size),
  );
}

export interface Job extends Omit<Part, "numbers"> {
  readonly run: string;
  /** The digest of the setting. */
  readonly setting: string;
}

/** Returns SHA-256, in hex, of run, setting, numbers, expectations and the bytes of the entries. */
export function jobId({ run, setting, first, entries, expected = [] }: Job): string {
  const lengths = entries.map(({ length }) => length);
  const hash = createHash("sha256").update(`${JSON.stringify([run, setting, first, lengths, expected])}\n`);
  for (const entry of entries) hash.update(entry);
  return hash.digest("hex");
}

export function writeJob(id: string, { run, setting, first, entries, expected }: Job, seal: Seal): WrittenJob {
  const lengths = entries.map(({ length }) => length);
  const base64 = Buffer.concat(entries).toString("base64");
  return { run, setting, first, lengths, entries: base64, ...(expected && { expected }), seal: seal.of("job", id) };
}

interface WrittenJob extends Omit<Job, "entries"> {
  readonly lengths: readonly number[];
  /** The bytes of all entries, in base64. */
  readonly entries: string;
  readonly seal: string;
}

const JOB = objectOf<WrittenJob>({
  run: hex(16),
  setting: hex(32),
  first: count,
  lengths: list(count, 1),
  entries: text,
  expected: optional(list(nullable(text))),
  seal: text,
});

/** Reads a job. Returns null for a malformed job, a job with a wrong seal, and a job that does not match its id. */
export function readJob(id: string, data: unknown, seal: Seal): Job | null {
  const written = readShape(JOB, data).value;
  if (written === undefined || !seal.holds("job", id, written.seal)) return null;
  const { run, setting, first, lengths, expected } = written;
  const bytes = Buffer.from(written.entries, "base64");
  let end = 0;
  const entries = lengths.map((length) => bytes.subarray(end, (end += length)));
  if (end !== bytes.length || (expected !== undefined && expected.length !== entries.length)) return null;
  const job = { run, setting, first, entries, ...(expected && { expected }) };
  return jobId(job) === id ? job : null;
}

export type JudgedPart = Omit<JudgedBatch, "index">;

/** Writes an answer. Its seal covers the job's id, so it is not valid for another job. */
export function writeAnswer(id: string, { results, slowest }: JudgedPart, seal: Seal): string {
  const answer = JSON.stringify({ results: writeResults(results), ...(slowest && { slowest }) });
  return `${seal.of("answer", `${id}\n${answer}`)}\n${answer}`;
}

const ANSWER = object({ results: anything, slowest: optional(object({ n: count, milliseconds: number })) });

/** Returns the results of exactly these entries, or the reason why the answer is refused. */
export function readAnswer(id: string, { first, entries }: Part, written: string, seal: Seal): JudgedPart | string {
  const [sealed] = written.split("\n", 1);
  const answer = written.slice(sealed!.length + 1);
  if (!seal.holds("answer", `${id}\n${answer}`, sealed!)) return SEAL;
  const { results: forms, slowest } = readShape(ANSWER, jsonOf(answer)).value ?? {};
  const results = readResults(forms, first, entries.length);
  if (results === null) return FORM;
  const isAmong = slowest !== undefined && slowest.n >= first && slowest.n < first + entries.length;
  return { results, ...(isAmong && { slowest }) };
}

const SEAL = "its seal is invalid: it was forged, or made with another BOOTPROOF_QUEUE_SECRET";
const FORM = "it does not have the form of this version";

const TOLD = objectOf<ToldSetting>(TOLD_SETTING);

/** Reads a setting. Returns undefined for a malformed one. */
export function readSetting(written: string): ToldSetting | undefined {
  return readShape(TOLD, jsonOf(written)).value;
}

export interface Peer {
  readonly id: string;
  readonly queue: string;
  /** The first half of the policy's digest, in hex. */
  readonly policy: string;
  readonly version: string;
}

const PEER =
  /^(?<id>[0-9a-f]{32}) (?<queue>bootproof-(?<policy>[0-9a-f]{32})-(?<version>[\w.+-]{1,40})-\d+(?:-[0-9a-f]{16})?)$/;

/** Reads an announcement, which is an id and the name of a queue. Returns undefined for a malformed one. */
export function readPeer(announced: string): Peer | undefined {
  return PEER.exec(announced)?.groups as Peer | undefined;
}

/** Returns the reason why a peer ignores the other one, or null if it does not. */
export function difference(own: Peer, other: Peer): string | null {
  if (own.queue === other.queue) return null;
  if (own.version !== other.version) return `is of bootproof ${other.version}, this is ${own.version}`;
  if (own.policy !== other.policy)
    return (
      "has another policy, or other content of the files that it names " +
      `(${other.policy.slice(0, 16)}…, this one ${own.policy.slice(0, 16)}…)`
    );
  return "has another secret, or only one of them has one (BOOTPROOF_QUEUE_SECRET)";
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function jsonOf(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

/**
 * Wraps a script of BullMQ, so that the data of a killed producer is deleted after a day. Each key of the script and
 * each job that it returns gets this lifetime, except for keys with a short one, such as locks.
 */
export function withLifetime(lua: string): string {
  return `local function work()
${lua}
end
local result, queue = work(), nil
local function limit(key)
  local left = redis.call('TTL', key)
  if left == -1 or left > 3600 then redis.call('EXPIRE', key, ${DAY_SECONDS}) end
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
