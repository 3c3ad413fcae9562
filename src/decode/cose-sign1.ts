/** Decoding of COSE_Sign1 (RFC 9052 section 4.2), as Nitro attestation documents use it. */
import { concatBytes, toUtf8 } from "../bytes.js";
import { MalformedError } from "../errors.js";
import { decodeCbor } from "./cbor.js";
import { insteadOfCose } from "./text-encoding.js";

/**
 * ```cddl
 * COSE_Sign1 = [ protected: bstr, unprotected: map, payload: bstr .size (1..16384), signature: bstr ]
 * ```
 * Byte strings are exactly as received, because the signature covers them.
 */
export interface CoseSign1 {
  readonly protectedHeader: Uint8Array;
  readonly unprotectedIsEmpty: boolean;
  readonly payload: Uint8Array;
  readonly signature: Uint8Array;
}

export const COSE_SIGN1_TAG = 18;
const MAX_PAYLOAD = 16384;
/** Maximum length of a message: the largest payload, and room for the other parts. Longer input is not parsed. */
const MAX_MESSAGE = MAX_PAYLOAD + 4096;

/** Decodes a message with or without tag 18. Throws {@link MalformedError} (`cbor` or `cose-sign1`). */
export function decodeCoseSign1(bytes: Uint8Array): CoseSign1 {
  if (bytes.length > MAX_MESSAGE) throw malformed("", `${bytes.length} bytes, expected at most ${MAX_MESSAGE}`);
  const instead = insteadOfCose(bytes);
  if (instead !== null) throw malformed("", instead);
  const items = decodeCbor(bytes, { outermostTag: COSE_SIGN1_TAG });
  if (!Array.isArray(items) || items.length !== 4) throw malformed("", "not an array of four items");
  const [protectedHeader, unprotected, payload, signature] = items;
  if (!(protectedHeader instanceof Uint8Array)) throw malformed("protected", "not a byte string");
  if (!(unprotected instanceof Map)) throw malformed("unprotected", "not a map");
  if (!(payload instanceof Uint8Array)) throw malformed("payload", "not a byte string");
  if (payload.length < 1 || payload.length > MAX_PAYLOAD) {
    throw malformed("payload", `${payload.length} bytes, expected 1 to ${MAX_PAYLOAD}`);
  }
  if (!(signature instanceof Uint8Array)) throw malformed("signature", "not a byte string");
  return { protectedHeader, unprotectedIsEmpty: unprotected.size === 0, payload, signature };
}

/** Returns the signed bytes: `["Signature1", protected, h'', payload]` (RFC 9052 section 4.4). */
export function signatureInput(message: CoseSign1): Uint8Array {
  return concatBytes(
    Uint8Array.of(0x84, 0x6a),
    toUtf8("Signature1"),
    byteStringHead(message.protectedHeader.length),
    message.protectedHeader,
    Uint8Array.of(0x40),
    byteStringHead(message.payload.length),
    message.payload,
  );
}

function byteStringHead(length: number): Uint8Array {
  if (length < 24) return Uint8Array.of(0x40 | length);
  if (length < 0x100) return Uint8Array.of(0x58, length);
  if (length < 0x10000) return Uint8Array.of(0x59, length >> 8, length & 0xff);
  return Uint8Array.of(0x5a, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff);
}

function malformed(path: string, message: string): MalformedError {
  return new MalformedError("cose-sign1", [{ path, message }]);
}
