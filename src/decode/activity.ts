/** Activities (client/README.md, "Activities"): the members that app proofs cover. An activity is not signed. */
import { type Reading, requireWhole } from "../errors.js";
import { MAX_APP_PROOFS } from "./app-proof.js";
import { decimalMilliseconds } from "./decimal-time.js";
import { evidenceBeside } from "./evidence-members.js";
import { jsonInput, unwrap } from "./input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "./json.js";
import { MemberReader } from "./json-members.js";

export const COMPLETED = "ACTIVITY_STATUS_COMPLETED";

export interface Activity {
  readonly id: string;
  readonly organizationId: string;
  readonly status: string;
  readonly type: string;
  /** The id that votes refer to; null if absent. */
  readonly fingerprint: string | null;
  /** Time of submission in milliseconds since the epoch; null if absent. */
  readonly requestedAt: number | null;
  /** The request: one member, named after the type. */
  readonly intent: JsonObject;
  /** The outcome: one member, named after the type. */
  readonly result: JsonObject;
  /** Not decoded; each is verified on its own. */
  readonly appProofs: readonly unknown[];
}

/**
 * Decodes an activity, bare or as `{"activity": …}`, from JSON text, its bytes, or the parsed value, also in the form
 * of `result.activity`. Verifies nothing. Throws {@link MalformedError} with every fault.
 */
export function decodeActivity(input: unknown): Activity {
  return requireWhole("activity", readActivity(jsonInput(input)));
}

/** Tolerant form of {@link decodeActivity}, for a parsed value. */
export function readActivity(input: unknown): Reading<Activity> {
  const faults = evidenceBeside(input, "activity");
  const reader = MemberReader.of(unwrap(input, "activity"), "", faults);
  if (reader === undefined) return { value: {}, faults };
  const outcome = outcomeReader(reader);
  if (outcome !== reader) {
    faults.pushAll(evidenceBeside(outcome.object, "activity", outcome.path));
    refuseContradiction(reader, outcome);
  }
  const value = {
    id: reader.string("id"),
    organizationId: reader.string("organizationId"),
    status: reader.string("status"),
    type: reader.string("type"),
    fingerprint: textOrNull(outcome.get("fingerprint") ?? reader.get("fingerprint")),
    requestedAt: requestTime(outcome) ?? requestTime(reader),
    intent: outcome.nested("intent")?.object,
    result: outcome.nested("result")?.object,
    appProofs: appProofs(reader, outcome),
  };
  return { value, faults };
}

/** Intent and result of an activity, or of its repetition in `result.activity` (decode/README.md, "Activities"). */
interface Outcome {
  readonly intent: JsonObject | undefined;
  readonly result: JsonObject | undefined;
  readonly repetition: JsonObject | undefined;
}

export function outcomeOf(activity: JsonObject): Outcome {
  const repetition = objectOf(objectOf(activity["result"])?.["activity"]);
  const holder = repetition ?? activity;
  return { intent: objectOf(holder["intent"]), result: objectOf(holder["result"]), repetition };
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

function outcomeReader(reader: MemberReader): MemberReader {
  const { repetition } = outcomeOf(reader.object);
  return repetition === undefined ? reader : new MemberReader(repetition, "result.activity", reader.faults);
}

/** `result` contains the repetition; the app proofs of both lists are verified. */
const NOT_REPEATED = ["result", "appProofs"];

/** Otherwise a reader of one place could trust app proofs of the other. */
function refuseContradiction(reader: MemberReader, outcome: MemberReader): void {
  for (const name of Object.keys(outcome.object).filter((member) => !NOT_REPEATED.includes(member))) {
    const [stated, repeated] = [reader.get(name), outcome.get(name)];
    if (stated !== undefined && repeated !== undefined && !equalJson(stated, repeated)) {
      outcome.fault(name, `differs from the activity's own ${name}`);
    }
  }
  reader.nested("result")?.refuseUnknown(["activity"]);
}

/** Ignores the order of members. */
function equalJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equalJson(a[name], b[name]))
  );
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function requestTime(reader: MemberReader): number | null {
  const created = reader.get("createdAt");
  const seconds = isJsonObject(created) ? decimalMilliseconds(created["seconds"]) : null;
  return (
    decimalMilliseconds(reader.get("timestampMs")) ?? (seconds === null ? decimalMilliseconds(created) : 1000 * seconds)
  );
}

/** Of both places, so that each is verified. */
function appProofs(reader: MemberReader, outcome: MemberReader): JsonValue[] | undefined {
  const stated = [...new Set([reader, outcome])].filter((holder) => holder.get("appProofs") !== undefined);
  const holders = stated.length === 0 ? [outcome] : stated;
  const lists = holders.map((holder) => holder.array("appProofs", (value) => value));
  if (!lists.every((list) => list !== undefined)) return undefined;
  const list = equalJson(lists[0], lists[1]) ? lists[0]! : lists.flat();
  if (list.length > MAX_APP_PROOFS)
    return holders[0]!.fault("appProofs", `${list.length} entries, at most ${MAX_APP_PROOFS} wanted`);
  return list.length === 0 ? holders[0]!.fault("appProofs", "empty: nothing of this activity is proven") : list;
}

/** The members of an intent or result that are not null. */
export function presentMembers(object: JsonObject | undefined): [string, JsonValue][] {
  return Object.entries(object ?? {}).filter(([, value]) => value !== null);
}

export function soleMember(object: JsonObject | undefined): JsonValue | undefined {
  const members = presentMembers(object);
  return members.length === 1 ? members[0]![1] : undefined;
}

const VOTES: readonly (string | null | undefined)[] = [
  "ACTIVITY_TYPE_APPROVE_ACTIVITY",
  "ACTIVITY_TYPE_REJECT_ACTIVITY",
];

/** Whether the type is a vote: the service may respond to one with the activity voted on. */
export function isVote(type: string | null | undefined): boolean {
  return VOTES.includes(type);
}
