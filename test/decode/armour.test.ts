import { describe, expect, it } from "vitest";
import { toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { unarmoured } from "../../src/decode/armour.js";
import { hex } from "../support/cbor.js";
import { fc } from "../support/property.js";
import { genuineDocuments } from "../support/vectors.js";

const document = genuineDocuments()[0]!.bytes;
const wrapped = (text: string): string => text.replaceAll(/.{64}/g, "$&\r\n") + "\n";

describe("unarmoured", () => {
  it("finds the same bytes in binary, hex and base64, wrapped or not", () => {
    expect(unarmoured(document)).toEqual({ bytes: document, armour: "binary" });
    for (const text of [
      toHex(document),
      toHex(document).toUpperCase(),
      wrapped(toHex(document)),
      `\t${toHex(document)} `,
    ]) {
      expect(unarmoured(toUtf8(text))).toEqual({ bytes: document, armour: "hex" });
    }
    for (const text of [toBase64(document), wrapped(toBase64(document)), ` ${toBase64(document)}\n`]) {
      expect(unarmoured(toUtf8(text))).toEqual({ bytes: document, armour: "base64" });
    }
  });

  it("takes hex before base64, which it is too", () => {
    expect(unarmoured(toUtf8("abcd"))).toEqual({ bytes: hex("abcd"), armour: "hex" });
    expect(unarmoured(toUtf8("abcg"))).toEqual({ bytes: hex("69b720"), armour: "base64" });
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
    expect(unarmoured(file)).toEqual({ bytes: file, armour: "binary" });
  });

  it("leaves bytes that are no text as they are", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 40 }),
        fc.integer({ min: 0x80, max: 0xff }),
        (bytes, byte) => {
          const file = Uint8Array.of(...bytes, byte);
          expect(unarmoured(file)).toEqual({ bytes: file, armour: "binary" });
        },
      ),
    );
  });
});
