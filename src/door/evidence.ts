/**
 * Fetches the evidence of an activity: its app proofs, and the boot proof of each key that they name. Nothing is
 * verified.
 */
import { toHex } from "../bytes.js";
import { outcomeOf, readActivity } from "../decode/activity.js";
import { readAppProof } from "../decode/app-proof.js";
import { type Piece, evidenceBesideMember } from "../decode/evidence-members.js";
import { copyInput } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { shownName } from "../errors.js";
import { ServiceError, answerError } from "./errors.js";
import type { AskService } from "./evidence-source.js";
import { isEmpty } from "../verify/contradictions.js";
import { inTurns } from "../verify/in-turns.js";
import { unfinishedOf } from "../verify/unfinished.js";

/**
 * Limit of keys for one activity, where its caller waits for it. Keys beyond the limit are listed as missing; an honest
 * service names fewer.
 */
export const MAX_BOOT_PROOFS = 16;
export const BOOT_PROOFS_AT_ONCE = 4;

export interface KeyedBootProof<T> {
  readonly key: string;
  readonly bootProof: T;
}

export interface ActivityEvidence<T> {
  readonly activity: JsonValue;
  readonly bootProofs: readonly KeyedBootProof<T>[];
  /** Keys without a boot proof. */
  readonly missing: readonly string[];
}

/**
 * Fetches an activity. Null if the service does not know it, or does not offer this query, which the interface does not
 * promise. Rejects with {@link ClientError}.
 */
export async function fetchActivity(query: AskService, activityId: string): Promise<JsonObject | null> {
  const answer = await query("get_activity", { activityId }).catch(nullWhere([404, 405, 501]));
  refuseMore("get_activity", answer, ["activity", "activity"]);
  const activity = isJsonObject(answer) ? answer["activity"] : null;
  return isJsonObject(activity) ? activity : null;
}

/**
 * Fetches the boot proofs of the keys that an activity's app proofs name. `bootProofOf` gets a key in hex, its index
 * and the number of keys, and resolves to null if there is no boot proof. A key has 130 bytes, or 65 if the app proofs
 * name only its signing half. Keys beyond `most` are not fetched.
 */
export async function fetchEvidence<T>(
  given: JsonValue,
  bootProofOf: (key: string, index: number, count: number) => Promise<T | null>,
  most = MAX_BOOT_PROOFS,
): Promise<ActivityEvidence<T>> {
  const activity = copyInput(given).value ?? given;
  const keys = keysNamedBy(activity);
  const wanted = keys.slice(0, most);
  const answers = await inTurns(wanted, BOOT_PROOFS_AT_ONCE, (key, index) => bootProofOf(key, index, wanted.length));
  const fetched = wanted.map((key, index) => ({ key, bootProof: answers[index] ?? null }));
  return {
    activity,
    bootProofs: fetched.flatMap(({ key, bootProof }) => (bootProof === null ? [] : [{ key, bootProof }])),
    missing: [...fetched.filter(({ bootProof }) => bootProof === null).map(({ key }) => key), ...keys.slice(most)],
  };
}

/** Returns the keys that the activity's app proofs name, in hex. One that is a half of another is left out. */
export function keysNamedBy(activity: JsonValue): readonly string[] {
  const proofs = readActivity({ activity }).value.appProofs ?? [];
  const named = [...new Set(proofs.flatMap((proof) => readAppProof(proof).value.publicKey ?? []).map(toHex))];
  return named.filter((key) => !named.some((other) => other !== key && other.endsWith(key)));
}

/** Fetches a boot proof by its key. Null if the service has none. Rejects with {@link ClientError}. */
export async function fetchBootProof(query: AskService, key: string): Promise<JsonValue | null> {
  const answer = await query("get_boot_proof", { ephemeralKey: key }).catch(nullWhere([404]));
  return bootProofIn("get_boot_proof", answer);
}

/**
 * Returns the boot proof of an answer, or null if there is none. Throws if the answer has another form: an error with
 * status 200 does not mean that there is none.
 */
function bootProofIn(operation: string, answer: JsonValue): JsonValue | null {
  if (!isJsonObject(answer) || Object.keys(answer).length === 0) return null;
  if (!Object.hasOwn(answer, "bootProof"))
    throw answerError(operation, [{ path: "bootProof", message: "missing" }], "none");
  refuseMore(operation, answer, ["bootProof", "boot proof"]);
  return answer["bootProof"] ?? null;
}

/**
 * Fetches the boot proof of the application's enclave that booted last. Null if there is none. Only the unsigned label
 * `enclaveApp` names the application. Rejects with {@link ClientError} (`answer`) if the label has another name.
 */
export async function fetchLatestBootProof(query: AskService, appName: string): Promise<JsonValue | null> {
  const answer = await query("get_latest_boot_proof", { appName }).catch(nullWhere([404]));
  const bootProof = bootProofIn("get_latest_boot_proof", answer);
  const label = isJsonObject(bootProof) ? (bootProof["enclaveApp"] ?? null) : null;
  if (typeof label !== "string" || label === appName) return bootProof;
  const message = `${JSON.stringify(shownName(label))}, expected ${JSON.stringify(shownName(appName))}`;
  throw answerError("get_latest_boot_proof", [{ path: "bootProof.enclaveApp", message }], "none");
}

/**
 * Returns the activity with app proofs. If it has none, they are fetched with `list_app_proofs`, unless the activity is
 * not finished. Rejects with {@link ClientError}.
 */
export async function withAppProofs(query: AskService, given: JsonValue): Promise<JsonValue> {
  const activity = copyInput(given).value ?? given;
  if (!isJsonObject(activity)) return activity;
  const { id } = activity;
  const isWhole = hasAppProofs(activity) || unfinishedOf(activity) !== null;
  if (typeof id !== "string" || id === "" || isWhole) return activity;
  const listed = await query("list_app_proofs", { activityId: id });
  refuseMore("list_app_proofs", listed, ["appProofs", "app proof"]);
  const appProofs = isJsonObject(listed) ? (listed["appProofs"] ?? []) : null;
  if (!Array.isArray(appProofs))
    throw answerError("list_app_proofs", [{ path: "appProofs", message: "expected an array" }], "none");
  return { ...activity, appProofs };
}

export function hasAppProofs(activity: JsonValue): boolean {
  if (!isJsonObject(activity)) return false;
  return [activity, outcomeOf(activity).repetition].some((holder) => !isEmpty(holder?.["appProofs"]));
}

/**
 * Throws if the answer has evidence outside of `member`, because that evidence would be dropped without verification.
 */
function refuseMore(operation: string, answer: JsonValue, [member, piece]: readonly [string, Piece]): void {
  const beside = evidenceBesideMember(answer, member, piece);
  if (beside.length > 0) throw answerError(operation, beside, "none");
}

function nullWhere(statuses: readonly number[]): (error: unknown) => null {
  return (error) => {
    if (error instanceof ServiceError && statuses.includes(error.status)) return null;
    throw error;
  };
}
