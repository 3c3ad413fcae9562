/** Constants that verification needs before it loads the code for app proofs. */

/** Maximum number of app proofs. A file of 1 MiB holds fewer complete app proofs. */
export const MAX_APP_PROOFS = 2048;

/** The payload types that this tool knows. Payloads of both types have a time. */
export const KNOWN_PAYLOAD_TYPES: readonly string[] = [
  "APP_PROOF_TYPE_ADDRESS_DERIVATION",
  "APP_PROOF_TYPE_POLICY_OUTCOME",
];
