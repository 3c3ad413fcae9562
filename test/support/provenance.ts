/** The genuine provenance of `test-vectors/provenance/`, and a lab enclave that runs its artifact. */
import { fromHex } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type Policy, parsePolicy } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { ProvenanceVerifier } from "../../src/verify/provenance-demand.js";
import { decodeProvenanceBundle } from "../../src/decode/index.js";
import { readVectorJson, readVectorText } from "./vectors.js";

export const BUNDLE_FILE = "provenance/reusable-workflow-attestation.sigstore.json";
export const ROOT_FILE = "provenance/public-good-trusted-root.json";
export const GENUINE = readVectorText(BUNDLE_FILE);
export const ROOT = readVectorText(ROOT_FILE);
export const ARTIFACT = "49a3aa6075e0f49f82843e74b5baa614ad2a588e6675612bf108a0a008c5ac25";
export const SIGNER = "https://github.com/github/artifact-attestations-workflows/.github/workflows/attest.yml";
export const SIGNER_REF = "09b495c3f12c7881b3cc17209a327792065c1a1d";

export const AT = new Date("2026-03-04T05:06:07.000Z");
export const NOW = new Date("2026-03-04T05:11:07.000Z");

export const enclave = new Forge({ pivotHash: fromHex(ARTIFACT)! });
export const evidence = forgeEvidence({ lab: enclave, at: AT });

/** Everything that the genuine certificate shows. */
export const DEMAND = {
  issuer: "https://token.actions.githubusercontent.com",
  repository: "https://github.com/malancas/attest-demo",
  repositoryId: "804070735",
  workflow: ".github/workflows/shared.yml",
  ref: "refs/heads/main",
  signer: `${SIGNER}@${SIGNER_REF}`,
  runner: "github-hosted",
  trigger: "workflow_dispatch",
  commit: "95baf27389e83e6a5c48f42e190d48d7abcea19e",
  predicateTypes: "https://slsa.dev/provenance/v1",
  trustedRoot: { file: "root.json" },
} as const;

/** Of the lab's deployment with these demands; members of `undefined` are left out. */
export function policyFile(...demands: readonly object[]): JsonObject {
  const deployment = { ...labDeployment(enclave), provenance: demands };
  return JSON.parse(JSON.stringify(labPolicy(evidence.anchorPem, [deployment as unknown as JsonObject]))) as JsonObject;
}

export function policyOf(...demands: readonly object[]): Policy {
  return parsePolicy(JSON.stringify(policyFile(...demands)), { readFile: () => ROOT });
}

/** The genuine bundle after a change of its JSON, as text. */
export function changedBundle(change: (bundle: GenuineBundle) => void): string {
  const bundle = readVectorJson<GenuineBundle>(BUNDLE_FILE);
  change(bundle);
  return JSON.stringify(bundle);
}

export interface GenuineBundle {
  [member: string]: unknown;
  mediaType: string;
  verificationMaterial: {
    [member: string]: unknown;
    certificate?: { rawBytes: string };
    tlogEntries: {
      [member: string]: unknown;
      inclusionProof: InclusionProof;
    }[];
  };
  dsseEnvelope: {
    [member: string]: unknown;
    payload: string;
    payloadType: string;
    signatures: { sig: string; keyid?: string }[];
  };
}

export interface InclusionProof {
  rootHash: string;
  treeSize: string;
  checkpoint: { envelope: string };
}

/** With another statement, which nothing signs: for verifiers of tests. */
export function bundleOf(change: (statement: Record<string, unknown>) => void): string {
  return changedBundle(({ dsseEnvelope }) => {
    const statement = JSON.parse(Buffer.from(dsseEnvelope.payload, "base64").toString()) as Record<string, unknown>;
    change(statement);
    dsseEnvelope.payload = Buffer.from(JSON.stringify(statement)).toString("base64");
  });
}

/** Accepts every bundle of the right form. Only for rules that come after the signature. */
export const CREDULOUS: ProvenanceVerifier = {
  verify: (text) => {
    const { certificate, payload } = decodeProvenanceBundle(text);
    return Promise.resolve({ verified: true, certificate: certificate.der, payload, signedTimes: [AT] });
  },
};
