/** The digest of a setting: the same for what judges the same. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { Auditor } from "../../src/run/auditor.js";
import { localJudge } from "../../src/run/judge.js";
import { nodeAuditor } from "../../src/run/node-auditor.js";
import { type AuditSetting, auditSetting, policyDigest, settingDigest } from "../../src/run/setting.js";
import { toUtf8 } from "../../src/bytes.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { type ProvenanceVerifier } from "../../src/verify/provenance-demand.js";
import { AT, NOW, forge, lab } from "../attacks/support.js";
import { leastCostMs } from "../support/cost.js";

describe("the digest of a policy", () => {
  const NAMING = JSON.stringify({
    comment: 'a.pem and r1 are text here: {"file": "r1"}',
    trustAnchors: [{ file: "a.pem" }, "aws-nitro-root-g1", { file: "b.pem" }],
    deployments: [
      { provenance: [{ trustedRoot: { file: "r1" } }, { trustedRoot: [{ file: "r2" }, { json: "x" }] }] },
      { labels: { file: "no file" }, provenance: [{ trustedRoot: [{ file: "r1" }] }] },
    ],
  });
  const ANCHORS = { "a.pem": "A", "b.pem": "B" };
  const ROOTS = { r1: "one\ntwo\n", r2: "three\n" };
  type Held = Parameters<typeof policyDigest>[0];
  const held = (
    text: string,
    anchors: Record<string, string> = ANCHORS,
    roots: Record<string, string> = ROOTS,
  ): Held => ({
    policy: { text, anchors, roots },
  });
  const renamed = (from: string, to: string): string => NAMING.replaceAll(`{"file":"${from}"}`, `{"file":"${to}"}`);

  it.each<[string, Held]>([
    ["files in another order", held(NAMING, { "b.pem": "B", "a.pem": "A" }, { r2: ROOTS.r2, r1: ROOTS.r1 })],
    ["a file that it does not name", held(NAMING, { ...ANCHORS, c: "C" }, { ...ROOTS, r3: "four" })],
    [
      "the same content under another path",
      held(renamed("r1", "new/r1.json"), ANCHORS, { ...ROOTS, "new/r1.json": ROOTS.r1 }),
    ],
    [
      "another path of an anchor",
      held(renamed("a.pem", "__proto__"), JSON.parse('{"__proto__":"A","b.pem":"B"}') as Record<string, string>),
    ],
    [
      "one file in place of two that were equal",
      { policy: { text: renamed("a.pem", "b.pem"), anchors: { "b.pem": "B" }, roots: ROOTS } },
    ],
  ])("is the same with %s", async (name, same) => {
    const before = name.startsWith("one file") ? held(NAMING, { "a.pem": "B", "b.pem": "B" }) : held(NAMING);
    expect(await policyDigest(same)).toBe(await policyDigest(before));
  });

  it.each<[string, Held]>([
    ["a root that was removed from a file's end", held(NAMING, ANCHORS, { ...ROOTS, r1: "one\n" })],
    ["a root that was added to a file's end", held(NAMING, ANCHORS, { ...ROOTS, r1: "one\ntwo\nthree\n" })],
    ["a root that was moved to another pin's file", held(NAMING, ANCHORS, { r1: "one\n", r2: "two\nthree\n" })],
    ["all roots in the first file", held(NAMING, ANCHORS, { r1: "one\ntwo\nthree\n", r2: "" })],
    ["the files of two pins exchanged", held(NAMING, ANCHORS, { r1: ROOTS.r2, r2: ROOTS.r1 })],
    ["the names of two pins exchanged", held(renamed("r1", "r3").replace('"r2"', '"r1"').replaceAll('"r3"', '"r2"'))],
    ["anchors exchanged", held(NAMING, { "a.pem": "B", "b.pem": "A" })],
    ["another anchor", held(NAMING, { ...ANCHORS, "b.pem": "C" })],
    ["a file that is missing", held(NAMING, { "a.pem": "A" })],
    ["a file that is empty", held(NAMING, { ...ANCHORS, "b.pem": "" })],
    ["an inherited file", held(NAMING, Object.create(ANCHORS) as Record<string, string>)],
    ["an anchor in place of a root", held(NAMING, { ...ANCHORS, ...ROOTS }, {})],
    ["another comment", held(NAMING.replace("text here", "text there"))],
    ["other spacing", held(` ${NAMING}`)],
    ["another text where no file is named", held(NAMING.replace("no file", "r1"))],
    ["no policy", { policy: null }],
    ["given anchors", { ...held(NAMING), trustAnchors: [{ name: "--trust-anchor", pem: "A" }] }],
    ["no anchors", { ...held(NAMING), trustAnchors: [] }],
  ])("is another with %s", async (_, other) => {
    expect(await policyDigest(other)).not.toBe(await policyDigest(held(NAMING)));
  });

  it("of a text that is not a policy is that of the text", async () => {
    const texts = [
      "",
      "{",
      "{a:b}",
      "{a:c}",
      "{}",
      "[]",
      '{"trustAnchors":{"file":"a"}}',
      '{"trustAnchors":{"file":"b"}}',
    ];
    const digests = await Promise.all(texts.map((text) => policyDigest(held(text))));
    expect(new Set(digests).size).toBe(texts.length);
  });

  it("takes no longer for many names than for much text", async () => {
    const text = JSON.stringify({ trustAnchors: Array<object>(10_000).fill({ file: "a" }) });
    const digest = (): Promise<unknown> => policyDigest(held(text, { a: "A".repeat(1e6) }));
    expect(await leastCostMs(2500, digest)).toBeLessThan(2500);
  });
});

describe("the digest of a setting", () => {
  const own: AuditSetting = { policy: { text: "{}" }, now: "2026-01-01T00:00:00.000Z", bootProofs: ["1", "2"] };
  // A new member of a setting needs its row here, and its part in the digest.
  const others: { readonly [K in keyof Required<AuditSetting>]: readonly AuditSetting[K][] } = {
    policy: [null, { text: "[]" }, { text: " {}" }],
    trustAnchors: [[], [{ name: "a", pem: "A" }], [{ name: "a", pem: "B" }]],
    now: ["2026-01-01T00:00:00.001Z"],
    at: ["now", "2026-01-01T00:00:00.000Z"],
    allowDebug: [true],
    acceptance: ["strict"],
    maxAgeMs: [0, 60_000],
    bootProofs: [[], ["12"], ["2", "1"], ["1", "2", ""], ["1"]],
    provenance: [["1", "2"], ["2", "1"], ["12"], [""], ["1"]],
  };
  /** Each line of a file of results has its own. */
  const { now: _, ...kept } = others;
  const changes = Object.entries(kept).flatMap(([name, values]) => values.map((value) => ({ ...own, [name]: value })));

  it("is another for any member that differs", async () => {
    const digests = await Promise.all([own, ...changes].map(settingDigest));
    expect(new Set(digests).size).toBe(1 + changes.length);
    expect(await settingDigest({ ...own, now: others.now[0]! })).toBe(digests[0]);
  });

  it("is the same for a default that is named, and for another name of an anchor", async () => {
    const named: AuditSetting = { ...own, at: "document", allowDebug: false, acceptance: "standard", provenance: [] };
    expect(await settingDigest(named)).toBe(await settingDigest(own));
    const [one, other] = ["a", "b"].map((name) => settingDigest({ ...own, trustAnchors: [{ name, pem: "A" }] }));
    expect(await one).toBe(await other);
  });
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
    const { verdict, failed, reason } = await auditor.judge(toUtf8(JSON.stringify(entry)));
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
    await expect(Auditor.of(settingOf([bundle]))).rejects.toThrow(/provenanceVerifier: required/);
    expect(await verdictOf(await nodeAuditor(settingOf([bundle])), bootProof)).toEqual(["verified"]);
    const judge = await localJudge(settingOf([bundle]), undefined, await sigstoreVerifier());
    const { results } = await judge.judge({ entries: [toUtf8(JSON.stringify(bootProof))] });
    expect(results[0]!.verdict).toBe("verified");
  });
});
