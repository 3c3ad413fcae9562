/** Verifies stamps (client/README.md, "Stamps") over the body as received. */
import { ECDH, type KeyObject, createHash, createPublicKey, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { concatBytes, equalBytes, fromHex, fromUtf8, toHex, toUtf8 } from "../bytes.js";
import { type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { MalformedError, attempt } from "../errors.js";
import { sha256 } from "./qos.js";
import type { ApiKey, UserRecord } from "./records.js";
import { Refusal } from "./refusal.js";
import type { Reader } from "./state.js";
import { millisecondsOf } from "./timestamp.js";

const API_KEY_SCHEME = "SIGNATURE_SCHEME_TK_API_P256";
const PASSKEY_SCHEME = "SIGNATURE_SCHEME_TK_WEBAUTHN";

/** Who sent a request. The stamp is kept because votes record it. */
export interface Caller {
  readonly record: UserRecord;
  readonly publicKey: string;
  readonly signature: string;
  readonly scheme: string;
}

/** The SubjectPublicKeyInfo of P-256 up to the uncompressed point (RFC 5480 section 2). */
const P256_SPKI = fromHex("3059301306072a8648ce3d020106082a8648ce3d030107034200")!;
const USER_PRESENT = 1;

/**
 * Returns the caller of a request. Throws {@link Refusal} unless the request has exactly one stamp, and that stamp is
 * valid.
 */
export function authenticate(headers: IncomingHttpHeaders, body: Uint8Array, reader: Reader, now: Date): Caller {
  const apiKey = headers["x-stamp"];
  const passkey = headers["x-stamp-webauthn"];
  if (apiKey === undefined && passkey === undefined) {
    throw new Refusal("SIGNATURE_MISSING", "the request has no stamp: expected X-Stamp or X-Stamp-WebAuthn");
  }
  if (apiKey !== undefined && passkey !== undefined)
    throw bad("the request has two stamps, X-Stamp and X-Stamp-WebAuthn: send only one");
  return apiKey === undefined ? byPasskey(String(passkey), body, reader) : byApiKey(String(apiKey), body, reader, now);
}

function byApiKey(header: string, body: Uint8Array, reader: Reader, now: Date): Caller {
  const stamp = stampJson("X-Stamp", fromUtf8(base64url("X-Stamp", header)) ?? "");
  const { scheme } = stamp;
  if (scheme !== API_KEY_SCHEME) throw bad(`X-Stamp: expected scheme ${API_KEY_SCHEME}`);
  const publicKey = text("X-Stamp", stamp, "publicKey").toLowerCase();
  const signature = text("X-Stamp", stamp, "signature");
  const key = compressedKey(publicKey);
  const der = fromHex(signature);
  if (key === null) throw bad("X-Stamp: publicKey is not a compressed point of P-256 in hex");
  if (der === null || !verify("sha256", body, key, der))
    throw bad("X-Stamp: the key did not sign the body as it was received");
  for (const record of usersFor(body, reader)) {
    const found = record.user.apiKeys.find(({ credential }) => credential.publicKey === publicKey);
    if (found === undefined) continue;
    if (isExpired(found, now)) throw new Refusal("API_KEY_EXPIRED", `the API key ${found.apiKeyName} has expired`);
    return { record, publicKey, signature, scheme };
  }
  throw new Refusal("PUBLIC_KEY_NOT_FOUND", "no user has registered the stamp's public key");
}

/** Returns all users, those of the request's organization first: several organizations may have one credential. */
function usersFor(body: Uint8Array, reader: Reader): UserRecord[] {
  const { value: json } = attempt(() => parseJson(body));
  const isAsked = (one: UserRecord): boolean => isJsonObject(json) && one.organizationId === json["organizationId"];
  return reader.all("users").sort((one, other) => Number(isAsked(other)) - Number(isAsked(one)));
}

export function isExpired({ createdAt, expirationSeconds = "Infinity" }: ApiKey, now: Date): boolean {
  return now.getTime() >= millisecondsOf(createdAt) + 1000 * Number(expirationSeconds);
}

/** Verifies an assertion (WebAuthn level 2, section 7.2), as far as it applies to a registered credential. */
function byPasskey(header: string, body: Uint8Array, reader: Reader): Caller {
  const stamp = stampJson("X-Stamp-WebAuthn", header);
  const member = (name: string): Uint8Array => base64url("X-Stamp-WebAuthn", text("X-Stamp-WebAuthn", stamp, name));
  const credentialId = text("X-Stamp-WebAuthn", stamp, "credentialId").replace(/=+$/, "");
  const [authenticatorData, clientDataJson, signature] = [
    member("authenticatorData"),
    member("clientDataJson"),
    member("signature"),
  ];
  for (const record of usersFor(body, reader)) {
    const authenticator = record.user.authenticators.find((one) => one.credentialId === credentialId);
    if (authenticator === undefined) continue;
    const { publicKey } = authenticator.credential;
    const signed = concatBytes(authenticatorData, sha256(clientDataJson));
    const key = createPublicKey({
      key: Buffer.from(concatBytes(P256_SPKI, fromHex(publicKey)!)),
      format: "der",
      type: "spki",
    });
    if (!verify("sha256", signed, key, signature))
      throw bad("X-Stamp-WebAuthn: the passkey did not make the signature");
    checkClientData(clientDataJson, body);
    checkAuthenticatorData(authenticatorData, record.relyingParties[credentialId]);
    return { record, publicKey, signature: toHex(signature), scheme: PASSKEY_SCHEME };
  }
  throw new Refusal("PUBLIC_KEY_NOT_FOUND", "no user has registered the stamp's passkey");
}

/** Checks the client data, whose challenge is the body's hash as hex text. */
function checkClientData(clientDataJson: Uint8Array, body: Uint8Array): void {
  const { type, challenge } = stampJson("X-Stamp-WebAuthn: clientDataJson", fromUtf8(clientDataJson) ?? "");
  const wanted = Buffer.from(toUtf8(createHash("sha256").update(body).digest("hex"))).toString("base64url");
  if (type !== "webauthn.get") throw bad("X-Stamp-WebAuthn: the type of clientDataJson is not webauthn.get");
  if (challenge !== wanted) throw bad("X-Stamp-WebAuthn: the challenge is not the hash of the body as it was received");
}

function checkAuthenticatorData(data: Uint8Array, relyingParty: string | undefined): void {
  if (data.length < 37 || (data[32]! & USER_PRESENT) === 0) throw bad("X-Stamp-WebAuthn: the user was not present");
  if (relyingParty !== undefined && !equalBytes(data.subarray(0, 32), sha256(toUtf8(relyingParty)))) {
    throw bad(`X-Stamp-WebAuthn: the passkey was used for a relying party other than ${relyingParty}`);
  }
}

/** Returns the key of a compressed point (SEC1) in lower-case hex. Null if it is invalid. */
function compressedKey(hex: string): KeyObject | null {
  if (!/^0[23][0-9a-f]{64}$/.test(hex)) return null;
  try {
    const point = ECDH.convertKey(hex, "prime256v1", "hex", undefined, "uncompressed") as Buffer;
    return createPublicKey({ key: Buffer.concat([P256_SPKI, point]), format: "der", type: "spki" });
  } catch {
    return null;
  }
}

function bad(message: string): Refusal {
  return new Refusal("SIGNATURE_INVALID", message);
}

function base64url(header: string, value: string): Uint8Array {
  if (!/^[A-Za-z0-9_-]+={0,2}$/.test(value)) throw bad(`${header}: not base64url`);
  return new Uint8Array(Buffer.from(value, "base64url"));
}

function stampJson(header: string, json: string): JsonObject {
  try {
    const value = parseJson(json);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
  }
  throw bad(`${header}: not a JSON object`);
}

function text(header: string, json: JsonObject, name: string): string {
  const value = json[name];
  if (typeof value !== "string") throw bad(`${header}: ${name} is missing`);
  return value;
}
