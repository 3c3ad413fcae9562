/** Comparison of activities and app proofs with the expectation (verify/README.md, "The question"). */
import type { Cause, CheckId } from "../checks.js";
import { type Activity, COMPLETED, isVote, presentMembers, soleMember } from "../decode/activity.js";
import { type ActivityRule, ruleOf } from "../decode/activity-rules.js";
import { type JsonObject, type JsonValue, folded, isJsonObject } from "../decode/json.js";
import { decimalKey, equalJson } from "../decode/json-numbers.js";
import { type Reading, cut, listed, shownName } from "../errors.js";
import type { Expectation, Expected } from "./expectation.js";
import type { ExpectedValue, PayloadExpectation } from "./expected-payload.js";

/**
 * Returns the members of the expectation that were compared with the activity. `payload` is compared with app proofs
 * instead. For a vote that returned the activity voted on, only the unsigned fingerprint is compared, instead of type,
 * parameters and time.
 */
export function comparedMembers(expectation: Expectation | null, activity: ReadActivity): readonly (keyof Expected)[] {
  if (expectation === null) return [];
  const open: readonly (keyof Expected)[] = isVotedOn(expectation, activity)
    ? ["payload", "publicKey", "type", "parameters", "requestedAt"]
    : ["payload", "publicKey"];
  return (Object.keys(expectation) as (keyof Expected)[]).filter(
    (name) => expectation[name] !== null && !open.includes(name),
  );
}

/** The part of the caller's request that an activity was compared with, the strongest first. */
export type ActivityQuestion = "request" | "id" | "fingerprint";

/** Returns the strongest comparison, or null if no parameters, id or fingerprint of the activity were expected. */
export function activityQuestion(expectation: Expectation | null, activity: ReadActivity): ActivityQuestion | null {
  if (isVotedOn(expectation, activity)) return "fingerprint";
  const compared = comparedMembers(expectation, activity);
  if (compared.includes("parameters")) return "request";
  return compared.includes("id") ? "id" : null;
}

type ReadActivity = Reading<Activity>["value"];

/** Whether this is the response to a vote, and the activity is the one voted on. */
export function isVotedOn(expectation: Expectation | null, activity: ReadActivity): boolean {
  return isVote(expectation?.type) && activity.type !== expectation?.type;
}

/**
 * Returns the earliest time that app proofs may have, in milliseconds since the epoch, or null if unknown. It is the
 * time of the request or, for a vote, of the request voted on.
 */
export function requestTime(expectation: Expectation | null, activity?: ReadActivity): number | null {
  if (expectation === null || expectation.requestedAt === null) return null;
  if (activity === undefined || !isVotedOn(expectation, activity)) return expectation.requestedAt;
  // The activity's time is unsigned, so it may only make the limit earlier.
  return Math.min(expectation.requestedAt, activity.requestedAt ?? expectation.requestedAt);
}

/** Identity of the activity that the caller requested. Null members are not compared. */
interface ActivityIdentity {
  readonly organizationId: string | null;
  readonly id: string | null;
  readonly type: string | null;
}

export function identityContradictions(
  wanted: ActivityIdentity,
  activity: Pick<ReadActivity, keyof ActivityIdentity>,
): string[] {
  return (["organizationId", "id", "type"] as const).flatMap((name) => differs(name, activity[name], wanted[name]));
}

/**
 * Returns every contradiction. Values of parameters are not quoted, because they may be confidential. The result of an
 * unfinished activity is not compared.
 */
export function activityContradictions(expectation: Expectation, activity: ReadActivity): string[] {
  const votedOn = isVotedOn(expectation, activity);
  const isOpen = activity.status !== undefined && activity.status !== COMPLETED;
  const rule = ruleOf(activity.type);
  const { organizationId, id, type } = expectation;
  // No activity is compared without an expected organization. If one were, null would match any organization, but an
  // empty text matches none.
  const wanted = { organizationId: organizationId ?? "", id, type: votedOn ? null : type };
  return [
    ...identityContradictions(wanted, activity),
    ...(isOpen ? [] : differs("status", activity.status, COMPLETED)),
    ...(votedOn ? fingerprintContradictions(expectation, activity) : []),
    ...memberFaults("intent", activity.intent, rule.intentMember),
    ...(isOpen ? [] : memberFaults("result", activity.result, rule.resultMember)),
    ...(votedOn || expectation.parameters === null
      ? []
      : intentFaults(soleMember(activity.intent), expectation.parameters, rule.filledIn)),
    ...(isOpen ? [] : resultFaults(activity, votedOn ? { ...expectation, parameters: null } : expectation, rule)),
  ];
}

function differs(name: string, answered: string | undefined, wanted: string | null): string[] {
  return wanted === null || answered === wanted ? [] : [`${name} is ${shown(answered)}, expected ${shown(wanted)}`];
}

function shown(value: string | undefined): string {
  return value === undefined ? "missing" : value.slice(0, 100);
}

/** Compares the fingerprint of an activity that was voted on. Votes contain it with or without `sha256:`. */
export function fingerprintContradictions(
  { parameters }: Pick<Expectation, "parameters">,
  activity: Pick<ReadActivity, "fingerprint">,
): string[] {
  const submitted = parameters?.["fingerprint"];
  const bare = (text: string): string => text.replace(/^sha256:/, "");
  const same =
    typeof submitted === "string" &&
    submitted !== "" &&
    typeof activity.fingerprint === "string" &&
    bare(submitted) === bare(activity.fingerprint);
  return same ? [] : ["the activity's fingerprint is not the one that was voted on"];
}

function memberFaults(what: "intent" | "result", object: JsonObject | undefined, wanted: string | null): string[] {
  const names = presentMembers(object).map(([name]) => name);
  if (wanted === null) return names.length <= 1 ? [] : [`${what} has ${names.length} members, expected one`];
  if (names.length !== 1) return [`${what} has ${names.length} members, expected only ${wanted}`];
  return names[0] === wanted ? [] : [`${what} holds ${shown(names[0])}, expected ${wanted}`];
}

/** Parameters that are not part of the intent. */
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

/** Whether a value is as submitted, except for parts that the service may fill in. */
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
  if (!isJsonObject(sent)) return equalJson(sent, answered);
  if (!isJsonObject(answered)) return false;
  const names = [...new Set([...Object.keys(sent), ...Object.keys(answered)])];
  return names.every((name) => asSent(sent[name], answered[name], `${place}.${name}`, filledIn));
}

const EMPTY: readonly unknown[] = [undefined, null, "", false];

/** Whether a value is empty. Services omit empty values or fill them in. */
export function isEmpty(value: JsonValue | undefined): boolean {
  return EMPTY.includes(value) || (Array.isArray(value) && value.length === 0);
}

/** Compares members that the result and the request share. */
function resultFaults(activity: ReadActivity, expectation: Expectation, rule: ActivityRule): string[] {
  const [result, intent] = [objectOf(soleMember(activity.result)), objectOf(soleMember(activity.intent))];
  const { organizationId, parameters } = expectation;
  const stated = parameters === null ? [intent] : [intent, parameters];
  const own = rule.repeats.includes("organizationId") ? { organizationId } : {};
  const asked = stated.map((holder) => comparableMembers({ ...holder, ...own }, rule.repeats));
  const differing = [...comparableMembers(result, rule.repeats)].filter(([place, { name, text }]) =>
    asked.some((members) => {
      const wanted = members.get(place)?.text;
      const isFree = wanted === undefined || (wanted === "" && rule.chosen.includes(name));
      return !isFree && text !== wanted;
    }),
  );
  return [
    ...differing.map(([, { name }]) => `the result's ${shown(name)} is not what was submitted`),
    ...listFaults(result, intent, expectation, rule),
  ];
}

interface ComparableMember {
  readonly name: string;
  /** Equal for equal values. Other spellings of the name add theirs, because a decoder may take any of them. */
  readonly text: string;
}

/** Returns members by folded name. Objects are left out, because a result describes them by members of its own. */
function comparableMembers(object: JsonObject, required: readonly string[]): ReadonlyMap<string, ComparableMember> {
  const members = new Map<string, ComparableMember>();
  for (const [name, value] of presentMembers(object)) {
    if (!isEmpty(value) && [value].flat().every(isJsonObject)) continue;
    const [text, known] = [comparableText(value), members.get(folded(name))?.text];
    members.set(folded(name), { name, text: (known ?? text) === text ? text : `${known} ${text}` });
  }
  for (const name of required) if (!members.has(folded(name))) members.set(folded(name), { name, text: "" });
  return members;
}

/** Returns equal texts for equal values. The order of a list is ignored, and how often it has an item. */
function comparableText(value: JsonValue): string {
  if (isEmpty(value)) return "";
  if (Array.isArray(value)) return `[${[...new Set(value.map(comparableText))].sort().join()}]`;
  return decimalKey(typeof value === "string" ? comparableAddress(value) : value);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

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

interface Claim {
  readonly organizationId: string;
  readonly address?: string | undefined;
}

/** Returns what an app proof says of an organization, if its payload is of a type that names one. */
export function claimOf(payload: {
  readonly addressDerivationProof?: Claim | undefined;
  readonly policyOutcomeProof?: Claim | undefined;
}): Claim | undefined {
  return payload.addressDerivationProof ?? payload.policyOutcomeProof;
}

/** Returns the contradictions of a proof that came without an activity. */
export function proofContradictions(expectation: Expectation, claim: Claim | undefined): string[] {
  if (claim === undefined) return [];
  const { organizationId, address } = claim;
  const asked = expectation.addresses;
  return [
    ...(expectation.organizationId === null || organizationId === expectation.organizationId
      ? []
      : [
          `the proof names organization ${shown(organizationId)}, ` +
            `${shown(expectation.organizationId)} is expected`,
        ]),
    ...(address === undefined || asked === null || isAmong(address, asked)
      ? []
      : [`the proof names address ${shown(address)}, which is not expected`]),
  ];
}

/** Returns why a check failed if the organization differs. With other contradictions, its usual advice applies, too. */
export function organizationCauses(
  id: keyof typeof PIECES,
  [expected, found]: readonly [expected: string | null | undefined, found: string | null | undefined],
  contradictions: readonly string[],
): Cause[] {
  if (!expected || !found || found === expected) return [];
  const other = { code: "organization", what: PIECES[id], expected, found } as const;
  return contradictions.length === 1 ? [other] : [other, id];
}

const PIECES = {
  "app.request": "The app proof",
  "activity.request": "The activity",
  "token.expected": "The token",
} as const satisfies Partial<Record<CheckId, string>>;

export function unansweredAddresses(expectation: Expectation | null, addresses: readonly string[]): readonly string[] {
  const answered = new Set(addresses.map(comparableAddress));
  return (expectation?.addresses ?? []).filter((asked) => !answered.has(comparableAddress(asked)));
}

function isAmong(address: string, addresses: readonly string[]): boolean {
  return addresses.some((other) => sameAddress(other, address));
}

/** Whether addresses are the same. The case of hex digits is a checksum (EIP-55), not part of the address. */
export function sameAddress(a: string, b: string): boolean {
  return comparableAddress(a) === comparableAddress(b);
}

export function comparableAddress(text: string): string {
  return /^0x[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : text;
}

/** Comparison of a payload with the expectations of its type. */
export interface PayloadComparison {
  /** Whether an expectation names the payload's type. If none does, nothing was compared. */
  readonly isNamed: boolean;
  /** Indices of the expectations that the payload meets. */
  readonly met: readonly number[];
  /** Empty if the payload meets at least one expectation. */
  readonly contradictions: readonly string[];
}

export function comparePayload(
  expectations: readonly PayloadExpectation[] | null,
  type: string | undefined,
  json: JsonObject | undefined,
): PayloadComparison {
  const compared = [...(expectations ?? []).entries()]
    .filter(([, expectation]) => expectation.type === type)
    .map(([index, { values }]) => ({ index, faults: valueFaults(values, json) }));
  const met = compared.filter(({ faults }) => faults.length === 0).map(({ index }) => index);
  const isNamed = compared.length > 0;
  return { isNamed, met, contradictions: isNamed && met.length === 0 ? [nearestFaults(type!, compared)] : [] };
}

interface Compared {
  readonly index: number;
  readonly faults: readonly string[];
}

function nearestFaults(type: string, compared: readonly Compared[]): string {
  const least = Math.min(...compared.map(({ faults }) => faults.length));
  const { index, faults } = compared.find((each) => each.faults.length === least)!;
  const nearest = compared.length === 1 ? "" : `, the nearest of the ${compared.length}`;
  const which = `expected.payload[${index}], of type ${shownName(type)}${nearest}`;
  return `the payload differs from ${which}: ${listed(faults, ", ")}`;
}

function valueFaults(values: readonly ExpectedValue[], json: JsonObject | undefined): string[] {
  return values.flatMap(({ pointer, tokens, value }) => {
    const found = valueAt(json, tokens);
    const place = cut(pointer, MAX_SHOWN);
    if (found === undefined) return [`${place} is missing, expected ${shownValue(value)}`];
    // Payloads have only numbers that a double holds exactly, so equal doubles are equal decimals.
    return found === value ? [] : [`${place} is ${shownValue(found)}, expected ${shownValue(value)}`];
  });
}

function valueAt(json: JsonValue | undefined, tokens: readonly string[]): JsonValue | undefined {
  let value = json;
  for (const token of tokens) {
    if (Array.isArray(value)) value = /^(?:0|[1-9][0-9]*)$/.test(token) ? value[Number(token)] : undefined;
    else if (isJsonObject(value) && Object.hasOwn(value, token)) value = value[token];
    else return undefined;
  }
  return value;
}

const MAX_SHOWN = 100;

function shownValue(value: JsonValue): string {
  return cut(JSON.stringify(value), MAX_SHOWN);
}
