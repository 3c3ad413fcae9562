/** What is read of answers with accounts or private keys, and what is handed on (door/README.md, "Addresses"). */
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { type AccountAnswer, readAccountAnswer } from "../../src/door/account-answers.js";
import { JsonNumber, type JsonObject } from "../../src/decode/json.js";
import { ADDRESSES, OTHER_SECRET, PUBLIC_KEY } from "../support/chains.js";

const organizationId = "an-organization";
const KEY = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const ACCOUNT = {
  walletAccountId: "an-account",
  organizationId,
  walletId: "a-wallet",
  curve: "CURVE_SECP256K1",
  path: "m/44'/118'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_COSMOS",
  address: "cosmos1zcjduepqw0k6z8ar5rvgyyqpvqvwtvl3jwdpq2xy",
};
const read = (answer: JsonObject, operation: string): Promise<AccountAnswer> =>
  readAccountAnswer(answer, operation, organizationId);

describe("an answer with accounts or private keys", () => {
  it("has a public key among what is unverified, if no address is computed from it", async () => {
    const more = { publicKey: KEY, createdAt: { seconds: new JsonNumber("1e400") } };
    const { value, items } = await read({ account: { ...ACCOUNT, ...more } }, "get_wallet_account");
    expect(value).toEqual({ account: ACCOUNT, unverified: { account: more } });
    expect(items.map(({ isKeyOwn }) => isKeyOwn)).toEqual([null]);
  });

  it("compares a public key with each address of a private key that it can compute", async () => {
    const names = { privateKeyId: "a-key", curve: "CURVE_SECP256K1" };
    const cosmos = { format: "ADDRESS_FORMAT_COSMOS", address: ACCOUNT.address };
    const own = { format: "ADDRESS_FORMAT_COMPRESSED", address: KEY };
    const another = { format: "ADDRESS_FORMAT_ETHEREUM", address: `0x${"42".repeat(20)}` };
    const keys = [[cosmos, own], [own, another], [cosmos], []].map((addresses) => ({
      ...names,
      addresses,
      publicKey: KEY,
    }));
    const { value, items } = await read({ privateKeys: keys }, "list_private_keys");
    expect(items.map(({ isKeyOwn }) => isKeyOwn)).toEqual([true, false, null, null]);
    const judged = value["privateKeys"] as JsonObject[];
    expect(judged.map(({ publicKey = null }) => publicKey)).toEqual([KEY, null, null, null]);
  });

  it("compares a public key with addresses of other chains", async () => {
    const names = { privateKeyId: "a-key", curve: "CURVE_SECP256K1" };
    const addresses = (["TRON", "BITCOIN_MAINNET_P2TR", "XRP", "BITCOIN_MAINNET_P2WSH"] as const).map((name) => ({
      format: `ADDRESS_FORMAT_${name}`,
      address: ADDRESSES[name],
    }));
    const keys = [PUBLIC_KEY, secp256k1.getPublicKey(OTHER_SECRET)].map((key) => ({
      ...names,
      addresses,
      publicKey: toHex(key),
    }));
    const { items } = await read({ privateKeys: keys }, "list_private_keys");
    expect(items.map(({ isKeyOwn }) => isKeyOwn)).toEqual([true, false]);
  });

  it("has other members of an address of a private key among what is unverified", async () => {
    const address = { format: "ADDRESS_FORMAT_COMPRESSED", address: KEY };
    const key = { privateKeyId: "a-key", curve: "" };
    const addresses = [address, { ...address, memo: "0x42" }];
    const { value } = await read({ privateKey: { ...key, addresses } }, "get_private_key");
    expect(value).toEqual({
      privateKey: { ...key, addresses: [address, address] },
      unverified: { privateKey: { addresses: [{}, { memo: "0x42" }] } },
    });
  });

  it("compares at most a thousand public keys, and lets other work go on meanwhile", async () => {
    const own = { ...ACCOUNT, addressFormat: "ADDRESS_FORMAT_COMPRESSED", address: KEY, publicKey: KEY };
    // What compares is loaded before the turns of other work are counted.
    await read({ account: own }, "get_wallet_account");
    let turns = 0;
    const timer = setInterval(() => turns++);
    const { items } = await read({ accounts: Array.from({ length: 1100 }, () => own) }, "list_wallet_accounts");
    clearInterval(timer);
    expect(items.filter(({ isKeyOwn }) => isKeyOwn === true)).toHaveLength(1000);
    expect(items.filter(({ isKeyOwn }) => isKeyOwn === null)).toHaveLength(100);
    expect(turns).toBeGreaterThan(20);
  });
});
