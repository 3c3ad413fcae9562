/** Reads the answers of the service. The kind of the question decides how an answer is read; its content never does. */
import {
  ACTIVITY_MEMBERS,
  type Activity,
  COMPLETED,
  RESULT_MEMBERS,
  foldedNames,
  outcomeOf,
  readActivity,
  soleMember,
} from "../decode/activity.js";
import {
  JsonNumber,
  type JsonObject,
  type JsonValue,
  copyJson,
  folded,
  isJsonObject,
  parseJson,
} from "../decode/json.js";
import { equalJson, plainNumbers, unsafeInteger } from "../decode/json-numbers.js";
import { type Reading, attempt, faultText, listed, shownName } from "../errors.js";
import type { UnverifiedQuestion } from "./question.js";

export interface ReadAnswer {
  readonly value: JsonValue;
  /** Reasons why no activity of the answer may be used. */
  readonly faults: readonly string[];
}

/**
 * Limit of JSON values in an answer: 8 MiB, the client's limit, at 24 bytes a value. Long lists fit, since an account
 * of a wallet takes 30 bytes a value.
 */
export const MAX_ANSWER_VALUES = 350_000;

/** Reads strict JSON, with each number as it is written. Throws {@link MalformedError} (`json`). */
export function answerOfBytes(body: Uint8Array): ReadAnswer {
  return { value: parseJson(body, { numbers: "literal", maxValues: MAX_ANSWER_VALUES }), faults: [] };
}

/** Converts number literals into numbers. A literal that no double holds exactly is a fault. */
export function answerOfLiterals(answer: JsonValue): ReadAnswer {
  const { value, faults } = plainNumbers(answer);
  return { value, faults: faults.map(({ path, message }) => `${path}: ${message}`) };
}

/** Reads an answer that a caller has as JSON text, its bytes, or a parsed value. */
export function answerOfInput(given: unknown): ReadAnswer {
  const isText = typeof given === "string" || given instanceof Uint8Array;
  return isText ? answerOfLiterals(parseJson(given, { numbers: "literal" })) : answerOfValue(given);
}

/** Reads an answer that another SDK parsed. Its parser may have changed integers that a double does not hold. */
export function answerOfValue(given: unknown): ReadAnswer {
  const { value = null, faults } = attempt(() => copyJson(given, Infinity));
  const unsafe = unsafeInteger(value);
  const unsafeFaults = unsafe === null ? [] : [`${unsafe}: an integer that may have been changed when it was parsed`];
  return { value, faults: faults.length === 0 ? unsafeFaults : [`the answer is not JSON: ${faultText(faults)}`] };
}

/** The answer to a submit, a vote or `get_activity`. */
export interface AnsweredActivity {
  /** The activity as received; null if there is none. */
  readonly activity: JsonObject | null;
  /** The members of the activity that can be read. */
  readonly stated: Reading<Activity>["value"];
  /** Id of the activity; null if it has none. */
  readonly id: string | null;
  /** Whether the activity can be decoded. If false, its verification fails, too. */
  readonly isSound: boolean;
  /** Reasons to refuse the whole answer, whatever its proofs say. */
  readonly faults: readonly string[];
}

/** Reads an answer of the form `{"activity": …}`. Any other member is a fault. */
export function readActivityAnswer({ value: answer, faults: parsed }: ReadAnswer): AnsweredActivity {
  const activity = isJsonObject(answer) && Object.hasOwn(answer, "activity") ? answer["activity"] : null;
  if (!isJsonObject(answer) || !isJsonObject(activity))
    return { activity: null, stated: {}, id: null, isSound: false, faults: parsed };
  const beside = Object.keys(answer).filter((name) => name !== "activity");
  const stated = readActivity({ activity }).value;
  const { id = "" } = stated;
  const faults = [
    ...parsed,
    ...(beside.length === 0 ? [] : [`the answer has ${listed(beside.map(quoted), ", ")} beside the activity`]),
    ...(hasPrototypeMember(answer) ? ["the answer has a member __proto__"] : []),
  ];
  const isSound = id !== "" && foldedNames(activity).length === 0;
  return { activity, stated, id: id === "" ? null : id, isSound, faults };
}

/**
 * Returns faults for other members in the wrapper of a past activity. Members of the result are no fault, because other
 * SDKs repeat them there.
 */
export function besideFaults(value: JsonValue): string[] {
  const activity = isJsonObject(value) && Object.hasOwn(value, "activity") ? value["activity"] : null;
  if (!isJsonObject(value) || !isJsonObject(activity)) return [];
  const { result } = outcomeOf(activity);
  const repeated = [result, soleMember(result)].filter(isJsonObject);
  const isRepeated = (name: string): boolean =>
    repeated.some((members) => Object.hasOwn(members, name) && equalJson(members[name], value[name]));
  const beside = Object.keys(value).filter((name) => name !== "activity" && !isRepeated(name));
  return beside.length === 0 ? [] : [`the answer has ${listed(beside.map(quoted), ", ")} beside the activity`];
}

const quoted = (name: string): string => JSON.stringify(shownName(name));

/** Whether a value has a member `__proto__` at any depth. A program that copies it by assignment sets a prototype. */
export function hasPrototypeMember(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.some(hasPrototypeMember);
  if (!isJsonObject(value)) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasPrototypeMember);
}

export function isCompleted({ status }: JsonObject): boolean {
  return status === COMPLETED;
}

/**
 * Whether the status says that the activity is unfinished. False without a status, so the activity is verified, and
 * fails.
 */
export function isUnfinished(activity: JsonObject): boolean {
  return activity["status"] !== undefined && !isCompleted(activity);
}

/** Statuses that do not change by themselves. */
const SETTLED: readonly JsonValue[] = [
  COMPLETED,
  "ACTIVITY_STATUS_FAILED",
  "ACTIVITY_STATUS_REJECTED",
  "ACTIVITY_STATUS_CONSENSUS_NEEDED",
  "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED",
];

export function isPending({ status }: JsonObject): boolean {
  return typeof status === "string" && !SETTLED.includes(status);
}

/** Returns the activity with only its known members, also in `result.activity`. Nothing verifies the other members. */
export function finishedActivity(activity: JsonObject): JsonObject {
  const { repetition } = outcomeOf(activity);
  const known = picked(activity, ACTIVITY_MEMBERS);
  if (repetition === undefined) return known;
  return { ...known, result: { ...(known["result"] as JsonObject), activity: finishedActivity(repetition) } };
}

const OPEN_MEMBERS = ACTIVITY_MEMBERS.filter((name) => !RESULT_MEMBERS.includes(name));

/**
 * Returns the activity with its known members, without result and app proofs. Null if another member holds a result.
 */
export function unfinishedActivity(activity: JsonObject): JsonObject | null {
  const known = picked(activity, OPEN_MEMBERS);
  return holdsResult(known) ? null : known;
}

/** Returns a copy with these members. It has no prototype, so `__proto__` is an ordinary member. */
export function picked(object: JsonObject, names: readonly string[]): JsonObject {
  const kept = Object.create(null) as JsonObject;
  for (const name of names) if (Object.hasOwn(object, name)) kept[name] = object[name]!;
  return kept;
}

/** Returns the answer to a list or query, or why it is refused: it must not contain an activity with a result. */
export function readUnverifiedAnswer(
  { kind }: UnverifiedQuestion,
  answer: JsonValue,
): { readonly value: JsonValue } | { readonly fault: string } {
  const read = kind === "list" ? listAnswer(answer) : { value: answer };
  if ("value" in read && holdsResult(read.value))
    return {
      fault: "the answer holds an activity with a result, but activities in answers of this kind are not verified",
    };
  return read;
}

function listAnswer(answer: JsonValue): { readonly value: JsonValue } | { readonly fault: string } {
  const members = isJsonObject(answer) ? Object.keys(answer) : [];
  const activities = isJsonObject(answer) ? (answer["activities"] ?? []) : null;
  const beside = members.find((name) => name !== "activities");
  if (beside !== undefined) return { fault: `the answer has ${quoted(beside)} beside the list of activities` };
  if (!Array.isArray(activities) || !activities.every(isJsonObject))
    return { fault: "the answer is not a list of activities" };
  return { value: { activities: activities.map((activity) => picked(activity, OPEN_MEMBERS)) } };
}

/**
 * Whether a value has an activity with a result at any depth. Names are compared without regard to case and separators,
 * as some decoders match them. The value may be any object of a program, even one with cycles.
 */
export function holdsResult(value: unknown, name = "", seen = new Set<unknown>()): boolean {
  if (typeof value !== "object" || value === null || seen.has(value)) return false;
  seen.add(value);
  if (Array.isArray(value)) return value.some((item) => holdsResult(item, "", seen));
  const members = Object.entries(value).map(([one, member]) => [folded(one), member as unknown] as const);
  const has = (wanted: string, test: (member: unknown) => boolean): boolean =>
    members.some(([one, member]) => one === wanted && test(member));
  const startsWith = (prefix: RegExp) => (member: unknown) => typeof member === "string" && prefix.test(member);
  const isActivity =
    name === "activity" ||
    has("intent", () => true) ||
    has("type", startsWith(/^ACTIVITY_TYPE_/i)) ||
    has("status", startsWith(/^ACTIVITY_STATUS_/i));
  if (isActivity && has("result", (result) => typeof result === "object" && result !== null)) return true;
  return members.some(([one, member]) => holdsResult(member, one, seen));
}

/** Returns JSON text with each number as it was written. */
export function exactText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(exactText).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${exactText(member)}`);
  return `{${members.join()}}`;
}
