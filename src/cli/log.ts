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
bootproof watch --log writes a log: a line of JSON for each new boot proof, with its verdict, its evidence, and the hash
of the line before. Any tool for JSON Lines can read it, and each line is evidence:
    $ sed -n 3p watch.jsonl | bootproof verify --boot-proof - --policy policy.json`;

const VERIFY_HELP = `
Each line has the hash of the one before, so a line that was removed, edited, inserted, copied or moved is found and
named. The count of entries and the head are those before the first bad line. The chain alone does not show lines cut
off at the end, a change of the last line, or a log that was rewritten as a whole. For these, keep the printed head in
another place, and pass it with --head.

Examples:
    $ bootproof log verify watch.jsonl
    $ bootproof log verify watch.jsonl --head 5e88…   (64 hex digits)
    $ bootproof log verify watch.jsonl --format json

Exit codes: 0 whole, 1 broken, or its last line is another one, 2 a missing or unreadable file.`;

export function addLogCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const log = program
    .command("log")
    .summary("verify the log of bootproof watch: no line removed, edited or moved")
    .description("Verify the log that bootproof watch keeps.")
    .addHelpText("after", LOG_HELP);
  const command = log
    .command("verify")
    .summary("check that every line is as it was written, and name the first that is not")
    .description("Check that every line of a log is as it was written, and report the first that is not, and how.")
    .argument("<file>", "the log; - for stdin")
    .addHelpText("after", VERIFY_HELP);
  const args = new ArgumentReader(addOptions(command, "log verify"));
  command.action(async (path: string, flags: Flags<"log verify">) => {
    args.refuseRepeated();
    const format = formatOf(args, flags.format);
    if (flags.head !== undefined && !args.isEmpty("head") && fromHex(flags.head)?.length !== 32)
      args.fault("--head: 64 hex digits expected, as bootproof log verify prints them");
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
      throw new UsageError([{ message: "empty: the log has no entries", file: nameOf(path) }]);
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
    ...open.map((one) => `Not shown by this: ${one}`),
  ];
  return `${lines.join("\n")}\n`;
}
