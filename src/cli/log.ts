/** `bootproof log`: checks that a log of `bootproof watch` is intact. */
import type { Command } from "commander";
import { fromHex } from "../bytes.js";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import type { Format } from "../report/report.js";
import type { LogVerification } from "../watch/index.js";
import { EXIT } from "./exit-codes.js";
import { STDIN, nameOf } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { type Flags, addOptions } from "./option-table.js";
import { formatOf } from "./option-values.js";
import { ArgumentReader } from "./options.js";

const LOG_HELP = `
A log is what bootproof watch --log writes: a line of JSON for each boot proof that was new, with its verdict and its
evidence, and the hash of the line before. It is read with any tool that reads JSON Lines, and each line is evidence:
    $ sed -n 3p watch.jsonl | bootproof verify --boot-proof - --policy policy.json`;

const VERIFY_HELP = `
Each line carries the hash of the one before: a line that was removed, edited, put in, copied or moved is found, and
named. Entries and head are those of the last line before the first doubtful one. What a chain cannot tell: lines cut
off the end, a change of the last line, and a log that was written anew as a whole. Keep the head, which this prints, in
another place, and give it with --head.

Examples:
    $ bootproof log verify watch.jsonl
    $ bootproof log verify watch.jsonl --head 5e88…   (64 hex digits)
    $ bootproof log verify watch.jsonl --format json

Exit codes: 0 whole, 1 broken, or it ends with another line, 2 no such file, or none that can be read.`;

export function addLogCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const log = program
    .command("log")
    .summary("verify the log of bootproof watch: no line removed, edited or moved")
    .description("Verify the log that bootproof watch keeps.")
    .addHelpText("after", LOG_HELP);
  const command = log
    .command("verify")
    .summary("whether every line is there as it was written; and which one is not")
    .description("Whether every line of a log is there as it was written; and if not, which one is not, and how.")
    .argument("<file>", "the log; - for stdin")
    .addHelpText("after", VERIFY_HELP);
  const args = new ArgumentReader(addOptions(command, "log verify"));
  command.action(async (path: string, flags: Flags<"log verify">) => {
    args.refuseRepeated();
    const format = formatOf(args, flags.format);
    if (flags.head !== undefined && !args.isEmpty("head") && fromHex(flags.head)?.length !== 32)
      args.fault("--head: 64 hex digits wanted, as bootproof log verify prints them");
    args.throwFaults();
    finish(await verify(path, { head: flags.head, format }, io));
  });
}

async function verify(
  path: string,
  { head, format }: { readonly head: string | undefined; readonly format: Format },
  io: Io,
): Promise<number> {
  const [{ verifyLog }, { LogError, readLog }] = await Promise.all([
    import("../watch/index.js"),
    import("../watch/node.js"),
  ]);
  io.progress(`reading ${nameOf(path)}`);
  try {
    const stream = path === STDIN ? io.stdin : readLog(path);
    const verification = await verifyLog(stream, { ...(head !== undefined && { head }) });
    if (verification.entries === 0 && verification.fault === null && head === undefined)
      throw new UsageError([{ message: "empty: there is no entry in it", file: nameOf(path) }]);
    io.stdout.write(format === "json" ? jsonDocument(verification) : text(nameOf(path), verification));
    return verification.intact ? EXIT.good : EXIT.rejected;
  } catch (error) {
    if (error instanceof LogError) throw new UsageError([{ message: error.message, file: nameOf(path) }]);
    throw error;
  }
}

function text(name: string, { intact, entries, firstAt, lastAt, head, fault, open }: LogVerification): string {
  const count = entries === 1 ? "1 entry" : `${entries} entries`;
  const span = firstAt === null ? "" : `, ${firstAt} to ${lastAt!}`;
  const found = fault === null ? `${count}${span}` : printable(fault.message);
  const lines = [
    `${intact ? "WHOLE" : "BROKEN"}: ${printable(name)}: ${found}`,
    ...(fault === null ? [] : [`Whole up to there: ${count}${span}`]),
    `Head: ${head}`,
    ...open.map((one) => `Not told by this: ${one}`),
  ];
  return `${lines.join("\n")}\n`;
}
