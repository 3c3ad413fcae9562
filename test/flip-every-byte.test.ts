/**
 * Flips the bytes of genuine evidence, one at a time, and wants every result rejected. The suite takes every 101st
 * byte; `BOOTPROOF_TESTS=long npx vitest run test/flip-every-byte.test.ts` takes every byte there is.
 */
import { describe, expect, it } from "vitest";
import { fromBase64, fromHex, fromUtf8, toBase64, toHex, toUtf8 } from "../src/bytes.js";
import { NO_POLICY_ANY_ENCLAVE, SignatureCache, verifyEvidence } from "../src/index.js";
import { decodeAttestationDocument } from "../src/decode/index.js";
import type { Report } from "../src/report/report.js";
import type { Json } from "./support/manifest.js";
import { readVectorJson } from "./support/vectors.js";
import { IS_LONG } from "./support/long.js";

const STRIDE = IS_LONG ? 1 : 101;
const PATTERNS = [0x01, 0x80, 0xff];
const HOUR = 3_600_000;

interface Evidence {
  readonly bootProof: Json;
  readonly appProof: Json;
}

/** A part of the evidence that is bytes: read out, and put back changed. */
interface Part {
  readonly name: string;
  readonly get: (evidence: Evidence) => Uint8Array;
  /** Null where the changed bytes cannot be written in their place: text has to be UTF-8. */
  readonly set: (evidence: Evidence, bytes: Uint8Array) => Evidence | null;
}

const field = (
  of: keyof Evidence,
  name: string,
  read: (text: string) => Uint8Array,
  write: (bytes: Uint8Array) => string | null,
): Part => ({
  name,
  get: (evidence) => read(evidence[of][name] as string),
  set: (evidence, bytes) => {
    const text = write(bytes);
    return text === null ? null : { ...evidence, [of]: { ...evidence[of], [name]: text } };
  },
});
const base64Field = (name: string): Part => field("bootProof", name, (text) => fromBase64(text)!, toBase64);
const hexField = (of: keyof Evidence, name: string): Part => field(of, name, (text) => fromHex(text)!, toHex);

const PARTS: Part[] = [
  base64Field("cloudAttestationDocB64"),
  base64Field("qosManifestB64"),
  base64Field("qosManifestEnvelopeB64"),
  hexField("bootProof", "ephemeralPublicKeyHex"),
];
const APP_PARTS: Part[] = [
  hexField("appProof", "publicKey"),
  hexField("appProof", "signature"),
  field("appProof", "proofPayload", toUtf8, fromUtf8),
];

/** A captured pair, the manifest in borsh. */
function captured(): Evidence {
  const { awsAttestationDocB64, ...rest } = readVectorJson<Json>("boot-proofs/bootproof-1.json");
  return {
    bootProof: { ...rest, cloudAttestationDocB64: awsAttestationDocB64 },
    appProof: readVectorJson("boot-proofs/appproof-1.json"),
  };
}

/** A genuine document and envelope, the manifest in JSON; the boot proof around them is made here. */
function provisioned(): Evidence {
  const details = readVectorJson<Json>("manifests/rust-sdk/valid_provisioning_details.2026-04-22-497b096.json");
  const document = details.attestation_document_cose_sign1_base64 as string;
  const { manifest, manifestSetApprovals, shareSetApprovals } = details.manifest_envelope;
  const json64 = (value: Json): string => toBase64(toUtf8(JSON.stringify(value)));
  return {
    bootProof: {
      ephemeralPublicKeyHex: toHex(decodeAttestationDocument(fromBase64(document)!).publicKey!),
      cloudAttestationDocB64: document,
      qosManifestB64: json64(manifest),
      // The source repeats one approval, which is refused.
      qosManifestEnvelopeB64: json64({
        manifest,
        manifestSetApprovals,
        shareSetApprovals: shareSetApprovals.slice(0, 1),
      }),
      deploymentLabel: "",
      enclaveApp: "",
      owner: "",
      createdAt: { seconds: "0", nanos: "0" },
    },
    appProof: null,
  };
}

describe.each<[string, Evidence, Part[]]>([
  ["a captured pair", captured(), [...PARTS, ...APP_PARTS]],
  ["a document with a manifest in JSON", provisioned(), PARTS],
])("every flipped byte of %s is rejected", (_, genuine, parts) => {
  // Only what is valid is remembered, so that what was not flipped is quick, and what was flipped is verified.
  const cache = new SignatureCache();
  const document = decodeAttestationDocument(fromBase64(genuine.bootProof.cloudAttestationDocB64 as string)!);
  const now = new Date(document.timestamp + HOUR);

  async function judge({ bootProof, appProof }: Evidence): Promise<Report> {
    const evidence = { bootProofs: [bootProof], appProofs: appProof === null ? [] : [appProof] };
    const { report } = await verifyEvidence(evidence, { policy: NO_POLICY_ANY_ENCLAVE, now, cache });
    return report;
  }

  it("and nothing flipped is authentic", async () => {
    expect((await judge(genuine)).verdict).toBe("authentic");
  });

  it.each(parts)("in $name", { timeout: 3_600_000 }, async ({ get, set }) => {
    const bytes = get(genuine);
    const survivors: string[] = [];
    let judged = 0;
    let unwritable = 0;
    for (let at = 0; at < bytes.length; at += STRIDE) {
      for (const pattern of PATTERNS) {
        const flipped = bytes.slice();
        flipped[at]! ^= pattern;
        const evidence = set(genuine, flipped);
        if (evidence === null) {
          unwritable++;
          continue;
        }
        const { verdict, claims, checks } = await judge(evidence);
        judged++;
        const rejected = verdict === "rejected" && claims === null && checks.some(({ status }) => status === "fail");
        if (!rejected) survivors.push(`byte ${at} xor 0x${pattern.toString(16)}`);
      }
    }
    expect(survivors).toEqual([]);
    expect(judged + unwritable).toBe(Math.ceil(bytes.length / STRIDE) * PATTERNS.length);
    expect(judged).toBeGreaterThanOrEqual(Math.ceil(bytes.length / STRIDE));
  });
});
