/** The built command as a process, which tests end in every way. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ApiKeyPair, Lab } from "../../src/lab/index.js";
import type { LabFiles } from "../../src/lab/files.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class LabProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = "";
  stderr = "";

  constructor(...argv: string[]) {
    if (!existsSync(COMMAND)) throw new Error(`${COMMAND} is not there: npm run build`);
    this.child = spawn(process.execPath, [COMMAND, "lab", ...argv], { stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code, signal) => resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }));
    });
  }

  /** When it says that it listens. */
  async listening(): Promise<void> {
    const until = Date.now() + 120_000;
    while (!this.stdout.includes("Ctrl-C ends it.")) {
      if (Date.now() > until || this.child.exitCode !== null)
        throw new Error(`the lab does not listen: ${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  end(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

export function readLabFile(folder: string): LabFiles {
  return JSON.parse(readFileSync(join(folder, "lab.json"), "utf8")) as LabFiles;
}

/** What the plain caller needs of a lab that runs elsewhere. */
export function labOf(folder: string): Pick<Lab, "baseUrl" | "organizationId" | "apiKey" | "ids"> {
  const { baseUrl, organizationId, ids, apiKeyFile } = readLabFile(folder);
  return {
    baseUrl,
    organizationId,
    ids,
    apiKey: JSON.parse(readFileSync(join(folder, apiKeyFile), "utf8")) as ApiKeyPair,
  };
}
