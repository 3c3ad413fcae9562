import { addExtension, setSizeLimits } from "cbor-x";
import { Decoder } from "cbor-x/decode";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import { type CborValue, cborUint, decodeCbor } from "../../src/decode/cbor.js";
import { type CborInput, Entries, Raw, encodeCbor, head, hex, join } from "../support/cbor.js";
import { faultsOf, isRefused, refusalOf } from "../support/faults.js";
import { anyBytes, fc, mutated } from "../support/property.js";
import { genuineDocuments } from "../support/vectors.js";

type CborProfile = NonNullable<Parameters<typeof decodeCbor>[1]>;

const DOCUMENT: CborProfile = { indefiniteOutermostMap: true };
const TAGGED: CborProfile = { outermostTag: 18 };

describe("decodeCbor reads", () => {
  it.each<[string, CborValue]>([
    ["00", 0],
    ["17", 23],
    ["18 18", 24],
    ["18 ff", 255],
    ["19 0100", 256],
    ["19 ffff", 65535],
    ["1a 00010000", 65536],
    ["1a ffffffff", 4294967295],
    ["1b 0000000100000000", 4294967296n],
    ["1b ffffffffffffffff", 18446744073709551615n],
    ["20", -1],
    ["37", -24],
    ["38 18", -25],
    ["38 22", -35],
    ["39 0100", -257],
    ["3b ffffffffffffffff", -18446744073709551616n],
    ["40", new Uint8Array()],
    ["43 010203", Uint8Array.of(1, 2, 3)],
    ["58 18" + "ab".repeat(24), new Uint8Array(24).fill(0xab)],
    ["60", ""],
    ["61 61", "a"],
    ["62 c3a9", "é"],
    ["64 f09f9880", "😀"],
    ["63 efbbbf", "\ufeff"],
    ["61 00", "\0"],
    ["80", []],
    ["83 01 02 03", [1, 2, 3]],
    ["81 81 80", [[[]]]],
    ["a0", new Map()],
    ["a1 01 38 22", new Map([[1, -35]])],
    [
      "a2 01 02 20 03",
      new Map([
        [1, 2],
        [-1, 3],
      ]),
    ],
    [
      "a2 61 31 01 01 02",
      new Map<CborValue, CborValue>([
        ["1", 1],
        [1, 2],
      ]),
    ],
    ["f4", false],
    ["f5", true],
    ["f6", null],
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
  // After the end, and before it.
  ["a byte after the end", "00 00", "1 bytes after the end"],
  ["a second item", "80 80", "after the end"],
  ["a break after the end", "80 ff", "after the end"],
  ["a cut integer", "19 01", "ends inside an item"],
  ["a cut byte string", "43 0102", "ends inside an item"],
  ["a cut text", "62 61", "ends inside an item"],
  ["a cut array", "82 01", "ends inside an item"],
  ["a map without its last value", "a1 01", "ends inside an item"],
  ["a map without its last entry", "a2 01 02", "ends inside an item"],
  ["a byte string of 2^64 - 1 bytes", "5b ffffffffffffffff 00", "ends inside an item"],
  ["an array of 2^32 items", "9b 0000000100000000 00", "ends inside an item"],
  ["a map of 2^64 - 1 entries", "bb ffffffffffffffff 00", "ends inside an item"],
  // Heads longer than needed.
  ["0 in two bytes", "18 00", "longer than needed"],
  ["23 in two bytes", "18 17", "longer than needed"],
  ["255 in three bytes", "19 00ff", "longer than needed"],
  ["65535 in five bytes", "1a 0000ffff", "longer than needed"],
  ["2^32 - 1 in nine bytes", "1b 00000000ffffffff", "longer than needed"],
  ["-1 in two bytes", "38 00", "longer than needed"],
  ["a byte string's length in two bytes", "58 01 00", "longer than needed"],
  ["a byte string's length in three bytes", "59 0001 00", "longer than needed"],
  ["a text's length in five bytes", "7a 00000001 61", "longer than needed"],
  ["an array's count in two bytes", "98 00", "longer than needed"],
  ["a map's count in nine bytes", "bb 0000000000000000", "longer than needed"],
  ["a long head inside", "81 18 00", "longer than needed"],
  // Indefinite lengths.
  ["a byte string of indefinite length", "5f 41 00 ff", "indefinite"],
  ["a text of indefinite length", "7f 61 61 ff", "indefinite"],
  ["an array of indefinite length", "9f 01 ff", "indefinite"],
  ["an integer of indefinite length", "1f", "indefinite"],
  ["a negative integer of indefinite length", "3f", "indefinite"],
  ["a tag of indefinite length", "df 00", ""],
  ["an indefinite map inside an array", "81 bf ff", "indefinite"],
  ["an indefinite map as a map's value", "a1 01 bf ff", "indefinite"],
  ["an indefinite map as a map's key", "a1 bf ff 01", "indefinite"],
  ["an indefinite array inside a map", "a1 01 9f ff", "indefinite"],
  ["a stray break", "ff", "break"],
  ["a stray break in an array", "81 ff", "break"],
  ["a stray break as a map's value", "a1 01 ff", "break"],
  ["a break as a definite map's key", "a1 ff 01", "break"],
  // Heads that mean nothing.
  ["a reserved head (28)", "1c", "reserved"],
  ["a reserved head (29) of a byte string", "5d", "reserved"],
  ["a reserved head (30) of an array", "9e", "reserved"],
  // Keys that appear twice.
  ["the same key twice", "a2 01 02 01 03", "a map key appears twice"],
  ["the same key twice, with the same value", "a2 61 61 00 61 61 00", "a map key appears twice"],
  ["the same key twice, not side by side", "a3 01 00 02 00 01 00", "a map key appears twice"],
  ["the same key in a longer head", "a2 01 02 18 01 03", "longer than needed"],
  ["the same key in a nine byte head", "a2 01 02 1b 0000000000000001 03", "longer than needed"],
  ["the same array as key twice", "a2 81 01 00 81 01 00", "a map key appears twice"],
  ["the same key twice, deep inside", "81 a1 00 a2 f6 00 f6 00", "a map key appears twice"],
  // Text that is not UTF-8.
  ["a lone continuation byte", "61 80", "not UTF-8"],
  ["an overlong character", "62 c0 80", "not UTF-8"],
  ["a surrogate", "63 ed a0 80", "not UTF-8"],
  ["a cut character", "61 c3", "not UTF-8"],
  ["a key that is not UTF-8", "a1 61 ff 00", "not UTF-8"],
  // Simple values and floats.
  ["undefined", "f7", "float, undefined"],
  ["an unassigned simple value", "e0", "simple value"],
  ["simple value 19", "f3", "simple value"],
  ["a simple value in two bytes", "f8 ff", "simple value"],
  ["false in two bytes", "f8 14", "simple value"],
  ["a half float", "f9 3c00", "float"],
  ["a float that equals an integer", "fa 3f800000", "float"],
  ["a double that equals an integer", "fb 3ff0000000000000", "float"],
  ["NaN", "f9 7e00", "float"],
  ["a float inside", "a1 01 f9 0000", "float"],
  // Tags: inside anywhere, and outermost where another one is named.
  ["a text date", "c0 60", "tag 0"],
  ["a number date", "c1 00", "tag 1"],
  ["a bignum", "c2 41 01", "tag 2"],
  ["a negative bignum", "c3 41 01", "tag 3"],
  ["a regular expression", "d8 1b 82 61 61 60", "tag 27"],
  ["a shareable value", "d8 1c 80", "tag 28"],
  ["a reference to a shared value", "d8 1d 00", "tag 29"],
  ["a packed value", "d8 33 82 80 00", "tag 51"],
  ["a typed array", "d8 40 41 00", "tag 64"],
  ["a typed array of doubles", "d8 56 48 0000000000000000", "tag 86"],
  ["a set", "d9 0102 80", "tag 258"],
  ["a map of another kind", "d9 0103 a0", "tag 259"],
  ["a record definition", "d9 dfff 83 80 00 00", "tag 57343"],
  ["self-described CBOR", "d9 d9f7 80", "tag 55799"],
  ["COSE_Sign (98)", "d8 62 80", "tag 98"],
  ["COSE_Mac0 (17)", "d1 80", "tag 17"],
  ["tag 18 in two bytes", "d8 12 80", "longer than needed"],
  ["tag 18 inside an array", "81 d2 80", "tag 18 is not allowed"],
  ["tag 18 as a map's value", "a1 01 d2 80", "tag 18 is not allowed"],
  ["tag 18 as a map's key", "a1 d2 80 01", "tag 18 is not allowed"],
  ["tag 18 twice", "d2 d2 80", "tag 18 is not allowed"],
  ["a tag without an item", "d2", ""],
  // Depth.
  ["seventeen levels", "81".repeat(17) + "01", "nested deeper than 16"],
  ["five thousand levels", "81".repeat(5000) + "01", "nested deeper than 16"],
  ["seventeen levels of maps", "a101".repeat(17) + "01", "nested deeper than 16"],
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
    ["a second break", "bf ff ff", "1 bytes after the end"],
    ["the same key twice", "bf 01 02 01 03 ff", "a map key appears twice"],
    ["an indefinite value", "bf 01 bf ff ff", "indefinite"],
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

describe("another module of the process", () => {
  const document = genuineDocuments()[0]!.bytes;
  const untouched = decodeAttestationDocument(document);
  let hijacked = 0;
  const decode = (): unknown => {
    hijacked++;
    return ["hijacked"];
  };

  /** cbor-x keeps extensions and limits for the whole process: what one module sets acts in the decoders of all. */
  beforeAll(() => {
    class Hijack {}
    for (const tag of [18, 0xdfff])
      addExtension({ Class: Hijack, tag, encode: () => null, decode } as unknown as Parameters<typeof addExtension>[0]);
    setSizeLimits({ maxArraySize: 1, maxMapSize: 1, maxObjectSize: 1 });
  });
  afterAll(() => {
    setSizeLimits({ maxArraySize: 112_810_000, maxMapSize: 16_710_000, maxObjectSize: 16_710_000 });
  });

  it("cannot replace the reader of the tag", () => {
    expect(new Decoder({}).decode(hex("d2 81 01"))).toEqual(["hijacked"]);
    expect(decodeCbor(hex("d2 81 01"), TAGGED)).toEqual([1]);
    expect(hijacked).toBe(1);
  });

  it("cannot set the size of what is read", () => {
    expect(() => new Decoder({ mapsAsObjects: false }).decode(hex("a2 01 02 03 04"))).toThrow("Map size exceeds 1");
    expect(decodeCbor(hex("a2 01 02 03 04"))).toEqual(
      new Map([
        [1, 2],
        [3, 4],
      ]),
    );
    expect(decodeCbor(hex("83 01 02 03"))).toEqual([1, 2, 3]);
  });

  it("cannot change what a document says", () => {
    expect(decodeAttestationDocument(document)).toEqual(untouched);
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

/** Values in the profile, beside their minimal encoding. Keys are distinct by their encoding. */
const scalar: fc.Arbitrary<CborInput> = fc.oneof(
  fc.constantFrom(null, true, false),
  fc.integer({ min: -70_000, max: 70_000 }),
  fc.bigInt({ min: 0n, max: 0xffffffffffffffffn }),
  fc.bigInt({ min: -0x10000000000000000n, max: -1n }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.uint8Array({ maxLength: 40 }),
);
const { value: anyValue } = fc.letrec<{ value: CborInput; array: CborInput; map: CborInput }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, depthIdentifier: "cbor" }, scalar, tie("array"), tie("map")),
  array: fc.array(tie("value"), { maxLength: 5, depthIdentifier: "cbor" }),
  map: fc
    .uniqueArray(fc.tuple(scalar, tie("value")), {
      maxLength: 5,
      depthIdentifier: "cbor",
      selector: ([key]) => Buffer.from(encodeCbor(key)).toString("hex"),
    })
    .map((entries) => new Entries(entries)),
}));

/** What the decoder makes of the value: 64-bit integers as bigint, maps as Map. */
function decodedForm(value: CborInput): CborValue {
  if (typeof value === "number" || typeof value === "bigint") {
    const magnitude = value < 0 ? -1n - BigInt(value) : BigInt(value);
    return magnitude > 0xffffffffn ? BigInt(value) : Number(value);
  }
  if (value instanceof Entries) return new Map(value.list.map(([key, item]) => [decodedForm(key), decodedForm(item)]));
  if (Array.isArray(value)) return value.map((item: CborInput) => decodedForm(item));
  return value as CborValue;
}

describe("properties", () => {
  it("what a minimal encoder writes is accepted, and comes back", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(decodeCbor(encodeCbor(value))).toEqual(decodedForm(value));
      }),
    );
  });

  it("no input has a second encoding: a longer head anywhere is refused", () => {
    const value = fc.oneof(
      fc.integer({ min: 0, max: 70_000 }),
      fc.integer({ min: -70_000, max: -1 }),
      fc.uint8Array({ maxLength: 30 }),
    );
    const widths = [1, 2, 4, 8] as const;
    let tried = 0;
    fc.assert(
      fc.property(value, fc.constantFrom(...widths), (item, width) => {
        const shortest = encodeCbor(item);
        const argument = typeof item === "number" ? (item < 0 ? -1 - item : item) : item.length;
        const content = typeof item === "number" ? new Uint8Array() : item;
        const longer = join(head(shortest[0]! >> 5, argument, width), content);
        if (longer.length <= shortest.length) return;
        tried++;
        expect(faultsOf(() => decodeCbor(longer))).toContain("longer than needed");
        expect(faultsOf(() => decodeCbor(encodeCbor([new Raw(longer)])))).toContain("longer than needed");
      }),
    );
    expect(tried).toBeGreaterThan(100);
  });

  it("what is accepted is a value of the profile, written in its one way", () => {
    const strict = fc.oneof(
      anyBytes(24),
      anyValue.chain((value) => mutated(encodeCbor(value))),
    );
    let accepted = 0;
    fc.assert(
      fc.property(strict, (bytes) => {
        if (isRefused(() => decodeCbor(bytes))) return;
        accepted++;
        expect(encodeCbor(decodeCbor(bytes) as CborInput)).toEqual(bytes);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it("what is accepted is read as cbor-x reads it", () => {
    const second = new Decoder({ mapsAsObjects: false, useRecords: false, copyBuffers: true } as object);
    const documents = genuineDocuments().map(({ bytes }) => bytes);
    const inputs = fc.oneof(
      anyBytes(24),
      anyValue.map(encodeCbor),
      anyValue.chain((value) => mutated(encodeCbor(value))),
      fc.constantFrom(...documents).chain(mutated),
    );
    let accepted = 0;
    fc.assert(
      fc.property(inputs, (bytes) => {
        if (isRefused(() => decodeCbor(bytes))) return;
        accepted++;
        expect(decodeCbor(bytes)).toEqual(second.decode(bytes));
      }),
      { numRuns: 2000 },
    );
    expect(accepted).toBeGreaterThan(500);
  });

  it("mutated documents are refused with a MalformedError, or read", () => {
    const documents = genuineDocuments().map(({ bytes }) => bytes);
    fc.assert(
      fc.property(fc.constantFrom(...documents).chain(mutated), (bytes) => {
        isRefused(() => decodeCbor(bytes, TAGGED));
      }),
    );
  });
});
