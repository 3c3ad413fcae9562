/**
 * What is said of each check outside verification: a row each, which the compiler holds against the ids. `../checks.ts`
 * has the titles. The report of a rejection loads this; no other verification needs it.
 */
import type { CheckId } from "../checks.js";

/** The links of the chain of trust, as pages show it. */
export type ChainLink =
  | "anchor"
  | "certificates"
  | "document"
  | "measurements"
  | "manifest"
  | "approvals"
  | "key"
  | "app-proofs"
  | "claims"
  | "policy";

/** Checks that say the same of the claims of an attestation result. `status`: of its status alone. */
export type ClaimGroup =
  | "hardware"
  | "anchor"
  | "manifest"
  | "approvals"
  | "configuration"
  | "code"
  | "key"
  | "debug"
  | "scope"
  | "identity"
  | "status";

interface CheckRow {
  /** What a person usually does about a failure; a check that failed for another reason has its own advice. */
  readonly advice: string;
  readonly link: ChainLink;
  readonly claim: ClaimGroup;
}

export const CHECK_ROWS: Readonly<Record<CheckId, CheckRow>> = {
  "boot.decode": {
    advice: "Fetch the boot proof again, and give the service's answer as it came; if it stays so, report it.",
    link: "document",
    claim: "status",
  },
  "cose.structure": {
    advice: "The document is damaged or not from the hardware: fetch it again, and trust nothing of it meanwhile.",
    link: "document",
    claim: "hardware",
  },
  "cose.algorithm": {
    advice: "Only ES384 is accepted: a document with another header is not from the hardware.",
    link: "document",
    claim: "hardware",
  },
  "cose.signature": {
    advice: "The document was changed after it was signed, or is not from the hardware: trust nothing of it.",
    link: "document",
    claim: "hardware",
  },
  "doc.structure": {
    advice: "The document is damaged or not from the hardware: fetch it again, and trust nothing of it meanwhile.",
    link: "document",
    claim: "hardware",
  },
  "chain.anchor": {
    advice: "The document comes from another authority. Give its root only if it is your own test installation's.",
    link: "anchor",
    claim: "anchor",
  },
  "chain.signature": {
    advice: "A certificate was exchanged or changed: trust nothing of the document.",
    link: "certificates",
    claim: "hardware",
  },
  "chain.algorithm": {
    advice: "The hardware's authority uses P-384 with SHA-384 only: trust nothing of the document.",
    link: "certificates",
    claim: "hardware",
  },
  "chain.validity": {
    advice: "At the document's own time (--at document, the default) trust nothing of it; at another it is old.",
    link: "certificates",
    claim: "hardware",
  },
  "chain.constraints": {
    advice: "A certificate stands where its issuer did not allow it: trust nothing of the document.",
    link: "certificates",
    claim: "hardware",
  },
  "manifest.decode": {
    advice: "Fetch the boot proof again; if it stays so, this version of the tool may not know the manifest's version.",
    link: "manifest",
    claim: "manifest",
  },
  "envelope.decode": {
    advice: "Fetch the boot proof again; if it stays so, this version of the tool may not know the envelope's version.",
    link: "approvals",
    claim: "manifest",
  },
  "envelope.manifest": {
    advice: "The service sent an envelope that belongs to another manifest: report it.",
    link: "approvals",
    claim: "configuration",
  },
  "envelope.approvals": {
    advice: "The manifest is not approved as its own manifest set demands: report it.",
    link: "approvals",
    claim: "approvals",
  },
  "envelope.shares": {
    advice: "Who provisioned the quorum key is not as the envelope says: report it.",
    link: "approvals",
    claim: "approvals",
  },
  "bind.user-data": {
    advice: "The enclave booted with another manifest than the one shown: report it.",
    link: "manifest",
    claim: "configuration",
  },
  "bind.pcrs": {
    advice: "The enclave runs another image than the manifest names: report it.",
    link: "measurements",
    claim: "code",
  },
  "bind.image": {
    advice: "Another image runs than the one that you gave: compare the two builds before you rely on it.",
    link: "measurements",
    claim: "code",
  },
  "bind.key": {
    advice: "The document speaks of another key: ask for the boot proof of the key that signed your app proof.",
    link: "key",
    claim: "key",
  },
  "bind.commitment": {
    advice: "Manifest or key are not those that the enclave committed to when it booted: report it.",
    link: "key",
    claim: "key",
  },
  "bind.nonce": {
    advice:
      "The document answers another question than yours: ask again with a nonce of your own, and give that " +
      "with --nonce.",
    link: "document",
    claim: "status",
  },
  "mode.debug": {
    advice:
      "Nothing about the code of a debug enclave is proven. For a test installation, allow it with --allow-debug.",
    link: "measurements",
    claim: "debug",
  },
  "app.decode": {
    advice: "Fetch the app proof again, and give the service's answer as it came.",
    link: "app-proofs",
    claim: "status",
  },
  "app.signature": {
    advice: "The payload was changed, or another key signed it: do not use the result.",
    link: "app-proofs",
    claim: "status",
  },
  "app.key": {
    advice: "Give the boot proof of the key that the app proof names.",
    link: "app-proofs",
    claim: "status",
  },
  "app.payload": {
    advice: "The signed payload cannot be read without doubt: do not use the result.",
    link: "app-proofs",
    claim: "status",
  },
  "app.time": {
    advice: "The proof is not of this enclave's life, or not of your request: do not use the result.",
    link: "app-proofs",
    claim: "status",
  },
  "app.request": {
    advice: "The proof is genuine and about something else than you asked for: do not use the result.",
    link: "claims",
    claim: "status",
  },
  "activity.decode": {
    advice:
      "Give the service's answer as it came; it has app proofs where it was submitted with generateAppProofs: true.",
    link: "claims",
    claim: "status",
  },
  "activity.request": {
    advice: "The service answered with something else than you asked for: do not use the result.",
    link: "claims",
    claim: "status",
  },
  "activity.claims": {
    advice: "The proof speaks of something else than the activity: do not use the result.",
    link: "claims",
    claim: "status",
  },
  "activity.coverage": {
    advice: "Ask the service for an app proof of each address, or do not rely on the uncovered ones.",
    link: "claims",
    claim: "status",
  },
  "policy.scope": {
    advice: "Read what is left open, and pin it: policy.json can be narrower.",
    link: "policy",
    claim: "scope",
  },
  "policy.deployment": {
    advice: "If the new deployment is expected, review it and pin it (bootproof pin); if not, stop.",
    link: "policy",
    claim: "identity",
  },
  "policy.pcrs": {
    advice: "The measurements are others than pinned: compare with the release you expect.",
    link: "policy",
    claim: "code",
  },
  "policy.manifest-hash": {
    advice: "Another manifest was booted than the pinned one: review it before you pin it.",
    link: "policy",
    claim: "configuration",
  },
  "policy.pivot": {
    advice: "Another application binary runs: compare with the release you expect.",
    link: "policy",
    claim: "code",
  },
  "policy.workloads": {
    advice: "Other workloads run than the pinned ones: compare with the release you expect.",
    link: "policy",
    claim: "code",
  },
  "policy.args": {
    advice:
      "Other arguments or another environment change what the application does: compare with the release you expect.",
    link: "policy",
    claim: "configuration",
  },
  "policy.namespace": {
    advice: "The enclave belongs to another namespace than the pinned one.",
    link: "policy",
    claim: "configuration",
  },
  "policy.nonce": {
    advice: "An older manifest was booted than the policy allows: this may be a roll-back.",
    link: "policy",
    claim: "configuration",
  },
  "policy.quorum-key": {
    advice: "Another quorum key is provisioned: the enclave is not the pinned one.",
    link: "policy",
    claim: "identity",
  },
  "policy.manifest-set": {
    advice: "Other people can approve manifests than the policy expects.",
    link: "policy",
    claim: "configuration",
  },
  "policy.share-set": {
    advice: "Other people hold the quorum key's shares than the policy expects.",
    link: "policy",
    claim: "configuration",
  },
  "policy.user-data": {
    advice: "The enclave put other data into its document than the pinned ones.",
    link: "policy",
    claim: "configuration",
  },
  "policy.public-key": {
    advice: "The document is of another key than the pinned one.",
    link: "policy",
    claim: "identity",
  },
  "policy.commitment": {
    advice: "The enclave is of another kind or generation than the policy expects.",
    link: "policy",
    claim: "identity",
  },
  "policy.labels": {
    advice: "Labels are the service's word: ask why they changed.",
    link: "policy",
    claim: "status",
  },
  "policy.age": {
    advice: "Get a newer boot proof (bootproof verify --app NAME fetches it), or allow a greater maxAge.",
    link: "policy",
    claim: "status",
  },
  "policy.app-proof": {
    advice: "Give app proofs as the policy's appProofs asks for.",
    link: "policy",
    claim: "status",
  },
};
