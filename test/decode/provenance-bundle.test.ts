/** Sigstore bundles and the identity in their certificates: what is read, and every form that is refused. */
import { describe, expect, it } from "vitest";
import { concatBytes, toUtf8 } from "../../src/bytes.js";
import { readBuildIdentity } from "../../src/decode/build-identity.js";
import type { CertificateExtension } from "../../src/decode/certificate.js";
import { bundleText, decodeProvenanceBundle, splitBundles } from "../../src/decode/provenance-bundle.js";
import { faultText } from "../../src/errors.js";
import { MalformedError } from "../../src/index.js";
import { derSequence, derUtf8String } from "../../src/lab/der.js";
import { ARTIFACT, GENUINE, type GenuineBundle, SIGNER, SIGNER_REF, changedBundle } from "../support/provenance.js";
import { readVectorText } from "../support/vectors.js";

function faultsOf(input: unknown): string {
  try {
    decodeProvenanceBundle(input);
    return "";
  } catch (error) {
    if (error instanceof MalformedError) return faultText(error.faults);
    throw error;
  }
}

function withStatement(change: (statement: Record<string, unknown>) => string | object): string {
  return changedBundle(({ dsseEnvelope }) => {
    const statement = JSON.parse(Buffer.from(dsseEnvelope.payload, "base64").toString()) as Record<string, unknown>;
    const changed = change(statement);
    const text = typeof changed === "string" ? changed : JSON.stringify(changed);
    dsseEnvelope.payload = Buffer.from(text).toString("base64");
  });
}

describe("the genuine bundle", () => {
  it.each([
    ["text", GENUINE],
    ["bytes", toUtf8(GENUINE)],
    ["a value", JSON.parse(GENUINE)],
  ])("is decoded from %s", (_, input: unknown) => {
    const { certificate, statement, payload } = decodeProvenanceBundle(input);
    expect(statement).toEqual({
      predicateType: "https://slsa.dev/provenance/v1",
      subjects: [{ name: "github_provenance_demo-0.0.0-py3-none-any.whl", sha256: ARTIFACT }],
    });
    expect(new TextDecoder().decode(payload)).toContain('"_type":"https://in-toto.io/Statement/v1"');
    expect(readBuildIdentity(certificate)).toEqual({
      faults: [],
      value: {
        issuer: "https://token.actions.githubusercontent.com",
        signer: `${SIGNER}@${SIGNER_REF}`,
        runner: "github-hosted",
        repository: "https://github.com/malancas/attest-demo",
        commit: "95baf27389e83e6a5c48f42e190d48d7abcea19e",
        ref: "refs/heads/main",
        repositoryId: "804070735",
        buildConfig: "https://github.com/malancas/attest-demo/.github/workflows/shared.yml@refs/heads/main",
        trigger: "workflow_dispatch",
        san: `${SIGNER}@${SIGNER_REF}`,
      },
    });
  });

  it("may name its certificate in a chain, of which the first is the signer's", () => {
    const chain = changedBundle(({ verificationMaterial: material }) => {
      const { certificate } = material;
      delete material.certificate;
      material["x509CertificateChain"] = { certificates: [certificate, { rawBytes: "AAAA" }] };
    });
    const { certificate } = decodeProvenanceBundle(chain);
    expect(certificate.der).toEqual(decodeProvenanceBundle(GENUINE).certificate.der);
  });
});

describe("what no bundle may be", () => {
  const longName = `\u2014 ${"a".repeat(257)} AAAA\n`;
  const changes: readonly [name: string, says: string, change: (bundle: GenuineBundle) => void][] = [
    ["a public key's", "publicKey: a certificate wanted", (b) => (b.verificationMaterial["publicKey"] = { hint: "a" })],
    [
      "without a certificate",
      "exactly one of certificate and x509CertificateChain",
      (b) => delete b.verificationMaterial.certificate,
    ],
    [
      "with two forms of certificate",
      "exactly one of certificate and x509CertificateChain",
      (b) => (b.verificationMaterial["x509CertificateChain"] = { certificates: [b.verificationMaterial.certificate] }),
    ],
    [
      "with an empty chain",
      "certificates: empty",
      (b) => {
        delete b.verificationMaterial.certificate;
        b.verificationMaterial["x509CertificateChain"] = { certificates: [] };
      },
    ],
    ["with a broken certificate", "rawBytes: ", (b) => (b.verificationMaterial.certificate!.rawBytes = "MAAA")],
    ["a signature of a file", "messageSignature: ", (b) => (b["messageSignature"] = { signature: "AAAA" })],
    ["without an envelope", "dsseEnvelope: ", (b) => delete (b as { dsseEnvelope?: unknown }).dsseEnvelope],
    [
      "of another payload type",
      "payloadType: application/vnd.in-toto+json wanted",
      (b) => (b.dsseEnvelope.payloadType = "text/plain"),
    ],
    ["without signatures", "0 signatures, exactly one wanted", (b) => (b.dsseEnvelope.signatures = [])],
    ["with two signatures", "2 signatures, exactly one wanted", (b) => b.dsseEnvelope.signatures.push({ sig: "AAAA" })],
    [
      "in lenient base64",
      "payload: not strict base64",
      (b) => (b.dsseEnvelope.payload = b.dsseEnvelope.payload.replace(/=*$/, " ")),
    ],
    [
      "with a long checkpoint name",
      "a name of more than 256 characters",
      (b) => (b.verificationMaterial.tlogEntries[0]!.inclusionProof.checkpoint.envelope += longName),
    ],
    [
      "with a regular expression as checkpoint name",
      "a name with characters that no log has",
      (b) => (b.verificationMaterial.tlogEntries[0]!.inclusionProof.checkpoint.envelope += "x\u2014 (a+)+$ AAAA\n"),
    ],
  ];
  it.each(changes)("%s", (_, says, change) => {
    expect(faultsOf(changedBundle(change))).toContain(says);
  });

  const statements: readonly [name: string, says: string, change: (s: Record<string, unknown>) => string | object][] = [
    ["of another statement type", "_type: ", (s) => ({ ...s, _type: "https://in-toto.io/Statement/v2" })],
    ["without a predicate type", "predicateType: ", (s) => ({ ...s, predicateType: undefined })],
    ["without subjects", "subject: ", (s) => ({ ...s, subject: undefined })],
    ["with a subject without a digest", "subject[0].digest", (s) => ({ ...s, subject: [{ name: "a" }] })],
    ["with a digest that is no text", "digest.sha256", (s) => ({ ...s, subject: [{ digest: { sha256: 1 } }] })],
    ["a statement that is no JSON", "statement: not strict JSON", () => "{"],
    [
      "a statement with a member twice",
      "statement: not strict JSON",
      (s) => JSON.stringify(s).replace('{"_type"', '{"subject":[],"_type"'),
    ],
  ];
  it.each(statements)("%s", (_, says, change) => {
    expect(faultsOf(withStatement(change))).toContain(says);
  });

  it("a statement of v0.1 is one, too", () => {
    expect(faultsOf(withStatement((s) => ({ ...s, _type: "https://in-toto.io/Statement/v0.1" })))).toBe("");
  });

  it("with a member twice", () => {
    expect(faultsOf(GENUINE.replace("{", '{"mediaType": "a",'))).toContain("mediaType");
  });

  it("larger than 1 MiB, white space included", () => {
    const most = 1024 * 1024;
    expect(faultsOf(GENUINE.padEnd(most))).toBe("");
    for (const input of [GENUINE.padEnd(most + 1), toUtf8(GENUINE.padEnd(most + 1)), { a: "x".repeat(most) }])
      expect(faultsOf(input)).toBe("larger than 1048576 bytes");
  });

  it("not UTF-8", () => {
    expect(() => bundleText(Uint8Array.of(0xff))).toThrow("not UTF-8");
  });
});

describe("a file", () => {
  it("has one bundle, or one a line", () => {
    expect(splitBundles(GENUINE)).toEqual([GENUINE]);
    const refused = readVectorText("provenance/refused.jsonl");
    expect(splitBundles(toUtf8(refused))).toHaveLength(3);
    expect(splitBundles(`{"a":1}\r\n\n{"b":2}\n`)).toEqual(['{"a":1}', '{"b":2}']);
    // One broken bundle, not many.
    expect(splitBundles('{\n"a":1,\n}')).toHaveLength(1);
  });
});

describe("the identity in a certificate", () => {
  const fulcio = (number: number, value: Uint8Array): CertificateExtension => ({
    id: `1.3.6.1.4.1.57264.1.${number}`,
    critical: false,
    value,
  });
  const name = (...values: Uint8Array[]): CertificateExtension => ({
    id: "2.5.29.17",
    critical: true,
    value: derSequence(...values),
  });
  const general = (tag: number, text: string): Uint8Array => concatBytes(Uint8Array.of(tag, text.length), toUtf8(text));
  const uri = name(general(0x86, "https://a"));
  const issuer = fulcio(8, derUtf8String("https://issuer"));
  const read = (...extensions: CertificateExtension[]): string => faultText(readBuildIdentity({ extensions }).faults);

  it("is a URI or an email address", () => {
    expect(read(issuer, uri)).toBe("");
    expect(readBuildIdentity({ extensions: [name(general(0x81, "a@b"))] }).value.san).toBe("a@b");
  });

  it.each([
    ["an extension twice", "1.3.6.1.4.1.57264.1.8: twice", [issuer, issuer, uri]],
    [
      "any other extension twice",
      "1.2.3: twice",
      [issuer, uri, ...Array(2).fill({ id: "1.2.3", critical: false, value: new Uint8Array() })],
    ],
    ["a raw text", "issuer (.8): tag 0x68", [fulcio(8, toUtf8("https://issuer")), uri]],
    ["another type of text", "issuer (.8): tag 0x13", [fulcio(8, Uint8Array.of(0x13, 1, 0x61)), uri]],
    [
      "bytes after it",
      "1 bytes after issuer (.8)",
      [fulcio(8, concatBytes(derUtf8String("a"), Uint8Array.of(0))), uri],
    ],
    ["a longer length than needed", "longer than needed", [fulcio(8, Uint8Array.of(0x0c, 0x81, 1, 0x61)), uri]],
    ["no UTF-8", "issuer (.8): not UTF-8", [fulcio(8, Uint8Array.of(0x0c, 1, 0xff)), uri]],
    ["no name", "no subject alternative name", [issuer]],
    ["two names", "bytes after the first name", [issuer, name(general(0x86, "https://a"), general(0x86, "https://b"))]],
    ["another kind of name", "a URI or an email address wanted", [issuer, name(general(0x82, "a.example"))]],
    ["a name that is not ASCII", "not ASCII text", [issuer, name(Uint8Array.of(0x86, 2, 0xc3, 0xa9))]],
    ["an empty name", "not ASCII text", [issuer, name(Uint8Array.of(0x86, 0))]],
  ] as [string, string, CertificateExtension[]][])("is refused with %s", (_, says, extensions) => {
    expect(read(...extensions)).toContain(says);
  });
});
