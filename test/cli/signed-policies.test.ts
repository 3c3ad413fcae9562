/** Commands that judge by a signed policy: who decided, until when, and what a bundle only shows. */
import { readFileSync, writeFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { reportSchema } from "../../src/formats/schema.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { POLICY_OF_THE_BUNDLE, decodeBundle, verifyBundle } from "../../src/bundle/index.js";
import type { Report } from "../../src/report/report.js";
import { DAY, TestFeed, newSigner, payloadIn, sha256Hex } from "../support/signed-policies.js";
import { fileOf, reportOf, scene } from "./support.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const now = new Date(AT.getTime() + 60_000).toISOString();
const lab = new Forge();
const forged = forgeEvidence({ lab, at: AT });
const POLICY = labPolicy(forged.anchorPem, [labDeployment(lab)]);
const OTHER = labPolicy(forged.anchorPem, [{ ...labDeployment(lab), namespace: "another" }]);

const signers = [newSigner("p384"), newSigner("ed25519")];
const feed = new TestFeed(signers, 2, "prod/signer");
feed.add({ policy: OTHER, issuedAt: new Date(AT.getTime() - 2 * DAY) });
feed.add({ policy: POLICY, issuedAt: new Date(AT.getTime() - DAY) });
const expiresAt = new Date(AT.getTime() + 13 * DAY).toISOString();
const sha256 = sha256Hex(payloadIn(feed.envelopes[1]!));
const SIGNERS = ["--policy-signers", fileOf(feed.pinned, "signers.json")];
const fork = new TestFeed(signers, 2, "prod/signer");
fork.add({ policy: POLICY, issuedAt: AT, change: { version: 2, previous: sha256 } });

const N = {
  ...{ boot: fileOf(forged.bootProof), anchor: fileOf(forged.anchorPem, "anchor.pem"), plain: fileOf(POLICY) },
  ...{
    byFeed: ["--policy", fileOf(feed.text(), "feed.jsonl"), ...SIGNERS],
    byFork: ["--policy", fileOf(fork.text()), ...SIGNERS],
  },
  ...{ byOld: ["--policy", fileOf(feed.text(1, 1)), ...SIGNERS], aged: fileOf({ ...POLICY, maxAge: "30d" }) },
  ...{ state: `${fileOf("", "of-verify")}.state`, then: new Date(AT.getTime() - 1.5 * DAY).toISOString() },
};
const { having, run, table } = scene(N, { now });
const isReport = new Ajv2020().compile(reportSchema());

describe("verify under a signed policy", () => {
  const verify = "verify --boot-proof $boot $byFeed";
  const SIGNED = new RegExp(`version 2 of .prod/signer., valid until ${expiresAt}, signed by`);
  const keyids = signers.map(({ keyid }) => keyid.slice(0, 8));
  table([
    [verify, 0, SIGNED, `(SHA-256 ${sha256.slice(0, 8)}`, ...keyids],
    [`${verify} --summary`, 0, SIGNED, `(SHA-256 ${sha256.slice(0, 8)}`, ...keyids],
    [`${verify} --format markdown`, 0, /version 2 of .{1,4}prod\/signer.{1,4}, valid until/],
    ...["vsa", "junit", "sarif"].map((format) => [`${verify} --format ${format}`, 0, sha256] as const),
    // By the version that was in force then.
    [`${verify} --format json --now $then`, "any", '"version": 1'],
  ]);

  it("names the digest of the payload in JSON and EAR, and who signed it", async () => {
    const report = reportOf(await run(`${verify} --format json`, 0));
    expect([isReport(report), isReport.errors, report.policyDigest]).toEqual([true, null, sha256]);
    const { signedBy, ...facts } = report.signedPolicy!;
    expect(facts).toEqual({ name: "prod/signer", version: 2, sha256, expiresAt, remembered: false });
    expect([...signedBy].sort()).toEqual(signers.map(({ keyid }) => keyid).sort());
    const { stdout: ear } = await run(`${verify} --format ear`, 0);
    const digest = Buffer.from(sha256, "hex").toString("base64url");
    expect(Buffer.from(ear.split(".")[1]!, "base64url").toString()).toContain(`ni:///sha-256;${digest}`);
  });

  it("keeps a state, which refuses the older feed", async () => {
    const report = reportOf(await run(`${verify} --policy-state $state --format json`, 0));
    expect(report.signedPolicy!.remembered).toBe(true);
    await run("verify --boot-proof $boot $byOld", 1);
    const old = "verify --boot-proof $boot $byOld --policy-state $state";
    await run(`${old} --format json`, 2, '"code": "version"', "a rollback");
  });
});

describe("a bundle under a signed policy", async () => {
  const { stdout } = await run("bundle --boot-proof $boot $byFeed", 0);
  const made = JSON.parse(stdout) as Record<string, object>;
  const withBundle = { bundle: fileOf(stdout) };

  it("shows the envelope, and the caller’s own version judges, which says so where it is another", async () => {
    const verify = having(withBundle);
    expect(made["policy"]).toEqual(feed.envelopes[1]);
    const same = await verify("verify $bundle $byFeed --format json", 0);
    const packed = { now, verdict: "verified", differences: [] };
    expect(reportOf(same)).toMatchObject({ bundle: { policyFrom: "caller", packed } });
    expect(reportOf(same)).not.toHaveProperty("bundle.otherPolicy");

    const newer = new TestFeed(signers, 2, "prod/signer");
    newer.envelopes.push(...feed.envelopes);
    newer.add({ policy: { ...POLICY, name: "newest" }, issuedAt: AT, change: { version: 3 } });
    const byNewer = ["--policy", fileOf(newer.text()), ...SIGNERS];
    const otherPolicy = { name: "prod/signer", version: 2, sha256 };
    for (const by of ["$byNewer", "$byFork", "--policy $plain", "--no-policy --trust-anchor $anchor"]) {
      const report = reportOf(await having({ ...withBundle, byNewer })(`verify $bundle ${by} --format json`, 0));
      expect(report).toMatchObject({ bundle: { policyFrom: "caller", otherPolicy } });
      expect([isReport(report), isReport.errors]).toEqual([true, null]);
    }
    const says = [
      "shows version 2 of the signed policy",
      "It judged nothing",
      'version 3 of "prod/signer", valid until',
    ];
    await having({ ...withBundle, byNewer })("verify $bundle $byNewer", 0, ...says);
    // The newest version that the caller has is what counts, whatever is packed.
    newer.add({ policy: OTHER, issuedAt: AT, change: { version: 4 } });
    writeFileSync(byNewer[1]!, newer.text());
    await having({ ...withBundle, byNewer })("verify $bundle $byNewer", 1);
  });

  it("needs the caller's policy, and never enters a state", async () => {
    const state = `${fileOf("", "of-bundle")}.state`;
    const verify = having({ ...withBundle, state });
    await verify("verify $bundle --bundle-policy", 2, "is signed, and never judges: give --policy");
    const options = { policy: POLICY_OF_THE_BUNDLE, now: new Date(now) } as const;
    const judged = verifyBundle(decodeBundle(readFileSync(withBundle.bundle)), options);
    await expect(judged).rejects.toThrow("the policy in the bundle is signed, and never judges");
    await verify("verify $bundle $byOld --policy-state $state", 1);
    expect(JSON.parse(readFileSync(state, "utf8"))).toMatchObject({ envelope: feed.envelopes[0] });
  });

  it("is malformed where its payload is not one, and compared where its report lies about it", async () => {
    const broken = fileOf({ ...made, policy: { ...made["policy"], payload: "e30=" } });
    await having({ broken })("verify $broken $byFeed", 2, /policy\.\S+: /);
    for (const [member, lie, truth] of [
      ["version", 9, "2"],
      ["sha256", "0".repeat(64), `"${sha256}"`],
    ] as const) {
      const lying = { ...made["report"], signedPolicy: { ...(made["report"] as Report).signedPolicy, [member]: lie } };
      const answer = await having({ it: fileOf({ ...made, report: lying }) })("verify $it $byFeed --format json", 0);
      const difference = { place: `signedPolicy.${member}`, packed: JSON.stringify(lie), anew: truth };
      expect(reportOf(answer)).toMatchObject({ bundle: { packed: { differences: [difference] } } });
    }
  });

  it("is compared by diff by what its policy accepts", async () => {
    const bundled = async (policy: string): Promise<string> =>
      fileOf((await run(`bundle --boot-proof $boot --policy ${policy}`, 0)).stdout);
    const diff = having({ ...withBundle, same: await bundled("$plain"), other: await bundled("$aged") });
    await diff("diff $bundle $same", "any", "!maxAge");
    await diff("diff $bundle $other", 1, /max.?age/i);
  });
});
