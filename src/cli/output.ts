/** `--out`: where the result of a command goes. A file is written as a whole or not at all. */
import { STDIN } from "./files.js";
import { type Io, UsageError } from "./io.js";
import type { ArgumentReader } from "./options.js";

/** Returns whether the result goes to a file. Without `--out`, or with `-`, it goes to stdout. */
export function isFileOut(out: string | undefined): out is string {
  return out !== undefined && out !== STDIN;
}

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
