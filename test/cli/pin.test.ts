import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { BOOT_1, BOOT_2, bootproof, fileOf, readJson, vector, words, refused } from "./support.js";

const RELEASE = vector("releases/r2025.9.3.yaml");
const lab = new Forge();
const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });

async function pinned(...args: string[]): Promise<PolicyFile> {
  const { code, stdout } = await bootproof(["pin", ...args]);
  expect(code).toBe(0);
  return JSON.parse(stdout) as PolicyFile;
}

describe("from a boot proof", () => {
  it("pins what verification then accepts", async () => {
    const policy = await pinned("--boot-proof", BOOT_1);
    expect(policy).toMatchObject({
      policy: "bootproof/1",
      trustAnchors: ["aws-nitro-root-g1"],
      deployments: [{ namespace: "preprod/signer", minNonce: 20250902, commitment: "legacy" }],
    });
    const args = ["verify", "--policy", fileOf(policy), "--boot-proof"];
    expect((await bootproof([...args, BOOT_1])).code).toBe(0);
    expect((await bootproof([...args, BOOT_2])).code).toBe(0);
  });

  it("names the policy, and says on stderr what a person has to look at", async () => {
    const { stdout, stderr } = await bootproof(["pin", "--boot-proof", BOOT_1, "--name", "signer, production"]);
    expect((JSON.parse(stdout) as PolicyFile).name).toBe("signer, production");
    const [first, age] = stderr.split("\n");
    expect(first).toMatch(/^These values come from the evidence itself, .* compare them with a source that you trust/);
    expect(age).toBe("This enclave started 23 hours ago; whether it still runs is not shown: no app proof was given.");
    expect(stderr).toMatch(/^(?:(?:These|This|Warning:) .*\.\n)+$/);
    expect(stderr).toContain("Warning: legacy: no PCR commits");
    expect(stderr).toContain("Warning: legacy: any application of that role and image");
    expect(stderr).toContain("Warning: the manifest set identifies no owner");
    expect(stderr).toContain("Warning: manifestHash is pinned: only this manifest passes, and no later one");
  });

  it("writes maxAge only where it is asked for, and refuses one that its own evidence exceeds", async () => {
    expect((await pinned("--boot-proof", BOOT_1)).maxAge).toBeUndefined();
    expect((await pinned("--boot-proof", BOOT_1, "--max-age", "30d")).maxAge).toBe("30d");
    const exceeded = bootproof(["pin", "--boot-proof", BOOT_1, "--max-age", "1h"]);
    await refused(2, exceeded, "--max-age 1h: the policy would reject its own evidence: policy.age: ");
    const added = bootproof(["pin", "--boot-proof", BOOT_1, "--add-to", "policy.json", "--max-age", "1h"]);
    await refused(2, added, "--max-age is for a new policy");
  });

  it("replaces a file with --force only, or if it is the policy to which it adds", async () => {
    const { stdout: policy } = await bootproof(["pin", "--boot-proof", BOOT_1]);
    const [path, other] = [fileOf(policy), fileOf(policy)];
    const pin = (...args: string[]): ReturnType<typeof bootproof> =>
      bootproof(["pin", "--boot-proof", BOOT_1, ...args]);
    await refused(2, pin("--out", path), "the file is there: give --force to replace it");
    await refused(2, pin("--force"), "--force requires --out FILE");
    await refused(2, pin("--force", "--add-to", path), "--force requires --out FILE");
    await refused(2, pin("--add-to", other, "--out", path), "the file is there: give --force to replace it");
    for (const more of [
      ["--out", path, "--force"],
      ["--add-to", path, "--out", path],
    ])
      expect([more, await pin(...more)]).toEqual([
        more,
        { code: 0, stdout: "", stderr: expect.stringMatching(/^These/m) },
      ]);
  });

  it("keeps another trust anchor in the policy", async () => {
    const anchor = fileOf(forged.anchorPem);
    const around = { now: "2026-03-04T06:00:00Z" };
    const source = ["--boot-proof", fileOf({ bootProof: forged.bootProof }), "--trust-anchor", anchor];
    const policy = JSON.parse((await bootproof(["pin", ...source], around)).stdout) as PolicyFile;
    expect(policy.trustAnchors).toEqual([{ pem: expect.stringContaining("BEGIN CERTIFICATE") as string }]);
    expect(
      (await bootproof(["verify", "--boot-proof", fileOf(forged.bootProof), "--policy", fileOf(policy)], around)).code,
    ).toBe(0);
  });

  it("takes stdin", async () => {
    const { code } = await bootproof(["pin", "--boot-proof", "-"], { stdin: JSON.stringify(readJson(BOOT_1)) });
    expect(code).toBe(0);
  });

  it("refuses rejected evidence, and says why on stderr", async () => {
    for (const evidence of [
      forged.bootProof,
      { ...readJson(BOOT_1), qosManifestB64: readJson(BOOT_1)["qosManifestEnvelopeB64"] },
      { owner: "me" },
      [{ owner: "me" }],
    ]) {
      await refused(
        1,
        bootproof(["pin", "--boot-proof", fileOf(evidence)]),
        /^Not pinned\.\nREJECTED: nothing is proven\./,
        /\nFAIL {2}/,
      );
    }
  });
});

describe("from a published release", () => {
  it("pins the application that is named", async () => {
    const policy = await pinned("--release", RELEASE, "--app", "signer");
    expect(policy).toMatchObject({
      name: "signer, release r2025.9.3",
      deployments: [
        {
          pivotHash: "3aeeccb914d4ca4dc35e661f50d06ff5dfd957fa6bc77a76001f245f7c3d32a8",
          pcrs: { "0": expect.stringMatching(/^f67076a8/) as string },
        },
      ],
    });
    const { code } = await bootproof(["verify", "--boot-proof", BOOT_1, "--policy", fileOf(policy)]);
    expect(code).toBe(1);
  });

  it("says what a release leaves open, and what closes it", async () => {
    const from = ["pin", "--release", RELEASE, "--app", "signer"];
    const bare = await bootproof(from);
    expect(bare.stderr).toContain("Warning: only pcrs 3 pins the operator");
    expect(bare.stderr).toContain("--manifest-set FILE");
    const legacy = await bootproof([...from, "--commitment", "legacy"]);
    expect(JSON.parse(legacy.stdout)).toMatchObject({ deployments: [{ commitment: "legacy", open: ["application"] }] });
    expect(legacy.stderr).toContain("Warning: leaves the application open");
    const keys = lab.manifestMembers.map(({ alias, key }) => ({ alias, pubKey: toHex(key.publicKey) }));
    for (const members of [keys, keys.map(({ pubKey }) => pubKey)]) {
      const closed = await bootproof([...from, "--manifest-set", fileOf({ threshold: 2, members })]);
      expect([closed.code, closed.stderr]).toEqual([
        0,
        "Pinned the contents of the release file, unverified: trust it only as far as you trust its source.\n",
      ]);
      expect(JSON.parse(closed.stdout)).toMatchObject({
        deployments: [{ manifestSet: { threshold: 2, members: keys.map(({ pubKey }) => pubKey) } }],
      });
    }
    const people = fileOf({ threshold: 2, members: keys.map(({ pubKey }) => pubKey) });
    const old = await bootproof(words`${from} --commitment legacy --manifest-set ${people} --namespace lab/signer`);
    expect([old.code, JSON.parse(old.stdout)]).toMatchObject([0, { deployments: [{ namespace: "lab/signer" }] }]);
    expect(JSON.parse(old.stdout)).not.toMatchObject({ deployments: [{ open: expect.anything() as unknown }] });
    const quorumKey = toHex(lab.quorumKey.publicKey);
    const keyed = await bootproof([...from, "--quorum-key", quorumKey, "--commitment", "live"]);
    expect(keyed.stderr).not.toMatch(/warning/i);
    expect(JSON.parse(keyed.stdout)).toMatchObject({ deployments: [{ quorumKey, commitment: "live" }] });
  });

  it("takes digests of decimal digits for what they are", async () => {
    const yaml =
      `version: 7\nsigner:\n  appBinaryDigest: ` +
      `${"1".repeat(64)}\n${[0, 1, 2, 3].map((index) => `  PCR${index}: ${"20".repeat(46)}1e10\n`).join("")}`;
    const policy = await pinned("--release", fileOf(yaml), "--app", "signer", "--name", "mine");
    expect(policy).toMatchObject({
      name: "mine",
      deployments: [{ pivotHash: "1".repeat(64), pcrs: { "3": `${"20".repeat(46)}1e10` } }],
    });
  });

  it.each([
    ["another application", "other", "other: not in this release, which has evm-parser, notarizer, signer"],
    ["the version", "version", "version: not in this release"],
    ["__proto__", "__proto__", "__proto__: not in this release"],
  ])("refuses %s", (_, app, message) => refused(2, bootproof(["pin", "--release", RELEASE, "--app", app]), message));

  const keys = (count: number): string => Array.from({ length: count }, (_, index) => `k${index}:`).join("\n");
  const CUT = "version: 1\na:\n  appBinaryDigest: abcd\n  PCR0: ab\n  PCR1: ab\n  PCR2: ab\n  PCR3: ab\n";
  it.each([
    ["what is not YAML", "a: [1", "not YAML: "],
    ["a key given twice", "a: 1\na: 2", "not YAML: Map keys must be unique at line 2"],
    ["a key given twice in two spellings", 'a:\n  b: 1\n  "b": 2', "Map keys must be unique at line 3, column 3"],
    ["a key that is not text", "? [a]\n: 1", "not YAML: a map whose key is not text"],
    ["an alias", "a: &x 1\nb: *x", "an alias, which is not followed at line 2, column 4"],
    ["a release of more than 64 KiB", "#".repeat(65_537), "larger than 64 KiB, the limit"],
    ["a list", "- a", "expected an object, got an array"],
    ["a digest cut short", CUT, "4 hex digits, expected 64"],
    ["more than 64 KiB", keys(20_000), "larger than 64 KiB"],
    ["many keys, none of them the application", keys(8_000), "and 7968 more"],
    ["deep nesting", "[".repeat(60_000), "not YAML: "],
    ["aliases within aliases", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "an alias, which is not followed"],
  ])("refuses %s in the file", (_, yaml, message) =>
    refused(2, bootproof(["pin", "--release", fileOf(yaml), "--app", "a"]), message),
  );

  it.each([
    ["a quorum key that is none", ["--quorum-key", "abcd"], "--quorum-key: 4 hex digits, expected 260 hex digits"],
    [
      "a set that is none",
      ["--manifest-set", fileOf({ threshold: 1, members: [{ pubKey: "00" }] })],
      "members[0]: 2 hex digits, expected 260",
    ],
    ["a set that is a number", ["--manifest-set", fileOf("7")], "manifestSet: expected an object, got a number"],
  ])("refuses %s", (_, args, message) =>
    refused(2, bootproof(["pin", "--release", RELEASE, "--app", "signer", ...args]), message),
  );
});

describe("wrong usage", () => {
  it.each([
    [[], "--release PATH, --image FILE, --app NAME or --boot-proof FILE is required"],
    [["--boot-proof", BOOT_1, "--release", RELEASE, "--app", "signer"], "exclude each other"],
    [["--release", RELEASE], "--release requires --app NAME"],
    [["--boot-proof", BOOT_1, "--app", "signer"], "--boot-proof and --app exclude each other: give one"],
    [["--release", RELEASE, "--app", "signer", "--trust-anchor", "x"], "--trust-anchor requires folders of releases"],
    [
      ["--boot-proof", BOOT_1, "--commitment", "live", "--manifest-set", "x", "--quorum-key", "00"],
      "--quorum-key requires --release, --image, --pcrs or --binary",
    ],
    [["--boot-proof", BOOT_1, "--namespace", "x"], "--namespace requires --release, --image, --pcrs or --binary"],
    [
      ["--release", RELEASE, "--app", "signer", "--commitment", "Live"],
      "--commitment Live: expected one of live, setup, legacy",
    ],
    [["--boot-proof", "-", "--trust-anchor", "-"], "only one file can be - (stdin)"],
    [["--boot-proof", "missing.json"], "missing.json: no such file"],
    [["--boot-proof", BOOT_1, "--trust-anchor", fileOf("none")], "--trust-anchor takes a certificate: in PEM"],
  ])("%j", (args, message) => refused(2, bootproof(["pin", ...args]), message));
});
