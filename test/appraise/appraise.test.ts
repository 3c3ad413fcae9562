/** Matching: whole evidence of the lab, held against policies that pin one thing or another. */
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { CHECK_IDS, type Check, type CheckId } from "../../src/checks.js";
import type { JsonObject } from "../../src/decode/json.js";
import { verifyAttestation, verifyEvidence } from "../../src/index.js";
import { customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { type ForgedEvidence, LAB_ADDRESS, labDeployment } from "../../src/lab/forge.js";
import { addressDerivationPayload } from "../../src/lab/enclave.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import type { Report } from "../../src/report/report.js";
import { caveats } from "../../src/report/unproven.js";
import {
  AT,
  type Judgement,
  after,
  drop,
  forge,
  idsOf,
  judge,
  lab,
  manifest,
  optionsOf,
  put,
  type Given,
} from "../attacks/support.js";

const all = labDeployment(lab);
/** Image and binary, and no word about whose they are. */
const code: JsonObject = {
  pcrs: drop("3")(all["pcrs"] as JsonObject),
  pivotHash: all["pivotHash"]!,
  open: ["operator"],
};
/** The image, and no word about what runs in it. */
const image: JsonObject = { open: ["application", "operator"] };
const OTHER_PCR = "ee".repeat(48);
const OTHER_HASH = "ee".repeat(32);
const otherKey = toHex(generateQosKeyPair().publicKey);
const live = forge();
const setup = forge({ generation: "setup", payloads: [] });
const legacy = forge({ generation: "legacy" });
const { pcrs, manifestSet } = all as unknown as { pcrs: Record<string, string>; manifestSet: JsonObject };

function underDeployments(
  deployments: JsonObject[],
  evidence: ForgedEvidence = live,
  how: Judgement = {},
): Promise<Report> {
  return judge(evidence, { ...how, deployments: () => deployments });
}

function checkOf(report: Report, id: CheckId): Check {
  return report.checks.find((check) => check.id === id)!;
}

describe("a deployment that pins", () => {
  it("does not ask what it does not pin", async () => {
    const report = await underDeployments([{ ...code, name: "least" }]);
    const unasked: CheckId[] = [
      "policy.labels",
      "policy.manifest-set",
      "policy.namespace",
      "policy.nonce",
      "policy.args",
      "policy.quorum-key",
      "policy.share-set",
    ];
    for (const id of unasked) {
      expect(checkOf(report, id)).toMatchObject({ status: "skip", subject: "policy" });
      expect(checkOf(report, id).detail).toContain("least does not pin");
    }
    expect(checkOf(report, "policy.deployment")).toMatchObject({ status: "pass", detail: "is least" });
    expect(report.claims!.bootProofs[0]!.deployment).toBe("least");
  });

  it("tells all that one check found: arguments and environment", async () => {
    const check = checkOf(await underDeployments([{ ...all, pivotArgs: ["x"], pivotEnv: {} }]), "policy.args");
    expect(check.detail).toBe("the arguments are not the pinned ones; the environment is not the pinned one");
    expect(check.expected).toBe('"x"\nno environment');
    expect(check.actual).toBe('"--config" "/etc/signer.json"\nLOG_LEVEL="info"');
  });
});

describe("a deployment that pins", () => {
  it("by several images claims the PCRs that all of them pin", async () => {
    const claimed = async (images: JsonObject[]): Promise<readonly number[]> =>
      (await underDeployments([{ ...all, pcrs: images }])).claims!.bootProofs[0]!.image.pinnedPcrs;
    const other = { "0": OTHER_PCR, "1": OTHER_PCR, "2": OTHER_PCR };
    expect(await claimed([pcrs])).toEqual([0, 1, 2, 3]);
    expect(await claimed([other, pcrs])).toEqual([0, 1, 2]);
    expect(await claimed([pcrs, put("8", OTHER_PCR)(other), drop("1")(put("3", OTHER_PCR)(pcrs))])).toEqual([0, 2]);
  });

  it("no label skips the check: nothing was compared", async () => {
    const report = await underDeployments([{ ...code, labels: {} }]);
    expect([report.verdict, checkOf(report, "policy.labels").status]).toEqual(["verified", "skip"]);
  });

  it("is met by labels that the service puts on any other enclave: nothing vouches for them", async () => {
    const relabelled = forge({ bootProof: put("owner", "somebody") });
    expect((await underDeployments([{ ...code, labels: { owner: "somebody" } }], relabelled)).verdict).toBe("verified");
    expect(idsOf(await underDeployments([{ ...code, labels: { owner: "lab" } }], relabelled), "fail")).toEqual([
      "policy.deployment",
      "policy.labels",
    ]);
  });
});

describe("a manifest set", () => {
  it("does not count aliases", async () => {
    const renamed = forge({
      alterManifest: {
        manifest: (value) => {
          const members = value.manifestSet.members.map((member, index) => ({ ...member, alias: `m${index}` }));
          return { ...value, manifestSet: { ...value.manifestSet, members } };
        },
        approvals: (list) =>
          list.map((approval, index) => ({ ...approval, member: { ...approval.member, alias: `m${index}` } })),
      },
    });
    expect((await underDeployments([all], renamed)).verdict).toBe("verified");
  });
});

describe("commitment", () => {
  const kinds = { live, setup, legacy };
  const pinned = ["live", "setup", "legacy", undefined] as const;
  const unsaid = { ...code, ...image };

  it.each((Object.keys(kinds) as (keyof typeof kinds)[]).flatMap((kind) => pinned.map((pin) => [kind, pin] as const)))(
    "%s, where %s is pinned",
    async (kind, pin) => {
      const report = await underDeployments([{ ...unsaid, ...(pin && { commitment: pin }) }], kinds[kind]);
      const status = kind === (pin ?? "live") ? "pass" : "fail";
      expect(checkOf(report, "policy.commitment").status).toBe(status);
      expect(idsOf(report, "fail")).toEqual(status === "fail" ? ["policy.commitment", "policy.deployment"] : []);
      expect(report.verdict).toBe(status === "fail" ? "rejected" : "verified");
      expect(checkOf(report, "bind.commitment").status).toBe(kind === "legacy" ? "warn" : "pass");
    },
  );

  it("of a legacy enclave is named in the claims", async () => {
    expect(
      (await underDeployments([{ ...unsaid, commitment: "legacy" }], legacy)).claims!.bootProofs[0]!.image.commitment,
    ).toBe("legacy");
  });
});

describe("several deployments", () => {
  it("tell of the nearest one all pins that differ, and of no other", async () => {
    const far = { ...all, name: "far", pivotHash: OTHER_HASH, namespace: "x", minNonce: 9, quorumKey: otherKey };
    const near = { ...all, name: "near", shareSet: manifestSet, labels: { owner: "x" } };
    for (const deployments of [
      [far, near],
      [near, far],
      [far, near, { ...far, name: "as far" }],
    ]) {
      const report = await underDeployments(deployments);
      expect(idsOf(report, "fail")).toEqual(["policy.deployment", "policy.labels", "policy.share-set"]);
      expect(checkOf(report, "policy.deployment").detail).toContain("near");
      expect(checkOf(report, "policy.deployment").detail).not.toContain("far");
    }
  });

  it("tell of the first one where several are as near", async () => {
    const report = await underDeployments([
      { ...all, name: "one", namespace: "x" },
      { ...all, name: "two", minNonce: 9 },
    ]);
    expect(idsOf(report, "fail")).toEqual(["policy.deployment", "policy.namespace"]);
    expect(checkOf(report, "policy.deployment").detail).toContain("one");
  });
});

describe("several boot proofs", () => {
  const given = (evidence: ForgedEvidence): Given => ({
    bootProofs: [live.bootProof, evidence.bootProof],
    appProofs: [...live.appProofs, ...evidence.appProofs],
  });

  it("may be different ones", async () => {
    const other = forge({
      ephemeralKey: generateQosKeyPair(),
      ...manifest(({ pivot }) => ({ pivot: { ...pivot, hash: new Uint8Array(32).fill(0xee) } })),
    });
    const report = await judge(live, {
      given: () => given(other),
      deployments: (pinned) => [pinned, { ...pinned, name: "other", pivotHash: OTHER_HASH }],
    });
    expect(report.verdict).toBe("verified");
    expect(report.claims!.bootProofs.map(({ deployment }) => deployment)).toEqual(["lab.1", "other"]);
  });

  it("where one was rejected before, it is not held against the policy", async () => {
    const bad = forge({ ephemeralKey: generateQosKeyPair(), alterDocument: { signature: () => new Uint8Array(96) } });
    const report = await judge(live, { given: () => ({ bootProofs: [live.bootProof, bad.bootProof] }) });
    expect(idsOf(report, "fail")).toEqual(["cose.signature"]);
    const unasked = CHECK_IDS.filter((id) => id.startsWith("policy.") && id !== "policy.app-proof");
    const { checks } = await judge(bad);
    expect(checks.filter(({ id, status }) => unasked.includes(id) && status === "skip").map(({ id }) => id)).toEqual(
      unasked,
    );
    const skipped = report.checks.filter(({ id, status }) => id === "policy.deployment" && status === "skip");
    expect(skipped.map(({ detail }) => detail)).toEqual([expect.stringContaining("boot[1]")]);
  });
});

describe("maxAge", () => {
  const judged = (age: string, now: Date): Promise<Report> => judge(live, { policy: { maxAge: age }, now });
  const later = (ms: number): Date => new Date(AT.getTime() + ms);

  it("is counted from the signed time, and not from what the service says", async () => {
    const younger = forge({
      bootProof: put("createdAt", { seconds: String(Math.floor(later(86_400_000).getTime() / 1000)), nanos: "0" }),
    });
    const report = await judge(younger, { policy: { maxAge: "5m" }, now: later(86_400_000) });
    expect(idsOf(report, "fail")).toEqual(["policy.age"]);
  });

  it.each([
    ["30s", 59_999, "59.9s", "30s"],
    ["1m", 60_001, "1m", "1m"],
    ["59m", 3_600_000, "1h", "59m"],
    ["90m", 86_399_999, "23.9h", "1.5h"],
    ["23h", 86_400_000, "1d", "23h"],
  ])("of %s, after %d ms, is told as an age of %s and at most %s", async (maxAge, age, old, most) => {
    const { detail, expected } = checkOf(await judged(maxAge, later(age)), "policy.age");
    expect(detail).toBe(`the boot proof is ${old} old`);
    expect(expected).toBe(`at most ${most} at ${later(age).toISOString()}`);
  });
});

const address = addressDerivationPayload(after(60), LAB_ADDRESS);
const outcome = policyOutcomePayload(after(60), LAB_ADDRESS.organizationId);
const custom = customPayload(after(60));
const timed: JsonObject = { type: "ORDER", timestampMs: String(after(60).getTime()), id: "42" };
const untimed = drop("timestampMs")(timed);
const judged = (rules: JsonObject, payloads: JsonObject[], how: Judgement = {}): Promise<Report> =>
  judge(forge({ payloads }), { ...how, policy: { appProofs: rules } });
const ADDRESS = "APP_PROOF_TYPE_ADDRESS_DERIVATION";
const OUTCOME = "APP_PROOF_TYPE_POLICY_OUTCOME";
const table: [name: string, rules: JsonObject, payloads: JsonObject[], status: "pass" | "fail" | "skip"][] = [
  ["no rules and no proofs", {}, [], "skip"],
  ["one of several types", { types: [OUTCOME, ADDRESS] }, [address, outcome], "pass"],
  ["a type that begins like it", { types: ["APP_PROOF_TYPE_ADDRESS"] }, [address], "fail"],
  ["the type in lower case", { types: [ADDRESS.toLowerCase()] }, [address], "fail"],
  ["types, and no proofs", { types: [ADDRESS] }, [], "skip"],
  ["the decision, and there", { decision: true }, [address, outcome], "pass"],
  ["the decision, and no proof", { decision: true }, [], "fail"],
  ["the decision, and a proof of something else", { decision: true }, [address, custom], "fail"],
  [
    "the decision, and then it is no",
    { decision: true },
    [policyOutcomePayload(after(61), "x", "OUTCOME_DENY_IMPLICIT"), outcome],
    "fail",
  ],
  [
    "the decision, no at first",
    { decision: true },
    [outcome, policyOutcomePayload(after(59), LAB_ADDRESS.organizationId, "OUTCOME_REQUIRES_CONSENSUS")],
    "pass",
  ],
  [
    "the decision, and another organization's no",
    { decision: true },
    [outcome, policyOutcomePayload(after(59), "x", "OUTCOME_REJECTED")],
    "fail",
  ],
  [
    "the decision, no and yes in the same moment",
    { decision: true },
    [policyOutcomePayload(after(60), LAB_ADDRESS.organizationId, "OUTCOME_DENY_EXPLICIT"), outcome],
    "fail",
  ],
  ["expected no decision", { decision: false }, [address], "pass"],
  ["required of a type, and of another", { required: true, types: [ADDRESS] }, [outcome], "fail"],
  ["not required", { required: false }, [], "skip"],
  ["one too old among young ones", { maxAge: "3m" }, [policyOutcomePayload(after(200), "x"), address], "fail"],
  ["a time in the near future", { maxAge: "1s" }, [policyOutcomePayload(after(330), "x")], "pass"],
  ["no time, of a type that may have none", { untimed: ["ORDER"] }, [untimed], "pass"],
  ["no time, of a type that is named twice", { untimed: ["ORDER"], types: ["ORDER"] }, [untimed], "pass"],
  ["no time, under a maxAge", { untimed: ["ORDER"], maxAge: "10d" }, [untimed], "fail"],
  ["no time, under a maxAge, beside young ones", { untimed: ["ORDER"], maxAge: "1h" }, [address, untimed], "fail"],
  ["a time, of a type that may have none", { untimed: ["ORDER"], maxAge: "4m", required: true }, [timed], "pass"],
  ["a time, too old, of a type that may have none", { untimed: ["ORDER"], maxAge: "3m" }, [timed], "fail"],
  ["required, and it has no time", { untimed: ["ORDER"], required: true }, [untimed, untimed], "fail"],
  ["required, and one has a time", { untimed: ["ORDER"], required: true }, [untimed, custom], "pass"],
  ["the decision, and a proof without a time", { untimed: ["ORDER"], decision: true }, [untimed], "fail"],
];
describe("appProofs", () => {
  it.each(table)("%s", async (_, rules, payloads, status) => {
    const report = await judged(rules, payloads);
    expect(checkOf(report, "policy.app-proof").status).toBe(status);
    expect(report.verdict).toBe(status === "fail" ? "rejected" : "verified");
    expect(idsOf(report, "fail")).toEqual(status === "fail" ? ["policy.app-proof"] : []);
  });

  it("says of a proof without a time what the policy wants of it", async () => {
    const old = await judged({ untimed: ["ORDER"], maxAge: "1d" }, [address, untimed]);
    expect(checkOf(old, "policy.app-proof").detail).toBe(
      "app[1]: of type ORDER, has no time, so its age is unknown, at most 1d allowed",
    );
    // Nothing newer can be had by asking again.
    expect(old.stale).toBe(false);
    const required = await judged({ untimed: ["ORDER"], required: true }, [untimed]);
    expect(checkOf(required, "policy.app-proof").detail).toBe(
      "the policy requires an app proof, and no given app proof has a time",
    );
  });

  it("tells every fault of every proof", async () => {
    const { detail } = checkOf(
      await judged({ types: ["A", "B"], maxAge: "1s" }, [address, outcome]),
      "policy.app-proof",
    );
    for (const words of [ADDRESS, OUTCOME, "A, B", "old"]) expect(detail).toContain(words);
    expect(detail.split("; ").length).toBe(4);
  });

  it("is not met by a proof that was rejected", async () => {
    const bad = forge({ alterAppProof: { signature: () => new Uint8Array(64) } });
    const report = await judge(bad, { policy: { appProofs: { required: true } } });
    expect(report.verdict).toBe("rejected");
    expect(checkOf(report, "policy.app-proof").status).toBe("skip");
    const given = (good: ForgedEvidence): Given => ({
      bootProofs: [good.bootProof],
      appProofs: [...good.appProofs, ...bad.appProofs],
    });
    expect(checkOf(await judge(live, { given }), "policy.app-proof").detail).toBe("1 of 2 app proofs were rejected");
  });

  it("of a deployment that does not match is not asked", async () => {
    const own = { ...all, appProofs: { types: [OUTCOME] } };
    const mismatch = await underDeployments([{ ...own, namespace: "x" }]);
    expect(idsOf(mismatch, "fail")).toEqual(["policy.deployment", "policy.namespace"]);
    expect(idsOf(await underDeployments([own]), "fail")).toEqual(["policy.app-proof"]);
  });
});

describe("boot proofs alone", () => {
  const NOT_APPLIED = "only boot proofs were requested: the policy's rules about app proofs were not applied";
  const rules = { required: true, decision: true, coverage: true, types: ["T"], maxAge: "1s" };
  const only = (appProofs: JsonObject, more: object = {}): Promise<Report> => {
    const options = { ...optionsOf(live, { policy: { appProofs } }), bootProofsOnly: true, ...more };
    return verifyEvidence({ bootProofs: [live.bootProof] }, options).then(({ report }) => report);
  };

  it("are held against no rule about app proofs, where only they are asked for, and the report says so", async () => {
    const report = await only(rules);
    expect([report.verdict, report.notApplied]).toEqual([
      "verified",
      ["appProofs.required", "appProofs.decision", "appProofs.coverage"],
    ]);
    expect(checkOf(report, "policy.app-proof")).toMatchObject({ status: "skip", detail: NOT_APPLIED });
    expect(checkOf(report, "policy.deployment").status).toBe("pass");
  });

  it("have nothing more said of them where the policy demands no app proofs", async () => {
    const report = await only({ types: ["T"], maxAge: "1s" });
    expect(checkOf(report, "policy.app-proof")).toMatchObject({ status: "skip", detail: NOT_APPLIED });
    expect(Object.hasOwn(report, "notApplied")).toBe(false);
  });

  it("are held against the rules where nobody said that only they are asked for, whatever is there", async () => {
    for (const more of [{ bootProofsOnly: false }, { bootProofsOnly: undefined }])
      expect(idsOf(await only({ required: true }, more), "fail")).toEqual(["policy.app-proof"]);
  });

  it("are not held against coverage without an activity, whatever was asked for, and the report says so", async () => {
    const report = await judge(live, { policy: { appProofs: { coverage: true } } });
    expect([report.verdict, report.notApplied]).toEqual(["verified", ["appProofs.coverage"]]);
    expect(caveats(report)).toContain(
      "there was no activity: the policy's rule for its addresses (appProofs.coverage) was not applied.",
    );
  });

  it("are held against everything else", async () => {
    const aged = { ...optionsOf(live, { policy: { maxAge: "4m", appProofs: rules } }), bootProofsOnly: true };
    const { report } = await verifyEvidence({ bootProofs: [live.bootProof] }, aged);
    expect([idsOf(report, "fail"), report.notApplied?.length, report.claims]).toEqual([["policy.age"], 3, null]);
  });
});

const nitro: JsonObject = { name: "image", kind: "nitro", pcrs };
const bare = async (deployments: JsonObject[], how: Judgement = {}): Promise<Report> =>
  (await verifyAttestation(live.document, optionsOf(live, { ...how, deployments: () => deployments }))).report;

describe("a bare document", () => {
  it("matches no deployment of QOS, and a boot proof none of kind nitro", async () => {
    const report = await bare([all]);
    expect(idsOf(report, "fail")).toEqual(["policy.deployment"]);
    expect(checkOf(report, "policy.deployment").detail).toContain("only a deployment of kind nitro matches");
    for (const id of CHECK_IDS.filter((one) => /^policy\.(?!deployment|age|current|app-proof)/.test(one)))
      expect(checkOf(report, id)).toMatchObject({ status: "skip", detail: "no deployment is of kind nitro" });
    const other = await underDeployments([nitro]);
    expect(idsOf(other, "fail")).toEqual(["policy.deployment"]);
    expect(checkOf(other, "policy.deployment").detail).toContain("only a deployment of kind qos matches");
    expect((await bare([all, nitro])).verdict).toBe("verified");
    expect((await underDeployments([nitro, all])).verdict).toBe("verified");
  });
});

describe("a bare document", () => {
  it("is held against maxAge too, and against rules about app proofs where that is asked for", async () => {
    expect(idsOf(await bare([nitro], { policy: { maxAge: "4m" } }), "fail")).toEqual(["policy.age"]);
    const demanding = { policy: { appProofs: { required: true } } };
    const report = await bare([nitro], demanding);
    expect([report.verdict, report.notApplied]).toEqual(["verified", ["appProofs.required"]]);
    expect(checkOf(report, "policy.app-proof")).toMatchObject({
      status: "skip",
      detail: "only a bare document was requested: the policy's rules about app proofs were not applied",
    });
    const options = { ...optionsOf(live, { ...demanding, deployments: () => [nitro] }), bootProofsOnly: false };
    expect(idsOf((await verifyAttestation(live.document, options)).report, "fail")).toEqual(["policy.app-proof"]);
  });
});

it("the types that a policy names are told within a length, and so is the type of a proof", async () => {
  const payloads = Array.from({ length: 40 }, () => customPayload(after(60), "T".repeat(20_000)));
  const types = Array.from({ length: 300 }, (_, index) => `${index}${"x".repeat(250)}`);
  const report = await judge(forge({ payloads }), { policy: { appProofs: { types } } });
  const check = report.checks.find(({ id }) => id === "policy.app-proof")!;
  expect(check.status).toBe("fail");
  expect(check.detail).toMatch(/^app\[0\]: type T{64}… is not one of 0x+, 1x+/);
  expect(check.detail.length).toBeLessThan(5000);
});
