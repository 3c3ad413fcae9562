import { describe, expect, it } from "vitest";
import { type PolicyFile, parsePolicy } from "../../src/appraise/policy.js";
import { NO_POLICY_ANY_ENCLAVE, verifyBootProof } from "../../src/bootproof.js";
import { MAX_BUNDLE_BOOT_PROOFS } from "../../src/decode/boot-proof.js";
import { MalformedError } from "../../src/errors.js";
import { OF_BUNDLE, settingOf } from "../../src/inputs.js";
import { type BundleFile, decodeBundle, isBundle } from "../../src/bundle/file.js";
import { packBundle, packEvidence, selfContainedPolicy } from "../../src/bundle/pack.js";
import { type BundleVerifyOptions, POLICY_OF_THE_BUNDLE, verifyBundle } from "../../src/bundle/verify.js";
import { renderEar, renderVsa } from "../../src/formats/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { provenStatements } from "../../src/report/statements.js";
import { renderText } from "../../src/show/text.js";
import { AWS_NITRO_ROOT_G1, parseTrustAnchor } from "../../src/verify/trust-anchor.js";
import type { Loose } from "../support/loose.js";

const lab = new Forge();
const AT = new Date("2026-03-04T05:06:07.000Z");
const NOW = new Date("2026-03-04T05:16:07.000Z");
const YEARS_LATER = new Date("2036-03-04T05:06:07.000Z");
const forged = forgeEvidence({ lab, at: AT });
const policy = labPolicy(forged.anchorPem, [labDeployment(lab)]) as unknown as PolicyFile;
/** The bundle's policy names the lab's root: the caller has to, too. */
const OF_THE_BUNDLE = {
  policy: POLICY_OF_THE_BUNDLE,
  trustAnchors: [parseTrustAnchor("lab", forged.anchorPem)],
} as const;
const evidence = { bootProofs: [{ bootProof: forged.bootProof }], activity: { activity: forged.activity } };

/** Packed, written to a file and read again; changed on the way. */
async function packed(change: (bundle: Loose) => void = () => {}): Promise<BundleFile> {
  const { bundle } = await packBundle(evidence, { policy, now: NOW });
  const file = JSON.parse(JSON.stringify(bundle)) as BundleFile;
  change(file as unknown as Loose);
  return file;
}

function faultsOf(input: unknown): string[] {
  try {
    decodeBundle(input);
    return [];
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return error.faults.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe("packing", () => {
  it("keeps evidence, policy, report and time, in one JSON value", async () => {
    const bundle = await packed();
    expect(Object.keys(bundle)).toEqual(["bundle", "now", "bootProofs", "appProofs", "activity", "policy", "report"]);
    expect(bundle).toMatchObject({
      bundle: "bootproof-bundle/1",
      now: NOW.toISOString(),
      bootProofs: [forged.bootProof],
      appProofs: [],
      activity: forged.activity,
      policy,
    });
    expect(bundle.report?.verdict).toBe("verified");
  });

  it("makes none of rejected evidence, and says why", async () => {
    const { bundle, report } = await packBundle(
      { bootProofs: [{ ...forged.bootProof, owner: 7 }] },
      { policy, now: NOW },
    );
    expect([bundle, report.verdict]).toEqual([null, "rejected"]);
  });

  it("takes JSON text, and judges text that is none", async () => {
    const texts = {
      bootProofs: [JSON.stringify(forged.bootProof)],
      appProofs: forged.appProofs.map((proof) => JSON.stringify(proof)),
    };
    const { bundle } = await packBundle(texts, { policy, now: NOW });
    expect(bundle).toMatchObject({ bootProofs: [forged.bootProof], appProofs: forged.appProofs });
    expect((await packBundle({ bootProofs: ["{"] }, { policy, now: NOW })).report.verdict).toBe("rejected");
  });

  it("takes no boot proof that is verified already, of which no JSON is left", async () => {
    const options = { policy: parsePolicy(policy), now: NOW };
    const { bootProof } = await verifyBootProof(forged.bootProof, options);
    expect(() => packEvidence({ bootProofs: [bootProof] })).toThrow(TypeError);
  });

  it("writes the document under its own name only, unless the two names differ", async () => {
    const { cloudAttestationDocB64, ...rest } = forged.bootProof;
    expect(
      packEvidence({ bootProofs: [{ ...rest, awsAttestationDocB64: cloudAttestationDocB64 }] }).bootProofs,
    ).toEqual([forged.bootProof]);
    expect(
      packEvidence({
        bootProofs: [{ ...rest, cloudAttestationDocB64: null, awsAttestationDocB64: cloudAttestationDocB64 }],
      }).bootProofs,
    ).toEqual([forged.bootProof]);
    const both = { ...forged.bootProof, awsAttestationDocB64: "AAAA" };
    expect(packEvidence({ bootProofs: [both, 7, null] }).bootProofs).toEqual([both, 7, null]);
  });

  it("takes a policy that is complete in itself only", async () => {
    await expect(
      packBundle(evidence, { policy: { ...policy, trustAnchors: [{ file: "root.pem" }] }, now: NOW }),
    ).rejects.toThrow(MalformedError);
  });
});

describe("a policy that names its anchors by file", () => {
  const named = { ...policy, trustAnchors: ["aws-nitro-root-g1", { file: "root.pem" }] } as PolicyFile;
  const files = { readFile: () => `-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n${forged.anchorPem}` };

  it("has their certificates inside, and nothing else of the files", () => {
    const whole = selfContainedPolicy(JSON.stringify(named), files);
    expect(whole.trustAnchors).toEqual([
      "aws-nitro-root-g1",
      { pem: expect.stringContaining("BEGIN CERTIFICATE") as string },
    ]);
    expect(JSON.stringify(whole)).not.toContain("PRIVATE");
    const { pem } = whole.trustAnchors![1] as { pem: string };
    expect(parseTrustAnchor("a", pem).certificate.der).toEqual(forged.anchorDer);
    expect({ ...whole, trustAnchors: null }).toEqual({ ...named, trustAnchors: null });
  });

  it("stays as it is where it names none", () => {
    expect(selfContainedPolicy(policy, {})).toEqual(policy);
    const rest = { policy: policy.policy, deployments: policy.deployments };
    expect(selfContainedPolicy(rest, {})).toEqual(rest);
  });

  it("is refused with every fault of it", () => {
    expect(() => selfContainedPolicy({ ...named, deployments: [] }, {})).toThrow(
      /trustAnchors\[1\].*deployments|deployments.*trustAnchors\[1\]/s,
    );
  });
});

describe("verifying anew", () => {
  it("by the caller's policy, by the bundle's, by none: years later, with no network", async () => {
    const bundle = decodeBundle(JSON.stringify(await packed()));
    const own = await verifyBundle(bundle, { policy: parsePolicy(policy), now: YEARS_LATER });
    expect([own.report.verdict, own.policyFrom, own.packed]).toEqual([
      "verified",
      "caller",
      { now: NOW.toISOString(), verdict: "verified", differences: [] },
    ]);
    expect(own.activity?.activity.id).toBe(forged.activity["id"]);
    const bundled = await verifyBundle(bundle, { ...OF_THE_BUNDLE, now: YEARS_LATER });
    expect([bundled.report.verdict, bundled.policyFrom]).toEqual(["authentic", "bundle"]);
    expect([bundled.report.policy, bundled.report.policyDigest]).toEqual([null, null]);
    expect(bundled.packed).toEqual(own.packed);
    const none = await verifyBundle(bundle, {
      policy: NO_POLICY_ANY_ENCLAVE,
      now: YEARS_LATER,
      trustAnchors: [parseTrustAnchor("lab", forged.anchorPem)],
    });
    expect([none.report.verdict, none.policyFrom]).toEqual(["authentic", "caller"]);
    expect((await verifyBundle(bundle, { policy: NO_POLICY_ANY_ENCLAVE, now: YEARS_LATER })).report.verdict).toBe(
      "rejected",
    );
  });

  it("counts ages to the caller's present, and knows what it was as of its own", async () => {
    const bundle = decodeBundle(await packed((file) => (file["policy"].maxAge = "1d")));
    const today = await verifyBundle(bundle, { ...OF_THE_BUNDLE, now: YEARS_LATER });
    expect(today.report.checks.filter((check) => check.status === "fail").map((check) => check.id)).toEqual([
      "policy.age",
    ]);
    expect(today.packed).toMatchObject({ verdict: "verified" });
    expect((await verifyBundle(bundle, { ...OF_THE_BUNDLE, now: NOW })).report.verdict).toBe("authentic");
  });

  it.each<[string, (file: Loose) => void]>([
    ["a boot proof", (file) => (file["bootProofs"][0].owner = 7)],
    ["an app proof", (file) => (file["activity"].appProofs[0].proofPayload += " ")],
    ["the activity", (file) => (file["activity"].organizationId = "another")],
    ["the policy", (file) => (file["policy"].deployments[0].pivotHash = "00".repeat(32))],
  ])("does not believe the report where %s was changed", async (_, change) => {
    const { report, packed: inside } = await verifyBundle(decodeBundle(await packed(change)), {
      ...OF_THE_BUNDLE,
      now: YEARS_LATER,
    });
    expect([report.verdict, report.claims]).toEqual(["rejected", null]);
    expect(inside!.differences).toContainEqual({ place: "verdict", packed: '"verified"', anew: '"rejected"' });
  });

  it.each<[string, (report: Loose) => void, string]>([
    ["its verdict", (report) => (report["verdict"] = "rejected"), "verdict"],
    ["a status", (report) => (report["checks"][3].status = "warn"), "boot[0] cose.signature"],
    ["a check left out", (report) => report["checks"].splice(3, 1), "boot[0] cose.signature"],
    [
      "a claim",
      (report) => (report["claims"].bootProofs[0].image.manifest.nonce = 8),
      "claims.bootProofs[0].image.manifest.nonce",
    ],
    ["a claim too many", (report) => (report["claims"].extra = { __proto__x: [] }), "claims.extra.__proto__x"],
    ["no claims", (report) => (report["claims"] = null), "claims"],
    ["no checks", (report) => (report["checks"] = "none"), "checks"],
  ])("shows where the report was changed: %s", async (_, change, place) => {
    const bundle = decodeBundle(await packed((file) => change(file["report"])));
    const { report, packed: inside } = await verifyBundle(bundle, { ...OF_THE_BUNDLE, now: YEARS_LATER });
    expect(report.verdict).toBe("authentic");
    expect(inside!.differences.map((difference) => difference.place)).toContain(place);
  });

  it.each<[string, (report: Loose) => void]>([
    ["other words, which versions change", (report) => (report["checks"][3].detail = "in other words")],
    ["the version that made it", (report) => (report["tool"] = { name: "bootproof", version: "0.0.1" })],
    ["the names of its files", (report) => (report["evidence"][0].name = "boot.json")],
  ])("does not hold against a report: %s", async (_, change) => {
    const bundle = decodeBundle(await packed((file) => change(file["report"])));
    expect((await verifyBundle(bundle, { ...OF_THE_BUNDLE, now: NOW })).packed!.differences).toEqual([]);
  });

  it("does not hold the request against a report, which only its maker knew", async () => {
    const { organizationId, id, type } = forged.activity as Readonly<Record<string, string>>;
    const expected = { organizationId: organizationId!, id: id!, type: type! };
    const { bundle, report } = await packBundle(evidence, { policy, now: NOW, expected });
    expect(report.claims?.activity?.question).toBe("id");
    const { packed: inside, report: anew } = await verifyBundle(decodeBundle(bundle), {
      ...OF_THE_BUNDLE,
      now: NOW,
    });
    expect([anew.claims?.activity?.question, inside!.differences]).toEqual([null, []]);
  });

  it("needs a policy where the bundle has none", async () => {
    const bare = decodeBundle(packEvidence(evidence));
    expect(bare.judgement).toBeNull();
    await expect(verifyBundle(bare, { ...OF_THE_BUNDLE, now: NOW })).rejects.toThrow(TypeError);
    const { report, packed: inside } = await verifyBundle(bare, { policy: parsePolicy(policy), now: NOW });
    expect([report.verdict, inside]).toEqual(["verified", null]);
    const judged = decodeBundle(await packed((file) => (file["policy"] = null)));
    await expect(verifyBundle(judged, { ...OF_THE_BUNDLE, now: NOW })).rejects.toThrow(TypeError);
  });
});

describe("the bundle's own policy", () => {
  const bundleWith = async (change: (file: Loose) => void): Promise<ReturnType<typeof decodeBundle>> =>
    decodeBundle(await packed(change));
  const faultsUnder = async (
    change: (file: Loose) => void,
    options: Partial<BundleVerifyOptions>,
  ): Promise<readonly string[]> => {
    const bundle = await bundleWith(change);
    const error = await verifyBundle(bundle, { policy: POLICY_OF_THE_BUNDLE, now: NOW, ...options }).then(
      () => null,
      (reason: unknown) => reason,
    );
    return error instanceof MalformedError ? error.faults.map(({ path }) => path) : [String(error)];
  };
  const { trustAnchors } = OF_THE_BUNDLE;

  it("may name no trust anchor and allow no debug mode that the caller does not", async () => {
    const debug = (file: Loose): void => (file["policy"].allowDebug = true) as never;
    expect(await faultsUnder(() => {}, {})).toEqual(["policy.trustAnchors"]);
    expect(await faultsUnder(debug, {})).toEqual(["policy.trustAnchors", "policy.allowDebug"]);
    expect(await faultsUnder(debug, { allowDebug: true })).toEqual(["policy.trustAnchors"]);
    expect(await faultsUnder(debug, { trustAnchors })).toEqual(["policy.allowDebug"]);
    expect(await faultsUnder(debug, { trustAnchors, allowDebug: true })).toEqual(["null"]);
  });

  it("may let no app proof be without a time", async () => {
    const untimed = (file: Loose): void => (file["policy"].appProofs = { untimed: ["ORDER"] }) as never;
    expect(await faultsUnder(untimed, { trustAnchors })).toEqual(["policy.appProofs.untimed"]);
    const own = parsePolicy({ ...policy, appProofs: { untimed: ["ORDER"] } });
    expect(() => settingOf({ policy: own, trustAnchors, now: NOW }, OF_BUNDLE)).toThrow(
      "app proofs without a time: the policy came with the evidence, and only the caller can allow this",
    );
  });

  it("is allowed nothing by what all objects inherit", async () => {
    const debug = (file: Loose): void => (file["policy"].allowDebug = true) as never;
    const bundle = await bundleWith(debug);
    Object.defineProperty(Object.prototype, "allowDebug", { value: true, configurable: true });
    try {
      const { loosened } = await verifyBundle(bundle, { ...OF_THE_BUNDLE, now: NOW }).then(
        () => ({ loosened: [] }),
        (error: MalformedError) => ({ loosened: error.faults.map(({ path }) => path) }),
      );
      expect(loosened).toEqual(["policy.allowDebug"]);
    } finally {
      delete (Object.prototype as { allowDebug?: boolean }).allowDebug;
    }
  });

  it("is held against the caller's anchors, whatever it names", async () => {
    const aws = await bundleWith((file) => (file["policy"].trustAnchors = ["aws-nitro-root-g1"]));
    const { report } = await verifyBundle(aws, { ...OF_THE_BUNDLE, now: NOW });
    expect([report.verdict, report.claims!.bootProofs[0]!.hardware.trustAnchor]).toEqual(["authentic", "lab"]);
    const bundle = await bundleWith(() => {});
    const other = { ...OF_THE_BUNDLE, trustAnchors: [AWS_NITRO_ROOT_G1] };
    expect((await verifyBundle(bundle, { ...other, now: NOW })).report.verdict).toBe("rejected");
  });

  it("pins nothing for the caller: what the image says stays its word", async () => {
    const { report } = await verifyBundle(await bundleWith(() => {}), { ...OF_THE_BUNDLE, now: NOW });
    const [boot] = report.claims!.bootProofs;
    expect([boot!.image.pinned, boot!.image.pinnedPcrs, boot!.deployment]).toEqual([false, [], null]);
    expect(report.checks.find(({ id }) => id === "policy.deployment")!.status).toBe("pass");
    expect(renderText(report)).toContain("every check passed, but the only policy came with the");
    expect(provenStatements(report).join("\n")).not.toMatch(/manifest|deployment/);
  });

  it("is not a policy to an EAR or a VSA", async () => {
    const made = await verifyBundle(await bundleWith(() => {}), { ...OF_THE_BUNDLE, now: NOW });
    const vsa = JSON.parse(await renderVsa(made.report, evidence, { bundle: made })) as Loose;
    expect(vsa["predicate"]).toMatchObject({
      verificationResult: "FAILED",
      policy: { uri: "pkg:npm/bootproof#policy-of-the-bundle" },
    });
    const [, claims] = (await renderEar(made.report, { bundle: made })).split(".");
    const ear = JSON.parse(Buffer.from(claims!, "base64url").toString()) as Loose;
    expect(ear["ear_status"]).toBe("warning");
    expect(JSON.stringify(ear)).not.toContain("ear_appraisal_policy_ids");
    expect(ear["pkg:npm/bootproof#report"]).toMatchObject({ policyFrom: "bundle", policyDigest: null });
  });
});

describe("a malformed bundle", () => {
  it.each<[string, (file: Loose) => void, RegExp]>([
    [
      "of another version",
      (file) => (file["bundle"] = "bootproof-bundle/2"),
      /^bundle: expected "bootproof-bundle\/1"$/,
    ],
    ["with more in it", (file) => (file["verdict"] = "verified"), /^verdict: unknown member$/],
    ["without boot proofs", (file) => (file["bootProofs"] = []), /^bootProofs: empty/],
    ["without a list of app proofs", (file) => delete file["appProofs"], /^appProofs: expected an array, got nothing/],
    [
      "with too many boot proofs",
      (file) => (file["bootProofs"] = Array(MAX_BUNDLE_BOOT_PROOFS + 1).fill(1)),
      /^bootProofs: 257 entries, expected at most 256/,
    ],
    ["with too many app proofs", (file) => (file["appProofs"] = Array(2049).fill(1)), /^appProofs: 2049 entries/],
    [
      "with too many app proofs together",
      (file) => (file["appProofs"] = Array(2048).fill(1)),
      /^appProofs: together with the activity's/,
    ],
    [
      "with half a judgement",
      (file) => delete file["report"],
      /^: now and policy: expected all of now, policy and report, or none$/,
    ],
    ["with another time", (file) => (file["now"] = "yesterday"), /^now: expected a time such as .*$/],
    [
      "with a time in another spelling",
      (file) => (file["now"] = "2026-03-04T05:06:07Z"),
      /^now: expected a time such as .*$/,
    ],
    ["with a policy that is none", (file) => (file["policy"].deployments[0].pcrs = {}), /^policy\.deployments\[0\]/],
    [
      "with a policy of files",
      (file) => (file["policy"].trustAnchors = [{ file: "/etc/passwd" }]),
      /^policy\.trustAnchors\[0\]: no files can be read here/,
    ],
    ["with a report that is none", (file) => (file["report"] = []), /^report: expected an object, got an array/],
  ])("%s", async (_, change, fault) => {
    expect(faultsOf(await packed(change))).toContainEqual(expect.stringMatching(fault));
  });

  it("is told with all of its faults", () => {
    expect(faultsOf({ bundle: 1, now: 2, extra: 3 }).length).toBeGreaterThanOrEqual(5);
    expect(faultsOf([])).toEqual([": expected an object, got an array"]);
    expect(() => decodeBundle("{")).toThrow(MalformedError);
  });

  it("may still be called a bundle", () => {
    expect([isBundle({ bundle: "bootproof-bundle/9" }), isBundle({ bootProof: {} }), isBundle(null)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe("a packed report whose names are long, or many", () => {
  const differencesOf = async (
    report: string,
  ): Promise<readonly { readonly place: string; readonly packed: string | null }[]> => {
    const bundle = decodeBundle(
      `{"bundle":"bootproof-bundle/1","bootProofs":[{}],"appProofs":[],` +
        `"now":"${NOW.toISOString()}","policy":null,"report":${report}}`,
    );
    return (await verifyBundle(bundle, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW })).packed!.differences;
  };

  it("is compared by places whose names are cut, and that are told apart all the same", async () => {
    const name = "n".repeat(300_000);
    const differences = await differencesOf(`{"claims":{"${name}a":[1,2],"${name}b":[3]}}`);
    expect(differences.filter(({ place }) => place.includes("nnn")).map(({ packed: text }) => text)).toEqual([
      "1",
      "2",
      "3",
    ]);
    for (const { place } of differences) expect(place.length).toBeLessThan(200);
  });

  it("is compared up to the hundredth difference, however long and deep it is", async () => {
    const deep = (depth: number): string =>
      depth === 0 ? `[${Array(50_000).fill("0").join()}]` : `{"${"n".repeat(64)}":${deep(depth - 1)}}`;
    const found = await differencesOf(`{"claims":${deep(55)}}`);
    expect(found).toHaveLength(100);
    expect(found.filter(({ packed: text }) => text === "0").length).toBeGreaterThan(10);
  });

  it("is compared behind checks of the question, however many there are", async () => {
    const asked = Array(25_000).fill('{"id":"app.request"}').join();
    const found = await differencesOf(`{"checks":[${asked},{"subject":"boot[9]","id":"bind.key","status":"pass"}]}`);
    expect(found).toContainEqual({ place: "boot[9] bind.key", packed: '"pass"', anew: null });
  });
});
