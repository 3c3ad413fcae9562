/** Software keys and signatures with node:crypto. They replace all hardware in the lab. */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { P256_POINT_LENGTH, P384_POINT_LENGTH } from "../decode/lengths.js";

type Curve = "prime256v1" | "secp384r1";
export type Digest = "sha256" | "sha384" | "sha512";

/** A node:crypto key, declared here so that users of the lab need no Node types. */
interface SoftwareKey {
  readonly type: string;
}

export interface KeyPair {
  readonly privateKey: SoftwareKey;
  readonly publicKey: SoftwareKey;
}

/**
 * Makes a pair and imports it from its encoding: Node 20 can deadlock when it exports a generated key object as JWK
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

/** Every pair is made in this file, so the cast is safe. */
function keyObject(key: SoftwareKey): KeyObject {
  return key as KeyObject;
}

/** PKCS#8 in base64. */
export function saveKeyPair(pair: KeyPair): string {
  return keyObject(pair.privateKey).export({ type: "pkcs8", format: "der" }).toString("base64");
}

export function loadKeyPair(saved: string): KeyPair {
  return pairOf(Buffer.from(saved, "base64"));
}

/** An uncompressed SEC1 point. */
export function publicPoint(pair: KeyPair): Uint8Array {
  const spki = subjectPublicKeyInfo(pair);
  const isP384 = keyObject(pair.publicKey).asymmetricKeyDetails?.namedCurve === "secp384r1";
  return spki.slice(isP384 ? -P384_POINT_LENGTH : -P256_POINT_LENGTH);
}

/** DER. */
export function subjectPublicKeyInfo(pair: KeyPair): Uint8Array {
  return new Uint8Array(keyObject(pair.publicKey).export({ type: "spki", format: "der" }));
}

/** The 32 bytes of a P-256 private key. */
export function privateScalar(pair: KeyPair): Uint8Array {
  // ECPrivateKey (RFC 5915 section 3): SEQUENCE, version 1, the header of the key, then its 32 bytes.
  return new Uint8Array(keyObject(pair.privateKey).export({ type: "sec1", format: "der" }).subarray(7, 39));
}

/** An Ed25519 public key in base64url, as in a JWK (RFC 8037 section 2). */
export function ed25519Point(pair: KeyPair): string {
  return keyObject(pair.publicKey).export({ format: "jwk" }).x!;
}

/** `r ‖ s`. */
export function signRaw(pair: KeyPair, digest: Digest, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(digest, message, { key: keyObject(pair.privateKey), dsaEncoding: "ieee-p1363" }));
}

/** DER: ECDSA-Sig-Value, or the format of the key's algorithm. */
export function signDer(pair: KeyPair, digest: Digest | null, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(digest, message, keyObject(pair.privateKey)));
}
