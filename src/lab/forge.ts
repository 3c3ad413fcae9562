/**
 * The forge: whole evidence by default, and on demand evidence in which one chosen thing is wrong while everything made
 * from it afterwards is rightly hashed, signed and encoded. For tests, demos and authors of SDKs.
 */
import { toHex, toUtf8 } from "../bytes.js";
import type { BootProofLabels } from "../decode/boot-proof.js";
import { ownOptions } from "../decode/input.js";
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
  type AddressFacts,
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

/** What a lab is made of; each part is new, or the same in every lab, where it is not given. */
interface ForgeParts {
  readonly pki: NitroPki;
  readonly measurements: Measurements;
  readonly quorumKey: QosKeyPair;
  readonly ephemeralKey: QosKeyPair;
  readonly manifestMembers: readonly LabMember[];
  readonly shareMembers: readonly LabMember[];
  readonly namespace: { readonly name: string; readonly nonce: number };
  readonly pivotHash: Uint8Array;
  readonly labels: BootProofLabels;
}

const PARTS: Readonly<Record<keyof ForgeParts, true>> = {
  pki: true,
  measurements: true,
  quorumKey: true,
  ephemeralKey: true,
  manifestMembers: true,
  shareMembers: true,
  namespace: true,
  pivotHash: true,
  labels: true,
};

/** Keys and measurements that many pieces of evidence share: making them is slow. */
export class Forge implements ForgeParts {
  readonly pki: NitroPki;
  readonly measurements: Measurements;
  readonly quorumKey: QosKeyPair;
  readonly ephemeralKey: QosKeyPair;
  readonly manifestMembers: readonly LabMember[];
  readonly shareMembers: readonly LabMember[];
  readonly namespace: ForgeParts["namespace"];
  readonly pivotHash: Uint8Array;
  readonly labels: BootProofLabels;

  constructor(given: Partial<ForgeParts> = {}) {
    const parts = ownOptions("parts", given, PARTS);
    this.pki = parts.pki ?? new NitroPki();
    this.measurements = parts.measurements ?? labMeasurements();
    this.quorumKey = parts.quorumKey ?? generateQosKeyPair();
    this.ephemeralKey = parts.ephemeralKey ?? generateQosKeyPair();
    this.manifestMembers = parts.manifestMembers ?? generateMembers("alice", "bob", "carol");
    this.shareMembers = parts.shareMembers ?? generateMembers("dora", "emil");
    this.namespace = parts.namespace ?? { name: "lab/signer", nonce: 7 };
    this.pivotHash = parts.pivotHash ?? sha256(toUtf8("lab application"));
    this.labels = parts.labels ?? LAB_LABELS;
  }

  /** What the manifests of this lab say, in any version. */
  manifestParts(): ManifestParts {
    const { pcr0, pcr1, pcr2, pcr3 } = this.measurements;
    return {
      namespace: { ...this.namespace, quorumKey: this.quorumKey.publicKey },
      pivotHash: this.pivotHash,
      manifestSet: memberSet(2, this.manifestMembers),
      shareSet: memberSet(2, this.shareMembers),
      enclave: { pcr0, pcr1, pcr2, pcr3, awsRootCertificate: this.pki.rootCertificate, qosCommit: "0".repeat(40) },
    };
  }
}

/** What can be altered in the making of manifest and envelope, in the order of the making. */
export interface ManifestAlterations {
  /** v0 to v2: before it is hashed, approved and attested. */
  readonly manifest?: Alter<PivotManifest>;
  /** v3: likewise. */
  readonly workloadManifest?: Alter<WorkloadManifest>;
  /** What takes the place of parts that every version has; after the others. */
  readonly parts?: (
    manifest: Manifest,
  ) => Partial<Pick<Manifest, "namespace" | "manifestSet" | "shareSet" | "enclave">>;
  /** The hash that approvals sign and the enclave binds. */
  readonly hash?: Alter<Uint8Array>;
  readonly approvals?: (approvals: Approval[], hash: Uint8Array) => Approval[];
  readonly shareApprovals?: (approvals: Approval[], hash: Uint8Array) => Approval[];
  /** v0 to v2, after hash and approvals: what the manifest is shown as beside the envelope. */
  readonly shown?: Alter<PivotManifest>;
  readonly envelope?: Alter<ManifestEnvelope>;
  /** Where they are encoded as JSON. */
  readonly json?: Alter<JsonObject>;
  readonly envelopeJson?: Alter<JsonObject>;
  readonly bytes?: Alter<Uint8Array>;
  readonly envelopeBytes?: Alter<Uint8Array>;
}

export interface ForgeOptions {
  readonly lab: Forge;
  /** When the document is made; the app proofs follow a minute later. */
  readonly at: Date;
  /** v2 where not given. */
  readonly version?: ManifestVersion;
  /** The version's own where not given: borsh for v0 and v1, JSON for the newer ones. */
  readonly encoding?: ManifestEncoding["encoding"];
  /** As the manifest's where not given. */
  readonly envelopeEncoding?: ManifestEncoding["encoding"];
  readonly spelling?: JsonSpelling;
  /** `live` where not given. */
  readonly generation?: Generation;
  /** The lab's where not given. */
  readonly ephemeralKey?: QosKeyPair;
  /** The enclave's key of its other phase (setup of a live document, live of a setup one); new where not given. */
  readonly otherKey?: QosKeyPair;
  /** Whether PCR18 commits to the manifest; zeros where not given. */
  readonly manifestCommitment?: boolean;
  /** The verifier's challenge that the document answers; none where not given. */
  readonly nonce?: Uint8Array;
  readonly alterManifest?: ManifestAlterations;
  readonly alterDocument?: DocumentAlterations;
  readonly bootProof?: Alter<JsonObject>;
  /** What the app proofs say; one derived address where not given. */
  readonly payloads?: readonly JsonObject[];
  /** Applied to each app proof. */
  readonly alterAppProof?: AppProofAlterations;
  readonly activity?: Alter<JsonObject>;
}

const FORGE_OPTIONS: Readonly<Record<keyof ForgeOptions, true>> = {
  lab: true,
  at: true,
  version: true,
  encoding: true,
  envelopeEncoding: true,
  spelling: true,
  generation: true,
  ephemeralKey: true,
  otherKey: true,
  manifestCommitment: true,
  nonce: true,
  alterManifest: true,
  alterDocument: true,
  bootProof: true,
  payloads: true,
  alterAppProof: true,
  activity: true,
};

export interface ForgedEvidence {
  readonly bootProof: JsonObject;
  readonly appProofs: JsonObject[];
  /** Carries the app proofs too. */
  readonly activity: JsonObject;
  /** The root that the document's path starts at. */
  readonly anchorDer: Uint8Array;
  readonly anchorPem: string;
  /** The attestation document alone. */
  readonly document: Uint8Array;
  readonly manifest: Manifest;
  readonly manifestHash: Uint8Array;
}

/** The wallet that forged evidence speaks of. */
export const LAB_ADDRESS: Required<AddressFacts> = {
  organizationId: "3a2de333-972b-45bf-8a7a-83c4167b81e2",
  walletId: "ad8a06ec-c2f4-55f2-ac43-65991efbfdd1",
  derivationPath: "m/44'/60'/0'/0/0",
  address: "0xb84b4730Cd81Bc82Ee6B1dE6c343Ebd7928138DC",
};

/** Makes boot proof, app proofs and activity of one enclave. */
export function forgeEvidence(given: ForgeOptions): ForgedEvidence {
  const options = ownOptions("options", given, FORGE_OPTIONS);
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

/** Throws TypeError where an alteration is given that the manifest's version cannot have: it would change nothing. */
function alteredManifest(
  manifest: Manifest,
  alter: Alter<PivotManifest> | undefined,
  alterWorkloads?: Alter<WorkloadManifest>,
): Manifest {
  const other = manifest.pivot === undefined ? alter : alterWorkloads;
  if (other !== undefined) throw new TypeError(`an alteration of another manifest than ${manifest.version}`);
  return manifest.pivot === undefined ? altered(manifest, alterWorkloads) : altered(manifest, alter);
}

/** An activity as the service answers it, completed, with the app proofs it was asked for. */
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

/** A deployment of a policy that pins everything that the evidence of a lab shows; a test narrows or alters it. */
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

/** How a policy pins the application of a manifest of the version. */
function applicationPin(version: ManifestVersion, hash: Uint8Array): JsonObject {
  const pivot = { pivotHash: toHex(hash) };
  const pins: { readonly [V in ManifestVersion]: JsonObject } = {
    v0: pivot,
    v1: pivot,
    v2: pivot,
    v3: { workloads: { [LAB_WORKLOAD]: imageDigestText(hash) } },
  };
  return pins[version];
}

/** A policy of these deployments, anchored in the given root; `rest` adds members or takes their place. */
export function labPolicy(anchorPem: string, deployments: JsonObject[], rest: JsonObject = {}): JsonObject {
  return { policy: "bootproof/1", name: "lab", trustAnchors: [{ pem: anchorPem }], deployments, ...rest };
}
