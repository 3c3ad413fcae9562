/** The producer's side of a queue. It keeps each batch until its answer arrives, so a server may lose everything. */
import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Queue } from "bullmq";
import { otherMembers } from "../decode/input.js";
import { typedOptions } from "../decode/options.js";
import { type Batch, type Judge, type JudgedBatch, UNJUDGED, ownBatch } from "./judge.js";
import { type QueueSide, joinQueue } from "./node-redis.js";
import { PLACE_OPTIONS, type QueuePlaceOptions } from "./queue-options.js";
import { type SentBatch, jsonOrNull, readAnswer, writeJob } from "./node-seal.js";
import { type AuditSetting, ownSetting, settingDigest } from "./setting.js";

/** Number of batches that are judged at once. The runner keeps twice as many, of at most 64 MiB. */
const CONCURRENCY = 16;
/** Number of jobs without a valid answer after which the entries of a batch are unjudged. */
const TRIES = 3;
/** Number of seconds without a worker before a note is reported. */
const PATIENCE = 5;
/** Milliseconds between two looks at a job, of which as many as the runner keeps batches are open. */
const LOOK_MS = 100;
export const ATTEMPTS = 3;
/** What stays at the server are the jobs of killed producers. */
const KEPT = { age: 3600, count: 100 };
const JOB_OPTIONS = { attempts: ATTEMPTS, backoff: 500, removeOnComplete: KEPT, removeOnFail: KEPT };

/**
 * Makes a judge that sends its batches to the queue's workers ({@link runWorker}). Throws {@link QueueError} if the
 * server cannot be reached within ten seconds or may drop jobs (`maxmemory-policy`), if it may be on another host and
 * there is no secret, or if its packages are missing. Later outages do not end the judge.
 */
export async function queueJudge(url: string, given: AuditSetting, options: QueuePlaceOptions = {}): Promise<Judge> {
  const own = typedOptions("options", options, PLACE_OPTIONS);
  const setting = ownSetting(given);
  const digest = await settingDigest(setting);
  return new QueueJudge(await joinQueue(url, setting, own), setting, digest);
}

class QueueJudge implements Judge {
  readonly concurrency = CONCURRENCY;
  readonly #side: QueueSide;
  readonly #run: Omit<SentBatch, keyof Batch | "batch">;
  readonly #queue: Queue;
  readonly #stop: () => void;
  #batches = 0;
  #lonelySeconds = 0;

  constructor(side: QueueSide, setting: AuditSetting, digest: string) {
    this.#side = side;
    const sent = JSON.stringify(otherMembers(setting, "policy", "trustAnchors"));
    this.#run = { run: randomBytes(16).toString("hex"), setting: digest, now: setting.now, sent };
    this.#queue = new side.bullmq.Queue(side.name, side.place).on("error", side.report);
    this.#stop = side.everySecond((waiting, active) => this.#tick(waiting, active));
  }

  async judge(given: Batch): Promise<JudgedBatch> {
    const batch = { ...this.#run, batch: this.#batches++, ...ownBatch(given) };
    return this.#side.patiently(() => this.#ask(batch));
  }

  /** Adds the batch's job until an answer is valid. After three jobs without one, its entries are unjudged. */
  async #ask(batch: SentBatch): Promise<JudgedBatch> {
    const side = this.#side;
    const jobId = `${batch.run}-${batch.batch}`;
    for (let tries = 0; tries < TRIES;) {
      // A job that is there already is not added.
      await this.#queue.add("batch", writeJob(batch, side.seals), { jobId, ...JOB_OPTIONS });
      const state = await this.#endOf(jobId);
      const judged = state === "completed" ? readAnswer(await this.#answerOf(jobId), batch, side.seals) : null;
      const removing = this.#queue.remove(jobId);
      if (judged !== null) {
        removing.catch(side.report);
        return judged;
      }
      // A job that a worker has locked stays: it only looks as if it had ended.
      const isRemoved = (await removing) === 1;
      if (state === "unknown") side.once("the server lost jobs: they are added again");
      else if (isRemoved) tries++;
      if (state === "completed")
        side.once("a worker judged nothing, or an answer is refused: its seal or form is invalid");
    }
    side.once(`${TRIES} jobs of a batch failed, or had no valid answer: its entries are not judged`);
    return { results: batch.entries.map(() => UNJUDGED) };
  }

  /** Returns the state in which a job ended, whoever wrote it; `unknown` if the server lost it. */
  async #endOf(jobId: string): Promise<string> {
    for (;;) {
      const state = await this.#queue.getJobState(jobId);
      if (ENDED.includes(state)) return state;
      await wait(LOOK_MS);
    }
  }

  /** Reads the return value alone: the whole job would bring its entries back. */
  async #answerOf(jobId: string): Promise<unknown> {
    const text = await this.#side.place.connection.hget(this.#queue.toKey(jobId), "returnvalue");
    return jsonOrNull(text ?? "");
  }

  async #tick(waiting: number, active: number): Promise<void> {
    this.#lonelySeconds = waiting > 0 && active === 0 ? this.#lonelySeconds + 1 : 0;
    if (this.#lonelySeconds === PATIENCE) this.#side.note(NO_WORKER);
    // Nobody reads the events, which have the answers. A limit among BullMQ's options would be lost with the data.
    await this.#queue.trimEvents(0);
  }

  async close(): Promise<void> {
    this.#stop();
    this.#side.close();
    await this.#queue.close().catch(() => {});
  }
}

const ENDED = ["completed", "failed", "unknown"];
const NO_WORKER =
  "waiting for a worker: none takes these jobs. It needs the same policy, version of bootproof, secret, and prefix";
