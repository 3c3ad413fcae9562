import { describe, expect, it } from "vitest";
import { type CborValue, cborUint, decodeCbor } from "../../src/decode/cbor.js";
import { hex } from "../support/cbor.js";
import { faultsOf, isRefused, refusalOf } from "../support/faults.js";

type CborProfile = NonNullable<Parameters<typeof decodeCbor>[1]>;

const DOCUMENT: CborProfile = { indefiniteOutermostMap: true };
const TAGGED: CborProfile = { outermostTag: 18 };

describe("decodeCbor reads", () => {
  it.each<[string, CborValue]>([
    ["18 18", 24],
    ["1b 0000000100000000", 4294967296n],
    ["63 efbbbf", "\ufeff"],
    ["83 f4 f5 f6", [false, true, null]],
  ])("%s", (bytes, value) => {
    expect(decodeCbor(hex(bytes))).toEqual(value);
    expect(decodeCbor(hex(bytes), DOCUMENT)).toEqual(value);
    expect(decodeCbor(hex(bytes), TAGGED)).toEqual(value);
  });

  it("an outermost map of indefinite length, where that is allowed", () => {
    expect(decodeCbor(hex("bf 01 02 03 04 ff"), DOCUMENT)).toEqual(
      new Map([
        [1, 2],
        [3, 4],
      ]),
    );
    expect(decodeCbor(hex("bf ff"), DOCUMENT)).toEqual(new Map());
    expect(faultsOf(() => decodeCbor(hex("bf 01 02 03 04 ff")))).toContain("an indefinite length (at byte 0)");
    expect(faultsOf(() => decodeCbor(hex("bf ff"), TAGGED))).toContain("an indefinite length");
  });

  it("one tag around the outermost item, where it is named", () => {
    expect(decodeCbor(hex("d2 80"), TAGGED)).toEqual([]);
    expect(faultsOf(() => decodeCbor(hex("d2 80")))).toContain("tag 18 is not allowed");
    expect(faultsOf(() => decodeCbor(hex("d2 80"), DOCUMENT))).toContain("tag 18 is not allowed");
  });

  it("byte strings into memory of their own", () => {
    // What files are read into has a slice() that copies nothing.
    for (const input of [hex("43 010203"), Buffer.from("43010203", "hex")]) {
      const value = decodeCbor(input) as Uint8Array;
      input.fill(0);
      expect(value).toEqual(Uint8Array.of(1, 2, 3));
    }
  });

  it("sixteen levels", () => {
    expect(decodeCbor(hex("81".repeat(16) + "01"))).toEqual(JSON.parse("[".repeat(16) + "1" + "]".repeat(16)));
  });
});

/** What must be refused under every profile: the name, the bytes, and a part of the fault. */
const REFUSED: [string, string, string][] = [
  ["nothing", "", "empty"],
  ["a cut byte string", "43 0102", "ends inside an item"],
  ["a long head inside", "81 18 00", "longer than needed"],
  ["a tag of indefinite length", "df 00", ""],
  ["a stray break", "ff", "break"],
  ["a reserved head (29) of a byte string", "5d", "reserved"],
  ["the same key twice, not side by side", "a3 01 00 02 00 01 00", "a map key appears twice"],
  ["a lone continuation byte", "61 80", "not UTF-8"],
  ["simple value 19", "f3", "simple value"],
  ["a float inside", "a1 01 f9 0000", "float"],
  ["tag 18 in two bytes", "d8 12 80", "longer than needed"],
  ["seventeen levels of keys", "a1".repeat(17) + "01".repeat(18), "nested deeper than 16"],
];

describe.each<[string, CborProfile]>([
  ["alone", {}],
  ["for a document", DOCUMENT],
  ["for a message", TAGGED],
])("decodeCbor refuses, %s,", (_, profile) => {
  it.each(REFUSED)("%s", (_name, bytes, fault) => {
    const refusal = refusalOf(() => decodeCbor(hex(bytes), profile));
    expect(refusal.code).toBe("cbor");
    expect(refusal.faults).toContain(fault);
  });
});

describe("decodeCbor refuses, in a map of indefinite length,", () => {
  it.each([
    ["no break", "bf 01 02", "ends inside an item"],
    ["a break in place of a value", "bf 01 ff", "break"],
  ])("%s", (_, bytes, fault) => {
    expect(faultsOf(() => decodeCbor(hex(bytes), DOCUMENT))).toContain(fault);
  });

  it("a tag around it, where both are allowed, no less than anything else in it", () => {
    const both: CborProfile = { ...DOCUMENT, ...TAGGED };
    expect(decodeCbor(hex("d2 bf 01 02 ff"), both)).toEqual(new Map([[1, 2]]));
    expect(isRefused(() => decodeCbor(hex("d2 bf 01 02 01 02 ff"), both))).toBe(true);
  });
});

describe("cborUint", () => {
  it.each<[CborValue | undefined, number | undefined]>([
    [0, 0],
    [4294967296n, 4294967296],
    [9007199254740992n, undefined],
    [-1, undefined],
    [undefined, undefined],
  ])("of %s is %s", (value, number) => {
    expect(cborUint(value)).toBe(number);
  });
});
