/** Decoding of activities (client/README.md, "Activities"). An activity is not signed; app proofs cover its members. */
import { FaultList, type Reading, requireWhole } from "../errors.js";
import { RESULT_NAMES_ANYWHERE, namesOf, ruleOf } from "./activity-rules.js";
import { MAX_APP_PROOFS } from "./app-proof-limits.js";
import { decimalMilliseconds, parseTime } from "./decimal-time.js";
import { evidenceBeside } from "./evidence-members.js";
import { type NamesRead, collectFoldedNames } from "./folded-names.js";
import { jsonInput, unwrap } from "./input.js";
import { type JsonObject, type JsonValue, folded, isJsonObject } from "./json.js";
import { MemberReader, jsonList } from "./json-members.js";
import { placeOf, text } from "./shapes.js";
import { equalJson } from "./json-numbers.js";

export const COMPLETED = "ACTIVITY_STATUS_COMPLETED";

/** The members of activities (client/README.md, "Activities"), in the order that reports show them. */
export const ACTIVITY_MEMBERS: readonly string[] = [
  "id",
  "organizationId",
  "status",
  "type",
  "fingerprint",
  "timestampMs",
  "createdAt",
  "updatedAt",
  "canApprove",
  "canReject",
  "votes",
  "failure",
  "intent",
  "result",
  "appProofs",
];

/** Members that an unfinished activity does not have. */
export const RESULT_MEMBERS: readonly string[] = ["result", "appProofs"];

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
  /** App proofs that are not decoded yet. Each is verified on its own. */
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
  const reader = MemberReader.of(unwrap(input, "activity"), placeOf(faults));
  if (reader === undefined) return { value: {}, faults };
  const outcome = outcomeReader(reader);
  if (outcome !== reader) {
    faults.pushAll(evidenceBeside(outcome.object, "activity", outcome.place.path));
    refuseContradiction(reader, outcome);
  }
  faults.pushAll(foldedNames(reader.object));
  const value = {
    id: reader.read("id", text),
    organizationId: reader.read("organizationId", text),
    status: reader.read("status", text),
    type: reader.read("type", text),
    fingerprint: textOrNull(outcome.get("fingerprint") ?? reader.get("fingerprint")),
    requestedAt: requestTime(outcome) ?? requestTime(reader),
    intent: outcome.nested("intent")?.object,
    result: outcome.nested("result")?.object,
    appProofs: appProofs(reader, outcome),
  };
  return { value, faults };
}

const OWN_NAMES: NamesRead = {
  ...Object.fromEntries(ACTIVITY_MEMBERS.map((name) => [name, {}])),
  createdAt: { seconds: {}, nanos: {} },
};

/**
 * Returns a fault for each name that has the same folded form as a name that a check reads, but another spelling. It
 * searches the members of the activity, its intent and result, and its repetition. The activity may be unfinished.
 */
export function foldedNames(activity: JsonObject): FaultList {
  const faults = new FaultList();
  const rule = ruleOf(textOrNull(activity["type"]) ?? undefined);
  const { result, repetition } = outcomeOf(activity);
  const ofMembers = (each: JsonObject, path: string): void => {
    const intent = holderNames(each["intent"], rule.intentMember, namesOf(rule).intent);
    collectFoldedNames(each, { ...OWN_NAMES, intent, result: { activity: {} } }, { path, faults });
  };
  ofMembers(activity, "");
  if (repetition !== undefined) ofMembers(repetition, "result.activity");
  const path = repetition === undefined ? "result" : "result.activity.result";
  const names = holderNames(result, rule.resultMember, namesOf(rule).result);
  collectFoldedNames(result, names, { path, faults, anywhere: RESULT_NAMES_ANYWHERE });
  return faults;
}

/** Returns the names that checks read in an intent or result. Without a rule, its only member may have any name. */
function holderNames(holder: JsonValue | undefined, wanted: string | null, inside: NamesRead): NamesRead {
  const stated = Object.keys(objectOf(holder) ?? {});
  const others = wanted === null ? stated : stated.filter((name) => folded(name) !== folded(wanted));
  return Object.fromEntries([...others, ...(wanted === null ? [] : [wanted])].map((name) => [name, inside]));
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
  return repetition === undefined ? reader : new MemberReader(repetition, reader.place.at("result").at("activity"));
}

/**
 * Reports members that differ between an activity and its repetition, since a reader of one place could trust app
 * proofs of the other. `result` is not compared because it contains the repetition; app proofs of both are verified.
 */
function refuseContradiction(reader: MemberReader, outcome: MemberReader): void {
  for (const name of Object.keys(outcome.object).filter((member) => !RESULT_MEMBERS.includes(member))) {
    const [stated, repeated] = [reader.get(name), outcome.get(name)];
    if (stated !== undefined && repeated !== undefined && !equalJson(stated, repeated)) {
      outcome.fault(name, `differs from the activity's own ${name}`);
    }
  }
  reader.nested("result")?.refuseUnknown(["activity"]);
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function requestTime(reader: MemberReader): number | null {
  return decimalMilliseconds(reader.get("timestampMs")) ?? createdTime(reader.get("createdAt"));
}

/** Reads milliseconds, a Timestamp in whole milliseconds, or RFC 3339. */
function createdTime(created: JsonValue | undefined): number | null {
  if (typeof created === "string") return decimalMilliseconds(created) ?? parseTime(created)?.getTime() ?? null;
  if (!isJsonObject(created)) return null;
  const seconds = decimalMilliseconds(created["seconds"]);
  return seconds === null ? null : 1000 * seconds + milliseconds(created["nanos"]);
}

/** Nanoseconds of a Timestamp come as a text or a number, and not at all for 0. Others count as 0. */
function milliseconds(nanos: JsonValue | undefined): number {
  const digits = /^[0-9]{1,9}$/.exec(String(nanos))?.[0] ?? "0";
  return Math.floor(Number(digits) / 1_000_000);
}

/** Returns the app proofs of the activity and of its repetition, so that all of them are verified. */
function appProofs(reader: MemberReader, outcome: MemberReader): JsonValue[] | undefined {
  const stated = [...new Set([reader, outcome])].filter((holder) => holder.get("appProofs") !== undefined);
  const holders = stated.length === 0 ? [outcome] : stated;
  const lists = holders.map((holder) => holder.read("appProofs", jsonList));
  if (!lists.every((list) => list !== undefined)) return undefined;
  const list = equalJson(lists[0], lists[1]) ? lists[0]! : lists.flat();
  if (list.length > MAX_APP_PROOFS)
    return holders[0]!.fault("appProofs", `${list.length} entries, expected at most ${MAX_APP_PROOFS}`);
  return list.length === 0 ? holders[0]!.fault("appProofs", "empty, so nothing about this activity is proven") : list;
}

/** Returns the members of an intent or result that are not null. */
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

/** Whether the type is a vote. The service may respond to a vote with the activity voted on. */
export function isVote(type: string | null | undefined): boolean {
  return VOTES.includes(type);
}
