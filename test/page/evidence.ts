/** Reports on real and forged evidence in every verdict, with what was judged: what the page is made of. */
import { NO_POLICY_ANY_ENCLAVE, parsePolicy, parseTrustAnchor, verifyAttestation, verifyEvidence } from "../../src/index.js";
import { type Evidence, NamedEvidence, type VerifyOptions } from "../../src/inputs.js";
import { Forge, type ForgeOptions, LAB_ADDRESS, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import type { Shown } from "../../src/page/view.js";
import { readVector, readVectorJson } from "../support/vectors.js";

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
const realApp = readVectorJson("boot-proofs/appproof-1.json");
const document = readVector("nitro/brave-keysync-responder-test-go-20220804.cbor");

export function fleet(count: number): ReturnType<typeof forgeEvidence>[] {
  return Array.from({ length: count }, (_, index) => {
    return forged({ at: after(60 * index), ephemeralKey: generateQosKeyPair() });
  });
}

async function sixty(maxAge?: string): Promise<Shown> {
  const made = fleet(60);
  const evidence = {
    bootProofs: made.map((one, index) => named(`bp-${index}.json`, one.bootProof)),
    appProofs: made.map((one) => one.appProofs[0]),
  };
  const policy = policyOf({}, maxAge === undefined ? {} : { maxAge });
  return judged(evidence, { now: after(60 * 60), policy });
}

/** The name by which another key says whose it is: text that would be markup, and text that would turn it around. */
export const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)>&lt;\u202Eevil\u2066'</code></dd>`;

/** Every kind of report, made when it is asked for. */
export const SHOWN: Readonly<Record<string, () => Promise<Shown>>> = {
  verified: () => judged({ bootProofs: [named("boot.json", bootProof)], appProofs: [plain.appProofs[0]] }, expected()),
  "verified, with BUTs": async () => {
    const shown = await judged({ bootProofs: [named("boot.json", bootProof)] }, { policy: openPolicy(), bootProofsOnly: true });
    return { ...shown, notices: [{ kind: "but", text: "the policy came out of the bundle itself." }, { kind: "note", text: "The bundle was made at 2026-03-04T05:06:07.000Z." }] };
  },
  "verified, debug allowed": () =>
    judged(
      { bootProofs: [debugBoot().bootProof], appProofs: debugBoot().appProofs },
      { policy: policyOf({ pcrs: undefined }, { allowDebug: true }) },
    ),
  authentic: () => judged({ bootProofs: [realBoot], appProofs: [realApp] }, { policy: NO_POLICY_ANY_ENCLAVE }),
  "rejected: another release": () => judged({ bootProofs: [named("boot.json", bootProof)] }, { policy: policyOf({ pivotHash: nearPivot() }) }),
  "rejected: a forged signature": () => judged({ bootProofs: [named("forged.json", flipped(bootProof, "cloudAttestationDocB64", 20))], appProofs: plain.appProofs }),
  "rejected: no JSON": () => judged({ bootProofs: ['{"ephemeralPublicKeyHex": '], appProofs: [{ scheme: 7 }] }),
  stale: () => judged({ bootProofs: [named("boot.json", bootProof)] }, { policy: policyOf({}, { maxAge: "1m" }), now: after(3600) }),
  "sixty boot proofs": () => sixty(),
  "sixty boot proofs, stale": () => sixty("30m"),
  "a bare document": async () => {
    const evidence = new NamedEvidence("document.cbor", document, { bytes: document });
    const { report } = await verifyAttestation(evidence as never, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW });
    return { report, evidence, notices: [] };
  },
  "an activity": () => judged({ bootProofs: [named("boot.json", bootProof)], activity: named("activity.json", plain.activity) }),
  hostile: () => {
    const other = new Forge({ namespace: { name: HOSTILE, nonce: 7 }, labels: { deploymentLabel: HOSTILE, enclaveApp: HOSTILE, owner: HOSTILE } });
    const made = forgeEvidence({ lab: other, at: AT });
    const anchors = [parseTrustAnchor(made.anchorPem, HOSTILE)];
    return judged({ bootProofs: [named(HOSTILE, { ...made.bootProof, [HOSTILE]: HOSTILE })], appProofs: made.appProofs }, { policy: NO_POLICY_ANY_ENCLAVE, trustAnchors: anchors });
  },
};
