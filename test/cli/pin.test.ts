import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { BOOT_1, BOOT_2, bootproof, fileOf, readJson, scene, vector } from "./support.js";

const lab = new Forge();
const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const keys = lab.manifestMembers.map(({ alias, key }) => ({ alias, pubKey: toHex(key.publicKey) }));
const boot = readJson(BOOT_1);
const { stdout: PINNED } = await bootproof(["pin", "--boot-proof", BOOT_1]);

const N = {
  ...{ boot: BOOT_1, boot2: BOOT_2, release: vector("releases/r2025.9.3.yaml"), anchor: fileOf(forged.anchorPem) },
  ...{ forged: fileOf(forged.bootProof), wrapped: fileOf({ bootProof: forged.bootProof }), none: fileOf("none") },
  manifest: fileOf({ ...boot, qosManifestB64: boot["qosManifestEnvelopeB64"] }),
  ...{ mine: fileOf({ owner: "me" }), mines: fileOf([{ owner: "me" }]), seven: fileOf("7"), pinned: fileOf(PINNED) },
  ...{
    set: fileOf({ threshold: 2, members: keys }),
    bare: fileOf({ threshold: 2, members: keys.map((one) => one.pubKey) }),
  },
  ...{ cut: fileOf({ threshold: 1, members: [{ pubKey: "00" }] }), title: "signer, production" },
};
const { having, run, table, usage } = scene(N);
const OF_LAB = scene(N, { now: "2026-03-04T06:00:00Z" });
const policyIn = ({ stdout }: { readonly stdout: string }): PolicyFile => JSON.parse(stdout) as PolicyFile;

describe("from a boot proof", () => {
  it("pins what verification then accepts", async () => {
    expect(JSON.parse(PINNED)).toMatchObject({
      ...{ policy: "bootproof/1", trustAnchors: ["aws-nitro-root-g1"] },
      deployments: [{ namespace: "preprod/signer", minNonce: 20250902, commitment: "legacy" }],
    });
    for (const file of ["$boot", "$boot2"]) await run(`verify --policy $pinned --boot-proof ${file}`, 0);
  });

  it("names the policy, and says on stderr what a person has to look at", async () => {
    const answer = await run(
      "pin --boot-proof $boot --name $title",
      0,
      "Warning: legacy: no PCR commits",
      "Warning: legacy: any application of that role and image",
      "Warning: the manifest set identifies no owner",
      "Warning: manifestHash is pinned: only this manifest passes, and no later one",
    );
    expect(policyIn(answer).name).toBe(N.title);
    const [first, age] = answer.stderr.split("\n");
    expect(first).toMatch(/^These values come from the evidence itself, .* compare them with a source that you trust/);
    expect(age).toBe("This enclave started 23 hours ago; whether it still runs is not shown: no app proof was given.");
    expect(answer.stderr).toMatch(/^(?:(?:These|This|Warning:) .*\.\n)+$/);
  });

  it("writes maxAge only where it is asked for", async () => {
    expect(policyIn({ stdout: PINNED }).maxAge).toBeUndefined();
    expect(policyIn(await run("pin --boot-proof $boot --max-age 30d", 0)).maxAge).toBe("30d");
  });

  it("replaces a file with --force only, or if it is the policy to which it adds", async () => {
    const THERE = "the file is there: give --force to replace it";
    for (const [more, code, says] of [
      ["--out $other", 2, THERE],
      ["--out $path", 0, "Unchanged: $path, which pins", "These"],
      ["--force", 2, "--force requires --out FILE"],
      ["--force --add-to $path", 2, "--force requires --out FILE"],
      ["--add-to $other --out $path", 2, THERE],
      ["--add-to $other --out $other", 0, "Unchanged: $other, with no deployment added"],
      ["--out $other --force", 0, "Replaced: $other", "These"],
    ] as const)
      await having({ path: fileOf(PINNED), other: fileOf(JSON.stringify(policyIn({ stdout: PINNED }))) })(
        `pin --boot-proof $boot ${more}`,
        code,
        says,
      );
  });

  it("keeps another trust anchor in the policy", async () => {
    const pinned = await OF_LAB.run("pin --boot-proof $wrapped --trust-anchor $anchor", 0);
    expect(policyIn(pinned).trustAnchors).toEqual([{ pem: expect.stringContaining("BEGIN CERTIFICATE") as string }]);
    await OF_LAB.having({ it: fileOf(pinned.stdout) })("verify --boot-proof $forged --policy $it", 0);
  });

  const NONE = /^Not pinned\. REJECTED: nothing is proven\..* FAIL /;
  table([
    ["pin --boot-proof - < $boot", 0],
    ["pin --boot-proof $boot --max-age 1h", 2, "--max-age 1h: the policy would reject its own evidence: policy.age: "],
    [
      "pin --boot-proof $boot --add-to policy.json --max-age 1h",
      2,
      "--add-to cannot be used with --max-age: edit maxAge",
    ],
    ...["$forged", "$manifest", "$mine", "$mines"].map((file) => [`pin --boot-proof ${file}`, 1, NONE] as const),
  ]);
});

describe("from a published release", () => {
  const from = "pin --release $release --app signer";
  it("pins the application that is named", async () => {
    const pinned = await run(from, 0, "Warning: only pcrs 3 pins the operator", "--manifest-set FILE");
    expect(policyIn(pinned)).toMatchObject({
      name: "signer, release r2025.9.3",
      deployments: [
        {
          pivotHash: "3aeeccb914d4ca4dc35e661f50d06ff5dfd957fa6bc77a76001f245f7c3d32a8",
          pcrs: { "0": expect.stringMatching(/^f67076a8/) as string },
        },
      ],
    });
    await having({ it: fileOf(pinned.stdout) })("verify --boot-proof $boot --policy $it", 1);
  });

  it("says what a release leaves open, and what closes it", async () => {
    const legacy = await run(`${from} --commitment legacy`, 0, "Warning: leaves the application open");
    expect(policyIn(legacy)).toMatchObject({ deployments: [{ commitment: "legacy", open: ["application"] }] });
    for (const file of ["$set", "$bare"]) {
      const closed = await run(`${from} --manifest-set ${file}`, 0);
      const UNVERIFIED =
        "Pinned the contents of the release file, unverified: trust it only as far as you trust its source";
      expect(closed.stderr).toBe(`${UNVERIFIED}.\n`);
      const members = keys.map(({ pubKey }) => pubKey);
      expect(policyIn(closed)).toMatchObject({ deployments: [{ manifestSet: { threshold: 2, members } }] });
    }
    const old = await run(`${from} --commitment legacy --manifest-set $bare --namespace lab/signer`, 0, '!"open"');
    expect(policyIn(old)).toMatchObject({ deployments: [{ namespace: "lab/signer" }] });
    const quorumKey = toHex(lab.quorumKey.publicKey);
    const keyed = await run(`${from} --quorum-key ${quorumKey} --commitment live`, 0, /^(?!.*warning)/i);
    expect(policyIn(keyed)).toMatchObject({ deployments: [{ quorumKey, commitment: "live" }] });
  });

  it("takes digests of decimal digits for what they are", async () => {
    const pcrs = [0, 1, 2, 3].map((index) => `  PCR${index}: ${"20".repeat(46)}1e10\n`).join("");
    const it = fileOf(`version: 7\nsigner:\n  appBinaryDigest: ${"1".repeat(64)}\n${pcrs}`);
    expect(policyIn(await having({ it })("pin --release $it --app signer --name mine", 0))).toMatchObject({
      name: "mine",
      deployments: [{ pivotHash: "1".repeat(64), pcrs: { "3": `${"20".repeat(46)}1e10` } }],
    });
  });

  usage("pin --release $release", [
    ["--app other", "other: not in this release, which has evm-parser, notarizer, signer"],
    ["--app version", "version: not in this release"],
    ["--app __proto__", "__proto__: not in this release"],
    ["--app signer --quorum-key abcd", "--quorum-key: 4 hex digits, expected 260 hex digits"],
    ["--app signer --manifest-set $cut", "members[0]: 2 hex digits, expected 260"],
    ["--app signer --manifest-set $seven", "manifestSet: expected an object, got a number"],
    ["--app signer --commitment Live", "--commitment Live: expected one of live, setup, legacy"],
    ["--app signer --trust-anchor x", "--trust-anchor requires folders of releases"],
    ["", "--release requires --app NAME"],
    ["--app signer --boot-proof $boot", "cannot be used with"],
  ]);

  const keysOf = (count: number): string => Array.from({ length: count }, (_, index) => `k${index}:`).join("\n");
  const CUT = "version: 1\na:\n  appBinaryDigest: abcd\n  PCR0: ab\n  PCR1: ab\n  PCR2: ab\n  PCR3: ab\n";
  it.each([
    ["what is not YAML", "a: [1", "not YAML: "],
    [
      "a text in many lines",
      "# A\n\n`b` c\n\n`d`: e: f\n- [g\n",
      /not YAML: [^;]* at line 3, column 1 \(and \d+ more places/,
    ],
    ["an object of another kind", '{"x": {"b": 1}, "c": 2}', "not a release: expected its version"],
    ["a key given twice", "a: 1\na: 2", "not YAML: Map keys must be unique at line 2"],
    ["a key given twice in two spellings", 'a:\n  b: 1\n  "b": 2', "Map keys must be unique at line 3, column 3"],
    ["a key that is not text", "? [a]\n: 1", "not YAML: a map whose key is not text"],
    ["an alias", "a: &x 1\nb: *x", "an alias, which is not followed at line 2, column 4"],
    ["a release of more than 64 KiB", "#".repeat(65_537), "larger than 64 KiB, the limit"],
    ["a list", "- a", "expected an object, got an array"],
    ["a digest cut short", CUT, "4 hex digits, expected 64"],
    ["many keys, none of them the application", keysOf(8_000), "and 7968 more"],
    ["deep nesting", "[".repeat(60_000), "not YAML: "],
    ["aliases within aliases", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "an alias, which is not followed"],
  ])("refuses %s in the file", async (_, yaml, says) => {
    await having({ it: fileOf(yaml) })("pin --release $it --app a", 2, says);
  });
});

usage("pin", [
  ["", "--release PATH, --image FILE, --app NAME or --boot-proof FILE is required"],
  ["--boot-proof $boot --app signer", "--boot-proof cannot be used with --app"],
  ["--boot-proof $boot --quorum-key 00", "--quorum-key requires --release, --image, --pcrs or --binary"],
  ["--boot-proof $boot --namespace x", "--namespace requires --release, --image, --pcrs or --binary"],
  ["--boot-proof $boot --trust-anchor $none", "--trust-anchor takes a certificate: in PEM"],
]);
