/** What verification knows of app proofs before it reads any: their code is loaded when there is one. */

/** 1 MiB holds fewer whole app proofs than this. */
export const MAX_APP_PROOFS = 2048;

/** The types that this tool knows: both have a time. */
export const KNOWN_PAYLOAD_TYPES: readonly string[] = [
  "APP_PROOF_TYPE_ADDRESS_DERIVATION",
  "APP_PROOF_TYPE_POLICY_OUTCOME",
];
