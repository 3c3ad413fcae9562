import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { run as runOf } from "../../src/cli/main.js";
import { bootproof, refusal } from "./support.js";

describe("the program", () => {
  it("answers 2 for a command that ends without an answer", async () => {
    const stream = { write: () => true };
    const io = { stdin: (async function* () {})(), stdout: stream, stderr: stream, env: {}, now: () => new Date(0) };
    const load = () => Promise.resolve((command: Command) => void command.action(() => undefined));
    expect(await runOf(["work"], io, { "Work:": { work: { summary: "work", load } } })).toBe(2);
  });

  const HEX = "7d2f1c09a4be63815577d0e1c2b3a49f8e6d5c4b3a29180f7e6d5c4b3a291807";
  const BASE64 = Buffer.from(HEX, "hex").toString("base64");
  const SHORT = "hunter2";
  it.each<[argv: string[], secret: string, said: string]>([
    [["verify", `--apikey=${SHORT}`], SHORT, "unknown option --apikey"],
    [["fetch", `--api-key-fil=${SHORT}`], SHORT, "unknown option --api-key-fil (did you mean --api-key-file?)"],
    [["key", "stamp", `--api_private_key=${SHORT}`], SHORT, "unknown option --api"],
    [["pin", `--api-private-key=${SHORT}`], SHORT, "--api-private-key: every process"],
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
    [["key", "new", "--api-key-file", `${HEX}:p256`], HEX, "unknown option"],
    [["fetch", "--base-url", "https://a", "--api-key-file", `${HEX}:p256`], HEX, "expected the name of a file"],
    [["inspect", `-----BEGIN PRIVATE KEY-----\n${BASE64}`], BASE64, ""],
    [["inspect", `{"publicKey":"","privateKey":"${SHORT}"}`], SHORT, "no such file"],
    [[HEX], HEX, "unknown command [not shown: it looks like a key]"],
    [["verify", "--boot-proof", HEX, `--policy=${BASE64}`], HEX, "no such file"],
    [["verify", "--boot-proof", HEX, `--policy=${BASE64}`], BASE64, "no such file"],
    [["verify", "--format", HEX, "--no-policy", "--boot-proof", "x"], HEX, "--format [not shown"],
    [["fetch", "--base-url", "https://a", "--timeout", HEX], HEX, "--timeout [not shown"],
  ])("does not repeat a key that is misplaced: %j", async (argv, secret, said) => {
    const stderr = await refusal(2, bootproof(argv), said);
    expect(stderr).not.toContain(secret);
  });

  it("repeats names with dots, which are no tokens", async () => {
    for (const name of ["github-release-v0.1.sigstore-bundle-of-2026-11.json", "a1b2c3d4-e5f6.prod-enclaves.internal"])
      await refusal(2, bootproof(["verify", name, "--no-policy"]), `${name}: no such file`);
  });
});
