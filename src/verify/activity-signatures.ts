/** Detection of requests that ask for signatures. Only then is `signatures.ts` loaded, which verifies them. */
import type { Activity } from "../decode/activity.js";
import type { JsonObject } from "../decode/json.js";
import type { Reading } from "../errors.js";
import type { VerifiedAppProof } from "./app-proof.js";
import type { Expectation } from "./expectation.js";
import type { SignedRequest, VerifiedSignatures } from "./signatures.js";

type Kind = SignedRequest["kind"];

const TYPE = /^ACTIVITY_TYPE_SIGN_(RAW_PAYLOADS?|TRANSACTION)(?:_V[0-9]+)?$/;
const KINDS: Readonly<Record<string, Kind>> = {
  RAW_PAYLOAD: "payload",
  RAW_PAYLOADS: "payloads",
  TRANSACTION: "transaction",
};

/** Returns the request if it asks for signatures. Only the caller's submission decides, as a service could lie. */
function signedRequest(expectation: Expectation | null): SignedRequest | null {
  if (expectation === null || expectation.parameters === null) return null;
  const { type, parameters } = expectation;
  const kind = type === null ? kindOfParameters(parameters) : kindOfType(type);
  return kind === null ? null : { kind, parameters };
}

function kindOfType(type: string): Kind | null {
  const [, what] = TYPE.exec(type) ?? [];
  return what === undefined ? null : KINDS[what]!;
}

function kindOfParameters(parameters: JsonObject): Kind | null {
  if ("unsignedTransaction" in parameters) return "transaction";
  if (!("encoding" in parameters && "hashFunction" in parameters)) return null;
  return "payloads" in parameters ? "payloads" : "payload";
}

/** Reason why no signature was verified, although there is one to verify. */
export type Unverified = "unasked" | "unread" | "unproven";

/**
 * Verifies the signatures that the caller's request asks for. Returns null if it asks for none, and `unasked` if the
 * activity signs but the caller gave no request. Returns `unread` if the activity could not be read, or `unproven` if
 * an app proof was rejected. In both cases, no work is done for whoever made the activity.
 */
export async function signaturesOf(
  expectation: Expectation | null,
  { value, whole }: { readonly value: Reading<Activity>["value"]; readonly whole: Activity | null },
  appProofs: readonly (VerifiedAppProof | null)[],
): Promise<VerifiedSignatures | Unverified | null> {
  const request = signedRequest(expectation);
  if (request === null) {
    const isAsked = expectation !== null && expectation.parameters !== null;
    return !isAsked && kindOfType(value.type ?? "") !== null ? "unasked" : null;
  }
  if (whole === null) return "unread";
  if (appProofs.includes(null)) return "unproven";
  const { verifySignatures } = await import("./signatures.js");
  return verifySignatures(request, whole);
}
