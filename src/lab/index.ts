/** `bootproof/lab`: a local service with software enclaves, and the forge of its evidence. For tests and demos only. */
export { type Lab, type LabAuthProxy, type LabOptions, startLab } from "./lab.js";
export {
  AUTH_FAULTS,
  type AuthFault,
  FAULTS,
  FEED_FAULTS,
  type FaultName,
  type FeedFault,
  type GivenFaultName,
  type LabFault,
} from "./faults.js";
export type { ApplicationAnswer, ApplicationOptions, LabApplication } from "./applications.js";
export {
  APPLICATION_FAULTS,
  type AppProofForm,
  type ApplicationFault,
  type ApplicationFaultName,
  type SignOptions,
} from "./application-proofs.js";
export type { EnclaveInfo, ReplicaInfo } from "./fleet.js";
export type { App, ReleaseOptions } from "./release.js";
export type { Seed, SeedIds } from "./records.js";
export type { ManyAccounts } from "./past-activities.js";
export type { ServiceSettings } from "./settings.js";
export { type ApiKeyPair, stampWithApiKey } from "./api-key.js";
export { type PasskeyRegistration, SoftwarePasskey } from "./passkey.js";
export type { Published } from "./publication.js";
export { type LabFiles, writeLabFiles } from "./files.js";
export { LabFolderError } from "./folder.js";
export { InUseError } from "../disk/lock.js";
export type { DeliveryAttempt, Sleep } from "./webhooks.js";
export { type ForgeOptions, type ForgedEvidence, Forge, forgeEvidence, labDeployment, labPolicy } from "./forge.js";
export type { LabPolicyFeed } from "./policy-feed.js";
export { verifiedCallFor } from "./double.js";
export {
  type LabBuild,
  type LabRelease,
  LabSigstore,
  type LabSigstoreOptions,
  type ProvenanceAlterations,
  type ProvenanceOptions,
  type SavedSigstore,
  labProvenancePin,
  labReleasePin,
} from "./sigstore.js";
