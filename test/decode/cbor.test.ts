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
    ["18 ff", 255],
    ["19 0100", 256],
    ["19 ffff", 65535],
    ["1a 00010000", 65536],
    ["1a ffffffff", 4294967295],
    ["1b 0000000100000000", 4294967296n],
    ["38 18", -25],
    ["38 22", -35],
    ["39 0100", -257],
    ["58 18" + "ab".repeat(24), new Uint8Array(24).fill(0xab)],
    ["63 efbbbf", "\ufeff"],
    ["61 00", "\0"],
    ["83 f4 f5 f6", [false, true, null]],
    ["a1 01 38 22", new Map([[1, -35]])],
    [
      "a2 61 31 01 01 02",
      new Map<CborValue, CborValue>([
        ["1", 1],
        [1, 2],
      ]),
    ],
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
  ["a cut text", "62 61", "ends inside an item"],
  ["a map without its last value", "a1 01", "ends inside an item"],
  ["65535 in five bytes", "1a 0000ffff", "longer than needed"],
  ["-1 in two bytes", "38 00", "longer than needed"],
  ["a long head inside", "81 18 00", "longer than needed"],
  ["an integer of indefinite length", "1f", "indefinite"],
  ["a tag of indefinite length", "df 00", ""],
  ["an indefinite map inside an array", "81 bf ff", "indefinite"],
  ["an indefinite array inside a map", "a1 01 9f ff", "indefinite"],
  ["a stray break", "ff", "break"],
  ["a stray break in an array", "81 ff", "break"],
  ["a break as a definite map's key", "a1 ff 01", "break"],
  ["a reserved head (29) of a byte string", "5d", "reserved"],
  ["the same key twice, not side by side", "a3 01 00 02 00 01 00", "a map key appears twice"],
  ["the same key in a nine byte head", "a2 01 02 1b 0000000000000001 03", "longer than needed"],
  // Text that is not UTF-8.
  ["a lone continuation byte", "61 80", "not UTF-8"],
  ["a cut character", "61 c3", "not UTF-8"],
  ["simple value 19", "f3", "simple value"],
  ["false in two bytes", "f8 14", "simple value"],
  ["a float inside", "a1 01 f9 0000", "float"],
  ["tag 18 in two bytes", "d8 12 80", "longer than needed"],
  ["tag 18 as a map's value", "a1 01 d2 80", "tag 18 is not allowed"],
  ["tag 18 as a map's key", "a1 d2 80 01", "tag 18 is not allowed"],
  ["a tag without an item", "d2", ""],
  // Depth.
  ["seventeen levels", "81".repeat(17) + "01", "nested deeper than 16"],
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
    ["no break and no entry", "bf", "ends inside an item"],
    ["a break in place of a value", "bf 01 ff", "break"],
    ["a byte after the break", "bf ff 00", "1 bytes after the end"],
    ["a tag around it", "d2 bf ff", "tag 18 is not allowed"],
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
    [4294967295, 4294967295],
    [4294967296n, 4294967296],
    [9007199254740991n, 9007199254740991],
    [9007199254740992n, undefined],
    [18446744073709551615n, undefined],
    [-1, undefined],
    [-1n, undefined],
    [undefined, undefined],
    [null, undefined],
    ["1", undefined],
    [true, undefined],
    [Uint8Array.of(1), undefined],
    [[1], undefined],
  ])("of %s is %s", (value, number) => {
    expect(cborUint(value)).toBe(number);
  });
});
