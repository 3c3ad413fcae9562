/** Signatures and points beside the good ones, with what every implementation of ECDSA has to say of each. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import { concatBytes, toUtf8 } from "../../src/bytes.js";
import { withS } from "../support/high-s.js";
import type { Curve } from "../../src/verify/ecdsa.js";
import { der } from "../support/der.js";
import {
  CURVES,
  FACTS,
  type Signer,
  X_OF_Y_ONE,
  coordinates,
  newSigner,
  pointAt,
  smallestPoint,
  toBigInt,
  unsigned,
} from "./keys.js";

export const MESSAGE = toUtf8("what was signed");
export const signers = Object.fromEntries(CURVES.map((curve) => [curve, newSigner(curve)])) as Record<Curve, Signer>;

/** `r ‖ s` of other numbers. */
function scalars(curve: Curve, change: (r: bigint, s: bigint) => [bigint, bigint]): Uint8Array {
  const { length } = FACTS[curve];
  const signature = signers[curve].sign(MESSAGE);
  const [r, s] = change(toBigInt(signature.subarray(0, length)), toBigInt(signature.subarray(length)));
  return concatBytes(unsigned(r, length), unsigned(s, length));
}

type Scalars = (r: bigint, s: bigint, n: bigint, largest: bigint) => [bigint, bigint];
const OTHER_SCALARS: Readonly<Record<string, Scalars>> = {
  "with r = 0": (_r, s) => [0n, s],
  "with s = 0": (r) => [r, 0n],
  "with r = n": (_r, s, n) => [n, s],
  "with s = n": (r, _s, n) => [r, n],
  "with r = s = n": (_r, _s, n) => [n, n],
  "with s = n + 1": (r, _s, n) => [r, n + 1n],
  "with r above n": (_r, s, _n, largest) => [largest, s],
  "with s above n": (r, _s, _n, largest) => [r, largest],
  "with r negated": (r, s, n) => [n - r, s],
  "with r and s exchanged": (r, s) => [s, r],
  "with r = s = 1": () => [1n, 1n],
};

export interface SignatureRow {
  readonly name: string;
  readonly curve: Curve;
  readonly valid: boolean;
  readonly signature: Uint8Array;
  readonly point: Uint8Array;
  readonly message: Uint8Array;
}

export const signatureRows = CURVES.flatMap((curve): SignatureRow[] => {
  const { point, sign } = signers[curve];
  const { length, n } = FACTS[curve];
  const other = newSigner(curve);
  const good = sign(MESSAGE);
  const largest = 2n ** BigInt(8 * length) - 1n;
  const long = new Uint8Array(5000).fill(7);
  const row = (
    name: string,
    valid: boolean,
    signature: Uint8Array,
    more: Partial<SignatureRow> = {},
  ): SignatureRow => ({ name: `${curve} ${name}`, curve, valid, signature, point, message: MESSAGE, ...more });
  return [
    row("valid", true, good),
    row("valid, with a low S", true, withS("low", good)),
    row("valid, with a high S", true, withS("high", good)),
    row("valid, over an empty message", true, sign(new Uint8Array()), { message: new Uint8Array() }),
    row("valid, over a long message", true, sign(long), { message: long }),
    row(
      "valid, in the middle of a longer buffer",
      true,
      concatBytes(Uint8Array.of(1), good, Uint8Array.of(2)).subarray(1, 1 + good.length),
    ),
    row("by another key", false, other.sign(MESSAGE)),
    row("under another key", false, good, { point: other.point }),
    row("under the key's negative", false, good, { point: negative(curve, point) }),
    row("over another message", false, good, { message: toUtf8("what was not signed") }),
    row("over a longer message", false, good, { message: concatBytes(MESSAGE, Uint8Array.of(0)) }),
    row("over the message's hash", false, good, { message: sha(curve, MESSAGE) }),
    row("of all zeros", false, new Uint8Array(2 * length)),
    ...Object.entries(OTHER_SCALARS).map(([name, change]) =>
      row(
        name,
        false,
        scalars(curve, (r, s) => change(r, s, n, largest)),
      ),
    ),
    row("empty", false, new Uint8Array()),
    row("a byte short", false, good.subarray(1)),
    row("a byte long", false, concatBytes(good, Uint8Array.of(0))),
    row(
      "a zero byte before r and before s",
      false,
      concatBytes(Uint8Array.of(0), good.subarray(0, length), Uint8Array.of(0), good.subarray(length)),
    ),
    row(
      "in DER",
      false,
      der(
        0x30,
        der(0x02, Uint8Array.of(0), good.subarray(0, length)),
        der(0x02, Uint8Array.of(0), good.subarray(length)),
      ),
    ),
    row("of the other curve's length", false, new Uint8Array(curve === "P-256" ? 96 : 64).fill(1)),
    ...[0, length - 1, length, 2 * length - 1].map((index) =>
      row(`with a bit of byte ${index} turned over`, false, flipped(good, index)),
    ),
  ];
});

function negative(curve: Curve, point: Uint8Array): Uint8Array {
  const { x, y } = coordinates(point);
  return pointAt(curve, x, FACTS[curve].p - y);
}

/** The curve's hash, by Node. */
export function sha(curve: Curve, bytes: Uint8Array): Uint8Array {
  return new Uint8Array(
    createHash(curve === "P-256" ? "sha256" : "sha384")
      .update(bytes)
      .digest(),
  );
}

export function flipped(bytes: Uint8Array, index: number): Uint8Array {
  const copy = bytes.slice();
  copy[index]! ^= 1;
  return copy;
}

export interface PointRow {
  readonly name: string;
  readonly curve: Curve;
  readonly good: boolean;
  readonly point: Uint8Array;
}

export const pointRows = CURVES.flatMap((curve): PointRow[] => {
  const { point } = signers[curve];
  const { length, p, b } = FACTS[curve];
  const { x, y } = coordinates(point);
  const small = smallestPoint(curve);
  const largest = 2n ** BigInt(8 * length) - 1n;
  const row = (name: string, good: boolean, bytes: Uint8Array) => ({
    name: `${curve} ${name}`,
    curve,
    good,
    point: bytes,
  });
  return [
    row("a key", true, point),
    row("its negative", true, negative(curve, point)),
    row("the point of smallest x", true, pointAt(curve, small.x, small.y)),
    row(
      "in the middle of a longer buffer",
      true,
      concatBytes(Uint8Array.of(9, 9, 9), point, Uint8Array.of(9)).subarray(3, 3 + point.length),
    ),
    row("x + p, on the curve modulo p", false, pointAt(curve, small.x + p, small.y)),
    row("the point of y = 1", true, pointAt(curve, X_OF_Y_ONE[curve], 1n)),
    row("y + p, on the curve modulo p", false, pointAt(curve, X_OF_Y_ONE[curve], p + 1n)),
    row("x = p", false, pointAt(curve, p, y)),
    row("y = p", false, pointAt(curve, x, p)),
    row("both coordinates p", false, pointAt(curve, p, p)),
    row("both coordinates all ones", false, pointAt(curve, largest, largest)),
    row("x and y exchanged", false, pointAt(curve, y, x)),
    row("y one more", false, pointAt(curve, x, (y + 1n) % p)),
    row("x one more", false, pointAt(curve, (x + 1n) % p, y)),
    row("both coordinates zero", false, pointAt(curve, 0n, 0n)),
    row("x zero, y = b", false, pointAt(curve, 0n, b)),
    row("on a twist: y² = x³ - 3x + b + 1", false, twistPoint(curve)),
    row("the form byte 0", false, pointAt(curve, x, y, 0x00)),
    row("the form byte 2", false, pointAt(curve, x, y, 0x02)),
    row("the form byte 5", false, pointAt(curve, x, y, 0x05)),
    row("hybrid, with the right parity", false, pointAt(curve, x, y, 0x06 + Number(y & 1n))),
    row("hybrid, with the wrong parity", false, pointAt(curve, x, y, 0x07 - Number(y & 1n))),
    row("compressed", false, concatBytes(Uint8Array.of(0x02 + Number(y & 1n)), unsigned(x, length))),
    row("infinity", false, Uint8Array.of(0)),
    row("infinity, as long as a point", false, new Uint8Array(1 + 2 * length)),
    row("empty", false, new Uint8Array()),
    row("a byte short", false, point.subarray(0, -1)),
    row("a byte long", false, concatBytes(point, Uint8Array.of(0))),
    row("without its form byte", false, point.subarray(1)),
    row("of the other curve", false, signers[curve === "P-256" ? "P-384" : "P-256"].point),
  ];
});

/** A point of another curve over the same field: an implementation that does not ask would compute with it. */
function twistPoint(curve: Curve): Uint8Array {
  const { p, b } = FACTS[curve];
  const y = 5n;
  // x = 0 needs y² = b + d: the d that makes it so is not 0.
  expect((y * y - b) % p).not.toBe(0n);
  return pointAt(curve, 0n, y);
}
