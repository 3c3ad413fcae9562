/** The life of a policy, by the built command in processes of its own. Needs `npm run build`. */
import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { BOOT_1, BOOT_2, fileOf, readJson, vector } from "./support.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const NEW = vector("boot-proofs/staging-signer-20260702.json");
const OLD_NAME = "preprod/signer nonce 20250902";
const NEW_NAME = "0xkey/signer nonce 18";

function built(args: readonly string[], cwd: string, preload?: string): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [...(preload === undefined ? [] : ["--require", preload]), COMMAND, ...args], {
    encoding: "utf8",
    cwd,
    input: "",
    env: { ...process.env, COLUMNS: "80" },
  });
}

function folder(): string {
  return mkdtempSync(join(tmpdir(), "bootproof-life-"));
}

const read = (at: string): string => readFileSync(join(at, "policy.json"), "utf8");
const names = (at: string): unknown =>
  (readJson(join(at, "policy.json")) as unknown as PolicyFile).deployments.map(({ name }) => name);

describe("the life of a policy", () => {
  it("is pinned, checked, rolled out, and ended", () => {
    const at = folder();
    const verify = (file: string): number | null =>
      built(["verify", "--boot-proof", file, "--policy", "policy.json"], at).status;
    const pinned = built(["pin", "--boot-proof", BOOT_1, BOOT_2, "--out", "policy.json"], at);
    expect([pinned.status, pinned.stdout, names(at)]).toEqual([0, "", [OLD_NAME]]);
    expect([verify(BOOT_1), verify(BOOT_2), verify(NEW)]).toEqual([0, 0, 1]);

    const checked = built(["policy", "check", "policy.json"], at);
    expect([checked.status, checked.stderr]).toEqual([0, ""]);
    expect(checked.stdout).toContain(`Deployment "${OLD_NAME}"`);
    expect(Math.max(...checked.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);

    const before = read(at);
    const added = built(["pin", "--boot-proof", NEW, "--add-to", "policy.json"], at);
    expect([added.status, added.stdout, names(at)]).toEqual([0, "", [OLD_NAME, NEW_NAME]]);
    expect([verify(BOOT_1), verify(NEW)]).toEqual([0, 0]);

    const reverted = read(at);
    expect(built(["policy", "drop", "policy.json", NEW_NAME], at).status).toBe(0);
    expect(read(at)).toBe(before);
    writeFileSync(join(at, "policy.json"), reverted);

    expect(built(["policy", "drop", "policy.json", OLD_NAME], at).status).toBe(0);
    expect([names(at), verify(BOOT_1), verify(NEW)]).toEqual([[NEW_NAME], 1, 0]);
    const last = built(["policy", "drop", "policy.json", NEW_NAME], at);
    expect([last.status, last.stderr]).toEqual([2, expect.stringContaining("is the last one") as string]);
    expect(names(at)).toEqual([NEW_NAME]);
  });

  /** What happens to the process when it renames. */
  const AT_RENAME = {
    "is killed": "process.kill(process.pid, 'SIGKILL')",
    "has no right to": "throw Object.assign(new Error('denied'), { code: 'EACCES' })",
    "finds the disk gone": "throw Object.assign(new Error('gone'), { code: 'EIO' })",
  };

  it.each(Object.entries(AT_RENAME))(
    "leaves the file whole where the process %s between write and rename",
    (_, what) => {
      const at = folder();
      expect(built(["pin", "--boot-proof", BOOT_1, "--out", "policy.json"], at).status).toBe(0);
      const before = read(at);
      const preload = fileOf(
        `require("node:fs/promises").rename = async () => { ${what}; };`,
        `preload-${Math.random()}.cjs`,
      );
      const isKilled = what.includes("SIGKILL");
      for (const args of [
        ["pin", "--boot-proof", NEW, "--out", "policy.json", "--force"],
        ["pin", "--boot-proof", NEW, "--add-to", "policy.json"],
      ]) {
        const ran = built(args, at, preload);
        expect([ran.status, ran.signal]).toEqual(isKilled ? [null, "SIGKILL"] : [2, null]);
        expect(read(at)).toBe(before);
        if (!isKilled) {
          expect(ran.stderr).toContain("bootproof: policy.json: not written, and left as it was: ");
          expect(readdirSync(at)).toEqual(["policy.json"]);
        }
      }
      expect(built(["policy", "check", "policy.json"], at).status).toBe(0);
    },
  );

  it("leaves no file behind where there was none and the disk is full", () => {
    const at = folder();
    const preload = fileOf(
      `const files = require("node:fs/promises");
      const { open } = files;
      files.open = async (...given) => Object.assign(await open(...given), {
        sync: async () => { throw Object.assign(new Error(""), { code: "ENOSPC" }); },
      });`,
      "preload-full.cjs",
    );
    const ran = built(["pin", "--boot-proof", BOOT_1, "--out", "policy.json"], at, preload);
    expect([ran.status, readdirSync(at)]).toEqual([2, []]);
    expect(ran.stderr).toBe("bootproof: policy.json: not written, and left as it was: no space left\n");
  });

  it("is one policy or the other where two processes write it at once", async () => {
    const at = folder();
    const write = async (file: string): Promise<unknown> =>
      (
        await once(
          spawn(process.execPath, [COMMAND, "pin", "--boot-proof", file, "--out", "policy.json", "--force"], {
            cwd: at,
          }),
          "exit",
        )
      )[0];
    expect(await Promise.all([BOOT_1, NEW, BOOT_1, NEW].map(write))).toEqual([0, 0, 0, 0]);
    expect([[OLD_NAME], [NEW_NAME]]).toContainEqual(names(at));
    expect(readdirSync(at)).toEqual(["policy.json"]);
  });
});
