/** What a report claims, beside what test/index.test.ts ("claims what was verified") has. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import { NO_POLICY_ANY_ENCLAVE, parseTrustAnchor, verifyAttestation, verifyBootProof } from "../../src/index.js";
import { policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS, labDeployment } from "../../src/lab/forge.js";
import { NOW, after, forge, judge, lab, optionsOf, withActivity } from "../attacks/support.js";

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

it("of app proofs and an activity say what was asked, and count decisions", async () => {
  const value = "q7Yt3mVnB2xKc9PzLwRs4A";
  const own = { type: "OWN", challenge: value };
  const outcome = policyOutcomePayload(after(60), LAB_ADDRESS.organizationId, "OUTCOME_ALLOW");
  const derivation = JSON.parse(whole.appProofs[0]!["proofPayload"] as string) as JsonObject;
  const evidence = forge({ payloads: [derivation, outcome, outcome, own] });
  const payload = [{ type: "OWN", values: { "/challenge": value }, challenge: "/challenge" }];
  const { claims } = await judge(evidence, {
    given: withActivity,
    expected: { organizationId: LAB_ADDRESS.organizationId, payload },
    policy: { appProofs: { untimed: ["OWN"] } },
  });
  const answers = { pointer: "/challenge", value };
  expect(claims!.appProofs.at(-1)).toEqual({
    bootProof: 0,
    type: "OWN",
    time: null,
    payload: own,
    expectation: 0,
    answers,
  });
  expect(claims!.activity).toMatchObject({ asked: ["organizationId"], question: null, decisions: 2 });
});
