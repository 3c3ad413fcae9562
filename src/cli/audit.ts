/** `bootproof audit`: verifies every entry, and writes a line for each. */
import { createReadStream } from "node:fs";
import { MAX_BUNDLE_BYTES } from "../bundle/page.js";
import { parseJson } from "../decode/json.js";
import { diskReason } from "../disk/reason.js";
import type { MalformedError } from "../errors.js";
import type { NamedEvidence } from "../inputs.js";
import { printable } from "../report/printable.js";
import type { AuditSetting, EntryResult, Judge } from "../run/index.js";
import type { AuditEnd, ExpectedEntries, Health } from "../run/node.js";
import type { QueuePlaceOptions } from "../run/queue.js";
import { auditPolicy, requireAuditPolicy } from "./audit-policy.js";
import { AuditProgressLine, interruptedText, summaryText } from "./audit-text.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { type InputFiles, STDIN, nameOf } from "./files.js";
import { startedHealth } from "./health.js";
import { Interruption } from "./interruption.js";
import { type Io, UsageError } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { type ArgumentReader, judgingOf } from "./options.js";
import { refuseOut } from "./output.js";
import { readProvenance } from "./provenance.js";
import { queueOptions, queueUrlOf, runProblem } from "./queue.js";
import { isSameFile } from "./write-whole.js";

interface AuditRequest {
  readonly inputs: readonly string[];
  readonly flags: Flags<"audit">;
  /** The URL of the queue. Undefined means that the threads of this machine verify. */
  readonly queue: string | undefined;
  readonly options: Pick<AuditSetting, "now" | "at" | "allowDebug" | "acceptance" | "maxAgeMs">;
}

const EXAMPLES = `
INPUT is a file with an entry in each line (NDJSON), also compressed with gzip, - for such lines on stdin, or a folder:
each file in it is an entry, and so is each in the folders inside it. An entry is any evidence that bootproof inspect
recognises: boot proofs, app proofs, an activity, a bundle, a bare attestation document; or {"bootProofs": […],
"appProofs": […], "activity": …}. App proofs without a boot proof of their own are verified with those of --boot-proof.
Each entry is verified on its own. If the policy demands provenance, give its bundles with --provenance: they count for
every entry.

Each entry has one line of results, in the order of the input, and each line has the hash of the line before, which
bootproof log verify checks. The same input, policy and --now give the same lines. Malformed input has a result too. An
empty line has none, but is numbered. The summary is on stderr.

--resume goes on behind the results that --out has, of a run that was killed or of an earlier night: what has a result
is compared and not verified again, what was added is verified as of now. Results by another policy, other options or
another version are refused: give another --out, and everything is verified anew. The exit code is of the entries that
this run verified, and of those that no run has reported; with --whole, of all in the file.

Examples:
    $ bootproof audit --policy policy.json proofs.ndjson > results.jsonl
    $ bootproof audit --policy policy.json proofs.ndjson --out results.jsonl --resume
    $ bootproof audit --policy policy.json app-proofs.ndjson --boot-proof boot.json --only-failures
    $ jq -c '.[]' proofs.json | bootproof audit --policy policy.json -
    $ bootproof audit --no-policy evidence/ --fail-fast

  With ./, no file name is read as an option:
    $ bootproof audit --policy policy.json ./*.ndjson

Exit codes: 0 every entry is accepted; 1 at least one is not; 2 wrong usage, unreadable or empty input, entries that
could not be judged, results that cannot be continued, or interrupted before the end; 3 the queue cannot be reached.`;

export const addAuditCommand = commandOf<"audit", [inputs: string[]]>(
  "audit",
  {
    usage:
      "(--policy FILE | --no-policy) INPUT… [--boot-proof FILE…] [--provenance FILE…] [--out FILE [--resume]] " +
      "[options]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }, inputs) => {
    refuseInputs(args, inputs, flags.bootProof);
    requireAuditPolicy(args);
    await refuseOut(args, flags.out);
    const { expected = "" } = flags;
    if (inputs.some((input) => input !== STDIN && isSameFile(input, expected)))
      args.fault(`--expected ${expected}: is also an INPUT`);
    const queue = flags.queue === undefined ? undefined : await queueUrlOf(args, flags.queue, io);
    args.throwFaults();
    return run({ inputs, flags, queue, options: { ...optionsOf(flags, io), ...judgingOf(flags) } }, files, io);
  },
);

function refuseInputs(args: ArgumentReader, inputs: readonly string[], bootProofs: readonly string[]): void {
  const taken = bootProofs.length > 1 ? `. --boot-proof takes every word after it: put INPUT before it` : "";
  if (inputs.length === 0) args.fault(`INPUT is required: a file of lines, a folder, or - for stdin${taken}`);
  args.refuseTwice(
    "INPUT",
    inputs.filter((input) => input !== STDIN && input !== ""),
  );
}

function optionsOf(flags: Flags<"audit">, io: Io): AuditRequest["options"] {
  const { at, now = io.now() } = flags;
  return {
    now: now.toISOString(),
    ...(at !== undefined && { at: at instanceof Date ? at.toISOString() : at }),
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
    const { auditFiles, inputBytes } = await import("../run/node.js");
    const expected = await expectedOf(flags.expected, io);
    const subject = { command: "audit" as const, inputs, hasQueue: request.queue !== undefined };
    health = await startedHealth(flags, subject, io);
    const queue = request.queue === undefined ? undefined : await queueOptions(flags, files, io);
    progress.start(await inputBytes(inputs));
    const gone = new AbortController();
    io.stdout.once?.("error", () => gone.abort());
    await auditFiles({
      inputs,
      setting,
      ...(expected && { expected }),
      onlyFailures: flags.onlyFailures === true,
      failFast: flags.failFast === true,
      ...(inputs.includes(STDIN) && { stdin: io.stdin }),
      resume: flags.resume === true,
      out: flags.out === undefined || flags.out === STDIN ? (lines) => writeResults(lines, io, gone.signal) : flags.out,
      judge: (of) => judgeOf(request, of, queue && { ...queue, onQueue: (contact) => health?.queue(contact) }),
      signal: AbortSignal.any([interruption.signal, gone.signal]),
      onNote: (text) => io.report(`note: ${printable(`${flags.out}: ${text}`)}\n`, { event: "results" }),
      onBootProofs: (judged) => warnOfBootProofs(judged, io),
      onProgress: (at) => {
        progress.report(at);
        health?.work(at);
      },
      onEnd: (end) => {
        code = ended(end, request, io, gone.signal.aborted);
        if (end.end === "done" && end.reported.entries === end.included) health?.idle();
      },
    });
    return code;
  } catch (error) {
    const { name, message } = error as Error;
    throw name === "MalformedError" ? new UsageError([message]) : runProblem(error);
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
  const { ExpectedEntries } = await import("../run/node.js");
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
  { flags: { workers, entryTimeout }, queue }: AuditRequest,
  setting: AuditSetting,
  options: QueuePlaceOptions | undefined,
): Promise<Judge> {
  if (queue === undefined) {
    const { threadJudge } = await import("../run/node.js");
    return threadJudge(setting, {
      ...(workers !== undefined && { threads: workers }),
      ...(entryTimeout !== undefined && { entryTimeoutMs: entryTimeout }),
    });
  }
  const { queueJudge } = await import("../run/queue.js");
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

/** Writes results to stdout, as fast as its reader reads. `gone` is aborted when the reader is gone. */
async function writeResults(lines: string, { stdout }: Io, gone: AbortSignal): Promise<void> {
  if (lines === "") return;
  stdout.write(lines);
  if (stdout.writableNeedDrain !== true || stdout.once === undefined) return;
  await new Promise<void>((resolve) => {
    stdout.once!("drain", resolve);
    gone.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Reports the end, unless nobody reads. Returns the exit code. */
function ended(end: AuditEnd, { inputs, flags }: AuditRequest, io: Io, isReadNoMore: boolean): number {
  const { reported, total, included, unjudged } = end;
  const isAborted = end.end === "aborted";
  // An open stdin would keep the process alive.
  if (isAborted && inputs.includes(STDIN)) (io.stdin as { destroy?: () => void }).destroy?.();
  if (!isAborted && total.entries === 0) {
    const names = inputs.map((input) => printable(nameOf(input))).join(", ");
    throw new UsageError([`${names}: no entries: the program that wrote it may have failed`]);
  }
  if (!isReadNoMore) {
    if (isAborted) io.report(interruptedText(reported.entries, flags.out !== undefined), { event: "interrupted" });
    io.report(summaryText(end), { event: "summary", fields: { end: end.end, ...reported, included, total, unjudged } });
  }
  return exitCodeOfAudit(end, flags.whole === true ? total : reported);
}

/** What could not be judged, or was not read, is no verdict: the exit code is that of a command that failed. */
function exitCodeOfAudit({ end, unmet }: AuditEnd, { entries, accepted, verdicts }: AuditEnd["total"]): number {
  const isBad = end === "failed" || accepted < entries || (unmet?.count ?? 0) > 0;
  if (verdicts.unjudged > 0 || (end === "aborted" && !isBad)) return EXIT.usage;
  return isBad ? EXIT.rejected : EXIT.good;
}
