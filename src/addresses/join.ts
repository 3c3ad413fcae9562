/** The join of lists and verified proofs, address by address (addresses/README.md, "Classes"). */
import type { AddressActivity, AddressLists, ListedAccount, ListedFlag } from "./lists.js";
import { COMPLETED } from "../decode/activity.js";
import { otherMembers } from "../decode/input.js";
import { typedOptions } from "../decode/options.js";
import { type MembersOf, flag, nonEmptyText, optional } from "../decode/shapes.js";
import { comparableAddress } from "../verify/contradictions.js";
import { turn } from "../verify/in-turns.js";
import { ADDRESS_CLASSES, type AddressClass, type UnplacedKey } from "./classes.js";
import { type AddressEvidence, type AddressProof, type ProvenAddress, requireAddressEvidence } from "./verify.js";

export interface JoinOptions {
  readonly organizationId: string;
  /** Whether it may be a sub-organization whose parent is not known, so that the parent's activities are missing. */
  readonly parentUnknown?: boolean;
}

const OPTIONS: MembersOf<JoinOptions> = { organizationId: nonEmptyText, parentUnknown: optional(flag) };

/** One address and its class. */
export interface AddressRow {
  readonly class: AddressClass;
  readonly address: string;
  /** Whether a list has the address. One that only a proof names is contradicted, or has a reason. */
  readonly listed: boolean;
  /** Null for an address of a private key. */
  readonly walletId: string | null;
  /** Null for an address of a wallet. */
  readonly privateKeyId: string | null;
  readonly path: string | null;
  /** The service's word, as the next two members. Null where no list has the address. */
  readonly curve: string | null;
  readonly addressFormat: string | null;
  readonly createdAt: string | null;
  /** When the enclave signed its proof (RFC 3339), or null without a verified proof. */
  readonly provenAt: string | null;
  /** The activity of the proof, or that made the address by the service's word. */
  readonly activityId: string | null;
  /** The deployment of the policy whose enclave signed. Null without a verified proof. */
  readonly deployment: string | null;
  /** Null for a listed address that is derived, unless an account beside it was exported. */
  readonly reason: string | null;
}

/** What a join finds. */
interface Joined {
  /** The worst class first. */
  readonly rows: AddressRow[];
  readonly unplaced: readonly UnplacedKey[];
}

/** A proof and the activity that has it. */
interface Known extends Omit<AddressProof, "says"> {
  readonly says: ProvenAddress;
  readonly activity: AddressActivity;
}

/** An address, with the flags of its wallet or private key. Its `id` is that wallet's or private key's. */
interface Listed extends Omit<AddressRow, "class" | "provenAt" | "activityId" | "deployment" | "reason"> {
  readonly id: string;
  readonly accountId?: string | undefined;
  readonly flags: Flags | undefined;
}

interface Flags {
  readonly imported: ListedFlag;
  readonly exported: ListedFlag;
}

interface Judgement {
  readonly class: AddressClass;
  readonly reason: string | null;
  readonly proof?: Known | undefined;
  readonly activityId?: string | undefined;
}

/**
 * Joins the lists of an organization with verified proofs. Returns a row for each listed address, and for each proven
 * address that no list has, the worst class first. Pure: the same lists and evidence give the same rows, whatever the
 * order of the evidence. {@link unplacedKeys} says what no row does. Throws TypeError for evidence that
 * `verifyAddressActivity` did not make for this organization.
 */
export function joinAddresses(
  lists: AddressLists,
  evidence: Iterable<AddressEvidence>,
  options: JoinOptions,
): AddressRow[] {
  return finished(joinSteps(lists, evidence, options)).rows;
}

/**
 * Returns the keys of {@link joinAddresses} that were exported or imported, and whose wallet nothing names: not the
 * lists, no proof, and no activity that makes accounts. Each weakens every row. Throws as that function does.
 */
export function unplacedKeys(
  lists: AddressLists,
  evidence: Iterable<AddressEvidence>,
  options: JoinOptions,
): readonly UnplacedKey[] {
  return finished(joinSteps(lists, evidence, options)).unplaced;
}

/** Joins, and gives other work of the process turns, since the service decides how long it takes. */
export async function joinInTurns(...given: Parameters<typeof joinAddresses>): Promise<Joined> {
  const steps = joinSteps(...given);
  for (let done = 1; ; done++) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (done % STEPS_IN_A_TURN === 0) await turn();
  }
}

const STEPS_IN_A_TURN = 200;

function* joinSteps(
  lists: AddressLists,
  evidence: Iterable<AddressEvidence>,
  given: JoinOptions,
): Generator<undefined, Joined> {
  const options = typedOptions("options", given, OPTIONS);
  const all = [...evidence].map((each) => requireAddressEvidence(each, options.organizationId));
  all.sort((a, b) => compareTexts(a.activity.id, b.activity.id));
  // Each list is read once.
  const own = { ...lists };
  return yield* new Join(own, options).joined(own, all);
}

function finished<T>(steps: Generator<undefined, T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** Everything is found by a key, since the service decides how many addresses, proofs and activities share one. */
class Join {
  readonly #options: JoinOptions;
  /** When the lists of accounts and of private keys were requested, in milliseconds. */
  readonly #accountsAt: number;
  readonly #privateKeysAt: number;
  /** Of wallets and private keys, by their ids. */
  readonly #flags: ReadonlyMap<string, Flags>;
  /** By address, in each case of its digits. So are the proofs. */
  readonly #listedOf = new Groups<Listed>();
  readonly #proofsOf = new Groups<Known>();
  /** Which address the lists have at which place. */
  readonly #places = new Set<string>();
  /** Ids of accounts that the lists have with different values. */
  readonly #disputed = new Set<string>();
  /** The first proof of a place that names an address that no list has there, by what it is and the place. */
  readonly #elsewhere = new Groups<Known>();
  /** The first activity that made or imported an address or a private key, and the first with an unreadable proof. */
  readonly #makers = new Groups<AddressEvidence>();
  readonly #unread = new Groups<Judgement>();
  /** Ids of wallets and private keys that activities imported or exported, and addresses of exported accounts. */
  readonly #made = { imported: new Set<string>(), exported: new Set<string>() };
  /** By what was deleted, or by {@link ANY_ACCOUNT}: the latest deletion. */
  readonly #deletions = new Map<string, AddressActivity>();
  /** Addresses of keys that were exported alone, and the activities that did it. */
  readonly #exportedKeys = new Map<string, { readonly address: string; readonly activity: AddressActivity }>();
  readonly #unplaced: UnplacedKey[] = [];
  /** Curves of keys that were exported, by wallet and path, since the same key has an address in each format. */
  readonly #exportedAt = new Map<string, Groups<string>>();
  /** Exported accounts by what their path and their siblings' paths share, then by path. */
  readonly #exportedBeside = new Map<string, Groups<string>>();
  /** Names of the listed addresses that are contradicted. */
  readonly #contradicted = new Set<string>();

  constructor({ wallets, privateKeys, listedAt, privateKeysListedAt = listedAt }: AddressLists, options: JoinOptions) {
    this.#options = options;
    this.#accountsAt = listedAt ?? Infinity;
    this.#privateKeysAt = privateKeysListedAt ?? Infinity;
    this.#flags = flagsOf(wallets, privateKeys);
  }

  *joined(lists: AddressLists, evidence: readonly AddressEvidence[]): Generator<undefined, Joined> {
    yield* this.#readAccounts(lists);
    yield* this.#readPrivateKeys(lists);
    for (const { activity } of evidence) yield* this.#readActivity(activity);
    for (const each of evidence) yield* this.#readProofs(each);
    yield* this.#placeExports();
    const listed = yield* this.#listedRows();
    // The few that no list has come first in their class.
    const rows = [...(yield* this.#unlistedRows()), ...listed];
    return {
      rows: ADDRESS_CLASSES.flatMap((name) => rows.filter((row) => row.class === name)),
      unplaced: this.#unplaced,
    };
  }

  *#readAccounts({ accounts }: AddressLists): Generator<undefined> {
    const known = new Groups<ListedAccount>();
    for (const account of accounts) {
      yield;
      const { walletAccountId: accountId, walletId, path, address, curve, addressFormat, createdAt } = account;
      const first = accountId === undefined ? account : known.add(accountId, account);
      if (first !== account && isEqual(first, account)) continue;
      if (first !== account) this.#disputed.add(accountId!);
      const own = { address, listed: true, walletId, privateKeyId: null, path, curve, addressFormat, createdAt };
      this.#list({ ...own, id: walletId, accountId, flags: this.#flags.get(walletId) });
    }
  }

  *#readPrivateKeys({ privateKeys }: AddressLists): Generator<undefined> {
    for (const { privateKeyId: id, curve, createdAt, addresses } of privateKeys)
      for (const { address, format: addressFormat } of addresses) {
        yield;
        const own = { address, listed: true, walletId: null, privateKeyId: id, path: null };
        this.#list({ ...own, curve, addressFormat, createdAt, id, flags: this.#flags.get(id) });
      }
  }

  #list(listed: Listed): void {
    this.#listedOf.add(comparableAddress(listed.address), listed);
    this.#places.add(placeKey(listed, nameOf(listed)));
  }

  *#readActivity(activity: AddressActivity): Generator<undefined> {
    const { effect, status } = activity;
    if (effect === "deletes" && status === COMPLETED) this.#readDeletion(activity);
    if (effect === "exports" && mayBeDone(activity)) yield* this.#readExport(activity);
    // The same address may be of the wallet from which an imported seed came, so there only ids count.
    if (effect === "imports" && mayBeDone(activity)) this.#holdersAre("imported", activity);
  }

  #readDeletion(activity: AddressActivity): void {
    const isOfAccounts = activity.wallets.length === 0 && /WALLET_ACCOUNTS/.test(activity.type);
    for (const id of [...holdersOf(activity), ...(isOfAccounts ? [ANY_ACCOUNT] : [])])
      this.#deletions.set(id, laterOf(this.#deletions.get(id), activity)!);
  }

  *#readExport(activity: AddressActivity): Generator<undefined> {
    const { type, addresses } = activity;
    const isOfKeys = addresses.length > 0 && (holdersOf(activity).length === 0 || /WALLET_ACCOUNT/.test(type));
    for (const address of addresses) {
      yield;
      const name = comparableAddress(address);
      this.#made.exported.add(name);
      if (isOfKeys) this.#exportedKeys.set(name, { address, activity });
    }
    if (!isOfKeys) this.#holdersAre("exported", activity);
  }

  #holdersAre(what: keyof Flags, activity: AddressActivity): void {
    const ids = holdersOf(activity);
    for (const id of ids) this.#made[what].add(id);
    if (ids.length === 0) this.#unplaced.push(unplacedKey(activity, activity.addresses[0]));
  }

  *#readProofs(evidence: AddressEvidence): Generator<undefined> {
    const { activity, proofs } = evidence;
    for (const { says, ...proof } of proofs) {
      yield;
      if (says === null) continue;
      const known = { ...proof, says, activity };
      this.#proofsOf.add(comparableAddress(says.address), known);
      if (says.walletId !== null && this.#isOurs(says) && !this.#isListed(says)) this.#addElsewhere(known);
    }
    if (activity.effect !== "creates" && activity.effect !== "imports") return;
    const unread = proofs.find(({ status, says }) => status === "refused" && says === null);
    for (const name of [...activity.privateKeys, ...activity.addresses.map(comparableAddress)]) {
      yield;
      this.#makers.add(name, evidence);
      if (unread !== undefined) this.#unread.add(name, refused(unread, activity));
    }
  }

  #addElsewhere(known: Known): void {
    const place = placeKey(known.says);
    this.#elsewhere.add(`${known.status} ${place}`, known);
    if (known.status === "verified" && this.#excuse(known) === null) this.#elsewhere.add(`unexcused ${place}`, known);
  }

  #isOurs({ organizationId }: ProvenAddress): boolean {
    return organizationId === this.#options.organizationId;
  }

  /** Whether a list has the address where the proof says. Proofs of private keys name no place. */
  #isListed(says: ProvenAddress): boolean {
    const { walletId, path } = says;
    const place = { walletId, path: walletId === null ? null : path };
    return namesOf(says).some((name) => this.#places.has(placeKey(place, name)));
  }

  /**
   * Finds the place of each key that was exported, wherever something names it: it can only worsen a class. Where only
   * the wallet is known, it is exported as a whole.
   */
  *#placeExports(): Generator<undefined> {
    const whole = new Set<AddressActivity>();
    for (const [name, { address, activity }] of this.#exportedKeys) {
      yield;
      const makers = [...this.#makers.of(name).map((each) => each.activity), activity].filter(hasWallet);
      const made = makers.flatMap((each) => placesByAddress(each).of(name));
      // No proof has a curve.
      const proven = this.#proofsOf
        .of(name)
        .flatMap(({ says }) => (this.#isOurs(says) ? { ...says, curve: null } : []));
      const all = [...this.#listedOf.of(name), ...made, ...proven].filter(({ walletId }) => walletId !== null);
      const known = new Set(all.flatMap((one) => (one.curve === null ? [] : placeKey(one))));
      const places = all.filter((one) => one.path !== null && (one.curve !== null || !known.has(placeKey(one))));
      for (const place of places) this.#exportAt(place);
      if (places.length > 0) continue;
      for (const { walletId } of all) this.#made.exported.add(walletId!);
      for (const each of makers) whole.add(each);
      if (all.length + makers.length === 0) this.#unplaced.push(unplacedKey(activity, address));
    }
    for (const { wallets } of whole) for (const walletId of wallets) this.#made.exported.add(walletId);
  }

  #exportAt({ walletId, path, curve, address }: Place): void {
    addTo(this.#exportedAt, placeKey({ walletId, path }), curve ?? "", address);
    const root = unhardenedRoot(path);
    if (root !== null) addTo(this.#exportedBeside, placeKey({ walletId, path: root }), path!, address);
  }

  *#listedRows(): Generator<undefined, AddressRow[]> {
    const rows: AddressRow[] = [];
    for (const [address, listed] of this.#listedOf.entries()) {
      const named = new Map(listed.map((one) => [nameOf(one), new Map() as NamedProofs]));
      for (const proof of this.#proofsOf.of(address)) {
        yield;
        for (const each of namesOf(proof.says).flatMap((name) => named.get(name) ?? [])) addNamed(each, proof);
      }
      for (const one of listed) {
        yield;
        const row = rowOf(one, this.#judge(one, named.get(nameOf(one))!));
        if (row.class === "contradicted") this.#contradicted.add(nameOf(one));
        rows.push(row);
      }
    }
    return rows;
  }

  #judge(listed: Listed, named: NamedProofs): Judgement {
    const own = this.#ownHolder(listed);
    const group = listed.walletId === null ? named.get("verified") : named.get(own);
    const matching = group?.of(listed.walletId === null ? own : listed.path!) ?? [];
    const [match] = matching;
    return (
      this.#contradiction(listed, named, match) ??
      this.#refusal(listed, named, match) ??
      (match === undefined ? this.#unproven(listed, named) : this.#proven(listed, matching))
    );
  }

  #ownHolder({ walletId }: Pick<Listed, "walletId">): string {
    return holderKey({ organizationId: this.#options.organizationId, walletId });
  }

  #isShown(id: string, what: keyof Flags): boolean {
    return this.#flags.get(id)?.[what] === true || this.#made[what].has(id);
  }

  /** Whether a flag or an activity says it. The proofs are those that match. */
  #isMade(listed: Listed, what: keyof Flags, proofs: readonly Known[] = []): boolean {
    if (this.#isShown(listed.id, what) || (what === "exported" && this.#hasExportedKey(listed))) return true;
    // No proof of a private key names its id, so that the one in the list may be another than the activity's.
    return listed.walletId === null && this.#factsOfProofs(proofs)[what];
  }

  readonly #factsOfProofs = remembered((proofs: readonly Known[]): Record<keyof Flags, boolean> => {
    const facts = proofs.map(({ says, activity }) => this.#factsOfKeys(keysOf(activity, says.address)));
    const isImport = ({ activity }: Known): boolean => activity.effect === "imports" && mayBeDone(activity);
    return {
      imported: facts.some(({ imported }) => imported) || proofs.some(isImport),
      exported: facts.some(({ exported }) => exported),
    };
  });

  readonly #factsOfKeys = remembered((ids: readonly string[]) => ({
    imported: ids.some((id) => this.#isShown(id, "imported")),
    exported: ids.some((id) => this.#isShown(id, "exported")),
    deletion: ids.map((id) => this.#deletions.get(id)).reduce(laterOf, undefined),
  }));

  #hasExportedKey({ address, curve, ...place }: Listed): boolean {
    if (this.#made.exported.has(comparableAddress(address))) return true;
    const curves = this.#exportedAt.get(placeKey(place));
    return (curve === null ? curves?.besides() : (curves?.first("") ?? curves?.first(curve))) !== undefined;
  }

  #contradiction(listed: Listed, named: NamedProofs, match: Known | undefined): Judgement | null {
    if (this.#disputed.has(listed.accountId ?? ""))
      return { class: "contradicted", reason: `the lists have its account ${listed.accountId} with other values, too` };
    const missing = this.#elsewhere.first(`${match === undefined ? "verified" : "unexcused"} ${placeKey(listed)}`);
    if (missing !== undefined)
      return contradicted(missing, `a verified proof says that this wallet and path have ${missing.says.address}`);
    const own = this.#ownHolder(listed);
    const moved = listed.walletId === null ? undefined : named.get(own)?.besides(listed.path!);
    if (moved !== undefined) return contradicted(moved, `a verified proof says that its path is ${moved.says.path}`);
    // An exported account may have been imported as a private key.
    const foreign = named.get("verified")?.besides(own, this.#ownHolder({ walletId: null }));
    if (foreign === undefined || match !== undefined || this.#isMade(listed, "imported")) return null;
    return contradicted(foreign, `the only verified proof of it is of ${holderText(foreign.says, this.#options)}`);
  }

  #refusal(listed: Listed, named: NamedProofs, match: Known | undefined): Judgement | null {
    const { address, privateKeyId } = listed;
    if (match !== undefined) {
      const own = named.get("refused")?.first(this.#ownHolder(listed));
      return own === undefined ? null : refused(own, own.activity);
    }
    const proof = named.get("refused")?.besides() ?? this.#elsewhere.first(`refused ${placeKey(listed)}`);
    if (proof !== undefined) return refused(proof, proof.activity);
    return this.#unread.first(comparableAddress(address)) ?? this.#unread.first(privateKeyId ?? "") ?? null;
  }

  #unproven(listed: Listed, named: NamedProofs): Judgement {
    const { address, privateKeyId } = listed;
    const maker = this.#makers.first(comparableAddress(address)) ?? this.#makers.first(privateKeyId ?? "");
    const activityId = (named.get(ANY_STATUS)?.besides() ?? maker)?.activity.id;
    const imported = this.#isMade(listed, "imported") ? "imported without a proof: " : "";
    return { class: "service", reason: `${imported}${this.#unprovenText(listed, named, maker)}`, activityId };
  }

  #unprovenText(listed: Listed, named: NamedProofs, maker: AddressEvidence | undefined): string {
    if (named.get("no-boot-proof")?.besides() !== undefined)
      return "the service does not have the boot proof of its proof any more";
    const other = named.get("other")?.besides();
    if (other !== undefined)
      return `signed by ${other.deployment ?? "an enclave"}, which the policy does not say to derive addresses`;
    const foreign = named.get(ANY_STATUS)?.besides(this.#ownHolder(listed));
    if (foreign !== undefined) return `its proof is of ${holderText(foreign.says, this.#options)}`;
    if (named.size > 0) return "its proof names no path";
    if (maker !== undefined) return makerText(maker);
    const parent = this.#options.parentUnknown === true ? ", and the parent organization is not known" : "";
    return `no activity that made it was found${parent}`;
  }

  #proven(listed: Listed, proofs: readonly Known[]): Judgement {
    if (listed.flags !== undefined) return this.#derived(listed, proofs);
    const reason = `its ${holderOf(listed)} ${listed.id} is in no list`;
    return { class: "service", reason, proof: proofs[0] };
  }

  /** Judges an address that proofs name: is it derived, or may somebody outside know its key? */
  #derived(listed: Listed, proofs: readonly Known[]): Judgement {
    const holder = holderOf(listed);
    const beside = this.#besideText(listed);
    const judgement = (name: AddressClass, reason: string | null): Judgement => ({
      class: name,
      reason: [reason, beside].filter((text) => text !== null).join("; ") || null,
      proof: proofs[0],
    });
    for (const what of ["imported", "exported"] as const)
      if (listed.flags?.[what] === null && !this.#isMade(listed, what, proofs))
        return judgement("service", `the list does not say whether its ${holder} was ${what}`);
    if (this.#isMade(listed, "imported", proofs)) return judgement("imported", `its ${holder} was imported`);
    if (this.#isMade(listed, "exported", proofs)) return judgement("exported", `it or its ${holder} was exported`);
    return judgement("derived", null);
  }

  #besideText({ walletId, path }: Listed): string | null {
    const exported = this.#exportedBeside.get(placeKey({ walletId, path: unhardenedRoot(path) }));
    const sibling = exported?.besides(path ?? "");
    return sibling === undefined ? null : `${sibling}, an unhardened account beside it, was exported`;
  }

  /** Returns the reason why a proven address may be in no list, or null. */
  #excuse({ says, activity }: Known): string | null {
    if (activity.unkept) return "its activity asked not to keep it (persist: false)";
    const readAt = says.walletId === null ? this.#privateKeysAt : this.#accountsAt;
    if (says.timestampMs > readAt) return "it was made after its list was read";
    // A deletion of accounts names ids of accounts, which no proof has.
    const deletion =
      says.walletId === null
        ? this.#factsOfKeys(keysOf(activity, says.address)).deletion
        : laterOf(this.#deletions.get(says.walletId), this.#deletions.get(ANY_ACCOUNT));
    const isLater = deletion !== undefined && endOf(deletion) >= says.timestampMs;
    return isLater ? `it may have been deleted by ${deletion.id}` : null;
  }

  *#unlistedRows(): Generator<undefined, AddressRow[]> {
    const missing = new Groups<Known>();
    for (const [, proofs] of this.#proofsOf.entries())
      for (const each of proofs) {
        yield;
        const { says, status } = each;
        const isReported = (): boolean =>
          this.#isListed(says) || namesOf(says).some((name) => this.#contradicted.has(name));
        if (status === "verified" && this.#isOurs(says) && !isReported())
          missing.add(placeKey(says, says.address), each);
      }
    const rows: AddressRow[] = [];
    for (const [, proofs] of missing.entries()) {
      yield;
      rows.push(this.#unlistedRow(proofs));
    }
    return rows;
  }

  /** Returns the row of an address that only proofs name. They say the same. */
  #unlistedRow(proofs: readonly Known[]): AddressRow {
    const { address, walletId, path } = proofs[0]!.says;
    const none = { curve: null, addressFormat: null, createdAt: null };
    const own = { address, listed: false, walletId, privateKeyId: null, path, ...none };
    const listed = { ...own, id: walletId ?? "", flags: this.#flags.get(walletId ?? "") };
    const proof = proofs.find((each) => this.#excuse(each) === null);
    if (proof !== undefined) return rowOf(listed, contradicted(proof, "a verified proof names it, and no list has it"));
    const judgement = this.#derived(listed, proofs);
    const excuse = `no list has it: ${this.#excuse(proofs[0]!)}`;
    const reason = [excuse, judgement.reason].filter((text) => text !== null).join("; ");
    return rowOf(listed, { ...judgement, reason });
  }
}

type Place = Pick<AddressRow, "walletId" | "path" | "curve" | "address">;

/** An activity that deletes accounts names them by ids, which no proof has. */
const ANY_ACCOUNT = "any account";

/**
 * The proofs that name an address: by their status and in {@link ANY_STATUS} by their holder, and those that are
 * verified by their holder and path. A holder is an organization's wallet, or its private keys.
 */
type NamedProofs = Nested<Known>;
const ANY_STATUS = "any";

function addNamed(named: NamedProofs, proof: Known): void {
  const { says, status } = proof;
  const holder = holderKey(says);
  for (const name of [status, ANY_STATUS]) addTo(named, name, holder, proof);
  if (status === "verified" && says.path !== null) addTo(named, holder, says.path, proof);
}

/** Values by key, in the order in which they were added. */
class Groups<T> {
  readonly #groups = new Map<string, T[]>();

  /** Returns the first value of the key. */
  add(key: string, value: T): T {
    const group = this.#groups.get(key);
    group?.push(value);
    if (group === undefined) this.#groups.set(key, [value]);
    return group?.[0] ?? value;
  }

  of(key: string): readonly T[] {
    return this.#groups.get(key) ?? [];
  }

  first(key: string): T | undefined {
    return this.#groups.get(key)?.[0];
  }

  /** Returns the first value of another key than these. */
  besides(...keys: readonly string[]): T | undefined {
    for (const [key, [value]] of this.#groups) if (!keys.includes(key)) return value;
    return undefined;
  }

  entries(): Iterable<[key: string, values: readonly T[]]> {
    return this.#groups;
  }
}

/** Values by two keys. */
type Nested<T> = Map<string, Groups<T>>;

function addTo<T>(groups: Nested<T>, key: string, inner: string, value: T): void {
  const group = groups.get(key) ?? new Groups<T>();
  group.add(inner, value);
  groups.set(key, group);
}

/** Returns a function that makes the value of each object once. */
function remembered<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const values = new WeakMap<K, V>();
  return (key) => {
    const value = values.get(key) ?? make(key);
    values.set(key, value);
    return value;
  };
}

function flagsOf(
  wallets: AddressLists["wallets"],
  privateKeys: AddressLists["privateKeys"],
): ReadonlyMap<string, Flags> {
  const flags = new Map<string, Flags>();
  const addFlags = (id: string, { imported, exported }: Flags): void => {
    const known = flags.get(id) ?? { imported, exported };
    const worse = { imported: worseFlag(known.imported, imported), exported: worseFlag(known.exported, exported) };
    flags.set(id, worse);
  };
  for (const wallet of wallets) addFlags(wallet.walletId, wallet);
  for (const key of privateKeys) addFlags(key.privateKeyId, key);
  return flags;
}

function worseFlag(a: ListedFlag, b: ListedFlag): ListedFlag {
  if (a === true || b === true) return true;
  return a === false && b === false ? false : null;
}

function rowOf(listed: Listed, { class: name, reason, proof, activityId }: Judgement): AddressRow {
  return {
    class: name,
    ...otherMembers(listed, "id", "accountId", "flags"),
    provenAt: proof === undefined ? null : new Date(proof.says.timestampMs).toISOString(),
    activityId: proof?.activity.id ?? activityId ?? null,
    deployment: proof?.deployment ?? null,
    reason,
  };
}

function contradicted(proof: Known, reason: string): Judgement {
  return { class: "contradicted", reason, proof };
}

function refused({ failed }: AddressProof | Known, { id: activityId }: AddressActivity): Judgement {
  return { class: "refused", reason: failed.join(", "), activityId };
}

const CASELESS = ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_SUI", "ADDRESS_FORMAT_APTOS"];

/** What a listed address is called. The case of hex digits tells nothing in three formats. */
function nameOf({ address, addressFormat }: Pick<Listed, "address" | "addressFormat">): string {
  return CASELESS.includes(addressFormat ?? "") ? `~${comparableAddress(address)}` : `=${address}`;
}

/** What a listed address may be called that a proof names. */
function namesOf({ address }: ProvenAddress): readonly string[] {
  return [`=${address}`, `~${comparableAddress(address)}`];
}

const JUDGED = ["walletId", "path", "address", "curve", "addressFormat"] as const;

function isEqual(a: ListedAccount, b: ListedAccount): boolean {
  return JUDGED.every((name) => a[name] === b[name]);
}

function makerText({ activity, proofs }: AddressEvidence): string {
  if (activity.requested === false) return "its activity requested no app proofs";
  if (proofs.length > 0) return "no proof of its activity names it";
  return "its activity has no proof of an address: none was requested, or none is kept";
}

function holderOf({ walletId }: Listed): string {
  return walletId === null ? "private key" : "wallet";
}

function unplacedKey({ id: activityId, type }: AddressActivity, address: string | null = null): UnplacedKey {
  return { activityId, type, address };
}

function holdersOf({ wallets, privateKeys }: AddressActivity): readonly string[] {
  return [...wallets, ...privateKeys];
}

function hasWallet({ wallets }: AddressActivity): boolean {
  return wallets.length > 0;
}

/** Ids of the private keys of an activity that have the address, or of all if it does not say which. */
function keysOf(activity: AddressActivity, address: string): readonly string[] {
  const own = keysByAddress(activity).of(comparableAddress(address));
  return own.length === 0 ? activity.privateKeys : own;
}

const keysByAddress = /* @__PURE__ */ remembered(({ privateKeyAddresses }: AddressActivity) => {
  const keys = new Groups<string>();
  for (const { privateKeyId, addresses } of privateKeyAddresses)
    for (const address of addresses) keys.add(comparableAddress(address), privateKeyId);
  return keys;
});

/** The places of accounts by address. An activity of several wallets does not say which one has an account. */
const placesByAddress = /* @__PURE__ */ remembered(({ wallets, accounts }: AddressActivity) => {
  const [places, [walletId = null, ...others]] = [new Groups<Place>(), wallets];
  for (const account of others.length > 0 ? [] : accounts)
    places.add(comparableAddress(account.address), { ...account, walletId });
  return places;
});

function placeKey({ walletId, path }: Pick<Place, "walletId" | "path">, name = ""): string {
  return JSON.stringify([walletId, path, name]);
}

function holderKey({ organizationId, walletId }: Pick<ProvenAddress, "organizationId" | "walletId">): string {
  return JSON.stringify([organizationId, walletId]);
}

function holderText({ organizationId, walletId }: ProvenAddress, options: JoinOptions): string {
  if (organizationId !== options.organizationId) return `organization ${organizationId}`;
  return walletId === null ? "a private key" : `wallet ${walletId}`;
}

/** Statuses of activities that did nothing, so far or ever. */
const UNDONE = ["CREATED", "PENDING", "FAILED", "CONSENSUS_NEEDED", "AUTHENTICATORS_NEEDED", "REJECTED"].map(
  (name) => `ACTIVITY_STATUS_${name}`,
);

function mayBeDone({ status }: AddressActivity): boolean {
  return status === null || !UNDONE.includes(status);
}

function laterOf(a: AddressActivity | undefined, b: AddressActivity | undefined): AddressActivity | undefined {
  return a === undefined || (b !== undefined && endOf(a) < endOf(b)) ? b : a;
}

/** Returns the last millisecond at which an activity may have been requested. */
function endOf({ requestedAt }: AddressActivity): number {
  return lastMillisecond(requestedAt ?? Infinity);
}

/** A smaller number means seconds, since in milliseconds it would be before 1974. */
const FEWEST_MS = Date.UTC(1974, 0, 1);

/** Returns the last millisecond that a time means: one in seconds lasts until the next second. */
function lastMillisecond(time: number): number {
  const ms = time < FEWEST_MS ? 1000 * time : time;
  return ms % 1000 === 0 ? ms + 999 : ms;
}

/**
 * Returns the path up to its last hardened step, or null if the last step is hardened. Who knows the key of an account
 * and the public key of that place, with its chain code, knows the keys of all accounts below it (BIP 32).
 */
function unhardenedRoot(path: string | null): string | null {
  const root = path?.replace(/(?:\/[0-9]+)+$/, "") ?? null;
  return root === path ? null : root;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
