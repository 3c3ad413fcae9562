/** The table of pins, walked: each row is read, compared, told by its check, and written where `pin` writes it. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type BootProofFacts, type DocumentFacts, factsOf } from "../../src/appraise/facts.js";
import { PINS, PIN_CHECKS, PIN_NAMES, type PinName, comparePin } from "../../src/appraise/pins.js";
import { PIN_WRITERS, writePins } from "../../src/appraise/pin-writers.js";
import { policySchema } from "../../src/appraise/policy.js";
import { schemaOf } from "../../src/decode/json-schema.js";
import { readShape } from "../../src/decode/shapes.js";
import { CHECK_IDS } from "../../src/checks.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { NO_POLICY_ANY_ENCLAVE, parsePolicy, parseTrustAnchor, verifyBootProof } from "../../src/index.js";
import type { VerifiedBootProof } from "../../src/index.js";
import { NOW, forge } from "../attacks/support.js";

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

/** `provenance` is compared with bundles: test/appraise/provenance.test.ts. */
type ComparedPin = Exclude<PinName, "provenance">;
const COMPARED = PIN_NAMES.filter((name): name is ComparedPin => PINS[name].check !== null);

/** For each pin: what the evidence meets, and what it does not. Total: a new pin has to be added. */
const SAMPLES: Readonly<Record<ComparedPin, { meets: JsonValue[]; differs: JsonValue[]; facts?: DocumentFacts }>> = {
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

const LABELS = 'owner "lab"\ndeploymentLabel "lab.1"';

/** As it is read in a policy, and compared. */
function compared(name: PinName, file: JsonValue, against: DocumentFacts): ReturnType<typeof comparePin> {
  const { value, faults } = readShape<unknown>(PINS[name].shape, file);
  expect(faults).toEqual([]);
  return comparePin(name, { [name]: value }, against);
}

describe.each(COMPARED)("%s", (name) => {
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
    for (const value of [null, true, [null], [[]], 0.5] satisfies JsonValue[])
      expect(readShape<unknown>(PINS[name].shape, value).faults.length).toBeGreaterThan(0);
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
    expect(properties[name]).toEqual(schemaOf(PINS[name].shape));
  });

  it("is written as the evidence meets it", () => {
    const written = writePins(against, against.bootProof!)[name] as JsonValue | undefined;
    if (PIN_WRITERS[name] === null) expect(written).toBeUndefined();
    else expect(compared(name, written!, against)).toMatchObject({ met: true });
  });

  it("that only a boot proof has is not met by a bare document", () => {
    const bare = { ...against, bootProof: null };
    const met = compared(name, meets.at(-1)!, bare)!.met;
    if (!PINS[name].kinds.includes("nitro")) expect(met).toBe(false);
  });
});

it("the rows stand in the order of their checks, which are all checks of pins", () => {
  expect(PIN_NAMES.filter((name) => !(COMPARED as readonly PinName[]).includes(name))).toEqual(["provenance"]);
  const places = COMPARED.map((name) => CHECK_IDS.indexOf(PINS[name].check!));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  const others = ["policy.scope", "policy.deployment", "policy.age", "policy.current", "policy.app-proof"];
  expect(CHECK_IDS.filter((id) => id.startsWith("policy.") && !others.includes(id))).toEqual(PIN_CHECKS);
});

it("the rows are those of the room's README: name, kind, check", () => {
  const readme = readFileSync(new URL("../../src/appraise/README.md", import.meta.url), "utf8");
  const rows = [...readme.matchAll(/^\| `(\w+)` \| (both|qos|nitro) \| .* \| `(policy\.[a-z-]+)` \|/gm)];
  expect(rows.map(([, name, kind, check]) => [name, kind === "both" ? ["qos", "nitro"] : [kind], check])).toEqual(
    COMPARED.map((name) => [name, PINS[name].kinds, PINS[name].check]),
  );
});

describe("what is told of a pin that is not met", () => {
  const absent: DocumentFacts = { ...facts, pcrs: new Map(), userData: null, publicKey: null };
  const keys = (...all: string[]): string => [...all].sort().join("\n");
  const pcr = (index: number): string => facts.pcrs.get(index)!;
  const A = "ab".repeat(48);
  const B = "bc".repeat(48);
  const rows: [name: PinName, file: JsonValue, expected: string, actual: string, against?: DocumentFacts][] = [
    ["pcrs", { "0": [A, B], "1": pcr(1), "2": B }, `PCR0 ${A} or ${B}\nPCR2 ${B}`, `PCR0 ${pcr(0)}\nPCR2 ${pcr(2)}`],
    ["pcrs", [{ "0": A, "1": A }, { "0": B }, { "1": A }], `PCR0 ${B}`, `PCR0 ${pcr(0)}`],
    ["pcrs", { "3": A }, `PCR3 ${A}`, "PCR3 absent", absent],
    ["manifestHash", [DIGEST, "cd".repeat(32)], `${DIGEST} or ${"cd".repeat(32)}`, pivotFacts.manifestHash],
    ["namespace", ["x", 'y"'], '"x" or "y\\""', '"lab/signer"'],
    ["minNonce", 8, "8 or more", "7"],
    [
      "workloads",
      { a: [`sha256:${DIGEST}`, `sha256:${"cd".repeat(32)}`], b: `sha256:${DIGEST}` },
      `a ${DIGEST} or ${"cd".repeat(32)}\nb ${DIGEST}`,
      `signer ${DIGEST}\nproxy ${"cd".repeat(32)}`,
      ofWorkloads,
    ],
    [
      "manifestSet",
      { threshold: 1, members: [other, key] },
      `threshold 1\n${keys(other, key)}`,
      `threshold 2\n${keys(...pivotFacts.manifestSet.members)}`,
    ],
    ["userData", "00", "00", "absent", absent],
    ["publicKey", "00", "00", facts.publicKey!],
    ["commitment", "setup", "setup", "live"],
    ["labels", { owner: "x", enclaveApp: "signer", deploymentLabel: "y" }, 'owner "x"\ndeploymentLabel "y"', LABELS],
  ];
  it.each(rows)("%s %j", (name, file, expected, actual, against = facts) => {
    expect(compared(name, file, against)!.explain().compared).toEqual({ expected, actual });
  });
});

describe("pin writes what a policy can say, and nothing else", () => {
  const written = (change: Partial<BootProofFacts>, document: Partial<DocumentFacts> = {}) =>
    writePins({ ...facts, ...document }, { ...pivotFacts, ...change });
  const [a, b] = ["0a".repeat(130), "0b".repeat(130)];

  it.each<[name: string, threshold: number, members: string[], said: boolean]>([
    ["one of one", 1, [a], true],
    ["two of two", 2, [a, b], true],
    ["no threshold", 0, [a, b], false],
    ["a threshold that nobody reaches", 3, [a, b], false],
    ["nobody", 0, [], false],
    ["a member of another length", 1, [a, b.slice(2)], false],
    ["a member twice", 1, [a, a], false],
  ])("of a set of %s", (_, threshold, members, said) => {
    const { manifestSet } = written({ manifestSet: { threshold, members } });
    expect(manifestSet).toEqual(said ? { threshold, members } : undefined);
    expect(readShape(PINS.manifestSet.shape, { threshold, members }).faults.length === 0).toBe(said);
  });

  it("of PCRs those that are there and no zeros", () => {
    const zeros = "00".repeat(48);
    const some = new Map([
      [0, zeros],
      [1, DIGEST + DIGEST.slice(32)],
      [2, DIGEST],
      [4, facts.pcrs.get(0)!],
    ]);
    expect(written({}, { pcrs: some }).pcrs).toEqual({ "1": DIGEST + DIGEST.slice(32) });
    expect(written({}, { pcrs: new Map([[0, zeros]]) })).not.toHaveProperty("pcrs");
  });

  it("of a namespace without a name no nonce either", () => {
    expect(written({ namespace: "" })).not.toHaveProperty("minNonce");
    expect(written({ namespace: "", nonce: 0 })).not.toHaveProperty("namespace");
    expect(written({ nonce: 0 }).minNonce).toBe(0);
  });
});

it("a set counts its members in any order, as the manifest's", () => {
  const { manifest } = bootProof!;
  for (const members of [manifest.manifestSet.members, [...manifest.manifestSet.members].reverse()]) {
    const turned = {
      ...bootProof,
      attestation: bootProof!.attestation,
      manifest: { ...manifest, manifestSet: { threshold: 2, members } },
    };
    expect(factsOf(turned as unknown as VerifiedBootProof).bootProof!.manifestSet).toEqual(pivotFacts.manifestSet);
  }
});

it("a pin with a fault in it is not read, whatever stands beside the fault", () => {
  const good = "ab".repeat(48);
  const faulty: JsonValue[] = [
    { "0": good, comment: 7 },
    { "0": "00", comment: "why" },
    { "0": "00", "1": good },
    { "0": good, "32": good },
  ];
  for (const file of faulty) expect(readShape(PINS.pcrs.shape, file).faults).toHaveLength(1);
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
