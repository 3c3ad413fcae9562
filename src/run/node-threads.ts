/** Judges in threads. If an entry ends a thread or takes too long, it is isolated, and the others are judged. */
import { typedOptions } from "../decode/options.js";
import { type MembersOf, nonEmptyText, optional, wholeNumber } from "../decode/shapes.js";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { type Batch, type Judge, type JudgedBatch, TOO_SLOW, UNJUDGED, joined, ownBatch, partOf } from "./judge.js";
import { defaultThreads } from "./node-cores.js";
import { MARK, type PackedBatch, type ThreadAnswer, expandResults } from "./answered.js";
import { type AuditSetting, ownSetting } from "./setting.js";

export interface ThreadOptions {
  /** Number of threads. Default: the cores that this process and its container may use, at most 16. */
  readonly threads?: number;
  /** URL of another module for the threads, which answers messages of `parentPort`. Default: this package's. */
  readonly module?: string;
  /** Heap limit of each thread, in MiB. Default: Node's. */
  readonly maxHeapMiB?: number;
  /** Milliseconds that one entry may take before its thread is replaced. Default: 60,000. */
  readonly entryTimeoutMs?: number;
}

const THREAD_OPTIONS: MembersOf<ThreadOptions> = {
  threads: optional(wholeNumber(1)),
  module: optional(nonEmptyText),
  maxHeapMiB: optional(wholeNumber(1)),
  entryTimeoutMs: optional(wholeNumber(1)),
};

/** The default of {@link ThreadOptions.entryTimeoutMs}. */
const ENTRY_TIMEOUT_MS = 60_000;

/**
 * Makes a judge with threads, which start on demand. `Auditor.of` must accept the setting. An entry is unjudged if it
 * ends its thread twice or takes too long twice. The other entries of its batch are judged again. Throws TypeError for
 * a time that is not positive.
 */
export function threadJudge(setting: AuditSetting, options: ThreadOptions = {}): Judge {
  const own = typedOptions("options", options, THREAD_OPTIONS);
  const { entryTimeoutMs = ENTRY_TIMEOUT_MS } = own;
  return new ThreadJudge(ownSetting(setting), { ...own, entryTimeoutMs });
}

/** Space for new objects. Little of an entry outlives its verdict: Node's 48 MiB take more memory, and as much time. */
const YOUNG_MIB = 12;

/**
 * Number of periods into which an entry's time limit is divided. If the process is suspended, at most one period is
 * counted for the whole suspension.
 */
const PERIODS = 10;
const TRIES = 2;

/**
 * Why a batch has no results. `suspects` are the indices of the entries that may be the cause, if the thread marked
 * some.
 */
interface Failure {
  readonly isLate: boolean;
  readonly suspects: readonly number[];
}

/** A thread, which judges one batch at a time. */
interface Thread {
  readonly worker: Worker;
  /** Whether it has judged something: if not, another one would not start either. */
  isReady: boolean;
  /** Takes what the thread answers, or why it ended. */
  settle: (answer: ThreadAnswer | Error) => void;
}

class ThreadJudge implements Judge {
  readonly concurrency: number;
  readonly #entryTimeoutMs: number;
  readonly #make: () => Worker;
  readonly #threads = new Set<Thread>();
  #idle: Thread[] = [];
  #waiting: (() => void)[] = [];
  #running = 0;
  #isClosed = false;

  constructor(setting: AuditSetting, options: ThreadOptions & { readonly entryTimeoutMs: number }) {
    const { threads = defaultThreads(), module = shippedThread(), maxHeapMiB, entryTimeoutMs } = options;
    [this.concurrency, this.#entryTimeoutMs] = [threads, entryTimeoutMs];
    const heap = maxHeapMiB !== undefined && { maxOldGenerationSizeMb: maxHeapMiB };
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MIB, ...heap };
    this.#make = () => new Worker(new URL(module), { workerData: setting, resourceLimits });
  }

  judge(batch: Batch): Promise<JudgedBatch> {
    return this.#judge(ownBatch(batch));
  }

  async #judge(batch: Batch): Promise<JudgedBatch> {
    if (batch.entries.length === 1) return this.#judgeAlone(batch);
    const judged = await this.#attempt(batch);
    if ("results" in judged) return judged;
    const parts: JudgedBatch[] = [];
    for (const [from, to] of rangesOf(batch.entries.length, judged.suspects))
      parts.push(await this.#judge(partOf(batch, from, to)));
    return joined(parts);
  }

  /** Judges a single entry, twice if the thread fails, because the entry may not be the cause. */
  async #judgeAlone(batch: Batch): Promise<JudgedBatch> {
    for (let tries = 1; ; tries++) {
      const judged = await this.#attempt(batch);
      if ("results" in judged) return judged;
      if (tries < TRIES) continue;
      if (!judged.isLate) return { results: [UNJUDGED] };
      return { results: [TOO_SLOW], slowest: { at: 0, milliseconds: this.#entryTimeoutMs } };
    }
  }

  async #attempt(batch: Batch): Promise<JudgedBatch | Failure> {
    while (this.#running >= this.concurrency) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#isClosed) throw new Error("the judge is closed");
    this.#running++;
    const [packed, thread] = [pack(batch), this.#idle.pop() ?? this.#start()];
    let isLate = false;
    const watch = new EntryWatch(packed.marks, this.#entryTimeoutMs, () => {
      isLate = true;
      void thread.worker.terminate();
    });
    try {
      const answer = await ask(thread, packed);
      thread.isReady ||= packed.marks.at(-1) === MARK.begun;
      if (answer instanceof Error) {
        if (!thread.isReady && !this.#isClosed) throw new Error(`no thread can be started: ${answer.message}`);
        return { isLate, suspects: watch.begun };
      }
      this.#idle.push(thread);
      if ("error" in answer) throw answer.error;
      return { ...answer, results: expandResults(answer.results) };
    } finally {
      watch.end();
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  #start(): Thread {
    const thread: Thread = { worker: this.#make(), isReady: false, settle: () => {} };
    let why = new Error("it ended by itself");
    thread.worker
      .on("message", (answer: ThreadAnswer) => thread.settle(answer))
      .on("error", (error: Error) => (why = error))
      .on("exit", () => {
        this.#threads.delete(thread);
        this.#idle = this.#idle.filter((each) => each !== thread);
        thread.settle(why);
      });
    this.#threads.add(thread);
    return thread;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }
}

/** Has a thread judge a batch. An idle thread keeps no process alive. */
function ask(thread: Thread, batch: PackedBatch): Promise<ThreadAnswer | Error> {
  const { worker } = thread;
  return new Promise((resolve) => {
    thread.settle = (answer) => {
      worker.unref();
      resolve(answer);
    };
    worker.ref();
    worker.postMessage(batch, [batch.bytes.buffer as ArrayBuffer]);
  });
}

/**
 * Returns the URL of the thread's module: next to a bundled application, or in the installed package. Command, library
 * and tests thus use the same file.
 */
function shippedThread(): string {
  const beside = new URL("./bootproof-thread.js", import.meta.url);
  if (existsSync(beside)) return beside.href;
  const entry = createRequire(import.meta.url).resolve("bootproof/run/node");
  return new URL("../../run/thread.js", pathToFileURL(entry)).href;
}

function pack({ entries, ...batch }: Batch): PackedBatch {
  const ends: number[] = [];
  let length = 0;
  for (const entry of entries) ends.push((length += entry.length));
  const bytes = new Uint8Array(length);
  for (const [at, entry] of entries.entries()) bytes.set(entry, ends[at]! - entry.length);
  return { ...batch, bytes, ends, marks: new Uint8Array(new SharedArrayBuffer(entries.length + 1)) };
}

/**
 * Returns ranges of entries to judge again: each suspect alone and the ranges between suspects. Without suspects, these
 * are the two halves.
 */
function rangesOf(length: number, suspects: readonly number[]): readonly (readonly [from: number, to: number])[] {
  const cuts = suspects.length === 0 ? [Math.ceil(length / 2)] : suspects.flatMap((at) => [at, at + 1]);
  const places = [...new Set([0, ...cuts, length])];
  return places.slice(1).map((to, at) => [places[at]!, to] as const);
}

/** Calls `onLate` when an entry takes too long. Time is counted only after the thread has begun. */
class EntryWatch {
  readonly #marks: Uint8Array;
  readonly #periods: Uint8Array;
  readonly #timer: NodeJS.Timeout;

  constructor(marks: Uint8Array, timeoutMs: number, onLate: () => void) {
    this.#marks = marks;
    this.#periods = new Uint8Array(marks.length - 1);
    this.#timer = setInterval(() => {
      if (this.#isLate()) onLate();
    }, timeoutMs / PERIODS).unref();
  }

  #isLate(): boolean {
    const periods = this.#periods;
    for (const at of periods.keys()) periods[at] = this.#marks[at] === MARK.begun ? periods[at]! + 1 : 0;
    if (!periods.some((each) => each > PERIODS)) return false;
    this.end();
    return true;
  }

  /** The entries that the thread began and did not finish. */
  get begun(): readonly number[] {
    return [...this.#marks.subarray(0, -1).entries()].flatMap(([at, mark]) => (mark === MARK.begun ? at : []));
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
