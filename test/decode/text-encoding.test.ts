import { describe, expect, it } from "vitest";
import { concatBytes, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeFile, insteadOfCose, mayBeDocument, otherSpelling } from "../../src/decode/text-encoding.js";
import { hex, nsmAnswer } from "../support/cbor.js";
import { genuineDocuments } from "../support/vectors.js";

const documents = genuineDocuments();
const document = documents[0]!.bytes;
const wrapped = (text: string): string => text.replaceAll(/.{64}/g, "$&\r\n") + "\n";
const url = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_");
/** A byte less or more changes how much padding there is. */
const paddings = [document, document.subarray(0, -1), document.subarray(0, -2)];

describe("decodeFile", () => {
  it("finds the same bytes in binary, hex and base64, wrapped or not", () => {
    expect(decodeFile(document)).toEqual({ bytes: document, encoding: "binary" });
    const digits = toHex(document);
    for (const text of [digits, digits.toUpperCase(), wrapped(digits), `\t${digits} `, `\ufeff${digits}\n`])
      expect(decodeFile(toUtf8(text))).toEqual({ bytes: document, encoding: "hex" });
    for (const text of [`0x${digits}`, `0X${digits.toUpperCase()}`, `\ufeff0x${wrapped(digits)}`])
      expect(decodeFile(toUtf8(text))).toEqual({ bytes: document, encoding: "hex with 0x" });
    const base64 = toBase64(document);
    for (const text of [base64, wrapped(base64), ` ${base64}\n`, `\ufeff${wrapped(base64)}`])
      expect(decodeFile(toUtf8(text))).toEqual({ bytes: document, encoding: "base64" });
  });

  it("finds them in base64url and without padding, whatever padding there was", () => {
    for (const bytes of paddings) {
      const base64 = toBase64(bytes);
      const bare = base64.replace(/=+$/, "");
      const isPadded = bare !== base64;
      expect(decodeFile(toUtf8(wrapped(bare)))).toEqual({
        bytes,
        encoding: isPadded ? "base64 without its padding" : "base64",
      });
      for (const text of [url(bare), url(base64), `\ufeff${wrapped(url(bare))}`])
        expect(decodeFile(toUtf8(text))).toEqual({ bytes, encoding: "base64url" });
    }
  });

  it("takes digits as hex, never as base64, which they are too", () => {
    expect(decodeFile(toUtf8("abcd"))).toEqual({ bytes: hex("abcd"), encoding: "hex" });
    expect(decodeFile(toUtf8("0x0abcde"))).toEqual({ bytes: hex("0abcde"), encoding: "hex with 0x" });
    expect(decodeFile(toUtf8("abcg"))).toEqual({ bytes: hex("69b720"), encoding: "base64" });
    // Hex that lost a digit.
    for (const text of ["abc", "abcde", "0xabcde"]) expect(decodeFile(toUtf8(text)).encoding).toBe("binary");
  });

  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["white space", toUtf8(" \n")],
    ["text that is neither", toUtf8("abc")],
    ["JSON", toUtf8('{"a":1}')],
    ["both alphabets at once", toUtf8("-_+/")],
    ["too much padding", toUtf8("Zg===")],
    ["too much padding of base64url", toUtf8("_w===")],
    ["base64 with stray bits", toUtf8("Zh==")],
    ["base64url with stray bits", toUtf8("_x")],
    ["one character", toUtf8("g")],
    ["hex with a control character", toUtf8("ab\0cd")],
    ["hex with a no-break space", toUtf8("ab\u00a0cd")],
    ["hex with DEL", toUtf8("ab\u007fcd")],
    ["hex after two byte order marks", toUtf8("\ufeff\ufeffabcd")],
    ["hex before a byte order mark", toUtf8("abcd\ufeff")],
    ["0x twice", toUtf8("0x0xab")],
  ])("leaves %s as it is", (_, file) => {
    expect(decodeFile(file)).toEqual({ bytes: file, encoding: "binary" });
  });
});

describe("what is no attestation document", () => {
  const base64 = toBase64(document);

  it.each<[string, Uint8Array | string, string | null]>([
    ["the answer of the driver", nsmAnswer(document), "the answer of the NSM driver: pass the bytes of Attestation"],
    ["that in base64", toBase64(nsmAnswer(document)), "base64 of the bytes"],
    ["base64 inside base64", toBase64(toUtf8(base64)), "base64 inside base64: decode it once"],
    ["hex inside base64", toBase64(toUtf8(toHex(document))), "hex inside base64: decode it once"],
    ["base64url inside hex", toHex(toUtf8(url(base64))), "base64url inside hex: decode it once"],
    ["hex with letters after it", `${toHex(document)}\nends`, "base64 of the bytes"],
    ["hex that lost its first byte", toHex(document).slice(2), "hex of the bytes"],
    ["JSON", JSON.stringify({ document: base64 }), null],
    ["prose with accents", "Un document d’attestation, s’il vous plaît", null],
  ])("is %s", (_, file, instead) => {
    const bytes = typeof file === "string" ? toUtf8(file) : file;
    expect(mayBeDocument(bytes)).toBe(false);
    const said = insteadOfCose(bytes);
    expect(instead === null ? said : said?.startsWith(instead)).toBe(instead === null ? null : true);
  });

  it("but bytes that are damaged may be one, and so may text of them", () => {
    for (const damaged of [document.subarray(0, 100), concatBytes(document, document), document.with(1, 0), hex("84")])
      for (const file of [damaged, toUtf8(toHex(damaged)), toUtf8(toBase64(damaged)), toUtf8(url(toBase64(damaged)))])
        expect(mayBeDocument(file)).toBe(true);
    // Binary that begins otherwise, with or without the tag.
    for (const file of [document.with(0, 0xff), concatBytes(hex("d2"), document)])
      expect(mayBeDocument(file)).toBe(true);
  });
});

describe("otherSpelling", () => {
  // Its base64 has a letter of only one alphabet.
  const bytes = concatBytes(document.subarray(0, 62), hex("fbffbf"));
  const [digits, base64] = [toHex(bytes), toBase64(bytes)];
  const BASE64 = "expected strict base64 (standard alphabet, padded, no white space)";

  const faultOf = (message: string): object => {
    return { message, ...(message.includes("line breaks") && { cause: { code: "line-breaks" } }) };
  };

  it("finds no fault in the spelling that a member should have, or in no spelling", () => {
    for (const text of [base64, toBase64(document), "", "AAAA", toBase64(toUtf8('{"manifest":{}}')), "%", "Zh=="])
      expect(otherSpelling(text, "base64")).toBeNull();
    for (const text of [digits, digits.toUpperCase(), "", "zz", "0", digits.slice(1)])
      expect(otherSpelling(text, "hex")).toBeNull();
  });

  it.each([
    [digits, `hex: ${BASE64}`],
    [`0x${digits}`, `hex with 0x: ${BASE64}`],
    [base64.replace(/=+$/, ""), `base64 without its padding: ${BASE64}`],
    [url(base64), `base64url: ${BASE64}`],
    [wrapped(base64), `base64 with line breaks: ${BASE64}`],
    [`\ufeff${base64}`, `base64 with white space or a byte order mark: ${BASE64}`],
    [toBase64(toUtf8(base64)), `base64 inside base64: ${BASE64}`],
    [toBase64(toUtf8(digits)), `hex inside base64: ${BASE64}`],
  ])("says what a member of base64 is instead: %s", (text, fault) => {
    expect(otherSpelling(text, "base64")).toEqual(faultOf(fault));
  });

  it.each([
    [`0x${digits}`, "hex with 0x: expected hex digits alone"],
    [`${digits}\n`, "hex with line breaks: expected hex digits alone"],
    [`${digits} `, "hex with white space or a byte order mark: expected hex digits alone"],
    [base64, "base64: expected hex digits alone"],
    [url(base64), "base64url: expected hex digits alone"],
    [toHex(toUtf8(digits)), "hex inside hex: expected hex digits alone"],
  ])("says what a member of hex is instead: %s", (text, fault) => {
    expect(otherSpelling(text, "hex")).toEqual(faultOf(fault));
  });

  it("says nothing of text that is too short to be evidence", () => {
    for (const length of [31, 32]) {
      const short = toHex(document.subarray(0, length));
      expect(otherSpelling(`0x${short}`, "hex") === null).toBe(length < 32);
      expect(otherSpelling(short, "base64") === null).toBe(length < 32);
    }
  });
});
