/** Provisioning details (decode/README.md, "Provisioning details"), made of a boot proof of the service. */
import { fromBase64, fromUtf8 } from "../../src/bytes.js";
import { type BootProof, decodeBootProof } from "../../src/decode/boot-proof.js";
import { type JsonObject, parseJson } from "../../src/decode/json.js";
import { readVectorJson } from "./vectors.js";

export const GENUINE_DETAILS = "qos/provisioning/valid_provisioning_details.json";
/** A legacy document. */
export const GENUINE_LEGACY_DETAILS = "manifests/rust-sdk/valid_provisioning_details.2026-04-22-497b096.json";
/** A minute after the document of {@link GENUINE_DETAILS}. */
export const GENUINE_NOW = new Date("2026-06-30T00:34:40.000Z");

export const genuineDetails = (): JsonObject => readVectorJson<JsonObject>(GENUINE_DETAILS);

export const DETAIL_FORMS = ["file", "browser", "query"] as const;
export type DetailForm = (typeof DETAIL_FORMS)[number];

/** The envelope has to be JSON, except in `query`. */
export function detailsOf(bootProof: JsonObject, form: DetailForm): JsonObject {
  const { cloudAttestationDocB64, qosManifestEnvelopeB64, ephemeralPublicKeyHex } = bootProof;
  if (form === "query")
    return { attestationDocument: cloudAttestationDocB64!, manifestEnvelope: qosManifestEnvelopeB64! };
  const envelope = parseJson(fromUtf8(fromBase64(qosManifestEnvelopeB64 as string)!)!);
  if (form === "file")
    return {
      attestation_document_cose_sign1_base64: cloudAttestationDocB64!,
      manifest_envelope: envelope,
      validation_time_secs: 1_772_600_767,
    };
  return {
    attestationDocumentCoseSign1Base64: cloudAttestationDocB64!,
    manifestEnvelope: envelope,
    fetchedAtUnixMs: 1_772_600_767_000,
    deploymentId: "0b9c4f0e-2f0b-4f0c-9d55-0c6c7b0b5a11",
    ephemeralPublicKeyHex: ephemeralPublicKeyHex!,
  };
}

type ServiceForm = BootProof & { readonly manifest: Uint8Array; readonly ephemeralPublicKey: Uint8Array };

/** `decodeBootProof` of the service's form, which has a manifest and a key. */
export function decodeServiceForm(input: unknown): ServiceForm {
  const decoded = decodeBootProof(input);
  if (decoded.form !== "service") throw new TypeError("provisioning details");
  return decoded as ServiceForm;
}

/** A deployment for provisioning details, which have no labels to pin. */
export function withoutLabels(deployment: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(deployment).filter(([name]) => name !== "labels"));
}
