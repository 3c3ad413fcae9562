/** Attestation documents alone, of any Nitro enclave, without the rules of QOS. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import type { Report } from "../../src/report/report.js";
import { concatBytes } from "../../src/bytes.js";
import {
  AT,
  BEHIND,
  type Accepted,
  type Alterations,
  type Attack,
  JUST_BEHIND,
  type Judgement,
  after,
  certificate,
  document,
  field,
  flip,
  forge,
  handedBack,
  hex,
  idsOf,
  judged,
  lab,
  otherLab,
  pcr,
  pcrs,
  named,
} from "./support.js";
import { CHAIN } from "../../src/lab/pki.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";

const ZERO_PCR = new Uint8Array(48);
const GIVEN = { 0: lab.measurements.pcr0, 1: lab.measurements.pcr1, 2: lab.measurements.pcr2 };

/** The report. The document is returned as verified exactly where no check of it failed. */
async function judgeDocument(alterations: Alterations | undefined, how: Judgement): Promise<Report> {
  const answer = await judged(forge(alterations), { ...how, bare: true });
  expect(handedBack(answer)).toEqual([]);
  const failing = idsOf(answer.report, "fail").filter((id) => !id.startsWith("policy."));
  expect(answer.verified.get("boot[0]") === null).toBe(failing.length > 0);
  return answer.report;
}

const pcrsAlone: NonNullable<Judgement["deployments"]> = (all: JsonObject) => [{ kind: "nitro", pcrs: all["pcrs"]! }];
const keep = (...indexes: number[]): Alterations =>
  pcrs((map) => [...map.keys()].forEach((index) => indexes.includes(index) || map.delete(index)));

const accepted: Accepted[] = [
  ...named<Accepted>({
    "as it is": {},
    "user_data of no byte": { forge: field("user_data", new Uint8Array()) },
    "nonce of no byte": { forge: field("nonce", new Uint8Array()) },
    "public_key of no byte": { forge: field("public_key", new Uint8Array()) },
    "user_data, nonce and public_key null": {
      forge: document({ fields: (map) => map.set("user_data", null).set("nonce", null).set("public_key", null) }),
    },
    "user_data, nonce and public_key of 1024 bytes": {
      forge: document({
        fields: (map) =>
          map
            .set("user_data", new Uint8Array(1024))
            .set("nonce", new Uint8Array(1024))
            .set("public_key", new Uint8Array(1024)),
      }),
    },
    "a nonce": { forge: field("nonce", Uint8Array.of(1, 2, 3)) },
    "the nonce asked for": { forge: { nonce: Uint8Array.of(1, 2) }, judge: { nonce: Uint8Array.of(1, 2) } },
    "the image that was given": { judge: { measurements: GIVEN } },
    "PCR0 to 15": { forge: { generation: "legacy" } },
    "PCR0 to 16": { forge: { generation: "legacy", ...pcr(16, ZERO_PCR) } },
    "PCR0 to 2 alone": { forge: keep(0, 1, 2) },
    "of an enclave in its setup": { forge: { generation: "setup" } },
    "dated five minutes ahead": { judge: { now: JUST_BEHIND } },
    "a map of indefinite length": { forge: document({ indefinite: true }) },
    "an unknown key": { forge: field("extra", 1), warns: ["doc.structure"] },
    "debug mode that the caller allows": {
      forge: pcr(0, ZERO_PCR),
      judge: { allowDebug: true },
      warns: ["mode.debug"],
    },
  }),
];

const rejected: Attack[] = [
  ...named<Attack>({
    "a signature with a bit turned over": { forge: document({ signature: flip }), fails: ["cose.signature"] },
    "a byte after the end": {
      forge: document({ cose: (cose) => concatBytes(cose, Uint8Array.of(0)) }),
      fails: ["cose.structure"],
    },
    "another root": { judge: { anchorPem: certificatePem(otherLab.pki.rootCertificate) }, fails: ["chain.anchor"] },
    "a leaf that is over": {
      forge: certificate(CHAIN.leaf, () => ({ notBefore: after(-2), notAfter: after(-1) })),
      fails: ["chain.validity"],
    },
    "dated five minutes and a millisecond ahead": { judge: { now: BEHIND }, fails: ["doc.time"] },
    "another nonce than the one asked for": {
      forge: { nonce: Uint8Array.of(1, 2) },
      judge: { nonce: Uint8Array.of(1, 3) },
      fails: ["bind.nonce"],
    },
    "another image than the one that was given": {
      judge: { measurements: { ...GIVEN, 0: new Uint8Array(48).fill(7) } },
      fails: ["bind.image"],
    },
    "no PCR8, where a signed image was given": {
      forge: keep(0, 1, 2),
      judge: { measurements: { ...GIVEN, 8: new Uint8Array(48).fill(8) } },
      fails: ["bind.image"],
    },
    "user_data of 1025 bytes": { forge: field("user_data", new Uint8Array(1025)), fails: ["doc.structure"] },
    "user_data of 1025 bytes beside an unknown key": {
      forge: document({ fields: (map) => map.set("extra", 1).set("user_data", new Uint8Array(1025)) }),
      fails: ["doc.structure"],
    },
    "a debug enclave": {
      forge: pcrs((map) => map.set(0, ZERO_PCR).set(1, ZERO_PCR).set(2, ZERO_PCR)),
      fails: ["mode.debug"],
    },
    "PCR2 of zeros": { forge: pcr(2, ZERO_PCR), fails: ["mode.debug"] },
  }),
];

describe("a bare document is accepted", () => {
  it.each(accepted)("$name", async ({ forge: alterations, judge: judgement, warns = [] }) => {
    const report = await judgeDocument(alterations, { noPolicy: true, ...judgement });
    expect(report.checks.filter((check) => check.status === "fail")).toEqual([]);
    expect(report.verdict).toBe("authentic");
    expect(idsOf(report, "warn")).toEqual(["chain.anchor", ...warns].sort());
    expect(report.claims?.bootProofs[0]).toMatchObject({
      hardware: { documentTime: AT.toISOString() },
      image: { manifest: null, commitment: null, debug: warns.includes("mode.debug") },
    });
  });

  it("with unknown keys that are each named", async () => {
    const fields = document({ fields: (map) => map.set("extra", 1).set("more", 2) });
    const report = await judgeDocument(fields, { noPolicy: true });
    expect(report.checks.find(({ id }) => id === "doc.structure")!.detail).toContain("ignored: extra, more");
  });

  it("under a policy that pins its PCRs", async () => {
    const report = await judgeDocument(undefined, { deployments: pcrsAlone });
    expect(report.verdict).toBe("verified");
  });
});

describe("a bare document is rejected", () => {
  it.each(rejected)("$name", async ({ forge: alterations, judge: judgement, fails }) => {
    const report = await judgeDocument(alterations, { noPolicy: true, ...judgement });
    expect(idsOf(report, "fail")).toEqual([...fails].sort());
    expect(report.verdict).toBe("rejected");
    expect(report.claims).toBeNull();
  });

  it("with the length of a signature that is too short", async () => {
    const short = document({ signature: (signature) => signature.subarray(1) });
    const report = await judgeDocument(short, { noPolicy: true });
    expect(report.checks.find(({ id }) => id === "cose.signature")!.detail).toContain("95 bytes, expected 96");
  });

  it.each([
    [
      "other PCRs",
      (all: JsonObject) => [{ kind: "nitro", pcrs: { ...(all["pcrs"] as JsonObject), "0": "ff".repeat(48) } }],
      ["policy.pcrs"],
    ],
    [
      "a PCR that it has not",
      (all: JsonObject) => [{ kind: "nitro", pcrs: { ...(all["pcrs"] as JsonObject), "31": hex(ZERO_PCR) } }],
      ["policy.pcrs"],
    ],
    ["a QOS deployment, which no document is", (all: JsonObject) => [all], []],
  ] as const)("under a policy that pins %s", async (_, deployments, fails) => {
    const report = await judgeDocument({ generation: "legacy" }, { deployments: (all) => [...deployments(all)] });
    expect(idsOf(report, "fail")).toEqual(["policy.deployment", ...fails].sort());
    expect(report.verdict).toBe("rejected");
  });
});
