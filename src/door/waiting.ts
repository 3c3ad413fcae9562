/** Waiting that the caller can end. */
import { ClientError, type ClientErrorFacts } from "./errors.js";
import type { Signal } from "./platform.js";

export const ABORTED = "aborted by the caller";

/**
 * Waits for the work. Rejects with {@link ClientError} (`aborted`) when the signal is aborted; the work itself
 * continues.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: Signal | undefined,
  facts: ClientErrorFacts = {},
): Promise<T> {
  if (signal === undefined) return work;
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new ClientError("aborted", ABORTED, facts));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Waits. Resolves at once when the signal is aborted. */
export async function pause(milliseconds: number, signal: Signal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener("abort", finish);
  });
}
