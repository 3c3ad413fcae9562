/** Recognition of entries by content. Malformed ones have a reason and never throw. */
import { describe, expect, it } from "vitest";
import { readResults, writeResults } from "../../src/run/answered.js";
import { MAX_ENTRY_BYTES, TOO_LONG_REASON, readEntry } from "../../src/run/entry.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { MAX_APP_PROOFS } from "../../src/decode/app-proof-limits.js";
import { packEvidence } from "../../src/bundle/pack.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { forge, lab } from "../attacks/support.js";
import { anyBytes, fc, mutated, runs } from "../support/property.js";
import { readVector } from "../support/vectors.js";
import { auditorOf, entry, judged, whole } from "./support.js";
import { DETAIL_FORMS, detailsOf, withoutLabels } from "../support/provisioning.js";

const { bootProof, appProofs, activity, document } = whole;
const [appProof] = appProofs;
const bundle = packEvidence({ bootProofs: [bootProof], appProofs });
const accepted = { verdict: "verified", failed: [], deployments: ["lab.1"] };

const KINDS: readonly (readonly [name: string, value: unknown])[] = [
  ["a boot proof", bootProof],
  ["a boot proof in its wrapper", { bootProof }],
  ["a boot proof in base64", toBase64(entry(bootProof))],
  ["a list of boot proofs", [bootProof, bootProof]],
  ["a wrapped list of boot proofs", { bootProofs: [bootProof] }],
  ["an app proof", appProof],
  ["an app proof in its wrapper", { appProof }],
  ["a list of app proofs", appProofs],
  ["a wrapped list of app proofs", { appProofs }],
  ["an activity", activity],
  ["an activity in its wrapper", { activity }],
  ["boot proofs with app proofs", { bootProofs: [bootProof], appProofs }],
  ["boot proofs with an empty list of app proofs", { bootProofs: [bootProof], appProofs: [] }],
  ["boot proofs with an activity", { bootProofs: [bootProof], activity }],
  ["app proofs with an activity", { appProofs, activity }],
  ["all three", { bootProofs: [bootProof], appProofs, activity }],
  ["a bundle", bundle],
];

describe("an entry", () => {
  it.each(KINDS)("is judged: %s", async (_, value) => {
    const auditor = await auditorOf({ bootProofs: [JSON.stringify(bootProof)] });
    expect(await judged(auditor, value)).toMatchObject(accepted);
  });

  it.each([
    ["bytes", document],
    ["base64", toUtf8(toBase64(document))],
    ["hex", toUtf8(toHex(document))],
  ])("is a bare attestation document in %s", async (_, bytes) => {
    const policy = labPolicy(whole.anchorPem, [
      { name: "any image of mine", kind: "nitro", pcrs: labDeployment(lab)["pcrs"]! },
    ]);
    const auditor = await auditorOf({ policy: parsePolicy(JSON.stringify(policy)) });
    expect(await judged(auditor, bytes)).toMatchObject({ ...accepted, deployments: ["any image of mine"] });
    expect((await judged(await auditorOf(), bytes)).verdict).toBe("rejected");
  });

  it.each(DETAIL_FORMS)("is provisioning details: %s", async (form) => {
    const setup = forge({ generation: "setup", payloads: [] });
    const pins = withoutLabels(labDeployment(lab));
    const policy = labPolicy(setup.anchorPem, [{ ...pins, commitment: "setup" }], { maxAge: "1h" });
    const auditor = await auditorOf({ policy: parsePolicy(JSON.stringify(policy)) });
    const details = detailsOf(setup.bootProof, form);
    for (const value of [details, { bootProof: details }, [details], { bootProofs: [details] }])
      expect(await judged(auditor, value)).toMatchObject(accepted);
    expect(await judged(auditor, detailsOf(bootProof, form))).toMatchObject({
      verdict: "rejected",
      failed: expect.arrayContaining(["bind.commitment"]),
    });
    const besides = await judged(auditor, { ...details, manifest_Envelope: {}, qosManifestB64: "" });
    expect(besides.verdict).toBe("malformed");
  });

  it("uses standing provisioning details that name no key only once they are verified", async () => {
    const legacy = forge({ generation: "legacy" });
    const details = JSON.stringify(detailsOf(legacy.bootProof, "query"));
    const pins = withoutLabels(labDeployment(lab));
    const policy = parsePolicy(JSON.stringify(labPolicy(legacy.anchorPem, [{ ...pins, commitment: "legacy" }])));
    expect(await judged(await auditorOf({ policy, bootProofs: [details] }), legacy.appProofs)).toMatchObject(accepted);
    const broken = details.replace('"attestationDocument":"', '"attestationDocument":"AAAA');
    const auditor = await auditorOf({ policy, bootProofs: [broken] });
    expect((await judged(auditor, legacy.appProofs)).verdict).toBe("rejected");
  });

  const WRONG: readonly (readonly [name: string, value: unknown, reason: RegExp])[] = [
    ["nothing", "", /^empty$/],
    ["white space", "  \t", /white space/],
    ["broken JSON", "{", /^json: .*line 1/],
    ["a member that is there twice", '{"activity":1,"activity":2}', /appears twice/],
    ["text after the value", `${JSON.stringify(bootProof)} {}`, /text after the end/],
    ["another JSON", { some: "thing" }, /"some": no kind of evidence has these members/],
    ["a JSON scalar", "7", /./],
    ["an empty list", [], /empty JSON list/],
    ["an unknown member beside evidence", { bootProofs: [bootProof], appproofs: [] }, /^appproofs: unknown member$/],
    ["an unknown member beside an activity", { activity, bootproofs: [] }, /^bootproofs: unknown member$/],
    ["an empty list of boot proofs", { bootProofs: [], appProofs }, /^bootProofs: empty/],
    ["an empty list of app proofs alone", { appProofs: [] }, /contains no evidence/],
    ["an activity that is null", { bootProofs: [bootProof], activity: null }, /^activity: null/],
    ["app proofs that are null", { bootProofs: [bootProof], appProofs: null }, /^appProofs: null/],
    ["boot proofs that are null", { bootProofs: null, appProofs }, /^bootProofs: null/],
    [
      "boot proofs that are no list",
      { bootProofs: bootProof, appProofs },
      /^bootProofs: expected an array, got an object/,
    ],
    [
      "more boot proofs than are judged",
      Array.from({ length: 257 }, () => bootProof),
      /257 boot proofs, expected at most 256/,
    ],
    ["more app proofs", Array.from({ length: MAX_APP_PROOFS + 1 }, () => appProof), /at most 2048/],
    [
      "more with the activity's",
      { appProofs: Array.from({ length: MAX_APP_PROOFS }, () => appProof), activity },
      /2048/,
    ],
    ["a bundle of another version", { ...bundle, bundle: "bootproof-bundle/9" }, /^bundle: bundle: /],
    ["a policy", labPolicy(whole.anchorPem, [labDeployment(lab)]), /^no evidence: a policy$/],
    ["a certificate", whole.anchorPem, /^no evidence: a certificate$/],
    ["a report", { format: "bootproof-report/1" }, /^no evidence: a report/],
    ["an API key", { publicKey: "a", privateKey: "b" }, /^no evidence: an API key file: it is a secret/],
    ["a request", { type: "ACTIVITY_TYPE_X", parameters: {} }, /^no evidence: a request: /],
    ["a page", "<!doctype html>", /HTML/],
    ["what steers a terminal", { "\u001b[2J": 1 }, /^(?!.*\u001b)/],
  ];
  it.each(WRONG)("is malformed, with a reason: %s", async (_, value, reason) => {
    const { verdict, failed, ...rest } = await judged(await auditorOf(), entry(value));
    expect({ verdict, failed }).toEqual({ verdict: "malformed", failed: [] });
    expect(rest.reason).toMatch(reason);
    expect(rest.reason!.length).toBeLessThan(400);
  });

  it("is malformed: a published release", async () => {
    const reason = "no evidence: a published release: bootproof pin --release makes a policy of it";
    expect(await judged(await auditorOf(), readVector("releases/r2025.9.3.yaml"))).toMatchObject({ reason });
  });

  it("has a maximal size", async () => {
    const long = new Uint8Array(MAX_ENTRY_BYTES + 1).fill(0x7d).fill(0x7b, 0, 2);
    expect(readEntry(long)).toEqual({ kind: "malformed", reason: TOO_LONG_REASON });
    expect(readEntry(long.subarray(1))).not.toEqual({ kind: "malformed", reason: TOO_LONG_REASON });
  });

  it("is not read by a regular expression as a whole, which could overflow its stack", () => {
    const whole: number[] = [];
    const { exec } = RegExp.prototype;
    RegExp.prototype.exec = function (text) {
      if (String(text).length > 100_000) whole.push(text.length);
      return exec.call(this, text);
    };
    try {
      for (const text of [" ", "ab", "Zm9v", "a\n", "a: b\r\n", "-", "é"])
        readEntry(toUtf8(text.repeat(120_000 / text.length)));
      expect(whole).toEqual([]);
      expect(/a/.test("b".repeat(120_000))).toBe(false);
      expect(whole).toEqual([120_000]);
    } finally {
      RegExp.prototype.exec = exec;
    }
  });

  it("never throws for any bytes", () => {
    const kinds = ["evidence", "document", "bundle", "malformed"];
    fc.assert(fc.property(anyBytes(), (bytes) => kinds.includes(readEntry(bytes).kind)));
    fc.assert(fc.property(fc.json().map(toUtf8), (bytes) => kinds.includes(readEntry(bytes).kind)));
  });

  it("has a result after any change", async () => {
    const auditor = await auditorOf({ bootProofs: [JSON.stringify(bootProof)] });
    const original = entry({ bootProofs: [bootProof], appProofs });
    await fc.assert(
      fc.asyncProperty(fc.oneof(mutated(original), mutated(entry(appProof)), mutated(entry(bundle))), async (bytes) => {
        const result = await auditor.judge(bytes);
        expect(readResults(writeResults([result]), 1)).toEqual([result]);
      }),
      { numRuns: runs(100) },
    );
  });
});
