/** A DER encoder (ITU-T X.690) for certificates. It does not check its input. */
import { concatBytes, toUtf8 } from "../bytes.js";

function der(tag: number, ...contents: Uint8Array[]): Uint8Array {
  const content = concatBytes(...contents);
  return concatBytes(Uint8Array.of(tag), derLength(content.length), content);
}

function derLength(length: number): Uint8Array {
  return length < 0x80
    ? Uint8Array.of(length)
    : concatBytes(Uint8Array.of(0x80 | base256(length).length), base256(length));
}

export function derSequence(...items: Uint8Array[]): Uint8Array {
  return der(0x30, ...items);
}

export function derSet(...items: Uint8Array[]): Uint8Array {
  return der(0x31, ...items);
}

/** Encodes an integer: big-endian bytes, or a number of at least 0. */
export function derInteger(value: Uint8Array | number): Uint8Array {
  const bytes = typeof value === "number" ? base256(value) : value;
  return der(0x02, bytes[0]! > 0x7f ? Uint8Array.of(0) : new Uint8Array(), bytes);
}

export function derTrue(): Uint8Array {
  return der(0x01, Uint8Array.of(0xff));
}

export function derOctetString(bytes: Uint8Array): Uint8Array {
  return der(0x04, bytes);
}

export function derBitString(bytes: Uint8Array, unusedBits = 0): Uint8Array {
  return der(0x03, Uint8Array.of(unusedBits), bytes);
}

/** Encodes a list of fewer than eight bits without trailing zeros. `bits` are the set bits. */
export function derNamedBits(...bits: number[]): Uint8Array {
  if (bits.length === 0) return derBitString(new Uint8Array());
  const byte = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  return derBitString(Uint8Array.of(byte), 7 - Math.max(...bits));
}

/** Encodes an identifier. `id` is in dotted form. */
export function derOid(id: string): Uint8Array {
  const [first, second, ...rest] = id.split(".").map(Number);
  return der(0x06, ...[40 * first! + second!, ...rest].map(base128));
}

export function derUtf8String(text: string): Uint8Array {
  return der(0x0c, toUtf8(text));
}

export function derPrintableString(text: string): Uint8Array {
  return der(0x13, toUtf8(text));
}

/** Encodes UTCTime until 2049, then GeneralizedTime (RFC 5280 section 4.1.2.5), without fractions of a second. */
export function derTime(date: Date): Uint8Array {
  return date.getUTCFullYear() < 2050 ? der(0x17, toUtf8(timeDigits(date).slice(2))) : derGeneralizedTime(date);
}

export function derGeneralizedTime(date: Date): Uint8Array {
  return der(0x18, toUtf8(timeDigits(date)));
}

function timeDigits(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`;
}

/** Encodes `[number] EXPLICIT`. */
export function derExplicit(number: number, item: Uint8Array): Uint8Array {
  return der(0xa0 | number, item);
}

/** Encodes `[number] IMPLICIT` of a SET or SEQUENCE. */
export function derImplicit(number: number, ...items: Uint8Array[]): Uint8Array {
  return der(0xa0 | number, ...items);
}

/** Encodes a GeneralName of the kind uniformResourceIdentifier (RFC 5280 section 4.2.1.6). */
export function derUri(text: string): Uint8Array {
  return der(0x86, toUtf8(text));
}

function base256(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0 || bytes.length === 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Uint8Array.from(bytes);
}

function base128(value: number): Uint8Array {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return Uint8Array.from(bytes);
}
