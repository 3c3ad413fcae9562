/** The worker's side of a queue: judges batches that match its own policy. */
import type { Job as QueuedJob, Worker } from "bullmq";
import { ownOptions } from "../decode/input.js";
import { isJsonObject } from "../decode/json.js";
import { printable } from "../report/printable.js";
import { writeResults } from "./answered.js";
import { nodeAuditor } from "./node-auditor.js";
import type { Judge } from "./batch.js";
import { UNJUDGED_REASON } from "./judge.js";
import type { QueuePlaceOptions } from "./node-queue.js";
import { defaultThreads } from "./node-cores.js";
import { ContactReport, type Member, joinQueue } from "./node-queue-member.js";
import type { QueueContact } from "./node-queue-url.js";
import { type RedisConnection, isOutage, isPassing } from "./node-redis.js";
import {
  type Answer,
  type Job,
  type Peer,
  announce,
  batchOf,
  difference,
  jsonOf,
  keys,
  prefixName,
  peersOf,
  putAnswer,
  readJob,
  runOfJob,
  withdraw,
} from "./node-queue-wire.js";
import { QueueError } from "./queue-error.js";
import type { AuditSignal } from "./run.js";
import { isAccepted } from "../report/accepted.js";
import type { AuditResult } from "./result.js";
import { threadJudge } from "./node-threads.js";
import { type AuditSetting, ownHeld, settingDigest } from "./setting.js";

export interface RunWorkerOptions extends QueuePlaceOptions {
  /** Threads. Default: one for each core that this process and its container may use, at most 16. */
  readonly workers?: number;
  /** Shared with the producers (`QueueJudgeOptions`). */
  readonly secret?: string;
  /** Messages for the operator: accepted and ignored runs, outages, refused jobs. */
  readonly onNote?: (text: string) => void;
  /** Called every two seconds. */
  readonly onQueue?: (contact: QueueContact) => void;
  /** Called after each batch that was judged here. */
  readonly onProgress?: (progress: WorkerProgress) => void;
  /** When aborted, the worker finishes its batches and ends. */
  readonly signal?: AuditSignal;
  /** Milliseconds of silence after which other workers get its batches. Default: 5,000. */
  readonly lockMs?: number;
  /** Judges the batches of a setting. Default: threads. */
  readonly judgeOf?: (setting: AuditSetting) => Judge | Promise<Judge>;
}

/** Counts of this worker so far. */
export interface WorkerProgress extends WorkerSummary {
  /** Entries that were not accepted. */
  readonly refused: number;
  /** RFC 3339: the newest time in a verified document; null without one. */
  readonly newest: string | null;
}

export interface WorkerSummary {
  readonly batches: number;
  readonly entries: number;
}

const WORKER_OPTIONS: Readonly<Record<keyof RunWorkerOptions, true>> = {
  prefix: true,
  tls: true,
  workers: true,
  secret: true,
  onNote: true,
  onQueue: true,
  onProgress: true,
  signal: true,
  lockMs: true,
  judgeOf: true,
};
const LOCK_MS = 5000;
const TICK_MS = 2000;
const FINISH_MS = 20_000;
const LOOK_MS = 100;
const IDLE_LOOKS = 3;
const CLOSE_MS = 1000;
/** Then an unused judge is closed. */
const IDLE_MS = 30_000;
const MAX_SAID = 1000;

/**
 * Judges batches of producers with the same policy, trust anchors, package version and secret; reports all others.
 * Resolves after the signal was aborted. Rejects with {@link QueueError} if the server cannot be reached within ten
 * seconds, its packages are missing, or a judge rejects.
 */
export async function runWorker(
  url: string,
  given: Pick<AuditSetting, "policy" | "trustAnchors">,
  givenOptions: RunWorkerOptions = {},
): Promise<WorkerSummary> {
  const held = ownHeld(given);
  const options = ownOptions("options", givenOptions, WORKER_OPTIONS);
  const member = await joinQueue(url, held, options, MAX_SAID);
  return new QueueWorker({ ...member, held }, options).run(options.signal);
}

interface Standing extends Member {
  readonly held: Pick<AuditSetting, "policy" | "trustAnchors">;
}

interface Seat {
  readonly judge: Promise<Judge>;
  active: number;
  usedAt: number;
}

function taken(seat: Seat): Seat {
  seat.active++;
  return seat;
}

class QueueWorker {
  readonly #connection: RedisConnection;
  readonly #standing: Standing;
  readonly #threads: number;
  readonly #lockMs: number;
  readonly #judgeOf: (setting: AuditSetting) => Judge | Promise<Judge>;
  readonly #seats = new Map<string, Seat>();
  readonly #contact: ContactReport;
  readonly #onProgress: (progress: WorkerProgress) => void;
  #isTicking = false;
  #active = 0;
  #batches = 0;
  #entries = 0;
  #refused = 0;
  #newest: string | null = null;
  #end: (error?: unknown) => void = () => {};

  constructor(standing: Standing, options: RunWorkerOptions) {
    this.#connection = standing.connection;
    this.#standing = standing;
    this.#threads = options.workers ?? defaultThreads();
    this.#lockMs = options.lockMs ?? LOCK_MS;
    this.#contact = new ContactReport(standing.connection, options.onQueue);
    this.#onProgress = options.onProgress ?? ((): void => {});
    this.#judgeOf = options.judgeOf ?? ((setting) => threadJudge(setting, { threads: this.#threads }));
  }

  async run(signal: AuditSignal | undefined): Promise<WorkerSummary> {
    const { peer, place, notes } = this.#standing;
    const ended = new Promise<unknown>((resolve) => {
      this.#end = resolve;
      if (signal?.aborted) resolve(undefined);
      signal?.addEventListener("abort", () => resolve(undefined));
    });
    await this.#connection.first(announce(place, "workers", peer));
    const worker = this.#worker();
    const timer = setInterval(() => void this.#tick(worker), TICK_MS);
    notes.tell(`ready for batches of policy ${peer.policy.slice(0, 16)}… under the prefix ${prefixName(place)}`);
    void this.#tick(worker);
    const error = await ended;
    clearInterval(timer);
    if (error === undefined) notes.tell(`ending after its current batches`);
    await this.#finish(worker, error === undefined ? FINISH_MS : 0);
    if (error !== undefined) throw judgeFailure(error);
    return { batches: this.#batches, entries: this.#entries };
  }

  #worker(): Worker {
    const worker = new this.#connection.bullmq.Worker(
      this.#standing.peer.queue,
      async (job: QueuedJob<unknown>) => {
        this.#active++;
        await this.#take(job).finally(() => this.#active--);
      },
      {
        connection: this.#connection.client,
        prefix: this.#standing.place.prefix,
        skipVersionCheck: true,
        // The next job arrives while one is judged.
        concurrency: 2 * this.#threads,
        lockDuration: this.#lockMs,
        stalledInterval: this.#lockMs / 4,
        // The producer cuts a stalled job into parts.
        maxStalledCount: 0,
      },
    );
    worker.on("error", (error) => this.#sayError(error));
    return worker;
  }

  /** Unfinished batches go to others. BullMQ's own closing would wait forever without a connection. */
  async #finish(worker: Worker, milliseconds: number): Promise<void> {
    const leaving = [worker.pause(true), withdraw(this.#standing.place, "workers", this.#standing.peer.id)];
    void Promise.allSettled(leaving);
    await this.#idle(milliseconds);
    const closed = worker.close(true).catch(() => {});
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())]);
    this.#connection.close();
    for (const { judge } of this.#seats.values()) await judge.then((each) => each.close()).catch(() => {});
  }

  /** Ends when the last answer was confirmed, or the server is away. */
  async #idle(milliseconds: number): Promise<void> {
    let looks = 0;
    for (let left = milliseconds; left >= 0 && looks < IDLE_LOOKS; left -= LOOK_MS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      looks = this.#active === 0 || this.#connection.isAway ? looks + 1 : 0;
    }
  }

  /** Without an answer, the producer enqueues the job again. */
  async #take(queued: QueuedJob<unknown>): Promise<void> {
    const { place, evicts, seal, notes } = this.#standing;
    const refuse = (): void =>
      notes.once(`a job is refused: ${seal.isThere ? "invalid seal or form" : "invalid form"}`);
    // The server lost it.
    if (queued.data === undefined || (isJsonObject(queued.data) && Object.keys(queued.data).length === 0)) return;
    const run = runOfJob(queued.data);
    if (run === null) return refuse();
    const { batch, isProducerAlive } = await batchOf(place, run, queued.id!);
    if (batch === null || !(isProducerAlive || evicts)) return;
    const job = readJob(queued.id!, queued.data, batch, seal);
    if (job === null) return refuse();
    const seat = await this.#seatFor(job);
    if (seat === null) return;
    try {
      await this.#judge(queued.id!, job, await seat.judge);
    } catch (error) {
      this.#end(error);
    } finally {
      seat.active--;
      seat.usedAt = performance.now();
    }
  }

  async #judge(id: string, { run, digest, first, entries, expected }: Job, judge: Judge): Promise<void> {
    const answer = { run, job: id, digest, results: null, slowest: null };
    try {
      const { results, slowest = null } = await judge.judge({
        index: this.#batches++,
        first,
        entries,
        ...(expected && { expected }),
      });
      this.#count(results);
      await this.#answer({ ...answer, results: writeResults(results), slowest });
    } catch (error) {
      if (this.#connection.isClosed) return;
      await this.#answer(answer);
      throw error;
    }
  }

  #count(results: readonly AuditResult[]): void {
    this.#entries += results.length;
    for (const result of results) {
      if (!isAccepted(result)) this.#refused++;
      const [, newest = null] = result.documentTimes ?? [];
      // RFC 3339 in UTC sorts as text.
      if (newest !== null && newest > (this.#newest ?? "")) this.#newest = newest;
    }
    this.#onProgress({
      batches: this.#batches,
      entries: this.#entries,
      refused: this.#refused,
      newest: this.#newest,
    });
  }

  async #answer(answer: Answer): Promise<void> {
    try {
      await putAnswer(this.#standing.place, answer, this.#standing.seal);
    } catch (error) {
      if (this.#connection.isClosed || !isPassing(error)) throw error;
      this.#sayError(error);
    }
  }

  /** Null, with a note, if this worker may not judge by the job's setting. */
  async #seatFor({ run, setting: digest }: Job): Promise<Seat | null> {
    const known = this.#seats.get(digest);
    if (known !== undefined) return taken(known);
    const setting = await this.#settingOf(run, digest);
    if (setting === null) return null;
    // Another batch may have added it meanwhile.
    const seat = this.#seats.get(digest) ?? { judge: this.#seated(setting), active: 0, usedAt: performance.now() };
    this.#seats.set(digest, seat);
    this.#standing.notes.once(`takes batches of run ${run.slice(0, 8)}…`);
    return taken(seat);
  }

  /** Tests the judge first: a producer blames failures on the entries. */
  async #seated(setting: AuditSetting): Promise<Judge> {
    const judge = await this.#judgeOf(setting);
    const { results } = await judge.judge({ index: 0, first: 1, entries: [new Uint8Array()] });
    const isWell = results.length === 1 && results[0]!.reason !== UNJUDGED_REASON;
    if (!isWell) throw new Error("an empty entry ends the judge, too");
    return judge;
  }

  /** The producer's setting with this worker's policy must match the digest. */
  async #settingOf(run: string, digest: string): Promise<AuditSetting | null> {
    const told = readTold(await this.#connection.client.get(keys.setting(this.#standing.place, run)));
    if (told === null) return null;
    const setting: AuditSetting = { ...told, ...this.#standing.held };
    try {
      if ((await settingDigest(setting)) !== digest) throw new Error("its setting has another digest");
      await nodeAuditor(setting);
      return setting;
    } catch (error) {
      this.#standing.notes.once(
        `run ${run.slice(0, 8)}…: takes nothing from it: ${printable((error as Error).message)}`,
      );
      return null;
    }
  }

  async #tick(worker: Worker): Promise<void> {
    this.#contact.tell();
    if (this.#isTicking) return;
    this.#isTicking = true;
    try {
      const { place, peer } = this.#standing;
      await announce(place, "workers", peer);
      await this.#contact.count(worker.toKey("wait"));
      for (const producer of await peersOf(place, "producers")) this.#lookAt(producer);
      await this.#letGo();
    } catch (error) {
      this.#sayError(error);
    } finally {
      this.#isTicking = false;
    }
  }

  #lookAt(producer: Peer): void {
    const why = difference(this.#standing.peer, producer);
    if (why !== null)
      this.#standing.notes.once(`takes nothing from run ${producer.id.slice(0, 8)}…: its producer ${why}`);
  }

  async #letGo(): Promise<void> {
    const before = performance.now() - IDLE_MS;
    const idle = [...this.#seats].filter(([, { active, usedAt }]) => active === 0 && usedAt < before);
    for (const [digest, { judge }] of idle) {
      this.#seats.delete(digest);
      await (await judge).close();
    }
  }

  /** The connection reports outages. A lock lost in one only costs the work of a batch. */
  #sayError(error: unknown): void {
    if (this.#connection.isClosed || isOutage(error)) return;
    const message = this.#connection.messageOf(error);
    if (!/lock/i.test(message)) this.#standing.notes.once(printable(message));
  }
}

function judgeFailure(error: unknown): QueueError {
  const message = error instanceof Error ? error.message : String(error);
  return new QueueError("judge", `nothing more can be judged here: ${message}`, { cause: error });
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

/** Null if absent or malformed. */
function readTold(text: string | null): Omit<AuditSetting, "policy" | "trustAnchors"> | null {
  const told = text === null ? null : jsonOf(text);
  if (!isJsonObject(told)) return null;
  const { now, at, allowDebug, acceptance, bootProofs, provenance } = told;
  if (typeof now !== "string" || !areTexts(bootProofs)) return null;
  if (provenance !== undefined && !areTexts(provenance)) return null;
  return {
    now,
    bootProofs,
    ...(provenance && { provenance }),
    ...(typeof at === "string" && { at }),
    ...(typeof allowDebug === "boolean" && { allowDebug }),
    ...(acceptance === "strict" && { acceptance }),
  };
}
