/** Damaged and arbitrary evidence: verification answers with a report, throws nothing, and rejects it. */
import { expect, it } from "vitest";
import { fromBase64, toBase64 } from "../src/bytes.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  SignatureCache,
  type VerifyOptions,
  verifyAttestation,
  verifyEvidence,
} from "../src/index.js";
import type { Report } from "../src/report/report.js";
import type { Json } from "./support/manifest.js";
import { anyBytes, fc, mutated } from "./support/property.js";
import { bootProofVectors, genuineDocuments, readVectorJson } from "./support/vectors.js";

const vector = bootProofVectors()[0]!;
const bootProof = readVectorJson<Json>(vector.bootProofs[0]!);
const appProof = readVectorJson<Json>(vector.appProofs[0]!);
const options: VerifyOptions = {
  policy: NO_POLICY_ANY_ENCLAVE,
  now: new Date(vector.now),
  cache: new SignatureCache(),
};

function expectRejected(report: Report): void {
  expect(report.verdict).toBe("rejected");
  expect(report.claims).toBeNull();
  expect(report.checks.some(({ status }) => status === "fail")).toBe(true);
}

it("the genuine pair is authentic", async () => {
  expect((await verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof] }, options)).report.verdict).toBe(
    "authentic",
  );
});

it.each(["awsAttestationDocB64", "qosManifestB64", "qosManifestEnvelopeB64"])(
  "%s with bytes changed, cut out or put in",
  async (name) => {
    const genuine = fromBase64(bootProof[name] as string)!;
    await fc.assert(
      fc.asyncProperty(mutated(genuine), async (bytes) => {
        fc.pre(toBase64(bytes) !== bootProof[name]);
        const { report } = await verifyEvidence(
          { bootProofs: [{ ...bootProof, [name]: toBase64(bytes) }], appProofs: [appProof] },
          options,
        );
        expectRejected(report);
      }),
    );
  },
);

it("any value in place of any field", async () => {
  const bootFields = Object.keys(bootProof).filter(
    (name) => !["deploymentLabel", "enclaveApp", "owner", "createdAt"].includes(name),
  );
  const place = fc.oneof(
    fc.constantFrom(...bootFields).map((name) => ["bootProof", name] as const),
    fc.constantFrom(...Object.keys(appProof)).map((name) => ["appProof", name] as const),
  );
  await fc.assert(
    fc.asyncProperty(place, fc.oneof(fc.jsonValue(), fc.string()), async ([of, name], value) => {
      const evidence = { bootProof, appProof };
      fc.pre(evidence[of][name] !== value);
      const changed = { ...evidence, [of]: { ...evidence[of], [name]: value } };
      const { report } = await verifyEvidence(
        { bootProofs: [changed.bootProof], appProofs: [changed.appProof] },
        options,
      );
      expectRejected(report);
    }),
  );
});

it("any value in place of the evidence", async () => {
  const input = fc.oneof(fc.jsonValue(), fc.string(), anyBytes());
  await fc.assert(
    fc.asyncProperty(input, input, async (boot, app) => {
      expectRejected((await verifyEvidence({ bootProofs: [boot], appProofs: [app], activity: app }, options)).report);
      expectRejected((await verifyEvidence({ bootProofs: [bootProof, boot], appProofs: [appProof] }, options)).report);
      expectRejected((await verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof, app] }, options)).report);
    }),
  );
});

it("documents with bytes changed, cut out or put in, and bytes that are none", async () => {
  const documents = genuineDocuments();
  const damaged = fc
    .constantFrom(...documents)
    .chain(({ bytes }) => mutated(bytes).filter((changed) => toBase64(changed) !== toBase64(bytes)));
  await fc.assert(
    fc.asyncProperty(fc.oneof(damaged, anyBytes()), async (bytes) => {
      expectRejected((await verifyAttestation(bytes, { ...options, allowDebug: true })).report);
    }),
  );
});
