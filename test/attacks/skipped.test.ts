/** A check that cannot run is `skip` with a reason, never `pass`. */
import { describe, expect, it } from "vitest";
import { CHECK_IDS, type CheckId } from "../../src/checks.js";
import type { JsonObject } from "../../src/decode/json.js";
import { policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { knownDetails } from "./details.js";
import {
  type Alterations,
  type Judgement,
  after,
  appProof,
  document,
  drop,
  field,
  forge,
  idsOf,
  judge,
  lab,
  put,
  withActivity,
  named,
} from "./support.js";

const idsFrom = (...families: string[]): CheckId[] => CHECK_IDS.filter((id) => families.includes(id.split(".")[0]!));
const DOCUMENT = idsFrom("cose", "doc", "chain");
const PATH = idsFrom("chain");
const BINDING: CheckId[] = ["bind.user-data", "bind.pcrs", "bind.key", "bind.commitment", "bind.nonce", "mode.debug"];
/** The checks that need a verified boot proof. */
const POLICY = idsFrom("policy").filter((id) => id !== "policy.app-proof");
const REJECTED: CheckId[] = ["app.key", "app.time", ...POLICY];

interface Skipped {
  readonly name: string;
  readonly forge?: Alterations;
  readonly judge?: Judgement;
  readonly skips: readonly CheckId[];
  /** The checks that run all the same, and pass. */
  readonly passes?: readonly CheckId[];
}

const SIGN = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
/** What the caller submitted, for a signature that no key made. */
const parameters = {
  signWith: `0x${"22".repeat(20)}`,
  payload: "pay 1",
  encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
  hashFunction: "HASH_FUNCTION_KECCAK256",
};
const payloads = [policyOutcomePayload(after(60), LAB_ADDRESS.organizationId)];
const signing = (json: JsonObject): JsonObject => ({
  ...json,
  type: SIGN,
  intent: { i: parameters },
  result: { r: { r: "11".repeat(32), s: "11".repeat(32), v: "00" } },
});
const askedToSign: Judgement = {
  given: withActivity,
  expected: { organizationId: LAB_ADDRESS.organizationId, type: SIGN, parameters },
};

const rows: Skipped[] = [
  ...named<Skipped>({
    "no document in the boot proof": {
      forge: { bootProof: drop("cloudAttestationDocB64") },
      skips: [...DOCUMENT, ...BINDING, ...POLICY],
      passes: ["manifest.decode", "envelope.approvals", "app.signature", "app.payload"],
    },
    "a COSE_Sign1 that cannot be read": {
      forge: document({ items: () => [] }),
      skips: [...DOCUMENT.filter((id) => id !== "cose.structure"), ...BINDING, ...POLICY],
      passes: ["manifest.decode", "envelope.manifest"],
    },
    "a payload that cannot be read": {
      forge: document({ payload: () => Uint8Array.of(0xff) }),
      skips: ["cose.signature", "doc.time", ...PATH, ...BINDING, ...POLICY],
      passes: ["cose.structure", "cose.algorithm"],
    },
    "a leaf that cannot be read": {
      forge: field("certificate", Uint8Array.of(0x30)),
      skips: ["cose.signature", ...PATH, ...REJECTED],
      passes: ["bind.user-data", "bind.pcrs", "bind.key", "bind.commitment"],
    },
    "an intermediate that cannot be read": {
      forge: document({ cabundle: ([root]) => [root!, Uint8Array.of(0x30)] }),
      skips: [...PATH, ...REJECTED],
      passes: ["cose.signature", "bind.user-data"],
    },
    "no timestamp": {
      forge: field("timestamp", 0),
      skips: ["doc.time", "chain.validity", ...REJECTED],
      passes: ["chain.signature", "chain.constraints", "cose.signature"],
    },
    "no timestamp, where now is asked": {
      forge: field("timestamp", 0),
      judge: { validAt: "now" },
      skips: ["doc.time", ...REJECTED],
      passes: ["chain.validity"],
    },
    "PCRs that cannot be read": {
      forge: field("pcrs", null),
      skips: ["bind.pcrs", "bind.commitment", "mode.debug", ...REJECTED],
      passes: ["bind.user-data", "bind.key"],
    },
    "PCRs that cannot be read, where an image was given": {
      forge: field("pcrs", null),
      judge: { measurements: { 0: lab.measurements.pcr0 } },
      skips: ["bind.pcrs", "bind.image", "bind.commitment", "mode.debug", ...REJECTED],
      passes: ["bind.user-data", "bind.key"],
    },
    "a public_key that cannot be read": {
      forge: field("public_key", "key"),
      skips: ["bind.key", "bind.commitment", ...REJECTED],
      passes: ["bind.user-data", "bind.pcrs"],
    },
    "a user_data that cannot be read": {
      forge: field("user_data", 1),
      skips: ["bind.user-data", ...REJECTED],
      passes: ["bind.key", "bind.pcrs"],
    },
    "a nonce that cannot be read": {
      forge: field("nonce", "nonce"),
      skips: ["bind.nonce", ...REJECTED],
      passes: ["bind.key"],
    },
    "no key beside the document": {
      forge: { bootProof: drop("ephemeralPublicKeyHex") },
      skips: ["bind.key", ...REJECTED],
      passes: ["bind.commitment"],
    },
    "no manifest in the boot proof": {
      forge: { bootProof: drop("qosManifestB64") },
      skips: [
        "manifest.decode",
        "envelope.manifest",
        "bind.user-data",
        "bind.pcrs",
        "bind.commitment",
        "mode.debug",
        ...REJECTED,
      ],
      passes: ["envelope.decode", "envelope.approvals", "bind.key", "cose.signature"],
    },
    "a manifest that cannot be read": {
      forge: { alterManifest: { bytes: (bytes) => bytes.subarray(1) } },
      skips: ["envelope.manifest", "bind.user-data", "bind.pcrs", "bind.commitment", "mode.debug", ...REJECTED],
      passes: ["envelope.decode", "envelope.approvals"],
    },
    "an envelope that cannot be read": {
      forge: { alterManifest: { envelopeBytes: (bytes) => bytes.subarray(1) } },
      skips: ["envelope.manifest", "envelope.approvals", "envelope.shares", ...REJECTED],
      passes: ["manifest.decode", "bind.user-data", "bind.pcrs"],
    },
    "a rejected boot proof": {
      forge: field("nonce", Uint8Array.of(1)),
      skips: REJECTED,
      passes: ["app.decode", "app.signature", "app.payload"],
    },
    "an app proof without a key": {
      forge: appProof({ json: drop("publicKey") }),
      skips: ["app.signature", "app.key", "app.time"],
      passes: ["app.payload", "policy.deployment"],
    },
    "an app proof without a signature": {
      forge: appProof({ json: drop("signature") }),
      skips: ["app.signature"],
      passes: ["app.key", "app.payload", "app.time"],
    },
    "an app proof without a payload": {
      forge: appProof({ json: drop("proofPayload") }),
      skips: ["app.signature", "app.payload", "app.time"],
      passes: ["app.key"],
    },
    "a payload without a time": {
      forge: appProof({ payload: drop("timestampMs") }),
      skips: ["app.time"],
      passes: ["app.signature", "app.key"],
    },
    "a rejected app proof in an activity": {
      forge: appProof({ signature: () => new Uint8Array(64) }),
      judge: { given: withActivity },
      skips: ["activity.claims", "policy.app-proof"],
      passes: ["activity.decode"],
    },
    "an activity without a result": {
      forge: { activity: put("result", null) },
      judge: { given: withActivity },
      skips: ["activity.claims", "activity.coverage"],
      passes: ["app.signature", "app.key"],
    },
    "a rejected app proof in an activity that signs": {
      forge: { payloads, activity: signing, ...appProof({ signature: () => new Uint8Array(64) }) },
      judge: askedToSign,
      skips: ["activity.claims", "activity.signature"],
      passes: ["activity.decode", "activity.request"],
    },
    "a rejected app proof beside an activity that signs": {
      forge: { payloads, activity: signing },
      judge: {
        ...askedToSign,
        given: (evidence) => ({
          ...withActivity(evidence),
          appProofs: [{ ...evidence.appProofs[0], signature: "00" }],
        }),
      },
      skips: ["activity.claims", "activity.signature"],
      passes: ["activity.decode", "activity.request"],
    },
    "an activity that signs, and has no id": {
      forge: { payloads, activity: (json) => drop("id")(signing(json)) },
      judge: askedToSign,
      skips: ["activity.signature"],
      passes: ["app.signature", "app.key"],
    },
    "pins that the policy does not name": {
      judge: { deployments: (all) => [{ manifestSet: all["manifestSet"]!, pivotHash: all["pivotHash"]! }] },
      skips: [
        "policy.pcrs",
        "policy.manifest-hash",
        "policy.workloads",
        "policy.args",
        "policy.user-data",
        "policy.public-key",
        "policy.namespace",
        "policy.nonce",
        "policy.quorum-key",
        "policy.share-set",
        "policy.labels",
        "policy.age",
      ],
      passes: ["policy.pivot", "policy.deployment"],
    },
    "no app proof, and none is expected": {
      forge: { payloads: [] },
      skips: ["policy.current", "policy.app-proof"],
      passes: ["policy.deployment"],
    },
  }),
];

const expectKnownDetails = knownDetails("skipped", rows.length);

describe("skipped", () => {
  it.each(rows)("$name", async ({ forge: alterations, judge: judgement, skips, passes = [] }) => {
    const report = await judge(forge(alterations), judgement);
    expectKnownDetails(report);
    expect(idsOf(report, "skip")).toEqual(expect.arrayContaining([...skips]));
    for (const id of skips) expect(idsOf(report, "pass")).not.toContain(id);
    expect(idsOf(report, "pass")).toEqual(expect.arrayContaining([...passes]));
    for (const check of report.checks.filter(({ status }) => status === "skip")) expect(check.detail).not.toBe("");
  });

  it("without a policy no check of it passes", async () => {
    const report = await judge(forge(), { noPolicy: true });
    expect(idsOf(report, "pass").filter((id) => id.startsWith("policy."))).toEqual([]);
    expect(report.verdict).toBe("authentic");
  });
});
