/** What a report claims, beside what test/index.test.ts ("claims what was verified") has. */
import { expect, it } from "vitest";
import type { AppProofPayload } from "../../src/decode/app-proof.js";
import { activityClaims, appProofClaims } from "../../src/report/claims.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  type VerifiedActivity,
  type VerifiedAppProof,
  parseTrustAnchor,
  verifyAttestation,
  verifyBootProof,
} from "../../src/index.js";
import { labDeployment } from "../../src/lab/forge.js";
import { NOW, forge, judge, lab, optionsOf } from "../attacks/support.js";

const whole = forge();

it("hold for each call what that call asked, of one boot proof", async () => {
  const { report: first, bootProof } = await verifyBootProof(whole.bootProof, optionsOf(whole));
  const trustAnchors = [parseTrustAnchor("mine", whole.anchorPem)];
  const { report: second } = await verifyBootProof(bootProof, {
    policy: NO_POLICY_ANY_ENCLAVE,
    now: NOW,
    trustAnchors,
  });
  const [one, other] = [first, second].map(({ claims }) => claims!.bootProofs[0]!);
  expect(one).toMatchObject({ deployment: "lab.1", image: { pinned: true } });
  expect(other).toMatchObject({ deployment: null, open: [], scope: [], image: { pinned: false, pinnedPcrs: [] } });
  expect(one!.hardware.trustAnchor).not.toBe("mine");
  expect(other!.hardware).toEqual({ ...one!.hardware, trustAnchor: "mine" });
});

it("name the application of either kind of manifest, and none of the other", async () => {
  // A name like any other.
  const env = new Map([["__proto__", "x"]]);
  const pivot = forge({ alterManifest: { manifest: (one) => ({ ...one, pivot: { ...one.pivot, env } }) } });
  const { claims } = await judge(pivot, { noPolicy: true });
  expect(claims!.bootProofs[0]!.image.manifest).toMatchObject({
    version: "v2",
    pivotArgs: expect.any(Array),
    workloads: null,
  });
  expect(JSON.stringify(claims!.bootProofs[0]!.image.manifest!.pivotEnv)).toBe('{"__proto__":"x"}');
  const { claims: ofWorkloads } = await judge(forge({ version: "v3" }), {
    deployments: () => [labDeployment(lab, "v3")],
  });
  expect(ofWorkloads!.bootProofs[0]!.image.manifest).toMatchObject({
    version: "v3",
    pivotHash: null,
    pivotArgs: null,
    pivotEnv: null,
    workloads: labDeployment(lab, "v3")["workloads"],
  });
});

it("of a bare document have no manifest", async () => {
  const { report } = await verifyAttestation(whole.document, optionsOf(whole, { noPolicy: true }));
  expect(report.claims!.bootProofs[0]!.image).toEqual({
    pinned: false,
    pinnedPcrs: [],
    debug: false,
    manifest: null,
    commitment: null,
    restsOn: null,
    manifestCommitted: false,
  });
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
