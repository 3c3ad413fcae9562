/**
 * The question, and what contradicts it. App proofs say what an enclave did, not for whom an answer is meant: a service
 * that lies answers with a genuine proof of somebody else. So whoever verifies says what was asked, and everything that
 * the service chose is held against that (rules: verify/README.md, "The question").
 */
import { type JsonObject, type JsonValue, copyJson, isJsonObject } from "../decode/json.js";
import { copyPlain, ownOptions } from "../decode/input.js";
import { type Reading, attempt, faultText } from "../errors.js";
import { type Activity, COMPLETED } from "../decode/activity.js";
import { DECIMAL_TIME } from "../decode/decimal-time.js";
import { ACTIVITY_RULES, type ActivityRule, type Repetition } from "./activity-rules.js";

/** What was asked. It is never taken out of evidence: the caller knows it, or nobody does. */
export interface Expected {
  /** Whose activity it is; of app proofs without an activity, whose they are. */
  readonly organizationId: string;
  /** The activity that was asked for. */
  readonly id?: string;
  /** The activity type that was submitted. */
  readonly type?: string;
  /** The parameters that were submitted, as JSON. */
  readonly parameters?: object;
  /** When it was submitted: a Date, or milliseconds since the epoch as `timestampMs` of the request has them. */
  readonly requestedAt?: Date | number | string;
  /** Addresses that were asked about: each has to be one that an app proof backs. */
  readonly addresses?: readonly string[];
}

/** The question as it was taken over from the caller; null for what was not asked. */
export interface Expectation {
  readonly organizationId: string;
  readonly id: string | null;
  readonly type: string | null;
  readonly parameters: JsonObject | null;
  /** Milliseconds since the epoch. */
  readonly requestedAt: number | null;
  readonly addresses: readonly string[] | null;
}

const EXPECTED_MEMBERS: Readonly<Record<keyof Expected, true>> = {
  organizationId: true,
  id: true,
  type: true,
  parameters: true,
  requestedAt: true,
  addresses: true,
};

/** A copy of a question, or of a part of one. Throws TypeError for a member that is none of it. */
export function copyExpected(expected: Partial<Expected>): Partial<Expected> {
  return copyPlain(ownOptions("expected", expected as Expected, EXPECTED_MEMBERS));
}

/**
 * The question of a caller, copied. Throws TypeError for what is no question: nothing of it may go unasked silently.
 */
export function expectationOf(expected: Expected): Expectation {
  const own = ownOptions("expected", expected, EXPECTED_MEMBERS);
  const { organizationId, id, type, parameters, requestedAt, addresses } = own;
  return {
    organizationId: nonEmptyText("organizationId", organizationId),
    id: id === undefined ? null : nonEmptyText("id", id),
    type: type === undefined ? null : nonEmptyText("type", type),
    parameters: parameters === undefined ? null : parametersOf(parameters),
    requestedAt: requestedAt === undefined ? null : instantOf(requestedAt),
    addresses: addresses === undefined ? null : addressesOf(addresses),
  };
}

function nonEmptyText(name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(`expected.${name}: a string that is not empty wanted`);
}

function parametersOf(value: unknown): JsonObject {
  const copied = attempt(() => copyJson(value));
  if (copied.value === undefined) throw new TypeError(`expected.parameters: ${faultText(copied.faults)}`);
  if (!isJsonObject(copied.value)) throw new TypeError("expected.parameters: an object wanted");
  return copied.value;
}

function instantOf(value: unknown): number {
  const milliseconds = value instanceof Date ? value.getTime() : numberOf(value);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  throw new TypeError("expected.requestedAt: a valid Date wanted, or milliseconds since the epoch");
}

/** A number, or that of a decimal text; NaN of anything else. */
function numberOf(value: unknown): number {
  return typeof value === "number" || (typeof value === "string" && DECIMAL_TIME.test(value)) ? Number(value) : NaN;
}

function addressesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw new TypeError("expected.addresses: a list that is not empty wanted");
  return value.map((address) => nonEmptyText("addresses[]", address));
}

/**
 * What of the question the activity was held against, for the report. Of a vote that was answered with the activity
 * voted on neither type nor parameters are: only its fingerprint, which nobody signs.
 */
export function comparedMembers(expectation: Expectation | null, activity: ReadActivity): readonly (keyof Expected)[] {
  if (expectation === null) return [];
  const open: readonly (keyof Expected)[] = isVotedOn(expectation, activity)
    ? ["type", "parameters", "requestedAt"]
    : [];
  return (Object.keys(EXPECTED_MEMBERS) as (keyof Expected)[]).filter(
    (name) => expectation[name] !== null && !open.includes(name),
  );
}

/** Every version of the type that makes an organization inside another. */
const CREATE_SUB_ORGANIZATION = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION";
const SUB_ORGANIZATION_RULE: ActivityRule = {
  type: null,
  intentMember: null,
  resultMember: null,
  filledIn: ["wallet.mnemonicLength"],
  repeats: [],
};
const OTHER_RULE: ActivityRule = { type: null, intentMember: null, resultMember: null, filledIn: [], repeats: [] };

const RULES: ReadonlyMap<string, ActivityRule> = new Map(
  Object.values(ACTIVITY_RULES).map((rule) => [withoutVersion(rule.type), rule]),
);

/** A newer variant of an activity is marked by a suffix such as `_V2` (client/README.md, "Operations"). */
function withoutVersion(type: string): string {
  return type.replace(/_V[0-9]+$/, "");
}

/** The rule of the operation, whichever version of it this is: only the members' names are of one version. */
function ruleOf(type: string | undefined): ActivityRule {
  const rule = type === undefined ? undefined : RULES.get(withoutVersion(type));
  if (rule !== undefined) return rule.type === type ? rule : { ...rule, intentMember: null, resultMember: null };
  return isSubOrganizationType(type) ? SUB_ORGANIZATION_RULE : OTHER_RULE;
}

export function isSubOrganizationType(type: string | null | undefined): boolean {
  return type?.startsWith(CREATE_SUB_ORGANIZATION) === true;
}

/** Votes, which may be answered with the activity that was voted on. */
const VOTES: readonly (string | null | undefined)[] = [
  "ACTIVITY_TYPE_APPROVE_ACTIVITY",
  "ACTIVITY_TYPE_REJECT_ACTIVITY",
];

type ReadActivity = Reading<Activity>["value"];

/** Whether a vote was answered with the activity that it was about. */
export function isVotedOn(expectation: Expectation | null, activity: ReadActivity): boolean {
  return VOTES.includes(expectation?.type) && activity.type !== expectation?.type;
}

/**
 * The moment that app proofs may not be older than, in milliseconds: that of the request; of a vote that was answered
 * with the activity voted on, that activity's own request. Null: nobody said.
 */
export function requestTime(expectation: Expectation | null, activity?: ReadActivity): number | null {
  if (expectation === null || expectation.requestedAt === null) return null;
  if (activity === undefined || !isVotedOn(expectation, activity)) return expectation.requestedAt;
  // The activity's own word can only be earlier than the vote on it.
  return Math.min(expectation.requestedAt, activity.requestedAt ?? expectation.requestedAt);
}

/** Every way in which the activity is not the answer. Values are not quoted: parameters may be confidential. */
export function activityContradictions(expectation: Expectation, activity: ReadActivity): string[] {
  const votedOn = isVotedOn(expectation, activity);
  const rule = ruleOf(activity.type);
  return [
    ...differs("organizationId", activity.organizationId, expectation.organizationId),
    ...(expectation.id === null ? [] : differs("id", activity.id, expectation.id)),
    ...differs("status", activity.status, COMPLETED),
    ...(votedOn ? fingerprintFaults(expectation, activity) : typeFaults(expectation, activity)),
    ...memberFaults("intent", activity.intent, rule.intentMember),
    ...memberFaults("result", activity.result, rule.resultMember),
    ...(votedOn || expectation.parameters === null
      ? []
      : intentFaults(soleMember(activity.intent), expectation.parameters, rule.filledIn)),
    ...resultFaults(activity, votedOn ? { ...expectation, parameters: null } : expectation, rule),
  ];
}

function differs(name: string, answered: string | undefined, wanted: string): string[] {
  return answered === wanted ? [] : [`${name} is ${shown(answered)}, ${shown(wanted)} wanted`];
}

function shown(value: string | undefined): string {
  return value === undefined ? "not there" : value.slice(0, 100);
}

function typeFaults({ type }: Expectation, activity: ReadActivity): string[] {
  return type === null ? [] : differs("type", activity.type, type);
}

/** Votes name an activity by its fingerprint, with or without the name of the hash. */
function fingerprintFaults({ parameters }: Expectation, activity: ReadActivity): string[] {
  const submitted = parameters?.["fingerprint"];
  const bare = (text: string): string => text.replace(/^sha256:/, "");
  const same =
    typeof submitted === "string" &&
    submitted !== "" &&
    typeof activity.fingerprint === "string" &&
    bare(submitted) === bare(activity.fingerprint);
  return same ? [] : ["the activity's fingerprint is not the one that was voted on"];
}

/** The members of an intent or result that are there: null stands for absent. */
function membersOf(object: JsonObject | undefined): [string, JsonValue][] {
  return Object.entries(object ?? {}).filter(([, value]) => value !== null);
}

/** The value of an object's one member; undefined where there is not exactly one. */
export function soleMember(object: JsonObject | undefined): JsonValue | undefined {
  const members = membersOf(object);
  return members.length === 1 ? members[0]![1] : undefined;
}

function memberFaults(what: "intent" | "result", object: JsonObject | undefined, wanted: string | null): string[] {
  const names = membersOf(object).map(([name]) => name);
  if (wanted === null) return names.length <= 1 ? [] : [`${what} has ${names.length} members, one wanted`];
  if (names.length !== 1) return [`${what} has ${names.length} members, only ${wanted} wanted`];
  return names[0] === wanted ? [] : [`${what} holds ${shown(names[0])}, ${wanted} wanted`];
}

/** Where the request carried it inside the parameters; it is no part of the intent. */
const NOT_INTENT = ["generateAppProofs"];

function intentFaults(intent: JsonValue | undefined, parameters: JsonObject, filledIn: readonly string[]): string[] {
  const stated = isJsonObject(intent) ? intent : {};
  const names = [...new Set([...Object.keys(parameters), ...Object.keys(stated)])].filter(
    (name) => !NOT_INTENT.includes(name),
  );
  return names
    .filter((name) => !asSent(parameters[name], stated[name], name, filledIn))
    .map((name) => `the intent's ${shown(name)} is not what was submitted`);
}

/** Whether the answer says what was sent: nothing else, and nothing more but for what the service may fill in. */
function asSent(
  sent: JsonValue | undefined,
  answered: JsonValue | undefined,
  place: string,
  filledIn: readonly string[],
): boolean {
  if (isEmpty(sent)) return isEmpty(answered) || filledIn.includes(place);
  if (Array.isArray(sent)) {
    return (
      Array.isArray(answered) &&
      sent.length === answered.length &&
      sent.every((item, index) => asSent(item, answered[index], `${place}[]`, filledIn))
    );
  }
  if (!isJsonObject(sent)) return sent === answered;
  if (!isJsonObject(answered)) return false;
  const names = [...new Set([...Object.keys(sent), ...Object.keys(answered)])];
  return names.every((name) => asSent(sent[name], answered[name], `${place}.${name}`, filledIn));
}

/** Absent, null, "", false and [] are the same: services leave out what is empty, or fill it in. */
export function isEmpty(value: JsonValue | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

function resultFaults(activity: ReadActivity, expectation: Expectation, rule: ActivityRule): string[] {
  const [result, intent] = [objectOf(soleMember(activity.result)), objectOf(soleMember(activity.intent))];
  const stated = expectation.parameters === null ? [intent] : [intent, expectation.parameters];
  const wanted = ({ of }: Repetition): (JsonValue | undefined)[] => {
    if (of === "organizationId") return [expectation.organizationId];
    // What was not sent may have been filled in.
    return stated
      .map((holder) => holder[of.intent])
      .filter((value) => !isEmpty(value) || !rule.filledIn.includes(of.intent));
  };
  const differing = rule.repeats.filter((repetition) =>
    wanted(repetition).some((value) => !sameInAnyOrder(value, result[repetition.result])),
  );
  return [
    ...differing.map((repetition) => `the result's ${repetition.result} is not what was submitted`),
    ...listFaults(result, intent, expectation, rule),
  ];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function sameInAnyOrder(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  const sorted = (value: JsonValue | undefined): JsonValue | undefined =>
    Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value;
  return isSame(sorted(a), sorted(b));
}

/** With nothing filled in. */
function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return asSent(a, b, "", []);
}

function listFaults(
  result: JsonObject,
  intent: JsonObject,
  expectation: Expectation,
  { lists }: ActivityRule,
): string[] {
  if (lists === undefined) return [];
  const entries = [result[lists.result]].flat().filter(isJsonObject);
  const holds = (said: JsonObject): boolean => {
    const [key, ...rest] = lists.members;
    const named = entries.filter((entry) => isSame(said[key!], entry[key!]));
    return named.length === 1 && rest.every((name) => isSame(said[name], named[0]![name]));
  };
  const good = [intent, ...(expectation.parameters === null ? [] : [expectation.parameters])].every(holds);
  return good ? [] : [`the result's ${lists.result} do not hold what was submitted`];
}

/** What an app proof says of itself, as far as the question is about it. */
interface Claim {
  readonly organizationId: string;
  /** Undefined: it derives no address. */
  readonly address?: string | undefined;
}

/** How a proof that came without an activity is not about what was asked. */
export function proofContradictions(expectation: Expectation, { organizationId, address }: Claim): string[] {
  const asked = expectation.addresses;
  return [
    ...(organizationId === expectation.organizationId
      ? []
      : [
          `the proof speaks of organization ${shown(organizationId)}, ` +
            `${shown(expectation.organizationId)} was asked for`,
        ]),
    ...(address === undefined || asked === null || isAmong(address, asked)
      ? []
      : [`the proof speaks of address ${shown(address)}, which was not asked for`]),
  ];
}

/** The asked addresses that none of the others is. */
export function unansweredAddresses(expectation: Expectation | null, addresses: readonly string[]): readonly string[] {
  return (expectation?.addresses ?? []).filter((asked) => !isAmong(asked, addresses));
}

function isAmong(address: string, addresses: readonly string[]): boolean {
  return addresses.some((other) => sameAddress(other, address));
}

/** The case of hex digits carries a checksum (EIP-55), not another address: it does not tell two apart. */
export function sameAddress(a: string, b: string): boolean {
  return comparableAddress(a) === comparableAddress(b);
}

export function comparableAddress(text: string): string {
  return /^0x[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : text;
}
