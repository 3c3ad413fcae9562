/**
 * What the lab uses of `@noble`, loaded with the first use: loading it takes as long as half a start, and a start needs
 * only public keys, which Node makes.
 */
import { ECDH, type KeyObject, createECDH, createPrivateKey, createPublicKey, getCurves, sign } from "node:crypto";
import { createRequire } from "node:module";
import type * as Nist from "@noble/curves/nist.js";
import type * as Koblitz from "@noble/curves/secp256k1.js";
import type * as Blake from "@noble/hashes/blake2.js";
import type * as Legacy from "@noble/hashes/legacy.js";
import { concatBytes, fromHex } from "../bytes.js";

const load = createRequire(import.meta.url);
const koblitz = (): typeof Koblitz => load("@noble/curves/secp256k1.js") as typeof Koblitz;

export const noble = {
  get secp256k1() {
    return koblitz().secp256k1;
  },
  get schnorr() {
    return koblitz().schnorr;
  },
  get p256() {
    return (load("@noble/curves/nist.js") as typeof Nist).p256;
  },
  get ripemd160() {
    return (load("@noble/hashes/legacy.js") as typeof Legacy).ripemd160;
  },
  get blake2b() {
    return (load("@noble/hashes/blake2.js") as typeof Blake).blake2b;
  },
};

/** Bun's has no secp256k1. */
const NODE_CURVES = getCurves();

/** Returns the compressed point of a private key. */
export function pointOf(curve: "secp256k1" | "prime256v1", privateKey: Uint8Array): Uint8Array {
  if (!NODE_CURVES.includes(curve)) return noble.secp256k1.getPublicKey(privateKey, true);
  const ecdh = createECDH(curve);
  ecdh.setPrivateKey(privateKey);
  return new Uint8Array(ecdh.getPublicKey(null, "compressed"));
}

/** Returns the uncompressed point of secp256k1. */
export function uncompressed(point: Uint8Array): Uint8Array {
  if (!NODE_CURVES.includes("secp256k1")) return noble.secp256k1.Point.fromBytes(point).toBytes(false);
  return new Uint8Array(ECDH.convertKey(point, "secp256k1", undefined, undefined, "uncompressed") as Buffer);
}

/** The PKCS#8 of an Ed25519 key before its 32 bytes (RFC 8410 section 7). */
const ED25519 = fromHex("302e020100300506032b657004220420")!;

function ed25519Key(privateKey: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.from(concatBytes(ED25519, privateKey)), format: "der", type: "pkcs8" });
}

export function ed25519PublicKey(privateKey: Uint8Array): Uint8Array {
  return new Uint8Array(createPublicKey(ed25519Key(privateKey)).export({ format: "der", type: "spki" }).subarray(-32));
}

export function ed25519Sign(message: Uint8Array, privateKey: Uint8Array): Uint8Array {
  return new Uint8Array(sign(null, message, ed25519Key(privateKey)));
}
