/** Properties. Their seed and the number of their runs are set in `setup.ts`. */
import fc from "fast-check";
import { IS_LONG } from "./long.js";

/** How many inputs a property is tried on: so many, or a fifth of them without `BOOTPROOF_TESTS=long`. */
export const runs = (long: number): number => (IS_LONG ? long : Math.ceil(long / 5));

export { fc };

/** Any code point. The unit `binary` of fast-check, which can find again what it made, takes a second to begin. */
export const character: fc.Arbitrary<string> = fc
  .oneof(fc.nat({ max: 0xff }), fc.nat({ max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Any bytes, with those that have a meaning in CBOR, DER, JSON and borsh more often. */
export function anyBytes(maxLength = 200): fc.Arbitrary<Uint8Array> {
  const meaningful = fc.constantFrom(
    0x00,
    0x01,
    0x22,
    0x30,
    0x5b,
    0x7b,
    0x7d,
    0x80,
    0x84,
    0xa0,
    0xa1,
    0xbf,
    0xc2,
    0xd2,
    0xff,
  );
  const byte = fc.oneof(fc.integer({ min: 0, max: 255 }), meaningful);
  return fc.array(byte, { maxLength }).map((bytes) => Uint8Array.from(bytes));
}

/** The bytes with a few of them changed, removed or inserted. */
export function mutated(original: Uint8Array): fc.Arbitrary<Uint8Array> {
  const edit = fc.record({
    at: fc.nat({ max: original.length }),
    remove: fc.nat({ max: 3 }),
    insert: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 3 }),
  });
  return fc.array(edit, { minLength: 1, maxLength: 3 }).map((edits) => {
    const bytes = [...original];
    for (const { at, remove, insert } of edits) bytes.splice(at, remove, ...insert);
    return Uint8Array.from(bytes);
  });
}
