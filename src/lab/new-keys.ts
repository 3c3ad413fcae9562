/**
 * Operations that make keys. They are deployed, but undocumented (client/README.md, "Operations"). Their responses have
 * proofs of new addresses.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { type ReadOf, flag, list, matching, nonEmptyText, object, oneOf, optional, text } from "../decode/shapes.js";
import type { JsonObject } from "../decode/json.js";
import { type Call, type Outcome, operation } from "./call.js";
import { toHex, fromHex } from "../bytes.js";
import type { PrivateKey, Wallet } from "./records.js";
import { invalid, notFound } from "./refusal.js";
import type { Transaction } from "./state.js";
import { timestamp } from "./timestamp.js";
import { addUser, newApiKey } from "./users.js";
import {
  ADDRESS_FORMATS,
  type Account,
  type AddressFormat,
  CURVES,
  type Curve,
  accountFault,
  addressOf,
} from "./wallet.js";

const format = oneOf(...(Object.keys(ADDRESS_FORMATS) as AddressFormat[]));
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
const curve = oneOf(...(Object.keys(CURVES) as Curve[]));
export const accountShape = object({
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
const walletAccounts = object({
  walletId: nonEmptyText,
  accounts: list(accountShape, 1, 100),
  persist: optional(flag),
});
export const privateKeyMembers = { privateKeyName: nonEmptyText, curve, addressFormats: list(format) };
const privateKeyShape = object({ ...privateKeyMembers, privateKeyTags: optional(list(text)) });
const privateKeys = object({ privateKeys: list(privateKeyShape, 1, 100) });
export const compressedKey = matching(/^0[23][0-9a-f]{64}$/, "a compressed point of P-256 in lower-case hex");
export const apiKeyShape = object({
  apiKeyName: nonEmptyText,
  publicKey: compressedKey,
  curveType: oneOf("API_KEY_CURVE_P256"),
  expirationSeconds: optional(matching(/^[1-9][0-9]{0,9}$/, "seconds")),
});
const none = optional(list(text, 0, 0));
const rootUser = object({
  userName: nonEmptyText,
  userEmail: optional(text),
  userPhoneNumber: optional(text),
  apiKeys: list(apiKeyShape),
  authenticators: none,
  oauthProviders: none,
});
const suborgMembers = {
  subOrganizationName: nonEmptyText,
  rootUsers: list(rootUser, 1),
  rootQuorumThreshold: oneOf(1),
};
const subOrganization = object({ ...suborgMembers, wallet: optional(walletShape) });
const subOrganizationV3 = object({ ...suborgMembers, privateKeys: list(privateKeyShape, 0, 100) });

/** The path at which a private key is derived from its seed, since the operation takes no path. */
export const PRIVATE_KEY_PATH = "m/0'";
type HasAccounts = Pick<Wallet, "accounts">;
const NO_ACCOUNTS: HasAccounts = { accounts: [] };
/** Default number of words in the mnemonic of a wallet. */
const MNEMONIC_LENGTH = 12;

export const KEY_OPERATIONS = {
  createWallet: operation("ACTIVITY_TYPE_CREATE_WALLET", walletShape, ({ tx, organization, parameters, now }) => {
    const { walletId, addresses, proven } = makeWallet(tx, organization.organizationId, parameters, { now });
    return { intent: filledIn(parameters), result: { walletId, addresses }, addresses: proven };
  }),

  createWalletAccounts: operation(
    "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS",
    walletAccounts,
    ({ tx, organization: { organizationId }, parameters, now }) => {
      const { walletId, accounts: requested, persist = true } = parameters;
      const wallet = tx.get("wallets", walletId);
      if (wallet?.organizationId !== organizationId || wallet.seed === undefined)
        throw notFound(`there is no wallet ${walletId} in organization ${organizationId} that can make accounts`);
      const accounts = newAccounts(fromHex(wallet.seed)!, requested, now, wallet);
      if (persist) tx.put("wallets", walletId, { ...wallet, accounts: [...wallet.accounts, ...accounts] });
      const { addresses, proven } = provenAddresses({ organizationId, walletId, accounts });
      return { result: { addresses }, addresses: proven };
    },
  ),

  createPrivateKeys: operation(
    "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2",
    privateKeys,
    ({ tx, organization: { organizationId }, parameters, now }) => {
      const { made, proven } = makePrivateKeys(tx, organizationId, parameters.privateKeys, { now });
      return { result: { privateKeys: made }, addresses: proven };
    },
  ),

  createSubOrganizationV3: operation(
    "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3",
    subOrganizationV3,
    makeSubOrganization,
  ),
  createSubOrganization: operation("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", subOrganization, makeSubOrganization),
  createSubOrganizationV8: operation("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", subOrganization, makeSubOrganization),
};

type SubOrganization = ReadOf<typeof subOrganization> & Partial<ReadOf<typeof subOrganizationV3>>;

export function makeSubOrganization({
  tx,
  organization,
  parameters,
  now,
}: Omit<Call<SubOrganization>, "actor">): Outcome {
  const subOrganizationId = randomUUID();
  const { organizationId: parentOrganizationId } = organization;
  if (organization.parentOrganizationId !== undefined) throw invalid("sub-organizations cannot have sub-organizations");
  const rootUserIds = parameters.rootUsers.map(({ userName, userEmail = "", userPhoneNumber = "", apiKeys: given }) => {
    const apiKeys = given.map(({ apiKeyName, publicKey, ...more }) => newApiKey(apiKeyName, publicKey, now, more));
    return addUser(tx, subOrganizationId, { userName, userEmail, userPhoneNumber, apiKeys }, now);
  });
  const { subOrganizationName: organizationName, wallet: requested, privateKeys: keys } = parameters;
  tx.put("organizations", subOrganizationId, {
    organizationId: subOrganizationId,
    organizationName,
    parentOrganizationId,
    rootUserIds,
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

/** When a key is made, and from what. By default it is made from a new seed. */
interface Origin {
  readonly now: Date;
  readonly imported?: { readonly seed: Uint8Array };
}

export function makeWallet(
  tx: Transaction,
  organizationId: string,
  { walletName, accounts: requested }: Pick<ReadOf<typeof walletShape>, "walletName" | "accounts">,
  { now, imported }: Origin,
): MadeWallet {
  const [walletId, seed] = [randomUUID(), imported?.seed ?? randomBytes(64)];
  const accounts = newAccounts(seed, requested, now);
  const origin = { seed: toHex(seed), createdAt: timestamp(now), ...(imported && { imported: true }) };
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
    const [privateKeyId, seed] = [randomUUID(), imported?.seed ?? randomBytes(64)];
    const accounts = addressFormats.map((addressFormat) => ({ path: PRIVATE_KEY_PATH, addressFormat, curve }));
    refuseFaults(accounts);
    const addresses = accounts.map((one) => ({ format: one.addressFormat, address: addressOf(seed, one) }));
    const named = { organizationId, privateKeyId, privateKeyName, privateKeyTags, curve };
    const origin = { seed: toHex(seed), createdAt: timestamp(now), ...(imported && { imported: true }) };
    tx.put("privateKeys", privateKeyId, { ...named, addresses, ...origin });
    return { privateKeyId, addresses };
  });
  const proven = made.flatMap(({ addresses }) => addresses.map(({ address }) => ({ organizationId, address })));
  return { made, proven };
}

function newAccounts(
  seed: Uint8Array,
  requested: readonly Account[],
  now: Date,
  { accounts: known }: HasAccounts = NO_ACCOUNTS,
): Wallet["accounts"] {
  const named = [...known, ...requested].map(({ path, addressFormat = "" }) => `${path} ${addressFormat}`);
  if (new Set(named).size < named.length) throw invalid("parameters.accounts: two are the same");
  refuseFaults(requested);
  return requested.map(({ path, addressFormat, curve = "CURVE_SECP256K1" }) => {
    const address = addressOf(seed, { path, addressFormat, curve });
    return { path, addressFormat, curve, address, walletAccountId: randomUUID(), createdAt: timestamp(now) };
  });
}

function refuseFaults(accounts: readonly Account[]): void {
  const fault = accounts.map(accountFault).find((one) => one !== undefined);
  if (fault !== undefined) throw invalid(`parameters.accounts: ${fault}`);
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
