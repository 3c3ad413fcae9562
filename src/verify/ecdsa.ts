/**
 * Encodings of points and signatures of ECDSA over P-256 and P-384. A high `s` is valid, because half of the genuine
 * documents have one.
 */
import type { Certificate } from "../decode/certificate.js";
import { rawSignature } from "../decode/ecdsa-signature.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import { CURVES, type Curve, SPKI_PREFIX, type VerifyingKey, cryptography } from "./cryptography.js";

export type { Curve, VerifyingKey } from "./cryptography.js";

/** `ecdsa-with-SHA384` without parameters (RFC 5758 section 3.2). */
export const ECDSA_WITH_SHA384: Uint8Array = /* @__PURE__ */ Uint8Array.of(
  ...[0x30, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x03],
);

/** Returns the uncompressed point of a key on this curve, or null for any other key. */
export function pointOfSpki(curve: Curve, spki: Uint8Array): Uint8Array | null {
  const prefix = SPKI_PREFIX[curve];
  if (spki.length !== prefix.length + 1 + 2 * CURVES[curve].scalarLength) return null;
  return prefix.every((byte, index) => spki[index] === byte) ? spki.subarray(prefix.length) : null;
}

interface SignatureVerifier {
  verify(curve: Curve, point: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>;
}

/** Whether the key of the issuer, on P-384, made this signature in DER. */
export async function isSignedByKey(
  { subjectPublicKeyInfo }: Certificate,
  message: Uint8Array,
  der: Uint8Array,
  cache: SignatureVerifier,
): Promise<boolean> {
  const point = pointOfSpki("P-384", subjectPublicKeyInfo);
  const signature = rawSignature(der, CURVES["P-384"].scalarLength);
  return point !== null && signature !== null && cache.verify("P-384", point, message, signature);
}

/** Imports a point. Returns null if it is not on the curve. */
export async function importPoint(curve: Curve, point: Uint8Array): Promise<VerifyingKey | null> {
  if (point.length !== 1 + 2 * CURVES[curve].scalarLength || point[0] !== 0x04) return null;
  return (await cryptography()).importPoint(curve, point);
}

const P256_P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const P256_B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** Whether bytes are a point of P-256 (SEC1 section 2.3.4) other than the point at infinity. */
export function isP256Point(point: Uint8Array): boolean {
  if (point.length !== P256_POINT_LENGTH || point[0] !== 0x04) return false;
  const view = new DataView(point.buffer, point.byteOffset, point.length);
  const x = scalar(view, 1);
  const y = scalar(view, 33);
  return x < P256_P && y < P256_P && (y * y - (x * x - 3n) * x - P256_B) % P256_P === 0n;
}

/** Whether bytes are a compressed point of P-256 (SEC1 section 2.3.4): whether its x has a y on the curve. */
export function isCompressedP256Point(point: Uint8Array): boolean {
  if (point.length !== 33 || (point[0] !== 0x02 && point[0] !== 0x03)) return false;
  const x = scalar(new DataView(point.buffer, point.byteOffset, point.length), 1);
  if (x >= P256_P) return false;
  const square = ((x * x - 3n) * x + P256_B) % P256_P;
  // The root of a square modulo a prime that is 3 modulo 4. A number without a root has another square here.
  const root = powerModP256((square + P256_P) % P256_P, (P256_P + 1n) / 4n);
  return (root * root - square) % P256_P === 0n;
}

function powerModP256(base: bigint, exponent: bigint): bigint {
  let power = 1n;
  for (const bit of exponent.toString(2)) {
    power = (power * power) % P256_P;
    if (bit === "1") power = (power * base) % P256_P;
  }
  return power;
}

function scalar(view: DataView, offset: number): bigint {
  let value = 0n;
  for (let i = 0; i < 32; i += 8) value = (value << 64n) | view.getBigUint64(offset + i);
  return value;
}
