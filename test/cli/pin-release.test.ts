/** `pin --release FOLDER`, `pin --pcrs`, `inspect` and `diff` of releases: from their files to a verified proof. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { toHex } from "../../src/bytes.js";
import { decodeApproval } from "../../src/decode/manifest/approval.js";
import { type PivotManifest, decodeManifest } from "../../src/decode/manifest/index.js";
import { Forge, type ForgeOptions, forgeEvidence } from "../../src/lab/forge.js";
import { releaseOf, unpackReleases } from "../support/releases.js";
import { fileOf, reportOf, scene, vector } from "./support.js";

const ROOT = mkdtempSync(join(tmpdir(), "bootproof-pins-"));
const RELEASES = join(ROOT, "releases");
unpackReleases(RELEASES);
const bad = join(ROOT, "bad");
cpSync(join(RELEASES, "2026.9.0"), join(bad, "2026.9.0"), { recursive: true });
rmSync(join(bad, "2026.9.0/signer/10-prod-signer-20260900.approval"));
afterAll(() => rmSync(ROOT, { recursive: true, force: true }), 120_000);

const keys = (version: string): string[] =>
  decodeManifest(releaseOf(version).get("manifest")!).manifestSet.members.map(({ pubKey }) => toHex(pubKey));
const PCRS = ["11", "22", "33"].map((byte) => byte.repeat(48));
const LINES = PCRS.map((pcr, index) => `${pcr} PCR${index}\n`).join("");
const NITRO = { Measurements: { HashAlgorithm: "Sha384 { ... }", PCR0: PCRS[0], PCR1: PCRS[1], PCR2: PCRS[2] } };

const N = {
  ...{
    r: RELEASES,
    root: ROOT,
    out: join(ROOT, "never.json"),
    bad: join(bad, "2026.9.0"),
    old: vector("releases/r2025.9.3.yaml"),
  },
  set: fileOf({ threshold: 2, members: keys("2026.1.1") }),
  strangers: fileOf({ threshold: 2, members: [keys("2026.9.0")[0], "04".repeat(130)] }),
  ...{ nobody: fileOf({ threshold: 1, members: [] }), lines: fileOf(LINES), key: "04".repeat(130) },
};
const { having, run, table, usage } = scene(N);
const policyIn = ({ stdout }: { readonly stdout: string }): PolicyFile => JSON.parse(stdout) as PolicyFile;
const policyAt = (path: string): PolicyFile => policyIn({ stdout: readFileSync(path, "utf8") });
const namesIn = ({ deployments }: PolicyFile): (string | undefined)[] => deployments.map(({ name }) => name);

describe("pin --release FOLDER", () => {
  const SET_ONLY = "only the folder says that the manifest set is the right people";
  it("verifies the approvals, and writes all that the manifest says", async () => {
    const pinned = await run(
      "pin --release $r/2026.9.0 --app signer",
      0,
      SET_ONLY,
      "cannot be noticed",
      "documents of images before mid 2026 need --commitment legacy, under which an application",
    );
    const { enclave, pivot, namespace } = decodeManifest(releaseOf("2026.9.0").get("manifest")!) as PivotManifest;
    expect(policyIn(pinned)).toMatchObject({
      policy: "bootproof/1",
      name: "prod/signer",
      deployments: [
        {
          name: "signer 2026.9.0",
          pcrs: { 0: toHex(enclave.pcr0), 3: toHex(enclave.pcr3) },
          pivotHash: toHex(pivot.hash),
          pivotArgs: pivot.args,
          namespace: "prod/signer",
          minNonce: 20260900,
          manifestHash: "864e6556865333becc224ed84e04732b37ca0c0886ce3430a8d8f056311378e8",
          quorumKey: toHex(namespace.quorumKey),
          manifestSet: { threshold: 2, members: expect.toSatisfy((members: string[]) => members.length === 11) },
          shareSet: { threshold: 3 },
          commitment: "live",
        },
      ],
    });
    expect(pinned.stderr).toMatch(/^Pinned this release: the approvals were verified\.\n/);
    await having({ it: fileOf(pinned.stdout) })("policy check $it", 0);
  });

  it("takes several, the newest first, each once; and a set that each has to reach", async () => {
    const folders = ["2026.9.0", "2026.6.4", "2026.6.10", "2026.6.4"].map((version) => `$r/${version}`).join(" ");
    const pinned = await run(`pin --release ${folders} --app signer --manifest-set $set`, 0, `!${SET_ONLY}`);
    expect(namesIn(policyIn(pinned))).toEqual(["signer 2026.9.0", "signer 2026.6.10", "signer 2026.6.4"]);
    const few = /^Not pinned\. .*its approvers in the manifest set that is demanded: 0, expected 2/;
    await run("pin --release $r/2026.9.0 --app signer --out $out --manifest-set $strangers", 1, few);
    expect(existsSync(N.out)).toBe(false);
  });

  table([
    ["pin --release $bad $r/2026.9.1 --app signer", 1, "2026.9.0/signer/manifest: 1 valid approval, 2 required"],
    ["pin --release $r/2025.9.3 --app signer", 1, "2025.9.3/signer/manifest: missing"],
    ["pin --release $r/2026.9.0 --app signr", 2, "no release of signr; there are evm-parser, notarizer, signer, ump"],
    ["pin --release $r/2026.9.0 $old --app signer", 2, "expected folders or a file, not both"],
    ["pin --release $old $old --app signer", 2, "give one file, or any number of folders"],
    ["pin --release $r/2026.9.0 --app signer --namespace prod/other", 2, "the manifests in a folder name it"],
    ["pin --release $r/2026.9.0 --app signer --quorum-key $key", 2, "the manifests in a folder name it"],
    ["pin --release $r/2026.9.0", 2, "--release requires --app NAME"],
    ["pin --release $r/2026.9.0 --app signer --manifest-set $nobody", 2, /threshold|members/],
    [
      "diff $r/2026.4.3/signer $r/2026.4.4/signer",
      1,
      /^different: 1 critical/,
      "manifest set: member 0458c389…58b88196",
    ],
    ["diff $r/2026.4.3 $r/2026.4.3/signer", 0],
    ["diff $r/2026.9.0 $r/2026.9.1", 2, "4 releases: name one application, such as 2026.9.0/evm-parser"],
    ["diff $r/2025.9.3 $r/2026.9.1", 2],
    ["inspect $root", 2],
  ]);

  it("is added to a policy where it is a successor of a deployment there", async () => {
    const policy = fileOf((await run("pin --release $r/2026.4.3 --app signer", 0)).stdout);
    const add = having({ policy });
    const says = "critical: 2026.4.4/signer: its manifest set is another than that of signer 2026.4.3";
    await add("pin --release $r/2026.4.4 --app signer --add-to $policy", 0, says);
    expect(namesIn(policyAt(policy))).toEqual(["signer 2026.4.3", "signer 2026.4.4"]);
    const before = readFileSync(policy, "utf8");
    await add("pin --release $r/2026.4.2 --app signer --add-to $policy", 1, "nonce 20260402 is below 20260403");
    const none = 'no deployment of the policy is of the namespace "prod/ump"';
    await add("pin --release $r/2026.9.0 --app ump --add-to $policy", 1, none);
    expect(readFileSync(policy, "utf8")).toBe(before);
  });

  it("keeps what the deployment there demands", async () => {
    const policy = policyIn(await run("pin --release $r/2026.4.3 --app signer", 0));
    const [old] = policy.deployments;
    const policyWith = (members: object): string => fileOf({ ...policy, deployments: [{ ...old, ...members }] });
    const line = "pin --release $r/2026.4.4 --app signer --add-to $path";
    const kept = { labels: { enclaveApp: "signer" }, appProofs: { types: ["A"] } };
    const path = policyWith(kept);
    await having({ path })(line, 0);
    expect(policyAt(path).deployments[1]).toMatchObject(kept);
    for (const [members, name] of [
      [{ shareSet: { ...old!.shareSet, members: old!.manifestSet!.members.slice(0, 5) } }, "shareSet"],
      [{ commitment: "legacy" }, "commitment"],
      [{ labels: { deploymentLabel: "r1" } }, "labels.deploymentLabel"],
      [{ pivotArgs: ["--auth"] }, "pivotArgs"],
    ] as const) {
      const add = having({ path: policyWith(members) });
      await add(line, 2, `--drop ${name}`);
      await add(`${line} --drop ${name}`, 0);
    }
  });
});

/** Enclaves of the lab that booted a genuine manifest: only the root of their documents is the lab's. */
describe("a boot proof of the genuine manifest of 2026.9.0", () => {
  const files = releaseOf("2026.9.0");
  const manifest = decodeManifest(files.get("manifest")!) as PivotManifest;
  const approvals = [...files].filter(([name]) => name.endsWith(".approval")).map(([, bytes]) => decodeApproval(bytes));
  const { pcr0, pcr1, pcr2, pcr3 } = manifest.enclave;
  const lab = new Forge();
  const genuine = new Forge({ ...lab, measurements: { ...lab.measurements, pcr0, pcr1, pcr2, pcr3 } });
  const evidence = (more: Partial<ForgeOptions> = {}, alter: (one: PivotManifest) => PivotManifest = (one) => one) =>
    forgeEvidence({
      ...{ lab: genuine, at: new Date("2026-09-10T12:00:00.000Z"), version: "v1" },
      alterManifest: { manifest: () => alter(manifest), approvals: () => approvals, shareApprovals: () => [] },
      ...more,
    });
  const THEN = scene(N, { now: "2026-09-10T12:05:00.000Z" });
  const trusting = (policy: PolicyFile, { anchorPem }: ReturnType<typeof evidence>): string =>
    fileOf({ ...policy, trustAnchors: ["aws-nitro-root-g1", { pem: anchorPem }] });

  it.each<[string, number, ReturnType<typeof evidence>]>([
    ["it as it is", 0, evidence()],
    ["another program", 1, evidence({}, (one) => ({ ...one, pivot: { ...one.pivot, hash: new Uint8Array(32) } }))],
    [
      "another argument",
      1,
      evidence({}, (one) => ({ ...one, pivot: { ...one.pivot, args: [...one.pivot.args, "--x"] } })),
    ],
    ["another image", 1, evidence({ lab: new Forge({ ...genuine, measurements: lab.measurements }) })],
    ["no commitment", 1, evidence({ generation: "legacy" })],
  ])("under the policy of its folder, with %s: %i", async (_, code, forged) => {
    const policy = policyIn(await run("pin --release $r/2026.9.0 $r/2026.9.1 --app signer", 0));
    const verify = THEN.having({ boot: fileOf(forged.bootProof), policy: trusting(policy, forged) });
    const says = 'deployment "signer 2026.9.0"; namespace "prod/signer"';
    await verify("verify --boot-proof $boot --policy $policy", code, code === 0 ? says : "REJECTED");
  });

  it("is rejected by the policy of the release before, with steps to a policy that accepts it", async () => {
    const forged = evidence();
    const [boot, next] = [fileOf(forged.bootProof, "boot.json"), join(ROOT, "next.json")];
    const policy = trusting(policyIn(await run("pin --release $r/2026.8.3 --app signer", 0)), forged);
    const verify = THEN.having({ boot, policy, next });
    const rejected = await verify("verify --boot-proof $boot --policy $policy --format json", 1);
    const { advice } = reportOf(rejected).checks.find(({ id }) => id === "policy.deployment")!;
    const names = { "policy.json": policy, "next.json": next, "boot.json": boot, RELEASE: `${RELEASES}/2026.9.0` };
    let filled = advice!;
    for (const [name, path] of Object.entries({ ...names, OLD: `${RELEASES}/2026.8.3`, NAME: "signer" }))
      filled = filled.replaceAll(name, path);
    const [added, reviewed] = filled.split("\n").filter((line) => line.startsWith("bootproof "));
    await verify(added!.replace("bootproof ", ""), 0, "the approvals were verified");
    await verify(reviewed!.replace("bootproof ", ""), 0);
    await verify("verify --boot-proof $boot --policy $next", 0);
    await verify("verify --boot-proof $boot --policy $policy", 1);
  });

  it("differs from the release in what it alone has, and from another in the program", async () => {
    const diff = having({ boot: fileOf(evidence().bootProof) });
    const same = await diff("diff $boot $r/2026.9.0/signer --format json", 0);
    expect(JSON.parse(same.stdout)).toMatchObject({ compared: ["manifestEnvelope"], changes: [] });
    await diff("diff $boot $r/2026.9.1/signer --format json", 1, '"what": "application"');
  });
});

it("inspect shows each file of a release, and the folder with all of them", async () => {
  const json = async (path: string) =>
    JSON.parse((await run(`inspect ${path} --format json`, 0)).stdout) as {
      readonly faults: string[];
      readonly says: Record<string, Record<string, unknown>>;
    };
  const one = "$r/2026.1.1/signer";
  expect(await json(`${one}/manifest`)).toMatchObject({
    ...{ kind: "manifest", faults: [] },
    says: {
      version: "v0-tail",
      hash: "481840e3bec94932f8b064813aa541f90c5f0e22b500308ef94ea91cfb9cf65f",
      clientTimeoutMs: null,
      poolSize: null,
    },
  });
  const approval = await json(`${one}/6-prod-signer-20260101.approval`);
  expect(approval).toMatchObject({ kind: "approval", says: { alias: "6" } });
  const whole = await json(one);
  expect(whole).toMatchObject({ kind: "release", encoding: "folder", faults: [] });
  expect(Object.keys(whole.says).map((path) => path.split("/signer/")[1])).toEqual([
    "6-prod-signer-20260101.approval",
    "7-prod-signer-20260101.approval",
    "manifest",
    "manifest.json",
  ]);
  expect((await json("$r/2025.9.3")).faults[0]).toMatch(/manifest\.json: .*got nothing/);
});

describe("published PCRs", () => {
  const { HashAlgorithm: _, ...PLAIN } = NITRO.Measurements;
  const ENCLAVE = { EnclaveName: "hello", EnclaveID: "i-0-enc17", State: "RUNNING", Flags: "NONE", ...NITRO };
  const BANNER = "Start building the Enclave Image...\nEnclave Image successfully created.\n";
  const pin = "pin --pcrs $it --manifest-set $set --namespace prod/signer";

  it.each([
    ["nitro.pcrs", LINES, "text"],
    ["what nitro-cli prints", JSON.stringify(NITRO), "JSON"],
    ["what nitro-cli build-enclave prints", BANNER + JSON.stringify(NITRO, null, 2), "text"],
    ["a pcr.json", JSON.stringify(PLAIN), "JSON"],
    ["the measurements alone", JSON.stringify(NITRO.Measurements), "JSON"],
    ["one enclave of nitro-cli describe-enclaves", JSON.stringify([ENCLAVE]), "JSON"],
  ])("%s are inspected, and pinned as an image is", async (__, content, encoding) => {
    const given = having({ it: fileOf(content) });
    const { stdout } = await given("inspect $it --format json", 0);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "image PCRs", encoding, faults: [], says: { PCR0: PCRS[0] } });
    const pcrs = { 0: PCRS[0], 1: PCRS[1], 2: PCRS[2] };
    expect(policyIn(await given(pin, 0))).toMatchObject({ deployments: [{ pcrs }] });
  });

  const measured = (change: object): object => ({ Measurements: { ...NITRO.Measurements, ...change } });
  it("have PCR8 where the image is signed", async () => {
    const pinned = await having({ it: fileOf(measured({ PCR8: "88".repeat(48) })) })(pin, 0);
    expect(policyIn(pinned)).toMatchObject({ deployments: [{ pcrs: { 8: "88".repeat(48) } }] });
  });

  it.each<[unknown, string]>([
    [`${LINES}x PCR8\n`, "line 4: expected 96 hex digits"],
    [`${LINES}${PCRS[0]!} PCR0\n`, "PCR0: appears twice"],
    [LINES.split("\n").slice(0, 2).join("\n"), "PCR2: missing"],
    [`${LINES}${PCRS[0]!} PCR3\n`, "PCR3: is not a PCR of an image"],
    [measured({ PCR1: "00".repeat(48) }), "PCR1: all zeros"],
    [measured({ PCR1: "11" }), "PCR1: expected 96 hex digits"],
    [measured({ HashAlgorithm: "Sha256" }), "HashAlgorithm: expected Sha384"],
    [measured({ PCR1: 1 }), "PCR1: expected a string"],
    [measured({ PCRO: PCRS[0] }), "PCRO: unknown member"],
    [{ ...PLAIN, HashAlgorithm: "Sha256" }, "HashAlgorithm: expected Sha384"],
    [[{ ...ENCLAVE, Flags: "DEBUG_MODE" }], "Flags: this enclave runs in debug mode"],
    [[ENCLAVE, { ...ENCLAVE, EnclaveName: "other" }], "2 enclaves (hello, other): keep the"],
    [[{ ...NITRO, Measurements: { PCR0: PCRS[0] } }], "PCR1: missing (read as the list of"],
  ])("are refused with %j", async (content, says) => {
    await having({ it: fileOf(content) })(pin, 2, says);
  });

  usage("", [
    ["pin --pcrs $old --manifest-set $set --namespace x", "this is a published release; --release takes it"],
    ["pin --pcrs $lines --image $lines", "--image cannot be used with --pcrs"],
    ["verify --no-policy --boot-proof $lines", "these are the PCRs of an image; bootproof pin --pcrs takes it"],
  ]);
});
