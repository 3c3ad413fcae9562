/** The boot proof, whole: the sequence in which its checks are asked. */
import { equalBytes } from "../bytes.js";
import { type Check, type CheckId, Checklist, type CheckSubject } from "../checks.js";
import { type BootProof, type BootProofLabels, readBootProof } from "../decode/boot-proof.js";
import { type TakenInput, readInput } from "../decode/input.js";
import {
  type Manifest, type ManifestEnvelope, type QuorumMember, declaredManifestVersion, decodeManifest, decodeManifestEnvelope,
} from "../decode/manifest/index.js";
import { type Reading, attempt, faultText } from "../errors.js";
import { ATTESTATION_CHECKS, type CheckedAttestation, type VerifiedAttestation, checkAttestation, checkDebugMode, unread, validationTimeOf, verifiedAttestation } from "./attestation.js";
import { checkApprovals, thresholdFaults } from "./approvals.js";
import { recheckCertificatePath } from "./certificate-path.js";
import type { VerifyContext } from "./context.js";
import { manifestHash } from "./digest.js";
import { type VerifyingKey, importPoint } from "./ecdsa.js";
import { type CommitmentKind, checkCommitment } from "./commitment.js";
import { checkKey, checkNonce, checkPcrs, checkUserData } from "./manifest-binding.js";
import { signingPoint } from "./qos-key.js";
import type { SignatureMemory } from "./signature-memory.js";
import type { TrustAnchor } from "./trust-anchor.js";

export const BOOT_PROOF_CHECKS = [
  "boot.decode", ...ATTESTATION_CHECKS, "manifest.decode", "envelope.decode", "envelope.manifest", "envelope.approvals",
  "envelope.shares", "bind.user-data", "bind.pcrs", "bind.key", "bind.commitment", "bind.nonce", "mode.debug",
] as const satisfies readonly CheckId[];

interface BootProofFacts {
  readonly attestation: VerifiedAttestation;
  readonly manifest: Manifest;
  /** 32 bytes. */
  readonly manifestHash: Uint8Array;
  readonly approvers: readonly QuorumMember[];
  readonly commitment: CommitmentKind;
  readonly debug: boolean;
  readonly unverifiedLabels: BootProofLabels;
  readonly checks: readonly Check[];
}

/** A boot proof of which every check passed. Only verification makes one; its byte arrays and maps are to be read only. */
export class VerifiedBootProof implements BootProofFacts {
  readonly #verified = true;
  #signingKey: Promise<VerifyingKey | null> | undefined;
  readonly attestation: VerifiedAttestation;
  readonly manifest: Manifest;
  readonly manifestHash: Uint8Array;
  /** Members of the manifest set whose approvals were verified. */
  readonly approvers: readonly QuorumMember[];
  /** Which key the enclave committed to; `legacy` where it commits to none. */
  readonly commitment: CommitmentKind;
  /** Debug mode was found, and allowed by the caller. */
  readonly debug: boolean;
  /** The service's word: nothing in the evidence vouches for it. */
  readonly unverifiedLabels: BootProofLabels;
  /** 130 bytes: encryption point, then signing point. */
  readonly ephemeralKey: Uint8Array;
  /** The answers it was verified by. */
  readonly checks: readonly Check[];

  /** @internal */
  constructor(facts: BootProofFacts, leave: symbol) {
    if (leave !== LEAVE) throw new TypeError("a VerifiedBootProof is made by verification only");
    this.attestation = facts.attestation;
    this.manifest = facts.manifest;
    this.manifestHash = facts.manifestHash;
    this.approvers = facts.approvers;
    this.commitment = facts.commitment;
    this.debug = facts.debug;
    this.unverifiedLabels = facts.unverifiedLabels;
    this.ephemeralKey = facts.attestation.document.publicKey!;
    this.checks = facts.checks;
    Object.freeze(this);
  }

  /** The half of the ephemeral key that verifies signatures; imported once, however many app proofs there are. */
  signingKey(): Promise<VerifyingKey | null> {
    this.#signingKey ??= importPoint("P-256", signingPoint(this.ephemeralKey));
    return this.#signingKey;
  }

  static isOne(value: unknown): value is VerifiedBootProof {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** Stays in this module, so that no other code can make the verified type. */
const LEAVE = Symbol("verified");

export interface CheckedBootProof {
  readonly log: Checklist;
  readonly verified: VerifiedBootProof | null;
  /** The key that the document names, verified or not: for finding the boot proof an app proof speaks of. */
  readonly statedKey: Uint8Array | null;
  readonly validationTime: Date | null;
  /** The caller's anchor that the path starts at; null where it starts at none. */
  readonly trustAnchor: TrustAnchor | null;
}

/** Asks every check of a boot proof, bare or in its wrapper, or of one that was verified before. */
export async function checkBootProof(input: TakenInput | VerifiedBootProof, context: VerifyContext, subject: CheckSubject): Promise<CheckedBootProof> {
  if (VerifiedBootProof.isOne(input)) return recheckBootProof(input, context, subject);
  const log = new Checklist(subject);
  const proof = checkDecoding(input, log);
  const [attestation, approved] = await Promise.all([
    checkDocument(proof, context, log),
    checkManifest(proof, context.memory, log),
  ]);
  const { document } = attestation;
  const commitment = await checkBinding(document, proof.ephemeralPublicKey, approved, context, log);
  checkDebugMode(document, approved.manifest, context.allowDebug, log);
  const facts = {
    ...approved,
    attestation: verifiedAttestation(attestation, log),
    commitment,
    debug: log.status("mode.debug") === "warn",
    unverifiedLabels: proof.labels,
    checks: Object.freeze(log.list()),
  };
  // Every check passed, so that every fact is there.
  const verified = log.allPassed(BOOT_PROOF_CHECKS) ? new VerifiedBootProof(facts as BootProofFacts, LEAVE) : null;
  return { log, verified, statedKey: document.publicKey ?? null, validationTime: attestation.validationTime, trustAnchor: attestation.trustAnchor };
}

/** Asks again what depends on the caller and not on the evidence: anchor, time, wanted key, debug mode. */
function recheckBootProof(verified: VerifiedBootProof, context: VerifyContext, subject: CheckSubject): CheckedBootProof {
  const log = new Checklist(subject);
  const { attestation, ephemeralKey } = verified;
  const { document } = attestation;
  log.adopt(verified.checks.filter(({ id }) => !ASKED_AGAIN.includes(id)));
  const validationTime = validationTimeOf(document, context);
  const trustAnchor = recheckCertificatePath(attestation, context.trustAnchors, validationTime, log);
  if (context.ephemeralKey !== null) checkKey(ephemeralKey, ephemeralKey, context.ephemeralKey, log);
  else log.pass("bind.key");
  checkDebugMode(document, verified.manifest, context.allowDebug, log);
  const stillGood = log.allPassed(BOOT_PROOF_CHECKS) ? verified : null;
  return { log, verified: stillGood, statedKey: ephemeralKey, validationTime: validationTime ?? null, trustAnchor };
}

const ASKED_AGAIN: readonly CheckId[] = ["chain.anchor", "chain.validity", "bind.key", "mode.debug"];

function checkDecoding(input: TakenInput, log: Checklist): Reading<BootProof>["value"] {
  const { value, faults } = readInput(input, readBootProof);
  log.conclude("boot.decode", faults.length > 0 ? [faultText(faults)] : []);
  return value;
}

async function checkDocument(proof: Reading<BootProof>["value"], context: VerifyContext, log: Checklist): Promise<CheckedAttestation> {
  if (proof.attestationDocument === undefined) return unread(log, "the attestation document's field could not be read");
  return checkAttestation(proof.attestationDocument, context, log);
}

interface ApprovedManifest {
  readonly manifest: Manifest | undefined;
  readonly manifestHash: Uint8Array | undefined;
  readonly approvers: readonly QuorumMember[];
}

async function checkManifest(proof: Reading<BootProof>["value"], memory: SignatureMemory, log: Checklist): Promise<ApprovedManifest> {
  const declared = proof.declaredManifestVersion;
  const manifest = decodeAs("manifest.decode", proof.manifest, decodeManifest, (value) => value, declared, log);
  const envelope = decodeAs("envelope.decode", proof.manifestEnvelope, decodeManifestEnvelope, (value) => value.manifest, declared, log);
  const hash = manifest && (await manifestHash(manifest));
  await checkSameManifest(manifest, hash, envelope, log);
  const approvers = await checkEnvelopeApprovals(envelope, memory, log);
  return { manifest, manifestHash: hash, approvers };
}

/** Decodes, and holds the version against the declared one. A value of another version is still handed on, to be asked. */
function decodeAs<T>(
  id: CheckId, bytes: Uint8Array | undefined, decode: (bytes: Uint8Array) => T, manifestOf: (value: T) => Manifest,
  declared: string | null | undefined, log: Checklist,
): T | undefined {
  if (bytes === undefined) {
    log.skip(id, "its field of the boot proof could not be read");
    return undefined;
  }
  const decoded = attempt(() => decode(bytes));
  if (decoded.value === undefined) {
    log.fail(id, faultText(decoded.faults));
    return undefined;
  }
  const { version } = manifestOf(decoded.value);
  const agrees = declared === null || declared === undefined || declaredManifestVersion(declared) === version;
  log.conclude(id, agrees ? [] : [`the bytes are of version ${version}, qosManifestVersion declares ${JSON.stringify(declared)}`], `version ${version}`);
  return decoded.value;
}

async function checkSameManifest(
  manifest: Manifest | undefined, hash: Uint8Array | undefined, envelope: ManifestEnvelope | undefined, log: Checklist,
): Promise<void> {
  if (!manifest || !hash || !envelope) return log.skip("envelope.manifest", "manifest or envelope could not be read");
  const approvedHash = await manifestHash(envelope.manifest);
  log.conclude("envelope.manifest", [
    ...(envelope.manifest.version === manifest.version ? [] : [`the envelope's manifest is ${envelope.manifest.version}, the manifest is ${manifest.version}`]),
    ...(equalBytes(approvedHash, hash) ? [] : ["the envelope's manifest has another hash than the manifest"]),
  ]);
}

/** The envelope is asked on its own: that its manifest is the one shown is `envelope.manifest`. */
async function checkEnvelopeApprovals(
  envelope: ManifestEnvelope | undefined, memory: SignatureMemory, log: Checklist,
): Promise<readonly QuorumMember[]> {
  if (envelope === undefined) {
    log.skipRest(["envelope.approvals", "envelope.shares"], "the envelope could not be read");
    return [];
  }
  const { manifestSet, shareSet } = envelope.manifest;
  const hash = await manifestHash(envelope.manifest);
  const { faults, approvers } = await checkApprovals(envelope.manifestSetApprovals, manifestSet, hash, memory);
  const summary = `${approvers.length} of ${manifestSet.members.length} members approved, ${manifestSet.threshold} wanted`;
  log.conclude("envelope.approvals", [...faults, ...thresholdFaults(manifestSet, approvers.length)], summary);
  if (envelope.shareSetApprovals.length === 0) {
    log.pass("envelope.shares", "there are no share-set approvals");
  } else {
    const shares = await checkApprovals(envelope.shareSetApprovals, shareSet, hash, memory);
    log.conclude("envelope.shares", shares.faults, `${shares.approvers.length} share-set approvals`);
  }
  return approvers;
}

async function checkBinding(
  document: CheckedAttestation["document"], claimedKey: Uint8Array | undefined, approved: ApprovedManifest, context: VerifyContext, log: Checklist,
): Promise<CommitmentKind | null> {
  checkUserData(document.userData, approved.manifestHash, log);
  checkPcrs(document.pcrs, approved.manifest, log);
  checkKey(document.publicKey, claimedKey, context.ephemeralKey, log);
  checkNonce(document.nonce, log);
  return (await checkCommitment(document, approved.manifestHash, log))?.kind ?? null;
}
