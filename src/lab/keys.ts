/** Software keys and signatures with node:crypto. */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { P256_POINT_LENGTH, P384_POINT_LENGTH } from "../decode/lengths.js";

type Curve = "prime256v1" | "secp384r1";
export type Digest = "sha256" | "sha384" | "sha512";

/** A key. The type is declared here, so that users of the lab need no Node types. */
interface SoftwareKey {
  readonly type: string;
}

export interface KeyPair {
  readonly privateKey: SoftwareKey;
  readonly publicKey: SoftwareKey;
}

/**
 * Generates a pair and imports it from its encoding, because Node 20 can deadlock if it exports a generated key as JWK
 * during garbage collection.
 */
export function generateKeyPair(curve: Curve | "ed25519"): KeyPair {
  const privateKeyEncoding = { type: "pkcs8", format: "der" } as const;
  const publicKeyEncoding = { type: "spki", format: "der" } as const;
  const { privateKey } =
    curve === "ed25519"
      ? generateKeyPairSync(curve, { privateKeyEncoding, publicKeyEncoding })
      : generateKeyPairSync("ec", { namedCurve: curve, privateKeyEncoding, publicKeyEncoding });
  return pairOf(privateKey);
}

function pairOf(pkcs8: Buffer): KeyPair {
  const privateKey = createPrivateKey({ key: pkcs8, type: "pkcs8", format: "der" });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** Returns the key as Node's KeyObject. All keys are made in this file, so the cast is safe. */
function keyObject(key: SoftwareKey): KeyObject {
  return key as KeyObject;
}

/** Returns the pair as PKCS#8 in base64. */
export function saveKeyPair(pair: KeyPair): string {
  return keyObject(pair.privateKey).export({ type: "pkcs8", format: "der" }).toString("base64");
}

export function loadKeyPair(saved: string): KeyPair {
  return pairOf(Buffer.from(saved, "base64"));
}

/** Returns the public point, uncompressed (SEC1). */
export function publicPoint(pair: KeyPair): Uint8Array {
  const spki = subjectPublicKeyInfo(pair);
  const isP384 = keyObject(pair.publicKey).asymmetricKeyDetails?.namedCurve === "secp384r1";
  return spki.slice(isP384 ? -P384_POINT_LENGTH : -P256_POINT_LENGTH);
}

/** Returns the public key as SubjectPublicKeyInfo in DER. */
export function subjectPublicKeyInfo(pair: KeyPair): Uint8Array {
  return new Uint8Array(keyObject(pair.publicKey).export({ type: "spki", format: "der" }));
}

/** Returns the 32-byte private key of a P-256 pair. */
export function privateScalar(pair: KeyPair): Uint8Array {
  // An ECPrivateKey (RFC 5915 section 3) has 7 bytes before the key.
  return new Uint8Array(keyObject(pair.privateKey).export({ type: "sec1", format: "der" }).subarray(7, 39));
}

/** Returns the point in base64url, as in a JWK (RFC 8037 section 2). */
export function ed25519Point(pair: KeyPair): string {
  return keyObject(pair.publicKey).export({ format: "jwk" }).x!;
}

/** Returns the signature as `r ‖ s`. */
export function signRaw(pair: KeyPair, digest: Digest, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(digest, message, { key: keyObject(pair.privateKey), dsaEncoding: "ieee-p1363" }));
}

/** Returns the signature in DER as an ECDSA-Sig-Value or, for other keys, in the format of the key's algorithm. */
export function signDer(pair: KeyPair, digest: Digest | null, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(digest, message, keyObject(pair.privateKey)));
}
