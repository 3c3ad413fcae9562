/** QOS public keys of 130 bytes: encryption point, then signing point (verify/README.md, "QOS keys"). */
import { toHex } from "../bytes.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import { isP256Point } from "./ecdsa.js";

/** Whether both points are on P-256. */
export function isQosPublicKey(key: Uint8Array): boolean {
  return isP256Point(encryptionPoint(key)) && isP256Point(signingPoint(key));
}

/** Names under which app proofs find the boot proof that states this key: its hex, and that of its signing half. */
export function keyNamesOf(key: Uint8Array | null): readonly (string | null)[] {
  return key === null ? [null] : [toHex(key), `half ${toHex(signingPoint(key))}`];
}

export function encryptionPoint(key: Uint8Array): Uint8Array {
  return key.subarray(0, P256_POINT_LENGTH);
}

export function signingPoint(key: Uint8Array): Uint8Array {
  return key.subarray(P256_POINT_LENGTH);
}
