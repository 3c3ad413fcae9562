/** The errors of the client. None of them holds a key, a stamp, or what a passkey said. */
import { rejectedText } from "../checks.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { type Fault, faultText } from "../errors.js";
import type { Report } from "../report/report.js";
import { RejectedError } from "../verification.js";

/**
 * `request`: the parameters are not what the interface wants; nothing was sent.
 * `key`: a key is malformed, or is not the one it is said to be.
 * `stamp`: the request could not be stamped; nothing was sent.
 * `aborted`: the caller's signal said so. `timeout`: no answer in time. `unreachable`: no connection, or a broken one.
 * `service`: the service answered with an error ({@link ServiceError}).
 * `answer`: an answer that is not what the interface promises.
 * `evidence`: an activity was answered, and the evidence for it could not be fetched; `cause` says why.
 * `bundle`: a credential bundle that does not open.
 * `webhook`: a delivery that is not accepted ({@link WebhookError}).
 */
export type ClientErrorCode =
  | "request"
  | "key"
  | "stamp"
  | "aborted"
  | "timeout"
  | "unreachable"
  | "service"
  | "answer"
  | "evidence"
  | "bundle"
  | "webhook";

export interface ClientErrorFacts {
  /** The operation's name in its path; null where the error is of none. */
  readonly operation?: string | null;
  /**
   * What the service may have done: `none` (never sent, refused, or a query), or `unknown`: look before you submit
   * again, for a second submit would be a second activity.
   */
  readonly effect?: "none" | "unknown";
  /** What is wrong with parameters or answer, by path. */
  readonly faults?: readonly Fault[];
  /** Of an activity that was answered, and is not verified. */
  readonly activityId?: string | null;
  /** Another error of this package; never the platform's, which may quote a header. */
  readonly cause?: Error;
}

export class ClientError extends Error {
  override readonly name: string = "ClientError";
  readonly code: ClientErrorCode;
  readonly operation: string | null;
  readonly effect: "none" | "unknown";
  readonly faults: readonly Fault[];
  readonly activityId: string | null;

  constructor(code: ClientErrorCode, message: string, facts: ClientErrorFacts = {}) {
    super(facts.operation ? `${facts.operation}: ${message}` : message, facts.cause && { cause: facts.cause });
    this.code = code;
    this.operation = facts.operation ?? null;
    this.effect = facts.effect ?? "none";
    this.faults = facts.faults ?? [];
    this.activityId = facts.activityId ?? null;
  }
}

/** What an error answer says (client/README.md, "Errors"); each null or empty where it does not say it in that form. */
export interface ServiceFacts {
  readonly status: number;
  /** The number of `code`, as gRPC counts. */
  readonly grpcCode: number | null;
  readonly serviceMessage: string | null;
  readonly details: readonly JsonValue[];
  /** The category in the details, such as `SIGNATURE_INVALID`. */
  readonly category: string | null;
  /** How long the service asks to wait; null where it does not. */
  readonly retryAfterMs: number | null;
}

/** The service answered with an error. */
export class ServiceError extends ClientError implements ServiceFacts {
  override readonly name = "ServiceError";
  readonly status: number;
  readonly grpcCode: number | null;
  readonly serviceMessage: string | null;
  readonly details: readonly JsonValue[];
  readonly category: string | null;
  readonly retryAfterMs: number | null;

  constructor(service: ServiceFacts, facts: ClientErrorFacts) {
    super("service", serviceText(service), facts);
    this.status = service.status;
    this.grpcCode = service.grpcCode;
    this.serviceMessage = service.serviceMessage;
    this.details = service.details;
    this.category = service.category;
    this.retryAfterMs = service.retryAfterMs;
  }
}

const MAX_MESSAGE = 500;

function serviceText({ status, serviceMessage, category }: ServiceFacts): string {
  const said = serviceMessage === null ? "" : `: ${serviceMessage.slice(0, MAX_MESSAGE)}`;
  return (
    `the service answered HTTP ${status}${category === null ? "" : ` ${category}`}${said}. ` +
    `${adviceFor(status, category)}`
  );
}

/** What to do about a category; about a status where the category is not known. */
const ADVICE_BY_CATEGORY: Readonly<Record<string, string>> = {
  SIGNATURE_MISSING: "Something between here and the service removes the stamp's header.",
  SIGNATURE_INVALID: "Something between here and the service changes the body, or the key is another one.",
  PUBLIC_KEY_NOT_FOUND: "Register the key with the organization, or use one that is.",
  API_KEY_EXPIRED: "Make a new API key or session.",
  ORGANIZATION_NOT_FOUND: "Check the organization's id and the base address.",
  REQUEST_NOT_AUTHORIZED: "Give the key's user the right to do this, or use another key.",
};
const ADVICE_BY_STATUS: Readonly<Record<number, string>> = {
  400: "Correct the request; if its time is refused, check this machine's clock.",
  401: "Check that the key is registered with this organization, and this machine's clock.",
  403: "Give the key's user the right to do this, or use another key.",
  404: "Check the ids, the organization and the base address.",
  408: "Try again.",
  413: "Send less at once.",
  429: "Wait, and ask less often.",
};

function adviceFor(status: number, category: string | null): string {
  const known = ADVICE_BY_CATEGORY[category ?? ""] ?? ADVICE_BY_STATUS[status];
  if (known !== undefined) return known;
  // 0: a redirect that is not followed, in some runtimes.
  if (status === 0 || (status >= 300 && status < 400))
    return "It points elsewhere, and redirects are not followed: give the service's own base address.";
  return status >= 500 ? "Try again later." : "Check the request and the base address.";
}

/** Reads an error answer; one in another form yields its status alone. */
export function serviceFacts(status: number, body: JsonValue | undefined, retryAfterMs: number | null): ServiceFacts {
  const json: JsonObject = isJsonObject(body) ? body : {};
  const details = Array.isArray(json["details"]) ? json["details"] : [];
  const categories = details.map((detail) => (isJsonObject(detail) ? detail["turnkeyErrorCode"] : undefined));
  return {
    status,
    grpcCode: typeof json["code"] === "number" ? json["code"] : null,
    serviceMessage: typeof json["message"] === "string" ? json["message"] : null,
    details,
    category: categories.find((category) => typeof category === "string") ?? null,
    retryAfterMs,
  };
}

/** Parameters that the interface does not take. */
export function requestError(operation: string, faults: readonly Fault[]): ClientError {
  return new ClientError("request", `not sent: ${faultText(faults)}`, { operation, faults });
}

/** An answer that is not what the interface promises. */
export function answerError(operation: string, faults: readonly Fault[], effect: "none" | "unknown"): ClientError {
  return new ClientError("answer", `the answer is not what the interface promises: ${faultText(faults)}`, {
    operation,
    faults,
    effect,
  });
}

/**
 * An activity whose evidence was rejected. The service may have carried it out all the same: id and status are its
 * word, for looking into it, and nothing else of the answer is handed on.
 */
export class RejectedActivityError extends RejectedError {
  override readonly name = "RejectedActivityError";
  readonly operation: string | null;
  readonly activityId: string | null;
  readonly activityStatus: string | null;

  constructor(
    report: Report,
    facts: {
      readonly operation: string | null;
      readonly activityId: string | null;
      readonly activityStatus: string | null;
    },
  ) {
    super(report, rejectionText(report, facts.operation, facts.activityId));
    this.operation = facts.operation;
    this.activityId = facts.activityId;
    this.activityStatus = facts.activityStatus;
  }
}

function rejectionText(report: Report, operation: string | null, activityId: string | null): string {
  const advice =
    operation === null
      ? "Do not rely on it."
      : `The service may have carried out ${activityId ?? "the activity"} all the same: look into it before you ` +
        `submit again.`;
  return `${operation === null ? "" : `${operation}: `}${rejectedText(report)}. ${advice}`;
}

/**
 * `header`: one is missing, there twice, or malformed. `version`, `algorithm`: not the ones that are accepted. `key`:
 * not in the key set, or not an Ed25519 key. `signature`: not the key's over these bytes. `stale`: its time is too far
 * from ours. `body`: not an activity. `replayed`: an event that was accepted before. `full`: the store holds no more
 * events. `organization`: an activity of an organization that is not among the receiver's.
 */
export type WebhookFault =
  "header" | "version" | "algorithm" | "stale" | "key" | "signature" | "body" | "replayed" | "full" | "organization";

/**
 * A delivery that is not accepted. What is after `signature` in the list of faults was found in a delivery with a valid
 * one.
 */
export class WebhookError extends ClientError {
  override readonly name = "WebhookError";
  readonly fault: WebhookFault;
  /** Where it is known, and the signature is valid. */
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
