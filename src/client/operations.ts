/**
 * Every documented operation of the service (service-interface.md, 2 and 4; service-facts.md where it is silent): its
 * name in the path, and the shapes of what is sent and of what comes back. Data only, so that a service can be built on
 * it too.
 *
 * What is sent is strict in its members and their types; a value that is not documented may be one of a newer service,
 * whose it is to refuse. What comes back is tolerant: members that are not known survive, enums may grow, and null
 * stands for absent. Where the interface does not say whether a parameter
 * is required, the identifiers that name what is acted upon are, and all others are not.
 */
import * as z from "zod";
import { DOCUMENT_MEMBER, differsFrom } from "../decode/boot-proof.js";

/** A known value, or one that a newer service has added. */
export type Open<Known extends string> = Known | (string & Record<never, never>);

function open<Known extends string>(): z.ZodType<Open<Known>, string> {
  return z.string() as z.ZodType<Open<Known>, string>;
}

const MAX_FAULTY_ITEMS = 10;

/**
 * An array of what comes back. Of items that are not good the first ten are told: the answer decides how many there
 * are, and the fault of an item is a hundred times the item.
 */
function list<T>(item: z.ZodType<T>): z.ZodType<T[]> {
  return z.array(z.unknown()).transform((items, context) => {
    const good: T[] = [];
    let faulty = 0;
    for (const [index, value] of items.entries()) {
      const read = item.safeParse(value);
      if (read.success) good.push(read.data);
      else
        for (const { path, message } of read.error.issues)
          context.addIssue({ code: "custom", path: [index, ...path], message });
      if (!read.success && ++faulty === MAX_FAULTY_ITEMS) break;
    }
    return good;
  }) as unknown as z.ZodType<T[]>;
}

const text = z.string();
const identifier = z.string().min(1, "empty");
const identifiers = z.array(identifier);
const decimal = z.string().regex(/^[0-9]+$/, "a decimal number wanted");
const hex = z.string().regex(/^(?:[0-9a-fA-F]{2})+$/, "hex wanted");
const ethereumAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/, "an Ethereum address wanted: 0x and 40 hex digits");

/** Section 2, "Conventions". */
export const timestampSchema = z.looseObject({ seconds: text, nanos: text });
export type Timestamp = z.output<typeof timestampSchema>;

// What comes back.

export const ACTIVITY_STATUSES = [
  "ACTIVITY_STATUS_CREATED",
  "ACTIVITY_STATUS_PENDING",
  "ACTIVITY_STATUS_COMPLETED",
  "ACTIVITY_STATUS_FAILED",
  "ACTIVITY_STATUS_CONSENSUS_NEEDED",
  "ACTIVITY_STATUS_REJECTED",
  "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED",
] as const;
export type ActivityStatus = Open<(typeof ACTIVITY_STATUSES)[number]>;

export const appProofSchema = z.looseObject({ scheme: text, publicKey: text, proofPayload: text, signature: text });
export type AppProofJson = z.output<typeof appProofSchema>;

export const voteSchema = z.looseObject({
  id: text.nullish(),
  userId: text.nullish(),
  user: z.looseObject({}).nullish(),
  activityId: text.nullish(),
  selection: open<"VOTE_SELECTION_APPROVED" | "VOTE_SELECTION_REJECTED">().nullish(),
  message: text.nullish(),
  publicKey: text.nullish(),
  signature: text.nullish(),
  scheme: text.nullish(),
  createdAt: z.union([text, timestampSchema]).nullish(),
});
export type VoteJson = z.output<typeof voteSchema>;

/**
 * Section 2.1. The interface calls more members required than its own sample shows at the top, where `result.activity`
 * repeats the full set: only those that the sample shows are demanded.
 */
export const activitySchema = z.looseObject({
  id: identifier,
  organizationId: identifier,
  status: open<(typeof ACTIVITY_STATUSES)[number]>(),
  type: text,
  intent: z.looseObject({}).nullish(),
  result: z.looseObject({}).nullish(),
  votes: list(voteSchema).nullish(),
  fingerprint: text.nullish(),
  canApprove: z.boolean().nullish(),
  canReject: z.boolean().nullish(),
  createdAt: z.union([text, timestampSchema]).nullish(),
  updatedAt: z.union([text, timestampSchema]).nullish(),
  timestampMs: text.nullish(),
  appProofs: list(appProofSchema).nullish(),
  /** Where the activity failed. */
  failure: z.looseObject({ code: z.union([z.number(), text]).nullish(), message: text.nullish() }).nullish(),
});
export type ActivityJson = z.output<typeof activitySchema>;

/**
 * Section 2.5. Deployed services spell `cloudAttestationDocB64` as `awsAttestationDocB64`: that is read as the same
 * field, and handed on under its own name.
 */
export const bootProofSchema = z
  .looseObject({
    ephemeralPublicKeyHex: text,
    [DOCUMENT_MEMBER.name]: text.nullish(),
    [DOCUMENT_MEMBER.alias]: text.nullish(),
    qosManifestB64: text,
    qosManifestEnvelopeB64: text,
    // Nobody signed these, and deployed services leave some of them out (service-facts.md).
    deploymentLabel: text.nullish(),
    enclaveApp: text.nullish(),
    owner: text.nullish(),
    createdAt: timestampSchema.nullish(),
    qosManifestVersion: text.nullish(),
  })
  .transform(({ [DOCUMENT_MEMBER.name]: own, [DOCUMENT_MEMBER.alias]: alias, ...proof }, context) => {
    const document = own ?? alias ?? null;
    const fault = (message: string): void =>
      context.addIssue({ code: "custom", path: [DOCUMENT_MEMBER.name], message });
    if (document === null) fault("missing");
    else if (document !== (alias ?? document)) fault(differsFrom(DOCUMENT_MEMBER.alias));
    return { ...proof, [DOCUMENT_MEMBER.name]: document ?? "" };
  });
export type BootProofJson = z.output<typeof bootProofSchema>;

export const oauthProviderSchema = z.looseObject({
  providerId: text,
  providerName: text,
  issuer: text,
  audience: text,
  subject: text,
  createdAt: timestampSchema,
  updatedAt: timestampSchema,
});
export type OauthProvider = z.output<typeof oauthProviderSchema>;

const credential = z.looseObject({
  publicKey: text.nullish(),
  type: open<
    | "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR"
    | "CREDENTIAL_TYPE_API_KEY_P256"
    | "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256"
  >().nullish(),
});

type Transport = "BLE" | "INTERNAL" | "NFC" | "USB" | "HYBRID";

export const userSchema = z.looseObject({
  userId: identifier,
  userName: text.nullish(),
  userEmail: text.nullish(),
  userPhoneNumber: text.nullish(),
  authenticators: list(
    z.looseObject({
      transports: list(open<`AUTHENTICATOR_TRANSPORT_${Transport}`>()).nullish(),
      attestationType: text.nullish(),
      aaguid: text.nullish(),
      credentialId: text.nullish(),
      model: text.nullish(),
      credential: credential.nullish(),
      authenticatorId: text.nullish(),
      authenticatorName: text.nullish(),
      createdAt: timestampSchema.nullish(),
      updatedAt: timestampSchema.nullish(),
    }),
  ).nullish(),
  apiKeys: list(
    z.looseObject({
      credential: credential.nullish(),
      apiKeyId: text.nullish(),
      apiKeyName: text.nullish(),
      createdAt: timestampSchema.nullish(),
      updatedAt: timestampSchema.nullish(),
      expirationSeconds: text.nullish(),
    }),
  ).nullish(),
  userTags: list(text).nullish(),
  oauthProviders: list(oauthProviderSchema).nullish(),
  createdAt: timestampSchema.nullish(),
  updatedAt: timestampSchema.nullish(),
});
export type User = z.output<typeof userSchema>;

/** Every documented `provider` of a vault. */
export const EARN_PROVIDERS = ["EARN_PROVIDER_ALPHA", "EARN_PROVIDER_BETA"] as const;
const display = z.looseObject({ usd: text.nullish(), crypto: text.nullish() });

/** Section 2.4. */
export const earnVaultSchema = z.looseObject({
  vaultAddress: text.nullish(),
  wrapperAddress: text.nullish(),
  provider: open<(typeof EARN_PROVIDERS)[number]>().nullish(),
  caip19: text.nullish(),
  apyPct: text.nullish(),
  netApyPct: text.nullish(),
  totalDeposited: text.nullish(),
  display: display.nullish(),
  clientFeeBps: text.nullish(),
  depositsDisabled: z.boolean().nullish(),
  name: text.nullish(),
  curator: text.nullish(),
  claimableClientFee: text.nullish(),
  claimableClientFeeDisplay: display.nullish(),
  clientFeeWallet: text.nullish(),
});
export type EarnVault = z.output<typeof earnVaultSchema>;

// What is sent.

/** Every documented `onrampProvider`. */
export const ON_RAMP_PROVIDERS = ["FIAT_ON_RAMP_PROVIDER_ALPHA", "FIAT_ON_RAMP_PROVIDER_BETA"] as const;

/** Every documented value of `caip2` (section 4.3, rule 2). */
export const CAIP2_CHAINS = [
  "eip155:1",
  "eip155:11155111",
  "eip155:8453",
  "eip155:84532",
  "eip155:137",
  "eip155:80002",
  "eip155:56",
  "eip155:97",
  "eip155:10",
  "eip155:11155420",
  "eip155:143",
  "eip155:10143",
  "eip155:42161",
  "eip155:4217",
  "eip155:42431",
  "eip155:421614",
] as const;

/** The parameters that have documented values, by name. */
export const DOCUMENTED_VALUES = {
  caip2: CAIP2_CHAINS,
  provider: EARN_PROVIDERS,
  onrampProvider: ON_RAMP_PROVIDERS,
} as const;

type DocumentedValue<Name extends keyof typeof DOCUMENTED_VALUES> = Open<(typeof DOCUMENTED_VALUES)[Name][number]>;

function documented<Name extends keyof typeof DOCUMENTED_VALUES>(): z.ZodType<
  DocumentedValue<Name>,
  DocumentedValue<Name>
> {
  return z.string() as unknown as z.ZodType<DocumentedValue<Name>, DocumentedValue<Name>>;
}

/** The same parameters as a service takes them that knows the documented values and no others. */
export function documentedOnly<Schema extends z.ZodType>(parameters: Schema): Schema {
  return parameters.superRefine((value, context) => {
    for (const [name, values] of Object.entries<readonly string[]>(DOCUMENTED_VALUES)) {
      const given = (value as Readonly<Record<string, unknown>>)[name];
      if (typeof given !== "string" || values.includes(given)) continue;
      context.addIssue({ code: "custom", path: [name], message: `one of ${values.join(", ")} wanted` });
    }
  });
}

const updateWallet = z.strictObject({ walletId: identifier, walletName: text.optional() });
const updateFiatOnRampCredential = z.strictObject({
  fiatOnrampCredentialId: identifier,
  onrampProvider: documented<"onrampProvider">(),
  projectId: text.optional(),
  publishableApiKey: text,
  encryptedSecretApiKey: text,
  encryptedPrivateApiKey: text.optional(),
});
const updateUserTag = z.strictObject({
  userTagId: identifier,
  newUserTagName: text.optional(),
  addUserIds: identifiers.optional(),
  removeUserIds: identifiers.optional(),
});
const deleteApiKeys = z.strictObject({ userId: identifier, apiKeyIds: identifiers });
const deletePolicies = z.strictObject({ policyIds: identifiers });
const createReadWriteSession = z.strictObject({
  targetPublicKey: hex,
  userId: identifier.optional(),
  apiKeyName: text.optional(),
  expirationSeconds: decimal.optional(),
  invalidateExisting: z.boolean().optional(),
});
const setOrganizationFeature = z.strictObject({ name: identifier, value: text });

/** The feature that registers the activity webhook; its value is the receiving URL (section 6). */
export const FEATURE_NAME_WEBHOOK = "FEATURE_NAME_WEBHOOK";

// The operations.

/** A request that changes something, and is answered with an activity. */
export interface SubmitOperation {
  readonly group: "submit";
  /** The last segment of its path. */
  readonly name: string;
  /** The activity type. */
  readonly type: string;
  readonly parameters: z.ZodType;
  /** The one member of the activity's `intent`: it holds the parameters. */
  readonly intentMember: string;
  /** The one member of the activity's `result`, and its shape. */
  readonly resultMember: string;
  readonly result: z.ZodType;
}

/** A request that reads. Its body is its parameters beside `organizationId`. */
export interface QueryOperation {
  readonly group: "query";
  readonly name: string;
  readonly parameters: z.ZodType;
  readonly result: z.ZodType;
  /** Where an answer is known to be smaller than most, however few bytes it came compressed into. */
  readonly maxResponseBytes?: number;
}

/** A boot proof is 1 MiB at most, as in a file; around it stands its wrapper. */
const BOOT_PROOF_ANSWER_BYTES = 1024 * 1024 + 1024;

export const SUBMIT_OPERATIONS = {
  updateWallet: {
    group: "submit",
    name: "update_wallet",
    type: "ACTIVITY_TYPE_UPDATE_WALLET",
    parameters: updateWallet,
    intentMember: "updateWalletIntent",
    resultMember: "updateWalletResult",
    result: z.looseObject({ walletId: text }),
  },
  updateFiatOnRampCredential: {
    group: "submit",
    name: "update_fiat_on_ramp_credential",
    type: "ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL",
    parameters: updateFiatOnRampCredential,
    intentMember: "updateFiatOnRampCredentialIntent",
    resultMember: "updateFiatOnRampCredentialResult",
    result: z.looseObject({ fiatOnRampCredentialId: text }),
  },
  updateUserTag: {
    group: "submit",
    name: "update_user_tag",
    type: "ACTIVITY_TYPE_UPDATE_USER_TAG",
    parameters: updateUserTag,
    intentMember: "updateUserTagIntent",
    resultMember: "updateUserTagResult",
    result: z.looseObject({ userTagId: text }),
  },
  deleteApiKeys: {
    group: "submit",
    name: "delete_api_keys",
    type: "ACTIVITY_TYPE_DELETE_API_KEYS",
    parameters: deleteApiKeys,
    intentMember: "deleteApiKeysIntent",
    resultMember: "deleteApiKeysResult",
    result: z.looseObject({ apiKeyIds: list(text) }),
  },
  deletePolicies: {
    group: "submit",
    name: "delete_policies",
    type: "ACTIVITY_TYPE_DELETE_POLICIES",
    parameters: deletePolicies,
    intentMember: "deletePoliciesIntent",
    resultMember: "deletePoliciesResult",
    result: z.looseObject({ policyIds: list(text) }),
  },
  createReadWriteSession: {
    group: "submit",
    name: "create_read_write_session",
    type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2",
    parameters: createReadWriteSession,
    intentMember: "createReadWriteSessionIntentV2",
    resultMember: "createReadWriteSessionResultV2",
    result: z.looseObject({
      organizationId: text,
      organizationName: text,
      userId: text,
      username: text,
      apiKeyId: text,
      credentialBundle: text,
    }),
  },
  setOrganizationFeature: {
    group: "submit",
    name: "set_organization_feature",
    type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
    parameters: setOrganizationFeature,
    intentMember: "setOrganizationFeatureIntent",
    resultMember: "setOrganizationFeatureResult",
    result: z.looseObject({ features: list(z.looseObject({ name: text, value: text.nullish() })) }),
  },
} as const satisfies Record<string, SubmitOperation>;

export const QUERY_OPERATIONS = {
  listEarnEnabledVaults: {
    group: "query",
    name: "list_earn_enabled_vaults",
    parameters: z.strictObject({ provider: documented<"provider">().optional(), caip19: identifier.optional() }),
    result: z.looseObject({ enabledVaults: list(earnVaultSchema).nullish() }),
  },
  getBootProof: {
    group: "query",
    name: "get_boot_proof",
    parameters: z.strictObject({ ephemeralKey: hex }),
    result: z.looseObject({ bootProof: bootProofSchema }),
    maxResponseBytes: BOOT_PROOF_ANSWER_BYTES,
  },
  getOauthProviders: {
    group: "query",
    name: "get_oauth_providers",
    parameters: z.strictObject({ userId: identifier.optional() }),
    result: z.looseObject({ oauthProviders: list(oauthProviderSchema) }),
  },
  getNonces: {
    group: "query",
    name: "get_nonces",
    parameters: z.strictObject({
      address: ethereumAddress,
      caip2: documented<"caip2">(),
      nonce: z.boolean().optional(),
      gasStationNonce: z.boolean().optional(),
    }),
    result: z.looseObject({ nonce: text.nullish(), gasStationNonce: text.nullish() }),
  },
  getUser: {
    group: "query",
    name: "get_user",
    parameters: z.strictObject({ userId: identifier }),
    result: z.looseObject({ user: userSchema }),
  },
  getLatestBootProof: {
    group: "query",
    name: "get_latest_boot_proof",
    parameters: z.strictObject({ appName: identifier }),
    result: z.looseObject({ bootProof: bootProofSchema }),
    maxResponseBytes: BOOT_PROOF_ANSWER_BYTES,
  },
  listAppProofs: {
    group: "query",
    name: "list_app_proofs",
    parameters: z.strictObject({ activityId: identifier }),
    result: z.looseObject({ appProofs: list(appProofSchema) }),
  },
} as const satisfies Record<string, QueryOperation>;

export type SubmitName = keyof typeof SUBMIT_OPERATIONS;
export type QueryName = keyof typeof QUERY_OPERATIONS;
export type SubmitParameters<N extends SubmitName> = z.input<(typeof SUBMIT_OPERATIONS)[N]["parameters"]>;
export type SubmitResult<N extends SubmitName> = z.output<(typeof SUBMIT_OPERATIONS)[N]["result"]>;
export type QueryParameters<N extends QueryName> = z.input<(typeof QUERY_OPERATIONS)[N]["parameters"]>;
export type QueryResult<N extends QueryName> = z.output<(typeof QUERY_OPERATIONS)[N]["result"]>;

/** Section 4: the path below the base address. */
export function pathOf(operation: { readonly group: "submit" | "query"; readonly name: string }): string {
  return `/public/v1/${operation.group}/${operation.name}`;
}

/** The whole body of a submit: the activity envelope (section 4.1). For services: documented values only. */
export function submitBody(operation: Pick<SubmitOperation, "type" | "parameters">): z.ZodObject {
  return z.strictObject({
    type: z.literal(operation.type),
    timestampMs: decimal,
    organizationId: identifier,
    parameters: documentedOnly(operation.parameters),
    generateAppProofs: z.boolean().optional(),
  });
}

/** The whole body of a query. For services: documented values only. */
export function queryBody(operation: { readonly parameters: z.ZodObject }): z.ZodObject {
  return documentedOnly(operation.parameters.extend({ organizationId: identifier }));
}
