/**
 * How a command that could not be carried out says so: sentences on stderr for people; and where the command line asks
 * for JSON, the same in one document on stdout.
 */
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import { TOOL } from "../version.js";
import { EXIT } from "./exit-codes.js";
import { CommandError, type Io, type Problem, UnreachableError } from "./io.js";

interface FailureOptions {
  /** Whether the result was to be JSON. */
  readonly json: boolean;
  /** Takes out of a text what must not be shown. */
  readonly shown: (text: string) => string;
}

/** Errors that a user can do something about are told in their own words; any other in one line, without a stack. */
export function tellFailure(error: unknown, io: Io, { json, shown }: FailureOptions): number {
  const failure = error instanceof CommandError ? error : unexpected(error);
  const exitCode = failure instanceof UnreachableError ? EXIT.unreachable : EXIT.usage;
  const { see } = failure;
  const problems = failure.problems.map((problem) => shownProblem(problem, shown));
  io.stderr.write(`${lines(problems, see).join("\n")}\n`);
  if (json) writeIfPossible(io, document(problems, see, exitCode));
  return exitCode;
}

/** It may be stdout itself that is at fault. */
function writeIfPossible({ stdout }: Io, text: string): void {
  try {
    stdout.write(text);
  } catch {
    // Told on stderr.
  }
}

function unexpected(error: unknown): CommandError {
  return new CommandError([`unexpected: ${error instanceof Error ? error.message : String(error)}`]);
}

/** Line feeds are ours, whatever else steers a terminal is not: messages quote file names and evidence. */
function shownProblem({ message, file, advice }: Problem, shown: (text: string) => string): Problem {
  const clean = (text: string): string => shown(text).split("\n").map(printable).join("\n");
  return {
    message: clean(message),
    ...(file !== undefined && { file: printable(shown(file)) }),
    ...(advice !== undefined && { advice: clean(advice) }),
  };
}

/** Every problem, then what to do about all of them, each piece of advice once. */
function lines(problems: readonly Problem[], see: string | null): string[] {
  const advice = new Set(problems.flatMap(({ advice }) => advice ?? []));
  return [
    ...problems.map(({ message, file }) => `bootproof: ${file === undefined ? "" : `${file}: `}${message}`),
    ...advice,
    ...(see === null ? [] : [see]),
  ];
}

function document(problems: readonly Problem[], see: string | null, exitCode: number): string {
  const errors = problems.map(({ message, file = null, advice = see }) => ({
    message,
    file,
    ...(advice !== null && { advice }),
  }));
  return jsonDocument({ format: "bootproof-error/1", tool: TOOL, exitCode, errors });
}
