/**
 * Sessions and log-ins: keys that are sealed to the request's public key, and session tokens (client/README.md,
 * "Sessions"). The lab sends no messages, so every one-time password counts. Tokens of providers are not verified.
 */
import { randomUUID } from "node:crypto";
import { createBase58check } from "@scure/base";
import { concatBytes, fromHex, fromUtf8, toHex } from "../bytes.js";
import { openBundle, sealBundle } from "../client/credential-bundle.js";
import { compressed, publicPointOf, uncompressed } from "../client/p256.js";
import type { JsonObject } from "../decode/json.js";
import { P256_COMPRESSED_LENGTH } from "../decode/lengths.js";
import { type ReadOf, anyObject, flag, nonEmptyText, object, optional, text } from "../decode/shapes.js";
import { generateApiKey } from "./api-key.js";
import { generateKeyPair, privateScalar, publicPoint } from "./keys.js";
import { bufferOf } from "./passkey.js";
import { sha256 } from "./qos.js";
import type { ApiKey, UserRecord } from "./records.js";
import { invalid, notAllowed, notFound } from "./refusal.js";
import type { Call, Outcome } from "./call.js";
import { shapeOf } from "./notation.js";
import { isExpired } from "./stamps.js";
import { claimsOf, otpClaims, otpToken, sessionToken, signedBundle } from "./tokens.js";
import { isRoot, newApiKey, oidcClaimsIn, owned, ownedOf, putUser, userOf } from "./users.js";

const SESSION_KEY = "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256";
export const SESSION_SECONDS = "900";
/** Longest session in seconds, which is 30 days. */
const MAX_SESSION_SECONDS = 2_592_000;
const base58check = createBase58check(sha256);

const lifetime = { expirationSeconds: optional(text), invalidateExisting: optional(flag) };
const login = { ...lifetime, publicKey: nonEmptyText, sessionProfileId: optional(text) };
const sealed = { ...lifetime, targetPublicKey: nonEmptyText, apiKeyName: optional(text) };
export const loginShapes = {
  stampLogin: object(login),
  oauthLogin: object({ ...login, oidcToken: nonEmptyText }),
  otpLogin: object({ ...login, verificationToken: nonEmptyText, clientSignature: optional(anyObject) }),
  oauth: object({ ...sealed, oidcToken: nonEmptyText }),
  otpAuth: object({ ...sealed, otpId: nonEmptyText, otpCode: text }),
  initOtp: shapeOf(
    "otpType contact appName otpLength?# emailCustomization?{} smsCustomization?{} userIdentifier? alphanumeric?! " +
      "sendFromEmailAddress? sendFromEmailSenderName? replyToEmailAddress? expirationSeconds?",
  ),
  verifyOtp: object({ otpId: nonEmptyText, encryptedOtpBundle: nonEmptyText, expirationSeconds: optional(text) }),
  verifyOtpV1: object({
    otpId: nonEmptyText,
    otpCode: text,
    expirationSeconds: optional(text),
    publicKey: optional(text),
  }),
};

type Context = Pick<Call<unknown>, "tx" | "organization" | "now" | "quorumKey">;
interface Lifetime {
  readonly expirationSeconds?: string | undefined;
  readonly invalidateExisting?: boolean | undefined;
  readonly apiKeyName?: string | undefined;
}

interface SealedRequest extends Lifetime {
  readonly targetPublicKey: string;
}

/** Adds a session's key to its user, in place of those that are over. */
function addSessionKey(
  { tx, now }: Context,
  record: UserRecord,
  publicKey: string,
  { expirationSeconds = SESSION_SECONDS, invalidateExisting = false, apiKeyName = "session" }: Lifetime,
): ApiKey {
  if (!/^[1-9][0-9]{0,6}$/.test(expirationSeconds) || Number(expirationSeconds) > MAX_SESSION_SECONDS)
    throw invalid(`parameters.expirationSeconds: expected 1 to ${MAX_SESSION_SECONDS}`);
  const key = newApiKey(apiKeyName, publicKey, now, { type: SESSION_KEY, expirationSeconds });
  const isOver = (one: ApiKey): boolean =>
    one.credential.type === SESSION_KEY && (invalidateExisting || isExpired(one, now));
  putUser(tx, record, { apiKeys: [...record.user.apiKeys.filter((one) => !isOver(one)), key] }, now);
  return key;
}

/** Logs a user in with a key. Returns the session token. */
export function openSession(context: Context, record: UserRecord, publicKey: string, given: Lifetime = {}): string {
  const { expirationSeconds = SESSION_SECONDS } = given;
  if (!/^0[23][0-9a-f]{64}$/.test(publicKey))
    throw invalid("parameters.publicKey: expected a compressed point of P-256 in lower-case hex");
  addSessionKey(context, record, publicKey, given);
  return sessionToken(context.quorumKey("notarizer"), {
    exp: Math.floor(context.now.getTime() / 1000) + Number(expirationSeconds),
    public_key: publicKey,
    session_type: "SESSION_TYPE_READ_WRITE",
    user_id: record.user.userId,
    organization_id: record.organizationId,
  });
}

/** Makes a key for a user, and seals it. */
async function sealedSession(
  context: Context,
  record: UserRecord,
  { targetPublicKey, ...given }: SealedRequest,
): Promise<{ readonly userId: string; readonly apiKeyId: string; readonly credentialBundle: string }> {
  const { publicKey, privateKey } = generateApiKey();
  const credentialBundle = await sealTo(targetPublicKey, fromHex(privateKey)!);
  const { apiKeyId } = addSessionKey(context, record, publicKey, given);
  return { userId: record.user.userId, apiKeyId, credentialBundle };
}

/** Seals a secret to a P-256 point in hex, compressed or not. Throws Refusal. */
async function sealTo(targetPublicKey: string, secret: Uint8Array): Promise<string> {
  const target = await uncompressed(fromHex(targetPublicKey) ?? new Uint8Array());
  if (target === null) throw invalid("parameters.targetPublicKey: not a point of P-256 in hex");
  return sealBundle(secret, target);
}

/** Seals a secret, and signs the bundle with the signer's quorum key. */
export async function exportBundle(
  { organization: { organizationId }, quorumKey }: Context,
  targetPublicKey: string,
  secret: Uint8Array,
): Promise<string> {
  const bytes = base58check.decode(await sealTo(targetPublicKey, secret));
  const encapsulated = await uncompressed(bytes.subarray(0, P256_COMPRESSED_LENGTH));
  const ciphertext = toHex(bytes.subarray(P256_COMPRESSED_LENGTH));
  return signedBundle(quorumKey("signer"), { encappedPublic: toHex(encapsulated!), ciphertext, organizationId });
}

/** Opens `{encappedPublic, ciphertext}`. Throws Refusal. */
export async function openSealed(bundle: string, privateKey: string): Promise<Uint8Array> {
  try {
    const { DhkemP256HkdfSha256 } = await import("@hpke/core");
    const { encappedPublic, ciphertext } = JSON.parse(bundle) as Record<string, string>;
    const bytes = concatBytes(compressed(fromHex(encappedPublic!)!), fromHex(ciphertext!)!);
    const [kem, secret] = [new DhkemP256HkdfSha256(), fromHex(privateKey)!];
    const publicKey = await kem.importKey("raw", bufferOf((await publicPointOf(secret))!), true);
    const own = await kem.importKey("raw", bufferOf(secret), false);
    return await openBundle(base58check.encode(bytes), { privateKey: own, publicKey });
  } catch {
    throw invalid("parameters: the encrypted bundle does not open: it was sealed to another key, or changed");
  }
}

export async function createReadWriteSession(
  call: Call<SealedRequest & { readonly userId?: string | undefined }>,
): Promise<Outcome> {
  const { tx, organization, actor, parameters } = call;
  const { userId = actor.user.userId, apiKeyName = "Read Write Session" } = parameters;
  const { invalidateExisting = false, expirationSeconds = SESSION_SECONDS } = parameters;
  const record = userOf(tx, organization, userId);
  if (userId !== actor.user.userId && !isRoot(organization, actor))
    throw notAllowed("only a root user can make sessions for other users");
  const made = await sealedSession(call, record, { ...parameters, apiKeyName });
  const { organizationId, organizationName } = organization;
  return {
    intent: { userId, apiKeyName, expirationSeconds, invalidateExisting },
    result: { organizationId, organizationName, username: record.user.userName, ...made },
  };
}

export function stampLogin(call: Call<ReadOf<typeof loginShapes.stampLogin>>): Outcome {
  return { result: { session: openSession(call, call.actor, call.parameters.publicKey, call.parameters) } };
}

export function otpLogin(call: Call<ReadOf<typeof loginShapes.otpLogin>>): Outcome {
  const { verificationToken, publicKey } = call.parameters;
  return {
    result: { session: openSession(call, userWith(call, contactIn(verificationToken)), publicKey, call.parameters) },
  };
}

export function oauthLogin(call: Call<ReadOf<typeof loginShapes.oauthLogin>>): Outcome {
  const { oidcToken, publicKey } = call.parameters;
  return { result: { session: openSession(call, userOfProvider(call, oidcToken), publicKey, call.parameters) } };
}

export async function oauth(call: Call<ReadOf<typeof loginShapes.oauth>>): Promise<Outcome> {
  return { result: await sealedSession(call, userOfProvider(call, call.parameters.oidcToken), call.parameters) };
}

export async function otpAuth(call: Call<ReadOf<typeof loginShapes.otpAuth>>): Promise<Outcome> {
  const { contact } = otpOf(call, call.parameters.otpId);
  return { result: await sealedSession(call, userWith(call, contact), call.parameters) };
}

function userOfProvider({ tx, organization }: Context, oidcToken: string): UserRecord {
  const { iss, sub } = oidcClaimsIn(oidcToken);
  const found = ownedOf(tx.all("users"), organization).find(({ user }) =>
    user.oauthProviders.some(({ issuer, subject }) => issuer === iss && subject === sub),
  );
  if (found === undefined) throw notFound("no user of the organization has this provider and subject");
  return found;
}

/** Returns the user with an e-mail address or a telephone number. Throws Refusal. */
function userWith({ tx, organization }: Context, contact: string): UserRecord {
  const found = ownedOf(tx.all("users"), organization).find(({ user }) =>
    [user.userEmail, user.userPhoneNumber].includes(contact),
  );
  if (found === undefined) throw notFound(`no user of the organization has the contact ${contact}`);
  return found;
}

export function contactIn(verificationToken: string): string {
  try {
    return String(claimsOf(verificationToken)["contact"]);
  } catch {
    throw invalid("verificationToken: not a token");
  }
}

interface Otp {
  readonly otpType: string;
  readonly contact: string;
}

export function initOtp(call: Call<JsonObject>): Outcome {
  return { result: { ...beginOtp(call, call.parameters as unknown as Otp) } };
}

export function initOtpAuth(call: Call<JsonObject>): Outcome {
  return { result: { otpId: beginOtp(call, call.parameters as unknown as Otp).otpId } };
}

/** Begins a one-time password. The client seals its answer to the target of the bundle. */
export function beginOtp(
  { tx, organization: { organizationId }, quorumKey }: Context,
  { otpType, contact }: Otp,
): { readonly otpId: string; readonly otpEncryptionTargetBundle: string } {
  const otpId = randomUUID();
  const [otpEncryptionTargetBundle, target] = encryptionTarget(quorumKey("tls-fetcher"), { organizationId });
  tx.put("kept", otpId, { organizationId, kind: "otp", id: otpId, record: { otpType, contact, target } });
  return { otpId, otpEncryptionTargetBundle };
}

/** Returns a signed bundle with a new public key, and the private key in hex. */
export function encryptionTarget(
  key: ReturnType<Context["quorumKey"]>,
  facts: JsonObject,
): [bundle: string, privateKey: string] {
  const pair = generateKeyPair("prime256v1");
  return [signedBundle(key, { targetPublic: toHex(publicPoint(pair)), ...facts }), toHex(privateScalar(pair))];
}

function otpOf({ tx, organization }: Context, otpId: string): Otp & { readonly target: string } {
  const kept = tx.get("kept", otpId);
  const { record } = owned(kept?.kind === "otp" ? kept : undefined, organization, `one-time password ${otpId}`);
  return record as unknown as Otp & { readonly target: string };
}

export async function verifyOtp(call: Call<ReadOf<typeof loginShapes.verifyOtp>>): Promise<Outcome> {
  const { otpId, encryptedOtpBundle } = call.parameters;
  const opened = await openSealed(encryptedOtpBundle, otpOf(call, otpId).target);
  const publicKey = /"public_key": *"(0[23][0-9a-f]{64})"/.exec(fromUtf8(opened) ?? "")?.[1];
  if (publicKey === undefined) throw invalid("parameters.encryptedOtpBundle: it has no public_key");
  return { result: { verificationToken: verificationToken(call, otpId, publicKey) } };
}

export function verifyOtpV1(call: Call<ReadOf<typeof loginShapes.verifyOtpV1>>): Outcome {
  return { result: { verificationToken: verificationToken(call, call.parameters.otpId, call.parameters.publicKey) } };
}

/** Returns the token that shows that a contact was verified. Every code counts. */
export function verificationToken(context: Context, otpId: string, publicKey?: string): string {
  const { otpType, contact } = otpOf(context, otpId);
  const { organizationId: organization_id } = context.organization;
  const members = { verification_type: otpType, contact, organization_id };
  const claims = otpClaims(context.now, { ...members, ...(publicKey !== undefined && { public_key: publicKey }) });
  return otpToken(context.quorumKey("tls-fetcher"), claims);
}
