/** `pin --release FOLDER`, `pin --pcrs`, `inspect` and `diff` of releases: from their files to a verified proof. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { toHex } from "../../src/bytes.js";
import { decodeApproval } from "../../src/decode/manifest/approval.js";
import { type PivotManifest, decodeManifest } from "../../src/decode/manifest/index.js";
import type { Report } from "../../src/index.js";
import { Forge, type ForgeOptions, forgeEvidence } from "../../src/lab/forge.js";
import { releaseOf, unpackReleases } from "../support/releases.js";
import { bootproof, fileOf, vector, words, refused } from "./support.js";

const ROOT = mkdtempSync(join(tmpdir(), "bootproof-pins-"));
const RELEASES = join(ROOT, "releases");
unpackReleases(RELEASES);
afterAll(() => rmSync(ROOT, { recursive: true, force: true }), 120_000);
const folder = (version: string, app = "") => join(RELEASES, version, app);

const keys = (version: string): string[] =>
  decodeManifest(releaseOf(version).get("manifest")!).manifestSet.members.map(({ pubKey }) => toHex(pubKey));
const OLD_SET = fileOf({ threshold: 2, members: keys("2026.1.1") });
const STRANGERS = fileOf({ threshold: 2, members: [keys("2026.9.0")[0], "04".repeat(130)] });

async function inOrder(lines: readonly (readonly string[])[]) {
  const answers = [];
  for (const line of lines) answers.push(await bootproof(line));
  return answers;
}

const pin = (...args: string[]) => bootproof(["pin", ...args]);

describe("pin --release FOLDER", () => {
  it("verifies the approvals, and writes all that the manifest says", async () => {
    const { code, stdout, stderr } = await pin("--release", folder("2026.9.0"), "--app", "signer");
    expect(code).toBe(0);
    const policy = JSON.parse(stdout) as PolicyFile;
    const manifest = decodeManifest(releaseOf("2026.9.0").get("manifest")!) as PivotManifest;
    expect(policy).toMatchObject({
      policy: "bootproof/1",
      name: "prod/signer",
      deployments: [
        {
          name: "signer 2026.9.0",
          pcrs: { 0: toHex(manifest.enclave.pcr0), 3: toHex(manifest.enclave.pcr3) },
          pivotHash: toHex(manifest.pivot.hash),
          pivotArgs: manifest.pivot.args,
          namespace: "prod/signer",
          minNonce: 20260900,
          manifestHash: "864e6556865333becc224ed84e04732b37ca0c0886ce3430a8d8f056311378e8",
          quorumKey: toHex(manifest.namespace.quorumKey),
          manifestSet: { threshold: 2, members: expect.toSatisfy((members: string[]) => members.length === 11) },
          shareSet: { threshold: 3 },
          commitment: "live",
        },
      ],
    });
    expect(stderr).toMatch(/^Pinned this release: the approvals were verified\.\n/);
    expect(stderr).toContain("only the folder says that the manifest set is the right people");
    expect(stderr).toContain(
      "documents of images before mid 2026 need --commitment legacy, under which an application",
    );
    expect(stderr).toContain("cannot be noticed");
    expect((await bootproof(["policy", "check", fileOf(stdout)])).code).toBe(0);
  });

  it("takes several, the newest first, each once; and a set that each has to reach", async () => {
    const args = ["2026.9.0", "2026.6.4", "2026.6.10", "2026.6.4"].flatMap((version) => folder(version));
    const { code, stdout, stderr } = await pin("--release", ...args, "--app", "signer", "--manifest-set", OLD_SET);
    expect(code).toBe(0);
    const names = (JSON.parse(stdout) as PolicyFile).deployments.map(({ name }) => name);
    expect(names).toEqual(["signer 2026.9.0", "signer 2026.6.10", "signer 2026.6.4"]);
    expect(stderr).not.toContain("only the folder says that the manifest set is the right people");
  });

  it.each<[string, string[], RegExp]>([
    [
      "a set that they do not reach",
      ["--manifest-set", STRANGERS],
      /its approvers in the manifest set that is demanded: 0, expected 2/,
    ],
  ])("is refused below %s: 1, nothing written", async (_, args, message) => {
    const out = join(ROOT, "never.json");
    await refused(
      1,
      pin(...words`--release ${folder("2026.9.0")} --app signer --out ${out} ${args}`),
      /^Not pinned\.\n/,
      message,
    );
    expect(() => readFileSync(out)).toThrow();
  });

  it("is refused for one bad release among good ones, and for one without approvals", async () => {
    const bad = join(ROOT, "bad");
    cpSync(folder("2026.9.0"), join(bad, "2026.9.0"), { recursive: true });
    rmSync(join(bad, "2026.9.0/signer/10-prod-signer-20260900.approval"));
    const one = await pin("--release", join(bad, "2026.9.0"), folder("2026.9.1"), "--app", "signer");
    expect([one.code, one.stdout]).toEqual([1, ""]);
    expect(one.stderr).toContain("2026.9.0/signer/manifest: 1 valid approval, 2 required");
    const none = await pin("--release", folder("2025.9.3"), "--app", "signer");
    expect([none.code, none.stdout]).toEqual([1, ""]);
    expect(none.stderr).toContain("2025.9.3/signer/manifest: missing");
  });

  it("is added to a policy where it is a successor of a deployment there", async () => {
    const policy = fileOf((await pin("--release", folder("2026.4.3"), "--app", "signer")).stdout);
    const { code, stderr } = await pin("--release", folder("2026.4.4"), "--app", "signer", "--add-to", policy);
    expect(code).toBe(0);
    expect(stderr).toMatch(/critical: 2026\.4\.4\/signer: its manifest set is another than that of signer 2026\.4\.3/);
    const written = JSON.parse(readFileSync(policy, "utf8")) as PolicyFile;
    expect(written.deployments.map(({ name }) => name)).toEqual(["signer 2026.4.3", "signer 2026.4.4"]);
    const before = readFileSync(policy, "utf8");
    for (const [args, message] of [
      [[folder("2026.4.2"), "--app", "signer"], /nonce 20260402 is below 20260403/],
      [[folder("2026.9.0"), "--app", "ump"], /no deployment of the policy is of the namespace "prod\/ump"/],
    ] as const) {
      const refused = await pin("--release", ...args, "--add-to", policy);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toMatch(message);
    }
    expect(readFileSync(policy, "utf8")).toBe(before);
  });

  it("keeps what the deployment there demands", async () => {
    const { stdout } = await pin("--release", folder("2026.4.3"), "--app", "signer");
    const with_ = (members: object): string => {
      const policy = JSON.parse(stdout) as PolicyFile;
      return fileOf({ ...policy, deployments: policy.deployments.map((one) => ({ ...one, ...members })) });
    };
    const add = (path: string, ...args: string[]) =>
      pin("--release", folder("2026.4.4"), "--app", "signer", "--add-to", path, ...args);
    const labels = { enclaveApp: "signer" };
    const kept = with_({ labels, appProofs: { types: ["A"] } });
    expect((await add(kept)).code).toBe(0);
    const [, added] = (JSON.parse(readFileSync(kept, "utf8")) as PolicyFile).deployments;
    expect(added).toMatchObject({ labels, appProofs: { types: ["A"] } });
    const [old] = (JSON.parse(stdout) as PolicyFile).deployments;
    for (const [members, name] of [
      [{ shareSet: { ...old!.shareSet, members: old!.manifestSet!.members.slice(0, 5) } }, "shareSet"],
      [{ commitment: "legacy" }, "commitment"],
      [{ labels: { deploymentLabel: "r1" } }, "labels.deploymentLabel"],
      [{ pivotArgs: ["--auth"] }, "pivotArgs"],
    ] as const) {
      const path = with_(members);
      const { code, stderr } = await add(path);
      expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([2, expect.stringContaining(`--drop ${name}`)]);
      expect((await add(path, "--drop", name)).code).toBe(0);
    }
  });

  it.each<[string, string[], RegExp]>([
    [
      "an application that is not there",
      [folder("2026.9.0"), "--app", "signr"],
      /no release of signr; there are evm-parser, notarizer, signer, ump/,
    ],
    [
      "a folder and a file",
      [folder("2026.9.0"), vector("releases/r2025.9.3.yaml"), "--app", "signer"],
      /folders and files exclude each other/,
    ],
    [
      "two files",
      [vector("releases/r2025.9.3.yaml"), vector("releases/r2025.9.3.yaml"), "--app", "signer"],
      /give one file, or any number of folders/,
    ],
    [
      "a namespace of its own",
      [folder("2026.9.0"), "--app", "signer", "--namespace", "prod/other"],
      /the manifests in a folder name it/,
    ],
    [
      "a quorum key of its own",
      [folder("2026.9.0"), "--app", "signer", "--quorum-key", "04".repeat(130)],
      /the manifests in a folder name it/,
    ],
    ["no application", [folder("2026.9.0")], /--release requires --app NAME/],
    [
      "an empty set",
      [folder("2026.9.0"), "--app", "signer", "--manifest-set", fileOf({ threshold: 1, members: [] })],
      /threshold|members/,
    ],
  ])("%s is exit code 2", (_, args, message) => refused(2, pin("--release", ...args), message));
});

/** Enclaves of the lab that booted a genuine manifest: only the root of their documents is the lab's. */
describe("a boot proof of the genuine manifest of 2026.9.0", () => {
  const files = releaseOf("2026.9.0");
  const manifest = decodeManifest(files.get("manifest")!) as PivotManifest;
  const approvals = [...files].filter(([name]) => name.endsWith(".approval")).map(([, bytes]) => decodeApproval(bytes));
  const { pcr0, pcr1, pcr2, pcr3 } = manifest.enclave;
  const lab = new Forge();
  const genuine = new Forge({ ...lab, measurements: { ...lab.measurements, pcr0, pcr1, pcr2, pcr3 } });
  const at = new Date("2026-09-10T12:00:00.000Z");
  const evidence = (more: Partial<ForgeOptions> = {}, alter: (one: PivotManifest) => PivotManifest = (one) => one) =>
    forgeEvidence({
      lab: genuine,
      at,
      version: "v1",
      alterManifest: { manifest: () => alter(manifest), approvals: () => approvals, shareApprovals: () => [] },
      ...more,
    });
  const verify = async (forged: ReturnType<typeof forgeEvidence>) => {
    const { stdout } = await pin("--release", RELEASES.concat("/2026.9.0"), folder("2026.9.1"), "--app", "signer");
    const policy = { ...(JSON.parse(stdout) as PolicyFile), trustAnchors: [{ pem: forged.anchorPem }] };
    return bootproof(["verify", "--boot-proof", fileOf(forged.bootProof), "--policy", fileOf(policy)], {
      now: "2026-09-10T12:05:00.000Z",
    });
  };

  it("is verified under the policy of its folder, which names the release", async () => {
    const { code, stdout } = await verify(evidence());
    expect(code).toBe(0);
    expect(stdout.split("\n\n")[0]!.replaceAll(/\s+/g, " ")).toContain(
      'deployment "signer 2026.9.0"; namespace "prod/signer"',
    );
  });

  it.each<[string, ReturnType<typeof evidence>]>([
    ["another program", evidence({}, (one) => ({ ...one, pivot: { ...one.pivot, hash: new Uint8Array(32) } }))],
    [
      "another argument",
      evidence({}, (one) => ({ ...one, pivot: { ...one.pivot, args: [...one.pivot.args, "--x"] } })),
    ],
    ["another image", evidence({ lab: new Forge({ ...genuine, measurements: lab.measurements }) })],
    ["no commitment", evidence({ generation: "legacy" })],
  ])("is rejected with %s", async (_, forged) => {
    expect((await verify(forged)).code).toBe(1);
  });

  it("is rejected by the policy of the release before, with steps to a policy that accepts it", async () => {
    const forged = evidence();
    const [boot, now] = [fileOf(forged.bootProof, "boot.json"), "2026-09-10T12:05:00.000Z"];
    const made = JSON.parse((await pin("--release", folder("2026.8.3"), "--app", "signer")).stdout) as PolicyFile;
    const trustAnchors = ["aws-nitro-root-g1", { pem: forged.anchorPem }];
    const policy = fileOf({ ...made, trustAnchors });
    const verify = (by: string) =>
      bootproof(["verify", "--boot-proof", boot, "--policy", by, "--format", "json"], { now });
    const { code, stdout } = await verify(policy);
    const { checks } = JSON.parse(stdout) as Report;
    const { advice } = checks.find(({ id }) => id === "policy.deployment")!;
    const next = join(ROOT, "next.json");
    const filled = advice!
      .replaceAll("policy.json", policy)
      .replaceAll("next.json", next)
      .replaceAll("boot.json", boot)
      .replaceAll("RELEASE", folder("2026.9.0"))
      .replaceAll("OLD", folder("2026.8.3"))
      .replaceAll("NAME", "signer");
    const commands = filled.split("\n").filter((line) => line.startsWith("bootproof "));
    const [added, reviewed] = await inOrder(commands.map((line) => line.split(" ").slice(1)));
    expect([code, added!.code, reviewed!.code], added!.stderr + reviewed!.stdout).toEqual([1, 0, 0]);
    expect(added!.stderr).toContain("the approvals were verified");
    expect((await verify(next)).code).toBe(0);
    expect((await verify(policy)).code).toBe(1);
  });

  it("differs from the release in what it alone has, and from another in the program", async () => {
    const boot = fileOf(evidence().bootProof);
    const same = await bootproof(["diff", boot, folder("2026.9.0", "signer"), "--format", "json"]);
    const { changes, compared } = JSON.parse(same.stdout) as { changes: { what: string }[]; compared: string[] };
    expect([same.code, compared, changes]).toEqual([0, ["manifestEnvelope"], []]);
    const other = await bootproof(["diff", boot, folder("2026.9.1", "signer"), "--format", "json"]);
    expect(other.code).toBe(1);
    expect((JSON.parse(other.stdout) as { changes: { what: string }[] }).changes.map(({ what }) => what)).toContain(
      "application",
    );
  });
});

describe("diff of two releases", () => {
  it("says critical of another member", async () => {
    const { code, stdout } = await bootproof(["diff", folder("2026.4.3", "signer"), folder("2026.4.4", "signer")]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^different: 1 critical/);
    expect(stdout).toContain("manifest set: member 0458c389…58b88196");
  });

  it("finds one the same as itself, and wants one application", async () => {
    expect((await bootproof(["diff", folder("2026.4.3"), folder("2026.4.3", "signer")])).code).toBe(0);
    const { code, stderr } = await bootproof(["diff", folder("2026.9.0"), folder("2026.9.1")]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/4 releases: name one application, such as 2026\.9\.0\/evm-parser/);
    expect((await bootproof(["diff", folder("2025.9.3"), folder("2026.9.1")])).code).toBe(2);
  });
});

describe("inspect", () => {
  const json = async (path: string) => {
    const { code, stdout } = await bootproof(["inspect", path, "--format", "json"]);
    expect(code).toBe(0);
    return JSON.parse(stdout) as {
      kind: string;
      encoding: string;
      faults: string[];
      says: Record<string, Record<string, unknown>>;
    };
  };

  it("shows each file of a release, and the folder with all of them", async () => {
    const one = folder("2026.1.1", "signer");
    expect(await json(join(one, "manifest"))).toMatchObject({
      kind: "manifest",
      faults: [],
      says: {
        version: "v0-tail",
        hash: "481840e3bec94932f8b064813aa541f90c5f0e22b500308ef94ea91cfb9cf65f",
        clientTimeoutMs: null,
        poolSize: null,
      },
    });
    expect(await json(join(one, "6-prod-signer-20260101.approval"))).toMatchObject({
      kind: "approval",
      says: { alias: "6" },
    });
    const whole = await json(one);
    expect([whole.kind, whole.encoding, whole.faults]).toEqual(["release", "folder", []]);
    expect(Object.keys(whole.says).map((path) => path.slice(one.length + 1))).toEqual([
      "6-prod-signer-20260101.approval",
      "7-prod-signer-20260101.approval",
      "manifest",
      "manifest.json",
    ]);
    expect((await json(folder("2025.9.3"))).faults[0]).toMatch(/manifest\.json: .*got nothing/);
    expect((await bootproof(["inspect", ROOT])).code).toBe(2);
  });
});

const PCRS = ["11", "22", "33"].map((byte) => byte.repeat(48));
const LINES = PCRS.map((pcr, index) => `${pcr} PCR${index}\n`).join("");
const NITRO = { Measurements: { HashAlgorithm: "Sha384 { ... }", PCR0: PCRS[0], PCR1: PCRS[1], PCR2: PCRS[2] } };

const { HashAlgorithm: _, ...PLAIN } = NITRO.Measurements;
const ENCLAVE = { EnclaveName: "hello", EnclaveID: "i-0-enc17", State: "RUNNING", Flags: "NONE", ...NITRO };
const BANNER = "Start building the Enclave Image...\nEnclave Image successfully created.\n";

describe("published PCRs", () => {
  it.each([
    ["nitro.pcrs", LINES, "text"],
    ["what nitro-cli prints", JSON.stringify(NITRO), "JSON"],
    ["what nitro-cli build-enclave prints", BANNER + JSON.stringify(NITRO, null, 2), "text"],
    ["a pcr.json", JSON.stringify(PLAIN), "JSON"],
    ["the measurements alone", JSON.stringify(NITRO.Measurements), "JSON"],
    ["one enclave of nitro-cli describe-enclaves", JSON.stringify([ENCLAVE]), "JSON"],
  ])("%s are inspected, and pinned as an image is", async (_, content, encoding) => {
    const file = fileOf(content);
    const { stdout } = await bootproof(["inspect", file, "--format", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ kind: "image PCRs", encoding, faults: [], says: { PCR0: PCRS[0] } });
    const pinned = await pin("--pcrs", file, "--manifest-set", OLD_SET, "--namespace", "prod/signer");
    expect(pinned.code).toBe(0);
    expect(JSON.parse(pinned.stdout)).toMatchObject({
      deployments: [{ pcrs: { 0: PCRS[0], 1: PCRS[1], 2: PCRS[2] } }],
    });
  });

  it("have PCR8 where the image is signed", async () => {
    const file = fileOf({ Measurements: { ...NITRO.Measurements, PCR8: "88".repeat(48) } });
    const { stdout } = await pin("--pcrs", file, "--manifest-set", OLD_SET, "--namespace", "prod/signer");
    expect(JSON.parse(stdout)).toMatchObject({ deployments: [{ pcrs: { 8: "88".repeat(48) } }] });
  });

  const measurements = (change: object): string => fileOf({ Measurements: { ...NITRO.Measurements, ...change } });
  it.each<[string, string, RegExp]>([
    ["a line that is none", fileOf(`${LINES}x PCR8\n`), /line 4: expected 96 hex digits/],
    ["a PCR twice", fileOf(`${LINES}${PCRS[0]!} PCR0\n`), /PCR0: appears twice/],
    ["one that is missing", fileOf(LINES.slice(0, -1).split("\n").slice(0, 2).join("\n")), /PCR2: missing/],
    ["a PCR of no image", fileOf(`${LINES}${PCRS[0]!} PCR3\n`), /PCR3: is not a PCR of an image/],
    ["zeros", measurements({ PCR1: "00".repeat(48) }), /PCR1: all zeros/],
    ["a short one", measurements({ PCR1: "11" }), /PCR1: expected 96 hex digits/],
    ["another hash", measurements({ HashAlgorithm: "Sha256" }), /HashAlgorithm: expected Sha384/],
    ["a number", measurements({ PCR1: 1 }), /PCR1: expected a string/],
    [
      "another hash without its object",
      fileOf({ ...PLAIN, HashAlgorithm: "Sha256" }),
      /HashAlgorithm: expected Sha384/,
    ],
    [
      "an enclave in debug mode",
      fileOf([{ ...ENCLAVE, Flags: "DEBUG_MODE" }]),
      /Flags: this enclave runs in debug mode/,
    ],
    [
      "several enclaves",
      fileOf([ENCLAVE, { ...ENCLAVE, EnclaveName: "other" }]),
      /2 enclaves \(hello, other\): keep the/,
    ],
    [
      "a form, which is named",
      fileOf([{ ...NITRO, Measurements: { PCR0: PCRS[0] } }]),
      /PCR1: missing \(read as the list of/,
    ],
    ["an unknown member", measurements({ PCRO: PCRS[0] }), /PCRO: unknown member/],
    ["a release", vector("releases/r2025.9.3.yaml"), /this is a published release; --release takes it/],
  ])("are refused with %s", (_, file, message) =>
    refused(2, pin("--pcrs", file, "--manifest-set", OLD_SET, "--namespace", "x"), message),
  );

  it("do not go with an image, and are taken for what they are elsewhere", async () => {
    const file = fileOf(LINES);
    expect((await pin("--pcrs", file, "--image", file)).stderr).toMatch(/--image and --pcrs exclude each other/);
    expect((await bootproof(["verify", "--no-policy", "--boot-proof", file])).stderr).toMatch(
      /these are the PCRs of an image; bootproof pin --pcrs takes it/,
    );
  });
});
