/** Addresses that are computed from public keys (verify/README.md, "Signatures"). */
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { isAddressOf } from "../../src/verify/signatures.js";

/** The public keys of the private keys 1 and 2, whose Ethereum addresses are well known. */
const KEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const OTHER = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5";
const ETHEREUM = "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf";
/** The key of RFC 8032, section 7.1, test 1, and its base58. */
const ED25519 = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const SOLANA = "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z";
const uncompressed = toHex(secp256k1.Point.fromHex(KEY).toBytes(false));
const [p256Key, p256Other] = [1, 2].map((last) => {
  const key = new Uint8Array(32);
  key[31] = last;
  return [p256.getPublicKey(key, true), p256.getPublicKey(key, false)].map(toHex) as [string, string];
}) as [[string, string], [string, string]];

describe("an address and a public key", () => {
  it.each([
    ["Ethereum", ETHEREUM, KEY],
    ["Ethereum in lower case, and an uncompressed key", ETHEREUM.toLowerCase(), uncompressed],
    ["Ethereum, and a key with 0x and capitals", ETHEREUM, `0x${KEY.toUpperCase()}`],
    ["compressed", KEY, KEY],
    ["compressed, and an uncompressed key", KEY, uncompressed],
    ["uncompressed", uncompressed, KEY],
    ["compressed on P-256", p256Key[0], p256Key[0]],
    ["uncompressed on P-256", p256Key[1], p256Key[0]],
    ["Solana", SOLANA, ED25519],
    ["Bitcoin", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", KEY],
    ["Tron", "TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC", uncompressed],
    ["Ed25519 in hex", ED25519, ED25519],
  ])("belong together: %s", async (_, address, key) => {
    await expect(isAddressOf(address, key)).resolves.toBe(true);
  });

  it.each([
    ["Ethereum", ETHEREUM, OTHER],
    ["compressed", KEY, OTHER],
    ["uncompressed", uncompressed, OTHER],
    ["compressed on P-256", p256Key[0], p256Other[0]],
    ["a point of the other curve", p256Key[1], KEY],
    ["Solana", SOLANA, `${ED25519.slice(0, -2)}00`],
    ["Solana, and a key of secp256k1", SOLANA, KEY],
    ["Ethereum, and a key of Ed25519", ETHEREUM, ED25519],
    ["no hex", ETHEREUM, "key"],
    ["no point", ETHEREUM, `02${"ff".repeat(32)}`],
    ["nothing", KEY, ""],
  ])("do not: %s", async (_, address, key) => {
    await expect(isAddressOf(address, key)).resolves.toBe(false);
  });

  it.each([
    ["Cosmos", "cosmos1zcjduepqw0k6z8ar5rvgyyqpvqvwtvl3jwdpq2xy"],
    ["Sui", `0x${"ab".repeat(32)}`],
    ["an id", "9f36ab0e-9075-47bb-90ae-13e0b38b989d"],
  ])("are not compared: %s", async (_, address) => {
    await expect(isAddressOf(address, KEY)).resolves.toBeNull();
  });
});
