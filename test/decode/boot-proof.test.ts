import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, toUtf8 } from "../../src/bytes.js";
import { decodeBootProof, readBootProof } from "../../src/decode/boot-proof.js";
import { parseJson } from "../../src/decode/json.js";
import { decodeManifestEnvelope } from "../../src/decode/manifest/index.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { faultsOf, isRefused, refusalOf } from "../support/faults.js";
import { type Json, withMember } from "../support/manifest.js";
import { DETAIL_FORMS, type DetailForm, detailsOf, genuineDetails } from "../support/provisioning.js";
import { bootProofVectors, readVectorJson } from "../support/vectors.js";

const FILE = bootProofVectors()[0]!.bootProofs[0]!;
const genuine = readVectorJson<Json>(FILE);
/** The genuine proof in the interface's own spelling. */
const { awsAttestationDocB64, ...rest } = genuine;
const proof: Json = { ...rest, cloudAttestationDocB64: awsAttestationDocB64 };
const B64 = ["qosManifestB64", "qosManifestEnvelopeB64", "cloudAttestationDocB64"];
const LABELS = ["deploymentLabel", "enclaveApp", "owner"];
const TEXTS = ["ephemeralPublicKeyHex", ...B64, ...LABELS];

describe("decodeBootProof", () => {
  it("reads every field, as bytes and text", () => {
    expect(decodeBootProof(proof)).toEqual({
      form: "service",
      ephemeralPublicKey: fromHex(proof.ephemeralPublicKeyHex),
      attestationDocument: fromBase64(proof.cloudAttestationDocB64),
      manifest: fromBase64(proof.qosManifestB64),
      manifestEnvelope: fromBase64(proof.qosManifestEnvelopeB64),
      labels: { deploymentLabel: "r2025.9.2", enclaveApp: "signer", owner: "tkhq" },
      createdAt: { seconds: "1758057949", nanos: "436158000" },
      declaredManifestVersion: null,
      provisioningState: null,
    });
  });

  it("reads the value, its text, its bytes, and each of them in its wrapper", () => {
    const expected = decodeBootProof(proof);
    for (const value of [proof, { bootProof: proof }]) {
      const text = JSON.stringify(value);
      for (const input of [value, text, toUtf8(text), ` ${text}\n`]) expect(decodeBootProof(input)).toEqual(expected);
    }
  });

  it("accepts both spellings if they agree", () => {
    expect(decodeBootProof({ ...proof, awsAttestationDocB64 })).toEqual(decodeBootProof(proof));
    const other = readVectorJson<Json>(bootProofVectors()[1]!.bootProofs[0]!).awsAttestationDocB64;
    expect(faultsOf(() => decodeBootProof({ ...proof, awsAttestationDocB64: other }))).toContain(
      "awsAttestationDocB64: differs from cloudAttestationDocB64",
    );
    expect(faultsOf(() => decodeBootProof({ ...proof, awsAttestationDocB64: "" }))).toContain(
      "awsAttestationDocB64: differs",
    );
    expect(faultsOf(() => decodeBootProof({ ...proof, awsAttestationDocB64: 1 }))).toBe(
      "awsAttestationDocB64: expected a string, got a number",
    );
    expect(faultsOf(() => decodeBootProof({ ...genuine, cloudAttestationDocB64: "=" }))).toContain(
      "cloudAttestationDocB64: not strict base64",
    );
  });

  it.each(
    TEXTS.flatMap((name): [string, Json, string][] => [
      ...(LABELS.includes(name)
        ? []
        : [undefined, null].map((absent): [string, Json, string] => [name, absent, "expected a string, got nothing"])),
      [name, 1, "expected a string, got a number"],
      [name, ["AA=="], "expected a string, got an array"],
      [name, {}, "expected a string, got an object"],
    ]),
  )("refuses %s %j", (name, member, message) => {
    const refusal = refusalOf(() => decodeBootProof(withMember(proof, name, member)));
    expect(refusal).toMatchObject({ code: "boot-proof", faults: `${name}: ${message}`, paths: [name] });
  });

  it.each<[string, Json, string]>([
    ["createdAt", [], "createdAt: expected an object, got an array"],
    ["createdAt.seconds", undefined, "createdAt.seconds: expected a string, got nothing"],
  ])("refuses %s %j", (path, member, fault) => {
    expect(faultsOf(() => decodeBootProof(withMember(proof, path, member)))).toBe(fault);
  });

  it.each(
    [...LABELS, "createdAt"].flatMap(
      (name) =>
        [
          [name, undefined],
          [name, null],
        ] as const,
    ),
  )("reads %s %j as absent", (name, absent) => {
    const { missing, faults, value } = readBootProof(withMember(proof, name, absent));
    expect([missing, faults]).toEqual([[name], []]);
    const said = decodeBootProof(proof);
    const labels = name === "createdAt" ? said.labels : { ...said.labels, [name]: null };
    const createdAt = name === "createdAt" ? null : said.createdAt;
    expect(decodeBootProof(withMember(proof, name, absent))).toEqual({ ...said, labels, createdAt });
    expect(value).toMatchObject({ labels, createdAt });
  });

  it("lists all that the deployed six members lack, and nothing for a complete one", () => {
    const six = readVectorJson<Json>("boot-proofs/six-members.json");
    expect(readBootProof(six)).toMatchObject({ missing: ["owner", "createdAt"], faults: [] });
    expect(decodeBootProof(six).labels).toEqual({ deploymentLabel: "r2025.9.2", enclaveApp: "signer", owner: null });
    expect(readBootProof(proof).missing).toEqual([]);
    expect(readBootProof({ ...proof, owner: "" }).missing).toEqual([]);
    expect(readBootProof(null).missing).toEqual([]);
  });

  it("reports every fault, and keeps the good fields", () => {
    const bad = { ...proof, ephemeralPublicKeyHex: "x", qosManifestB64: "x", owner: 1 };
    const reading = readBootProof(bad);
    expect(reading.faults.map(({ path }) => path)).toEqual(["ephemeralPublicKeyHex", "qosManifestB64", "owner"]);
    expect(reading.value.manifestEnvelope).toEqual(fromBase64(proof.qosManifestEnvelopeB64));
    expect(reading.value.manifest).toBeUndefined();
    expect(reading.value.labels).toBeUndefined();
  });

  it.each<[string, Json]>([
    ["a wrapper in a wrapper", { bootProof: { bootProof: proof } }],
    ["undefined", undefined],
    ["an inherited proof", Object.create(proof) as object],
  ])("refuses %s", (_, input) => {
    expect(refusalOf(() => decodeBootProof(input)).code).toBe("boot-proof");
  });
});

describe("provisioning details", () => {
  const at = new Date("2026-03-04T05:06:07.000Z");
  const setup = forgeEvidence({ lab: new Forge(), at, generation: "setup", payloads: [] });
  const made = (form: DetailForm): Json => detailsOf(setup.bootProof, form);
  const DOCUMENTS = {
    file: "attestation_document_cose_sign1_base64",
    browser: "attestationDocumentCoseSign1Base64",
    query: "attestationDocument",
  } as const;
  const ENVELOPES = { file: "manifest_envelope", browser: "manifestEnvelope", query: "manifestEnvelope" } as const;
  const refusedPaths = (value: unknown): unknown => refusalOf(() => decodeBootProof(value)).paths;

  it("of hardware are read: document, envelope, no key, no manifest, no labels", () => {
    const details = genuineDetails();
    const { manifestEnvelope, ...read } = decodeBootProof(details);
    expect(read).toEqual({
      form: "provisioning",
      ephemeralPublicKey: null,
      attestationDocument: fromBase64(details["attestation_document_cose_sign1_base64"] as string),
      manifest: null,
      labels: { deploymentLabel: null, enclaveApp: null, owner: null },
      createdAt: null,
      declaredManifestVersion: null,
      provisioningState: null,
    });
    expect(decodeManifestEnvelope(manifestEnvelope).manifest.namespace.nonce).toBe(1782779387);
    expect(parseJson(manifestEnvelope)).toEqual(parseJson(JSON.stringify(details["manifest_envelope"])));
    expect(readBootProof(details)).toMatchObject({ missing: [], faults: [] });
  });

  it.each(DETAIL_FORMS)("of form %s are read as value, text and bytes, bare and in a wrapper", (form) => {
    const expected = decodeBootProof(made(form));
    expect(expected.form).toBe("provisioning");
    expect(expected.ephemeralPublicKey).toEqual(
      form === "browser" ? fromHex(setup.bootProof["ephemeralPublicKeyHex"] as string) : null,
    );
    for (const value of [made(form), { bootProof: made(form) }]) {
      const text = JSON.stringify(value);
      for (const input of [value, text, toUtf8(text)]) expect(decodeBootProof(input)).toEqual(expected);
    }
  });

  it("become the same bytes with a number in any spelling, however they were parsed", () => {
    const text = JSON.stringify(genuineDetails());
    const bytes = decodeBootProof(text).manifestEnvelope;
    for (const spelt of ["1782779387.0", "17827793870e-1"]) {
      const other = text.replace('"nonce":1782779387', `"nonce":${spelt}`);
      expect(other).not.toBe(text);
      const literal = parseJson(other, { numbers: "literal" });
      for (const input of [other, JSON.parse(other), literal])
        expect(decodeBootProof(input).manifestEnvelope).toEqual(bytes);
    }
    const beyond = parseJson(text.replace('"nonce":1782779387', '"nonce":1e999'), { numbers: "literal" });
    expect(faultsOf(() => decodeManifestEnvelope(decodeBootProof(beyond).manifestEnvelope))).toContain('"1e999"');
  });

  it("keep a null of the envelope, which decides between versions", () => {
    const details: Json = genuineDetails();
    const { manifestEnvelope } = decodeBootProof(withMember(details, "manifest_envelope.manifest.version", null));
    expect(faultsOf(() => decodeManifestEnvelope(manifestEnvelope))).toContain("version");
  });

  it.each([-1, 1.5, 2 ** 53, "1782779620", {}])("refuse the time %j", (time) => {
    expect(refusedPaths({ ...made("file"), validation_time_secs: time })).toEqual(["validation_time_secs"]);
    expect(refusedPaths({ ...made("browser"), fetchedAtUnixMs: time })).toEqual(["fetchedAtUnixMs"]);
  });

  describe("with a state", () => {
    const PENDING = { provisioningState: "PROVISIONING_STATE_PENDING" };

    it("are read in the form of the query, whatever the state says, and in no other", () => {
      for (const provisioningState of ["PROVISIONING_STATE_AWAITING_PROVISION", "", "\u001b[2J".repeat(100)])
        expect(decodeBootProof({ ...made("query"), provisioningState })).toEqual({
          ...decodeBootProof(made("query")),
          provisioningState,
        });
      expect(decodeBootProof({ ...made("query"), provisioningState: null }).provisioningState).toBeNull();
      expect(refusedPaths({ ...made("query"), provisioningState: 2 })).toEqual(["provisioningState"]);
      for (const form of ["file", "browser"] as const)
        expect(refusedPaths({ ...made(form), ...PENDING })).toEqual(["provisioningState"]);
    });

    it("and no document are told as that state", () => {
      const { manifestEnvelope } = made("query");
      const says = "not provisioned yet: PROVISIONING_STATE_PENDING";
      for (const more of [{}, { manifestEnvelope }, { attestationDocument: null, manifestEnvelope: "" }]) {
        const value = { ...more, ...PENDING };
        expect(faultsIn(value)).toEqual([{ path: "", message: says }]);
        expect(faultsIn({ bootProof: value })).toEqual([{ path: "", message: says }]);
      }
      const provisioned = { provisioningState: "PROVISIONING_STATE_PROVISIONED" };
      expect(faultsIn(provisioned)[0]!.message).toMatch(/^provisioned, without an attestation document: /);
      expect(faultsIn({ provisioningState: "x".repeat(100_000) })[0]!.message.length).toBeLessThan(200);
    });

    it("hide no evidence", () => {
      for (const more of [
        { attestationDocument: "!" },
        { attestation_document_cose_sign1_base64: "AAAA" },
        { cloudAttestationDocB64: "AAAA" },
        { appProofs: [{}] },
        { other: { proofPayload: "" } },
        { proofPayload: "{}" },
      ])
        expect(faultsIn({ ...more, ...PENDING }).map(({ message }) => message)).not.toContainEqual(
          expect.stringContaining("not provisioned yet"),
        );
    });

    const faultsIn = (value: unknown) => [...readBootProof(value).faults];
  });

  const others = (form: DetailForm): DetailForm[] => DETAIL_FORMS.filter((other) => other !== form);
  it.each(DETAIL_FORMS.flatMap((form) => others(form).map((other) => [form, other] as const)))(
    "of form %s refuse the members of form %s",
    (form, other) => {
      for (const [name, value] of Object.entries(made(other)))
        if (!Object.hasOwn(made(form), name))
          expect(isRefused(() => decodeBootProof({ ...made(form), [name]: value }))).toBe(true);
      expect(isRefused(() => decodeBootProof({ ...made(form), ...made(other) }))).toBe(true);
    },
  );

  it.each(DETAIL_FORMS)("of form %s are refused beside the service's form, once for each member", (form) => {
    for (const name of [DOCUMENTS[form], ENVELOPES[form]])
      expect(refusedPaths({ ...setup.bootProof, [name]: made(form)[name] })).toEqual([name]);
    for (const name of ["qosManifestB64", "qosManifestEnvelopeB64", "cloudAttestationDocB64"])
      expect(isRefused(() => decodeBootProof({ ...made(form), [name]: setup.bootProof[name] }))).toBe(true);
  });
});
