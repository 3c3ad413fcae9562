/** Tables of the links of the chain of trust, and of their states. */
import type { ChainLink, CheckId } from "../checks.js";

/** Links from the top. Each depends on those above it. `other` has the checks that this version does not know. */
export const LINKS = {
  anchor: { title: "Anchor", asks: "Do the certificates start at a root that this verifier trusts?" },
  certificates: { title: "Certificates", asks: "Is each certificate signed by the one above it, valid and in place?" },
  document: { title: "Document", asks: "Did the hardware's key sign this attestation document?" },
  measurements: {
    title: "Measurements",
    asks: "Did the hardware measure the image, and is it not in debug mode?",
  },
  manifest: { title: "Manifest", asks: "Does the document commit to this manifest, which lists what runs?" },
  approvals: { title: "Approvals", asks: "Did enough members of the manifest set approve the manifest?" },
  key: { title: "Ephemeral key", asks: "Does the document attest this key, and did the enclave commit to it?" },
  "app-proofs": { title: "App proofs", asks: "Did the attested key sign what the application stated?" },
  claims: { title: "Claims", asks: "Do the statements match the request?" },
  policy: { title: "Policy", asks: "Is the enclave one that the policy pins?" },
  other: { title: "Other checks", asks: "What else does the report check?" },
} as const satisfies Record<ChainLink | "other", object>;

export type LinkId = keyof typeof LINKS;

/** Names of states, also for screen readers. */
export const STATE_WORDS = {
  proven: "Proven",
  warned: "Warning",
  failed: "Failed",
  word: "Image's word",
  open: "Not checked",
  unproven: "Not proven",
} as const;

/** Word for claims, such as addresses, that app proofs prove, but that were not compared with a request. */
export const NOT_COMPARED = "Not compared";

export type LinkState = keyof typeof STATE_WORDS;

/** Checks of which one must pass before the link is proven. The other checks of the link alone prove nothing. */
export const DECIDED_BY: Readonly<Record<LinkId, readonly CheckId[]>> = {
  anchor: ["chain.anchor"],
  certificates: ["chain.signature"],
  document: ["cose.signature"],
  measurements: ["mode.debug"],
  manifest: ["bind.user-data"],
  approvals: ["envelope.approvals"],
  key: ["bind.key"],
  "app-proofs": ["app.signature"],
  claims: ["app.request", "activity.request"],
  policy: ["policy.deployment"],
  other: [],
};

/** Links whose content only the image vouches for. In debug mode the link of the policy depends on them, too. */
export const SAID_BY_IMAGE: ReadonlySet<LinkId> = new Set([
  "manifest",
  "approvals",
  "key",
  "app-proofs",
  "claims",
  "policy",
]);

/** Reasons why a link has no checks. */
export const ABSENT: Readonly<Partial<Record<LinkId, string>>> = {
  manifest: "A bare attestation document comes without a manifest.",
  approvals: "A bare attestation document comes without approvals.",
  key: "Only the application defines what the key of a bare document is for.",
  "app-proofs": "There is no app proof for this boot proof.",
  claims: "There is no app proof or activity, so nothing is claimed.",
  policy: "Without a policy, neither the owner of the enclave nor the code in it is checked.",
};
