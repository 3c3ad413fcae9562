/** The digest of a setting: the same for what judges the same. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { Auditor } from "../../src/audit/auditor.js";
import { localJudge } from "../../src/audit/judge.js";
import { nodeAuditor } from "../../src/audit/node-auditor.js";
import { type AuditSetting, auditSetting, policyDigest, settingDigest } from "../../src/audit/setting.js";
import { toUtf8 } from "../../src/bytes.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import { type ProvenanceVerifier, sigstoreVerifier } from "../../src/provenance/index.js";
import { AT, NOW, forge, lab } from "../attacks/support.js";

it("has no order of the files that a policy names", async () => {
  const digestOf = (anchors: Readonly<Record<string, string>>): Promise<string> =>
    policyDigest({ policy: { text: "{}", anchors } });
  const digest = await digestOf({ a: "1", b: "2", c: "3" });
  expect(await digestOf({ c: "3", a: "1", b: "2" })).toBe(digest);
  expect(await digestOf({ b: "2", c: "3", a: "1" })).toBe(digest);
  expect(await digestOf({ a: "2", b: "1", c: "3" })).not.toBe(digest);
  expect(await digestOf({ a: "1", b: "2" })).not.toBe(digest);
});

describe("provenance", () => {
  const sigstore = new LabSigstore();
  const provenance = [labProvenancePin({ json: JSON.stringify(sigstore.trustedRoot) })];
  const whole = forge();
  const policy = parsePolicy(JSON.stringify(labPolicy(whole.anchorPem, [{ ...labDeployment(lab), provenance }])));
  const bundle = sigstore.attest({ at: AT, digest: lab.pivotHash });
  const other = sigstore.attest({ at: AT, digest: new Uint8Array(32) });
  const settingOf = (builds: readonly string[], bootProofs: readonly string[] = []): AuditSetting =>
    auditSetting({ policy, now: NOW, provenance: builds, bootProofs });
  const counting = async (): Promise<{ verifier: ProvenanceVerifier; calls: string[] }> => {
    const [verifier, calls] = [await sigstoreVerifier(), [] as string[]];
    return { calls, verifier: { verify: (...args) => (calls.push(args[0]), verifier.verify(...args)) } };
  };
  const verdictOf = async (auditor: Auditor, entry: unknown): Promise<unknown[]> => {
    const { verdict, failed, reason } = await auditor.judge(1, toUtf8(JSON.stringify(entry)));
    return [verdict, ...failed, ...(reason === undefined ? [] : [reason])];
  };
  const { bootProof, appProofs } = whole;

  it("of the setting counts for every entry, and for its boot proofs", async () => {
    const { verifier } = await counting();
    const auditor = await Auditor.of(settingOf([other, bundle], [JSON.stringify(bootProof)]), verifier);
    expect(auditor.bootProofs.map(({ verdict }) => verdict)).toEqual(["verified"]);
    for (const entry of [bootProof, appProofs[0], { bootProofs: [bootProof], appProofs }, { bootProofs: [bootProof] }])
      expect(await verdictOf(auditor, entry)).toEqual(["verified"]);
  });

  it("of the entry counts too, and without any the entry is rejected", async () => {
    const { verifier } = await counting();
    const auditor = await Auditor.of(settingOf([]), verifier);
    expect(await verdictOf(auditor, bootProof)).toEqual(["rejected", "provenance.bundle"]);
    for (const one of [bundle, JSON.parse(bundle)])
      expect(await verdictOf(auditor, { bootProofs: [bootProof], provenance: [one] })).toEqual(["verified"]);
    const packed = { bundle: "bootproof-bundle/1", bootProofs: [bootProof], appProofs: [], provenance: [bundle] };
    expect(await verdictOf(auditor, packed)).toEqual(["verified"]);
    const wrong = { bootProofs: [bootProof], provenance: [other] };
    expect(await verdictOf(auditor, wrong)).toEqual(["rejected", "provenance.subject"]);
  });

  it("is verified once for many entries, and only where it could meet a demand", async () => {
    const { verifier, calls } = await counting();
    const auditor = await Auditor.of(settingOf([other, bundle]), verifier);
    for (let count = 0; count < 5; count++) expect(await verdictOf(auditor, bootProof)).toEqual(["verified"]);
    expect(calls).toEqual([bundle]);
  });

  it("that is too much is malformed in an entry, and refused in a setting", async () => {
    const { verifier } = await counting();
    const auditor = await Auditor.of(settingOf([bundle]), verifier);
    const entry = { bootProofs: [bootProof], provenance: Array(64).fill("{}") };
    expect(await verdictOf(auditor, entry)).toEqual(["malformed", expect.stringMatching(/^65 provenance bundles/)]);
    await expect(Auditor.of(settingOf(Array<string>(65).fill(bundle)), verifier)).rejects.toThrow(RangeError);
  });

  it("takes a verifier where a policy demands it, and no package is loaded otherwise", async () => {
    await expect(Auditor.of(settingOf([bundle]))).rejects.toThrow(/provenanceVerifier: wanted/);
    expect(await verdictOf(await nodeAuditor(settingOf([bundle])), bootProof)).toEqual(["verified"]);
    const judge = await localJudge(settingOf([bundle]), undefined, await sigstoreVerifier());
    const { results } = await judge.judge({ index: 0, first: 1, entries: [toUtf8(JSON.stringify(bootProof))] });
    expect(results[0]!.verdict).toBe("verified");
  });

  it("is part of the digest of a setting, in its order, and so are the roots of its policy", async () => {
    const digests = [[], [bundle], [other], [bundle, other], [other, bundle]].map((one) =>
      settingDigest(settingOf(one)),
    );
    expect(new Set(await Promise.all(digests)).size).toBe(5);
    const digestOf = (roots: Readonly<Record<string, string>>): Promise<string> =>
      policyDigest({ policy: { text: "{}", roots } });
    expect(await digestOf({ a: "1" })).not.toBe(await digestOf({ a: "2" }));
    expect(await digestOf({ a: "1" })).not.toBe(await policyDigest({ policy: { text: "{}", anchors: { a: "1" } } }));
  });
});
