/** Audits files on all cores, and resumes an interrupted audit. */
import { callable, having, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, flag, list, nonEmptyText, optional, simple, text, wholeNumber } from "../decode/shapes.js";
import { realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import type { Judge } from "./batch.js";
import { nodeAuditor } from "./node-auditor.js";
import {
  type ExpectedBatch,
  ExpectedEntries,
  MetLines,
  type UnmetExpectation,
  withExpectations,
} from "./node-expected.js";
import { LineInputs, STDIN_INPUT } from "./node-inputs.js";
import { type InputBatch, type SourceReading, readBatches } from "./node-source.js";
import { AuditFileError, ResultsFile } from "./node-results.js";
import { type AuditProgress, type OpenedState, openState } from "./node-state.js";
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
   * state, and only added entries are judged. Requires `out` to be a file.
   */
  readonly state?: string;
  /**
   * Whether the caller chose `now` of the setting. If so, it must equal `now` of the state. Otherwise a resumed run
   * uses `now` of the state.
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
}

const FILES_OPTIONS: MembersOf<AuditFilesOptions> = {
  inputs: list(text),
  setting: plain,
  expected: optional(simple("an ExpectedEntries", (value) => value instanceof ExpectedEntries)),
  stdin: optional(unchecked),
  out: unchecked,
  state: optional(nonEmptyText),
  isNowGiven: optional(flag),
  judge: optional(callable),
  batchEntries: optional(wholeNumber(1)),
  onlyFailures: optional(flag),
  failFast: optional(flag),
  signal: optional(having()),
  onBootProofs: optional(callable),
  onProgress: optional(callable),
};

/** Progress of the whole run, which includes earlier processes. */
export interface AuditFilesProgress {
  readonly bytes: number;
  readonly summary: AuditSummary;
}

export interface AuditFilesEnd extends AuditEnd {
  /** The number of entries that earlier processes judged. */
  readonly before: number;
  /** The number of empty lines, which are not entries. */
  readonly emptyLines: number;
  /** The slowest entry of this process. `file` is its file or, in a file of lines, `FILE:LINE`. */
  readonly slowest: (Slowest & { readonly file: string }) | null;
  /**
   * How many lines of `expected` no entry matched, and the first of these lines. Null without `expected`, or if the
   * input was not read to its end.
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
  const { inputs, setting, expected = null, onlyFailures = false, failFast = false, isNowGiven = false } = options;
  // This checks the setting before any file is created.
  const { bootProofs } = await nodeAuditor(setting);
  options.onBootProofs?.(bootProofs);
  const opened = new LineInputs(options.stdin);
  await checkedInputs(opened, options);
  for (const file of [options.state, options.out]) if (typeof file === "string") await refuseInside(file, inputs);
  const question = { inputs, onlyFailures, failFast, isNowGiven, setting, expected: expected && expected.digest };
  const state = options.state === undefined ? null : await openState(options.state, question);
  try {
    const keeper = new Keeper(options.out, await resultsOf(options.out, state), state);
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
  if (typeof out === "string") return ResultsFile.open(out, state?.before?.results ?? null, state !== null);
  if (state !== null) throw new TypeError("out: expected a file, since there is a state");
  return null;
}

/**
 * Makes the judge only when the first batch arrives. Without new entries, no thread is started and no queue is joined.
 */
function lateJudge(make: () => Judge | Promise<Judge>): Judge {
  let made: Promise<Judge> | null = null;
  let concurrency = 1;
  return {
    get concurrency() {
      return concurrency;
    },
    async judge(batch) {
      const judge = await (made ??= Promise.resolve(make()));
      concurrency = judge.concurrency;
      return judge.judge(batch);
    },
    close: async () => (await made?.catch(() => null))?.close(),
  };
}

async function audited(options: AuditFilesOptions, keeper: Keeper, opened: LineInputs): Promise<AuditFilesEnd> {
  const { inputs, expected = null, onlyFailures = false, failFast = false, onProgress, signal } = options;
  const { state, before } = keeper;
  const done = before?.summary ?? NO_ENTRIES;
  const reading = readingOf(options, keeper, opened);
  if (before === null) await keeper.save();
  const judge = await judgeFor(options, state);
  let slowest: AuditFilesEnd["slowest"] = null;
  try {
    const run = await runAudit<ExpectedBatch>({
      source: withExpectations(readBatches(inputs, reading), expected),
      judge,
      lineOf,
      summary: done,
      onlyFailures,
      failFast,
      ...(signal && { signal }),
      write: async (part) => {
        await keeper.add(part.lines, part.batch.lines, { position: part.batch.end, summary: part.summary });
        slowest = slower(slowest, part, inputs);
        onProgress?.({ bytes: part.batch.end.bytes, summary: part.summary });
      },
    });
    const end = run.end === "done" && reading.comparesOnly ? "failed" : run.end;
    await keeper.finish(end === "aborted" ? null : end);
    const unmet = end === "done" ? unmetOf(expected, keeper.met) : null;
    return { ...run, end, before: done.entries, emptyLines: keeper.emptyLines, slowest, unmet };
  } finally {
    await judge.close();
  }
}

/**
 * Returns how to read the inputs. If `failFast` ended an earlier process at a failure, they are only compared with the
 * state.
 */
function readingOf(
  { batchEntries, failFast = false }: AuditFilesOptions,
  keeper: Keeper,
  opened: LineInputs,
): SourceReading {
  const { accepted, entries } = keeper.before?.summary ?? NO_ENTRIES;
  const from = keeper.before?.position ?? null;
  return { from, digest: keeper.state !== null, batchEntries, comparesOnly: failFast && accepted < entries, opened };
}

function judgeFor(
  { judge = threadJudge, setting: given }: AuditFilesOptions,
  state: OpenedState | null,
): Judge | Promise<Judge> {
  const setting = state === null ? given : { ...given, now: state.now };
  const hasEnded = (state?.before?.end ?? null) !== null;
  return hasEnded ? lateJudge(() => judge(setting)) : judge(setting);
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

function unmetOf(expected: ExpectedEntries | null, met: MetLines): AuditFilesEnd["unmet"] {
  if (expected === null) return null;
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
  /** The progress to resume from. */
  readonly before: AuditProgress | null;
  /** The lines of the file of expectations that an entry matched. */
  readonly met: MetLines;
  readonly #out: AuditFilesOptions["out"];
  readonly #results: ResultsFile | null;
  #progress: Pick<AuditProgress, "position" | "summary">;
  #savedAt = -Infinity;

  constructor(out: AuditFilesOptions["out"], results: ResultsFile | null, state: OpenedState | null) {
    [this.#out, this.#results, this.state] = [out, results, state];
    this.before = state && state.before;
    this.met = new MetLines(this.before?.met);
    this.#progress = this.before ?? { position: null, summary: NO_ENTRIES };
  }

  async add(
    lines: string,
    met: readonly number[],
    progress: Pick<AuditProgress, "position" | "summary">,
  ): Promise<void> {
    if (typeof this.#out === "function") await this.#out(lines);
    else await this.#results!.append(lines);
    this.#progress = progress;
    for (const line of met) this.met.add(line);
    if (performance.now() - this.#savedAt >= SAVE_EVERY_MS) await this.save();
  }

  /** The number of empty lines of the whole input, up to the position. */
  get emptyLines(): number {
    return this.#progress.position?.emptyLines ?? 0;
  }

  async finish(end: AuditProgress["end"]): Promise<void> {
    await this.#results?.requireOwn();
    await this.save(end);
  }

  async save(end: AuditProgress["end"] = null): Promise<void> {
    if (this.state === null || this.#results === null) return;
    const { position, summary } = this.#progress;
    await this.state.save({ position, summary, met: String(this.met), results: await this.#results.mark(), end });
    this.#savedAt = performance.now();
  }

  async close(): Promise<void> {
    await this.#results?.close();
  }
}
