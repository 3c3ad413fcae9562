/**
 * Collects what the service has about the addresses of organizations, and joins it (door/README.md, "Addresses").
 * Collecting verifies nothing, and joining sends nothing, so pieces that were kept can be joined without a network.
 */
import { lastOf } from "../bytes.js";
import { UNPLACED, type UnplacedKey } from "../addresses/classes.js";
import { type AddressRow, joinInTurns } from "../addresses/join.js";
import {
  ADDRESS_ACTIVITY_TYPES,
  type AddressActivity,
  type ListedAccount,
  type ListedPrivateKey,
  type ListedWallet,
  accountsIn,
  readAddressActivity,
  readPrivateKeys,
  readWallets,
} from "../addresses/lists.js";
import { type AddressEvidence, type AddressVerifyOptions, verifyAddressActivity } from "../addresses/verify.js";
import { requireDerivationPolicy } from "../appraise/derivation.js";
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import { type Policy, policyOfCreation } from "../appraise/policy.js";
import { COMPLETED } from "../decode/activity.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { isSubOrganizationType } from "../decode/activity-rules.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { withoutPrototype } from "../decode/input.js";
import { callable, having } from "../decode/options.js";
import {
  type MembersOf,
  type Shape,
  anything,
  count,
  demand,
  flag,
  list,
  nonEmptyText,
  object,
  oneOf,
  optional,
  readShape,
} from "../decode/shapes.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { MalformedError, attempt } from "../errors.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { comparableAddress } from "../verify/contradictions.js";
import type { Door } from "./door.js";
import { BootProofCache } from "./boot-proof-cache.js";
import * as core from "./verifying.js";
import { FetchedOnce } from "./fetched-once.js";
import { buildsOf } from "./builds.js";
import { ClientError, ServiceError, activityEvidenceError, answerError } from "./errors.js";
import {
  type KeyedBootProof,
  fetchBootProof,
  fetchEvidence,
  hasAppProofs,
  keysNamedBy,
  withAppProofs,
} from "./evidence.js";
import type { AskService, Query } from "./evidence-source.js";
import type { Signal } from "./platform.js";
import { pause, untilAborted } from "./waiting.js";

/** Which addresses are wanted. */
interface AddressFilter {
  /** Only the accounts of this wallet. */
  readonly walletId?: string | undefined;
  /** Only these addresses, at least one. One that is neither listed nor proven has no row. */
  readonly addresses?: readonly string[];
  /** Whether addresses of private keys are included. Default: true. */
  readonly privateKeys?: boolean | undefined;
}

interface AddressSweepOptions extends AddressFilter {
  /**
   * The parent of a sub-organization, whose activities may have made its wallets. Default: the organization of the key
   * (`whoami`), if that is another one.
   */
  readonly parentOrganizationId?: string | undefined;
  /** Whether all activities are read, and not only those of known types. Default: false. */
  readonly allActivities?: boolean;
  /** Limit of items of each list. A longer list is an error. Default: 1,000,000. */
  readonly maxAccounts?: number | undefined;
  readonly signal?: Signal | undefined;
  readonly onProgress?: ((progress: AddressProgress) => void) | undefined;
}

export interface AddressesOptions extends AddressSweepOptions {
  /** Default: the client's organization. */
  readonly organizationId?: string;
  /** Whether the rows may come although a key was exported or imported that nothing places. Default: an error. */
  readonly accept?: readonly (typeof UNPLACED)[] | undefined;
}

export const ADDRESSES_OPTIONS: MembersOf<AddressesOptions> = {
  organizationId: demand(nonEmptyText),
  walletId: optional(nonEmptyText),
  addresses: demand(list(nonEmptyText, 1)),
  privateKeys: optional(flag),
  parentOrganizationId: optional(nonEmptyText),
  allActivities: demand(flag),
  maxAccounts: optional(count),
  accept: optional(list(oneOf(UNPLACED))),
  signal: optional(having()),
  onProgress: optional(callable),
};

/** How far a sweep is. `requests` and `bootProofs` are those of all its organizations. */
export interface AddressProgress {
  readonly organizationId: string;
  /** The query that was sent, or `wait` while the service refuses requests (429). */
  readonly step: string;
  readonly requests: number;
  /** Listed addresses. */
  readonly listed: number;
  /** Listed addresses that no activity has named so far. */
  readonly left: number;
  readonly activities: number;
  readonly bootProofs: number;
  /** Milliseconds of a `wait`, else 0. */
  readonly waitMs: number;
}

export interface AddressSource {
  readonly now: () => Date;
  readonly query: Query;
  /** Waits after the service refused a request (429). Default: timers. */
  readonly sleep?: (milliseconds: number, signal: Signal) => Promise<void>;
}

/** A part of a collection, as it came. Nothing of it is verified. Every member is JSON. */
export type AddressPiece =
  | {
      readonly kind: "start";
      readonly organizationIds: readonly string[];
      /** Null if it is not known. */
      readonly parentOrganizationId: string | null;
    }
  | ListPiece
  | ActivityPiece
  /** Everything about the organization came. Without this piece, its collection is not complete. */
  | { readonly kind: "end"; readonly organizationId: string };

export interface ListPiece {
  readonly kind: "list";
  readonly organizationId: string;
  readonly operation: "list_wallets" | "list_wallet_accounts" | "list_private_keys";
  /** The answer, or a page of it, without items that an earlier page had. */
  readonly answer: JsonValue;
  /** The time before the first request of this list, in milliseconds. */
  readonly at: number;
}

export interface ActivityPiece {
  readonly kind: "activity";
  /** The organization whose addresses it is about. The activity itself may belong to its parent. */
  readonly organizationId: string;
  readonly activityId: string;
  /** With its app proofs. */
  readonly activity: JsonValue;
  readonly bootProofs: readonly KeyedBootProof<JsonValue>[];
}

interface CollectOptions extends AddressSweepOptions {
  /** If one is the parent of the others, name it as `parentOrganizationId`, too: its activities are then read once. */
  readonly organizationIds: readonly string[];
  /** Resolves to the piece of an earlier collection, or null. Its evidence is not fetched again. */
  readonly known?: ((activityId: string, organizationId: string) => Promise<ActivityPiece | null>) | undefined;
  /** Finds a boot proof by its whole key, in place of the boot proofs of this collection. */
  readonly bootProofOf?: ((key: string, ask: AskService) => Promise<JsonValue | null>) | undefined;
}

/**
 * Yields the pieces of organizations as they come: the start, then for each organization its lists, its activities and
 * its end. An activity of the parent comes before the lists of the sub-organization that it made. Rejects with {@link
 * ClientError} if a list or evidence could not be fetched.
 */
export function collectAddresses(source: AddressSource, options: CollectOptions): AsyncGenerator<AddressPiece> {
  return new Collector(source, options).pieces();
}

/** Lists the sub-organizations. Rejects with {@link ClientError}, also if there are more than `limit`. */
export async function listSubOrganizations(
  source: AddressSource,
  {
    organizationId,
    limit,
    ...options
  }: Pick<AddressSweepOptions, "signal" | "onProgress"> & { readonly organizationId: string; readonly limit: number },
): Promise<string[]> {
  const collector = new Collector(source, { ...options, maxAccounts: limit, organizationIds: [organizationId] });
  const ids: string[] = [];
  for await (const page of collector.children(organizationId)) for (const { id } of page) ids.push(id);
  return ids;
}

const MAX_LIMIT = 100;
const ACTIVITIES_AT_ONCE = 4;
const DEFAULT_MAX_ACCOUNTS = 1_000_000;
const MAX_BOOT_PROOFS_KEPT = 256;
/** The longest wait for which the service may ask, and the number of waits for one request. */
const MAX_WAIT_MS = 15 * 60_000;
const MAX_WAITS = 20;
const DEFAULT_WAIT_MS = 10_000;

/** Where an address was seen. */
const LISTED = 1;
const MADE = 2;

/** What is known of an organization while it is collected: which addresses are listed, and which activities name. */
class Collected {
  readonly organizationId: string;
  activities = 0;
  readonly #filter: AddressFilter;
  /** The only addresses that are wanted. Null: all. */
  readonly #only: ReadonlySet<string> | null;
  /** Wallets, private keys and addresses whose activities are wanted. Null: all. */
  readonly #names: Set<string> | null;
  readonly #seen = new Map<string, number>();
  /** Numbers of addresses by the places where they were seen. */
  readonly #counts = [0, 0, 0, 0];

  constructor(organizationId: string, filter: AddressFilter) {
    const { walletId, addresses } = filter;
    this.organizationId = organizationId;
    this.#filter = filter;
    this.#only = addresses === undefined ? null : new Set(addresses.map(comparableAddress));
    this.#names = walletId === undefined && this.#only === null ? null : new Set(this.#only ?? [walletId!]);
  }

  /** Returns the number of addresses that were seen in this place alone. */
  alone(place: typeof LISTED | typeof MADE): number {
    return this.#counts[place]!;
  }

  get listed(): number {
    return this.#counts[LISTED]! + this.#counts[LISTED | MADE]!;
  }

  list(address: string, holder: string): void {
    const { walletId = holder } = this.#filter;
    if (holder === walletId && this.#mark(address, LISTED)) this.#names?.add(comparableAddress(address)).add(holder);
  }

  /** Returns whether the proofs of the activity are wanted. */
  takes({ effect, wallets, privateKeys, addresses, unkept, organizationId }: AddressActivity): boolean {
    if (effect !== "creates" && effect !== "imports") return false;
    // The parent's activity comes before the lists that say what is wanted.
    const isOwn = organizationId === this.organizationId;
    const names = [...wallets, ...privateKeys, ...addresses.map(comparableAddress)];
    if (isOwn && this.#names !== null && !names.some((name) => this.#names!.has(name))) return false;
    if (this.#filter.privateKeys === false && wallets.length === 0 && privateKeys.length > 0) return false;
    if (!unkept) for (const address of addresses) this.#mark(address, MADE);
    return true;
  }

  /** Returns false for an address that is not wanted. */
  #mark(address: string, place: typeof LISTED | typeof MADE): boolean {
    const name = comparableAddress(address);
    if (this.#only?.has(name) === false) return false;
    const before = this.#seen.get(name) ?? 0;
    this.#seen.set(name, before | place);
    this.#counts[before]!--;
    this.#counts[before | place]!++;
    return true;
  }
}

class Collector {
  readonly #source: AddressSource;
  readonly #options: CollectOptions;
  /** JSON texts by key: `null` where the service has none, which is not asked again in this collection. */
  readonly #bootProofs = new FetchedOnce<string>(MAX_BOOT_PROOFS_KEPT);
  readonly #organizations: ReadonlyMap<string, Collected>;
  #parentId: string | null = null;
  #requests = 0;
  #fetchedBootProofs = 0;

  constructor(source: AddressSource, options: CollectOptions) {
    this.#source = withoutPrototype(source);
    this.#options = withoutPrototype(options);
    this.#organizations = new Map(options.organizationIds.map((id) => [id, new Collected(id, this.#options)]));
  }

  async *pieces(): AsyncGenerator<AddressPiece> {
    const parentId = this.#options.parentOrganizationId ?? (await this.#organizationOfKey());
    this.#parentId = parentId;
    yield { kind: "start", organizationIds: [...this.#organizations.keys()], parentOrganizationId: parentId };
    const parent = parentId === null ? undefined : this.#organizations.get(parentId);
    if (parentId !== null && parent === undefined)
      yield* this.#activityPieces(new Collected(parentId, {}), this.#activities(parentId, isSubOrganizationType));
    if (parent !== undefined) yield* this.#piecesOf(parent, () => true);
    for (const each of this.#organizations.values())
      if (each !== parent) yield* this.#piecesOf(each, (type) => !isSubOrganizationType(type));
  }

  children(organizationId: string): AsyncGenerator<Item[]> {
    const read = (answer: JsonValue): Item[] => shaped(SUB_ORGANIZATIONS, answer).organizationIds.map((id) => ({ id }));
    return this.#pages(organizationId, "list_suborgs", {}, read).read();
  }

  /** Returns the organization of the key, if that is not one of those that are collected. */
  async #organizationOfKey(): Promise<string | null> {
    const answer = await this.#ask(this.#options.organizationIds[0]!, "whoami", {}).catch((error: unknown) => {
      if (error instanceof ServiceError && error.status < 500 && error.status !== 429) return null;
      throw error;
    });
    const id = isJsonObject(answer) ? answer["organizationId"] : null;
    return typeof id === "string" && id !== "" && !this.#organizations.has(id) ? id : null;
  }

  async *#piecesOf(organization: Collected, isWantedType: (type: string) => boolean): AsyncGenerator<AddressPiece> {
    const { organizationId } = organization;
    for await (const list of this.#lists(organization)) yield { ...list, kind: "list", organizationId };
    const at = this.#source.now().getTime();
    const accounts = this.#accountLists(organization);
    const activities = this.#activities(organizationId, isWantedType);
    // A short page is the end of a list, unless the other list has an address that this one lacks.
    for (let isFirst = true, isNew = true; isNew; isFirst = false) {
      isNew = false;
      if (isFirst || organization.alone(MADE) > 0)
        for await (const list of accounts()) {
          isNew = true;
          yield { ...list, kind: "list", organizationId, at };
        }
      // A list without items is a piece, too: without one, nobody could say that it was read.
      if (isFirst && !isNew)
        yield { kind: "list", organizationId, operation: "list_wallet_accounts", answer: { accounts: [] }, at };
      if (isFirst || organization.alone(LISTED) > 0)
        for await (const activity of this.#activityPieces(organization, activities)) {
          isNew = true;
          yield activity;
        }
    }
    yield { kind: "end", organizationId };
  }

  async *#lists(organization: Collected): AsyncGenerator<ListAnswer & Pick<ListPiece, "at">> {
    const { walletId, privateKeys = true } = this.#options;
    const walletsAt = this.#source.now().getTime();
    const wallets = await this.#ask(organization.organizationId, "list_wallets", {});
    readList("list_wallets", () => readWallets(wallets));
    yield { operation: "list_wallets", answer: wallets, at: walletsAt };
    if (!privateKeys || walletId !== undefined) return;
    const at = this.#source.now().getTime();
    const answer = await this.#ask(organization.organizationId, "list_private_keys", {});
    for (const { addresses, privateKeyId } of readList("list_private_keys", () => readPrivateKeys(answer)))
      for (const { address } of addresses) organization.list(address, privateKeyId);
    yield { operation: "list_private_keys", answer, at };
  }

  /** Returns a function that reads the accounts, and reads on when it is called again. */
  #accountLists(organization: Collected): () => AsyncGenerator<ListAnswer> {
    const { organizationId } = organization;
    const read = (answer: JsonValue): AccountItem[] => accountItemsIn(answer, organizationId);
    const pages = this.#pages(organizationId, ACCOUNTS, {}, read);
    return async function* () {
      for await (const page of pages.read()) {
        for (const { account } of page) organization.list(account.address, account.walletId);
        yield { operation: ACCOUNTS, answer: { accounts: page.map(({ json }) => json) } };
      }
    };
  }

  #activities(organizationId: string, isWantedType: (type: string) => boolean): Pages<ActivityItem> {
    const filterByType = ADDRESS_ACTIVITY_TYPES.filter(isWantedType);
    const parameters = this.#options.allActivities === true ? {} : { filterByType };
    return this.#pages(organizationId, "list_activities", parameters, activitiesIn);
  }

  /** Yields the pieces of a list of activities. Those of other organizations are set aside. */
  async *#activityPieces(of: Collected, activities: Pages<ActivityItem>): AsyncGenerator<ActivityPiece> {
    for await (const page of activities.read()) {
      const wanted = page.flatMap((item) => {
        const organization = item.facts.effect === null ? undefined : this.#organizationOf(item.facts, of);
        return organization === undefined ? [] : [{ ...item, organization, isProof: organization.takes(item.facts) }];
      });
      for (let start = 0; start < wanted.length; start += ACTIVITIES_AT_ONCE)
        yield* await Promise.all(
          wanted.slice(start, start + ACTIVITIES_AT_ONCE).map((item) => this.#activityPiece(item)),
        );
    }
  }

  /** Returns the organization whose addresses an activity is about: its own, or the one that the parent's made. */
  #organizationOf({ organizationId, type, subOrganizationId }: AddressActivity, of: Collected): Collected | undefined {
    if (organizationId !== of.organizationId) return undefined;
    return this.#organizations.get((isSubOrganizationType(type) ? subOrganizationId : organizationId) ?? "");
  }

  async #activityPiece({ facts, json, organization, isProof }: WantedActivity): Promise<ActivityPiece> {
    const { organizationId } = organization;
    const { id: activityId, status, requested } = facts;
    organization.activities++;
    const bare = { kind: "activity", organizationId, activityId, activity: json, bootProofs: [] } as const;
    // What an activity without proofs names can still weaken a class.
    if (!isProof || status !== COMPLETED) return bare;
    const known = await this.#known(activityId, organizationId);
    if (known !== null) return known;
    try {
      const whole = requested === false ? json : await this.#withAppProofs(json, facts, organizationId);
      // All keys: "missing" has to mean that the service does not have a boot proof. Many activities share one.
      const find = (key: string): Promise<JsonValue | null> => this.#bootProof(key, facts.organizationId);
      const evidence = await fetchEvidence(whole, find, MAX_APP_PROOFS);
      this.#report("get_boot_proof", organizationId);
      return { ...bare, activity: evidence.activity, bootProofs: evidence.bootProofs };
    } catch (error) {
      throw error instanceof ClientError ? activityEvidenceError(error, { operation: null, activityId }) : error;
    }
  }

  async #known(activityId: string, organizationId: string): Promise<ActivityPiece | null> {
    const known = (await this.#options.known?.(activityId, organizationId)) ?? null;
    if (known === null || !isWhole(known)) return null;
    for (const { key, bootProof } of known.bootProofs) void this.#bootProofs.of(key, async () => textOf(bootProof));
    return known;
  }

  /** It is not documented which organization `list_app_proofs` wants for an activity of a parent or child. */
  async #withAppProofs(json: JsonValue, facts: AddressActivity, organizationId: string): Promise<JsonValue> {
    const asking = (owner: string): Promise<JsonValue> =>
      withAppProofs((name, parameters) => this.#ask(owner, name, parameters), json);
    const other = [organizationId, this.#parentId].find((id) => id !== null && id !== facts.organizationId);
    const none = (error: unknown): null => {
      if (!(error instanceof ServiceError) || error.status !== 404 || !other) throw error;
      return null;
    };
    const whole = await asking(facts.organizationId).catch(none);
    if (!other || (whole !== null && hasAppProofs(whole))) return whole!;
    return whole === null ? asking(other) : ((await asking(other).catch(none)) ?? whole);
  }

  /** Returns a boot proof by its whole key: the service finds it by no other. */
  async #bootProof(key: string, owner: string): Promise<JsonValue | null> {
    if (key.length !== 2 * QOS_PUBLIC_KEY_LENGTH) return null;
    const { bootProofOf, signal } = this.#options;
    // Another caller may wait for the same boot proof, so that this one's signal does not abort its fetch.
    const asking = bootProofOf && new AbortController().signal;
    const ask: AskService = (name, parameters) => this.#ask(owner, name, parameters, asking);
    if (bootProofOf !== undefined) return untilAborted(bootProofOf(key, ask), signal);
    const text = await this.#bootProofs.of(key, async () => {
      this.#fetchedBootProofs++;
      return textOf(await fetchBootProof(ask, key));
    });
    return JSON.parse(text) as JsonValue;
  }

  #pages<T extends Item>(
    organizationId: string,
    operation: string,
    parameters: JsonObject,
    read: (answer: JsonValue) => T[],
  ): Pages<T> {
    const ask = async (paginationOptions: JsonObject): Promise<T[]> => {
      const answer = await this.#ask(organizationId, operation, { ...parameters, paginationOptions });
      return readList(operation, () => read(answer));
    };
    return new Pages(operation, ask, this.#options.maxAccounts ?? DEFAULT_MAX_ACCOUNTS);
  }

  /** Sends a query. Waits while the service refuses it because there were too many. */
  async #ask(
    organizationId: string,
    name: string,
    parameters: JsonObject,
    signal = this.#options.signal ?? new AbortController().signal,
  ): Promise<JsonValue> {
    const { query, sleep = pause } = this.#source;
    for (let waits = 0; ; waits++) {
      if (signal.aborted) throw new ClientError("aborted", "aborted by the caller", { operation: name });
      this.#requests++;
      this.#report(name, organizationId);
      try {
        return await query(name, parameters, { organizationId, signal });
      } catch (error) {
        const waitMs = waitAfter(error);
        if (waitMs === null || waits === MAX_WAITS) throw error;
        this.#report("wait", organizationId, waitMs);
        await sleep(waitMs, signal);
      }
    }
  }

  #report(step: string, organizationId: string, waitMs = 0): void {
    const organization = this.#organizations.get(organizationId);
    const { activities = 0, listed = 0 } = organization ?? {};
    const left = organization?.alone(LISTED) ?? 0;
    const sent = { requests: this.#requests, bootProofs: this.#fetchedBootProofs };
    this.#options.onProgress?.({ organizationId, step, ...sent, listed, left, activities, waitMs });
  }
}

function textOf(bootProof: JsonValue): { readonly value: string; readonly size: number } {
  const value = JSON.stringify(bootProof);
  return { value, size: value.length };
}

/** Whether the piece is of the activity that it names, with a boot proof of each key. The service may have more now. */
function isWhole({ activityId, activity, bootProofs }: ActivityPiece): boolean {
  if (attempt(() => readAddressActivity(activity)).value?.id !== activityId) return false;
  return keysNamedBy(activity).every((named) => bootProofs.some(({ key }) => key.toLowerCase().endsWith(named)));
}

/** Returns the milliseconds to wait. Null for other errors, and for too long a wait. */
function waitAfter(error: unknown): number | null {
  if (!(error instanceof ServiceError) || error.status !== 429) return null;
  const waitMs = error.retryAfterMs ?? DEFAULT_WAIT_MS;
  return waitMs > MAX_WAIT_MS ? null : waitMs;
}

type ListAnswer = Pick<ListPiece, "operation" | "answer">;

interface Item {
  readonly id: string;
}

/** A list that is read page by page. It ends at an empty page or a short one, and can be read on after a short one. */
class Pages<T extends Item> {
  readonly #operation: string;
  readonly #ask: (paginationOptions: JsonObject) => Promise<T[]>;
  readonly #most: number;
  readonly #seen = new Set<string>();
  #limit = MAX_LIMIT;
  #after: string | undefined;
  #isEmpty = false;

  constructor(operation: string, ask: (paginationOptions: JsonObject) => Promise<T[]>, most: number) {
    this.#operation = operation;
    this.#ask = ask;
    this.#most = most;
  }

  /** Yields pages, of accounts as they come, and of others without the items that came before. */
  async *read(): AsyncGenerator<T[]> {
    while (!this.#isEmpty) {
      const page = await this.#page();
      this.#isEmpty = page.length === 0;
      const news = page.filter(({ id }) => !this.#seen.has(id) && this.#seen.add(id));
      if (news.length === 0 && !this.#isEmpty)
        throw answerError(this.#operation, [{ path: "", message: "the service repeats itself: nothing new" }], "none");
      if (this.#seen.size > this.#most)
        throw new ClientError("limit", `more than ${this.#most} items`, { operation: this.#operation });
      this.#after = lastOf(page)?.id ?? this.#after;
      // An account that came before may have other values now: the join compares them.
      if (news.length > 0) yield this.#operation === ACCOUNTS ? page : news;
      if (page.length < this.#limit) return;
    }
  }

  /** Returns the next page. While its answer is too long, asks again for half of it. */
  async #page(): Promise<T[]> {
    for (;;) {
      const after = this.#after === undefined ? {} : { after: this.#after };
      try {
        return await this.#ask({ limit: String(this.#limit), ...after });
      } catch (error) {
        if (!(error instanceof ClientError) || error.isTooLong !== true || this.#limit === 1) throw error;
        this.#limit = Math.floor(this.#limit / 2);
      }
    }
  }
}

interface AccountItem extends Item {
  readonly account: ListedAccount;
  readonly json: JsonValue;
}

interface ActivityItem extends Item {
  readonly facts: AddressActivity;
  readonly json: JsonValue;
}

interface WantedActivity extends ActivityItem {
  readonly organization: Collected;
  /** Whether its proofs are wanted. */
  readonly isProof: boolean;
}

const ACCOUNTS = "list_wallet_accounts";

const SUB_ORGANIZATIONS = /* @__PURE__ */ object({ organizationIds: list(nonEmptyText) }, { unknown: "ignore" });
const ACTIVITIES = /* @__PURE__ */ object({ activities: list(anything) }, { unknown: "ignore" });

/** Reads a list. Throws {@link ClientError} (`answer`). */
function readList<T>(operation: string, read: () => T): T {
  const { value, faults } = attempt(read);
  if (value === undefined) throw answerError(operation, faults, "none");
  return value;
}

function shaped<T>(shape: Shape<T>, answer: JsonValue): T {
  const { value, faults } = readShape(shape, answer);
  if (value === undefined) throw new MalformedError("address-list", faults);
  return value;
}

function accountItemsIn(answer: JsonValue, organizationId: string): AccountItem[] {
  const accounts = accountsIn(answer, organizationId);
  const items = (answer as JsonObject)["accounts"] as readonly JsonValue[];
  return accounts.map((account, index) => ({ id: account.walletAccountId, account, json: items[index]! }));
}

function activitiesIn(answer: JsonValue): ActivityItem[] {
  return shaped(ACTIVITIES, answer).activities.map((activity) => {
    const json = activity as JsonValue;
    const facts = readAddressActivity(json);
    return { id: facts.id, facts, json };
  });
}

interface JoinPiecesOptions
  extends
    AddressFilter,
    Omit<AddressVerifyOptions, "organizationId" | "parentOrganizationId" | "activityId" | "now" | "at"> {
  /** The time of each verification. */
  readonly now: () => Date;
  /** Boot proofs that were verified under {@link policyOfCreation} of the policy. Default: those of this join. */
  readonly bootProofs?: BootProofCache;
}

export interface AddressTable {
  readonly organizationId: string;
  /** The worst class first. */
  readonly rows: readonly AddressRow[];
  /** Keys that weaken all rows. */
  readonly unplaced: readonly UnplacedKey[];
  /** What weakens the deployments whose proofs count. */
  readonly warnings: readonly string[];
}

/** The compact facts of an organization. */
interface Facts {
  readonly wallets: ListedWallet[];
  readonly accounts: ListedAccount[];
  readonly privateKeys: ListedPrivateKey[];
  readonly evidence: AddressEvidence[];
  listedAt: number | null;
  privateKeysListedAt: number | null;
}

/**
 * Verifies pieces as they come, and yields the table of each organization at its end. Rejects with
 * `DerivationPolicyError` before it reads any piece.
 */
export async function* joinPieces(
  pieces: AsyncIterable<AddressPiece> | Iterable<AddressPiece>,
  options: JoinPiecesOptions,
): AsyncGenerator<AddressTable> {
  const verify = verifierOf(options);
  const all = new Map<string, Facts>();
  let parentOrganizationId: string | null = null;
  const factsOf = (id: string): Facts => {
    const times = { listedAt: null, privateKeysListedAt: null };
    const facts = all.get(id) ?? { wallets: [], accounts: [], privateKeys: [], evidence: [], ...times };
    all.set(id, facts);
    return facts;
  };
  for await (const piece of pieces) {
    if (piece.kind === "start") ({ parentOrganizationId } = piece);
    else if (piece.kind === "list") addList(factsOf(piece.organizationId), piece);
    else if (piece.kind === "activity") {
      const evidence = await verify(piece, parentOrganizationId);
      if (evidence !== null) factsOf(piece.organizationId).evidence.push(evidence);
    } else {
      const { organizationId } = piece;
      const { evidence, ...lists } = factsOf(organizationId);
      all.delete(organizationId);
      const joining = { organizationId, parentUnknown: parentOrganizationId === null };
      const { rows, unplaced } = await joinInTurns(lists, evidence, joining);
      const warnings = new Set(evidence.flatMap(({ proofs }) => proofs.flatMap((proof) => proof.warnings)));
      const wanted = rows.filter(isWanted(withoutPrototype(options)));
      yield { organizationId, rows: wanted, unplaced, warnings: [...warnings] };
    }
  }
}

function addList(facts: Facts, { operation, answer, at, organizationId }: ListPiece): void {
  if (operation === "list_wallet_accounts") facts.listedAt = Math.min(at, facts.listedAt ?? at);
  if (operation === "list_private_keys") facts.privateKeysListedAt = Math.min(at, facts.privateKeysListedAt ?? at);
  if (operation === "list_wallets") append(facts.wallets, readWallets(answer));
  else if (operation === "list_private_keys") append(facts.privateKeys, readPrivateKeys(answer));
  else append(facts.accounts, accountsIn(answer, organizationId));
}

/** A spread of a long list would exceed the call stack. */
function append<T>(all: T[], items: readonly T[]): void {
  for (const item of items) all.push(item);
}

type VerifyPiece = (piece: ActivityPiece, parentOrganizationId: string | null) => Promise<AddressEvidence | null>;

/** Returns a function that verifies an activity. Each boot proof is verified once. */
function verifierOf(given: JoinPiecesOptions): VerifyPiece {
  const { policy, now, provenance, provenanceVerifier, bootProofs: known, ...options } = withoutPrototype(given);
  if (!ParsedPolicy.is(policy)) throw new TypeError("policy: expected a result of parsePolicy");
  requireDerivationPolicy(policy);
  const { acceptance, allowDebug, cache: signatures = new SignatureCache() } = withoutPrototype(options);
  const builds = buildsOf(policy, {
    ...(provenance && { provenance }),
    ...(provenanceVerifier && { provenanceVerifier }),
  });
  const verifying = (under: Policy): Omit<AddressVerifyOptions, "organizationId"> => ({
    ...builds.options,
    policy: under,
    now: now(),
    cache: signatures,
    ...(acceptance && { acceptance }),
    ...(allowDebug !== undefined && { allowDebug }),
  });
  const limits = { limit: MAX_BOOT_PROOFS_KEPT, maxAgeMs: Infinity };
  const held = { policy: policyOfCreation(policy), builds };
  const cache =
    known ?? new BootProofCache({ now, verifying: async () => core, ...limits, options: () => verifying(held.policy) });
  return async ({ activity, activityId, organizationId, bootProofs }, parentOrganizationId) => {
    const found = await Promise.all(
      bootProofs.map(({ key, bootProof }) => cache.get(key, held, () => Promise.resolve({ bootProof }))),
    );
    const verification: AddressVerifyOptions = {
      ...builds.evidence,
      ...verifying(policy),
      organizationId,
      ...(parentOrganizationId !== null && { parentOrganizationId }),
      activityId,
    };
    const named = core.namedBootProofs(found.filter((each) => each !== null));
    return verifyAddressActivity({ activity }, named, verification);
  };
}

function isWanted({ walletId, addresses, privateKeys = true }: AddressFilter): (row: AddressRow) => boolean {
  const names = addresses && new Set(addresses.map(comparableAddress));
  return (row) =>
    (walletId === undefined || row.walletId === walletId) &&
    (privateKeys || row.walletId !== null) &&
    names?.has(comparableAddress(row.address)) !== false;
}

/** Returns the options of {@link joinPieces} that verify as the door does now. */
export async function verificationOf(door: Door): Promise<JoinPiecesOptions> {
  const { now, signatures, strictness } = door;
  const { policy, builds } = await door.begin();
  const { acceptance } = strictness;
  const options = { policy, now, cache: signatures, ...(acceptance && { acceptance }) };
  return { ...options, ...builds.evidence, ...builds.options };
}
