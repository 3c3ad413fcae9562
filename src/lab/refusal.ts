/** The service's errors (client/README.md, "Errors"). */
import type { JsonObject } from "../decode/json.js";

const KINDS = {
  SIGNATURE_MISSING: { status: 401, code: 16 },
  SIGNATURE_INVALID: { status: 401, code: 16 },
  PUBLIC_KEY_NOT_FOUND: { status: 401, code: 16 },
  API_KEY_EXPIRED: { status: 401, code: 16 },
  REQUEST_NOT_AUTHORIZED: { status: 403, code: 7 },
  ORGANIZATION_NOT_FOUND: { status: 404, code: 5 },
  REQUEST_INVALID: { status: 400, code: 3 },
  RATE_LIMIT_EXCEEDED: { status: 429, code: 8 },
  INTERNAL: { status: 500, code: 13 },
} as const;

type RefusalCategory = keyof typeof KINDS;

/** A request was refused and changed nothing. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly category: RefusalCategory;
  readonly status: number;
  /** The gRPC status code. */
  readonly code: number;
  /** The seconds of the header Retry-After. */
  readonly retryAfter: number | undefined;

  constructor(
    category: RefusalCategory,
    message: string,
    facts: { readonly status: number; readonly code: number } = KINDS[category],
    retryAfter?: number,
  ) {
    super(message);
    this.category = category;
    this.status = facts.status;
    this.code = facts.code;
    this.retryAfter = retryAfter;
  }

  get body(): JsonObject {
    const detail = { "@type": "type.googleapis.com/bootproof.lab.ErrorDetail", turnkeyErrorCode: this.category };
    return { code: this.code, message: this.message, details: [detail] };
  }
}

export function invalid(message: string): Refusal {
  return new Refusal("REQUEST_INVALID", message);
}

export function notFound(message: string): Refusal {
  return new Refusal("REQUEST_INVALID", message, { status: 404, code: 5 });
}

export function tooMany(retryAfterMs: number): Refusal {
  const seconds = Math.ceil(retryAfterMs / 1000);
  return new Refusal("RATE_LIMIT_EXCEEDED", `too many requests: wait ${seconds} s`, undefined, seconds);
}

export function notAllowed(message: string): Refusal {
  return new Refusal("REQUEST_NOT_AUTHORIZED", message);
}
