/** The table of pins, walked: each row is read, compared, told by its check, and written where `pin` writes it. */
import { describe, expect, it } from "vitest";
import {
  type BootProofFacts,
  type DocumentFacts,
  PINS,
  writePins,
  PIN_CHECKS,
  PIN_NAMES,
  type PinName,
  comparePin,
  factsOf,
} from "../../src/appraise/pins.js";
import { policySchema } from "../../src/appraise/policy.js";
import { Place } from "../../src/appraise/shapes.js";
import { CHECK_IDS } from "../../src/checks.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { NO_POLICY_ANY_ENCLAVE, parsePolicy, parseTrustAnchor, verifyBootProof } from "../../src/index.js";
import type { VerifiedBootProof } from "../../src/index.js";
import { NOW, forge, lab } from "../attacks/support.js";

const evidence = forge();
const { bootProof } = await verifyBootProof(evidence.bootProof, {
  policy: NO_POLICY_ANY_ENCLAVE,
  now: NOW,
  trustAnchors: [parseTrustAnchor("lab", evidence.anchorPem)],
});
const facts = factsOf(bootProof!);
const pivotFacts = facts.bootProof!;
const DIGEST = "ab".repeat(32);
/** The same deployment with workloads in place of its pivot. */
const workloadFacts: BootProofFacts = {
  ...pivotFacts,
  pivot: null,
  workloads: { signer: DIGEST, proxy: "cd".repeat(32) },
};
const ofWorkloads: DocumentFacts = { ...facts, bootProof: workloadFacts };
const key = pivotFacts.quorumKey;
const other = "ee".repeat(130);
const set = { threshold: 2, members: [...pivotFacts.manifestSet.members].reverse() };
const shares = { threshold: 1, members: [...pivotFacts.shareSet.members] };

/** For each pin: what the evidence meets, and what it does not. Total: a new pin has to be added. */
const SAMPLES: Readonly<Record<PinName, { meets: JsonValue[]; differs: JsonValue[]; facts?: DocumentFacts }>> = {
  pcrs: {
    meets: [{ "3": facts.pcrs.get(3)! }, [{ "0": "00".repeat(48) }, { "0": ["00".repeat(48), facts.pcrs.get(0)!] }]],
    differs: [{ "3": "ab".repeat(48) }, { "0": facts.pcrs.get(0)!, "9": "ab".repeat(48) }],
  },
  manifestHash: {
    meets: [pivotFacts.manifestHash, [DIGEST, pivotFacts.manifestHash.toUpperCase()]],
    differs: [DIGEST],
  },
  pivotHash: { meets: [pivotFacts.pivot!.hash], differs: [DIGEST] },
  workloads: {
    facts: ofWorkloads,
    meets: [
      { signer: `sha256:${DIGEST}`, proxy: [`sha256:${"CD".repeat(32)}`, `sha256:${DIGEST}`] },
      { proxy: `sha256:${"cd".repeat(32)}`, signer: `sha256:${DIGEST}`, comment: "two" },
    ],
    differs: [
      { signer: `sha256:${DIGEST}` },
      { signer: `sha256:${DIGEST}`, proxy: `sha256:${DIGEST}` },
      { signer: `sha256:${DIGEST}`, prox: `sha256:${"cd".repeat(32)}` },
      { signer: `sha256:${DIGEST}`, proxy: `sha256:${"cd".repeat(32)}`, third: `sha256:${DIGEST}` },
    ],
  },
  pivotArgs: {
    meets: [["--config", "/etc/signer.json"]],
    differs: [[], ["--config"], ["/etc/signer.json", "--config"], ["--config", "/etc/signer.json", ""]],
  },
  pivotEnv: {
    meets: [{ LOG_LEVEL: "info" }, { LOG_LEVEL: "info", comment: "as ever" }],
    differs: [{}, { LOG_LEVEL: "" }, { LOG_LEVEL: "info", X: "" }, { log_level: "info" }],
  },
  namespace: { meets: ["lab/signer", ["x", "lab/signer"]], differs: ["lab", ["lab/signer/", "Lab/signer"]] },
  minNonce: { meets: [0, 7], differs: [8] },
  quorumKey: { meets: [key, [other, key.toUpperCase()]], differs: [other, key.slice(130) + key.slice(0, 130)] },
  manifestSet: {
    meets: [set, { ...set, threshold: 1 }],
    differs: [
      { ...set, threshold: 3 },
      { ...set, members: set.members.slice(1) },
      { ...set, members: [...set.members, other] },
    ],
  },
  shareSet: {
    meets: [shares, { ...shares, threshold: 2, comment: "" }],
    differs: [set, { ...shares, members: [shares.members[0]!, other] }],
  },
  userData: { meets: [facts.userData!, facts.userData!.toUpperCase()], differs: ["00", `${facts.userData!}00`] },
  publicKey: { meets: [facts.publicKey!], differs: [key, facts.publicKey!.slice(2)] },
  commitment: { meets: ["live"], differs: ["setup", "legacy"] },
  labels: {
    meets: [{ owner: "lab" }, { owner: "lab", enclaveApp: "signer", deploymentLabel: "lab.1" }],
    differs: [{ owner: "LAB" }, { enclaveApp: "signer", deploymentLabel: "" }],
  },
};

/** As it is read in a policy, and compared. */
function compared(name: PinName, file: JsonValue, against: DocumentFacts): ReturnType<typeof comparePin> {
  const place = new Place();
  const pin = PINS[name].shape.read(file, place);
  expect(place.faults).toEqual([]);
  return comparePin(name, { [name]: pin }, against);
}

describe.each(PIN_NAMES)("%s", (name) => {
  const { meets, differs, facts: against = facts } = SAMPLES[name];

  it("is met by what it names", () => {
    for (const file of meets) expect(compared(name, file, against), JSON.stringify(file)).toMatchObject({ met: true });
  });

  it("is not met by anything else, and says how it differs", () => {
    for (const file of differs) {
      const answer = compared(name, file, against)!;
      expect(answer.met, JSON.stringify(file)).toBe(false);
      const { detail, compared: values } = answer.explain();
      expect(detail).not.toBe("");
      expect(values!.expected).not.toBe(values!.actual);
    }
  });

  it("is not compared where it is not pinned", () => {
    expect(comparePin(name, {}, against)).toBeNull();
  });

  it("reads no null, and nothing of another type", () => {
    for (const value of [null, true, [null], [[]], 0.5] satisfies JsonValue[]) {
      const place = new Place();
      expect(PINS[name].shape.read(value, place)).toBeUndefined();
      expect(place.faults.length).toBeGreaterThan(0);
    }
  });

  it("stands where its row says, and nowhere else", () => {
    const pcrs = { "0": "ab".repeat(48), "1": "ab".repeat(48), "2": "ab".repeat(48), "3": "ab".repeat(48) };
    for (const kind of ["qos", "nitro"] as const) {
      const deployment = {
        pcrs,
        kind,
        ...(kind === "qos" && { open: ["application"], namespace: "x" }),
        [name]: name === "pcrs" ? pcrs : SAMPLES[name].meets[0]!,
      };
      const reading = () => parsePolicy({ policy: "bootproof/1", deployments: [deployment] });
      if (PINS[name].kinds.includes(kind)) expect(reading).not.toThrow();
      else expect(reading).toThrow(`deployments[0].${name}: not in a deployment of kind ${kind}`);
    }
  });

  it("has a schema, which the policy's holds", () => {
    const { properties } = (policySchema()["properties"] as { deployments: { items: JsonObject } }).deployments
      .items as { properties: JsonObject };
    expect(properties[name]).toBe(PINS[name].shape.schema);
  });

  it("is written as the evidence meets it", () => {
    const written = writePins(against, against.bootProof!)[name] as JsonValue | undefined;
    if (PINS[name].write === null) expect(written).toBeUndefined();
    else expect(compared(name, written!, against)).toMatchObject({ met: true });
  });

  it("that only a boot proof has is not met by a bare document", () => {
    const bare = { ...against, bootProof: null };
    const met = compared(name, meets.at(-1)!, bare)!.met;
    if (!PINS[name].kinds.includes("nitro")) expect(met).toBe(false);
  });
});

it("the rows stand in the order of their checks, which are all checks of pins", () => {
  const places = PIN_NAMES.map((name) => CHECK_IDS.indexOf(PINS[name].check));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  const others = ["policy.scope", "policy.deployment", "policy.age", "policy.app-proof"];
  expect(CHECK_IDS.filter((id) => id.startsWith("policy.") && !others.includes(id))).toEqual(PIN_CHECKS);
});

describe("manifests of workloads", () => {
  it.each(["pivotHash", "pivotArgs", "pivotEnv"] as const)("never meet %s", (name) => {
    for (const file of [...SAMPLES[name].meets, ...SAMPLES[name].differs])
      expect(compared(name, file, ofWorkloads)!.met).toBe(false);
  });

  it("are never met by manifests of a pivot", () => {
    for (const file of [...SAMPLES.workloads.meets, ...SAMPLES.workloads.differs])
      expect(compared("workloads", file, facts)!.met).toBe(false);
  });

  it("are written as workloads, unless a name of theirs is taken", () => {
    expect(Object.keys(writePins(ofWorkloads, workloadFacts))).not.toContain("pivotHash");
    expect(Object.keys(writePins(facts, pivotFacts))).not.toContain("workloads");
    expect(writePins(ofWorkloads, { ...workloadFacts, workloads: { comment: DIGEST } }).workloads).toBeUndefined();
  });

  it("are read from the manifest", () => {
    const { manifest } = bootProof!;
    const workload = { name: "signer", imageDigest: new Uint8Array(32).fill(0xab), restart: "never", mounts: [] };
    const v3 = {
      ...bootProof,
      attestation: bootProof!.attestation,
      manifest: { ...manifest, pivot: undefined, version: "v3", workloads: [workload] },
    };
    expect(factsOf(v3 as unknown as VerifiedBootProof).bootProof).toMatchObject({
      pivot: null,
      workloads: { signer: DIGEST },
    });
  });
});

it("facts are those of the lab", () => {
  expect(pivotFacts).toMatchObject({ namespace: "lab/signer", nonce: 7, commitment: "live" });
  expect(facts.pcrs.size).toBe(32);
  expect(lab.manifestMembers.length).toBe(pivotFacts.manifestSet.members.length);
});
