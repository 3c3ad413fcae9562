import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { BundleFile } from "../../src/bundle/file.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { Loose } from "../support/loose.js";
import { APP_1, BOOT_1, BOOT_2, NOW, bootproof, fileOf, readJson, scene } from "./support.js";

const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1, "--name", "captured"])).stdout);
const PIECES = ["--boot-proof", BOOT_1, "--app-proof", APP_1];
const packed = await bootproof(["bundle", ...PIECES, "--policy", POLICY]);
const bundleBut = (change: (bundle: Loose) => void): string => {
  const bundle = JSON.parse(packed.stdout) as Loose;
  change(bundle);
  return fileOf(bundle);
};
const [deployment] = readJson(POLICY)["deployments"] as Record<string, unknown>[];
const MIB = 1024 * 1024;

const N = {
  ...{ policy: POLICY, pieces: PIECES, boot: BOOT_1, boot2: BOOT_2, app: APP_1, bundle: fileOf(packed.stdout) },
  other: fileOf({ ...readJson(POLICY), deployments: [{ ...deployment, pivotHash: "00".repeat(32) }] }),
  ofADay: fileOf({ ...readJson(POLICY), maxAge: "1d" }),
  debug: bundleBut((bundle) => (bundle["policy"].allowDebug = true)),
  large: bundleBut((bundle) => (bundle["bootProofs"][0].padding = "x".repeat(2 * MIB))),
  tooLarge: bundleBut((bundle) => (bundle["bootProofs"][0].padding = "x".repeat(9 * MIB))),
  boots: bundleBut((bundle) => (bundle["appProofs"] = [])),
  nothing: bundleBut((bundle) => Object.assign(bundle, { bootProofs: [], appProofs: [] })),
  many: bundleBut((bundle) => Object.assign(bundle, { bootProofs: Array(1000).fill({}), appProofs: [] })),
  no: fileOf({ a: 1 }),
  version2: bundleBut((bundle) => (bundle["bundle"] = "bootproof-bundle/2")),
  badPolicy: bundleBut((bundle) => (bundle["policy"].deployments[0].pcrs = 1)),
  verdict: bundleBut((bundle) => (bundle["verdict"] = "verified")),
  naming: bundleBut((bundle) => (bundle["policy"].trustAnchors = [{ file: BOOT_1 }])),
  lying: bundleBut((bundle) => {
    bundle["appProofs"][0].proofPayload += " ";
    bundle["report"].policy = "\u001b[2J\u202e";
  }),
};
const { having, table, run } = scene(N);
const LATER = scene(N, { now: "2036-01-01T00:00:00Z" });

describe("bundle", () => {
  it("packs what verify then takes, alone", async () => {
    expect([packed.code, packed.stderr]).toEqual([0, expect.stringMatching(/^VERIFIED with \d warnings?: /)]);
    /** Under the interface's name for the document; the captured one is under the name of deployed services. */
    const { awsAttestationDocB64, ...others } = readJson(BOOT_1);
    expect(JSON.parse(packed.stdout)).toMatchObject({
      ...{ bundle: "bootproof-bundle/1", now: NOW, appProofs: [readJson(APP_1)], policy: readJson(POLICY) },
      bootProofs: [{ ...others, cloudAttestationDocB64: awsAttestationDocB64 }],
      report: { verdict: "verified" },
    });
  });

  it("writes to --out, says what, and replaces another file with --force only", async () => {
    const out = join(mkdtempSync(join(tmpdir(), "bootproof-bundled-")), "bundle.json");
    const to = having({ out });
    const line = "bundle $pieces --policy $policy";
    const later = `${line} --out $out --now 2026-03-04T05:06:08Z`;
    await to(`${line} --out $out`, 0, `Written: $out, with a boot proof, an app proof, verified as of ${NOW}`);
    await to(`${line} --out $out`, 0, "Unchanged: $out, ");
    await to(later, 2, /^VERIFIED .* bootproof: --out \S+: the file is there: give --force/);
    expect(readJson(out)["now"]).toBe(NOW);
    await to(`${later} --force`, 0, "Replaced: $out, ");
    expect(readJson(out)["now"]).toBe("2026-03-04T05:06:08.000Z");
    await to(`${line} --force`, 2, "--force requires --out FILE");
  });

  it("has the certificates of the policy's files inside", async () => {
    const lab = new Forge();
    const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
    const folder = mkdtempSync(join(tmpdir(), "bootproof-bundle-"));
    writeFileSync(join(folder, "root.pem"), forged.anchorPem);
    const policy = { ...labPolicy("", [labDeployment(lab)]), trustAnchors: [{ file: "root.pem" }] };
    writeFileSync(join(folder, "policy.json"), JSON.stringify(policy));
    const names = { own: join(folder, "policy.json"), root: join(folder, "root.pem") };
    const evidence = { forged: fileOf(forged.bootProof), activity: fileOf(forged.activity) };
    const { having: then } = scene({ ...N, ...evidence }, { now: "2026-03-04T06:00:00Z" });
    const { stdout } = await then(names)("bundle --boot-proof $forged --activity $activity --policy $own", 0);
    const { trustAnchors } = (JSON.parse(stdout) as BundleFile).policy as { trustAnchors: unknown };
    expect(trustAnchors).toEqual([{ pem: expect.stringContaining("BEGIN CERTIFICATE") as string }]);
    const verify = LATER.having({ ...names, it: fileOf(stdout) });
    await verify("verify - --bundle-policy < $it", 2, "stdin: policy.trustAnchors: ");
    const says = "not to AWS: nothing shows that this is AWS hardware";
    await verify("verify - --bundle-policy --trust-anchor $root < $it", 0, says);
  });

  it("judges ages by --now", async () => {
    await LATER.run("bundle $pieces --policy $ofADay", 1);
    const { stdout } = await LATER.run("bundle $pieces --policy $ofADay --now 2025-09-16T22:00:00Z", 0);
    expect((JSON.parse(stdout) as BundleFile).now).toBe("2025-09-16T22:00:00.000Z");
    const verify = LATER.having({ it: fileOf(stdout) });
    const says =
      "As of 2025-09-16T22:00:00.000Z, as its maker verified it, the verdict is verified. " +
      "--now 2025-09-16T22:00:00.000Z counts ages as of then.";
    await verify("verify $it --bundle-policy", 1, says);
    await verify("verify $it --bundle-policy --now 2025-09-16T22:00:00.000Z", 0);
  });

  it("packs authentic evidence too, and then verify asks for a policy", async () => {
    const { stdout } = await run("bundle $pieces --no-policy", 0);
    expect((JSON.parse(stdout) as BundleFile).policy).toBe(null);
    const verify = having({ it: fileOf(stdout) });
    const says = "bootproof: --bundle-policy: $it has no policy. Give --policy FILE or --no-policy";
    await verify("verify $it --bundle-policy", 2, says);
    await verify("verify $it --no-policy", 0, "AUTHENTIC");
    await verify("verify $it --policy $policy", 0);
  });

  table([
    // Nothing rejected is packed.
    ["bundle --boot-proof $boot2 --app-proof $app --policy $policy", 1, /^Not bundled\. REJECTED: .* FAIL app\.key/],
    ["bundle --policy $policy", 2, "--boot-proof FILE is required"],
    ["bundle --boot-proof $boot", 2, "--policy FILE or --no-policy is required"],
    ["bundle --boot-proof $boot --policy $policy --no-policy", 2, "--no-policy cannot be used with --policy"],
  ]);
});

describe("verify FILE", () => {
  it("says loudly whose policy it was, beside the verdict and before everything else", async () => {
    const says =
      /^AUTHENTIC with 2 warnings: .*, but the only .* WARNING the policy came with the bundle: .* --policy FILE\. /;
    await LATER.run("verify $bundle --bundle-policy", 0, says);
    const { run: shown } = scene(N, { now: "2036-01-01T00:00:00Z", isTTY: true });
    const marked = /^\u001b\[30;43mAUTHENTIC\u001b\[0m with 2 warnings: [^\u001b]* \u001b\[30;43mWARNING\u001b\[0m/;
    await shown("verify $bundle --bundle-policy", 0, marked);
    // Where the report is for a machine, on stderr and beside it.
    const { stdout, stderr } = await LATER.run("verify $bundle --bundle-policy --format json", 0);
    expect(stderr).toMatch(/^warning: the policy came with the bundle/);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ format: "bootproof-report/1", verdict: "authentic", policy: null, policyDigest: null },
      bundle: { policyFrom: "bundle", packed: { now: NOW, verdict: "verified", differences: [] } },
    });
  });

  it("has nothing of the kind to say of the caller's own policy", async () => {
    const MADE = "The bundle was made at 2025-09-17T21:00:00.000Z. Its report is not trusted";
    await LATER.run("verify $bundle --policy $policy", 0, MADE, "!chose");
    const json = await LATER.run("verify $bundle --policy $policy --format json", 0, "!came with the bundle");
    expect(JSON.parse(json.stdout)).toMatchObject({ bundle: { policyFrom: "caller" } });
  });

  const LIES = 'everything was verified again. - verdict: "verified" in the report, "rejected" by its evidence';
  table([
    ["verify $bundle --policy $other", 1],
    ["verify $lying --bundle-policy", 1, LIES, /^[\x20-\x7e\u2026]*$/],
    ["verify $debug --bundle-policy --allow-debug", 0],
    ["verify $debug --bundle-policy", 2, /policy\.allowDebug: debug mode: .*--allow-debug/],
    ["verify $large --bundle-policy", 0],
    ["verify $tooLarge --bundle-policy", 2, "larger than 8 MiB"],
    ["verify --boot-proof $bundle --app-proof $bundle --policy $policy", 2],
    // It gives its boot proofs to --boot-proof where it has nothing else.
    ["verify --boot-proof $boots --policy $policy", 0],
    [
      "verify --boot-proof $nothing --no-policy",
      2,
      "$nothing: the list of boot proofs is empty: expected at least one",
    ],
    ["verify --boot-proof $many --no-policy", 2, "a list of 1000, which cannot all be boot proofs"],
    ["verify $no --bundle-policy", 2, "json: not a bundle (bootproof bundle makes them)"],
    ["verify $boot --bundle-policy", 2, /--bundle-policy: .+bootproof-1\.json has no policy/],
    ["verify $version2 --bundle-policy", 2, 'bundle: expected "bootproof-bundle/1"'],
    ["verify $badPolicy --bundle-policy", 2, "policy.deployments[0].pcrs"],
    ["verify $verdict --bundle-policy", 2, "verdict: unknown member"],
    ["verify $naming --bundle-policy", 2, "policy.trustAnchors[0]: no files can be read here"],
    ["verify $bundle --app-proof $app --boot-proof $boot --bundle-policy", 2, "a file without an option"],
    [
      "verify $bundle --policy $policy --trust-anchor $boot",
      2,
      "--trust-anchor cannot be used with --policy: a policy has its own",
    ],
    ["verify $bundle", 2, "--policy FILE, --no-policy or, for a bundle, --bundle-policy is required"],
    ["verify $bundle --bundle-policy --no-policy", 2, "--bundle-policy cannot be used with --no-policy"],
    ["verify --boot-proof $boot --bundle-policy", 2, "--bundle-policy requires a bundle"],
    [
      "verify $bundle --base-url https://localhost --bundle-policy",
      2,
      "--base-url: not used, since nothing is fetched",
    ],
  ]);
});
