/** Hex, base64, text, equality and concatenation of byte strings. */

const HEX_DIGITS = /* @__PURE__ */ Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** Returns lower-case hex of the bytes. */
export function toHex(bytes: Uint8Array): string {
  // The digits are in a byte array, because a string built by appending retains every part.
  const digits = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    digits[2 * i] = HEX_DIGITS[bytes[i]! >> 4]!;
    digits[2 * i + 1] = HEX_DIGITS[bytes[i]! & 15]!;
  }
  return utf8Decoder.decode(digits);
}

/** Returns the bytes of hex in either case, without prefix or white space, and null for any other text. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = hexDigit(text.charCodeAt(2 * i));
    const low = hexDigit(text.charCodeAt(2 * i + 1));
    if (high < 0 || low < 0) return null;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - (0x61 - 10) : -1;
}

/** Returns base64 (RFC 4648 section 4) with padding. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * Returns the bytes of a base64 text (RFC 4648 section 4) in the standard alphabet, padded, without white space and
 * without stray bits in the last character. Returns null for any other text.
 */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const padding = paddingOf(text);
  const binary = decodedBase64(text);
  // `atob` ignores white space, so a text with white space gives fewer bytes.
  if (binary === null || binary.length !== (text.length / 4) * 3 - padding) return null;
  if (padding > 0 && (BASE64.indexOf(text[text.length - 1 - padding]!) & STRAY_BITS[padding]!) !== 0) return null;
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

function decodedBase64(text: string): string | null {
  try {
    return atob(text);
  } catch {
    return null;
  }
}

function paddingOf(text: string): number {
  if (text.endsWith("==")) return 2;
  return text.endsWith("=") ? 1 : 0;
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** Mask of the unused bits in the last character, by the number of padding characters. */
const STRAY_BITS = [0, 3, 15];

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function concatBytes(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

export function isAllZero(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function toUtf8(text: string): Uint8Array {
  return utf8Encoder.encode(text);
}

/** Returns the text of UTF-8 bytes, with any byte order mark as a character. Returns null if they are not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    return null;
  }
}
