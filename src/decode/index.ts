/** `bootproof/decode`: the formats of evidence, read and not verified. */
export { decodeActivity } from "./activity.js";
export type { Activity } from "./activity.js";
export { appProofOf, decodeAppProof, decodeAppProofPayload } from "./app-proof.js";
export type {
  AddressDerivationPayload,
  AppProof,
  AppProofMembers,
  AppProofPayload,
  PolicyOutcomePayload,
} from "./app-proof.js";
export { decodeAttestationDocument } from "./attestation-document.js";
export type { AttestationDocument } from "./attestation-document.js";
export { decodeBootProof } from "./boot-proof.js";
export type { BootProof } from "./boot-proof.js";
export { decodeCertificate } from "./certificate.js";
export type { Certificate } from "./certificate.js";
export { decodeGenesisOutput } from "./genesis-output.js";
export type { GenesisOutput } from "./genesis-output.js";
export { decodeManifest, decodeManifestEnvelope } from "./manifest/index.js";
export type { Manifest, ManifestEnvelope, PivotManifest, WorkloadManifest } from "./manifest/model.js";
export { decodeProvenanceBundle } from "./provenance-bundle.js";
export type { ProvenanceBundle } from "./provenance-bundle.js";
