/** Verification of boot proofs, as a sequence of checks. */
import { equalBytes } from "../bytes.js";
import { type Check, Checklist, type CheckSubject, checksOf, runsAgain } from "../checks.js";
import { type BootProof, type BootProofForm, type BootProofLabels, readBootProof } from "../decode/boot-proof.js";
import type { InputCopy } from "../decode/input.js";
import {
  type Manifest,
  type ManifestEnvelope,
  type QuorumMember,
  declaredManifestVersions,
  manifestDraft,
  readManifest,
  readManifestEnvelope,
} from "../decode/manifest/index.js";
import { type Reading, attempt, listed, shownName, wholeOf } from "../errors.js";
import { checkApprovals, thresholdFaults } from "./approvals.js";
import type { ApprovedManifests, Remembered } from "./approved-manifests.js";
import {
  type CheckedAttestation,
  type VerifiedAttestation,
  checkAttestation,
  checkTime,
  skippedAttestation,
  validationTimeOf,
  verifiedAttestation,
} from "./attestation.js";
import { recheckCertificatePath, recheckRevocation } from "./certificate-path.js";
import { type CommitmentKind, checkCommitment } from "./commitment.js";
import type { VerifyContext } from "./context.js";
import {
  type WantedKey,
  checkDebugMode,
  checkImage,
  checkKey,
  checkNonce,
  checkPcrs,
  checkUserData,
  recheckKey,
} from "./manifest-binding.js";
import { sha256 } from "./digest.js";
import { inTurns } from "./in-turns.js";
import { signingPoint, keyNamesOf } from "./qos-key.js";
import { PublicKey, type SignatureCache } from "./signature-cache.js";
import type { TrustAnchor } from "./trust-anchor.js";

type ReadBootProof = Reading<BootProof>["value"];

/** The public members of the verified type that are values. */
type BootProofFacts = Omit<VerifiedBootProof, "signingKey" | "lastingChecks">;

/** A boot proof that passed every check. Only verification makes one. Do not write to its bytes and maps. */
export class VerifiedBootProof {
  readonly #verified = true;
  readonly #signingKey: PublicKey;
  readonly #lastingChecks: readonly Check[];
  readonly attestation!: VerifiedAttestation;
  readonly manifest!: Manifest;
  readonly manifestHash!: Uint8Array;
  readonly approvers!: readonly QuorumMember[];
  /** Kind of commitment. `legacy` means that the enclave did not commit to a key. */
  readonly commitment!: CommitmentKind;
  /** Whether PCR18 also commits to this manifest. */
  readonly manifestCommitted!: boolean;
  /** Whether the enclave runs in debug mode. It is true only if the caller allowed debug mode. */
  readonly debug!: boolean;
  /** Form of the evidence. `provisioning` means provisioning details, which share holders see. */
  readonly form!: BootProofForm;
  /** Claims of the service that nothing signs. */
  readonly unverifiedLabels!: BootProofLabels;
  /** Attested key of 130 bytes: encryption point, then signing point. */
  readonly ephemeralKey!: Uint8Array;
  readonly checks!: readonly Check[];

  /** @internal */
  constructor(facts: BootProofFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedBootProof is made by verification only");
    Object.assign(this, facts);
    this.#signingKey = new PublicKey("P-256", signingPoint(facts.ephemeralKey));
    this.#lastingChecks = facts.checks.filter(({ id }) => !runsAgain(id));
    Object.freeze(this);
  }

  signingKey(): PublicKey {
    return this.#signingKey;
  }

  /** Checks that depend on the evidence alone. @internal */
  lastingChecks(): readonly Check[] {
    return this.#lastingChecks;
  }

  static isVerified(value: unknown): value is VerifiedBootProof {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** A token that stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

export interface CheckedBootProof {
  readonly checklist: Checklist;
  readonly verified: VerifiedBootProof | null;
  /** The key in the document, verified or not. App proofs name their boot proof by this key. */
  readonly statedKey: Uint8Array | null;
  readonly keyNames: ReturnType<typeof keyNamesOf>;
  readonly validationTime: Date | null;
  /** The caller's anchor at the start of the path, or null if the path is invalid. */
  readonly trustAnchor: TrustAnchor | null;
}

export interface BootProofInput {
  readonly input: InputCopy | VerifiedBootProof;
  readonly wantedKeys: readonly WantedKey[];
}

/** Number of boot proofs that are checked at once. A decoded boot proof takes many times its size in memory. */
const AT_ONCE = 4;

/** Context with caches of checked manifests and boot proofs. Callers do not pass these caches. */
export interface BootProofContext extends VerifyContext {
  readonly manifests?: ApprovedManifests<CheckedManifest>;
  readonly rechecks?: Remembered<CheckedBootProof>;
}

export async function checkBootProofs(
  inputs: readonly BootProofInput[],
  context: BootProofContext,
): Promise<readonly CheckedBootProof[]> {
  return inTurns(inputs, AT_ONCE, (input, index) => checkBootProof(input, context, `boot[${index}]`));
}

async function checkBootProof(
  { input, wantedKeys }: BootProofInput,
  context: BootProofContext,
  subject: CheckSubject,
): Promise<CheckedBootProof> {
  if (VerifiedBootProof.isVerified(input)) return recheckedInLists(input, wantedKeys, context, subject);
  const checklist = new Checklist(subject);
  const { value: proof, whole } = checkDecoding(input, checklist);
  const [checked, approved] = await Promise.all([
    checkDocument(proof, context, checklist),
    checkManifest(proof, context, checklist),
  ]);
  const { document } = checked;
  const bound = [
    checkUserData(document.userData, approved.manifestHash, checklist),
    checkPcrs(document.pcrs, approved.manifest, checklist),
    checkImage(document.pcrs, context.measurements, checklist),
    checkNonce(document.nonce, context.nonce, checklist),
  ].every(Boolean);
  const ephemeralKey = checkKey(document.publicKey, proof.ephemeralPublicKey, wantedKeys, checklist);
  const isProvisioning = proof.form === "provisioning";
  const commitment = await checkCommitment(document, approved.manifestHash, checklist, isProvisioning);
  const debug = checkDebugMode(document, approved.manifest, context.allowDebug, checklist);
  const attestation = verifiedAttestation(checked);
  const isWhole =
    whole !== null &&
    attestation !== null &&
    approved.facts !== null &&
    bound &&
    ephemeralKey !== null &&
    commitment !== null &&
    debug !== null;
  const verified = isWhole
    ? new VerifiedBootProof(
        {
          ...approved.facts,
          attestation,
          commitment: commitment.kind,
          manifestCommitted: commitment.manifestCommitted,
          debug,
          ephemeralKey,
          form: whole.form,
          unverifiedLabels: whole.labels,
          checks: Object.freeze(checklist.list()),
        },
        TOKEN,
      )
    : null;
  keepManifest(proof, approved, verified, context);
  return {
    checklist,
    verified,
    statedKey: document.publicKey ?? null,
    keyNames: keyNamesOf(document.publicKey ?? null),
    validationTime: checked.validationTime,
    trustAnchor: attestation && attestation.trustAnchor,
  };
}

async function recheckedInLists(
  verified: VerifiedBootProof,
  wantedKeys: readonly WantedKey[],
  context: BootProofContext,
  subject: CheckSubject,
): Promise<CheckedBootProof> {
  const rechecked = recheckedBootProof(verified, wantedKeys, context, subject);
  if (context.crls.given.length === 0) return rechecked;
  const isGood = await recheckRevocation(verified.attestation, context, rechecked.checklist);
  return isGood ? rechecked : { ...rechecked, verified: null };
}

/** The members of the context that the checks of {@link recheckBootProof} read. */
type RecheckContext = Pick<
  VerifyContext,
  "crls" | "trustAnchors" | "now" | "at" | "allowDebug" | "measurements" | "nonce"
>;

function recheckedBootProof(
  verified: VerifiedBootProof,
  wantedKeys: readonly WantedKey[],
  context: BootProofContext,
  subject: CheckSubject,
): CheckedBootProof {
  const recheck = (): CheckedBootProof => recheckBootProof(verified, wantedKeys, context, subject);
  if (context.rechecks === undefined || wantedKeys.length > 0) return recheck();
  const { trustAnchors, now, at, allowDebug, measurements, nonce }: RecheckContext = context;
  const under = [subject, trustAnchors, now.getTime(), at, allowDebug, measurements, nonce];
  return context.rechecks.of(verified, under, recheck);
}

/** Runs the checks that depend on the caller, which src/checks.ts marks with `again`. */
function recheckBootProof(
  verified: VerifiedBootProof,
  wantedKeys: readonly WantedKey[],
  context: RecheckContext,
  subject: CheckSubject,
): CheckedBootProof {
  const checklist = new Checklist(subject);
  const { attestation, ephemeralKey } = verified;
  const { document } = attestation;
  checklist.adopt(verified.lastingChecks());
  const isInTime = checkTime(document.timestamp, context.now, checklist);
  const validationTime = validationTimeOf(document, context);
  const trustAnchor = recheckCertificatePath(attestation, context, validationTime, checklist);
  const isWanted = recheckKey(ephemeralKey, wantedKeys, checklist);
  const isImageGiven = checkImage(document.pcrs, context.measurements, checklist);
  const isNonceWanted = checkNonce(document.nonce, context.nonce, checklist);
  const debug = checkDebugMode(document, verified.manifest, context.allowDebug, checklist);
  const isStillGood = trustAnchor !== null && isInTime && isImageGiven && isWanted && isNonceWanted && debug !== null;
  return {
    checklist,
    verified: isStillGood ? verified : null,
    statedKey: ephemeralKey,
    keyNames: keyNamesOf(ephemeralKey),
    validationTime,
    trustAnchor,
  };
}

const PROVISIONING_DETAILS = "provisioning details, which have no labels";

function checkDecoding(
  input: InputCopy,
  checklist: Checklist,
): { readonly value: ReadBootProof; readonly whole: BootProof | null } {
  const reading =
    input.faults.length > 0 ? { value: {}, faults: input.faults, missing: [] } : readBootProof(input.value);
  const { value, faults, missing } = reading;
  if (faults.length === 0 && missing.length > 0) {
    checklist.warn("boot.decode", `missing: ${missing.join(", ")} (unsigned claims of the service)`);
  } else {
    const { form, provisioningState: state } = value;
    const said = state ? `. The service calls the deployment ${shownName(state)}, which nobody signed` : "";
    const detail = form === "provisioning" ? PROVISIONING_DETAILS + said : undefined;
    checklist.decoded("boot.decode", faults, detail);
  }
  return { value, whole: wholeOf<BootProof>(reading) };
}

async function checkDocument(
  proof: ReadBootProof,
  context: VerifyContext,
  checklist: Checklist,
): Promise<CheckedAttestation> {
  if (proof.attestationDocument === undefined)
    return skippedAttestation(checklist, "the attestation document's field could not be read");
  return checkAttestation(proof.attestationDocument, context, checklist);
}

type HashedManifest = Pick<VerifiedBootProof, "manifest" | "manifestHash">;
type ApprovedManifest = HashedManifest & Pick<VerifiedBootProof, "approvers">;

/** A manifest with the results of its checks. `facts` is null unless the manifest set approved it. */
export interface CheckedManifest {
  readonly manifest: Manifest | undefined;
  readonly manifestHash: Uint8Array | undefined;
  readonly facts: ApprovedManifest | null;
}

/** The checks of {@link checkManifest}. */
const MANIFEST_CHECKS = /* @__PURE__ */ checksOf("manifest", "envelope");

/** Checks manifest and envelope. No result depends on the caller. */
async function checkManifest(
  proof: ReadBootProof,
  { cache, manifests }: BootProofContext,
  checklist: Checklist,
): Promise<CheckedManifest> {
  const known = manifests?.find(proof);
  if (known === undefined) return askManifest(proof, cache, checklist);
  checklist.adopt(known.checks);
  return known.checked;
}

/** Caches the manifest of a verified boot proof. Others are not cached: forged ones would displace genuine ones. */
function keepManifest(
  proof: ReadBootProof,
  checked: CheckedManifest,
  verified: VerifiedBootProof | null,
  { manifests }: BootProofContext,
): void {
  const checks = verified?.checks.filter(({ id }) => MANIFEST_CHECKS.includes(id));
  if (checks !== undefined) manifests?.keep(proof, checked, checks);
}

async function askManifest(
  { manifest: bytes, manifestEnvelope, declaredManifestVersion: declared }: ReadBootProof,
  cache: SignatureCache,
  checklist: Checklist,
): Promise<CheckedManifest> {
  const beside =
    bytes === null ? null : decodeAs({ id: "manifest.decode", bytes, decode: readManifest }, declared, checklist);
  const decode = (given: Uint8Array): ReturnType<typeof readManifestEnvelope> =>
    readManifestEnvelope(given, beside?.value);
  const approved = decodeAs({ id: "envelope.decode", bytes: manifestEnvelope, decode }, declared, checklist);
  const { value, isDeclared } = beside ?? checkEnvelopeAlone(approved, checklist);
  const [hash, envelopeHash] = await hashesOf(value, approved.value);
  const hashed = approved.value && { envelope: approved.value.envelope, hash: envelopeHash! };
  const read = value && { manifest: value.manifest, manifestHash: hash! };
  const isSame = beside === null || checkSameManifest(read, hashed, checklist);
  const approvers = await checkEnvelopeApprovals(hashed, cache, checklist);
  const isGood = isSame && isDeclared && approved.isDeclared && approvers !== null;
  return { manifest: value?.manifest, manifestHash: hash, facts: isGood ? { ...read!, approvers } : null };
}

type Hashable = Pick<ReturnType<typeof readManifest>, "hashInput"> | undefined;

/** Returns the hashes of both manifests. If their bytes are equal, they are hashed once. */
async function hashesOf(shown: Hashable, approved: Hashable): Promise<readonly (Uint8Array | undefined)[]> {
  const hash = shown && (await sha256(shown.hashInput));
  if (shown && approved && equalBytes(approved.hashInput, shown.hashInput)) return [hash, hash];
  return [hash, approved && (await sha256(approved.hashInput))];
}

const ENVELOPE_ALONE = "there is no separate manifest to compare: every check uses the manifest inside the envelope";

/** Reports the checks of a manifest that only the envelope holds. */
function checkEnvelopeAlone<T extends { readonly manifest: Manifest }>(
  { value }: DecodedAs<T>,
  checklist: Checklist,
): DecodedAs<T> {
  if (value === undefined) {
    checklist.skipRest(["manifest.decode", "envelope.manifest"], "the envelope that contains it could not be read");
    return { value, isDeclared: false };
  }
  checklist.skip("envelope.manifest", ENVELOPE_ALONE);
  return { value, isDeclared: concludeVersion("manifest.decode", value.manifest, [], checklist) };
}

interface HashedEnvelope {
  readonly envelope: ManifestEnvelope;
  readonly hash: Uint8Array;
}

interface DecodedAs<T> {
  readonly value: T | undefined;
  /** Whether the version is the declared one. It is true if no version is declared. */
  readonly isDeclared: boolean;
}

type DecodingCheckId = "manifest.decode" | "envelope.decode";

interface ManifestField<T> {
  readonly id: DecodingCheckId;
  /** Bytes of the member. Undefined means unreadable. */
  readonly bytes: Uint8Array | undefined;
  readonly decode: (bytes: Uint8Array) => T;
}

/** Decodes a manifest or envelope, and returns it even if its version is not the declared one. */
function decodeAs<T extends { readonly manifest: Manifest }>(
  { id, bytes, decode }: ManifestField<T>,
  declared: string | null | undefined,
  checklist: Checklist,
): DecodedAs<T> {
  if (bytes === undefined)
    return { value: undefined, isDeclared: checklist.skip(id, "its field of the boot proof could not be read") };
  const decoded = attempt(() => decode(bytes));
  if (decoded.value === undefined) return { value: undefined, isDeclared: checklist.decoded(id, decoded.faults) };
  const { manifest } = decoded.value;
  const { version } = manifest;
  const agrees = declared === null || declared === undefined || declaredManifestVersions(declared).includes(version);
  const other = `the bytes are of version ${version}, qosManifestVersion declares ${JSON.stringify(declared)}`;
  return { value: decoded.value, isDeclared: concludeVersion(id, manifest, agrees ? [] : [other], checklist) };
}

function concludeVersion(
  id: DecodingCheckId,
  { version }: Manifest,
  faults: readonly string[],
  checklist: Checklist,
): boolean {
  const draft = manifestDraft(version);
  if (faults.length === 0 && draft !== null) return checklist.warn(id, `version ${version}: ${draft}`);
  return checklist.conclude(id, faults, `version ${version}`);
}

/** Checks that the manifest is the one in the envelope. */
function checkSameManifest(
  shown: HashedManifest | undefined,
  approved: HashedEnvelope | undefined,
  checklist: Checklist,
): boolean {
  if (!shown || !approved) return checklist.skip("envelope.manifest", "manifest or envelope could not be read");
  const [inside, beside] = [approved.envelope.manifest.version, shown.manifest.version];
  return checklist.conclude("envelope.manifest", [
    ...(inside === beside ? [] : [`the envelope's manifest is ${inside}, the manifest is ${beside}`]),
    ...(equalBytes(approved.hash, shown.manifestHash)
      ? []
      : ["the manifest inside the envelope and the one beside it have different hashes"]),
  ]);
}

/** Runs `envelope.approvals` and `envelope.shares`. Returns the approvers, or null unless both checks passed. */
async function checkEnvelopeApprovals(
  approved: HashedEnvelope | undefined,
  cache: SignatureCache,
  checklist: Checklist,
): Promise<readonly QuorumMember[] | null> {
  if (approved === undefined) {
    checklist.skipRest(["envelope.approvals", "envelope.shares"], "the envelope could not be read");
    return null;
  }
  const { envelope, hash } = approved;
  const { manifestSet } = envelope.manifest;
  const { faults, repeated, approvers } = await checkApprovals(envelope.manifestSetApprovals, manifestSet, hash, cache);
  const { threshold, members } = manifestSet;
  const summary = `${approvers.length} of ${members.length} members approved, ${threshold} required`;
  const reasons = [...faults, ...repeated, ...thresholdFaults(manifestSet, approvers.length)];
  const answers = [
    checklist.conclude("envelope.approvals", reasons, summary),
    await checkShares(envelope, hash, cache, checklist),
  ];
  return answers.every(Boolean) ? approvers : null;
}

/** Runs `envelope.shares`. QOS records an approval for every posted share, so repeated approvals are only a warning. */
async function checkShares(
  { manifest, shareSetApprovals }: ManifestEnvelope,
  hash: Uint8Array,
  cache: SignatureCache,
  checklist: Checklist,
): Promise<boolean> {
  if (shareSetApprovals.length === 0) return checklist.pass("envelope.shares", "there are no share-set approvals");
  const { faults, repeated, approvers } = await checkApprovals(shareSetApprovals, manifest.shareSet, hash, cache);
  if (faults.length > 0) return checklist.conclude("envelope.shares", faults);
  if (repeated.length > 0)
    return checklist.warn("envelope.shares", `${listed(repeated, "; ")}: a repeated approval counts once`);
  return checklist.pass("envelope.shares", `${approvers.length} share-set approvals`);
}
