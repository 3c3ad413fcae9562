/** A queue, as commands name it: `--queue`, the secret of the environment, and what keeps one from being used. */
import { printable } from "../report/printable.js";
import { type CommandError, type Io, UnreachableError, UsageError } from "./io.js";

const SECRET = "BOOTPROOF_QUEUE_SECRET";

/** What producers and workers share. */
export function queueOptions(io: Io): { readonly secret?: string; readonly onNote: (text: string) => void } {
  const secret = io.env[SECRET] ?? "";
  return {
    ...(secret !== "" && { secret }),
    onNote: (text) => io.stderr.write(`note: ${printable(text)}\n`),
  };
}

/** Null for any other error. By its name: it is of another copy of the library. */
export function queueProblem(error: unknown): CommandError | null {
  if (!(error instanceof Error) || error.name !== "QueueError") return null;
  const { code } = error as Error & { readonly code: "url" | "missing" | "unreachable" | "judge" };
  if (code === "unreachable") return new UnreachableError([error.message]);
  return new UsageError([code === "url" ? `--queue: ${error.message}` : error.message]);
}
