/** Software keys and signatures with node:crypto. */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { P256_POINT_LENGTH, P384_POINT_LENGTH } from "../decode/lengths.js";

type Curve = "prime256v1" | "secp384r1";
export type Digest = "sha256" | "sha384" | "sha512";

const privateKeyEncoding = { type: "pkcs8", format: "der" } as const;
const publicKeyEncoding = { type: "spki", format: "der" } as const;
/** The encoding of a pair of P-384 is longer. */
const P256_PKCS8_LENGTH = 138;

export interface KeyPair {
  /** The private key, as Node encodes it. */
  readonly pkcs8: Uint8Array;
  /** The public key, of a pair that was generated. */
  readonly spki?: Uint8Array;
}

/**
 * Generates a pair, and keeps it encoded, because Node 20 can deadlock if it exports a generated key as JWK during
 * garbage collection.
 */
export function generateKeyPair(curve: Curve | "ed25519"): KeyPair {
  const { privateKey: pkcs8, publicKey: spki } =
    curve === "ed25519"
      ? generateKeyPairSync(curve, { privateKeyEncoding, publicKeyEncoding })
      : generateKeyPairSync("ec", { namedCurve: curve, privateKeyEncoding, publicKeyEncoding });
  // A Buffer would be written as JSON by itself.
  return { pkcs8: new Uint8Array(pkcs8), spki: new Uint8Array(spki) };
}

/** Keys that signed. An import takes as long as five signatures, and most keys of a lab never sign. */
const IMPORTED = new WeakMap<KeyPair, KeyObject>();

function keyObject(pair: KeyPair): KeyObject {
  const key = IMPORTED.get(pair) ?? createPrivateKey({ key: Buffer.from(pair.pkcs8), ...privateKeyEncoding });
  IMPORTED.set(pair, key);
  return key;
}

/** Returns the public point, uncompressed (SEC1), which ends an ECPrivateKey (RFC 5915 section 3). */
export function publicPoint({ pkcs8 }: KeyPair): Uint8Array {
  return new Uint8Array(pkcs8.subarray(pkcs8.length > P256_PKCS8_LENGTH ? -P384_POINT_LENGTH : -P256_POINT_LENGTH));
}

/** Returns the public key as SubjectPublicKeyInfo in DER. */
export function subjectPublicKeyInfo(pair: KeyPair): Uint8Array {
  return new Uint8Array(pair.spki ?? createPublicKey(keyObject(pair)).export(publicKeyEncoding));
}

/** Returns the 32-byte private key of a P-256 pair. */
export function privateScalar({ pkcs8 }: KeyPair): Uint8Array {
  // PKCS#8 has 29 bytes before an ECPrivateKey (RFC 5915 section 3), which has 7 before the key.
  return new Uint8Array(pkcs8.subarray(36, 68));
}

/** Returns the point in base64url, as in a JWK (RFC 8037 section 2). */
export function ed25519Point(pair: KeyPair): string {
  return createPublicKey(keyObject(pair)).export({ format: "jwk" }).x!;
}

/** Returns the signature as `r ‖ s`. */
export function signRaw(pair: KeyPair, digest: Digest, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(digest, message, { key: keyObject(pair), dsaEncoding: "ieee-p1363" }));
}

/** Returns the signature in DER as an ECDSA-Sig-Value or, for other keys, in the format of the key's algorithm. */
export function signDer(pair: KeyPair, digest: Digest | null, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(digest, message, keyObject(pair)));
}
