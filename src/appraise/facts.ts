/** Verified evidence in the format of pins, which is lower-case hex. */
import { toHex } from "../bytes.js";
import type { AttestationDocument } from "../decode/attestation-document.js";
import type { BootProofLabels } from "../decode/boot-proof.js";
import type { Manifest, MemberSet } from "../decode/manifest/index.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { CommitmentKind } from "../verify/commitment.js";

/** A set whose keys are in lower-case hex, sorted, without duplicates. */
export interface SetPin {
  readonly threshold: number;
  readonly members: readonly string[];
}

export interface DocumentFacts {
  readonly pcrs: ReadonlyMap<number, string>;
  readonly userData: string | null;
  readonly publicKey: string | null;
  /** Facts of the boot proof, or null for a bare document. */
  readonly bootProof: BootProofFacts | null;
}

/** A verified boot proof in the format of pins, which is lower-case hex. */
export interface BootProofFacts {
  readonly manifestHash: string;
  /** The pivot, or null for a manifest of workloads. */
  readonly pivot: {
    readonly hash: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  } | null;
  /** Digests by name, or null for a manifest of one pivot. */
  readonly workloads: Readonly<Record<string, string>> | null;
  readonly namespace: string;
  readonly nonce: number;
  readonly quorumKey: string;
  readonly manifestSet: SetPin;
  readonly shareSet: SetPin;
  readonly commitment: CommitmentKind;
  /** Labels that the service states. They are not verified. */
  readonly labels: Readonly<Record<string, string | null | undefined>>;
}

/** Cache of facts. Verified values never change. */
const known = new WeakMap<object, DocumentFacts>();

export function factsOf(evidence: VerifiedBootProof | VerifiedAttestation): DocumentFacts {
  const facts = known.get(evidence) ?? spelledFacts(evidence);
  known.set(evidence, facts);
  return facts;
}

function spelledFacts(evidence: VerifiedBootProof | VerifiedAttestation): DocumentFacts {
  if (!("attestation" in evidence)) return documentFacts(evidence.document, null);
  const { attestation, manifest, manifestHash, commitment, unverifiedLabels: labels } = evidence;
  return documentFacts(attestation.document, { manifest, manifestHash, commitment, labels });
}

/** What a boot proof has beside its document. */
interface Booted extends Pick<BootProofFacts, "commitment"> {
  readonly labels: BootProofLabels;
  readonly manifest: Manifest;
  readonly manifestHash: Uint8Array;
}

/** Returns the facts of a document, and of the boot proof around it. Nothing is verified here. */
export function documentFacts(
  { pcrs, userData, publicKey }: Pick<AttestationDocument, "pcrs" | "userData" | "publicKey">,
  booted: Booted | null,
): DocumentFacts {
  return {
    pcrs: new Map([...pcrs].map(([index, value]) => [index, toHex(value)])),
    userData: userData && toHex(userData),
    publicKey: publicKey && toHex(publicKey),
    bootProof: booted && {
      ...factsIn(booted.manifest, booted.manifestHash),
      commitment: booted.commitment,
      labels: { ...booted.labels },
    },
  };
}

/** Returns the facts of a boot proof with this manifest. The facts have only the PCRs that the manifest names. */
export function manifestFacts(manifest: Manifest, manifestHash: Uint8Array, commitment: CommitmentKind): DocumentFacts {
  const { pcr0, pcr1, pcr2, pcr3 } = manifest.enclave;
  return {
    pcrs: new Map([pcr0, pcr1, pcr2, pcr3].map((value, index) => [index, toHex(value)])),
    userData: null,
    publicKey: null,
    bootProof: { ...factsIn(manifest, manifestHash), commitment, labels: {} },
  };
}

function factsIn(manifest: Manifest, manifestHash: Uint8Array): Omit<BootProofFacts, "commitment" | "labels"> {
  return {
    manifestHash: toHex(manifestHash),
    ...applicationFacts(manifest),
    namespace: manifest.namespace.name,
    nonce: manifest.namespace.nonce,
    quorumKey: toHex(manifest.namespace.quorumKey),
    manifestSet: setFacts(manifest.manifestSet),
    shareSet: setFacts(manifest.shareSet),
  };
}

function applicationFacts({ pivot, workloads }: Manifest): Pick<BootProofFacts, "pivot" | "workloads"> {
  if (pivot === undefined) {
    return { pivot: null, workloads: byName(workloads.map(({ name, imageDigest }) => [name, toHex(imageDigest)])) };
  }
  return { pivot: { hash: toHex(pivot.hash), args: pivot.args, env: byName([...(pivot.env ?? [])]) }, workloads: null };
}

function setFacts({ threshold, members }: MemberSet): SetPin {
  return { threshold, members: members.map(({ pubKey }) => toHex(pubKey)).sort() };
}

/** Makes an object without a prototype, so that `__proto__` is an ordinary name. */
function byName<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));
}
