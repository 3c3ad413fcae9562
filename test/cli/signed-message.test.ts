/** `verify --signed-message`: bytes that an application signed with its ephemeral key, and that are no app proof. */
import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { qosSign, sha256 } from "../../src/lab/qos.js";
import { NOW as AT, hex } from "../attacks/support.js";
import { type Answer, bootproof, fileOf, refused } from "./support.js";

const lab = new Forge();
const { bootProof, appProofs, anchorPem } = forgeEvidence({ lab, at: AT });
const key = lab.ephemeralKey;
const message = sha256(toUtf8("what the transaction does"));
const MESSAGE = fileOf(message, "message.bin");
const SAME = fileOf(message, "mine.bin");
const OTHER = fileOf(sha256(toUtf8("another transaction")), "other.bin");
const BOOT = fileOf(bootProof);
const SIGNATURE = hex(qosSign(key, message));
const policyFile = (appProofs: JsonObject | null = { bytes: true }, members: JsonObject = {}): string =>
  fileOf(labPolicy(anchorPem, [{ ...labDeployment(lab), ...(appProofs && { appProofs }) }], members));
const POLICY = policyFile();

const GIVEN = ["--signed-message", MESSAGE, "--signature", SIGNATURE];

function judged(more: readonly string[], env: Record<string, string> = {}, policy = POLICY): Promise<Answer> {
  const argv = ["verify", "--boot-proof", BOOT, "--policy", policy, ...more];
  return bootproof(argv, { now: AT.toISOString(), env });
}

async function failedOf(answer: Promise<Answer>): Promise<string[]> {
  const { checks } = JSON.parse((await answer).stdout) as { checks: { id: string; status: string }[] };
  return checks.filter(({ status }) => status === "fail").map(({ id }) => id);
}

describe("signed bytes", () => {
  it("pass, and the report says how many they are, and that they are expected", async () => {
    const { code, stdout, stderr } = await judged([...GIVEN, "--expect", SAME, "--verbose"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("The application signed these 32 bytes");
    expect(stdout).toContain("message.bin");
    expect(stdout).toMatch(/app\.request .*they are the expected bytes/);
  });

  it("pass with a warning where nothing is expected", async () => {
    const { code, stdout } = await judged([...GIVEN, "--verbose"]);
    expect(code).toBe(0);
    expect(stdout).toContain("nobody said which bytes are expected");
    expect((await judged([...GIVEN, "--fail-on-warning"])).code).toBe(1);
  });

  it.each([
    ["the whole key", hex(key.publicKey)],
    ["its signing half", hex(key.publicKey.subarray(65))],
  ])("pass with %s", async (_, publicKey) => {
    expect((await judged([...GIVEN, "--public-key", publicKey, "--expect", SAME])).code).toBe(0);
  });

  it("come from stdin too, and pass beside an organization of the environment, which is for connections", async () => {
    const argv = [
      "verify",
      "--boot-proof",
      BOOT,
      "--policy",
      POLICY,
      "--signed-message",
      "-",
      "--signature",
      SIGNATURE,
    ];
    const surroundings = { now: AT.toISOString(), stdin: message, env: { BOOTPROOF_ORGANIZATION_ID: "another" } };
    expect((await bootproof(argv, surroundings)).code).toBe(0);
  });

  it.each<[string, string[], string]>([
    ["other bytes than expected", [...GIVEN, "--expect", OTHER], "app.request"],
    ["bytes that nobody signed", ["--signed-message", OTHER, "--signature", SIGNATURE], "app.signature"],
    ["another key", [...GIVEN, "--public-key", hex(new Forge().ephemeralKey.publicKey)], "app.key"],
    ["a signature that is cut off", ["--signed-message", MESSAGE, "--signature", SIGNATURE.slice(2)], "app.decode"],
    ["another nonce", [...GIVEN, "--nonce", "ff"], "bind.nonce"],
    ["another key of the caller", [...GIVEN, "--ephemeral-key", hex(new Forge().ephemeralKey.publicKey)], "bind.key"],
  ])("are rejected: %s", async (_, more, failed) => {
    const answer = await judged([...more, "--format", "json"]);
    expect(answer.code).toBe(1);
    expect(await failedOf(Promise.resolve(answer))).toContain(failed);
  });

  it("are rejected where the deployment does not say that it signs bytes, and where a maximum age is set", async () => {
    const policies = [policyFile(null), policyFile({ bytes: true }, { appProofs: { maxAge: "1h" } })];
    for (const policy of policies) {
      const answer = await judged([...GIVEN, "--expect", SAME, "--format", "json"], {}, policy);
      expect([answer.code, await failedOf(Promise.resolve(answer))]).toEqual([1, ["policy.app-proof"]]);
    }
  });

  it.each(["junit", "sarif", "markdown", "ear"])("are in a report of %s", async (format) => {
    const { code, stdout } = await judged([...GIVEN, "--expect", SAME, "--format", format]);
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(100);
  });
});

describe("a command line of signed bytes that could not be checked as a whole is exit code 2", () => {
  it.each<[string, string[], string | RegExp]>([
    ["no signature", ["--signed-message", MESSAGE], "--signed-message requires --signature"],
    ["a signature alone", ["--signature", SIGNATURE], "--signature requires --signed-message"],
    ["an expectation alone", ["--expect", SAME], "--expect requires --signed-message"],
    ["a key alone", ["--public-key", hex(key.publicKey)], "--public-key requires --signed-message"],
    ["a signature that is no hex", ["--signed-message", MESSAGE, "--signature", "0x12"], "--signature: expected bytes"],
    ["a key that is no hex", [...GIVEN, "--public-key", "key"], "--public-key: expected bytes in hex, without 0x"],
    ["the message itself as what is expected", [...GIVEN, "--expect", MESSAGE], "--expect: the file of"],
    ["two boot proofs", [...GIVEN, "--boot-proof", BOOT], "give one --boot-proof"],
    ["app proofs", [...GIVEN, "--app-proof", fileOf(appProofs)], "excludes --app-proof"],
    ["an address", [...GIVEN, "--address", "0x"], "excludes --address"],
    ["a challenge", [...GIVEN, "--challenge", "T:/x=1"], "excludes --challenge"],
    ["an organization", [...GIVEN, "--organization-id", "o"], "signed bytes name no organization"],
    ["a statement for SLSA", [...GIVEN, "--format", "vsa"], "--format vsa: it has no form for signed bytes"],
    ["an empty file", ["--signed-message", fileOf("", "empty.bin"), "--signature", SIGNATURE], "empty"],
    ["an empty expectation", [...GIVEN, "--expect", fileOf("", "empty.bin")], "empty"],
    ["no such file", [...GIVEN, "--expect", "absent.bin"], "absent.bin"],
  ])("%s", (_, more, says) => refused(2, judged(more), says));

  it("a page, which then says what is wrong", async () => {
    const { code, stdout, stderr } = await judged([...GIVEN, "--format", "html"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--format html: it has no form for signed bytes");
    expect(stdout).toContain("NOT VERIFIED");
  });

  it("a list of boot proofs", () => {
    const argv = ["verify", "--boot-proof", fileOf([bootProof, bootProof]), "--policy", POLICY, ...GIVEN];
    return refused(
      2,
      bootproof(argv, { now: AT.toISOString() }),
      "--signed-message: one boot proof is required, not 2",
    );
  });

  it("a bundle", () => {
    const argv = ["verify", BOOT, "--policy", POLICY, ...GIVEN];
    return refused(2, bootproof(argv, { now: AT.toISOString() }), "a file without an option");
  });
});
