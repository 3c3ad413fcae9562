import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { APP_1, BOOT_1, BOOT_2, bootproof, fileOf, vector, refusal, refused } from "./support.js";

const RELEASE = vector("releases/r2025.9.3.yaml");
const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout);
const policy = JSON.parse(readFileSync(POLICY, "utf8")) as { readonly deployments: object[] };
const EDITED = fileOf({ ...policy, allowDebug: true });

describe("diff", () => {
  it("tells two boot proofs apart: exit code 1", async () => {
    const { code, stdout, stderr } = await bootproof(["diff", BOOT_1, BOOT_2]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/^different: 1 notable, 7 minor\nNOT VERIFIED: /);
  });

  it("finds a file the same as itself: exit code 0", async () => {
    expect(await bootproof(["diff", BOOT_1, BOOT_1])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^same\n/) as string,
    });
  });

  it("compares a policy with a boot proof, in either order: exit code 0 or 1", async () => {
    const held = await bootproof(["diff", POLICY, BOOT_1]);
    expect([held.code, held.stdout.split("\n")[0]]).toEqual([0, "same: every pin holds"]);
    const changed = { ...policy, deployments: [{ ...policy.deployments[0], namespace: "another" }] };
    const { code, stdout } = await bootproof(["diff", BOOT_1, fileOf(changed)]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^different: 1 of \d+ pins do not hold\nNOT VERIFIED: [^]*\n +DIFFERS +namespace: /);
    const json = await bootproof(["diff", POLICY, BOOT_1, "--format", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ same: true, pins: { nearest: { holds: true }, others: [] } });
  });

  it("reads either from stdin", async () => {
    const stdin = readFileSync(BOOT_2);
    const both = await bootproof(["diff", BOOT_1, BOOT_2]);
    expect((await bootproof(["diff", BOOT_1, "-"], { stdin })).stdout).toBe(both.stdout);
    expect((await bootproof(["diff", "-", BOOT_2], { stdin })).code).toBe(0);
  });

  it("answers as JSON", async () => {
    const { code, stdout } = await bootproof(["diff", POLICY, EDITED, "--format", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      format: "bootproof-diff/1",
      "NOT VERIFIED": expect.any(String) as string,
      same: false,
      kind: "policy",
      changes: [
        { what: "policy.allow-debug", severity: "critical", place: "allowDebug", before: "false", after: "true" },
      ],
    });
  });

  it("reads releases, YAML and JSON", async () => {
    const text = readFileSync(RELEASE, "utf8");
    expect((await bootproof(["diff", RELEASE, RELEASE])).code).toBe(0);
    const other = fileOf(
      text.replace("version: r2025.9.3", "version: r2025.9.4").replace("3aeeccb9", "00000000"),
      "r.yaml",
    );
    const { code, stdout } = await bootproof(["diff", RELEASE, other, "--format", "json"]);
    expect(code).toBe(1);
    expect((JSON.parse(stdout) as { changes: { what: string; place: string }[] }).changes).toMatchObject([
      { what: "application", place: "signer.appBinaryDigest" },
      { what: "release.version", place: "version" },
    ]);
  });

  it("reads the trust anchors that a policy names by file, beside it", async () => {
    const evidence = forgeEvidence({ lab: new Forge(), at: new Date("2026-03-04T05:06:07.000Z") });
    // A name of its own: where another test has taken one, the file would not be beside the policy.
    const file = basename(fileOf(evidence.anchorPem));
    const named = { ...labPolicy("", [labDeployment(new Forge())]), trustAnchors: [{ file }] };
    const inside = { ...named, trustAnchors: [{ pem: evidence.anchorPem }] };
    const { code, stdout } = await bootproof(["diff", fileOf(named), fileOf(inside)]);
    expect([code, stdout.split("\n")[0]]).toEqual([1, "different: 2 minor"]);
  });

  it("fits the terminal", async () => {
    const { stdout } = await bootproof(["diff", POLICY, EDITED], { env: { COLUMNS: "60" } });
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
  });

  it("tells the faults of both files together", () =>
    refused(
      2,
      bootproof(["diff", APP_1, "missing"]),
      "this is an app proof; what can be compared: boot proof, ",
      "missing: no such file",
    ));

  it.each([
    ["two kinds", [RELEASE, POLICY], "a published release and a policy cannot be compared"],
    ["a malformed policy", [POLICY, fileOf({ ...policy, deployment: [] })], "deployment: unknown member"],
    ["broken JSON", [POLICY, fileOf("{")], "not strict JSON"],
    ["broken YAML", [RELEASE, fileOf("version: 1\na:\n  appBinaryDigest: [\n", "bad.yaml")], "not YAML"],
    ["what is nothing", [POLICY, fileOf("hello")], "not recognised"],
    ["one file", [POLICY], "B is required: the new file"],
    ["three files", [POLICY, POLICY, POLICY], "too many arguments"],
    ["stdin twice", ["-", "-"], "only one file can be - (stdin)"],
    ["another format", [POLICY, POLICY, "--format", "yaml"], "--format yaml: expected one of text, json"],
  ])("refuses %s", async (_, args, message) => {
    const stderr = await refusal(2, bootproof(["diff", ...args]), message);
    expect(stderr).not.toContain("unexpected");
  });
});
