/**
 * Reports why a command failed: as sentences on stderr and, if the command line names a format for machines, as one
 * document in the place of the report.
 */
import { resolve } from "node:path";
import type { CommandFailure } from "../formats/parts.js";
import { jsonDocument } from "../report/json.js";
import type { ReportFormat } from "../report/report.js";
import { printable } from "../report/printable.js";
import type { SignedPolicyError } from "../signed-policy/index.js";
import { TOOL } from "../version.js";
import { EXIT } from "./exit-codes.js";
import { CommandError, type Io, type Problem } from "./io.js";
import { valuesOn } from "./options.js";
import { isFileOut } from "./output.js";

/** A failure. In JSON, each problem has its own advice. */
interface ReportedFailure extends CommandFailure {
  readonly problems: readonly Problem[];
  readonly see: string | null;
}

type FailureDocument = (failure: ReportedFailure) => string | Promise<string>;

/** The document of each format that has one for a command that verified nothing. Of others, stdout stays empty. */
const DOCUMENTS: Readonly<Partial<Record<ReportFormat, FailureDocument>>> = {
  json: document,
  junit: async (failure) => (await import("../formats/junit.js")).renderJunitFailure(failure),
  sarif: async (failure) => (await import("../formats/sarif.js")).renderSarifFailure(failure),
  github: async (failure) => (await import("../formats/github.js")).renderGithubFailure(failure),
  markdown: async (failure) => (await import("../formats/failure.js")).renderMarkdownFailure(failure),
  html: async (failure) => (await import("../formats/failure.js")).renderHtmlFailure(failure),
};

export function isFailureFormat(name: string): name is ReportFormat {
  return Object.hasOwn(DOCUMENTS, name);
}

interface FailureOptions {
  /** The format of the document; null for no document. */
  readonly format: ReportFormat | null;
  readonly argv: readonly string[];
  /** Removes keys from a text. */
  readonly shown: (text: string) => string;
}

/** Reports an error, and returns the exit code. An unexpected error becomes one line without a stack trace. */
export async function reportFailure(error: unknown, io: Io, { format, argv, shown }: FailureOptions): Promise<number> {
  const { problems: own, see, exitCode } = error instanceof CommandError ? error : unexpected(error);
  const problems = own.map((problem) => shownProblem(problem, shown));
  const advice = [...new Set(problems.flatMap((problem) => problem.advice ?? [])), ...(see === null ? [] : [see])];
  const lines = problems.map(({ message, file }) => `bootproof: ${file === undefined ? "" : `${file}: `}${message}`);
  io.report(`${[...lines, ...advice].join("\n")}\n`, { event: "failed", fields: { exitCode, errors: problems, see } });
  const failure = { headline: HEADLINES[exitCode], problems, advice, see, exitCode, at: timeOf(io) };
  const text = (await (format && DOCUMENTS[format]?.(failure))) ?? null;
  const outs = argv[0] === "verify" ? valuesOn(argv, "--out").filter(isFileOut) : [];
  if (outs.length > 0) await replaceReports(outs, argv, text, io);
  else if (text !== null) writeIfPossible(io, text);
  return exitCode;
}

const HEADLINES = {
  [EXIT.rejected]: "A checkpoint was refused: nothing else was verified",
  [EXIT.usage]: "Nothing was verified",
  [EXIT.unreachable]: "Evidence could not be fetched: nothing was verified",
} as const;

/**
 * Replaces the reports of earlier runs, wherever `--out` is on the command line and whatever else is wrong with it. A
 * file that other words name, too, is an input and stays.
 */
async function replaceReports(
  outs: readonly string[],
  argv: readonly string[],
  text: string | null,
  io: Io,
): Promise<void> {
  const { isSameFile, replaceReport } = await import("./write-whole.js");
  const words = argv.map((word) => word.replace(/^--[a-z-]+=/, ""));
  for (const out of outs) {
    const isOut = (word: string): boolean => resolve(word) === resolve(out) || isSameFile(word, out);
    const isInput = words.filter(isOut).length > outs.filter(isOut).length;
    const message = isInput ? null : await replaceReport(out, text);
    if (message !== null) io.stderr.write(`bootproof: ${printable(message)}\n`);
  }
}

/** The clock may be what failed. */
function timeOf({ now }: Io): Date | null {
  try {
    return now();
  } catch {
    return null;
  }
}

/** Writes to stdout. An error of stdout is ignored, since it may be the error that is reported. */
function writeIfPossible({ stdout }: Io, text: string): void {
  try {
    stdout.write(text);
  } catch {
    // Nothing to do: the message is on stderr.
  }
}

/** The error is recognised by its name, since a module that is loaded later has its own copy of the class. */
function unexpected(error: unknown): CommandError {
  if (error instanceof Error && error.name === "SignedPolicyError")
    return new CommandError([{ message: error.message, code: (error as SignedPolicyError).code }]);
  return new CommandError([`unexpected: ${error instanceof Error ? error.message : String(error)}`]);
}

/** Makes a problem printable, since control characters may come from file names and evidence. Line feeds are kept. */
function shownProblem({ message, file, advice, code }: Problem, shown: (text: string) => string): Problem {
  const clean = (text: string): string => shown(text).split("\n").map(printable).join("\n");
  return {
    message: clean(message),
    ...(file !== undefined && { file: printable(shown(file)) }),
    ...(advice !== undefined && { advice: clean(advice) }),
    ...(code !== undefined && { code }),
  };
}

function document({ problems, see, exitCode }: ReportedFailure): string {
  const errors = problems.map(({ message, file = null, advice = see, code }) => ({
    message,
    file,
    ...(advice !== null && { advice }),
    ...(code !== undefined && { code }),
  }));
  return jsonDocument({ format: "bootproof-error/1", tool: TOOL, exitCode, errors });
}
