/** Hex, base64, text, equality and concatenation of byte strings, and what some runtimes lack. */

const HEX_DIGITS = /* @__PURE__ */ Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** Returns lower-case hex of the bytes. */
export function toHex(bytes: Uint8Array): string {
  // The digits are in a byte array, because a string built by appending retains every part.
  const digits = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    digits[2 * i] = HEX_DIGITS[bytes[i]! >> 4]!;
    digits[2 * i + 1] = HEX_DIGITS[bytes[i]! & 15]!;
  }
  return fromUtf8(digits)!;
}

/** Returns the bytes of hex in either case, without prefix or white space, and null for any other text. */
export function fromHex(text: string): Uint8Array | null {
  if (text.length % 2 !== 0) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    const high = NIBBLES[text.charCodeAt(2 * i)] ?? 16;
    const low = NIBBLES[text.charCodeAt(2 * i + 1)] ?? 16;
    if ((high | low) > 15) return null;
    bytes[i] = (high << 4) | low;
  }
  return bytes;
}

/** Values of hex digits by their codes. Of any other character it is 255, which is what -1 becomes. */
const NIBBLES = /* @__PURE__ */ Uint8Array.from({ length: 128 }, (_, code) =>
  "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()),
);

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_CODES = /* @__PURE__ */ Uint8Array.from(BASE64, (character) => character.charCodeAt(0));
/** Values of characters of base64 by their codes. 64 stands for any other character. */
const SEXTETS = /* @__PURE__ */ Uint8Array.from({ length: 256 }, (_, code) => {
  const value = BASE64.indexOf(String.fromCharCode(code));
  return value < 0 ? 64 : value;
});

// Own base64, because atob and btoa are missing in React Native, and take strings of bytes where they are there.

/** Returns base64 (RFC 4648 section 4) with padding. */
export function toBase64(bytes: Uint8Array): string {
  const text = new Uint8Array(4 * Math.ceil(bytes.length / 3)).fill(0x3d);
  for (let i = 0, at = 0; i < bytes.length; i += 3, at += 4) {
    const word = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const length = Math.min(bytes.length - i + 1, 4);
    for (let digit = 0; digit < length; digit++) text[at + digit] = BASE64_CODES[(word >> (18 - 6 * digit)) & 63]!;
  }
  return fromUtf8(text)!;
}

/**
 * Returns the bytes of a base64 text (RFC 4648 section 4) in the standard alphabet, padded, without white space and
 * without stray bits in the last character. Returns null for any other text.
 */
export function fromBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0) return null;
  const length = text.length - paddingOf(text);
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let [word, bits, at] = [0, 0, 0];
  for (let i = 0; i < length; i++) {
    const value = SEXTETS[text.charCodeAt(i)] ?? 64;
    if (value === 64) return null;
    word = ((word << 6) | value) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = word >> bits;
  }
  return (word & ((1 << bits) - 1)) === 0 ? bytes : null;
}

/** Returns base64url (RFC 4648 section 5) without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replace(/[+/=]/g, (char) => ({ "+": "-", "/": "_" })[char] ?? "");
}

/** Returns the bytes of base64url (RFC 4648 section 5) without padding. As strict as {@link fromBase64}. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (/[^A-Za-z0-9_-]/.test(text)) return null;
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  return fromBase64(standard.padEnd(4 * Math.ceil(text.length / 4), "="));
}

function paddingOf(text: string): number {
  if (text.endsWith("==")) return 2;
  return text.endsWith("=") ? 1 : 0;
}

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

/** Returns the last item. Not every Hermes has `Array.prototype.at`. */
export function lastOf<T>(items: readonly T[]): T | undefined {
  return items[items.length - 1];
}

export function isAllZero(bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== 0) return false;
  return true;
}

interface Utf8 {
  readonly encode: (text: string) => Uint8Array;
  /** Throws for bytes that are not UTF-8. */
  readonly decode: (bytes: Uint8Array) => string;
}

let utf8: Utf8 | undefined;

/** Returns the platform's UTF-8, if it is there and passes known answers, or our own. It is chosen at the first use. */
function chosenUtf8(): Utf8 {
  try {
    const { TextEncoder: Encoder, TextDecoder: Decoder } = globalThis as Partial<typeof globalThis>;
    const [encoder, decoder] = [new Encoder!(), new Decoder!("utf-8", { fatal: true, ignoreBOM: true })];
    const own: Utf8 = { encode: (text) => encoder.encode(text), decode: (bytes) => decoder.decode(bytes) };
    if (isRightUtf8(own)) return own;
  } catch {
    // A runtime without them, or with one that takes no such options, gets our own.
  }
  return { encode: encodeUtf8, decode: decodeUtf8 };
}

/** One character of each length after a byte order mark, and a lone surrogate, which becomes U+FFFD. */
const KNOWN_TEXT = "\ufeffA\u00e9\u20ac\u{1f600}";
const KNOWN_BYTES = "efbbbf41c3a9e282acf09f9880";
/** Stray bytes, forms that are too long, surrogates, values above the last one, and characters that are cut off. */
const NO_UTF8 =
  "80,c080,c0af,c1bf,e08080,f0808080,f8888080,fc8480808080,eda080,edb080,f4908080,f5808080,fe,ff,c3,e282,f0,f09f98";

function isRightUtf8({ encode, decode }: Utf8): boolean {
  const isRefused = (hex: string): boolean => {
    try {
      return decode(fromHex(hex)!) === null;
    } catch {
      return true;
    }
  };
  const encoded = encode(`${KNOWN_TEXT}\ud800`);
  const isEncoded = ArrayBuffer.isView(encoded) && equalBytes(encoded, fromHex(`${KNOWN_BYTES}efbfbd`)!);
  // A view, whose buffer has other bytes around it; decoded last, because a decoder may keep bytes of a refusal.
  const known = fromHex(`80${KNOWN_BYTES}80`)!.subarray(1, -1);
  return isEncoded && NO_UTF8.split(",").every(isRefused) && decode(known) === KNOWN_TEXT;
}

// Own UTF-8 by the functions of ECMAScript that encode URIs: strict both ways, and in every engine.

/** Encodes as the Encoding Standard says: a lone surrogate becomes U+FFFD. */
function encodeUtf8(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, "\ufffd"));
  const units = escaped.match(/%..|./g) ?? [];
  return Uint8Array.from(units, (unit) => (unit.length > 1 ? parseInt(unit.slice(1), 16) : unit.charCodeAt(0)));
}

/** Throws URIError for bytes that are not UTF-8 (ECMA-262, "Decode"). */
function decodeUtf8(bytes: Uint8Array): string {
  return decodeURIComponent(Array.from(bytes, (byte) => `%${(0x100 + byte).toString(16).slice(1)}`).join(""));
}

export function toUtf8(text: string): Uint8Array {
  return (utf8 ??= chosenUtf8()).encode(text);
}

/** Returns the text of UTF-8 bytes, with any byte order mark as a character. Returns null if they are not UTF-8. */
export function fromUtf8(bytes: Uint8Array): string | null {
  try {
    return (utf8 ??= chosenUtf8()).decode(bytes);
  } catch {
    return null;
  }
}
