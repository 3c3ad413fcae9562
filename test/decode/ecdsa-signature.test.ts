/** ECDSA signatures in DER: one encoding for each pair of positive integers. */
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex, toHex } from "../../src/bytes.js";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import { der, derLength } from "../support/der.js";
import { fc } from "../support/property.js";
import { unsigned } from "../verify/keys.js";

describe("rawSignature", () => {
  const integer = (...bytes: number[]): Uint8Array => der(0x02, Uint8Array.from(bytes));
  const full = (first: number): number[] => [first, ...Array<number>(31).fill(0x11)];
  const [one, two] = [integer(1), integer(2)];
  const raw = (r: number[], s: number[]): string =>
    toHex(Uint8Array.from([r, s].flatMap((n) => [...Array<number>(32 - n.length).fill(0), ...n])));

  it.each<[name: string, encoding: Uint8Array, expected: string]>([
    ["short integers", der(0x30, one, two), raw([1], [2])],
    ["full integers", der(0x30, integer(...full(0x7f)), integer(...full(0x01))), raw(full(0x7f), full(0x01))],
    ["a zero before a set top bit", der(0x30, integer(0, ...full(0x80)), integer(0, 0xff)), raw(full(0x80), [0xff])],
    [
      "both with the largest values",
      der(0x30, integer(0, ...Array<number>(32).fill(255)), integer(0, ...Array<number>(32).fill(255))),
      "ff".repeat(64),
    ],
  ])("reads %s", (_, encoding, expected) => {
    expect(toHex(rawSignature(encoding, 32)!)).toBe(expected);
  });

  it.each<[name: string, encoding: Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["a lone tag", Uint8Array.of(0x30)],
    ["an empty sequence", der(0x30)],
    ["one integer", der(0x30, one)],
    ["three integers", der(0x30, one, two, one)],
    ["another outer tag", der(0x31, one, two)],
    ["another tag of the first integer", der(0x30, der(0x03, Uint8Array.of(1)), two)],
    ["another tag of the second integer", der(0x30, one, der(0x0a, Uint8Array.of(2)))],
    ["an empty first integer", der(0x30, integer(), two)],
    ["an empty second integer", der(0x30, one, integer())],
    ["a negative first integer", der(0x30, integer(0x80), two)],
    ["a negative second integer", der(0x30, one, integer(0xff))],
    ["a negative full integer", der(0x30, integer(...full(0x80)), two)],
    ["a first integer of zero", der(0x30, integer(0), two)],
    ["a second integer of zero", der(0x30, one, integer(0))],
    ["a needless zero", der(0x30, integer(0, 1), two)],
    ["a zero of two bytes", der(0x30, integer(0, 0), two)],
    ["a needless zero in the second", der(0x30, one, integer(0, 0x7f))],
    ["an integer a byte too long", der(0x30, integer(1, ...full(0x11)), two)],
    ["an integer a byte too long, with a zero", der(0x30, integer(0, 0x80, ...full(0x11)), two)],
    ["a second integer a byte too long", der(0x30, one, integer(1, ...full(0x11)))],
    ["bytes after the end", concatBytes(der(0x30, one, two), Uint8Array.of(0))],
    ["bytes after the end, counted", Uint8Array.of(0x30, 7, 2, 1, 1, 2, 1, 2, 0)],
    ["a byte less than it says", der(0x30, one, two).subarray(0, -1)],
    ["an outer length too small", Uint8Array.of(0x30, 5, 2, 1, 1, 2, 1, 2)],
    ["an outer length too large", Uint8Array.of(0x30, 7, 2, 1, 1, 2, 1, 2)],
    ["an outer length in two bytes", Uint8Array.of(0x30, 0x81, 6, 2, 1, 1, 2, 1, 2)],
    ["an outer length without end", Uint8Array.of(0x30, 0x80, 2, 1, 1, 2, 1, 2, 0, 0)],
    ["an inner length in two bytes", der(0x30, Uint8Array.of(2, 0x81, 1, 1), two)],
    ["an inner length beyond the end", Uint8Array.of(0x30, 6, 2, 1, 1, 2, 9, 2)],
    ["an inner length one beyond the end", Uint8Array.of(0x30, 6, 2, 1, 1, 2, 2, 2)],
    ["an inner length of nothing", Uint8Array.of(0x30, 5, 2, 1, 1, 2, 0)],
    ["no inner length", Uint8Array.of(0x30, 4, 2, 1, 1, 2)],
    ["an inner length that eats the second integer", Uint8Array.of(0x30, 6, 2, 4, 1, 2, 1, 2)],
  ])("refuses %s", (_, encoding) => {
    expect(rawSignature(encoding, 32)).toBeNull();
  });

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
