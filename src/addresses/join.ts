/** The join of lists and verified proofs, address by address (addresses/README.md, "Classes"). */
import type { AddressActivity, AddressLists, ListedFlag } from "./lists.js";
import { COMPLETED } from "../decode/activity.js";
import { typedOptions } from "../decode/options.js";
import { type MembersOf, flag, nonEmptyText, optional } from "../decode/shapes.js";
import { comparableAddress } from "../verify/contradictions.js";
import { ADDRESS_CLASSES, type AddressClass } from "./classes.js";
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

type ExportedAccount = Pick<AddressRow, "walletId" | "path" | "address" | "curve">;

/** A proof and the activity that has it. */
interface Known extends Omit<AddressProof, "says"> {
  readonly says: ProvenAddress;
  readonly activity: AddressActivity;
}

/** An address, with the flags of its wallet or private key. Its `id` is that wallet's or private key's. */
interface Listed extends Omit<AddressRow, "class" | "provenAt" | "activityId" | "deployment" | "reason"> {
  readonly id: string;
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
 * order of the evidence. Throws TypeError for evidence that `verifyAddressActivity` did not make for this organization.
 */
export function joinAddresses(
  lists: AddressLists,
  evidence: Iterable<AddressEvidence>,
  given: JoinOptions,
): AddressRow[] {
  const options = typedOptions("options", given, OPTIONS);
  const all = [...evidence].map((each) => requireAddressEvidence(each, options.organizationId));
  const join = new Join(lists, all, options);
  const rows = join.rows();
  return rows.sort((a, b) => ADDRESS_CLASSES.indexOf(a.class) - ADDRESS_CLASSES.indexOf(b.class));
}

class Join {
  readonly #options: JoinOptions;
  /** When the lists of accounts and of private keys were requested, in milliseconds. */
  readonly #accountsAt: number;
  readonly #privateKeysAt: number;
  readonly #listed: readonly Listed[];
  /** Of wallets and private keys, by their ids. */
  readonly #flags: ReadonlyMap<string, Flags>;
  readonly #listedAt = new Groups<Listed>();
  readonly #proofsOf = new Groups<Known>();
  readonly #proofsAt = new Groups<Known>();
  readonly #missing = new Map<string, readonly Known[]>();
  /** Activities that made or imported an address or a private key. */
  readonly #makers = new Groups<AddressEvidence>();
  /** Ids of wallets and private keys that activities imported or exported, and addresses of exported accounts. */
  readonly #imported = new Set<string>();
  readonly #exported = new Set<string>();
  readonly #deletions: readonly AddressActivity[];
  /** Accounts whose key was exported by wallet and path, since the same key has an address in each format. */
  readonly #exportedAt = new Groups<ExportedAccount>();
  /** Exported accounts by what their path and their siblings' paths share. */
  readonly #exportedBeside = new Groups<ExportedAccount>();

  constructor(lists: AddressLists, evidence: readonly AddressEvidence[], options: JoinOptions) {
    this.#options = options;
    const { wallets, accounts, privateKeys, listedAt, privateKeysListedAt = listedAt } = lists;
    this.#accountsAt = listedAt ?? Infinity;
    this.#privateKeysAt = privateKeysListedAt ?? Infinity;
    this.#flags = flagsOf(wallets, privateKeys);
    this.#listed = listedOf(accounts, privateKeys, this.#flags);
    const sorted = [...evidence].sort((a, b) => compareTexts(a.activity.id, b.activity.id));
    for (const each of sorted) this.#read(each);
    this.#deletions = sorted
      .map(({ activity }) => activity)
      .filter(({ effect, status }) => effect === "deletes" && status === COMPLETED);
    for (const listed of this.#listed) this.#listedAt.add(placeKey(listed.walletId, listed.path), listed);
    for (const each of this.#exportedAccounts()) {
      this.#exportedAt.add(placeKey(each.walletId, each.path), each);
      const root = unhardenedRoot(each.path);
      if (root !== null) this.#exportedBeside.add(placeKey(each.walletId, root), each);
    }
  }

  /** Returns where the exported addresses are, as lists and verified proofs say. No proof has a curve. */
  #exportedAccounts(): ExportedAccount[] {
    const listed = this.#listed.filter(({ address }) => this.#exported.has(comparableAddress(address)));
    const places = new Set(listed.map(({ walletId, path }) => placeKey(walletId, path)));
    const proven = [...this.#exported]
      .flatMap((name) => this.#proofsOf.of(name))
      .filter(({ status, says }) => status === "verified" && says.organizationId === this.#options.organizationId)
      .map(({ says }) => ({ ...says, curve: null }))
      .filter(({ walletId, path }) => !places.has(placeKey(walletId, path)));
    return [...listed, ...proven].filter(({ walletId }) => walletId !== null);
  }

  #read(evidence: AddressEvidence): void {
    const { activity, proofs } = evidence;
    for (const { says, ...proof } of proofs) {
      if (says === null) continue;
      const known = { ...proof, says, activity };
      this.#proofsOf.add(comparableAddress(says.address), known);
      this.#proofsAt.add(placeKey(says.walletId, says.path), known);
    }
    const { effect, wallets, privateKeys } = activity;
    const ids = [...wallets, ...privateKeys];
    const addresses = activity.addresses.map(comparableAddress);
    if (effect === "exports" && mayBeDone(activity))
      for (const name of [...ids, ...addresses]) this.#exported.add(name);
    // The same address may be of the wallet from which the imported seed came, so only ids count.
    if (effect === "imports" && mayBeDone(activity)) for (const id of ids) this.#imported.add(id);
    if (effect === "creates" || effect === "imports")
      for (const name of [...privateKeys, ...addresses]) this.#makers.add(name, evidence);
  }

  rows(): AddressRow[] {
    const rows = this.#listed.map((listed) => rowOf(listed, this.#judge(listed)));
    // The few that no list has come first in their class.
    return [...this.#unlisted(rows), ...rows];
  }

  #judge(listed: Listed): Judgement {
    const named = this.#proofsOf.of(comparableAddress(listed.address)).filter(({ says }) => names(says, listed));
    const matching = named.filter((each) => each.status === "verified" && this.#matches(each.says, listed));
    const [match] = matching;
    return (
      this.#contradiction(listed, named, match) ??
      this.#refusal(listed, named, match) ??
      (match === undefined ? this.#unproven(listed, named) : this.#proven(listed, matching))
    );
  }

  #isOwn({ organizationId, walletId }: ProvenAddress, listed: Listed): boolean {
    return organizationId === this.#options.organizationId && walletId === listed.walletId;
  }

  /** Whether the proof is of a private key: an exported account may have been imported as one. */
  #isKeyOfAccount({ organizationId, walletId }: ProvenAddress, listed: Listed): boolean {
    return organizationId === this.#options.organizationId && walletId === null && listed.walletId !== null;
  }

  #matches(says: ProvenAddress, listed: Listed): boolean {
    return this.#isOwn(says, listed) && (listed.walletId === null || says.path === listed.path);
  }

  /** Whether a flag or an activity says it. The proofs are those that match. */
  #isMade(listed: Listed, what: "imported" | "exported", proofs: readonly Known[] = []): boolean {
    const { id, walletId, address } = listed;
    // No proof of a private key names its id, so that the one in the list may be another than the activity's.
    const keys = walletId === null ? proofs.flatMap(({ activity }) => keysOf(activity, address)) : [];
    const ids = [id, ...keys];
    if (ids.some((each) => this.#flags.get(each)?.[what] === true)) return true;
    if (what === "imported") {
      const isImport = ({ activity }: Known): boolean => activity.effect === "imports" && mayBeDone(activity);
      return ids.some((each) => this.#imported.has(each)) || (walletId === null && proofs.some(isImport));
    }
    return ids.some((each) => this.#exported.has(each)) || this.#hasExportedKey(listed);
  }

  #hasExportedKey({ address, walletId, path, curve }: Listed): boolean {
    if (this.#exported.has(comparableAddress(address))) return true;
    const there = this.#exportedAt.of(placeKey(walletId, path));
    return there.some((each) => each.curve === null || curve === null || each.curve === curve);
  }

  /** Returns the proofs of this wallet and path whose address no listed account there has. */
  #elsewhere({ walletId, path }: Listed): readonly Known[] {
    const key = placeKey(walletId, path);
    const isMissing = ({ says }: Known): boolean =>
      says.organizationId === this.#options.organizationId &&
      !this.#listedAt.of(key).some((other) => names(says, other));
    const known = this.#missing.get(key) ?? this.#proofsAt.of(key).filter(isMissing);
    this.#missing.set(key, known);
    return walletId === null ? [] : known;
  }

  #contradiction(listed: Listed, named: readonly Known[], match: Known | undefined): Judgement | null {
    const missing = this.#elsewhere(listed).find(
      (each) => each.status === "verified" && (match === undefined || this.#excuse(each) === null),
    );
    if (missing !== undefined)
      return contradicted(missing, `a verified proof says that this wallet and path have ${missing.says.address}`);
    const verified = named.filter(({ status }) => status === "verified");
    const moved = verified.find(
      ({ says }) =>
        listed.walletId !== null && this.#isOwn(says, listed) && says.path !== null && says.path !== listed.path,
    );
    if (moved !== undefined) return contradicted(moved, `a verified proof says that its path is ${moved.says.path}`);
    const foreign = verified.find(({ says }) => !this.#isOwn(says, listed) && !this.#isKeyOfAccount(says, listed));
    if (foreign === undefined || match !== undefined || this.#isMade(listed, "imported")) return null;
    return contradicted(foreign, `the only verified proof of it is of ${holderText(foreign.says, this.#options)}`);
  }

  #refusal(listed: Listed, named: readonly Known[], match: Known | undefined): Judgement | null {
    const own = named.filter(({ says }) => match === undefined || this.#isOwn(says, listed));
    const nearby = match === undefined ? [...own, ...this.#elsewhere(listed)] : own;
    const proof = nearby.find(({ status }) => status === "refused");
    if (proof !== undefined)
      return { class: "refused", reason: proof.failed.join(", "), activityId: proof.activity.id };
    if (match !== undefined) return null;
    for (const { activity, proofs } of this.#makersOf(listed)) {
      const unread = proofs.find(({ status, says }) => status === "refused" && says === null);
      if (unread !== undefined) return { class: "refused", reason: unread.failed.join(", "), activityId: activity.id };
    }
    return null;
  }

  #makersOf({ address, privateKeyId }: Listed): readonly AddressEvidence[] {
    return [...this.#makers.of(comparableAddress(address)), ...this.#makers.of(privateKeyId ?? "")];
  }

  #unproven(listed: Listed, named: readonly Known[]): Judgement {
    const [maker] = this.#makersOf(listed);
    const activityId = (named[0] ?? maker)?.activity.id;
    const imported = this.#isMade(listed, "imported") ? "imported without a proof: " : "";
    return { class: "service", reason: `${imported}${this.#unprovenText(listed, named, maker)}`, activityId };
  }

  #unprovenText(listed: Listed, named: readonly Known[], maker: AddressEvidence | undefined): string {
    if (named.some(({ status }) => status === "no-boot-proof"))
      return "the service does not have the boot proof of its proof any more";
    const other = named.find(({ status }) => status === "other");
    if (other !== undefined)
      return `signed by ${other.deployment ?? "an enclave"}, which the policy does not say to derive addresses`;
    const foreign = named.find(({ says }) => !this.#isOwn(says, listed));
    if (foreign !== undefined) return `its proof is of ${holderText(foreign.says, this.#options)}`;
    if (named.length > 0) return "its proof names no path";
    if (maker?.activity.requested === false) return "its activity requested no app proofs";
    if (maker?.proofs.length === 0)
      return "its activity has no proof of an address: none was requested, or none is kept";
    if (maker !== undefined) return "no proof of its activity names it";
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

  #besideText(listed: Listed): string | null {
    const exported = this.#exportedBeside.of(placeKey(listed.walletId, unhardenedRoot(listed.path)));
    const sibling = exported.find(({ path }) => path !== listed.path);
    return sibling === undefined ? null : `${sibling.address}, an unhardened account beside it, was exported`;
  }

  /** Returns the reason why a proven address may be in no list, or null. */
  #excuse({ says, activity }: Known): string | null {
    if (activity.unkept) return "its activity asked not to keep it (persist: false)";
    const readAt = says.walletId === null ? this.#privateKeysAt : this.#accountsAt;
    if (says.timestampMs > readAt) return "it was made after its list was read";
    const deletion = this.#deletions.find((each) => isDeletionOf(each, says, activity));
    return deletion === undefined ? null : `it may have been deleted by ${deletion.id}`;
  }

  #unlisted(rows: readonly AddressRow[]): AddressRow[] {
    const known = new Map<string, AddressRow>();
    this.#listed.forEach((listed, index) => {
      for (const { says } of this.#proofsOf.of(comparableAddress(listed.address)))
        if (names(says, listed) && (this.#matches(says, listed) || rows[index]!.class === "contradicted"))
          known.set(sayingKey(says), rows[index]!);
    });
    const missing = new Groups<Known>();
    for (const each of this.#proofsOf.all()) {
      const isOurs = each.status === "verified" && each.says.organizationId === this.#options.organizationId;
      const key = sayingKey(each.says);
      if (isOurs && !known.has(key)) missing.add(key, each);
    }
    return missing.groups().map((proofs) => this.#unlistedRow(proofs));
  }

  /** Returns the row of an address that only proofs name. They say the same. */
  #unlistedRow(proofs: readonly Known[]): AddressRow {
    const { address, walletId, path } = proofs[0]!.says;
    const none = { privateKeyId: null, curve: null, addressFormat: null, createdAt: null };
    const id = walletId ?? "";
    const listed = { ...none, id, address, listed: false, walletId, path, flags: this.#flags.get(id) };
    const proof = proofs.find((each) => this.#excuse(each) === null);
    if (proof !== undefined) return rowOf(listed, contradicted(proof, "a verified proof names it, and no list has it"));
    const judgement = this.#derived(listed, proofs);
    const excuse = `no list has it: ${this.#excuse(proofs[0]!)}`;
    const reason = [excuse, judgement.reason].filter((text) => text !== null).join("; ");
    return rowOf(listed, { ...judgement, reason });
  }
}

/** Values by key, in the order in which they were added. */
class Groups<T> {
  readonly #groups = new Map<string, T[]>();

  add(key: string, value: T): void {
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, [value]);
    else group.push(value);
  }

  of(key: string): readonly T[] {
    return this.#groups.get(key) ?? [];
  }

  groups(): (readonly T[])[] {
    return [...this.#groups.values()];
  }

  all(): T[] {
    return this.groups().flat();
  }
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

function listedOf(
  accounts: AddressLists["accounts"],
  privateKeys: AddressLists["privateKeys"],
  flags: ReadonlyMap<string, Flags>,
): Listed[] {
  return [
    ...accounts.map(({ walletId, path, address, curve, addressFormat, createdAt }) => {
      const own = { walletId, path, address, listed: true, curve, addressFormat, createdAt };
      return { ...own, privateKeyId: null, id: walletId, flags: flags.get(walletId) };
    }),
    ...privateKeys.flatMap(({ privateKeyId, curve, createdAt, addresses }) =>
      addresses.map(({ address, format: addressFormat }) => {
        const own = {
          privateKeyId,
          walletId: null,
          path: null,
          address,
          listed: true,
          curve,
          addressFormat,
          createdAt,
        };
        return { ...own, id: privateKeyId, flags: flags.get(privateKeyId) };
      }),
    ),
  ];
}

function worseFlag(a: ListedFlag, b: ListedFlag): ListedFlag {
  if (a === true || b === true) return true;
  return a === false && b === false ? false : null;
}

function rowOf(
  listed: Omit<Listed, "id" | "flags">,
  { class: name, reason, proof, activityId }: Judgement,
): AddressRow {
  const { address, listed: isListed, walletId, privateKeyId, path, curve, addressFormat, createdAt } = listed;
  return {
    class: name,
    address,
    listed: isListed,
    walletId,
    privateKeyId,
    path,
    curve,
    addressFormat,
    createdAt,
    provenAt: proof === undefined ? null : new Date(proof.says.timestampMs).toISOString(),
    activityId: proof?.activity.id ?? activityId ?? null,
    deployment: proof?.deployment ?? null,
    reason,
  };
}

function contradicted(proof: Known, reason: string): Judgement {
  return { class: "contradicted", reason, proof };
}

const CASELESS = ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_SUI", "ADDRESS_FORMAT_APTOS"];

/** Whether the proof names the address. The case of hex digits tells nothing in three formats. */
function names({ address }: ProvenAddress, listed: Pick<Listed, "address" | "addressFormat">): boolean {
  if (address === listed.address) return true;
  const isCaseless = CASELESS.includes(listed.addressFormat ?? "");
  return isCaseless && comparableAddress(address) === comparableAddress(listed.address);
}

function holderOf({ walletId }: Listed): string {
  return walletId === null ? "private key" : "wallet";
}

/** Ids of the private keys of an activity that have the address, or of all if it does not say which. */
function keysOf({ privateKeys, privateKeyAddresses }: AddressActivity, address: string): readonly string[] {
  const name = comparableAddress(address);
  const own = privateKeyAddresses.filter(({ addresses }) => addresses.some((each) => comparableAddress(each) === name));
  return own.length === 0 ? privateKeys : own.map(({ privateKeyId }) => privateKeyId);
}

function placeKey(walletId: string | null, path: string | null): string {
  return JSON.stringify([walletId, path]);
}

function sayingKey({ walletId, path, address }: ProvenAddress): string {
  return JSON.stringify([walletId, path, address]);
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

function isDeletionOf(deletion: AddressActivity, says: ProvenAddress, made: AddressActivity): boolean {
  if (deletion.requestedAt !== null && lastMillisecond(deletion.requestedAt) < says.timestampMs) return false;
  if (says.walletId === null) return keysOf(made, says.address).some((id) => deletion.privateKeys.includes(id));
  // A deletion of accounts names ids of accounts, which no proof has.
  return deletion.wallets.length === 0
    ? /WALLET_ACCOUNTS/.test(deletion.type)
    : deletion.wallets.includes(says.walletId);
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
