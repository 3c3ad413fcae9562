/** The built command in processes of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Start {
  /** A line of a shell, for which the command is "$0" "$@". */
  readonly shell?: string;
  /** Options of Node.js. */
  readonly node?: readonly string[];
  /** Beside that of the test. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** In a group of processes of its own. */
  readonly detached?: boolean;
  readonly command?: string;
  readonly stdin?: "ignore" | "pipe";
  /** The user and the group. */
  readonly uid?: number;
}

const running = new Set<ChildProcess>();

/** Kills what a test left. */
export function killAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

export class Process {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], start: Start = {}) {
    const { shell, node = [], env, command = COMMAND, stdin = "ignore", uid, ...options } = start;
    const user = uid === undefined ? {} : { uid, gid: uid };
    const words = [process.execPath, ...node, command, ...args] as const;
    const [file, ...rest] = shell === undefined ? words : (["sh", "-c", shell, ...words] as const);
    const stdio = [stdin, "pipe", "pipe"] as const;
    this.child = spawn(file, rest, { ...options, ...user, stdio: [...stdio], env: { ...process.env, ...env } });
    running.add(this.child);
    this.child.stdin?.on("error", () => {});
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code) => {
        running.delete(this.child);
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  get lines(): readonly string[] {
    return this.stdout.split("\n").slice(0, -1);
  }

  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    for (const end = Date.now() + 120_000; !(await holds()); await pause(10))
      if (Date.now() > end || this.child.exitCode !== null)
        throw new Error(`not come to it: ${this.stdout}\n${this.stderr}`);
  }

  end(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** Resolves when the process has said something. */
export async function speaking(args: readonly string[], start: Start = {}): Promise<Process> {
  const process = new Process(args, start);
  await process.until(() => process.stdout !== "");
  return process;
}

export const run = (...args: string[]): Promise<Ended> => new Process(args).ended;
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
