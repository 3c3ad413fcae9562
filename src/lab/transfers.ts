/**
 * Operations that bring keys in, take them out, or delete them. They are deployed, but undocumented. The lab opens no
 * sealed secrets: the seed of an imported key is the hash of its bundle.
 */
import { type ReadOf, flag, list, nonEmptyText, object, optional, text } from "../decode/shapes.js";
import { fromHex, toUtf8 } from "../bytes.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { type Call, operation } from "./call.js";
import { accountShape, makePrivateKeys, makeWallet, privateKeyMembers } from "./new-keys.js";
import type { Organization, PrivateKey, Wallet } from "./records.js";
import { invalid, notFound } from "./refusal.js";
import { sealTo } from "./session.js";
import type { Transaction } from "./state.js";
import { owned, ownedOf, userOf } from "./users.js";

const bundle = { userId: nonEmptyText, encryptedBundle: nonEmptyText };
const importWallet = object({ ...bundle, walletName: nonEmptyText, accounts: list(accountShape, 0, 100) });
const importPrivateKey = object({ ...bundle, ...privateKeyMembers });
const target = { targetPublicKey: nonEmptyText };
const ids = list(nonEmptyText, 1, 100);
const deleteWithoutExport = optional(flag);

export const TRANSFER_OPERATIONS = {
  importWallet: operation("ACTIVITY_TYPE_IMPORT_WALLET", importWallet, (call) => {
    const { tx, organization, parameters } = call;
    const made = makeWallet(tx, organization.organizationId, parameters, originOf(call));
    return { result: { walletId: made.walletId, addresses: made.addresses }, addresses: made.proven };
  }),

  importPrivateKey: operation("ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", importPrivateKey, (call) => {
    const { tx, organization, parameters } = call;
    const { made, proven } = makePrivateKeys(tx, organization.organizationId, [parameters], originOf(call));
    return { result: { ...made[0]! }, addresses: proven };
  }),

  exportWallet: operation(
    "ACTIVITY_TYPE_EXPORT_WALLET",
    object({ ...target, walletId: nonEmptyText, language: optional(text) }),
    async ({ tx, organization, parameters: { walletId, targetPublicKey } }) => {
      const wallet = walletOf(tx, organization, walletId);
      const exportBundle = await sealTo(targetPublicKey, fromHex(wallet.seed ?? "00")!);
      tx.put("wallets", walletId, { ...wallet, exported: true });
      return { result: { walletId, exportBundle } };
    },
  ),

  // No list shows this export.
  exportWalletAccount: operation(
    "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT",
    object({ ...target, address: nonEmptyText }),
    async ({ tx, organization, parameters: { address, targetPublicKey } }) => {
      const wallet = ownedOf(tx.all("wallets"), organization).find(({ accounts }) =>
        accounts.some((one) => one.address === address),
      );
      if (wallet === undefined) throw notFound(`there is no account ${address}`);
      return { result: { address, exportBundle: await sealTo(targetPublicKey, fromHex(wallet.seed ?? "00")!) } };
    },
  ),

  exportPrivateKey: operation(
    "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY",
    object({ ...target, privateKeyId: nonEmptyText }),
    async ({ tx, organization, parameters: { privateKeyId, targetPublicKey } }) => {
      const key = privateKeyOf(tx, organization, privateKeyId);
      const exportBundle = await sealTo(targetPublicKey, fromHex(key.seed)!);
      tx.put("privateKeys", privateKeyId, { ...key, exported: true });
      return { result: { privateKeyId, exportBundle } };
    },
  ),

  deleteWallets: operation(
    "ACTIVITY_TYPE_DELETE_WALLETS",
    object({ walletIds: ids, deleteWithoutExport }),
    ({ tx, organization, parameters: { walletIds, deleteWithoutExport: anyway = false } }) => {
      for (const id of walletIds) refuseUnexported(walletOf(tx, organization, id), anyway);
      for (const id of walletIds) tx.delete("wallets", id);
      return { result: { walletIds } };
    },
  ),

  deleteWalletAccounts: operation(
    "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS",
    object({ walletAccountIds: ids, deleteWithoutExport }),
    ({ tx, organization, parameters: { walletAccountIds, deleteWithoutExport: anyway = false } }) => {
      const isDeleted = ({ walletAccountId = "" }: Wallet["accounts"][number]): boolean =>
        walletAccountIds.includes(walletAccountId);
      const wallets = ownedOf(tx.all("wallets"), organization).filter(({ accounts }) => accounts.some(isDeleted));
      const found = wallets.flatMap(({ accounts }) => accounts.filter(isDeleted));
      if (found.length < walletAccountIds.length) throw notFound("there is no such account");
      for (const wallet of wallets) refuseUnexported(wallet, anyway);
      for (const wallet of wallets)
        tx.put("wallets", wallet.walletId, { ...wallet, accounts: wallet.accounts.filter((one) => !isDeleted(one)) });
      return { result: { walletAccountIds } };
    },
  ),

  deletePrivateKeys: operation(
    "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS",
    object({ privateKeyIds: ids, deleteWithoutExport }),
    ({ tx, organization, parameters: { privateKeyIds, deleteWithoutExport: anyway = false } }) => {
      for (const id of privateKeyIds) refuseUnexported(privateKeyOf(tx, organization, id), anyway);
      for (const id of privateKeyIds) tx.delete("privateKeys", id);
      return { result: { privateKeyIds } };
    },
  ),
};

type Import = Call<Pick<ReadOf<typeof importWallet>, "userId" | "encryptedBundle">>;

function originOf({ tx, organization, parameters, now }: Import): Parameters<typeof makeWallet>[3] {
  userOf(tx, organization, parameters.userId);
  return { now, imported: { seed: sha512(toUtf8(parameters.encryptedBundle)) } };
}

function walletOf(tx: Transaction, organization: Organization, walletId: string): Wallet {
  return owned(tx.get("wallets", walletId), organization, `wallet ${walletId}`);
}

function privateKeyOf(tx: Transaction, organization: Organization, privateKeyId: string): PrivateKey {
  return owned(tx.get("privateKeys", privateKeyId), organization, `private key ${privateKeyId}`);
}

function refuseUnexported({ exported = false }: Pick<Wallet, "exported">, anyway: boolean): void {
  if (!exported && !anyway) throw invalid("parameters.deleteWithoutExport: expected true, since it was never exported");
}
