/** What was verified, as data for the report. Nothing that is only claimed goes in here. */
import { toHex } from "../bytes.js";
import type { VerifiedActivity } from "../verify/activity.js";
import type { VerifiedAppProof } from "../verify/app-proof.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import type { ActivityClaims, AppProofClaims, BootProofClaims, ManifestClaims } from "./report.js";

/** A verified boot proof never changes: its claims are spelled out once, frozen, however many app proofs it is asked for. */
const known = new WeakMap<VerifiedBootProof, BootProofClaims>();

/** `trustAnchor`: as the caller calls it now, who may have called it otherwise when the boot proof was first verified. */
export function bootProofClaims(bootProof: VerifiedBootProof, trustAnchor: TrustAnchor, deployment: string | null): BootProofClaims {
  const { attestation, commitment, debug } = bootProof;
  const claims = known.get(bootProof) ?? { ...attestationClaims(attestation, debug, null), manifest: manifestClaims(bootProof), commitment };
  known.set(bootProof, claims);
  return { ...claims, trustAnchor: trustAnchor.name, deployment };
}

export function attestationClaims(attestation: VerifiedAttestation, debug: boolean, deployment: string | null): BootProofClaims {
  const { document, trustAnchor } = attestation;
  return {
    trustAnchor: trustAnchor.name,
    documentTime: new Date(document.timestamp).toISOString(),
    moduleId: document.moduleId,
    pcrs: Object.freeze(Object.fromEntries([...document.pcrs].map(([index, value]) => [index, toHex(value)]))),
    debug,
    publicKey: document.publicKey && toHex(document.publicKey),
    userData: document.userData && toHex(document.userData),
    manifest: null,
    commitment: null,
    deployment,
  };
}

function manifestClaims({ manifest, manifestHash, approvers }: VerifiedBootProof): ManifestClaims {
  return Object.freeze({
    version: manifest.version,
    hash: toHex(manifestHash),
    namespace: manifest.namespace.name,
    nonce: manifest.namespace.nonce,
    quorumKey: toHex(manifest.namespace.quorumKey),
    pivotHash: toHex(manifest.pivot!.hash),
    pivotArgs: manifest.pivot!.args,
    threshold: manifest.manifestSet.threshold,
    members: manifest.manifestSet.members.length,
    approvedBy: approvers.map(({ alias, pubKey }) => Object.freeze({ alias, pubKey: toHex(pubKey) })),
  });
}

/** `bootProof`: index of the boot proof it was judged under. */
export function appProofClaims({ payload }: VerifiedAppProof, bootProof: number): AppProofClaims {
  return { bootProof, type: payload.type, time: new Date(payload.timestampMs).toISOString(), payload: payload.json };
}

export function activityClaims({ activity, coveredAddresses, uncoveredAddresses }: VerifiedActivity): ActivityClaims {
  const { id, organizationId, type } = activity;
  return { id, organizationId, type, coveredAddresses, uncoveredAddresses };
}
