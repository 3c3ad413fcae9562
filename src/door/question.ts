/** A question is what a request asks of the service. It is made before the request is sent. */
import { decimalMilliseconds } from "../decode/decimal-time.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { nextEvent } from "../verify/app-proof-uses.js";
import { type Attempt, faultText } from "../errors.js";

/** A request that changes something. A vote may be answered with the activity that was voted on. */
export interface SubmitQuestion {
  readonly kind: "submit" | "vote";
  readonly operation: string;
  readonly organizationId: string;
  readonly type: string;
  /** Parameters as submitted. */
  readonly parameters: JsonObject;
  /** Time of the request as submitted, in milliseconds since the epoch. */
  readonly timestampMs: string;
  /** Whether the request asks for app proofs. */
  readonly isProven: boolean;
  /** When its call began ({@link nextEvent}), before it was sent. */
  readonly began?: number;
}

/** A request for one activity by its id. */
export interface QuestionById {
  readonly kind: "activity";
  readonly operation: string;
  readonly organizationId: string;
  readonly activityId: string;
}

/** A request for a list of activities, or a query whose answer is not verified. */
export interface UnverifiedQuestion {
  readonly kind: "list" | "query";
  readonly operation: string;
  /** Organization of the request; null if it names none. */
  readonly organizationId: string | null;
  /** The parameters of a query for accounts of wallets, or for private keys. */
  readonly account?: JsonObject;
}

export type ServiceQuestion = SubmitQuestion | QuestionById | UnverifiedQuestion;

/** Whether the request changes something, so that nobody knows what it did where its answer is lost. */
export function isSubmit(question: ServiceQuestion): question is SubmitQuestion {
  return question.kind === "submit" || question.kind === "vote";
}

const PATH = /^\/public\/v1\/(query|submit)\/([a-z0-9_]+)$/;
const QUERIES: ReadonlyMap<string, "activity" | "list"> = new Map([
  ["get_activity", "activity"],
  ["list_activities", "list"],
]);
/** Kinds whose answers are not compared with the request, but for those about accounts and private keys. */
const UNCOMPARED: readonly string[] = ["list", "query"];
const ACCOUNTS: readonly string[] = [
  "list_wallet_accounts",
  "get_wallet_account",
  "list_private_keys",
  "get_private_key",
];
/** The operations of votes, with their types. */
const VOTES: ReadonlyMap<string, string> = new Map([
  ["approve_activity", "ACTIVITY_TYPE_APPROVE_ACTIVITY"],
  ["reject_activity", "ACTIVITY_TYPE_REJECT_ACTIVITY"],
]);

export interface Operation {
  readonly kind: ServiceQuestion["kind"];
  readonly name: string;
}

/**
 * Returns the operation of a path. Only the operation decides the kind of the question. Null for every other way to
 * write the path, since the service may read it as another operation.
 */
export function operationOf(path: string): Operation | null {
  const [, group, name] = PATH.exec(path) ?? [];
  if (name === undefined) return null;
  if (group === "query") return { kind: QUERIES.get(name) ?? "query", name };
  return { kind: VOTES.has(name) ? "vote" : "submit", name };
}

/** An object without members, not even inherited ones. */
const NO_MEMBERS = Object.create(null) as JsonObject;

/** Returns the question of a request, or its fault. A body that is not JSON is one where an answer is compared. */
export function questionOf(
  { kind, name: operation }: Operation,
  { value: body, faults }: Attempt<JsonValue>,
): ServiceQuestion | string {
  const ofAccounts = ACCOUNTS.includes(operation);
  if (faults.length > 0 && (ofAccounts || !UNCOMPARED.includes(kind)))
    return `the body is not strict JSON: ${faultText(faults)}`;
  if (ofAccounts && !isJsonObject(body)) return "expected a JSON object";
  const members = isJsonObject(body) ? body : NO_MEMBERS;
  if (kind === "submit" || kind === "vote") return submitQuestion({ kind, operation }, members);
  return ownedQuestion({ kind, operation }, members, ofAccounts);
}

function ownedQuestion(
  { kind, operation }: Pick<QuestionById | UnverifiedQuestion, "kind" | "operation">,
  members: JsonObject,
  ofAccounts: boolean,
): ServiceQuestion | string {
  const { organizationId, activityId } = members;
  const owner = isText(organizationId) ? organizationId : null;
  if (kind !== "activity") return { kind, operation, organizationId: owner, ...(ofAccounts && { account: members }) };
  if (owner === null || !isText(activityId)) return "expected both organizationId and activityId";
  return { kind, operation, organizationId: owner, activityId };
}

function submitQuestion(
  { kind, operation }: Pick<SubmitQuestion, "kind" | "operation">,
  { organizationId, type, parameters, timestampMs, generateAppProofs }: JsonObject,
): SubmitQuestion | string {
  const isTime = typeof timestampMs === "string" && decimalMilliseconds(timestampMs) !== null;
  if (!isText(type) || !isText(organizationId) || !isJsonObject(parameters) || !isTime)
    return "expected type, organizationId, parameters and timestampMs (milliseconds as a string)";
  const isVote = [...VOTES.values()].includes(type);
  if (isVote ? VOTES.get(operation) !== type : kind === "vote") return `type: ${operation} has another type`;
  const isProven = generateAppProofs === true || parameters["generateAppProofs"] === true;
  return { kind, operation, organizationId, type, parameters, timestampMs, isProven, began: nextEvent() };
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}

const AUTH_PATH = /^\/v1\/([a-z0-9_]+)$/;

/** Returns the operation of a path below the auth proxy's address, or null for any other way to write it. */
export function authOperationOf(path: string): string | null {
  return AUTH_PATH.exec(path)?.[1] ?? null;
}
