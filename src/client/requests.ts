/** Checks requests and responses. */
import { outcomeOf } from "../decode/activity.js";
import { type JsonObject, type JsonValue, copyJson, isJsonObject } from "../decode/json.js";
import { unwrap } from "../decode/input.js";
import { having, typedOptions } from "../decode/options.js";
import { type MembersOf, type Shape, demand, flag, nonEmptyText, optional, readShape, text } from "../decode/shapes.js";
import { type Fault, attempt } from "../errors.js";
import { type ActivityJson, activitySchema } from "./activity-shapes.js";
import { answerError, requestError } from "../door/errors.js";
import { type QueryOperation, type SubmitOperation } from "./operations.js";
import type { CallOptions } from "../door/evidence-source.js";
import { type Transport, send } from "./transport.js";

export interface SubmitOptions extends CallOptions {
  /** Whether app proofs of the activity are requested. Verified calls always request them. */
  readonly generateAppProofs?: boolean;
}

/** A submit, named by the last segment of its path, and its activity type. */
export interface UndocumentedSubmit {
  readonly name: string;
  readonly type: string;
}

const OPERATION: MembersOf<UndocumentedSubmit> = { name: text, type: text };

export function ownOperation(operation: UndocumentedSubmit): UndocumentedSubmit {
  return typedOptions("operation", operation, OPERATION);
}

/** A type alias and not an interface, because the compiler accepts only an alias as a JSON object. */
type ActivityRequest = {
  readonly type: string;
  readonly timestampMs: string;
  readonly organizationId: string;
  readonly parameters: JsonObject;
  readonly generateAppProofs?: boolean;
};

export const CALL_OPTIONS: MembersOf<CallOptions> = {
  organizationId: demand(nonEmptyText),
  signal: optional(having()),
};
const SUBMIT_OPTIONS: MembersOf<SubmitOptions> = { ...CALL_OPTIONS, generateAppProofs: optional(flag) };

export async function submit(
  transport: Transport,
  operation: UndocumentedSubmit | SubmitOperation,
  parameters: unknown,
  given: SubmitOptions = {},
): Promise<JsonValue> {
  const options = typedOptions("options", given, SUBMIT_OPTIONS);
  const request = activityRequest(transport, operation, parameters, options);
  return send(transport, { group: "submit", name: operation.name }, request, options.signal);
}

/** Makes a function of each operation of a table, by the operation's name in the table. */
export function functionsOf<Functions, Options, Operation = SubmitOperation>(
  operations: Readonly<Record<string, Operation>>,
  call: (operation: Operation, parameters: unknown, options?: Options) => Promise<unknown>,
): Functions {
  const functions = Object.entries(operations).map(([name, operation]) => [
    name,
    (parameters: unknown, options?: Options) => call(operation, parameters, options),
  ]);
  return Object.fromEntries(functions) as Functions;
}

/** Makes the body of a submit. Throws {@link ClientError} (`request`). */
export function activityRequest(
  transport: Transport,
  operation: UndocumentedSubmit | SubmitOperation,
  parameters: unknown,
  { organizationId, generateAppProofs }: SubmitOptions,
): ActivityRequest {
  return {
    type: operation.type,
    timestampMs: millisecondsOf(transport.now()),
    organizationId: organizationId ?? transport.organizationId,
    parameters: checkedParameters(operation, parameters),
    ...(generateAppProofs !== undefined && { generateAppProofs }),
  };
}

function millisecondsOf(now: Date): string {
  if (Number.isNaN(now.getTime())) throw new TypeError("now: expected a valid Date");
  return String(now.getTime());
}

export async function query(
  transport: Transport,
  operation: { readonly name: string; readonly numbers?: "literal" } | QueryOperation,
  parameters: unknown,
  given: CallOptions = {},
): Promise<JsonValue> {
  const options = typedOptions("options", given, CALL_OPTIONS);
  const organizationId = options.organizationId ?? transport.organizationId;
  const body = { organizationId, ...checkedParameters(operation, parameters) };
  const numbers = "numbers" in operation ? operation.numbers : "value";
  return send(transport, { group: "query", name: operation.name, numbers }, body, options.signal);
}

function checkedParameters(
  operation: { readonly name: string; readonly parameters?: Shape<unknown> },
  given: unknown,
): JsonObject {
  const { name } = operation;
  // The copy is checked and sent, so later changes by the caller have no effect.
  const { value: parameters, faults: foreign } = attempt(() => copyJson(given));
  if (!/^[a-z0-9_]+$/.test(name))
    throw requestError("request", [{ path: "name", message: "expected lower-case letters, digits and _" }]);
  if (foreign.length > 0) throw requestError(name, foreign.map(amongParameters));
  if (!isJsonObject(parameters)) throw requestError(name, [{ path: "parameters", message: "expected an object" }]);
  const shape = Object.hasOwn(operation, "parameters") ? operation.parameters : undefined;
  const faults = shape ? readShape(shape, parameters, "parameters").faults : [];
  if (faults.length > 0) throw requestError(name, faults);
  return parameters;
}

function amongParameters({ path, message }: Fault): Fault {
  return { path: path === "" ? "parameters" : `parameters.${path}`, message };
}

export interface Submitted<Result> {
  /** The service's unverified activity. Unknown members are kept. */
  readonly activity: ActivityJson;
  /** The member of the activity's result that belongs to its type, or null. */
  readonly result: Result | null;
}

/** Reads the response to a submit. Throws {@link ClientError} (`answer`) if it does not match the interface. */
export function readSubmitted<Result>(operation: SubmitOperation, answer: JsonValue): Submitted<Result> {
  const activity = readShape(activitySchema, unwrap(answer, "activity"), "activity");
  if (activity.value === undefined) throw answerError(operation.name, activity.faults, "unknown");
  const member = outcomeOf(unwrap(answer, "activity") as JsonObject).result?.[operation.resultMember] ?? null;
  if (member === null) return { activity: activity.value, result: null };
  const result = readShape(operation.result, member, `activity.result.${operation.resultMember}`);
  if (result.value === undefined) throw answerError(operation.name, result.faults, "unknown");
  return { activity: activity.value, result: result.value as Result };
}

/** Reads the response to a query. Throws {@link ClientError} (`answer`) if it does not match the interface. */
export function readQueried<Result>(operation: QueryOperation, answer: JsonValue): Result {
  const result = readShape(operation.result, answer, "");
  if (result.faults.length > 0) throw answerError(operation.name, result.faults, "none");
  return result.value as Result;
}

/** Reads the response to an undocumented operation. Throws {@link ClientError} (`answer`) unless it is an object. */
export function readObject(name: string, answer: JsonValue, effect: "none" | "unknown"): JsonObject {
  if (isJsonObject(answer)) return answer;
  throw answerError(name, [{ path: "", message: "expected an object" }], effect);
}
