/** Decoding of ECDSA signatures in DER (X.690 sections 8.3 and 10.1). A high `s` is valid. */

/** Returns `r ‖ s`, both positive, of an ECDSA-Sig-Value (RFC 3279 section 2.2.3) in strict DER, otherwise null. */
export function rawSignature(der: Uint8Array, scalarLength: number): Uint8Array | null {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null;
  const raw = new Uint8Array(2 * scalarLength);
  let at = 2;
  for (const end of [scalarLength, 2 * scalarLength]) {
    const integer = derInteger(der, at);
    if (integer === null) return null;
    const scalar = integer[0] === 0 ? integer.subarray(1) : integer;
    if (scalar.length > scalarLength) return null;
    raw.set(scalar, end - scalar.length);
    at += 2 + integer.length;
  }
  return at === der.length ? raw : null;
}

/** Returns the content of a positive INTEGER in its shortest form, and null for anything else. */
function derInteger(der: Uint8Array, at: number): Uint8Array | null {
  // At the end of the bytes, the length is undefined and fails the comparison below.
  const length = der[at + 1]!;
  if (der[at] !== 0x02 || at + 2 + length > der.length) return null;
  const integer = der.subarray(at + 2, at + 2 + length);
  const [first, second] = integer;
  if (first === undefined || first > 0x7f) return null;
  // If the integer is zero, `second` is undefined and the comparison is false.
  return first !== 0 || second! > 0x7f ? integer : null;
}
