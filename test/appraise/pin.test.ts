/** Making policies: what is pinned from evidence passes as that evidence, and nothing else does. */
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { toHex } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import {
  NO_POLICY_ANY_ENCLAVE, type PolicyFile, type VerifiedBootProof, type VerifyOptions, parsePolicy, pinPolicy, policyFromRelease, verifyAttestation, verifyEvidence,
} from "../../src/index.js";
import { certificatePem } from "../../src/lab/pki.js";
import { generateQosKeyPair, memberSet } from "../../src/lab/qos.js";
import {
  type Alterations, NOW, drop, forge, idsOf, judge, lab, manifest, optionsOf, otherLab, pcrs, put,
} from "../attacks/support.js";
import { refusalOf } from "../support/faults.js";
import { bootProofVectors, readVectorJson, readVectorText } from "../support/vectors.js";

async function verified(bootProof: unknown, options: VerifyOptions): Promise<VerifiedBootProof> {
  const { bootProofs: [proof], report } = await verifyEvidence({ bootProofs: [bootProof] }, options);
  expect(report.checks.filter(({ status }) => status === "fail")).toEqual([]);
  return proof!;
}

/** As it is written to a file and read again. */
function throughFile(policy: PolicyFile): ReturnType<typeof parsePolicy> {
  return parsePolicy(JSON.stringify(policy, null, 2));
}

describe("a policy pinned from a genuine pair", async () => {
  const [first, second] = bootProofVectors().map(({ bootProofs, appProofs, now }) => ({
    bootProof: readVectorJson<JsonObject>(bootProofs[0]!), appProof: readVectorJson<JsonObject>(appProofs[0]!), now: new Date(now),
  })) as [Pair, Pair];
  interface Pair { bootProof: JsonObject; appProof: JsonObject; now: Date }
  const anyEnclave = { policy: NO_POLICY_ANY_ENCLAVE, now: first.now } as const;
  const [pinnedFirst, pinnedSecond] = [pinPolicy(await verified(first.bootProof, anyEnclave)), pinPolicy(await verified(second.bootProof, anyEnclave))];
  const judged = async (policy: PolicyFile, pair: Pair) =>
    (await verifyEvidence({ bootProofs: [pair.bootProof], appProofs: [pair.appProof] }, { policy: throughFile(policy), now: first.now })).report;

  it("verifies that pair", async () => {
    const report = await judged(pinnedFirst, first);
    expect(report.verdict).toBe("verified");
    expect(report.policy).toBe(pinnedFirst.name);
    expect(report.claims!.bootProofs[0]!.deployment).toBe(pinnedFirst.deployments[0]!.name);
    expect((await judged(pinnedSecond, second)).verdict).toBe("verified");
  });

  it("names the built-in anchor, and says legacy", () => {
    expect(pinnedFirst.trustAnchors).toEqual(["aws-nitro-root-g1"]);
    expect(pinnedFirst.deployments[0]!.commitment).toBe("legacy");
    expect(pinnedFirst).not.toHaveProperty("allowDebug");
  });

  it("pins what the evidence says, and no more", async () => {
    const proof = await verified(first.bootProof, anyEnclave);
    expect(Object.keys(pinnedFirst.deployments[0]!).sort()).toEqual(["commitment", "manifestSet", "minNonce", "name", "namespace", "pcrs", "pivotHash", "quorumKey"]);
    expect(pinnedFirst.deployments[0]).toMatchObject({
      pcrs: Object.fromEntries([0, 1, 2, 3].map((index) => [index, toHex(proof.attestation.document.pcrs.get(index)!)])),
      pivotHash: toHex(proof.manifest.pivot!.hash), namespace: "preprod/signer", quorumKey: toHex(proof.manifest.namespace.quorumKey),
      manifestSet: { threshold: proof.manifest.manifestSet.threshold, members: proof.manifest.manifestSet.members.map(({ pubKey }) => toHex(pubKey)) },
    });
  });

  it("verifies the other pair too: another enclave of the same deployment", async () => {
    expect(pinnedSecond.deployments).toEqual(pinnedFirst.deployments);
    expect((await judged(pinnedFirst, second)).verdict).toBe("verified");
  });

  it.each<[pin: string, value: JsonValue, fails: CheckId]>([
    ["pcrs.0", "ab".repeat(48), "policy.pcrs"], ["pcrs.3", "ab".repeat(48), "policy.pcrs"], ["pivotHash", "ab".repeat(32), "policy.pivot"],
    ["namespace", "prod/signer", "policy.namespace"], ["minNonce", 4294967295, "policy.nonce"], ["quorumKey", "ab".repeat(130), "policy.quorum-key"],
    ["manifestSet.members.0", "ab".repeat(130), "policy.manifest-set"], ["commitment", "live", "policy.commitment"],
  ])("with another %s refuses that pair", async (pin, value, fails) => {
    const policy = put(`deployments.0.${pin}`, value)(pinnedFirst as unknown as JsonObject) as unknown as PolicyFile;
    expect(idsOf(await judged(policy, first), "fail")).toEqual(["policy.deployment", fails].sort());
  });

  it("refuses the pair with its app proofs exchanged", async () => {
    expect(idsOf(await judged(pinnedFirst, { ...first, appProof: second.appProof }), "fail")).toEqual(["app.key"]);
  });

  it("refuses evidence of the lab, and the lab's policy refuses it", async () => {
    const evidence = forge({ version: "v0", generation: "legacy" });
    const foreign = await judged(pinnedFirst, { bootProof: evidence.bootProof, appProof: evidence.appProofs[0]!, now: NOW });
    expect(idsOf(foreign, "fail")).toContain("chain.anchor");
    const { report } = await verifyEvidence({ bootProofs: [first.bootProof] }, optionsOf(evidence));
    expect(idsOf(report, "fail")).toContain("chain.anchor");
  });
});

describe("a policy pinned from the lab", () => {
  const kinds: Alterations[] = (["v0", "v1", "v2"] as const).flatMap((version) => (["live", "legacy"] as const).map((generation) => ({ version, generation })));

  it.each([...kinds, { generation: "setup", payloads: [] } as Alterations])("of $version $generation reads back, and verifies what it was made from", async (kind) => {
    const evidence = forge(kind);
    const proof = await verified(evidence.bootProof, optionsOf(evidence, { noPolicy: true }));
    const policy = pinPolicy(proof);
    expect(parsePolicy(policy)).toEqual(throughFile(policy));
    expect(JSON.parse(JSON.stringify(policy))).toEqual(policy);
    for (const bootProof of [evidence.bootProof, proof]) {
      const { report } = await verifyEvidence({ bootProofs: [bootProof], appProofs: evidence.appProofs }, { policy: throughFile(policy), now: NOW });
      expect(report.verdict).toBe("verified");
    }
  });

  it("writes its anchor as PEM", async () => {
    const policy = await pinned();
    expect(policy.trustAnchors).toEqual([{ pem: certificatePem(lab.pki.rootCertificate) }]);
    expect(toHex(throughFile(policy).trustAnchors[0]!.certificate.der)).toBe(toHex(lab.pki.rootCertificate));
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

  const others: [name: string, alterations: Alterations, fails: CheckId[]][] = [
    ["another image", { ...manifest(({ enclave }) => ({ enclave: { ...enclave, pcr0: new Uint8Array(48).fill(1) } })), ...pcrs((map) => map.set(0, new Uint8Array(48).fill(1))) }, ["policy.pcrs"]],
    ["another role", { ...manifest(({ enclave }) => ({ enclave: { ...enclave, pcr3: new Uint8Array(48).fill(1) } })), ...pcrs((map) => map.set(3, new Uint8Array(48).fill(1))) }, ["policy.pcrs"]],
    ["another binary", manifest(({ pivot }) => ({ pivot: { ...pivot, hash: new Uint8Array(32) } })), ["policy.pivot"]],
    ["another namespace", manifest(({ namespace }) => ({ namespace: { ...namespace, name: "lab/signer/2" } })), ["policy.namespace"]],
    ["an older manifest", manifest(({ namespace }) => ({ namespace: { ...namespace, nonce: 6 } })), ["policy.nonce"]],
    ["another quorum key", manifest(({ namespace }) => ({ namespace: { ...namespace, quorumKey: generateQosKeyPair().publicKey } })), ["policy.quorum-key"]],
    ["a member fewer", manifest(() => ({ manifestSet: memberSet(2, lab.manifestMembers.slice(0, 2)) })), ["policy.manifest-set"]],
    ["a lower threshold", manifest(() => ({ manifestSet: memberSet(1, lab.manifestMembers) })), ["policy.manifest-set"]],
    ["no commitment", { generation: "legacy" }, ["policy.commitment"]],
    ["the commitment of its setup", { generation: "setup", payloads: [] }, ["policy.commitment"]],
  ];
  it.each(others)("refuses %s", async (_, alterations, fails) => {
    const policy = throughFile(await pinned());
    const { report } = await verifyEvidence({ bootProofs: [forge(alterations).bootProof] }, { policy, now: NOW });
    expect(idsOf(report, "fail")).toEqual(["policy.deployment", ...fails].sort());
  });

  const same: [name: string, alterations: Alterations][] = [
    ["a newer manifest", manifest(({ namespace }) => ({ namespace: { ...namespace, nonce: 8 } }))],
    ["another share set", manifest(() => ({ shareSet: memberSet(1, lab.shareMembers) }))],
    ["other arguments", manifest(({ pivot }) => ({ pivot: { ...pivot, args: ["--other"] } }))],
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

  it("is not made from anything but a verified boot proof", async () => {
    const { attestation } = await verifyAttestation(forge().document, optionsOf(forge(), { noPolicy: true }));
    const { appProofs: [appProof] } = await verifyEvidence({ bootProofs: [forge().bootProof], appProofs: forge().appProofs }, optionsOf(forge()));
    for (const other of [null, undefined, {}, forge().bootProof, forge().manifest, attestation, appProof]) {
      expect(() => pinPolicy(other as unknown as VerifiedBootProof)).toThrow(TypeError);
    }
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
      deployments: [{
        name: `${app} r2025.9.3`, pivotHash: entry["appBinaryDigest"],
        pcrs: { "0": entry["PCR0"], "1": entry["PCR1"], "2": entry["PCR2"], "3": entry["PCR3"] },
      }],
    });
    expect(() => throughFile(policy)).not.toThrow();
  });

  it("is of five applications", () => {
    expect(apps.length).toBe(5);
  });

  it("holds a genuine boot proof against its release", async () => {
    const [{ bootProofs, now }] = bootProofVectors() as [ReturnType<typeof bootProofVectors>[number]];
    const options = { policy: throughFile(policyFromRelease(release, "signer")), now: new Date(now) };
    const { report } = await verifyEvidence({ bootProofs: [readVectorJson(bootProofs[0]!)] }, options);
    const differing = idsOf(report, "fail");
    // The pair was made by the release before: same images and binary or not, every difference is one of these two.
    expect(differing.filter((id) => !["policy.deployment", "policy.pcrs", "policy.pivot"].includes(id))).toEqual([]);
  });

  it("verifies the enclave that a release of the lab describes, and no other", async () => {
    const { enclave, pivotHash } = lab.manifestParts();
    const entry = { appBinaryDigest: toHex(pivotHash), PCR0: toHex(enclave.pcr0), PCR1: toHex(enclave.pcr1), PCR2: toHex(enclave.pcr2), PCR3: toHex(enclave.pcr3) };
    const evidence = forge();
    const judged = async (app: JsonObject) => {
      const policy = parsePolicy({ ...policyFromRelease({ version: "r1", signer: app }, "signer"), trustAnchors: [{ pem: evidence.anchorPem }] });
      return (await verifyEvidence({ bootProofs: [evidence.bootProof] }, { policy, now: NOW })).report;
    };
    expect((await judged(entry)).verdict).toBe("verified");
    expect(idsOf(await judged({ ...entry, PCR2: "ab".repeat(48) }), "fail")).toEqual(["policy.deployment", "policy.pcrs"]);
    expect(idsOf(await judged({ ...entry, appBinaryDigest: "ab".repeat(32) }), "fail")).toEqual(["policy.deployment", "policy.pivot"]);
  });

  const rows: [name: string, release: unknown, app: string, says: string][] = [
    ["an application that it has not", release, "wallet", "signer"],
    ["the word version", release, "version", "not in this release"],
    ["an application in another case", release, "Signer", "not in this release"],
    ["no application", release, "", "not in this release"],
    ["a member of every object", release, "constructor", "not in this release"],
    ["__proto__", release, "__proto__", "not in this release"],
    ["a release without applications", { version: "r1" }, "signer", "nothing"],
    ["null", null, "signer", "null, an object wanted"],
    ["undefined", undefined, "signer", "an object wanted"],
    ["an array", [release], "signer", "an array, an object wanted"],
    ["a text", readVectorText("releases/r2025.9.3.yaml"), "signer", "a string, an object wanted"],
    ["no version", drop("version")(release), "signer", "version: missing, a string wanted"],
    ["a version that YAML reads as a number", put("version", 2025.9)(release), "signer", "version: a number, a string wanted"],
    ["an application that is a text", put("signer", "x")(release), "signer", "signer: a string, an object wanted"],
    ["an application that is null", put("signer", null)(release), "signer", "signer: "],
    ...["appBinaryDigest", "PCR0", "PCR1", "PCR2", "PCR3"].flatMap((member): [string, unknown, string, string][] => [
      [`no ${member}`, drop(`signer.${member}`)(release), "signer", `signer.${member}: missing, a string wanted`],
      [`${member} that is a number`, put(`signer.${member}`, 7 as JsonValue)(release), "signer", `signer.${member}: a number, a string wanted`],
      [`${member} a digit short`, put(`signer.${member}`, ((release["signer"] as Record<string, string>)[member]!).slice(1))(release), "signer", "hex digits"],
      [`${member} with 0x`, put(`signer.${member}`, `0x${(release["signer"] as Record<string, string>)[member]!}`)(release), "signer", "not hex"],
    ]),
    ["several faults", { version: 1, signer: { PCR0: 1, PCR1: 2 } }, "signer", "version: a number"],
  ];
  it.each(rows)("refuses %s", (_, input, app, says) => {
    const refusal = refusalOf(() => policyFromRelease(input, app));
    expect(refusal.code).toBe("release");
    expect(refusal.faults).toContain(says);
  });

  it("tells all faults at once", () => {
    expect(refusalOf(() => policyFromRelease({ version: 1, signer: { PCR0: 1 } }, "signer")).paths.sort()).toEqual(
      ["signer.PCR0", "signer.PCR1", "signer.PCR2", "signer.PCR3", "signer.appBinaryDigest", "version"]);
  });

  it("takes hex in either case, and ignores what else the release says", () => {
    const signer = release["signer"] as Record<string, string>;
    const upper = { ...signer, PCR0: signer["PCR0"]!.toUpperCase(), PCR8: "x", image: { tag: 1 } };
    expect(() => throughFile(policyFromRelease({ version: "r1", signer: upper, other: 7 }, "signer"))).not.toThrow();
  });
});

it.each<[string, Alterations]>([
  ["a quorum key of another length", manifest(({ namespace }) => ({ namespace: { ...namespace, quorumKey: new Uint8Array(65) } }))],
  ["a namespace without a name", manifest(({ namespace }) => ({ namespace: { ...namespace, name: "" } }))],
])("a manifest with %s, which no policy can pin, is not pinned", async (_, alterations) => {
  const odd = forge(alterations);
  const proof = await verified(odd.bootProof, optionsOf(odd, { noPolicy: true }));
  expect(refusalOf(() => pinPolicy(proof)).code).toBe("policy");
});
