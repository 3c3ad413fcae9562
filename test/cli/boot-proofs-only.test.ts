/** Where only boot proofs are asked for, rules about app proofs are skipped, and that is said; and nowhere else. */
import { describe, expect, it } from "vitest";
import { packEvidence } from "../../src/bundle/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { Report } from "../../src/report/report.js";
import { type Answer, bootproof, fileOf } from "./support.js";

const lab = new Forge();
const { bootProof, appProofs, activity, anchorPem, document } = forgeEvidence({
  lab,
  at: new Date("2026-03-04T05:06:07.000Z"),
});
const [pinned] = [labDeployment(lab)];
const nitro = { name: "bare", kind: "nitro", pcrs: pinned["pcrs"]! };
const policyOf = (rules: object): string => fileOf({ ...labPolicy(anchorPem, [pinned, nitro]), appProofs: rules });
const DEMANDING = policyOf({ required: true });
const ADDRESS = "0xb84b4730Cd81Bc82Ee6B1dE6c343Ebd7928138DC";

const BOOT = fileOf(bootProof);
const APPS = fileOf(appProofs);
const NO_APPS = fileOf([]);
const ACTIVITY = fileOf(activity);
const BUNDLE = fileOf(packEvidence({ bootProofs: [bootProof] }));
const KEY = (bootProof as { ephemeralPublicKeyHex: string }).ephemeralPublicKeyHex;

const verify = (...args: string[]): Promise<Answer> => bootproof(["verify", ...args], { now: "2026-03-04T06:00:00Z" });
const checkOf = (stdout: string): object =>
  (JSON.parse(stdout) as Report).checks.find(({ id }) => id === "policy.app-proof")!;
const NOT_APPLIED = "requested: the policy's rules about app proofs were not applied";

describe("only boot proofs are asked for", () => {
  it.each([
    ["by --boot-proof alone", ["--boot-proof", BOOT]],
    ["with the key that was asked for", ["--boot-proof", BOOT, "--ephemeral-key", KEY]],
    ["of a bundle, for its boot proofs alone", ["--boot-proof", BUNDLE]],
    ["by --attestation, of a document", ["--attestation", fileOf(document)]],
  ])("%s", async (_, args) => {
    const { code, stdout, stderr } = await verify(...args, "--policy", DEMANDING, "--format", "json");
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^VERIFIED /)]);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: "verified", notApplied: ["appProofs.required"] });
    expect(checkOf(stdout)).toMatchObject({ status: "skip", detail: expect.stringContaining(NOT_APPLIED) as string });
    const text = (await verify(...args, "--policy", DEMANDING)).stdout.replace(/\s+/g, " ");
    expect(text).toContain(
      "WARNING app proofs were not part of this verification: the policy's rules for them (appProofs.required) were " +
        "not applied.",
    );
  });

  it("and nothing more is said where the policy demands nothing of app proofs", async () => {
    const { code, stdout } = await verify("--boot-proof", BOOT, "--policy", policyOf({}));
    expect([code, stdout.includes("WARNING app proofs")]).toEqual([0, false]);
  });
});

describe("more is asked for, and the policy's rules hold", () => {
  it.each([
    ["a file of app proofs, which is empty", ["--boot-proof", BOOT, "--app-proof", NO_APPS]],
    ["a bundle, whose maker left the app proofs out", [BUNDLE]],
    ["a bundle, and the key that was asked for", [BUNDLE, "--ephemeral-key", KEY]],
  ])("with %s", async (_, args) => {
    const { code, stdout } = await verify(...args, "--policy", DEMANDING, "--format", "json");
    expect([code, checkOf(stdout)]).toMatchObject([1, { status: "fail" }]);
  });

  it("with an address that was asked about", async () => {
    const asked = ["--organization-id", "o", "--address", ADDRESS];
    const { code, stdout } = await verify("--boot-proof", BOOT, "--policy", DEMANDING, "--format", "json", ...asked);
    expect([code, checkOf(stdout)]).toMatchObject([1, { status: "fail" }]);
  });

  it.each([
    ["app proofs", ["--app-proof", APPS]],
    ["an activity", ["--activity", ACTIVITY]],
  ])("with %s, which meet some and not others", async (_, args) => {
    const given = ["--boot-proof", BOOT, ...args, "--format", "json"];
    expect((await verify(...given, "--policy", DEMANDING)).code).toBe(0);
    const { code, stdout } = await verify(...given, "--policy", policyOf({ decision: true }));
    expect([code, checkOf(stdout)]).toMatchObject([1, { status: "fail" }]);
  });

  it("when evidence is packed, which somebody else verifies", async () => {
    const { code, stderr } = await bootproof(["bundle", "--boot-proof", BOOT, "--policy", DEMANDING]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("FAIL  policy.app-proof")]);
  });
});
