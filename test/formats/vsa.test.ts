/** The VSA of a report: held against the published messages of in-toto, and against what SLSA's specification says. */
import { createHash } from "node:crypto";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { renderJunit, renderSarif, renderVsa } from "../../src/formats/index.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { DEMAND, GENUINE, NOW as AFTER_BOOT, evidence, policyOf } from "../support/provenance.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  type VerifyOptions,
  verifyAttestation,
  verifyEvidence,
} from "../../src/index.js";
import type { Evidence } from "../../src/index.js";
import type { ForgedEvidence } from "../../src/lab/forge.js";
import { labDeployment } from "../../src/lab/forge.js";
import type { JsonObject } from "../../src/decode/json.js";
import { renderJson } from "../../src/report/json.js";
import type { Report } from "../../src/report/report.js";
import { ACCEPTED } from "../attacks/accepted.table.js";
import { type Accepted, type Judgement, NOW, forge, judge, lab, optionsOf } from "../attacks/support.js";
import { STATEMENT, VERIFICATION_SUMMARY } from "../support/in-toto-schema.js";
import { DETAIL_FORMS, detailsOf, withoutLabels } from "../support/provisioning.js";
import type { Loose } from "../support/loose.js";
import { readVector } from "../support/vectors.js";
import { someOf } from "./told.js";

interface Vsa {
  readonly subject: readonly Loose[];
  readonly predicate: Loose[string];
}

const OWN = "pkg:npm/bootproof#report";
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const fitsStatement = ajv.compile(STATEMENT);
const fitsPredicate = ajv.compile(VERIFICATION_SUMMARY);

/** in-toto's Statement v1 and DigestSet, and SLSA's verification summary 1.1: what has to be there, of what form. */
const HEX = {
  type: "object",
  minProperties: 1,
  additionalProperties: { type: "string", pattern: "^(?:[0-9a-f]{2})+$" },
};
const DIGESTS = {
  ...HEX,
  properties: {
    sha256: { type: "string", pattern: "^[0-9a-f]{64}$" },
    sha384: { type: "string", pattern: "^[0-9a-f]{96}$" },
  },
};
const URI = { type: "string", pattern: "^[a-z][a-z0-9+.-]*:[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$" };
const fitsSpecification = ajv.compile({
  type: "object",
  required: ["_type", "subject", "predicateType", "predicate"],
  properties: {
    _type: { const: "https://in-toto.io/Statement/v1" },
    subject: {
      type: "array",
      minItems: 1,
      items: { type: "object", required: ["digest"], properties: { digest: DIGESTS } },
    },
    predicateType: { const: "https://slsa.dev/verification_summary/v1" },
    predicate: {
      type: "object",
      required: ["verifier", "timeVerified", "resourceUri", "policy", "verificationResult", "verifiedLevels"],
      properties: {
        verifier: { type: "object", required: ["id"], properties: { id: URI } },
        resourceUri: URI,
        policy: { type: "object", required: ["uri"], properties: { uri: URI, digest: DIGESTS } },
        inputAttestations: {
          type: "array",
          minItems: 1,
          items: { type: "object", required: ["digest"], properties: { uri: URI, digest: DIGESTS } },
        },
        verificationResult: { enum: ["PASSED", "FAILED"] },
        verifiedLevels: { type: "array", minItems: 1, items: { type: "string", pattern: "^(?!SLSA_)[A-Z][A-Z_]*$" } },
      },
    },
  },
});

/** Without what is beyond the published message: a field of our own, whose name is a URI, and one of SLSA 1.1. */
function publishedPart({ predicate }: Vsa): object {
  const { verifier, ...rest } = predicate;
  const known = Object.entries(rest as Loose).filter(([name]) => name !== OWN);
  return { ...Object.fromEntries(known), verifier: { id: verifier.id } };
}

function read(text: string): Vsa {
  expect(text.endsWith("}\n")).toBe(true);
  const vsa = JSON.parse(text) as Vsa;
  expect(fitsSpecification(vsa) ? [] : fitsSpecification.errors).toEqual([]);
  expect(fitsStatement(vsa) ? [] : fitsStatement.errors).toEqual([]);
  expect(fitsPredicate(publishedPart(vsa)) ? [] : fitsPredicate.errors).toEqual([]);
  const names = vsa.subject.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  return vsa;
}

async function vsaOf(evidence: Evidence, options: VerifyOptions): Promise<Vsa> {
  const { report } = await verifyEvidence(evidence, options);
  return read(await renderVsa(report, evidence));
}

const given = ({ bootProof }: ForgedEvidence): Evidence => ({ bootProofs: [bootProof] });
const forgedVsa = (evidence: ForgedEvidence, how: Judgement = {}): Promise<Vsa> =>
  vsaOf({ ...given(evidence), appProofs: evidence.appProofs }, optionsOf(evidence, how));
const namesOf = ({ subject }: Vsa): string[] => subject.map(({ name }) => name as string);
const digestOf = ({ subject }: Vsa, name: string): unknown => subject.find((each) => each["name"] === name)?.["digest"];
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const rowOf = (name: string): Accepted => ACCEPTED.find((row) => row.name === name)!;

describe("provenance of a build", () => {
  const wrong = { ...DEMAND, workflow: ".github/workflows/other.yml" };
  const reportOf = async (demand: object): Promise<{ report: Report; pieces: Evidence }> => {
    const bytes = new TextEncoder().encode(JSON.stringify(evidence.bootProof));
    const pieces: Evidence = { bootProofs: [bytes], provenance: [new TextEncoder().encode(GENUINE)] };
    const options = { policy: policyOf(demand), now: AFTER_BOOT, provenanceVerifier: await sigstoreVerifier() };
    return { report: (await verifyEvidence(pieces, options)).report, pieces };
  };

  it("is an input attestation, by the bundle's digest", async () => {
    const { report, pieces } = await reportOf(DEMAND);
    const { predicate } = read(await renderVsa(report, pieces));
    const sha256 = createHash("sha256").update(GENUINE).digest("hex");
    expect(predicate.verificationResult).toBe("PASSED");
    expect(predicate.inputAttestations?.map(({ digest }: Loose) => digest)).toContainEqual({ sha256 });
  });

  it("of another workflow fails in each format", async () => {
    const { report, pieces } = await reportOf(wrong);
    expect(await renderVsa(report, pieces)).toMatch(/"FAILED"[^]*provenance\.signer/);
    expect(renderSarif(report)).toMatch(/"ruleId": ?"provenance\.signer"/);
    expect(renderJunit(report)).toMatch(/name="provenance\.signer[^>]*>\s*<failure/);
  });
});

describe("the result", () => {
  it("is PASSED for what a policy of the caller's verified, with the warning of another root than AWS's", async () => {
    const { predicate } = await forgedVsa(forge());
    expect(predicate.verificationResult).toBe("PASSED");
    expect(predicate.verifiedLevels).toEqual(["BOOTPROOF_VERIFIED_WITH_WARNINGS"]);
    expect(predicate.verifier).toEqual({ id: "pkg:npm/bootproof", version: { bootproof: expect.any(String) } });
    expect(predicate.timeVerified).toBe(NOW.toISOString());
    expect(predicate[OWN]).toMatchObject({ verdict: "verified", whyFailed: null });
    expect(JSON.stringify(predicate[OWN]["warnings"])).toContain("nothing shows that this is AWS hardware");
    expect(JSON.stringify(predicate[OWN]["notProven"])).toContain("What source code");
  });

  it("has the level without warnings where there is none", async () => {
    const evidence = forge();
    const report = await judge(evidence);
    const checks = report.checks.map((check) =>
      check.id === "chain.anchor" ? { ...check, status: "pass" as const } : check,
    );
    const { predicate } = read(await renderVsa({ ...report, checks }, given(evidence)));
    expect(predicate.verifiedLevels).toEqual(["BOOTPROOF_VERIFIED"]);
  });

  it.each<[string, () => Promise<Vsa>, RegExp]>([
    ["no policy was given", () => forgedVsa(forge(), { noPolicy: true }), /no policy was given/],
    ["it was rejected", () => forgedVsa(forge(), { policy: { maxAge: "1m" } }), /rejected/],
    [
      "a report that contradicts itself",
      async () => {
        const report = await judge(forge());
        return read(await renderVsa({ ...report, claims: null }, given(forge())));
      },
      /rejected/,
    ],
    [
      "an unknown verdict",
      async () => {
        const report = await judge(forge());
        return read(await renderVsa({ ...report, verdict: "splendid" as never }, given(forge())));
      },
      /rejected/,
    ],
    ...(["required", "decision", "coverage"] as const).map((rule): [string, () => Promise<Vsa>, RegExp] => [
      `only boot proofs were asked for, and the policy has ${rule}`,
      async () => {
        const evidence = forge();
        const options = { ...optionsOf(evidence, { policy: { appProofs: { [rule]: true } } }), bootProofsOnly: true };
        return vsaOf(given(evidence), options);
      },
      new RegExp(`^rules of the policy were not applied: appProofs\\.${rule}$`),
    ]),
    [
      "no activity was given, and the policy has coverage",
      () => forgedVsa(forge(), { policy: { appProofs: { coverage: true } } }),
      /^rules of the policy were not applied: appProofs\.coverage$/,
    ],
    [
      "a bare document was, and the policy has rules about app proofs",
      async () => {
        const evidence = forge();
        const pcrs = (all: JsonObject): JsonObject[] => [{ name: "n", kind: "nitro", pcrs: all["pcrs"]! }];
        const how = { deployments: pcrs, policy: { appProofs: { required: true } } };
        const { report } = await verifyAttestation(evidence.document, optionsOf(evidence, how));
        return read(await renderVsa(report, new NamedEvidence("doc", evidence.document)));
      },
      /^rules of the policy were not applied: appProofs\.required$/,
    ],
  ])("is FAILED where %s", async (_, make, why) => {
    const { predicate } = await make();
    expect(predicate.verificationResult).toBe("FAILED");
    expect(predicate.verifiedLevels).toEqual(["FAILED"]);
    expect(predicate[OWN]["whyFailed"]).toMatch(why);
  });

  it("is PASSED where the same rules were applied", async () => {
    const evidence = rowOf("policy: exactly as old as allowed");
    const { predicate } = await forgedVsa(forge(evidence.forge), { policy: { appProofs: { required: true } } });
    expect(predicate.verificationResult).toBe("PASSED");
  });

  it("is FAILED for debug mode that was allowed, and no zeros are its subject", async () => {
    const enclave = rowOf("a debug enclave that the caller allows, without a policy");
    const vsa = await forgedVsa(forge(enclave.forge), enclave.judge);
    expect(vsa.predicate.verificationResult).toBe("FAILED");
    expect(namesOf(vsa)).toEqual(["boot[0]/pivot"]);
    const pivot = rowOf("debug mode that the policy allows");
    const { predicate } = await forgedVsa(forge(pivot.forge), pivot.judge);
    expect(predicate.verificationResult).toBe("FAILED");
    expect(predicate[OWN]).toMatchObject({ verdict: "verified", whyFailed: expect.stringMatching(/debug mode/) });
  });

  it("is PASSED with a policy of the caller's that stands beside a bundle", async () => {
    const report = await judge(forge());
    const { predicate } = read(
      await renderVsa(report, given(forge()), { bundle: { policyFrom: "caller", packed: null } }),
    );
    expect(predicate.verificationResult).toBe("PASSED");
  });
});

describe("subjects", () => {
  const { pcr0, pcr1, pcr2 } = lab.measurements;
  const SHOWN = {
    "boot[0]/pivot": { sha256: hexOf(lab.pivotHash) },
    "boot[0]/pcr0": { sha384: hexOf(pcr0) },
    "boot[0]/pcr1": { sha384: hexOf(pcr1) },
    "boot[0]/pcr2": { sha384: hexOf(pcr2) },
  };

  it.each<[string, Judgement]>([
    ["PASSED", {}],
    ["FAILED", { policy: { maxAge: "1m" } }],
  ])("are the pivot's hash and PCR0 to 2 as shown, also in one that %s", async (result, how) => {
    const vsa = await forgedVsa(forge(), how);
    expect(vsa.predicate.verificationResult).toBe(result);
    expect(Object.fromEntries(vsa.subject.map(({ name, digest }) => [name, digest]))).toEqual(SHOWN);
  });

  it.each(["v1", "v3"] as const)(
    "are the document, not the program, where the policy leaves that open: %s",
    async (version) => {
      const evidence = forge({ version });
      const { pivotHash, workloads, namespace, minNonce, ...rest } = labDeployment(lab, version);
      void [pivotHash, workloads, namespace, minNonce];
      const deployments = (): JsonObject[] => [{ ...rest, open: ["application"] }];
      const vsa = await forgedVsa(evidence, { deployments });
      expect(vsa.predicate.verificationResult).toBe("PASSED");
      expect(namesOf(vsa)).toEqual(["boot[0]/document", "boot[0]/pcr0", "boot[0]/pcr1", "boot[0]/pcr2"]);
      const document = createHash("sha256").update(evidence.document).digest("hex");
      expect(digestOf(vsa, "boot[0]/document")).toEqual({ sha256: document });
      // A boot proof that was verified before has no bytes of its document.
      const options = { ...optionsOf(evidence, { deployments }), bootProofsOnly: true };
      const { bootProofs } = await verifyEvidence(given(evidence), options);
      const again = await vsaOf({ bootProofs }, options);
      expect(namesOf(again)).toEqual(["boot[0]/pcr0", "boot[0]/pcr1", "boot[0]/pcr2"]);
    },
  );

  it.each(["v0", "v1", "v2"] as const)("are read from a manifest %s", async (version) => {
    expect(digestOf(await forgedVsa(forge({ version })), "boot[0]/pivot")).toEqual(SHOWN["boot[0]/pivot"]);
  });

  it("are the digests of the workloads' images where a manifest runs those", async () => {
    const evidence = forge({ version: "v3" });
    const vsa = await forgedVsa(evidence, { deployments: () => [labDeployment(lab, "v3")] });
    const images = evidence.manifest.workloads!.map(({ name, imageDigest }) => [name, hexOf(imageDigest)] as const);
    expect(images.length).toBeGreaterThan(0);
    for (const [name, sha256] of images) expect(digestOf(vsa, `boot[0]/workload/${name}`)).toEqual({ sha256 });
    expect(digestOf(vsa, "boot[0]/pcr2")).toEqual(SHOWN["boot[0]/pcr2"]);
  });

  it("are the PCRs alone of a bare document, read from its bytes", async () => {
    const document = readVector("nitro/tk-rustsdk-lib-rs-20250916.cbor");
    const { report } = await verifyAttestation(document, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW });
    const shown = report.claims!.bootProofs[0]!.hardware.pcrs;
    for (const evidence of [document, new NamedEvidence("document.cbor", document)]) {
      const vsa = read(await renderVsa(report, evidence));
      expect(namesOf(vsa)).toEqual(["boot[0]/pcr0", "boot[0]/pcr1", "boot[0]/pcr2"]);
      expect(digestOf(vsa, "boot[0]/pcr1")).toEqual({ sha384: shown["1"] });
    }
  });

  it("say which boot proof each is of, and in which file", async () => {
    const evidence = forge();
    const bootProofs = ["one.json", "two.json"].map(
      (name) => new NamedEvidence(name, JSON.stringify(evidence.bootProof)),
    );
    const vsa = await vsaOf({ bootProofs }, { ...optionsOf(evidence), bootProofsOnly: true });
    expect(namesOf(vsa).filter((name) => name.endsWith("pivot"))).toEqual(["boot[0]/pivot", "boot[1]/pivot"]);
    expect(vsa.subject.at(-1)).toMatchObject({ name: "boot[1]/pcr2", annotations: { evidence: "two.json" } });
  });

  it("are those of a boot proof that was verified before", async () => {
    const evidence = forge();
    const options = { ...optionsOf(evidence), bootProofsOnly: true };
    const { bootProofs } = await verifyEvidence(given(evidence), options);
    const vsa = await vsaOf({ bootProofs }, options);
    expect(Object.fromEntries(vsa.subject.map(({ name, digest }) => [name, digest]))).toEqual(SHOWN);
  });

  it("are what can be read, where the rest cannot", async () => {
    const evidence = forge();
    const noManifest = { ...evidence.bootProof, qosManifestB64: "AAAA" };
    expect(namesOf(await vsaOf({ bootProofs: [noManifest] }, optionsOf(evidence)))).toEqual(
      Object.keys(SHOWN).slice(1),
    );
    const noDocument = { ...evidence.bootProof, cloudAttestationDocB64: "AAAA" };
    expect(namesOf(await vsaOf({ bootProofs: [noDocument] }, optionsOf(evidence)))).toEqual(["boot[0]/pivot"]);
  });

  it("are the piece itself by the digest of its bytes, where nothing of it can be read", async () => {
    const text = "no boot proof";
    const sha256 = createHash("sha256").update(text).digest("hex");
    const vsa = await vsaOf({ bootProofs: [text] }, optionsOf(forge()));
    expect(vsa.subject).toEqual([{ name: "boot[0]", digest: { sha256 } }]);
    const garbage = Uint8Array.of(1, 2, 3);
    const { report } = await verifyAttestation(garbage, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW });
    expect(namesOf(read(await renderVsa(report, garbage)))).toEqual(["boot[0]"]);
  });

  it("are the other pieces where there is no boot proof", async () => {
    const evidence = forge();
    const appProofs = evidence.appProofs.map((proof) => JSON.stringify(proof));
    const vsa = await vsaOf({ bootProofs: [], appProofs }, optionsOf(evidence));
    expect(namesOf(vsa)).toEqual(["app[0]"]);
  });

  it("are the report, as JSON, where nothing has a digest", async () => {
    const evidence: Evidence = { bootProofs: [{}] };
    const { report } = await verifyEvidence(evidence, { ...optionsOf(forge()), bootProofsOnly: true });
    const vsa = read(await renderVsa(report, evidence));
    const sha256 = createHash("sha256").update(renderJson(report)).digest("hex");
    expect(vsa.subject).toEqual([{ name: "report", digest: { sha256 } }]);
    expect(vsa.predicate).not.toHaveProperty("inputAttestations");
  });
});

describe("policy and evidence", () => {
  it("are named by their digests", async () => {
    const evidence = forge();
    const text = JSON.stringify(evidence.bootProof);
    const options = { ...optionsOf(evidence), bootProofsOnly: true };
    const { report } = await verifyEvidence({ bootProofs: [text] }, options);
    const { predicate } = read(await renderVsa(report, { bootProofs: [text] }));
    const uri = `ni:///sha-256;${Buffer.from(report.policyDigest!, "hex").toString("base64url")}`;
    expect(predicate.policy).toEqual({ uri, digest: { sha256: report.policyDigest } });
    expect(predicate.resourceUri).toBe(
      `${uri}#deployment=${encodeURIComponent(report.claims!.bootProofs[0]!.deployment!)}`,
    );
    const sha256 = createHash("sha256").update(text).digest();
    expect(predicate.inputAttestations).toEqual([
      { uri: `ni:///sha-256;${sha256.toString("base64url")}`, digest: { sha256: sha256.toString("hex") } },
    ]);
  });

  it("are left out where some of the evidence has no digest: a list is of all of it, or none", async () => {
    const evidence = forge();
    const mixed = { bootProofs: [JSON.stringify(evidence.bootProof), evidence.bootProof] };
    const { predicate } = await vsaOf(mixed, { ...optionsOf(evidence), bootProofsOnly: true });
    expect(predicate).not.toHaveProperty("inputAttestations");
    expect(predicate[OWN]["evidence"]).toHaveLength(2);
  });

  it("have URIs of their own where there is no policy, or none with a digest", async () => {
    const { predicate } = await forgedVsa(forge(), { noPolicy: true });
    expect(predicate.policy).toEqual({ uri: "pkg:npm/bootproof#no-policy" });
    const report = await judge(forge());
    const valued = read(await renderVsa({ ...report, policy: null, policyDigest: null }, given(forge())));
    expect(valued.predicate.policy).toEqual({ uri: "pkg:npm/bootproof#policy-without-digest" });
    expect(valued.predicate.resourceUri).toMatch(/^pkg:npm\/bootproof#deployment=/);
  });

  it("are URIs whatever a deployment is called", async () => {
    const report = await judge(forge());
    const named = report.claims!.bootProofs.map((boot) => ({ ...boot, deployment: "a,b#c d\u{d800}/é" }));
    const vsa = read(await renderVsa({ ...report, claims: { ...report.claims!, bootProofs: named } }, given(forge())));
    expect(vsa.predicate.resourceUri).toMatch(/#deployment=a%2Cb%23c%20d%EF%BF%BD%2F%C3%A9$/);
  });
});

it.each(someOf(ACCEPTED))("fits, of what is accepted: %s", async (_, row) => {
  const evidence = forge(row.forge);
  const report = await judge(evidence, row.judge);
  const shown = row.judge?.bare === true ? evidence.document : (row.judge?.given?.(evidence) ?? given(evidence));
  const { predicate, subject } = read(await renderVsa(report, shown));
  const isDebug = report.claims!.bootProofs.some(({ image }) => image.debug);
  expect(predicate.verificationResult).toBe(report.verdict === "verified" && !isDebug ? "PASSED" : "FAILED");
  if (!isDebug) expect(subject.some(({ name }) => name === "boot[0]/pcr0")).toBe(true);
});

it.each(DETAIL_FORMS)("of provisioning details has the application of the envelope's manifest: %s", async (form) => {
  const evidence = forge({ generation: "setup", payloads: [], bootProof: (proof) => detailsOf(proof, form) });
  const pins = withoutLabels(labDeployment(lab));
  const deployments = (): JsonObject[] => [{ ...pins, commitment: "setup" }];
  const report = await judge(evidence, { deployments, policy: { maxAge: "1h" } });
  const given = { bootProofs: [evidence.bootProof] };
  const { subject } = JSON.parse(await renderVsa(report, given)) as Vsa;
  expect(subject).toEqual(
    expect.arrayContaining([{ name: "boot[0]/pivot", digest: { sha256: labDeployment(lab)["pivotHash"] } }]),
  );
});
