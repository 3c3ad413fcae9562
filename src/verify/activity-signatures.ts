/** Which requests ask for signatures. `signatures.ts` verifies them, and is loaded only then. */
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

/** Only what the caller submitted decides; a service could name another type. Null: the request asks for none. */
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

/** Why no signature was verified, where there is one to verify. */
export type Unverified = "unasked" | "unread" | "unproven";

/**
 * Null where the caller's request asks for no signature. `unasked`: the activity is one that signs, but the caller gave
 * no request. `unread`, `unproven`: the activity could not be read, or an app proof was rejected, so that nothing is
 * computed for whoever made it.
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
