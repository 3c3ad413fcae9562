/**
 * QOS public keys: 130 bytes, the encryption point and then the signing point (verify/README.md, "QOS keys").
 */
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import { isP256Point } from "./ecdsa.js";

/** Whether the bytes are a QOS public key: two points, both on P-256. */
export function isQosPublicKey(key: Uint8Array): boolean {
  return isP256Point(encryptionPoint(key)) && isP256Point(signingPoint(key));
}

/** The half of a QOS public key that one encrypts to. */
export function encryptionPoint(key: Uint8Array): Uint8Array {
  return key.subarray(0, P256_POINT_LENGTH);
}

/** The half of a QOS public key that verifies signatures. */
export function signingPoint(key: Uint8Array): Uint8Array {
  return key.subarray(P256_POINT_LENGTH);
}
