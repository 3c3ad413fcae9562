/**
 * Operations that make keys. They are deployed, but undocumented (client/README.md, "Operations"). Their responses have
 * proofs of new addresses.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { fromHex, toHex } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import {
  type ReadOf,
  flag,
  list,
  matching,
  nonEmptyText,
  object,
  oneOf,
  optional,
  text,
  wholeNumber,
} from "../decode/shapes.js";
import { type AddressFormat, formatOf, whyNoFormat } from "./addresses-of.js";
import { newMnemonic, seedOf } from "./mnemonic.js";
import type { PrivateKey, Wallet } from "./records.js";
import { invalid, notFound } from "./refusal.js";
import type { Call, Outcome } from "./call.js";
import type { Transaction } from "./state.js";
import { timestamp } from "./timestamp.js";
import { addRequestedUser, rootUserShape } from "./users.js";
import { type Account, accountFault, addressOf, keyOfSecret } from "./wallet.js";

/** A path of BIP-32 with indexes below 2^31, each hardened or not. */
const path = matching(
  (value) =>
    /^m(?:\/(?:0|[1-9][0-9]{0,9})'?){1,10}$/.test(value) &&
    value
      .split("/")
      .slice(1)
      .every((step) => Number.parseInt(step, 10) < 2 ** 31),
  "a derivation path such as m/44'/60'/0'/0/0",
);
const curve = oneOf("CURVE_SECP256K1", "CURVE_ED25519", "CURVE_P256");
const format = matching((value) => value.startsWith("ADDRESS_FORMAT_"), "an address format");
const accountShape = object({
  curve,
  pathFormat: oneOf("PATH_FORMAT_BIP32"),
  path,
  addressFormat: format,
  name: optional(text),
});
export const walletShape = object({
  walletName: nonEmptyText,
  accounts: list(accountShape, 0, 100),
  mnemonicLength: optional(oneOf(12, 15, 18, 21, 24)),
});
const privateKeyMembers = { privateKeyName: nonEmptyText, curve, addressFormats: list(format) };
const privateKeyShape = object({ ...privateKeyMembers, privateKeyTags: optional(list(text)) });
const suborgMembers = {
  subOrganizationName: nonEmptyText,
  rootUsers: list(rootUserShape, 1),
  rootQuorumThreshold: wholeNumber(1, 100),
  disableEmailRecovery: optional(flag),
  disableEmailAuth: optional(flag),
  disableSmsAuth: optional(flag),
  disableOtpEmailAuth: optional(flag),
};
const bundle = { userId: nonEmptyText, encryptedBundle: nonEmptyText };
export const keyShapes = {
  walletAccounts: object({
    walletId: nonEmptyText,
    accounts: list(accountShape, 1, 100),
    persist: optional(flag),
  }),
  privateKeys: object({ privateKeys: list(privateKeyShape, 1, 100) }),
  subOrganization: object({
    ...suborgMembers,
    wallet: optional(walletShape),
    verificationToken: optional(text),
    clientSignature: optional(object({ publicKey: text, scheme: text, message: text, signature: text })),
  }),
  subOrganizationV3: object({ ...suborgMembers, privateKeys: list(privateKeyShape, 0, 100) }),
  importWallet: object({ ...bundle, walletName: nonEmptyText, accounts: list(accountShape, 0, 100) }),
  importPrivateKey: object({ ...bundle, ...privateKeyMembers }),
};
type KeyParameters<Name extends keyof typeof keyShapes> = ReadOf<(typeof keyShapes)[Name]>;

type HasAccounts = Pick<Wallet, "accounts">;
const NO_ACCOUNTS: HasAccounts = { accounts: [] };
/** Default number of words in the mnemonic of a wallet. */
const MNEMONIC_LENGTH = 12;

export function createWallet({ tx, organization, parameters, now }: Call<ReadOf<typeof walletShape>>): Outcome {
  const { walletId, addresses, proven } = makeWallet(tx, organization.organizationId, parameters, { now });
  return { intent: filledIn(parameters), result: { walletId, addresses }, addresses: proven };
}

export function createWalletAccounts(call: Call<KeyParameters<"walletAccounts">>): Outcome {
  const { tx, parameters, now } = call;
  const { organizationId } = call.organization;
  const { walletId, accounts: requested, persist = true } = parameters;
  const wallet = tx.get("wallets", walletId);
  if (wallet?.organizationId !== organizationId || wallet.seed === undefined)
    throw notFound(`there is no wallet ${walletId} in organization ${organizationId} that can make accounts`);
  const accounts = newAccounts(fromHex(wallet.seed)!, requested, now, wallet);
  if (persist) tx.put("wallets", walletId, { ...wallet, accounts: [...wallet.accounts, ...accounts] });
  const { addresses, proven } = provenAddresses({ organizationId, walletId, accounts });
  return { result: { addresses }, addresses: proven };
}

export function createPrivateKeys({ tx, organization, parameters, now }: Call<KeyParameters<"privateKeys">>): Outcome {
  const { made, proven } = makePrivateKeys(tx, organization.organizationId, parameters.privateKeys, { now });
  return { result: { privateKeys: made }, addresses: proven };
}

type SubOrganization = KeyParameters<"subOrganization"> & Partial<KeyParameters<"subOrganizationV3">>;

export function createSubOrganization({
  tx,
  organization,
  parameters,
  now,
}: Pick<Call<SubOrganization>, "tx" | "organization" | "parameters" | "now">): Outcome {
  const subOrganizationId = randomUUID();
  const { organizationId: parentOrganizationId } = organization;
  if (organization.parentOrganizationId !== undefined) throw invalid("sub-organizations cannot have sub-organizations");
  const { subOrganizationName: organizationName, wallet: requested, privateKeys: keys, rootUsers } = parameters;
  const { rootQuorumThreshold } = parameters;
  if (rootQuorumThreshold > rootUsers.length)
    throw invalid(`parameters.rootQuorumThreshold: more than the ${rootUsers.length} root users`);
  const rootUserIds = rootUsers.map((one) => addRequestedUser(tx, subOrganizationId, one, now));
  tx.put("organizations", subOrganizationId, {
    organizationId: subOrganizationId,
    organizationName,
    parentOrganizationId,
    rootUserIds,
    rootQuorumThreshold,
    features: [],
  });
  if (keys !== undefined) {
    const { made, proven } = makePrivateKeys(tx, subOrganizationId, keys, { now });
    return { result: { subOrganizationId, privateKeys: made, rootUserIds }, addresses: proven };
  }
  if (requested === undefined) return { result: { subOrganizationId, rootUserIds } };
  const { walletId, addresses, proven } = makeWallet(tx, subOrganizationId, requested, { now });
  const intent = { wallet: { ...(requested as unknown as JsonObject), ...filledIn(requested) } };
  return { intent, result: { subOrganizationId, wallet: { walletId, addresses }, rootUserIds }, addresses: proven };
}

function filledIn({ mnemonicLength = MNEMONIC_LENGTH }: ReadOf<typeof walletShape>): JsonObject {
  return { mnemonicLength };
}

interface MadeWallet {
  readonly walletId: string;
  /** The addresses, in the order of the accounts. */
  readonly addresses: string[];
  readonly proven: NonNullable<Outcome["addresses"]>;
}

/** When a key is made, and from what. By default it is new, and that of a wallet is from a new mnemonic. */
interface Origin {
  readonly now: Date;
  readonly imported?: { readonly secret: Uint8Array; readonly mnemonic?: string };
}

export function makeWallet(
  tx: Transaction,
  organizationId: string,
  { walletName, accounts: requested, mnemonicLength = MNEMONIC_LENGTH }: ReadOf<typeof walletShape>,
  { now, imported }: Origin,
): MadeWallet {
  const walletId = randomUUID();
  const mnemonic = imported === undefined ? newMnemonic(mnemonicLength) : imported.mnemonic;
  const seed = imported?.secret ?? seedOf(mnemonic!);
  const accounts = newAccounts(seed, requested, now);
  const known = { ...(imported && { imported: true }), ...(mnemonic !== undefined && { mnemonic }) };
  const origin = { seed: toHex(seed), createdAt: timestamp(now), ...known };
  tx.put("wallets", walletId, { organizationId, walletId, walletName, accounts, ...origin });
  return { walletId, ...provenAddresses({ organizationId, walletId, accounts }) };
}

interface MadePrivateKeys {
  readonly made: (Pick<PrivateKey, "privateKeyId"> & { addresses: { format: AddressFormat; address: string }[] })[];
  readonly proven: NonNullable<Outcome["addresses"]>;
}

export function makePrivateKeys(
  tx: Transaction,
  organizationId: string,
  requested: readonly ReadOf<typeof privateKeyShape>[],
  { now, imported }: Origin,
): MadePrivateKeys {
  const made = requested.map(({ addressFormats, privateKeyName, privateKeyTags = [], curve }) => {
    const [privateKeyId, secret] = [randomUUID(), imported?.secret ?? randomBytes(32)];
    const { publicKey } = keyOfSecret(secret, curve);
    const addresses = addressFormats.map((name) => {
      const row = formatOf(name);
      if (row === undefined) throw invalid(`parameters.addressFormats: ${whyNoFormat(name)}`);
      if (!row.curves.includes(curve)) throw invalid(`parameters.addressFormats: ${curve} has no ${name}`);
      return { format: name as AddressFormat, address: row.write(publicKey) };
    });
    const named = { organizationId, privateKeyId, privateKeyName, privateKeyTags, curve };
    const origin = { secret: toHex(secret), createdAt: timestamp(now), ...(imported && { imported: true }) };
    tx.put("privateKeys", privateKeyId, { ...named, addresses, ...origin });
    return { privateKeyId, addresses };
  });
  const proven = made.flatMap(({ addresses }) => addresses.map(({ address }) => ({ organizationId, address })));
  return { made, proven };
}

function newAccounts(
  seed: Uint8Array,
  given: readonly ReadOf<typeof accountShape>[],
  now: Date,
  { accounts: known }: HasAccounts = NO_ACCOUNTS,
): Wallet["accounts"] {
  const requested = given as readonly (Account & { readonly name?: string })[];
  const named = [...known, ...requested].map(({ path, addressFormat }) => `${path} ${addressFormat}`);
  if (new Set(named).size < named.length) throw invalid("parameters.accounts: two are the same");
  const fault = requested.map(accountFault).find((one) => one !== undefined);
  if (fault !== undefined) throw invalid(`parameters.accounts: ${fault}`);
  return requested.map(({ path, addressFormat, curve = "CURVE_SECP256K1", name }) => {
    const account = { path, addressFormat, curve, address: addressOf(seed, { path, addressFormat, curve }) };
    const facts = { walletAccountId: randomUUID(), createdAt: timestamp(now), ...(name !== undefined && { name }) };
    return { ...account, ...facts };
  });
}

export function provenAddresses({
  organizationId,
  walletId,
  accounts,
}: Pick<Wallet, "organizationId" | "walletId" | "accounts">): Omit<MadeWallet, "walletId"> {
  const proven = accounts.map(({ path: derivationPath, address }) => ({
    organizationId,
    walletId,
    derivationPath,
    address,
  }));
  return { addresses: accounts.map(({ address }) => address), proven };
}
