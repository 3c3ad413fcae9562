/** Users and their credentials, and the records that belong to an organization. */
import { randomUUID } from "node:crypto";
import { concatBytes, fromBase64Url, toHex } from "../bytes.js";
import { decodeCbor } from "../decode/cbor.js";
import type { JsonObject } from "../decode/json.js";
import { type ReadOf, list, matching, nonEmptyText, object, oneOf, optional, text } from "../decode/shapes.js";
import type { PasskeyRegistration } from "./passkey.js";
import type { ApiKey, Organization, Table, User, UserRecord } from "./records.js";
import { invalid, notFound } from "./refusal.js";
import { type Call, type Outcome, refuseEmpty } from "./call.js";
import type { Reader, Transaction } from "./state.js";
import { type Timestamp, timestamp } from "./timestamp.js";
import { claimsOf } from "./tokens.js";

const KEY_CURVES = ["API_KEY_CURVE_P256", "API_KEY_CURVE_SECP256K1", "API_KEY_CURVE_ED25519"] as const;
const SECONDS = matching(/^[1-9][0-9]{0,9}$/, "seconds");
const apiKeyMembers = {
  apiKeyName: nonEmptyText,
  publicKey: matching(/^(?:0[23])?[0-9a-f]{64}$/, "a compressed point or an Ed25519 key in lower-case hex"),
  expirationSeconds: optional(SECONDS),
};
export const apiKeyShape = object({ ...apiKeyMembers, curveType: oneOf(...KEY_CURVES) });
const attestation = object({
  credentialId: nonEmptyText,
  clientDataJson: nonEmptyText,
  attestationObject: nonEmptyText,
  transports: list(text),
});
const authenticatorShape = object({ authenticatorName: text, challenge: text, attestation });
const providerShape = object({
  providerName: nonEmptyText,
  oidcToken: optional(text),
  oidcClaims: optional(object({ iss: text, sub: text, aud: text })),
});
const names = { userName: nonEmptyText, userEmail: optional(text), userPhoneNumber: optional(text) };
const userMembers = {
  ...names,
  apiKeys: list(apiKeyShape),
  authenticators: optional(list(authenticatorShape)),
  oauthProviders: optional(list(providerShape)),
};
export const rootUserShape = object(userMembers);
const tagIds = list(text);
export const userShapes = {
  createUsers: object({ users: list(object({ ...userMembers, userTags: tagIds }), 1) }),
  createApiOnlyUsers: object({
    apiOnlyUsers: list(
      object({ ...names, userTags: tagIds, apiKeys: list(object({ ...apiKeyMembers, curveType: optional(text) })) }),
      1,
    ),
  }),
  createApiKeys: object({ userId: text, apiKeys: list(apiKeyShape, 1) }),
  createAuthenticators: object({ userId: text, authenticators: list(authenticatorShape, 1) }),
  createOauthProviders: object({ userId: text, oauthProviders: list(providerShape, 1) }),
  updateUser: object({
    userId: text,
    userName: optional(nonEmptyText),
    userEmail: optional(text),
    userPhoneNumber: optional(text),
    userTagIds: optional(tagIds),
    verificationToken: optional(text),
  }),
};
type NewApiKey = Omit<ReadOf<typeof apiKeyShape>, "curveType"> & { readonly curveType?: string | undefined };
type NewUser = Omit<ReadOf<typeof rootUserShape>, "apiKeys"> & {
  readonly apiKeys: readonly NewApiKey[];
  readonly userTags?: string[];
};

export function createdAt(now: Date): { readonly createdAt: Timestamp; readonly updatedAt: Timestamp } {
  return { createdAt: timestamp(now), updatedAt: timestamp(now) };
}

export function newApiKey(
  apiKeyName: string,
  publicKey: string,
  now: Date,
  {
    type,
    curveType,
    expirationSeconds,
  }: { readonly [name in "type" | "curveType" | "expirationSeconds"]?: string | undefined } = {},
): ApiKey {
  const credential = { publicKey, type: type ?? `CREDENTIAL_TYPE_API_KEY_${curveType?.split("_").at(-1) ?? "P256"}` };
  const key = { credential, apiKeyId: randomUUID(), apiKeyName, ...createdAt(now) };
  return { ...key, ...(expirationSeconds !== undefined && { expirationSeconds }) };
}

/** Adds a user of a request, with all credentials. Returns the id. */
export function addRequestedUser(tx: Transaction, organizationId: string, requested: NewUser, now: Date): string {
  const { apiKeys, authenticators = [], oauthProviders = [], userTags = [], ...facts } = requested;
  const { userName, userEmail = "", userPhoneNumber = "" } = facts;
  const userId = randomUUID();
  const user = {
    ...{ userId, userName, userEmail, userPhoneNumber, userTags, ...createdAt(now) },
    apiKeys: apiKeys.map(({ apiKeyName, publicKey, ...more }) => newApiKey(apiKeyName, publicKey, now, more)),
    authenticators: authenticators.map((one) => newAuthenticator(one, now)),
    oauthProviders: oauthProviders.map((one) => newProvider(one, now)),
  };
  tx.put("users", userId, { organizationId, user, relyingParties: {} });
  return userId;
}

/** Where the public key is in an authenticator's data: after hash, flags, counter, AAGUID and the id's length. */
const CREDENTIAL_ID_AT = 55;

/** Reads the public key of a new passkey from its attestation object (WebAuthn level 2, section 6.5). */
function newAuthenticator(requested: ReadOf<typeof authenticatorShape>, now: Date): User["authenticators"][number] {
  const { authenticatorName, attestation: made } = requested;
  try {
    const attested = decodeCbor(fromBase64Url(made.attestationObject)!) as Map<string, Uint8Array>;
    const data = attested.get("authData")!;
    const keyAt = CREDENTIAL_ID_AT + ((data[CREDENTIAL_ID_AT - 2]! << 8) | data[CREDENTIAL_ID_AT - 1]!);
    const key = decodeCbor(data.subarray(keyAt)) as Map<number, Uint8Array>;
    const publicKey = toHex(concatBytes(Uint8Array.of(4), key.get(-2)!, key.get(-3)!));
    const facts = { authenticatorName, credentialId: made.credentialId, publicKey };
    return { ...authenticatorOf(facts, now), transports: made.transports };
  } catch {
    throw invalid("parameters: an attestation object does not hold a passkey of P-256");
  }
}

/** `facts` are the id of the credential, its name and its point. */
function authenticatorOf(
  { publicKey, ...facts }: Readonly<Record<"authenticatorName" | "credentialId" | "publicKey", string>>,
  now: Date,
): User["authenticators"][number] {
  return {
    transports: ["AUTHENTICATOR_TRANSPORT_INTERNAL"],
    attestationType: "none",
    aaguid: "00000000-0000-0000-0000-000000000000",
    model: "software passkey",
    credential: { publicKey, type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR" },
    authenticatorId: randomUUID(),
    ...facts,
    ...createdAt(now),
  };
}

/** Returns the id of the authenticator. Throws RangeError for an unknown user. */
export function addPasskey(
  tx: Transaction,
  userId: string,
  { credentialId, publicKey, rpId }: PasskeyRegistration,
  now: Date,
): string {
  const record = tx.get("users", userId);
  if (record === undefined) throw new RangeError(`there is no user ${userId}`);
  const authenticator = authenticatorOf({ authenticatorName: "passkey", credentialId, publicKey }, now);
  const relyingParties = { ...record.relyingParties, ...(rpId !== undefined && { [credentialId]: rpId }) };
  putUser(tx, { ...record, relyingParties }, { authenticators: [...record.user.authenticators, authenticator] }, now);
  return String(authenticator["authenticatorId"]);
}

/** The token of a provider is not verified. */
function newProvider({ providerName, oidcToken, oidcClaims }: ReadOf<typeof providerShape>, now: Date): JsonObject {
  const { iss, sub, aud } = oidcClaims ?? oidcClaimsIn(oidcToken ?? "");
  const ids = { providerId: randomUUID(), providerName };
  return { ...ids, issuer: String(iss), audience: String(aud), subject: String(sub), ...createdAt(now) };
}

/** Returns the claims of a provider's token without verifying it. Throws Refusal. */
export function oidcClaimsIn(token: string): JsonObject {
  try {
    return claimsOf(token);
  } catch {
    throw invalid("parameters.oidcToken: not a token");
  }
}

export function createUsers({ tx, organization, now }: Call<unknown>, requested: readonly NewUser[]): Outcome {
  return { result: { userIds: requested.map((one) => addRequestedUser(tx, organization.organizationId, one, now)) } };
}

export function refuseRoot({ user: { userId } }: UserRecord, { organization }: Call<unknown>): void {
  if (organization.rootUserIds.includes(userId)) throw invalid(`parameters.userIds: ${userId} is a root user`);
}

export function updateUser({ tx, organization, parameters, now }: Call<ReadOf<typeof userShapes.updateUser>>): Outcome {
  const { userId, verificationToken: _, userTagIds, ...facts } = parameters;
  const changes = { ...facts, ...(userTagIds !== undefined && { userTags: userTagIds }) };
  putUser(tx, userOf(tx, organization, userId), changes as Partial<User>, now);
  return { result: { userId } };
}

/** The credentials of a user, by their member: the member of an id, and what makes one of a request. */
const CREDENTIALS = {
  apiKeys: {
    id: "apiKeyId",
    made: ({ apiKeyName, publicKey, ...more }: ReadOf<typeof apiKeyShape>, now: Date) =>
      newApiKey(apiKeyName, publicKey, now, more),
  },
  authenticators: { id: "authenticatorId", made: newAuthenticator },
  oauthProviders: { id: "providerId", made: newProvider },
} as const;
type CredentialList = keyof typeof CREDENTIALS;

type Identified = { readonly [id: string]: unknown };

/** Adds credentials of a request to a user. */
export function addCredentials(member: CredentialList) {
  const { id, made } = CREDENTIALS[member] as { readonly id: string; made(one: unknown, now: Date): Identified };
  return ({ tx, organization, parameters, now }: Call<{ readonly userId: string }>): Outcome => {
    const record = userOf(tx, organization, parameters.userId);
    const requested = (parameters as unknown as Record<string, readonly unknown[]>)[member]!;
    const added = requested.map((one) => made(one, now));
    putUser(tx, record, { [member]: [...record.user[member], ...added] }, now);
    return { result: { [`${id}s`]: added.map((one) => one[id] as string) } };
  };
}

/** Deletes credentials of a user, all or none. */
export function deleteCredentials(member: CredentialList, what: string) {
  const { id } = CREDENTIALS[member];
  return ({ tx, organization, parameters, now }: Call<JsonObject>): Outcome => {
    const [userId, ids] = [String(parameters["userId"]), parameters[`${id}s`] as string[]];
    const record = userOf(tx, organization, userId);
    refuseEmpty(`${id}s`, ids);
    const known: readonly Identified[] = record.user[member] as readonly Identified[];
    const unknown = ids.filter((one) => !known.some((credential) => credential[id] === one));
    if (unknown.length > 0) throw notFound(`user ${userId} has no ${what} ${unknown.join(", ")}`);
    putUser(tx, record, { [member]: known.filter((one) => !ids.includes(one[id] as string)) }, now);
    return { result: { [`${id}s`]: ids } };
  };
}

/** Returns the credentials of one user, or of all users of the organization. */
export function credentialsOf(
  reader: Reader,
  organization: Organization,
  member: CredentialList,
  userId?: string,
): JsonObject[] {
  const users =
    userId === undefined ? ownedOf(reader.all("users"), organization) : [userOf(reader, organization, userId)];
  return users.flatMap(({ user }) => user[member] as readonly JsonObject[]);
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

/** Deletes the records that `id` or `${id}s` of the parameters names, all or none. The result repeats it as `as`. */
export function deletesFrom<T>(
  table: Table,
  id: string,
  find: (reader: Reader, organization: Organization, id: string) => T,
  { as = id, check }: { readonly as?: string; readonly check?: (record: T, call: Call<JsonObject>) => void } = {},
) {
  return (call: Call<JsonObject>): Outcome => {
    const { tx, organization, parameters } = call;
    const [named, s] = id in parameters ? [parameters[id]!, ""] : [parameters[`${id}s`]!, "s"];
    const ids = [named].flat() as string[];
    refuseEmpty(`${id}s`, ids);
    for (const one of ids) {
      const record = find(tx, organization, one);
      check?.(record, call);
    }
    for (const one of ids) tx.delete(table, one);
    return { result: { [`${as}${s}`]: named } };
  };
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
