/**
 * An activity's evidence: the activity, its app proofs, and the boot proof of each key that they name. Fetched here for
 * the client and for the command line; nothing of it is verified.
 */
import { toHex } from "../bytes.js";
import { outcomeOf, readActivity } from "../decode/activity.js";
import { readAppProof } from "../decode/app-proof.js";
import { type Piece, evidenceBesideMember } from "../decode/evidence-members.js";
import { copyInput } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { shownName } from "../errors.js";
import { ServiceError, answerError } from "./errors.js";
import { isEmpty } from "../verify/expectation.js";
import { inTurns } from "../verify/in-turns.js";

/** An activity that names more keys is no answer of an honest service: the others count as without a boot proof. */
export const MAX_BOOT_PROOFS = 16;
/** So many boot proofs are waited for at once: each answer may be large. */
const AT_ONCE = 4;

/** Asks the service: the operation's name, its parameters beside the organization. */
export type AskService = (name: string, parameters: JsonObject) => Promise<JsonValue>;

/** A boot proof as it was fetched, and the key that it was asked for by: lower-case hex. */
export interface KeyedBootProof<T> {
  readonly key: string;
  readonly bootProof: T;
}

export interface ActivityEvidence<T> {
  readonly activity: JsonValue;
  readonly bootProofs: readonly KeyedBootProof<T>[];
  /** Keys that app proofs name, and that the service has no boot proof of. */
  readonly missing: readonly string[];
}

/** The activity of an id, where the service answers that, which the interface does not promise; else null. */
export async function fetchActivity(query: AskService, activityId: string): Promise<JsonObject | null> {
  const answer = await query("get_activity", { activityId }).catch(nullWhere([404, 405, 501]));
  refuseMore("get_activity", answer, ["activity", "activity"]);
  const activity = isJsonObject(answer) ? answer["activity"] : null;
  return isJsonObject(activity) ? activity : null;
}

/**
 * The boot proofs of the keys that an activity's app proofs name. `bootProofOf` answers that of a key in hex, null
 * where there is none; it is told which of how many this is.
 */
export async function fetchEvidence<T>(
  given: JsonValue,
  bootProofOf: (key: string, index: number, count: number) => Promise<T | null>,
): Promise<ActivityEvidence<T>> {
  const activity = copyInput(given).value ?? given;
  const proofs = readActivity({ activity }).value.appProofs ?? [];
  const keys = [...new Set(proofs.flatMap((proof) => readAppProof(proof).value.publicKey ?? []).map(toHex))];
  const wanted = keys.slice(0, MAX_BOOT_PROOFS);
  const answers = await inTurns(wanted, AT_ONCE, (key, index) => bootProofOf(key, index, wanted.length));
  const fetched = wanted.map((key, index) => ({ key, bootProof: answers[index] ?? null }));
  return {
    activity,
    bootProofs: fetched.flatMap(({ key, bootProof }) => (bootProof === null ? [] : [{ key, bootProof }])),
    missing: [
      ...fetched.filter(({ bootProof }) => bootProof === null).map(({ key }) => key),
      ...keys.slice(MAX_BOOT_PROOFS),
    ],
  };
}

/** The boot proof of a key, as the service answers it; null where it has none. */
export async function fetchBootProof(query: AskService, key: string): Promise<JsonValue | null> {
  const answer = await query("get_boot_proof", { ephemeralKey: key }).catch(nullWhere([404]));
  return bootProofIn("get_boot_proof", answer);
}

/** An answer of something else, such as an error under status 200, does not say that there is none. */
function bootProofIn(operation: string, answer: JsonValue): JsonValue | null {
  if (!isJsonObject(answer) || Object.keys(answer).length === 0) return null;
  if (!Object.hasOwn(answer, "bootProof"))
    throw answerError(operation, [{ path: "bootProof", message: "missing" }], "none");
  refuseMore(operation, answer, ["bootProof", "boot proof"]);
  return answer["bootProof"] ?? null;
}

/**
 * The boot proof of an application's enclave that booted last, as the service answers it; null where it has none. Which
 * application it is of, its label says, and nobody signs that. Throws {@link ClientError} (`answer`) where the label
 * names another one: that is not what was asked for.
 */
export async function fetchLatestBootProof(query: AskService, appName: string): Promise<JsonValue | null> {
  const answer = await query("get_latest_boot_proof", { appName }).catch(nullWhere([404]));
  const bootProof = bootProofIn("get_latest_boot_proof", answer);
  const label = isJsonObject(bootProof) ? (bootProof["enclaveApp"] ?? null) : null;
  if (typeof label !== "string" || label === appName) return bootProof;
  const message = `${JSON.stringify(shownName(label))}, and ${JSON.stringify(shownName(appName))} was asked for`;
  throw answerError("get_latest_boot_proof", [{ path: "bootProof.enclaveApp", message }], "none");
}

/** The activity, with the app proofs that the service lists for it where it carries none. */
export async function withAppProofs(query: AskService, given: JsonValue): Promise<JsonValue> {
  const activity = copyInput(given).value ?? given;
  if (!isJsonObject(activity)) return activity;
  const { id } = activity;
  const holders = [activity, outcomeOf(activity).repetition];
  if (typeof id !== "string" || id === "" || holders.some((holder) => !isEmpty(holder?.["appProofs"]))) return activity;
  const listed = await query("list_app_proofs", { activityId: id });
  refuseMore("list_app_proofs", listed, ["appProofs", "app proof"]);
  const appProofs = isJsonObject(listed) ? (listed["appProofs"] ?? []) : null;
  if (!Array.isArray(appProofs))
    throw answerError("list_app_proofs", [{ path: "appProofs", message: "an array wanted" }], "none");
  return { ...activity, appProofs };
}

/** Evidence beside the member that is read would be dropped; what is inside the member is verified with it. */
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
