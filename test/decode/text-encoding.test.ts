import { describe, expect, it } from "vitest";
import { toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeFile } from "../../src/decode/text-encoding.js";
import { hex } from "../support/cbor.js";
import { fc } from "../support/property.js";
import { genuineDocuments } from "../support/vectors.js";

const document = genuineDocuments()[0]!.bytes;
const wrapped = (text: string): string => text.replaceAll(/.{64}/g, "$&\r\n") + "\n";

describe("decodeFile", () => {
  it("finds the same bytes in binary, hex and base64, wrapped or not", () => {
    expect(decodeFile(document)).toEqual({ bytes: document, encoding: "binary" });
    for (const text of [
      toHex(document),
      toHex(document).toUpperCase(),
      wrapped(toHex(document)),
      `\t${toHex(document)} `,
    ]) {
      expect(decodeFile(toUtf8(text))).toEqual({ bytes: document, encoding: "hex" });
    }
    for (const text of [toBase64(document), wrapped(toBase64(document)), ` ${toBase64(document)}\n`]) {
      expect(decodeFile(toUtf8(text))).toEqual({ bytes: document, encoding: "base64" });
    }
  });

  it("takes hex before base64, which it is too", () => {
    expect(decodeFile(toUtf8("abcd"))).toEqual({ bytes: hex("abcd"), encoding: "hex" });
    expect(decodeFile(toUtf8("abcg"))).toEqual({ bytes: hex("69b720"), encoding: "base64" });
  });

  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["white space", toUtf8(" \n")],
    ["text that is neither", toUtf8("abc")],
    ["JSON", toUtf8('{"a":1}')],
    ["the URL alphabet", toUtf8("-_-_")],
    ["hex after 0x", toUtf8("0xabc")],
    ["base64 with stray bits", toUtf8("Zh==")],
    ["hex with a control character", toUtf8("ab\0cd")],
    ["hex with a no-break space", toUtf8("ab\u00a0cd")],
    ["hex with DEL", toUtf8("ab\u007fcd")],
    ["hex after a byte order mark", toUtf8("\ufeffabcd")],
  ])("leaves %s as it is", (_, file) => {
    expect(decodeFile(file)).toEqual({ bytes: file, encoding: "binary" });
  });

  it("leaves bytes that are no text as they are", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        fc.integer({ min: 0x80, max: 0xff }),
        (bytes, byte) => {
          const file = Uint8Array.of(...bytes, byte);
          expect(decodeFile(file)).toEqual({ bytes: file, encoding: "binary" });
        },
      ),
    );
  });
});
