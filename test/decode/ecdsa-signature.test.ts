/** ECDSA signatures in DER: one encoding for each pair of positive integers. */
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex } from "../../src/bytes.js";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import { der, derLength } from "../support/der.js";
import { fc } from "../support/property.js";
import { unsigned } from "../verify/keys.js";

describe("rawSignature", () => {
  it("reads what it is made of, for both curves, and nothing with a byte put in or taken out", () => {
    const scalar = (length: number): fc.Arbitrary<bigint> =>
      fc.oneof(fc.constantFrom(1n, 127n, 128n, 255n, 256n), fc.bigInt({ min: 1n, max: 2n ** BigInt(8 * length) - 1n }));
    const length = fc.constantFrom(32, 48);
    fc.assert(
      fc.property(
        length.chain((size) => fc.tuple(fc.constant(size), scalar(size), scalar(size))),
        fc.nat(),
        ([size, r, s], seed) => {
          const encoding = der(0x30, derUnsigned(r), derUnsigned(s));
          expect(rawSignature(encoding, size)).toEqual(concatBytes(unsigned(r, size), unsigned(s, size)));
          const at = seed % encoding.length;
          expect(rawSignature(concatBytes(encoding.subarray(0, at), encoding.subarray(at + 1)), size)).toBeNull();
        },
      ),
    );
  });

  function derUnsigned(value: bigint): Uint8Array {
    const hex = value.toString(16);
    const bytes = fromHex(hex.length % 2 === 0 ? hex : `0${hex}`)!;
    const content = bytes[0]! > 0x7f ? concatBytes(Uint8Array.of(0), bytes) : bytes;
    return concatBytes(Uint8Array.of(0x02), derLength(content.length), content);
  }
});
