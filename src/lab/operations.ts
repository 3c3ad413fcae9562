/** The submits that the lab carries out. */
import { FEATURE_NAME_WEBHOOK, SUBMIT_OPERATIONS, type SubmitName } from "../client/operations.js";
import type { ReadOf } from "../decode/shapes.js";
import type { CarryOut, LabOperation } from "./call.js";
import { KEY_OPERATIONS } from "./new-keys.js";
import { SIGNING_OPERATIONS } from "./signing.js";
import { TRANSFER_OPERATIONS } from "./transfers.js";
import type { ApiKey } from "./records.js";
import { invalid, notAllowed, notFound } from "./refusal.js";
import { sealSession } from "./session.js";
import { isExpired } from "./stamps.js";
import { isRoot, newApiKey, owned, putUser, userOf } from "./users.js";
import { checkWebhookUrl } from "./webhooks.js";

export const SESSION_KEY = "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256";
const DEFAULT_SESSION_SECONDS = "900";
/** Longest session in seconds, which is 30 days. */
const MAX_SESSION_SECONDS = 2_592_000;

/** The submits of the client's table that have a file of their own here. */
type Elsewhere = keyof typeof KEY_OPERATIONS | keyof typeof SIGNING_OPERATIONS;

const EFFECTS: {
  readonly [N in Exclude<SubmitName, Elsewhere>]: CarryOut<ReadOf<(typeof SUBMIT_OPERATIONS)[N]["parameters"]>>;
} = {
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
      // A user who is both added and removed does not get the tag.
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
      throw notAllowed("only a root user can make sessions for other users");
    if (!/^[1-9][0-9]{0,6}$/.test(expirationSeconds) || Number(expirationSeconds) > MAX_SESSION_SECONDS) {
      throw invalid(`parameters.expirationSeconds: expected 1 to ${MAX_SESSION_SECONDS}`);
    }
    const { publicKey, credentialBundle } = await sealSession(targetPublicKey);
    const key = newApiKey(apiKeyName, publicKey, now, { type: SESSION_KEY, expirationSeconds });
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

const documented = Object.entries(EFFECTS).map(([key, carryOut]) => [
  key,
  { ...SUBMIT_OPERATIONS[key as SubmitName], carryOut },
]);

export const LAB_OPERATIONS = {
  ...(Object.fromEntries(documented) as Record<keyof typeof EFFECTS, LabOperation>),
  ...KEY_OPERATIONS,
  ...SIGNING_OPERATIONS,
  ...TRANSFER_OPERATIONS,
};
export type LabSubmitName = keyof typeof LAB_OPERATIONS;

function refuseEmpty(name: string, list: readonly unknown[]): void {
  if (list.length === 0) throw invalid(`parameters.${name}: empty`);
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
