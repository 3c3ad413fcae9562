/** The producer's side of a queue. It keeps each batch until its answer arrives, so the server may lose its data. */
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { readResults } from "./answered.js";
import { ownOptions } from "../decode/input.js";
import { type Batch, type Judge, type JudgedBatch, numberOf, ownBatch } from "./batch.js";
import { UNJUDGED_REASON, joined } from "./judge.js";
import { ContactReport, type Member, joinQueue } from "./node-queue-member.js";
import type { QueueContact, QueueTls } from "./node-queue-url.js";
import { type RedisConnection, isOutage, isPassing } from "./node-redis.js";
import {
  type Answer,
  type DeadLetter,
  addDeadLetter,
  announce,
  difference,
  jobDigest,
  keepBatch,
  keepQueue,
  keepSetting,
  keys,
  prefixName,
  peersOf,
  readAnswer,
  renewJob,
  sha256Hex,
  withdraw,
  writeBatch,
  writeJob,
} from "./node-queue-wire.js";
import { threadJudge } from "./node-threads.js";
import { type Part, partsOf, splitPart } from "./queue-parts.js";
import { QueueRoom } from "./queue-room.js";
import type { AuditResult } from "./result.js";
import { type AuditSetting, ownSetting, settingDigest } from "./setting.js";

/** For both sides, which need the same prefix. */
export interface QueuePlaceOptions {
  /** All keys begin with this name in braces. Default: `bootproof`. At most 100 letters, digits, `_`, `.` and `-`. */
  readonly prefix?: string;
  /** For `rediss://` URLs. Default: the certificate authorities of Node, and no certificate of this client. */
  readonly tls?: QueueTls;
}

export interface QueueJudgeOptions extends QueuePlaceOptions {
  /** Shared with the workers; seals jobs and answers. */
  readonly secret?: string;
  /** Messages for the operator: outages, missing workers, refused answers. */
  readonly onNote?: (text: string) => void;
  /** Called every second. */
  readonly onQueue?: (contact: QueueContact) => void;
  /** Batches in flight; as many wait. Default: 16. */
  readonly concurrency?: number;
  /** Judges here the entries whose jobs failed three times. Default: threads. */
  readonly judgeOf?: (setting: AuditSetting) => Judge | Promise<Judge>;
}

const QUEUE_OPTIONS: Readonly<Record<keyof QueueJudgeOptions, true>> = {
  prefix: true,
  tls: true,
  secret: true,
  onNote: true,
  onQueue: true,
  concurrency: true,
  judgeOf: true,
};
const CONCURRENCY = 16;
const MAX_SAID = 100;
const TICK_MS = 1000;
/** Ticks before the first look at a job. */
const YOUNG = 2;
/** Looks before a missing job is enqueued again: its answer may be on the way. */
const MISSING = 2;
/** Ticks without a worker before a note. */
const PATIENCE = 5;
/** Few, since each part of a failed job may end another worker. */
const PARTS = 16;
const TRIES = 3;
const CLEANUP_MS = 2000;
/** Times that a server may lose the job of a part. */
const LOSSES = 5;

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
  const contact = new ContactReport(member.connection, own.onQueue);
  const judge = new QueueJudge({ ...member, contact, setting, digest, onNote, judgeOf }, concurrency);
  await judge.start();
  return judge;
}

interface Run extends Member {
  readonly contact: ContactReport;
  readonly setting: AuditSetting;
  readonly digest: string;
  readonly onNote: (text: string) => void;
  readonly judgeOf: (setting: AuditSetting) => Judge | Promise<Judge>;
}

interface Task extends Part {
  /** Of its newest job. An answer to an earlier one counts, too. */
  id: string;
  digest: string;
  readonly settle: (outcome: Outcome) => void;
  /** Not acknowledged by the server yet. */
  isOnItsWay: boolean;
  isStored: boolean;
  /** No worker had taken it at the last look. */
  isWaiting: boolean;
  hasRoom: boolean;
  /** Since it was put there. */
  ticks: number;
  missing: number;
  losses: number;
}

type JudgedPart = Omit<JudgedBatch, "index">;

/** `failed`, according to the server or a sealed answer; `lost`, by the server, again and again. */
type Outcome = JudgedPart | "failed" | "lost";

class QueueJudge implements Judge {
  readonly concurrency: number;
  readonly #connection: RedisConnection;
  readonly #run: Run;
  readonly #queue: Queue;
  readonly #reader: Redis;
  readonly #tasks = new Map<string, Task>();
  readonly #room: QueueRoom;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | null = null;
  #pressure: "loses" | "refuses" | null = null;
  #lonelyTicks = 0;
  #attempts = 0;
  #own: Promise<Judge> | null = null;

  constructor(run: Run, concurrency: number) {
    const { connection } = run;
    this.concurrency = concurrency;
    this.#connection = connection;
    this.#run = run;
    this.#room = new QueueRoom(2 * concurrency);
    this.#reader = connection.open();
    this.#queue = new connection.bullmq.Queue(run.peer.queue, {
      connection: connection.client,
      prefix: run.place.prefix,
      skipVersionCheck: true,
      // `keepQueue` does that, with a lifetime.
      skipMetasUpdate: true,
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
    const { peer, place } = this.#run;
    const jobs = [...this.#tasks.keys()];
    const own = [keys.setting(place, peer.id), keys.answers(place, peer.id)];
    await Promise.allSettled([
      withdraw(place, "producers", peer.id),
      place.client.unlink(...own, ...jobs.map((job) => keys.batch(place, job))),
      ...jobs.map((job) => this.#queue.remove(job)),
    ]);
  }

  /** Cuts a failed job into parts. A failure is unsealed, so it only decides who judges the entries next. */
  async #judgePart(part: Part, failures = 0): Promise<JudgedPart> {
    if (failures === TRIES) return this.#judgeHere(part, FAILED);
    const outcome = await this.#ask(part);
    if (outcome === "lost") return this.#judgeHere(part, LOST);
    if (outcome !== "failed") return outcome;
    const pieces = splitPart(part, Math.ceil(part.entries.length / PARTS));
    return joined(await Promise.all(pieces.map((piece) => this.#judgePart(piece, failures + 1))));
  }

  /** In a thread, so that an entry cannot end the audit. */
  async #judgeHere(part: Part, why: string): Promise<JudgedPart> {
    this.#run.notes.once(why);
    this.#own ??= Promise.resolve(this.#run.judgeOf(this.#run.setting));
    const judge = await this.#own;
    const { results, slowest } = await judge.judge({ index: 0, ...part });
    for (const [at, { n, reason }] of results.entries())
      if (reason === UNJUDGED_REASON) await this.#tellOfPoison(numberOf(part, n), part.entries[at]!);
    return { results, ...(slowest && { slowest }) };
  }

  /** The list is for people. Its loss changes no result. */
  async #tellOfPoison(n: number, entry: Uint8Array): Promise<void> {
    const { peer, place, onNote } = this.#run;
    const letter: DeadLetter = { run: peer.id, n, sha256: sha256Hex(entry), reason: UNJUDGED_REASON };
    onNote(`entry ${n} (SHA-256 ${letter.sha256}): ${UNJUDGED_REASON}; it is in the list ${keys.deadLetters(place)}`);
    await addDeadLetter(place, letter).catch((error: unknown) => this.#sayError(error));
  }

  async #ask(part: Part): Promise<Outcome> {
    if (!(await this.#room.enter())) return "lost";
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome): void => {
        for (const [id, each] of this.#tasks) if (each === task) this.#tasks.delete(id);
        if (task.hasRoom) this.#room.leave();
        task.hasRoom = false;
        resolve(outcome);
      };
      const task: Task = {
        ...part,
        ...{ id: "", digest: "", settle, ticks: 0, missing: 0, losses: 0 },
        ...{ hasRoom: true, isOnItsWay: false, isStored: false, isWaiting: false },
      };
      // If it was not stored, `#lookFor` finds it missing.
      this.#enqueue(task).catch((error: unknown) => {
        if (!this.#connection.isClosed && isPassing(error)) this.#sayError(error);
        else reject(error);
      });
    });
  }

  /** Each time under a new id: BullMQ drops an id while a trace of its job is left. */
  async #enqueue(task: Task): Promise<void> {
    const { peer, place, digest: setting, seal } = this.#run;
    const batch = writeBatch(task);
    task.digest ||= jobDigest(setting, batch);
    task.id = `${peer.id}-${task.first}-${task.entries.length}-${this.#attempts++}`;
    this.#tasks.set(task.id, task);
    Object.assign(task, { isOnItsWay: true, isStored: false, ticks: 0 });
    try {
      await Promise.all([
        keepBatch(place, task.id, batch),
        this.#queue.add("batch", writeJob(task.id, { run: peer.id, setting, digest: task.digest }, seal), {
          jobId: task.id,
          removeOnComplete: true,
          removeOnFail: { age: 3600, count: 1000 },
        }),
      ]);
      Object.assign(task, { isStored: true, missing: 0 });
    } finally {
      task.isOnItsWay = false;
    }
  }

  /** Removes answers before it reads on, so that it skips none. */
  async #read(): Promise<void> {
    const stream = keys.answers(this.#run.place, this.#run.peer.id);
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
    if (answer.results === null) return task.settle("failed");
    this.#settle(task, answer);
  }

  #settle(task: Task, { results: written, slowest }: Answer): void {
    const results = readResults(written, task.first, task.entries.length);
    if (results === null) return this.#refuse(FORM);
    this.#lonelyTicks = 0;
    this.#room.grow();
    // The worker's threads ended. This process must find out whether the entry is the cause.
    if (results.some(({ reason }) => reason === UNJUDGED_REASON)) return task.settle("failed");
    task.settle({ results, ...(slowest && isAmong(slowest.n, results) && { slowest }) });
  }

  #refuse(why: string): void {
    this.#run.notes.once(`an answer is refused: ${why}`);
  }

  /** Announces this producer, and looks for missing jobs. One at a time. */
  async #tick(): Promise<void> {
    this.#run.contact.tell();
    if (this.#ticking !== null) return;
    this.#ticking = this.#look();
    await this.#ticking;
    this.#ticking = null;
  }

  async #look(): Promise<void> {
    try {
      // A full server refuses it.
      await this.#announce().catch((error: unknown) => this.#sayError(error));
      await this.#run.contact.count(this.#queue.toKey("wait"));
      for (const task of new Set(this.#tasks.values())) await this.#lookFor(task);
      await this.#relieve();
      if (this.#tasks.size > 0) await this.#lookForWorkers();
    } catch (error) {
      this.#sayError(error);
    }
  }

  async #announce(): Promise<void> {
    const { peer, place, setting } = this.#run;
    const { now, at, allowDebug, acceptance, bootProofs, provenance } = setting;
    const told = JSON.stringify({ now, at, allowDebug, acceptance, bootProofs, provenance });
    // Workers have their own policy and anchors, with the same digest.
    await keepSetting(place, peer.id, told);
    await keepQueue(place.client, (name) => this.#queue.toKey(name));
    await announce(place, "producers", peer);
  }

  async #lookFor(task: Task): Promise<void> {
    // Most have an answer before, and each look is a command.
    if (task.isOnItsWay || ++task.ticks < YOUNG) return;
    // A job whose data the server lost, as one that evicts does, stays in the list of what is in progress.
    const isThere = await renewJob(this.#run.place, task.id, this.#queue.toKey(task.id));
    const state = isThere ? await this.#queue.getJobState(task.id) : "unknown";
    if (!this.#tasks.has(task.id)) return;
    task.isWaiting = state === "waiting";
    if (state === "failed") {
      await this.#queue.remove(task.id);
      task.settle("failed");
    } else if (state === "unknown" || state === "completed") {
      if (++task.missing >= MISSING) await this.#putAgain(task);
    } else task.missing = 0;
  }

  async #putAgain(task: Task): Promise<void> {
    const { evicts, notes } = this.#run;
    // A server that only refuses data is waited for.
    this.#pressure = task.isStored || evicts ? "loses" : (this.#pressure ?? "refuses");
    if (task.isStored) notes.once("the server lost jobs: they are put there again");
    if ((task.isStored || evicts) && ++task.losses === LOSSES) return task.settle("lost");
    await this.#withdraw(task);
  }

  /** Frees the memory of a job: a worker drops one without a batch. It is put there again when there is room. */
  async #withdraw(task: Task): Promise<void> {
    Object.assign(task, { isOnItsWay: true, isWaiting: false, hasRoom: false });
    this.#room.leave();
    // Others are looked for meanwhile.
    void this.#room.enter().then((hasRoom) => this.#putBack(task, hasRoom));
    await this.#run.place.client.unlink(keys.batch(this.#run.place, task.id));
  }

  /** Once for all that were lost or refused together: a full server gets fewer at once, or nothing could be taken. */
  async #relieve(): Promise<void> {
    if (this.#pressure === null) return;
    this.#room.shrink(this.#pressure === "loses");
    const waiting = [...new Set(this.#tasks.values())].filter((task) => task.isWaiting && task.hasRoom);
    for (const task of waiting.reverse().slice(0, this.#room.excess)) await this.#withdraw(task);
    this.#pressure = null;
  }

  async #putBack(task: Task, hasRoom: boolean): Promise<void> {
    task.hasRoom = hasRoom;
    // A late answer may have settled it.
    if (!hasRoom || !this.#tasks.has(task.id)) return task.settle("lost");
    await this.#enqueue(task).catch((error: unknown) => this.#sayError(error));
  }

  async #lookForWorkers(): Promise<void> {
    const { peer, place } = this.#run;
    const workers = await peersOf(this.#run.place, "workers");
    if (workers.some(({ queue }) => queue === peer.queue)) this.#lonelyTicks = 0;
    else if (++this.#lonelyTicks === PATIENCE) {
      const others = [...new Set(workers.map((worker) => difference(peer, worker)))].slice(0, PATIENCE);
      const found = others.map((why) => `; a running worker ${why}`).join("");
      const name = `${prefixName(place)} (--queue-prefix)`;
      this.#run.notes.tell(`waiting for a worker: none accepts these jobs under the prefix ${name}${found}`);
    }
  }

  #sayError(error: unknown): void {
    if (this.#connection.isClosed || isOutage(error)) return;
    this.#run.notes.once(this.#connection.messageOf(error));
  }
}

const FAILED =
  `${TRIES} jobs of an entry failed in a row: such entries are judged here. The entry ends workers, or another ` +
  `program writes to the server`;
const LOST = "the server loses jobs again and again: their entries are judged here. It needs more memory";
const SEAL = "its seal is invalid: it was forged, or made with another BOOTPROOF_QUEUE_SECRET";
const FORM = "its form is not that of this version";
const FOREIGN = "it is for other entries or another setting";

function isAmong(n: number, results: readonly AuditResult[]): boolean {
  return n >= results[0]!.n && n <= results.at(-1)!.n;
}
