/**
 * Deliveries of the service's activity webhook (client/README.md, "Webhook deliveries"): Ed25519 over
 * `v1.ed25519.<key id>.<timestamp ms>.<event id>.<raw body>`, the parts coming in headers.
 */
import { base64urlnopad } from "@scure/base";
import { concatBytes, fromHex, toUtf8 } from "../bytes.js";
import { DECIMAL_TIME } from "../decode/decimal-time.js";
import { type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { evidenceBeside } from "../decode/evidence-members.js";
import { copyPlain, ownMembers, unwrap } from "../decode/input.js";
import { attempt, faultText } from "../errors.js";
import { RejectedError } from "../verification.js";
import { ed25519 } from "../verify/cryptography.js";
import { WebhookError, type WebhookFault } from "./errors.js";
import { type ActivityJson, activitySchema } from "./operations.js";
import { type Kind, ownTypedOptions } from "./options.js";
import type { HttpHeaders, HttpRequest, HttpResponse } from "./platform.js";
import { readShape } from "./shapes.js";
import { readBounded } from "./transport.js";
import type { VerifiedCall, VerifiedClient } from "./verified.js";

/** What the receiver got and knows. */
export interface WebhookInput {
  /** Exactly as received: what a JSON parser made of it is not what was signed. */
  readonly rawBody: Uint8Array | string;
  readonly headers: HttpHeaders | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The service's published keys (RFC 7517), as parsed. */
  readonly jwks: unknown;
  readonly now: Date;
  /** The vendor's prefix of the header names. Default: `X-Webhook-`. */
  readonly headerPrefix?: string;
  /** How far the delivery's time may be from now, either way. Default: five minutes. */
  readonly toleranceMs?: number;
  /** Which events were accepted before. Default: one in the memory of this process. */
  readonly store?: EventStore;
  /** How long an event's id is remembered. Default: a day. Never less than the tolerance asks for. */
  readonly rememberMs?: number;
}

/** An activity that the service reported, signed by the service. What it says is not verified by this. */
export interface Delivery {
  readonly eventId: string;
  readonly keyId: string;
  readonly timestamp: Date;
  readonly activity: ActivityJson;
  /** The body, whole. */
  readonly json: JsonValue;
}

/** Remembers accepted events, so that none is accepted twice. */
export interface EventStore {
  /**
   * Whether the event is new; it is then taken, until that time at least. Has to be atomic where receivers share the
   * store.
   */
  claim(eventId: string, until: Date, now: Date): boolean | Promise<boolean>;
  /** Gives back an event that could not be dealt with, so that its next delivery is accepted. */
  release(eventId: string): void | Promise<void>;
}

const DEFAULT_PREFIX = "X-Webhook-";
const DEFAULT_TOLERANCE_MS = 300_000;
const DEFAULT_REMEMBER_MS = 86_400_000;
const DEFAULT_EVENTS = 100_000;

/** In memory, for one process. Refuses new events once it is full of events that may not be forgotten yet. */
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
 * Verifies a delivery: headers, version and algorithm, time, signature, body, and that it is the first of its event.
 * Throws {@link WebhookError}. Whoever cannot deal with the delivery then releases its event in the store.
 */
export async function verifyWebhook(given: WebhookInput): Promise<Delivery> {
  const input = ownTypedOptions("input", given, INPUT_KINDS);
  if (typeof input.rawBody !== "string" && !(input.rawBody instanceof Uint8Array))
    throw new TypeError("input.rawBody: bytes or text wanted");
  return verifyUnder(readHeaders(input), input);
}

const INPUT_KINDS: Readonly<Record<keyof WebhookInput, Kind>> = {
  rawBody: "any",
  headers: "object",
  jwks: "any",
  now: "object",
  headerPrefix: "text",
  toleranceMs: "count",
  store: "object",
  rememberMs: "count",
};

/** All of {@link verifyWebhook} that follows once its headers were found good. */
async function verifyUnder(headers: WebhookHeaders, input: Omit<WebhookInput, "headers">): Promise<Delivery> {
  const own = ownMembers(input as WebhookInput, INPUT_KINDS);
  const { rawBody, store = processStore, toleranceMs = DEFAULT_TOLERANCE_MS, rememberMs = DEFAULT_REMEMBER_MS } = own;
  const { timestamp, receivedAt } = headers;
  // Taken over before anything is awaited: what is read is what was verified, whatever the caller does to its bytes.
  const body = typeof rawBody === "string" ? toUtf8(rawBody) : new Uint8Array(rawBody);
  const key = keyOf(own.jwks, headers.keyId);
  const signed = concatBytes(toUtf8(`v1.ed25519.${headers.keyId}.${timestamp.getTime()}.${headers.eventId}.`), body);
  const verify = await ed25519();
  if (!(await verify(key, signed, headers.signature))) {
    throw new WebhookError("signature", "the signature is not one of the key over this body and these headers");
  }
  const delivery = { eventId: headers.eventId, keyId: headers.keyId, timestamp, ...readBody(body, headers.eventId) };
  const until = new Date(receivedAt.getTime() + Math.max(rememberMs, 2 * toleranceMs));
  if (!(await store.claim(headers.eventId, until, receivedAt))) {
    throw new WebhookError("replayed", `event ${headers.eventId} was accepted before`, { eventId: headers.eventId });
  }
  return delivery;
}

/** Headers of which each has its form, and the time is near enough. Nobody has signed them yet. */
interface WebhookHeaders {
  readonly eventId: string;
  readonly timestamp: Date;
  readonly receivedAt: Date;
  readonly keyId: string;
  readonly signature: Uint8Array;
}

/**
 * No dot, so that the parts of what is signed cannot be shifted against each other; no comma, which joins repeated
 * headers.
 */
const IDENTIFIER = /^[!-+\-/-~]{1,256}$/;

function readHeaders(input: Pick<WebhookInput, "headers" | "headerPrefix" | "toleranceMs" | "now">): WebhookHeaders {
  const own = ownMembers(input as WebhookInput, INPUT_KINDS);
  const { headerPrefix = DEFAULT_PREFIX, toleranceMs = DEFAULT_TOLERANCE_MS, now } = own;
  const headers = copyPlain(own.headers);
  if (Number.isNaN(now.getTime())) throw new TypeError("now: a valid Date wanted");
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
 * The value of a header that is there once. Repeated ones may come joined with commas, which no value here may contain.
 */
function soleHeader(headers: WebhookInput["headers"], name: string): string {
  const values = isHeaders(headers)
    ? [headers.get(name) ?? []].flat()
    : Object.entries(headers)
        .filter(([other]) => other.toLowerCase() === name.toLowerCase())
        .flatMap(([, value]) => value ?? []);
  const [value] = values;
  if (values.length !== 1 || typeof value !== "string")
    throw new WebhookError("header", `${name} is there ${values.length} times, once wanted`);
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
    `sent at ${time.toISOString()}, too far from ${now.toISOString()}: an old delivery, or a wrong clock`,
  );
}

/** The public key with the id: an Ed25519 key for signatures (RFC 8037 section 2), there once. */
function keyOf(given: unknown, keyId: string): Uint8Array {
  const jwks = copyPlain(given);
  const keys = isJsonObject(jwks) && Array.isArray(jwks["keys"]) ? jwks["keys"] : [];
  const named = keys.filter(isJsonObject).filter((key) => key["kid"] === keyId);
  if (named.length !== 1)
    throw new WebhookError(
      "key",
      `${named.length} keys in the key set are called ${keyId}, one wanted: fetch the set again`,
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
    throw new WebhookError("key", `the private half of the key ${keyId} is published: whoever has it can sign`);
  return bytes;
}

function fromBase64Url(text: string): Uint8Array | null {
  try {
    return base64urlnopad.decode(text);
  } catch {
    return null;
  }
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

export interface WebhookHandlerOptions extends Omit<WebhookInput, "rawBody" | "headers" | "jwks" | "now"> {
  /** `client.withVerification(policy)`. */
  readonly verified: Pick<VerifiedClient, "verifyActivity">;
  /** The organizations whose activities are expected here: the receiver's own, and its children. */
  readonly organizationIds: readonly string[];
  /** The key set; or a function that fetches one with this key, called for every delivery whose headers are good. */
  readonly jwks: object | ((keyId: string) => Promise<unknown>);
  /** An activity that the service reported and an enclave vouched for. */
  readonly onVerified: (delivery: Delivery, call: VerifiedCall<JsonValue>) => unknown;
  /**
   * An activity that the service reported and no enclave vouched for: not completed yet, without app proofs, or worse.
   */
  readonly onRejected: (delivery: Delivery, error: RejectedError) => unknown;
  /** Whatever made the handler answer 5xx, so that the service delivers again. */
  readonly onError?: (error: unknown) => void;
  readonly now?: () => Date;
  readonly maxBodyBytes?: number;
}

const HANDLER_OPTIONS: Readonly<Record<keyof WebhookHandlerOptions, Kind>> = {
  verified: "object",
  organizationIds: "texts",
  jwks: "any",
  onVerified: "function",
  onRejected: "function",
  onError: "function",
  now: "function",
  maxBodyBytes: "count",
  headerPrefix: "text",
  toleranceMs: "count",
  store: "object",
  rememberMs: "count",
};
const DEFAULT_BODY_BYTES = 4 * 1024 * 1024;

/** The status for each fault: 5xx is delivered again, else it is final (client/README.md, "Webhook deliveries"). */
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
 * Receives deliveries: verifies each, then the app proofs of its activity, and hands it on. Answers 204 once
 * `onVerified` is done, 422 after `onRejected`, 200 for an event that was dealt with before, and 5xx where the event is
 * to be delivered again: its evidence could not be fetched, a callback threw, or the same event is being dealt with at
 * the moment.
 */
export function webhookHandler(options: WebhookHandlerOptions): (request: HttpRequest) => Promise<HttpResponse> {
  const receive = webhookReceiver(options);
  return async (request) => {
    const { method, headers } = request;
    if (typeof headers?.get !== "function")
      throw new TypeError(
        "a Request as fetch has it wanted; nodeWebhookHandler takes request and response of Node's http",
      );
    const status = await receive({ method, headers, body: (limit) => readBounded(request, limit) });
    return new Response(null, { status });
  };
}

/** A request of whatever kind of server. */
interface ReceivedRequest {
  readonly method: string;
  readonly headers: WebhookInput["headers"];
  /** The body exactly as it came; null where it is longer than the limit. */
  readonly body: (limit: number) => Promise<Uint8Array | null>;
}

/** What a handler does, whatever kind of server it is in: answers a request with a status. */
export function webhookReceiver(given: WebhookHandlerOptions): (request: ReceivedRequest) => Promise<number> {
  const own = ownTypedOptions("options", given, HANDLER_OPTIONS);
  const options = Object.assign(own, { jwks: copyPlain(own.jwks) });
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
    // Keys are looked up for a delivery that could be one, by an id that is none but an id: anybody may send anything
    // here.
    const received = { headers: request.headers, now: now() };
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
    throw new WebhookError("organization", "the activity is of an organization that is not expected here", {
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
