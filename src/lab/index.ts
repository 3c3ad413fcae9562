/** `bootproof/lab`: a local service with software enclaves, and the forge of its evidence. For tests and demos only. */
export { type Lab, type LabOptions, startLab } from "./lab.js";
export {
  APPLICATION_FAULTS,
  AUTH_FAULTS,
  type ApplicationFaultName,
  type AuthFault,
  FAULTS,
  FEED_FAULTS,
  type FaultName,
  type FeedFault,
} from "./faults.js";
export type { ApplicationOptions, LabApplication } from "./applications.js";
export { type ApiKeyPair, stampWithApiKey } from "./api-key.js";
export { SoftwarePasskey } from "./passkey.js";
export { writeLabFiles } from "./files.js";
export { LabFolderError } from "./folder.js";
export { InUseError } from "../disk/lock.js";
export { type ForgeOptions, type ForgedEvidence, Forge, forgeEvidence, labDeployment, labPolicy } from "./forge.js";
export { verifiedCallFor } from "./double.js";
export { LabSigstore, labProvenancePin, labReleasePin } from "./sigstore.js";
