/** What was verified, as data for the report. Nothing that is only claimed goes in here. */
import { toHex } from "../bytes.js";
import type { AppProofPayload } from "../decode/app-proof.js";
import type { AttestationDocument } from "../decode/attestation-document.js";
import type { Manifest, PivotManifest, QuorumMember, WorkloadManifest } from "../decode/manifest/index.js";
import type { CommitmentKind } from "../verify/commitment.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import type {
  ActivityClaims, AppProofClaims, BootProofClaims, HardwareClaims, ImageClaims, ManifestClaims, OpenQuestion,
} from "./report.js";

/** The deployment of the policy that matched, as far as the report tells of it. */
export interface MatchedPins {
  readonly name: string;
  readonly open: readonly OpenQuestion[];
  /** The reasons of `policy.scope`. */
  readonly scope: readonly string[];
  /** The PCRs that every image which it accepts is pinned by. */
  readonly pcrs: readonly number[];
}

/** What the report needs of a verified attestation. */
interface AttestationFacts {
  readonly document: AttestationDocument;
  readonly trustAnchor: TrustAnchor;
}

/** What the report needs of a verified boot proof. */
interface BootProofFacts {
  readonly attestation: AttestationFacts;
  readonly manifest: Manifest;
  readonly manifestHash: Uint8Array;
  readonly approvers: readonly QuorumMember[];
  readonly commitment: CommitmentKind;
  readonly manifestCommitted: boolean;
  readonly debug: boolean;
}

/** What the report needs of a verified activity. */
interface ActivityFacts extends Omit<ActivityClaims, "id" | "organizationId" | "type" | "decisions"> {
  readonly activity: { readonly id: string; readonly organizationId: string; readonly type: string };
  readonly appProofs: readonly { readonly payload: AppProofPayload }[];
}

/** A verified boot proof never changes: its parts are spelled out once, however many app proofs it is asked for. */
const known = new WeakMap<BootProofFacts, { readonly hardware: HardwareClaims; readonly manifest: ManifestClaims }>();

/**
 * `trustAnchor`: as the caller calls it now, who may have called it otherwise when the boot proof was first verified.
 * `matched`: null where no policy was given.
 */
export function bootProofClaims(
  bootProof: BootProofFacts, trustAnchor: TrustAnchor, matched: MatchedPins | null,
): BootProofClaims {
  const { attestation, commitment, debug, manifestCommitted } = bootProof;
  const parts = known.get(bootProof) ?? { hardware: hardwareClaims(attestation), manifest: manifestClaims(bootProof) };
  known.set(bootProof, parts);
  const hardware = { ...parts.hardware, trustAnchor: trustAnchor.name };
  return claimsOf(hardware, { debug, manifest: parts.manifest, commitment, manifestCommitted }, matched);
}

/** Of a bare document. `debug`: debug mode was found, and allowed. */
export function attestationClaims(
  attestation: AttestationFacts, debug: boolean, matched: MatchedPins | null,
): BootProofClaims {
  const image = { debug, manifest: null, commitment: null, manifestCommitted: false };
  return claimsOf(hardwareClaims(attestation), image, matched);
}

function claimsOf(
  hardware: HardwareClaims, image: Omit<ImageClaims, "pinned" | "pinnedPcrs">, matched: MatchedPins | null,
): BootProofClaims {
  return {
    hardware,
    image: { pinned: matched !== null, pinnedPcrs: [...(matched?.pcrs ?? [])], ...image },
    deployment: matched?.name ?? null,
    open: [...(matched?.open ?? [])],
    scope: [...(matched?.scope ?? [])],
  };
}

function hardwareClaims({ document, trustAnchor }: AttestationFacts): HardwareClaims {
  return {
    trustAnchor: trustAnchor.name,
    moduleId: document.moduleId,
    documentTime: new Date(document.timestamp).toISOString(),
    pcrs: Object.fromEntries([...document.pcrs].map(([index, value]) => [index, toHex(value)])),
    publicKey: document.publicKey && toHex(document.publicKey),
    userData: document.userData && toHex(document.userData),
    nonce: document.nonce && toHex(document.nonce),
  };
}

function manifestClaims({ manifest, manifestHash, approvers }: BootProofFacts): ManifestClaims {
  return {
    version: manifest.version,
    hash: toHex(manifestHash),
    namespace: manifest.namespace.name,
    nonce: manifest.namespace.nonce,
    quorumKey: toHex(manifest.namespace.quorumKey),
    ...(manifest.pivot === undefined ? workloadClaims(manifest) : pivotClaims(manifest)),
    threshold: manifest.manifestSet.threshold,
    members: manifest.manifestSet.members.length,
    approvedBy: approvers.map(({ alias, pubKey }) => ({ alias, pubKey: toHex(pubKey) })),
  };
}

type ApplicationClaims = Pick<ManifestClaims, "pivotHash" | "pivotArgs" | "pivotEnv" | "workloads">;

function pivotClaims({ pivot }: PivotManifest): ApplicationClaims {
  return {
    pivotHash: toHex(pivot.hash),
    pivotArgs: [...pivot.args],
    pivotEnv: Object.fromEntries(pivot.env ?? []),
    workloads: null,
  };
}

function workloadClaims({ workloads }: WorkloadManifest): ApplicationClaims {
  const digests = workloads.map(({ name, imageDigest }) => [name, `sha256:${toHex(imageDigest)}`] as const);
  return { pivotHash: null, pivotArgs: null, pivotEnv: null, workloads: Object.fromEntries(digests) };
}

/** `bootProof`: index of the boot proof it was judged under. */
export function appProofClaims({ payload }: { readonly payload: AppProofPayload }, bootProof: number): AppProofClaims {
  return { bootProof, type: payload.type, time: new Date(payload.timestampMs).toISOString(), payload: payload.json };
}

export function activityClaims(facts: ActivityFacts): ActivityClaims {
  const { activity: { id, organizationId, type }, appProofs } = facts;
  return {
    id,
    organizationId,
    type,
    asked: [...facts.asked],
    coveredAddresses: [...facts.coveredAddresses],
    uncoveredAddresses: [...facts.uncoveredAddresses],
    resultWithoutProof: [...facts.resultWithoutProof],
    subOrganizationId: facts.subOrganizationId,
    walletId: facts.walletId,
    decisions: appProofs.filter(({ payload }) => payload.policyOutcomeProof !== undefined).length,
  };
}
