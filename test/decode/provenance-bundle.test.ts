/** Sigstore bundles and the identity in their certificates: what is read, and every form that is refused. */
import { describe, expect, it } from "vitest";
import { concatBytes, toBase64, toUtf8 } from "../../src/bytes.js";
import { isNamedByUri, readBuildIdentity } from "../../src/decode/build-identity.js";
import type { CertificateExtension } from "../../src/decode/certificate.js";
import { decodeProvenanceBundle, notBundle, splitBundles } from "../../src/decode/provenance-bundle.js";
import { faultText } from "../../src/errors.js";
import { MalformedError } from "../../src/index.js";
import { generateKeyPair } from "../../src/lab/keys.js";
import { OID, algorithmIdentifier, distinguishedName, issueCertificate } from "../../src/lab/pki.js";
import {
  ARTIFACT,
  AT,
  GENUINE,
  type GenuineBundle,
  type InclusionProof,
  NOW,
  SIGNER,
  SIGNER_REF,
  changedBundle,
} from "../support/provenance.js";
import { readVectorText } from "../support/vectors.js";
import { derSequence, derUtf8String } from "../support/der.js";

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

  it("of version 0.3 and newer has no chain", () => {
    for (const mediaType of ["+json;version=0.3", ".v0.3+json", "+json;version=0.4", "+json;version=0.1x", undefined])
      expect(faultsOf(chained((leaf) => [leaf], mediaType ?? null))).toContain(
        "only versions 0.1 and 0.2 have a chain",
      );
  });

  it("may have as much of each list as the bounds allow", () => {
    const leaf = { rawBytes: toBase64(certificateOf(64)) };
    const whole = changedBundle((bundle) => {
      const { verificationMaterial: material } = bundle;
      const [entry] = material.tlogEntries;
      material.tlogEntries = Array.from({ length: 8 }, () => entry!);
      material["timestampVerificationData"] = { rfc3161Timestamps: Array(8).fill({ signedTimestamp: "AAAA" }) };
      entry!.inclusionProof.checkpoint.envelope += "\u2014 witness AAAA\n".repeat(99);
      chain(bundle, () => Array(10).fill(leaf) as object[], "0.2");
    });
    expect(faultsOf(whole)).toBe("");
    expect(decodeProvenanceBundle(whole).certificate.extensions).toHaveLength(64);
  });
});

/** In place of the certificate. `version`: a number, or the end of the media type; null: without a media type. */
function chain(bundle: GenuineBundle, certificates: (leaf: object) => object[], version: string | null): void {
  const { certificate, ...material } = bundle.verificationMaterial;
  bundle.verificationMaterial = { ...material, x509CertificateChain: { certificates: certificates(certificate!) } };
  const end = version?.startsWith("0") === true ? `+json;version=${version}` : version;
  if (end === null) delete (bundle as { mediaType?: string }).mediaType;
  else bundle.mediaType = `application/vnd.dev.sigstore.bundle${end}`;
}

const chained = (certificates: (leaf: object) => object[], version: string | null = "0.2"): string =>
  changedBundle((bundle) => chain(bundle, certificates, version));

/** With so many extensions, of so many bytes together. */
function certificateOf(extensions: number, bytes = 0): Uint8Array {
  const key = generateKeyPair("prime256v1");
  const algorithm = algorithmIdentifier(OID.ecdsaWithSha256);
  return issueCertificate({
    version: 3,
    serial: Uint8Array.of(1),
    subject: distinguishedName({ CN: "x" }),
    notBefore: AT,
    notAfter: NOW,
    key,
    innerAlgorithm: algorithm,
    outerAlgorithm: algorithm,
    digest: "sha256",
    extensions: Array.from({ length: extensions }, (_, index) => ({
      id: `2.999.${index}`,
      critical: false,
      value: new Uint8Array(Math.floor(bytes / extensions)),
    })),
  });
}

describe("what no bundle may be", () => {
  const extended = { rawBytes: toBase64(certificateOf(65)) };
  const proofIn = (b: GenuineBundle): InclusionProof => b.verificationMaterial.tlogEntries[0]!.inclusionProof;
  const changes: readonly [name: string, says: string, change: (bundle: GenuineBundle) => void][] = [
    ["with an empty chain", "certificates: empty", (b) => chain(b, () => [], "0.2")],
    ["with log entries that are no list", "tlogEntries: ", (b) => (b.verificationMaterial.tlogEntries = {} as never)],
    [
      "with a certificate of many extensions in its chain",
      "[1].rawBytes: 65 extensions, expected at most 64",
      (b) => chain(b, (leaf) => [leaf, extended], "0.2"),
    ],
    [
      "with 101 signatures of a checkpoint",
      "checkpoint: 101 signatures, expected at most 100",
      (b) => (proofIn(b).checkpoint.envelope += "\u2014 witness AAAA\n".repeat(100)),
    ],
    [
      "with a tree size in another spelling",
      "treeSize: differs from the signed checkpoint",
      (b) => (proofIn(b).treeSize = "092601055"),
    ],
    [
      "with a tree size of many digits",
      "checkpoint: its second line is not the size of a log",
      (b) => {
        const proof = proofIn(b);
        proof.treeSize = "9".repeat(21);
        proof.checkpoint.envelope = proof.checkpoint.envelope.replace("92601055", proof.treeSize);
      },
    ],
    [
      "with an index of many digits",
      "logIndex: expected an integer of 64 bits",
      (b) => Object.assign(proofIn(b), { logIndex: "9".repeat(21) }),
    ],
    ["with a broken certificate", "rawBytes: ", (b) => (b.verificationMaterial.certificate!.rawBytes = "MAAA")],
    [
      "in lenient base64",
      "payload: base64 with whi",
      (b) => (b.dsseEnvelope.payload = b.dsseEnvelope.payload.replace(/=*$/, " ")),
    ],
  ];
  it.each(changes)("%s", (_, says, change) => {
    expect(faultsOf(changedBundle(change))).toContain(says);
  });

  const statements: readonly [name: string, says: string, change: (s: Record<string, unknown>) => string | object][] = [
    ["without a predicate type", "predicateType: ", (s) => ({ ...s, predicateType: undefined })],
    ["without subjects", "subject: ", (s) => ({ ...s, subject: undefined })],
    ["with a subject without a digest", "subject[0].digest", (s) => ({ ...s, subject: [{ name: "a" }] })],
    ["with a digest that is not text", "digest.sha256", (s) => ({ ...s, subject: [{ digest: { sha256: 1 } }] })],
  ];
  it("a tree size may be a number, and a log's promise may stand alone", () => {
    expect(faultsOf(changedBundle((b) => (proofIn(b).treeSize = 92601055 as never)))).toBe("");
    const promised = changedBundle((b) => {
      b.mediaType = "application/vnd.dev.sigstore.bundle+json;version=0.1";
      delete (b.verificationMaterial.tlogEntries[0] as { inclusionProof?: unknown }).inclusionProof;
    });
    expect(faultsOf(promised)).toBe("");
  });

  it.each(statements)("%s", (_, says, change) => {
    expect(faultsOf(withStatement(change))).toContain(says);
  });

  it("larger than 1 MiB, white space included", () => {
    const most = 1024 * 1024;
    expect(faultsOf(GENUINE.padEnd(most))).toBe("");
    for (const input of [GENUINE.padEnd(most + 1), toUtf8(GENUINE.padEnd(most + 1)), { a: "x".repeat(most) }])
      expect(faultsOf(input)).toBe("larger than 1048576 bytes");
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

  const bundle = JSON.parse(GENUINE) as Record<string, Record<string, unknown>>;
  const published = { ...bundle, verificationMaterial: { publicKey: { hint: "SHA256:x" } } };
  it.each<[string, unknown, unknown[]]>([
    ["a list", [bundle, bundle], [bundle, bundle]],
    ["GitHub's API", { attestations: [{ repository_id: 1, bundle }] }, [bundle]],
    ["gh attestation verify", [{ attestation: { bundle }, verificationResult: {} }], [bundle]],
    ["npm's API", { attestations: [{ predicateType: "x", bundle: published }, { bundle }] }, [bundle]],
    ["npm's API without a build", { attestations: [{ bundle: published }] }, [published]],
    ["a list with something else in it", [bundle, { a: 1 }], [bundle, { a: 1 }]],
    ["a list of something else", [{ a: 1 }], [[{ a: 1 }]]],
    ["an answer without any", { attestations: [] }, [{ attestations: [] }]],
  ])("has the bundles in the wrapper of %s", (_, file, inside) => {
    expect(splitBundles(JSON.stringify(file, null, 2)).map((text) => JSON.parse(text) as unknown)).toEqual(inside);
  });

  it.each([
    ["{", "not JSON"],
    ["null", "not a Sigstore bundle"],
    ["[]", "not a Sigstore bundle"],
    ['{"verificationMaterial":{}}', "not a Sigstore bundle"],
    ['{"verificationMaterial":null,"dsseEnvelope":{}}', "not a Sigstore bundle"],
    ['{"dsseEnvelope":{}}', "not a Sigstore bundle"],
    [JSON.stringify((JSON.parse(GENUINE) as { dsseEnvelope: object }).dsseEnvelope), "carries no certificate"],
  ])("%j is not a bundle at all", (text, why) => {
    expect(notBundle(text)).toContain(why);
  });

  it.each([
    GENUINE,
    '{"verificationMaterial":{},"dsseEnvelope":0}',
    '{"a":1,"a":2,"verificationMaterial":{},"messageSignature":{}}',
  ])("what has material and content is a bundle, good or bad", (text) => expect(notBundle(text)).toBeNull());
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
    expect(isNamedByUri({ extensions: [uri] })).toBe(true);
    for (const extensions of [[name(general(0x81, "https://a"))], [name()], [issuer]])
      expect(isNamedByUri({ extensions })).toBe(false);
  });

  it.each([
    [
      "any other extension twice",
      "1.2.3: twice",
      [issuer, uri, ...Array(2).fill({ id: "1.2.3", critical: false, value: new Uint8Array() })],
    ],
    ["no name", "no subject alternative name", [issuer]],
    ["another kind of name", "expected a URI or an email address", [issuer, name(general(0x82, "a.example"))]],
    ["a name that is not ASCII", "not ASCII text", [issuer, name(Uint8Array.of(0x86, 2, 0xc3, 0xa9))]],
    ["an empty name", "not ASCII text", [issuer, name(Uint8Array.of(0x86, 0))]],
  ] as [string, string, CertificateExtension[]][])("is refused with %s", (_, says, extensions) => {
    expect(read(...extensions)).toContain(says);
  });
});
