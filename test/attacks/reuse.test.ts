/** What a verifier keeps between verifications must not vouch for anything else. */
import { describe, expect, it } from "vitest";
import type { CheckId } from "../../src/checks.js";
import { SignatureCache, type VerifyOptions, requireVerified, verifyEvidence } from "../../src/index.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { BOOT_PROOF_ATTACKS } from "./boot-proof.table.js";
import { CHAIN_ATTACKS } from "./chain.table.js";
import { DOCUMENT_ATTACKS } from "./document.table.js";
import { APP_PROOF_ATTACKS } from "./app-proof.table.js";
import {
  type Attack,
  BEHIND,
  type Given,
  type Judgement,
  after,
  forge,
  handedBack,
  idsOf,
  judged,
  lab,
  inManifest,
  optionsOf,
  otherLab,
} from "./support.js";

const whole = forge();
const given = { bootProofs: [whole.bootProof], appProofs: whole.appProofs };
const ofSignatures: readonly Attack["fails"][number][] = [
  "cose.signature",
  "chain.signature",
  "envelope.approvals",
  "envelope.shares",
  "app.signature",
];
const signatureAttacks = [...DOCUMENT_ATTACKS, ...CHAIN_ATTACKS, ...BOOT_PROOF_ATTACKS, ...APP_PROOF_ATTACKS].filter(
  ({ fails }) => fails.some((id) => ofSignatures.includes(id)),
);

describe("a cache of signatures", () => {
  const cache = new SignatureCache();

  it.each(signatureAttacks)(
    "filled by whole evidence does not help $name",
    async ({ forge: alterations, judge: judgement, fails, more }) => {
      expect((await verifyEvidence(given, { ...optionsOf(whole), cache })).report.verdict).toBe("verified");
      const evidence = forge(alterations);
      const options = { ...optionsOf(evidence, judgement), cache };
      const { report } = await verifyEvidence(
        judgement?.given?.(evidence) ?? { bootProofs: [evidence.bootProof], appProofs: evidence.appProofs },
        options,
      );
      expect(idsOf(report, "fail")).toEqual(more === true ? expect.arrayContaining([...fails]) : [...fails].sort());
      expect(report.verdict).toBe("rejected");
    },
  );

  it("gives the same report the second time", async () => {
    const first = await verifyEvidence(given, { ...optionsOf(whole), cache });
    const second = await verifyEvidence(given, { ...optionsOf(whole), cache });
    expect(second.report).toEqual(first.report);
  });

  it("may hold as little as one signature", async () => {
    const { report } = await verifyEvidence(given, { ...optionsOf(whole), cache: new SignatureCache(1) });
    expect(report.verdict).toBe("verified");
  });
});

describe("a boot proof that was verified before", () => {
  const again = async (how: Judgement, first: Judgement = {}, evidence = whole): Promise<string[]> => {
    const { bootProofs } = await verifyEvidence({ bootProofs: [evidence.bootProof] }, optionsOf(evidence, first));
    expect(bootProofs[0]).not.toBeNull();
    const given = (): Given => ({ bootProofs, appProofs: evidence.appProofs });
    const answer = await judged(evidence, { ...how, given });
    const { report, verified } = answer;
    expect(handedBack(answer)).toEqual([]);
    if (report.verdict !== "rejected") expect(verified.get("boot[0]")).toBe(bootProofs[0]);
    expect(report.verdict === "rejected").toBe(idsOf(report, "fail").length > 0);
    return idsOf(report, "fail");
  };

  const OTHER_KEY = generateQosKeyPair().publicKey;
  const OTHER_ANCHOR = certificatePem(otherLab.pki.rootCertificate);
  const { pcr0 } = lab.measurements;
  const OTHER_IMAGE: Judgement = { measurements: { 0: new Uint8Array(48) } };
  const DEBUG = forge(inManifest("pivot", { debugMode: true }));
  const FOUR_HOURS_ON: Judgement = { validAt: "now", now: after(4 * 3600) };

  it.each<[name: string, how: Judgement, fails: readonly CheckId[], first?: Judgement, evidence?: typeof whole]>([
    ["is accepted again", {}, []],
    ["is compared with the anchors of the second call", { anchorPem: OTHER_ANCHOR }, ["chain.anchor"]],
    ["is compared with the time of the second call", FOUR_HOURS_ON, ["chain.validity"]],
    ["is compared with a time before it was made", { validAt: after(-3600 * 24) }, ["chain.validity"]],
    ["is compared with a clock that is behind it", { now: BEHIND }, ["app.time", "doc.time"]],
    ["is compared with the age of the second call", { policy: { maxAge: "1m" } }, ["policy.age"]],
    ["is compared with the key of the second call", { ephemeralKey: OTHER_KEY }, ["bind.key"]],
    ["is compared with half of its key", { ephemeralKey: lab.ephemeralKey.publicKey.slice(0, 65) }, ["bind.key"]],
    ["is compared with the nonce of the second call", { nonce: Uint8Array.of(1) }, ["bind.nonce"]],
    ["is compared with the image of the second call", OTHER_IMAGE, ["bind.image"]],
    [
      "is compared with the image of the second call, and not the first",
      OTHER_IMAGE,
      ["bind.image"],
      { measurements: { 0: pcr0 } },
    ],
    ["is compared with its own image", { measurements: { 0: pcr0 } }, []],
    [
      "is compared with all of it at once",
      { ...FOUR_HOURS_ON, anchorPem: OTHER_ANCHOR, ephemeralKey: OTHER_KEY },
      ["bind.key", "chain.anchor", "chain.validity"],
    ],
    [
      "is compared with the policy of the second call",
      { deployments: (all) => [{ ...all, namespace: "x" }] },
      ["policy.deployment", "policy.namespace"],
      { noPolicy: true },
    ],
    ["may not be in debug mode where only the first call allowed it", {}, ["mode.debug"], { allowDebug: true }, DEBUG],
    ["may be in debug mode where both calls allow it", { allowDebug: true }, [], { allowDebug: true }, DEBUG],
  ])("%s", async (_, how, fails, first, evidence) => expect(await again(how, first, evidence)).toEqual(fails));

  it("has no check of an image where the second call names none", async () => {
    const measurements = { 0: lab.measurements.pcr0 };
    const first = await verifyEvidence({ bootProofs: [whole.bootProof] }, { ...optionsOf(whole), measurements });
    expect(idsOf(first.report, "pass")).toContain("bind.image");
    const { report } = await verifyEvidence({ bootProofs: first.bootProofs }, optionsOf(whole));
    expect(report.checks.map(({ id }) => id)).not.toContain("bind.image");
    expect(report.claims!.bootProofs[0]!.image).not.toHaveProperty("givenPcrs");
  });

  it("keeps its other checks", async () => {
    const { bootProofs, report } = await verifyEvidence({ bootProofs: [whole.bootProof] }, optionsOf(whole));
    expect((await verifyEvidence({ bootProofs }, optionsOf(whole))).report).toEqual(report);
  });

  it("cannot be made by hand", async () => {
    const {
      bootProofs: [genuine],
    } = await verifyEvidence({ bootProofs: [whole.bootProof] }, optionsOf(whole));
    for (const forged of [
      { ...genuine },
      Object.create(genuine!) as object,
      structuredClone({ ...genuine, checks: [] }),
    ]) {
      const { report } = await verifyEvidence({ bootProofs: [forged] }, optionsOf(whole));
      expect(idsOf(report, "fail")).toEqual(["boot.decode"]);
    }
    const make = genuine!.constructor as new (...facts: unknown[]) => unknown;
    expect(() => new make({ ...genuine }, Symbol("verified"))).toThrow(TypeError);
  });
});

describe("too little to decide upon", () => {
  it("is not verified without a boot proof", async () => {
    await expect(verifyEvidence({ bootProofs: [] }, optionsOf(whole))).rejects.toThrow();
    const { report } = await verifyEvidence({ bootProofs: [], appProofs: whole.appProofs }, optionsOf(whole));
    expect([report.verdict, report.claims]).toEqual(["rejected", null]);
    expect(report.checks.find(({ id }) => id === "app.key")?.status).toBe("fail");
    expect(report.checks.find(({ id }) => id === "policy.deployment")?.status).toBe("skip");
  });

  it("is not verified without a decision about policy", async () => {
    const { now } = optionsOf(whole);
    await expect(verifyEvidence(given, { now } as VerifyOptions)).rejects.toThrow();
  });

  it.each([{ now: new Date(NaN) }, { validAt: new Date(NaN) }])(
    "is not verified at a time that is none: %o",
    async (how) => {
      await expect(verifyEvidence(given, optionsOf(whole, how))).rejects.toThrow();
    },
  );

  it("is what requireVerified refuses", async () => {
    const bad = forge({ alterDocument: { signature: () => new Uint8Array(96) } });
    const rejected = await verifyEvidence({ bootProofs: [bad.bootProof] }, optionsOf(bad));
    expect(() => requireVerified(rejected.report)).toThrow("cose.signature");
    const authentic = await verifyEvidence(given, optionsOf(whole, { noPolicy: true }));
    expect(() => requireVerified(authentic.report)).toThrow();
    expect(() => requireVerified(undefined as unknown as typeof authentic.report)).toThrow();
  });
});
