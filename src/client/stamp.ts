/** Stamps, which authenticate a request (client/README.md, "Stamps"). */
import { concatBytes, equalBytes, fromBase64Url, fromHex, toBase64Url, toHex, toUtf8 } from "../bytes.js";
import { P256_COMPRESSED_LENGTH, P256_SCALAR_LENGTH } from "../decode/lengths.js";
import { callable, plain, typedOptions } from "../decode/options.js";
import { count, list, nonEmptyText, oneOf, optional } from "../decode/shapes.js";
import { sha256 } from "../verify/digest.js";
import { importPoint } from "../verify/ecdsa.js";
import { ClientError } from "../door/errors.js";
import { compressed, importSigningPair, publicPointOf, subtleCrypto, uncompressed } from "./p256.js";
import type { PasskeyDescriptor, PasskeyRequest, Signal, WebKeyPair } from "../door/platform.js";

export type StampHeader = "X-Stamp" | "X-Stamp-WebAuthn" | "X-Stamp-Attested";

export interface Stamp {
  readonly header: StampHeader;
  readonly value: string;
}

export interface Stamper {
  stamp(body: Uint8Array, signal?: Signal): Promise<Stamp>;
}

/**
 * A stamp of a published stamper for this family of services. Its header is one of {@link Stamp}'s, in any letter case.
 */
export interface PublishedStamp {
  readonly stampHeaderName: string;
  readonly stampHeaderValue: string;
}

/**
 * A stamper for a client: a {@link Stamper}, or a published stamper for this family of services, which gets the body as
 * text and returns a {@link PublishedStamp}.
 */
export interface AnyStamper {
  stamp(body: Uint8Array & string, signal?: Signal): Promise<Stamp | PublishedStamp>;
}

export interface ApiKey {
  /** The public point in hex: 33 bytes compressed, or 65 uncompressed. */
  readonly publicKey: string;
  /** The private scalar in hex, 32 bytes. */
  readonly privateKey: string;
}

/** Text that is signed to test a pair. It is not JSON, so its signature is not a stamp of a request. */
const PROBE = "bootproof: do these two keys belong together?";

/**
 * Makes a stamper with an API key. The stamp is `X-Stamp`, base64url of `{"publicKey":"<compressed point,
 * hex>","scheme":"SIGNATURE_SCHEME_TK_API_P256","signature":"<DER, hex>"}`. The signature is ECDSA P-256 with SHA-256
 * over the bytes of the body.
 *
 * The key is in hex, or a WebCrypto pair, which may be non-extractable. Rejects with {@link ClientError} (`key`) if the
 * key is malformed, or if its halves do not match.
 * @example
 * ```ts
 * const stamper = await apiKeyStamper(key);
 * ```
 */
export async function apiKeyStamper(key: ApiKey | WebKeyPair): Promise<Stamper> {
  const { publicKey: stated, privateKey } = key;
  const given = { publicKey: stated, privateKey } as ApiKey | WebKeyPair;
  const pair = isCryptoKeyPair(given) ? given : await pairOfHex(given);
  const publicKey = toHex(compressed(await checkedPoint(pair)));
  return {
    async stamp(body) {
      const signature = toHex(derSignature(await signRaw(pair, body)));
      const json = JSON.stringify({ publicKey, scheme: "SIGNATURE_SCHEME_TK_API_P256", signature });
      return { header: "X-Stamp", value: toBase64Url(toUtf8(json)) };
    },
  };
}

/** Generates an API key. Register its public half with the service. */
export async function generateApiKey(): Promise<ApiKey> {
  const subtle = subtleCrypto();
  const pair = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const point = new Uint8Array(await subtle.exportKey("raw", pair.publicKey));
  const { d } = await subtle.exportKey("jwk", pair.privateKey);
  return { publicKey: toHex(compressed(point)), privateKey: toHex(fromBase64Url(d!)!) };
}

function isCryptoKeyPair(key: ApiKey | WebKeyPair): key is WebKeyPair {
  return typeof key.privateKey === "object";
}

/** Returns an error. The message must not quote the key. */
function keyError(message: string): ClientError {
  return new ClientError("key", message);
}

async function pairOfHex(key: ApiKey): Promise<WebKeyPair> {
  const scalar = fromHex(String(key.privateKey));
  if (scalar?.length !== P256_SCALAR_LENGTH) throw keyError("the API key's privateKey is not 64 hex digits");
  const derived = await publicPointOf(scalar);
  if (derived === null) throw keyError("the API key's privateKey is not a private key of P-256");
  const stated = fromHex(String(key.publicKey));
  const point = stated && (await uncompressed(stated));
  if (point === null) throw keyError("the API key's publicKey is not a point of P-256 in hex");
  if (!equalBytes(point, derived)) throw keyError("the API key's publicKey is not that of its privateKey");
  return importSigningPair(scalar, point);
}

/** Resolves to the pair's public point, after a test that its private key signs for it. */
async function checkedPoint(pair: WebKeyPair): Promise<Uint8Array> {
  const { name, namedCurve } = pair.privateKey.algorithm as { name?: string; namedCurve?: string };
  if (name !== "ECDSA" || namedCurve !== "P-256") throw keyError("the key is not an ECDSA key of P-256");
  if (!pair.privateKey.usages.includes("sign")) throw keyError("the private key is not allowed to sign");
  const exported = await subtleCrypto()
    .exportKey("raw", pair.publicKey)
    .catch(() => {
      throw keyError("the public key cannot be exported");
    });
  const bytes = new Uint8Array(exported);
  // Some WebCrypto libraries export a key in the form in which it was imported, which may be the compressed one.
  const point = bytes.length === P256_COMPRESSED_LENGTH ? ((await uncompressed(bytes)) ?? bytes) : bytes;
  const probe = toUtf8(PROBE);
  const verifying = await importPoint("P-256", point);
  const belong = verifying !== null && (await verifying.verify(probe, await signRaw(pair, probe)));
  if (!belong) throw keyError("the public key is not that of the private key");
  return point;
}

async function signRaw(pair: WebKeyPair, message: Uint8Array): Promise<Uint8Array> {
  const signature = await subtleCrypto().sign(
    { name: "ECDSA", hash: "SHA-256" },
    pair.privateKey,
    message as BufferSource,
  );
  return new Uint8Array(signature);
}

/** Encodes `r ‖ s` as the DER of ECDSA-Sig-Value (RFC 3279 section 2.2.3). */
export function derSignature(raw: Uint8Array): Uint8Array {
  const integers = concatBytes(
    derInteger(raw.subarray(0, P256_SCALAR_LENGTH)),
    derInteger(raw.subarray(P256_SCALAR_LENGTH)),
  );
  return concatBytes(Uint8Array.of(0x30, integers.length), integers);
}

function derInteger(scalar: Uint8Array): Uint8Array {
  const start = scalar.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Uint8Array.of(0) : scalar.subarray(start);
  const padding = digits[0]! > 0x7f ? [0] : [];
  return Uint8Array.of(0x02, padding.length + digits.length, ...padding, ...digits);
}

export interface WebauthnStamperOptions {
  /** Asks the platform for an assertion: `(options) => navigator.credentials.get(options)`. */
  readonly get: (options: PasskeyRequest) => Promise<unknown>;
  /** Domain of the relying party. */
  readonly rpId: string;
  /** The passkeys that may be used. Default: those that the authenticator knows. */
  readonly allowCredentials?: readonly PasskeyDescriptor[];
  readonly userVerification?: "discouraged" | "preferred" | "required";
  /** Milliseconds for the user's response. */
  readonly timeoutMs?: number;
}

/**
 * Makes a stamper with a passkey. The stamp is `X-Stamp-WebAuthn`, the JSON of the assertion. The challenge is the
 * lower-case hex SHA-256 of the body, as UTF-8.
 */
export function webauthnStamper(options: WebauthnStamperOptions): Stamper {
  const own = typedOptions<WebauthnStamperOptions>("options", options, {
    get: callable,
    rpId: nonEmptyText,
    allowCredentials: optional(list(plain)),
    userVerification: optional(oneOf("discouraged", "preferred", "required")),
    timeoutMs: optional(count),
  });
  const { get, rpId, userVerification = "preferred", timeoutMs } = own;
  const allowCredentials = own.allowCredentials?.map((allowed) => {
    return { ...allowed, id: new Uint8Array(bytesOf(allowed.id) ?? []) };
  });
  return {
    async stamp(body, signal) {
      // The body is copied, since the caller may change its bytes before the digest reads them.
      const challenge = toUtf8(toHex(await sha256(new Uint8Array(body))));
      const credential = await get({
        publicKey: {
          challenge: challenge as BufferSource,
          rpId,
          userVerification,
          ...(allowCredentials && { allowCredentials }),
          ...(timeoutMs !== undefined && { timeout: timeoutMs }),
        },
        ...(signal && { signal }),
      });
      return { header: "X-Stamp-WebAuthn", value: JSON.stringify(assertionOf(credential)) };
    },
  };
}

/** Returns the assertion (WebAuthn section 5.2.2) in the service's field names. */
function assertionOf(
  credential: unknown,
): Record<"credentialId" | "authenticatorData" | "clientDataJson" | "signature", string> {
  const { rawId, response } = (credential ?? {}) as { rawId?: unknown; response?: Record<string, unknown> | null };
  const member = (name: string, value: unknown): string => {
    const bytes = bytesOf(value);
    if (bytes === null) throw new ClientError("stamp", `not sent: no passkey was used, or its answer has no ${name}`);
    return toBase64Url(bytes);
  };
  return {
    credentialId: member("rawId", rawId),
    authenticatorData: member("authenticatorData", response?.["authenticatorData"]),
    clientDataJson: member("clientDataJSON", response?.["clientDataJSON"]),
    signature: member("signature", response?.["signature"]),
  };
}

/** Returns the bytes of a view or a buffer, even of another realm; null for anything else. */
function bytesOf(value: unknown): Uint8Array | null {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return Object.prototype.toString.call(value) === "[object ArrayBuffer]" ? new Uint8Array(value as ArrayBuffer) : null;
}
