/** The errors of the client. No error holds a key, a stamp or a passkey's response. */
import { UNPLACED, type UnplacedKey, unplacedText } from "../addresses/classes.js";
import type { AddressRow } from "../addresses/join.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { type Fault, cut, faultText, listed } from "../errors.js";
import type { Report } from "../report/report.js";
import type { TokenReport } from "../token/verify.js";
import { RejectedError } from "../verification.js";

/**
 * Why a call failed:
 *
 * - `request`: the parameters do not match the interface; nothing was sent.
 * - `key`: a key is malformed, or its halves do not match.
 * - `ephemeral-key`: an app proof names a signing half whose whole key is unknown, or it does not match the
 *   `ephemeralKey` that was passed with it; nothing was sent.
 * - `stamp`: the request could not be stamped; nothing was sent.
 * - `aborted`: the caller's signal was aborted.
 * - `timeout`: there was no response in time.
 * - `unreachable`: there was no connection, or it broke.
 * - `service`: the service returned an error ({@link ServiceError}).
 * - `answer`: the response does not match the interface.
 * - `evidence`: the evidence of an activity, or of app proofs, could not be fetched; see `cause`.
 * - `limit`: a list has more items than the caller allows.
 * - `schema`: a verified payload does not fit the caller's schema of its type.
 * - `bundle`: a credential bundle does not open.
 * - `webhook`: a delivery is not accepted ({@link WebhookError}).
 */
export type ClientErrorCode =
  | "request"
  | "key"
  | "ephemeral-key"
  | "stamp"
  | "aborted"
  | "timeout"
  | "unreachable"
  | "service"
  | "answer"
  | "evidence"
  | "limit"
  | "schema"
  | "bundle"
  | "webhook";

export interface ClientErrorFacts {
  /** Name of the operation, as in its path; null if the error is not about an operation. */
  readonly operation?: string | null;
  /**
   * What the service may have done. `none`: the request was not sent, was refused, or was a query. `unknown`: check the
   * activity before you submit again, since a second submit may make a second activity.
   */
  readonly effect?: "none" | "unknown";
  readonly faults?: readonly Fault[];
  /** Id of the activity as the service claims it, unverified. */
  readonly activityId?: string | null;
  /** Another error of this package. Errors of the platform are not kept, because they may quote a header. */
  readonly cause?: Error;
}

export class ClientError extends Error {
  override readonly name: string = "ClientError";
  readonly code: ClientErrorCode;
  readonly operation: string | null;
  readonly effect: "none" | "unknown";
  readonly faults: readonly Fault[];
  /** Whether the answer was longer than the client's limits. A shorter page of a list may not be. */
  declare readonly isTooLong?: boolean;
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

/** A parsed error response (client/README.md, "Errors"). Missing members are null or empty. */
interface ServiceFacts {
  readonly status: number;
  /** The gRPC status number in `code`. */
  readonly grpcCode: number | null;
  readonly serviceMessage: string | null;
  readonly details: readonly JsonValue[];
  /** Category in the details, such as `SIGNATURE_INVALID`. */
  readonly category: string | null;
  /** Milliseconds to wait, from `Retry-After`; null without that header. */
  readonly retryAfterMs: number | null;
}

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
    `the service responded with HTTP ${status}${category === null ? "" : ` ${category}`}${said}. ` +
    `${adviceFor(status, category)}`
  );
}

const ADVICE_BY_CATEGORY: Readonly<Record<string, string>> = {
  SIGNATURE_MISSING: "Check proxies on the way to the service: one of them removes the stamp's header.",
  SIGNATURE_INVALID: "Check that the private key matches the public key, and that no proxy changes the body.",
  PUBLIC_KEY_NOT_FOUND: "Register the key with the organization, or use a registered key.",
  API_KEY_EXPIRED: "Make a new API key or session.",
  ORGANIZATION_NOT_FOUND: "Check the organization's id and the base address.",
  REQUEST_NOT_AUTHORIZED: "Give the key's user the right to do this, or use another key.",
};
const ADVICE_BY_STATUS: Readonly<Record<number, string>> = {
  400: "Correct the request. If the service refuses its time, check this machine's clock.",
  401: "Check that the key is registered with this organization. Also check this machine's clock.",
  403: "Give the key's user the right to do this, or use another key.",
  404: "Check the ids, the organization and the base address.",
  408: "Try again.",
  413: "Send a smaller request.",
  429: "Wait, and send fewer requests.",
};

function adviceFor(status: number, category: string | null): string {
  const known = ADVICE_BY_CATEGORY[category ?? ""] ?? ADVICE_BY_STATUS[status];
  if (known !== undefined) return known;
  // Some runtimes report status 0 for a redirect that they do not follow.
  if (status === 0 || (status >= 300 && status < 400))
    return "Redirects are not followed. Use the base address of the service itself.";
  return status >= 500 ? "Try again later." : "Check the request and the base address.";
}

/** Reads an error response. If the body has another form, only the status is used. */
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

export function requestError(operation: string, faults: readonly Fault[]): ClientError {
  return new ClientError("request", `not sent: ${faultText(faults)}`, { operation, faults });
}

export function answerError(operation: string, faults: readonly Fault[], effect: "none" | "unknown"): ClientError {
  return new ClientError("answer", `the answer does not match the interface: ${faultText(faults)}`, {
    operation,
    faults,
    effect,
  });
}

/** Evidence of `what` could not be fetched. `advice` begins with a space, or is empty. */
export function evidenceError(what: string, cause: Error, facts: ClientErrorFacts = {}, advice = ""): ClientError {
  const code = cause instanceof ClientError && cause.code === "aborted" ? "aborted" : "evidence";
  return new ClientError(code, `${what} could not be fetched (${cause.message}).${advice}`, { ...facts, cause });
}

export function activityEvidenceError(
  cause: Error,
  { operation, activityId }: Pick<RejectedActivityError, "operation" | "activityId">,
): ClientError {
  const what = `the evidence for ${activityId ?? "the activity"}`;
  if (operation === null) return evidenceError(what, cause, { activityId });
  const advice = " It was submitted: verify it later with verifyActivity, and do not submit it again.";
  return evidenceError(what, cause, { operation, activityId, effect: "unknown" }, advice);
}

/**
 * An activity was rejected, but the service may have executed it. `activityId` and `activityStatus` are unverified: use
 * them only for investigating. The rest of the response is withheld.
 *
 * The message is `rejected: IDS (OPERATION ACTIVITY): what to do. … Details: …`, with the ids of the failed checks.
 * Signers of other libraries keep only an error's message.
 */
export class RejectedActivityError extends RejectedError {
  override readonly name = "RejectedActivityError";
  readonly operation: string | null;
  readonly activityId: string | null;
  readonly activityStatus: string | null;
  /**
   * The activity of an unfinished submit, without result and app proofs. It waits for votes or MFA, or has failed. Its
   * id, organization and type match the request. Null for every other rejection.
   */
  declare readonly unfinished: JsonObject | null;
  /** Whether the answer has app proofs. */
  declare readonly hasAppProofs: boolean;

  constructor(
    report: Report,
    facts: {
      readonly operation: string | null;
      readonly activityId: string | null;
      readonly activityStatus: string | null;
      readonly hasAppProofs: boolean;
      readonly unfinished: JsonObject | null;
      readonly message: string;
    },
  ) {
    super(report, facts.message);
    this.operation = facts.operation;
    this.activityId = facts.activityId;
    this.activityStatus = facts.activityStatus;
    const { unfinished, hasAppProofs } = facts;
    // These members are not enumerable, so that logs show no activity.
    Object.defineProperties(this, { unfinished: { value: unfinished }, hasAppProofs: { value: hasAppProofs } });
  }
}

/** Accounts of an answer are of classes that the caller does not accept, or were not requested. */
export class RejectedAddressesError extends Error {
  override readonly name = "RejectedAddressesError";
  readonly code = "rejected";
  readonly operation: string;
  /** The rows that are not accepted. They are not enumerable, so that logs show only the message. */
  declare readonly rows: readonly AddressRow[];
  /** Keys that were exported or imported, any of which may be that of an account. Not enumerable, too. */
  declare readonly unplaced: readonly UnplacedKey[];

  constructor(operation: string, rows: readonly AddressRow[], unplaced: readonly UnplacedKey[]) {
    const reasons = [
      ...rows.map(({ class: name, address, reason }) => `${name}: ${address} (${cut(reason ?? "", 300)})`),
      ...unplaced.map((key) => `${UNPLACED}: ${unplacedText(key)}`),
    ];
    super(`rejected: ${operation}: ${listed(reasons, "; ")}. Do not use these addresses, or name this in accept.`);
    this.operation = operation;
    Object.defineProperties(this, { rows: { value: rows }, unplaced: { value: unplaced } });
  }
}

/** An answer of the auth proxy was rejected. A sign-up may have made an organization, whose addresses are not safe. */
export class RejectedAuthProxyError extends Error {
  override readonly name = "RejectedAuthProxyError";
  readonly code = "rejected";
  /** Name of the operation, such as `signup_v2`. */
  readonly operation: string;
  /** The report of the sign-up or of the token, or null if there was nothing to verify. */
  declare readonly report: Report | TokenReport<object> | null;

  constructor(operation: string, reasons: readonly string[], report: Report | TokenReport<object> | null) {
    const words = reasons.map((reason) => cut(reason, 1000));
    super(`rejected: ${operation}: ${listed(words, "; ")}. Do not use what the auth proxy returned.`);
    this.operation = operation;
    Object.defineProperty(this, "report", { value: report });
  }
}
