/** Signers of viem, ethers and Solana over wrapped clients: wallets, messages and transactions, honest and not. */
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from "@solana/web3.js";
import { TurnkeySigner as EthersSigner } from "@turnkey/ethers";
import { TurnkeySigner as SolanaSigner } from "@turnkey/solana";
import { createAccount } from "@turnkey/viem";
import { ed25519 } from "@noble/curves/ed25519.js";
import { Transaction as EthersTransaction, TypedDataEncoder, verifyMessage, verifyTypedData } from "ethers";
import {
  getTypesForEIP712Domain,
  parseTransaction,
  recoverTransactionAddress,
  verifyMessage as viemVerify,
  verifyTypedData as viemTyped,
} from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { reportOf, verified } from "../../src/adapters/index.js";
import { startLab } from "../../src/lab/index.js";
import { account } from "../lab/support.js";
import { SDKS, inputOf, placeOf } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));
const { organizationId, policy } = lab;

const TYPED = {
  domain: { name: "test", chainId: 1 },
  types: { Note: [{ name: "text", type: "string" }] },
  message: { text: "hello" },
} as const;
const TO = `0x${"22".repeat(20)}` as const;
const SOLANA_ACCOUNT = {
  curve: "CURVE_ED25519",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/501'/0'/0'",
  addressFormat: "ADDRESS_FORMAT_SOLANA",
};

describe.each(SDKS)("over $name", (sdk) => {
  const client = verified(sdk.client(placeOf(lab)), { policy, pollIntervalMs: 1 });
  let [ethereum, solana] = ["", ""];

  beforeAll(async () => {
    const accounts = [account("m/44'/60'/0'/0/0"), SOLANA_ACCOUNT];
    const value = await client["createWallet"]!(
      inputOf(sdk, "createWallet", organizationId, { walletName: `for signers of ${sdk.name}`, accounts }),
    );
    expect(reportOf(value)?.verdict).toBe("verified");
    const result = sdk.isFlat ? value : value["activity"].result.createWalletResult;
    [ethereum, solana] = result.addresses as [string, string];
    const more = { walletId: result.walletId as string, accounts: [account("m/44'/60'/0'/0/1")] };
    const added = await client["createWalletAccounts"]!(inputOf(sdk, "createWalletAccounts", organizationId, more));
    expect(reportOf(added)?.verdict).toBe("verified");
  });

  it("viem signs messages, typed data and transactions", async () => {
    const signer = await createAccount({ client: client as never, organizationId, signWith: ethereum });
    const address = ethereum as `0x${string}`;
    const signature = await signer.signMessage({ message: "hello" });
    expect(await viemVerify({ address, message: "hello", signature })).toBe(true);
    // As viem's wallet client calls an account.
    const types = { EIP712Domain: getTypesForEIP712Domain({ domain: TYPED.domain }), ...TYPED.types };
    const typed = { ...TYPED, types, primaryType: "Note" } as const;
    expect(await viemTyped({ address, ...typed, signature: await signer.signTypedData(typed as never) } as never)).toBe(
      true,
    );
    const signed = await signer.signTransaction({
      type: "eip1559",
      chainId: 1,
      nonce: 3,
      gas: 21000n,
      to: TO,
      value: 1n,
    });
    expect(await recoverTransactionAddress({ serializedTransaction: signed as `0x02${string}` })).toBe(address);
    expect(parseTransaction(signed).to).toBe(TO);
  });

  it("viem's error has the ids of the failed checks", async () => {
    const signer = await createAccount({ client: client as never, organizationId, signWith: ethereum });
    lab.setFault("signature-of-another-key");
    await expect(signer.signMessage({ message: "hello" })).rejects.toThrow(
      /Failed to sign: rejected: activity\.signature/,
    );
    lab.setFault("another-recipient");
    const transaction = { type: "eip1559", chainId: 1, nonce: 3, gas: 21000n, to: TO, value: 1n } as const;
    await expect(signer.signTransaction(transaction)).rejects.toThrow(/Failed to sign: rejected: activity\.signature/);
  });

  it("ethers signs messages, typed data and transactions", async () => {
    const signer = new EthersSigner({ client: client as never, organizationId, signWith: ethereum });
    expect(verifyMessage("hello", await signer.signMessage("hello"))).toBe(ethereum);
    const types = { Note: [...TYPED.types.Note] };
    const signature = await signer.signTypedData(TYPED.domain, types, TYPED.message);
    expect(verifyTypedData(TYPED.domain, types, TYPED.message, signature)).toBe(ethereum);
    expect(TypedDataEncoder.hash(TYPED.domain, types, TYPED.message)).toMatch(/^0x/);
    const signed = await signer.signTransaction({ type: 2, chainId: 1, nonce: 3, gasLimit: 21000, to: TO, value: 1 });
    expect(EthersTransaction.from(signed)).toMatchObject({ from: ethereum });
    lab.setFault("signature-over-another-payload");
    await expect(signer.signMessage("hello")).rejects.toThrow(/rejected: activity\.signature/);
  });

  it("Solana signs messages and transactions, one and many", async () => {
    const signer = new SolanaSigner({ client: client as never, organizationId });
    const from = new PublicKey(solana);
    const message = new TextEncoder().encode("hello");
    const signature = await signer.signMessage(message, solana, organizationId);
    expect(ed25519.verify(new Uint8Array(signature), message, from.toBytes())).toBe(true);
    const pay = (lamports: number): Transaction => {
      const recentBlockhash = Keypair.generate().publicKey.toBase58();
      const transaction = new Transaction({ recentBlockhash, feePayer: from } as never);
      return transaction.add(
        SystemProgram.transfer({ fromPubkey: from, toPubkey: Keypair.generate().publicKey, lamports }),
      );
    };
    const one = pay(1);
    await signer.addSignature(one, solana, organizationId);
    expect(one.verifySignatures()).toBe(true);
    const many = (await signer.signAllTransactions([pay(2), pay(3)], solana, organizationId)) as Transaction[];
    expect(many.map((each) => each.verifySignatures())).toEqual([true, true]);
    const whole = (await signer.signTransaction(pay(4), solana, organizationId)) as Transaction;
    expect(whole.verifySignatures()).toBe(true);
    const { recentBlockhash, instructions } = pay(5);
    const compiled = new TransactionMessage({ payerKey: from, recentBlockhash: recentBlockhash!, instructions });
    const versioned = new VersionedTransaction(compiled.compileToV0Message());
    const signed = (await signer.signTransaction(versioned, solana, organizationId)) as VersionedTransaction;
    expect(ed25519.verify(signed.signatures[0]!, versioned.message.serialize(), from.toBytes())).toBe(true);
    lab.setFault("swapped-signatures");
    await expect(signer.signAllTransactions([pay(6), pay(7)], solana, organizationId)).rejects.toThrow(
      /^rejected: activity\.signature/,
    );
    lab.setFault("signature-of-another-key");
    await expect(signer.signTransaction(pay(8), solana, organizationId)).rejects.toThrow(
      /^rejected: activity\.signature/,
    );
  });
});
