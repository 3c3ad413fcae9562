import { setTimeout as wait } from "node:timers/promises";
import type { Signal } from "../door/platform.js";

export { LogError, LogInUseError, readLog } from "./node-files.js";
export { LogChangedError, LogFullError } from "./store.js";
export { openLog } from "./node-log.js";
export type { CheckpointOptions, OpenLogOptions, OpenedLog, RotateOptions } from "./node-log.js";
export { runCommand } from "./node-command.js";
export type { CommandOptions } from "./node-command.js";

export const SYSTEM = {
  now: (): Date => new Date(),
  sleep: (milliseconds: number, signal: Signal): Promise<void> =>
    wait(milliseconds, undefined, { signal: signal as AbortSignal }),
  random: (): number => Math.random(),
};
