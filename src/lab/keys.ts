/** Software keys and signatures with node:crypto. */
import { type KeyObject, createECDH, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { concatBytes, fromHex } from "../bytes.js";
import { P256_POINT_LENGTH, P384_POINT_LENGTH } from "../decode/lengths.js";

export type Digest = "sha256" | "sha384" | "sha512";

const privateKeyEncoding = { type: "pkcs8", format: "der" } as const;
const publicKeyEncoding = { type: "spki", format: "der" } as const;
const bytes = (hex: string): Uint8Array => fromHex(hex)!;

/** What PKCS#8 has before and after the scalar (RFC 5958, RFC 5915 section 3); the point ends it. */
const EC = {
  prime256v1: [bytes("308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420"), bytes("a144034200")],
  secp384r1: [bytes("3081b6020100301006072a8648ce3d020106052b8104002204819e30819b0201010430"), bytes("a164036200")],
} as const;
/** The encoding of a pair of P-384 is longer. */
const P256_PKCS8_LENGTH = 138;

export interface KeyPair {
  /** The private key in PKCS#8, as Node encodes it. */
  readonly pkcs8: Uint8Array;
}

/** Generates a pair. ECDH generates one of P-256 in an eighth of the time of `generateKeyPairSync`. */
export function generateKeyPair(curve: keyof typeof EC | "ed25519"): KeyPair {
  // A Buffer would be written as JSON by itself.
  if (curve === "ed25519")
    return { pkcs8: new Uint8Array(generateKeyPairSync(curve, { privateKeyEncoding, publicKeyEncoding }).privateKey) };
  const [[head, middle], ecdh] = [EC[curve], createECDH(curve)];
  const point = ecdh.generateKeys();
  // A scalar is shorter where it begins with zeros.
  const scalar = ecdh.getPrivateKey();
  const zeros = new Uint8Array((point.length - 1) / 2 - scalar.length);
  return { pkcs8: concatBytes(head, zeros, scalar, middle, point) };
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
  return new Uint8Array(createPublicKey(keyObject(pair)).export(publicKeyEncoding));
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
