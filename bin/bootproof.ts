/** The process around the command line: its streams, its clock, its exit code. */
import { EXIT } from "../src/cli/exit-codes.js";
import { run } from "../src/cli/main.js";
import { addVerifyCommand } from "../src/cli/verify.js";
import { printable } from "../src/report/printable.js";

process.on("uncaughtException", (error) => {
  process.stderr.write(`bootproof: unexpected: ${printable(error.message)}\n`);
  process.exitCode = EXIT.usage;
});

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as head: the exit code is still the verdict's.
  if (error.code === "EPIPE") return;
  process.stderr.write(`bootproof: the result could not be written (${error.code})\n`);
  process.exitCode = EXIT.usage;
});
process.stderr.on("error", () => {});

/** A folder that was removed is none. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return "/";
  }
}

const io = {
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  started: { script: process.argv[1] ?? "", folder: currentFolder() },
  now: () => new Date(),
};

/** What is started most, and waited for, is in this file; nothing of the other commands has to be read for it. */
async function carryOut(argv: readonly string[]): Promise<number> {
  if (argv[0] === "verify") return run(argv, io, [["verify", "evidence", addVerifyCommand]]);
  const { runAny } = await import("../src/cli/commands.js");
  return runAny(argv, io);
}

void carryOut(process.argv.slice(2)).then((code) => {
  // A result that could not be written has set its own.
  process.exitCode ??= code;
});
