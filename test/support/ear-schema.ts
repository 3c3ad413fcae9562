/**
 * The claims-set of an EAR in JSON, as a JSON Schema: written from the CDDL of draft-ietf-rats-ear-04 (section 3 and
 * 3.1), of AR4SI (draft-ietf-rats-ar4si-10, section 3), of RFC 9711 (section 4.1) and of CMW records.
 */
import type { JsonObject } from "../../src/decode/json.js";

const BASE64URL = { type: "string", pattern: "^[A-Za-z0-9_-]+$" };
const NONCE = { type: "string", minLength: 8, maxLength: 88, pattern: "^[A-Za-z0-9_-]+$" };
const TIER = { enum: ["none", "affirming", "warning", "contraindicated"] };
const CLAIM = { type: "integer", minimum: -128, maximum: 127 };
const MAP = { type: "object", minProperties: 1 };

const APPRAISAL = {
  type: "object",
  required: ["ear_status"],
  properties: {
    eat_profile: { type: "string", minLength: 1 },
    ear_status: TIER,
    ear_trustworthiness_vector: {
      type: "object",
      minProperties: 1,
      additionalProperties: false,
      properties: {
        "instance-identity": CLAIM,
        configuration: CLAIM,
        executables: CLAIM,
        "file-system": CLAIM,
        hardware: CLAIM,
        "runtime-opaque": CLAIM,
        "storage-opaque": CLAIM,
        "sourced-data": CLAIM,
      },
    },
    ear_appraisal_policy_ids: { type: "array", minItems: 1, items: { type: "string" } },
    eat_nonce: NONCE,
    ear_attester_claims: MAP,
    ear_verifier_claims: MAP,
  },
  // An extension is a map.
  additionalProperties: MAP,
};

export const EAR_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  required: ["eat_profile", "iat", "ear_verifier_id", "submods"],
  properties: {
    eat_profile: { const: "tag:ietf.org,2026:rats/ear#04" },
    ear_status: TIER,
    iat: { type: "integer" },
    exp: { type: "integer" },
    ear_verifier_id: {
      type: "object",
      required: ["developer", "build"],
      additionalProperties: false,
      properties: { developer: { type: "string" }, build: { type: "string" } },
    },
    ear_raw_evidence: {
      type: "array",
      prefixItems: [{ type: "string" }, BASE64URL, { type: "integer" }],
      items: false,
      minItems: 2,
      maxItems: 3,
    },
    submods: { type: "object", minProperties: 1, additionalProperties: APPRAISAL },
    eat_nonce: NONCE,
    ear_device_topology: {
      type: "object",
      minProperties: 1,
      additionalProperties: { type: "array", minItems: 1, items: { type: "string" } },
    },
  },
  additionalProperties: MAP,
};
