/**
 * Files that carry bytes as text: hex or base64, white space between lines allowed, for that is how tools print them.
 */
import { fromBase64, fromHex, fromUtf8 } from "../bytes.js";

type TextEncoding = "binary" | "hex" | "base64";

interface DecodedFile {
  readonly bytes: Uint8Array;
  readonly encoding: TextEncoding;
}

/** The bytes that a file stands for: those of its hex or base64 text, and its own where it is neither. */
export function decodeFile(file: Uint8Array): DecodedFile {
  const text = asciiText(file);
  if (text === null || text === "") return { bytes: file, encoding: "binary" };
  const hex = fromHex(text);
  if (hex !== null) return { bytes: hex, encoding: "hex" };
  const base64 = fromBase64(text);
  return base64 === null ? { bytes: file, encoding: "binary" } : { bytes: base64, encoding: "base64" };
}

/** The text without white space; null where the file is not printable ASCII. */
function asciiText(file: Uint8Array): string | null {
  const text = fromUtf8(file);
  return text !== null && /^[\t\n\r\x20-\x7e]*$/.test(text) ? text.replace(/[\t\n\r ]+/g, "") : null;
}
