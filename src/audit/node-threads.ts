/** A judge of threads: as many as there are cores. What ends a thread is found, and does not end the audit. */
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { pathToFileURL } from "node:url";
import { Tinypool } from "tinypool";
import { type Batch, type Judge, type JudgedBatch, ownBatch } from "./batch.js";
import { joined, unjudgedResult } from "./judge.js";
import type { PackedBatch } from "./node-thread.js";
import { ownOptions } from "../decode/input.js";
import { type AuditSetting, ownSetting } from "./setting.js";

export interface ThreadOptions {
  /** As many as the system has cores for this process, unless said otherwise. */
  readonly threads?: number;
  /** The URL of the module that judges in a thread, in place of this package's own. */
  readonly module?: string;
  /** MiB of the heap of each, before it counts as dead. As Node has it, unless said otherwise. */
  readonly maxHeapMiB?: number;
}

const THREAD_OPTIONS: Readonly<Record<keyof ThreadOptions, true>> = { threads: true, module: true, maxHeapMiB: true };

/** Judges in threads, which are started as they are needed. The setting is to be one that `Auditor.of` takes. */
export function threadJudge(setting: AuditSetting, options: ThreadOptions = {}): Judge {
  return new ThreadJudge(ownSetting(setting), ownOptions("options", options, THREAD_OPTIONS));
}

/** Forever: a thread that has nothing to do is waited for by nobody, and started again at some cost. */
const IDLE_MS = 2 ** 31 - 1;

type PoolThread = Tinypool["threads"][number];

class ThreadJudge implements Judge {
  readonly concurrency: number;
  readonly #pool: Tinypool;
  readonly #watched = new WeakSet<PoolThread>();
  /** What threads died of: all else that a batch rejects with is no matter of its entries. */
  readonly #deaths = new WeakSet<object>();
  /** What rejects each batch that is with a thread, for where no thread can be started. */
  readonly #rejects = new Set<(reason: Error) => void>();
  #waiting: (() => void)[] = [];
  #running = 0;
  #isClosed = false;

  constructor(setting: AuditSetting, { threads = availableParallelism(), module, maxHeapMiB }: ThreadOptions) {
    this.concurrency = threads;
    this.#pool = new Tinypool({
      filename: module ?? shippedThread(),
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: IDLE_MS,
      // Its threads would sleep between two batches in a way that keeps their own clean-up from running.
      useAtomics: false,
      workerData: setting,
      ...(maxHeapMiB !== undefined && { resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB } }),
    });
    // Of a thread that was doing nothing, which is told below.
    this.#pool.on("error", () => {});
  }

  judge(batch: Batch): Promise<JudgedBatch> {
    return this.#judge(ownBatch(batch));
  }

  async #judge(batch: Batch): Promise<JudgedBatch> {
    const { index, first, entries } = batch;
    const judged = await this.#attempt(batch);
    if (judged !== null) return judged;
    if (entries.length > 1) {
      const half = Math.ceil(entries.length / 2);
      const parts = [
        await this.#judge({ index, first, entries: entries.slice(0, half) }),
        await this.#judge({ index, first: first + half, entries: entries.slice(half) }),
      ];
      return { index, ...joined(parts) };
    }
    // Alone, and once more: what ended the thread may have been another thing than the entry.
    return (await this.#attempt(batch)) ?? { index, results: entries.map(() => unjudgedResult(first)) };
  }

  /** Null: the thread died of it. */
  async #attempt(batch: Batch): Promise<JudgedBatch | null> {
    await this.#turn();
    try {
      const packed = pack(batch);
      const judged = this.#pool.run(packed, { transferList: [packed.bytes.buffer as ArrayBuffer] });
      this.#watch();
      return await this.#unlessBroken(judged as Promise<JudgedBatch>);
    } catch (error) {
      if (!this.#deaths.has(error as object)) throw error;
      return null;
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  /** With a promise that lasts, a race would keep the results of every batch. */
  #unlessBroken(judged: Promise<JudgedBatch>): Promise<JudgedBatch> {
    return new Promise<JudgedBatch>((resolve, reject) => {
      this.#rejects.add(reject);
      judged.then(resolve, reject).finally(() => this.#rejects.delete(reject));
    });
  }

  /** Never more than there are threads: what waits in the pool would wait for a thread that has died. */
  async #turn(): Promise<void> {
    while (this.#running >= this.concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isClosed) throw new Error("the judge is closed");
    this.#running++;
  }

  /** The pool hears of a thread's errors, running out of memory among them, but not of one that ends without any. */
  #watch(): void {
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue;
      this.#watched.add(thread);
      let [isReady, isDead] = [false, false];
      thread.once("message", () => (isReady = true));
      thread.once("error", (error: Error) => {
        isDead = true;
        this.#deaths.add(error);
        // It has judged nothing yet: the next one would come no further.
        if (isReady) return;
        for (const reject of this.#rejects) reject(new Error(`no thread can be started: ${error.message}`));
      });
      thread.once("exit", () => {
        if (!isDead && !this.#isClosed) thread.emit("error", new Error("it ended by itself"));
      });
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await this.#pool.destroy();
  }
}

/** By the name under which it is exported: the built command, the library and its tests have it in one place. */
function shippedThread(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve("bootproof/audit/thread")).href;
}

function pack({ index, first, entries }: Batch): PackedBatch {
  const ends: number[] = [];
  let length = 0;
  for (const entry of entries) ends.push((length += entry.length));
  const bytes = new Uint8Array(length);
  for (const [at, entry] of entries.entries()) bytes.set(entry, ends[at]! - entry.length);
  return { index, first, bytes, ends };
}
