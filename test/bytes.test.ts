import { describe, expect, it } from "vitest";
import {
  concatBytes,
  equalBytes,
  fromBase64,
  fromBase64Url,
  fromHex,
  fromUtf8,
  isAllZero,
  toBase64,
  toBase64Url,
  toHex,
  toUtf8,
} from "../src/bytes.js";
import { anyBytes, fc, runs } from "./support/property.js";

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);

describe("hex", () => {
  it("is lower case, two digits a byte", () => {
    expect(toHex(Uint8Array.of(0x00, 0x0f, 0xa5, 0xff))).toBe("000fa5ff");
    expect(toHex(ALL_BYTES)).toBe(Buffer.from(ALL_BYTES).toString("hex"));
    expect(toHex(new Uint8Array())).toBe("");
  });

  it("is read in either case", () => {
    expect(fromHex("000fA5fF")).toEqual(Uint8Array.of(0x00, 0x0f, 0xa5, 0xff));
    expect(fromHex("")).toEqual(new Uint8Array());
    expect(fromHex("abc")).toBeNull();
  });

  it("has 22 digits, and no other character is one", () => {
    const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
    expect(all.filter((char) => fromHex(`${char}0`) !== null).join("")).toBe("0123456789ABCDEFabcdef");
    expect(all.filter((char) => fromHex(`0${char}`) !== null).join("")).toBe("0123456789ABCDEFabcdef");
  });

  it("comes back as it was", () => {
    fc.assert(
      fc.property(anyBytes(), (bytes) => {
        expect(fromHex(toHex(bytes))).toEqual(bytes);
        expect(fromHex(toHex(bytes).toUpperCase())).toEqual(bytes);
      }),
    );
  });
});

describe("base64", () => {
  it.each([
    ["", ""],
    ["66", "Zg=="],
    ["666f", "Zm8="],
    ["666f6f", "Zm9v"],
    ["666f6f62", "Zm9vYg=="],
    ["fbffbf", "+/+/"],
  ])("of %j is %j", (bytes, text) => {
    expect(toBase64(fromHex(bytes)!)).toBe(text);
    expect(fromBase64(text)).toEqual(fromHex(bytes));
  });

  it.each([
    ["no padding", "Zg"],
    ["padding alone", "===="],
    ["padding in the middle", "Zg==Zg=="],
    ["the URL alphabet", "-_-_"],
    ["stray bits after one byte", "Zh=="],
    ["stray bits after two bytes", "Zm9="],
    ["another alphabet", "Ｚｇ＝＝"],
    ["a data URL", "data:,AA"],
  ])("refuses %s", (_, text) => {
    expect(fromBase64(text)).toBeNull();
  });

  it("has one accepted spelling for each last group", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const accepted = [...alphabet].filter((last) => fromBase64(`A${last}==`) !== null);
    const acceptedOfTwo = [...alphabet].filter((last) => fromBase64(`AA${last}=`) !== null);
    expect(accepted.join("")).toBe("AQgw");
    expect(acceptedOfTwo.join("")).toBe("AEIMQUYcgkosw048");
  });

  it("comes back as it was", () => {
    fc.assert(
      fc.property(anyBytes(), (bytes) => {
        expect(fromBase64(toBase64(bytes))).toEqual(bytes);
        expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
        expect(toBase64Url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
        expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes);
      }),
    );
  });

  it("accepts no text that it would not write", () => {
    const text = fc.string({ unit: fc.constantFrom(..."AQgZz9+/=- \n"), maxLength: 12 });
    let accepted = 0;
    fc.assert(
      fc.property(text, (candidate) => {
        const bytes = fromBase64(candidate);
        if (bytes !== null) accepted++;
        return bytes === null || toBase64(bytes) === candidate;
      }),
      { numRuns: runs(3000) },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});

describe("UTF-8", () => {
  it("keeps what it reads, a byte order mark too", () => {
    for (const text of ["", "plain", "\ufeffmarked", "é€😀", "\0"]) expect(fromUtf8(toUtf8(text))).toBe(text);
  });

  it.each([
    ["a lone continuation byte", "80"],
    ["a cut sequence", "e282"],
    ["an overlong NUL", "c080"],
    ["an overlong slash", "e080af"],
    ["a surrogate", "eda080"],
    ["a code point above U+10FFFF", "f4908080"],
    ["a byte that never occurs", "ff"],
  ])("refuses %s", (_, bytes) => {
    expect(fromUtf8(fromHex(bytes)!)).toBeNull();
  });
});

describe("byte strings", () => {
  it("are equal by length and content", () => {
    const bytes = Uint8Array.of(1, 2, 3);
    expect(equalBytes(bytes, Uint8Array.of(1, 2, 3))).toBe(true);
    expect(equalBytes(new Uint8Array(), new Uint8Array())).toBe(true);
    for (const other of [[], [1, 2], [1, 2, 3, 0], [0, 2, 3], [1, 0, 3], [1, 2, 0]]) {
      expect(equalBytes(bytes, Uint8Array.from(other))).toBe(false);
      expect(equalBytes(Uint8Array.from(other), bytes)).toBe(false);
    }
  });

  it("are joined in order, into new memory", () => {
    const first = Uint8Array.of(1, 2);
    const joined = concatBytes(first, new Uint8Array(), Uint8Array.of(3));
    expect(joined).toEqual(Uint8Array.of(1, 2, 3));
    first[0] = 9;
    expect(joined[0]).toBe(1);
    expect(concatBytes()).toEqual(new Uint8Array());
  });

  it("are all zero, or not", () => {
    expect(isAllZero(new Uint8Array(48))).toBe(true);
    for (const at of [0, 20, 47]) expect(isAllZero(new Uint8Array(48).fill(1, at, at + 1))).toBe(false);
  });
});
