/** The forge, checked by code that it does not use: the decoders, node's X.509 and ECDSA, and openssl. */
import { execFileSync } from "node:child_process";
import { X509Certificate, createPublicKey, verify } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeActivity } from "../../src/decode/activity.js";
import { decodeAppProof, decodeAppProofPayload } from "../../src/decode/app-proof.js";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import { decodeCoseSign1, signatureInput } from "../../src/decode/cose-sign1.js";
import {
  MANIFEST_VERSIONS,
  type PivotManifest,
  type WorkloadManifest,
  decodeManifest,
  decodeManifestEnvelope,
  manifestEncodings,
  manifestHashInput,
} from "../../src/decode/manifest/index.js";
import { type QosJsonInput, canonicalQosJson } from "../../src/decode/qos-json.js";
import { type Generation, customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { type ForgeOptions, Forge, forgeEvidence, labDeployment } from "../../src/lab/forge.js";
import { publicPoint, signRaw } from "../../src/lab/keys.js";
import { withS } from "../support/high-s.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { commitmentPcr, extendedPcr, generateQosKeyPair, sha256 } from "../../src/lab/qos.js";
import { manifestCommitmentPcr } from "../../src/verify/commitment.js";
import { decodeServiceForm } from "../support/provisioning.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();

const kinds = MANIFEST_VERSIONS.flatMap((version) =>
  manifestEncodings(version).flatMap((encoding) =>
    (["legacy", "setup", "live"] as const satisfies Generation[]).map((generation) => ({
      version,
      encoding,
      generation,
    })),
  ),
);

describe.each(kinds)("$version $encoding of a $generation enclave", (kind) => {
  const evidence = forgeEvidence({ lab, at: AT, ...kind });
  const boot = decodeServiceForm(evidence.bootProof);
  const document = decodeAttestationDocument(boot.attestationDocument);

  it("binds one manifest at every place", () => {
    const manifest = decodeManifest(boot.manifest);
    expect(manifest).toEqual(evidence.manifest);
    expect(manifest.version).toBe(kind.version);
    expect(decodeManifestEnvelope(boot.manifestEnvelope).manifest).toEqual(manifest);
    expect(toHex(sha256(manifestHashInput(manifest)))).toBe(toHex(document.userData!));
    expect(toHex(document.publicKey!)).toBe(toHex(boot.ephemeralPublicKey));
    expect(toHex(document.pcrs.get(0)!)).toBe(toHex(manifest.enclave.pcr0));
    expect(toHex(document.pcrs.get(3)!)).toBe(toHex(manifest.enclave.pcr3));
    expect(document.pcrs.size).toBe(kind.generation === "legacy" ? 16 : 32);
    expect(document.timestamp).toBe(AT.getTime());
  });

  it("is approved by members of its set", () => {
    const envelope = decodeManifestEnvelope(boot.manifestEnvelope);
    expect(envelope.manifestSetApprovals).toHaveLength(2);
    for (const approval of [...envelope.manifestSetApprovals, ...envelope.shareSetApprovals]) {
      expect(verifyP256(approval.member.pubKey.subarray(65), evidence.manifestHash, approval.signature)).toBe(true);
    }
  });
});

describe("alterations of the manifest", () => {
  it("are applied before it is hashed", () => {
    const workloadManifest = (value: WorkloadManifest): WorkloadManifest => ({
      ...value,
      workloads: value.workloads.map((one) => ({ ...one, name: "other" })),
    });
    const { manifest, document } = forgeEvidence({ lab, at: AT, version: "v3", alterManifest: { workloadManifest } });
    expect(manifest.workloads?.map(({ name }) => name)).toEqual(["other"]);
    expect(decodeAttestationDocument(document).userData).toEqual(sha256(manifestHashInput(manifest)));
  });

  it("of another version's manifest throw TypeError", () => {
    const pivot = { manifest: (value: PivotManifest) => value };
    const workloads = { workloadManifest: (value: WorkloadManifest) => value };
    expect(() => forgeEvidence({ lab, at: AT, version: "v3", alterManifest: pivot })).toThrow(TypeError);
    expect(() => forgeEvidence({ lab, at: AT, version: "v3", alterManifest: { shown: pivot.manifest } })).toThrow(
      TypeError,
    );
    expect(() => forgeEvidence({ lab, at: AT, version: "v2", alterManifest: workloads })).toThrow(TypeError);
    expect(() => forgeEvidence({ lab, at: AT, version: "v2", encoding: "borsh" })).toThrow(TypeError);
  });

  it("pin the application as the version has it", () => {
    expect(labDeployment(lab)).toMatchObject({ pivotHash: toHex(lab.pivotHash) });
    const v3 = labDeployment(lab, "v3");
    expect(v3).toMatchObject({ workloads: { signer: `sha256:${toHex(lab.pivotHash)}` } });
    expect(v3).not.toHaveProperty("pivotHash");
  });
});

describe("manifests v2", () => {
  const bytesOf = (name: string, spelling?: { numbers: "number" }): Uint8Array =>
    fromBase64(forgeEvidence({ lab, at: AT, ...(spelling && { spelling }) }).bootProof[name] as string)!;

  it("are sent in canonical form like their envelopes", () => {
    const bytes = bytesOf("qosManifestB64");
    expect(bytes).toEqual(manifestHashInput(decodeManifest(bytes)));
    const envelope = bytesOf("qosManifestEnvelopeB64");
    const text = Buffer.from(envelope).toString();
    expect(text).toBe(canonicalQosJson(JSON.parse(text) as QosJsonInput));
    expect(text).toContain(Buffer.from(bytes).toString());
  });

  it("have another spelling on request", () => {
    const bytes = bytesOf("qosManifestB64", { numbers: "number" });
    expect(Buffer.from(bytes).toString()).toContain('"nonce":7');
    expect(manifestHashInput(decodeManifest(bytes))).toEqual(bytesOf("qosManifestB64"));
  });
});

describe("an enclave that commits", () => {
  const [live, setup] = [generateQosKeyPair(), generateQosKeyPair()];
  const pcrsOf = (options: Partial<ForgeOptions>) => {
    const { document, manifestHash } = forgeEvidence({ lab, at: AT, ...options });
    return { pcrs: decodeAttestationDocument(document).pcrs, manifestHash };
  };

  it.each([
    ["live", live, setup],
    ["setup", setup, live],
  ] as const)(
    "commits to its setup key and to its live key, in its %s document",
    (generation, ephemeralKey, otherKey) => {
      const { pcrs, manifestHash } = pcrsOf({ generation, ephemeralKey, otherKey });
      expect(toHex(pcrs.get(16)!)).toBe(toHex(commitmentPcr("setup", manifestHash, setup.publicKey)));
      expect(toHex(pcrs.get(17)!)).toBe(toHex(commitmentPcr("live", manifestHash, live.publicKey)));
      expect(pcrs.get(18)!.every((byte) => byte === 0)).toBe(true);
    },
  );

  it("has a default key for its other phase", () => {
    for (const generation of ["live", "setup"] as const) {
      const { pcrs } = pcrsOf({ generation });
      expect([16, 17].every((index) => pcrs.get(index)!.some((byte) => byte !== 0))).toBe(true);
    }
  });

  it("commits to its manifest alone on request", async () => {
    const { pcrs, manifestHash } = pcrsOf({ manifestCommitment: true });
    // By the verifier's own making of it.
    expect(toHex(pcrs.get(18)!)).toBe(toHex(await manifestCommitmentPcr(manifestHash)));
  });

  it("attests a given nonce", () => {
    const nonceOf = (options: Partial<ForgeOptions>) =>
      decodeAttestationDocument(forgeEvidence({ lab, at: AT, ...options }).document).nonce;
    expect(nonceOf({ nonce: Uint8Array.of(1, 2, 3) })).toEqual(Uint8Array.of(1, 2, 3));
    expect(nonceOf({}) ?? null).toBeNull();
  });
});

describe("the document", () => {
  const evidence = forgeEvidence({ lab, at: AT });
  const document = decodeAttestationDocument(evidence.document);
  const chain = [...document.cabundle, document.certificate].map((certificate) => new X509Certificate(certificate.der));

  it("is signed by the leaf's key", () => {
    const message = decodeCoseSign1(evidence.document);
    const key = { key: chain[4]!.publicKey, dsaEncoding: "ieee-p1363" as const };
    expect(verify("sha384", signatureInput(message), key, message.signature)).toBe(true);
  });

  it("has a path that node verifies, link by link", () => {
    expect(chain).toHaveLength(5);
    chain.slice(1).forEach((certificate, index) => {
      expect(certificate.checkIssued(chain[index]!)).toBe(true);
      expect(certificate.verify(chain[index]!.publicKey)).toBe(true);
    });
    expect(chain.map((certificate) => certificate.ca)).toEqual([true, true, true, true, false]);
    expect(chain.every((certificate) => certificate.raw.length <= 1024)).toBe(true);
  });

  it("has a path that openssl accepts at the document's time", () => {
    const directory = mkdtempSync(join(tmpdir(), "bootproof-lab-"));
    const file = (name: string, certificates: Uint8Array[]): string => {
      writeFileSync(join(directory, name), certificates.map(certificatePem).join(""));
      return join(directory, name);
    };
    try {
      const args = [
        "verify",
        "-attime",
        String(AT.getTime() / 1000),
        "-CAfile",
        file("root.pem", [evidence.anchorDer]),
        "-untrusted",
        file(
          "between.pem",
          document.cabundle.slice(1).map(({ der }) => der),
        ),
        file("leaf.pem", [document.certificate.der]),
      ];
      expect(opensslOrNull(args) ?? "leaf.pem: OK").toContain("leaf.pem: OK");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("starts at the same root at any time", () => {
    const later = forgeEvidence({ lab, at: new Date("2027-01-01T00:00:00Z") });
    expect(later.anchorPem).toBe(evidence.anchorPem);
    expect(fromBase64(evidence.anchorPem.replace(/-----[^-]+-----|\n/g, ""))).toEqual(lab.pki.rootCertificate);
  });

  it("may have its outermost map of indefinite length", () => {
    const { document: cose } = forgeEvidence({ lab, at: AT, alterDocument: { indefinite: true } });
    expect(decodeCoseSign1(cose).payload[0]).toBe(0xbf);
    expect(decodeAttestationDocument(cose).timestamp).toBe(AT.getTime());
  });
});

describe("app proofs and activity", () => {
  const payloads = [policyOutcomePayload(AT, "organization"), customPayload(AT)];
  const evidence = forgeEvidence({ lab, at: AT, payloads });

  it("are signed by the attested key", () => {
    for (const json of [...evidence.appProofs, ...forgeEvidence({ lab, at: AT }).appProofs]) {
      const proof = decodeAppProof(json);
      expect(verifyP256(proof.publicKey.subarray(65), toUtf8(proof.proofPayload), proof.signature)).toBe(true);
      expect(decodeAppProofPayload(proof.proofPayload).timestampMs).toBeGreaterThanOrEqual(AT.getTime());
    }
    expect(decodeActivity(evidence.activity).appProofs).toEqual(evidence.appProofs);
  });
});

describe("alterations", () => {
  it("affect everything that is made later", () => {
    const evidence = forgeEvidence({
      lab,
      at: AT,
      alterManifest: { manifest: (manifest) => ({ ...manifest, namespace: { ...manifest.namespace, nonce: 9 } }) },
    });
    const boot = decodeServiceForm(evidence.bootProof);
    expect(decodeManifestEnvelope(boot.manifestEnvelope).manifest.namespace.nonce).toBe(9);
    expect(decodeAttestationDocument(evidence.document).userData).toEqual(evidence.manifestHash);
    expect(evidence.manifestHash).not.toEqual(forgeEvidence({ lab, at: AT }).manifestHash);
  });

  it("can negate S and keep the signature valid", () => {
    const pair = lab.ephemeralKey.signing;
    const signature = signRaw(pair, "sha256", toUtf8("message"));
    const [high, low] = [withS("high", signature), withS("low", signature)];
    expect(high).not.toEqual(low);
    expect([high, low].map(toHex)).toContain(toHex(signature));
    for (const half of [high, low]) expect(verifyP256(publicPoint(pair), toUtf8("message"), half)).toBe(true);
  });
});

describe("the v2 manifest hash", () => {
  /** Canonical JSON (decode/README.md, "Canonical JSON") once more: sorted, integers as text, nulls left out. */
  const canonical = (value: unknown): string => {
    if (typeof value === "number") return `"${value}"`;
    if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const members = Object.entries(value)
      .filter(([, member]) => member !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
  };

  it("is that of the canonical JSON", () => {
    const { bootProof, manifestHash } = forgeEvidence({ lab, at: AT });
    const sent: unknown = JSON.parse(Buffer.from(bootProof["qosManifestB64"] as string, "base64").toString());
    expect(toHex(sha256(toUtf8(canonical(sent))))).toBe(toHex(manifestHash));
  });
});

describe("vectors", () => {
  // QOS's own vectors: manifest hash 32 × 01, key 65 × 03.
  it.each([
    ["setup", "f3e7209964e7d8f4915cc6038ec22d6dcdfcbea625b98f8a1a338e24407f122803f79be43ab65a4c4ad32a52b2c6ab4e"],
    ["live", "afb56dbbe66008a5b6f190b81cf4e63603e15bf24bc6a93a135b82f8b1bb72ac4d3a0a191a20b3fd77e5b9333677b7fc"],
  ] as const)("%s commitment", (phase, pcr) => {
    expect(toHex(commitmentPcr(phase, new Uint8Array(32).fill(1), new Uint8Array(65).fill(3)))).toBe(pcr);
  });

  it("PCR3 of a role", () => {
    expect(toHex(extendedPcr(toUtf8("arn:aws:iam::123456789012:role/Webserver")))).toBe(
      "78fce75db17cd4e0a3fb8dad3ad128ca5e77edbb2b2c7f75329dccd99aa5f6ef4fc1f1a452e315b9e98f9e312e6921e6",
    );
  });
});

function verifyP256(point: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const spki = Buffer.concat([fromHex("3059301306072a8648ce3d020106082a8648ce3d030107034200")!, point]);
  const key = createPublicKey({ key: spki, format: "der", type: "spki" });
  return verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature);
}

/** What openssl says; null where there is none on this machine. */
function opensslOrNull(args: string[]): string | null {
  try {
    return execFileSync("openssl", args, { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
