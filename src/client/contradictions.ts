/**
 * Whether an activity is the answer to a question. App proofs say what an enclave did, not for whom an answer is meant: a
 * service could answer one request with another's proven activity. What can be told apart from outside is told here.
 */
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import type { VerifiedAppProof } from "../verify/app-proof.js";
import type { SubmitOperation } from "./operations.js";
import { type ActivityRequest, outcomeOf } from "./requests.js";

/** What an activity has to be. */
export interface Expectation {
  readonly organizationId: string;
  /** Where it answers a submit. */
  readonly request: ActivityRequest | null;
  /** Where it is, or says that it is, of a documented operation. */
  readonly operation: SubmitOperation | null;
}

/** Every way in which the activity is not what it has to be. Values are not quoted: parameters may be confidential. */
export function contradictionsOf(activity: JsonObject, expected: Expectation): string[] {
  const { organizationId, request, operation } = expected;
  const { intent, result } = outcomeOf(activity);
  const differs = (name: string, wanted: string): string[] =>
    activity[name] === wanted ? [] : [`${name} is ${shown(activity[name])}, ${wanted} wanted`];
  return [
    ...differs("organizationId", organizationId),
    ...differs("status", "ACTIVITY_STATUS_COMPLETED"),
    ...(request === null ? [] : differs("type", request.type)),
    ...memberFaults("intent", intent, operation?.intentMember),
    ...memberFaults("result", result, operation?.resultMember),
    ...(request === null ? [] : intentFaults(soleMember(intent), request.parameters, operation?.defaults ?? [])),
    ...(request === null || operation === null ? [] : resultFaults(soleMember(result), request.parameters, operation.repeats)),
  ];
}

/** The value of an object's one member. */
export function soleMember(object: JsonObject | undefined): JsonValue | undefined {
  return object && Object.values(object)[0];
}

function shown(value: JsonValue | undefined): string {
  return typeof value === "string" ? value.slice(0, 100) : "not there";
}

function memberFaults(what: "intent" | "result", object: JsonObject | undefined, wanted: string | undefined): string[] {
  const names = Object.keys(object ?? {});
  if (names.length !== 1) return [`${what} has ${names.length} members, one wanted`];
  return wanted === undefined || names[0] === wanted ? [] : [`${what} holds ${names[0]!.slice(0, 100)}, ${wanted} wanted`];
}

/**
 * The intent says what was submitted: nothing else, and nothing more but for what was left to the service. A member that
 * is empty is as good as none.
 */
function intentFaults(intent: JsonValue | undefined, parameters: JsonObject, defaults: readonly string[]): string[] {
  const stated = isJsonObject(intent) ? intent : {};
  const names = [...new Set([...Object.keys(parameters), ...Object.keys(stated)])];
  const differing = names.filter((name) => {
    const [submitted, answered] = [parameters[name], stated[name]];
    if (submitted === undefined && defaults.includes(name)) return false;
    return !same(submitted, answered) && !(isEmpty(submitted) && isEmpty(answered));
  });
  return differing.map((name) => `the intent's ${name.slice(0, 100)} is not what was submitted`);
}

function resultFaults(result: JsonValue | undefined, parameters: JsonObject, repeats: SubmitOperation["repeats"]): string[] {
  const stated = isJsonObject(result) ? result : {};
  const differing = Object.entries(repeats).filter(([member, parameter]) => {
    const submitted = parameters[parameter];
    return submitted !== undefined && !same(inAnyOrder(submitted), inAnyOrder(stated[member]));
  });
  return differing.map(([member]) => `the result's ${member} is not what was submitted`);
}

function inAnyOrder(value: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value;
}

function isThere(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function isEmpty(value: JsonValue | undefined): boolean {
  return !isThere(value) || value === "" || value === false || (Array.isArray(value) && value.length === 0);
}

function same(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]));
}

/**
 * Proofs for a documented operation speak of its organization. Decoding lets them speak of any that intent or result
 * name, as operations that make organizations need it; here the service could name whose proofs it likes.
 */
export function foreignProofFaults(proofs: readonly (VerifiedAppProof | null)[], { organizationId, operation }: Expectation): string[] {
  if (operation === null) return [];
  const spokenOf = proofs.flatMap((proof) => (proof?.payload.policyOutcomeProof ?? proof?.payload.addressDerivationProof)?.organizationId ?? []);
  const foreign = [...new Set(spokenOf)].filter((other) => other !== organizationId);
  return foreign.map((other) => `an app proof speaks of organization ${other.slice(0, 100)}, ${organizationId} wanted`);
}
