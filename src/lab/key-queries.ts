/** Queries of wallets and keys. They are undocumented but deployed (client/README.md, "Operations"). */
import { type Shape, flag, matching, nonEmptyText, object, optional, text } from "../decode/shapes.js";
import { fromHex, toHex } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { owned } from "./operations.js";
import { PRIVATE_KEY_PATH } from "./new-keys.js";
import type { Organization, PrivateKey, Wallet } from "./records.js";
import { notFound } from "./refusal.js";
import type { Reader } from "./state.js";
import { keyAt } from "./wallet.js";

export interface KeyQuery {
  readonly name: string;
  readonly parameters: Shape<unknown>;
  readonly answer: (reader: Reader, organization: Organization, parameters: JsonObject) => JsonObject;
}

function query<T>(
  name: string,
  parameters: Shape<T>,
  answer: (reader: Reader, organization: Organization, parameters: T) => JsonObject,
): KeyQuery {
  return { name, parameters, answer: answer as KeyQuery["answer"] };
}

const paginationOptions = optional(object({ limit: optional(matching(/^[1-9][0-9]{0,2}$/, "1 to 999")) }));
const manyAccounts = object({
  walletId: optional(text),
  includeWalletDetails: optional(flag),
  paginationOptions,
});

export const KEY_QUERIES: readonly KeyQuery[] = [
  query("get_wallet", object({ walletId: text }), (reader, organization, { walletId }) => ({
    wallet: walletJson(walletOf(reader, organization, walletId)),
  })),

  query("list_wallets", object({}), (reader, organization) => ({
    wallets: own(reader.all("wallets"), organization).map(walletJson),
  })),

  query("list_wallet_accounts", manyAccounts, (reader, organization, parameters) => {
    const { walletId, includeWalletDetails = false, paginationOptions: page } = parameters;
    const wallets =
      walletId === undefined ? own(reader.all("wallets"), organization) : [walletOf(reader, organization, walletId)];
    const accounts = wallets.flatMap((wallet) =>
      accountsJson(wallet).map((one) => ({
        ...one,
        ...(includeWalletDetails && { walletDetails: walletJson(wallet) }),
      })),
    );
    return { accounts: accounts.slice(0, page?.limit === undefined ? accounts.length : Number(page.limit)) };
  }),

  query(
    "get_wallet_account",
    object({ walletId: text, address: optional(nonEmptyText), path: optional(nonEmptyText) }),
    (reader, organization, { walletId, address, path }) => {
      const account = accountsJson(walletOf(reader, organization, walletId)).find(
        (one) => (address ?? one["address"]) === one["address"] && (path ?? one["path"]) === one["path"],
      );
      if (account === undefined) throw notFound(`wallet ${walletId} has no such account`);
      return { account };
    },
  ),

  query("get_private_key", object({ privateKeyId: text }), (reader, organization, { privateKeyId }) => ({
    privateKey: privateKeyJson(
      owned(reader.get("privateKeys", privateKeyId), organization, `private key ${privateKeyId}`),
    ),
  })),

  query("list_private_keys", object({}), (reader, organization) => ({
    privateKeys: own(reader.all("privateKeys"), organization).map(privateKeyJson),
  })),
];

function own<T extends { readonly organizationId: string }>(records: readonly T[], organization: Organization): T[] {
  return records.filter((record) => record.organizationId === organization.organizationId);
}

function walletOf(reader: Reader, organization: Organization, walletId: string): Wallet {
  return owned(reader.get("wallets", walletId), organization, `wallet ${walletId}`);
}

function walletJson({ walletId, walletName }: Wallet): JsonObject {
  return { walletId, walletName, exported: false, imported: false };
}

/** Returns only accounts with keys. */
function accountsJson({ organizationId, walletId, accounts, seed = "" }: Wallet): JsonObject[] {
  return accounts.flatMap((account): JsonObject[] => {
    const { walletAccountId, curve, path, addressFormat, address } = account;
    if (walletAccountId === undefined || curve === undefined || addressFormat === undefined) return [];
    const publicKey = toHex(keyAt(fromHex(seed)!, account).publicKey);
    const derivation = { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat, address, publicKey };
    return [{ walletAccountId, organizationId, walletId, ...derivation }];
  });
}

function privateKeyJson({ seed, ...key }: PrivateKey): JsonObject {
  const { privateKeyId, privateKeyName, curve, addresses, privateKeyTags, createdAt } = key;
  const publicKey = toHex(keyAt(fromHex(seed)!, { path: PRIVATE_KEY_PATH, curve }).publicKey);
  const names = { privateKeyId, privateKeyName, publicKey, curve, addresses, privateKeyTags };
  const json = { ...names, createdAt, updatedAt: createdAt, exported: false, imported: false };
  return json as unknown as JsonObject;
}
