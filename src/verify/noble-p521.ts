/** Part of @noble in its own file, so that it can be loaded alone (see `noble.ts`). */
import { ecdsa, weierstrass } from "@noble/curves/abstract/weierstrass.js";
import { sha512 } from "@noble/hashes/sha2.js";

const P521_P = (1n << 521n) - 1n;
/** The upper 265 bits, then the lower 256. */
const wide = (upper: bigint, lower: bigint): bigint => (upper << 256n) | lower;
/** P-521 (NIST SP 800-186). */
const P521 = {
  p: P521_P,
  n: P521_P - 0x5ae79787c40d069948033feb708f65a2fc44a36477663b851449048e16ec79bf6n,
  h: 1n,
  a: P521_P - 3n,
  b: wide(
    0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e1n,
    0x56193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
  ),
  Gx: wide(
    0xc6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dban,
    0xa14b5e77efe75928fe1dc127a2ffa8de3348b3c1856a429bf97e7e31c2e5bd66n,
  ),
  Gy: wide(
    0x11839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662cn,
    0x97ee72995ef42640c550b9013fad0761353c7086a272c24088be94769fd16650n,
  ),
};

export const p521 = /* @__PURE__ */ ecdsa(/* @__PURE__ */ weierstrass(P521), sha512);
