/**
 * The members of in-toto's Statement v1 (in-toto/attestation, protos/in_toto_attestation/v1) and of SLSA's verification
 * summary v1 (predicates/vsa/v1 there) with their types; no others are allowed.
 */
const text = { type: "string" };
const texts = { type: "array", items: text };
const byName = { type: "object", additionalProperties: text };
const any = { type: "object" };
const time = {
  type: "string",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:Z|[+-]\\d{2}:\\d{2})$",
};

const object = (properties: object): object => ({ type: "object", additionalProperties: false, properties });
const listOf = (items: object): object => ({ type: "array", items });

const RESOURCE = object({
  name: text,
  uri: text,
  digest: byName,
  content: text,
  downloadLocation: text,
  mediaType: text,
  annotations: any,
});

export const STATEMENT = object({ _type: text, subject: listOf(RESOURCE), predicateType: text, predicate: any });

export const VERIFICATION_SUMMARY = object({
  verifier: object({ id: text }),
  timeVerified: time,
  resourceUri: text,
  policy: object({ uri: text, digest: byName }),
  inputAttestations: listOf(object({ uri: text, digest: byName })),
  verificationResult: text,
  verifiedLevels: texts,
  dependencyLevels: { type: "object", additionalProperties: { type: ["integer", "string"] } },
  slsaVersion: text,
});
