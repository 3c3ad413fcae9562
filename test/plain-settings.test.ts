/** Policies and options as plain data: what is written is read again as the same. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../src/appraise/policy.js";
import { toUtf8 } from "../src/bytes.js";
import { type AuditSetting, auditSetting, policyDigest, settingDigest } from "../src/run/setting.js";
import { verifyEvidence } from "../src/bootproof.js";
import { NO_POLICY_ANY_ENCLAVE, NamedEvidence, type VerifyOptions, settingOf } from "../src/inputs.js";
import { labDeployment, labPolicy } from "../src/lab/forge.js";
import {
  type SettingParts,
  anchorFileNames,
  verifyOptionsOf,
  parsePlainPolicy,
  pinsProvenance,
  plainOptions,
  plainPolicy,
  settingParts,
} from "../src/plain-settings.js";
import { type SignedPolicy, type SignedPolicyState, openSignedPolicy } from "../src/signed-policy/index.js";
import { SignatureCache } from "../src/verify/signature-cache.js";
import { parseTrustAnchor } from "../src/verify/trust-anchor.js";
import { NOW, forge, lab } from "./attacks/support.js";
import { faultsOf } from "./support/faults.js";
import { TestFeed, newSigner, payloadIn, sha256Hex } from "./support/signed-policies.js";

type Setting = Parameters<typeof settingParts>[0];
const { anchorPem } = forge();
const FILES = ["roots/a.pem", "__proto__", "C:\\b.pem"];
const text = JSON.stringify({
  ...labPolicy(anchorPem, [labDeployment(lab)]),
  trustAnchors: [{ file: FILES[0] }, "aws-nitro-root-g1", ...FILES.slice(1).map((file) => ({ file }))],
});
const policy = parsePolicy(text, { readFile: () => `secret\n${anchorPem}` });

describe("a policy that names files", () => {
  it("is read again as the same, also from JSON, without other content of the files", () => {
    const plain = plainPolicy(policy);
    expect(Object.keys(plain.anchors!)).toEqual(FILES);
    expect(JSON.stringify(plain)).not.toContain("secret");
    for (const one of [plain, JSON.parse(JSON.stringify(plain)) as typeof plain]) {
      expect(parsePlainPolicy(one)).toEqual(policy);
      expect(plainPolicy(parsePlainPolicy(one))).toEqual(plain);
    }
  });

  it.each([{}, { anchors: {} }, { anchors: Object.create({ [FILES[0]!]: anchorPem }) as Record<string, string> }])(
    "is refused without them",
    (anchors) => {
      expect(faultsOf(() => parsePlainPolicy({ ...plainPolicy(policy), anchors: {}, ...anchors }))).toContain(
        "trustAnchors[0]: roots/a.pem could not be read: not among the files that were given",
      );
    },
  );

  it("has their names, whatever else is wrong with it", () => {
    const wrong = '{"trustAnchors":[{"file":"a"},"b",{"file":1},null,{"file":"c","pem":"d"}],"e":1}';
    expect(anchorFileNames(wrong)).toEqual(["a", "c"]);
    for (const none of ["", "[]", "{", '{"trustAnchors":{"file":"a"}}']) expect(anchorFileNames(none)).toEqual([]);
  });

  it("was read from text or bytes: a value has none", () => {
    const value = parsePolicy(JSON.parse(text) as object, { readFile: () => anchorPem });
    for (const other of [value, { ...policy }, null])
      expect(() => plainPolicy(other as typeof policy)).toThrow(
        "policy: expected a policy that was read from text or bytes",
      );
  });
});

describe("options", () => {
  const anchors = [parseTrustAnchor("lab", anchorPem)];
  const all: Omit<VerifyOptions, "policy"> = {
    now: NOW,
    at: new Date(5),
    trustAnchors: anchors,
    allowDebug: true,
    acceptance: "strict",
  };

  it("are read again as the same, also those of an audit", () => {
    const given: VerifyOptions = { ...all, policy: NO_POLICY_ANY_ENCLAVE };
    const setting = auditSetting(given);
    const again = JSON.parse(JSON.stringify(setting)) as typeof setting;
    const fromPlain = verifyOptionsOf({ ...plainOptions(given), policy: null });
    const others = [fromPlain, verifyOptionsOf(again)];
    for (const other of others) expect(settingOf(other)).toEqual(settingOf(given));
    expect(settingOf(fromPlain).acceptance).toBe("strict");
  });

  it("have no revocation lists: that is thrown, and not dropped", () => {
    const options = { policy: NO_POLICY_ANY_ENCLAVE, now: new Date(0), crls: [new Uint8Array(1)] } as const;
    expect(() => plainOptions(options)).toThrow(/^options\.crls: plain options cannot have revocation lists$/);
  });

  it("have the caller's limit of age, which needs a policy", () => {
    const limited: VerifyOptions = { policy, now: NOW, maxAgeMs: 60_000 };
    expect(plainOptions(limited).maxAgeMs).toBe(60_000);
    expect(settingOf(verifyOptionsOf(auditSetting(limited))).maxAgeMs).toBe(60_000);
    const none: VerifyOptions = { ...limited, policy: NO_POLICY_ANY_ENCLAVE };
    expect(() => settingOf(none)).toThrow(/^options\.maxAgeMs: requires a policy/);
    expect(() => settingOf({ ...limited, maxAgeMs: -1 })).toThrow(/^options\.maxAgeMs: expected a whole number/);
  });

  it("need a policy, and never take that of a bundle for one that is undefined", () => {
    for (const read of [plainOptions, auditSetting])
      for (const none of [{}, { policy: undefined }])
        expect(() => read({ ...all, ...none } as VerifyOptions)).toThrow(/^options\.policy: expected a policy/);
  });
});

const feed = new TestFeed([newSigner()], 1);
for (const name of ["first", "second"])
  feed.add({
    policy: { ...labPolicy(anchorPem, [labDeployment(lab)]), name },
    issuedAt: new Date(NOW.getTime() - 1000),
  });
const opened = (text: string, state?: SignedPolicyState): Promise<SignedPolicy> =>
  openSignedPolicy({ signers: feed.pinned, source: async () => text, now: () => NOW, ...(state && { state }) });

describe("a signed policy", () => {
  it("is read again as the same version, also from JSON", async () => {
    const { policy: signed } = await opened(feed.text());
    const plain = plainPolicy(signed);
    expect(plain.text).toBe(payloadIn(feed.envelopes[1]!).toString());
    const again = parsePlainPolicy(JSON.parse(JSON.stringify(plain)) as typeof plain);
    expect(again).toEqual(signed);
    expect(again.signed).toMatchObject({ version: 2, sha256: sha256Hex(plain.text), remembered: false });
    expect(plainPolicy(again)).toEqual(plain);
    expect(plainOptions({ policy: signed, now: NOW }).policy).toEqual(plain);
  });

  it("demands provenance where the policy inside does", () => {
    const file = { policy: "bootproof/1", deployments: [{ provenance: [] }] };
    expect([file, { policy: file }, { policy: { deployments: [{}] } }].map(pinsProvenance)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("has its version in the digest of a setting, so that no result of another version is used", async () => {
    const settingOf = ({ policy }: SignedPolicy): AuditSetting => auditSetting({ policy, now: NOW });
    const [first, second] = [await opened(feed.text(1, 1)), await opened(feed.text())];
    const remembered = await opened(feed.text(), { read: async () => null, write: async () => true });
    expect(remembered.policy.signed!.remembered).toBe(true);
    for (const digest of [settingDigest, policyDigest]) {
      expect(await digest(settingOf(second))).not.toBe(await digest(settingOf(first)));
      expect(await digest(settingOf(remembered))).toBe(await digest(settingOf(second)));
      const unsigned = parsePolicy(
        JSON.stringify((JSON.parse(plainPolicy(second.policy).text) as { policy: object }).policy),
      );
      expect(await digest(auditSetting({ policy: unsigned, now: NOW }))).not.toBe(await digest(settingOf(second)));
    }
  });
});

describe("a signed policy", () => {
  it("judges by its version alone, also with the signatures that were verified under another", async () => {
    const changing = new TestFeed([newSigner()], 1);
    const other = { ...labDeployment(lab), namespace: "another" };
    for (const deployment of [labDeployment(lab), other])
      changing.add({ policy: labPolicy(anchorPem, [deployment]), issuedAt: new Date(NOW.getTime() - 1000) });
    const [cache, { bootProof }, verdicts] = [new SignatureCache(), forge(), [] as string[]];
    for (const last of [1, 2, 1]) {
      const source = async (): Promise<string> => changing.text(1, last);
      const { policy: inForce } = await openSignedPolicy({ signers: changing.pinned, source, now: () => NOW });
      const { report } = await verifyEvidence({ bootProofs: [bootProof] }, { policy: inForce, now: NOW, cache });
      verdicts.push(report.verdict);
    }
    expect(verdicts).toEqual(["verified", "rejected", "verified"]);
  });

  it.each([
    ["expiresAt", "soon", "expiresAt: expected a time of RFC 3339"],
    ["issuedAt", 5, "issuedAt: expected a time of RFC 3339 in UTC"],
    ["version", 0, "version: "],
    ["signedPolicy", "bootproof-signed-policy/2", "signedPolicy: "],
    ["policy", { policy: "bootproof/1" }, "deployments: expected an array"],
    ["policy", null, "policy: "],
  ])("is malformed where its %s is %j", async (member, value, fault) => {
    const plain = plainPolicy((await opened(feed.text())).policy);
    const text = JSON.stringify({ ...(JSON.parse(plain.text) as object), [member]: value });
    expect(faultsOf(() => parsePlainPolicy({ ...plain, text }))).toContain(fault);
  });
});

describe("the parts of a setting", () => {
  it("have a limit of age only where it is set, so that settings without one keep their digest", async () => {
    expect(Object.keys(await settingParts({ policy: null }))).not.toContain("maxAgeMs");
    expect((await settingParts({ policy: null, maxAgeMs: 1 })).maxAgeMs).toMatch(/^[0-9a-f]{64}$/);
  });

  const partOf = async (part: keyof SettingParts, setting: Partial<Setting>): Promise<string | undefined> =>
    (await settingParts({ policy: null, ...setting }))[part];

  it("have bundles of any form by their content", async () => {
    const digestOf = (bundle: unknown): Promise<string | undefined> => partOf("provenance", { provenance: [bundle] });
    const same = ['{"a":1}', toUtf8('{"a":1}'), { a: 1 }, new NamedEvidence("build", '{"a":1}')];
    expect(new Set(await Promise.all(same.map(digestOf))).size).toBe(1);
    const others = [
      '{"a":1}',
      '{"a": 1}',
      toUtf8('{"a":  1}'),
      { a: 2 },
      new NamedEvidence("build", { a: 3 }),
      () => 1,
    ];
    expect(new Set(await Promise.all(others.map(digestOf))).size).toBe(others.length);
  });

  it("have each file where it counts, and nowhere else", async () => {
    const naming = { trustAnchors: [{ file: "a" }], deployments: [{ provenance: [{ trustedRoot: { file: "r" } }] }] };
    const settingOf = (files: Readonly<Record<string, string>>): Setting => ({
      policy: { text: JSON.stringify(naming), anchors: files, roots: files },
    });
    const before = await settingParts(settingOf({ a: "1", r: "2" }));
    const changedBy = async (files: Readonly<Record<string, string>>): Promise<string[]> => {
      const after = await settingParts(settingOf(files));
      return Object.keys(after).filter(
        (part) => after[part as keyof SettingParts] !== before[part as keyof SettingParts],
      );
    };
    expect(await changedBy({ a: "1", r: "3" })).toEqual(["trustedRoots"]);
    expect(await changedBy({ a: "3", r: "2" })).toEqual(["trustAnchors"]);
    expect(await changedBy({ a: "1", r: "2", s: "3" })).toEqual([]);
  });
});
