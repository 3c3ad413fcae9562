/**
 * What renderers need of each check, one row each, total over the ids; titles are in `../checks.ts`. Loaded only by
 * renderers and for the report of a rejection.
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

/** Checks that affect the same claims of an attestation result. `status`: its status alone. */
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

interface RendererRow {
  /** The usual advice after a failure; a check that failed for a special reason has its own. */
  readonly advice: string;
  readonly link: ChainLink;
  readonly claim: ClaimGroup;
}

export const CHECK_ROWS: Readonly<Record<CheckId, RendererRow>> = {
  "boot.decode": {
    advice: "Fetch the boot proof again, and pass the service's response unchanged. If it still fails, report it.",
    link: "document",
    claim: "status",
  },
  "cose.structure": {
    advice: "The document is damaged or not from the hardware: trust nothing in it, and fetch it again.",
    link: "document",
    claim: "hardware",
  },
  "cose.algorithm": {
    advice: "The hardware signs with ES384 only, so this document is not from it: trust nothing in it.",
    link: "document",
    claim: "hardware",
  },
  "cose.signature": {
    advice: "The document was changed after it was signed, or is not from the hardware: trust nothing in it.",
    link: "document",
    claim: "hardware",
  },
  "doc.structure": {
    advice: "The document is damaged or not from the hardware: trust nothing in it, and fetch it again.",
    link: "document",
    claim: "hardware",
  },
  "chain.anchor": {
    advice: "The document comes from another authority. Add its root only if it is that of your own test installation.",
    link: "anchor",
    claim: "anchor",
  },
  "chain.signature": {
    advice: "A certificate was replaced or changed: trust nothing in the document.",
    link: "certificates",
    claim: "hardware",
  },
  "chain.algorithm": {
    advice: "The hardware's authority uses only P-384 with SHA-384: trust nothing in the document.",
    link: "certificates",
    claim: "hardware",
  },
  "chain.validity": {
    advice:
      "If it fails at the document's own time (--at document, the default), trust nothing in it; at another time it " +
      "is only old.",
    link: "certificates",
    claim: "hardware",
  },
  "chain.constraints": {
    advice: "A certificate is at a place that its issuer did not allow: trust nothing in the document.",
    link: "certificates",
    claim: "hardware",
  },
  "manifest.decode": {
    advice:
      "Fetch the boot proof again. If it still fails, this version of the tool may not know the version of the " +
      "manifest.",
    link: "manifest",
    claim: "manifest",
  },
  "envelope.decode": {
    advice:
      "Fetch the boot proof again. If it still fails, this version of the tool may not know the version of the " +
      "envelope.",
    link: "approvals",
    claim: "manifest",
  },
  "envelope.manifest": {
    advice: "The service sent the envelope of another manifest: report it.",
    link: "approvals",
    claim: "configuration",
  },
  "envelope.approvals": {
    advice: "The manifest is not approved as its own manifest set demands: report it.",
    link: "approvals",
    claim: "approvals",
  },
  "envelope.shares": {
    advice: "The envelope is wrong about who provisioned the quorum key: report it.",
    link: "approvals",
    claim: "approvals",
  },
  "bind.user-data": {
    advice: "The enclave did not boot the shown manifest: report it.",
    link: "manifest",
    claim: "configuration",
  },
  "bind.pcrs": {
    advice: "The manifest does not name the image that runs: report it.",
    link: "measurements",
    claim: "code",
  },
  "bind.image": {
    advice: "The image that runs is not the one that you gave: compare the two builds before you rely on it.",
    link: "measurements",
    claim: "code",
  },
  "bind.key": {
    advice: "The document attests another key: fetch the boot proof of the key that signed your app proof.",
    link: "key",
    claim: "key",
  },
  "bind.commitment": {
    advice: "The manifest or the key is not the one that the enclave committed to at boot: report it.",
    link: "key",
    claim: "key",
  },
  "bind.nonce": {
    advice:
      "The document is not the response to your request: send a new request with a new nonce, and pass that with " +
      "--nonce.",
    link: "document",
    claim: "status",
  },
  "mode.debug": {
    advice: "A debug enclave proves nothing about its code. For a test installation, allow it with --allow-debug.",
    link: "measurements",
    claim: "debug",
  },
  "app.decode": {
    advice: "Fetch the app proof again, and pass the service's response unchanged.",
    link: "app-proofs",
    claim: "status",
  },
  "app.signature": {
    advice: "The payload was changed, or another key signed it: do not use the result.",
    link: "app-proofs",
    claim: "status",
  },
  "app.key": {
    advice: "Give the boot proof that attests the key of the app proof: all of it, or its signing half.",
    link: "app-proofs",
    claim: "status",
  },
  "app.payload": {
    advice: "The signed payload is incomplete or ambiguous: do not use the result.",
    link: "app-proofs",
    claim: "status",
  },
  "app.time": {
    advice: "The proof was not made by this boot of the enclave, or not for your request: do not use the result.",
    link: "app-proofs",
    claim: "status",
  },
  "app.request": {
    advice: "Do not use the result: no app proof answers your request, or one answers another request.",
    link: "claims",
    claim: "status",
  },
  "activity.decode": {
    advice:
      "Pass the service's response unchanged. It has app proofs only if it was submitted with generateAppProofs: true.",
    link: "claims",
    claim: "status",
  },
  "activity.request": {
    advice: "The service did not return the activity that you requested: do not use the result.",
    link: "claims",
    claim: "status",
  },
  "activity.claims": {
    advice: "The proof and the activity contradict each other: do not use the result.",
    link: "claims",
    claim: "status",
  },
  "activity.coverage": {
    advice: "Request an app proof of each address from the service, or do not rely on the uncovered ones.",
    link: "claims",
    claim: "status",
  },
  "activity.signature": {
    advice: "Do not use the signature or broadcast the transaction: it is not the one that you requested.",
    link: "claims",
    claim: "status",
  },
  "policy.scope": {
    advice: "Read what the policy leaves open, and pin it.",
    link: "policy",
    claim: "scope",
  },
  "policy.deployment": {
    advice: "If you expect the new deployment, review it and pin it (bootproof pin). If not, stop.",
    link: "policy",
    claim: "identity",
  },
  "policy.pcrs": {
    advice: "The measurements are not the pinned ones: compare them with the release that you expect.",
    link: "policy",
    claim: "code",
  },
  "policy.manifest-hash": {
    advice: "The enclave booted a manifest that is not pinned: review it before you pin it.",
    link: "policy",
    claim: "configuration",
  },
  "policy.pivot": {
    advice: "Another application binary runs: compare it with the release that you expect.",
    link: "policy",
    claim: "code",
  },
  "policy.workloads": {
    advice: "The workloads are not the pinned ones: compare them with the release that you expect.",
    link: "policy",
    claim: "code",
  },
  "policy.args": {
    advice:
      "Other arguments or another environment change what the application does: compare them with the release that " +
      "you expect.",
    link: "policy",
    claim: "configuration",
  },
  "policy.namespace": {
    advice: "The enclave belongs to a namespace that is not pinned: do not rely on it.",
    link: "policy",
    claim: "configuration",
  },
  "policy.nonce": {
    advice:
      "The manifest is older than the policy allows, which may be a roll-back: find out why before you rely on it.",
    link: "policy",
    claim: "configuration",
  },
  "policy.quorum-key": {
    advice: "The enclave has another quorum key, so it is not the pinned one: do not rely on it.",
    link: "policy",
    claim: "identity",
  },
  "policy.manifest-set": {
    advice: "The people who can approve manifests are not the pinned ones: find out why before you rely on it.",
    link: "policy",
    claim: "configuration",
  },
  "policy.share-set": {
    advice: "The people who hold shares of the quorum key are not the pinned ones: find out why before you rely on it.",
    link: "policy",
    claim: "configuration",
  },
  "policy.user-data": {
    advice: "The user data of the document is not the pinned data: find out why before you rely on it.",
    link: "policy",
    claim: "configuration",
  },
  "policy.public-key": {
    advice: "The attested key is not the pinned one: do not rely on it.",
    link: "policy",
    claim: "identity",
  },
  "policy.commitment": {
    advice: "The kind or generation of the enclave is not the one that the policy demands: do not rely on it.",
    link: "policy",
    claim: "identity",
  },
  "policy.labels": {
    advice: "Only the service states the labels: find out why they changed.",
    link: "policy",
    claim: "status",
  },
  "policy.age": {
    advice: "Get a newer boot proof (bootproof verify --app NAME fetches it), or allow a greater maxAge.",
    link: "policy",
    claim: "status",
  },
  "policy.app-proof": {
    advice: "Give the app proofs that appProofs in the policy demands.",
    link: "policy",
    claim: "status",
  },
  "provenance.bundle": {
    advice: "Give the bundle that the build service made for this binary, and pin the trusted root of that service.",
    link: "policy",
    claim: "status",
  },
  "provenance.signer": {
    advice: "Do not use the binary until you know who built it; correct the policy only if it names the wrong build.",
    link: "policy",
    claim: "status",
  },
  "provenance.subject": {
    advice: "Give the provenance of the binary that this enclave runs, of a type that the policy demands.",
    link: "policy",
    claim: "status",
  },
};
