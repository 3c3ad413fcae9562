/**
 * Makes complete evidence. A test can make one value wrong: all later hashes, signatures and encodings are computed
 * correctly from the wrong value.
 */
import { byteCopy, callable, date, instanceOf, plain, typedOptions, unchecked } from "../decode/options.js";
import type { AddressDerivationProof } from "../decode/app-proof.js";
import { type MembersOf, flag, list, optional } from "../decode/shapes.js";
import { toHex, toUtf8 } from "../bytes.js";
import type { BootProofLabels } from "../decode/boot-proof.js";
import type { JsonObject } from "../decode/json.js";
import {
  type Approval,
  type Manifest,
  type ManifestEnvelope,
  type ManifestVersion,
  type PivotManifest,
  type WorkloadManifest,
  manifestEncodings,
} from "../decode/manifest/index.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import { certificatePem } from "../verify/trust-anchor.js";
import {
  type Alter,
  type AppProofAlterations,
  type DocumentAlterations,
  type Generation,
  type Measurements,
  LAB_LABELS,
  SoftwareEnclave,
  addressDerivationPayload,
  altered,
  bootProofJson,
  labMeasurements,
} from "./enclave.js";
import { fingerprintOf } from "./fingerprint.js";
import { NitroPki } from "./pki.js";
import {
  LAB_WORKLOAD,
  type JsonSpelling,
  type LabMember,
  type ManifestEncoding,
  type ManifestParts,
  type QosKeyPair,
  approve,
  encodeEnvelope,
  encodeManifest,
  generateMembers,
  generateQosKeyPair,
  makeManifest,
  manifestHash,
  memberSet,
  sha256,
} from "./qos.js";

type ForgeParts = Omit<Forge, "manifestParts">;

const PARTS: MembersOf<Partial<ForgeParts>> = {
  pki: optional(unchecked),
  measurements: optional(unchecked),
  quorumKey: optional(unchecked),
  ephemeralKey: optional(unchecked),
  manifestMembers: optional(unchecked),
  shareMembers: optional(unchecked),
  namespace: optional(plain),
  pivotHash: optional(plain),
  args: optional(plain),
  labels: optional(plain),
};

/**
 * The fixed parts of forged evidence. By default, keys and members are new; measurements, namespace, pivot hash,
 * arguments and labels are always the same. Reuse a forge where you can: making its keys is slow.
 */
export class Forge {
  readonly pki: NitroPki;
  readonly measurements: Measurements;
  readonly quorumKey: QosKeyPair;
  readonly ephemeralKey: QosKeyPair;
  readonly manifestMembers: readonly LabMember[];
  readonly shareMembers: readonly LabMember[];
  readonly namespace: { readonly name: string; readonly nonce: number };
  readonly pivotHash: Uint8Array;
  readonly args: readonly string[];
  readonly labels: BootProofLabels;

  constructor(given: Partial<ForgeParts> = {}) {
    const parts = typedOptions("parts", given, PARTS);
    this.pki = parts.pki ?? new NitroPki();
    this.measurements = parts.measurements ?? labMeasurements();
    this.quorumKey = parts.quorumKey ?? generateQosKeyPair();
    this.ephemeralKey = parts.ephemeralKey ?? generateQosKeyPair();
    this.manifestMembers = parts.manifestMembers ?? generateMembers("alice", "bob", "carol");
    this.shareMembers = parts.shareMembers ?? generateMembers("dora", "emil");
    this.namespace = parts.namespace ?? { name: "lab/signer", nonce: 7 };
    this.pivotHash = parts.pivotHash ?? sha256(toUtf8("lab application"));
    this.args = parts.args ?? ["--config", "/etc/signer.json"];
    this.labels = parts.labels ?? LAB_LABELS;
  }

  manifestParts(): ManifestParts {
    const { pcr0, pcr1, pcr2, pcr3 } = this.measurements;
    return {
      namespace: { ...this.namespace, quorumKey: this.quorumKey.publicKey },
      pivotHash: this.pivotHash,
      args: this.args,
      manifestSet: memberSet(2, this.manifestMembers),
      shareSet: memberSet(2, this.shareMembers),
      enclave: { pcr0, pcr1, pcr2, pcr3, awsRootCertificate: this.pki.rootCertificate, qosCommit: "0".repeat(40) },
    };
  }
}

/** The alterations, listed in the order in which they apply. */
export interface ManifestAlterations {
  /** Alters a manifest of v0 to v2, before its hash, approvals and attestation are made. */
  readonly manifest?: Alter<PivotManifest>;
  /** Alters a manifest of v3, before its hash, approvals and attestation are made. */
  readonly workloadManifest?: Alter<WorkloadManifest>;
  /** Replaces members of a manifest of any version, after the alterations above. */
  readonly parts?: (
    manifest: Manifest,
  ) => Partial<Pick<Manifest, "namespace" | "manifestSet" | "shareSet" | "enclave">>;
  /** Alters the hash that approvals sign and the enclave attests. */
  readonly hash?: Alter<Uint8Array>;
  readonly approvals?: (approvals: Approval[], hash: Uint8Array) => Approval[];
  readonly shareApprovals?: (approvals: Approval[], hash: Uint8Array) => Approval[];
  /** Alters only the manifest outside of the envelope, for v0 to v2. */
  readonly shown?: Alter<PivotManifest>;
  readonly envelope?: Alter<ManifestEnvelope>;
  /** Alters the manifest outside of the envelope as JSON, if it is encoded as JSON. */
  readonly json?: Alter<JsonObject>;
  readonly envelopeJson?: Alter<JsonObject>;
  readonly bytes?: Alter<Uint8Array>;
  readonly envelopeBytes?: Alter<Uint8Array>;
}

export interface ForgeOptions {
  readonly lab: Forge;
  /** The time of the attestation document. By default the app proof is made a minute later. */
  readonly at: Date;
  /** The version of the manifest. Default: v2. */
  readonly version?: ManifestVersion;
  /** The encoding of the manifest. Default: Borsh before v2, JSON from v2 on. */
  readonly encoding?: ManifestEncoding["encoding"];
  /** The encoding of the envelope. Default: the manifest's encoding. */
  readonly envelopeEncoding?: ManifestEncoding["encoding"];
  readonly spelling?: JsonSpelling;
  /** The generation of the enclave. Default: `live`. */
  readonly generation?: Generation;
  /** The attested key. Default: the lab's. */
  readonly ephemeralKey?: QosKeyPair;
  /** The key of the other phase (setup or live). Default: a new key. */
  readonly otherKey?: QosKeyPair;
  /** Whether PCR18 commits to the manifest. Default: false, and PCR18 is zeros. */
  readonly manifestCommitment?: boolean;
  /** The nonce of the document. Default: none. */
  readonly nonce?: Uint8Array;
  readonly alterManifest?: ManifestAlterations;
  readonly alterDocument?: DocumentAlterations;
  readonly bootProof?: Alter<JsonObject>;
  /** The payloads of the app proofs. Default: the derivation of one address. */
  readonly payloads?: readonly JsonObject[];
  readonly alterAppProof?: AppProofAlterations;
  readonly activity?: Alter<JsonObject>;
}

const FORGE_OPTIONS: MembersOf<ForgeOptions> = {
  lab: instanceOf(Forge, "a Forge"),
  at: date,
  version: optional(plain),
  encoding: optional(plain),
  envelopeEncoding: optional(plain),
  spelling: optional(plain),
  generation: optional(plain),
  ephemeralKey: optional(unchecked),
  otherKey: optional(unchecked),
  manifestCommitment: optional(flag),
  nonce: optional(byteCopy),
  alterManifest: optional(plain),
  alterDocument: optional(plain),
  bootProof: optional(callable),
  payloads: optional(list(plain)),
  alterAppProof: optional(plain),
  activity: optional(callable),
};

export interface ForgedEvidence {
  readonly bootProof: JsonObject;
  readonly appProofs: JsonObject[];
  /** The activity with the app proofs. */
  readonly activity: JsonObject;
  /** The document's root certificate in DER. */
  readonly anchorDer: Uint8Array;
  readonly anchorPem: string;
  /** The attestation document (COSE_Sign1). */
  readonly document: Uint8Array;
  readonly manifest: Manifest;
  readonly manifestHash: Uint8Array;
}

export const LAB_ADDRESS: Required<AddressDerivationProof> = {
  organizationId: "3a2de333-972b-45bf-8a7a-83c4167b81e2",
  walletId: "ad8a06ec-c2f4-55f2-ac43-65991efbfdd1",
  derivationPath: "m/44'/60'/0'/0/0",
  address: "0xb84b4730Cd81Bc82Ee6B1dE6c343Ebd7928138DC",
};

/**
 * Makes the boot proof, app proofs and activity of one enclave. Throws TypeError for an alteration that the manifest's
 * version cannot have.
 * @example
 * ```ts
 * const { bootProof, anchorPem } = forgeEvidence({ lab: new Forge(), at: new Date() });
 * ```
 */
export function forgeEvidence(given: ForgeOptions): ForgedEvidence {
  const options = typedOptions("options", given, FORGE_OPTIONS);
  const { lab, at, generation = "live", ephemeralKey = lab.ephemeralKey } = options;
  const made = forgeManifest(options);
  const enclave = new SoftwareEnclave({
    pki: lab.pki,
    measurements: lab.measurements,
    manifestHash: made.hash,
    generation,
    ephemeralKey,
    otherKey: options.otherKey,
    manifestCommitment: options.manifestCommitment,
  });
  const document = enclave.attest(at, options.alterDocument, options.nonce);
  const bootProof = bootProofJson({
    ephemeralKey: ephemeralKey.publicKey,
    document: document.cose,
    manifest: made.bytes,
    envelope: made.envelopeBytes,
    createdAt: at,
    manifestVersion: made.manifest.version,
    labels: lab.labels,
  });
  const payloads = options.payloads ?? [addressDerivationPayload(new Date(at.getTime() + 60_000), LAB_ADDRESS)];
  const appProofs = payloads.map((payload) => enclave.appProof(payload, options.alterAppProof));
  return {
    bootProof: altered(bootProof, options.bootProof),
    appProofs,
    activity: altered(createWalletActivity(at, appProofs), options.activity),
    anchorDer: document.rootCertificate,
    anchorPem: certificatePem(document.rootCertificate),
    document: document.cose,
    manifest: made.manifest,
    manifestHash: made.hash,
  };
}

interface ForgedManifest {
  readonly manifest: Manifest;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
  readonly envelopeBytes: Uint8Array;
}

function forgeManifest(options: ForgeOptions): ForgedManifest {
  const { lab, version = "v2", spelling, alterManifest: alter = {} } = options;
  const { encoding = manifestEncodings(version)[0] } = options;
  const made = alteredManifest(makeManifest(version, lab.manifestParts()), alter.manifest, alter.workloadManifest);
  const manifest = { ...made, ...alter.parts?.(made) };
  const hash = altered(manifestHash(manifest), alter.hash);
  const approvals = lab.manifestMembers.slice(0, 2).map((member) => approve(hash, member));
  const shares = lab.shareMembers.map((member) => approve(hash, member));
  const envelope = altered(
    {
      manifest,
      manifestSetApprovals: alter.approvals?.(approvals, hash) ?? approvals,
      shareSetApprovals: alter.shareApprovals?.(shares, hash) ?? shares,
    },
    alter.envelope,
  );
  const bytes = encodeManifest(alteredManifest(manifest, alter.shown), { encoding, spelling, alterJson: alter.json });
  const envelopeBytes = encodeEnvelope(envelope, {
    encoding: options.envelopeEncoding ?? encoding,
    spelling,
    alterJson: alter.envelopeJson,
  });
  return {
    manifest,
    hash,
    bytes: altered(bytes, alter.bytes),
    envelopeBytes: altered(envelopeBytes, alter.envelopeBytes),
  };
}

function alteredManifest(
  manifest: Manifest,
  alter: Alter<PivotManifest> | undefined,
  alterWorkloads?: Alter<WorkloadManifest>,
): Manifest {
  const other = manifest.pivot === undefined ? alter : alterWorkloads;
  if (other !== undefined) throw new TypeError(`an alteration that a manifest ${manifest.version} cannot have`);
  return manifest.pivot === undefined ? altered(manifest, alterWorkloads) : altered(manifest, alter);
}

function createWalletActivity(at: Date, appProofs: JsonObject[]): JsonObject {
  const { organizationId, walletId, address, derivationPath } = LAB_ADDRESS;
  const account = { curve: "CURVE_SECP256K1", path: derivationPath, addressFormat: "ADDRESS_FORMAT_ETHEREUM" };
  return {
    id: "0192f3c1-7b1e-7c55-8f4e-2f1d5c9a6b10",
    organizationId,
    status: "ACTIVITY_STATUS_COMPLETED",
    type: "ACTIVITY_TYPE_CREATE_WALLET",
    intent: { createWalletIntent: { walletName: "lab", accounts: [account] } },
    result: { createWalletResult: { walletId, addresses: [address] } },
    votes: [],
    fingerprint: fingerprintOf(toUtf8("lab activity")),
    canApprove: false,
    canReject: false,
    createdAt: String(at.getTime()),
    updatedAt: String(at.getTime() + 60_000),
    appProofs,
  };
}

/** Returns a deployment that pins everything in a lab's evidence. */
export function labDeployment(lab: Forge, version: ManifestVersion = "v2"): JsonObject {
  const { namespace, pivotHash, manifestSet, shareSet, enclave } = lab.manifestParts();
  const keys = (set: typeof manifestSet): JsonObject => ({
    threshold: set.threshold,
    members: set.members.map((member) => toHex(member.pubKey)),
  });
  return {
    name: lab.labels.deploymentLabel,
    pcrs: { "0": toHex(enclave.pcr0), "1": toHex(enclave.pcr1), "2": toHex(enclave.pcr2), "3": toHex(enclave.pcr3) },
    ...applicationPin(version, pivotHash),
    namespace: namespace.name,
    minNonce: namespace.nonce,
    quorumKey: toHex(namespace.quorumKey),
    manifestSet: keys(manifestSet),
    shareSet: keys(shareSet),
    labels: { ...lab.labels },
  };
}

function applicationPin(version: ManifestVersion, hash: Uint8Array): JsonObject {
  const pivot = { pivotHash: toHex(hash) };
  const pins: { readonly [V in ManifestVersion]: JsonObject } = {
    v0: pivot,
    "v0-tail": pivot,
    v1: pivot,
    v2: pivot,
    v3: { workloads: { [LAB_WORKLOAD]: imageDigestText(hash) } },
  };
  return pins[version];
}

/** Returns a policy. `rest` adds or replaces members. */
export function labPolicy(anchorPem: string, deployments: JsonObject[], rest: JsonObject = {}): JsonObject {
  return { policy: "bootproof/1", name: "lab", trustAnchors: [{ pem: anchorPem }], deployments, ...rest };
}
