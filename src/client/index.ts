/** The client of the service, for Node, browsers and the edge. `key-file.ts` needs Node. */
export { createClient } from "./client.js";
export type { ClientOptions, Retry } from "./transport.js";
export type { Client, QueryFunctions, SubmitFunctions } from "./client.js";
export type { SubmitOptions, Submitted, UndocumentedSubmit } from "./requests.js";
export { QUERY_OPERATIONS, SUBMIT_OPERATIONS } from "./operations.js";
export type {
  BootProofJson,
  EarnVault,
  OauthProvider,
  ProvisioningDetails,
  QueryName,
  QueryOperation,
  QueryParameters,
  QueryResult,
  SubmitName,
  SubmitOperation,
  SubmitParameters,
  SubmitResult,
  TvcDeployment,
  User,
} from "./operations.js";
export { ACTIVITY_STATUSES } from "./activity-shapes.js";
export type { ActivityJson, ActivityStatus, AppProofJson, Open, Timestamp, VoteJson } from "./activity-shapes.js";
export type { Members, ObjectShape, OptionalShape, Place, ReadOf, Shape } from "../decode/shapes.js";

export { apiKeyStamper, generateApiKey, webauthnStamper } from "./stamp.js";
export type {
  AnyStamper,
  ApiKey,
  PublishedStamp,
  Stamp,
  StampHeader,
  Stamper,
  WebauthnStamperOptions,
} from "./stamp.js";
export { createSessionTarget, openCredentialBundle, openSession } from "./session.js";
export type { SessionKey, SessionOpener, SessionTarget } from "./session.js";
export { encryptOnRampSecret } from "./on-ramp.js";

export type { AddressRow } from "../addresses/join.js";
export type { Acceptable, AcceptableClass, AddressClass, UnplacedKey } from "../addresses/classes.js";
export { DerivationPolicyError } from "../appraise/derivation.js";
export type { AddressFilter, AddressProgress, AddressSweepOptions, AddressesOptions } from "../door/addresses.js";
export type { AccountOptions } from "../door/account-options.js";
export type { DoorOptions, SharedDoor, VerificationOptions } from "../door/door.js";
export type { VerifiedCall, VerifiedClient, VerifiedSubmitFunctions, VerifyActivityOptions } from "./verified.js";
export type {
  ExpectedOfAppProofs,
  ReceivedAppProof,
  VerifiedAppProofs,
  VerifiedPayload,
  VerifyAppProofsOptions,
} from "./verified-app-proofs.js";
export type { PayloadSchemas, SchemaIssue, SchemaOutput, SchemaResult, StandardSchema } from "./payload-schemas.js";
export { fetchActivity, fetchBootProof, fetchEvidence, fetchLatestBootProof, withAppProofs } from "../door/evidence.js";
export type { ActivityEvidence, KeyedBootProof } from "../door/evidence.js";
export type { AskService, CallOptions } from "../door/evidence-source.js";

export { nodeWebhookHandler } from "./node-webhook.js";
export type { NodeRequest, NodeResponse } from "./node-webhook.js";

export type {
  Fetch,
  HttpHeaders,
  HttpRequest,
  HttpResponse,
  PasskeyDescriptor,
  PasskeyRequest,
  Signal,
  WebKey,
  WebKeyPair,
} from "../door/platform.js";

export { MemoryEventStore, WebhookError, verifyWebhook, webhookHandler } from "./webhook.js";
export type { Delivery, EventStore, WebhookFault, WebhookHandlerOptions, WebhookInput } from "./webhook.js";

export { ClientError, RejectedActivityError, RejectedAddressesError, ServiceError } from "../door/errors.js";
export type { ClientErrorCode, ServiceFacts } from "../door/errors.js";
