/** The producer's side of a queue. It keeps each batch until its answer arrives, so the server may lose its data. */
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
import { type Part, partsOf, splitPart } from "./queue-parts.js";
import type { AuditResult } from "./result.js";
import { type AuditSetting, ownSetting, settingDigest } from "./setting.js";

export interface QueueJudgeOptions {
  /** Shared with the workers; seals jobs and answers. */
  readonly secret?: string;
  /** Messages for the operator: outages, missing workers, refused answers. */
  readonly onNote?: (text: string) => void;
  /** Batches in flight; as many wait. Default: 16. */
  readonly concurrency?: number;
  /** Judges here the entries whose jobs failed three times. Default: threads. */
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
const TICK_MS = 1000;
/** Looks before a missing job is enqueued again: its answer may be on the way. */
const MISSING = 2;
/** Ticks without a worker before a note. */
const PATIENCE = 5;
/** Few, since each part of a failed job may end another worker. */
const PARTS = 16;
const TRIES = 3;
const CLEANUP_MS = 2000;
const KEPT_EVENTS = 100;

/**
 * A judge that sends its batches to the queue's workers ({@link runWorker}). Throws {@link QueueError} if the server
 * cannot be reached within ten seconds or its packages are missing. Later outages do not end it.
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

interface Task extends Part {
  /** Of its newest job. An answer to an earlier one counts, too. */
  id: string;
  readonly digest: string;
  readonly settle: (judged: JudgedPart | null) => void;
  /** Not acknowledged by the server yet. */
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
  #ticking: Promise<void> | null = null;
  #lonelyTicks = 0;
  #attempts = 0;
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
    const { index, ...entries } = ownBatch(batch);
    const parts = await Promise.all(partsOf(entries).map((part) => this.#judgePart(part)));
    return { index, ...joined(parts) };
  }

  async close(): Promise<void> {
    if (this.#connection.isClosed) return;
    clearInterval(this.#timer);
    const timeout = new Promise((resolve) => setTimeout(resolve, CLEANUP_MS).unref());
    await Promise.race([this.#leave(), timeout]);
    this.#connection.close();
    await this.#queue.close().catch(() => {});
    await this.#own?.then((judge) => judge.close()).catch(() => {});
  }

  /** A pending tick would announce this producer again. */
  async #leave(): Promise<void> {
    await this.#ticking;
    const { client } = this.#connection;
    const { id } = this.#run.peer;
    await Promise.allSettled([
      withdraw(client, "producers", id),
      client.del(keys.setting(id), keys.answers(id)),
      ...[...this.#tasks.keys()].map((task) => this.#queue.remove(task)),
    ]);
  }

  /** Cuts a failed job into parts. A failure is unsealed, so it only decides who judges the entries next. */
  async #judgePart(part: Part, failures = 0): Promise<JudgedPart> {
    if (failures === TRIES) return this.#judgeHere(part);
    const judged = await this.#ask(part);
    if (judged !== null) return judged;
    const pieces = splitPart(part, Math.ceil(part.entries.length / PARTS));
    return joined(await Promise.all(pieces.map((piece) => this.#judgePart(piece, failures + 1))));
  }

  /** In a thread, so that an entry cannot end the audit. */
  async #judgeHere(part: Part): Promise<JudgedPart> {
    this.#run.notes.once(
      `${TRIES} jobs of an entry failed in a row: such entries are judged here. The entry ends workers, or another ` +
        `program writes to the server`,
    );
    this.#own ??= Promise.resolve(this.#run.judgeOf(this.#run.setting));
    const judge = await this.#own;
    const { results, slowest } = await judge.judge({ index: 0, ...part });
    for (const [at, { n, reason }] of results.entries())
      if (reason === UNJUDGED_REASON) await this.#tellOfPoison(n, part.entries[at]!);
    return { results, ...(slowest && { slowest }) };
  }

  /** The list is for people. Its loss changes no result. */
  async #tellOfPoison(n: number, entry: Uint8Array): Promise<void> {
    const { peer, onNote } = this.#run;
    const letter: DeadLetter = { run: peer.id, n, sha256: sha256Hex(entry), reason: UNJUDGED_REASON };
    onNote(`entry ${n} (SHA-256 ${letter.sha256}): ${UNJUDGED_REASON}; it is in the list ${keys.deadLetters}`);
    await addDeadLetter(this.#connection.client, letter).catch((error: unknown) => this.#sayError(error));
  }

  /** Null if the job failed, according to the server or a sealed answer. */
  async #ask(part: Part): Promise<JudgedPart | null> {
    const digest = jobDigest(this.#run.digest, part);
    return new Promise((resolve, reject) => {
      const settle = (judged: JudgedPart | null): void => {
        for (const [id, each] of this.#tasks) if (each === task) this.#tasks.delete(id);
        resolve(judged);
      };
      const task: Task = { ...part, id: "", digest, settle, isOnItsWay: false, missing: 0 };
      // If it was not stored, `#lookFor` finds it missing.
      this.#enqueue(task).catch((error: unknown) => {
        if (!this.#connection.isClosed && isPassing(error)) this.#sayError(error);
        else reject(error);
      });
    });
  }

  /** Each time under a new id: BullMQ drops an id while a trace of its job is left. */
  async #enqueue(task: Task): Promise<void> {
    const { peer, digest: setting, seal } = this.#run;
    task.id = `${peer.id}-${task.first}-${task.entries.length}-${this.#attempts++}`;
    this.#tasks.set(task.id, task);
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

  /** Removes answers before it reads on, so that it skips none. */
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
    // Another worker has answered the job.
    if (task === undefined) return;
    if (answer.run !== this.#run.peer.id || answer.digest !== task.digest) return this.#refuse(FOREIGN);
    if (answer.results === null) return task.settle(null);
    this.#settle(task, answer);
  }

  #settle(task: Task, { results: written, slowest }: Answer): void {
    const results = readResults(written, task.first, task.entries.length);
    if (results === null) return this.#refuse(FORM);
    this.#lonelyTicks = 0;
    // The worker's threads ended. This process must find out whether the entry is the cause.
    if (results.some(({ reason }) => reason === UNJUDGED_REASON)) return task.settle(null);
    task.settle({ results, ...(slowest && isAmong(slowest.n, results) && { slowest }) });
  }

  #refuse(why: string): void {
    this.#run.notes.once(`an answer is refused: ${why}`);
  }

  /** Announces this producer, and looks for missing jobs. One at a time. */
  async #tick(): Promise<void> {
    if (this.#ticking !== null) return;
    this.#ticking = this.#look();
    await this.#ticking;
    this.#ticking = null;
  }

  async #look(): Promise<void> {
    try {
      await this.#announce();
      for (const task of new Set(this.#tasks.values())) await this.#lookFor(task);
      if (this.#tasks.size > 0) await this.#lookForWorkers();
    } catch (error) {
      this.#sayError(error);
    }
  }

  async #announce(): Promise<void> {
    const { peer, setting } = this.#run;
    const { now, at, allowDebug, acceptance, bootProofs, provenance } = setting;
    const told = JSON.stringify({ now, at, allowDebug, acceptance, bootProofs, provenance });
    // Workers have their own policy and anchors, with the same digest.
    await keepSetting(this.#connection.client, peer.id, told);
    await announce(this.#connection.client, "producers", peer);
  }

  async #lookFor(task: Task): Promise<void> {
    if (task.isOnItsWay) return;
    // A job whose data the server lost, as one that evicts does, stays in the list of what is in progress.
    const isThere = await this.#connection.client.exists(this.#queue.toKey(task.id));
    const state = isThere === 1 ? await this.#queue.getJobState(task.id) : "unknown";
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
      const found = others.map((why) => `; a running worker ${why}`).join("");
      this.#run.notes.tell(`waiting for a worker: none accepts these jobs${found}`);
    }
  }

  #sayError(error: unknown): void {
    if (this.#connection.isClosed || isOutage(error)) return;
    this.#run.notes.once(this.#connection.messageOf(error));
  }
}

const SEAL = "its seal is invalid: it was forged, or made with another BOOTPROOF_QUEUE_SECRET";
const FORM = "its form is not that of this version";
const FOREIGN = "it is for other entries or another setting";

function isAmong(n: number, results: readonly AuditResult[]): boolean {
  return n >= results[0]!.n && n <= results.at(-1)!.n;
}
