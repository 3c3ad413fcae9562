/** PLACEHOLDER */
import type { Checklist } from "../checks.js";
import type { HeldDemand, ProvenanceFacts, ProvenanceInput, ProvenanceVerifier } from "./provenance.js";
export async function runProvenanceChecks(
  _inputs: readonly ProvenanceInput[],
  _demands: readonly HeldDemand[],
  _verifier: ProvenanceVerifier | null,
): Promise<{ facts: (ProvenanceFacts | null)[]; checklists: Checklist[] }> {
  throw new Error("not yet");
}
