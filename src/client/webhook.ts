/**
 * Deliveries of the service's activity webhook (client/README.md, "Webhook deliveries"). The signature is Ed25519 over
 * `v1.ed25519.<key id>.<timestamp ms>.<event id>.<raw body>`. Headers contain all parts but the body.
 */
import { concatBytes, fromBase64Url, fromHex, toUtf8 } from "../bytes.js";
import { DECIMAL_TIME } from "../decode/decimal-time.js";
import { type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { evidenceBeside } from "../decode/evidence-members.js";
import { copyPlain, unwrap, withoutPrototype } from "../decode/input.js";
import { callable, copied, date, having, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, anything, count, list, nonEmptyText, optional, readShape, simple } from "../decode/shapes.js";
import { type Fault, attempt, faultText } from "../errors.js";
import { RejectedError } from "../verification.js";
import { ed25519 } from "../verify/cryptography.js";
import { type ActivityJson, activitySchema } from "./activity-shapes.js";
import { ClientError } from "../door/errors.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "../door/platform.js";
import { readBounded } from "../door/bounded-bytes.js";
import type { VerifiedCall, VerifiedClient } from "./verified.js";

export interface WebhookInput {
  /** The body as received. The signature is not valid for JSON that was parsed and written again. */
  readonly rawBody: Uint8Array | string;
  readonly headers: HttpHeaders | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The service's published keys (RFC 7517), parsed. */
  readonly jwks: unknown;
  readonly now: Date;
  /** Vendor's prefix of the header names. Default: `X-Webhook-`. */
  readonly headerPrefix?: string;
  /** Maximal distance of the delivery's time from `now`, either way, in milliseconds. Default: five minutes. */
  readonly toleranceMs?: number;
  /** Store of accepted events. Default: the memory of this process. */
  readonly store?: EventStore;
  /** Milliseconds that an event's id is remembered, at least twice the tolerance. Default: a day. */
  readonly rememberMs?: number;
}

/** A delivery that the service signed. The activity itself is not verified. */
export interface Delivery {
  readonly eventId: string;
  readonly keyId: string;
  readonly timestamp: Date;
  readonly activity: ActivityJson;
  readonly json: JsonValue;
}

/** Remembers events. Each is accepted only once. */
export interface EventStore {
  /**
   * Returns whether the event is new, and remembers it at least until `until`. In a store that receivers share, both
   * must be one atomic step.
   */
  claim(eventId: string, until: Date, now: Date): boolean | Promise<boolean>;
  /** Forgets an event that could not be processed. The next delivery of it is then accepted. */
  release(eventId: string): void | Promise<void>;
}

const DEFAULT_PREFIX = "X-Webhook-";
const DEFAULT_TOLERANCE_MS = 300_000;
const DEFAULT_REMEMBER_MS = 86_400_000;
const DEFAULT_EVENTS = 100_000;

/** A store for one process. Throws {@link WebhookError} (`full`) if it is full and no event is old enough to forget. */
export class MemoryEventStore implements EventStore {
  readonly #limit: number;
  readonly #events = new Map<string, number>();

  constructor(limit: number = DEFAULT_EVENTS) {
    this.#limit = limit;
  }

  claim(eventId: string, until: Date, now: Date): boolean {
    for (const [known, end] of this.#events) {
      if (end > now.getTime()) break;
      this.#events.delete(known);
    }
    if ((this.#events.get(eventId) ?? 0) > now.getTime()) return false;
    if (this.#events.size >= this.#limit)
      throw new WebhookError(
        "full",
        `the store remembers ${this.#limit} events, and none is old enough to be forgotten`,
        { eventId },
      );
    this.#events.delete(eventId);
    this.#events.set(eventId, until.getTime());
    return true;
  }

  release(eventId: string): void {
    this.#events.delete(eventId);
  }
}

const processStore = new MemoryEventStore();

/**
 * Verifies headers, version and algorithm, time, signature, body, and that the event is new. Rejects with {@link
 * WebhookError}. If you then cannot process the delivery, release its event in the store.
 */
export async function verifyWebhook(given: WebhookInput): Promise<Delivery> {
  const input = typedOptions("input", given, WEBHOOK_INPUT);
  return verifyUnder(readHeaders(input), input);
}

type WebhookLimits = Omit<WebhookInput, "rawBody" | "headers" | "jwks" | "now">;

const LIMITS: MembersOf<WebhookLimits> = {
  headerPrefix: optional(nonEmptyText),
  toleranceMs: optional(count),
  store: optional(having("claim", "release")),
  rememberMs: optional(count),
};

const WEBHOOK_INPUT: MembersOf<WebhookInput> = {
  rawBody: simple(
    "bytes or text",
    (body): body is Uint8Array | string => typeof body === "string" || body instanceof Uint8Array,
  ),
  headers: copied(having()),
  jwks: copied(anything),
  now: date,
  ...LIMITS,
};

async function verifyUnder(headers: WebhookHeaders, input: Omit<WebhookInput, "headers">): Promise<Delivery> {
  const {
    rawBody,
    store = processStore,
    toleranceMs = DEFAULT_TOLERANCE_MS,
    rememberMs = DEFAULT_REMEMBER_MS,
  } = withoutPrototype(input);
  const { timestamp, receivedAt } = headers;
  // The body is copied before the first `await`, so the parsed bytes are the verified ones.
  const body = typeof rawBody === "string" ? toUtf8(rawBody) : new Uint8Array(rawBody);
  const key = keyOf(input.jwks, headers.keyId);
  const signed = concatBytes(toUtf8(`v1.ed25519.${headers.keyId}.${timestamp.getTime()}.${headers.eventId}.`), body);
  const verify = await ed25519();
  if (!(await verify(key, signed, headers.signature))) {
    throw new WebhookError("signature", "the signature is not valid for this key, body and headers");
  }
  const delivery = { eventId: headers.eventId, keyId: headers.keyId, timestamp, ...readBody(body, headers.eventId) };
  const until = new Date(receivedAt.getTime() + Math.max(rememberMs, 2 * toleranceMs));
  if (!(await store.claim(headers.eventId, until, receivedAt))) {
    throw new WebhookError("replayed", `event ${headers.eventId} was accepted before`, { eventId: headers.eventId });
  }
  return delivery;
}

/** Well-formed headers with a recent time. Their signature is not verified yet. */
interface WebhookHeaders {
  readonly eventId: string;
  readonly timestamp: Date;
  readonly receivedAt: Date;
  readonly keyId: string;
  readonly signature: Uint8Array;
}

/**
 * An identifier has no dot, since dots separate the parts of the signed text, and no comma, since commas join repeated
 * headers.
 */
const IDENTIFIER = /^[!-+\-/-~]{1,256}$/;

function readHeaders(input: Pick<WebhookInput, "headers" | "headerPrefix" | "toleranceMs" | "now">): WebhookHeaders {
  const { headers, headerPrefix = DEFAULT_PREFIX, toleranceMs = DEFAULT_TOLERANCE_MS, now } = withoutPrototype(input);
  if (Number.isNaN(now.getTime())) throw new TypeError("now: expected a valid Date");
  const value = (name: string): string => soleHeader(headers, headerPrefix + name);
  const matching = (name: string, pattern: RegExp, fault: WebhookFault, wanted: string): string => {
    const text = value(name);
    if (!pattern.test(text)) throw new WebhookError(fault, `${headerPrefix}${name} is not ${wanted}`);
    return text;
  };
  matching("Signature-Version", /^v1$/, "version", "v1");
  matching("Signature-Algorithm", /^ed25519$/, "algorithm", "ed25519");
  const eventId = matching("Event-Id", IDENTIFIER, "header", "an identifier without dots");
  const timestamp = matching("Timestamp", DECIMAL_TIME, "header", "a time in milliseconds");
  const keyId = matching("Signature-Key-Id", IDENTIFIER, "header", "an identifier without dots");
  const signature = fromHex(matching("Signature", /^[0-9a-fA-F]{128}$/, "header", "64 bytes in hex"))!;
  return { eventId, timestamp: freshTime(timestamp, now, toleranceMs), receivedAt: new Date(now), keyId, signature };
}

/**
 * Returns the value of a header. Throws unless there is exactly one; commas join repeated headers, so a value has none.
 */
function soleHeader(headers: WebhookInput["headers"], name: string): string {
  const values = isHeaders(headers)
    ? [headers.get(name) ?? []].flat()
    : Object.entries(headers)
        .filter(([other]) => other.toLowerCase() === name.toLowerCase())
        .flatMap(([, value]) => value ?? []);
  const [value] = values;
  if (values.length !== 1 || typeof value !== "string")
    throw new WebhookError("header", `${name}: expected one such header, got ${values.length}`);
  return value;
}

function isHeaders(headers: WebhookInput["headers"]): headers is HttpHeaders {
  return typeof headers.get === "function";
}

function freshTime(timestamp: string, now: Date, toleranceMs: number): Date {
  const time = new Date(Number(timestamp));
  if (Math.abs(now.getTime() - time.getTime()) <= toleranceMs) return time;
  throw new WebhookError(
    "stale",
    `sent at ${time.toISOString()}, too far from ${now.toISOString()}: old delivery, or this machine's clock is wrong`,
  );
}

/**
 * Returns the key. Exactly one key must have the id, and it must be an Ed25519 key for signatures (RFC 8037 section 2).
 */
function keyOf(jwks: unknown, keyId: string): Uint8Array {
  const keys = isJsonObject(jwks) && Array.isArray(jwks["keys"]) ? jwks["keys"] : [];
  const named = keys.filter(isJsonObject).filter((key) => key["kid"] === keyId);
  if (named.length !== 1)
    throw new WebhookError(
      "key",
      `${named.length} keys in the key set have the id ${keyId}, expected one: fetch the set again`,
    );
  const { kty, crv, alg, use, x, d } = named[0]!;
  const isGood =
    kty === "OKP" &&
    crv === "Ed25519" &&
    [undefined, "EdDSA", "Ed25519"].includes(alg as string) &&
    [undefined, "sig"].includes(use as string);
  const bytes = isGood && typeof x === "string" ? fromBase64Url(x) : null;
  if (bytes?.length !== 32) throw new WebhookError("key", `the key ${keyId} is not an Ed25519 key for signatures`);
  if (d !== undefined)
    throw new WebhookError("key", `the private half of the key ${keyId} is published: anyone can sign with it`);
  return bytes;
}

function readBody(body: Uint8Array, eventId: string): { activity: ActivityJson; json: JsonValue } {
  const json = attempt(() => parseJson(body));
  const read = json.value === undefined ? json : readShape(activitySchema, unwrap(json.value, "activity"), "activity");
  const beside = evidenceBeside(json.value, "activity");
  if (json.value === undefined || read.value === undefined || beside.length > 0) {
    const faults = [...read.faults, ...beside];
    throw new WebhookError("body", `the body is not an activity: ${faultText(faults)}`, { faults, eventId });
  }
  return { activity: read.value, json: json.value };
}

export interface WebhookHandlerOptions extends WebhookLimits {
  /** `client.withVerification(policy)`. */
  readonly verified: Pick<VerifiedClient, "verifyActivity">;
  /** Ids of the receiver's organization and of its children. */
  readonly organizationIds: readonly string[];
  /**
   * The key set, or a function that fetches it. The function is called for each delivery with valid headers, and gets
   * the key's id.
   */
  readonly jwks: object | ((keyId: string) => Promise<unknown>);
  /** Receives a verified activity. */
  readonly onVerified: (delivery: Delivery, call: VerifiedCall<JsonValue>) => unknown;
  /** Receives any other activity, for example one that is not completed or has no app proofs. */
  readonly onRejected: (delivery: Delivery, error: RejectedError) => unknown;
  /** Receives the error that led to a status of 5xx. The service then delivers again. */
  readonly onError?: (error: unknown) => void;
  readonly now?: () => Date;
  readonly maxBodyBytes?: number;
}

const HANDLER_OPTIONS: MembersOf<WebhookHandlerOptions> = {
  verified: having("verifyActivity"),
  organizationIds: list(nonEmptyText),
  jwks: plain,
  onVerified: callable,
  onRejected: callable,
  onError: optional(callable),
  now: optional(callable),
  maxBodyBytes: optional(count),
  ...LIMITS,
};
const DEFAULT_BODY_BYTES = 4 * 1024 * 1024;

/** The service repeats a delivery after 5xx only (client/README.md, "Webhook deliveries"). */
const STATUS: Readonly<Record<WebhookFault, number>> = {
  header: 400,
  body: 400,
  version: 401,
  algorithm: 401,
  stale: 401,
  key: 401,
  signature: 401,
  organization: 403,
  replayed: 200,
  full: 503,
};

/**
 * Makes a handler that verifies each delivery and the app proofs of its activity. It responds with 204 after
 * `onVerified`, 422 after `onRejected`, and 200 for an event that was already processed. It responds with 5xx if the
 * evidence could not be fetched, if a callback threw, or if the same event is still being processed; the service then
 * delivers again.
 */
export function webhookHandler(options: WebhookHandlerOptions): (request: HttpRequest) => Promise<HttpResponse> {
  const receive = webhookReceiver(options);
  return async (request) => {
    const { method, headers } = request;
    if (typeof headers?.get !== "function")
      throw new TypeError(
        "expected a Request as fetch has it; nodeWebhookHandler takes request and response of Node's http",
      );
    const status = await receive({ method, headers, body: (limit) => readBounded(request, limit) });
    return new Response(null, { status });
  };
}

interface ReceivedRequest {
  readonly method: string;
  readonly headers: WebhookInput["headers"];
  /** Reads the body. Null if it exceeds the limit. */
  readonly body: (limit: number) => Promise<Uint8Array | null>;
}

/** Makes a receiver for any kind of server. It resolves to the status of the response. */
export function webhookReceiver(given: WebhookHandlerOptions): (request: ReceivedRequest) => Promise<number> {
  const options = typedOptions("options", given, HANDLER_OPTIONS);
  const {
    store = new MemoryEventStore(),
    now = () => new Date(),
    maxBodyBytes = DEFAULT_BODY_BYTES,
    onError = () => {},
  } = options;
  const atWork = new Set<string>();
  const receive = async (request: ReceivedRequest): Promise<number> => {
    if (request.method !== "POST") return 405;
    const rawBody = await request.body(maxBodyBytes);
    if (rawBody === null) return 413;
    // Anyone may send requests here, so keys are fetched only for a well-formed id.
    const received = { headers: copyPlain(request.headers), now: now() };
    const headers = readHeaders({ ...options, ...received });
    const delivery = await verifyUnder(headers, {
      ...options,
      ...received,
      store,
      rawBody,
      jwks: await keySet(options.jwks, headers.keyId),
    });
    atWork.add(delivery.eventId);
    try {
      return await dealWith(delivery, options);
    } catch (error) {
      await store.release(delivery.eventId);
      throw error;
    } finally {
      atWork.delete(delivery.eventId);
    }
  };
  return (request) =>
    receive(request).catch((error: unknown) => {
      const known = error instanceof WebhookError ? STATUS[error.fault] : 500;
      const answer = known === 200 && atWork.has((error as WebhookError).eventId!) ? 503 : known;
      if (answer >= 500) onError(error);
      return answer;
    });
}

async function keySet(jwks: WebhookHandlerOptions["jwks"], keyId: string): Promise<unknown> {
  return typeof jwks === "function" ? (jwks as (keyId: string) => Promise<unknown>)(keyId) : jwks;
}

async function dealWith(delivery: Delivery, options: WebhookHandlerOptions): Promise<number> {
  const { organizationId } = delivery.activity;
  if (!options.organizationIds.includes(organizationId)) {
    throw new WebhookError("organization", "the activity belongs to an organization that is not in organizationIds", {
      eventId: delivery.eventId,
    });
  }
  try {
    const call = await options.verified.verifyActivity(delivery.json, { organizationId });
    await options.onVerified(delivery, call);
    return 204;
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    await options.onRejected(delivery, error);
    return 422;
  }
}

/**
 * Why a delivery is not accepted:
 *
 * - `header`: a header is missing, repeated or malformed.
 * - `version`, `algorithm`: the value is not supported.
 * - `key`: the key is not in the key set, or is not an Ed25519 key.
 * - `signature`: the signature is not valid for the key and these bytes.
 * - `stale`: the delivery's time is too far from the receiver's clock.
 * - `body`: the body is not an activity.
 * - `replayed`: the event was accepted before.
 * - `full`: the store of events is full.
 * - `organization`: the organization is not one of the receiver's.
 */
type WebhookFault =
  | "header"
  | "version"
  | "algorithm"
  | "stale"
  | "key"
  | "signature"
  | "body"
  | "replayed"
  | "full"
  | "organization";

/**
 * A delivery is not accepted. The faults `body`, `replayed`, `full` and `organization` occur only if the signature is
 * valid.
 */
export class WebhookError extends ClientError {
  override readonly name = "WebhookError";
  readonly fault: WebhookFault;
  /** Id of the event; null unless the signature is valid. */
  readonly eventId: string | null;

  constructor(
    fault: WebhookFault,
    message: string,
    facts: { readonly faults?: readonly Fault[]; readonly eventId?: string } = {},
  ) {
    super("webhook", `webhook not accepted: ${message}`, { faults: facts.faults ?? [] });
    this.fault = fault;
    this.eventId = facts.eventId ?? null;
  }
}
