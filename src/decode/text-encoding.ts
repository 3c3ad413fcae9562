/** Decoding of files of hex or base64 text. White space is allowed, since tools break such text into lines. */
import { fromBase64, fromHex, fromUtf8 } from "../bytes.js";

type TextEncoding = "binary" | "hex" | "base64";

interface DecodedFile {
  readonly bytes: Uint8Array;
  readonly encoding: TextEncoding;
}

/** Decodes hex and base64 text, and returns other bytes as they are. */
export function decodeFile(file: Uint8Array): DecodedFile {
  const text = asciiText(file);
  if (text === null || text === "") return { bytes: file, encoding: "binary" };
  const hex = fromHex(text);
  if (hex !== null) return { bytes: hex, encoding: "hex" };
  const base64 = fromBase64(text);
  return base64 === null ? { bytes: file, encoding: "binary" } : { bytes: base64, encoding: "base64" };
}

/** Returns the text without white space, or null if not printable ASCII. A regular expression could overflow here. */
function asciiText(file: Uint8Array): string | null {
  const kept = new Uint8Array(file.length);
  let length = 0;
  for (const byte of file) {
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    if (byte < 0x20 || byte > 0x7e) return null;
    kept[length++] = byte;
  }
  return fromUtf8(kept.subarray(0, length));
}
