import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { type EvidenceKind, kindOf } from "../../src/inspect/kinds.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { LabSigstore } from "../../src/lab/sigstore.js";
import { FORMS, output } from "../support/genesis.js";
import { DETAIL_FORMS, decodeServiceForm, detailsOf } from "../support/provisioning.js";

const VECTORS = new URL("../../test-vectors/", import.meta.url);
const read = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(path, VECTORS)));
const json = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));

const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const sigstore = new LabSigstore();
const provenance = sigstore.attest({ at, digest: lab.pivotHash });
const live = forgeEvidence({ lab, at });
const v1 = forgeEvidence({ lab, at, version: "v1" });
const boot = decodeServiceForm(live.bootProof);
const borsh = decodeServiceForm(v1.bootProof);
const [proof] = live.appProofs;
const text = (value: string): Uint8Array => toUtf8(value);
const release = read("releases/r2025.9.3.yaml");
const releaseText = new TextDecoder().decode(release);

const SIGNED = "application/vnd.bootproof.signed-policy+json";

const kinds: readonly (readonly [what: string, bytes: Uint8Array, kind: EvidenceKind | null])[] = [
  ["a boot proof", json(live.bootProof), "boot proof"],
  ["a boot proof in its wrapper", json({ bootProof: live.bootProof }), "boot proof"],
  ["a boot proof under the other name of its document", json({ awsAttestationDocB64: "" }), "boot proof"],
  ["boot proofs", json([live.bootProof, v1.bootProof]), "boot proofs"],
  ["boot proofs, each in its wrapper", json([{ bootProof: live.bootProof }]), "boot proofs"],
  ["boot proofs in a wrapper", json({ bootProofs: [live.bootProof] }), "boot proofs"],
  ...DETAIL_FORMS.flatMap((form): [string, Uint8Array, EvidenceKind | null][] => {
    const details = detailsOf(live.bootProof, form);
    const [document, envelope] = Object.keys(details) as [string, string];
    return [
      [`provisioning details, ${form}`, json(details), "boot proof"],
      [`provisioning details, ${form}, in a wrapper`, json({ bootProof: details }), "boot proof"],
      [`provisioning details, ${form}, in a list`, json([details, live.bootProof]), "boot proofs"],
      [`provisioning details, ${form}, without an envelope`, json({ [document]: details[document]! }), "boot proof"],
      [`provisioning details, ${form}, without a document`, json({ [envelope]: details[envelope]! }), "boot proof"],
    ];
  }),
  ["an app proof", json(proof), "app proof"],
  ["an app proof in its wrapper", json({ appProof: proof }), "app proof"],
  ["app proofs", json(live.appProofs), "app proofs"],
  ["app proofs in their wrapper", json({ appProofs: live.appProofs }), "app proofs"],
  ["an activity", json(live.activity), "activity"],
  ["an activity in its wrapper", json({ activity: live.activity }), "activity"],
  ["an activity that is not done", json({ ...live.activity, result: undefined }), "activity"],
  ["a document", live.document, "attestation document"],
  ["a document under its tag", Uint8Array.of(0xd2, ...live.document), "attestation document"],
  ["a document in base64", text(`${toBase64(live.document)}\n`), "attestation document"],
  ["a document in hex", text(toHex(live.document)), "attestation document"],
  ["a JSON manifest", boot.manifest, "manifest"],
  ["a borsh manifest", borsh.manifest, "manifest"],
  ["a borsh manifest in base64", text(toBase64(borsh.manifest)), "manifest"],
  ["a JSON envelope", boot.manifestEnvelope, "manifest envelope"],
  ["a borsh envelope", borsh.manifestEnvelope, "manifest envelope"],
  ["a PEM certificate", text(live.anchorPem), "certificate"],
  ["a DER certificate", live.anchorDer, "certificate"],
  ["PEM certificates", text(`chain\n${live.anchorPem}\n${live.anchorPem}`), "certificates"],
  ["a bundle", json({ bundle: "bootproof-bundle/1", bootProofs: [live.bootProof], appProofs: [] }), "bundle"],
  ["a bundle of another version", json({ bundle: "bootproof-bundle/9" }), "bundle"],
  ["a bundle without its name", json({ bootProofs: [live.bootProof], appProofs: [] }), "bundle"],
  ["a provenance bundle", text(provenance), "provenance bundle"],
  [
    "a provenance bundle without its media type",
    json({ verificationMaterial: {}, dsseEnvelope: {} }),
    "provenance bundle",
  ],
  ["a signature of a file", json({ verificationMaterial: {}, messageSignature: {} }), "provenance bundle"],
  [
    "provenance bundles as an API answers them",
    text(`{"attestations":[{"bundle":${provenance}}]}`),
    "provenance bundle",
  ],
  ["provenance bundles in a list", text(`[${provenance}]`), "provenance bundle"],
  ["provenance bundles, a line each", text(`${provenance}\n${provenance}\n`), "provenance bundle"],
  ["a provenance bundle above another line", text(`${provenance}\nx`), "provenance bundle"],
  ["a provenance bundle below another line", text(`{}\n${provenance}`), null],
  ["boot proofs, a line each", text(`${JSON.stringify(live.bootProof)}\n`.repeat(2)), null],
  ["a trusted root", json(sigstore.trustedRoot), "trusted root"],
  ["trusted roots, a line each", text(`${JSON.stringify(sigstore.trustedRoot)}\n`.repeat(2)), "trusted root"],
  ["a policy", json({ policy: "bootproof/1", deployments: [] }), "policy"],
  ["a policy without its name", json({ deployments: [] }), "policy"],
  ["a signed policy", json({ payloadType: SIGNED, payload: "", signatures: [] }), "signed policy"],
  ["a feed of one version", text(`{"payloadType":"${SIGNED}"}\n`), "signed policy"],
  ["a feed", text(`{"payloadType":"${SIGNED}"}\n`.repeat(2)), "policy feed"],
  ["a feed of another version", text(`{"payloadType":"${SIGNED};v=2"}\n`.repeat(2)), "policy feed"],
  ["another envelope of DSSE", json({ payloadType: "application/vnd.in-toto+json", payload: "" }), null],
  ["the signers of a policy", json({ name: "x", threshold: 1, keys: [] }), "policy signers"],
  ["the state of a consumer", json({ state: "bootproof-signed-policy-state/1" }), "policy state"],
  ["a report", json({ format: "bootproof-report/1", policy: "production" }), "report"],
  ["a report on a bundle", json({ format: "bootproof-report/1", policy: null, bundle: { packed: null } }), "report"],
  ["a release", release, "release"],
  ["a release behind comments", text(`# measurements\n\n---\n${releaseText}`), "release"],
  ["a release with its version last", text(releaseText.replace(/^(version.*\n)([^]*)$/, "$2$1")), "release"],
  ["a release as JSON", json({ version: "r1", signer: { appBinaryDigest: "", PCR0: "" } }), "release"],
  ["a request", json({ type: "ACTIVITY_TYPE_CREATE_WALLET", timestampMs: "1", parameters: {} }), "request"],
  ...FORMS.map((form): [string, Uint8Array, EvidenceKind] => [`an output, ${form}`, output(form), "genesis output"]),
  ["an output in hex", text(toHex(output("request"))), "genesis output"],
  ["an output that is cut", output("request").subarray(0, -1), null],
  ["an output that two forms read", Uint8Array.from({ length: 98 }, (_, at) => (at === 81 ? 5 : 0)), "genesis output"],
  ["a request of a ceremony", json({ set: { threshold: 1, members: [] }, drKey: null }), "genesis request"],
  ["the beginning of an enclave image", text(".eif"), "enclave image"],
  ["a file that is cut within its first bytes", text(".ei"), null],
  ["an API key", json({ publicKey: "02", privateKey: "01" }), "API key"],
  ["an API key among the members of other things", json({ ...proof, privateKey: "01" }), "API key"],
  // Two things at once: the one that inspect shows.
  ["a boot proof beside app proofs", json({ bootProof: live.bootProof, appProofs: live.appProofs }), "boot proof"],
  ["a boot proof that calls itself a report", json({ ...live.bootProof, format: "bootproof-report/1" }), "report"],
  ["an activity beside app proofs", json({ activity: live.activity, appProofs: [proof] }), "activity"],
  // What is none.
  ["nothing", new Uint8Array(), null],
  ["prose", text("version: of the story\nDear auditor,"), null],
  ["other YAML", text("version: r1\nsigner:\n  image: x\n"), null],
  ["an appBinaryDigest within prose", text("Dear auditor,\n  appBinaryDigest: 00\n"), null],
  ["other JSON", json({ hello: "world" }), null],
  ["broken JSON", text('{"bootProof": '), null],
  ["JSON with a member twice", text('{"bundle":"bootproof-bundle/1","bundle":1}'), null],
  ["an empty list", json([]), null],
  ["empty app proofs", json({ appProofs: [] }), null],
  ["a list of a boot proof and an app proof", json([live.bootProof, proof]), null],
  ["a list of a list of app proofs", json([live.appProofs]), null],
  ["a JSON text of base64", json(toBase64(live.document)), null],
  ["UTF-16", new Uint8Array(Buffer.from("\ufeff{}", "utf16le")), null],
];

describe("kindOf", () => {
  it.each(kinds)("%s", (_, bytes, kind) => {
    expect(kindOf(bytes)).toBe(kind);
  });

  it("reads only own members", () => {
    expect(kindOf(text('{"__proto__":{"proofPayload":""}}'))).toBeNull();
  });

  it("returns a result for any value, soon for a megabyte of nesting, values or lines", () => {
    for (const value of [undefined, null, "{}", {}, 1e12]) expect(kindOf(value as unknown as Uint8Array)).toBeNull();
    const times = 1024 * 1024;
    const long = ["[", "a:\n", " ", "#", "00"].map((unit) => unit.repeat(times));
    for (const one of [...long, `{"proofPayload":[${"0,".repeat(times)}0]}`, `a: ${long[2]!}`])
      expect(kindOf(text(one))).toBeNull();
  });
});
