/** The file of a watch, and the clock of this process. */
import { setTimeout as wait } from "node:timers/promises";
import { typedOptions } from "../decode/options.js";
import type { Signal } from "../door/platform.js";
import { isOfWatch } from "./line.js";
import { RunLog } from "./log.js";
import { FILE_OPTIONS, RunFile, RunFileError, type RunFileOptions } from "./node-file.js";

export interface OpenedLog {
  readonly log: RunLog;
  /** Goes on in a new file if the old one was renamed: call it on SIGHUP. Rejects with {@link RunFileError}. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file of a watch, or makes it, and verifies its chain. Rejects as `RunFile.open` does, and for the results
 * of an audit.
 * @example
 * ```ts
 * const { log, close } = await openLog("boots.jsonl");
 * ```
 */
export async function openLog(
  path: string,
  given: Pick<RunFileOptions, "onNote" | "after" | "checkpoint"> = {},
): Promise<OpenedLog> {
  const { onNote, after, checkpoint } = FILE_OPTIONS;
  const log = new RunLog();
  const file = await RunFile.open(path, {
    ...typedOptions("options", given, { onNote, after, checkpoint }),
    onLine: (line, offset) => {
      if (!isOfWatch(line.entry))
        throw new RunFileError("setting", path, "it has the results of an audit, and is no log of a watch");
      log.add(line, offset);
    },
  });
  log.begin(file);
  return { log, reopen: () => log.reopen(() => file.reopen()), close: () => file.close() };
}

/** Clock, timer and randomness of this process. */
export const SYSTEM = {
  now: (): Date => new Date(),
  sleep: (milliseconds: number, signal: Signal): Promise<void> =>
    wait(milliseconds, undefined, { signal: signal as AbortSignal }),
  random: (): number => Math.random(),
};
