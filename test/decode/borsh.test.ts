import { describe, expect, it } from "vitest";
import { BorshReader, readBorsh } from "../../src/decode/borsh.js";
import { faultText } from "../../src/errors.js";
import { hex } from "../support/cbor.js";
/** The fault that a reading ends with, as text; null where there is none. */
function faultOf(bytes: Uint8Array, read: (reader: BorshReader) => unknown): string | null {
  const { fault } = readBorsh(bytes, read);
  return fault && faultText([fault]);
}

describe("BorshReader reads", () => {
  it("into memory of its own", () => {
    // What files are read into has a slice() that copies nothing.
    for (const bytes of [hex("010000000a"), Buffer.from("010000000a", "hex")]) {
      const value = new BorshReader(bytes).bytes("a");
      bytes.fill(0);
      expect(value).toEqual(Uint8Array.of(10));
    }
  });
});

it("passes on an error that is not a fault of the bytes", () => {
  expect(() =>
    readBorsh(new Uint8Array(), () => {
      throw new RangeError("a bug");
    }),
  ).toThrow("a bug");
});

describe("BorshReader refuses", () => {
  it.each<[string, string, (input: BorshReader) => unknown, string]>([
    ["a cut u32", "010203", (input) => input.u32("a"), "a: the input ends inside it"],
    ["a boolean of 2", "02", (input) => input.bool("a"), "a: variant 2, expected below 2"],
    ["a variant that there is not", "03", (input) => input.variant(3, "a"), "a: variant 3, expected below 3"],
    ["an option of 2", "02", (input) => input.option("a", () => 1), "a: variant 2"],
    ["bytes longer than the input", "0200000001", (input) => input.bytes("a"), "a: the input ends inside it"],
    ["a string that is not UTF-8", "0100000080", (input) => input.string("a"), "a: not UTF-8"],
    [
      "a vector of more items than bytes",
      "0300000001 02",
      (input) => input.vector("a", (item) => input.u8(item)),
      "a: 3 items, more than the input holds",
    ],
    [
      "a vector of 2^32 - 1 items",
      "ffffffff",
      (input) => input.vector("a", (item) => input.u8(item)),
      "more than the input holds",
    ],
    ["one byte that is left over", "00", () => undefined, "1 bytes after the end"],
    ["bytes that are left over", "0001", (input) => input.u8("a"), "1 bytes after the end"],
  ])("%s", (_, bytes, read, fault) => {
    expect(faultOf(hex(bytes), read)).toContain(fault);
  });

  it("more items than a manifest has, of all vectors together", () => {
    const reading = (...counts: number[]): string | null =>
      faultOf(
        Uint8Array.from(counts.flatMap((count) => [count & 255, count >> 8, 0, 0, ...new Uint8Array(count)])),
        (input) => {
          for (const [index] of counts.entries()) input.vector(`v${index}`, (item) => input.u8(item));
        },
      );
    expect(reading(9999, 1)).toBeNull();
    expect(reading(9999, 2)).toContain("v1: more than 10000 items in all");
  });

  it("a long vector before it allocates memory", () => {
    const bytes = hex("00ffff7f" + "00".repeat(100));
    expect(faultOf(bytes, (input) => input.vector("a", () => 0))).toContain("more than the input holds");
  });
});
