/** Constants that verification needs before it loads the code for app proofs. */

/** Maximum number of app proofs. A file of 1 MiB holds fewer complete app proofs. */
export const MAX_APP_PROOFS = 2048;

/** What the service calls the signature of an app proof. */
export const APP_PROOF_SCHEME = "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256" as const;

/** The type of app proofs of addresses. */
export const DERIVATION_TYPE = "APP_PROOF_TYPE_ADDRESS_DERIVATION";

/** The payload types that this tool knows. Payloads of both types have a time. */
export const KNOWN_PAYLOAD_TYPES: readonly string[] = [DERIVATION_TYPE, "APP_PROOF_TYPE_POLICY_OUTCOME"];
