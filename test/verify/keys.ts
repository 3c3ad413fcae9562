/** Keys and signatures of both curves, and points that lie beside them. */
import { concatBytes, fromHex, toHex } from "../../src/bytes.js";
import { type KeyPair, generateKeyPair, signRaw, subjectPublicKeyInfo } from "../../src/lab/keys.js";
import type { Curve } from "../../src/verify/ecdsa.js";

interface CurveFacts {
  readonly length: number;
  readonly p: bigint;
  readonly b: bigint;
  readonly n: bigint;
}

/** SEC 2, sections 2.4.2 and 2.5.1: `y² = x³ - 3x + b` over `p`, order `n`. */
export const FACTS: Readonly<Record<Curve, CurveFacts>> = {
  "P-256": {
    length: 32,
    p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  },
  "P-384": {
    length: 48,
    p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    n: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  },
};

export const CURVES: readonly Curve[] = ["P-256", "P-384"];

export interface Signer {
  readonly curve: Curve;
  /** Uncompressed. */
  readonly point: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

export function newSigner(curve: Curve): Signer {
  const pair = generateKeyPair(curve === "P-256" ? "prime256v1" : "secp384r1");
  return {
    curve,
    point: pointOf(pair, curve),
    sign: (message) => signRaw(pair, curve === "P-256" ? "sha256" : "sha384", message),
  };
}

function pointOf(pair: KeyPair, curve: Curve): Uint8Array {
  return subjectPublicKeyInfo(pair).slice(-(1 + 2 * FACTS[curve].length));
}

/** Big-endian, of the length given. */
export function unsigned(value: bigint, length: number): Uint8Array {
  return fromHex(value.toString(16).padStart(2 * length, "0"))!;
}

export function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes) || "0"}`);
}

export function pointAt(curve: Curve, x: bigint, y: bigint, form = 0x04): Uint8Array {
  const { length } = FACTS[curve];
  return concatBytes(Uint8Array.of(form), unsigned(x, length), unsigned(y, length));
}

export function coordinates(point: Uint8Array): { x: bigint; y: bigint } {
  const half = (point.length - 1) / 2;
  return { x: toBigInt(point.subarray(1, 1 + half)), y: toBigInt(point.subarray(1 + half)) };
}

/** The x of a point whose y is 1: its y + p, too, still fits into the bytes of a coordinate. */
export const X_OF_Y_ONE: Readonly<Record<Curve, bigint>> = {
  "P-256": 0x9e78d4ef60d05f750f6636209092bc43cbdd6b47e11a9de20a9feb2a50bb96cn,
  "P-384": 0x2261b2bf605c22f2f3aef6338719b2c486388ad5240719a5257315969ef01ba27f0a104c89704773a81fdabee6ab5c78n,
};

/** The smallest x of a point on the curve, whose sum with p still fits into the bytes of a coordinate. */
export function smallestPoint(curve: Curve): { x: bigint; y: bigint } {
  const { p, b } = FACTS[curve];
  for (let x = 0n; ; x++) {
    const square = mod(x ** 3n - 3n * x + b, p);
    const y = power(square, (p + 1n) / 4n, p); // p ≡ 3 (mod 4)
    if (mod(y * y, p) === square) return { x, y };
  }
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n, square = (square * square) % modulus) {
    if ((rest & 1n) === 1n) result = (result * square) % modulus;
  }
  return result;
}

function mod(value: bigint, modulus: bigint): bigint {
  return ((value % modulus) + modulus) % modulus;
}
