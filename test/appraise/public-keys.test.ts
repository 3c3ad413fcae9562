/** Keys whose secrets are public. */
import { ECDH } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isNobodysSet, isPublicSecret } from "../../src/appraise/public-keys.js";
import { PUBLIC_KEYS } from "../support/public-keys.js";

const HALF = 130;
const other = "04".repeat(65);

describe.each(PUBLIC_KEYS.map((key, index) => [index, key] as const))("public key %i", (index, key) => {
  const halves = [key.slice(0, HALF), key.slice(HALF)] as const;

  it("is two points of P-256, each 65 bytes, which no other key has", () => {
    for (const half of halves) expect(ECDH.convertKey(half, "prime256v1", "hex", "hex", "uncompressed")).toBe(half);
    const all = PUBLIC_KEYS.flatMap((one) => [one.slice(0, HALF), one.slice(HALF)]);
    expect(all.filter((half) => halves.includes(half)).length).toBe(2);
    expect(PUBLIC_KEYS.indexOf(key)).toBe(index);
  });

  it("is known by its points negated, too: their secrets are as public", () => {
    for (const half of halves) {
      const y = (2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n - BigInt(`0x${half.slice(66)}`)).toString(16);
      const negated = half.slice(0, 66) + y.padStart(64, "0");
      expect(ECDH.convertKey(negated, "prime256v1", "hex", "hex", "uncompressed")).toBe(negated);
      expect(isPublicSecret(negated + other)).toBe(true);
    }
  });

  it("is known whole, and by either half where that stands", () => {
    expect(isPublicSecret(key)).toBe(true);
    expect(isPublicSecret(halves[0] + other)).toBe(true);
    expect(isPublicSecret(other + halves[1])).toBe(true);
    expect(isPublicSecret(halves[1] + halves[0])).toBe(true);
    expect(isPublicSecret(other + other)).toBe(false);
    expect(isPublicSecret(halves[0].slice(0, 30) + other.slice(30) + other)).toBe(false);
    expect(isPublicSecret(other.slice(2) + halves[0] + other.slice(2))).toBe(false);
  });
});

it("are the default quorum key and the two of the share set", () => {
  expect(PUBLIC_KEYS.length).toBe(3);
});

it("a set is nobody's as soon as they reach its threshold", () => {
  const [a, b] = PUBLIC_KEYS as [string, string];
  const set = (threshold: number): boolean => isNobodysSet({ threshold, members: [other + other, a, b] });
  expect([1, 2, 3].map(set)).toEqual([true, true, false]);
});
