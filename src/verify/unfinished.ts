/**
 * Says what an unfinished activity waits for (verify/README.md, "Unfinished activities"). All is the service's word.
 */
import type { PlainCause } from "../checks.js";
import { COMPLETED, RESULT_MEMBERS, outcomeOf } from "../decode/activity.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { type Fault, cut } from "../errors.js";
import { isEmpty } from "./contradictions.js";

export interface UnfinishedActivity {
  /** The state, in a phrase. */
  readonly state: string;
  /** The state, with status, id and fingerprint, and with the service's message, which is quoted. */
  readonly text: string;
  readonly cause: PlainCause;
}

const OPEN = "the activity is not finished";

/** State and cause by the status without its prefix (client/README.md, "Activities"). */
const STATES: Readonly<Record<string, readonly [state: string, cause: PlainCause]>> = {
  CREATED: [`${OPEN}: the service has not begun it`, "unfinished"],
  PENDING: [`${OPEN}: the service is working on it`, "unfinished"],
  CONSENSUS_NEEDED: [`${OPEN}: other users have to approve it`, "needs-votes"],
  AUTHENTICATORS_NEEDED: [`${OPEN}: its user has to confirm it with another factor`, "needs-factor"],
  FAILED: ["the activity failed", "no-result"],
  REJECTED: ["the activity was rejected by its approvers", "no-result"],
};

/** Returns what an activity waits for; null if it is completed, or has no status. */
export function unfinishedOf(activity: JsonValue | undefined): UnfinishedActivity | null {
  if (!isJsonObject(activity)) return null;
  const { status, id, fingerprint, failure } = activity;
  if (typeof status !== "string" || status === COMPLETED) return null;
  const name = status.replace("ACTIVITY_STATUS_", "");
  const [state, cause] = Object.hasOwn(STATES, name) ? STATES[name]! : ([OPEN, "unfinished"] as const);
  const facts = Object.entries({ id, fingerprint }).flatMap(([name, value]) =>
    typeof value === "string" ? [`${name} ${word(value)}`] : [],
  );
  const message = isJsonObject(failure) ? failure["message"] : undefined;
  const says = typeof message === "string" ? `, and the service says ${JSON.stringify(cut(message, MAX_MESSAGE))}` : "";
  // The message comes first, since a summary cuts a long text at its end.
  const text = `${state}${says} (${[word(name), ...facts].join(", ")})`;
  return { state, text, cause };
}

const MAX_MESSAGE = 500;

function word(text: string): string {
  return /^[\w:.-]{1,100}$/.test(text) ? text : JSON.stringify(cut(text, 100));
}

/** Returns the faults that are not about a result and app proofs that an unfinished activity does not have yet. */
export function faultsBesideResult(activity: JsonObject, faults: readonly Fault[]): readonly Fault[] {
  const holders = [activity, outcomeOf(activity).repetition ?? activity];
  const missing = RESULT_MEMBERS.filter((name) => holders.every((holder) => isEmpty(holder[name])));
  return faults.filter(({ path }) => !missing.includes(path.replace("result.activity.", "")));
}
