/** The process of the command line: its streams, clock and exit code. */
import { runAny } from "../src/cli/commands.js";
import { EXIT } from "../src/cli/exit-codes.js";
import { printable } from "../src/report/printable.js";

process.on("uncaughtException", (error) => {
  process.stderr.write(`bootproof: unexpected: ${printable(error.message)}\n`);
  process.exitCode = EXIT.usage;
});

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader may have closed early, as head does. The exit code is still that of the verdict.
  if (error.code === "EPIPE") return;
  process.stderr.write(`bootproof: the result could not be written (${error.code})\n`);
  process.exitCode = EXIT.usage;
});
process.stderr.on("error", () => {});

const io = {
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  started: { script: process.argv[1] ?? "" },
  now: () => new Date(),
};

void runAny(process.argv.slice(2), io).then((code) => {
  // If the result could not be written, the exit code is already set.
  process.exitCode ??= code;
});
