/** Writes the step summary of GitHub Actions, a file to which each command of the step appends. */
import { appendFileSync, statSync } from "node:fs";
import { toUtf8 } from "../bytes.js";
import { printable } from "../report/printable.js";
import type { Io } from "./io.js";

/** The longest summary in bytes. GitHub drops longer ones. */
const MAX_BYTES = 1024 * 1024;

/** Appends a text to the summary. If that fails, it only warns: the verdict stays the same. */
export function appendStepSummary(path: string, markdown: string, { stderr }: Pick<Io, "stderr">): void {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size + toUtf8(markdown).length > MAX_BYTES) throw new Error("it would be longer than 1 MiB");
    // Another command of the step may have left no final line feed.
    appendFileSync(path, size === 0 ? markdown : `\n${markdown}`);
  } catch (error) {
    stderr.write(printable(`warning: no step summary was written to ${path}: ${(error as Error).message}`) + "\n");
  }
}
