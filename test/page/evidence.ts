/** Reports on real and forged evidence in every verdict, with what was judged: what the page is made of. */
import {
  NO_POLICY_ANY_ENCLAVE,
  parsePolicy,
  parseTrustAnchor,
  verifyAttestation,
  verifyBootProof,
  verifyEvidence,
} from "../../src/index.js";
import { makePolicy } from "../../src/author/index.js";
import { type Evidence, NamedEvidence, type VerifyOptions } from "../../src/inputs.js";
import { Forge, type ForgeOptions, LAB_ADDRESS, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { PivotManifest } from "../../src/decode/manifest/index.js";
import type { TrustAnchor } from "../../src/verify/trust-anchor.js";
import { fromHex, toHex } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import type { Shown } from "../../src/page/view.js";
import { readVector, readVectorJson } from "../support/vectors.js";
import { derInteger, derSequence } from "../support/der.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const NOW = after(300);
export const lab = new Forge();
const plain = forgeEvidence({ lab, at: AT });

function after(seconds: number): Date {
  return new Date(AT.getTime() + 1000 * seconds);
}

function policyOf(pins: object = {}, rest: object = {}): ReturnType<typeof parsePolicy> {
  const deployment = { ...labDeployment(lab), ...pins } as ReturnType<typeof labDeployment>;
  return parsePolicy(JSON.stringify({ ...labPolicy(plain.anchorPem, [deployment]), ...rest }));
}

/** The root of the lab, for where no policy names it. */
export function anchors(): TrustAnchor[] {
  return [parseTrustAnchor("the lab's root", plain.anchorPem)];
}

async function judged(evidence: Evidence, options: Partial<VerifyOptions> = {}): Promise<Shown> {
  const { report } = await verifyEvidence(evidence, { policy: policyOf(), now: NOW, ...options });
  return { report, evidence, notices: [] };
}

function forged(options: Partial<ForgeOptions> = {}): ReturnType<typeof forgeEvidence> {
  return forgeEvidence({ lab, at: AT, ...options });
}

function named(name: string, value: unknown): NamedEvidence {
  return new NamedEvidence(name, value, { bytes: new TextEncoder().encode(JSON.stringify(value)) });
}

function flipped(bootProof: Record<string, unknown>, member: string, at: number): Record<string, unknown> {
  const bytes = Buffer.from(bootProof[member] as string, "base64");
  bytes[bytes.length - at]! ^= 1;
  return { ...bootProof, [member]: bytes.toString("base64") };
}

const bootProof = plain.bootProof as unknown as Record<string, unknown>;
const realBoot = readVectorJson("boot-proofs/bootproof-1.json");
const realApp = readVectorJson<{ proofPayload: string }>("boot-proofs/appproof-1.json");
const document = readVector("nitro/brave-keysync-responder-test-go-20220804.cbor");

export function fleet(count: number): ReturnType<typeof forgeEvidence>[] {
  return Array.from({ length: count }, (_, index) => {
    return forged({ at: after(60 * index), ephemeralKey: generateQosKeyPair() });
  });
}

/** Another hash in one byte. */
function near(hex: string): string {
  return hex.slice(0, 10) + (hex.startsWith("00", 10) ? "11" : "00") + hex.slice(12);
}

/** What a deployed service answered, under a policy that pins all of it. */
async function real(): Promise<Shown> {
  const now = new Date("2025-09-17T00:00:00.000Z");
  const { bootProof: pinned } = await verifyBootProof(realBoot, { policy: NO_POLICY_ANY_ENCLAVE, now });
  const policy = parsePolicy(
    JSON.stringify({ ...makePolicy(pinned!, { name: "signer" }).policy, name: "Signer, production" }),
  );
  const { organizationId, address } = JSON.parse(realApp.proofPayload).addressDerivationProof;
  const expected = { organizationId, addresses: [address] };
  return judged(
    { bootProofs: [named("boot.json", realBoot)], appProofs: [named("app.json", realApp)] },
    { policy, now, expected },
  );
}

/** Enclaves of one deployment, a minute between them, with an app proof each; half of them may be too old. */
async function many(count: number, isHalfTooOld: boolean): Promise<Shown> {
  const made = fleet(count);
  const evidence = {
    bootProofs: made.map((one, index) => named(`bp-${index}.json`, one.bootProof)),
    appProofs: made.map((one) => one.appProofs[0]),
  };
  const policy = policyOf({}, isHalfTooOld ? { maxAge: `${count / 2}m` } : {});
  return judged(evidence, { now: after(60 * count), policy });
}

/** The name by which another key says whose it is: text that would be markup, and text that would turn it around. */
export const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)>&lt;\u202Eevil\u2066'</code></dd>`;

export const CHALLENGE = "q7Yt3mVnB2xKc9PzLwRs4A";

/** Of an application with a key and a signature in its own forms: the half that signs, and DER. */
export function ofOwnForm(payload: JsonObject): JsonObject {
  const [proof] = forged({ payloads: [payload] }).appProofs as unknown as { publicKey: string; signature: string }[];
  const { publicKey, signature } = proof!;
  const integers = [signature.slice(0, 64), signature.slice(64)].map((half) => derInteger(unpadded(half)));
  return { ...proof, publicKey: publicKey.slice(130), signature: toHex(derSequence(...integers)) };
}

function unpadded(hex: string): Uint8Array {
  return fromHex(hex.replace(/^(?:00)+/, ""))!;
}

const MAKERS: Readonly<Record<string, () => Promise<Shown>>> = {
  verified: () => real(),
  "verified, with warnings": async () => {
    const policy = policyOf(
      { quorumKey: undefined, manifestSet: undefined, open: ["operator"] },
      { appProofs: { required: true } },
    );
    const shown = await judged({ bootProofs: [named("boot.json", bootProof)] }, { policy, bootProofsOnly: true });
    return {
      ...shown,
      notices: [
        { kind: "warning", text: "the policy came out of the bundle itself." },
        { kind: "note", text: "The bundle was made at 2026-03-04T05:06:07.000Z." },
      ],
    };
  },
  "verified, debug allowed": () => {
    const alterManifest = {
      manifest: (made: PivotManifest) => ({ ...made, pivot: { ...made.pivot, debugMode: true } }),
    };
    const made = forged({ alterManifest });
    return judged({ bootProofs: [made.bootProof], appProofs: made.appProofs }, { allowDebug: true });
  },
  "verified, an application of one's own": () => {
    const payloads = [
      { type: "QUOTE", price: 1.5, challenge: CHALLENGE },
      { type: "QUOTE", price: 2 },
      { type: "RATE" },
    ];
    const expected = [
      { type: "QUOTE", values: { "/price": 1.5, "/challenge": CHALLENGE }, challenge: "/challenge" },
      { type: "QUOTE", values: { "/price": 2 } },
    ];
    return judged(
      { bootProofs: [named("boot.json", bootProof)], appProofs: payloads.map(ofOwnForm) },
      { policy: policyOf({}, { appProofs: { untimed: ["QUOTE", "RATE"] } }), expected: { payload: expected } },
    );
  },
  authentic: () =>
    judged(
      { bootProofs: [realBoot], appProofs: [realApp] },
      { policy: NO_POLICY_ANY_ENCLAVE, now: new Date("2025-09-17T00:00:00.000Z") },
    ),
  "rejected: another release": () =>
    judged(
      { bootProofs: [named("boot.json", bootProof)] },
      { policy: policyOf({ pivotHash: near(labDeployment(lab)["pivotHash"] as string) }) },
    ),
  "rejected: a forged signature": () =>
    judged({
      bootProofs: [named("forged.json", flipped(bootProof, "cloudAttestationDocB64", 20))],
      appProofs: plain.appProofs,
    }),
  "rejected: no JSON": () => judged({ bootProofs: ['{"ephemeralPublicKeyHex": '], appProofs: [{ scheme: 7 }] }),
  stale: () =>
    judged(
      { bootProofs: [named("boot.json", bootProof)] },
      { policy: policyOf({}, { maxAge: "1m" }), now: after(3600) },
    ),
  "six boot proofs": () => many(6, false),
  "many boot proofs, half of them too old": () => many(10, true),
  "a bare document": async () => {
    const evidence = new NamedEvidence("document.cbor", document, { bytes: document });
    const { report } = await verifyAttestation(evidence, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW });
    return { report, evidence, notices: [] };
  },
  "an activity": () =>
    judged({ bootProofs: [named("boot.json", bootProof)], activity: named("activity.json", plain.activity) }),
  "an activity, as it was asked for": () =>
    judged(
      { bootProofs: [named("boot.json", bootProof)], activity: named("activity.json", plain.activity) },
      { expected: { organizationId: LAB_ADDRESS.organizationId, addresses: [LAB_ADDRESS.address] } },
    ),
  hostile: () => {
    const other = new Forge({
      namespace: { name: HOSTILE, nonce: 7 },
      labels: { deploymentLabel: HOSTILE, enclaveApp: HOSTILE, owner: HOSTILE },
    });
    const made = forgeEvidence({ lab: other, at: AT });
    const anchors = [parseTrustAnchor(HOSTILE, made.anchorPem)];
    return judged(
      { bootProofs: [named(HOSTILE, { ...made.bootProof, [HOSTILE]: HOSTILE })], appProofs: made.appProofs },
      { policy: NO_POLICY_ANY_ENCLAVE, trustAnchors: anchors },
    );
  },
};

const shown = new Map<string, Promise<Shown>>();

/** Every kind of report, made once, when it is asked for. */
export const SHOWN: Readonly<Record<string, () => Promise<Shown>>> = Object.fromEntries(
  Object.entries(MAKERS).map(([name, make]) => [
    name,
    () => {
      const made = shown.get(name) ?? make();
      shown.set(name, made);
      return made;
    },
  ]),
);

/** Rejected, of so many boot proofs that each test of a page would take long. */
export const REJECTED_FLEETS: Readonly<Record<string, () => Promise<Shown>>> = {
  "rejected: one app proof of twelve": async () => {
    const { evidence } = await many(12, false);
    const { bootProofs, appProofs } = evidence as Required<Evidence>;
    const forgedOne = { ...(appProofs[8] as object), signature: "00".repeat(64) };
    return judged({ bootProofs, appProofs: appProofs.with(8, forgedOne) }, { now: after(3600) });
  },
  "rejected: twelve boot proofs": () => many(12, true),
};
