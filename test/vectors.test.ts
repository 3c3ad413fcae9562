/** Runs `test-vectors/` through the library: every file is accounted for, and every expectation is met. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fromHex, fromUtf8, toHex, toUtf8 } from "../src/bytes.js";
import { parseJson } from "../src/decode/json.js";
import { manifestHashInput } from "../src/decode/manifest/index.js";
import { encodeBorshEnvelope } from "../src/lab/borsh.js";
import { canonicalQosJson } from "../src/decode/qos-json.js";
import {
  MalformedError,
  NO_POLICY_ANY_ENCLAVE,
  type VerifyOptions,
  verifyAttestation,
  verifyEvidence,
} from "../src/index.js";
import { decodeManifest, decodeManifestEnvelope } from "../src/decode/index.js";
import { manifestHash } from "../src/author/index.js";
import type { Report } from "../src/report/report.js";
import { commitmentPcr } from "../src/verify/commitment.js";
import { withPivot } from "./support/manifest.js";
import {
  bootProofVectors,
  documentVectors,
  manifestBytes,
  manifestVectors,
  readVector,
  readVectorJson,
  readVectorText,
  vectorFiles,
} from "./support/vectors.js";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const failures = (report: Report): string[] =>
  report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
const warnings = (report: Report): string[] =>
  report.checks.filter(({ status }) => status === "warn").map(({ id }) => id);

/** No policy, at the document's own time, with a present that is not the clock's. */
function options(now: string, more: Partial<VerifyOptions> = {}): VerifyOptions {
  return { policy: NO_POLICY_ANY_ENCLAVE, now: new Date(now), ...more };
}

describe("provenance", () => {
  const [header, ...lines] = readVectorText("PROVENANCE.tsv")
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t"));
  // The conformance corpus is made of these, and has an index of its own.
  const files = vectorFiles().filter(
    (file) => !["README.md", "PROVENANCE.tsv", ".gitattributes"].includes(file) && !file.startsWith("conformance/"),
  );

  it("is a table of six columns, one line for each file", () => {
    expect(header).toEqual(["file", "repo", "path", "commit", "expectation", "sha256"]);
    expect(lines.every((line) => line.length === 6 && line.every((cell) => cell.trim() === cell && cell !== ""))).toBe(
      true,
    );
    expect(lines.map(([file]) => file)).toEqual(files);
    expect(files.length).toBeGreaterThan(80);
  });

  it.each(lines)("of %s", (file, _repo, _path, commit, _expectation, hash) => {
    expect(sha256(readVector(file!)), `the SHA-256 in the table is not the file's`).toBe(hash);
    expect(commit).toMatch(/^(?:-|[0-9a-f]{40})$/);
  });

  it("covers what the tables name, and the tables cover the documents and proofs", () => {
    const documents = documentVectors().map(({ file }) => file);
    const proofs = bootProofVectors().flatMap((vector) => [...vector.bootProofs, ...vector.appProofs]);
    expect([...documents].sort()).toEqual(files.filter((file) => file.endsWith(".cbor")));
    expect([...new Set(proofs)].sort()).toEqual(files.filter((file) => file.startsWith("boot-proofs/")));
    for (const {
      file,
      expect: { canonical },
    } of manifestVectors())
      expect(files).toEqual(expect.arrayContaining([file, canonical ?? file]));
  });
});

describe("attestation documents", () => {
  it.each(documentVectors())("$file is $expect.verdict", async ({ file, at, expect: expected }) => {
    const { report, attestation } = await verifyAttestation(readVector(file), options(at));
    expect(failures(report)).toEqual(expected.fails);
    expect(report.verdict).toBe(expected.verdict);
    expect(attestation !== null).toBe(report.verdict === "authentic");
    expect(report.claims !== null).toBe(report.verdict === "authentic");
    if (expected.says === undefined) expect(report.validationTime).toBe(at);
    else expect(report.checks.find(({ status }) => status === "fail")?.detail).toContain(expected.says);
  });
});

describe("manifests", () => {
  it.each(manifestVectors())("$file is $expect.version", async (vector) => {
    const { kind, expect: expected } = vector;
    const bytes = manifestBytes(vector);
    const envelope = kind === "envelope" ? decodeManifestEnvelope(bytes) : null;
    const manifest = envelope?.manifest ?? decodeManifest(bytes);
    expect(manifest.version).toBe(expected.version);
    expect(toHex(await manifestHash(manifest))).toBe(expected.hash);
    if (expected.canonical !== undefined)
      expect(fromUtf8(manifestHashInput(manifest))).toBe(readVectorText(expected.canonical));
    if (vector.file.endsWith(".borsh"))
      expect(envelope ? encodeBorshEnvelope(envelope) : manifestHashInput(manifest)).toEqual(bytes);
    expect(envelope?.manifestSetApprovals.length).toBe(expected.manifestSetApprovals);
    expect(envelope?.shareSetApprovals.length).toBe(expected.shareSetApprovals);
  });

  it("have the lengths and hashes that QOS asserts of its golden ones", () => {
    const { constants } = readVectorJson<{ constants: Record<string, string> }>("manifests/golden/expected.json");
    const manifest = manifestHashInput(decodeManifest(readVector("manifests/golden/manifest_v1.json")));
    const envelope = encodeBorshEnvelope(
      decodeManifestEnvelope(readVector("manifests/golden/manifest_envelope_v1.json")),
    );
    expect([String(manifest.length), sha256(manifest)]).toEqual([
      constants["MANIFEST_BORSH_LEN"],
      constants["MANIFEST_BORSH_SHA256_HEX"],
    ]);
    expect([String(envelope.length), sha256(envelope)]).toEqual([
      constants["MANIFEST_ENVELOPE_BORSH_LEN"],
      constants["MANIFEST_ENVELOPE_BORSH_SHA256_HEX"],
    ]);
    // What QOS converts from v0 JSON is the v1 layout with an empty bridgeConfig and without debug mode.
    const v0 = withPivot(decodeManifest(readVector("manifests/golden/manifest_v0.json")));
    const converted = manifestHashInput({
      ...v0,
      version: "v1",
      pivot: { ...v0.pivot, bridgeConfig: [], debugMode: false },
    });
    expect([String(converted.length), sha256(converted)]).toEqual([
      constants["MANIFEST_V0_BORSH_LEN"],
      constants["MANIFEST_V0_BORSH_SHA256_HEX"],
    ]);
  });
});

describe("canonical JSON", () => {
  interface CanonicalVector {
    test: string;
    input: string;
    canonical?: string;
    sha256?: string;
    reject?: string;
  }
  const { canonicalization } = readVectorJson<{ canonicalization: CanonicalVector[] }>("qos_json_vectors.json");
  const canonical = (input: string): string => canonicalQosJson(parseJson(input, { numbers: "literal" }));

  it.each(canonicalization)("$test: $input", ({ input, canonical: expected, sha256: hash, reject }) => {
    if (reject !== undefined) {
      expect(() => canonical(input)).toThrow(MalformedError);
      return;
    }
    expect(canonical(input)).toBe(expected);
    expect(sha256(toUtf8(canonical(input)))).toBe(hash);
  });

  it("has vectors of both kinds", () => {
    expect(canonicalization.filter(({ reject }) => reject === undefined).length).toBeGreaterThan(20);
    expect(canonicalization.filter(({ reject }) => reject !== undefined)).toHaveLength(3);
  });
});

describe("PCR commitments", () => {
  interface CommitmentVectors {
    preimage: { manifest_hash: string; ephemeral_public_key: string; preimage_utf8: string };
    commitments: {
      kind: "setup" | "live";
      manifest_hash: string;
      public_key: string;
      commitment_sha384: string;
      pcr: string;
    }[];
  }
  const { preimage, commitments } = readVectorJson<CommitmentVectors>("pcr_commitment_vectors.json");
  const sha384 = (...parts: Uint8Array[]): Uint8Array => createHash("sha384").update(Buffer.concat(parts)).digest();

  it.each(commitments)(
    "$kind",
    async ({ kind, manifest_hash: hash, public_key: key, commitment_sha384: commitment, pcr }) => {
      expect(toHex(await commitmentPcr(kind, fromHex(hash)!, fromHex(key)!))).toBe(pcr);
      expect(toHex(sha384(new Uint8Array(48), fromHex(commitment)!))).toBe(pcr);
    },
  );

  it("of the preimage that QOS writes", async () => {
    const expected = sha384(new Uint8Array(48), sha384(toUtf8(preimage.preimage_utf8)));
    expect(
      await commitmentPcr("setup", fromHex(preimage.manifest_hash)!, fromHex(preimage.ephemeral_public_key)!),
    ).toEqual(new Uint8Array(expected));
    expect(commitments.map(({ kind }) => kind)).toEqual(["setup", "live"]);
  });
});

describe("boot proofs", () => {
  it.each(bootProofVectors())("$name: $expect.verdict", async ({ bootProofs, appProofs, now, expect: expected }) => {
    const evidence = { bootProofs: bootProofs.map(readVectorText), appProofs: appProofs.map(readVectorText) };
    const { report, ...verified } = await verifyEvidence(evidence, options(now));
    expect([...new Set(failures(report))]).toEqual(expected.fails);
    expect(report.verdict).toBe(expected.verdict);
    if (expected.warns !== undefined) expect(warnings(report)).toEqual(expected.warns);
    expect(verified.bootProofs).not.toContain(null);
    if (expected.commitment !== undefined) expect(verified.bootProofs[0]?.commitment).toBe(expected.commitment);
    if (expected.verdict === "rejected") return expect(report.claims).toBeNull();
    expect(verified.appProofs).not.toContain(null);
    expect(report.claims?.appProofs.map(({ bootProof }) => bootProof)).toEqual(expected.under);
    for (const [index] of appProofs.entries()) {
      const answers = report.checks.filter(({ subject }) => subject === `app[${index}]`).map(({ status }) => status);
      expect(answers).toEqual(["pass", "pass", "pass", "pass", "pass", "skip"]);
    }
  });
});
