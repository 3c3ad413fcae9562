/** A judge with threads. It isolates an entry that kills a thread, and goes on. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Tinypool } from "tinypool";
import { type Batch, type Judge, type JudgedBatch, ownBatch, partOf } from "./batch.js";
import { joined, unjudgedResult } from "./judge.js";
import { defaultThreads } from "./node-cores.js";
import type { PackedBatch } from "./node-thread.js";
import { ownOptions } from "../decode/input.js";
import { type AuditSetting, ownSetting } from "./setting.js";

export interface ThreadOptions {
  /** Default: the cores that this process and its container may use, at most 16. */
  readonly threads?: number;
  /** The URL of another module for the threads. */
  readonly module?: string;
  /** Heap limit of each thread, in MiB. Default: Node's. */
  readonly maxHeapMiB?: number;
}

const THREAD_OPTIONS: Readonly<Record<keyof ThreadOptions, true>> = { threads: true, module: true, maxHeapMiB: true };

/** Judges in threads, which start on demand. `Auditor.of` must accept the setting. */
export function threadJudge(setting: AuditSetting, options: ThreadOptions = {}): Judge {
  return new ThreadJudge(ownSetting(setting), ownOptions("options", options, THREAD_OPTIONS));
}

/** Forever: nothing waits for an idle thread, and a new one takes time. */
const IDLE_MS = 2 ** 31 - 1;

type PoolThread = Tinypool["threads"][number];

class ThreadJudge implements Judge {
  readonly concurrency: number;
  readonly #pool: Tinypool;
  readonly #watched = new WeakSet<PoolThread>();
  /** Errors of threads that died. Other rejections have nothing to do with the entries. */
  readonly #deaths = new WeakSet<object>();
  /** Called where no thread can be started. */
  readonly #rejects = new Set<(reason: Error) => void>();
  #waiting: (() => void)[] = [];
  #running = 0;
  #isClosed = false;

  constructor(setting: AuditSetting, { threads = defaultThreads(), module, maxHeapMiB }: ThreadOptions) {
    this.concurrency = threads;
    this.#pool = new Tinypool({
      filename: module ?? shippedThread(),
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: IDLE_MS,
      // With Atomics, threads would sleep between two batches without running their clean-up.
      useAtomics: false,
      workerData: setting,
      ...(maxHeapMiB !== undefined && { resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB } }),
    });
    // `#watch` handles the errors of idle threads.
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
        await this.#judge({ index, ...partOf(batch, 0, half) }),
        await this.#judge({ index, ...partOf(batch, half, entries.length) }),
      ];
      return { index, ...joined(parts) };
    }
    // The thread may have died for another reason, so a single entry is tried once more.
    return (await this.#attempt(batch)) ?? { index, results: entries.map(() => unjudgedResult(first)) };
  }

  /** Null: the thread died. */
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

  /** `Promise.race` with a long-lived promise would retain the results of every batch. */
  #unlessBroken(judged: Promise<JudgedBatch>): Promise<JudgedBatch> {
    return new Promise<JudgedBatch>((resolve, reject) => {
      this.#rejects.add(reject);
      judged.then(resolve, reject).finally(() => this.#rejects.delete(reject));
    });
  }

  /** A batch queued in the pool could wait for a thread that has died. */
  async #turn(): Promise<void> {
    while (this.#running >= this.concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isClosed) throw new Error("the judge is closed");
    this.#running++;
  }

  /** The pool reports errors of threads, but not a thread that just exits. */
  #watch(): void {
    for (const thread of this.#pool.threads) {
      if (this.#watched.has(thread)) continue;
      this.#watched.add(thread);
      let [isReady, isDead] = [false, false];
      thread.once("message", () => (isReady = true));
      thread.once("error", (error: Error) => {
        isDead = true;
        this.#deaths.add(error);
        // It never started, and another thread would not either.
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

/** Resolved by its export, so that command, library and tests find the same file. */
function shippedThread(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve("bootproof/audit/thread")).href;
}

function pack({ entries, ...batch }: Batch): PackedBatch {
  const ends: number[] = [];
  let length = 0;
  for (const entry of entries) ends.push((length += entry.length));
  const bytes = new Uint8Array(length);
  for (const [at, entry] of entries.entries()) bytes.set(entry, ends[at]! - entry.length);
  return { ...batch, bytes, ends };
}
