/** Audits files on all cores, and resumes an interrupted audit. */
import { callable, having, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, demand, flag, list, nonEmptyText, optional, simple, text } from "../decode/shapes.js";
import { realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import type { Batch, Judge } from "./batch.js";
import { nodeAuditor } from "./node-auditor.js";
import {
  type ExpectedBatch,
  ExpectedEntries,
  MetLines,
  type UnmetExpectation,
  withExpectations,
} from "./node-expected.js";
import { extentOf, stillHas } from "./node-extent.js";
import { LineInputs, STDIN_INPUT } from "./node-inputs.js";
import { INPUT_OPTIONS, type InputBatch, readBatches } from "./node-source.js";
import { AuditFileError, ResultsFile } from "./node-results.js";
import { type AuditProgress, type OpenedState, type Segment, openState } from "./node-state.js";
import { type AuditResult, type EntryResult, resultLine } from "./result.js";
import { threadJudge } from "./node-threads.js";
import {
  Abortion,
  type AuditEnd,
  type AuditSignal,
  type AuditSummary,
  type AuditedPart,
  NO_ENTRIES,
  type Slowest,
  runAudit,
  withResults,
} from "./run.js";
import { type AuditSetting, ownSetting } from "./setting.js";

export interface AuditFilesOptions {
  /** Files of lines, folders, or `-` for `stdin`. */
  readonly inputs: readonly string[];
  readonly setting: AuditSetting;
  /** What the caller expects of the entries. Never take it from the entries. */
  readonly expected?: ExpectedEntries;
  readonly stdin?: AsyncIterable<Uint8Array>;
  /** The path of a file, or a function that takes text. Without `state`, an existing file is overwritten. */
  readonly out: string | ((lines: string) => Promise<void> | void);
  /**
   * The file of the run's state. If it exists, the run is resumed: the inputs are read again and compared with the
   * state, and only added entries are judged. What is added while the run reads is left to the next one. Requires `out`
   * to be a file.
   */
  readonly state?: string;
  /**
   * Whether the caller chose `now` of the setting. If so, it must equal that of an unfinished segment, if entries of it
   * are left. Otherwise these are judged by their segment's `now`, and only later ones by that of the setting.
   */
  readonly isNowGiven?: boolean;
  /** Makes the judge. The run closes it at its end. Default: threads (`threadJudge`). */
  readonly judge?: (setting: AuditSetting) => Judge | Promise<Judge>;
  /** Maximum number of entries in a batch. Default: 512. */
  readonly batchEntries?: number;
  readonly onlyFailures?: boolean;
  readonly failFast?: boolean;
  readonly signal?: AuditSignal;
  /** Called first, with the results of the setting's boot proofs in their order. */
  readonly onBootProofs?: (judged: readonly EntryResult[]) => void;
  readonly onProgress?: (progress: AuditFilesProgress) => void;
  /** Called when a segment begins after earlier ones, before its first entry is judged. */
  readonly onSegment?: (segment: BegunSegment) => void;
  /**
   * Called with the end, before the state says that it was reported. If the process ends before that, `added` of the
   * next run includes these entries.
   */
  readonly onEnd?: (end: AuditFilesEnd) => Promise<void> | void;
}

const { stdin, batchEntries } = INPUT_OPTIONS;
const FILES_OPTIONS: MembersOf<AuditFilesOptions> = {
  ...{ stdin, batchEntries },
  inputs: list(text),
  setting: plain,
  expected: demand(simple("an ExpectedEntries", (value) => value instanceof ExpectedEntries)),
  out: unchecked,
  state: optional(nonEmptyText),
  isNowGiven: optional(flag),
  judge: optional(callable),
  onlyFailures: optional(flag),
  failFast: optional(flag),
  signal: optional(having()),
  onBootProofs: optional(callable),
  onProgress: optional(callable),
  onSegment: optional(callable),
  onEnd: optional(callable),
};

/** A segment of a run with a state (audit/README.md, "Segments"). */
export interface BegunSegment {
  /** Number of its first entry. */
  readonly first: number;
  readonly now: string;
  /** What differs from the segment before, such as `--policy`, apart from its time. */
  readonly changed: readonly string[];
}

/** Progress of the whole run, which includes earlier processes. `added` is as in {@link AuditFilesEnd}. */
export interface AuditFilesProgress {
  readonly bytes: number;
  readonly summary: AuditSummary;
  readonly added: AuditSummary;
}

export interface AuditFilesEnd extends AuditEnd {
  /** The number of entries that earlier processes judged. */
  readonly before: number;
  /**
   * The entries since the last run that ended by itself and reported it. `included` is how many of these an earlier
   * process judged.
   */
  readonly added: AuditSummary;
  readonly included: number;
  /** The number of empty lines, which are not entries. */
  readonly emptyLines: number;
  /** The slowest entry of this process. `file` is its file or, in a file of lines, `FILE:LINE`. */
  readonly slowest: (Slowest & { readonly file: string }) | null;
  /**
   * How many lines of `expected` no entry was compared with, and the first of these lines. Null without `expected`, or
   * if the input was not read to its end.
   */
  readonly unmet: { readonly count: number; readonly first: readonly UnmetExpectation[] } | null;
}

const MAX_UNMET = 10;

/** Minimum time between two writes of the state. Each write waits for the disk. */
const SAVE_EVERY_MS = 500;

/**
 * Audits files. Rejects with `AuditInputError` for an input that cannot be read, has no lines (see `inputBatches`) or
 * was changed, with `AuditFileError` for results or a state that cannot be written or resumed, and with
 * `MalformedError` for a malformed setting.
 *
 * @example
 * const { end, summary } = await auditFiles({ inputs: ["proofs.ndjson"], setting, out: "results.ndjson" });
 */
export async function auditFiles(given: AuditFilesOptions): Promise<AuditFilesEnd> {
  const own = typedOptions("options", given, FILES_OPTIONS);
  const options = Object.assign(own, { setting: ownSetting(own.setting) });
  const { inputs, setting, expected = null, onlyFailures = false, failFast = false } = options;
  // This checks the setting before any file is created.
  const { bootProofs } = await nodeAuditor(setting);
  options.onBootProofs?.(bootProofs);
  const opened = new LineInputs(options.stdin);
  await checkedInputs(opened, options);
  for (const file of [options.state, options.out]) if (typeof file === "string") await refuseInside(file, inputs);
  const question = { inputs, onlyFailures, failFast, setting, expected: expected && expected.mark() };
  const state = options.state === undefined ? null : await openState(options.state, question);
  try {
    const keeper = new Keeper(options, await resultsOf(options.out, state), state);
    return await audited(options, keeper, opened).finally(() => keeper.close());
  } finally {
    await state?.close();
  }
}

/** Checks the inputs before anything is written. If stdin is slow, an abort still takes effect at once. */
async function checkedInputs(opened: LineInputs, { inputs, signal }: AuditFilesOptions): Promise<void> {
  const aborted = new Abortion(signal);
  await aborted.or(opened.check(inputs)).finally(() => aborted.forget());
}

/** Refuses an output file in an audited folder, where it could become an entry, and an output file that is an input. */
async function refuseInside(file: string, inputs: readonly string[]): Promise<void> {
  const folder = await realpath(dirname(resolve(file))).catch(() => null);
  for (const input of inputs) {
    const found = input === STDIN_INPUT ? null : await realpath(input).catch(() => null);
    if (found !== null && found === (await realpath(file).catch(() => null)))
      throw new AuditFileError(file, "it is an input of the audit: results would overwrite it");
    if (folder !== null && found !== null && `${folder}${sep}`.startsWith(`${found}${sep}`))
      throw new AuditFileError(file, `inside ${input}, which is audited: it would become an entry`);
  }
}

async function resultsOf(out: AuditFilesOptions["out"], state: OpenedState | null): Promise<ResultsFile | null> {
  if (typeof out === "string") return ResultsFile.open(out, state?.before?.segments ?? null, state !== null);
  if (state !== null) throw new TypeError("out: expected a file, since there is a state");
  return null;
}

/**
 * Makes the judge only when the first batch arrives. Without new entries, no thread is started and no queue is joined.
 */
function lateJudge(make: (first: Batch) => Promise<Judge>): Judge {
  let made: Promise<Judge> | null = null;
  let concurrency = 1;
  return {
    get concurrency() {
      return concurrency;
    },
    async judge(batch) {
      const judge = await (made ??= make(batch));
      concurrency = judge.concurrency;
      return judge.judge(batch);
    },
    close: async () => (await made?.catch(() => null))?.close(),
  };
}

/** Judges what is left of an unfinished segment, and then what was added, as a new segment. */
async function audited(options: AuditFilesOptions, keeper: Keeper, opened: LineInputs): Promise<AuditFilesEnd> {
  const { inputs, expected } = options;
  if (keeper.state !== null) keeper.extents = await Promise.all(inputs.map((input) => extentOf(input)));
  const [before, included] = [keeper.progress.summary.entries, keeper.progress.added.entries];
  const goesOn = await isUnfinished(keeper, inputs);
  let end = goesOn ? await judged(options, keeper, opened, true) : "done";
  if (end === "done" && (!goesOn || hasMore(keeper))) end = await judged(options, keeper, opened, false);
  await keeper.finish(end);
  const { summary, added, position } = keeper.progress;
  const ended: AuditFilesEnd = {
    ...{ end, summary, before, added, included },
    emptyLines: position?.emptyLines ?? 0,
    slowest: keeper.slowest,
    unmet: end === "done" && expected !== undefined ? unmetOf(expected, keeper.met) : null,
  };
  await options.onEnd?.(ended);
  if (end !== "aborted") await keeper.report();
  return ended;
}

/** Whether the last segment has to go on: it did not end, and this process would judge as it does. */
async function isUnfinished({ state, progress }: Keeper, inputs: readonly string[]): Promise<boolean> {
  const { changed = [] } = state ?? {};
  if (progress.segments.length === 0 || progress.end !== null || changed.length > 0) return false;
  for (const [at, input] of inputs.entries())
    if (!(await stillHas(input, progress.extents[at] ?? null)))
      changed.push("INPUT (its gzip was packed again, or was incomplete)");
  return changed.length === 0;
}

/** Whether there may be more than the last segment had. Stdin is read once: the next process finds the rest. */
function hasMore({ extents, progress }: Keeper): boolean {
  return !extents!.includes(null) && JSON.stringify(progress.extents) !== JSON.stringify(extents);
}

/** Judges the rest of the last segment if the process `goesOn` with it, or else all that follows, as a new one. */
async function judged(
  options: AuditFilesOptions,
  keeper: Keeper,
  opened: LineInputs,
  goesOn: boolean,
): Promise<AuditFilesEnd["end"]> {
  const { inputs, setting, expected = null, onlyFailures = false, failFast = false, batchEntries, signal } = options;
  const { position: from, summary, extents } = keeper.progress;
  // If `failFast` ended an earlier process at a failure, the inputs are only compared with the state.
  const comparesOnly = failFast && summary.accepted < summary.entries;
  const limits = goesOn ? extents : keeper.extents;
  const reading = { from, digest: keeper.state !== null, batchEntries, comparesOnly, limits, opened };
  const { judge: make = threadJudge } = options;
  const judge = lateJudge(async ({ first }) => make({ ...setting, now: await keeper.enter(goesOn, first) }));
  try {
    const { end } = await runAudit<ExpectedBatch>({
      source: withExpectations(readBatches(inputs, reading), expected),
      judge,
      lineOf,
      summary,
      onlyFailures,
      failFast,
      ...(signal && { signal }),
      write: async (part) => {
        await keeper.add(part);
        if (part.results.length > 0)
          options.onProgress?.({ bytes: part.batch.end.bytes, summary: part.summary, added: keeper.progress.added });
      },
    });
    return end === "done" && comparesOnly ? "failed" : end;
  } finally {
    await judge.close();
  }
}

/** Finds the place of the slowest entry. It must be found while the entry's batch is in memory. */
function slower(
  before: AuditFilesEnd["slowest"],
  { slowest, batch }: AuditedPart<InputBatch>,
  inputs: readonly string[],
): AuditFilesEnd["slowest"] {
  if (slowest === null || slowest.milliseconds <= (before?.milliseconds ?? -1)) return before;
  return { ...slowest, file: placeOf(batch, slowest.n, inputs) };
}

function placeOf({ first, numbers, files, end }: InputBatch, n: number, inputs: readonly string[]): string {
  const inside = files[numbers?.indexOf(n) ?? n - first] ?? null;
  if (inside !== null && inputs.length > 1) return inside;
  const name = inputs[end.input]!;
  if (inside !== null) return `${name.replace(/\/+$/, "")}/${inside}`;
  return `${name === STDIN_INPUT ? "stdin" : name}:${n}`;
}

function unmetOf(expected: ExpectedEntries, met: MetLines): AuditFilesEnd["unmet"] {
  const unmet = [...expected.unmet(met)];
  return { count: unmet.length, first: unmet.slice(0, MAX_UNMET) };
}

function lineOf(result: AuditResult, { files }: InputBatch, at: number): string {
  const file = files[at] ?? null;
  return resultLine(file === null ? result : { ...result, file });
}

/** Writes results first and then the state, because the state refers to the results. */
class Keeper {
  readonly state: OpenedState | null;
  progress: AuditProgress;
  slowest: AuditFilesEnd["slowest"] = null;
  /** What the inputs had when this process began. Null without a state. */
  extents: AuditProgress["extents"] | null = null;
  readonly #options: AuditFilesOptions;
  readonly #results: ResultsFile | null;
  #met: MetLines;
  #savedAt = -Infinity;

  constructor(options: AuditFilesOptions, results: ResultsFile | null, state: OpenedState | null) {
    [this.#options, this.#results, this.state] = [options, results, state];
    const none = { position: null, segments: [], extents: [], summary: NO_ENTRIES, added: NO_ENTRIES, end: null };
    this.progress = state?.before ?? { ...none, expected: options.expected?.mark() ?? "", met: "" };
    this.#met = new MetLines(this.progress.met);
  }

  /**
   * The lines of the file of expectations that an entry matched. Numbers of lines count only if the earlier file is the
   * beginning of this one.
   */
  get met(): MetLines {
    const { expected } = this.#options;
    return expected?.beginsAs(this.progress.expected) === false ? new MetLines() : this.#met;
  }

  /** Begins a segment with its first entry, or goes on with an unfinished one. Returns its `now`. */
  async enter(goesOn: boolean, first: number): Promise<string> {
    const { isNowGiven = false, expected, setting, onSegment } = this.#options;
    const { now } = setting;
    if (this.state === null) return now;
    const last = this.progress.segments.at(-1);
    if (goesOn) {
      if (!isNowGiven || last!.now === now) return last!.now;
      const message = `entries are left that are judged by --now ${last!.now}: repeat it, or leave --now out`;
      throw new AuditFileError(this.state.path, message);
    }
    const { asked, changed } = this.state;
    const isOther = last === undefined || changed.length > 0;
    const begun = { first, now, ...(isOther && { asked }), results: { length: 0, digest: "" } };
    const segments = [...(await this.#segments()), begun];
    this.#met = this.met;
    this.#results!.begin();
    const mark = expected?.mark() ?? this.progress.expected;
    this.progress = { ...this.progress, segments, extents: this.extents!, expected: mark, end: null };
    await this.#save();
    if (last !== undefined) onSegment?.({ first, now, changed });
    return now;
  }

  async add(part: AuditedPart<ExpectedBatch>): Promise<void> {
    const { lines, batch, results, summary } = part;
    const { out, inputs } = this.#options;
    if (typeof out === "function") await out(lines);
    else await this.#results!.append(lines);
    const added = withResults(this.progress.added, results);
    this.progress = { ...this.progress, position: batch.end, summary, added };
    this.slowest = slower(this.slowest, part, inputs);
    for (const line of batch.lines) this.#met.add(line);
    if (performance.now() - this.#savedAt >= SAVE_EVERY_MS) await this.#save();
  }

  async finish(end: AuditFilesEnd["end"]): Promise<void> {
    await this.#results?.requireOwn();
    if (end !== "aborted") this.progress = { ...this.progress, end };
    await this.#save();
  }

  /** Records that the end was reported. */
  async report(): Promise<void> {
    if (this.progress.added.entries === 0) return;
    this.progress = { ...this.progress, added: NO_ENTRIES };
    await this.#save();
  }

  /** Returns the segments, the last one with the results that it has now. */
  async #segments(): Promise<readonly Segment[]> {
    const { segments } = this.progress;
    const results = await this.#results!.mark();
    return [...segments.slice(0, -1), ...segments.slice(-1).map((last) => ({ ...last, results }))];
  }

  async #save(): Promise<void> {
    if (this.state === null) return;
    await this.state.save({ ...this.progress, segments: await this.#segments(), met: String(this.#met) });
    this.#savedAt = performance.now();
  }

  async close(): Promise<void> {
    await this.#results?.close();
  }
}
