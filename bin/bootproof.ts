/** The process of the command line: its streams, clock and exit code. */
import { EXIT } from "../src/cli/exit-codes.js";
import { run } from "../src/cli/main.js";
import { addVerifyCommand } from "../src/cli/verify.js";
import { printable } from "../src/report/printable.js";

process.on("uncaughtException", (error) => {
  process.stderr.write(`bootproof: unexpected: ${printable(error.message)}\n`);
  process.exitCode = EXIT.usage;
});

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader may have closed early, as head does: the exit code is still that of the verdict.
  if (error.code === "EPIPE") return;
  process.stderr.write(`bootproof: the result could not be written (${error.code})\n`);
  process.exitCode = EXIT.usage;
});
process.stderr.on("error", () => {});

/** Empty if the folder was removed. */
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

/** This file has the most common command only, so that it starts fast. */
async function carryOut(argv: readonly string[]): Promise<number> {
  if (argv[0] === "verify") return run(argv, io, [["verify", "evidence", addVerifyCommand]]);
  const { runAny } = await import("../src/cli/commands.js");
  return runAny(argv, io);
}

void carryOut(process.argv.slice(2)).then((code) => {
  // A result that could not be written has set its own exit code.
  process.exitCode ??= code;
});
