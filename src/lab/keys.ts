/** Elliptic-curve keys and signatures in software, by node:crypto: the lab's stand-in for all hardware. */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { P256_POINT_LENGTH, P384_POINT_LENGTH } from "../decode/lengths.js";

type Curve = "prime256v1" | "secp384r1";
export type Digest = "sha256" | "sha384" | "sha512";

/** A key of node:crypto: spelled out, so that no type of Node is needed to compile against the lab. */
interface SoftwareKey {
  readonly type: string;
}

export interface KeyPair {
  readonly privateKey: SoftwareKey;
  readonly publicKey: SoftwareKey;
}

/**
 * A new pair, imported from its encoding: where the very object that Node generated is exported as JWK while it
 * collects garbage, Node 20 can wait for itself for ever.
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

/** The key as Node knows it: all pairs are made here. */
function keyObject(key: SoftwareKey): KeyObject {
  return key as KeyObject;
}

/** A pair as text, to be kept: PKCS#8, in base64. */
export function saveKeyPair(pair: KeyPair): string {
  return keyObject(pair.privateKey).export({ type: "pkcs8", format: "der" }).toString("base64");
}

export function loadKeyPair(saved: string): KeyPair {
  return pairOf(Buffer.from(saved, "base64"));
}

/** The public key as an uncompressed SEC1 point. */
export function publicPoint(pair: KeyPair): Uint8Array {
  const spki = subjectPublicKeyInfo(pair);
  const isP384 = keyObject(pair.publicKey).asymmetricKeyDetails?.namedCurve === "secp384r1";
  return spki.slice(isP384 ? -P384_POINT_LENGTH : -P256_POINT_LENGTH);
}

/** SubjectPublicKeyInfo, in DER. */
export function subjectPublicKeyInfo(pair: KeyPair): Uint8Array {
  return new Uint8Array(keyObject(pair.publicKey).export({ type: "spki", format: "der" }));
}

/** The 32 bytes of a private key of P-256. */
export function privateScalar(pair: KeyPair): Uint8Array {
  // ECPrivateKey (RFC 5915 section 3): SEQUENCE, version 1, then the 32 bytes behind their head.
  return new Uint8Array(keyObject(pair.privateKey).export({ type: "sec1", format: "der" }).subarray(7, 39));
}

/** The point of an Ed25519 key, in base64url, as a JWK has it (RFC 8037 section 2). */
export function ed25519Point(pair: KeyPair): string {
  return keyObject(pair.publicKey).export({ format: "jwk" }).x!;
}

/** `r ‖ s`. */
export function signRaw(pair: KeyPair, digest: Digest, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(digest, message, { key: keyObject(pair.privateKey), dsaEncoding: "ieee-p1363" }));
}

/** In DER: ECDSA-Sig-Value, or whatever the key's algorithm makes. */
export function signDer(pair: KeyPair, digest: Digest | null, message: Uint8Array): Uint8Array {
  return new Uint8Array(sign(digest, message, keyObject(pair.privateKey)));
}
