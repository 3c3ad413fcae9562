/** Digests of typed data (EIP-712) and of authorizations (EIP-7702), as viem and ethers compute them. */
import { TypedDataEncoder, concat, encodeRlp, keccak256, toBeArray } from "ethers";
import { type Hex, hashTypedData } from "viem";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { payloadBytes, typedDataBudget } from "../../src/verify/signed-content.js";
import { type Typed, type Member, digestOf, members, typed } from "../support/typed-data.js";
import { fc } from "../support/property.js";

const byViem = (data: Typed): Hex => hashTypedData(data as never);
/** ethers makes the domain's type itself. */
const byEthers = ({ types, domain, message }: Typed): string => {
  const others = Object.entries(types).filter(([name]) => name !== "EIP712Domain");
  return TypedDataEncoder.hash(domain, Object.fromEntries(others) as never, message);
};

const hexText = (length: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => `0x${toHex(bytes)}`);
const integer = (min: bigint, max: bigint): fc.Arbitrary<JsonValue> =>
  fc.bigInt({ min, max }).chain((value) => {
    const texts = value < 0n ? [String(value)] : [String(value), `0x${value.toString(16)}`];
    return fc.constantFrom<JsonValue>(...texts, ...(Number.isSafeInteger(Number(value)) ? [Number(value)] : []));
  });
const ATOMS: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
  address: hexText(20),
  bool: fc.boolean(),
  string: fc.string({ unit: "grapheme", maxLength: 40 }),
  bytes: fc.nat(70).chain(hexText),
  bytes1: hexText(1),
  bytes31: hexText(31),
  bytes32: hexText(32),
  uint8: integer(0n, 255n),
  uint160: integer(0n, 2n ** 160n - 1n),
  uint256: integer(0n, 2n ** 256n - 1n),
  int24: integer(-(2n ** 23n), 2n ** 23n - 1n),
  int256: integer(-(2n ** 255n), 2n ** 255n - 1n),
};
const SUFFIXES = ["", "", "", "[]", "[2]", "[][1]", "[2][]"];
const NAMES = ["Root", "Zebra", "Alpha", "Order"];
const DOMAIN = {
  types: [
    { name: "name", type: "string" },
    { name: "chainId", type: "uint256" },
  ],
  value: { name: "test", chainId: 1 },
};

/** Types of which each refers to later ones only; where `isRecursive`, in lists also to any. */
function randomTyped(g: fc.GeneratorValue, isRecursive: boolean): Typed {
  const types: Record<string, Member[]> = { EIP712Domain: DOMAIN.types };
  const pick = (values: readonly string[]): string => g(() => fc.constantFrom(...values));
  NAMES.forEach((name, place) => {
    // The root refers to all, so that ethers finds it.
    const referred = name === "Root" ? NAMES.slice(1).map((other) => other + pick(SUFFIXES)) : [];
    const atoms = Array.from({ length: g(fc.nat, 3) }, () => pick(Object.keys(ATOMS)) + pick(SUFFIXES));
    const later = NAMES.slice(place + 1);
    const structs = later.length > 0 && g(fc.boolean) ? [pick(later) + pick(SUFFIXES)] : [];
    const lists = isRecursive ? [`${pick(NAMES)}[]`, `${pick(NAMES)}[][]`] : [];
    types[name] = members(...referred, ...atoms, ...structs, ...lists);
  });
  const valueOf = (type: string, left: number): JsonValue => {
    const [, item, count] = /^(.+)\[(\d*)\]$/.exec(type) ?? [];
    if (item !== undefined) {
      const length = count === "" ? Math.min(g(fc.nat, 2), left) : Number(count);
      return Array.from({ length }, () => valueOf(item, left - 1));
    }
    return types[type] === undefined ? g(() => ATOMS[type]!) : structOf(type, left);
  };
  const structOf = (name: string, left: number): JsonObject =>
    Object.fromEntries(types[name]!.map((member) => [member.name, valueOf(member.type, left)]));
  return { types, primaryType: "Root", domain: DOMAIN.value, message: structOf("Root", 2) };
}

/** Each run hashes some hundred values, so there are few, and a failure is not shrunk. */
const RUNS = { numRuns: 40, endOnFailure: true };

describe("typed data", () => {
  it("of random types has the digest that viem and ethers compute", () => {
    const property = fc.property(fc.gen(), (g) => {
      const data = randomTyped(g, false);
      const digest = digestOf(data);
      expect([byViem(data), byEthers(data)]).toEqual([digest, digest]);
    });
    fc.assert(property, RUNS);
  });

  it("of random types that refer to themselves through lists has the digest that viem computes", () => {
    const property = fc.property(fc.gen(), (g) => {
      const data = randomTyped(g, true);
      expect(digestOf(data)).toBe(byViem(data));
    });
    fc.assert(property, RUNS);
  });

  it.each(["[]", "[1]"])("with 24 array levels %s has the digest that viem and ethers compute", (suffix) => {
    const types = { Root: members(`Leaf${suffix.repeat(24)}`), Leaf: members("uint8", "string") };
    let value: JsonValue = { m0: 7, m1: "deep" };
    for (let level = 0; level < 24; level++) value = [value];
    const data = typed(types, { m0: value });
    expect([byViem(data), byEthers(data)]).toEqual([digestOf(data), digestOf(data)]);
  });

  it("with a colon in the name of its type has the digest that ethers computes", () => {
    const types = { "Exchange:Send": members("string", "uint64") };
    const data = { ...typed(types, { m0: "to", m1: 7 }), primaryType: "Exchange:Send" };
    expect(digestOf(data)).toBe(byEthers(data));
  });
});

describe("an authorization", () => {
  it.each([0, 1, 23, 24, 25, 32])("with a chain of %i bytes has the digest that ethers computes", (length) => {
    const chainId = (1n << BigInt(8 * length)) - 1n;
    const [address, nonce] = [`0x${"22".repeat(20)}`, 2n ** 64n - 1n];
    const text = JSON.stringify({ address, chainId: String(chainId), nonce: String(nonce) });
    const list = encodeRlp([toBeArray(chainId), address, toBeArray(nonce)]);
    const digest = payloadBytes(text, "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION", typedDataBudget());
    expect(`0x${toHex(digest)}`).toBe(keccak256(concat(["0x05", list])));
  });
});
