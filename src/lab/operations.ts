/** The effect of each operation on the state. Checks precede changes. Operations throw Refusal. */
import { randomUUID } from "node:crypto";
import {
  FEATURE_NAME_WEBHOOK,
  QUERY_OPERATIONS,
  type QueryName,
  type QueryOperation,
  SUBMIT_OPERATIONS,
  type SubmitName,
  documentedOnly,
} from "../client/operations.js";
import type { ReadOf, Shape } from "../decode/shapes.js";
import type { JsonObject } from "../decode/json.js";
import type { Call, EffectsOf, Outcome } from "./call.js";
import { KEY_EFFECTS, KEY_OPERATIONS, type KeyOperation, type KeyOperationName } from "./new-keys.js";
import { SIGNING_EFFECTS, SIGNING_OPERATIONS, type SigningOperationName } from "./signing.js";
import { type ApiKey, type Organization, type User, type UserRecord, noncesId } from "./records.js";
import { invalid, notAllowed, notFound } from "./refusal.js";
import { sealSession } from "./session.js";
import { isExpired } from "./stamps.js";
import type { Reader, Transaction } from "./state.js";
import { timestamp } from "./timestamp.js";
import { checkWebhookUrl } from "./webhooks.js";

const SESSION_KEY = "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256";
const DEFAULT_SESSION_SECONDS = "900";
/** The limit of a session, which is 30 days. */
const MAX_SESSION_SECONDS = 2_592_000;

const EFFECTS: EffectsOf<typeof SUBMIT_OPERATIONS> = {
  updateWallet({ tx, organization, parameters }) {
    const { walletId, walletName } = parameters;
    const wallet = owned(tx.get("wallets", walletId), organization, `wallet ${walletId}`);
    const renamed = { ...wallet, walletName: walletName ?? wallet.walletName };
    tx.put("wallets", walletId, renamed);
    const addresses = wallet.accounts.map(({ path, address }) => ({
      organizationId: wallet.organizationId,
      walletId,
      derivationPath: path,
      address,
    }));
    return { result: { walletId }, addresses };
  },

  updateFiatOnRampCredential({ tx, organization, parameters }) {
    const { fiatOnrampCredentialId, ...fields } = parameters;
    const credential = owned(
      tx.get("credentials", fiatOnrampCredentialId),
      organization,
      `fiat on-ramp credential ${fiatOnrampCredentialId}`,
    );
    tx.put("credentials", fiatOnrampCredentialId, { ...credential, ...withoutUndefined(fields) });
    return { result: { fiatOnRampCredentialId: fiatOnrampCredentialId } };
  },

  updateUserTag({ tx, organization, parameters, now }) {
    const { userTagId, newUserTagName, addUserIds = [], removeUserIds = [] } = parameters;
    const tag = owned(tx.get("tags", userTagId), organization, `user tag ${userTagId}`);
    const users = [...new Set([...addUserIds, ...removeUserIds])].map((userId) => userOf(tx, organization, userId));
    tx.put("tags", userTagId, { ...tag, userTagName: newUserTagName ?? tag.userTagName });
    for (const record of users) {
      const { userId, userTags } = record.user;
      const others = userTags.filter((id) => id !== userTagId);
      // Removal wins over addition.
      putUser(tx, record, { userTags: removeUserIds.includes(userId) ? others : [...others, userTagId] }, now);
    }
    return { intent: { addUserIds, removeUserIds }, result: { userTagId } };
  },

  deleteApiKeys({ tx, organization, parameters, now }) {
    const { userId, apiKeyIds } = parameters;
    const record = userOf(tx, organization, userId);
    refuseEmpty("apiKeyIds", apiKeyIds);
    const unknown = apiKeyIds.filter((id) => !record.user.apiKeys.some((key) => key.apiKeyId === id));
    if (unknown.length > 0) throw notFound(`user ${userId} has no API key ${unknown.join(", ")}`);
    putUser(tx, record, { apiKeys: record.user.apiKeys.filter((key) => !apiKeyIds.includes(key.apiKeyId)) }, now);
    return { result: { apiKeyIds } };
  },

  deletePolicies({ tx, organization, parameters }) {
    const { policyIds } = parameters;
    refuseEmpty("policyIds", policyIds);
    for (const id of policyIds) owned(tx.get("policies", id), organization, `policy ${id}`);
    for (const id of policyIds) tx.delete("policies", id);
    return { result: { policyIds } };
  },

  async createReadWriteSession({ tx, organization, actor, parameters, now }) {
    const {
      targetPublicKey,
      userId = actor.user.userId,
      apiKeyName = "Read Write Session",
      invalidateExisting = false,
    } = parameters;
    const { expirationSeconds = DEFAULT_SESSION_SECONDS } = parameters;
    const record = userOf(tx, organization, userId);
    if (userId !== actor.user.userId && !isRoot(organization, actor))
      throw notAllowed("only a root user makes sessions for others");
    if (!/^[1-9][0-9]{0,6}$/.test(expirationSeconds) || Number(expirationSeconds) > MAX_SESSION_SECONDS) {
      throw invalid(`parameters.expirationSeconds: expected 1 to ${MAX_SESSION_SECONDS}`);
    }
    const { publicKey, credentialBundle } = await sealSession(targetPublicKey);
    const created = timestamp(now);
    const key: ApiKey = {
      credential: { publicKey, type: SESSION_KEY },
      apiKeyId: randomUUID(),
      apiKeyName,
      createdAt: created,
      updatedAt: created,
      expirationSeconds,
    };
    const isOver = (one: ApiKey): boolean =>
      one.credential.type === SESSION_KEY && (invalidateExisting || isExpired(one, now));
    putUser(tx, record, { apiKeys: [...record.user.apiKeys.filter((one) => !isOver(one)), key] }, now);
    const { organizationId, organizationName } = organization;
    const result = {
      organizationId,
      organizationName,
      userId,
      username: record.user.userName,
      apiKeyId: key.apiKeyId,
      credentialBundle,
    };
    return { intent: { userId, apiKeyName, expirationSeconds, invalidateExisting }, result };
  },

  setOrganizationFeature({ tx, organization, parameters }) {
    const { name, value } = parameters;
    if (!/^FEATURE_NAME_[A-Z0-9_]+$/.test(name))
      throw invalid(`parameters.name: ${name} is not a feature's name, such as ${FEATURE_NAME_WEBHOOK}`);
    if (name === FEATURE_NAME_WEBHOOK && value !== "") checkWebhookUrl(value);
    const features = [...organization.features.filter((feature) => feature.name !== name), { name, value }];
    tx.put("organizations", organization.organizationId, { ...organization, features });
    return { result: { features } };
  },
};

export type LabSubmitName = SubmitName | KeyOperationName | SigningOperationName;

/** `parameters` must match the operation's schema. */
export function carryOut(name: LabSubmitName, call: Call<JsonObject>): Outcome | Promise<Outcome> {
  return (
    { ...EFFECTS, ...KEY_EFFECTS, ...SIGNING_EFFECTS }[name] as (call: Call<unknown>) => Outcome | Promise<Outcome>
  )(call);
}

interface Question<Parameters> {
  readonly reader: Reader;
  readonly organization: Organization;
  readonly parameters: Parameters;
}

type QueryParametersOf<N extends QueryName> = ReadOf<(typeof QUERY_OPERATIONS)[N]["parameters"]>;
type EnclaveQuery =
  "getBootProof" | "getLatestBootProof" | "listAppProofs" | "getTvcDeployment" | "getTvcDeploymentProvisioningDetails";
/** Queries that need no enclave. */
type Answers = {
  readonly [N in Exclude<QueryName, EnclaveQuery>]: (question: Question<QueryParametersOf<N>>) => JsonObject;
};

export const ANSWERS: Answers = {
  listEarnEnabledVaults({ reader, organization, parameters }) {
    const { provider, caip19 } = parameters;
    const { organizationId, parentOrganizationId } = organization;
    const enabledVaults = reader
      .all("vaults")
      .filter((one) => one.organizationId === (parentOrganizationId ?? organizationId))
      .map(({ vault }) => vault)
      .filter(
        (vault) =>
          (provider === undefined || vault.provider === provider) && (caip19 === undefined || vault.caip19 === caip19),
      )
      .map((vault) => (parentOrganizationId === undefined ? vault : withoutClientFees(vault)));
    return { enabledVaults };
  },

  getOauthProviders({ reader, organization, parameters }) {
    const { userId } = parameters;
    const users = userId === undefined ? usersOf(reader, organization) : [userOf(reader, organization, userId)];
    return { oauthProviders: json(users.flatMap(({ user }) => user.oauthProviders)) };
  },

  getNonces({ reader, parameters }) {
    const { address, caip2, nonce, gasStationNonce } = parameters;
    const known = reader.get("nonces", noncesId(caip2, address));
    return {
      ...(nonce === true && { nonce: known?.nonce ?? "0" }),
      ...(gasStationNonce === true && { gasStationNonce: known?.gasStationNonce ?? "0" }),
    };
  },

  getUser({ reader, organization, parameters }) {
    return { user: json(userOf(reader, organization, parameters.userId).user) };
  },
};

/** Removes what only the parent organization sees (client/README.md, "Shapes"). */
function withoutClientFees(vault: JsonObject): JsonObject {
  const hidden = ["claimableClientFee", "claimableClientFeeDisplay", "clientFeeWallet"];
  return Object.fromEntries(Object.entries(vault).filter(([name]) => !hidden.includes(name)));
}

export interface LabSubmitOperation extends KeyOperation {
  readonly key: LabSubmitName;
}

export const LAB_OPERATIONS = { ...SUBMIT_OPERATIONS, ...KEY_OPERATIONS, ...SIGNING_OPERATIONS } as const;

export const SUBMITS: readonly LabSubmitOperation[] = Object.entries(LAB_OPERATIONS).map(
  ([key, { name, type, parameters, intentMember, resultMember }]) => ({
    name,
    type,
    parameters,
    intentMember,
    resultMember,
    key: key as LabSubmitName,
  }),
);

interface LabQueryOperation extends Pick<QueryOperation, "name"> {
  readonly key: QueryName;
  readonly parameters: Shape<unknown>;
}

/** The operations by path segment. */
export const QUERIES: ReadonlyMap<string, LabQueryOperation> = new Map(
  Object.entries<QueryOperation>(QUERY_OPERATIONS).map(([key, operation]) => [
    operation.name,
    { name: operation.name, parameters: documentedOnly(operation.parameters), key: key as QueryName },
  ]),
);

export function isRoot(organization: Organization, record: UserRecord): boolean {
  return organization.organizationId === record.organizationId && organization.rootUserIds.includes(record.user.userId);
}

export function usersOf(reader: Reader, organization: Organization): UserRecord[] {
  return reader.all("users").filter((record) => record.organizationId === organization.organizationId);
}

function userOf(reader: Reader, organization: Organization, userId: string): UserRecord {
  return owned(reader.get("users", userId), organization, `user ${userId}`);
}

export function owned<T extends { readonly organizationId: string }>(
  record: T | undefined,
  organization: Organization,
  what: string,
): T {
  if (record?.organizationId !== organization.organizationId)
    throw notFound(`there is no ${what} in organization ${organization.organizationId}`);
  return record;
}

export function putUser(tx: Transaction, record: UserRecord, changes: Partial<User>, now: Date): void {
  tx.put("users", record.user.userId, { ...record, user: { ...record.user, ...changes, updatedAt: timestamp(now) } });
}

function refuseEmpty(name: string, list: readonly unknown[]): void {
  if (list.length === 0) throw invalid(`parameters.${name}: empty`);
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function json(value: unknown): JsonObject[keyof JsonObject] {
  return value as JsonObject[keyof JsonObject];
}
