/** `--out`: where the result of a command goes. A file is written as a whole or not at all. */
import { readFileSync } from "node:fs";
import { equalBytes, toUtf8 } from "../bytes.js";
import { printable } from "../report/printable.js";
import { STDIN } from "./files.js";
import { type Io, UsageError } from "./io.js";
import type { ArgumentReader } from "./options.js";

/** Returns whether the result goes to a file. Without `--out`, or with `-`, it goes to stdout. */
export function isFileOut(out: string | undefined): out is string {
  return out !== undefined && out !== STDIN;
}

/** Options of commands that replace no file without a word. */
interface Target {
  readonly out?: string | undefined;
  readonly force?: boolean | undefined;
  /** The bytes from which the result was made, if it goes to the file that had them. */
  readonly was?: Uint8Array | undefined;
}

/** Refuses `--force` without a file, and what {@link refuseOut} refuses. */
export async function refuseTarget(args: ArgumentReader, { out, force }: Target): Promise<void> {
  if (force === true && !isFileOut(out)) args.fault("--force requires --out FILE: the file that it replaces");
  await refuseOut(args, out);
}

/**
 * Writes a result, and one line about it on stderr if it goes to a file. Another file that is there is refused without
 * `--force`; one with the same bytes stays. `what` is the end of the line.
 */
export async function deliverNew(text: string, target: Target, what: string, io: Io): Promise<void> {
  const { out, force } = target;
  if (!isFileOut(out)) return void io.stdout.write(text);
  const { requireWritable, writeWhole } = await import("./write-whole.js");
  const was = target.was ?? (requireWritable(out) ? readFileSync(out) : undefined);
  const isSame = was !== undefined && equalBytes(was, toUtf8(text));
  if (was !== undefined && !isSame && force !== true) throw new UsageError([`--out ${out}: ${IS_THERE}`]);
  if (!isSame) await writeWhole(out, text, target.was);
  const verb = was === undefined ? "Written" : "Replaced";
  io.stderr.write(`${printable(`${isSame ? "Unchanged" : verb}: ${out}, ${what}`)}\n`);
}

export const IS_THERE = "the file is there: give --force to replace it, or choose another file";

/** Reports a file that cannot be written, or that is also an input. */
export async function refuseOut(args: ArgumentReader, out: string | undefined): Promise<void> {
  if (!isFileOut(out) || args.isEmpty("out")) return;
  const { isSameFile, requireWritable } = await import("./write-whole.js");
  if (args.namedFiles().some((input) => isSameFile(input, out)))
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
