import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { JsonNumber, type JsonObject, isJsonObject } from "../../src/decode/json.js";
import {
  MemberReader,
  base64Member,
  decimalMember,
  hexField,
  hexMember,
  integerField,
} from "../../src/decode/json-members.js";
import type { Fault } from "../../src/errors.js";

describe("MemberReader", () => {
  const reader = (object: object): MemberReader => new MemberReader(object as JsonObject, "at");

  it("reads members of their type", () => {
    const members = reader({ text: "a", flag: false, list: ["b"], inner: { deep: "c" } });
    expect(members.string("text")).toBe("a");
    expect(members.boolean("flag")).toBe(false);
    expect(members.strings("list")).toEqual(["b"]);
    expect(members.nested("inner")?.string("deep")).toBe("c");
    expect(members.faults).toEqual([]);
  });

  it.each([
    ["a missing string", {}, (r: MemberReader) => r.string("m"), "at.m: expected a string, got nothing"],
    ["a null string", { m: null }, (r: MemberReader) => r.string("m"), "at.m: expected a string, got nothing"],
    ["a number as a string", { m: 1 }, (r: MemberReader) => r.string("m"), "at.m: expected a string, got a number"],
    [
      "a boxed number as a string",
      { m: new JsonNumber("1") },
      (r: MemberReader) => r.string("m"),
      "at.m: expected a string, got a number",
    ],
    [
      "a string as a boolean",
      { m: "true" },
      (r: MemberReader) => r.boolean("m"),
      "at.m: expected true or false, got a string",
    ],
    [
      "a number as a boolean",
      { m: 0 },
      (r: MemberReader) => r.boolean("m"),
      "at.m: expected true or false, got a number",
    ],
    ["an object as an array", { m: {} }, (r: MemberReader) => r.strings("m"), "at.m: expected an array, got an object"],
    [
      "a number inside an array",
      { m: ["a", 1] },
      (r: MemberReader) => r.strings("m"),
      "at.m[1]: expected a string, got a number",
    ],
    ["an array as an object", { m: [] }, (r: MemberReader) => r.nested("m"), "at.m: expected an object, got an array"],
    ["a missing object", {}, (r: MemberReader) => r.nested("m"), "at.m: expected an object, got nothing"],
    ["a missing array", {}, (r: MemberReader) => r.strings("m"), "at.m: expected an array, got nothing"],
  ])("reports %s", (_, object, read, fault) => {
    const members = reader(object);
    read(members);
    expect(members.faults.map(({ path, message }) => `${path}: ${message}`)).toEqual([fault]);
  });

  it("does not see inherited members", () => {
    const members = reader(Object.create({ m: "inherited" }) as object);
    expect(members.get("m")).toBeUndefined();
    expect(members.get("constructor")).toBeUndefined();
    expect(members.string("toString")).toBeUndefined();
    expect(members.faults).toHaveLength(1);
  });

  it("joins the faults of what it nests, and names whole paths", () => {
    const faults: Fault[] = [];
    const outer = MemberReader.of({ inner: { list: [1] } }, "", faults);
    outer?.nested("inner")?.strings("list");
    outer?.refuseUnknown(["other"]);
    expect(faults.map(({ path }) => path)).toEqual(["inner.list[0]", "inner"]);
    expect(faults[1]!.message).toBe("unknown member");
  });

  it("accepts only objects", () => {
    for (const value of [undefined, null, 1, "a", true, [], new JsonNumber("1")]) {
      const faults: Fault[] = [];
      expect(MemberReader.of(value, "p", faults)).toBeUndefined();
      expect(faults).toHaveLength(1);
      expect(isJsonObject(value)).toBe(false);
    }
  });
});

describe("members of a spelling", () => {
  const read = <T>(value: unknown, member: (reader: MemberReader) => T): [T, string | undefined] => {
    const reader = new MemberReader({ m: value } as JsonObject);
    const answer = member(reader);
    return [answer, reader.faults[0]?.message];
  };
  const asHex = (bytes: Uint8Array | undefined): string | undefined => bytes && toHex(bytes);

  it.each([
    ["0", "0", undefined],
    ["1700000000000", "1700000000000", undefined],
    ["01", undefined, "expected a decimal number"],
    ["-1", undefined, "expected a decimal number"],
    ["1.0", undefined, "expected a decimal number"],
    ["", undefined, "expected a decimal number"],
    [1, undefined, "expected a string, got a number"],
  ])("decimal: %j", (value, text, fault) => {
    expect(read(value, (reader) => decimalMember(reader, "m"))).toEqual([text, fault]);
  });

  it.each([
    ["00fF", "00ff", undefined],
    ["00", undefined, "2 hex digits, expected 4"],
    ["0x00", undefined, "not hex"],
    ["0", undefined, "not hex"],
    [null, undefined, "expected a string, got nothing"],
  ])("hex of two bytes: %j", (value, hex, fault) => {
    expect(read(value, (reader) => asHex(hexMember(reader, "m", 2)))).toEqual([hex, fault]);
  });

  it.each([
    ["AA==", "00", undefined],
    ["AA", undefined, "not strict base64 (standard alphabet, padded, no white space)"],
    [["AA=="], undefined, "expected a string, got an array"],
  ])("base64: %j", (value, hex, fault) => {
    expect(read(value, (reader) => asHex(base64Member(reader, "m")))).toEqual([hex, fault]);
  });

  it.each([
    ["00fF", "00ff", undefined],
    ["0x00fF", "00ff", undefined],
    ["0X00ff", "", "not hex"],
    ["0x0x00", "", "not hex"],
    ["00", "00", "1 bytes, expected 2"],
    [undefined, "", "expected hex, got nothing"],
  ])("hex of a manifest, of two bytes: %j", (value, hex, fault) => {
    expect(read(value, (reader) => asHex(hexField(reader, "m", 2)))).toEqual([hex, fault]);
  });

  it.each([
    [new JsonNumber("255"), 255, undefined],
    ["255", 255, undefined],
    [new JsonNumber("256"), 0, 'expected an integer of 0 to 255, got "256"'],
    [new JsonNumber("1.0"), 0, 'expected an integer of 0 to 255, got "1.0"'],
    ["01", 0, 'expected an integer of 0 to 255, got "01"'],
    [" 1", 0, 'expected an integer of 0 to 255, got " 1"'],
    ["1\n", 0, 'expected an integer of 0 to 255, got "1\\n"'],
    [true, 0, "expected an integer of 0 to 255, got a boolean"],
  ])("integer of a manifest, up to 255: %j", (value, integer, fault) => {
    expect(read(value, (reader) => integerField(reader, "m", 255))).toEqual([integer, fault]);
  });
});
