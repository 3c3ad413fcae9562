/** Signatures of the lab, compared with viem and Solana's package. */
import { Keypair, PublicKey, SystemProgram, Transaction } from "@solana/web3.js";
import { base58 } from "@scure/base";
import {
  type Hex,
  type TransactionSerializable,
  keccak256,
  parseTransaction,
  recoverAddress,
  recoverTransactionAddress,
  serializeTransaction,
  toHex,
} from "viem";
import { afterAll, describe, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import { type Json, account, completed, judge, query, submit } from "../lab/support.js";

const lab = await startLab();
afterAll(() => lab.close());
const proven = { generateAppProofs: true };
const ed25519 = { ...account("m/44'/501'/0'/0'", "ADDRESS_FORMAT_SOLANA"), curve: "CURVE_ED25519" };
const made = await completed(
  submit(lab, "createWalletAccounts", { walletId: lab.ids.walletId, accounts: [ed25519, account("m/1")] }, proven),
);
const [solana, ethereum] = made["result"].createWalletAccountsResult.addresses as [string, Hex];

const sign = async (
  name: "signRawPayload" | "signRawPayloads" | "signTransaction",
  parameters: Json,
): Promise<Json> => {
  const activity = await completed(submit(lab, name, parameters, proven));
  expect((await judge(lab, activity)).checks.filter(({ status }) => status === "fail")).toEqual([]);
  return Object.values(activity["result"])[0] as Json;
};
const recovered = ({ r, s, v }: Json, hash: Hex): Promise<Hex> =>
  recoverAddress({ hash, signature: { r: `0x${r}`, s: `0x${s}`, yParity: Number(v) } });
const raw = (payload: string, encoding: string, hashFunction: string): Json => ({
  signWith: ethereum,
  payload,
  encoding: `PAYLOAD_ENCODING_${encoding}`,
  hashFunction: `HASH_FUNCTION_${hashFunction}`,
});

describe("create_wallet_accounts", () => {
  it.each([
    ["an account that the wallet has", { accounts: [account("m/1")] }],
    ["an Ed25519 account with a step that is not hardened", { accounts: [{ ...ed25519, path: "m/0" }] }],
    ["an Ethereum address of Ed25519", { accounts: [{ ...account("m/3'"), curve: "CURVE_ED25519" }] }],
    ["a wallet of no organization", { walletId: "w", accounts: [account("m/3")] }],
  ])("refuses %s", async (_, parameters) => {
    const { status } = await submit(lab, "createWalletAccounts", { walletId: lab.ids.walletId, ...parameters });
    expect(status).toBe("walletId" in parameters ? 404 : 400);
  });
});

describe("sign_raw_payload", () => {
  const text = "a message";
  it("signs with the key of an id, too", async () => {
    const { body } = await query(lab, "get_wallet_account", { walletId: lab.ids.walletId, address: ethereum });
    const parameters = { ...raw(text, "TEXT_UTF8", "KECCAK256"), signWith: body["account"].walletAccountId };
    expect(await recovered(await sign("signRawPayload", parameters), keccak256(toHex(text)))).toBe(ethereum);
    const key = { privateKeyName: "k", curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };
    const created = await completed(submit(lab, "createPrivateKeys", { privateKeys: [key] }));
    const [{ privateKeyId, addresses }] = created["result"].createPrivateKeysResultV2.privateKeys;
    const signed = await sign("signRawPayload", { ...parameters, signWith: privateKeyId });
    expect(await recovered(signed, keccak256(toHex(text)))).toBe(addresses[0].address);
    const { privateKey } = (await query(lab, "get_private_key", { privateKeyId })).body;
    expect(privateKey).toMatchObject({ privateKeyId, addresses, curve: "CURVE_SECP256K1" });
    expect((await query(lab, "list_private_keys")).body["privateKeys"]).toEqual([privateKey]);
  });

  it.each([
    ["a payload that is not a digest, without a hash", raw(text, "TEXT_UTF8", "NO_OP"), 400],
    ["a payload that is not hex", raw(text, "HEXADECIMAL", "SHA256"), 400],
    ["typed data that is not JSON", raw(text, "EIP712", "NO_OP"), 400],
    ["a hash for Ed25519", { ...raw(text, "TEXT_UTF8", "SHA256"), signWith: solana }, 400],
    ["an unknown key", { ...raw(text, "TEXT_UTF8", "SHA256"), signWith: "0x" }, 404],
  ])("refuses %s", async (_, parameters, status) => {
    expect(await submit(lab, "signRawPayload", parameters)).toMatchObject({ status });
  });
});

describe("sign_transaction", () => {
  const to = "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC" as const;
  const common = { to, nonce: 3, gas: 21_000n, value: 10n ** 18n, data: "0x01" } as const;
  const authorization = { address: to, chainId: 1, nonce: 1, r: "0x01", s: "0x02", yParity: 0 } as const;

  it.each<[string, TransactionSerializable]>([
    ["a legacy one with a chain", { ...common, type: "legacy", chainId: 8453, gasPrice: 7n }],
    ["a legacy one without a chain", { ...common, type: "legacy", gasPrice: 7n }],
    [
      "EIP-2930",
      { ...common, type: "eip2930", chainId: 1, gasPrice: 7n, accessList: [{ address: to, storageKeys: [] }] },
    ],
    ["EIP-1559", { ...common, type: "eip1559", chainId: 1, maxFeePerGas: 7n, maxPriorityFeePerGas: 0n }],
    ["a long one", { ...common, type: "eip1559", chainId: 1, maxFeePerGas: 7n, data: `0x${"ab".repeat(3000)}` }],
    ["EIP-7702", { ...common, type: "eip7702", chainId: 1, maxFeePerGas: 7n, authorizationList: [authorization] }],
  ])("signs %s", async (_, transaction) => {
    const unsigned = serializeTransaction(transaction);
    const { signedTransaction } = await sign("signTransaction", {
      signWith: ethereum,
      unsignedTransaction: unsigned.slice(2),
      type: "TRANSACTION_TYPE_ETHEREUM",
    });
    const serializedTransaction = `0x${signedTransaction}` as Parameters<
      typeof recoverTransactionAddress
    >[0]["serializedTransaction"];
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(ethereum);
    const signature = { r: undefined, s: undefined, v: undefined, yParity: undefined };
    const unsignedAgain = { ...parseTransaction(serializedTransaction), ...signature } as TransactionSerializable;
    expect(serializeTransaction(unsignedAgain)).toBe(unsigned);
  });

  const other = Keypair.generate();
  const payer = new PublicKey(solana);
  const instructions = [SystemProgram.transfer({ fromPubkey: payer, toPubkey: other.publicKey, lamports: 5 })];
  const recentBlockhash = base58.encode(new Uint8Array(32).fill(7));

  it("signs a legacy one of Solana, and keeps other signatures", async () => {
    const transaction = new Transaction({ feePayer: payer, recentBlockhash }).add(
      ...instructions,
      SystemProgram.transfer({ fromPubkey: other.publicKey, toPubkey: payer, lamports: 1 }),
    );
    transaction.partialSign(other);
    const unsignedTransaction = transaction.serialize({ requireAllSignatures: false }).toString("hex");
    const parameters = { signWith: solana, unsignedTransaction, type: "TRANSACTION_TYPE_SOLANA" };
    const { signedTransaction } = await sign("signTransaction", parameters);
    expect(Transaction.from(Buffer.from(signedTransaction, "hex")).verifySignatures()).toBe(true);
  });

  it.each([
    ["bytes that are no transaction", { signWith: ethereum, unsignedTransaction: "02c0" }],
    ["trailing bytes", { signWith: ethereum, unsignedTransaction: "c000" }],
    ["a type of another curve", { signWith: solana, unsignedTransaction: "c0" }],
  ])("refuses %s", async (_, parameters) => {
    expect(await submit(lab, "signTransaction", { ...parameters, type: "TRANSACTION_TYPE_ETHEREUM" })).toMatchObject({
      status: 400,
    });
  });
});
