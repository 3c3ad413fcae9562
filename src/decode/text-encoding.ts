/** Files of hex or base64 text. White space is allowed, since tools break such text into lines. */
import { fromBase64, fromHex, fromUtf8 } from "../bytes.js";

type TextEncoding = "binary" | "hex" | "base64";

interface DecodedFile {
  readonly bytes: Uint8Array;
  readonly encoding: TextEncoding;
}

/** Returns other bytes as they are. */
export function decodeFile(file: Uint8Array): DecodedFile {
  const text = asciiText(file);
  if (text === null || text === "") return { bytes: file, encoding: "binary" };
  const hex = fromHex(text);
  if (hex !== null) return { bytes: hex, encoding: "hex" };
  const base64 = fromBase64(text);
  return base64 === null ? { bytes: file, encoding: "binary" } : { bytes: base64, encoding: "base64" };
}

/** Without white space; null if not printable ASCII. A pattern of the whole text could overflow the stack. */
function asciiText(file: Uint8Array): string | null {
  const text = fromUtf8(file);
  return text !== null && !/[^\t\n\r\x20-\x7e]/.test(text) ? text.replace(/[\t\n\r ]+/g, "") : null;
}
