/** The kept evidence of an organization's sign-up, which its users cannot list (door/README.md, "Accounts"). */
import { readAddressActivity } from "../addresses/lists.js";
import { COMPLETED } from "../decode/activity.js";
import { isSubOrganizationType } from "../decode/activity-rules.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { unwrap } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { attempt } from "../errors.js";
import type { AddressPiece } from "./addresses.js";
import { ClientError } from "./errors.js";
import { fetchEvidence } from "./evidence.js";
import { askCaller, keyOfBootProof } from "./evidence-source.js";

/**
 * Returns or resolves to the activity that made the organization, as `{activity, bootProofs?}`; to the auth proxy's
 * answer to its sign-up, perhaps with `bootProofs` beside it; or to null.
 */
export type FindSignUp = (organizationId: string) => unknown;

interface SignUpCall {
  readonly organizationId: string;
  /** The query whose answer it explains. */
  readonly operation: string;
  /** Finds a boot proof that was not kept, by its key in hex. */
  readonly bootProofOf: (key: string) => Promise<JsonValue>;
}

/** Returns the pieces of the sign-up, none for null. Boot proofs that it lacks are fetched. */
export async function signUpPieces(
  find: FindSignUp,
  { organizationId, operation, bootProofOf }: SignUpCall,
): Promise<AddressPiece[]> {
  const kept = await askCaller("signUpEvidence", operation, () => find(organizationId));
  if (kept === null) return [];
  const activity = activityIn(kept);
  const facts = attempt(() => readAddressActivity(activity)).value;
  if (facts?.subOrganizationId !== organizationId || !isSubOrganizationType(facts.type))
    throw new ClientError("evidence", `${EXPECTED} ${organizationId}, or null`, { operation });
  const { bootProofs: given = [] } = kept as JsonObject;
  const bootProofs = [given].flat().map((each) => unwrap(each, "bootProof") as JsonObject);
  const known = new Map(bootProofs.map((each) => [keyOfBootProof(each), each]));
  const found = async (key: string): Promise<JsonValue | null> =>
    known.get(key) ?? (key.length === 2 * QOS_PUBLIC_KEY_LENGTH ? bootProofOf(key) : null);
  const evidence = await fetchEvidence(activity, found, MAX_APP_PROOFS);
  return [
    { kind: "start", organizationIds: [organizationId], parentOrganizationId: facts.organizationId },
    { ...evidence, kind: "activity", organizationId, activityId: facts.id },
  ];
}

const EXPECTED = "options.signUpEvidence: expected the activity or the answer of the sign-up that made organization";

/** Returns the activity. The answer of the auth proxy is the result of one, which it does not name. */
function activityIn(kept: JsonValue): JsonValue {
  if (!isJsonObject(kept) || Object.hasOwn(kept, "activity") || Object.hasOwn(kept, "id"))
    return unwrap(kept, "activity") as JsonValue;
  const { organizationId = null, wallet = null, appProofs = [] } = kept;
  const result = { createSubOrganizationResult: { subOrganizationId: organizationId, wallet } };
  const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION";
  return { id: "sign-up", organizationId, type, status: COMPLETED, intent: {}, result, appProofs };
}
