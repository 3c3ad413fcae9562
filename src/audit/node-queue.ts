/**
 * The producer's side of a queue: sends batches to workers on other machines, and checks their answers. It holds each
 * batch until its answer arrives, so that a server without its data loses nothing.
 */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { readResults } from "./answered.js";
import { ownOptions } from "../decode/input.js";
import { type Batch, type Judge, type JudgedBatch, ownBatch } from "./batch.js";
import { UNJUDGED_REASON, joined } from "./judge.js";
import { type Member, joinQueue } from "./node-queue-member.js";
import { type RedisConnection, isOutage, isPassing } from "./node-redis.js";
import {
  type Answer,
  type DeadLetter,
  PREFIX,
  addDeadLetter,
  announce,
  difference,
  jobDigest,
  keepSetting,
  keys,
  peersOf,
  readAnswer,
  sha256Hex,
  withdraw,
  writeJob,
} from "./node-queue-wire.js";
import { threadJudge } from "./node-threads.js";
import type { AuditResult } from "./result.js";
import { type AuditSetting, ownSetting, settingDigest } from "./setting.js";

export interface QueueJudgeOptions {
  /** Shared with the workers: seals jobs and answers. */
  readonly secret?: string;
  /** Called with notes for the operator: outages, missing workers, refused answers. */
  readonly onNote?: (text: string) => void;
  /** Number of batches on the queue at once; as many wait. Default: 16. */
  readonly concurrency?: number;
  /** Judges, in this process, entries whose jobs failed three times. Default: a thread. */
  readonly judgeOf?: (setting: AuditSetting) => Judge | Promise<Judge>;
}

const QUEUE_OPTIONS: Readonly<Record<keyof QueueJudgeOptions, true>> = {
  secret: true,
  onNote: true,
  concurrency: true,
  judgeOf: true,
};
const CONCURRENCY = 16;
const MAX_SAID = 100;
/** Bytes of the entries of one job; a longer entry is a job by itself. */
const MAX_JOB_BYTES = 1024 * 1024;
const TICK_MS = 1000;
/** How often a job is found missing before it is sent again: its answer may be on its way. */
const MISSING = 2;
/** Ticks without a worker before a note reports it. */
const PATIENCE = 5;
/** Parts of a job that ended a worker. Each may end another worker, so there are few. */
const PARTS = 16;
/** After so many failed jobs of an entry, this process judges it. */
const TRIES = 3;
/** How long the end waits while this run's data is removed from the server. */
const CLEANUP_MS = 2000;
const KEPT_EVENTS = 100;

/**
 * A judge whose batches go to workers at the same queue ({@link runWorker}), under this setting. Throws
 * {@link QueueError} where the server cannot be reached within ten seconds, or its packages are missing. Later failures
 * of network and server only delay it.
 */
export async function queueJudge(url: string, given: AuditSetting, options: QueueJudgeOptions = {}): Promise<Judge> {
  const own = ownOptions("options", options, QUEUE_OPTIONS);
  const setting = ownSetting(given);
  const digest = await settingDigest(setting);
  const member = await joinQueue(url, setting, own, MAX_SAID);
  const { onNote = () => {}, concurrency = CONCURRENCY, judgeOf = threadJudge } = own;
  const judge = new QueueJudge({ ...member, setting, digest, onNote, judgeOf }, concurrency);
  await judge.start();
  return judge;
}

interface Run extends Member {
  readonly setting: AuditSetting;
  readonly digest: string;
  readonly onNote: (text: string) => void;
  readonly judgeOf: (setting: AuditSetting) => Judge | Promise<Judge>;
}

/** Consecutive entries that are one job. */
interface Part {
  readonly first: number;
  readonly entries: readonly Uint8Array[];
}

/** A part without its answer yet. */
interface Task extends Part {
  readonly id: string;
  readonly digest: string;
  readonly settle: (judged: JudgedPart | null) => void;
  /** Whether it was sent to the server, which has not confirmed it. */
  isOnItsWay: boolean;
  missing: number;
}

type JudgedPart = Omit<JudgedBatch, "index">;

class QueueJudge implements Judge {
  readonly concurrency: number;
  readonly #connection: RedisConnection;
  readonly #run: Run;
  readonly #queue: Queue;
  readonly #reader: Redis;
  readonly #tasks = new Map<string, Task>();
  #timer: NodeJS.Timeout | undefined;
  #isTicking = false;
  #lonelyTicks = 0;
  #attempts = 0;
  /** Judges in this process; made on demand. */
  #own: Promise<Judge> | null = null;

  constructor(run: Run, concurrency: number) {
    const { connection } = run;
    this.concurrency = concurrency;
    this.#connection = connection;
    this.#run = run;
    this.#reader = connection.open();
    this.#queue = new connection.bullmq.Queue(run.peer.queue, {
      connection: connection.client,
      prefix: PREFIX,
      skipVersionCheck: true,
      streams: { events: { maxLen: KEPT_EVENTS } },
    });
    this.#queue.on("error", (error) => this.#sayError(error));
  }

  async start(): Promise<void> {
    await this.#connection.first(this.#announce());
    void this.#read();
    this.#timer = setInterval(() => void this.#tick(), TICK_MS);
  }

  async judge(batch: Batch): Promise<JudgedBatch> {
    const { index, first, entries } = ownBatch(batch);
    const parts = await Promise.all(partsOf(first, entries).map((part) => this.#judgePart(part)));
    return { index, ...joined(parts) };
  }

  async close(): Promise<void> {
    if (this.#connection.isClosed) return;
    clearInterval(this.#timer);
    const { client } = this.#connection;
    const { id } = this.#run.peer;
    const leaving = [
      withdraw(client, "producers", id),
      client.del(keys.setting(id), keys.answers(id)),
      ...[...this.#tasks.keys()].map((task) => this.#queue.remove(task)),
    ];
    const timeout = new Promise((resolve) => setTimeout(resolve, CLEANUP_MS).unref());
    await Promise.race([Promise.allSettled(leaving), timeout]);
    this.#connection.close();
    await this.#queue.close().catch(() => {});
    await this.#own?.then((judge) => judge.close()).catch(() => {});
  }

  /**
   * Cuts a failed job into parts, so that its other entries are judged elsewhere. The failure may be unsealed, so it
   * decides only who judges the entries next: after some failures, this process.
   */
  async #judgePart(part: Part, failures = 0): Promise<JudgedPart> {
    if (failures === TRIES) return this.#judgeHere(part);
    const judged = await this.#ask(part);
    if (judged !== null) return judged;
    const pieces = piecesOf(part, Math.ceil(part.entries.length / PARTS));
    return joined(await Promise.all(pieces.map((piece) => this.#judgePart(piece, failures + 1))));
  }

  /** Uses a thread, so that an entry which ends it does not end the audit. */
  async #judgeHere(part: Part): Promise<JudgedPart> {
    this.#run.notes.once(
      `${TRIES} jobs of an entry failed, one after the other: such entries are judged here. Workers end over it, or ` +
        `somebody else writes to the server`,
    );
    this.#own ??= Promise.resolve(this.#run.judgeOf(this.#run.setting));
    const judge = await this.#own;
    const { results, slowest } = await judge.judge({ index: 0, ...part });
    for (const [at, { n, reason }] of results.entries())
      if (reason === UNJUDGED_REASON) await this.#tellOfPoison(n, part.entries[at]!);
    return { results, ...(slowest && { slowest }) };
  }

  /** The list is for people: no result depends on it. */
  async #tellOfPoison(n: number, entry: Uint8Array): Promise<void> {
    const { peer, onNote } = this.#run;
    const letter: DeadLetter = { run: peer.id, n, sha256: sha256Hex(entry), reason: UNJUDGED_REASON };
    onNote(`entry ${n} (SHA-256 ${letter.sha256}): ${UNJUDGED_REASON}; it is in the list ${keys.deadLetters}`);
    await addDeadLetter(this.#connection.client, letter).catch((error: unknown) => this.#sayError(error));
  }

  /** Null where the job failed, as reported by the server, or by a worker under its seal. */
  async #ask(part: Part): Promise<JudgedPart | null> {
    const { peer, digest: setting } = this.#run;
    const id = `${peer.id}-${part.first}-${part.entries.length}-${this.#attempts++}`;
    return new Promise((resolve, reject) => {
      const settle = (judged: JudgedPart | null): void => {
        this.#tasks.delete(id);
        resolve(judged);
      };
      const digest = jobDigest(setting, part.first, part.entries);
      const task: Task = { ...part, id, digest, settle, isOnItsWay: false, missing: 0 };
      this.#tasks.set(id, task);
      // A job that could not be added is found missing, and added again.
      this.#enqueue(task).catch((error: unknown) => {
        if (!this.#connection.isClosed && isPassing(error)) this.#sayError(error);
        else reject(error);
      });
    });
  }

  /** Keeps existing data. */
  async #enqueue(task: Task): Promise<void> {
    const { peer, digest: setting, seal } = this.#run;
    const job = { ...task, run: peer.id, setting };
    task.isOnItsWay = true;
    try {
      await this.#queue.add("batch", writeJob(task.id, job, seal), {
        jobId: task.id,
        removeOnComplete: true,
        removeOnFail: { age: 3600, count: 1000 },
      });
      task.missing = 0;
    } finally {
      task.isOnItsWay = false;
    }
  }

  /** Reads answers as they arrive. Removes each before it reads on, so that none is skipped. */
  async #read(): Promise<void> {
    const stream = keys.answers(this.#run.peer.id);
    while (!this.#connection.isClosed) {
      try {
        const found = await this.#reader.xread("COUNT", 100, "BLOCK", TICK_MS, "STREAMS", stream, "0");
        const messages = found?.[0]?.[1] ?? [];
        for (const [, fields] of messages) this.#take(fields);
        if (messages.length > 0) await this.#reader.xdel(stream, ...messages.map(([id]) => id));
      } catch (error) {
        this.#sayError(error);
        await new Promise((resolve) => setTimeout(resolve, TICK_MS).unref());
      }
    }
  }

  #take(fields: readonly string[]): void {
    const [text, seal] = ["answer", "seal"].map((name) => fields[fields.indexOf(name) + 1] ?? "");
    if (!this.#run.seal.holds("answer", text!, seal!)) return this.#refuse(SEAL);
    const answer = readAnswer(text!);
    if (answer === null) return this.#refuse(FORM);
    const task = this.#tasks.get(answer.job);
    // Another worker has answered this job.
    if (task === undefined) return;
    if (answer.run !== this.#run.peer.id || answer.digest !== task.digest) return this.#refuse(FOREIGN);
    if (answer.results === null) return task.settle(null);
    this.#settle(task, answer);
  }

  #settle(task: Task, { results: written, slowest }: Answer): void {
    const results = readResults(written, task.first, task.entries.length);
    if (results === null) return this.#refuse(FORM);
    this.#lonelyTicks = 0;
    // A worker whose threads end gives this reason for each entry. Only this process finds the entry at fault.
    if (results.some(({ reason }) => reason === UNJUDGED_REASON)) return task.settle(null);
    task.settle({ results, ...(slowest && isAmong(slowest.n, results) && { slowest }) });
  }

  #refuse(why: string): void {
    this.#run.notes.once(`an answer is refused: ${why}`);
  }

  /** Announces this producer, and looks for missing jobs and workers. */
  async #tick(): Promise<void> {
    if (this.#isTicking) return;
    this.#isTicking = true;
    try {
      await this.#announce();
      for (const task of [...this.#tasks.values()]) await this.#look(task);
      if (this.#tasks.size > 0) await this.#lookForWorkers();
    } catch (error) {
      this.#sayError(error);
    } finally {
      this.#isTicking = false;
    }
  }

  async #announce(): Promise<void> {
    const { peer, setting } = this.#run;
    const { now, at, allowDebug, bootProofs } = setting;
    // Each worker has its own policy and trust anchors, with the same digest.
    await keepSetting(this.#connection.client, peer.id, JSON.stringify({ now, at, allowDebug, bootProofs }));
    await announce(this.#connection.client, "producers", peer);
  }

  async #look(task: Task): Promise<void> {
    if (task.isOnItsWay) return;
    const state = await this.#queue.getJobState(task.id);
    if (!this.#tasks.has(task.id)) return;
    if (state === "failed") {
      await this.#queue.remove(task.id);
      task.settle(null);
    } else if (state === "unknown" || state === "completed") {
      if (++task.missing >= MISSING) await this.#enqueue(task);
    } else task.missing = 0;
  }

  async #lookForWorkers(): Promise<void> {
    const { peer } = this.#run;
    const workers = await peersOf(this.#connection.client, "workers");
    if (workers.some(({ queue }) => queue === peer.queue)) this.#lonelyTicks = 0;
    else if (++this.#lonelyTicks === PATIENCE) {
      const others = [...new Set(workers.map((worker) => difference(peer, worker)))].slice(0, PATIENCE);
      const found = others.map((why) => `; one that is there ${why}`).join("");
      this.#run.notes.tell(`no worker takes anything, and this waits for one${found}`);
    }
  }

  /** The connection reports outages. */
  #sayError(error: unknown): void {
    if (this.#connection.isClosed || isOutage(error)) return;
    this.#run.notes.once(this.#connection.messageOf(error));
  }
}

const SEAL = "its seal does not hold: BOOTPROOF_QUEUE_SECRET is another there, or somebody made it up";
const FORM = "it is not what a worker of this version answers";
const FOREIGN = "it is for other entries, or another setting";

function isAmong(n: number, results: readonly AuditResult[]): boolean {
  return n >= results[0]!.n && n <= results.at(-1)!.n;
}

/** In pieces of so many bytes. */
function partsOf(first: number, entries: readonly Uint8Array[]): Part[] {
  const parts: { first: number; entries: Uint8Array[] }[] = [];
  let bytes = Infinity;
  entries.forEach((entry, index) => {
    if (bytes + entry.length > MAX_JOB_BYTES) {
      parts.push({ first: first + index, entries: [] });
      bytes = 0;
    }
    parts.at(-1)!.entries.push(entry);
    bytes += entry.length;
  });
  return parts;
}

/** In pieces of so many entries. */
function piecesOf({ first, entries }: Part, size: number): Part[] {
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) => ({
    first: first + index * size,
    entries: entries.slice(index * size, (index + 1) * size),
  }));
}
