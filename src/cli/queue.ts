/** `--queue`, its secret in the environment, and its errors. */
import { printable } from "../report/printable.js";
import { type CommandError, type Io, UnreachableError, UsageError } from "./io.js";

const SECRET = "BOOTPROOF_QUEUE_SECRET";

/** For producers and workers. */
export function queueOptions(io: Io): { readonly secret?: string; readonly onNote: (text: string) => void } {
  const secret = io.env[SECRET] ?? "";
  return {
    ...(secret !== "" && { secret }),
    onNote: (text) => io.report(`note: ${printable(text)}\n`, { event: "queue" }),
  };
}

/** Null for any other error. By name: the error is of another copy of the library. */
export function queueProblem(error: unknown): CommandError | null {
  if (!(error instanceof Error) || error.name !== "QueueError") return null;
  const { code } = error as Error & { readonly code: "url" | "missing" | "unreachable" | "judge" };
  if (code === "unreachable") return new UnreachableError([error.message]);
  return new UsageError([code === "url" ? `--queue: ${error.message}` : error.message]);
}
