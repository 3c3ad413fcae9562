/** The runner as a process, and what it prints. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const RUNNER = fileURLToPath(new URL("run.mjs", import.meta.url));

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function run(...args: string[]): Promise<Run> {
  return new Promise((settle) => {
    execFile(process.execPath, [RUNNER, ...args], (error, stdout, stderr) =>
      settle({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

export const total = (stdout: string): number[] =>
  stdout.trimEnd().split("\n").at(-1)!.trim().split(/\s+/).slice(1).map(Number);

export interface Result {
  readonly folder: string;
  readonly outcome: string;
  readonly answer: { readonly verdict: string };
}

/** What a verifier answers to every case. */
export async function results(
  adapter: string,
  ...options: string[]
): Promise<Run & { readonly results: readonly Result[] }> {
  const scratch = mkdtempSync(join(tmpdir(), "bootproof-conformance-"));
  try {
    const file = join(scratch, "results.json");
    const done = await run("--json", file, ...options, "--", process.execPath, adapter);
    if (done.stderr !== "") throw new Error(done.stderr);
    return { ...done, results: JSON.parse(readFileSync(file, "utf8")) as Result[] };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
