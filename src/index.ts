/** What a verifier needs. All else is exported by the package's subpaths (docs/sdk.md, "Subpaths"). */
export {
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  verifyActivity,
  verifyAppProof,
  verifyAppProofs,
  verifyAttestation,
  verifyBootProof,
  verifyEvidence,
  verifySignedBytes,
} from "./bootproof.js";
export type { Evidence, SignedBytes, SignedBytesOptions, VerifyOptions } from "./bootproof.js";
export { RejectedError, requireAuthentic, requireVerified } from "./verification.js";
export type {
  ActivityVerification,
  AnyVerification,
  AppProofVerification,
  AttestationVerification,
  Authentic,
  BootProofVerification,
  SignedBytesVerification,
  Verification,
  Verified,
} from "./verification.js";
export { MalformedError } from "./errors.js";
export type { Fault, MalformedCode } from "./errors.js";
export { CHECK_IDS, CHECK_TITLES } from "./checks.js";
export type { Check, CheckId, CheckStatus, CheckSubject } from "./checks.js";

export { parsePolicy } from "./appraise/policy.js";
export type { ParsePolicyOptions, Policy, PolicyFile } from "./appraise/policy.js";
export { AWS_NITRO_ROOT_G1, parseTrustAnchor } from "./verify/trust-anchor.js";
export type { TrustAnchor } from "./verify/trust-anchor.js";
export type { Expected, ExpectedPayload } from "./verify/expectation.js";
export { AppProofUses } from "./verify/app-proof-uses.js";
export { SignatureCache } from "./verify/signature-cache.js";
export type { ProvenanceVerifier } from "./verify/provenance-demand.js";
export { MissingFunctionError } from "./verify/runtime.js";

export { VerifiedActivity } from "./verify/activity.js";
export { VerifiedAppProof } from "./verify/app-proof.js";
export { VerifiedAttestation } from "./verify/attestation.js";
export { VerifiedBootProof } from "./verify/boot-proof.js";
export { VerifiedProvenance } from "./verify/provenance.js";
export type { VerifiedSignedBytes } from "./verify/signed-bytes.js";
export type { JsonObject, JsonValue } from "./decode/json.js";

export type { Claims, Report, Verdict } from "./report/report.js";
export { CHECK_ADVICE, explainCheck } from "./report/explanations.js";
export type { CheckExplanation } from "./report/explanations.js";
export { renderCheckExplanation } from "./show/explanations.js";
export type { ExplanationOptions } from "./show/explanations.js";
export { renderJson } from "./report/json.js";
export { renderSummary, renderText } from "./show/text.js";
export type { TextOptions } from "./show/text.js";
