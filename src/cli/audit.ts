/** `bootproof audit`: verifies every entry, and writes a line for each. */
import { createReadStream } from "node:fs";
import type { AuditFilesEnd, ExpectedEntries } from "../audit/node.js";
import type { AuditSetting, EntryResult, Judge } from "../audit/index.js";
import type { QueueJudgeOptions } from "../audit/queue.js";
import { MAX_BUNDLE_BYTES } from "../bundle/page.js";
import { parseJson } from "../decode/json.js";
import { diskReason } from "../disk/reason.js";
import type { MalformedError } from "../errors.js";
import type { Health } from "../health/node.js";
import type { NamedEvidence } from "../inputs.js";
import { printable } from "../report/printable.js";
import { auditPolicy, requireAuditPolicy } from "./audit-policy.js";
import { AuditProgressLine, interruptedText, segmentText, summaryText } from "./audit-text.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { type InputFiles, STDIN, nameOf } from "./files.js";
import { Interruption } from "./interruption.js";
import { type HealthRequest, evidenceTime, healthOf, startedHealth } from "./health.js";
import { type Io, UnreachableError, UsageError } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { UP_TO_A_DAY, atOf, durationOf, maxAgeOf, nowOf, workersOf } from "./option-values.js";
import type { ArgumentReader } from "./options.js";
import { readProvenance } from "./provenance.js";
import { queueOptions, queueProblem, queueUrlOf } from "./queue.js";
import { isSameFile } from "./write-whole.js";

interface AuditRequest {
  readonly inputs: readonly string[];
  readonly flags: Flags<"audit">;
  readonly workers: number | undefined;
  readonly entryTimeoutMs: number | undefined;
  /** The URL of the queue. Undefined means that the threads of this machine verify. */
  readonly queue: string | undefined;
  readonly options: Pick<AuditSetting, "now" | "at" | "allowDebug" | "acceptance" | "maxAgeMs">;
  readonly health: HealthRequest;
}

const EXAMPLES = `
INPUT is a file with an entry in each line (NDJSON), also compressed with gzip, - for such lines on stdin, or a folder:
each file in it is an entry, and so is each in the folders inside it. An entry is any evidence that bootproof inspect
recognises: boot proofs, app proofs, an activity, a bundle, a bare attestation document; or {"bootProofs": […],
"appProofs": […], "activity": …}. App proofs without a boot proof of their own are verified with those of --boot-proof.
Each entry is verified on its own. If the policy demands provenance, give its bundles with --provenance: they count for
every entry.

Each entry has one line of results, in the order of the input. The same input, policy and --now give the same lines.
Malformed input has a result too: "malformed". An empty line has none, but is numbered. The summary is on stderr.

With --state, the same command resumes a run that was killed or interrupted: no result is lost or written twice. It also
continues a finished run: entries that were appended to its input are verified as of the present of that day, and any
other change of the input is refused. Another policy, version, --boot-proof, --provenance or --expected holds for the
entries that are not verified yet. The exit code is of all entries since the last run that ended by itself.

Examples:
    $ bootproof audit --policy policy.json proofs.ndjson > results.ndjson
    $ bootproof audit --policy policy.json proofs.ndjson --out results.ndjson --state audit.state
    $ bootproof audit --policy policy.json app-proofs.ndjson --boot-proof boot.json --only-failures
    $ jq -c '.[]' proofs.json | bootproof audit --policy policy.json -
    $ bootproof audit --no-policy evidence/ --fail-fast

  With ./, no file name is read as an option:
    $ bootproof audit --policy policy.json ./*.ndjson

Exit codes: 0 every entry is accepted, 1 at least one is not, 2 wrong usage, unreadable or empty input, a state or a
file of results that cannot be continued, or interrupted before the end; 3 the queue cannot be reached or
loses a job three times, or another process has taken the lock of the state or the results.`;

export const addAuditCommand = commandOf<"audit", [inputs: string[]]>(
  "audit",
  {
    description: "Verify any number of entries, each on its own, and write a line for each, in their order.",
    usage:
      "(--policy FILE | --no-policy) INPUT… [--boot-proof FILE…] [--provenance FILE…] [--out FILE [--state FILE]] " +
      "[options]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }, inputs) => {
    refuseInputs(args, inputs, flags.bootProof);
    requireAuditPolicy(args, flags);
    refuseFiles(args, inputs, flags);
    refuseThreads(args);
    const workers = workersOf(args, flags.workers);
    const entryTimeoutMs = durationOf(args, "entry-timeout", flags.entryTimeout, UP_TO_A_DAY);
    const queue = flags.queue === undefined ? undefined : await queueUrlOf(args, flags.queue, io);
    const options = optionsOf(args, flags, io);
    const health = healthOf(args, flags);
    args.throwFaults();
    return run({ inputs, flags, workers, entryTimeoutMs, queue, options, health }, files, io);
  },
);

/** Refuses options for the threads of this machine together with a queue, and options for a queue without one. */
function refuseThreads(args: ArgumentReader): void {
  if (args.has("queue") && args.has("workers"))
    args.fault("--workers is for the threads of this machine: with --queue, leave it out (bootproof worker has it)");
  if (args.has("queue") && args.has("entry-timeout"))
    args.fault("--entry-timeout is for the threads of this machine: with --queue, leave it out");
  for (const name of ["queue-prefix", "queue-ca", "queue-cert", "queue-key"] as const)
    if (!args.has("queue") && args.has(name)) args.fault(`--${name} requires --queue`);
}

function refuseInputs(args: ArgumentReader, inputs: readonly string[], bootProofs: readonly string[]): void {
  const taken = bootProofs.length > 1 ? `. --boot-proof takes every word after it: put INPUT before it` : "";
  if (inputs.length === 0) args.fault(`INPUT is required: a file of lines, a folder, or - for stdin${taken}`);
  args.refuseTwice(
    "INPUT",
    inputs.filter((input) => input !== STDIN && input !== ""),
  );
}

function refuseFiles(args: ArgumentReader, inputs: readonly string[], { out, state, expected }: Flags<"audit">): void {
  if (state === STDIN) args.fault("--state -: a file is required");
  if (state !== undefined && (out === undefined || out === STDIN))
    args.fault("--state requires --out FILE: with stdout it is not known which results were received");
  const files = [out, state].filter((path) => path !== undefined && path !== STDIN);
  if (state !== undefined && (state === out || isSameFile(state, out ?? "")))
    args.fault("--out and --state name the same file: give two files");
  if (expected !== undefined) refuseSame(args, expected, { inputs, files });
  for (const path of files) if (isAmong(path!, inputs)) args.fault(`${path}: is also an INPUT: give another file`);
}

function refuseSame(
  args: ArgumentReader,
  expected: string,
  { inputs, files }: Readonly<Record<"inputs" | "files", readonly (string | undefined)[]>>,
): void {
  if (expected === STDIN) return;
  if (isAmong(expected, inputs)) args.fault(`--expected ${expected}: is also an INPUT`);
  if (isAmong(expected, files)) args.fault(`--expected ${expected}: this command would also write to it`);
}

function isAmong(path: string, others: readonly (string | undefined)[]): boolean {
  return others.some((other) => other !== undefined && (other === path || isSameFile(other, path)));
}

function optionsOf(args: ArgumentReader, flags: Flags<"audit">, io: Io): AuditRequest["options"] {
  const at = atOf(args, flags.at);
  const now = nowOf(args, flags.now, io.now());
  return {
    now: (now ?? io.now()).toISOString(),
    ...(at !== undefined && { at: at instanceof Date ? at.toISOString() : at }),
    ...maxAgeOf(args, flags),
    ...(flags.allowDebug === true && { allowDebug: true }),
    ...(flags.failOnWarning === true && { acceptance: "strict" }),
  };
}

async function run(request: AuditRequest, files: InputFiles, io: Io): Promise<number> {
  const { inputs, flags } = request;
  // The handler is set before any work, so that no signal is missed.
  const interruption = new Interruption();
  const progress = new AuditProgressLine(io);
  let health: Health | null = null;
  let code: number = EXIT.usage;
  try {
    const setting = await settingOf(request, files, io);
    const { auditFiles, inputBytes } = await import("../audit/node.js");
    const expected = await expectedOf(flags.expected, io);
    const subject = { command: "audit" as const, inputs, hasQueue: request.queue !== undefined };
    health = await startedHealth(request.health, subject, io);
    const queue = request.queue === undefined ? undefined : await queueOptions(flags, files, io);
    progress.start(await inputBytes(inputs));
    const output = new ResultLines(io);
    await auditFiles({
      inputs,
      setting,
      ...(expected && { expected }),
      isNowGiven: flags.now !== undefined,
      onlyFailures: flags.onlyFailures === true,
      failFast: flags.failFast === true,
      ...(inputs.includes(STDIN) && { stdin: io.stdin }),
      ...(flags.state !== undefined && { state: flags.state }),
      out: flags.out === undefined || flags.out === STDIN ? (lines) => output.write(lines) : flags.out,
      judge: (of) => judgeOf(request, of, queue && { ...queue, onQueue: (contact) => health?.queue(contact) }),
      signal: AbortSignal.any([interruption.signal, output.signal]),
      onBootProofs: (judged) => warnOfBootProofs(judged, io),
      onProgress: (at) => {
        progress.tell(at);
        const { entries, accepted, newest } = at.added;
        health?.work({ entries, refused: entries - accepted, evidenceAt: evidenceTime(newest) });
      },
      onSegment: (segment) => {
        if (segment.changed.length > 0) io.report(segmentText(segment), { event: "segment", fields: { ...segment } });
      },
      onEnd: async (end) => {
        code = ended(end, request, { io, isReadNoMore: output.signal.aborted });
        if (end.end === "done" && end.summary.entries === end.before) health?.idle();
      },
    });
    return code;
  } catch (error) {
    throw problemOf(error, flags);
  } finally {
    await health?.close();
    interruption.forget();
  }
}

async function settingOf({ flags, options }: AuditRequest, files: InputFiles, io: Io): Promise<AuditSetting> {
  const held = await auditPolicy(files, flags, io, new Date(options.now));
  const texts: string[] = [];
  for (const path of flags.bootProof) texts.push((await bootProofText(files, path)) ?? "");
  const { provenance = [] } = await readProvenance(files, flags.provenance);
  files.throwFaults();
  const bundles = provenance.map((piece) => (piece as NamedEvidence).value as string);
  return { ...held, ...options, bootProofs: texts, ...(bundles.length > 0 && { provenance: bundles }) };
}

/** Reads the file of `--expected`, before anything is written. */
async function expectedOf(path: string | undefined, io: Io): Promise<ExpectedEntries | undefined> {
  if (path === undefined) return undefined;
  const { ExpectedEntries } = await import("../audit/node.js");
  try {
    return await ExpectedEntries.read(path === STDIN ? io.stdin : createReadStream(path));
  } catch (error) {
    const file = nameOf(path);
    const { name, faults = [] } = error as MalformedError;
    const reason = name === "MalformedError" ? null : diskReason(error);
    if (reason !== null) throw new UsageError([{ file, message: reason }]);
    if (name !== "MalformedError") throw error;
    throw new UsageError(
      faults.map(({ path: at, message }) => ({ file, message: at ? `${at}: ${message}` : message })),
    );
  }
}

async function bootProofText(files: InputFiles, path: string): Promise<string | undefined> {
  const bytes = await ofKind(files, path, "--boot-proof", MAX_BUNDLE_BYTES);
  if (bytes === undefined || files.decoded(path, () => parseJson(bytes)) === undefined) return undefined;
  return files.textOf(path, bytes);
}

async function judgeOf(
  { workers, entryTimeoutMs, queue }: AuditRequest,
  setting: AuditSetting,
  options: QueueJudgeOptions | undefined,
): Promise<Judge> {
  if (queue === undefined) {
    const { threadJudge } = await import("../audit/node.js");
    return threadJudge(setting, {
      ...(workers !== undefined && { threads: workers }),
      ...(entryTimeoutMs !== undefined && { entryTimeoutMs }),
    });
  }
  const { queueJudge } = await import("../audit/queue.js");
  return queueJudge(queue, setting, options);
}

function warnOfBootProofs(judged: readonly EntryResult[], io: Io): void {
  for (const [index, { verdict, failed }] of judged.entries())
    if (verdict === "rejected")
      io.stderr.write(
        `warning: boot proof ${index + 1} of --boot-proof is rejected (${failed.join(", ")}). So is every entry ` +
          `that needs it\n`,
      );
}

/** Writes results to stdout, as fast as its reader reads. Writing stops when the reader is gone. */
class ResultLines {
  readonly #io: Io;
  readonly #gone = new AbortController();

  constructor(io: Io) {
    this.#io = io;
    io.stdout.once?.("error", () => this.#gone.abort());
  }

  /** Aborted when the reader is gone. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  async write(lines: string): Promise<void> {
    const { stdout } = this.#io;
    if (lines === "") return;
    stdout.write(lines);
    if (stdout.writableNeedDrain !== true || stdout.once === undefined) return;
    await new Promise<void>((resolve) => {
      stdout.once!("drain", resolve);
      this.signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}

function ended(
  end: AuditFilesEnd,
  request: AuditRequest,
  { io, isReadNoMore }: { readonly io: Io; readonly isReadNoMore: boolean },
): number {
  const { summary, added, included } = end;
  const isBad = isRefused(end);
  if (end.end === "aborted") {
    // An open stdin would keep the process alive.
    if (request.inputs.includes(STDIN)) (io.stdin as { destroy?: () => void }).destroy?.();
    if (!isReadNoMore)
      io.report(interruptedText(summary.entries, request.flags.state !== undefined), { event: "interrupted" });
  } else if (summary.entries === 0) throw emptyInput(request);
  const fields = { end: end.end, ...added, included, total: summary };
  if (!isReadNoMore) io.report(summaryText(end), { event: "summary", fields });
  if (end.end === "aborted" && !isBad) return EXIT.usage;
  return isBad ? EXIT.rejected : EXIT.good;
}

function isRefused({ end, added, unmet }: AuditFilesEnd): boolean {
  return end === "failed" || added.accepted < added.entries || (unmet?.count ?? 0) > 0;
}

function emptyInput({ inputs }: AuditRequest): UsageError {
  const names = inputs.map((input) => printable(nameOf(input))).join(", ");
  return new UsageError([`${names}: no entries: the program that wrote it may have failed`]);
}

/** Members of `AuditInputError` and `AuditFileError`. */
interface FileFacts {
  readonly file: string;
  readonly hasLostLock?: boolean;
  readonly advice?: string | null;
}

/**
 * Returns the error to report. Errors are recognised by their names, since they come from another copy of the library.
 */
function problemOf(error: unknown, { state }: Flags<"audit">): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  const ofQueue = queueProblem(error);
  if (ofQueue !== null) return ofQueue;
  if (name === "MalformedError") return new UsageError([message]);
  if (name !== "AuditInputError" && name !== "AuditFileError") return error;
  const { file: path, hasLostLock = false, advice: own } = error as Error & FileFacts;
  if (hasLostLock) return new UnreachableError([{ message, file: nameOf(path) }]);
  const goesOn = state !== undefined && /no space|largest size|disk/.test(message);
  const advice = own ?? (goesOn ? "Fix that, and run the same command again to resume." : undefined);
  return new UsageError([{ message, file: nameOf(path), ...(advice !== undefined && { advice }) }]);
}
