/** A demand that nothing of what is given could meet is a fault of the command line, and never silently dropped. */
import { describe, expect, it } from "vitest";
import { packEvidence } from "../../src/index.js";
import { Forge, LAB_ADDRESS, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type Answer, bootproof, fileOf } from "./support.js";

const lab = new Forge();
const { bootProof, appProofs, activity, anchorPem, document } = forgeEvidence({
  lab,
  at: new Date("2026-03-04T05:06:07.000Z"),
});
const POLICY = fileOf(labPolicy(anchorPem, [labDeployment(lab)]));
const BOOT = fileOf(bootProof);
const APPS = fileOf(appProofs);
const NO_APPS = fileOf([]);
const ACTIVITY = fileOf(activity);
const BUNDLE = fileOf(packEvidence({ bootProofs: [bootProof] }));
const BUNDLE_WITH_APPS = fileOf(packEvidence({ bootProofs: [bootProof], appProofs }));
const { organizationId, address } = LAB_ADDRESS;

const judged = (argv: readonly string[], env: Record<string, string> = {}): Promise<Answer> =>
  bootproof([...argv, "--policy", POLICY], { now: "2026-03-04T06:00:00Z", env });

const BOOT_PROOFS_ALONE: [string, string[]][] = [
  ["a file", ["verify", "--boot-proof", BOOT]],
  ["a file and the key that was asked for", ["verify", "--boot-proof", BOOT, "--ephemeral-key", keyOf(bootProof)]],
  ["those of a bundle", ["verify", "--boot-proof", BUNDLE]],
  ["a file, and a list of app proofs that is empty", ["verify", "--boot-proof", BOOT, "--app-proof", NO_APPS]],
  ["a bundle that has no others", ["verify", BUNDLE]],
  ["a file that is packed", ["bundle", "--boot-proof", BOOT]],
  ["a file that is packed with an empty list", ["bundle", "--boot-proof", BOOT, "--app-proof", NO_APPS]],
];

function keyOf(proof: object): string {
  return (proof as { ephemeralPublicKeyHex: string }).ephemeralPublicKeyHex;
}

describe("--organization-id, where there are boot proofs alone", () => {
  it.each(BOOT_PROOFS_ALONE)("is exit code 2: %s", async (_, argv) => {
    for (const id of [organizationId, "another"]) {
      const { code, stdout, stderr } = await judged([...argv, "--organization-id", id]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(/^bootproof: --organization-id: boot proofs name no organization/);
    }
  });

  it.each(BOOT_PROOFS_ALONE)("of the environment it belongs to connections: %s", async (_, argv) => {
    expect((await judged(argv, { BOOTPROOF_ORGANIZATION_ID: "another" })).code).toBe(0);
  });

  it("is exit code 2 of a bare document", async () => {
    const { code, stderr } = await judged(["verify", "--attestation", fileOf(document), "--organization-id", "o"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--organization-id")]);
  });
});

describe("--organization-id, where something can be of another", () => {
  it.each([
    ["app proofs", ["--boot-proof", BOOT, "--app-proof", APPS]],
    ["an activity", ["--boot-proof", BOOT, "--activity", ACTIVITY]],
    ["a bundle with app proofs", [BUNDLE_WITH_APPS]],
  ])("is held against %s, of the environment too", async (_, argv) => {
    const verify = ["verify", ...argv];
    expect((await judged([...verify, "--organization-id", organizationId])).code).toBe(0);
    expect((await judged([...verify, "--organization-id", "another"])).code).toBe(1);
    expect((await judged(verify, { BOOTPROOF_ORGANIZATION_ID: "another" })).code).toBe(1);
    const { code, stderr } = await judged(verify, { BOOTPROOF_ORGANIZATION_ID: "" });
    expect([code, stderr]).toEqual([2, expect.stringContaining("BOOTPROOF_ORGANIZATION_ID: empty")]);
  });
});

describe("--address that no app proof speaks of", () => {
  it.each([
    ["boot proofs alone", ["--boot-proof", BOOT]],
    ["a bundle of them", [BUNDLE]],
  ])("is exit code 1: %s", async (_, argv) => {
    const asked = ["--organization-id", organizationId, "--address", address];
    expect((await judged(["verify", ...argv, ...asked])).code).toBe(1);
  });
});

describe("an option that would do nothing", () => {
  it.each([
    [["lab", "--list-faults", "--port", "0"], "--port: --list-faults starts no lab"],
    [["lab", "--list-faults", "--data", "x"], "--data: --list-faults starts no lab"],
    [["verify", BUNDLE, "--policy", POLICY, "--activity-id", "a", "--organization-id", "o"], "the bundle has none"],
    [["verify", "--boot-proof", BOOT, "--policy", POLICY, "--timeout", "5"], "nothing is fetched here"],
    [["page", "--policy", POLICY], "--policy: requires --verify FILE"],
    [
      ["audit", "--policy", POLICY, BOOT, "--queue", "redis://localhost:9", "--workers", "2"],
      "--workers sets the threads",
    ],
  ])("is exit code 2: %j", async (argv, message) => {
    const { code, stdout, stderr } = await bootproof(argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });
});
