/** Making policies: what is pinned from evidence passes as that evidence, and nothing else does. */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { fromHex, toHex } from "../../src/bytes.js";
import type { Namespace } from "../../src/decode/manifest/model.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  type PolicyFile,
  type VerifiedBootProof,
  type VerifyOptions,
  parsePolicy,
  verifyBootProof,
  verifyEvidence,
} from "../../src/index.js";
import { pinPolicy, policyFromRelease } from "../../src/author/index.js";
import { makePolicy, makeReleasePolicy, memberSetFile } from "../../src/appraise/pin.js";
import { PUBLIC_KEYS } from "../support/public-keys.js";
import { Forge, type ForgedEvidence } from "../../src/lab/forge.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { generateQosKeyPair, memberSet } from "../../src/lab/qos.js";
import {
  type Alterations,
  NOW,
  drop,
  forge,
  idsOf,
  judge,
  lab,
  manifest,
  optionsOf,
  otherLab,
  pcrs,
  put,
} from "../attacks/support.js";
import { refusalOf } from "../support/faults.js";
import { fc } from "../support/property.js";
import { bootProofVectors, readVectorJson, readVectorText } from "../support/vectors.js";
import { IS_LONG } from "../support/long.js";

async function verified(bootProof: unknown, options: VerifyOptions): Promise<VerifiedBootProof> {
  const {
    bootProofs: [proof],
    report,
  } = await verifyEvidence({ bootProofs: [bootProof] }, options);
  expect(report.checks.filter(({ status }) => status === "fail")).toEqual([]);
  return proof!;
}

/** As it is written to a file and read again. */
function throughFile(policy: PolicyFile): ReturnType<typeof parsePolicy> {
  return parsePolicy(JSON.stringify(policy, null, 2));
}

const inNamespace = (changes: Partial<Namespace>): Alterations =>
  manifest(({ namespace }) => ({ namespace: { ...namespace, ...changes } }));

describe("a policy pinned from a genuine pair", async () => {
  const [first, second] = bootProofVectors()
    .filter(({ appProofs }) => appProofs.length > 0)
    .map(({ bootProofs, appProofs, now }) => ({
      bootProof: readVectorJson<JsonObject>(bootProofs[0]!),
      appProof: readVectorJson<JsonObject>(appProofs[0]!),
      now: new Date(now),
    })) as [Pair, Pair];
  interface Pair {
    bootProof: JsonObject;
    appProof: JsonObject;
    now: Date;
  }
  const anyEnclave = { policy: NO_POLICY_ANY_ENCLAVE, now: first.now } as const;
  const [pinnedFirst, pinnedSecond] = [
    pinPolicy(await verified(first.bootProof, anyEnclave)),
    pinPolicy(await verified(second.bootProof, anyEnclave)),
  ];
  const judged = async (policy: PolicyFile, pair: Pair) =>
    (
      await verifyEvidence(
        { bootProofs: [pair.bootProof], appProofs: [pair.appProof] },
        { policy: throughFile(policy), now: first.now },
      )
    ).report;

  it("verifies that pair", async () => {
    const report = await judged(pinnedFirst, first);
    expect(report.verdict).toBe("verified");
    expect(report.policy).toBe(pinnedFirst.name);
    expect(report.claims!.bootProofs[0]!.deployment).toBe(pinnedFirst.deployments[0]!.name);
    expect((await judged(pinnedSecond, second)).verdict).toBe("verified");
  });

  it("pins what the evidence says, and no more", async () => {
    const proof = await verified(first.bootProof, anyEnclave);
    expect(Object.keys(pinnedFirst.deployments[0]!).sort()).toEqual([
      "commitment",
      "manifestHash",
      "manifestSet",
      "minNonce",
      "name",
      "namespace",
      "pcrs",
      "pivotArgs",
      "pivotEnv",
      "pivotHash",
      "quorumKey",
    ]);
    expect(pinnedFirst.deployments[0]).toMatchObject({
      pcrs: Object.fromEntries(
        [0, 1, 2, 3].map((index) => [index, toHex(proof.attestation.document.pcrs.get(index)!)]),
      ),
      pivotHash: toHex(proof.manifest.pivot!.hash),
      namespace: "preprod/signer",
      quorumKey: toHex(proof.manifest.namespace.quorumKey),
      manifestSet: {
        threshold: proof.manifest.manifestSet.threshold,
        members: proof.manifest.manifestSet.members.map(({ pubKey }) => toHex(pubKey)).sort(),
      },
    });
  });

  it("verifies the other pair too: another enclave of the same deployment", async () => {
    expect(pinnedSecond.deployments).toEqual(pinnedFirst.deployments);
    expect((await judged(pinnedFirst, second)).verdict).toBe("verified");
  });
});

/** In JSON they are longer than a policy may be. */
const LONG = "\u0001".repeat(90_000);
const LONG_ARGUMENTS = manifest(({ pivot }) => ({ pivot: { ...pivot!, args: [LONG, LONG] } }));

const pinnables = new Map<Alterations, Promise<{ evidence: ForgedEvidence; proof: VerifiedBootProof }>>();
/** Evidence, and its verified boot proof, made once. */
function pinnable(alterations: Alterations): Promise<{ evidence: ForgedEvidence; proof: VerifiedBootProof }> {
  const make = async () => {
    const evidence = forge(alterations);
    const options = optionsOf(evidence, { noPolicy: true, allowDebug: true });
    return { evidence, proof: await verified(evidence.bootProof, options) };
  };
  const made = pinnables.get(alterations) ?? make();
  pinnables.set(alterations, made);
  return made;
}

describe("a policy pinned from the lab", () => {
  it("pins workloads, which answer for the program: no manifest's hash beside them", async () => {
    const evidence = forge({ version: "v3" });
    const policy = pinPolicy(await verified(evidence.bootProof, optionsOf(evidence, { noPolicy: true })));
    expect(Object.keys(policy.deployments[0]!.workloads!)).toEqual(["signer"]);
    for (const name of ["manifestHash", "pivotHash", "open"]) expect(policy.deployments[0]).not.toHaveProperty(name);
    const options = { policy: throughFile(policy), now: NOW };
    expect((await verifyBootProof(evidence.bootProof, options)).report.verdict).toBe("verified");
  });

  it("is refused for a name that a policy cannot say, and for nothing that it could leave out", async () => {
    const { proof } = await pinnable(LONG_ARGUMENTS);
    expect(pinPolicy(proof, { name: "n".repeat(256) }).name).toBe("n".repeat(256));
    expect(refusalOf(() => pinPolicy(proof, { name: "n".repeat(257) }))).toEqual({
      code: "policy",
      faults: "name: longer than 256 characters",
      paths: ["name"],
    });
  });

  it("has the name that it is given, or the namespace's", async () => {
    expect((await pinned()).name).toBe("lab/signer");
    const proof = await verified(forge().bootProof, optionsOf(forge(), { noPolicy: true }));
    expect(pinPolicy(proof, { name: "mine" }).name).toBe("mine");
  });

  it("allows debug mode only where it was found and allowed", async () => {
    const debug = forge(manifest(({ pivot }) => ({ pivot: { ...pivot, debugMode: true } })));
    const options = optionsOf(debug, { noPolicy: true, allowDebug: true });
    expect(pinPolicy(await verified(debug.bootProof, options)).allowDebug).toBe(true);
    expect(pinPolicy(await verified(forge().bootProof, options))).not.toHaveProperty("allowDebug");
  });

  const same: [name: string, alterations: Alterations][] = [
    ["a newer manifest", inNamespace({ nonce: 8 })],
    ["another share set", manifest(() => ({ shareSet: memberSet(1, lab.shareMembers) }))],
    ["another key of the same deployment", { ephemeralKey: generateQosKeyPair() }],
    ["other labels", { bootProof: put("owner", "somebody") }],
    ["another instance", pcrs((map) => map.set(4, new Uint8Array(48).fill(9)))],
  ];
  it.each(same)("still accepts %s", async (_, alterations) => {
    const policy = throughFile(await pinned());
    const { report } = await verifyEvidence({ bootProofs: [forge(alterations).bootProof] }, { policy, now: NOW });
    expect(report.verdict).toBe("verified");
  });

  it("refuses the same deployment under another root", async () => {
    const policy = throughFile(await pinned());
    const foreign = forge({ lab: otherLab });
    const { report } = await verifyEvidence({ bootProofs: [foreign.bootProof] }, { policy, now: NOW });
    expect(idsOf(report, "fail")).toEqual(["chain.anchor"]);
    expect((await judge(foreign, { noPolicy: true, anchorPem: foreign.anchorPem })).verdict).toBe("authentic");
  });

  async function pinned(): Promise<PolicyFile> {
    const evidence = forge();
    return pinPolicy(await verified(evidence.bootProof, optionsOf(evidence, { noPolicy: true })));
  }
});

describe("policyFromRelease", () => {
  const release = parse(readVectorText("releases/r2025.9.3.yaml")) as JsonObject;
  const apps = Object.keys(release).filter((name) => name !== "version");

  it.each(apps)("pins %s of a published release", (app) => {
    const policy = policyFromRelease(release, app);
    const entry = release[app] as Record<string, string>;
    expect(policy).toEqual({
      policy: "bootproof/1",
      name: `${app}, release r2025.9.3`,
      deployments: [
        {
          name: `${app} r2025.9.3`,
          pivotHash: entry["appBinaryDigest"],
          pcrs: { "0": entry["PCR0"], "1": entry["PCR1"], "2": entry["PCR2"], "3": entry["PCR3"] },
        },
      ],
    });
    expect(() => throughFile(policy)).not.toThrow();
  });

  const set = { threshold: 1, members: ["04".repeat(130), "05".repeat(130)] };
  const key = "06".repeat(130);
  it.each<
    [name: string, options: Parameters<typeof policyFromRelease>[2], open: string[] | undefined, notes: string[]]
  >([
    ["nothing else", {}, undefined, ["only pcrs 3 pins the operator"]],
    ["a manifest set", { manifestSet: set }, undefined, []],
    ["a quorum key", { quorumKey: key }, undefined, []],
    ["a quorum key, in the setup", { quorumKey: key, commitment: "setup" }, undefined, ["only pcrs 3"]],
    ["legacy", { commitment: "legacy" }, ["application"], ["leaves the application open", "only pcrs 3", "legacy"]],
    [
      "legacy and a set, without a namespace",
      { commitment: "legacy", manifestSet: set },
      ["application"],
      ["leaves the application open", "only pcrs 3", "legacy"],
    ],
    [
      "legacy, a set and a namespace",
      { commitment: "legacy", manifestSet: set, namespace: "lab/signer" },
      undefined,
      ["legacy"],
    ],
    ["a public quorum key", { quorumKey: PUBLIC_KEYS[0]! }, undefined, ["only pcrs 3", "secret is public"]],
  ])("with %s says what is left open", (_, options, open, notes) => {
    const made = makeReleasePolicy(release, "signer", options);
    expect(made.policy.deployments[0]!.open).toEqual(open);
    expect(made.notes.length).toBe(notes.length);
    notes.forEach((words, index) => expect(made.notes[index]).toContain(words));
    expect(made.policy).toEqual(policyFromRelease(release, "signer", options));
    throughFile(made.policy);
  });

  it("without a role leaves the operator open, and without an image is refused", () => {
    const zero = "00".repeat(48);
    expect(policyFromRelease(put("signer.PCR3", zero)(release), "signer").deployments[0]!.open).toEqual(["operator"]);
    expect(refusalOf(() => policyFromRelease(put("signer.PCR0", zero)(release), "signer")).faults).toContain(
      "leaves the image open",
    );
  });

  it("of a legacy enclave without a role leaves open what a set and a manifest would answer", () => {
    const roleless = put("signer.PCR3", "00".repeat(48))(release);
    const options = { commitment: "legacy", manifestSet: set, namespace: "lab/signer" } as const;
    const policy = policyFromRelease(roleless, "signer", options);
    expect(policy.deployments[0]!.open).toEqual(["application", "operator"]);
    expect(() => throughFile(policy)).not.toThrow();
  });

  it("names the applications that a release has, where the one asked for is not among them", () => {
    const of = (count: number): string => {
      const names = Array.from({ length: count }, (_, index) => [`app-${index}`, {}] as const);
      return refusalOf(() => policyFromRelease({ version: "r1", ...Object.fromEntries(names) }, "x")).faults;
    };
    expect(of(0)).toBe("x: not in this release, which has nothing");
    expect(of(2)).toBe("x: not in this release, which has app-0, app-1");
    expect(of(1000)).toMatch(/which has app-0, .*, and \d+ more$/);
  });

  it("verifies the enclave that a release of the lab describes, and no other", async () => {
    const { enclave, pivotHash } = lab.manifestParts();
    const entry = {
      appBinaryDigest: toHex(pivotHash),
      PCR0: toHex(enclave.pcr0),
      PCR1: toHex(enclave.pcr1),
      PCR2: toHex(enclave.pcr2),
      PCR3: toHex(enclave.pcr3),
    };
    const evidence = forge();
    const judged = async (app: JsonObject) => {
      const policy = parsePolicy({
        ...policyFromRelease({ version: "r1", signer: app }, "signer"),
        trustAnchors: [{ pem: evidence.anchorPem }],
      });
      return (await verifyEvidence({ bootProofs: [evidence.bootProof] }, { policy, now: NOW })).report;
    };
    expect((await judged(entry)).verdict).toBe("verified");
    expect(idsOf(await judged({ ...entry, PCR2: "ab".repeat(48) }), "fail")).toEqual([
      "policy.deployment",
      "policy.pcrs",
    ]);
    expect(idsOf(await judged({ ...entry, appBinaryDigest: "ab".repeat(32) }), "fail")).toEqual([
      "policy.deployment",
      "policy.pivot",
    ]);
  });

  const rows: [name: string, release: unknown, app: string, says: string][] = [
    ["an application that it has not", release, "wallet", "signer"],
    ["the word version", release, "version", "not in this release"],
    ["an application in another case", release, "Signer", "not in this release"],
    ["no application", release, "", "not in this release"],
    ["a member of every object", release, "constructor", "not in this release"],
    ["__proto__", release, "__proto__", "not in this release"],
    ["a release without applications", { version: "r1" }, "signer", "nothing"],
    ["null", null, "signer", "expected an object, got null"],
    ["undefined", undefined, "signer", "expected an object"],
    ["an array", [release], "signer", "expected an object, got an array"],
    ["a text", readVectorText("releases/r2025.9.3.yaml"), "signer", "expected an object, got a string"],
    ["no version", drop("version")(release), "signer", "version: expected a string, got nothing"],
    [
      "a version that YAML reads as a number",
      put("version", 2025.9)(release),
      "signer",
      "version: expected a string, got a number",
    ],
    [
      "an application that is a text",
      put("signer", "x")(release),
      "signer",
      "signer: expected an object, got a string",
    ],
    ["an application that is null", put("signer", null)(release), "signer", "signer: "],
    ...["appBinaryDigest", "PCR0", "PCR1", "PCR2", "PCR3"].flatMap((member): [string, unknown, string, string][] => [
      [`no ${member}`, drop(`signer.${member}`)(release), "signer", `signer.${member}: expected a string, got nothing`],
      [
        `${member} that is a number`,
        put(`signer.${member}`, 7 as JsonValue)(release),
        "signer",
        `signer.${member}: expected a string, got a number`,
      ],
      [`${member} a digit short`, put(`signer.${member}`, "0".repeat(63))(release), "signer", "hex digits"],
    ]),
  ];
  it.each(rows)("refuses %s", (_, input, app, says) => {
    const refusal = refusalOf(() => policyFromRelease(input, app));
    expect(refusal.code).toBe("release");
    expect(refusal.faults).toContain(says);
  });

  it("tells all faults at once", () => {
    expect(refusalOf(() => policyFromRelease({ version: 1, signer: { PCR0: 1 } }, "signer")).paths.sort()).toEqual([
      "signer.PCR0",
      "signer.PCR1",
      "signer.PCR2",
      "signer.PCR3",
      "signer.appBinaryDigest",
      "version",
    ]);
  });

  it("takes hex in either case, and ignores what else the release says", () => {
    const signer = release["signer"] as Record<string, string>;
    const upper = { ...signer, PCR0: signer["PCR0"]!.toUpperCase(), PCR8: "x", image: { tag: 1 } };
    expect(() => throughFile(policyFromRelease({ version: "r1", signer: upper, other: 7 }, "signer"))).not.toThrow();
  });
});

describe("a set from a file", () => {
  const [a, b] = ["0a".repeat(130), "0b".repeat(130)] as const;

  it("has members as keys, or as a manifest names them", () => {
    const read = { threshold: 1, members: [a, b] };
    expect(memberSetFile({ threshold: 1, members: [a, b] })).toEqual(read);
    expect(memberSetFile({ threshold: 1, members: [{ alias: "alice", pubKey: a }, b] })).toEqual(read);
  });

  it.each<[JsonValue]>([
    [null],
    [7],
    ["x"],
    [[a]],
    [{}],
    [{ members: { length: 1 } }],
    [{ threshold: 1, members: [null, 7, { alias: "alice" }, [a]] }],
  ])("%j is handed on as it is, for who reads the policy to refuse", (json) => {
    expect(memberSetFile(json)).toEqual(json);
  });
});

describe("pinning always answers", () => {
  const zeroRole = { ...lab.measurements, pcr3: new Uint8Array(48) };
  const zeroImage = { ...zeroRole, pcr0: new Uint8Array(48), pcr1: new Uint8Array(48), pcr2: new Uint8Array(48) };
  const members = [...lab.manifestMembers];
  /**
   * Members of the manifest set beside alice and bob, who approve, whose secrets are public: they reach the threshold
   * alone.
   */
  const publicMembers = PUBLIC_KEYS.map((key, index) => ({ alias: `public ${index}`, pubKey: fromHex(key)! }));
  const nobodys = manifest(() => ({
    manifestSet: { threshold: 2, members: [...memberSet(2, members.slice(0, 2)).members, ...publicMembers.slice(1)] },
  }));
  const env = (entries: [string, string][]): Alterations =>
    manifest(({ pivot }) => ({ pivot: { ...pivot!, env: new Map(entries) } }));

  const rows: [
    name: string,
    alterations: Alterations,
    expected: { has?: string[]; hasNot?: string[]; open?: string[] },
  ][] = [
    ["a quorum key of another length", inNamespace({ quorumKey: new Uint8Array(65) }), { hasNot: ["quorumKey"] }],
    ["no quorum key", inNamespace({ quorumKey: new Uint8Array() }), { hasNot: ["quorumKey", "manifestHash"] }],
    ["a namespace without a name", inNamespace({ name: "" }), { hasNot: ["namespace", "minNonce"] }],
    ["a set that is nobody's", nobodys, { has: ["quorumKey", "manifestSet"], hasNot: ["manifestHash"] }],
    ["a set that is nobody's, in its setup", { ...nobodys, generation: "setup", payloads: [] }, { hasNot: ["open"] }],
    [
      "a set that is nobody's, in its setup and without a role",
      { ...nobodys, ...withMeasurements(zeroRole), generation: "setup", payloads: [] },
      { has: ["manifestHash"] },
    ],
    [
      "a set that is nobody's, of a legacy enclave",
      { ...nobodys, generation: "legacy" },
      { has: ["manifestHash"], hasNot: ["open"] },
    ],
    [
      "a legacy enclave without a role",
      { ...withMeasurements(zeroRole), generation: "legacy" },
      { has: ["manifestHash"], open: ["application", "operator"] },
    ],
    [
      "a legacy enclave without a role, in debug mode",
      { ...withMeasurements(zeroImage), generation: "legacy" },
      { has: ["manifestHash"], hasNot: ["pcrs"], open: ["application", "operator"] },
    ],
    ["a debug enclave", withMeasurements(zeroImage), { hasNot: ["pcrs", "manifestHash", "open"] }],
    ["a variable that is called comment", env([["comment", "x"]]), { has: ["manifestHash"], hasNot: ["pivotEnv"] }],
    [
      "a variable that is called __proto__",
      env([
        ["__proto__", "x"],
        ["constructor", "y"],
      ]),
      { has: ["pivotEnv"] },
    ],
    ["no environment", { version: "v0" }, { has: ["pivotArgs", "pivotEnv"] }],
    [
      "arguments that are too long for a policy",
      LONG_ARGUMENTS,
      { has: ["manifestHash", "pcrs"], hasNot: ["pivotArgs"] },
    ],
    [
      "arguments that are too long for a policy, of a legacy enclave without a role",
      {
        ...withMeasurements(zeroRole),
        ...LONG_ARGUMENTS,
        generation: "legacy",
      },
      { has: ["manifestHash", "pcrs"], hasNot: ["pivotArgs"], open: ["application", "operator"] },
    ],
    [
      "a namespace that is too long for a policy",
      inNamespace({ name: LONG + LONG }),
      { has: ["manifestHash"], hasNot: ["namespace"] },
    ],
  ];

  it.each(rows)("%s", async (_, alterations, { has = [], hasNot = [], open }) => {
    const { evidence, proof } = await pinnable(alterations);
    const policy = pinPolicy(proof);
    expect(Object.keys(policy.deployments[0]!)).toEqual(expect.arrayContaining(has));
    for (const name of hasNot) expect(policy.deployments[0]).not.toHaveProperty(name);
    expect(policy.deployments[0]!.open).toEqual(open);
    const { report } = await verifyEvidence(
      { bootProofs: [evidence.bootProof] },
      { policy: throughFile(policy), now: NOW },
    );
    expect(idsOf(report, "fail")).toEqual([]);
    expect(report.verdict).toBe("verified");
  });

  it("of arguments that a policy has room for, as it is written, and of more", async () => {
    const pinnedWith = async (length: number): Promise<PolicyFile> => {
      const args = ["x".repeat(length), ...Array.from({ length: 1000 }, () => "-v")];
      const evidence = forge(manifest(({ pivot }) => ({ pivot: { ...pivot!, args } })));
      return pinPolicy(await verified(evidence.bootProof, optionsOf(evidence, { noPolicy: true })));
    };
    const room = 1024 * 1024 - JSON.stringify(await pinnedWith(0), null, 2).length;
    const whole = await pinnedWith(room - 200);
    expect(whole.deployments[0]!.pivotArgs!.length).toBe(1001);
    expect(whole.deployments[0]).not.toHaveProperty("manifestHash");
    expect(() => throughFile(whole)).not.toThrow();
    expect(Object.keys((await pinnedWith(room + 1)).deployments[0]!)).toEqual([
      "name",
      "pcrs",
      "manifestHash",
      "commitment",
    ]);
  });

  it("whatever is forged: what is pinned is well-formed, and verifies what it was made from", async () => {
    const settings = fc.record({
      version: fc.constantFrom("v0" as const, "v1" as const, "v2" as const),
      generation: fc.constantFrom("live" as const, "setup" as const, "legacy" as const),
      measurements: fc.constantFrom(lab.measurements, zeroRole, zeroImage),
      namespace: fc.record({ name: fc.constantFrom("", "lab/signer", "\u{1d538}"), nonce: fc.nat() }),
      quorumKeyLength: fc.constantFrom(0, 65, 130),
      threshold: fc.integer({ min: 1, max: 2 }),
      publicCount: fc.integer({ min: 0, max: 3 }),
      args: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(
        settings,
        async ({ version, generation, measurements, namespace, quorumKeyLength, threshold, publicCount, args }) => {
          const evidence = forge({
            version,
            generation,
            payloads: [],
            ...withMeasurements(measurements),
            ...manifest((value) => ({
              namespace: { ...namespace, quorumKey: lab.quorumKey.publicKey.slice(0, quorumKeyLength) },
              manifestSet: {
                threshold,
                members: [...memberSet(1, members.slice(0, 2)).members, ...publicMembers.slice(0, publicCount)],
              },
              pivot: { ...value.pivot!, args },
            })),
          });
          const proof = await verified(evidence.bootProof, optionsOf(evidence, { noPolicy: true, allowDebug: true }));
          const policy = throughFile(pinPolicy(proof));
          const { report } = await verifyEvidence({ bootProofs: [proof] }, { policy, now: NOW });
          expect(report.verdict).toBe("verified");
        },
      ),
      { numRuns: IS_LONG ? 60 : 20 },
    );
  });

  it("from every genuine boot proof there is", async () => {
    for (const { bootProofs, now, expect: expected } of bootProofVectors()) {
      if (expected.verdict !== "authentic") continue;
      for (const file of bootProofs) {
        const bootProof = readVectorJson<JsonObject>(file);
        const time = new Date(now);
        const policy = pinPolicy(await verified(bootProof, { policy: NO_POLICY_ANY_ENCLAVE, now: time }));
        const { report } = await verifyEvidence(
          { bootProofs: [bootProof] },
          { policy: throughFile(policy), now: time },
        );
        expect(report.verdict, file).toBe("verified");
      }
    }
  });
});

function withMeasurements(measurements: typeof lab.measurements): Alterations {
  return { lab: new Forge({ ...lab, measurements }) };
}

describe("a policy of several boot proofs", () => {
  const nonce = (value: number): Alterations => inNamespace({ nonce: value });
  const debug = manifest(({ pivot }) => ({ pivot: { ...pivot, debugMode: true } }));
  const of = async (alterations: Alterations = {}): Promise<VerifiedBootProof> =>
    verified(forge(alterations).bootProof, optionsOf(forge(alterations), { noPolicy: true, allowDebug: true }));

  it("pins what is the same once, and the others side by side", async () => {
    const [first, later] = [await of(), await of(nonce(9))];
    const { policy, notes } = makePolicy([first, later, first]);
    expect(policy.deployments.map(({ name }) => name)).toEqual(["lab/signer nonce 7", "lab/signer nonce 9"]);
    expect([policy.name, policy.trustAnchors, notes]).toEqual(["lab/signer", pinPolicy(first).trustAnchors, []]);
    for (const one of [forge(), forge(nonce(9))]) {
      const { report } = await verifyEvidence(
        { bootProofs: [one.bootProof] },
        { policy: throughFile(policy), now: NOW },
      );
      expect(report.verdict).toBe("verified");
    }
    expect(makePolicy([first])).toEqual(makePolicy(first));
  });

  it("gives a name that is taken a number", async () => {
    const args = manifest(({ pivot }) => ({ pivot: { ...pivot, args: ["--other"] } }));
    const { deployments } = pinPolicy([await of(), await of(args)], { appProofTypes: ["A"] });
    expect(deployments.map(({ name }) => name)).toEqual(["lab/signer nonce 7", "lab/signer nonce 7 (2)"]);
    expect(deployments.map(({ appProofs }) => appProofs)).toEqual([{ types: ["A"] }, { types: ["A"] }]);
  });

  it("has the anchors of all, each once, and says of each note whose it is", async () => {
    const captured = readVectorJson<JsonObject>(bootProofVectors()[0]!.bootProofs[0]!);
    const genuine = await verified(captured, { policy: NO_POLICY_ANY_ENCLAVE, now: new Date(NOW) });
    const { policy, notes } = makePolicy([await of(), genuine, await of(nonce(9))], { name: "both" });
    expect([policy.name, policy.trustAnchors]).toEqual([
      "both",
      [{ pem: certificatePem(lab.pki.rootCertificate) }, "aws-nitro-root-g1"],
    ]);
    expect(notes.length).toBeGreaterThan(0);
    expect(notes.every((note) => note.startsWith(`${policy.deployments[1]!.name!}: `))).toBe(true);
  });

  it("is not made of debug mode beside none, which one debug enclave would allow for all", async () => {
    const [plain, inDebug] = [await of(), await of(debug)];
    expect(refusalOf(() => makePolicy([plain, inDebug])).faults).toMatch(
      /^allowDebug: debug mode is allowed for a whole policy or not at all, and 1 of these 2 boot proofs is of/,
    );
    expect(makePolicy([inDebug, inDebug]).policy.allowDebug).toBe(true);
  });

  it("is made of verified boot proofs alone, and of one at least", async () => {
    for (const given of [[], [await of(), forge().bootProof]])
      expect(() => makePolicy(given as VerifiedBootProof[])).toThrow("only a VerifiedBootProof can be pinned");
  });
});
