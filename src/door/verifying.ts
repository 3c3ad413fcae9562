/** What a door fetches and verifies with. A page has it later than its door (`later.ts`). */
import { NamedEvidence } from "../bootproof.js";
import { fromHex } from "../bytes.js";

export { verifyAnswer, verifyEvidence } from "../bootproof.js";
export { unfinishedOf } from "../verify/unfinished.js";
export { rejectionText } from "./rejection.js";
export { fetchBootProof, fetchEvidence, hasAppProofs, withAppProofs } from "./evidence.js";

/** Names boot proofs by their keys, because verification compares each attested key with the one that was asked for. */
export function namedBootProofs(
  fetched: readonly { readonly key: string; readonly evidence: unknown }[],
): NamedEvidence[] {
  return fetched.map(({ key, evidence }) => new NamedEvidence(null, evidence, { ephemeralKey: fromHex(key)! }));
}
