/** Verified facts as data for the report, without any unverified claim. */
import { toHex } from "../bytes.js";
import type { Appraisal, MatchedDeployment } from "../appraise/appraisal.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import type { PivotManifest, WorkloadManifest } from "../decode/manifest/index.js";
import type { VerifiedActivity } from "../verify/activity.js";
import type { VerifiedAppProof } from "../verify/app-proof.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import type { CheckedBootProof, VerifiedBootProof } from "../verify/boot-proof.js";
import { COMMITMENTS, type CommitmentKind } from "../verify/commitment.js";
import type { VerifyContext } from "../verify/context.js";
import type { VerifiedProvenance } from "../verify/provenance.js";
import type { SignedBytesResult, VerifiedSignedBytes } from "../verify/signed-bytes.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import type {
  ActivityClaims,
  AppProofClaims,
  BootProofClaims,
  Claims,
  HardwareClaims,
  ImageClaims,
  ManifestClaims,
  ProvenanceClaims,
  SignedBytesClaims,
} from "./report.js";

/** Claims of boot proofs. A verified boot proof never changes, so its claims are made once for all its reports. */
const known = new WeakMap<VerifiedBootProof, LastingClaims>();

interface LastingClaims {
  readonly hardware: HardwareClaims;
  readonly manifest: ManifestClaims;
}

/**
 * Makes the claims of a boot proof. `trustAnchor` has the name that the caller uses now, which may differ from the
 * first verification. `matched` is null without a policy. `measurements` are the PCRs that the caller pinned.
 */
function bootProofClaims(
  bootProof: VerifiedBootProof,
  trustAnchor: TrustAnchor,
  matched: MatchedDeployment | null,
  measurements: VerifyContext["measurements"] = null,
): BootProofClaims {
  const { commitment, debug, manifestCommitted } = bootProof;
  const parts = known.get(bootProof) ?? lastingClaims(bootProof);
  const hardware = { ...parts.hardware, trustAnchor: trustAnchor.name };
  const claims = claimsOf(
    hardware,
    { ...given(measurements), debug, manifest: parts.manifest, commitment, manifestCommitted },
    matched,
  );
  return bootProof.form === "service" ? claims : { form: bootProof.form, ...claims };
}

function lastingClaims(bootProof: VerifiedBootProof): LastingClaims {
  const claims = { hardware: hardwareClaims(bootProof.attestation), manifest: manifestClaims(bootProof) };
  known.set(bootProof, claims);
  return claims;
}

export function evidenceClaims(
  boots: readonly Pick<CheckedBootProof, "verified" | "trustAnchor">[],
  {
    appProofs,
    activity,
    signedBytes,
  }: {
    readonly appProofs: readonly (VerifiedAppProof | null)[];
    readonly activity: VerifiedActivity | null;
    readonly signedBytes?: SignedBytesResult;
  },
  appraisal: Appraisal | null,
  measurements: VerifyContext["measurements"],
): Claims {
  const bootProofs = boots.map(({ verified }) => verified);
  return {
    bootProofs: boots.flatMap(({ verified, trustAnchor }, index) =>
      verified && trustAnchor
        ? [bootProofClaims(verified, trustAnchor, appraisal?.deployments[index] ?? null, measurements)]
        : [],
    ),
    appProofs: appProofs.flatMap((app) => (app ? [appProofClaims(app, bootProofs.indexOf(app.bootProof))] : [])),
    activity: activity && activityClaims(activity),
    ...(signedBytes && { signedBytes: bytesClaims(signedBytes, bootProofs.indexOf(signedBytes.bootProof)) }),
  };
}

function bytesClaims(
  { message, messageDigest, isExpected }: VerifiedSignedBytes,
  bootProof: number,
): SignedBytesClaims {
  return { bootProof, length: message.length, sha256: toHex(messageDigest), expected: isExpected };
}

/** Adds the claims of the bundles that meet a demand. Without such bundles, the claims stay as they are. */
export function withProvenance(claims: Claims, provenance: readonly (VerifiedProvenance | null)[]): Claims {
  const met = provenance.flatMap((verified, index) => (verified ? [provenanceClaims(verified, index)] : []));
  return met.length === 0 ? claims : { ...claims, provenance: met };
}

function provenanceClaims(verified: VerifiedProvenance, index: number): ProvenanceClaims {
  const { statement, identity, release, signedTimes, trustedRoot, demanded, meets } = verified;
  const { buildConfig, san, ...others } = identity;
  return {
    bundle: index,
    meets: meets.map(({ bootProof, deployment, workload, digest }) => ({
      bootProof: Number(/\d+/.exec(bootProof)![0]),
      deployment,
      workload,
      digest,
    })),
    predicateType: statement.predicateType,
    signer: { ...others, workflow: buildConfig, identity: san },
    ...(release && { release: { ...release } }),
    signedTimes: [...signedTimes],
    trustedRoot: { ...trustedRoot },
    demanded: { ...demanded },
  };
}

export function attestationClaims(
  attestation: VerifiedAttestation,
  debug: boolean,
  appraisal: Appraisal | null,
  measurements: VerifyContext["measurements"],
): Claims {
  const image = { ...given(measurements), debug, manifest: null, commitment: null, manifestCommitted: false };
  const claims = claimsOf(hardwareClaims(attestation), image, appraisal?.deployments[0] ?? null);
  return { bootProofs: [claims], appProofs: [], activity: null };
}

function given(measurements: VerifyContext["measurements"]): Pick<ImageClaims, "givenPcrs"> {
  return measurements === null || measurements.size === 0 ? {} : { givenPcrs: [...measurements.keys()] };
}

function claimsOf(
  hardware: HardwareClaims,
  image: Omit<ImageClaims, "pinned" | "pinnedPcrs" | "restsOn">,
  matched: MatchedDeployment | null,
): BootProofClaims {
  return {
    hardware,
    image: {
      pinned: matched !== null,
      pinnedPcrs: [...(matched?.pcrs ?? [])],
      ...image,
      restsOn: restsOn(image.commitment, matched),
    },
    deployment: matched?.name ?? null,
    open: [...(matched?.open ?? [])],
    scope: [...(matched?.scope ?? [])],
  };
}

function restsOn(commitment: CommitmentKind | null, matched: MatchedDeployment | null): ImageClaims["restsOn"] {
  if (commitment === null) return null;
  return COMMITMENTS[commitment].register === null ? (matched?.manifestPin ?? null) : "commitment";
}

function hardwareClaims({ document, trustAnchor }: VerifiedAttestation): HardwareClaims {
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

function manifestClaims({ manifest, manifestHash, approvers }: VerifiedBootProof): ManifestClaims {
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
  const digests = workloads.map(({ name, imageDigest }) => [name, imageDigestText(imageDigest)] as const);
  return { pivotHash: null, pivotArgs: null, pivotEnv: null, workloads: Object.fromEntries(digests) };
}

/** Makes the claims of an app proof. `bootProof` is the index of the boot proof that attests its key. */
function appProofClaims({ payload, expectation, answers }: VerifiedAppProof, bootProof: number): AppProofClaims {
  const { type, timestampMs, json } = payload;
  const time = timestampMs === null ? null : new Date(timestampMs).toISOString();
  return { bootProof, type, time, payload: json, expectation, answers };
}

function activityClaims(facts: VerifiedActivity): ActivityClaims {
  const {
    activity: { id, organizationId, type },
    appProofs,
  } = facts;
  return {
    id,
    organizationId,
    type,
    asked: [...facts.asked],
    question: facts.question,
    coveredAddresses: [...facts.coveredAddresses],
    uncoveredAddresses: [...facts.uncoveredAddresses],
    resultWithoutProof: [...facts.resultWithoutProof],
    subOrganizationId: facts.subOrganizationId,
    walletId: facts.walletId,
    ...(facts.signatures && { signatures: [...facts.signatures] }),
    decisions: appProofs.filter(({ payload }) => payload.policyOutcomeProof !== undefined).length,
  };
}
