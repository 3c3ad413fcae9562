import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { type CoseSign1, decodeCoseSign1, signatureInput } from "../../src/decode/cose-sign1.js";
import { type CborInput, encodeCbor, hex, join } from "../support/cbor.js";
import { faultsOf } from "../support/faults.js";

const ES384 = hex("a1013822");
const SIGNATURE = new Uint8Array(96).fill(7);
const message = (...items: CborInput[]): Uint8Array => encodeCbor(items);

describe("decodeCoseSign1", () => {
  it("takes the four items as they are", () => {
    const payload = Uint8Array.of(1, 2, 3);
    const expected: CoseSign1 = { protectedHeader: ES384, unprotectedIsEmpty: true, payload, signature: SIGNATURE };
    const bytes = message(ES384, new Map(), payload, SIGNATURE);
    expect(decodeCoseSign1(bytes)).toEqual(expected);
    expect(decodeCoseSign1(join(hex("d2"), bytes))).toEqual(expected);
  });

  it.each([
    ["a payload of one byte", 1, true],
    ["a payload of 16384 bytes", 16384, true],
    ["an empty payload", 0, false],
    ["a payload of 16385 bytes", 16385, false],
  ])("%s", (_, length, accepted) => {
    const bytes = message(ES384, new Map(), new Uint8Array(length), SIGNATURE);
    if (accepted) expect(decodeCoseSign1(bytes).payload).toHaveLength(length);
    else expect(faultsOf(() => decodeCoseSign1(bytes))).toContain(`payload: ${length} bytes`);
  });
});

describe("signatureInput", () => {
  it.each([0, 1, 23, 24, 255, 256, 65535, 65536])("is RFC 9052's structure over a payload of %i bytes", (length) => {
    const payload = new Uint8Array(length).fill(0x5a);
    const made: CoseSign1 = { protectedHeader: ES384, unprotectedIsEmpty: true, payload, signature: SIGNATURE };
    const input = (header: Uint8Array, body: Uint8Array): string =>
      toHex(encodeCbor(["Signature1", header, new Uint8Array(), body]));
    expect(toHex(signatureInput(made))).toBe(input(ES384, payload));
    const long: CoseSign1 = { ...made, protectedHeader: payload, payload: ES384 };
    expect(toHex(signatureInput(long))).toBe(input(payload, ES384));
  });
});

it("does not parse input above the maximal size", () => {
  for (const [length, says] of [
    [20_481, "20481 bytes, expected at most 20480"],
    [1 << 20, "expected at most 20480"],
  ] as const) {
    expect(() => decodeCoseSign1(new Uint8Array(length).fill(0x80))).toThrow(says);
  }
});
