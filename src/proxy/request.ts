/** What happens to a request: it is refused, or passed on byte for byte with the question that its answer must meet. */
import { decimalMilliseconds } from "../decode/decimal-time.js";
import { type JsonObject, isJsonObject, parseJson } from "../decode/json.js";
import { attempt, faultText } from "../errors.js";
import { type Reply, refusal } from "./reply.js";

/** As received. `rawHeaders`: names and values in turn, as Node has them. */
export interface ReceivedRequest {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
}

export interface ForwardedRequest {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly question: AnswerQuestion;
}

/** What the answer is compared with. Nothing in it comes from the upstream. */
export type AnswerQuestion =
  | { readonly kind: "submit"; readonly name: string; readonly sent: SentRequest; readonly isProven: boolean }
  | {
      readonly kind: "query";
      readonly name: string;
      readonly organizationId: string | null;
      readonly activityId: string | null;
    };

/** A submitted request. */
export interface SentRequest {
  readonly organizationId: string;
  readonly type: string;
  readonly parameters: JsonObject;
  readonly requestedAt: string;
}

export type Decision = { readonly refused: Reply } | { readonly forwarded: ForwardedRequest };

/** Bytes of a request's body. The service's own limit is not documented; its client sends less. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

const TARGET = /^\/public\/v1\/(query|submit)\/([a-z0-9_]+)$/;
/** Stamps, and what clients of the service send beside them. The names are in lower case. */
const STAMP = /^x-stamp(?:-[a-z0-9]+)*$/;
const PASSED_ON: readonly string[] = ["content-type", "user-agent", "x-client-version"];
const QUESTION_OF_ACTIVITY = "get_activity";

/** Null for a request that no operation of the service has. */
function operationOf(
  method: string,
  target: string,
): { readonly group: "query" | "submit"; readonly name: string } | null {
  const parts = method === "POST" ? TARGET.exec(target) : null;
  return parts && { group: parts[1] as "query" | "submit", name: parts[2]! };
}

function notFound(): Reply {
  return refusal("not-found", "only POST /public/v1/query/NAME and /public/v1/submit/NAME are passed on");
}

export function decideRequest(
  request: ReceivedRequest,
  { allowUnproven }: { readonly allowUnproven: boolean },
): Decision {
  const operation = operationOf(request.method, request.target);
  if (operation === null) return { refused: notFound() };
  if (request.body.length > MAX_REQUEST_BYTES)
    return { refused: refusal("too-large", `the body is larger than ${MAX_REQUEST_BYTES} bytes`) };
  const { headers, fault } = forwardedHeaders(request.rawHeaders);
  const read = operation.group === "submit" ? submitOf : queryOf;
  const question = fault ?? read(operation.name, request.body, allowUnproven);
  if (typeof question === "string")
    return { refused: refusal("invalid-request", `not sent: ${operation.name}: ${question}`) };
  return { forwarded: { target: request.target, headers, body: request.body, question } };
}

/** A repeated header could be read in two ways, and a coded body is not the one that was stamped. */
function forwardedHeaders(raw: readonly string[]): {
  readonly headers: Readonly<Record<string, string>>;
  readonly fault: string | null;
} {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase();
    if (name === "content-encoding" && raw[at + 1]!.toLowerCase() !== "identity")
      return { headers, fault: "the body has a Content-Encoding: send it as it was stamped" };
    if (!STAMP.test(name) && !PASSED_ON.includes(name)) continue;
    if (Object.hasOwn(headers, name)) return { headers, fault: `the header ${name} is repeated` };
    headers[name] = raw[at + 1]!;
  }
  return { headers: { "content-type": "application/json", ...headers }, fault: null };
}

/** A fault, as a sentence, or the question. */
function submitOf(name: string, body: Uint8Array, allowUnproven: boolean): AnswerQuestion | string {
  const { value: json, faults } = attempt(() => parseJson(body));
  if (json === undefined) return `the body is not strict JSON: ${faultText(faults)}`;
  const sent = sentRequest(json);
  if (typeof sent === "string") return sent;
  const { generateAppProofs } = json as JsonObject;
  const isProven = generateAppProofs === true || sent.parameters["generateAppProofs"] === true;
  if (isProven || allowUnproven) return { kind: "submit", name, sent, isProven };
  return (
    "generateAppProofs is not true: without app proofs its result cannot be verified. Set it beside parameters, or " +
    "let such requests pass with --allow-unproven"
  );
}

function sentRequest(json: unknown): SentRequest | string {
  if (!isJsonObject(json)) return "the body is not an object";
  const { organizationId, type, parameters, timestampMs } = json;
  if (!isText(organizationId)) return "organizationId: a string is missing";
  if (!isText(type)) return "type: a string is missing";
  if (!isJsonObject(parameters)) return "parameters: an object is missing";
  if (decimalMilliseconds(timestampMs) === null) return "timestampMs: milliseconds as a string are missing";
  return { organizationId, type, parameters, requestedAt: String(timestampMs) };
}

/** Only `get_activity` must be readable: it is what its answer is compared with. */
function queryOf(name: string, body: Uint8Array): AnswerQuestion | string {
  const { value: json, faults } = attempt(() => parseJson(body));
  const object = isJsonObject(json) ? json : {};
  const organizationId = textOrNull(object["organizationId"]);
  const activityId = textOrNull(object["activityId"]);
  if (name === QUESTION_OF_ACTIVITY) {
    if (json === undefined) return `the body is not strict JSON: ${faultText(faults)}`;
    if (organizationId === null || activityId === null) return "organizationId and activityId: strings are missing";
  }
  return { kind: "query", name, organizationId, activityId };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function textOrNull(value: unknown): string | null {
  return isText(value) ? value : null;
}
