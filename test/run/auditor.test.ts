/** An auditor returns the same results as verification, whatever it verified before. */
import { describe, expect, it } from "vitest";
import { Auditor } from "../../src/run/auditor.js";
import { isAccepted } from "../../src/report/accepted.js";
import { type AuditOptions, auditSetting, policyDigest, settingDigest } from "../../src/run/setting.js";
import type { AppraisedPiece } from "../../src/appraise/appraisal.js";
import { NO_POLICY_ANY_ENCLAVE, judgeEvidence, verifyEvidence } from "../../src/bootproof.js";
import type { Check } from "../../src/checks.js";
import { packBundle } from "../../src/bundle/pack.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type Setting, settingOf } from "../../src/inputs.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { ACCEPTED } from "../attacks/accepted.table.js";
import { APP_PROOF_ATTACKS } from "../attacks/app-proof.table.js";
import { BOOT_PROOF_ATTACKS } from "../attacks/boot-proof.table.js";
import { CHAIN_ATTACKS } from "../attacks/chain.table.js";
import { DOCUMENT_ATTACKS } from "../attacks/document.table.js";
import { POLICY_ATTACKS } from "../attacks/policy.table.js";
import { RELEASE_ACCEPTED, RELEASE_ATTACKS } from "../attacks/github-release.table.js";
import { PROVENANCE_ACCEPTED, PROVENANCE_ATTACKS } from "../attacks/provenance.table.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { AT, type Attack, NOW, after, forge, lab, manifest, optionsOf, put } from "../attacks/support.js";
import { bootProofVectors, readVectorJson } from "../support/vectors.js";
import { Remembered } from "../../src/verify/approved-manifests.js";
import type { CheckedBootProof } from "../../src/verify/boot-proof.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { misspelt } from "../../src/decode/evidence-members.js";
import { faultText } from "../../src/errors.js";
import { auditorOf, entry, expected, judged, whole } from "./support.js";

const verifier = await sigstoreVerifier();

/** The rows that are judged by what a setting has. */
const ROWS = [
  ...DOCUMENT_ATTACKS,
  ...CHAIN_ATTACKS,
  ...BOOT_PROOF_ATTACKS,
  ...APP_PROOF_ATTACKS,
  ...POLICY_ATTACKS,
  ...PROVENANCE_ATTACKS,
  ...ACCEPTED,
  ...PROVENANCE_ACCEPTED,
  ...RELEASE_ATTACKS,
  ...RELEASE_ACCEPTED,
].filter(({ judge = {} }: Pick<Attack, "judge">) => {
  return !judge.bare && !judge.ephemeralKey && !judge.nonce && !judge.measurements && !judge.expected;
});

describe("an auditor and a verification", () => {
  // One for all rows of a setting.
  const auditors = new Map<string, Auditor>();

  it.each(ROWS)("agree on $name", async ({ forge: alterations, judge }) => {
    const evidence = forge(alterations);
    const given = judge?.given?.(evidence) ?? { bootProofs: [evidence.bootProof], appProofs: evidence.appProofs };
    const text = JSON.stringify(given);
    // These are malformed in an entry, need the setting's boot proofs, or revocation lists, which audits do not take.
    if (given.bootProofs.length === 0 || given.activity === null || judge?.crls !== undefined) return;
    const { policy, now, at, trustAnchors, allowDebug, maxAgeMs } = optionsOf(evidence, judge);
    const loosened = { ...(trustAnchors && { trustAnchors }), ...(allowDebug !== undefined && { allowDebug }) };
    const more = { ...loosened, ...(maxAgeMs !== undefined && { maxAgeMs }) };
    const setting = auditSetting({ policy, now, ...(at && { at }), ...more });
    const key = `${setting.now} ${await settingDigest(setting)}`;
    const auditor = auditors.get(key) ?? (await Auditor.of(setting, verifier));
    auditors.set(key, auditor);
    const parsed = JSON.parse(text) as typeof given;
    const { report } = await verifyEvidence(parsed, { ...optionsOf(evidence, judge), bootProofsOnly: false });
    const answer = await judged(auditor, text);
    // An entry says how bytes are spelled that a verification only rejects.
    const spelled = misspelt(parsed);
    const reason = spelled.length > 0 ? faultText(spelled) : null;
    expect(answer).toEqual(
      reason === null ? expected(report) : { verdict: "malformed", failed: [], warnings: [], reason },
    );
    expect(await judged(auditor, text), "again").toEqual(answer);
  });

  it("are compared on many rows with few auditors", () => {
    expect(ROWS.length).toBeGreaterThan(150);
    expect(auditors.size).toBeLessThan(ROWS.length / 2);
  });

  it("agree on genuine evidence with separate app proofs", async () => {
    for (const { bootProofs, appProofs, now } of bootProofVectors()) {
      const boots = bootProofs.map((file) => readVectorJson(file));
      const options = { policy: NO_POLICY_ANY_ENCLAVE, now: new Date(now) } as const;
      const auditor = await auditorOf({ ...options, bootProofs: boots.map((boot) => JSON.stringify(boot)) });
      for (const boot of boots) {
        const { report } = await verifyEvidence({ bootProofs: [boot] }, options);
        expect(await judged(auditor, boot)).toEqual(expected(report));
      }
      for (const app of appProofs.map((file) => readVectorJson(file))) {
        const answers = await Promise.all(
          boots.map((boot) => verifyEvidence({ bootProofs: [boot], appProofs: [app] }, options)),
        );
        const accepted = answers.some(({ report }) => report.verdict === "authentic");
        expect((await judged(auditor, app)).verdict).toBe(accepted ? "authentic" : "rejected");
      }
    }
  });
});

const boot = JSON.stringify(whole.bootProof);
const app = whole.appProofs[0]!;
const otherKey = generateQosKeyPair();
const other = forge({ ephemeralKey: otherKey });

describe("app proofs without boot proofs", () => {
  it("are rejected with a reason without a boot proof of their key", async () => {
    const reason = expect.stringContaining("neither the entry nor the setting has a boot proof") as string;
    for (const value of [app, { appProofs: [app] }, whole.activity])
      expect(await judged(await auditorOf(), value)).toMatchObject({
        verdict: "rejected",
        failed: ["app.key"],
        reason,
      });
    const auditor = await auditorOf({ bootProofs: [JSON.stringify(other.bootProof)] });
    expect(await judged(auditor, app)).toMatchObject({ verdict: "rejected", failed: ["app.key"], reason });
  });

  it("are verified under the boot proof of their key, whatever the others are", async () => {
    const broken = JSON.stringify({ ...other.bootProof, qosManifestB64: "AAAA" });
    const auditor = await auditorOf({ bootProofs: [broken, boot] });
    expect(auditor.bootProofs.map(({ verdict }) => verdict)).toEqual(["rejected", "verified"]);
    expect((await judged(auditor, app)).verdict).toBe("verified");
    const result = await judged(auditor, other.appProofs[0]);
    expect(result).toMatchObject({ verdict: "rejected" });
    expect(result.failed).toEqual(expect.arrayContaining(["manifest.decode"]));
  });

  it("are verified under an accepted boot proof of their key, in any position", async () => {
    const stale = JSON.stringify(forge({ at: after(-86_400) }).bootProof);
    const policy = parsePolicy(JSON.stringify(labPolicy(whole.anchorPem, [labDeployment(lab)], { maxAge: "1h" })));
    const auditor = await auditorOf({ policy, bootProofs: [JSON.stringify([JSON.parse(stale), JSON.parse(boot)])] });
    expect(auditor.bootProofs.map(({ verdict, stale: old }) => [verdict, old])).toEqual([
      ["rejected", true],
      ["verified", undefined],
    ]);
    expect((await judged(auditor, app)).verdict).toBe("verified");
  });

  it("use only an entry's own boot proofs if it has any", async () => {
    const auditor = await auditorOf({ bootProofs: [boot] });
    const entry = { bootProofs: [other.bootProof], appProofs: [app] };
    expect(await judged(auditor, entry)).toMatchObject({ verdict: "rejected", failed: ["app.key"] });
  });
});

describe("rules of a policy about app proofs", () => {
  const required = { appProofs: { required: true } };
  const policy = parsePolicy(JSON.stringify(labPolicy(whole.anchorPem, [labDeployment(lab)], required)));

  it("are not applied to boot proofs alone, and the result lists them", async () => {
    const auditor = await auditorOf({ policy });
    for (const alone of [whole.bootProof, { bootProof: whole.bootProof }, [whole.bootProof]])
      expect(await judged(auditor, alone)).toMatchObject({ verdict: "verified", notApplied: ["appProofs.required"] });
  });

  it("are applied to every set of evidence", async () => {
    const auditor = await auditorOf({ policy });
    const own = labPolicy(whole.anchorPem, [labDeployment(lab)]);
    const { bundle } = await packBundle({ bootProofs: [whole.bootProof] }, { policy: own as never, now: NOW });
    const bootProofs = [whole.bootProof];
    for (const set of [{ bootProofs }, { bootProofs, appProofs: [] }, bundle])
      expect(await judged(auditor, set)).toMatchObject({ verdict: "rejected", failed: ["policy.app-proof"] });
  });
});

describe("a bundle", () => {
  it("is judged by the caller's policy, and not by its own", async () => {
    const policy = labPolicy(whole.anchorPem, [labDeployment(lab)]);
    const { bundle } = await packBundle({ bootProofs: [whole.bootProof] }, { policy: policy as never, now: NOW });
    expect((await judged(await auditorOf(), bundle)).verdict).toBe("verified");
    const another = { ...labDeployment(lab), namespace: "another" };
    const strict = parsePolicy(JSON.stringify(labPolicy(whole.anchorPem, [another])));
    const result = await judged(await auditorOf({ policy: strict }), bundle);
    expect(result).toMatchObject({ verdict: "rejected", failed: ["policy.deployment", "policy.namespace"] });
  });
});

describe("a cached result", () => {
  it("is not used for another document of the same key, or other labels", async () => {
    const auditor = await auditorOf();
    expect((await judged(auditor, whole.bootProof)).verdict).toBe("verified");
    for (const [path, id] of [
      ["enclaveApp", "policy.labels"],
      ["qosManifestVersion", "manifest.decode"],
    ] as const) {
      const altered = put(path, path === "enclaveApp" ? "another" : "v1")(whole.bootProof);
      const result = await judged(auditor, altered);
      expect(result.verdict, path).toBe("rejected");
      expect(result.failed, path).toContain(id);
      expect((await judged(auditor, { bootProofs: [altered], appProofs: [app] })).verdict).toBe("rejected");
    }
    const unsigned = { ...whole.bootProof, cloudAttestationDocB64: other.bootProof["cloudAttestationDocB64"]! };
    expect((await judged(auditor, unsigned)).failed).toContain("bind.key");
    expect((await judged(auditor, whole.bootProof)).verdict).toBe("verified");
  });

  it("is not used for another number in the boot proof", async () => {
    const text = JSON.stringify(whole.bootProof);
    const createdAt = (value: string): string => text.replace(/"createdAt":\{[^}]*\}/, `"createdAt":${value}`);
    const values = ["null", "1e999", "-1e999", "0", "-0", '"null"'];
    const alone = await Promise.all(values.map(async (value) => judged(await auditorOf(), createdAt(value))));
    expect(alone.map(({ verdict }) => verdict)).toEqual([
      ...["verified", "malformed", "malformed", "rejected", "rejected", "rejected"],
    ]);
    const auditor = await auditorOf();
    for (const [index, value] of [...values.entries(), ...[...values.entries()].reverse()])
      expect(await judged(auditor, createdAt(value)), value).toEqual(alone[index]);
  });

  it("does not carry an approval to another manifest, or to other approvals", async () => {
    const auditor = await auditorOf();
    await judged(auditor, whole.bootProof);
    for (const row of BOOT_PROOF_ATTACKS.filter(({ forge: made, judge }) => made?.alterManifest && !judge)) {
      const evidence = forge(row.forge);
      const result = await judged(auditor, evidence.bootProof);
      expect(result.verdict, row.name).toBe("rejected");
      expect(await judged(await auditorOf(), evidence.bootProof), row.name).toEqual(result);
    }
  });
});

/** One memory for settings that differ, which an auditor has not: each must be judged as without it. */
describe("what is remembered of a boot proof under a setting", () => {
  const policyOf = (rest: JsonObject, pins: JsonObject = {}): Setting["policy"] =>
    settingOf({
      policy: parsePolicy(labPolicy(whole.anchorPem, [{ ...labDeployment(lab), ...pins }], rest)),
      now: NOW,
    }).policy;
  const base = settingOf({ policy: optionsOf(whole).policy, now: NOW, allowDebug: true });
  const young = { ...base, policy: policyOf({ maxAge: "10m" }) };
  const long = after(1e9);
  const under = (context: Partial<Setting["context"]>, setting: Setting = base): Setting => ({
    ...setting,
    context: { ...setting.context, ...context },
  });
  const debugged = forge(manifest(({ pivot }) => ({ pivot: { ...pivot, debugMode: true } })));
  const rows: readonly (readonly [string, string, Setting, Setting])[] = [
    ["policy", "policy.namespace", base, { ...base, policy: policyOf({}, { namespace: "another" }) }],
    ["present, for ages", "policy.age", young, under({ now: after(3600) }, young)],
    ["anchors", "chain.anchor", base, under({ trustAnchors: [] })],
    ["validation time", "chain.validity", base, under({ at: long })],
    ["present, for certificates", "chain.validity", under({ at: "now" }), under({ at: "now", now: long })],
    ["nonce", "bind.nonce", base, under({ nonce: new Uint8Array(32) })],
    ["image", "bind.image", base, under({ measurements: new Map([[0, new Uint8Array(48).fill(1)]]) })],
    ["wanted key", "bind.key", base, { ...base, wantedKeys: [{ what: "another", key: new Uint8Array(130) }] }],
    ["debug mode", "mode.debug", base, under({ allowDebug: false })],
  ];

  it.each(rows)("is not used for another %s", async (name, failed, before, changed) => {
    const { bootProof, appProofs } = name === "debug mode" ? debugged : whole;
    const verified = (await judgeEvidence({ bootProofs: [bootProof] }, base)).bootProofs[0];
    expect(verified).not.toBeNull();
    const appraised = new Remembered<AppraisedPiece>();
    const rechecks = new Remembered<CheckedBootProof>();
    const withMemory = (setting: Setting): Setting => ({ ...under({ rechecks }, setting), appraised });
    const checksOf = async (setting: Setting, ...first: unknown[]): Promise<readonly Check[]> =>
      (await judgeEvidence({ bootProofs: [...first, verified], appProofs }, setting)).checks;
    for (const setting of [before, before, changed, before])
      expect(await checksOf(withMemory(setting))).toEqual(await checksOf(setting));
    const failures = (await checksOf(withMemory(changed))).filter(({ status }) => status === "fail");
    expect(failures.map(({ id }) => id)).toContain(failed);
    // Its place is in every check.
    expect(await checksOf(withMemory(before), other.bootProof)).toEqual(await checksOf(before, other.bootProof));
  });
});

describe("a setting", () => {
  const { policy }: Pick<AuditOptions, "policy"> = optionsOf(whole);

  it("is the same after JSON and after a clone, and the present is not in the digest of its policy", async () => {
    const base: AuditOptions = { policy, now: NOW, bootProofs: [boot] };
    const setting = auditSetting(base);
    expect(JSON.parse(JSON.stringify(setting))).toEqual(setting);
    const auditor = await Auditor.of(structuredClone(setting));
    expect((await judged(auditor, app)).verdict).toBe("verified");
    expect(await policyDigest(auditSetting({ ...base, now: AT }))).toBe(await policyDigest(setting));
  });

  it("with strict acceptance accepts no entry with a warning, and says why in its line", async () => {
    // The certificates lead to another root than AWS's.
    const [standard, strict] = [
      await judged(await Auditor.of(auditSetting({ policy, now: NOW, bootProofs: [boot] })), app),
      await judged(await Auditor.of(auditSetting({ policy, now: NOW, bootProofs: [boot], acceptance: "strict" })), app),
    ];
    expect([isAccepted(standard), "refusedFor" in standard]).toEqual([true, false]);
    expect([isAccepted(strict), strict.verdict, strict.failed]).toEqual([false, "verified", []]);
    expect(strict.refusedFor!.join()).toContain("not to AWS");
  });

  it("has the certificates of the files that its policy names", async () => {
    const file: JsonObject = {
      ...labPolicy(whole.anchorPem, [labDeployment(lab)]),
      trustAnchors: [{ file: "lab.pem" }],
    };
    const named = parsePolicy(JSON.stringify(file), { readFile: () => whole.anchorPem });
    const auditor = await auditorOf({ policy: named });
    expect((await judged(auditor, whole.bootProof)).verdict).toBe("verified");
  });

  it("is refused with an invalid boot proof", async () => {
    await expect(auditorOf({ bootProofs: ["{"] })).rejects.toThrow(/malformed json/);
    await expect(auditorOf({ bootProofs: ["[]"] })).rejects.toThrow(/the list is empty/);
  });
});

describe("a line", () => {
  it("comes with the documents' times beside it", async () => {
    const later = forge({ at: after(1) });
    const result = await (await auditorOf()).judge(entry([later.bootProof, whole.bootProof]));
    expect(result).toMatchObject({ documentTimes: [AT.toISOString(), after(1).toISOString()] });
  });
});
