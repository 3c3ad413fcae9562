/**
 * Every documented operation of the service (client/README.md, "Operations"). This file has only data, so that a
 * service can be built on it, too.
 *
 * Requests are checked strictly for members and types, but may have undocumented values, which a newer service may
 * know. Responses are read tolerantly: unknown members are kept, enums may grow, and null means absent. Where the
 * interface does not say which parameters are required, only the ids of the objects to act on are required.
 */
import { DOCUMENT_MEMBER, differsFrom } from "../decode/boot-proof.js";
import { DEPLOYMENT_MEMBERS } from "../decode/deployment.js";
import { SUBMIT_RULES } from "../decode/activity-rules.js";
import { type Open, appProofSchema, open, timestampSchema } from "./activity-shapes.js";
import {
  type ObjectShape,
  type ReadOf,
  type Shape,
  flag,
  list,
  matching,
  nonEmptyText,
  nullish,
  number,
  object,
  oneOf,
  openObject,
  optional,
  refined,
  text,
} from "../decode/shapes.js";

const identifiers = list(nonEmptyText);
const decimal = matching(/^[0-9]+$/, "a decimal number");
const hex = matching(/^(?:[0-9a-fA-F]{2})+$/, "hex");
const ethereumAddress = matching(/^0x[0-9a-fA-F]{40}$/, "an Ethereum address: 0x and 40 hex digits");

// Responses.

/** A boot proof (client/README.md, "Boot proofs"). The alias `awsAttestationDocB64` gets the documented name. */
const bootProofShape = refined(
  openObject({
    ephemeralPublicKeyHex: text,
    [DOCUMENT_MEMBER.name]: nullish(text),
    [DOCUMENT_MEMBER.alias]: nullish(text),
    qosManifestB64: text,
    qosManifestEnvelopeB64: text,
    // These members are not signed, and deployed services omit some of them.
    deploymentLabel: nullish(text),
    enclaveApp: nullish(text),
    owner: nullish(text),
    createdAt: nullish(timestampSchema),
    qosManifestVersion: nullish(text),
  }),
  ({ [DOCUMENT_MEMBER.name]: own, [DOCUMENT_MEMBER.alias]: alias, ...proof }, place) => {
    const document = own ?? alias ?? null;
    const named = place.at(DOCUMENT_MEMBER.name);
    if (document === null) named.fault("missing");
    else if (document !== (alias ?? document)) named.fault(differsFrom(DOCUMENT_MEMBER.alias));
    return { ...proof, [DOCUMENT_MEMBER.name]: document ?? "" };
  },
);
export interface BootProofJson extends ReadOf<typeof bootProofShape> {}
const bootProofSchema: Shape<BootProofJson> = bootProofShape;

const oauthProviderShape = openObject({
  providerId: text,
  providerName: text,
  issuer: text,
  audience: text,
  subject: text,
  createdAt: timestampSchema,
  updatedAt: timestampSchema,
});
interface OauthProvider extends ReadOf<typeof oauthProviderShape> {}
const oauthProviderSchema: ObjectShape<OauthProvider> = oauthProviderShape;

const credential = openObject({
  publicKey: nullish(text),
  type: nullish(
    open<
      | "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR"
      | "CREDENTIAL_TYPE_API_KEY_P256"
      | "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256"
    >(),
  ),
});

type Transport = "BLE" | "INTERNAL" | "NFC" | "USB" | "HYBRID";

const userShape = openObject({
  userId: nonEmptyText,
  userName: nullish(text),
  userEmail: nullish(text),
  userPhoneNumber: nullish(text),
  authenticators: nullish(
    list(
      openObject({
        transports: nullish(list(open<`AUTHENTICATOR_TRANSPORT_${Transport}`>())),
        attestationType: nullish(text),
        aaguid: nullish(text),
        credentialId: nullish(text),
        model: nullish(text),
        credential: nullish(credential),
        authenticatorId: nullish(text),
        authenticatorName: nullish(text),
        createdAt: nullish(timestampSchema),
        updatedAt: nullish(timestampSchema),
      }),
    ),
  ),
  apiKeys: nullish(
    list(
      openObject({
        credential: nullish(credential),
        apiKeyId: nullish(text),
        apiKeyName: nullish(text),
        createdAt: nullish(timestampSchema),
        updatedAt: nullish(timestampSchema),
        expirationSeconds: nullish(text),
      }),
    ),
  ),
  userTags: nullish(list(text)),
  oauthProviders: nullish(list(oauthProviderSchema)),
  createdAt: nullish(timestampSchema),
  updatedAt: nullish(timestampSchema),
});
interface User extends ReadOf<typeof userShape> {}
const userSchema: ObjectShape<User> = userShape;

const EARN_PROVIDERS = ["EARN_PROVIDER_ALPHA", "EARN_PROVIDER_BETA"] as const;
const display = openObject({ usd: nullish(text), crypto: nullish(text) });

/** A vault (client/README.md, "Shapes"). */
const earnVaultShape = openObject({
  vaultAddress: nullish(text),
  wrapperAddress: nullish(text),
  provider: nullish(open<(typeof EARN_PROVIDERS)[number]>()),
  caip19: nullish(text),
  apyPct: nullish(text),
  netApyPct: nullish(text),
  totalDeposited: nullish(text),
  display: nullish(display),
  clientFeeBps: nullish(text),
  depositsDisabled: nullish(flag),
  name: nullish(text),
  curator: nullish(text),
  claimableClientFee: nullish(text),
  claimableClientFeeDisplay: nullish(display),
  clientFeeWallet: nullish(text),
});
interface EarnVault extends ReadOf<typeof earnVaultShape> {}
const earnVaultSchema: ObjectShape<EarnVault> = earnVaultShape;

/** A deployment (client/README.md, "Applications of your own"). */
const tvcDeploymentShape = openObject({
  ...DEPLOYMENT_MEMBERS,
  createdAt: nullish(timestampSchema),
  updatedAt: nullish(timestampSchema),
});
interface TvcDeployment extends ReadOf<typeof tvcDeploymentShape> {}
const tvcDeploymentSchema: ObjectShape<TvcDeployment> = tvcDeploymentShape;

/** Provisioning details (client/README.md, "Applications of your own"). A deployment may have a state alone. */
const provisioningDetailsShape = openObject({
  attestationDocument: nullish(text),
  manifestEnvelope: nullish(text),
  provisioningState: nullish(text),
});
interface ProvisioningDetails extends ReadOf<typeof provisioningDetailsShape> {}
const provisioningDetailsSchema: ObjectShape<ProvisioningDetails> = provisioningDetailsShape;

// Requests.

const ON_RAMP_PROVIDERS = ["FIAT_ON_RAMP_PROVIDER_ALPHA", "FIAT_ON_RAMP_PROVIDER_BETA"] as const;

/** Chains by their CAIP-2 names (client/README.md, "Operations"). */
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

const DOCUMENTED_VALUES = {
  caip2: CAIP2_CHAINS,
  provider: EARN_PROVIDERS,
  onrampProvider: ON_RAMP_PROVIDERS,
} as const;

type DocumentedValue<Name extends keyof typeof DOCUMENTED_VALUES> = Open<(typeof DOCUMENTED_VALUES)[Name][number]>;

/* @__NO_SIDE_EFFECTS__ */
function documented<Name extends keyof typeof DOCUMENTED_VALUES>(): Shape<DocumentedValue<Name>> {
  return text;
}

/** Returns a shape that refuses undocumented values, as services do. */
/* @__NO_SIDE_EFFECTS__ */
export function documentedOnly<T>(parameters: Shape<T>): Shape<T> {
  return refined(parameters, (value, place) => {
    for (const [name, values] of Object.entries<readonly string[]>(DOCUMENTED_VALUES)) {
      const given = (value as Readonly<Record<string, unknown>>)[name];
      if (typeof given === "string" && !values.includes(given))
        place.at(name).fault(`expected one of ${values.join(", ")}`);
    }
    return value;
  });
}

const updateWallet = object({ walletId: nonEmptyText, walletName: optional(text) });
const updateFiatOnRampCredential = object({
  fiatOnrampCredentialId: nonEmptyText,
  onrampProvider: documented<"onrampProvider">(),
  projectId: optional(text),
  publishableApiKey: text,
  encryptedSecretApiKey: text,
  encryptedPrivateApiKey: optional(text),
});
const updateUserTag = object({
  userTagId: nonEmptyText,
  newUserTagName: optional(text),
  addUserIds: optional(identifiers),
  removeUserIds: optional(identifiers),
});
const deleteApiKeys = object({ userId: nonEmptyText, apiKeyIds: identifiers });
const deletePolicies = object({ policyIds: identifiers });
const createReadWriteSession = object({
  targetPublicKey: hex,
  userId: optional(nonEmptyText),
  apiKeyName: optional(text),
  expirationSeconds: optional(decimal),
  invalidateExisting: optional(flag),
});
const setOrganizationFeature = object({ name: nonEmptyText, value: text });
const walletAccount = object({
  curve: open<"CURVE_SECP256K1" | "CURVE_ED25519">(),
  pathFormat: open<"PATH_FORMAT_BIP32">(),
  path: nonEmptyText,
  addressFormat: open<`ADDRESS_FORMAT_${"ETHEREUM" | "SOLANA" | "COMPRESSED" | "UNCOMPRESSED"}`>(),
  name: optional(text),
});
const createWallet = object({
  walletName: nonEmptyText,
  accounts: list(walletAccount),
  mnemonicLength: optional(number),
});
const howToSign = {
  signWith: nonEmptyText,
  encoding: open<`PAYLOAD_ENCODING_${"HEXADECIMAL" | "TEXT_UTF8" | "EIP712" | "EIP7702_AUTHORIZATION"}`>(),
  hashFunction: open<`HASH_FUNCTION_${"NO_OP" | "SHA256" | "KECCAK256" | "NOT_APPLICABLE"}`>(),
};
const signTransaction = object({
  signWith: nonEmptyText,
  unsignedTransaction: nonEmptyText,
  type: open<`TRANSACTION_TYPE_${"ETHEREUM" | "SOLANA"}`>(),
});
const signature = openObject({ r: text, s: text, v: text });

/** Registers the activity webhook; its value is the receiving URL (client/README.md, "Webhook deliveries"). */
export const FEATURE_NAME_WEBHOOK = "FEATURE_NAME_WEBHOOK";

// Operations.

/** A request that changes something; the response is an activity. */
export interface SubmitOperation {
  readonly group: "submit";
  /** The last segment of its path. */
  readonly name: string;
  readonly type: string;
  readonly parameters: Shape<unknown>;
  /** The only member of the activity's `intent`: it holds the parameters. */
  readonly intentMember: string;
  /** The only member of the activity's `result`, and the shape of that member. */
  readonly resultMember: string;
  readonly result: Shape<unknown>;
}

/** A request that only reads. Its body has `organizationId` and the parameters. */
export interface QueryOperation {
  readonly group: "query";
  readonly name: string;
  readonly parameters: ObjectShape<unknown>;
  readonly result: Shape<unknown>;
  /** Limit of the decompressed response in bytes, if it is lower than that of the transport. */
  readonly maxResponseBytes?: number;
}

/** Limit of a response with a boot proof, in bytes: 1 MiB for the boot proof, and 1 KiB for its wrapper. */
const BOOT_PROOF_ANSWER_BYTES = 1024 * 1024 + 1024;

type SubmitRules = typeof SUBMIT_RULES;

interface Row<Group, Name, Parameters, Result> {
  readonly group: Group;
  readonly name: Name;
  readonly parameters: Parameters;
  readonly result: Result;
}

/* @__NO_SIDE_EFFECTS__ */
function submitOf<Key extends keyof SubmitRules, const Name, Parameters, Result>(
  key: Key,
  name: Name,
  parameters: Parameters,
  result: Result,
): Row<"submit", Name, Parameters, Result> & Pick<SubmitRules[Key], "type" | "intentMember" | "resultMember"> {
  const { type, intentMember, resultMember } = SUBMIT_RULES[key];
  return { group: "submit", name, type, intentMember, resultMember, parameters, result };
}

/* @__NO_SIDE_EFFECTS__ */
function queryOf<const Name, Parameters, Result>(
  name: Name,
  parameters: Parameters,
  result: Result,
): Row<"query", Name, Parameters, Result> {
  return { group: "query", name, parameters, result };
}

export const SUBMIT_OPERATIONS = {
  updateWallet: submitOf("updateWallet", "update_wallet", updateWallet, openObject({ walletId: text })),
  updateFiatOnRampCredential: submitOf(
    "updateFiatOnRampCredential",
    "update_fiat_on_ramp_credential",
    updateFiatOnRampCredential,
    openObject({ fiatOnRampCredentialId: text }),
  ),
  updateUserTag: submitOf("updateUserTag", "update_user_tag", updateUserTag, openObject({ userTagId: text })),
  deleteApiKeys: submitOf("deleteApiKeys", "delete_api_keys", deleteApiKeys, openObject({ apiKeyIds: list(text) })),
  deletePolicies: submitOf("deletePolicies", "delete_policies", deletePolicies, openObject({ policyIds: list(text) })),
  createReadWriteSession: submitOf(
    "createReadWriteSession",
    "create_read_write_session",
    createReadWriteSession,
    openObject({
      organizationId: text,
      organizationName: text,
      userId: text,
      username: text,
      apiKeyId: text,
      credentialBundle: text,
    }),
  ),
  setOrganizationFeature: submitOf(
    "setOrganizationFeature",
    "set_organization_feature",
    setOrganizationFeature,
    openObject({ features: list(openObject({ name: text, value: nullish(text) })) }),
  ),
  // These are deployed, but undocumented. Verification accepts any names of their members in intent and result.
  createWallet: {
    group: "submit",
    name: "create_wallet",
    type: "ACTIVITY_TYPE_CREATE_WALLET",
    intentMember: "createWalletIntent",
    resultMember: "createWalletResult",
    parameters: createWallet,
    result: openObject({ walletId: text, addresses: list(text) }),
  },
  signRawPayload: {
    group: "submit",
    name: "sign_raw_payload",
    type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
    intentMember: "signRawPayloadIntentV2",
    resultMember: "signRawPayloadResult",
    parameters: object({ ...howToSign, payload: text }),
    result: signature,
  },
  signRawPayloads: {
    group: "submit",
    name: "sign_raw_payloads",
    type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS",
    intentMember: "signRawPayloadsIntent",
    resultMember: "signRawPayloadsResult",
    parameters: object({ ...howToSign, payloads: list(text) }),
    result: openObject({ signatures: list(signature) }),
  },
  signTransaction: {
    group: "submit",
    name: "sign_transaction",
    type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
    intentMember: "signTransactionIntentV2",
    resultMember: "signTransactionResult",
    parameters: signTransaction,
    result: openObject({ signedTransaction: text }),
  },
} as const satisfies Readonly<Record<string, SubmitOperation>> & Record<keyof SubmitRules, SubmitOperation>;

export const QUERY_OPERATIONS = {
  listEarnEnabledVaults: queryOf(
    "list_earn_enabled_vaults",
    object({ provider: optional(documented<"provider">()), caip19: optional(nonEmptyText) }),
    openObject({ enabledVaults: nullish(list(earnVaultSchema)) }),
  ),
  getBootProof: {
    ...queryOf("get_boot_proof", object({ ephemeralKey: hex }), openObject({ bootProof: bootProofSchema })),
    maxResponseBytes: BOOT_PROOF_ANSWER_BYTES,
  },
  getOauthProviders: queryOf(
    "get_oauth_providers",
    object({ userId: optional(nonEmptyText) }),
    openObject({ oauthProviders: list(oauthProviderSchema) }),
  ),
  getNonces: queryOf(
    "get_nonces",
    object({
      address: ethereumAddress,
      caip2: documented<"caip2">(),
      nonce: optional(flag),
      gasStationNonce: optional(flag),
    }),
    openObject({ nonce: nullish(text), gasStationNonce: nullish(text) }),
  ),
  getUser: queryOf("get_user", object({ userId: nonEmptyText }), openObject({ user: userSchema })),
  getLatestBootProof: {
    ...queryOf("get_latest_boot_proof", object({ appName: nonEmptyText }), openObject({ bootProof: bootProofSchema })),
    maxResponseBytes: BOOT_PROOF_ANSWER_BYTES,
  },
  listAppProofs: queryOf(
    "list_app_proofs",
    object({ activityId: nonEmptyText }),
    openObject({ appProofs: list(appProofSchema) }),
  ),
  getTvcDeployment: queryOf(
    "get_tvc_deployment",
    object({ deploymentId: nonEmptyText }),
    openObject({ tvcDeployment: tvcDeploymentSchema }),
  ),
  getTvcDeploymentProvisioningDetails: {
    ...queryOf(
      "get_tvc_deployment_provisioning_details",
      object({ deploymentId: nonEmptyText }),
      provisioningDetailsSchema,
    ),
    maxResponseBytes: BOOT_PROOF_ANSWER_BYTES,
  },
} as const satisfies Record<string, QueryOperation>;

export type SubmitName = keyof typeof SUBMIT_OPERATIONS;
export type QueryName = keyof typeof QUERY_OPERATIONS;
export type SubmitParameters<N extends SubmitName> = ReadOf<(typeof SUBMIT_OPERATIONS)[N]["parameters"]>;
export type SubmitResult<N extends SubmitName> = ReadOf<(typeof SUBMIT_OPERATIONS)[N]["result"]>;
export type QueryParameters<N extends QueryName> = ReadOf<(typeof QUERY_OPERATIONS)[N]["parameters"]>;
export type QueryResult<N extends QueryName> = ReadOf<(typeof QUERY_OPERATIONS)[N]["result"]>;

/** Returns the path after the base address (client/README.md, "Requests"). */
export function pathOf(operation: { readonly group: "submit" | "query"; readonly name: string }): string {
  return `/public/v1/${operation.group}/${operation.name}`;
}

interface SubmitBody {
  type: string;
  timestampMs: string;
  organizationId: string;
  parameters: unknown;
  generateAppProofs?: boolean | undefined;
}

/**
 * Returns the shape of an envelope (client/README.md, "Activities") as services read it: with documented values only.
 */
export function submitBody({ type, parameters }: Pick<SubmitOperation, "type" | "parameters">): Shape<SubmitBody> {
  return object({
    type: oneOf(type),
    timestampMs: decimal,
    organizationId: nonEmptyText,
    parameters: documentedOnly(parameters),
    generateAppProofs: optional(flag),
  });
}

interface QueryBody {
  organizationId: string;
  [name: string]: unknown;
}

/** Returns the shape of a query's body as services read it: with documented values only. */
export function queryBody({ parameters }: Pick<QueryOperation, "parameters">): Shape<QueryBody> {
  return documentedOnly(object({ ...parameters.members, organizationId: nonEmptyText }));
}
