/** Payloads of attestation documents, made field by field around genuine certificates. */
import { decodeCoseSign1 } from "../../src/decode/cose-sign1.js";
import { decodeCbor } from "../../src/decode/cbor.js";
import { type CborInput, encodeCbor } from "./cbor.js";
import { genuineDocuments } from "./vectors.js";

/** The fields of a genuine document, in its order. */
export function genuineFields(): Map<string, CborInput> {
  const { payload } = decodeCoseSign1(genuineDocuments()[0]!.bytes);
  const fields = decodeCbor(payload, { indefiniteOutermostMap: true }) as unknown as Map<string, CborInput>;
  // The timestamp keeps its type: encodeCbor writes bigint and number alike.
  return new Map(fields);
}

/** The genuine payload with some fields replaced; undefined removes a field. */
export function payloadWith(changes: Readonly<Record<string, CborInput | undefined>>): Uint8Array {
  const fields = genuineFields();
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) fields.delete(key);
    else fields.set(key, value);
  }
  return encodeCbor(fields);
}
