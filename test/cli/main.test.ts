import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { run as runOf } from "../../src/cli/main.js";
import { scene } from "./support.js";

describe("the program", () => {
  it("answers 2 for a command that ends without an answer", async () => {
    const stream = { write: () => true };
    const io = { stdin: (async function* () {})(), stdout: stream, stderr: stream, env: {}, now: () => new Date(0) };
    const load = () => Promise.resolve((command: Command) => void command.action(() => undefined));
    expect(await runOf(["work"], io, { "Work:": { work: { summary: "work", load } } })).toBe(2);
  });

  const HEX = "7d2f1c09a4be63815577d0e1c2b3a49f8e6d5c4b3a29180f7e6d5c4b3a291807";
  const BASE64 = Buffer.from(HEX, "hex").toString("base64");
  const HIDDEN = "[not shown: it looks like a key]";
  const { usage } = scene({
    ...{ hex: HEX, base64: BASE64, short: "hunter2", pairs: HEX.match(/../g)!.join(":"), eight: "04".repeat(8) },
    pem: `-----BEGIN PRIVATE KEY-----\n${BASE64}`,
  });
  // A key that is misplaced is not repeated.
  usage("", [
    ["verify --apikey=$short", "unknown option --apikey", "!$short"],
    ["fetch --api-key-fil=$short", "unknown option --api-key-fil (did you mean --api-key-file?)", "!$short"],
    ["key stamp --api_private_key=$short", "unknown option --api", "!$short"],
    ["pin --api-private-key=$short", "--api-private-key: every process", "!$short"],
    ["--api-key=$short", "unknown option --api-key", "!$short"],
    ["verify -k$short", "unknown option -k", "!$short"],
    ["verify --apikey $short", "unknown option --apikey", "!$short"],
    ["verify --$hex", "not shown", "!$hex"],
    ["verify $hex --bundle-policy", "not shown", "!$hex"],
    ["verify $hex --no-policy", `${HIDDEN}: no such file`, "!$hex"],
    ["verify $base64 --no-policy", `${HIDDEN}: no such file`, "!$base64"],
    ["inspect 0x$hex", "no such file", "!$hex"],
    ["verify $hex:p256 --no-policy", `${HIDDEN}:p256: no such file`, "!$hex"],
    ["verify x:$pairs --no-policy", "not shown", "!$pairs"],
    ["verify $eight.$base64 --no-policy", "not shown", "!$base64"],
    ["key new --api-key-file $hex:p256", "unknown option", "!$hex"],
    ["fetch --base-url https://a --api-key-file $hex:p256", "expected the name of a file", "!$hex"],
    ["inspect $pem", "!$base64"],
    ['inspect {"publicKey":"","privateKey":"$short"}', "no such file", "!$short"],
    ["$hex", `unknown command ${HIDDEN}`, "!$hex"],
    ["verify --boot-proof $hex --policy=$base64", "no such file", "!$hex", "!$base64"],
    ["verify --format $hex --no-policy --boot-proof x", "--format [not shown", "!$hex"],
    ["fetch --base-url https://a --timeout $hex", "--timeout [not shown", "!$hex"],
    // Names with dots are no tokens.
    ["verify github-release-v0.1.sigstore-bundle-of-2026-11.json --no-policy", "bundle-of-2026-11.json: no such file"],
    ["verify a1b2c3d4-e5f6.prod-enclaves.internal --no-policy", "a1b2c3d4-e5f6.prod-enclaves.internal: no such file"],
  ]);
});
