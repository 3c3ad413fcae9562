/** The worker's side of a queue: judges batches that match its own policy. */
import type { Job } from "bullmq";
import { callable, having, typedOptions } from "../decode/options.js";
import { type MembersOf, objectOf, optional, readShape, wholeNumber } from "../decode/shapes.js";
import type { Signal } from "../door/platform.js";
import { printable } from "../report/printable.js";
import type { HealthWork } from "./health.js";
import { type Judge, type JudgedBatch, UNJUDGED } from "./judge.js";
import { nodeAuditor } from "./node-auditor.js";
import { defaultThreads } from "./node-cores.js";
import { ATTEMPTS } from "./node-queue.js";
import { type QueueSide, joinQueue } from "./node-redis.js";
import { threadJudge } from "./node-threads.js";
import { PLACE_OPTIONS, QueueError, type QueuePlaceOptions } from "./queue-options.js";
import { Tally } from "./summary.js";
import { type SentBatch, readJob, writeAnswer } from "./node-seal.js";
import { type Held, SENT_SETTING, type SentSetting, ownHeld, settingDigest } from "./setting.js";

export interface RunWorkerOptions extends QueuePlaceOptions {
  /** Number of threads. Default: the cores that this process and its container may use, at most 16. */
  readonly workers?: number;
  /** Called after each batch that was judged here. */
  readonly onProgress?: (progress: WorkerProgress) => void;
  /** When aborted, the worker finishes its batches and ends. */
  readonly signal?: Signal;
  /** Milliseconds of silence after which another worker gets the batches of this one. Default: 5,000. */
  readonly lockMs?: number;
}

/** Counts of this worker so far. */
interface WorkerProgress extends HealthWork {
  readonly batches: number;
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
/** Time after which the threads of a run that sends no batches are ended. */
const IDLE_MS = 60_000;
const TOLD = objectOf<SentSetting>(SENT_SETTING);

/** The judge of a run. Null if its setting cannot be used here. */
interface Seat {
  readonly judge: Promise<Judge | null>;
  active: number;
  idle?: NodeJS.Timeout;
}

/**
 * Judges batches of producers with the same policy, trust anchors, package version and secret. Resolves after the
 * signal was aborted. Rejects with {@link QueueError} as `queueJudge` does, and if a judge rejects.
 */
export async function runWorker(url: string, held: Held, options: RunWorkerOptions = {}): Promise<WorkerProgress> {
  const [ownedBy, own] = [ownHeld(held), typedOptions("options", options, WORKER_OPTIONS)];
  return new QueueWorker(await joinQueue(url, ownedBy, own), ownedBy, own).run();
}

class QueueWorker {
  readonly #side: QueueSide;
  readonly #held: Held;
  readonly #options: RunWorkerOptions;
  readonly #seats = new Map<string, Seat>();
  readonly #tally = new Tally();
  #batches = 0;
  #end: (error?: unknown) => void = () => {};

  constructor(side: QueueSide, held: Held, options: RunWorkerOptions) {
    [this.#side, this.#held, this.#options] = [side, held, options];
  }

  async run(): Promise<WorkerProgress> {
    const side = this.#side;
    const { signal, workers = defaultThreads(), lockMs = LOCK_MS } = this.#options;
    const ended = new Promise<unknown>((resolve) => (this.#end = resolve));
    if (signal?.aborted) this.#end();
    signal?.addEventListener("abort", () => this.#end());
    const worker = new side.bullmq.Worker(side.name, (job: Job<unknown>) => this.#answer(job), {
      ...side.place,
      // Twice the number of threads, so that jobs are fetched while others are judged.
      concurrency: 2 * workers,
      lockDuration: lockMs,
      stalledInterval: lockMs / 4,
      maxStalledCount: 1,
    }).on("error", side.report);
    const stop = side.everySecond();
    side.note(`ready for batches under the prefix ${side.place.prefix.slice(1, -1)}`);
    const error = await ended;
    stop();
    // Without a connection BullMQ's own closing would wait forever, and other workers take over the unfinished batches.
    // With one the server learns what became of each job, also after an error: no lock has to run out first.
    const closing = worker.close(side.isAway);
    await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, FINISH_MS).unref())]);
    side.close();
    await Promise.all([...this.#seats.keys()].map((key) => this.#leave(key)));
    if (error === undefined) return this.#progress;
    const text = `nothing more can be judged here: ${error instanceof Error ? error.message : String(error)}`;
    throw new QueueError("judge", text, { cause: error });
  }

  /** Returns the sealed answer to a job. Null if the job is not judged here, so that its producer adds it again. */
  async #answer({ data, attemptsMade }: Job<unknown>): Promise<string | null> {
    const batch = readJob(data, this.#side.seals);
    if (batch === null) this.#side.once("a job is refused: its seal or form is invalid");
    const judged = batch && (await this.#judge(batch, attemptsMade + 1 === ATTEMPTS));
    if (batch === null || judged === null) return null;
    this.#batches++;
    for (const result of judged.results) this.#tally.add(result);
    this.#options.onProgress?.(this.#progress);
    return writeAnswer(judged, batch, this.#side.seals);
  }

  /** Judges a batch. If this fails for the last time, its entries are unjudged: only a worker's seal can say so. */
  async #judge(batch: SentBatch, isLast: boolean): Promise<JudgedBatch | null> {
    // The digest of a setting does not cover its present.
    const key = `${batch.now} ${batch.setting}`;
    const seat = this.#seats.get(key) ?? { judge: this.#judgeFor(batch, key), active: 0 };
    this.#seats.set(key, seat);
    clearTimeout(seat.idle);
    seat.active++;
    try {
      return (await (await seat.judge)?.judge(batch)) ?? null;
    } catch (error) {
      this.#end(error);
      if (!isLast) throw error;
      return { results: batch.entries.map(() => UNJUDGED) };
    } finally {
      if (--seat.active === 0) seat.idle = setTimeout(() => void this.#leave(key), IDLE_MS).unref();
    }
  }

  /**
   * Makes the judge of a run. Its setting with this worker's policy must have the digest that the job's seal covers.
   */
  async #judgeFor({ sent, setting: digest, now }: SentBatch, key: string): Promise<Judge | null> {
    const { workers = defaultThreads(), judgeOf = (each) => threadJudge(each, { threads: workers }) } = this.#options;
    const read = readShape(TOLD, JSON.parse(sent)).value;
    const setting = read && { ...read, now, ...this.#held };
    try {
      if (setting === undefined || (await settingDigest(setting)) !== digest) throw new Error("it has another digest");
      await nodeAuditor(setting);
    } catch (error) {
      const reason = printable((error as Error).message);
      this.#side.once(`a batch is not judged here: its setting cannot be used: ${reason}`);
      this.#seats.delete(key);
      return null;
    }
    return judgeOf(setting);
  }

  get #progress(): WorkerProgress {
    return { batches: this.#batches, ...this.#tally.work };
  }

  async #leave(key: string): Promise<void> {
    const seat = this.#seats.get(key);
    this.#seats.delete(key);
    await seat?.judge.then((judge) => judge?.close()).catch(() => {});
  }
}
