import { describe, expect, it } from "vitest";
import { JsonNumber, type JsonValue, parseJson } from "../../src/decode/json.js";
import { type QosJsonInput, canonicalQosJson } from "../../src/decode/qos-json.js";
import { faultsOf } from "../support/faults.js";

const reread = (text: string): JsonValue => parseJson(text, { numbers: "literal" });

describe("canonicalQosJson", () => {
  it.each<[string, QosJsonInput, string]>([
    ["null", null, "null"],
    ["undefined", undefined, "null"],
    ["true", true, "true"],
    ["false", false, "false"],
    ["zero", 0, '"0"'],
    ["an integer", 3, '"3"'],
    ["a negative integer", -42, '"-42"'],
    ["the largest u32", 4294967295, '"4294967295"'],
    ["an integer as written", new JsonNumber("18446744073709551616"), '"18446744073709551616"'],
    ["bytes", Uint8Array.of(0xde, 0xad, 0x00), '"dead00"'],
    ["no bytes", new Uint8Array(), '""'],
    ["an empty object", {}, "{}"],
    ["an empty array", [], "[]"],
    ["members that are null or undefined", { a: null, b: undefined, c: { d: null } }, '{"c":{}}'],
    ["nulls in an array", [null, undefined, [null]], "[null,null,[null]]"],
    ["empty members", { a: [], b: {}, c: "" }, '{"a":[],"b":{},"c":""}'],
    ["no white space", { b: [1, 2], a: { d: true, c: "x y" } }, '{"a":{"c":"x y","d":true},"b":["1","2"]}'],
    [
      "names by UTF-16 code units, not by code points",
      { "\ufb33": 1, "\u{1f600}": 2, "€": 3 },
      '{"€":"3","\u{1f600}":"2","\ufb33":"1"}',
    ],
    ["names that look like numbers, as text", { 10: 0, 9: 0, 1: 0 }, '{"1":"0","10":"0","9":"0"}'],
    ["capitals before small letters", { b: 0, B: 0, a: 0, _: 0, A: 0 }, '{"A":"0","B":"0","_":"0","a":"0","b":"0"}'],
    ["a name before its longer ones", { ab: 0, a: 0, "": 0 }, '{"":"0","a":"0","ab":"0"}'],
    ["arrays in their order", ["b", "a"], '["b","a"]'],
    ["short escapes", '\b\t\n\f\r"\\', '"\\b\\t\\n\\f\\r\\"\\\\"'],
    ["other control characters, in lower case", "\0\u0001\u000b\u001f", '"\\u0000\\u0001\\u000b\\u001f"'],
    [
      "everything else literally",
      "/\u007f\u0080é\u2028\u2029\ufeff😀<>&'",
      '"/\u007f\u0080é\u2028\u2029\ufeff😀<>&\'"',
    ],
    ["escapes in names", { "\n": 1, '"': 2 }, '{"\\n":"1","\\"":"2"}'],
  ])("writes %s", (_, value, text) => {
    expect(canonicalQosJson(value)).toBe(text);
  });

  it("keeps a member called __proto__", () => {
    expect(canonicalQosJson(reread('{"b":1,"__proto__":{"x":2}}') as QosJsonInput)).toBe(
      '{"__proto__":{"x":"2"},"b":"1"}',
    );
  });

  it.each<[string, QosJsonInput]>([
    ["1E0 as written", new JsonNumber("1E0")],
    ["-0 as written", new JsonNumber("-0")],
    ["NaN", NaN],
    ["Infinity", Infinity],
    ["a number too large to be written out", 1e21],
    ["leading zeros", new JsonNumber("01")],
  ])("refuses %s", (_, value) => {
    expect(faultsOf(() => canonicalQosJson(value))).toContain("is not an integer in canonical form");
  });
});
