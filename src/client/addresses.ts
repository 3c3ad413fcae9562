/**
 * Collects what the service has about the addresses of organizations, and joins it (client/README.md, "Addresses").
 * Collecting verifies nothing, and joining sends nothing, so a folder of pieces can be joined again without a network.
 */
import type { AddressRow } from "../addresses/join.js";
import type { AddressVerifyOptions } from "../addresses/verify.js";
import type { JsonValue } from "../decode/json.js";
import type { EvidenceSource, KeyedBootProof } from "./evidence.js";
import type { Signal } from "./platform.js";

/** Which addresses are wanted. */
export interface AddressFilter {
  /** Only the accounts of this wallet. */
  readonly walletId?: string;
  /** Only these addresses. One that is neither listed nor proven has no row. */
  readonly addresses?: readonly string[];
  /** Whether addresses of private keys are included. Default: true. */
  readonly privateKeys?: boolean;
}

export interface AddressSweepOptions extends AddressFilter {
  /**
   * The parent of a sub-organization, whose activities may have made its wallets. Default: the organization of the
   * key (`whoami`), if that is another one.
   */
  readonly parentOrganizationId?: string;
  /** Limit of items of each list. A longer list is an error. Default: 1,000,000. */
  readonly maxAccounts?: number;
  readonly signal?: Signal;
  readonly onProgress?: (progress: AddressProgress) => void;
}

export interface AddressesOptions extends AddressSweepOptions {
  /** Default: the client's organization. */
  readonly organizationId?: string;
}

/** How far a sweep is. Numbers are those of the whole sweep. */
export interface AddressProgress {
  readonly organizationId: string;
  /** The query that was answered, or `wait` while the service refuses requests (429). */
  readonly step: string;
  readonly requests: number;
  /** Listed addresses. */
  readonly listed: number;
  /** Listed addresses for which no activity was found so far. */
  readonly left: number;
  readonly activities: number;
  readonly bootProofs: number;
  /** Milliseconds of a `wait`; else 0. */
  readonly waitMs: number;
}

export interface AddressSource extends EvidenceSource {
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
  /** Milliseconds before the list's first request. */
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

export interface CollectOptions extends AddressSweepOptions {
  /** If one is the parent of the others, name it as `parentOrganizationId`, too: its activities are read once. */
  readonly organizationIds: readonly string[];
  /** Resolves to the piece of an earlier collection, or null. Its evidence is not fetched again. */
  readonly known?: (activityId: string, organizationId: string) => Promise<ActivityPiece | null>;
}

/**
 * Yields the pieces of organizations as they come: the start, then for each organization its lists, its activities and
 * its end. An activity of the parent comes before the lists of the sub-organization that it made. Rejects with {@link
 * ClientError} if a list or evidence could not be fetched.
 */
export async function* collectAddresses(source: AddressSource, options: CollectOptions): AsyncGenerator<AddressPiece> {
  throw new Error(`not made yet: ${typeof source} ${typeof options}`);
}

export interface JoinPiecesOptions
  extends AddressFilter, Omit<AddressVerifyOptions, "organizationId" | "parentOrganizationId" | "activityId"> {}

export interface AddressTable {
  readonly organizationId: string;
  /** The worst class first. */
  readonly rows: readonly AddressRow[];
}

/**
 * Verifies pieces as they come, and yields the table of each organization at its end. Throws {@link
 * DerivationPolicyError} before it reads any piece.
 */
export async function* joinPieces(
  pieces: AsyncIterable<AddressPiece> | Iterable<AddressPiece>,
  options: JoinPiecesOptions,
): AsyncGenerator<AddressTable> {
  throw new Error(`not made yet: ${typeof pieces} ${typeof options}`);
}

/** Lists the sub-organizations. Rejects with {@link ClientError}, also if there are more than `limit`. */
export async function listSubOrganizations(
  source: AddressSource,
  options: {
    readonly organizationId: string;
    readonly limit: number;
    readonly signal?: Signal;
    readonly onProgress?: (progress: AddressProgress) => void;
  },
): Promise<string[]> {
  throw new Error(`not made yet: ${typeof source} ${typeof options}`);
}
