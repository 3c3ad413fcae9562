/**
 * Sends one request, with limits of time and size. The bytes that are stamped are the bytes that are sent. A repetition
 * has the same bytes and the same stamp.
 *
 * Queries are repeated after network errors, timeouts, 429 and 5xx. A submit is sent once: the interface does not
 * promise that repeated bytes make one activity. Deployed services of this family do (docs.turnkey.com, "Activities",
 * Idempotency: "any two requests with the same fingerprint return the same activity"). With `resendSubmits` the same
 * bytes are sent again, never with a new timestamp.
 */
import { fromUtf8, toUtf8 } from "../bytes.js";
import { type JsonValue, parseJson, tooMany } from "../decode/json.js";
import { MalformedError, attempt } from "../errors.js";
import { MAX_ANSWER_VALUES } from "../door/answer.js";
import { ClientError, ServiceError, answerError, serviceFacts } from "../door/errors.js";
import { QUERY_OPERATIONS, type QueryOperation, pathOf } from "./operations.js";
import { readBounded } from "../door/bounded-bytes.js";
import type { Fetch, HttpResponse, Signal } from "../door/platform.js";
import { ABORTED, untilAborted } from "../door/waiting.js";
import { type CheckedStamp, stampBy } from "./stamp-shapes.js";
import type { AnyStamper } from "./stamp.js";

export interface ClientOptions {
  /** The service's address, `https://…`, without `/public/v1`. */
  readonly baseUrl: string;
  /** Default organization of calls. */
  readonly organizationId: string;
  /**
   * The result of `apiKeyStamper(…)` or `webauthnStamper(…)`, a session's stamper, or a published stamper for this
   * family of services.
   */
  readonly stamper: AnyStamper;
  readonly fetch?: Fetch;
  readonly now?: () => Date;
  /** Resolves after this many milliseconds. Resolves or rejects at once when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: Signal) => Promise<void>;
  /** Returns a number in [0, 1) for the jitter between retries. */
  readonly random?: () => number;
  /** Milliseconds until one attempt times out. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Number of times that a failed query is repeated. Default: 3. */
  readonly maxRetries?: number;
  /**
   * Whether submits are repeated, too, with the same bytes and stamp. Set it only for a service that promises to make
   * only one activity if a request is repeated. Default: false.
   */
  readonly resendSubmits?: boolean;
  /** Limit of a decompressed response in bytes. Default: 8 MiB; for a boot proof never more than 1 MiB. */
  readonly maxResponseBytes?: number;
  /** Is called before the wait for the next attempt, so that a person can be told. Default: nothing. */
  readonly onRetry?: (retry: Retry) => void;
}

/** A failed attempt, after which the same bytes are sent again. */
export interface Retry {
  /** Why the attempt failed; the message begins with the operation. */
  readonly error: Error;
  /** Number of the next attempt, of `attempts`. */
  readonly next: number;
  readonly attempts: number;
  /** Milliseconds since the first attempt began. */
  readonly elapsedMs: number;
  /** Milliseconds until the next attempt begins. */
  readonly waitMs: number;
}

/** Options with their defaults. The base URL has no trailing slash. */
export interface Transport extends Required<ClientOptions> {}

interface Target {
  readonly group: "submit" | "query";
  readonly name: string;
  /** `literal` keeps numbers as they are written; `value` converts them. Default: `value`. */
  readonly numbers?: "value" | "literal";
}

const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 10_000;
/**
 * Longest `Retry-After`, in milliseconds, after which a request is repeated. For a longer one, the error has it in
 * `retryAfterMs`.
 */
const MAX_RETRY_AFTER_MS = 30_000;

interface StampedRequest {
  readonly target: Target;
  readonly bytes: Uint8Array;
  readonly stamp: CheckedStamp;
}

function effectOf({ group }: Target): "none" | "unknown" {
  return group === "submit" ? "unknown" : "none";
}

/** Sends a request. Resolves to the JSON of the response. Rejects with {@link ClientError}. */
export async function send(
  transport: Transport,
  target: Target,
  body: object,
  signal: Signal = new AbortController().signal,
): Promise<JsonValue> {
  const bytes = toUtf8(JSON.stringify(body));
  const request = { target, bytes, stamp: await stampOf(transport.stamper, target, bytes, signal) };
  const retries = target.group === "query" || transport.resendSubmits ? transport.maxRetries : 0;
  const begun = transport.now().getTime();
  for (let attempts = 0; ; attempts++) {
    throwIfAborted(signal, target, attempts > 0);
    try {
      return await sendOnce(transport, request, signal);
    } catch (error) {
      const wait = attempts < retries ? waitBeforeRetry(error, attempts, transport.random()) : null;
      if (wait === null) throw error;
      const elapsedMs = transport.now().getTime() - begun;
      const next = attempts + 2;
      transport.onRetry({ error: error as Error, next, attempts: retries + 1, elapsedMs, waitMs: wait });
      await transport.sleep(wait, signal).catch(() => {});
    }
  }
}

async function stampOf(
  stamper: Transport["stamper"],
  { name }: Target,
  bytes: Uint8Array,
  signal: Signal,
): Promise<CheckedStamp> {
  try {
    const facts = { operation: name };
    return await untilAborted(stampBy(stamper, bytes, signal, facts), signal, facts);
  } catch (error) {
    if (error instanceof ClientError) throw error;
    if (signal.aborted) throw new ClientError("aborted", ABORTED, { operation: name });
    // Only the error's name is used: the platform's message may quote the signed bytes or the signer.
    const reason = error instanceof Error ? error.name : "unknown reason";
    throw new ClientError("stamp", `not sent: the request could not be stamped (${reason})`, { operation: name });
  }
}

/**
 * Returns the milliseconds to wait before the next attempt: random, up to a bound that doubles. Null if the request
 * must not be repeated.
 */
function waitBeforeRetry(error: unknown, attempts: number, random: number): number | null {
  const backoff = Math.round(random * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempts));
  if (!(error instanceof ServiceError)) {
    const passing = error instanceof ClientError && (error.code === "unreachable" || error.code === "timeout");
    return passing ? backoff : null;
  }
  if (error.status !== 429 && error.status < 500) return null;
  const wanted = error.retryAfterMs ?? 0;
  return wanted > MAX_RETRY_AFTER_MS ? null : Math.max(wanted, backoff);
}

async function sendOnce(transport: Transport, request: StampedRequest, signal: Signal): Promise<JsonValue> {
  const ended = new AbortController();
  const facts = { operation: request.target.name, effect: effectOf(request.target) };
  const timeUp = transport.sleep(transport.timeoutMs, ended.signal).then(() => {
    if (ended.signal.aborted) return undefined as never;
    throw new ClientError("timeout", `no answer within ${transport.timeoutMs} ms`, facts);
  });
  try {
    return await untilAborted(Promise.race([exchange(transport, request, ended.signal), timeUp]), signal, facts);
  } finally {
    ended.abort();
  }
}

/** The error of OpenSSL if what a server sends is not TLS. */
const NOT_TLS = "ERR_SSL_WRONG_VERSION_NUMBER";
const SPEAKS_HTTP = "This port speaks no TLS: use http:// for a service on this machine, or another port.";

async function exchange(transport: Transport, request: StampedRequest, signal: Signal): Promise<JsonValue> {
  const { target } = request;
  const effect = effectOf(target);
  const { response, answer } = await reach(transport, request, signal).catch((error: unknown) => {
    const reason = networkReason(error);
    const advice = reason === NOT_TLS ? SPEAKS_HTTP : "Check the base address and the network.";
    throw new ClientError("unreachable", `the service cannot be reached (${reason}). ${advice}`, {
      operation: target.name,
      effect,
    });
  });
  if (answer === null) {
    const message = `longer than ${responseLimit(transport, target)} bytes`;
    throw Object.assign(answerError(target.name, [{ path: "", message }], effect), { isTooLong: true });
  }
  if (response.status !== 200) throw serviceError(response, answer, request, transport.now());
  return decodeAnswer(answer, target, effect);
}

const RESPONSE_LIMITS = /* @__PURE__ */ new Map(
  Object.values<QueryOperation>(QUERY_OPERATIONS).map(({ name, maxResponseBytes = Infinity }) => [
    name,
    maxResponseBytes,
  ]),
);

function responseLimit(transport: Transport, { group, name }: Target): number {
  const ofOperation = group === "query" ? RESPONSE_LIMITS.get(name) : undefined;
  return Math.min(transport.maxResponseBytes, ofOperation ?? Infinity);
}

async function reach(
  transport: Transport,
  { target, bytes, stamp }: StampedRequest,
  signal: Signal,
): Promise<{ response: HttpResponse; answer: Uint8Array | null }> {
  const { fetch, baseUrl } = transport;
  const response = await fetch(baseUrl + pathOf(target), {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json", [stamp.header]: stamp.value },
    body: bytes as BodyInit,
    // Following a redirect would send the stamp to another host.
    redirect: "manual",
    signal,
  });
  return { response, answer: await readBounded(response, responseLimit(transport, target)) };
}

function decodeAnswer(answer: Uint8Array, { name, numbers = "value" }: Target, effect: "none" | "unknown"): JsonValue {
  try {
    return parseJson(answer, { numbers, maxValues: MAX_ANSWER_VALUES });
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    const isTooLong = error.faults.some(({ message }) => message === tooMany(MAX_ANSWER_VALUES));
    throw Object.assign(answerError(name, error.faults, effect), { isTooLong });
  }
}

/**
 * Makes the error of a response. A refusal (4xx, except 408) means that the service did nothing; otherwise the effect
 * is unknown.
 */
function serviceError(
  response: HttpResponse,
  answer: Uint8Array,
  { target, stamp }: StampedRequest,
  now: Date,
): ServiceError {
  const { status } = response;
  const refused = status >= 400 && status < 500 && status !== 408;
  const body = attempt(() => parseJson(withoutStamp(fromUtf8(answer) ?? "", stamp))).value;
  const facts = serviceFacts(status, body, retryAfter(response.headers.get("retry-after"), now));
  return new ServiceError(facts, {
    operation: target.name,
    effect: refused ? "none" : effectOf(target),
  });
}

/** Replaces the stamp in the text, since the service may quote the request and errors may be logged. */
function withoutStamp(text: string, { value }: CheckedStamp): string {
  const quoted = JSON.stringify(value).slice(1, -1);
  return text.replaceAll(value, "[stamp]").replaceAll(quoted, "[stamp]");
}

/**
 * Returns the milliseconds of Retry-After (RFC 9110 section 10.2.3), given in seconds or as an HTTP date. Null for any
 * other value.
 */
function retryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  if (/^[0-9]+$/.test(header)) return Math.min(1000 * Number(header), Number.MAX_SAFE_INTEGER);
  const date = /^[A-Z][a-z]{2}, .* GMT$/.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

/** Returns only the platform's error code, such as ECONNREFUSED, because the message may quote headers. */
function networkReason(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code)) return code;
  }
  return "network error";
}

function throwIfAborted(signal: Signal, target: Target, sent: boolean): void {
  if (!signal.aborted) return;
  throw new ClientError("aborted", ABORTED, { operation: target.name, effect: sent ? effectOf(target) : "none" });
}
