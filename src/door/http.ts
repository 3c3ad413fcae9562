/** The rules of the proxy and of a wrapped fetch for requests and answers over HTTP, without sockets. */
import { fromBase64, fromUtf8 } from "../bytes.js";
import { JsonNumber, type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { attempt, faultText } from "../errors.js";
import { type ReadAnswer, answerOfBytes, holdsResult } from "./answer.js";
import type { Entrance } from "./entrance.js";
import type { AccountReport, Handed } from "./handed.js";
import type { Exchange } from "./exchange.js";
import { operationOf } from "./question.js";
import { turn } from "../verify/in-turns.js";

/** Most bytes of a request's body. The service's own limit is not documented; its client sends less. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** A request that must not be sent, or an answer that breaks the interface (`invalid-answer`). */
export class HttpFault extends Error {
  readonly kind: "not-found" | "too-large" | "invalid-request" | "invalid-answer";

  constructor(kind: HttpFault["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

interface ReceivedRequest {
  readonly method: string;
  /** The path after `/public/v1`, exactly as received, with query string and fragment. */
  readonly path: string;
  readonly body: Uint8Array;
  /** The value of the request's only stamp header. */
  readonly stamp: string;
}

/** Header names in any letter case, each with its value. */
export type Headers = readonly (readonly [name: string, value: string])[];

const STAMP_NAMES = ["X-Stamp", "X-Stamp-WebAuthn", "X-Stamp-Attested"];
const MAX_SHOWN = 100;

/** Returns the only stamp of a request, under one of the known names, or the fault of the request. */
export function stampIn(headers: Headers): { readonly stamp: string } | { readonly fault: string } {
  // Unknown stamp headers are counted, too: a header that one party ignores may be valid for another.
  const stamps = headers.filter(([name]) => /^x-stamp(?:-|$)/i.test(name));
  const [first] = stamps;
  const isKnown = STAMP_NAMES.some((known) => known.toLowerCase() === first?.[0].toLowerCase());
  if (stamps.length === 1 && isKnown && first![1] !== "") return { stamp: first![1] };
  const found = stamps.map(([name, value]) => (value === "" ? `an empty ${name}` : name)).join(", ");
  const got = found.slice(0, MAX_SHOWN) || "none";
  const advice = "Stamp the request once, with one key";
  return { fault: `expected exactly one stamp, in ${STAMP_NAMES.join(", ")}; got ${got}. ${advice}` };
}

/** Returns the exchange for a request. Throws {@link HttpFault}. */
export function exchangeOf(entrance: Entrance, { method, path, body, stamp }: ReceivedRequest): Exchange {
  const operation = method === "POST" ? operationOf(path) : null;
  if (operation === null)
    throw new HttpFault("not-found", "only POST /public/v1/query/NAME and /public/v1/submit/NAME are passed on");
  requireSize(body);
  const json = attempt(() => parseJson(body, { numbers: "literal" }));
  const exchange = entrance.ask(operation, json, submitterOf(stamp));
  if (typeof exchange === "string") throw new HttpFault("invalid-request", `not sent: ${operation.name}: ${exchange}`);
  return exchange;
}

/** Throws {@link HttpFault} for a body that is too large. */
export function requireSize(body: Uint8Array): void {
  if (body.length > MAX_REQUEST_BYTES)
    throw new HttpFault("too-large", `the body is larger than ${MAX_REQUEST_BYTES} bytes`);
}

const MAX_SUBMITTER = 300;

/** Returns the public key or credential id that a stamp names. It only names an account, and nothing verifies it. */
function submitterOf(stamp: string): string {
  const read = (text: string): JsonValue => attempt(() => parseJson(text)).value ?? null;
  const json = read(stamp.startsWith("{") ? stamp : textOf(stamp));
  const { publicKey, credentialId } = isJsonObject(json) ? json : ({} as JsonObject);
  const name = publicKey ?? credentialId;
  return typeof name === "string" ? name.slice(0, MAX_SUBMITTER) : "";
}

/** Decodes base64url; empty for anything else. */
function textOf(base64url: string): string {
  const base64 = base64url.replaceAll("-", "+").replaceAll("_", "/");
  return fromUtf8(fromBase64(base64.padEnd(Math.ceil(base64.length / 4) * 4, "=")) ?? new Uint8Array()) ?? "";
}

/** An answer as received. Its body is not parsed yet. */
interface ReceivedAnswer {
  readonly status: number;
  /** Returns the values of a header by its name in lower case. */
  readonly header: (name: string) => readonly string[];
  /** The body; null if it exceeds {@link MAX_ANSWER_BYTES}. */
  readonly body: Uint8Array | null;
}

/** The reply that is handed on. */
interface HttpReply extends Handed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes the reply: what `settle` resolves to for status 200, else the service's error. Rejects with {@link HttpFault}
 * (`invalid-answer`), and with the errors of `settle`.
 */
export async function replyTo(
  answer: ReceivedAnswer,
  settle: (read: ReadAnswer) => Promise<Handed>,
): Promise<HttpReply> {
  const { status, body } = answer;
  if (status !== 200 && (status < 400 || status > 599)) throw invalidAnswer(statusFault(status));
  if (body === null) throw invalidAnswer(`it is longer than ${MAX_ANSWER_BYTES} bytes`);
  const { value: read, faults } = attempt(() => answerOfBytes(body));
  await turn();
  const shown = status === 200 ? "" : `HTTP ${status}, and `;
  if (read === undefined) throw invalidAnswer(`${shown}it is not strict JSON: ${faultText(faults)}`);
  const handed: Handed =
    status === 200 ? await settle(read) : { value: errorOf(read.value), proven: "none", report: null };
  return { ...handed, status, headers: { ...passedBack(answer), ...marksOf(handed) } };
}

function invalidAnswer(fault: string): HttpFault {
  return new HttpFault("invalid-answer", fault);
}

function statusFault(status: number): string {
  return status >= 300 && status < 400
    ? `HTTP ${status}: redirects are not followed`
    : `HTTP ${status}, and 200 is expected`;
}

const VERIFIED = "X-Bootproof-Verified";

/** Returns headers that say what was verified: for accounts the number of addresses of each class. */
function marksOf({ proven, report }: Handed): Record<string, string> {
  if (proven === "unproven" || proven === "unfinished") return { "X-Bootproof": proven, [VERIFIED]: "none" };
  if (report !== null && "rows" in report) return { [VERIFIED]: proven, ...classesOf(report) };
  const question = proven === "activity" ? report?.claims?.activity?.question : null;
  return { [VERIFIED]: proven, ...(question && { "X-Bootproof-Question": question }) };
}

function classesOf({ rows }: AccountReport): Record<string, string> {
  const counts = new Map<string, number>();
  for (const { class: name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1);
  const summary = [...counts].map(([name, count]) => `${name}=${count}`).join(", ");
  return summary === "" ? {} : { "X-Bootproof-Accounts": summary };
}

const PASSED_BACK = /^[\x20-\x7e]{1,200}$/;

function passedBack({ header }: ReceivedAnswer): Record<string, string> {
  const passed = ["Retry-After", "X-Request-Id"].flatMap((name) => {
    const [value, ...others] = header(name.toLowerCase());
    return value !== undefined && others.length === 0 && PASSED_BACK.test(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(passed);
}

const MAX_MESSAGE = 4096;

/** Returns code, message and details of the service's error, and drops all other members. */
function errorOf(value: JsonValue): JsonObject {
  const { code, message, details } = isJsonObject(value) ? value : ({} as JsonObject);
  return {
    code: code instanceof JsonNumber && /^[0-9]{1,3}$/.test(code.text) ? code : new JsonNumber("2"),
    message: typeof message === "string" ? message.slice(0, MAX_MESSAGE) : "the service gave no message",
    details: Array.isArray(details) && !holdsResult(details) ? details : [],
  };
}
