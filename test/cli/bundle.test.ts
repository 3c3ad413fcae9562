import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import type { BundleFile } from "../../src/bundle/file.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { Loose } from "../support/loose.js";
import { APP_1, BOOT_1, BOOT_2, NOW, bootproof, fileOf, readJson, words, refused } from "./support.js";

const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1, "--name", "captured"])).stdout);
const PIECES = ["--boot-proof", BOOT_1, "--app-proof", APP_1];
const BUNDLE = fileOf((await bootproof(["bundle", ...PIECES, "--policy", POLICY])).stdout);
/** Under the interface's name for the document; the captured one is under the name of deployed services. */
const { awsAttestationDocB64, ...others } = readJson(BOOT_1);
const BOOT = { ...others, cloudAttestationDocB64: awsAttestationDocB64 };
const OWN = "--bundle-policy";
const YEARS_LATER = { now: "2036-01-01T00:00:00Z" };

function changed(change: (bundle: Loose) => void): string {
  const bundle = readJson(BUNDLE);
  change(bundle);
  return fileOf(bundle);
}

describe("bundle", () => {
  it("packs what verify then takes, alone", async () => {
    const { code, stdout, stderr } = await bootproof(["bundle", ...PIECES, "--policy", POLICY]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^VERIFIED with \d warnings?: /)]);
    expect(JSON.parse(stdout)).toMatchObject({
      bundle: "bootproof-bundle/1",
      now: NOW,
      bootProofs: [BOOT],
      appProofs: [readJson(APP_1)],
      policy: readJson(POLICY),
      report: { verdict: "verified" },
    });
    expect((await bootproof(["verify", fileOf(stdout), OWN], YEARS_LATER)).code).toBe(0);
  });

  it("writes to --out, says what, and replaces another file with --force only", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "bootproof-bundled-")), "bundle.json");
    const args = ["bundle", ...PIECES, "--policy", POLICY, "--out", path];
    const written = await bootproof(args);
    expect([written.code, written.stdout]).toEqual([0, ""]);
    expect(written.stderr).toContain(`\nWritten: ${path}, with a boot proof, an app proof, verified as of ${NOW}\n`);
    expect((await bootproof(args)).stderr).toContain(`\nUnchanged: ${path}, `);
    const later = ["--now", "2026-03-04T05:06:08Z"];
    await refused(
      2,
      bootproof([...args, ...later]),
      /^VERIFIED [^]*\nbootproof: --out \S+: the file is there: give --force/,
    );
    expect(readJson(path)["now"]).toBe(NOW);
    expect((await bootproof([...args, ...later, "--force"])).stderr).toContain(`\nReplaced: ${path}, `);
    expect(readJson(path)["now"]).toBe("2026-03-04T05:06:08.000Z");
    await refused(2, bootproof([...args.slice(0, -2), "--force"]), "--force requires --out FILE");
  });

  it("has the certificates of the policy's files inside", async () => {
    const lab = new Forge();
    const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
    const folder = mkdtempSync(join(tmpdir(), "bootproof-bundle-"));
    writeFileSync(join(folder, "root.pem"), forged.anchorPem);
    const policy = join(folder, "policy.json");
    writeFileSync(
      policy,
      JSON.stringify({ ...labPolicy("", [labDeployment(lab)]), trustAnchors: [{ file: "root.pem" }] }),
    );
    const { stdout } = await bootproof(
      ["bundle", "--boot-proof", fileOf(forged.bootProof), "--activity", fileOf(forged.activity), "--policy", policy],
      { now: "2026-03-04T06:00:00Z" },
    );
    expect(((JSON.parse(stdout) as BundleFile).policy as PolicyFile).trustAnchors).toEqual([
      { pem: expect.stringContaining("BEGIN CERTIFICATE") as string },
    ]);
    const refused = await bootproof(["verify", "-", OWN], { stdin: stdout, ...YEARS_LATER });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("stdin: policy.trustAnchors: ")]);
    const anchor = join(folder, "root.pem");
    const { code, stdout: text } = await bootproof(["verify", "-", OWN, "--trust-anchor", anchor], {
      stdin: stdout,
      ...YEARS_LATER,
    });
    expect(code).toBe(0);
    expect(text.replace(/\s+/g, " ")).toContain("not to AWS: nothing shows that this is AWS hardware");
  });

  it("judges ages by --now", async () => {
    const policy = fileOf({ ...readJson(POLICY), maxAge: "1d" });
    expect((await bootproof(["bundle", ...PIECES, "--policy", policy], YEARS_LATER)).code).toBe(1);
    const { code, stdout } = await bootproof(
      ["bundle", ...PIECES, "--policy", policy, "--now", "2025-09-16T22:00:00Z"],
      YEARS_LATER,
    );
    expect([code, (JSON.parse(stdout) as BundleFile).now]).toEqual([0, "2025-09-16T22:00:00.000Z"]);
    const rejected = await bootproof(["verify", fileOf(stdout), OWN], YEARS_LATER);
    expect(rejected.code).toBe(1);
    expect(rejected.stdout.replace(/\s+/g, " ")).toContain(
      "As of 2025-09-16T22:00:00.000Z, as its maker verified it, the verdict is verified. " +
        "--now 2025-09-16T22:00:00.000Z counts ages as of then.",
    );
    expect(
      (await bootproof(["verify", fileOf(stdout), OWN, "--now", "2025-09-16T22:00:00.000Z"], YEARS_LATER)).code,
    ).toBe(0);
  });

  it("packs no rejected evidence, and says why on stderr", () =>
    refused(
      1,
      bootproof(words`bundle --boot-proof ${BOOT_2} --app-proof ${APP_1} --policy ${POLICY}`),
      /^Not bundled\.\nREJECTED: [^]*\nFAIL {2}app\.key/,
    ));

  it("packs authentic evidence too, and then verify asks for a policy", async () => {
    const { code, stdout } = await bootproof(["bundle", ...PIECES, "--no-policy"]);
    expect([code, (JSON.parse(stdout) as BundleFile).policy]).toEqual([0, null]);
    const file = fileOf(stdout);
    const alone = await bootproof(["verify", file, OWN]);
    expect([alone.code, alone.stdout]).toEqual([2, ""]);
    expect(alone.stderr).toBe(`bootproof: --bundle-policy: ${file} has no policy. Give --policy FILE or --no-policy\n`);
    expect((await bootproof(["verify", file, "--no-policy"])).stdout).toMatch(/\n\nAUTHENTIC/);
    expect((await bootproof(["verify", file, "--policy", POLICY])).code).toBe(0);
  });

  it.each([
    ["no boot proof", ["--policy", POLICY], "--boot-proof FILE is required"],
    ["no word of a policy", ["--boot-proof", BOOT_1], "--policy FILE or --no-policy is required"],
    [
      "both",
      ["--boot-proof", BOOT_1, "--policy", POLICY, "--no-policy"],
      "--policy and --no-policy exclude each other",
    ],
    ["stdin twice", ["--boot-proof", "-", "--policy", "-"], "only one file can be - (stdin)"],
  ])("refuses %s", (_, args, message) => refused(2, bootproof(["bundle", ...args]), message));
});

describe("verify FILE", () => {
  const flat = (text: string): string => text.replace(/\s+/g, " ");

  it("says loudly whose policy it was, beside the verdict and before everything else", async () => {
    const { code, stdout, stderr } = await bootproof(["verify", BUNDLE, OWN], YEARS_LATER);
    expect([code, stderr]).toEqual([0, ""]);
    expect(flat(stdout)).toMatch(
      /^AUTHENTIC with 2 warnings: .*, but the only .* WARNING the policy came with the bundle: .* --policy FILE\. /,
    );
    const colored = (await bootproof(["verify", BUNDLE, OWN], { ...YEARS_LATER, isTTY: true })).stdout;
    expect(colored).toMatch(
      /^\u001b\[30;43mAUTHENTIC\u001b\[0m with 2 warnings: [^\u001b]*\n\u001b\[30;43mWARNING\u001b\[0m/,
    );
  });

  it("says so on stderr where the report is for a machine, and beside it", async () => {
    const { code, stdout, stderr } = await bootproof(["verify", BUNDLE, OWN, "--format", "json"], YEARS_LATER);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: the policy came with the bundle/);
    expect(JSON.parse(stdout)).toMatchObject({
      format: "bootproof-report/1",
      verdict: "authentic",
      policy: null,
      policyDigest: null,
      bundle: { policyFrom: "bundle", packed: { now: NOW, verdict: "verified", differences: [] } },
    });
  });

  it("has nothing of the kind to say of the caller's own policy", async () => {
    const { code, stdout, stderr } = await bootproof(["verify", BUNDLE, "--policy", POLICY], YEARS_LATER);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/\nThe bundle was made at 2025-09-17T21:00:00\.000Z\. Its report is not trusted/);
    expect(stdout).not.toContain("chose");
    const json = await bootproof(["verify", BUNDLE, "--policy", POLICY, "--format", "json"], YEARS_LATER);
    expect(json.stderr).not.toContain("came with the bundle");
    expect((JSON.parse(json.stdout) as { bundle: object }).bundle).toMatchObject({ policyFrom: "caller" });
  });

  it("holds it against the caller's policy, whatever the one inside says", async () => {
    const [deployment] = readJson(POLICY)["deployments"] as Record<string, unknown>[];
    const other = fileOf({ ...readJson(POLICY), deployments: [{ ...deployment, pivotHash: "00".repeat(32) }] });
    expect((await bootproof(["verify", BUNDLE, "--policy", other])).code).toBe(1);
  });

  it("does not believe the report inside, and shows where it lies", async () => {
    const lying = changed((bundle) => {
      bundle["appProofs"][0].proofPayload += " ";
      bundle["report"].policy = "\u001b[2J\u202e";
    });
    const { code, stdout } = await bootproof(["verify", lying, OWN]);
    expect(code).toBe(1);
    expect(flat(stdout)).toContain(
      'everything was verified again. - verdict: "verified" in the report, "rejected" by its evidence',
    );
    expect(stdout).toMatch(/^[\n\x20-\x7e\u2026]*$/);
  });

  it("takes debug mode that its policy allows if the caller does", async () => {
    const debug = changed((bundle) => (bundle["policy"].allowDebug = true));
    expect((await bootproof(["verify", debug, OWN, "--allow-debug"])).code).toBe(0);
  });

  it("may be larger than other files", async () => {
    const large = changed((bundle) => (bundle["bootProofs"][0].padding = "x".repeat(2 * 1024 * 1024)));
    expect((await bootproof(["verify", large, OWN])).code).toBe(0);
    const tooLarge = changed((bundle) => (bundle["bootProofs"][0].padding = "x".repeat(9 * 1024 * 1024)));
    expect((await bootproof(["verify", tooLarge, OWN])).stderr).toContain("larger than 8 MiB");
  });

  it("gives its boot proofs to --boot-proof where it has nothing else", async () => {
    const { code } = await bootproof(["verify", "--boot-proof", BUNDLE, "--app-proof", BUNDLE, "--policy", POLICY]);
    expect(code).toBe(2);
    const alone = changed((bundle) => (bundle["appProofs"] = []));
    expect((await bootproof(["verify", "--boot-proof", alone, "--policy", POLICY])).stderr).toBe("");
    const none = changed((bundle) => Object.assign(bundle, { bootProofs: [], appProofs: [] }));
    expect((await bootproof(["verify", "--boot-proof", none, "--no-policy"])).stderr).toBe(
      `bootproof: ${none}: the list of boot proofs is empty: expected at least one\n`,
    );
    const many = changed((bundle) => Object.assign(bundle, { bootProofs: Array(1000).fill({}), appProofs: [] }));
    expect((await bootproof(["verify", "--boot-proof", many, "--no-policy"])).stderr).toContain(
      "a list of 1000, which cannot all be boot proofs",
    );
  });

  it.each<[string, () => string[], RegExp]>([
    ["what is not a bundle", () => [fileOf({ a: 1 })], /json: not a bundle \(bootproof bundle makes them\)/],
    ["a boot proof, which has no policy", () => [BOOT_1], /--bundle-policy: .+bootproof-1\.json has no policy/],
    [
      "another version",
      () => [changed((bundle) => (bundle["bundle"] = "bootproof-bundle/2"))],
      /bundle: expected "bootproof-bundle\/1"/,
    ],
    [
      "a policy inside that is none",
      () => [
        changed((bundle) => delete bundle["policy"].deployments[0].name && (bundle["policy"].deployments[0].pcrs = 1)),
      ],
      /policy\.deployments\[0\]\.pcrs/,
    ],
    ["a verdict of its own", () => [changed((bundle) => (bundle["verdict"] = "verified"))], /verdict: unknown member/],
    [
      "other evidence beside it",
      () => [BUNDLE, "--app-proof", APP_1, "--boot-proof", BOOT_1],
      /a file without an option/,
    ],
    [
      "a trust anchor beside its policy",
      () => [BUNDLE, "--policy", POLICY, "--trust-anchor", BOOT_1],
      /--trust-anchor requires --no-policy or --bundle-policy/,
    ],
    ["no word of a policy", () => [BUNDLE], /--policy FILE, --no-policy or --bundle-policy is required/],
    ["two words of it", () => [BUNDLE, OWN, "--no-policy"], /--no-policy and --bundle-policy exclude each other/],
    ["a bundle's policy of no bundle", () => ["--boot-proof", BOOT_1, OWN], /--bundle-policy requires a bundle/],
    [
      "debug mode that the bundle allows",
      () => [changed((bundle) => (bundle["policy"].allowDebug = true)), OWN],
      /policy\.allowDebug: debug mode: .*--allow-debug/,
    ],
    [
      "a connection",
      () => [BUNDLE, "--base-url", "https://localhost"],
      /--base-url: not used, since nothing is fetched/,
    ],
  ])("refuses %s", async (_, args, message) => {
    const given = args();
    const chosen = given.some((word) => /polic/.test(word)) || _ === "no word of a policy" ? given : [...given, OWN];
    await refused(2, bootproof(["verify", ...chosen]), message);
  });
});

it("reads no file that a bundle names", async () => {
  const inside = changed((bundle) => (bundle["policy"].trustAnchors = [{ file: BOOT_1 }]));
  await refused(2, bootproof(["verify", inside, OWN]), "policy.trustAnchors[0]: no files can be read here");
  expect(readFileSync(inside).length).toBeGreaterThan(0);
});
