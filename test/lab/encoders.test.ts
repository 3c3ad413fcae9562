/** The lab's encoders of CBOR and DER, compared with examples of the standards and with node's reader. */
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { type CborItem, encodeCbor, withIndefiniteLength } from "../../src/lab/cbor.js";
import { derInteger, derNamedBits, derOctetString, derOid, derSequence, derTime } from "../../src/lab/der.js";
import { cborEntries, cborFloat, cborTextOf, withHeadWidth, withTag } from "../support/odd-cbor.js";

describe("CBOR", () => {
  // RFC 8949 appendix A.
  it.each<[CborItem, string]>([
    [0, "00"],
    [23, "17"],
    [24, "1818"],
    [100, "1864"],
    [1000, "1903e8"],
    [1000000, "1a000f4240"],
    [1000000000000, "1b000000e8d4a51000"],
    [18446744073709551615n, "1bffffffffffffffff"],
    [-1, "20"],
    [-1000, "3903e7"],
    [false, "f4"],
    [true, "f5"],
    [null, "f6"],
    [new Uint8Array(), "40"],
    [Uint8Array.of(1, 2, 3, 4), "4401020304"],
    ["", "60"],
    ["IETF", "6449455446"],
    ["\u00fc", "62c3bc"],
    ["\ud800\udd51", "64f0908591"],
    [[], "80"],
    [[1, [2, 3]], "8201820203"],
    [new Map(), "a0"],
    [
      new Map<CborItem, CborItem>([
        ["a", 1],
        ["b", [2, 3]],
      ]),
      "a26161016162820203",
    ],
    [withTag(32, "a"), "d8206161"],
    [cborFloat(1.1), "fb3ff199999999999a"],
    [withIndefiniteLength([]), "9fff"],
    [withIndefiniteLength(new Map([["a", 1]])), "bf616101ff"],
    [withIndefiniteLength(Uint8Array.of(1, 2)), "5f420102ff"],
    [withIndefiniteLength("st"), "7f627374ff"],
  ])("%o", (item, hex) => {
    expect(toHex(encodeCbor(item))).toBe(hex);
  });

  it("can have long heads, repeated keys and invalid text", () => {
    expect(toHex(withHeadWidth("a", 1).bytes)).toBe("780161");
    expect(toHex(withHeadWidth(1, 8).bytes)).toBe("1b0000000000000001");
    expect(toHex(withHeadWidth(Uint8Array.of(7), 2).bytes)).toBe("59000107");
    expect(toHex(withHeadWidth(1000, 8).bytes)).toBe("1b00000000000003e8");
    expect(
      toHex(
        cborEntries([
          [1, 2],
          [1, 3],
        ]).bytes,
      ),
    ).toBe("a201020103");
    expect(toHex(cborTextOf(Uint8Array.of(0xc3)).bytes)).toBe("61c3");
  });
});

describe("DER", () => {
  it.each<[string, Uint8Array, string]>([
    ["short length", derOctetString(Uint8Array.of(1)), "040101"],
    ["length of 128", derOctetString(new Uint8Array(128)), `048180${"00".repeat(128)}`],
    ["length of 256", derOctetString(new Uint8Array(256)), `04820100${"00".repeat(256)}`],
    ["integer 127", derInteger(127), "02017f"],
    ["integer 128", derInteger(128), "02020080"],
    ["integer 0", derInteger(0), "020100"],
    ["oid", derOid("1.2.840.10045.4.3.3"), "06082a8648ce3d040303"],
    ["named bits", derNamedBits(5, 6), "03020106"],
    ["no named bits", derNamedBits(), "030100"],
    ["sequence", derSequence(derInteger(1)), "3003020101"],
    ["UTCTime", derTime(new Date("2049-12-31T23:59:59Z")), `170d${toHex(Buffer.from("491231235959Z"))}`],
    ["GeneralizedTime", derTime(new Date("2050-01-01T00:00:00Z")), `180f${toHex(Buffer.from("20500101000000Z"))}`],
  ])("%s", (_, bytes, hex) => {
    expect(toHex(bytes)).toBe(hex);
  });
});
