/** What the forge offers to tests. That its evidence is genuine is in test/attacks/accepted.table.ts. */
import { describe, expect, it } from "vitest";
import { fromBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import {
  type PivotManifest,
  type WorkloadManifest,
  decodeManifest,
  manifestHashInput,
} from "../../src/decode/manifest/index.js";
import { type ForgeOptions, Forge, forgeEvidence, labDeployment } from "../../src/lab/forge.js";
import { commitmentPcr, extendedPcr, generateQosKeyPair } from "../../src/lab/qos.js";
import { manifestCommitmentPcr } from "../../src/verify/commitment.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();

describe("alterations of the manifest", () => {
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

  it("commits to its manifest alone on request", async () => {
    const { pcrs, manifestHash } = pcrsOf({ manifestCommitment: true });
    // By the verifier's own making of it.
    expect(toHex(pcrs.get(18)!)).toBe(toHex(await manifestCommitmentPcr(manifestHash)));
  });
});

describe("the document", () => {
  const evidence = forgeEvidence({ lab, at: AT });
  it("starts at the same root at any time", () => {
    const later = forgeEvidence({ lab, at: new Date("2027-01-01T00:00:00Z") });
    expect(later.anchorPem).toBe(evidence.anchorPem);
    expect(fromBase64(evidence.anchorPem.replace(/-----[^-]+-----|\n/g, ""))).toEqual(lab.pki.rootCertificate);
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
