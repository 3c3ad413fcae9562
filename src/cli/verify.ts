/** `bootproof verify`: verifies evidence. The report is on stdout, the verdict is the exit code. */
import { basename } from "node:path";
import { NO_POLICY_ANY_ENCLAVE } from "../bootproof.js";
import { POLICY_CHOSEN_BY_MAKER } from "../bundle/text.js";
import { REPORT_RENDERERS, type VerifiedSource, briefOf } from "../formats/reports.js";
import { isAccepted } from "../report/accepted.js";
import type { ReportFormat } from "../report/report.js";
import { cryptography } from "../verify/cryptography.js";
import { measuredImage } from "./built.js";
import { commandOf } from "./command.js";
import { type JudgeOptions, judge, readExpected } from "./evidence.js";
import { judgeFile } from "./evidence-in-file.js";
import { exitCodeOf } from "./exit-codes.js";
import { type InputFiles, STDIN } from "./files.js";
import { type Io, UsageError, fileOptions, messageOptions, textOptions } from "./io.js";
import { readTrustAnchor } from "./option-files.js";
import { deliver, isFileOut, refuseOut } from "./output.js";
import { readGivenPolicy, shownPolicyPath } from "./policy-source.js";
import { readProvenance, verifierFor } from "./provenance.js";
import { readLists, withListsNamed } from "./revocation.js";
import { VERIFY_TOPICS } from "./verify-help.js";
import { type VerifyRequest, requestOf } from "./verify-request.js";

const UNSIGNED = 'warning: this result is not signed (alg "none"): anyone can write one. --ear-key FILE signs it.\n';

export const addVerifyCommand = commandOf(
  "verify",
  {
    description:
      "Verify which code in which enclave made a result, and whether it is what a policy pins. FILE may be - for " +
      "stdin, once.",
    usage:
      "(BUNDLE | PAGE | --app NAME… | --boot-proof FILE… [--app-proof FILE…] [--activity FILE]) " +
      "(--policy FILE | --no-policy | --bundle-policy) [options]",
    takesFiles: true,
    topics: VERIFY_TOPICS,
  },
  async ({ command, args, flags, files, io }) => {
    await refuseOut(args, flags.out);
    const request = requestOf(args, command.args, flags, io);
    // The key is read first, so that one that cannot sign is reported before anything is fetched or verified.
    const earKey =
      flags.earKey === undefined
        ? undefined
        : await (await import("./ear-key.js")).readEarKey(flags.earKey, flags.earAlg, io);
    const judged = await verify(request, files, io);
    const isDropped = request.level === "quiet" && !isReportWanted(request);
    const text = isDropped ? "" : await rendered(judged, request, earKey, io);
    reportVerdict(judged, request, io);
    if (!isDropped) await deliver(text, flags.out, io);
    return exitCodeOf(judged.report);
  },
);

/** Returns whether a report was asked for, other than the text on stdout. */
function isReportWanted({ flags }: VerifyRequest): boolean {
  return flags.format !== "text" || isFileOut(flags.out);
}

/**
 * Writes the verdict to stderr if stdout does not show it, and a failure also if stdout is a pipe or a file, which
 * nobody may read.
 */
function reportVerdict(judged: VerifiedSource, request: VerifyRequest, io: Io): void {
  const isFailure = !isAccepted(judged.report);
  const isQuiet = request.level === "quiet";
  const isElsewhere = isReportWanted(request) || (isFailure && (isQuiet || io.stdout.isTTY !== true));
  if (isElsewhere && (isFailure || !isQuiet)) io.stderr.write(briefOf(judged, messageOptions(io)));
}

async function verify(request: VerifyRequest, files: InputFiles, io: Io): Promise<VerifiedSource> {
  const { flags, source } = request;
  // Cryptography is prepared early, partly on another thread. If that fails, verification fails with the reason.
  void Promise.resolve(cryptography()).catch(() => undefined);
  const policy = await readGivenPolicy(files, flags, io, () => request.options.now);
  const anchor = await readTrustAnchor(files, flags.trustAnchor);
  const expected = await readExpected(files, request);
  const builds = await readProvenance(files, flags.provenance);
  const lists = await readLists(files, flags.crl);
  const measurements = (await measuredImage(files, flags.image, io))?.pcrs;
  if ("connection" in source) files.throwFaults();
  const options: JudgeOptions = {
    ...request.options,
    ...(expected && { expected }),
    ...(measurements && { measurements }),
    ...(await verifierFor(policy?.policy)),
    policy: flags.policy === false ? NO_POLICY_ANY_ENCLAVE : policy?.policy,
    ...(anchor && { trustAnchors: [anchor] }),
    ...lists,
  };
  const asked = { request, options, builds };
  const judged = source.kind === "bundle" ? judgeFile(asked, source.file, files, io) : judge(asked, source, files, io);
  return judged.catch((error: unknown) => {
    throw withListsNamed(error, lists);
  });
}

type RenderOptions = Parameters<(typeof REPORT_RENDERERS)[ReportFormat]>[1];

async function rendered(
  judged: VerifiedSource,
  { level, flags }: VerifyRequest,
  earKey: RenderOptions["earKey"],
  io: Io,
): Promise<string> {
  const page = isFileOut(flags.out) ? fileOptions(io) : textOptions(io);
  const policy = flags.policy === STDIN ? "stdin" : flags.policy;
  const policyFile = typeof policy === "string" ? shownPolicyPath(policy) : undefined;
  const { format, title } = flags;
  const file = isFileOut(flags.out) ? basename(flags.out) : undefined;
  const detail = level === "quiet" ? "normal" : level;
  const options: RenderOptions = { ...page, detail, earKey, earAlg: flags.earAlg, policyFile, title, file };
  await warnBeside(judged, format, earKey !== undefined, io);
  if (format === "github") await summarize(judged, options, io);
  try {
    return await REPORT_RENDERERS[format](judged, options);
  } catch (error) {
    // A page that cannot be read again is a fault of usage. The error is recognised by its name, since its class is in
    // another copy of the library.
    if (format !== "html" || !(error instanceof Error && error.name === "MalformedError")) throw error;
    throw new UsageError([`--format html: ${error.message}`]);
  }
}

/** Warns of what the report in this format does not say. */
async function warnBeside(judged: VerifiedSource, format: ReportFormat, isSigned: boolean, io: Io): Promise<void> {
  // Only the text format shows whose policy was used.
  if (format !== "text" && judged.bundle?.policyFrom === "bundle")
    io.stderr.write(`warning: ${POLICY_CHOSEN_BY_MAKER}\n`);
  if (format === "ear" && !isSigned) io.stderr.write(UNSIGNED);
  if (format === "vsa") await warnOfFailed(judged, io);
}

async function summarize(judged: VerifiedSource, options: RenderOptions, io: Io): Promise<void> {
  const { GITHUB_STEP_SUMMARY: path = "" } = io.env;
  if (path === "") return;
  const { appendStepSummary } = await import("./step-summary.js");
  appendStepSummary(path, await REPORT_RENDERERS.markdown(judged, options), io);
}

/** Warns if the exit code is 0, but the statement of the VSA is FAILED. */
async function warnOfFailed({ report, bundle }: VerifiedSource, io: Io): Promise<void> {
  const { whyNotPassed } = await import("../formats/results.js");
  const why = whyNotPassed(report, bundle);
  if (isAccepted(report) && why !== null)
    io.stderr.write(`warning: the statement is FAILED: ${why}. Evidence that passes a policy of your own is PASSED.\n`);
}
