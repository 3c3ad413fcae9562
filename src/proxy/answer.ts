/** Reads the upstream's answer. The value is built anew, and only `activity` of it may hold a result. */
import { COMPLETED, outcomeOf } from "../decode/activity.js";
import { JsonNumber, type JsonObject, type JsonValue, isJsonObject, memberPath, parseJson } from "../decode/json.js";
import { attempt, faultText, shownName } from "../errors.js";

/** As received, decoded by nothing but HTTP. */
export interface ReceivedAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly rawTrailers: readonly string[];
  /** Null if it exceeds {@link MAX_ANSWER_BYTES}. */
  readonly body: Uint8Array | null;
}

export type ReadAnswer =
  | { readonly kind: "error"; readonly status: number; readonly value: JsonObject }
  | { readonly kind: "activity"; readonly activity: ReceivedActivity }
  /** Holds no activity with a result. */
  | { readonly kind: "other"; readonly value: JsonValue };

export interface ReceivedActivity {
  /** With known members only. */
  readonly json: JsonObject;
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  readonly isCompleted: boolean;
}

/** The answer is not what the interface promises. */
export class AnswerFault extends Error {
  override readonly name = "AnswerFault";
}

export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_ANSWER_VALUES = 350_000;
const MAX_MESSAGE = 4096;

/**
 * The members of an activity that pass. Others would stand beside what was verified: clients that ignore case or
 * underscores would take `Result` for `result`.
 */
const ACTIVITY_MEMBERS = [
  "id",
  "organizationId",
  "status",
  "type",
  "intent",
  "votes",
  "fingerprint",
  "canApprove",
  "canReject",
  "createdAt",
  "updatedAt",
  "timestampMs",
  "failure",
];
const RESULT_MEMBERS = ["result", "appProofs"];

/** `isActivity`: whether the operation promises an activity. Throws {@link AnswerFault}. */
export function readServiceAnswer(
  answer: ReceivedAnswer,
  { isActivity }: { readonly isActivity: boolean },
): ReadAnswer {
  const { status, body } = answer;
  if (answer.rawTrailers.length > 0) throw new AnswerFault("it has trailers");
  if (status !== 200 && (status < 400 || status > 599)) throw new AnswerFault(statusFault(status));
  refuseHeaders(answer.rawHeaders);
  if (body === null) throw new AnswerFault(`it is longer than ${MAX_ANSWER_BYTES} bytes`);
  const value = strictJson(body, "literal");
  if (status !== 200) return { kind: "error", status, value: errorOf(value) };
  // An activity is compared with values that were sent, so its numbers are values.
  return hasActivity(value, isActivity) ? activityOf(strictJson(body, "value")) : otherOf(value);
}

function statusFault(status: number): string {
  return status >= 300 && status < 400
    ? `HTTP ${status}: redirects are not followed`
    : `HTTP ${status}, and 200 is expected`;
}

function strictJson(body: Uint8Array, numbers: "literal" | "value"): JsonValue {
  const { value, faults } = attempt(() => parseJson(body, { numbers, maxValues: MAX_ANSWER_VALUES }));
  if (value === undefined) throw new AnswerFault(`it is not strict JSON: ${faultText(faults)}`);
  return value;
}

function refuseHeaders(rawHeaders: readonly string[]): void {
  const types = headerValues(rawHeaders, "content-type");
  const isJson = types.length === 1 && /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(types[0]!);
  if (!isJson) throw new AnswerFault("its Content-Type is not application/json");
  const codings = headerValues(rawHeaders, "content-encoding");
  if (codings.some((coding) => coding.toLowerCase() !== "identity"))
    throw new AnswerFault("it has a Content-Encoding, which was not requested");
}

/** `name`: lower case. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name);
}

/** Code, message and details; nothing else of the upstream's error. */
function errorOf(value: JsonValue): JsonObject {
  const json = isJsonObject(value) ? value : {};
  const { code, message, details } = json;
  const holdsResult = findResult(details ?? null, "details") !== null;
  return {
    code: code instanceof JsonNumber && /^[0-9]{1,3}$/.test(code.text) ? code : new JsonNumber("2"),
    message: typeof message === "string" ? message.slice(0, MAX_MESSAGE) : "the service gave no message",
    details: Array.isArray(details) && !holdsResult ? details : [],
  };
}

function hasActivity(value: JsonValue, isActivity: boolean): boolean {
  return isActivity || (isJsonObject(value) && Object.hasOwn(value, "activity"));
}

function activityOf(value: JsonValue): ReadAnswer & { kind: "activity" } {
  if (!isJsonObject(value) || !isJsonObject(value["activity"])) throw new AnswerFault("activity: an object is missing");
  const beside = Object.keys(value).find((name) => name !== "activity");
  if (beside !== undefined)
    throw new AnswerFault(`${JSON.stringify(shownName(beside))} is beside activity, where nothing may be`);
  const collision = findCollision(value["activity"], "activity");
  if (collision !== null) throw new AnswerFault(`${collision} differs from another member only in case or underscores`);
  const json = knownMembers(value["activity"]);
  const { id, organizationId, type, status } = json;
  return {
    kind: "activity",
    activity: {
      json,
      id: requiredText("id", id),
      organizationId: requiredText("organizationId", organizationId),
      type: requiredText("type", type),
      isCompleted: requiredText("status", status) === COMPLETED,
    },
  };
}

function requiredText(name: string, value: JsonValue | undefined): string {
  if (typeof value === "string" && value !== "") return value;
  throw new AnswerFault(`activity.${name}: a string is missing`);
}

/** Also in `result.activity`, which may repeat the activity. */
function knownMembers(activity: JsonObject): JsonObject {
  const known = picked(activity, [...ACTIVITY_MEMBERS, ...RESULT_MEMBERS]);
  const { repetition } = outcomeOf(activity);
  if (repetition === undefined) return known;
  return { ...known, result: { ...(known["result"] as JsonObject), activity: knownMembers(repetition) } };
}

/** Throws {@link AnswerFault} if a result is elsewhere in it. */
export function unfinishedActivity(activity: JsonObject): JsonObject {
  const json = picked(activity, ACTIVITY_MEMBERS);
  refuseResults(json);
  return json;
}

function picked(object: JsonObject, names: readonly string[]): JsonObject {
  const kept = Object.create(null) as JsonObject;
  for (const name of names) if (Object.hasOwn(object, name)) kept[name] = object[name]!;
  return kept;
}

/** Lists of activities lose their results; a result anywhere else is refused. */
function otherOf(value: JsonValue): ReadAnswer {
  const listed = isJsonObject(value) ? value["activities"] : undefined;
  const stripped = Array.isArray(listed)
    ? { ...(value as JsonObject), activities: listed.map((entry, index) => listEntry(entry, index)) }
    : value;
  refuseResults(stripped);
  return { kind: "other", value: stripped };
}

function refuseResults(value: JsonValue): void {
  const found = findResult(value, "");
  if (found !== null)
    throw new AnswerFault(`${found || "it"} is an activity with a result, in a place where none is verified`);
}

function listEntry(entry: JsonValue, index: number): JsonObject {
  if (isJsonObject(entry)) return picked(entry, ACTIVITY_MEMBERS);
  throw new AnswerFault(`activities[${index}]: an object is missing`);
}

/** As decoders that ignore case, underscores and hyphens read a name. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase().replaceAll(/[_-]/g, "");
}

/** The path of a member whose folded name is another member's, too. */
function findCollision(value: JsonValue, path: string): string | null {
  if (Array.isArray(value)) return firstOf(value.map((item, index) => [item, `${path}[${index}]`]));
  if (!isJsonObject(value)) return null;
  const seen = new Set<string>();
  for (const [index, name] of Object.keys(value).entries()) {
    if (seen.has(folded(name))) return memberPath(path, name, index);
    seen.add(folded(name));
  }
  return firstOf(Object.entries(value).map(([name, member], index) => [member, memberPath(path, name, index)]));

  function firstOf(members: readonly (readonly [JsonValue, string])[]): string | null {
    for (const [member, at] of members) {
      const found = findCollision(member, at);
      if (found !== null) return found;
    }
    return null;
  }
}

/** The path of the first activity with a result. */
function findResult(value: JsonValue, path: string): string | null {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const found = findResult(item, `${path}[${index}]`);
      if (found !== null) return found;
    }
  }
  if (!isJsonObject(value)) return null;
  if (isActivityWithResult(value)) return path;
  for (const [index, [name, member]] of Object.entries(value).entries()) {
    const at = memberPath(path, name, index);
    const isNamed = folded(name) === "activity" && isJsonObject(member) && hasResult(membersOf(member));
    const found = isNamed ? at : findResult(member, at);
    if (found !== null) return found;
  }
  return null;
}

type Folded = ReadonlyMap<string, readonly JsonValue[]>;

function membersOf(object: JsonObject): Folded {
  const members = new Map<string, JsonValue[]>();
  for (const [name, member] of Object.entries(object)) {
    const same = members.get(folded(name));
    if (same === undefined) members.set(folded(name), [member]);
    else same.push(member);
  }
  return members;
}

function isActivityWithResult(object: JsonObject): boolean {
  const members = membersOf(object);
  const startsWith = (name: string, prefix: RegExp): boolean =>
    (members.get(name) ?? []).some((member) => typeof member === "string" && prefix.test(member));
  const isActivity =
    members.has("intent") || startsWith("type", /^ACTIVITY_TYPE_/i) || startsWith("status", /^ACTIVITY_STATUS_/i);
  return isActivity && hasResult(members);
}

function hasResult(members: Folded): boolean {
  return (members.get("result") ?? []).some((result) => typeof result === "object" && result !== null);
}

/** JSON text with each number as it was written. */
export function exactText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(exactText).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${exactText(member)}`);
  return `{${members.join()}}`;
}
