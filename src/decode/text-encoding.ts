/** Decoding of bytes that are written as text: files, and members of JSON (decode/README.md, "Bytes as text"). */
import { fromBase64, fromHex, fromUtf8, toUtf8 } from "../bytes.js";
import type { Fault } from "../errors.js";

type TextEncoding = "hex" | "hex with 0x" | "base64" | "base64 without its padding" | "base64url";

interface DecodedFile {
  readonly bytes: Uint8Array;
  readonly encoding: "binary" | TextEncoding;
}

/**
 * Decodes text that spells bytes, and returns other bytes as they are. White space and a byte order mark do not count,
 * since tools add them.
 */
export function decodeFile(file: Uint8Array): DecodedFile {
  const text = asciiText(file);
  return (text === null ? null : spelled(text)) ?? { bytes: file, encoding: "binary" };
}

// Regular expressions could overflow here.

/** Digits alone are hex, never base64: the base64 of a COSE_Sign1 has another letter among its first three. */
function spelled(text: string): DecodedFile | null {
  const digits = digitsOf(text);
  const isHex = fromHex(digits.length % 2 === 0 ? digits : `0${digits}`) !== null;
  if (isHex) return found(fromHex(digits), digits === text ? "hex" : "hex with 0x");
  const padded = text.padEnd(4 * Math.ceil(text.length / 4), "=");
  const plain = found(fromBase64(text), "base64") ?? found(fromBase64(padded), "base64 without its padding");
  if (plain !== null || text.includes("+") || text.includes("/")) return plain;
  return found(fromBase64(padded.replaceAll("-", "+").replaceAll("_", "/")), "base64url");
}

function digitsOf(text: string): string {
  return text.startsWith("0x") || text.startsWith("0X") ? text.slice(2) : text;
}

function found(bytes: Uint8Array | null, encoding: TextEncoding): DecodedFile | null {
  return bytes === null || bytes.length === 0 ? null : { bytes, encoding };
}

/** Returns the text without white space, or null if not printable ASCII. */
function asciiText(file: Uint8Array): string | null {
  const kept = new Uint8Array(file.length);
  let length = 0;
  for (const byte of startsWith(file, BYTE_ORDER_MARK) ? file.subarray(BYTE_ORDER_MARK.length) : file) {
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    if (byte < 0x20 || byte > 0x7e) return null;
    kept[length++] = byte;
  }
  return fromUtf8(kept.subarray(0, length));
}

const BYTE_ORDER_MARK = "\xef\xbb\xbf";
/** CBOR `{"Attestation": …`, which the NSM driver answers. */
const NSM_ANSWER = "\xa1\x6bAttestation";

/** Whether the bytes start so. `start` has one character for each byte. */
function startsWith(bytes: Uint8Array, start: string): boolean {
  for (let index = 0; index < start.length; index++) if (bytes[index] !== start.charCodeAt(index)) return false;
  return true;
}

/** Returns what bytes are instead of a COSE_Sign1, if that is known: text, or the answer that contains it. */
export function insteadOfCose(bytes: Uint8Array): string | null {
  if (startsWith(bytes, NSM_ANSWER)) return "the answer of the NSM driver: pass the bytes of Attestation.document";
  const { bytes: inside, encoding } = decodeFile(bytes);
  if (encoding === "binary") return null;
  const { encoding: again } = decodeFile(inside);
  return again === "binary"
    ? `${encoding} of the bytes: pass the bytes`
    : `${again} inside ${encoding}: decode it once`;
}

/**
 * Whether a file is an attestation document, perhaps a broken one. Text, which has no NUL, never is one, and decodes to
 * one only if that begins as a COSE_Sign1 does, with 0x84 or 0xd2 0x84.
 */
export function mayBeDocument(file: Uint8Array): boolean {
  const { bytes, encoding } = decodeFile(file);
  if (encoding === "binary") return fromUtf8(bytes)?.includes("\0") !== false && insteadOfCose(bytes) === null;
  return startsWith(bytes, "\x84") || startsWith(bytes, "\xd2\x84");
}

type Strict = "hex" | "base64";

const STRICT: Readonly<Record<Strict, string>> = {
  hex: "hex digits alone",
  base64: "strict base64 (standard alphabet, padded, no white space)",
};
const LINE_BREAK = /[\r\n]/;
/** Shorter text may follow an encoding by chance. No member of evidence has fewer bytes. */
const LEAST_BYTES = 32;

/**
 * Returns the fault of a member's text that spells bytes in another way than the member should, such as base64url or
 * with line breaks. Null for strict text, and for text that spells nothing.
 */
export function otherSpelling(
  text: string,
  expected: Strict,
  strict = strictBytes(text, expected),
): Omit<Fault, "path"> | null {
  // Text of hex digits alone is hex, though it has the alphabet of base64.
  const isStrict = strict !== null && (expected === "hex" || fromHex(digitsOf(text)) === null);
  const { bytes, encoding } = decodeFile(isStrict ? strict : toUtf8(text));
  if (encoding === "binary" || bytes.length < LEAST_BYTES) return null;
  const isBroken = LINE_BREAK.test(text);
  const extra = isBroken ? "line breaks" : "white space or a byte order mark";
  const spaced = encoding === expected || isBroken ? `${encoding} with ${extra}` : encoding;
  const message = `${isStrict ? `${encoding} inside ${expected}` : spaced}: expected ${STRICT[expected]}`;
  return { message, ...(isBroken && { cause: { code: "line-breaks" } }) };
}

/** Returns the bytes of text in the spelling that a member should have, or null. */
export function strictBytes(text: string, expected: Strict): Uint8Array | null {
  return expected === "hex" ? fromHex(text) : fromBase64(text);
}
