/** `--out`: where the result of a command goes. A file is written as a whole or not at all. */
import { printable } from "../report/printable.js";
import { STDIN } from "./files.js";
import { type Io, UsageError } from "./io.js";
import type { ArgumentReader } from "./options.js";
import type { NewTarget, Written } from "./write-whole.js";

/** Returns whether the result goes to a file. Without `--out`, or with `-`, it goes to stdout. */
export function isFileOut(out: string | undefined): out is string {
  return out !== undefined && out !== STDIN;
}

/** Options of commands that replace no file without a word. */
interface Target extends NewTarget {
  readonly out?: string | undefined;
}

/** Writes a document by the rule of `writeNew`, and one line about it on stderr. `what` is the end of the line. */
export async function deliverNew(text: string, target: Target, what: string, io: Io): Promise<void> {
  if (!isFileOut(target.out)) return void io.stdout.write(text);
  const { writeNew } = await import("./write-whole.js");
  reportWritten(await writeNew(target.out, text, target), target.out, what, io);
}

/** Says what became of a file or folder. */
export function reportWritten(verb: Written, path: string, what: string, { stderr }: Pick<Io, "stderr">): void {
  stderr.write(`${printable(`${verb}: ${path}, ${what}`)}\n`);
}

/** Reports a file that cannot be written, or that is also an input. */
export async function refuseOut(args: ArgumentReader, out: string | undefined): Promise<void> {
  if (!isFileOut(out) || args.isEmpty("out")) return;
  const { isSameFile, requireWritable } = await import("./write-whole.js");
  if (args.namedFiles().some((input) => input === out || isSameFile(input, out)))
    args.fault(`--out ${out}: is also an input, and would be overwritten: choose another file`);
  try {
    requireWritable(out);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    args.fault(`--out ${error.message}`);
  }
}

/** Writes a result, and replaces a file that is there. */
export async function deliver(text: string, out: string | undefined, io: Io): Promise<void> {
  if (isFileOut(out)) await (await import("./write-whole.js")).writeWhole(out, text);
  else io.stdout.write(text);
}
