import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { JsonNumber, type JsonObject, isJsonObject } from "../../src/decode/json.js";
import { MemberReader, base64Text, decimal, hexText, jsonList, readBy } from "../../src/decode/json-members.js";
import { fixedBytes, u8 } from "../../src/decode/manifest/fields.js";
import { type Shape, flag, list as listOf, placeOf, text } from "../../src/decode/shapes.js";
import { FaultList } from "../../src/errors.js";

describe("MemberReader", () => {
  const faults = (): FaultList => new FaultList();
  const reader = (object: object, list = faults()): MemberReader =>
    new MemberReader(object as JsonObject, placeOf(list, "at"));

  it("reads members of their type", () => {
    const list = faults();
    const members = reader({ text: "a", flag: false, list: ["b"], inner: { deep: "c" } }, list);
    expect(members.read("text", text)).toBe("a");
    expect(members.read("flag", flag)).toBe(false);
    expect(members.read("list", listOf(text))).toEqual(["b"]);
    expect(members.nested("inner")?.read("deep", text)).toBe("c");
    expect(list).toEqual([]);
  });

  it.each<[string, object, Shape<unknown>, string]>([
    ["a missing string", {}, text, "at.m: expected a string, got nothing"],
    ["a null string", { m: null }, text, "at.m: expected a string, got nothing"],
    ["a number as a string", { m: 1 }, text, "at.m: expected a string, got a number"],
    ["a boxed number as a string", { m: new JsonNumber("1") }, text, "at.m: expected a string, got a number"],
    ["a string as a boolean", { m: "true" }, flag, "at.m: expected true or false, got a string"],
    ["a number as a boolean", { m: 0 }, flag, "at.m: expected true or false, got a number"],
    ["an object as an array", { m: {} }, listOf(text), "at.m: expected an array, got an object"],
    ["a number inside an array", { m: ["a", 1] }, listOf(text), "at.m[1]: expected a string, got a number"],
    ["an array as an object", { m: [] }, readBy(Object), "at.m: expected an object, got an array"],
    ["a missing object", {}, readBy(Object), "at.m: expected an object, got nothing"],
    ["a missing array", {}, jsonList, "at.m: expected an array, got nothing"],
  ])("reports %s", (_, object, shape, fault) => {
    const list = faults();
    expect(reader(object, list).read("m", shape)).toBeUndefined();
    expect(list.map(({ path, message }) => `${path}: ${message}`)).toEqual([fault]);
  });

  it("does not see inherited members", () => {
    const list = faults();
    const members = reader(Object.create({ m: "inherited" }) as object, list);
    expect(members.get("m")).toBeUndefined();
    expect(members.get("constructor")).toBeUndefined();
    expect(members.read("toString", text)).toBeUndefined();
    expect(list).toHaveLength(1);
  });

  it("joins the faults of what it nests, and names whole paths", () => {
    const list = faults();
    const outer = MemberReader.of({ inner: { list: [1] } }, placeOf(list));
    outer?.nested("inner")?.read("list", listOf(text));
    outer?.refuseUnknown(["other"]);
    expect(list.map(({ path }) => path)).toEqual(["inner.list[0]", "inner"]);
    expect(list[1]!.message).toBe("unknown member");
  });

  it("accepts only objects", () => {
    for (const value of [undefined, null, 1, "a", true, [], new JsonNumber("1")]) {
      const list = faults();
      expect(MemberReader.of(value, placeOf(list, "p"))).toBeUndefined();
      expect(list).toHaveLength(1);
      expect(isJsonObject(value)).toBe(false);
    }
  });
});

describe("members of a spelling", () => {
  const read = <T>(value: unknown, shape: Shape<T>): [T | undefined, string | undefined] => {
    const faults = new FaultList();
    const answer = new MemberReader({ m: value } as JsonObject, placeOf(faults)).read("m", shape);
    return [answer, faults[0]?.message];
  };
  const readBytes = (value: unknown, shape: Shape<Uint8Array>): [string | undefined, string | undefined] => {
    const [bytes, fault] = read(value, shape);
    return [asHex(bytes), fault];
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
    expect(read(value, decimal)).toEqual([text, fault]);
  });

  it.each([
    ["00fF", "00ff", undefined],
    ["0x00", undefined, "not hex"],
    ["0", undefined, "not hex"],
    [null, undefined, "expected a string, got nothing"],
  ])("hex: %j", (value, hex, fault) => {
    expect(readBytes(value, hexText)).toEqual([hex, fault]);
  });

  it.each([
    ["AA==", "00", undefined],
    ["AA", undefined, "not strict base64 (standard alphabet, padded, no white space)"],
    [["AA=="], undefined, "expected a string, got an array"],
  ])("base64: %j", (value, hex, fault) => {
    expect(readBytes(value, base64Text)).toEqual([hex, fault]);
  });

  it.each([
    ["00fF", "00ff", undefined],
    ["0x00fF", "00ff", undefined],
    ["0X00ff", "", "not hex"],
    ["0x0x00", "", "not hex"],
    ["00", "00", "1 bytes, expected 2"],
    [undefined, "", "expected hex, got nothing"],
  ])("hex of a manifest, of two bytes: %j", (value, hex, fault) => {
    expect(readBytes(value, fixedBytes(2).json)).toEqual([hex, fault]);
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
    expect(read(value, u8.json)).toEqual([integer, fault]);
  });
});
