/** What the lab knows, in tables of records that are never changed in place; and the transactions that replace them. */
import type { JsonObject, JsonValue } from "../decode/json.js";
import type { SavedEnclave, SavedFleet, SavedRelease } from "./fleet.js";
import type { Seed } from "./seed.js";
import type { Change, Store } from "./store.js";

/** Service-interface, "Timestamp object". */
export type Timestamp = { readonly seconds: string; readonly nanos: string };

export function timestamp(date: Date): Timestamp {
  const milliseconds = date.getTime();
  return { seconds: String(Math.floor(milliseconds / 1000)), nanos: String((milliseconds % 1000) * 1e6) };
}

export interface Organization {
  readonly organizationId: string;
  readonly organizationName: string;
  /** Absent: it is nobody's child. */
  readonly parentOrganizationId?: string;
  /** Users who may do everything; policies decide about the others. */
  readonly rootUserIds: readonly string[];
  readonly features: readonly { readonly name: string; readonly value: string }[];
}

/** Service-interface 2.7. */
export interface Credential {
  /** An API key's: 33 bytes, hex. An authenticator's: 65 bytes, hex. */
  readonly publicKey: string;
  readonly type: string;
}

export interface ApiKey {
  readonly credential: Credential;
  readonly apiKeyId: string;
  readonly apiKeyName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Absent: it does not expire. */
  readonly expirationSeconds?: string;
}

export interface Authenticator {
  readonly transports: readonly string[];
  readonly attestationType: string;
  readonly aaguid: string;
  readonly credentialId: string;
  readonly model: string;
  readonly credential: Credential;
  readonly authenticatorId: string;
  readonly authenticatorName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** Service-interface 2.6. */
export interface OauthProvider {
  readonly providerId: string;
  readonly providerName: string;
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export interface User {
  readonly userId: string;
  readonly userName: string;
  readonly userEmail: string;
  readonly userPhoneNumber: string;
  readonly authenticators: readonly Authenticator[];
  readonly apiKeys: readonly ApiKey[];
  readonly userTags: readonly string[];
  readonly oauthProviders: readonly OauthProvider[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** A record that belongs to an organization without saying so in what the service shows of it. */
interface Owned {
  readonly organizationId: string;
}

export interface UserRecord extends Owned {
  readonly user: User;
  /** Of passkeys, by credential id: the relying party that each was made for. */
  readonly relyingParties: Readonly<Record<string, string>>;
}

export interface UserTag extends Owned {
  readonly userTagId: string;
  readonly userTagName: string;
}

export interface WalletAccount {
  readonly address: string;
  readonly path: string;
}

export interface Wallet extends Owned {
  readonly walletId: string;
  readonly walletName: string;
  readonly accounts: readonly WalletAccount[];
}

/** Says who of the users that are not root may do what. The lab's own form: the interface shows none. */
export interface AccessPolicy extends Owned {
  readonly policyId: string;
  readonly policyName: string;
  readonly effect: "EFFECT_ALLOW" | "EFFECT_DENY";
  readonly activityTypes: readonly string[];
  /** How many users have to approve, the one who submits among them. */
  readonly approvals: number;
}

/** Service-interface 2.3. */
export interface FiatOnRampCredential extends Owned {
  readonly fiatOnrampCredentialId: string;
  readonly onrampProvider: string;
  readonly projectId?: string;
  readonly publishableApiKey: string;
  readonly encryptedSecretApiKey: string;
  readonly encryptedPrivateApiKey?: string;
}

/** Service-interface 2.4. */
export interface EarnVault extends Owned {
  readonly vault: JsonObject & { readonly wrapperAddress: string; readonly provider: string; readonly caip19: string };
}

/** Of an address (lower case) on a chain. */
export interface Nonces {
  readonly caip2: string;
  readonly address: string;
  readonly nonce: string;
  readonly gasStationNonce: string;
}

export interface ActivityRecord {
  /** As the service shows it. */
  readonly activity: JsonObject & { readonly id: string; readonly organizationId: string; readonly status: string };
  /** Who submitted it, with what: for the day it is approved. */
  readonly userId: string;
  readonly operation: string;
  readonly parameters: JsonObject;
  readonly generateAppProofs: boolean;
  readonly approvalsWanted: number;
}

export interface Tables {
  organizations: Organization;
  users: UserRecord;
  tags: UserTag;
  wallets: Wallet;
  policies: AccessPolicy;
  credentials: FiatOnRampCredential;
  vaults: EarnVault;
  nonces: Nonces;
  activities: ActivityRecord;
  /** By fingerprint: the id of the activity. */
  fingerprints: string;
  releases: SavedRelease;
  /** By ephemeral key, in hex. */
  enclaves: SavedEnclave;
  /** Under the one id `lab`. */
  installation: Installation;
}

/** What makes this lab this one: keys, and the ids of its seed. */
export interface Installation {
  readonly fleet: SavedFleet;
  readonly webhookKey: string;
  /** Absent until it is planted. */
  readonly seed?: Seed;
}

export type Table = keyof Tables;

/** What can be read, of the state or of a transaction on it. */
export interface Reader {
  get<T extends Table>(table: T, id: string): Tables[T] | undefined;
  all<T extends Table>(table: T): Tables[T][];
}

export class State implements Reader {
  readonly #store: Store;
  readonly #tables = new Map<Table, Map<string, unknown>>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(store: Store) {
    this.#store = store;
  }

  static async open(store: Store): Promise<State> {
    const state = new State(store);
    state.#apply(await store.read());
    return state;
  }

  get<T extends Table>(table: T, id: string): Tables[T] | undefined {
    return this.#tables.get(table)?.get(id) as Tables[T] | undefined;
  }

  all<T extends Table>(table: T): Tables[T][] {
    return [...this.records(table).values()];
  }

  /** By id. */
  records<T extends Table>(table: T): ReadonlyMap<string, Tables[T]> {
    return (this.#tables.get(table) ?? new Map()) as ReadonlyMap<string, Tables[T]>;
  }

  /**
   * Runs the work on a transaction, one at a time in the order of the calls. When the work is done its changes are
   * written, and only then seen by others. Where the work or the writing throws, there are no changes.
   */
  async transact<R>(work: (tx: Transaction) => R | Promise<R>): Promise<R> {
    const run = this.#last.then(async () => {
      const tx = new Transaction(this);
      const result = await work(tx);
      const changes = tx.changes();
      if (changes.length > 0) await this.#store.write(changes);
      this.#apply(changes);
      for (const then of tx.later) then();
      return result;
    });
    this.#last = run.catch(() => {});
    return run;
  }

  /** When all that was begun is written. */
  async close(): Promise<void> {
    await this.#last;
    await this.#store.close();
  }

  #apply(changes: readonly Change[]): void {
    for (const { key, value } of changes) {
      const [table, id] = split(key);
      const records = this.#tables.get(table) ?? new Map<string, unknown>();
      this.#tables.set(table, records);
      if (value === undefined) records.delete(id);
      else records.set(id, value);
    }
  }
}

/** A view of the state in which the changes so far are there already. */
export class Transaction implements Reader {
  /** What is done once the changes are written. */
  readonly later: (() => void)[] = [];
  readonly #base: State;
  readonly #changes = new Map<string, unknown>();

  constructor(base: State) {
    this.#base = base;
  }

  get<T extends Table>(table: T, id: string): Tables[T] | undefined {
    const key = `${table}/${id}`;
    return this.#changes.has(key) ? (this.#changes.get(key) as Tables[T] | undefined) : this.#base.get(table, id);
  }

  all<T extends Table>(table: T): Tables[T][] {
    const own = [...this.#changes].filter(([key]) => split(key)[0] === table);
    if (own.length === 0) return this.#base.all(table);
    const records = new Map<string, unknown>([
      ...this.#base.records(table),
      ...own.map(([key, value]) => [split(key)[1], value] as const),
    ]);
    return [...records.values()].filter((record) => record !== undefined) as Tables[T][];
  }

  put<T extends Table>(table: T, id: string, record: Tables[T]): void {
    this.#changes.set(`${table}/${id}`, record);
  }

  delete(table: Table, id: string): void {
    this.#changes.set(`${table}/${id}`, undefined);
  }

  afterwards(then: () => void): void {
    this.later.push(then);
  }

  changes(): Change[] {
    return [...this.#changes].map(([key, value]) =>
      value === undefined ? { key } : { key, value: value as JsonValue },
    );
  }
}

function split(key: string): [table: Table, id: string] {
  const slash = key.indexOf("/");
  return [key.slice(0, slash) as Table, key.slice(slash + 1)];
}
