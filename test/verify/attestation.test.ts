import { describe, expect, it } from "vitest";
import { type CoseSign1, decodeCoseSign1 } from "../../src/decode/cose-sign1.js";
import { algorithmFaults } from "../../src/verify/attestation.js";
import { type CborInput, encodeCbor, hex } from "../support/cbor.js";
import { genuineDocuments } from "../support/vectors.js";

const ES384 = hex("a1013822");
const SIGNATURE = new Uint8Array(96).fill(7);
const message = (...items: CborInput[]): Uint8Array => encodeCbor(items);

describe("algorithmFaults", () => {
  const headers = (protectedHeader: Uint8Array, unprotectedIsEmpty = true): CoseSign1 => {
    return { protectedHeader, unprotectedIsEmpty, payload: Uint8Array.of(1), signature: SIGNATURE };
  };

  it("has none for exactly {1: -35} and nothing unprotected", () => {
    expect(algorithmFaults(headers(ES384))).toEqual([]);
    for (const { bytes } of genuineDocuments()) expect(algorithmFaults(decodeCoseSign1(bytes))).toEqual([]);
  });

  it.each([
    ["an empty header", ""],
    ["-34", "a1013821"],
    ["+35", "a1011823"],
    ["another label", "a1023822"],
    ["the label as text", "a161313822"],
    ["an array", "82013822"],
    ["a cut header", "a10138"],
  ])("has one for %s", (_, header) => {
    expect(algorithmFaults(headers(hex(header)))).toHaveLength(1);
    expect(algorithmFaults(headers(hex(header)))[0]).toContain("{1: -35}");
  });

  it("reads nothing of the unprotected header, and wants it empty", () => {
    const bytes = message(ES384, new Map([[1, -35]]), Uint8Array.of(1), SIGNATURE);
    expect(decodeCoseSign1(bytes).unprotectedIsEmpty).toBe(false);
    expect(algorithmFaults(decodeCoseSign1(bytes))).toEqual(["the unprotected header is not empty"]);
    const unsigned = message(new Uint8Array(), new Map([[1, -35]]), Uint8Array.of(1), SIGNATURE);
    expect(algorithmFaults(decodeCoseSign1(unsigned))).toHaveLength(2);
  });
});
