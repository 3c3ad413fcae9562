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
}

/** Refuses `--force` without a file, and what {@link refuseOut} refuses. Returns whether there is a file to replace. */
export async function refuseTarget(args: ArgumentReader, { out, force }: Target): Promise<boolean> {
  if (force === true && !isFileOut(out)) args.fault("--force requires --out FILE: the file that it replaces");
  return refuseOut(args, out);
}

/**
 * Writes a result, and one line about it on stderr if it goes to a file. Another file that is there is refused without
 * `--force`; one with the same bytes stays. `what` is the end of the line.
 */
export async function deliverNew(text: string, { out, force }: Target, what: string, io: Io): Promise<void> {
  if (!isFileOut(out)) return void io.stdout.write(text);
  const { requireWritable, writeWhole } = await import("./write-whole.js");
  const was = requireWritable(out) ? readFileSync(out) : undefined;
  const isSame = was !== undefined && equalBytes(was, toUtf8(text));
  if (was !== undefined && !isSame && force !== true) throw new UsageError([`--out ${out}: ${IS_THERE}`]);
  if (!isSame) await writeWhole(out, text, was);
  const verb = was === undefined ? "Written" : "Replaced";
  io.stderr.write(`${printable(`${isSame ? "Unchanged" : verb}: ${out}, ${what}`)}\n`);
}

export const IS_THERE = "the file is there: give --force to replace it, or choose another file";

/** Reports a file that cannot be written, or that is also an input. Returns whether there is a file to replace. */
export async function refuseOut(args: ArgumentReader, out: string | undefined): Promise<boolean> {
  if (!isFileOut(out) || args.isEmpty("out")) return false;
  const { isSameFile, requireWritable } = await import("./write-whole.js");
  const isInput = args.namedFiles().some((input) => isSameFile(input, out));
  if (isInput) args.fault(`--out ${out}: is also an input, and would be overwritten: choose another file`);
  try {
    return requireWritable(out) && !isInput;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    args.fault(`--out ${error.message}`);
    return false;
  }
}

/** Writes a result. `was` has the bytes of the file from which it was made (`writeWhole`). */
export async function deliver(text: string, out: string | undefined, io: Io, was?: Uint8Array): Promise<void> {
  if (isFileOut(out)) await (await import("./write-whole.js")).writeWhole(out, text, was);
  else io.stdout.write(text);
}
