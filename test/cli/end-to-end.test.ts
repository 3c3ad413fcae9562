/** The built command in a process of its own. Needs `npm run build`. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { APP_1, BOOT_1, BOOT_2, NOW, bootproof, readJson } from "./support.js";

const root = new URL("../../", import.meta.url);
const { bin } = readJson(fileURLToPath(new URL("package.json", root))) as { bin: { bootproof: string } };
const COMMAND = fileURLToPath(new URL(bin.bootproof, root));

function built(
  args: readonly string[],
  options: { input?: string | Buffer; command?: string; env?: Record<string, string> } = {},
): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: "utf8",
    input: options.input ?? "",
    env: { ...process.env, ...options.env },
  });
}

/** Through a shell, for pipes and redirections. */
function shell(line: string): SpawnSyncReturns<string> {
  return spawnSync("/bin/bash", ["-c", line], {
    encoding: "utf8",
    env: { ...process.env, NODE: process.execPath, COMMAND, BOOT_1, APP_1 },
  });
}

describe("the built command", () => {
  it("answers as the source does", async () => {
    const args = ["verify", "--boot-proof", BOOT_1, "--app-proof", APP_1, "--no-policy", "--now", NOW];
    const { status, stdout, stderr } = built(args);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toBe((await bootproof(args)).stdout);
  });

  it("inspects and pins a release, and tells what changed", () => {
    const release = fileURLToPath(new URL("test-vectors/releases/r2025.9.3.yaml", root));
    expect(built(["inspect", release]).stdout).toMatch(/^release \(YAML\)\n\nversion {2}r2025\.9\.3\n/m);
    const pinned = built(["pin", "--release", release, "--app", "signer"]);
    expect(JSON.parse(pinned.stdout)).toMatchObject({ policy: "bootproof/1" });
    const { status, stdout, stderr } = built(["diff", BOOT_1, BOOT_2]);
    expect([status, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/^different: 1 notable, 7 minor\nNOT VERIFIED: /);
  });

  it("has no colour in a pipe, and no stack trace ever", () => {
    for (const input of ["", "\u0000".repeat(10_000), "{".repeat(10_000), '{"bootProof":{"bootProof":{}}}']) {
      const { status, stdout, stderr } = built(["verify", "--boot-proof", "-", "--no-policy"], { input });
      expect([1, 2]).toContain(status);
      expect(stdout + stderr).not.toMatch(/\u001b|\n\s+at |node:internal/);
    }
  });

  it("keeps the verdict's exit code when its reader has seen enough", () => {
    const pair = '"$NODE" "$COMMAND" verify --boot-proof "$BOOT_1" --app-proof "$APP_1" --no-policy';
    expect(shell(`${pair} | head -c 10; exit "\${PIPESTATUS[0]}"`)).toMatchObject({
      status: 0,
      stdout: "AUTHENTIC:",
      stderr: "",
    });
    expect(shell(`${pair} --at now | true; exit "\${PIPESTATUS[0]}"`)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^REJECTED: nothing is proven\. (?:.+\n){1,6}$/) as string,
    });
  });

  it("says so when its result cannot be written", () => {
    const { status, stderr } = shell('"$NODE" "$COMMAND" inspect "$BOOT_1" > /dev/full');
    expect(status).toBe(2);
    expect(stderr).toBe("bootproof: the result could not be written (ENOSPC)\n");
  });

  it("reads pipes that are files", () => {
    expect(shell('"$NODE" "$COMMAND" verify --boot-proof <(cat "$BOOT_1") --no-policy').status).toBe(0);
  });
});
