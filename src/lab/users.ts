/** Users and their keys, and the records that belong to an organization. */
import { randomUUID } from "node:crypto";
import type { ApiKey, Organization, User, UserRecord } from "./records.js";
import { notFound } from "./refusal.js";
import type { Reader, Transaction } from "./state.js";
import { type Timestamp, timestamp } from "./timestamp.js";

export function createdAt(now: Date): { readonly createdAt: Timestamp; readonly updatedAt: Timestamp } {
  return { createdAt: timestamp(now), updatedAt: timestamp(now) };
}

export function newApiKey(
  apiKeyName: string,
  publicKey: string,
  now: Date,
  {
    type = "CREDENTIAL_TYPE_API_KEY_P256",
    expirationSeconds,
  }: { type?: string; expirationSeconds?: string | undefined } = {},
): ApiKey {
  const key = { credential: { publicKey, type }, apiKeyId: randomUUID(), apiKeyName, ...createdAt(now) };
  return { ...key, ...(expirationSeconds !== undefined && { expirationSeconds }) };
}

/** Adds a user. Returns the id. */
export function addUser(
  tx: Transaction,
  organizationId: string,
  facts: Partial<User> & Pick<User, "userName">,
  now: Date,
): string {
  const userId = randomUUID();
  const none = { authenticators: [], apiKeys: [], userTags: [], oauthProviders: [] };
  const user = { userId, userEmail: "", userPhoneNumber: "", ...none, ...facts, ...createdAt(now) };
  tx.put("users", userId, { organizationId, user, relyingParties: {} });
  return userId;
}

export function putUser(tx: Transaction, record: UserRecord, changes: Partial<User>, now: Date): void {
  tx.put("users", record.user.userId, { ...record, user: { ...record.user, ...changes, updatedAt: timestamp(now) } });
}

export function isRoot(organization: Organization, record: UserRecord): boolean {
  return organization.organizationId === record.organizationId && organization.rootUserIds.includes(record.user.userId);
}

export function userOf(reader: Reader, organization: Organization, userId: string): UserRecord {
  return owned(reader.get("users", userId), organization, `user ${userId}`);
}

/** Returns the record. Throws Refusal unless it exists and belongs to the organization. */
export function owned<T extends { readonly organizationId: string }>(
  record: T | undefined,
  organization: Organization,
  what: string,
): T {
  if (record?.organizationId !== organization.organizationId)
    throw notFound(`there is no ${what} in organization ${organization.organizationId}`);
  return record;
}

/** Returns the records that belong to the organization. */
export function ownedOf<T extends { readonly organizationId: string }>(
  records: readonly T[],
  { organizationId }: Organization,
): T[] {
  return records.filter((record) => record.organizationId === organizationId);
}
