/** Audits files on all cores, and resumes an interrupted audit. */
import { callable, having, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, flag, list, nonEmptyText, optional, text, wholeNumber } from "../decode/shapes.js";
import { realpath } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import type { Judge, JudgedBatch } from "./batch.js";
import { nodeAuditor } from "./node-auditor.js";
import {
  type ExpectedBatch,
  ExpectedEntries,
  MetLines,
  type UnmetExpectation,
  withExpectations,
} from "./node-expected.js";
import { LineInputs, STDIN_INPUT } from "./node-inputs.js";
import { type InputBatch, openedBatches } from "./node-source.js";
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
  /** Files of lines, folders, or `-` for {@link stdin}. */
  readonly inputs: readonly string[];
  readonly setting: AuditSetting;
  /** What the entries must answer. Never take it from the entries. */
  readonly expected?: ExpectedEntries;
  readonly stdin?: AsyncIterable<Uint8Array>;
  /** A file, which is overwritten unless `state` exists, or a function that takes text. */
  readonly out: string | ((lines: string) => Promise<void> | void);
  /**
   * The file of the run's state. If it exists, the run goes on: the inputs are read again and compared with the state,
   * and only added entries are judged. Requires `out` to be a file.
   */
  readonly state?: string;
  /**
   * Whether the caller chose the `now` of {@link setting}, which must then be that of the `state`. Otherwise a resumed
   * run uses that of the `state`.
   */
  readonly isNowGiven?: boolean;
  /** Makes the judge, which is closed at the end. Default: threads (`threadJudge`). */
  readonly judge?: (setting: AuditSetting) => Judge | Promise<Judge>;
  /** The maximal number of entries of a batch. Default: 512. */
  readonly batchEntries?: number;
  readonly onlyFailures?: boolean;
  readonly failFast?: boolean;
  readonly signal?: AuditSignal;
  /** This is called first, with the results of the setting's boot proofs, in their order. */
  readonly onBootProofs?: (judged: readonly EntryResult[]) => void;
  readonly onProgress?: (progress: AuditFilesProgress) => void;
}

const FILES_OPTIONS: MembersOf<AuditFilesOptions> = {
  inputs: list(text),
  setting: plain,
  expected: optional(unchecked),
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

/** Progress of the whole run, earlier processes included. */
export interface AuditFilesProgress {
  readonly bytes: number;
  readonly summary: AuditSummary;
}

export interface AuditFilesEnd extends AuditEnd {
  /** The number of entries that earlier processes judged. */
  readonly before: number;
  /** The number of lines of the whole input that are not entries. */
  readonly emptyLines: number;
  /** The slowest entry of this process. `file` is its file; for a file of lines it is `FILE:LINE`. */
  readonly slowest: (Slowest & { readonly file: string }) | null;
  /**
   * How many lines of `expected` no entry matched, and the first of them. Null without `expected`, or if the input was
   * not read to its end.
   */
  readonly unmet: { readonly count: number; readonly first: readonly UnmetExpectation[] } | null;
}

const MAX_UNMET = 10;

/** Minimal time between two writes of the state, each of which waits for the disk. */
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
  const options = Object.assign(own, { inputs: [...own.inputs], setting: ownSetting(own.setting) });
  const { inputs, onlyFailures = false, failFast = false, isNowGiven = false } = options;
  const question = { inputs, onlyFailures, failFast, isNowGiven, ...settingAndExpected(options) };
  // This checks the setting before any file is created.
  const { bootProofs } = await nodeAuditor(options.setting);
  options.onBootProofs?.(bootProofs);
  const opened = new LineInputs(options.stdin);
  await checkedInputs(opened, options);
  for (const file of [options.state, options.out]) if (typeof file === "string") await refuseInside(file, inputs);
  const state = options.state === undefined ? null : await openState(options.state, question);
  try {
    return await withState(options, state, opened);
  } finally {
    await state?.close();
  }
}

/** Checks the inputs before anything is written. A slow stdin must not delay the signal. */
async function checkedInputs(opened: LineInputs, { inputs, signal }: AuditFilesOptions): Promise<void> {
  const aborted = new Abortion(signal);
  try {
    await aborted.or(opened.check(inputs));
  } finally {
    aborted.forget();
  }
}

function settingAndExpected({ setting, expected }: AuditFilesOptions): {
  readonly setting: AuditSetting;
  readonly expected: string | null;
} {
  if (expected === undefined) return { setting, expected: null };
  if (!(expected instanceof ExpectedEntries)) throw new TypeError("options.expected: expected an ExpectedEntries");
  return { setting, expected: expected.digest };
}

/** Refuses output in an audited folder, where it might become an entry, and to an input, which it would destroy. */
async function refuseInside(file: string, inputs: readonly string[]): Promise<void> {
  const folder = await realpath(dirname(resolve(file))).catch(() => null);
  for (const input of inputs) {
    const found = input === STDIN_INPUT ? null : await realpath(input).catch(() => null);
    if (found !== null && found === (await realpath(file).catch(() => null)))
      throw new AuditFileError(file, "it is an input of the audit: results would overwrite it");
    if (folder !== null && found !== null && `${folder}${sep}`.startsWith(`${found}${sep}`))
      throw new AuditFileError(file, `inside ${input}, which is audited: it would be an entry of it`);
  }
}

async function withState(
  options: AuditFilesOptions,
  state: OpenedState | null,
  opened: LineInputs,
): Promise<AuditFilesEnd> {
  const { out } = options;
  const before = state?.before ?? null;
  if (state !== null && typeof out !== "string") throw new TypeError("out: expected a file, since there is a state");
  const results = typeof out === "string" ? await resultsOf(out, state) : null;
  const keeper = new Keeper(out, { results, state, before });
  try {
    if (before === null) await keeper.save();
    return await audited(options, { state, keeper, before, opened });
  } finally {
    await results?.close();
  }
}

function resultsOf(path: string, state: OpenedState | null): Promise<ResultsFile> {
  const before = state?.before ?? null;
  return before === null ? ResultsFile.create(path, state !== null) : ResultsFile.resume(path, before.results);
}

interface Running {
  readonly state: OpenedState | null;
  readonly keeper: Keeper;
  readonly before: AuditProgress | null;
  readonly opened: LineInputs;
}

function sourceOf(options: AuditFilesOptions, { before, state, opened }: Running): AsyncGenerator<InputBatch> {
  const { inputs, batchEntries } = options;
  const from = before?.position ?? null;
  const reading = { from, digest: state !== null, ...(batchEntries !== undefined && { batchEntries }) };
  return openedBatches(inputs, reading, { comparesOnly: from !== null && hasFailedFast(options, before), opened });
}

/** After a first failure in an earlier process, this one does not judge either. */
function hasFailedFast({ failFast = false }: AuditFilesOptions, before: AuditProgress | null): boolean {
  return failFast && before !== null && before.summary.accepted < before.summary.entries;
}

/** Makes the judge with the first batch. Without new entries, no thread is started and no queue joined. */
class LateJudge implements Judge {
  readonly #make: () => Judge | Promise<Judge>;
  #made: Promise<Judge> | null = null;
  concurrency = 1;

  constructor(make: () => Judge | Promise<Judge>) {
    this.#make = make;
  }

  async judge(batch: InputBatch): Promise<JudgedBatch> {
    this.#made ??= Promise.resolve(this.#make());
    const judge = await this.#made;
    this.concurrency = judge.concurrency;
    return judge.judge(batch);
  }

  async close(): Promise<void> {
    await (await this.#made?.catch(() => null))?.close();
  }
}

function judgeFor(
  { judge: judgeOf = threadJudge }: AuditFilesOptions,
  setting: AuditSetting,
  before: AuditProgress | null,
): Judge | Promise<Judge> {
  const hasEnded = before !== null && before.end !== null;
  return hasEnded ? new LateJudge(() => judgeOf(setting)) : judgeOf(setting);
}

async function audited(options: AuditFilesOptions, running: Running): Promise<AuditFilesEnd> {
  const { state, keeper, before } = running;
  const { onlyFailures = false, failFast = false, onProgress, signal } = options;
  const setting = { ...options.setting, ...(state !== null && { now: state.now }) };
  const done = before?.summary ?? NO_ENTRIES;
  const { expected = null } = options;
  const source = withExpectations(sourceOf(options, running), expected);
  const judge = await judgeFor(options, setting, before);
  const slowest = new SlowestEntry(options.inputs);
  try {
    const run = await runAudit<ExpectedBatch>({
      source,
      judge,
      lineOf,
      summary: done,
      onlyFailures,
      failFast,
      ...(signal && { signal }),
      write: async (part) => {
        await keeper.add(part.lines, part.batch.lines, { position: part.batch.end, summary: part.summary });
        slowest.see(part);
        onProgress?.({ bytes: part.batch.end.bytes, summary: part.summary });
      },
    });
    const end = run.end === "done" && hasFailedFast(options, before) ? "failed" : run.end;
    await keeper.finish(end === "aborted" ? null : end);
    const unmet = end === "done" ? unmetOf(expected, keeper.met) : null;
    const { emptyLines } = keeper;
    return { ...run, end, before: done.entries, emptyLines, slowest: slowest.found, unmet };
  } finally {
    await judge.close();
  }
}

/** Names the place of the slowest entry while its batch is there. */
class SlowestEntry {
  readonly #inputs: readonly string[];
  found: AuditFilesEnd["slowest"] = null;

  constructor(inputs: readonly string[]) {
    this.#inputs = inputs;
  }

  see({ slowest, batch }: AuditedPart<InputBatch>): void {
    const { n, milliseconds } = slowest ?? { n: 0, milliseconds: -1 };
    if (milliseconds <= (this.found?.milliseconds ?? -1)) return;
    this.found = { n, milliseconds, file: this.#placeOf(batch, n) };
  }

  #placeOf({ first, numbers, files, end }: InputBatch, n: number): string {
    const inside = files[numbers?.indexOf(n) ?? n - first] ?? null;
    if (inside !== null && this.#inputs.length > 1) return inside;
    const name = this.#inputs[end.input]!;
    if (inside !== null) return `${name.replace(/\/+$/, "")}/${inside}`;
    return `${name === STDIN_INPUT ? "stdin" : name}:${n}`;
  }
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

/** Writes results first, then the state that refers to them. */
class Keeper {
  readonly #out: AuditFilesOptions["out"];
  readonly #results: ResultsFile | null;
  readonly #state: OpenedState | null;
  /** The lines of expectations that an entry matched. */
  readonly met: MetLines;
  #progress: Pick<AuditProgress, "position" | "summary">;
  #savedAt = -Infinity;

  constructor(
    out: AuditFilesOptions["out"],
    parts: {
      readonly results: ResultsFile | null;
      readonly state: OpenedState | null;
      readonly before: AuditProgress | null;
    },
  ) {
    this.#out = out;
    this.#results = parts.results;
    this.#state = parts.state;
    this.met = new MetLines(parts.before?.met);
    this.#progress = parts.before ?? { position: null, summary: NO_ENTRIES };
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
    if (this.#state === null || this.#results === null) return;
    const { position, summary } = this.#progress;
    await this.#state.save({ position, summary, met: String(this.met), results: await this.#results.mark(), end });
    this.#savedAt = performance.now();
  }
}
