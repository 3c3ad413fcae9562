import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import { type CoseSign1, decodeCoseSign1, signatureInput } from "../../src/decode/cose-sign1.js";
import { type CborInput, Raw, encodeCbor, hex, join } from "../support/cbor.js";
import { faultsOf, isRefused, refusalOf } from "../support/faults.js";
import { anyBytes, fc, mutated } from "../support/property.js";
import { genuineDocuments } from "../support/vectors.js";

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

  it.each<[string, Uint8Array, string]>([
    ["three items", message(ES384, new Map(), Uint8Array.of(1)), "not an array of four items"],
    ["five items", message(ES384, new Map(), Uint8Array.of(1), SIGNATURE, null), "not an array of four items"],
    ["no array", encodeCbor(new Map([[0, ES384]])), "not an array of four items"],
    [
      "a byte string around it",
      encodeCbor(message(ES384, new Map(), Uint8Array.of(1), SIGNATURE)),
      "not an array of four items",
    ],
    [
      "a protected header that is a map",
      message(new Map([[1, -35]]), new Map(), Uint8Array.of(1), SIGNATURE),
      "protected: not a byte string",
    ],
    [
      "a protected header that is text",
      message("a", new Map(), Uint8Array.of(1), SIGNATURE),
      "protected: not a byte string",
    ],
    [
      "an unprotected header that is bytes",
      message(ES384, hex("a0"), Uint8Array.of(1), SIGNATURE),
      "unprotected: not a map",
    ],
    ["an unprotected header that is null", message(ES384, null, Uint8Array.of(1), SIGNATURE), "unprotected: not a map"],
    [
      "an unprotected header that is an array",
      message(ES384, [], Uint8Array.of(1), SIGNATURE),
      "unprotected: not a map",
    ],
    ["a detached payload", message(ES384, new Map(), null, SIGNATURE), "payload: not a byte string"],
    ["a payload that is text", message(ES384, new Map(), "a", SIGNATURE), "payload: not a byte string"],
    ["a payload that is a map", message(ES384, new Map(), new Map(), SIGNATURE), "payload: not a byte string"],
    ["a signature that is null", message(ES384, new Map(), Uint8Array.of(1), null), "signature: not a byte string"],
    ["a list of signatures", message(ES384, new Map(), Uint8Array.of(1), [SIGNATURE]), "signature: not a byte string"],
  ])("refuses %s", (_, bytes, fault) => {
    const refusal = refusalOf(() => decodeCoseSign1(bytes));
    expect(refusal.code).toBe("cose-sign1");
    expect(refusal.faults).toContain(fault);
  });

  const good = message(ES384, new Map(), Uint8Array.of(1), SIGNATURE);
  it.each<[string, Uint8Array]>([
    ["a byte after it", join(good, hex("00"))],
    ["tag 17", join(hex("d1"), good)],
    ["tag 98 (COSE_Sign)", join(hex("d862"), good)],
    ["tag 18 twice", join(hex("d2d2"), good)],
    ["tag 55799 around tag 18", join(hex("d9d9f7d2"), good)],
    ["an array of indefinite length", join(hex("9f"), good.subarray(1), hex("ff"))],
    ["an array whose count is longer than needed", join(hex("9804"), good.subarray(1))],
    ["an unprotected map of indefinite length", message(ES384, new Raw("bfff"), Uint8Array.of(1), SIGNATURE)],
    ["a payload in chunks", message(ES384, new Map(), new Raw("5f4101ff"), SIGNATURE)],
    ["a payload with a longer head than needed", message(ES384, new Map(), new Raw("580101"), SIGNATURE)],
    ["a tag around the payload", message(ES384, new Map(), new Raw("d8184101"), SIGNATURE)],
    ["duplicate unprotected headers", message(ES384, new Raw("a201000100"), Uint8Array.of(1), SIGNATURE)],
    ["a signature cut short", good.subarray(0, -1)],
  ])("refuses %s", (_, bytes) => {
    expect(refusalOf(() => decodeCoseSign1(bytes)).code).toBe("cbor");
  });

  it("refuses arbitrary and mutated bytes only with its own error", () => {
    const documents = genuineDocuments().map(({ bytes }) => bytes);
    expect(documents.every((bytes) => !isRefused(() => decodeCoseSign1(bytes)))).toBe(true);
    fc.assert(
      fc.property(fc.oneof(anyBytes(), fc.constantFrom(...documents).chain(mutated)), (bytes) => {
        isRefused(() => decodeCoseSign1(bytes));
      }),
    );
  });
});

describe("signatureInput", () => {
  it.each([0, 1, 23, 24, 255, 256, 16384, 65535, 65536])(
    "is RFC 9052's structure over a payload of %i bytes",
    (length) => {
      const payload = new Uint8Array(length).fill(0x5a);
      const made: CoseSign1 = { protectedHeader: ES384, unprotectedIsEmpty: true, payload, signature: SIGNATURE };
      expect(signatureInput(made)).toEqual(encodeCbor(["Signature1", ES384, new Uint8Array(), payload]));
      const long: CoseSign1 = { ...made, protectedHeader: payload, payload: ES384 };
      expect(signatureInput(long)).toEqual(encodeCbor(["Signature1", payload, new Uint8Array(), ES384]));
    },
  );

  it("is what the leaf keys of genuine documents signed", () => {
    for (const { file, bytes } of genuineDocuments()) {
      const decoded = decodeCoseSign1(bytes);
      const { certificate } = decodeAttestationDocument(bytes);
      const key = createPublicKey({ key: Buffer.from(certificate.subjectPublicKeyInfo), format: "der", type: "spki" });
      expect(
        verify("sha384", signatureInput(decoded), { key, dsaEncoding: "ieee-p1363" }, decoded.signature),
        file,
      ).toBe(true);
    }
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
