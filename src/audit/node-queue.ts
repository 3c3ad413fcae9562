/**
 * The producer's side of a queue. It keeps each batch until its answer arrives, so no batch is lost if the server loses
 * its data.
 */
import type { Queue, QueueEvents } from "bullmq";
import { otherMembers } from "../decode/input.js";
import { typedOptions } from "../decode/options.js";
import { type MembersOf, optional, wholeNumber } from "../decode/shapes.js";
import { type Batch, type Judge, type JudgedBatch, numberOf, ownBatch } from "./batch.js";
import { UNJUDGED_REASON, joined } from "./judge.js";
import { type QueueMember, TICK_MS, joinQueue, settledWithin } from "./node-queue-member.js";
import {
  DAY_SECONDS,
  type Job,
  type JudgedPart,
  type Part,
  type Peer,
  difference,
  jobId,
  partsOf,
  readAnswer,
  sha256Hex,
  splitPart,
  writeJob,
} from "./node-queue-wire.js";
import { isPassing } from "./node-redis.js";
import { threadJudge } from "./node-threads.js";
import { PLACE_OPTIONS, QueueError, type QueuePlaceOptions } from "./queue-options.js";
import { QueueRoom } from "./queue-room.js";
import { type AuditSetting, ownSetting, settingDigest } from "./setting.js";

export interface QueueJudgeOptions extends QueuePlaceOptions {
  /** Number of batches that are judged at once. The same number waits in the queue. Default: 16. */
  readonly concurrency?: number;
}

const OPTIONS: MembersOf<QueueJudgeOptions> = { ...PLACE_OPTIONS, concurrency: optional(wholeNumber(1)) };
const CONCURRENCY = 16;
/** Maximum bytes of jobs that one producer has at a server. */
const MAX_BYTES = 64 * 1024 * 1024;
/**
 * Number of ticks, of a second each, between two looks at every job. BullMQ's events usually wake the producer earlier.
 */
const LOOK_TICKS = 3;
/** Number of ticks, of a second each, without a worker before a note is reported. */
const PATIENCE = 5;
/** Number of parts into which a failed job is split. It is small, because each part may crash another worker. */
const PARTS = 16;
const TRIES = 3;
const LOSSES = 3;
const CLEANUP_MS = 2000;
/** Lifetime of the setting at the server. Workers drop the jobs of a run whose setting has expired. */
const SETTING_SECONDS = 10;
/** Maximum length of the stream that wakes producers. */
const MAX_EVENTS = 1000;
const MAX_DEAD_LETTERS = 1000;
/**
 * The producer removes each job after it has read the answer. The counts limit the jobs that killed producers leave.
 */
const JOB_OPTIONS = { attempts: 2, removeOnComplete: { count: 10_000 }, removeOnFail: { count: 10_000 } };

/**
 * Makes a judge that sends its batches to the queue's workers ({@link runWorker}). Throws {@link QueueError} if the
 * server cannot be reached within ten seconds or may drop jobs (`maxmemory-policy`), or if its packages are missing.
 * Later outages do not end the judge.
 */
export async function queueJudge(url: string, given: AuditSetting, options: QueueJudgeOptions = {}): Promise<Judge> {
  const own = typedOptions("options", options, OPTIONS);
  const setting = ownSetting(given);
  const digest = await settingDigest(setting);
  const member = await joinQueue(url, setting, own);
  const judge = new QueueJudge(member, { setting, digest }, own);
  await member.connection.first(judge.start());
  return judge;
}

interface Task {
  readonly id: string;
  readonly job: Job;
  readonly bytes: number;
  readonly outcome: Promise<Outcome>;
  readonly settle: (outcome: Outcome | Promise<never>) => void;
  /** Whether the server acknowledged the job. It is false again after the job was removed. */
  isAdded: boolean;
  losses: number;
  /**
   * The last operation on the job. Looks and removals run one after the other, because a look must not end a job that
   * was added meanwhile.
   */
  turn: Promise<void>;
}

/**
 * `failed` means that the workers failed to judge the part. Failures have no seal and may be forged, so they only
 * decide who judges the entries next.
 */
type Outcome = JudgedPart | "failed";

class QueueJudge implements Judge {
  readonly concurrency: number;
  readonly #member: QueueMember;
  readonly #setting: AuditSetting;
  readonly #digest: string;
  readonly #judgeOf: (setting: AuditSetting) => Judge | Promise<Judge>;
  readonly #queue: Queue;
  readonly #events: QueueEvents;
  readonly #tasks = new Map<string, Task>();
  readonly #room = new QueueRoom(MAX_BYTES);
  #stop = (): Promise<void> => Promise.resolve();
  #ticks = 0;
  #lonelyTicks = 0;
  #own: Promise<Judge> | null = null;

  constructor(
    member: QueueMember,
    { setting, digest }: { readonly setting: AuditSetting; readonly digest: string },
    { concurrency = CONCURRENCY, judgeOf = threadJudge }: QueueJudgeOptions,
  ) {
    this.concurrency = concurrency;
    this.#member = member;
    this.#setting = setting;
    this.#digest = digest;
    this.#judgeOf = judgeOf;
    const { bullmq, client } = member.connection;
    const options = { connection: client, prefix: member.prefix, skipVersionCheck: true, skipMetasUpdate: true };
    this.#queue = new bullmq.Queue(member.peer.queue, options);
    // The stream is read from its oldest event, because events may arrive before it is open.
    this.#events = new bullmq.QueueEvents(member.peer.queue, { ...options, lastEventId: "0" });
    const sayError = (error: Error): void => member.sayError(error);
    const wake = ({ jobId: id }: { readonly jobId: string }): void => {
      const task = this.#tasks.get(id);
      if (task !== undefined) void this.#inTurn(task, () => this.#look(task));
    };
    this.#queue.on("error", sayError);
    this.#events.on("error", sayError).on("completed", wake).on("failed", wake);
  }

  async start(): Promise<void> {
    await this.#announce();
    await this.#member.connection.client.eval(TRIM_EVENTS, 1, this.#member.queueKey("meta"));
    this.#stop = this.#member.everySecond(() => this.#tick());
  }

  async judge(batch: Batch): Promise<JudgedBatch> {
    const { index, ...entries } = ownBatch(batch);
    const parts = await Promise.all(partsOf(entries).map((part) => this.#judgePart(part)));
    return { index, ...joined(parts) };
  }

  async close(): Promise<void> {
    if (this.#member.connection.isClosed) return;
    await settledWithin(CLEANUP_MS, this.#leave());
    this.#member.connection.close();
    await Promise.allSettled([this.#queue.close(), this.#events.close()]);
    await this.#own?.then((judge) => judge.close()).catch(() => {});
  }

  async #leave(): Promise<void> {
    // This waits for a running tick, which could otherwise announce this producer again.
    await this.#stop();
    const { connection, peer } = this.#member;
    await Promise.allSettled([
      this.#member.leave("producers"),
      connection.client.unlink(this.#member.key("setting", peer.id), this.#answersKey),
      ...[...this.#tasks.keys()].map((id) => this.#queue.remove(id)),
    ]);
  }

  get #answersKey(): string {
    return this.#member.key("answers", this.#member.peer.id);
  }

  /** Judges a part. A failed job is split into parts. After three failed jobs, an entry is judged in this process. */
  async #judgePart(part: Part, failures = 0): Promise<JudgedPart> {
    if (failures === TRIES) return this.#judgeHere(part);
    const outcome = await this.#ask(part);
    if (outcome !== "failed") return outcome;
    const parts = splitPart(part, Math.ceil(part.entries.length / PARTS));
    return joined(await Promise.all(parts.map((each) => this.#judgePart(each, failures + 1))));
  }

  /** Judges in a thread of this process, where an entry cannot end the audit. */
  async #judgeHere(part: Part): Promise<JudgedPart> {
    this.#member.once(FAILED);
    this.#own ??= Promise.resolve(this.#judgeOf(this.#setting));
    const judge = await this.#own;
    const { results, slowest } = await judge.judge({ index: 0, ...part });
    for (const [at, { n, reason }] of results.entries())
      if (reason === UNJUDGED_REASON) await this.#tellOfPoison(numberOf(part, n), part.entries[at]!);
    return { results, ...(slowest && { slowest }) };
  }

  /** Adds an entry that could not be judged to a list for the operator. If the list is lost, no result changes. */
  async #tellOfPoison(n: number, entry: Uint8Array): Promise<void> {
    const { connection, peer } = this.#member;
    const list = this.#member.key("dead-letters");
    const sha256 = sha256Hex(entry);
    this.#member.tell(`entry ${n} (SHA-256 ${sha256}): ${UNJUDGED_REASON}; it is in the list ${list}`);
    const letter = JSON.stringify({ run: peer.id, n, sha256, reason: UNJUDGED_REASON });
    await connection.client.eval(DEAD_LETTER, 1, list, letter).catch((error: unknown) => this.#member.sayError(error));
  }

  /** Returns the outcome of a part. Parts with the same entries and numbers are one job, which is added once. */
  #ask(part: Part): Promise<Outcome> {
    const job = { run: this.#member.peer.id, setting: this.#digest, ...part };
    const id = jobId(job);
    const known = this.#tasks.get(id);
    if (known !== undefined) return known.outcome;
    let settle: Task["settle"] = () => {};
    const outcome = new Promise<Outcome>((resolve) => (settle = resolve));
    const task: Task = {
      id,
      job,
      bytes: bytesOf(part),
      outcome,
      settle,
      isAdded: false,
      losses: 0,
      turn: Promise.resolve(),
    };
    this.#tasks.set(id, task);
    void this.#add(task);
    return outcome;
  }

  #settle(task: Task, outcome: Outcome | Promise<never>): void {
    this.#tasks.delete(task.id);
    task.settle(outcome);
  }

  /** Adds a job when there is room, and tries again while the server refuses it. Adding a job twice has no effect. */
  async #add(task: Task): Promise<void> {
    while (!task.isAdded && !this.#member.connection.isClosed) {
      await this.#room.enter(task.bytes);
      try {
        const data = writeJob(task.id, task.job, this.#member.seal);
        await this.#queue.add("batch", data, { jobId: task.id, ...JOB_OPTIONS });
        task.isAdded = true;
      } catch (error) {
        this.#room.leave(task.bytes);
        if (!isPassing(error)) return this.#settle(task, Promise.reject(error as Error));
        this.#member.sayError(error);
        this.#room.shrink();
        await new Promise((resolve) => setTimeout(resolve, TICK_MS).unref());
      }
    }
  }

  /** Removes a job. Returns false if a worker has locked it. */
  async #remove(task: Task): Promise<boolean> {
    if ((await this.#queue.remove(task.id)) === 0 || !task.isAdded) return false;
    task.isAdded = false;
    this.#room.leave(task.bytes);
    return true;
  }

  #inTurn(task: Task, work: () => Promise<unknown>): Promise<void> {
    const sayError = (error: unknown): void => this.#member.sayError(error);
    return (task.turn = task.turn.then(work).then(() => {}, sayError));
  }

  /**
   * Looks for the answer of a job. The answer is read after the job's state: it is written before the job completes, so
   * a completed job has one.
   */
  async #look(task: Task): Promise<void> {
    if (!task.isAdded) return;
    const { client } = this.#member.connection;
    const isThere = (await client.expire(this.#member.queueKey(task.id), DAY_SECONDS)) === 1;
    const state = isThere ? await this.#queue.getJobState(task.id) : "unknown";
    const written = await client.hget(this.#answersKey, task.id);
    const outcome = written === null ? null : this.#outcomeOf(task, written);
    const hasEnded = outcome !== null || /^(?:completed|failed|unknown)$/.test(state);
    if (!hasEnded || !(await this.#remove(task))) return;
    await client.hdel(this.#answersKey, task.id).catch((error: unknown) => this.#member.sayError(error));
    if (outcome !== null || state !== "unknown") return this.#settle(task, outcome ?? "failed");
    if (++task.losses === LOSSES) return this.#settle(task, Promise.reject(lostError(this.#member.connection.shown)));
    this.#member.once("the server lost jobs: they are added again");
    void this.#add(task);
  }

  /** Returns the outcome in an answer. Null, with a note, if the answer is refused. */
  #outcomeOf(task: Task, written: string): Outcome | null {
    const answer = readAnswer(task.id, task.job, written, this.#member.seal);
    if (typeof answer === "string") {
      this.#member.once(`an answer is refused: ${answer}`);
      return null;
    }
    this.#lonelyTicks = 0;
    this.#room.grow(task.bytes);
    // An unjudged entry means that the worker's threads ended. This process must find out whether the entry is the
    // cause.
    return answer.results.some(({ reason }) => reason === UNJUDGED_REASON) ? "failed" : answer;
  }

  async #tick(): Promise<void> {
    const tasks = [...this.#tasks.values()];
    // The newest jobs are taken back first.
    for (const task of tasks.toReversed()) await this.#inTurn(task, () => this.#takeBack(task));
    if (++this.#ticks % LOOK_TICKS === 0)
      await Promise.all(tasks.map((task) => this.#inTurn(task, () => this.#look(task))));
    // A full server may refuse the announcement, so it comes last.
    const workers = await this.#announce();
    if (tasks.length > 0) this.#tellOfWorkers(workers);
  }

  /**
   * Announces this producer and its setting, without policy and trust anchors, which workers have already. Returns the
   * running workers.
   */
  async #announce(): Promise<Peer[]> {
    const { connection, peer } = this.#member;
    const key = this.#member.key("setting", peer.id);
    const told = JSON.stringify(otherMembers(this.#setting, "policy", "trustAnchors"));
    if ((await connection.client.expire(key, SETTING_SECONDS)) === 0)
      await connection.client.set(key, told, "EX", SETTING_SECONDS);
    return this.#member.meet("producers", "workers");
  }

  /**
   * Takes a waiting job back if the jobs at the server exceed the limit. They may fill the memory that workers need.
   */
  async #takeBack(task: Task): Promise<void> {
    if (task.isAdded && this.#room.isOver(task.bytes) && (await this.#remove(task))) void this.#add(task);
  }

  #tellOfWorkers(workers: readonly Peer[]): void {
    const { peer, prefix } = this.#member;
    if (workers.some(({ queue }) => queue === peer.queue)) this.#lonelyTicks = 0;
    else if (++this.#lonelyTicks === PATIENCE) {
      const others = [...new Set(workers.map((worker) => difference(peer, worker)))].slice(0, PATIENCE);
      const found = others.map((why) => `; a running worker ${why}`).join("");
      const name = `${prefix.slice(1, -1)} (--queue-prefix)`;
      this.#member.tell(`waiting for a worker: none accepts these jobs under the prefix ${name}${found}`);
    }
  }
}

/** Returns the size of a job at the server, where entries are base64. */
function bytesOf({ entries, expected = [] }: Part): number {
  const encoded = entries.reduce((sum, { length }) => sum + Math.ceil(length / 3) * 4, 0);
  return expected.reduce((sum, each) => sum + (each?.length ?? 0), encoded);
}

function lostError(shown: string): QueueError {
  const advice = "give it more memory, set its maxmemory-policy to noeviction, and start the audit again";
  return new QueueError("lost", `${shown}: the server lost a job ${LOSSES} times: ${advice}`);
}

const FAILED =
  `${TRIES} jobs of an entry failed in a row: such entries are judged here. The entry ends workers, or another ` +
  "program writes to the server";

const DEAD_LETTER = `
redis.call('LPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], 0, ${MAX_DEAD_LETTERS - 1})
redis.call('EXPIRE', KEYS[1], ${DAY_SECONDS})`;

const TRIM_EVENTS = `
redis.call('HSET', KEYS[1], 'opts.maxLenEvents', ${MAX_EVENTS})
redis.call('EXPIRE', KEYS[1], ${DAY_SECONDS})`;
