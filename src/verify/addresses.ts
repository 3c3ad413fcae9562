/**
 * Which addresses of a result are backed by an app proof. Where an intent has accounts, place i of the result's
 * addresses belongs to accounts[i]: a proof backs it that names the same wallet, the same path and the same address.
 * Elsewhere (private keys have neither wallet nor accounts) a proof of the same address does. Rules:
 * verify/README.md, "Activities".
 */
import type { AddressDerivationProof } from "../decode/app-proof.js";
import { type JsonObject, type JsonValue, isJsonObject, memberPath } from "../decode/json.js";
import { comparableAddress, isEmpty } from "./contradictions.js";

/** One address of the result. */
interface Place {
  /** Where it stands, such as `addresses[1]`. */
  readonly path: string;
  /** Null: something stands there that is no address. */
  readonly address: string | null;
  /** The address as it is compared. */
  readonly key: string | null;
  /** The path of its account; undefined where the intent has no accounts, null where it has none for this place. */
  readonly derivationPath?: string | null;
}

export interface Coverage {
  /** Addresses that a proof backs. */
  readonly covered: readonly string[];
  /** Addresses that none does; the place where what stands there is none. */
  readonly uncovered: readonly string[];
  /** Paths, inside the result, of what is covered. */
  readonly coveredPaths: readonly string[];
  /** Proofs of addresses that fit no place, where there are places. */
  readonly stray: readonly AddressDerivationProof[];
}

/** What coverage is asked of. */
interface CoverageInput {
  readonly intent: JsonValue | undefined;
  readonly result: JsonValue | undefined;
  readonly walletId: string | null;
  /** The result may say again what the intent says: not where keys are made, whose addresses are all new. */
  readonly mayRepeatIntent: boolean;
  readonly proofs: readonly AddressDerivationProof[];
}

export function coverageOf({ intent, result, walletId, mayRepeatIntent, proofs }: CoverageInput): Coverage {
  const accounts = accountsOf(intent);
  const positional = accounts === undefined ? [] : positionalPlaces(result, accounts);
  const taken = new Set(positional.map(({ path }) => path));
  const others = placesIn(result, "").filter(({ path }) => !taken.has(path));
  const repeated: ReadonlySet<string | null> = mayRepeatIntent ? textsOf(intent) : new Set<string>();
  const elsewhere = others.filter(({ key }) => !repeated.has(key));
  const index = new ProofIndex(proofs, walletId);
  const backed = (place: Place): boolean => index.backs(place);
  const coveredPlaces = positional.filter(backed);
  const proven = new Set(coveredPlaces.map(({ key }) => key));
  // Beside accounts, another address is covered only by a proof that backs one of theirs.
  const coveredElsewhere = elsewhere.filter(accounts === undefined ? backed : ({ key }) => proven.has(key));
  const covered = new Set<Place>([...coveredPlaces, ...coveredElsewhere]);
  const places = [...positional, ...elsewhere];
  return {
    covered: distinct(places.filter((place) => covered.has(place)).map(({ address }) => address!)),
    uncovered: distinct(places.filter((place) => !covered.has(place)).map(({ address, path }) => address ?? path)),
    coveredPaths: [...covered].map(({ path }) => path),
    stray:
      accounts === undefined && others.length === 0
        ? []
        : proofs.filter(accounts === undefined ? fitsNone(others) : fitsNoAccount(positional, accounts)),
  };
}

/** Proofs by address, so that a long list of each costs no more than their lengths. */
class ProofIndex {
  readonly #paths = new Map<string | null, Set<string | null | undefined>>();

  constructor(proofs: readonly AddressDerivationProof[], walletId: string | null) {
    for (const { address, derivationPath, walletId: named } of proofs) {
      if ((named ?? null) !== walletId) continue;
      const key = comparableAddress(address);
      const paths = this.#paths.get(key) ?? new Set();
      this.#paths.set(key, paths.add(derivationPath));
    }
  }

  backs({ key, derivationPath }: Place): boolean {
    const paths = this.#paths.get(key);
    return paths !== undefined && (derivationPath === undefined || paths.has(derivationPath));
  }
}

type ProofTest = (proof: AddressDerivationProof) => boolean;

/** Where there are no accounts, a proof fits the places of its address. */
function fitsNone(places: readonly Place[]): ProofTest {
  const keys = new Set(places.map(({ key }) => key));
  return ({ address }) => !keys.has(comparableAddress(address));
}

/**
 * Beside accounts a proof has the path of one and its address; where the lists do not match, the path of any account
 * will do, for nobody knows which address is whose.
 */
function fitsNoAccount(places: readonly Place[], accounts: readonly JsonValue[]): ProofTest {
  const exact = new Set<string>();
  const unplaced = new Set<string | null>();
  for (const { key, derivationPath } of places) {
    if (derivationPath === null) unplaced.add(key);
    else exact.add(JSON.stringify([derivationPath, key]));
  }
  const paths = new Set(accounts.map((account) => memberOf(account, "path") ?? ""));
  return ({ address, derivationPath }) => {
    const key = comparableAddress(address);
    // Null: an address is missing, or something else stands in its place.
    const fitsSome = unplaced.has(null) || unplaced.has(key);
    return !exact.has(JSON.stringify([derivationPath, key])) && !(fitsSome && paths.has(derivationPath ?? ""));
  };
}

/** The accounts of the intent or of its `wallet`. */
function accountsOf(intent: JsonValue | undefined): readonly JsonValue[] | undefined {
  const [own, nested] = [memberOf(intent, "accounts"), memberOf(memberOf(intent, "wallet"), "accounts")];
  const list = isEmpty(own) ? nested : own;
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

function memberOf(holder: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(holder) ? holder[name] : undefined;
}

/**
 * The places of the result's address lists, each with the path of its account: without any where the lengths differ,
 * and then an account without an address is a place, too.
 */
function positionalPlaces(result: JsonValue | undefined, accounts: readonly JsonValue[]): Place[] {
  const holders = [
    { path: "addresses", list: memberOf(result, "addresses") },
    { path: "wallet.addresses", list: memberOf(memberOf(result, "wallet"), "addresses") },
  ];
  const lists = holders.flatMap(({ path, list }) => (Array.isArray(list) && list.length > 0 ? [{ path, list }] : []));
  const pathOf = (index: number, list: readonly JsonValue[]): string | null => {
    const path = memberOf(accounts[index], "path");
    return list.length === accounts.length && typeof path === "string" && path !== "" ? path : null;
  };
  const withheld = (from: number): Place[] =>
    accounts
      .slice(from)
      .map((_, index) => ({ path: `addresses[${from + index}]`, address: null, key: null, derivationPath: null }));
  if (lists.length === 0) return withheld(0);
  return lists.flatMap(({ path, list }) => [
    ...list.map((entry, index) => ({
      ...placeOf(`${path}[${index}]`, entry),
      derivationPath: pathOf(index, list),
    })),
    ...withheld(list.length),
  ]);
}

/** An address is a string, or an object with a string `address`. */
function placeOf(path: string, entry: JsonValue): Place {
  const address = isJsonObject(entry) ? entry["address"] : entry;
  return typeof address === "string" && address !== ""
    ? { path, address, key: comparableAddress(address) }
    : { path, address: null, key: null };
}

/** Every `address` and every entry of `addresses`, wherever they stand. */
function placesIn(value: JsonValue | undefined, path: string, found: Place[] = []): Place[] {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) placesIn(item, `${path}[${index}]`, found);
  else if (isJsonObject(value)) placesOfMembers(value, path, null, found);
  return found;
}

/** Those of an object's members, but for the one of a name. */
function placesOfMembers(object: JsonObject, path: string, without: string | null, found: Place[]): void {
  for (const [index, [name, member]] of Object.entries(object).entries()) {
    if (isEmpty(member) || name === without) continue;
    const here = memberPath(path, name, index);
    if (name === "addresses" && Array.isArray(member)) {
      for (const [position, entry] of member.entries()) placesAt(entry, `${here}[${position}]`, found);
    } else if (name === "address" || name === "addresses") placesAt(member, here, found);
    else placesIn(member, here, found);
  }
}

/** A place where an address has to stand, and those inside what stands there beside its `address`. */
function placesAt(entry: JsonValue, path: string, found: Place[]): void {
  found.push(placeOf(path, entry));
  if (isJsonObject(entry)) placesOfMembers(entry, path, "address", found);
}

/** Every text inside a value, in its comparable form. */
function textsOf(value: JsonValue | undefined, texts = new Set<string>()): Set<string> {
  if (typeof value === "string") texts.add(comparableAddress(value));
  else if (Array.isArray(value)) for (const item of value) textsOf(item, texts);
  else if (isJsonObject(value)) for (const member of Object.values(value)) textsOf(member, texts);
  return texts;
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
