/** The client of the service, for Node, browsers and the edge. `key-file.ts` needs Node. */
export { createClient } from "./client.js";
export type { ClientOptions } from "./transport.js";
export type { Client } from "./client.js";
export type { SubmitOptions, Submitted } from "./requests.js";
export { QUERY_OPERATIONS, SUBMIT_OPERATIONS } from "./operations.js";
export type {
  BootProofJson,
  QueryName,
  QueryParameters,
  QueryResult,
  SubmitName,
  SubmitParameters,
  SubmitResult,
} from "./operations.js";
export { ACTIVITY_STATUSES } from "./activity-shapes.js";
export type { ActivityJson, AppProofJson, Timestamp } from "./activity-shapes.js";

export { apiKeyStamper, generateApiKey, webauthnStamper } from "./stamp.js";
export type { AnyStamper, ApiKey, Stamp, Stamper, WebauthnStamperOptions } from "./stamp.js";
export { createSessionTarget, openCredentialBundle, openSession } from "./session.js";
export type { SessionKey, SessionTarget } from "./session.js";
export { encryptOnRampSecret } from "./on-ramp.js";

export type { AddressesOptions } from "../door/addresses.js";
export type { VerificationOptions } from "../door/door.js";
export type { VerifiedCall, VerifiedClient, VerifyActivityOptions } from "./verified.js";
export type { VerifiedAppProofs, VerifyAppProofsOptions } from "./verified-app-proofs.js";
export type { PayloadSchemas } from "./payload-schemas.js";
export { fetchActivity, fetchBootProof, fetchEvidence, fetchLatestBootProof, withAppProofs } from "../door/evidence.js";
export type { CallOptions } from "../door/evidence-source.js";

export { nodeWebhookHandler } from "./node-webhook.js";

export type { Fetch } from "../door/platform.js";

export { MemoryEventStore, WebhookError, verifyWebhook, webhookHandler } from "./webhook.js";
export type { Delivery, EventStore, WebhookHandlerOptions, WebhookInput } from "./webhook.js";

export { ClientError, RejectedActivityError, RejectedAddressesError, ServiceError } from "../door/errors.js";
