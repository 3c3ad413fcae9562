/**
 * Operations that bring keys in, take them out, or delete them. Bundles are sealed as the service's: to a target that
 * `init_import_…` makes, and to that of an export. A text that is no bundle is not opened: its hash is the secret.
 */
import { createHash } from "node:crypto";
import { fromHex, fromUtf8, toUtf8 } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import type { ReadOf } from "../decode/shapes.js";
import { type keyShapes, makePrivateKeys, makeWallet } from "./new-keys.js";
import { seedOf } from "./mnemonic.js";
import type { Organization, PrivateKey, Wallet } from "./records.js";
import { invalid, notFound } from "./refusal.js";
import type { Call, Outcome } from "./call.js";
import { encryptionTarget, exportBundle, openSealed } from "./session.js";
import type { Reader } from "./state.js";
import { owned, ownedOf, userOf } from "./users.js";
import { keyAt } from "./wallet.js";

/** Makes the key pair to which a user seals what is imported next. */
export function initImport({ tx, organization, parameters, quorumKey }: Call<JsonObject>): Outcome {
  const [userId, { organizationId }] = [String(parameters["userId"]), organization];
  userOf(tx, organization, userId);
  const [importBundle, target] = encryptionTarget(quorumKey("signer"), { organizationId, userId });
  const id = `import ${userId}`;
  tx.put("kept", id, { organizationId, kind: "importTarget", id, record: { target } });
  return { result: { importBundle } };
}

type Imported = Call<{ readonly userId: string; readonly encryptedBundle: string }>;

/** Returns the imported bytes, or null for a text that is no bundle. Throws Refusal. */
async function opened({
  tx,
  organization,
  parameters: { userId, encryptedBundle },
}: Imported): Promise<Uint8Array | null> {
  userOf(tx, organization, userId);
  if (!encryptedBundle.startsWith("{")) return null;
  const target = tx.get("kept", `import ${userId}`)?.record["target"];
  if (target === undefined) throw invalid(`there is no import target of user ${userId}: submit init_import_… first`);
  return openSealed(encryptedBundle, String(target));
}

export async function importWallet(call: Call<ReadOf<typeof keyShapes.importWallet>>): Promise<Outcome> {
  const { tx, organization, parameters, now } = call;
  const mnemonic = await opened(call);
  const imported = mnemonic === null ? { secret: hashOf(parameters.encryptedBundle) } : ofMnemonic(mnemonic);
  const made = makeWallet(tx, organization.organizationId, parameters, { now, imported });
  return { result: { walletId: made.walletId, addresses: made.addresses }, addresses: made.proven };
}

function hashOf(text: string): Uint8Array {
  return new Uint8Array(createHash("sha512").update(text).digest());
}

function ofMnemonic(bytes: Uint8Array): { readonly secret: Uint8Array; readonly mnemonic: string } {
  const mnemonic = fromUtf8(bytes) ?? "";
  if (mnemonic.split(" ").length % 3 !== 0) throw invalid("parameters.encryptedBundle: expected a mnemonic");
  return { mnemonic, secret: seedOf(mnemonic) };
}

export async function importPrivateKey(call: Call<ReadOf<typeof keyShapes.importPrivateKey>>): Promise<Outcome> {
  const { tx, organization, parameters, now } = call;
  const secret = (await opened(call)) ?? hashOf(parameters.encryptedBundle).subarray(0, 32);
  if (secret.length !== 32) throw invalid("parameters.encryptedBundle: expected a private key of 32 bytes");
  const { made, proven } = makePrivateKeys(tx, organization.organizationId, [parameters], {
    now,
    imported: { secret },
  });
  return { result: { ...made[0]! }, addresses: proven };
}

/** Exports the mnemonic, or the seed in hex of a wallet that was imported without one. */
export async function exportWallet(call: Call<JsonObject>): Promise<Outcome> {
  const wallet = walletOf(call.tx, call.organization, String(call.parameters["walletId"]));
  const exported = await exportedTo(call, toUtf8(wallet.mnemonic ?? wallet.seed ?? ""));
  call.tx.put("wallets", wallet.walletId, { ...wallet, exported: true });
  return { result: { walletId: wallet.walletId, ...exported } };
}

async function exportedTo(call: Call<JsonObject>, secret: Uint8Array): Promise<{ readonly exportBundle: string }> {
  return { exportBundle: await exportBundle(call, String(call.parameters["targetPublicKey"]), secret) };
}

/** No list shows this export. */
export async function exportWalletAccount(call: Call<JsonObject>): Promise<Outcome> {
  const { tx, organization, parameters } = call;
  const address = String(parameters["address"]);
  const found = ownedOf(tx.all("wallets"), organization)
    .flatMap(({ accounts, seed }) => accounts.map((account) => ({ account, seed })))
    .find(({ account }) => account.address === address);
  if (found?.seed === undefined) throw notFound(`there is no account ${address}`);
  const { privateKey } = keyAt(fromHex(found.seed)!, found.account);
  return { result: { address, ...(await exportedTo(call, privateKey)) } };
}

export async function exportPrivateKey(call: Call<JsonObject>): Promise<Outcome> {
  const key = privateKeyOf(call.tx, call.organization, String(call.parameters["privateKeyId"]));
  const exported = await exportedTo(call, fromHex(key.secret)!);
  call.tx.put("privateKeys", key.privateKeyId, { ...key, exported: true });
  return { result: { privateKeyId: key.privateKeyId, ...exported } };
}

export function deleteWalletAccounts(call: Call<JsonObject>): Outcome {
  const { tx, organization, parameters } = call;
  const walletAccountIds = parameters["walletAccountIds"] as string[];
  const isDeleted = ({ walletAccountId }: Wallet["accounts"][number]): boolean =>
    walletAccountIds.includes(walletAccountId);
  const wallets = ownedOf(tx.all("wallets"), organization).filter(({ accounts }) => accounts.some(isDeleted));
  const found = wallets.flatMap(({ accounts }) => accounts.filter(isDeleted));
  if (found.length < walletAccountIds.length) throw notFound("there is no such account");
  for (const wallet of wallets) refuseUnexported(wallet, call);
  for (const wallet of wallets)
    tx.put("wallets", wallet.walletId, { ...wallet, accounts: wallet.accounts.filter((one) => !isDeleted(one)) });
  return { result: { walletAccountIds } };
}

export function deleteSubOrganization(call: Call<JsonObject>): Outcome {
  const { tx, organization } = call;
  const { organizationId, parentOrganizationId } = organization;
  if (parentOrganizationId === undefined) throw invalid("only a sub-organization can be deleted");
  const keys = [...ownedOf(tx.all("wallets"), organization), ...ownedOf(tx.all("privateKeys"), organization)];
  for (const key of keys) refuseUnexported(key, call);
  for (const { user } of ownedOf(tx.all("users"), organization)) tx.delete("users", user.userId);
  tx.delete("organizations", organizationId);
  return { result: { subOrganizationUuid: organizationId } };
}

export function walletOf(reader: Reader, organization: Organization, walletId: string): Wallet {
  return owned(reader.get("wallets", walletId), organization, `wallet ${walletId}`);
}

export function privateKeyOf(reader: Reader, organization: Organization, privateKeyId: string): PrivateKey {
  return owned(reader.get("privateKeys", privateKeyId), organization, `private key ${privateKeyId}`);
}

export function refuseUnexported(
  { exported = false }: Pick<Wallet, "exported">,
  { parameters }: Call<JsonObject>,
): void {
  if (!exported && parameters["deleteWithoutExport"] !== true)
    throw invalid("parameters.deleteWithoutExport: expected true, since it was never exported");
}
