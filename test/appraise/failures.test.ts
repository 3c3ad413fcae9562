/** What a failure says beside its detail: what to do, which piece it is about, and whether age is all that is wrong. */
import { describe, expect, it } from "vitest";
import type { Check, CheckId } from "../../src/checks.js";
import { CHECK_ADVICE, NamedEvidence, renderJson, requireVerified } from "../../src/index.js";
import { customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { labDeployment } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import type { Report } from "../../src/report/report.js";
import {
  type Judgement,
  NOW,
  after,
  forge,
  idsOf,
  judge,
  judged,
  lab,
  manifest,
  pcrs,
  put,
} from "../attacks/support.js";

const live = forge();
const all = labDeployment(lab);
const OTHER = "ee".repeat(48);

function checkOf(report: Report, id: CheckId): Check {
  return report.checks.find((check) => check.id === id)!;
}

describe("the advice on PCRs", () => {
  const advice = async (values: Record<string, string>): Promise<string> => {
    const deployments = (): object[] => [{ ...all, pcrs: values }];
    const report = await judge(live, { deployments: deployments as Judgement["deployments"] & object });
    return checkOf(report, "policy.pcrs").advice!;
  };
  const own = all["pcrs"] as Record<string, string>;

  it.each([
    ["of the image", { ...own, "0": OTHER, "2": OTHER }, /^PCR0, PCR2: the enclave image differs [^.]*release[^.]*\.$/],
    ["of the role", { ...own, "3": OTHER }, /^PCR3: [^.]*role[^.]*AWS account[^.]*\. The image [^.]* is as pinned\.$/],
    ["of the role, the image not pinned", { "0": own["0"]!, "3": OTHER }, /^PCR3: [^.]*role[^.]*\.$/],
    ["of the instance", { ...own, "4": OTHER }, /^PCR4: the instance differs [^.]*\. The image .* as pinned\.$/],
    [
      "of the certificate",
      { ...own, "8": OTHER },
      /^PCR8: [^.]*certificate that signed the image differs [^.]*\. The image/,
    ],
    [
      "of what runs inside",
      { ...own, "16": OTHER, "20": OTHER },
      /^PCR16, PCR20: what the software inside measured [^.]*\. The image/,
    ],
    ["of several", { ...own, "1": OTHER, "3": OTHER, "8": OTHER }, /^PCR1: [^.]*\. PCR3: [^.]*\. PCR8: [^.]*\.$/],
  ] as [string, Record<string, string>, RegExp][])("%s", async (_, values, words) => {
    expect(await advice(values)).toMatch(words);
  });

  it("that differ from the manifest is to report it", async () => {
    const role = await judge(forge(pcrs((values) => void values.set(3, new Uint8Array(48).fill(7)))));
    expect(checkOf(role, "bind.pcrs").advice).toMatch(/^PCR3: [^.]*role[^.]*manifest; report it\. The image /);
    const image = await judge(forge(pcrs((values) => void values.set(0, new Uint8Array(48).fill(7)))));
    expect(checkOf(image, "bind.pcrs").advice).toMatch(/^PCR0: the enclave image differs [^.]*; report it\.$/);
  });
});

describe("the advice", () => {
  it("on a pin is its own, and that on the deployment is the same for one pin and for several", async () => {
    const under = (pins: object): Promise<Report> =>
      judge(live, { deployments: (() => [{ ...all, ...pins }]) as Judgement["deployments"] & object });
    const one = await under({ pivotHash: "ee".repeat(32) });
    expect(checkOf(one, "policy.pivot").advice).toBe(CHECK_ADVICE["policy.pivot"]);
    const two = await under({ pivotHash: "ee".repeat(32), pivotArgs: [] });
    expect(checkOf(two, "policy.deployment").advice).toBe(checkOf(one, "policy.deployment").advice);
    const set = all["manifestSet"] as { members: string[] };
    const threshold = await under({ manifestSet: { ...set, threshold: 3 } });
    expect(checkOf(threshold, "policy.manifest-set").advice).toMatch(
      /^The set has the same members, but its threshold is lower/,
    );
  });

  it.each([
    ["bind.nonce", {}, { nonce: new Uint8Array(8) }, /^The document was requested without a nonce/],
    [
      "bind.nonce",
      { nonce: new Uint8Array(8) },
      {},
      /^The document was requested with a nonce: pass it with --nonce if it is yours/,
    ],
    ["app.time", { payloads: [policyOutcomePayload(after(4000), "x")] }, {}, /^Check this machine's clock/],
    [
      "bind.key",
      { bootProof: put("ephemeralPublicKeyHex", `04${"ab".repeat(129)}`) },
      {},
      /^The service names a key that its own document does not attest/,
    ],
    ["doc.time", {}, { now: after(-600) }, /^Check this machine's clock \(or --now\)/],
    ["policy.age", {}, { policy: { maxAge: "1m" } }, /verify --app NAME/],
  ] as [CheckId, Parameters<typeof forge>[0], Judgement, RegExp][])(
    "fits why %s failed (%#)",
    async (id, how, by, words) => {
      const report = await judge(forge(how), by);
      const check = checkOf(report, id);
      expect(check.status).toBe("fail");
      expect(check.advice).toMatch(words);
    },
  );
});

describe("a rejection is stale", () => {
  const address = forge();
  const old = { policy: { maxAge: "1m" } };
  const otherHash = manifest(({ pivot }) => ({ pivot: { ...pivot, hash: new Uint8Array(32).fill(1) } }));

  it.each([
    ["where the boot proof alone is too old", address, old],
    ["where an app proof is", address, { policy: { appProofs: { maxAge: "1m" } } }],
    ["where both are", address, { policy: { maxAge: "1m", appProofs: { maxAge: "1m" } } }],
  ])("%s", async (_, evidence, how) => {
    const report = await judge(evidence, how);
    expect(report).toMatchObject({ verdict: "rejected", stale: true, claims: null });
    for (const check of report.checks) expect(check.stale).toBe(check.status === "fail" ? true : undefined);
    expect((JSON.parse(renderJson(report)) as Report).stale).toBe(true);
    expect(() => {
      requireVerified(report);
    }).toThrow(/^rejected, stale: the evidence is genuine, but older than the policy allows: /);
  });

  it.each([
    ["where nothing failed", address, {}],
    ["where something else failed too", forge(otherHash), old],
    ["where the document is forged", forge({ alterDocument: { signature: () => new Uint8Array(96) } }), old],
    ["where the boot proof is from the future", address, { ...old, now: after(-600) }],
    [
      "where an app proof is of a type that is not allowed too",
      address,
      { policy: { appProofs: { maxAge: "1m", types: ["OTHER"] } } },
    ],
    [
      "where a type is not allowed, and the boot proof is old",
      address,
      { policy: { maxAge: "1m", appProofs: { types: ["OTHER"] } } },
    ],
    [
      "where one app proof is old and another of a wrong type",
      forge({ payloads: [policyOutcomePayload(after(60), "x"), customPayload(after(299), "LAB")] }),
      { policy: { appProofs: { maxAge: "1m", types: ["APP_PROOF_TYPE_POLICY_OUTCOME"] } } },
    ],
    ["where a decision is demanded too", address, { policy: { appProofs: { maxAge: "1m", decision: true } } }],
    ["where an app proof is forged", forge({ alterAppProof: { signature: () => new Uint8Array(64) } }), old],
  ] as [string, typeof live, Judgement][])("not %s", async (_, evidence, how) => {
    const report = await judge(evidence, how);
    expect(report.stale).toBe(false);
    if (report.verdict !== "rejected") return;
    expect(() => {
      requireVerified(report);
    }).toThrow(/^rejected: /);
  });

  it("not where one of two boot proofs is forged", async () => {
    const forged = forge({
      ephemeralKey: generateQosKeyPair(),
      alterDocument: { signature: () => new Uint8Array(96) },
    });
    const report = await judge(live, { ...old, given: () => ({ bootProofs: [live.bootProof, forged.bootProof] }) });
    expect(idsOf(report, "fail")).toContain("policy.age");
    expect(report.stale).toBe(false);
  });
});

describe("checks name the piece that they are about", () => {
  const other = forge({ ephemeralKey: generateQosKeyPair() });
  const given: Judgement["given"] = () => ({
    bootProofs: [new NamedEvidence("one.json", live.bootProof), new NamedEvidence("two.json", other.bootProof)],
    appProofs: [live.appProofs[0], new NamedEvidence("my proof.json", other.appProofs[0])],
  });

  it("by the caller's name, those of the policy included", async () => {
    const { checks } = await judge(live, { given });
    const names = { "boot[0]": "one.json", "boot[1]": "two.json", "app[1]": "my proof.json" } as Record<string, string>;
    for (const { subject, about, name } of checks) expect(name).toBe(names[about ?? subject]);
    const abouts = checks.filter(({ id }) => id === "policy.age").map(({ subject, about }) => [subject, about]);
    expect(abouts).toEqual([
      ["policy", "boot[0]"],
      ["policy", "boot[1]"],
    ]);
    expect(checkOf({ checks } as unknown as Report, "policy.app-proof").about).toBeUndefined();
  });

  it("and the faults of app proofs say which one it is", async () => {
    const report = await judge(live, { given, policy: { appProofs: { maxAge: "1m" } } });
    expect(checkOf(report, "policy.app-proof").detail).toMatch(
      /^app\[0\]: of type \S+, is 4m old, at most 1m allowed; app\[1\] = "my proof\.json": of type/,
    );
    expect(() => {
      requireVerified(report);
    }).toThrow(/: policy policy\.app-proof: app\[0\]: of type/);
    const aged = await judge(live, { given, policy: { maxAge: "1m" } });
    expect(() => {
      requireVerified(aged);
    }).toThrow(/: boot\[0\] = one\.json policy\.age: .*; boot\[1\] = two\.json policy\.age: /);
  });
});

it("what passed carries its value whole", async () => {
  const { report } = await judged(live, {
    now: NOW,
    deployments: ((pins: object) => [pins]) as Judgement["deployments"] & object,
  });
  const value = (id: CheckId): string | undefined => checkOf(report, id).actual;
  const { hardware, image } = report.claims!.bootProofs[0]!;
  expect(value("policy.pcrs")).toBe([0, 1, 2, 3].map((index) => `PCR${index} ${hardware.pcrs[index]!}`).join("\n"));
  expect(value("bind.pcrs")).toBe(value("policy.pcrs"));
  expect(value("bind.key")).toBe(hardware.publicKey);
  expect(value("bind.user-data")).toBe(image.manifest!.hash);
  expect(value("policy.pivot")).toBe(image.manifest!.pivotHash);
  expect(value("policy.quorum-key")).toBe(image.manifest!.quorumKey);
  expect(value("policy.manifest-set")).toMatch(/^threshold 2\n(?:[0-9a-f]{260}\n?){3}$/);
  expect(value("cose.signature")).toBeUndefined();
});
