/** Valid signatures in their other forms: with the other of the two values of S, and in DER. */
import { concatBytes, fromHex, toHex } from "../../src/bytes.js";
import { P256_SIGNATURE_LENGTH, P384_SIGNATURE_LENGTH } from "../../src/decode/lengths.js";
import { derInteger, derSequence } from "./der.js";

/** By the length of the curve's signatures. */
const ORDERS: Readonly<Record<number, bigint>> = {
  [P256_SIGNATURE_LENGTH]: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  [P384_SIGNATURE_LENGTH]:
    0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
};

/** The same signature `r ‖ s` (P-256 or P-384) with its S in the upper or the lower half: both are valid. */
export function withS(half: "high" | "low", signature: Uint8Array): Uint8Array {
  const order = ORDERS[signature.length]!;
  const r = signature.subarray(0, signature.length / 2);
  const s = BigInt(`0x${toHex(signature.subarray(signature.length / 2))}`);
  const isHigh = 2n * s > order;
  const wanted = isHigh === (half === "high") ? s : order - s;
  return concatBytes(r, fromHex(wanted.toString(16).padStart(signature.length, "0"))!);
}

/** A positive INTEGER of DER in its shortest form. */
export function positiveInteger(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte > 0);
  return derInteger(bytes.subarray(first === -1 ? bytes.length - 1 : first));
}

/** A signature `r ‖ s` in DER. */
export function inDer(raw: Uint8Array): Uint8Array {
  const middle = raw.length / 2;
  return derSequence(positiveInteger(raw.subarray(0, middle)), positiveInteger(raw.subarray(middle)));
}
