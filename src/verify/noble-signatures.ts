/** Part of @noble in its own file, so that it can be loaded alone (see `noble.ts`). */
import { ecdsa, weierstrass } from "@noble/curves/abstract/weierstrass.js";
import { sha256 } from "@noble/hashes/sha2.js";

export { keccak_256 } from "@noble/hashes/sha3.js";
export { p256 } from "./noble.js";
export { ed25519Curve } from "./noble-ed25519.js";
export { sha256 };

/** The parameters of SEC 2. */
const SECP256K1 = {
  p: 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn,
  n: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  h: 1n,
  a: 0n,
  b: 7n,
  Gx: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  Gy: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};

export const secp256k1 = /* @__PURE__ */ ecdsa(/* @__PURE__ */ weierstrass(SECP256K1), sha256);
