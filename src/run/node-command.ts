import { plain, typedOptions } from "../decode/options.js";
import { count, optional } from "../decode/shapes.js";
import { type ChildProcess, spawn } from "node:child_process";
import type { Deliver } from "./announce.js";

interface CommandOptions {
  /** Milliseconds until the command is killed. Default: 60,000. */
  readonly timeoutMs?: number;
  /** Environment of the command. Default: that of this process. The API key is always removed. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const TIMEOUT_MS = 60_000;
/** The environment variable with the API key. A command that handles refusals does not need the key. */
const NOT_HANDED_DOWN = "BOOTPROOF_API_PRIVATE_KEY";

/**
 * Returns a function that runs the command in the system's shell. The command reads the line and a line feed on its
 * stdin, and its output goes to stderr. Rejects unless the exit code is 0.
 */
export function runCommand(command: string, options: CommandOptions = {}): Deliver {
  const { timeoutMs = TIMEOUT_MS, env = process.env } = typedOptions("options", options, {
    timeoutMs: optional(count),
    env: optional(plain),
  });
  return (line, signal) =>
    new Promise((resolve, reject) => {
      const child = spawn(command, {
        shell: true,
        stdio: ["pipe", 2, 2],
        env: { ...env, [NOT_HANDED_DOWN]: undefined },
        // The shell gets its own process group, so that its children are killed with it.
        detached: process.platform !== "win32",
      });
      let why: string | null = null;
      const kill = (reason: string): void => {
        why ??= reason;
        killAll(child);
      };
      const timer = setTimeout(() => kill(`did not end within ${timeoutMs} ms`), timeoutMs);
      const stop = (): void => kill("was ended, because the watch ended");
      signal.addEventListener("abort", stop);
      const settle = (failure: string | null): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
        if (failure === null) resolve();
        else reject(new Error(`the command ${failure}`));
      };
      child.on("error", (error) => settle(`could not be run: ${error.message}`));
      child.on("close", (code, name) => settle(why ?? endOf(code, name)));
      // A command that does not read its stdin may still succeed, so errors of the pipe are ignored.
      child.stdin!.on("error", () => {});
      child.stdin!.end(Buffer.concat([line.bytes, Buffer.from("\n")]));
      if (signal.aborted) stop();
    });
}

function endOf(code: number | null, name: string | null): string | null {
  if (code === 0) return null;
  return code === null ? `was killed (${name ?? "unknown signal"})` : `ended with exit code ${code}`;
}

function killAll(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nothing to kill: the process group has already ended.
  }
}
