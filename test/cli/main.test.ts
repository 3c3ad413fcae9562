import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { runAny as run } from "../../src/cli/commands.js";
import { run as runOf } from "../../src/cli/main.js";
import { APP_1, bootproof, readJson } from "./support.js";

describe("the program", () => {
  it("tells its version", async () => {
    const { version } = readJson(new URL("../../package.json", import.meta.url).pathname);
    expect(await bootproof(["--version"])).toEqual({ code: 0, stdout: `${version as string}\n`, stderr: "" });
  });

  it.each([
    ["--help"],
    ["verify", "--help"],
    ["pin", "--help"],
    ["inspect", "--help"],
    ["diff", "--help"],
    ["fetch", "--help"],
    ["bundle", "--help"],
    ["stamp", "--help"],
    ["keygen", "--help"],
    ["lab", "--help"],
    ["help", "verify"],
  ])("helps: %s %s", async (...args) => {
    const { code, stdout, stderr } = await bootproof(args.filter((arg) => arg !== undefined));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Usage: bootproof/);
    if (args.length > 1) expect(stdout).toContain("Examples:");
  });

  it.each([[["frobnicate"]], [["--frobnicate"]], [["verify", "--frobnicate"]]])("refuses %j", async (args) => {
    const { code, stdout, stderr } = await bootproof(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).not.toBe("");
  });

  it("answers 2 for a command that ends without an answer", async () => {
    const stream = { write: () => true };
    const io = { stdin: (async function* () {})(), stdout: stream, stderr: stream, env: {}, now: () => new Date(0) };
    const load = () => Promise.resolve((command: Command) => void command.action(() => undefined));
    expect(await runOf(["work"], io, { work: { heading: "evidence", summary: "work", load } })).toBe(2);
  });

  const HEX = "7d2f1c09a4be63815577d0e1c2b3a49f8e6d5c4b3a29180f7e6d5c4b3a291807";
  const BASE64 = Buffer.from(HEX, "hex").toString("base64");
  const SHORT = "hunter2";
  it.each<[argv: string[], secret: string, said: string]>([
    [["verify", `--apikey=${SHORT}`], SHORT, "unknown option --apikey"],
    [["fetch", `--api-key-fil=${SHORT}`], SHORT, "unknown option --api-key-fil (did you mean --api-key-file?)"],
    [["stamp", `--api_private_key=${SHORT}`], SHORT, "unknown option --api"],
    [["pin", `--api-private-key=${SHORT}`], SHORT, "unknown option --api-private-key"],
    [[`--api-key=${SHORT}`], SHORT, "unknown option --api-key"],
    [["verify", `-k${SHORT}`], SHORT, "unknown option -k"],
    [["verify", "--apikey", SHORT], SHORT, "unknown option --apikey"],
    [["verify", `--${HEX}`], HEX, "not shown"],
    [["verify", HEX, "--bundle-policy"], HEX, "not shown"],
    [["verify", HEX, "--no-policy"], HEX, "[not shown: it looks like a key]: no such file"],
    [["verify", BASE64, "--no-policy"], BASE64, "[not shown: it looks like a key]: no such file"],
    [["inspect", `0x${HEX}`], HEX, "no such file"],
    [["verify", `${HEX}:p256`, "--no-policy"], HEX, "[not shown: it looks like a key]:p256: no such file"],
    [["verify", `x:${HEX.match(/../g)!.join(":")}`, "--no-policy"], HEX.match(/../g)!.join(":"), "not shown"],
    [["verify", `${"04".repeat(8)}.${BASE64}`, "--no-policy"], BASE64, "not shown"],
    [["keygen", "--api-key-file", `${HEX}:p256`], HEX, "unknown option"],
    [["fetch", "--base-url", "https://a", "--api-key-file", `${HEX}:p256`], HEX, "expected the name of a file"],
    [["inspect", `-----BEGIN PRIVATE KEY-----\n${BASE64}`], BASE64, ""],
    [["inspect", `{"publicKey":"","privateKey":"${SHORT}"}`], SHORT, "no such file"],
    [[HEX], HEX, "unknown command [not shown: it looks like a key]"],
    [["verify", "--boot-proof", HEX, `--policy=${BASE64}`], HEX, "no such file"],
    [["verify", "--boot-proof", HEX, `--policy=${BASE64}`], BASE64, "no such file"],
    [["verify", "--format", HEX, "--no-policy", "--boot-proof", "x"], HEX, "--format [not shown"],
    [["fetch", "--base-url", "https://a", "--timeout", HEX], HEX, "--timeout [not shown"],
  ])("does not repeat a key that is misplaced: %j", async (argv, secret, said) => {
    const { code, stdout, stderr } = await bootproof(argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain(secret);
  });

  it("names files, commands and options that are none", async () => {
    expect((await bootproof(["verify", "evidence-of-production.json", "--no-policy"])).stderr).toContain(
      "evidence-of-production.json: no such file",
    );
    expect((await bootproof(["inspect", "./Evidence/2026/boot-proof"])).stderr).toContain(
      "./Evidence/2026/boot-proof: no such file",
    );
    expect((await bootproof(["verfy"])).stderr).toContain("unknown command verfy (did you mean verify?)");
    expect((await bootproof(["verify", "--polcy", "x"])).stderr).toContain("(did you mean --policy?)");
  });

  it("tells what nobody expected in one line", async () => {
    let stderr = "";
    const broken = {
      write: (): never => {
        throw new Error("disk on fire\u001b[2J");
      },
    };
    const code = await run(["inspect", APP_1], {
      stdin: (async function* () {})(),
      stdout: broken,
      stderr: { write: (text) => (stderr += text) },
      env: {},
      now: () => new Date(),
    });
    expect([code, stderr]).toEqual([2, "bootproof: unexpected: disk on fire\\u{1b}[2J\n"]);
  });
});
