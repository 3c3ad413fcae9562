/** Readers of the service's lists, and of what its activities do to addresses (addresses/README.md, "Lists"). */
import { readActivity, soleMember } from "../decode/activity.js";
import { jsonInput, unwrap } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { type Shape, anything, list, nonEmptyText, object, optional, readShape, text } from "../decode/shapes.js";
import { MAX_TIME_MS, decimalMilliseconds } from "../decode/decimal-time.js";
import { MalformedError } from "../errors.js";

/** A flag of a list. Null means that the list does not say it as true or false. */
export type ListedFlag = boolean | null;

export interface ListedWallet {
  readonly walletId: string;
  readonly exported: ListedFlag;
  readonly imported: ListedFlag;
}

export interface ListedAccount {
  /** Accounts with the same id are joined if they are equal, and contradicted if they differ. */
  readonly walletAccountId?: string;
  readonly walletId: string;
  readonly path: string;
  readonly address: string;
  readonly curve: string;
  readonly addressFormat: string;
  /** RFC 3339, or null if the list has no readable time. */
  readonly createdAt: string | null;
}

export interface ListedPrivateKey {
  readonly privateKeyId: string;
  readonly curve: string;
  readonly addresses: readonly { readonly format: string; readonly address: string }[];
  readonly createdAt: string | null;
  readonly exported: ListedFlag;
  readonly imported: ListedFlag;
}

/** What the service lists of one organization. Every member is its word. */
export interface AddressLists {
  readonly wallets: readonly ListedWallet[];
  readonly accounts: readonly ListedAccount[];
  readonly privateKeys: readonly ListedPrivateKey[];
  /** The caller's time, in milliseconds, before the accounts were first requested. Null if it is not known. */
  readonly listedAt: number | null;
  /** The same of the private keys. Default: `listedAt`. */
  readonly privateKeysListedAt?: number | null;
}

/** Reads one answer of `list_wallets`. Throws {@link MalformedError} (`address-list`). */
export function readWallets(answer: unknown): ListedWallet[] {
  return itemsIn(jsonInput(answer), "wallets", WALLET).map(({ walletId, exported, imported }) => ({
    walletId,
    exported: flagOf(exported),
    imported: flagOf(imported),
  }));
}

/** An account and its id, after which the next page begins. */
type AccountOfPage = ListedAccount & Required<Pick<ListedAccount, "walletAccountId">>;

/** Reads one page of `list_wallet_accounts`. Throws {@link MalformedError}, also for another organization's account. */
export function readAccounts(answer: unknown, organizationId: string): AccountOfPage[] {
  return accountsIn(jsonInput(answer), organizationId);
}

/** Does what {@link readAccounts} does with a value that is JSON already: a copy of a long list would take longer. */
export function accountsIn(answer: JsonValue | undefined, organizationId: string): AccountOfPage[] {
  return itemsIn(answer, "accounts", ACCOUNT).map(({ createdAt, organizationId: owner, ...account }, index) => {
    if (owner !== organizationId)
      throw malformed(`accounts[${index}].organizationId`, `expected ${organizationId}, got another organization`);
    return { ...account, createdAt: timeOf(createdAt) };
  });
}

/** Reads one answer of `list_private_keys`. Throws {@link MalformedError} (`address-list`). */
export function readPrivateKeys(answer: unknown): ListedPrivateKey[] {
  return itemsIn(jsonInput(answer), "privateKeys", PRIVATE_KEY).map(({ exported, imported, createdAt, ...key }) => ({
    ...key,
    createdAt: timeOf(createdAt),
    exported: flagOf(exported),
    imported: flagOf(imported),
  }));
}

const IGNORED = { unknown: "ignore" } as const;
const WALLET = object({ walletId: nonEmptyText, exported: optional(anything), imported: optional(anything) }, IGNORED);
const ACCOUNT = object(
  {
    walletAccountId: nonEmptyText,
    organizationId: nonEmptyText,
    walletId: nonEmptyText,
    path: text,
    address: nonEmptyText,
    curve: text,
    addressFormat: text,
    createdAt: optional(anything),
  },
  IGNORED,
);
const PRIVATE_KEY = object(
  {
    privateKeyId: nonEmptyText,
    curve: text,
    addresses: list(object({ format: text, address: nonEmptyText }, IGNORED)),
    createdAt: optional(anything),
    exported: optional(anything),
    imported: optional(anything),
  },
  IGNORED,
);

function itemsIn<T>(answer: JsonValue | undefined, name: string, item: Shape<T>): T[] {
  const read = readShape(object({ [name]: list(item) }, IGNORED), answer);
  if (read.value === undefined) throw new MalformedError("address-list", read.faults);
  return (read.value as Record<string, T[]>)[name]!;
}

function malformed(path: string, message: string): MalformedError {
  return new MalformedError("address-list", [{ path, message }]);
}

function flagOf(value: unknown): ListedFlag {
  return typeof value === "boolean" ? value : null;
}

function timeOf(value: unknown): string | null {
  const seconds = isJsonObject(value) ? decimalMilliseconds(value["seconds"]) : null;
  return seconds === null || 1000 * seconds > MAX_TIME_MS ? null : new Date(1000 * seconds).toISOString();
}

/** What an activity does to addresses. */
type AddressEffect = "creates" | "imports" | "exports" | "deletes";

interface AddressActivityRow {
  readonly effect: AddressEffect;
  /** The versions of the type that hold addresses. Version 1 has no suffix. */
  readonly versions: readonly number[];
}

/** The activities that make, import, export or delete addresses, by their type without `ACTIVITY_TYPE_` and version. */
const ADDRESS_ACTIVITIES: Readonly<Record<string, AddressActivityRow>> = {
  CREATE_WALLET: { effect: "creates", versions: [1] },
  CREATE_WALLET_ACCOUNTS: { effect: "creates", versions: [1] },
  CREATE_PRIVATE_KEYS: { effect: "creates", versions: [1, 2] },
  CREATE_SUB_ORGANIZATION: { effect: "creates", versions: [3, 4, 5, 6, 7, 8] },
  IMPORT_WALLET: { effect: "imports", versions: [1] },
  IMPORT_PRIVATE_KEY: { effect: "imports", versions: [1] },
  EXPORT_WALLET: { effect: "exports", versions: [1] },
  EXPORT_WALLET_ACCOUNT: { effect: "exports", versions: [1] },
  EXPORT_PRIVATE_KEY: { effect: "exports", versions: [1] },
  DELETE_WALLETS: { effect: "deletes", versions: [1] },
  DELETE_WALLET_ACCOUNTS: { effect: "deletes", versions: [1] },
  DELETE_PRIVATE_KEYS: { effect: "deletes", versions: [1] },
};
const PREFIX = "ACTIVITY_TYPE_";

/** The types that decide classes, for `filterByType` of `list_activities`. */
export const ADDRESS_ACTIVITY_TYPES: readonly string[] = /* @__PURE__ */ ([] as string[]).concat(
  ...Object.entries(ADDRESS_ACTIVITIES).map(([name, { versions }]) =>
    versions.map((version) => `${PREFIX}${name}${version === 1 ? "" : `_V${version}`}`),
  ),
);

/** Where an activity made an address, by its own word. */
type MadeAccount = Pick<ListedAccount, "path" | "address"> & { readonly curve: string | null };

/** What an activity says about addresses. Every member is the service's word. */
export interface AddressActivity {
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  readonly status: string | null;
  /** Time of submission in milliseconds, or null. */
  readonly requestedAt: number | null;
  /** Null for another type of activity. */
  readonly effect: AddressEffect | null;
  /** Whether app proofs were requested, or null if the activity does not say it. */
  readonly requested: boolean | null;
  /** Ids of wallets and private keys, and addresses, in its intent and result. */
  readonly wallets: readonly string[];
  readonly privateKeys: readonly string[];
  readonly addresses: readonly string[];
  /** The accounts of its intent, each with the address at the same place of its result. */
  readonly accounts: readonly MadeAccount[];
  /** The private keys whose addresses it names. */
  readonly privateKeyAddresses: readonly { readonly privateKeyId: string; readonly addresses: readonly string[] }[];
  /** Whether the intent asks not to keep the addresses (`persist: false`). */
  readonly unkept: boolean;
  readonly subOrganizationId: string | null;
}

/** Reads what an activity says about addresses, bare or as `{"activity": …}`. Throws {@link MalformedError}. */
export function readAddressActivity(input: unknown): AddressActivity {
  const json = unwrap(jsonInput(input), "activity");
  const { value, faults } = readActivity(json);
  const { id, organizationId, type, status = null, requestedAt = null } = value;
  if (!id || !organizationId || !type) throw new MalformedError("activity", faults);
  const [intent, result] = [soleMember(value.intent), soleMember(value.result)];
  const parts = [intent, result].filter(isJsonObject);
  const holders = parts.flatMap((part) => [part, part["wallet"], ...listOf(part["privateKeys"])]).filter(isJsonObject);
  const textsAt = (...names: string[]): string[] => [
    ...new Set(holders.flatMap((holder) => names.flatMap((name) => listOf(holder[name]).flatMap(textOf)))),
  ];
  return {
    id,
    organizationId,
    type,
    status,
    requestedAt,
    effect: effectOf(type),
    requested: flagOf((json as JsonObject)["generateAppProofs"]),
    wallets: textsAt("walletId", "walletIds"),
    privateKeys: textsAt("privateKeyId", "privateKeyIds"),
    addresses: textsAt("address", "addresses"),
    accounts: [...accountsOf(intent, result), ...accountsOf(memberOf(intent, "wallet"), memberOf(result, "wallet"))],
    privateKeyAddresses: holders.flatMap((holder) => {
      const addresses = listOf(holder["addresses"]).flatMap(textOf);
      return textOf(holder["privateKeyId"]).map((privateKeyId) => ({ privateKeyId, addresses }));
    }),
    unkept: parts.some((part) => part["persist"] === false),
    subOrganizationId: textOf(memberOf(result, "subOrganizationId"))[0] ?? null,
  };
}

/** Returns nothing if the numbers of accounts and addresses differ, since no place is then sure. */
function accountsOf(intent: JsonValue | undefined, result: JsonValue | undefined): MadeAccount[] {
  const [accounts, addresses] = [listOf(memberOf(intent, "accounts")), listOf(memberOf(result, "addresses"))];
  if (accounts.length !== addresses.length) return [];
  return accounts.flatMap((account, index) => {
    const [[path], [curve = null]] = [textOf(memberOf(account, "path")), textOf(memberOf(account, "curve"))];
    return path === undefined ? [] : textOf(addresses[index]).map((address) => ({ path, curve, address }));
  });
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function effectOf(type: string): AddressEffect | null {
  const [, name] = /^ACTIVITY_TYPE_(\w+?)(?:_V[0-9]+)?$/.exec(type) ?? [];
  return name !== undefined && Object.hasOwn(ADDRESS_ACTIVITIES, name) ? ADDRESS_ACTIVITIES[name]!.effect : null;
}

function listOf(value: JsonValue | undefined): readonly (JsonValue | undefined)[] {
  return Array.isArray(value) ? value : [value];
}

/** The text of an entry that is a text, or an object with an address. */
function textOf(entry: JsonValue | undefined): string[] {
  const text = isJsonObject(entry) ? entry["address"] : entry;
  return typeof text === "string" && text !== "" ? [text] : [];
}
