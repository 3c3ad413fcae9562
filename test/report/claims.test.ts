import { expect, it } from "vitest";
import type { AppProofPayload } from "../../src/decode/app-proof.js";
import type { Manifest, PivotManifest, WorkloadManifest } from "../../src/decode/manifest/index.js";
import { activityClaims, appProofClaims, attestationClaims, bootProofClaims } from "../../src/report/claims.js";
import type { VerifiedActivity, VerifiedAppProof, VerifiedAttestation, VerifiedBootProof } from "../../src/index.js";
import { AWS_NITRO_ROOT_G1 } from "../../src/verify/trust-anchor.js";

const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);
const key = bytes(130, 4);

const document = {
  moduleId: "i-1",
  digest: "SHA384" as const,
  timestamp: Date.UTC(2026, 2, 4),
  pcrs: new Map([
    [0, bytes(48, 1)],
    [17, bytes(48, 2)],
  ]),
  certificate: AWS_NITRO_ROOT_G1.certificate,
  cabundle: [],
  publicKey: key,
  userData: bytes(32, 5),
  nonce: bytes(2, 6),
};
const attestation = { document, trustAnchor: AWS_NITRO_ROOT_G1 };

const common = {
  namespace: { name: "ns", nonce: 3, quorumKey: key },
  manifestSet: {
    threshold: 1,
    members: [
      { alias: "a", pubKey: key },
      { alias: "b", pubKey: key },
    ],
  },
  shareSet: { threshold: 1, members: [] },
  enclave: {
    pcr0: bytes(48, 1),
    pcr1: bytes(48, 1),
    pcr2: bytes(48, 1),
    pcr3: bytes(48, 1),
    awsRootCertificate: bytes(1, 1),
    qosCommit: "c",
  },
};
const pivot: PivotManifest = {
  ...common,
  version: "v2",
  pivot: { hash: bytes(32, 7), restart: "Always", args: ["--a"], env: new Map([["__proto__", "x"]]) },
};
const workloads: WorkloadManifest = {
  ...common,
  version: "v3",
  workloads: [{ name: "app", imageDigest: bytes(32, 8), restart: "always", mounts: [] }],
};

/** What only verification makes, with values chosen for the test. */
const factsOf = (manifest: Manifest): VerifiedBootProof =>
  ({
    attestation,
    manifest,
    manifestHash: bytes(32, 9),
    approvers: [common.manifestSet.members[0]!],
    commitment: "live" as const,
    manifestCommitted: true,
    debug: false,
  }) as unknown as VerifiedBootProof;

it("keep apart what the hardware signed and what the image says", () => {
  const claims = bootProofClaims(
    factsOf(pivot),
    { ...AWS_NITRO_ROOT_G1, name: "mine" },
    { name: "d", open: ["operator"], scope: ["weak"], pcrs: [0, 1], manifestPin: null },
  );
  expect(claims.hardware).toEqual({
    trustAnchor: "mine",
    moduleId: "i-1",
    documentTime: "2026-03-04T00:00:00.000Z",
    pcrs: { 0: "01".repeat(48), 17: "02".repeat(48) },
    publicKey: "04".repeat(130),
    userData: "05".repeat(32),
    nonce: "0606",
  });
  expect(claims.image).toMatchObject({
    pinned: true,
    pinnedPcrs: [0, 1],
    debug: false,
    commitment: "live",
    restsOn: "commitment",
    manifestCommitted: true,
  });
  expect(claims).toMatchObject({ deployment: "d", open: ["operator"], scope: ["weak"] });
});

it("call nothing pinned where no deployment matched", () => {
  const { image, deployment, open, scope } = bootProofClaims(factsOf(pivot), AWS_NITRO_ROOT_G1, null);
  expect([image.pinned, image.pinnedPcrs, deployment, open, scope]).toEqual([false, [], null, [], []]);
});

it("hold for each call what that call asked, of one boot proof", () => {
  const facts = factsOf(pivot);
  const first = bootProofClaims(
    facts,
    { ...AWS_NITRO_ROOT_G1, name: "one" },
    { name: "d", open: [], scope: [], pcrs: [], manifestPin: null },
  );
  const second = bootProofClaims(facts, { ...AWS_NITRO_ROOT_G1, name: "two" }, null);
  expect([first, second].map(({ hardware, image }) => [hardware.trustAnchor, image.pinned])).toEqual([
    ["one", true],
    ["two", false],
  ]);
});

it("name the application of either kind of manifest, and none of the other", () => {
  expect(bootProofClaims(factsOf(pivot), AWS_NITRO_ROOT_G1, null).image.manifest).toMatchObject({
    version: "v2",
    hash: "09".repeat(32),
    namespace: "ns",
    nonce: 3,
    quorumKey: "04".repeat(130),
    threshold: 1,
    members: 2,
    pivotHash: "07".repeat(32),
    pivotArgs: ["--a"],
    workloads: null,
    approvedBy: [{ alias: "a", pubKey: "04".repeat(130) }],
  });
  // A name like any other.
  expect(JSON.stringify(bootProofClaims(factsOf(pivot), AWS_NITRO_ROOT_G1, null).image.manifest!.pivotEnv)).toBe(
    '{"__proto__":"x"}',
  );
  expect(bootProofClaims(factsOf(workloads), AWS_NITRO_ROOT_G1, null).image.manifest).toMatchObject({
    version: "v3",
    pivotHash: null,
    pivotArgs: null,
    pivotEnv: null,
    workloads: { app: `sha256:${"08".repeat(32)}` },
  });
});

it("of a bare document have no manifest", () => {
  const claims = attestationClaims(
    {
      ...attestation,
      document: { ...document, publicKey: null, userData: null, nonce: null },
    } as unknown as VerifiedAttestation,
    true,
    null,
    null,
  );
  expect(claims.bootProofs[0]!.hardware).toMatchObject({ publicKey: null, userData: null, nonce: null });
  expect(claims.bootProofs[0]!.image).toEqual({
    pinned: false,
    pinnedPcrs: [],
    debug: true,
    manifest: null,
    commitment: null,
    restsOn: null,
    manifestCommitted: false,
  });
});

it("name the PCRs that the caller gave, and nothing where there were none", () => {
  const image = bootProofClaims(
    factsOf(pivot),
    AWS_NITRO_ROOT_G1,
    null,
    new Map([
      [0, new Uint8Array()],
      [8, new Uint8Array()],
    ]),
  ).image;
  expect(image).toMatchObject({ pinned: false, pinnedPcrs: [], givenPcrs: [0, 8] });
  expect(bootProofClaims(factsOf(pivot), AWS_NITRO_ROOT_G1, null).image).not.toHaveProperty("givenPcrs");
});

it("of app proofs and an activity say what was asked, and count decisions", () => {
  const derivation: AppProofPayload = {
    type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
    timestampMs: 0,
    json: { type: "T" },
    addressDerivationProof: { organizationId: "o", address: "0x1" },
  };
  const outcome: AppProofPayload = {
    type: "APP_PROOF_TYPE_POLICY_OUTCOME",
    timestampMs: 0,
    json: {},
    policyOutcomeProof: { organizationId: "o", outcome: "OUTCOME_ALLOW" },
  };
  expect(appProofClaims({ payload: derivation } as VerifiedAppProof, 2)).toEqual({
    bootProof: 2,
    type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
    time: "1970-01-01T00:00:00.000Z",
    payload: { type: "T" },
  });
  const answers = { pointer: "/challenge", value: "q7Yt3mVnB2xKc9PzLwRs4A" };
  const quote = { type: "QUOTE", timestampMs: null, json: { type: "QUOTE" } } as unknown as AppProofPayload;
  expect(appProofClaims({ payload: quote, expectation: 1, answers } as VerifiedAppProof, 0)).toEqual({
    bootProof: 0,
    type: "QUOTE",
    time: null,
    payload: { type: "QUOTE" },
    expectation: 1,
    answers,
  });
  const facts = {
    asked: ["id"],
    question: "id",
    coveredAddresses: ["0x1"],
    uncoveredAddresses: [],
    resultWithoutProof: ["x"],
    subOrganizationId: null,
    walletId: "w",
  };
  const activity = { id: "a", organizationId: "o", type: "T" };
  const claims = activityClaims({
    ...facts,
    activity,
    appProofs: [{ payload: derivation }, { payload: outcome }, { payload: outcome }],
  } as unknown as VerifiedActivity);
  expect(claims).toEqual({ ...activity, ...facts, decisions: 2 });
});
