/** The library's functions, which verify, appraise and report. */
import type { Appraisal, AppraisalSetting } from "./appraise/appraisal.js";
import type { Blamed, CheckId, Checklist } from "./checks.js";
import { copyInput } from "./decode/input.js";
import {
  type CopiedEvidence,
  type Evidence,
  type NamedEvidence,
  type Setting,
  type VerifyOptions,
  type SignedBytes,
  type SignedBytesOptions,
  copyDocument,
  copyEvidence,
  copySignedBytes,
  requireApplied,
  settingOf,
} from "./inputs.js";
import { attestationClaims, evidenceClaims, withProvenance } from "./report/claims.js";
import { type VerdictAndReport, conclude } from "./report/conclude.js";
import {
  type ActivityVerification,
  type AppProofVerification,
  type AttestationVerification,
  type BootProofVerification,
  type SignedBytesVerification,
  type Verification,
  madeVerification,
} from "./verification.js";
import { type DecodedActivity, decodeActivityInput } from "./verify/activity.js";
import type { UsedFor } from "./verify/app-proof-uses.js";
import { type VerifiedAppProof, checkAppProofs, checkBytes } from "./verify/app-proof.js";
import { checkBareDocument } from "./verify/attestation.js";
import { checkBootProofs } from "./verify/boot-proof.js";
import { inTurns, turn } from "./verify/in-turns.js";
import { checkProvenance } from "./verify/provenance.js";
import type { SignedBytesResult } from "./verify/signed-bytes.js";
import type { Claims } from "./report/report.js";

export {
  type Evidence,
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  type SignedBytes,
  type SignedBytesOptions,
  type VerifyOptions,
} from "./inputs.js";

/**
 * Verifies boot proofs, app proofs and an activity, and compares them with the request and the policy
 * (verify/README.md, appraise/README.md). Faults of the evidence are never thrown: the report has every failure, and
 * `requireVerified` throws for any. Throws TypeError for an invalid call (no evidence, no policy, an option of a wrong
 * type or name) and RangeError for more boot proofs or app proofs than `MAX_APP_PROOFS`.
 * @example
 * ```ts
 * const policy = parsePolicy(await readFile("policy.json", "utf8"));
 * const { report } = await verifyEvidence({ bootProofs: [bootProof], appProofs }, { policy, now: new Date() });
 * ```
 */
export async function verifyEvidence(evidence: Evidence, options: VerifyOptions): Promise<Verification> {
  // The options are copied before the first await, so that later changes of the caller have no effect.
  return verifyUnder(evidence, settingOf(options));
}

/**
 * Verifies a service's answer as {@link verifyEvidence} does. `refusals` are reasons why the answer does not match the
 * request. Each fails `activity.request` or, without an activity, `app.request` of the first app proof, and is listed
 * before the check's own reasons. Throws TypeError for refusals without an activity and an expectation, because that
 * check would not run. `signUp` are the claims of a sign-up, if its answer is verified.
 */
export async function verifyAnswer(
  evidence: Evidence,
  options: VerifyOptions,
  refusals: readonly string[],
  more: Pick<Setting, "signUp" | "began"> = {},
): Promise<Verification> {
  const setting = { ...settingOf(options), refusals: [...refusals], ...more };
  const copied = copyEvidence(evidence, setting);
  if (copied.activity === null && setting.context.expectation === null && setting.refusals.length > 0)
    throw new TypeError("refusals: expected an activity in the evidence, got none");
  return verifyCopied(copied, setting);
}

/** Copies the evidence, and returns a function that verifies it as {@link verifyEvidence} does. */
export function preparedVerification(evidence: Evidence, setting: Setting): () => Promise<Verification> {
  const copied = copyEvidence(evidence, setting);
  return () => verifyCopied(copied, setting);
}

async function verifyUnder(evidence: Evidence, setting: Setting): Promise<Verification> {
  return verifyCopied(copyEvidence(evidence, setting), setting);
}

async function verifyCopied(evidence: CopiedEvidence, setting: Setting): Promise<Verification> {
  const { report, bootProofs, appProofs, activity, provenance } = await judgeCopied(evidence, setting);
  return madeVerification({ report: await report(), bootProofs, appProofs, activity, provenance });
}

/** The verdict on evidence, before its report is made. */
export interface EvidenceVerdict extends VerdictAndReport, Omit<Verification, "report"> {
  /** Result of the appraisal, or null without a policy. */
  readonly appraisal: Appraisal | null;
  /** Names the pieces that fail a check of several pieces, each by itself. */
  readonly blamed: () => readonly Blamed[];
  /** Absent unless the evidence is signed bytes, and null if they were rejected. */
  readonly signedBytes?: SignedBytesResult;
}

/** Decides the verdict of {@link verifyEvidence} under copied options. The report is made on demand. */
export async function judgeEvidence(evidence: Evidence, setting: Setting): Promise<EvidenceVerdict> {
  return judgeCopied(copyEvidence(evidence, setting), setting);
}

async function judgeCopied(copied: CopiedEvidence, setting: Setting): Promise<EvidenceVerdict> {
  const { context, policy } = setting;
  const decoded = copied.activity && (await decodeActivityInput(copied.activity));
  const appProofs = [...copied.appProofs, ...(await inTurns(decoded?.value.appProofs ?? [], 1, copyInput))];
  const boots = await checkBootProofs(copied.bootProofs, context);
  const bootProofs = boots.map((boot) => boot.verified);
  const apps = await checkAppProofs(appProofs, { boots, activity: decoded, refusals: setting.refusals }, context);
  const bytes = await bytesOf(copied, boots, setting);
  const signatures = decoded && (await decoded.signatures(context.expectation, apps.verified));
  const provenance = await provenanceOf(copied, bootProofs, setting);
  const use = useOf(decoded, setting);
  await turnUnder(setting);
  // Nothing is awaited from here to the record of uses. Otherwise a concurrent verification could miss these uses.
  if (isReused(apps.verified, use, setting)) return judgeCopied(copied, refusingReuse(setting));
  const { activity, contradicted } = checkedActivity(decoded, apps.verified, setting, { use, signatures });
  const appraised = { ...appraisalSetting(copied, decoded, setting), ...bytes.verified };
  const appraisal = policy?.appraise(bootProofs, apps.verified, appraised) ?? null;

  const verified = {
    bootProofs,
    appProofs: apps.verified,
    activity,
    provenance: provenance.verified,
    ...bytes.verified,
  };
  const judgement = concluded({
    setting,
    given: copied.given,
    checklists: [
      ...boots.map(({ checklist }) => checklist),
      ...apps.checklists,
      ...bytes.checklists,
      ...(decoded ? [decoded.checklist] : []),
    ],
    pieces: piecesOf(verified, decoded !== null),
    appraisal,
    provenance: provenance.checklists,
    validationTime: boots[0]?.validationTime ?? null,
    claims: () => {
      const claims = withSignUp(
        evidenceClaims(boots, verified, ofCaller(appraisal, setting), context.measurements),
        setting,
      );
      return withProvenance(claims, setting.policyFrom === "caller" ? provenance.verified : []);
    },
  });
  if (judgement.verdict !== "rejected") recordUses(apps.verified, use, setting);
  const blamed = (): Blamed[] => [
    ...blamedProofs(apps.verified, "activity.claims", contradicted),
    ...blamedProofs(apps.verified, "policy.app-proof", appraisal?.refused),
    ...provenance.unmet,
  ];
  return { ...judgement, ...verified, appraisal, blamed };
}

/** Checks signed bytes, if there are any. */
async function bytesOf(
  { signedBytes }: CopiedEvidence,
  boots: readonly Parameters<typeof checkBytes>[1][],
  { context }: Setting,
): Promise<{ readonly verified: Pick<EvidenceVerdict, "signedBytes">; readonly checklists: readonly Checklist[] }> {
  if (signedBytes === undefined) return { verified: {}, checklists: [] };
  const { verified, checklist } = await checkBytes(signedBytes, boots[0]!, context);
  return { verified: { signedBytes: verified }, checklists: [checklist] };
}

/** Gives other work a turn. An audit, whose evidence nobody else has, judges its entries in turns. */
async function turnUnder({ isOwnEvidence }: Setting): Promise<void> {
  if (isOwnEvidence !== true) await turn();
}

function checkedActivity(
  decoded: DecodedActivity | null,
  appProofs: Verification["appProofs"],
  setting: Setting,
  found: Pick<Parameters<DecodedActivity["check"]>[1], "use" | "signatures">,
): ReturnType<DecodedActivity["check"]> {
  return decoded?.check(appProofs, { ...demandsOf(setting), ...found }) ?? { activity: null, contradicted: new Set() };
}

function blamedProofs(all: Verification["appProofs"], failed: CheckId, guilty?: ReadonlySet<unknown>): Blamed[] {
  return all.flatMap((proof, index) => (guilty?.has(proof) === true ? [[`app[${index}]`, failed] as const] : []));
}

function withSignUp(claims: Claims, { signUp }: Setting): Claims {
  return signUp === undefined ? claims : { ...claims, signUp };
}

/** Makes the verdict. Throws for revocation lists of the caller that a good verdict does not rest on. */
function concluded(parts: Parameters<typeof conclude>[0] & { readonly setting: Setting }): ReturnType<typeof conclude> {
  const judgement = conclude(parts);
  if (judgement.verdict !== "rejected") requireApplied(parts.setting.context);
  return judgement;
}

/** Runs the provenance checks. Without a policy there are no demands. */
async function provenanceOf(
  { provenance }: CopiedEvidence,
  bootProofs: Verification["bootProofs"],
  { policy, context, provenanceVerifier }: Setting,
): ReturnType<typeof checkProvenance> {
  return checkProvenance(provenance, policy?.demands(bootProofs, context.now) ?? [], provenanceVerifier);
}

/**
 * Verifies one boot proof, as {@link verifyEvidence} does. The policy's rules about app proofs are not applied, unless
 * `bootProofsOnly` is false.
 * @example
 * ```ts
 * const { bootProof: boot } = requireVerified(await verifyBootProof(bootProof, { policy, now: new Date() }));
 * ```
 */
export async function verifyBootProof(bootProof: unknown, options: VerifyOptions): Promise<BootProofVerification> {
  const { report, bootProofs } = await verifyUnder({ bootProofs: [bootProof] }, settingOf(options, undefined, true));
  return madeVerification({ report, bootProof: bootProofs[0]! });
}

/**
 * Verifies one app proof as {@link verifyEvidence} does. Its boot proof may be verified already.
 * @example
 * ```ts
 * const { appProof: app } = requireVerified(
 *   await verifyAppProof(appProof, bootProof, { policy, now: new Date() }),
 * );
 * ```
 */
export async function verifyAppProof(
  appProof: unknown,
  bootProof: unknown,
  options: VerifyOptions,
): Promise<AppProofVerification> {
  const { report, appProofs } = await verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof] }, options);
  return madeVerification({ report, appProof: appProofs[0]! });
}

/**
 * Verifies app proofs as {@link verifyEvidence} does, each with the boot proof whose key it names.
 * @example
 * ```ts
 * requireVerified(await verifyAppProofs(appProofs, [bootProof], { policy, now: new Date() }));
 * ```
 */
export async function verifyAppProofs(
  appProofs: readonly unknown[],
  bootProofs: readonly unknown[],
  options: VerifyOptions,
): Promise<Verification> {
  return verifyEvidence({ bootProofs, appProofs }, options);
}

/**
 * Verifies an activity with the app proofs inside it, as {@link verifyEvidence} does. Also throws TypeError for
 * undefined, because otherwise only the boot proofs would be verified.
 * @example
 * ```ts
 * const { activity } = JSON.parse(text) as { activity: unknown };
 * const expected = { organizationId };
 * requireVerified(await verifyActivity(activity, [bootProof], { policy, now: new Date(), expected }));
 * ```
 */
export async function verifyActivity(
  activity: unknown,
  bootProofs: readonly unknown[],
  options: VerifyOptions,
): Promise<ActivityVerification> {
  if (activity === undefined) throw new TypeError("activity: none was given");
  // If there is an activity, claims always include it.
  return (await verifyEvidence({ bootProofs, activity }, options)) as ActivityVerification;
}

/**
 * Verifies bytes that an application signed with its ephemeral key and that are no app proof (docs/sdk.md, "Bytes of
 * its own"). They have the checks of an app proof: `app.time` warns because no time is signed, and `app.request`
 * compares them with `expected`, or warns for null. The policy's deployment has to allow them (`appProofs.bytes`).
 * Throws as {@link verifyEvidence} does, and TypeError if `expected` is missing or empty.
 * @example
 * ```ts
 * const { publicKey, message, signature } = JSON.parse(text) as Record<"publicKey" | "message" | "signature", string>;
 * const signed = { bootProof, message, publicKey, signature };
 * requireVerified(await verifySignedBytes(signed, { policy, now: new Date(), expected: myBytes }));
 * ```
 */
export async function verifySignedBytes(
  signed: SignedBytes,
  options: SignedBytesOptions,
): Promise<SignedBytesVerification> {
  const { copied, setting } = copySignedBytes(signed, options);
  const { report, bootProofs, signedBytes } = await judgeCopied(copied, setting);
  return madeVerification({ report: await report(), bootProof: bootProofs[0]!, signedBytes: signedBytes! });
}

/**
 * Verifies a bare attestation document, the COSE_Sign1 of any Nitro enclave, without the rules of QOS. Only deployments
 * of `kind` `nitro` match it, and the policy's rules about app proofs are not applied, unless `bootProofsOnly` is
 * false. Throws TypeError as {@link verifyEvidence} does, for anything but bytes (or a {@link NamedEvidence} of them),
 * and for options that are about boot proofs or activities.
 * @example
 * ```ts
 * const { attestation } = requireVerified(await verifyAttestation(coseSign1, { policy, now: new Date() }));
 * ```
 */
export async function verifyAttestation(
  document: Uint8Array | NamedEvidence,
  options: VerifyOptions,
): Promise<AttestationVerification> {
  const { report, attestation } = await judgeDocument(document, settingOf(options, undefined, true));
  return madeVerification({ report: await report(), attestation });
}

/** The verdict on a bare document, before its report is made. */
interface DocumentVerdict extends VerdictAndReport, Omit<AttestationVerification, "report"> {
  /** Result of the appraisal. Null means that there is no policy. */
  readonly appraisal: Appraisal | null;
}

/** Decides the verdict of {@link verifyAttestation} under copied options. The report is made on demand. */
export async function judgeDocument(document: Uint8Array | NamedEvidence, setting: Setting): Promise<DocumentVerdict> {
  const { context, policy, bootProofsOnly, maxAgeMs } = setting;
  const input = copyDocument(document, setting);

  const { checklist, verified: attestation, debug, validationTime } = await checkBareDocument(input.bytes, context);
  const appraisal =
    policy?.appraise([attestation], [], {
      now: context.now,
      maxAgeMs,
      organizationId: null,
      onlyAsked: bootProofsOnly ? "a bare document was" : null,
      hasActivity: false,
      unfinished: null,
      names: new Map(),
    }) ?? null;

  const judgement = concluded({
    setting,
    given: [input.given],
    checklists: [checklist],
    pieces: [attestation],
    appraisal,
    validationTime,
    claims: () => attestationClaims(attestation!, debug, ofCaller(appraisal, setting), context.measurements),
  });
  return { ...judgement, attestation, appraisal };
}

/** Returns the appraisal, or null if the policy came with the evidence, because claims list only pins of the caller. */
function ofCaller(appraisal: Appraisal | null, { policyFrom }: Setting): Appraisal | null {
  return policyFrom === "caller" ? appraisal : null;
}

function demandsOf({
  context,
  policy,
  uses,
  refusals = [],
}: Setting): Omit<Parameters<DecodedActivity["check"]>[1], "use" | "signatures"> {
  return { expectation: context.expectation, coverage: policy?.appProofs.coverage ?? false, uses, refusals };
}

function appraisalSetting(
  { given }: CopiedEvidence,
  activity: DecodedActivity | null,
  { context, maxAgeMs, bootProofsOnly, appraised, signUp }: Setting,
): AppraisalSetting {
  const { now, expectation } = context;
  return {
    now,
    maxAgeMs,
    organizationId: activity?.value.organizationId ?? expectation?.organizationId ?? null,
    onlyAsked: bootProofsOnly ? "boot proofs were" : null,
    // A sign-up has no activity, and each of its addresses is covered.
    unfinished: activity?.unfinished?.state ?? null,
    hasActivity: activity !== null || signUp !== undefined,
    names: new Map(given.map(({ subject, piece }) => [subject, piece.name])),
    appraised,
  };
}

/** What the app proofs are used for: an activity, or a sign-up, which has no id. Null: uses are not counted. */
function useOf(decoded: DecodedActivity | null, { uses, signUp, context, began = null }: Setting): UsedFor | null {
  if (uses === null) return null;
  if (decoded !== null) return decoded.usedFor({ expectation: context.expectation, began });
  return signUp ? { activityId: "", submitted: `sign-up of ${signUp.organizationId}` } : null;
}

const REUSED = "one of its app proofs was used before";

function refusingReuse(setting: Setting): Setting {
  return { ...setting, refusals: [...(setting.refusals ?? []), REUSED] };
}

/** Whether the app proofs of a sign-up were used before, and are not refused for it yet. */
function isReused(
  appProofs: Verification["appProofs"],
  use: UsedFor | null,
  { signUp, uses, refusals = [] }: Setting,
): boolean {
  return (
    signUp !== undefined &&
    use !== null &&
    !refusals.includes(REUSED) &&
    uses?.areFree(verifiedOf(appProofs), use) === false
  );
}

function recordUses(appProofs: Verification["appProofs"], use: UsedFor | null, { uses }: Setting): void {
  if (use !== null) uses?.record(verifiedOf(appProofs), use);
}

function verifiedOf(appProofs: Verification["appProofs"]): VerifiedAppProof[] {
  return appProofs.filter((proof) => proof !== null);
}

/** Returns the values that must all be verified. Without boot proofs, a null makes the verdict `rejected`. */
function piecesOf(
  { bootProofs, appProofs, activity, signedBytes }: Omit<Verification, "report"> & Pick<EvidenceVerdict, "signedBytes">,
  withActivity: boolean,
): unknown[] {
  if (bootProofs.length === 0) return [null];
  const others = signedBytes === undefined ? [] : [signedBytes];
  return [...bootProofs, ...appProofs, ...others, ...(withActivity ? [activity] : [])];
}
