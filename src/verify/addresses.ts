/** Comparison of a result's addresses with app proofs (verify/README.md, "Activities"). */
import type { AddressDerivationProof } from "../decode/app-proof.js";
import { type JsonObject, type JsonValue, isJsonObject, memberPath } from "../decode/json.js";
import { comparableAddress, isEmpty } from "./contradictions.js";

interface Place {
  readonly path: string;
  /** The address, or null if the value is not an address. */
  readonly address: string | null;
  /** Comparable form of the address. */
  readonly key: string | null;
  /**
   * Derivation path of the intent's account at the same position, or null if it is not known. Undefined for an address
   * outside the result's lists that belong to the intent's accounts.
   */
  readonly derivationPath?: string | null;
}

export interface Coverage {
  readonly covered: readonly string[];
  /** Addresses that no proof covers. A value that is not an address is listed by its path. */
  readonly uncovered: readonly string[];
  readonly coveredPaths: readonly string[];
  /** Proofs that match no address of the result. */
  readonly stray: readonly AddressDerivationProof[];
}

interface CoverageInput {
  readonly intent: JsonValue | undefined;
  readonly result: JsonValue | undefined;
  readonly walletId: string | null;
  /** Whether the activity's addresses are new, whatever its intent says. */
  readonly makesKeys: boolean;
  readonly proofs: readonly AddressDerivationProof[];
}

export function coverageOf({ intent, result, walletId, makesKeys, proofs }: CoverageInput): Coverage {
  const accounts = accountsOf(intent);
  const lists = accounts === undefined ? [] : addressLists(result);
  const positional = accounts === undefined ? [] : positionalPlaces(lists, accounts);
  const others = placesIn(result, intent, new Set(lists.map(({ list }) => list)));
  const elsewhere = others.filter(({ repeatsIntent }) => makesKeys || !repeatsIntent);
  const index = new ProofIndex(proofs, walletId);
  const backed = (place: Place): boolean => index.backs(place);
  const coveredPlaces = positional.filter(backed);
  const proven = new Set(coveredPlaces.map(({ key }) => key));
  // If the intent has accounts, an address outside the accounts' lists is covered only if the same address is covered
  // inside a list.
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

function fitsNone(places: readonly Place[]): ProofTest {
  const keys = new Set(places.map(({ key }) => key));
  return ({ address }) => !keys.has(comparableAddress(address));
}

/**
 * Returns a test for proofs that match no account. If addresses and accounts differ in number, it is not known whose
 * address is whose, so the path of any account fits.
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
    // `unplaced` contains null if an address is missing or a value is not an address.
    const fitsSome = unplaced.has(null) || unplaced.has(key);
    return !exact.has(JSON.stringify([derivationPath, key])) && !(fitsSome && paths.has(derivationPath ?? ""));
  };
}

function accountsOf(intent: JsonValue | undefined): readonly JsonValue[] | undefined {
  const [own, nested] = [memberOf(intent, "accounts"), memberOf(memberOf(intent, "wallet"), "accounts")];
  const list = isEmpty(own) ? nested : own;
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

function memberOf(holder: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(holder) ? holder[name] : undefined;
}

interface AddressList {
  readonly path: string;
  readonly list: readonly JsonValue[];
}

/** Returns the lists of addresses in the result whose items belong to the intent's accounts. */
function addressLists(result: JsonValue | undefined): AddressList[] {
  const holders = [
    { path: "addresses", list: memberOf(result, "addresses") },
    { path: "wallet.addresses", list: memberOf(memberOf(result, "wallet"), "addresses") },
  ];
  return holders.flatMap(({ path, list }) => (Array.isArray(list) && list.length > 0 ? [{ path, list }] : []));
}

/**
 * Returns a place for each address in the lists, with the account's path if a list has as many addresses as there are
 * accounts. A missing address has a place, too.
 */
function positionalPlaces(lists: readonly AddressList[], accounts: readonly JsonValue[]): Place[] {
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

function placeOf(path: string, entry: JsonValue | undefined): Place {
  const address = isJsonObject(entry) ? entry["address"] : entry;
  return typeof address === "string" && address !== ""
    ? { path, address, key: comparableAddress(address) }
    : { path, address: null, key: null };
}

interface FoundPlace extends Place {
  /** Whether the intent has the same address at the same member. */
  readonly repeatsIntent: boolean;
}

/** Returns the places of addresses, except for the items of the lists in `taken`. */
function placesIn(
  result: JsonValue | undefined,
  intent: JsonValue | undefined,
  taken: ReadonlySet<unknown>,
): readonly FoundPlace[] {
  const finder = new PlaceFinder(taken);
  finder.search(result, "", intent);
  return finder.found;
}

/** A walk over the result, with `stated` as the intent's value at the same place. */
class PlaceFinder {
  readonly found: FoundPlace[] = [];
  readonly #taken: ReadonlySet<unknown>;

  constructor(taken: ReadonlySet<unknown>) {
    this.#taken = taken;
  }

  search(value: JsonValue | undefined, path: string, stated: JsonValue | undefined): void {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) this.search(item, `${path}[${index}]`, itemOf(stated, index));
    } else if (isJsonObject(value)) this.#members(value, path, stated);
  }

  #members(object: JsonObject, path: string, stated: JsonValue | undefined, without?: string): void {
    for (const [index, [name, member]] of Object.entries(object).entries()) {
      if (isEmpty(member) || name === without) continue;
      const [here, said] = [memberPath(path, name, index), memberOf(stated, name)];
      if (name === "addresses" && Array.isArray(member)) {
        const isTaken = this.#taken.has(member);
        for (const [place, entry] of member.entries())
          this.#place(entry, `${here}[${place}]`, itemOf(said, place), isTaken);
      } else if (name === "address" || name === "addresses") this.#place(member, here, said);
      else this.search(member, here, said);
    }
  }

  #place(entry: JsonValue, path: string, stated: JsonValue | undefined, isTaken = false): void {
    if (!isTaken) {
      const place = placeOf(path, entry);
      this.found.push({ ...place, repeatsIntent: place.key !== null && place.key === placeOf(path, stated).key });
    }
    if (isJsonObject(entry)) this.#members(entry, path, stated, "address");
  }
}

function itemOf(list: JsonValue | undefined, index: number): JsonValue | undefined {
  return Array.isArray(list) ? list[index] : undefined;
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
