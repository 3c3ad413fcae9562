/** Responses of the proxy. Errors have the service's form (client/README.md, "Errors"). */
import type { JsonValue } from "../decode/json.js";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Body as JSON text. */
  readonly body: string;
  /** The reason for a refusal of the proxy, as text for the operator; null if the proxy did not refuse. */
  readonly note: string | null;
}

/** Kinds of refusals of the proxy itself, with the HTTP status and the gRPC status code of each. */
const REFUSALS = {
  "invalid-request": { status: 400, code: 3 },
  forbidden: { status: 403, code: 7 },
  "not-found": { status: 404, code: 5 },
  "too-large": { status: 413, code: 3 },
  misdirected: { status: 421, code: 3 },
  rejected: { status: 502, code: 9 },
  "invalid-answer": { status: 502, code: 14 },
  unreachable: { status: 502, code: 14 },
  evidence: { status: 502, code: 14 },
  busy: { status: 503, code: 14 },
  timeout: { status: 504, code: 4 },
  internal: { status: 500, code: 13 },
} as const;

export type RefusalKind = keyof typeof REFUSALS;

/** The header with the kind of a refusal of the proxy. */
const REFUSED = "X-Bootproof-Refused";

export function refusal(kind: RefusalKind, message: string, details: readonly JsonValue[] = []): Reply {
  const { status, code } = REFUSALS[kind];
  return {
    status,
    headers: { [REFUSED]: kind },
    body: JSON.stringify({ code, message: `bootproof proxy: ${message}`, details }),
    note: message,
  };
}
