import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { APP_1, BOOT_1, bootproof, fileOf, vector } from "./support.js";

describe("inspect", () => {
  it("shows a boot proof", async () => {
    const { code, stdout, stderr } = await bootproof(["inspect", BOOT_1]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^NOT VERIFIED/);
    await expect(stdout).toMatchFileSnapshot("golden/inspect-boot-proof.txt");
  });

  it("shows stdin, as JSON too", async () => {
    const { code, stdout } = await bootproof(["inspect", "-", "--format", "json"], { stdin: readFileSync(APP_1) });
    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual(["NOT VERIFIED", "kind", "encoding", "faults", "says"]);
  });

  it("has colour for a terminal only", async () => {
    expect((await bootproof(["inspect", APP_1], { isTTY: true })).stdout).toMatch(
      /^\u001b\[30;43mNOT VERIFIED\u001b\[0m/,
    );
    expect((await bootproof(["inspect", APP_1], { isTTY: true, env: { NO_COLOR: "1" } })).stdout).not.toContain(
      "\u001b",
    );
  });

  it.each([
    ["what is no evidence", [fileOf("hello")], "not recognised: no boot proof"],
    ["nothing", [fileOf("")], "empty"],
    ["broken JSON", [fileOf('{"a":\n')], "not strict JSON: the text ends early (line 2, column 1)"],
    ["too much", [fileOf(new Uint8Array(2 * 1024 * 1024))], "larger than 1 MiB"],
    ["a directory", [vector("boot-proofs")], "is a directory, not a file"],
    ["no file", ["missing"], "missing: no such file"],
    ["no argument", [], "missing required argument"],
    ["two arguments", [APP_1, APP_1], "too many arguments"],
    ["another format", [APP_1, "--format", "yaml"], "--format yaml: one of text, json wanted"],
  ])("refuses %s", async (_, args, message) => {
    const { code, stdout, stderr } = await bootproof(["inspect", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });
});
