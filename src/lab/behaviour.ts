/** The rows of the tables of faults. A row has what the service does wrong, and the checks that fail because of it. */
import type { CheckId } from "../checks.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import type { SignedPolicyCode } from "../signed-policy/index.js";
import type { ApplicationLie } from "./application-proofs.js";
import type { AppProofAlterations } from "./enclave.js";
import type { Fleet } from "./fleet.js";
import { Forge, type ForgeOptions } from "./forge.js";
import type { PolicyFeed } from "./policy-feed.js";
import type { QosKeyPair } from "./qos.js";
import type { SavedRelease } from "./records.js";
import type { TokenApp } from "./release.js";
import type { Reader } from "./state.js";

export interface TargetEnclave {
  readonly release: SavedRelease;
  readonly at: Date;
  readonly key: QosKeyPair;
  readonly forge: Forge;
  readonly fleet: Fleet;
}

export type AlterForge = (target: TargetEnclave) => Partial<ForgeOptions>;

export interface Answering {
  /** The answer before it is altered. */
  readonly honest: JsonObject;
  /** The last segment of the request's path, or `webhook`. */
  readonly operation: string;
  readonly reader: Reader;
  /** Signs the payload with the key that signed `like`. */
  readonly sign: (like: JsonObject, payload: JsonObject) => JsonObject;
}

/** An answer of the auth proxy. */
export interface AuthAnswering extends Omit<Answering, "honest"> {
  /** The request without members that the lab does not interpret. */
  readonly request: JsonObject;
  readonly now: Date;
  /** Returns the quorum key that signs tokens. */
  readonly key: (app: TokenApp) => QosKeyPair;
}

/** A list that is answered, or one item of it. */
export interface Listing {
  /** The last segment of the request's path. */
  readonly operation: string;
  readonly organizationId: string;
  /** Whether the page is not one after or before an id. */
  readonly isFirstPage: boolean;
  readonly reader: Reader;
  /** Returns what the operation lists of an organization that is not this one. */
  readonly others: (organizationId: string) => readonly JsonObject[];
}

export type AlterActivity = (activity: JsonObject, answering: Answering) => JsonObject;

/**
 * A value of {@link LabFault.needs}: the fault can be detected only by a client that compares the answer with its
 * request.
 */
export const VERIFIED_CALLS = "verified calls";

export interface FaultFacts {
  readonly what: string;
  /**
   * All checks that fail for the activity and its boot proofs under the lab's policy, if organization and id are
   * expected. Empty if the evidence cannot be fetched.
   */
  readonly fails: readonly CheckId[];
  /**
   * The operations that the fault affects: a submit also in what shows its activity later. Default: every submit. With
   * {@link VERIFIED_CALLS}, only a client that
   * compares the answer with its request can detect the fault.
   */
  readonly needs?: readonly string[];
  /**
   * Only for faults of lists, whose evidence is genuine: the class of an address that `bootproof addresses` reports
   * because of it, `unfetched` where the list cannot be used.
   */
  readonly shows?: "contradicted" | "refused" | "service" | "imported" | "unfetched";
}

export interface Behaviour extends FaultFacts {
  readonly forge?: AlterForge;
  /** Replaces the finished boot proof. */
  readonly bootProof?: (honest: JsonObject, target: TargetEnclave) => JsonObject;
  /** Whether the service returns a boot proof even for a key that it does not know. */
  readonly anyKey?: boolean;
  /** Returns alterations of an app proof, which is then signed again. */
  readonly appProof?: (target: TargetEnclave, answering: Answering) => AppProofAlterations;
  /** Replaces the app proofs of an activity, after `appProof`. */
  readonly appProofs?: (honest: readonly JsonObject[], answering: Answering) => readonly JsonObject[];
  readonly activity?: AlterActivity;
  /** Replaces the answers of those operations of the auth proxy that `needs` names. */
  readonly auth?: (answer: JsonObject, answering: AuthAnswering) => JsonObject;
  /** Replaces the feed of the signed policy. `code` is how a consumer refuses it, or null. */
  readonly feed?: (honest: PolicyFeed) => string | Promise<string>;
  readonly code?: SignedPolicyCode | null;
  /** Replaces the items of a page, or the one account of an answer. */
  readonly list?: (items: readonly JsonObject[], listing: Listing) => readonly JsonObject[];
  /** Replaces the index of the first item of a page after an id. */
  readonly pageStart?: (start: number) => number;
  /** Alters the app proofs of the caller's applications. */
  readonly application?: ApplicationLie;
  /** The operations that respond with not found. */
  readonly refuses?: readonly string[];
}

export function behaviours<Name extends string>(
  rows: Readonly<Record<Name, Behaviour>>,
): Readonly<Record<Name, Behaviour>> {
  return rows;
}

/** Returns the row of a fault. Throws RangeError for an unknown name. */
export function faultNamed<Name extends string, Row>(rows: Readonly<Record<Name, Row>>, name: string): Row {
  if (Object.hasOwn(rows, name)) return rows[name as Name];
  throw new RangeError(`there is no fault ${name}: expected one of ${Object.keys(rows).join(", ")}`);
}

/** Another authority, with the same names but its own keys. It is made on demand, since making it is slow. */
let other: Forge | undefined;
export function otherForge(): Forge {
  return (other ??= new Forge());
}

export const put =
  (name: string, value: JsonValue) =>
  (json: JsonObject): JsonObject => ({ ...json, [name]: value });

export function payloadOf(proof: JsonObject): JsonObject {
  return JSON.parse(proof["proofPayload"] as string) as JsonObject;
}
