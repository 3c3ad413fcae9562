/** What a row of a table of faults says: what the service does, and the checks that fail for it. */
import type { CheckId } from "../checks.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import type { AppProofAlterations } from "./enclave.js";
import type { Fleet } from "./fleet.js";
import { Forge, type ForgeOptions } from "./forge.js";
import type { QosKeyPair } from "./qos.js";
import type { SavedRelease } from "./records.js";
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
  /** Signs the payload as the signer of `like`. */
  readonly sign: (like: JsonObject, payload: JsonObject) => JsonObject;
}

export type AlterActivity = (activity: JsonObject, answering: Answering) => JsonObject;

/** A value of {@link LabFault.needs}: only a client that knows the request can detect the fault. */
export const VERIFIED_CALLS = "verified calls";

export interface FaultFacts {
  readonly what: string;
  /**
   * Every check that fails for the activity and its boot proofs under the lab's policy, for the requested organization
   * and id. It is empty if the evidence cannot be fetched.
   */
  readonly fails: readonly CheckId[];
  /**
   * Operations that show the fault. Default: every submit. {@link VERIFIED_CALLS} marks faults that need a client which
   * knows the request.
   */
  readonly needs?: readonly string[];
}

export interface Behaviour extends FaultFacts {
  readonly forge?: AlterForge;
  /** Replaces the finished boot proof. */
  readonly bootProof?: (honest: JsonObject, target: TargetEnclave) => JsonObject;
  /** Returns boot proofs for unknown keys, too. */
  readonly anyKey?: boolean;
  /** Alters an app proof, then signs it again. */
  readonly appProof?: (target: TargetEnclave, answering: Answering) => AppProofAlterations;
  /** Replaces the app proofs of an activity, after `appProof`. */
  readonly appProofs?: (honest: readonly JsonObject[], answering: Answering) => readonly JsonObject[];
  readonly activity?: AlterActivity;
  /** The operations that return not found. */
  readonly refuses?: readonly string[];
}

export function behaviours<Name extends string>(
  rows: Readonly<Record<Name, Behaviour>>,
): Readonly<Record<Name, Behaviour>> {
  return rows;
}

/** Throws RangeError for an unknown name. */
export function faultNamed<Name extends string, Row>(rows: Readonly<Record<Name, Row>>, name: string): Row {
  if (Object.hasOwn(rows, name)) return rows[name as Name];
  throw new RangeError(`there is no fault ${name}: expected one of ${Object.keys(rows).join(", ")}`);
}

/** Another authority with its own keys under the same names. It is made on demand, because that is slow. */
let strangerMade: Forge | undefined;
export function stranger(): Forge {
  return (strangerMade ??= new Forge());
}

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export const put =
  (name: string, value: JsonValue) =>
  (json: JsonObject): JsonObject => ({ ...json, [name]: value });

export function payloadOf(proof: JsonObject): JsonObject {
  return JSON.parse(proof["proofPayload"] as string) as JsonObject;
}
