/** Commands that judge by a signed policy: who decided, until when, and what a bundle only shows. */
import { readFileSync, writeFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { reportSchema } from "../../src/formats/schema.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { POLICY_OF_THE_BUNDLE, decodeBundle, verifyBundle } from "../../src/bundle/index.js";
import type { Report } from "../../src/report/report.js";
import { DAY, TestFeed, newSigner, payloadIn, sha256Hex } from "../support/signed-policies.js";
import { type Answer, bootproof, fileOf, refused } from "./support.js";

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
const EXPIRES = new Date(AT.getTime() + 13 * DAY).toISOString();
const SHA256 = sha256Hex(payloadIn(feed.envelopes[1]!));
const SIGNERS = ["--policy-signers", fileOf(feed.pinned, "signers.json")];
const BY_FEED = ["--policy", fileOf(feed.text(), "feed.jsonl"), ...SIGNERS];
const EVIDENCE = ["--boot-proof", fileOf(forged.bootProof)];

const anchor = fileOf(forged.anchorPem, "anchor.pem");

const run = (...argv: readonly string[]): Promise<Answer> => bootproof(argv, { now });
const verify = (...more: readonly string[]): Promise<Answer> => run("verify", ...EVIDENCE, ...more);
const isReport = new Ajv2020().compile(reportSchema());
const reportIn = ({ stdout }: Answer): Report & { bundle?: Record<string, unknown> } => JSON.parse(stdout) as Report;

describe("verify under a signed policy", () => {
  it("says first whose policy it is, in text and in the summary", async () => {
    for (const detail of [[], ["--summary"]]) {
      const { code, stdout, stderr } = await verify(...BY_FEED, ...detail);
      expect([code, stderr]).toEqual([0, ""]);
      const [start] = stdout.replaceAll(/\s+/g, " ").split(/Proven /);
      expect(start).toContain(`(SHA-256 ${SHA256.slice(0, 8)}`);
      expect(start).toMatch(RegExp(`version 2 of .prod/signer., valid until ${EXPIRES}, signed by`));
      for (const { keyid } of signers) expect(start).toContain(keyid.slice(0, 8));
    }
  });

  it("names the digest of the payload in JSON, EAR, VSA, JUnit and SARIF, and who signed it", async () => {
    const report = reportIn(await verify(...BY_FEED, "--format", "json"));
    expect([isReport(report), isReport.errors]).toEqual([true, null]);
    expect(report.policyDigest).toBe(SHA256);
    expect({ ...report.signedPolicy, signedBy: [...report.signedPolicy!.signedBy].sort() }).toEqual({
      ...{ name: "prod/signer", version: 2, sha256: SHA256, expiresAt: EXPIRES, remembered: false },
      signedBy: signers.map(({ keyid }) => keyid).sort(),
    });
    expect((await verify(...BY_FEED, "--format", "vsa")).stdout).toContain(SHA256);
    const { stdout: ear } = await verify(...BY_FEED, "--format", "ear");
    const base64url = Buffer.from(SHA256, "hex").toString("base64url");
    expect(Buffer.from(ear.split(".")[1]!, "base64url").toString()).toContain(`ni:///sha-256;${base64url}`);
    for (const format of ["junit", "sarif"])
      expect((await verify(...BY_FEED, "--format", format)).stdout).toContain(SHA256);
  });

  it("is in Markdown, too", async () => {
    expect((await verify(...BY_FEED, "--format", "markdown")).stdout).toMatch(
      /version 2 of .{1,4}prod\/signer.{1,4}, valid until/,
    );
  });

  it("under --now is judged by the version that was in force then", async () => {
    const then = ["--now", new Date(AT.getTime() - 1.5 * DAY).toISOString(), "--format", "json"];
    expect(reportIn(await verify(...BY_FEED, ...then)).signedPolicy!.version).toBe(1);
  });

  it("keeps a state, which refuses the older feed", async () => {
    const state = ["--policy-state", `${fileOf("", "of-verify")}.state`];
    const report = reportIn(await verify(...BY_FEED, ...state, "--format", "json"));
    expect(report.signedPolicy!.remembered).toBe(true);
    const old = ["--policy", fileOf(feed.text(1, 1)), ...SIGNERS];
    expect((await verify(...old)).code).toBe(1);
    const { code, stdout, stderr } = await verify(...old, ...state, "--format", "json");
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { exitCode: 2, errors: [{ code: "version" }] }]);
    expect(stderr).toMatch(/a rollback\n/);
  });
});

describe("a bundle under a signed policy", () => {
  it("shows the envelope, and the caller’s own version judges, which says so where it is another", async () => {
    const { code, stdout, stderr } = await run("bundle", ...EVIDENCE, ...BY_FEED);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^VERIFIED/)]);
    expect((JSON.parse(stdout) as { policy: unknown }).policy).toEqual(feed.envelopes[1]);
    const bundle = fileOf(stdout);
    const same = await run("verify", bundle, ...BY_FEED, "--format", "json");
    expect(same.code).toBe(0);
    expect(reportIn(same).bundle).toEqual({
      policyFrom: "caller",
      packed: { now, verdict: "verified", differences: [] },
    });

    const newer = new TestFeed(signers, 2, "prod/signer");
    newer.envelopes.push(...feed.envelopes);
    newer.add({ policy: { ...POLICY, name: "newest" }, issuedAt: AT, change: { version: 3 } });
    const byNewer = ["--policy", fileOf(newer.text()), ...SIGNERS];
    const fork = new TestFeed(signers, 2, "prod/signer");
    fork.add({ policy: POLICY, issuedAt: AT, change: { version: 2, previous: SHA256 } });
    const byFork = ["--policy", fileOf(fork.text()), ...SIGNERS];
    const shown = { name: "prod/signer", version: 2, sha256: SHA256 };
    for (const policy of [byNewer, byFork, ["--policy", fileOf(POLICY)], ["--no-policy", "--trust-anchor", anchor]]) {
      const report = reportIn(await run("verify", bundle, ...policy, "--format", "json"));
      expect(report.bundle).toMatchObject({ policyFrom: "caller", otherPolicy: shown });
      expect([isReport(report), isReport.errors]).toEqual([true, null]);
    }
    const text = (await run("verify", bundle, ...byNewer)).stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain("shows version 2 of the signed policy");
    expect(text).toContain("It judged nothing");
    expect(text).toContain('version 3 of "prod/signer", valid until');
    // The newest version that the caller has is what counts, whatever is packed.
    newer.add({ policy: OTHER, issuedAt: AT, change: { version: 4 } });
    writeFileSync(byNewer[1]!, newer.text());
    expect((await run("verify", bundle, ...byNewer)).code).toBe(1);
  });

  it("needs the caller's policy, and never enters a state", async () => {
    const bundle = fileOf((await run("bundle", ...EVIDENCE, ...BY_FEED)).stdout);
    await refused(2, run("verify", bundle, "--bundle-policy"), /is signed, and never judges: give --policy/);
    const options = { policy: POLICY_OF_THE_BUNDLE, now: new Date(now) } as const;
    await expect(verifyBundle(decodeBundle(readFileSync(bundle)), options)).rejects.toThrow(
      "the policy in the bundle is signed, and never judges",
    );
    await refused(2, run("verify", bundle), /--policy FILE, --no-policy or --bundle-policy is required/);
    const old = fileOf(feed.text(1, 1));
    const state = `${fileOf("", "of-bundle")}.state`;
    const byOld = ["--policy", old, ...SIGNERS, "--policy-state", state];
    expect((await run("verify", bundle, ...byOld)).code).toBe(1);
    expect((JSON.parse(readFileSync(state, "utf8")) as { envelope: unknown }).envelope).toEqual(feed.envelopes[0]);
  });

  it("is malformed where its payload is not one, and compared where its report lies about it", async () => {
    const made = JSON.parse((await run("bundle", ...EVIDENCE, ...BY_FEED)).stdout) as Record<string, object>;
    const broken = fileOf({ ...made, policy: { ...made["policy"], payload: "e30=" } });
    await refused(2, run("verify", broken, ...BY_FEED), /policy\.\S+: /);
    for (const [member, lie, truth] of [
      ["version", 9, "2"],
      ["sha256", "0".repeat(64), `"${SHA256}"`],
    ] as const) {
      const lying = { ...made["report"], signedPolicy: { ...(made["report"] as Report).signedPolicy, [member]: lie } };
      const report = reportIn(await run("verify", fileOf({ ...made, report: lying }), ...BY_FEED, "--format", "json"));
      const difference = { place: `signedPolicy.${member}`, packed: JSON.stringify(lie), anew: truth };
      expect(report.bundle).toMatchObject({ packed: { differences: [difference] } });
    }
  });

  it("is compared by diff by what its policy accepts", async () => {
    const [one, same, other] = await Promise.all(
      [BY_FEED, ["--policy", fileOf(POLICY)], ["--policy", fileOf({ ...POLICY, maxAge: "30d" })]].map(async (policy) =>
        fileOf((await run("bundle", ...EVIDENCE, ...policy)).stdout),
      ),
    );
    expect((await run("diff", one!, same!)).stdout).not.toContain("maxAge");
    expect((await run("diff", one!, other!)).stdout).toMatch(/max.?age/i);
  });
});
