/** All exports of the package. */
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

export { decodeActivity } from "./decode/activity.js";
export type { Activity } from "./decode/activity.js";
export { appProofOf, decodeAppProof, decodeAppProofPayload } from "./decode/app-proof.js";
export type {
  AddressDerivationPayload,
  AddressDerivationProof,
  AppProof,
  AppProofMembers,
  AppProofPayload,
  OtherPayload,
  OtherPayloadType,
  PolicyOutcome,
  PolicyOutcomePayload,
  PolicyOutcomeProof,
  StandardAppProof,
} from "./decode/app-proof.js";
export { decodeAttestationDocument } from "./decode/attestation-document.js";
export type { AttestationDocument, UnverifiedAttestationDocument } from "./decode/attestation-document.js";
export { decodeBootProof } from "./decode/boot-proof.js";
export type { BootProof, BootProofLabels } from "./decode/boot-proof.js";
export { decodeCertificate } from "./decode/certificate.js";
export type { Certificate, CertificateExtension } from "./decode/certificate.js";
export type { JsonObject, JsonValue } from "./decode/json.js";
export { decodeGenesisOutput } from "./decode/genesis-output.js";
export type { GenesisOutput, GenesisRequest } from "./decode/genesis-output.js";
export { decodeManifest, decodeManifestEnvelope } from "./decode/manifest/index.js";
export type {
  Approval,
  BridgeConfig,
  EnclaveMeasurements,
  Manifest,
  ManifestByVersion,
  ManifestEnvelope,
  ManifestVersion,
  MemberSet,
  Mount,
  Namespace,
  PatchSet,
  Pivot,
  PivotManifest,
  QuorumMember,
  Volume,
  Workload,
  WorkloadManifest,
} from "./decode/manifest/model.js";

export { VerifiedActivity } from "./verify/activity.js";
export { type SignUp, VerifiedAppProof } from "./verify/app-proof.js";
export type { VerifiedSignedBytes } from "./verify/signed-bytes.js";
export { AppProofUses } from "./verify/app-proof-uses.js";
export { VerifiedAttestation } from "./verify/attestation.js";
export { VerifiedBootProof } from "./verify/boot-proof.js";
export { VerifiedProvenance } from "./verify/provenance.js";
export type { MetDemand } from "./verify/provenance.js";
export type { GithubRelease } from "./decode/github-release.js";
export type {
  DemandedRelease,
  GithubReleaseDemand,
  ProvenanceDemand,
  ProvenanceQuestion,
  ProvenanceRefusal,
  ProvenanceSignature,
  ProvenanceThresholds,
  ProvenanceVerifier,
  TrustedRoot,
  WorkflowDemand,
} from "./verify/provenance-demand.js";
export { manifestHash } from "./verify/manifest-binding.js";
export type { Expected, ExpectedPayload } from "./verify/expectation.js";
export type { CommitmentKind } from "./verify/commitment.js";
export { MissingFunctionError } from "./verify/runtime.js";
export { SignatureCache } from "./verify/signature-cache.js";
export { AWS_NITRO_ROOT_G1, parseTrustAnchor } from "./verify/trust-anchor.js";
export type { TrustAnchor } from "./verify/trust-anchor.js";

export { parsePolicy } from "./appraise/policy.js";
export type { DeploymentFile, DeploymentPins, ParsePolicyOptions, Policy, PolicyFile } from "./appraise/policy.js";
export { makeBuildPolicy, makePolicy, makeReleasePolicy, pinPolicy, policyFromRelease } from "./appraise/pin.js";
export type { BuildMeasurements, BuildOptions, MadePolicy, PinOptions, ReleaseOptions } from "./appraise/pin.js";
export { addToPolicy, dropDeployment } from "./appraise/edit.js";
export { DemandError, type DemandCode, type DemandRefusal } from "./appraise/siblings.js";
export type { AcceptedToo, NarrowerThing } from "./appraise/accepted.js";
export type { AddOptions, AlreadyThere, EditedPolicy, StillAccepting } from "./appraise/edit.js";
export { compareBuild, compareMeasured } from "./appraise/measured.js";
export type {
  DifferingPin,
  Measured,
  MeasuredComparison,
  MeasuredDeployment,
  MeasuredProvenance,
} from "./appraise/measured.js";
export { checkPolicy, describePolicy } from "./appraise/describe.js";
export type { DescribedAnchor, DescribedDeployment, PolicyCheck, PolicyDescription } from "./appraise/describe.js";
export type { MatchedDeployment } from "./appraise/appraisal.js";
export type { Question } from "./appraise/questions.js";

export type {
  ActivityClaims,
  ActivityReport,
  AppProofClaims,
  BootProofClaims,
  BuildSignerClaims,
  Claims,
  EvidencePiece,
  HardwareClaims,
  ImageClaims,
  ManifestClaims,
  ProvenanceClaims,
  SignedBytesClaims,
  Report,
  ReportFormat,
  RestsOn,
  SignatureClaims,
  Verdict,
} from "./report/report.js";

export { diffImages, diffUnverified } from "./diff/diff.js";
export type { Change, DiffInput, Difference } from "./diff/diff.js";
export type { NearestDeployment, PinDifference, PinsDifference } from "./diff/pins.js";
export { CHANGE_IDS } from "./diff/changes.js";
export type { ChangeId, Severity } from "./diff/changes.js";
export { renderDiff } from "./diff/text.js";
export { readRelease } from "./release/release.js";
export type {
  ReadReleaseOptions,
  Release,
  ReleaseApproval,
  ReleaseFault,
  ReleaseFaultCode,
  ReleaseNote,
  ReleaseNoteCode,
} from "./release/release.js";
export { checkReleases } from "./release/check.js";
export type {
  CheckReleasesOptions,
  CheckedRelease,
  ReleaseCheck,
  ReleasePlace,
  ReleaseStatus,
} from "./release/check.js";
export type { ReleaseDemand } from "./release/demand.js";
export type { HistoryFault, HistoryFaultCode, ReleaseHistory, ReleaseStep } from "./release/history.js";
export { releasePolicy } from "./release/policy.js";
export type { ReleasePolicyOptions } from "./release/policy.js";
export { renderReleaseCheck } from "./release/text.js";
export { reviewGenesis } from "./review/genesis.js";
export type { GenesisFault, GenesisReview, GenesisReviewOptions } from "./review/genesis.js";
export { reviewManifest } from "./review/review.js";
export type { ManifestReview, ReviewOptions, ReviewedApproval, UnpinnedMember } from "./review/review.js";
export type { ReviewedDeployment, ReviewedPin } from "./review/deployments.js";
export type { ReviewFault, ReviewFaultCode } from "./review/faults.js";
export { renderReview } from "./review/text.js";
export { inspectImageUnverified, inspectUnverified } from "./inspect/inspect.js";
export type { Described, DescribedObject, InspectOptions, Inspection, YamlReader } from "./inspect/inspect.js";
export { kindOf } from "./inspect/kinds.js";
export type { EvidenceKind } from "./inspect/kinds.js";
export { describeUnrecognised } from "./inspect/unrecognised.js";
export { renderInspection } from "./inspect/text.js";
export { CHECK_ADVICE, explainCheck } from "./report/explanations.js";
export type { CheckExplanation } from "./report/explanations.js";
export { renderCheckExplanation } from "./show/explanations.js";
export type { ExplanationOptions } from "./show/explanations.js";
export { renderJson } from "./report/json.js";
export { renderSummary, renderText } from "./show/text.js";
export type { Notice } from "./report/facts.js";
export { renderPolicyCheck } from "./show/policy.js";
export type { Detail } from "./show/checks.js";
export type { TextOptions } from "./show/text.js";

export { decodeBundle } from "./bundle/file.js";
export type { Bundle, BundleFile } from "./bundle/file.js";
export { packBundle, packEvidence, selfContainedPolicy } from "./bundle/pack.js";
export type { PackOptions } from "./bundle/pack.js";
export { POLICY_OF_THE_BUNDLE, verifyBundle } from "./bundle/verify.js";
export type { BundleVerification, BundleVerifyOptions } from "./bundle/verify.js";
export { openSignedPolicy } from "./signed-policy/open.js";
export type { SignedPolicy, SignedPolicyOptions, SignedPolicyState } from "./signed-policy/open.js";
export type { PolicySigners } from "./signed-policy/feed.js";
export { SignedPolicyError } from "./signed-policy/errors.js";
export type { SignedPolicyCode, SignedPolicyFacts } from "./signed-policy/errors.js";
export type { SignedFacts } from "./appraise/parsed-policy.js";
export { type PinProvenanceOptions, pinProvenance } from "./appraise/pin-provenance.js";
export { ACCEPTABLE_CLASSES, ADDRESS_CLASSES, CLASSES, isAcceptedClass, unplacedText } from "./addresses/classes.js";
export type { Acceptable, AcceptableClass, AddressClass, UnplacedKey } from "./addresses/classes.js";
export { joinAddresses, unplacedKeys } from "./addresses/join.js";
export type { AddressRow, JoinOptions } from "./addresses/join.js";
export { ADDRESS_ACTIVITY_TYPES, readAccounts, readPrivateKeys, readWallets } from "./addresses/lists.js";
export type {
  AccountOfPage,
  AddressActivity,
  AddressEffect,
  AddressLists,
  ListedAccount,
  ListedFlag,
  ListedPrivateKey,
  ListedWallet,
  MadeAccount,
} from "./addresses/lists.js";
export { verifyAddressActivity } from "./addresses/verify.js";
export { DerivationPolicyError, requireDerivationPolicy } from "./appraise/derivation.js";
export type {
  AddressEvidence,
  AddressProof,
  AddressProofStatus,
  AddressVerifyOptions,
  ProvenAddress,
} from "./addresses/verify.js";
export { ANY_ORGANIZATION, ANY_USER, verifyOtpToken, verifySessionToken, verifySignedBundle } from "./token/verify.js";
export type {
  BundleKind,
  ExpectedBundle,
  ExpectedOtp,
  ExpectedSession,
  OtpTokenOptions,
  SessionTokenOptions,
  SignedBundleOptions,
  TokenReport,
} from "./token/verify.js";
export type {
  ClaimsOf,
  ExportClaims,
  ImportClaims,
  OtpClaims,
  OtpTargetClaims,
  SessionClaims,
  TokenKind,
} from "./token/decode.js";
export { type TokenTextOptions, renderToken } from "./token/text.js";
