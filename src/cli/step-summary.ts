/** The summary of a step of GitHub Actions: a file that the runner names, to which each command of the step appends. */
import { appendFileSync, statSync } from "node:fs";
import { toUtf8 } from "../bytes.js";
import { printable } from "../report/printable.js";
import type { Io } from "./io.js";

/** Of a step; GitHub shows nothing of a longer one. */
const MAX_BYTES = 1024 * 1024;

/** Appends to the file that `GITHUB_STEP_SUMMARY` names. What keeps it from that is a warning: the verdict stands. */
export function appendStepSummary(path: string, markdown: string, { stderr }: Pick<Io, "stderr">): void {
  try {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size + toUtf8(markdown).length > MAX_BYTES) throw new Error("it would be longer than 1 MiB");
    // After what another command of the step may have left without an end of line.
    appendFileSync(path, size === 0 ? markdown : `\n${markdown}`);
  } catch (error) {
    stderr.write(printable(`warning: no step summary was written to ${path}: ${(error as Error).message}`) + "\n");
  }
}
