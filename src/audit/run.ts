import { callable, having, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, flag, optional } from "../decode/shapes.js";
import { CHECK_IDS, type CheckId } from "../checks.js";
import { type Batch, type Judge, type JudgedBatch, numberOf } from "./batch.js";
import { isAccepted } from "../report/accepted.js";
import { type AuditResult, resultLine } from "./result.js";

/** Counts over all entries so far, as plain data of bounded size. */
export interface AuditSummary {
  readonly entries: number;
  readonly accepted: number;
  readonly verdicts: Readonly<Record<AuditResult["verdict"], number>>;
  readonly stale: number;
  /** Number of entries without an expectation, if the batches have expectations. */
  readonly withoutExpected: number;
  /** Number of entries that failed each check, in the order of the checks. */
  readonly failures: Readonly<Partial<Record<CheckId, number>>>;
  /** Number of entries that matched each deployment. */
  readonly deployments: Readonly<Record<string, number>>;
  /** The oldest time of a verified document, in RFC 3339. Null if there is none. */
  readonly oldest: string | null;
  readonly newest: string | null;
}

export const NO_ENTRIES: AuditSummary = {
  entries: 0,
  accepted: 0,
  verdicts: { verified: 0, authentic: 0, rejected: 0, malformed: 0 },
  stale: 0,
  withoutExpected: 0,
  failures: {},
  deployments: {},
  oldest: null,
  newest: null,
};

export type Slowest = NonNullable<JudgedBatch["slowest"]>;

export interface AuditedPart<B extends Batch> {
  readonly batch: B;
  readonly results: readonly AuditResult[];
  readonly lines: string;
  readonly summary: AuditSummary;
  readonly slowest: Slowest | null;
}

/** The members of an `AbortSignal` that are used. Not every platform declares the type. */
export interface AuditSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface AuditRun<B extends Batch> {
  readonly source: AsyncIterable<B>;
  readonly judge: Judge;
  /** Stores one part of the results. The next part is delivered after it resolves. */
  readonly write: (part: AuditedPart<B>) => Promise<void> | void;
  /** Returns the line of a result, without line feed. `at` is the entry's index in the batch. Default: `resultLine`. */
  readonly lineOf?: (result: AuditResult, batch: B, at: number) => string;
  /** Whether to write only entries that were not accepted. */
  readonly onlyFailures?: boolean;
  /** Whether to end after the first entry that was not accepted. */
  readonly failFast?: boolean;
  readonly summary?: AuditSummary;
  /** Ends the run when aborted. Pending batches are dropped, and written results stay. */
  readonly signal?: AuditSignal;
}

const RUN: MembersOf<AuditRun<Batch>> = {
  source: unchecked,
  judge: having("judge"),
  write: callable,
  lineOf: optional(callable),
  onlyFailures: optional(flag),
  failFast: optional(flag),
  summary: optional(plain),
  signal: optional(having()),
};

/**
 * How the run ended. `done` means that the whole input was read, `failed` that the run ended at the first entry that
 * was not accepted, and `aborted` that the signal ended it.
 */
export interface AuditEnd {
  readonly end: "done" | "failed" | "aborted";
  readonly summary: AuditSummary;
  readonly slowest: Slowest | null;
}

/** Number of batches for each thread: one is judged while the next one waits. */
const BATCHES_EACH = 2;
/** Maximum bytes of pending entries. A single batch may exceed it. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Judges all batches of a source. Rejects with the errors of source, judge or `write`. */
export async function runAudit<B extends Batch>(given: AuditRun<B>): Promise<AuditEnd> {
  const run = typedOptions("run", given, RUN as MembersOf<AuditRun<B>>);
  const { source, judge, signal } = run;
  const pipeline = new Pipeline(source[Symbol.asyncIterator](), judge);
  const results = new Results(run);
  const aborted = new Abortion(signal);
  try {
    for (;;) {
      const next = await aborted.or(pipeline.next());
      if (next === "aborted") return results.endOf("aborted");
      if (next === null) return results.endOf("done");
      await run.write(results.add(next.batch, next.judged));
      if (results.hasFailed && run.failFast === true) return results.endOf("failed");
    }
  } finally {
    aborted.forget();
    pipeline.leave();
  }
}

/** Resolves with work or with the abort signal, whichever is first. Unlike `Promise.race`, it retains no results. */
export class Abortion {
  readonly #signal: AuditSignal | undefined;
  #wake: () => void = () => {};
  readonly #listener = (): void => this.#wake();

  constructor(signal: AuditSignal | undefined) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#listener);
  }

  or<T>(work: Promise<T>): Promise<T | "aborted"> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve("aborted");
      if (this.#signal?.aborted === true) resolve("aborted");
      work.then(resolve, reject);
    });
  }

  forget(): void {
    this.#signal?.removeEventListener("abort", this.#listener);
  }
}

interface InFlight<B> {
  readonly batch: B;
  readonly bytes: number;
  readonly judged: Promise<JudgedBatch>;
}

/** Reads ahead as far as there is room, and yields batches in order. */
class Pipeline<B extends Batch> {
  readonly #source: AsyncIterator<B>;
  readonly #judge: Judge;
  readonly #inFlight: InFlight<B>[] = [];
  #bytes = 0;
  #reading: Promise<IteratorResult<B>> | null = null;
  #hasEnded = false;

  constructor(source: AsyncIterator<B>, judge: Judge) {
    this.#source = source;
    this.#judge = judge;
  }

  async next(): Promise<{ readonly batch: B; readonly judged: JudgedBatch } | null> {
    for (;;) {
      if (this.#hasRoom) this.#reading ??= this.#source.next();
      const [head] = this.#inFlight;
      if (head === undefined && this.#reading === null) return null;
      // The reader and the first batch race: neither a slow source nor a slow entry may delay the other.
      const waits = [this.#reading?.then(isRead), head?.judged.then(isJudged)];
      if ((await Promise.race(waits.filter((each) => each !== undefined))) === "read") await this.#take();
      else return { batch: head!.batch, judged: await this.#remove(head!) };
    }
  }

  get #hasRoom(): boolean {
    if (this.#hasEnded) return false;
    const isEmpty = this.#inFlight.length === 0;
    return isEmpty || (this.#inFlight.length < BATCHES_EACH * this.#judge.concurrency && this.#bytes < MAX_BYTES);
  }

  async #take(): Promise<void> {
    const { done, value: batch } = await this.#reading!;
    this.#reading = null;
    if (done === true) {
      this.#hasEnded = true;
      return;
    }
    const bytes = batch.entries.reduce((sum, entry) => sum + entry.length, 0);
    // A batch without entries only has the position that was reached, so it is not judged.
    const isNothing = batch.entries.length === 0;
    const judged = isNothing ? Promise.resolve({ index: batch.index, results: [] }) : this.#judge.judge(batch);
    // The promise may reject before it is awaited.
    judged.catch(() => {});
    this.#inFlight.push({ batch, bytes, judged });
    this.#bytes += bytes;
  }

  #remove({ bytes, judged }: InFlight<B>): Promise<JudgedBatch> {
    this.#inFlight.shift();
    this.#bytes -= bytes;
    return judged;
  }

  /** Ends the source without waiting for it, because it may never answer. */
  leave(): void {
    this.#reading?.catch(() => {});
    this.#source.return?.().catch(() => {});
  }
}

const isRead = (): "read" => "read";
const isJudged = (): "judged" => "judged";

class Results<B extends Batch> {
  readonly #run: AuditRun<B>;
  #summary: AuditSummary;
  #slowest: Slowest | null = null;
  hasFailed = false;

  constructor(run: AuditRun<B>) {
    this.#run = run;
    this.#summary = run.summary ?? NO_ENTRIES;
  }

  add(batch: B, judged: JudgedBatch): AuditedPart<B> {
    const { onlyFailures = false, lineOf = resultLine } = this.#run;
    const results = this.#counted(numbered(batch, withExpected(batch, checkedResults(batch, judged))));
    this.#summary = withResults(this.#summary, results);
    this.hasFailed = this.#summary.accepted < this.#summary.entries;
    const lines = results.flatMap((result, at) =>
      onlyFailures && isAccepted(result) ? [] : `${lineOf(result, batch, at)}\n`,
    );
    const { slowest } = judged;
    if (slowest !== undefined && slowest.milliseconds > (this.#slowest?.milliseconds ?? -1))
      this.#slowest = { ...slowest, n: numberOf(batch, slowest.n) };
    return { batch, results, lines: lines.join(""), summary: this.#summary, slowest: this.#slowest };
  }

  #counted(results: readonly AuditResult[]): readonly AuditResult[] {
    const first = this.#run.failFast === true ? results.findIndex((result) => !isAccepted(result)) : -1;
    return first < 0 ? results : results.slice(0, first + 1);
  }

  endOf(end: AuditEnd["end"]): AuditEnd {
    return { end, summary: this.#summary, slowest: this.#slowest };
  }
}

/** Checks that the results are those of the batch. If some were lost or swapped, an unjudged entry could pass. */
function checkedResults({ index, first, entries }: Batch, judged: JudgedBatch): readonly AuditResult[] {
  const { results } = judged;
  const isWhole = judged.index === index && results.length === entries.length;
  if (!isWhole || results.some(({ n }, at) => n !== first + at))
    throw new Error(`the results of entries ${first} to ${first + entries.length - 1} are not theirs`);
  return results;
}

/** Returns the results with the numbers of the input. A judge counts only the batch's entries, without empty lines. */
function numbered(batch: Batch, results: readonly AuditResult[]): readonly AuditResult[] {
  const { numbers } = batch;
  return numbers === undefined ? results : results.map((result, at) => ({ ...result, n: numbers[at]! }));
}

/** Marks the results of entries without an expectation. */
function withExpected(batch: Batch, results: readonly AuditResult[]): readonly AuditResult[] {
  const { expected } = batch;
  if (expected === undefined) return results;
  return results.map((result, at) => (expected[at] === null ? { ...result, expected: false } : result));
}

/** Returns the counts with those of more results. */
export function withResults(before: AuditSummary, results: readonly AuditResult[]): AuditSummary {
  const verdicts = { ...before.verdicts };
  for (const { verdict } of results) verdicts[verdict]++;
  const failures = counted(
    before.failures,
    results.flatMap(({ failed }) => failed),
  );
  const deployments = counted(
    before.deployments,
    results.flatMap((result) => result.deployments ?? []),
  );
  // All times have the same form, so they can be sorted as text.
  const times = [before.oldest, before.newest, ...results.flatMap(({ documentTimes = [] }) => documentTimes)]
    .filter((time) => time !== null)
    .sort();
  return {
    entries: before.entries + results.length,
    accepted: before.accepted + results.filter(isAccepted).length,
    verdicts,
    stale: before.stale + results.filter(({ stale }) => stale === true).length,
    withoutExpected: before.withoutExpected + results.filter(({ expected }) => expected === false).length,
    failures: Object.fromEntries(CHECK_IDS.flatMap((id) => (failures.has(id) ? [[id, failures.get(id)!]] : []))),
    deployments: Object.fromEntries([...deployments].sort(([a], [b]) => (a < b ? -1 : 1))),
    oldest: times[0] ?? null,
    newest: times.at(-1) ?? null,
  };
}

function counted(before: Readonly<Record<string, number>>, names: readonly string[]): Map<string, number> {
  const counts = new Map(Object.entries(before));
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
