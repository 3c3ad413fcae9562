/** The built command in a process of its own. Needs `npm run build`. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { APP_1, BOOT_1, NOW, bootproof, readJson } from "./support.js";

const root = new URL("../../", import.meta.url);
const { bin } = readJson(fileURLToPath(new URL("package.json", root))) as { bin: { bootproof: string } };
const COMMAND = fileURLToPath(new URL(bin.bootproof, root));

function built(
  args: readonly string[],
  options: { input?: string; env?: Record<string, string> } = {},
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

it("the demo needs no network, and the commands that it prints do the same when they are pasted", () => {
  const at = mkdtempSync(join(tmpdir(), "bootproof-demo's "));
  symlinkSync(COMMAND, join(at, "bootproof"));
  writeFileSync(join(at, "offline.cjs"), "require('net').Socket.prototype.connect = () => { throw Error('online') };");
  const env = { PATH: `${at}:${process.env["PATH"]}`, NODE_OPTIONS: `--require="${join(at, "offline.cjs")}"` };
  const demo = built(["demo", "--out", join(at, "demo")], { env });
  expect([demo.status, demo.stderr]).toEqual([0, ""]);
  const commands = demo.stdout.slice(demo.stdout.lastIndexOf("\n\n"));
  expect(commands).toMatch(/^\n\ncd '/);
  const pasted = spawnSync("sh", { input: commands, encoding: "utf8", env: { ...process.env, ...env }, cwd: "/" });
  // A long text repeats its verdict at the end.
  expect([...new Set(pasted.stdout.match(/^(?:VERIFIED|REJECTED)/gm))]).toEqual(["VERIFIED", "REJECTED"]);
  expect([pasted.status, pasted.stdout]).toEqual([0, expect.stringContaining("One check failed: app.signature")]);
});

it("verifying files loads nothing of client and lab", () => {
  const command = readFileSync(COMMAND, "utf8");
  expect(
    ["EARN_PROVIDER", "DhkemP256", "LEVEL_LOCKED", "PUBLIC_KEY_NOT_FOUND"].filter((word) => command.includes(word)),
  ).toEqual([]);
  expect(command.length).toBeLessThan(400_000);
});
