/** The worker's side of a queue: judges batches that match its own policy. */
import type { Job as QueuedJob, Worker } from "bullmq";
import { callable, having, typedOptions } from "../decode/options.js";
import { type MembersOf, optional, wholeNumber } from "../decode/shapes.js";
import { isAccepted } from "../report/accepted.js";
import { printable } from "../report/printable.js";
import type { Judge } from "./batch.js";
import { UNJUDGED_REASON } from "./judge.js";
import { nodeAuditor } from "./node-auditor.js";
import { defaultThreads } from "./node-cores.js";
import { type QueueMember, joinQueue, settledWithin } from "./node-queue-member.js";
import { type Job, type JudgedPart, difference, readJob, readSetting, writeAnswer } from "./node-queue-wire.js";
import { threadJudge } from "./node-threads.js";
import { PLACE_OPTIONS, QueueError, type QueuePlaceOptions } from "./queue-options.js";
import type { AuditResult } from "./result.js";
import type { AuditSignal } from "./run.js";
import { type AuditSetting, type Held, ownHeld, settingDigest } from "./setting.js";

export interface RunWorkerOptions extends QueuePlaceOptions {
  /** Number of threads. Default: the cores that this process and its container may use, at most 16. */
  readonly workers?: number;
  /** Called after each batch that was judged here. */
  readonly onProgress?: (progress: WorkerProgress) => void;
  /** When aborted, the worker finishes its batches and ends. */
  readonly signal?: AuditSignal;
  /** Milliseconds of silence after which another worker gets the batches of this one. Default: 5,000. */
  readonly lockMs?: number;
}

/** Counts of this worker so far. */
export interface WorkerProgress extends WorkerSummary {
  /** The number of entries that were not accepted. */
  readonly refused: number;
  /** The newest time in a verified document, in RFC 3339. Null without one. */
  readonly newest: string | null;
}

export interface WorkerSummary {
  readonly batches: number;
  readonly entries: number;
}

const WORKER_OPTIONS: MembersOf<RunWorkerOptions> = {
  ...PLACE_OPTIONS,
  workers: optional(wholeNumber(1)),
  onProgress: optional(callable),
  signal: optional(having()),
  lockMs: optional(wholeNumber(1)),
};
const LOCK_MS = 5000;
const FINISH_MS = 20_000;
const CLOSE_MS = 1000;
/** Milliseconds after which an unused judge is closed. */
const IDLE_MS = 30_000;
const ANSWER_SECONDS = 600;

/**
 * Judges batches of producers with the same policy, trust anchors, package version and secret. Ignores other producers,
 * with a note. Resolves after the signal was aborted. Rejects with {@link QueueError} if the server cannot be reached
 * within ten seconds or may drop jobs (`maxmemory-policy`), if its packages are missing, or if a judge rejects.
 */
export async function runWorker(url: string, given: Held, givenOptions: RunWorkerOptions = {}): Promise<WorkerSummary> {
  const held = ownHeld(given);
  const options = typedOptions("options", givenOptions, WORKER_OPTIONS);
  const member = await joinQueue(url, held, options);
  return new QueueWorker(member, held, options).run();
}

interface Seat {
  readonly judge: Promise<Judge>;
  active: number;
  usedAt: number;
}

class QueueWorker {
  readonly #member: QueueMember;
  readonly #held: Held;
  readonly #options: RunWorkerOptions;
  readonly #threads: number;
  readonly #seats = new Map<string, Seat>();
  #progress: WorkerProgress = { batches: 0, entries: 0, refused: 0, newest: null };
  #end: (error?: unknown) => void = () => {};

  constructor(member: QueueMember, held: Held, options: RunWorkerOptions) {
    this.#member = member;
    this.#held = held;
    this.#options = options;
    this.#threads = options.workers ?? defaultThreads();
  }

  async run(): Promise<WorkerSummary> {
    const { connection, peer, prefix } = this.#member;
    const { signal } = this.#options;
    const ended = new Promise<unknown>((resolve) => {
      this.#end = resolve;
      if (signal?.aborted) resolve(undefined);
      signal?.addEventListener("abort", () => resolve(undefined));
    });
    await connection.first(this.#member.meet("workers", "producers"));
    const worker = this.#worker();
    const stop = this.#member.everySecond(() => this.#tick());
    this.#member.tell(
      `ready for batches of policy ${peer.policy.slice(0, 16)}… under the prefix ${prefix.slice(1, -1)}`,
    );
    const error = await ended;
    if (error === undefined) this.#member.tell("ending after its current batches");
    const left = stop().then(() => this.#member.leave("workers"));
    // Closing is forced, because BullMQ's own closing would wait forever without a connection. Other workers take over
    // the unfinished batches.
    if (error === undefined && !connection.isAway) await settledWithin(FINISH_MS, worker.pause());
    await settledWithin(CLOSE_MS, worker.close(true), left);
    connection.close();
    for (const { judge } of this.#seats.values()) await judge.then((each) => each.close()).catch(() => {});
    if (error !== undefined) throw judgeFailure(error);
    const { batches, entries } = this.#progress;
    return { batches, entries };
  }

  #worker(): Worker {
    const { connection, peer, prefix } = this.#member;
    const { lockMs = LOCK_MS } = this.#options;
    const worker = new connection.bullmq.Worker(peer.queue, (job: QueuedJob<unknown>) => this.#take(job), {
      connection: connection.client,
      prefix,
      skipVersionCheck: true,
      // Twice the number of threads, so that jobs are fetched while others are judged.
      concurrency: 2 * this.#threads,
      lockDuration: lockMs,
      stalledInterval: lockMs / 4,
      maxStalledCount: 1,
    });
    worker.on("error", (error) => this.#member.sayError(error));
    return worker;
  }

  /** Handles a job. Returns whether it was answered. */
  async #take({ id = "", data }: QueuedJob<unknown>): Promise<boolean> {
    const { connection, queueKey, seal } = this.#member;
    const job = readJob(id, data, seal);
    const seat = job && (await this.#seatFor(job));
    if (job === null || seat === null) {
      // A job without data is not forged: a worker dropped it, or the server lost its data.
      const isForged = job === null && Object.keys(data ?? {}).length > 0;
      if (isForged) this.#member.once(`a job is refused: invalid ${seal.isThere ? "seal or " : ""}form`);
      await connection.client.hdel(queueKey(id), "data");
      return false;
    }
    await this.#answer(id, job.run, await this.#judge(job, seat));
    return true;
  }

  async #judge({ first, entries, expected }: Job, seat: Seat): Promise<JudgedPart> {
    try {
      const judge = await seat.judge;
      const judged = await judge.judge({ index: 0, first, entries, ...(expected && { expected }) });
      this.#count(judged.results);
      return judged;
    } catch (error) {
      this.#end(error);
      throw error;
    } finally {
      seat.active--;
      seat.usedAt = performance.now();
    }
  }

  #count(results: readonly AuditResult[]): void {
    const { batches, entries, refused, newest } = this.#progress;
    // RFC 3339 times in UTC sort as text.
    const times = [newest ?? [], ...results.map(({ documentTimes = [] }) => documentTimes)].flat().sort();
    this.#progress = {
      batches: batches + 1,
      entries: entries + results.length,
      refused: refused + results.filter((result) => !isAccepted(result)).length,
      newest: times.at(-1) ?? null,
    };
    this.#options.onProgress?.(this.#progress);
  }

  async #answer(id: string, run: string, judged: JudgedPart): Promise<void> {
    const { connection, queueKey, seal } = this.#member;
    const keys = [queueKey(id), this.#member.key("answers", run)];
    try {
      await connection.client.eval(ANSWER, 2, ...keys, id, writeAnswer(id, judged, seal));
    } catch (error) {
      this.#member.sayError(error);
      throw error;
    }
  }

  /**
   * Returns the seat for a job: the judge for its setting, marked as in use. Null if the producer is gone or, with a
   * note, if this worker may not judge by the setting.
   */
  async #seatFor({ run, setting: digest }: Job): Promise<Seat | null> {
    const key = this.#member.key("setting", run);
    if ((await this.#member.connection.client.exists(key)) === 0) return null;
    if (!this.#seats.has(digest)) {
      const setting = await this.#settingOf(run, digest);
      if (setting === null) return null;
      // Another batch may have added the seat meanwhile.
      if (!this.#seats.has(digest))
        this.#seats.set(digest, { judge: this.#seated(setting), active: 0, usedAt: performance.now() });
      this.#member.once(`takes batches of run ${run.slice(0, 8)}…`);
    }
    const seat = this.#seats.get(digest)!;
    seat.active++;
    return seat;
  }

  /**
   * Makes a judge and tests it with an empty entry, because a producer would take its failures for faults of the
   * entries.
   */
  async #seated(setting: AuditSetting): Promise<Judge> {
    const { judgeOf = (each) => threadJudge(each, { threads: this.#threads }) } = this.#options;
    const judge = await judgeOf(setting);
    const { results } = await judge.judge({ index: 0, first: 1, entries: [new Uint8Array()] });
    const isWell = results.length === 1 && results[0]!.reason !== UNJUDGED_REASON;
    if (!isWell) throw new Error("the judge fails even for an empty entry");
    return judge;
  }

  /** Returns the producer's setting with this worker's policy, which must match the digest. */
  async #settingOf(run: string, digest: string): Promise<AuditSetting | null> {
    const told = readSetting((await this.#member.connection.client.get(this.#member.key("setting", run))) ?? "");
    if (told === undefined) return null;
    const setting: AuditSetting = { ...told, ...this.#held };
    try {
      if ((await settingDigest(setting)) !== digest)
        throw new Error("the setting on the server is not the one of the job");
      await nodeAuditor(setting);
      return setting;
    } catch (error) {
      const reason = printable((error as Error).message);
      this.#member.once(`run ${run.slice(0, 8)}…: its jobs are not judged here: ${reason}`);
      return null;
    }
  }

  async #tick(): Promise<void> {
    for (const producer of await this.#member.meet("workers", "producers")) {
      const why = difference(this.#member.peer, producer);
      if (why !== null) this.#member.once(`judges nothing for run ${producer.id.slice(0, 8)}…: its producer ${why}`);
    }
    const before = performance.now() - IDLE_MS;
    for (const [digest, { judge, active, usedAt }] of this.#seats) {
      if (active > 0 || usedAt >= before) continue;
      this.#seats.delete(digest);
      await (await judge).close();
    }
  }
}

/** Script for an answer. It first frees the memory of the entries, so that a full server can store the answer. */
const ANSWER = `
redis.call('HDEL', KEYS[1], 'data')
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[2], ${ANSWER_SECONDS})`;

function judgeFailure(error: unknown): QueueError {
  const message = error instanceof Error ? error.message : String(error);
  return new QueueError("judge", `nothing more can be judged here: ${message}`, { cause: error });
}
