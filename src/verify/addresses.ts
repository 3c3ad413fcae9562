/**
 * Which addresses of a result are backed by an app proof. Where an intent has accounts, place i of the result's
 * addresses belongs to accounts[i]: a proof backs it that names the same wallet, the same path and the same address.
 * Elsewhere (private keys have neither wallet nor accounts) a proof of the same address does. Rules:
 * verify/README.md, "Activities".
 */
import type { AddressDerivationProof } from "../decode/app-proof.js";
import { type JsonObject, type JsonValue, isJsonObject, memberPath } from "../decode/json.js";
import { comparableAddress, isEmpty } from "./expectation.js";

/** One address of the result. */
interface Place {
  /** Where it stands, such as `addresses[1]`. */
  readonly path: string;
  /** Null: something stands there that is no address. */
  readonly address: string | null;
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
export interface CoverageInput {
  readonly intent: JsonValue | undefined;
  readonly result: JsonValue | undefined;
  readonly walletId: string | null;
  /** The result may say again what the intent says: not where keys are made, whose addresses are all new. */
  readonly mayRepeatIntent: boolean;
  readonly proofs: readonly AddressDerivationProof[];
}

export function coverageOf({ intent, result, walletId, mayRepeatIntent, proofs }: CoverageInput): Coverage {
  const accounts = listOf(intent, "accounts");
  const positional = accounts === undefined ? [] : positionalPlaces(result, accounts);
  const taken = new Set(positional.map(({ path }) => path));
  const others = placesIn(result, "").filter(({ path }) => !taken.has(path));
  const repeated = mayRepeatIntent ? textsOf(intent) : new Set<string>();
  const elsewhere = others.filter(({ address }) => address === null || !repeated.has(comparableAddress(address)));
  const index = new ProofIndex(proofs, walletId);
  const backed = (place: Place): boolean => place.address !== null && index.backs(place.address, place.derivationPath);
  const coveredPlaces = positional.filter(backed);
  const proven = new Set(coveredPlaces.map(({ address }) => comparableAddress(address!)));
  // Beside accounts, another address is covered only by a proof that backs one of theirs.
  const coveredElsewhere = elsewhere.filter((place) =>
    accounts === undefined ? backed(place) : place.address !== null && proven.has(comparableAddress(place.address)),
  );
  const covered = new Set<Place>([...coveredPlaces, ...coveredElsewhere]);
  const places = [...positional, ...elsewhere];
  return {
    covered: distinct(places.filter((place) => covered.has(place)).map(({ address }) => address!)),
    uncovered: distinct(places.filter((place) => !covered.has(place)).map(({ address, path }) => address ?? path)),
    coveredPaths: [...covered].map(({ path }) => path),
    stray:
      accounts === undefined && others.length === 0
        ? []
        : strayProofs(proofs, accounts === undefined ? others : positional, accounts),
  };
}

/** Proofs by address, so that a long list of each costs no more than their lengths. */
class ProofIndex {
  readonly #paths = new Map<string, Set<string | undefined>>();

  constructor(proofs: readonly AddressDerivationProof[], walletId: string | null) {
    for (const { address, derivationPath, walletId: named } of proofs) {
      if ((named ?? null) !== walletId) continue;
      const key = comparableAddress(address);
      const paths = this.#paths.get(key) ?? new Set();
      this.#paths.set(key, paths.add(derivationPath));
    }
  }

  /** `derivationPath`: undefined where any will do, null where none does. */
  backs(address: string, derivationPath: string | null | undefined): boolean {
    const paths = this.#paths.get(comparableAddress(address));
    if (paths === undefined || derivationPath === null) return false;
    return derivationPath === undefined || paths.has(derivationPath);
  }
}

/**
 * Proofs that fit no place. Beside accounts a proof has the path of one and its address; where the lists do not match,
 * the path of any account will do, for nobody knows which address is whose.
 */
function strayProofs(
  proofs: readonly AddressDerivationProof[],
  places: readonly Place[],
  accounts: readonly JsonValue[] | undefined,
): AddressDerivationProof[] {
  const keyOf = (address: string, path: string | undefined): string => `${path ?? ""}\n${comparableAddress(address)}`;
  const exact = new Set<string>();
  const unplaced = new Set<string>();
  for (const { address, derivationPath } of places) {
    if (address !== null && derivationPath === null) unplaced.add(comparableAddress(address));
    else if (address !== null) exact.add(keyOf(address, derivationPath ?? undefined));
  }
  const paths = new Set((accounts ?? []).map((account) => memberOf(account, "path") ?? ""));
  const isWithheld =
    places.length === 0 || places.some(({ address, derivationPath }) => address === null && derivationPath === null);
  return proofs.filter(({ address, derivationPath }) => {
    if (accounts === undefined) return !exact.has(keyOf(address, undefined));
    const fitsSome = isWithheld || unplaced.has(comparableAddress(address));
    return !exact.has(keyOf(address, derivationPath)) && !(fitsSome && paths.has(derivationPath ?? ""));
  });
}

/** The list of a holder or of its `wallet`: accounts and addresses may both stand there. */
function listOf(holder: JsonValue | undefined, name: string): readonly JsonValue[] | undefined {
  const [own, nested] = [memberOf(holder, name), memberOf(memberOf(holder, "wallet"), name)];
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
      .map((_, index) => ({ path: `addresses[${from + index}]`, address: null, derivationPath: null }));
  if (lists.length === 0) return withheld(0);
  return lists.flatMap(({ path, list }) => [
    ...list.map((entry, index) => ({
      path: `${path}[${index}]`,
      address: addressOf(entry),
      derivationPath: pathOf(index, list),
    })),
    ...withheld(list.length),
  ]);
}

/** A string, or an object with a string `address`. */
function addressOf(entry: JsonValue | undefined): string | null {
  const address = isJsonObject(entry) ? entry["address"] : entry;
  return typeof address === "string" && address !== "" ? address : null;
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
  found.push({ path, address: addressOf(entry) });
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
