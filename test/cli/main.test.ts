import { describe, expect, it } from "vitest";
import { run } from "../../src/cli/main.js";
import { APP_1, bootproof, readJson } from "./support.js";

describe("the program", () => {
  it("tells its version", async () => {
    const { version } = readJson(new URL("../../package.json", import.meta.url).pathname);
    expect(await bootproof(["--version"])).toEqual({ code: 0, stdout: `${version as string}\n`, stderr: "" });
  });

  it.each([["--help"], ["verify", "--help"], ["pin", "--help"], ["inspect", "--help"], ["fetch", "--help"], ["bundle", "--help"], ["stamp", "--help"], ["keygen", "--help"], ["lab", "--help"], ["help", "verify"]])("helps: %s %s", async (...args) => {
    const { code, stdout, stderr } = await bootproof(args.filter((arg) => arg !== undefined));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: bootproof/);
    if (args.length > 1) expect(stdout).toContain("Examples:");
  });

  it.each([[[]], [["frobnicate"]], [["--frobnicate"]], [["verify", "--frobnicate"]]])("refuses %j", async (args) => {
    const { code, stdout, stderr } = await bootproof(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).not.toBe("");
  });

  it("tells what nobody expected in one line", async () => {
    let stderr = "";
    const broken = { write: (): never => { throw new Error("disk on fire\u001b[2J"); } };
    const code = await run(["inspect", APP_1], {
      stdin: (async function* () {})(), stdout: broken, stderr: { write: (text) => (stderr += text) }, env: {}, now: () => new Date(),
    });
    expect([code, stderr]).toEqual([2, "bootproof: unexpected: disk on fire\\u{1b}[2J\n"]);
  });
});
