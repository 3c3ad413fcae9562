/** Audits files on all cores, into a file of results, and goes on behind the results of earlier runs. */
import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { toUtf8 } from "../bytes.js";
import { callable, having, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, demand, flag, list, optional, simple, text, wholeNumber } from "../decode/shapes.js";
import type { Signal } from "../door/platform.js";
import { untilAborted } from "../door/waiting.js";
import { settingParts } from "../plain-settings.js";
import { isAccepted } from "../report/accepted.js";
import { TOOL } from "../version.js";
import type { HealthWork } from "./health.js";
import type { Judge, JudgedBatch } from "./judge.js";
import {
  type AuditResult,
  type EntryPlace,
  NO_LINES,
  type RunContent,
  type RunEnd,
  lineText,
  resultStart,
} from "./line.js";
import { nodeAuditor } from "./node-auditor.js";
import { EarlierRuns, Matcher } from "./node-earlier.js";
import { ExpectedEntries, type UnmetExpectation } from "./node-expected.js";
import { RunFile, RunFileError, sha256Hex } from "./node-file.js";
import { LineInputs, STDIN_INPUT } from "./node-inputs.js";
import { type InputBatch, readBatches } from "./node-source.js";
import { threadJudge } from "./node-threads.js";
import { Pipeline } from "./pipeline.js";
import type { EntryResult } from "./result.js";
import { type AuditSetting, ownSetting, settingDigest } from "./setting.js";
import type { AuditSummary, Tally } from "./summary.js";

export interface AuditFilesOptions {
  /** Files of lines, folders, or `-` for `stdin`. */
  readonly inputs: readonly string[];
  readonly setting: AuditSetting;
  /** What the caller expects of the entries. Never take it from the entries. */
  readonly expected?: ExpectedEntries;
  readonly stdin?: AsyncIterable<Uint8Array>;
  /** The path of the file of results, or a function that takes lines. Without `resume`, a file is overwritten. */
  readonly out: string | ((lines: string) => Promise<void> | void);
  /** Whether to go on behind the results that `out`, a file, has of earlier runs by the same setting. */
  readonly resume?: boolean;
  /** Makes the judge when there is something to judge. The run closes it at its end. Default: `threadJudge`. */
  readonly judge?: (setting: AuditSetting) => Judge | Promise<Judge>;
  /** Maximum number of entries in a batch. Default: 512. */
  readonly batchEntries?: number;
  /** Of accepted entries, a file gets one line for many, and a function gets none. */
  readonly onlyFailures?: boolean;
  /** Whether to end after the first entry that is not accepted. */
  readonly failFast?: boolean;
  readonly signal?: Signal;
  /** Called first, with the results of the setting's boot proofs in their order. */
  readonly onBootProofs?: (judged: readonly EntryResult[]) => void;
  readonly onProgress?: (progress: AuditProgress) => void;
  readonly onNote?: (text: string) => void;
  /**
   * Called with the end, before the file says that it was reported. If the process ends before that, the next run that
   * resumes includes these entries.
   */
  readonly onEnd?: (end: AuditEnd) => Promise<void> | void;
}

const OPTIONS: MembersOf<AuditFilesOptions> = {
  inputs: list(text),
  setting: plain,
  expected: demand(simple("an ExpectedEntries", (value) => value instanceof ExpectedEntries)),
  stdin: optional(unchecked),
  out: unchecked,
  resume: optional(flag),
  judge: optional(callable),
  batchEntries: optional(wholeNumber(1)),
  onlyFailures: optional(flag),
  failFast: optional(flag),
  signal: optional(having()),
  onBootProofs: optional(callable),
  onProgress: optional(callable),
  onNote: optional(callable),
  onEnd: optional(callable),
};

/** Progress of this run: bytes that were read, and counts of what {@link AuditEnd.reported} has. */
export interface AuditProgress extends HealthWork {
  readonly bytes: number;
  readonly refused: number;
}

export interface AuditEnd {
  /** `done`: the whole input was read. `failed`: the run ended at the first entry that was not accepted. */
  readonly end: "done" | "failed" | "aborted";
  /** The entries that this run judged, and those of earlier runs that no run has reported. */
  readonly reported: AuditSummary;
  /** How many of these an earlier run judged. */
  readonly included: number;
  /** All entries of the file. */
  readonly total: AuditSummary;
  /** Number of empty lines, which are not entries. */
  readonly emptyLines: number;
  readonly slowest: (EntryPlace & { readonly milliseconds: number }) | null;
  /** The first entries of this run that could not be judged. */
  readonly unjudged: readonly EntryPlace[];
  /**
   * How many lines of `expected` no entry was compared with, and the first of these lines. Null without `expected`, or
   * if the input was not read to its end.
   */
  readonly unmet: { readonly count: number; readonly first: readonly UnmetExpectation[] } | null;
}

const MAX_NAMED = 10;
/** Milliseconds between two times at which the results are made durable, each of which waits for the disk. */
const SYNC_MS = 1000;
/** Number of accepted entries for which one line is written at most: a kill loses those that have none yet. */
const MAX_ACCEPTED = 65_536;

/**
 * Audits files. Rejects with `RunInputError` for an input that cannot be read, is packed by Zstandard, or is one JSON
 * value over several lines or one list, with `RunFileError` for a file of results that cannot be written or resumed,
 * and with `MalformedError` for a malformed setting.
 *
 * @example
 * const { end, reported } = await auditFiles({ inputs: ["proofs.ndjson"], setting, out: "results.ndjson" });
 */
export async function auditFiles(given: AuditFilesOptions): Promise<AuditEnd> {
  const own = typedOptions("options", given, OPTIONS);
  const options = Object.assign(own, { setting: ownSetting(own.setting) });
  const { inputs, out, resume = false } = options;
  if (resume && typeof out !== "string") throw new TypeError("options.out: expected a file with options.resume");
  // This checks the setting before any file is made.
  const { bootProofs } = await nodeAuditor(options.setting);
  options.onBootProofs?.(bootProofs);
  const opened = new LineInputs(options.stdin);
  await unlessAborted(opened.check(inputs), options.signal);
  if (typeof out === "string") await refuseInside(out, inputs);
  const earlier = new EarlierRuns();
  const onLine: EarlierRuns["add"] = (line, offset) => earlier.add(line, offset);
  const { onNote } = options;
  const file =
    typeof out === "string" ? await RunFile.open(out, { onLine, isNew: !resume, ...(onNote && { onNote }) }) : null;
  try {
    return await new Audit(options, { file, earlier, opened }).run();
  } finally {
    await file?.close();
  }
}

/** Resolves with the work, or at once when the signal is aborted. */
function unlessAborted<T>(work: Promise<T>, signal: Signal | undefined): Promise<T | "aborted"> {
  return untilAborted(work, signal).catch((error: unknown) => {
    if (signal?.aborted === true) return "aborted";
    throw error;
  });
}

/** Refuses an output file in an audited folder, where it could become an entry, and an output file that is an input. */
async function refuseInside(file: string, inputs: readonly string[]): Promise<void> {
  const folder = await realpath(dirname(resolve(file))).catch(() => null);
  for (const input of inputs) {
    const found = input === STDIN_INPUT ? null : await realpath(input).catch(() => null);
    if (found !== null && found === (await realpath(file).catch(() => null)))
      throw new RunFileError("disk", file, "it is an input of the audit: results would overwrite it");
    if (folder !== null && found !== null && `${folder}${sep}`.startsWith(`${found}${sep}`))
      throw new RunFileError("disk", file, `inside ${input}, which is audited: it would become an entry`);
  }
}

/** The option of the command for each part of a setting. */
const OPTION_OF: Readonly<Record<string, string>> = {
  policy: "--policy",
  trustAnchors: "the trust anchors",
  trustedRoots: "the trusted roots of provenance",
  at: "--at",
  allowDebug: "--allow-debug",
  acceptance: "--fail-on-warning",
  maxAgeMs: "--max-age",
  bootProofs: "--boot-proof",
  provenance: "--provenance",
  onlyFailures: "--only-failures",
  expected: "--expected",
};

interface Ground {
  readonly file: RunFile | null;
  readonly earlier: EarlierRuns;
  readonly opened: LineInputs;
}

/** Entries that are not judged yet, with the SHA-256 of each. */
interface AuditBatch extends InputBatch {
  readonly digests: readonly string[];
}

class Audit {
  readonly #options: AuditFilesOptions;
  readonly #ground: Ground;
  readonly #reported: Tally;
  readonly #total: Tally;
  readonly #included: number;
  readonly #met = new Set<number>();
  readonly #unjudged: EntryPlace[] = [];
  #writer: ResultWriter | null = null;
  #slowest: AuditEnd["slowest"] = null;
  #emptyLines = 0;
  #syncedAt = 0;

  constructor(options: AuditFilesOptions, ground: Ground) {
    [this.#options, this.#ground] = [options, ground];
    [this.#reported, this.#total] = [ground.earlier.unreported, ground.earlier.total];
    this.#included = this.#reported.entries;
  }

  async run(): Promise<AuditEnd> {
    const { setting, expected, onEnd } = this.#options;
    const parts = await this.#parts();
    this.#requireSame(parts);
    if (this.#ground.earlier.parts.length > 0) await this.#compare();
    const digests = {
      policyDigest: setting.policy && sha256Hex(setting.policy.text),
      settingDigest: await settingDigest(setting),
    };
    const { onlyFailures = false, out } = this.#options;
    this.#writer = new ResultWriter(this.#ground.file?.end ?? NO_LINES, { onlyFailures, out, setting, digests });
    const { settingDigest: digest } = digests;
    await this.#event({
      event: "started",
      watched: null,
      aliveMs: null,
      tool: TOOL,
      settingDigest: digest,
      setting: parts,
    });
    const end = await this.#judge();
    await this.#write(this.#writer.takeAccepted(), true);
    const ended: AuditEnd = {
      end,
      reported: this.#reported.summary(),
      included: this.#included,
      total: this.#total.summary(),
      emptyLines: this.#emptyLines,
      slowest: this.#slowest,
      unjudged: this.#unjudged,
      unmet: end === "done" && expected !== undefined ? this.#unmet(expected) : null,
    };
    await onEnd?.(ended);
    if (end !== "aborted") await this.#event({ event: "stopped", since: setting.now, polls: null });
    return ended;
  }

  /** Returns what two runs into one file must have in common, each part as its SHA-256. */
  async #parts(): Promise<Readonly<Record<string, string>>> {
    const { setting, expected, onlyFailures = false } = this.#options;
    const own: Record<string, string> = { ...(await settingParts(setting)) };
    if (expected !== undefined) own["expected"] = expected.mark();
    if (onlyFailures) own["onlyFailures"] = "true";
    return own;
  }

  /** Throws {@link RunFileError} if the results of the file are by another setting. */
  #requireSame(parts: Readonly<Record<string, string>>): void {
    const { started, isOfWatch } = this.#ground.earlier;
    const file = this.#ground.file?.path ?? "";
    if (isOfWatch) throw new RunFileError("setting", file, "it is the log of a watch, and has no results of an audit");
    if (started === null) return;
    const before = started.setting ?? {};
    const names = [...new Set([...Object.keys(before), ...Object.keys(parts)])].filter((name) =>
      name === "expected" && before[name] !== undefined && parts[name] !== undefined
        ? !this.#options.expected!.beginsAs(before[name])
        : before[name] !== parts[name],
    );
    const changed = names.map((name) => OPTION_OF[name] ?? name);
    if (started.tool.version !== TOOL.version)
      changed.push(`bootproof itself (${started.tool.version}, now ${TOOL.version})`);
    if (changed.length === 0) return;
    const message = `its results are by another setting: ${changed.join(", ")}. They would be kept as they are`;
    throw new RunFileError("setting", file, message, "Give another --out: then everything is judged by this setting");
  }

  /** Compares the inputs with the results before anything is judged, if they can be read twice. */
  async #compare(): Promise<void> {
    const { inputs } = this.#options;
    const found = await Promise.all(inputs.map((input) => (input === STDIN_INPUT ? null : stat(input))));
    if (!found.every((each) => each !== null && (each.isFile() || each.isDirectory()))) return;
    for await (const _ of this.#unknown()) {
      // Only the comparison counts: what is new is judged when it is read again.
    }
    this.#met.clear();
  }

  /** Yields the entries that have no result yet. */
  async *#unknown(): AsyncGenerator<AuditBatch> {
    const { inputs, batchEntries: most, signal } = this.#options;
    const { file, earlier, opened } = this.#ground;
    const matcher = file === null ? null : await Matcher.of(file, earlier, file.size);
    for await (const batch of readBatches(inputs, opened, most)) {
      if (signal?.aborted === true) return;
      yield await this.#unknownOf(batch, matcher);
    }
    matcher?.requireAll();
  }

  async #unknownOf(batch: InputBatch, matcher: Matcher | null): Promise<AuditBatch> {
    const { expected } = this.#options;
    const digests = batch.entries.map(sha256Hex);
    const expectations = digests.map((digest) => expected?.of(digest) ?? null);
    for (const one of expectations) if (one !== null) this.#met.add(one.line);
    const kept: number[] = [];
    for (const [at, place] of batch.places.entries())
      if (!(await matcher?.has(place, digests[at]!, expectations[at]?.line ?? null))) kept.push(at);
    return {
      ...batch,
      entries: kept.map((at) => batch.entries[at]!),
      places: kept.map((at) => batch.places[at]!),
      digests: kept.map((at) => digests[at]!),
      ...(expected && { expected: kept.map((at) => expectations[at]?.text ?? null) }),
    };
  }

  async #judge(): Promise<AuditEnd["end"]> {
    const { setting, judge: make = threadJudge, signal, failFast = false } = this.#options;
    const pipeline = new Pipeline(this.#unknown(), async () => make(setting));
    try {
      for (;;) {
        const next = await unlessAborted(pipeline.next(), signal);
        if (next === "aborted" || (next === null && signal?.aborted === true)) return "aborted";
        if (next === null) return "done";
        const { batch, judged } = next;
        const isFailed = await this.#take(batch, judged);
        if (isFailed && failFast) return "failed";
      }
    } finally {
      await pipeline.close();
    }
  }

  /** Writes the results of a batch. Resolves to whether one is not accepted: with `failFast` it is the last. */
  async #take(batch: AuditBatch, { results: all, slowest }: JudgedBatch): Promise<boolean> {
    const { failFast = false, onProgress } = this.#options;
    const failure = all.findIndex((result) => !isAccepted(result));
    const results = failFast && failure >= 0 ? all.slice(0, failure + 1) : all;
    const lines = results.flatMap((result, at) => this.#count(batch, result, at));
    if (slowest !== undefined && slowest.milliseconds > (this.#slowest?.milliseconds ?? -1))
      this.#slowest = { ...batch.places[slowest.at]!, milliseconds: slowest.milliseconds };
    this.#emptyLines = batch.emptyLines;
    await this.#write(lines);
    if (results.length > 0) onProgress?.({ bytes: batch.bytes, ...this.#reported.work });
    return failure >= 0;
  }

  /** Counts a result, and returns its lines. */
  #count({ expected, places, digests }: AuditBatch, found: EntryResult, at: number): readonly string[] {
    const result = expected?.[at] === null ? { ...found, expected: false as const } : found;
    for (const tally of [this.#reported, this.#total]) tally.add(result);
    if (result.verdict === "unjudged" && this.#unjudged.length < MAX_NAMED) this.#unjudged.push(places[at]!);
    return this.#writer!.add(result, places[at]!, digests[at]!);
  }

  #event(content: RunContent): Promise<void> {
    return this.#write([this.#writer!.event(content)], true);
  }

  async #write(lines: readonly string[], isDurable = false): Promise<void> {
    const { out } = this.#options;
    const { file } = this.#ground;
    if (typeof out === "function" && lines.length > 0) await out(lines.join(""));
    if (file === null) return;
    await file.appendLines(toUtf8(lines.join("")), this.#writer!.end);
    if (!isDurable && performance.now() - this.#syncedAt < SYNC_MS) return;
    await file.sync();
    this.#syncedAt = performance.now();
  }

  #unmet(expected: ExpectedEntries): NonNullable<AuditEnd["unmet"]> {
    const unmet = [...expected.unmet(this.#met)];
    return { count: unmet.length, first: unmet.slice(0, MAX_NAMED) };
  }
}

interface WriterOptions extends Required<Pick<AuditFilesOptions, "onlyFailures" | "out" | "setting">> {
  readonly digests: Pick<AuditResult, "policyDigest" | "settingDigest">;
}

type Written = EntryResult & { readonly expected?: false };

/** Writes the lines of an audit, each behind the one before. */
class ResultWriter {
  end: RunEnd;
  readonly #options: WriterOptions;
  #accepted: { readonly first: EntryPlace; last: EntryPlace; count: number; verified: number } | null = null;
  #hash = createHash("sha256");
  /** The text of a line behind the entry, by result: most results of a batch are one object. */
  readonly #tails = new WeakMap<Written, string>();

  constructor(end: RunEnd, options: WriterOptions) {
    [this.end, this.#options] = [end, options];
  }

  /** Returns the lines to write for a result, each with its line feed. */
  add(result: Written, place: EntryPlace, entry: string): string[] {
    const { onlyFailures, out } = this.#options;
    if (!onlyFailures || !isAccepted(result)) return [...this.takeAccepted(), this.#result(result, place, entry)];
    if (typeof out === "function") return (this.#result(result, place, entry), []);
    const isOther =
      this.#accepted !== null && (this.#accepted.first.file !== place.file || this.#accepted.count >= MAX_ACCEPTED);
    const before = isOther ? this.takeAccepted() : [];
    this.#accepted ??= { first: place, last: place, count: 0, verified: 0 };
    this.#accepted.last = place;
    this.#accepted.count++;
    if (result.verdict === "verified") this.#accepted.verified++;
    this.#hash.update(`${place.line}:${entry}\n`);
    return before;
  }

  /** Returns the line of the accepted entries that have none yet. */
  takeAccepted(): string[] {
    if (this.#accepted === null) return [];
    const { first, last, count, verified } = this.#accepted;
    const entries = this.#hash.digest("hex");
    [this.#accepted, this.#hash] = [null, createHash("sha256")];
    return [this.event({ event: "accepted", count, verified, first, last, entries })];
  }

  event(content: RunContent): string {
    return this.#chained(lineText(this.end, this.#options.setting.now, content));
  }

  #result(result: Written, place: EntryPlace, entry: string): string {
    const { digests, setting } = this.#options;
    const start = resultStart(this.end, setting.now, { ...place, entry });
    let tail = this.#tails.get(result);
    if (tail === undefined) {
      const { documentTimes: _, ...own } = result;
      tail = lineText(this.end, setting.now, { ...place, entry, ...own, ...digests }).slice(start.length);
      this.#tails.set(result, tail);
    }
    return this.#chained(start + tail);
  }

  #chained(text: string): string {
    this.end = { entries: this.end.entries + 1, head: sha256Hex(text) };
    return `${text}\n`;
  }
}
