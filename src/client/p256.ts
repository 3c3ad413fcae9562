import { concatBytes, toBase64Url } from "../bytes.js";
import { P256_COMPRESSED_LENGTH, P256_POINT_LENGTH } from "../decode/lengths.js";
import { ClientError } from "../door/errors.js";
import type { WebKeyPair } from "../door/platform.js";

/**
 * Returns WebCrypto. Throws {@link ClientError} (`key`) if it is missing: browsers have it only on pages served over
 * HTTPS.
 */
export function subtleCrypto(): SubtleCrypto {
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined)
    throw new ClientError("key", "WebCrypto is missing: in a browser, serve the page over HTTPS");
  return subtle;
}

/** Compresses an uncompressed point (SEC1 section 2.3.3). */
export function compressed(point: Uint8Array): Uint8Array {
  return concatBytes(
    Uint8Array.of(0x02 | (point[P256_POINT_LENGTH - 1]! & 1)),
    point.subarray(1, P256_COMPRESSED_LENGTH),
  );
}

/**
 * Returns the uncompressed point for either form (SEC1 section 2.3.4). Null if the bytes are not a point of the curve.
 */
export async function uncompressed(bytes: Uint8Array): Promise<Uint8Array | null> {
  if (bytes.length !== P256_COMPRESSED_LENGTH && bytes.length !== P256_POINT_LENGTH) return null;
  const { p256 } = await import("../verify/noble.js");
  try {
    return p256.Point.fromBytes(bytes).toBytes(false);
  } catch {
    return null;
  }
}

/** Returns the uncompressed public point of a private key. Null if the bytes are not a private key of 32 bytes. */
export async function publicPointOf(privateKey: Uint8Array): Promise<Uint8Array | null> {
  const { p256 } = await import("../verify/noble.js");
  try {
    return p256.getPublicKey(privateKey, false);
  } catch {
    return null;
  }
}

export async function importSigningPair(privateKey: Uint8Array, point: Uint8Array): Promise<WebKeyPair> {
  const subtle = subtleCrypto();
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: toBase64Url(point.subarray(1, P256_COMPRESSED_LENGTH)),
    y: toBase64Url(point.subarray(P256_COMPRESSED_LENGTH)),
    d: toBase64Url(privateKey),
  };
  return {
    privateKey: await subtle.importKey("jwk", jwk, algorithm, false, ["sign"]),
    publicKey: await subtle.importKey("raw", point as BufferSource, algorithm, true, ["verify"]),
  };
}
