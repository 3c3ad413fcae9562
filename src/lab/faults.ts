/**
 * The faults of the service, with the checks that fail because of each. Faults without `needs` affect every submit with
 * `generateAppProofs`, and the boot proofs for its app proofs.
 */
import { ADDRESS_FAULTS } from "./address-faults.js";
import { ACTIVITY_FAULTS, ANSWER_FAULTS, APP_PROOF_FAULTS, NEW_WALLET_FAULTS } from "./answer-faults.js";
import type { FaultFacts } from "./behaviour.js";
import { BINDING_FAULTS, DOCUMENT_FAULTS, MANIFEST_FAULTS, POLICY_FAULTS } from "./boot-faults.js";
import { SIGNATURE_FAULTS } from "./signature-faults.js";

/** The faults, roughly in the order of the checks that fail. */
export const BEHAVIOURS = {
  ...DOCUMENT_FAULTS,
  ...MANIFEST_FAULTS,
  ...BINDING_FAULTS,
  ...APP_PROOF_FAULTS,
  ...ACTIVITY_FAULTS,
  ...ANSWER_FAULTS,
  ...NEW_WALLET_FAULTS,
  ...SIGNATURE_FAULTS,
  ...POLICY_FAULTS,
  ...ADDRESS_FAULTS,
};

export type FaultName = keyof typeof BEHAVIOURS;

/** Any string, so that a program can pass names from elsewhere. Editors complete the known names. */
export type GivenFaultName = FaultName | (string & Record<never, never>);

export interface LabFault extends FaultFacts {
  readonly name: FaultName;
}

export const FAULTS: readonly LabFault[] = Object.entries(BEHAVIOURS).map(([name, { what, fails, needs, shows }]) => ({
  name: name as FaultName,
  what,
  fails,
  ...(needs && { needs }),
  ...(shows && { shows }),
}));
