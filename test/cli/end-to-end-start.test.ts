/** What a start of the built command loads. Each row runs a copy that has only those files, and no package. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BOOT_1 } from "./support.js";

const BIN = fileURLToPath(new URL("../../dist/bin", import.meta.url));
const base = mkdtempSync(join(tmpdir(), "bootproof-start-"));
afterAll(() => rmSync(base, { recursive: true }));

/** Makes examples name the command alike, wherever it is. */
writeFileSync(join(base, "bootproof"), "");

const policy = join(base, "policy.json");
beforeAll(() => {
  const { status, stdout } = started(BIN, ["pin", "--boot-proof", BOOT_1]);
  expect(status).toBe(0);
  writeFileSync(policy, stdout);
});

function started(bin: string, args: readonly string[]): { readonly status: number | null; readonly stdout: string } {
  const env = { ...process.env, PATH: base };
  const words = [join(bin, "bootproof.cjs"), ...args];
  const { status, stdout } = spawnSync(process.execPath, words, { encoding: "utf8", env });
  return { status, stdout };
}

function copyOf(files: readonly string[]): string {
  const folder = mkdtempSync(join(base, "bin-"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const file of files) copyFileSync(join(BIN, file), join(folder, file));
  return folder;
}

const VERIFY = ["verify", "--now", "2026-01-01T00:00:00Z", "--boot-proof", BOOT_1];
const MAIN = ["bootproof.cjs", "main.js"];

describe("the command starts", () => {
  it.each<[args: readonly string[], files: readonly string[]]>([
    [["--version"], MAIN],
    [["--help"], MAIN],
    [["no-such-command"], MAIN],
    [
      ["verify", "--help"],
      [...MAIN, "verify.js"],
    ],
    [
      [...VERIFY, "--no-policy"],
      [...MAIN, "verify.js"],
    ],
    [
      [...VERIFY, "--policy", policy],
      [...MAIN, "verify.js", "policy.js"],
    ],
  ])("%j from %j alone", (args, files) => {
    expect(started(copyOf(files), args)).toEqual(started(BIN, args));
  });
});
