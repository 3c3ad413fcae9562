/** Answers with accounts or private keys: what of them is judged, and handed on (door/README.md, "Accounts"). */
import type { AddressRow } from "../addresses/join.js";
import { accountsIn, readPrivateKeys } from "../addresses/lists.js";
import { type NamesRead, collectFoldedNames } from "../decode/folded-names.js";
import { otherMembers } from "../decode/input.js";
import { type JsonObject, type JsonValue, folded, isJsonObject } from "../decode/json.js";
import { FaultList, MalformedError, shownName } from "../errors.js";
import { hasPrototypeMember, picked } from "./answer.js";
import { inTurns } from "../verify/in-turns.js";
import type { ListPiece } from "./addresses.js";

/** The member that is judged in the answer of each query. */
const MEMBERS = {
  list_wallet_accounts: "accounts",
  get_wallet_account: "account",
  list_private_keys: "privateKeys",
  get_private_key: "privateKey",
} as const;

type Member = (typeof MEMBERS)[keyof typeof MEMBERS];

const namesOf = (...names: readonly string[]): NamesRead => Object.fromEntries(names.map((name) => [name, {}]));
/** The names that are judged. */
const ACCOUNT = namesOf(
  ...["walletAccountId", "organizationId", "walletId", "curve", "path", "addressFormat", "address", "publicKey"],
);
const KEY = { ...namesOf("privateKeyId", "curve", "publicKey"), addresses: namesOf("format", "address") };

/** Limit of addresses that are computed from public keys. Each takes a millisecond. */
const MAX_COMPUTED = 1000;

export type AddressPlace = Pick<AddressRow, "walletId" | "privateKeyId" | "path" | "address">;

/** An account or a private key. */
interface Item {
  /** The members that are judged, except for the public key. */
  readonly known: JsonObject;
  /** Its addresses. An account has one. */
  readonly places: readonly AddressPlace[];
}

interface Read {
  /** The answer as a list of the service. */
  readonly list: Pick<ListPiece, "operation" | "answer">;
  readonly items: readonly Item[];
}

export interface AccountAnswer extends Pick<Read, "list"> {
  /** `isKeyOwn` is whether `publicKey` is that of its addresses, or null if none could be computed. */
  readonly items: readonly (Item & { readonly isKeyOwn: boolean | null; readonly publicKey: string | null })[];
  /** What is handed on: the members that are judged, and all others in `unverified`. */
  readonly value: JsonObject;
}

/**
 * Reads the answer of a query, whose numbers may be literals. Throws {@link MalformedError}, also for another member
 * that a decoder may take for one that is judged.
 */
export async function readAccountAnswer(
  answer: JsonValue,
  operation: string,
  organizationId: string,
): Promise<AccountAnswer> {
  const member = MEMBERS[operation as keyof typeof MEMBERS];
  const members = isJsonObject(answer) ? answer : {};
  requireSound(members, member);
  const isOne = !member.endsWith("s");
  const given = isOne ? [members[member] ?? null] : (members[member] ?? null);
  const read = isOfAccounts(member) ? readAccountList(given, organizationId) : readKeyList(given);
  const jsons = given as readonly JsonObject[];
  const items = await withKeys(read.items, jsons);
  const parts = items.map((item, index) => partsOf(item, jsons[index]!));
  const asGiven = (all: JsonObject[]): JsonValue => (isOne ? all[0]! : all);
  const others = { ...otherMembers(members, member), [member]: asGiven(parts.map(([, unverified]) => unverified)) };
  const value = { [member]: asGiven(parts.map(([judged]) => judged)), unverified: others };
  return { list: read.list, items, value };
}

function isOfAccounts(member: Member): boolean {
  return member.startsWith("account");
}

function requireSound(members: JsonObject, member: Member): void {
  const faults = new FaultList();
  collectFoldedNames(members[member], isOfAccounts(member) ? ACCOUNT : KEY, { path: member, faults });
  const singular = (name: string): string => folded(name).replace(/s$/, "");
  for (const name of Object.keys(members))
    if (name !== member && singular(name) === singular(member))
      faults.push({ path: shownName(name), message: `beside ${member}, which alone is judged` });
  if (hasPrototypeMember(members)) faults.push({ path: "", message: "a member __proto__" });
  if (faults.length > 0) throw new MalformedError("address-list", faults);
}

function readAccountList(given: JsonValue, organizationId: string): Read {
  const answer = { accounts: withOnly(given, Object.keys(ACCOUNT)) };
  const items = accountsIn(answer, organizationId).map((account) => ({
    known: { ...otherMembers(account, "createdAt"), organizationId },
    places: [{ ...account, privateKeyId: null }],
  }));
  return { list: { operation: "list_wallet_accounts", answer }, items };
}

function readKeyList(given: JsonValue): Read {
  const answer = { privateKeys: withOnly(given, [...Object.keys(KEY), "imported", "exported"]) };
  const items = readPrivateKeys(answer).map(({ privateKeyId, curve, addresses }) => ({
    known: { privateKeyId, curve, addresses: addresses.map((each) => ({ ...each })) },
    places: addresses.map(({ address }) => ({ privateKeyId, walletId: null, path: null, address })),
  }));
  return { list: { operation: "list_private_keys", answer }, items };
}

function withOnly(given: JsonValue, names: readonly string[]): JsonValue {
  return Array.isArray(given) ? given.map((item) => (isJsonObject(item) ? picked(item, names) : item)) : given;
}

async function withKeys(items: readonly Item[], jsons: readonly JsonObject[]): Promise<AccountAnswer["items"]> {
  const { isAddressOf } = await import("../verify/signatures.js");
  let computed = 0;
  return inTurns(items, 1, async (item, index) => {
    const { publicKey } = jsons[index]!;
    const addresses = item.places.map(({ address }) => address);
    const isLeft = computed + addresses.length <= MAX_COMPUTED;
    if (typeof publicKey !== "string" || publicKey === "" || !isLeft)
      return { ...item, isKeyOwn: null, publicKey: null };
    computed += addresses.length;
    const answers = await inTurns(addresses, 1, (address) => isAddressOf(address, publicKey));
    return { ...item, isKeyOwn: answers.includes(false) ? false : answers.includes(true) || null, publicKey };
  });
}

type Parts = readonly [judged: JsonObject, unverified: JsonObject];

/** Splits an account or a private key. Of the details of its wallet, the id is judged. */
function partsOf({ known, isKeyOwn }: AccountAnswer["items"][number], json: JsonObject): Parts {
  const { publicKey, walletDetails } = json;
  const { walletId } = known;
  const judged = { ...known, ...(isKeyOwn === true && { publicKey: publicKey! }) };
  const details = isJsonObject(walletDetails) && walletId && { walletDetails: { walletId } };
  const others = otherMembers(json, ...Object.keys(judged));
  return [{ ...judged, ...details }, "addresses" in judged ? Object.assign(others, othersOfAddresses(json)) : others];
}

/** The members of a private key's addresses that are not judged, if there are any. */
function othersOfAddresses({ addresses }: JsonObject): JsonObject {
  const others = (addresses as JsonObject[]).map((each) => otherMembers(each, ...Object.keys(KEY.addresses)));
  return others.some((each) => Object.keys(each).length > 0) ? { addresses: others } : {};
}
