/** The library's verbs: verify, appraise, report. Each reads as the list of its steps. */
import { type Appraisal, appraise } from "./appraise/appraise.js";
import { type Policy, isPolicy, policyBytes } from "./appraise/policy.js";
import { toHex, toUtf8 } from "./bytes.js";
import { type Check, Checklist, type CheckSubject, failureText } from "./checks.js";
import { MAX_APP_PROOFS, MAX_PAYLOADS_VALUES } from "./decode/app-proof.js";
import { decodeCertificate } from "./decode/certificate.js";
import { type TakenInput, requireOptions, takeInput } from "./decode/input.js";
import { activityClaims, appProofClaims, attestationClaims, bootProofClaims } from "./report/claims.js";
import {
  type Claims,
  type EvidencePiece,
  type Report,
  type Verdict,
  isMadeReport,
  makeReport,
} from "./report/report.js";
import { type VerifiedActivity, checkActivity, openActivity, usedFor } from "./verify/activity.js";
import {
  type AppProofSetting,
  type CheckedAppProof,
  type OpenedAppProof,
  type VerifiedAppProof,
  checkAppProof,
  openAppProof,
} from "./verify/app-proof.js";
import { AppProofUses } from "./verify/app-proof-uses.js";
import { type VerifiedAttestation, checkAttestation, verifiedAttestation } from "./verify/attestation.js";
import { type CheckedBootProof, VerifiedBootProof, checkBootProof } from "./verify/boot-proof.js";
import type { VerifyContext } from "./verify/context.js";
import { sha256 } from "./verify/digest.js";
import { type Expected, type Question, questionOf, requestTime, unansweredAddresses } from "./verify/expectation.js";
import { inTurns } from "./verify/in-turns.js";
import { type WantedKey, checkDebugMode, checkNonce } from "./verify/manifest-binding.js";
import { SignatureCache } from "./verify/signature-cache.js";
import { AWS_NITRO_ROOT_G1, type TrustAnchor } from "./verify/trust-anchor.js";

/**
 * In place of a policy: accept any genuine enclave, of anybody, running anything. The verdict is then `authentic` at
 * best, and proves no more than that the evidence agrees with itself.
 */
export const NO_POLICY_ANY_ENCLAVE = Symbol("no policy: any enclave of anybody");

export interface VerifyOptions {
  /** What the caller pins; or, in so many words, {@link NO_POLICY_ANY_ENCLAVE}. */
  readonly policy: Policy | typeof NO_POLICY_ANY_ENCLAVE;
  /** The present, by which ages are counted and the future told from the past. */
  readonly now: Date;
  /** The moment certificates are held against. Default: `document`, the document's own signed time. */
  readonly at?: "document" | "now" | Date;
  /** Only without a policy, which names its own. Default: AWS Nitro Enclaves Root G1 alone. */
  readonly trustAnchors?: readonly TrustAnchor[];
  /** The ephemeral key that was asked for, 130 bytes: each boot proof has to attest it. */
  readonly ephemeralKey?: Uint8Array;
  /** The nonce that was asked for: each document has to carry it. Without one no boot proof may carry any. */
  readonly nonce?: Uint8Array;
  /**
   * What was asked: the activity, and the app proofs, have to be the answer to it. Without it the report leaves that
   * open.
   */
  readonly expected?: Expected;
  /** Let debug mode pass with a warning, also where the policy does not. */
  readonly allowDebug?: boolean;
  /** Remembers valid signatures from one verification to the next: pass the same one to make later ones cheaper. */
  readonly cache?: SignatureCache;
  /** Remembers what each app proof stood for: pass the same one, and no app proof stands for two activities. */
  readonly uses?: AppProofUses;
}

/** Each piece as JSON text, its bytes, or the parsed value; or as a {@link NamedEvidence} of it. */
export interface Evidence {
  /**
   * Bare, or as `{"bootProof": …}`; or verified already. Where there is none, nothing can be verified: all is rejected.
   */
  readonly bootProofs: readonly unknown[];
  readonly appProofs?: readonly unknown[];
  /** Bare, or as `{"activity": …}`; the app proofs inside it follow the others. */
  readonly activity?: unknown;
}

/** A piece of evidence with what the caller knows of it; the report names it so. */
export class NamedEvidence {
  /** Such as the file's. Null: none. */
  readonly name: string | null;
  /** JSON text, its bytes, or the parsed value; or a {@link VerifiedBootProof}. */
  readonly value: unknown;
  /** As they were given, where the value was parsed from them. */
  readonly bytes: Uint8Array | null;
  /** Of a boot proof: the key that this one was asked for by, 130 bytes. */
  readonly ephemeralKey: Uint8Array | null;

  constructor(
    name: string | null,
    value: unknown,
    facts: { readonly bytes?: Uint8Array; readonly ephemeralKey?: Uint8Array } = {},
  ) {
    if (name !== null && typeof name !== "string") throw new TypeError("name: a string wanted, or null");
    this.name = name;
    this.value = value instanceof Uint8Array ? new Uint8Array(value) : value;
    this.bytes = facts.bytes === undefined ? null : bytesOf("bytes", facts.bytes);
    this.ephemeralKey = facts.ephemeralKey === undefined ? null : bytesOf("ephemeralKey", facts.ephemeralKey);
  }
}

/** The report, and what was verified: one entry for each piece of evidence, null where it was rejected. */
export interface Verification {
  readonly report: Report;
  readonly bootProofs: readonly (VerifiedBootProof | null)[];
  readonly appProofs: readonly (VerifiedAppProof | null)[];
  readonly activity: VerifiedActivity | null;
}

/** So many boot proofs are verified at once: what is decoded of one is many times its size, and little of it stays. */
const AT_ONCE = 4;

/**
 * Verifies boot proofs, the app proofs under them and an activity, holds them against what was asked, and all of it
 * against the policy (`src/verify/README.md`, `src/appraise/README.md`). Never throws for what is wrong with the
 * evidence: that is in the report, every failure of it. {@link requireVerified} makes an error of it. Throws TypeError
 * for calls that make no sense (no evidence, no policy, an option of a wrong type or name) and RangeError for more than
 * {@link MAX_APP_PROOFS} app proofs.
 */
export async function verifyEvidence(evidence: Evidence, options: VerifyOptions): Promise<Verification> {
  const { policy, context, wantedKeys, uses } = takeOptions(options);
  // Taken over before anything is awaited: what the caller does to its objects meanwhile changes nothing.
  const taken = takeEvidence(evidence, wantedKeys);
  if (taken.activity === null) requireQuestionOfProofs(context.question);
  const documented = await documentation(taken.given, policy, options.now);

  const boots = await inTurns(taken.bootProofs, AT_ONCE, (input, index) =>
    checkBootProof(input, context, `boot[${index}]`),
  );
  const apps = await checkAppProofs(taken, boots, context);
  const appProofs = apps.map((app) => app.verified);
  const demands = { question: context.question, coverage: policy?.appProofs.coverage ?? false, uses };
  const activity = taken.activity && checkActivity(taken.activity, appProofs, demands);
  const bootProofs = boots.map((boot) => boot.verified);
  const organizationId = taken.activity?.value.organizationId ?? context.question?.organizationId ?? null;
  const appraisal = policy && appraise(bootProofs, appProofs, policy, { now: context.now, organizationId });

  const checklists = [
    ...boots.map(({ checklist }) => checklist),
    ...unaskedProofs(taken, context),
    ...apps.map(({ checklist }) => checklist),
    ...(taken.activity ? [taken.activity.checklist] : []),
  ];
  const pieces = [...bootProofs, ...appProofs, ...(taken.activity ? [activity] : [])];
  const judged = judge(checklists, bootProofs.length === 0 ? [null] : pieces, policy, appraisal);
  if (judged.verdict !== "rejected" && activity && taken.activity)
    uses?.record(activity.appProofs, usedFor(context.question, taken.activity.value));
  const claims = judged.verdict === "rejected" ? null : evidenceClaims(boots, appProofs, activity, appraisal);
  const report = makeReport({ ...documented, ...judged, validationTime: boots[0]?.validationTime ?? null, claims });
  return { report, bootProofs, appProofs, activity };
}

/** Verifies one boot proof: {@link verifyEvidence} of it alone. */
export async function verifyBootProof(
  bootProof: unknown,
  options: VerifyOptions,
): Promise<{ readonly report: Report; readonly bootProof: VerifiedBootProof | null }> {
  const { report, bootProofs } = await verifyEvidence({ bootProofs: [bootProof] }, options);
  return { report, bootProof: bootProofs[0]! };
}

/** Verifies one app proof under a boot proof, verified already or not: {@link verifyEvidence} of the two. */
export async function verifyAppProof(
  appProof: unknown,
  bootProof: unknown,
  options: VerifyOptions,
): Promise<{ readonly report: Report; readonly appProof: VerifiedAppProof | null }> {
  const { report, appProofs } = await verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof] }, options);
  return { report, appProof: appProofs[0]! };
}

/** Verifies app proofs, each under the one of the boot proofs whose key it names: {@link verifyEvidence} of them. */
export async function verifyAppProofs(
  appProofs: readonly unknown[],
  bootProofs: readonly unknown[],
  options: VerifyOptions,
): Promise<Verification> {
  return verifyEvidence({ bootProofs, appProofs }, options);
}

/** Verifies an activity with the app proofs inside it: {@link verifyEvidence} of it and the boot proofs. */
export async function verifyActivity(
  activity: unknown,
  bootProofs: readonly unknown[],
  options: VerifyOptions,
): Promise<Verification> {
  return verifyEvidence({ bootProofs, activity }, options);
}

/**
 * Verifies a bare attestation document, the COSE_Sign1 of any Nitro enclave, without the rules of QOS. Of a policy only
 * deployments of `kind` `nitro` match it. Throws TypeError as {@link verifyEvidence} does, for anything but bytes (or a
 * {@link NamedEvidence} of them), and for what is asked of boot proofs and activities only.
 */
export async function verifyAttestation(
  document: Uint8Array | NamedEvidence,
  options: VerifyOptions,
): Promise<{ readonly report: Report; readonly attestation: VerifiedAttestation | null }> {
  const { policy, context, wantedKeys } = takeOptions(options);
  if (wantedKeys.length > 0) throw new TypeError("ephemeralKey: asked of boot proofs only");
  if (context.question !== null) throw new TypeError("expected: asked of activities and app proofs only");
  const piece = document instanceof NamedEvidence ? document : new NamedEvidence(null, document);
  if (!(piece.value instanceof Uint8Array)) throw new TypeError("document: bytes wanted, as a Uint8Array");
  const bytes = new Uint8Array(piece.value);
  const documented = await documentation([{ subject: "boot[0]", piece }], policy, options.now);

  const checklist = new Checklist("boot[0]");
  const checked = await checkAttestation(bytes, context, checklist);
  const isAsked = context.nonce === null || checkNonce(checked.document.nonce, context.nonce, checklist);
  const debug = checkDebugMode(checked.document, null, context.allowDebug, checklist);
  const attestation = isAsked && debug !== null ? verifiedAttestation(checked) : null;
  const appraisal = policy && appraise([attestation], [], policy, { now: context.now, organizationId: null });

  const judged = judge([checklist], [attestation], policy, appraisal);
  const claims =
    judged.verdict === "rejected" || attestation === null
      ? null
      : {
          bootProofs: [attestationClaims(attestation, debug === true, appraisal?.deployments[0] ?? null)],
          appProofs: [],
          activity: null,
        };
  return {
    report: makeReport({ ...documented, ...judged, validationTime: checked.validationTime, claims }),
    attestation,
  };
}

// What callers hand in, taken over: later changes to their objects change nothing, and nothing is silently not asked.

interface TakenOptions {
  readonly policy: Policy | null;
  readonly context: VerifyContext;
  readonly wantedKeys: readonly WantedKey[];
  readonly uses: AppProofUses | null;
}

const OPTION_NAMES: Readonly<Record<keyof VerifyOptions, true>> = {
  policy: true,
  now: true,
  at: true,
  trustAnchors: true,
  ephemeralKey: true,
  nonce: true,
  expected: true,
  allowDebug: true,
  cache: true,
  uses: true,
};
const EVIDENCE_NAMES: Readonly<Record<keyof Evidence, true>> = { bootProofs: true, appProofs: true, activity: true };

function takeOptions(options: VerifyOptions): TakenOptions {
  requireOptions("options", options, OPTION_NAMES);
  const {
    now,
    at = "document",
    ephemeralKey,
    nonce,
    expected,
    allowDebug = false,
    cache = new SignatureCache(),
    uses,
  } = options;
  if (options.policy !== NO_POLICY_ANY_ENCLAVE && !isPolicy(options.policy))
    throw new TypeError("a policy of parsePolicy is wanted, or NO_POLICY_ANY_ENCLAVE");
  const policy = options.policy === NO_POLICY_ANY_ENCLAVE ? null : options.policy;
  if (policy !== null && options.trustAnchors !== undefined)
    throw new TypeError("trustAnchors: a policy names its own");
  if (!isInstant(now)) throw new TypeError("now: a valid Date wanted");
  if (at !== "document" && at !== "now" && !isInstant(at))
    throw new TypeError('at: "document", "now" or a valid Date wanted');
  if (typeof allowDebug !== "boolean") throw new TypeError("allowDebug: true or false wanted");
  if (!(cache instanceof SignatureCache)) throw new TypeError("cache: a SignatureCache wanted");
  if (uses !== undefined && !(uses instanceof AppProofUses)) throw new TypeError("uses: an AppProofUses wanted");
  const context = {
    trustAnchors: policy?.trustAnchors ?? takeAnchors(options.trustAnchors),
    now: new Date(now),
    at: at instanceof Date ? new Date(at) : at,
    allowDebug: allowDebug || policy?.allowDebug === true,
    nonce: nonce === undefined ? null : bytesOf("nonce", nonce),
    question: expected === undefined ? null : questionOf(expected),
    cache,
  };
  const wantedKeys =
    ephemeralKey === undefined ? [] : [{ what: WANTED_KEY, key: bytesOf("ephemeralKey", ephemeralKey) }];
  return { policy, context, wantedKeys, uses: uses ?? null };
}

const WANTED_KEY = "the key that was asked for";

/** Decoded anew from a copy, so that what they are is not changed meanwhile. */
function takeAnchors(anchors: readonly TrustAnchor[] | undefined): readonly TrustAnchor[] {
  if (anchors === undefined) return [AWS_NITRO_ROOT_G1];
  const isGood =
    Array.isArray(anchors) &&
    anchors.every((anchor) => typeof anchor?.name === "string" && anchor.certificate?.der instanceof Uint8Array);
  if (!isGood) throw new TypeError("trustAnchors: a list of anchors wanted, as parseTrustAnchor answers them");
  return anchors.map(({ name, certificate }) => ({
    name,
    certificate: decodeCertificate(new Uint8Array(certificate.der)),
  }));
}

function bytesOf(name: string, value: unknown): Uint8Array {
  if (value instanceof Uint8Array && value.length > 0) return new Uint8Array(value);
  throw new TypeError(`${name}: bytes wanted, as a Uint8Array that is not empty`);
}

/** Comparisons with an invalid Date are all false: nothing would ever be too old. */
function isInstant(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

interface GivenPiece {
  readonly subject: CheckSubject;
  readonly piece: NamedEvidence;
}

interface TakenEvidence {
  readonly bootProofs: readonly {
    readonly input: TakenInput | VerifiedBootProof;
    readonly wantedKeys: readonly WantedKey[];
  }[];
  readonly appProofs: readonly OpenedAppProof[];
  readonly activity: ReturnType<typeof openActivity> | null;
  readonly given: readonly GivenPiece[];
}

function takeEvidence(evidence: Evidence, wantedKeys: readonly WantedKey[]): TakenEvidence {
  requireOptions("evidence", evidence, EVIDENCE_NAMES);
  const { bootProofs, appProofs = [], activity } = evidence;
  if (!Array.isArray(bootProofs)) throw new TypeError("evidence.bootProofs: a list of boot proofs wanted");
  if (!Array.isArray(appProofs)) throw new TypeError("evidence.appProofs: a list of app proofs wanted");
  if (appProofs.length > MAX_APP_PROOFS) throw new RangeError(`more than ${MAX_APP_PROOFS} app proofs`);
  if (bootProofs.length + appProofs.length === 0 && activity === undefined)
    throw new TypeError("no evidence was given");
  const boots = bootProofs.map((input, index) => given(`boot[${index}]`, input));
  const apps = appProofs.map((input, index) => given(`app[${index}]`, input));
  const whole = activity === undefined ? [] : [given("activity", activity)];
  const opened = whole.map(({ piece }) => openActivity(takeInput(piece.value)))[0] ?? null;
  const budget = { left: MAX_PAYLOADS_VALUES };
  const inputs = [...apps.map(({ piece }) => piece.value), ...(opened?.value.appProofs ?? [])];
  return {
    bootProofs: boots.map(({ piece: { value, ephemeralKey } }) => ({
      input: VerifiedBootProof.isVerified(value) ? value : takeInput(value),
      wantedKeys: ephemeralKey === null ? wantedKeys : [...wantedKeys, { what: WANTED_KEY, key: ephemeralKey }],
    })),
    appProofs: inputs.map((input, index) => openAppProof(takeInput(input), `app[${index}]`, budget)),
    activity: opened,
    given: [...boots, ...apps, ...whole],
  };
}

function given(subject: CheckSubject, input: unknown): GivenPiece {
  return { subject, piece: input instanceof NamedEvidence ? input : new NamedEvidence(null, input) };
}

async function checkAppProofs(
  { appProofs, activity }: TakenEvidence,
  boots: readonly CheckedBootProof[],
  context: VerifyContext,
): Promise<CheckedAppProof[]> {
  const { question } = context;
  const common = {
    candidates: boots,
    withActivity: activity !== null,
    requestedAt: requestTime(question, activity?.value ?? null),
  };
  const unanswered = activity === null ? unansweredAddresses(question, addressesOf(appProofs)) : [];
  const settings = appProofs.map((_, index): AppProofSetting => ({
    ...common,
    unanswered: index === 0 ? unanswered : [],
  }));
  return Promise.all(appProofs.map((app, index) => checkAppProof(app, settings[index]!, context)));
}

function addressesOf(appProofs: readonly OpenedAppProof[]): string[] {
  return appProofs.flatMap(({ payload }) => payload.addressDerivationProof?.address ?? []);
}

/** Without an activity there is nothing that could answer what was asked of one. Throws TypeError. */
function requireQuestionOfProofs(question: Question | null): void {
  const [name] = (["id", "type", "parameters"] as const).filter(
    (member) => question !== null && question[member] !== null,
  );
  if (name !== undefined) throw new TypeError(`expected.${name}: asked of an activity, and none was given`);
}

/** What was asked of app proofs, where there are none. */
function unaskedProofs({ appProofs, activity }: TakenEvidence, { question }: VerifyContext): Checklist[] {
  if (activity !== null || appProofs.length > 0 || question === null) return [];
  const checklist = new Checklist("app[0]");
  if (question.addresses !== null)
    checklist.fail("app.request", "addresses were asked about, and no app proof was given");
  else
    checklist.skip(
      "app.request",
      "no app proof was given, and a boot proof is nobody's: it says nothing of the organization that was asked for",
    );
  return [checklist];
}

// The report.

/** What a report says of itself and of what it was made from, so that it can be filed and found again. */
async function documentation(
  pieces: readonly GivenPiece[],
  policy: Policy | null,
  now: Date,
): Promise<{ policy: string | null; policyDigest: string | null; verifiedAt: Date; evidence: EvidencePiece[] }> {
  const verifiedAt = new Date(now);
  const entries = pieces.map(async ({ subject, piece: { name, value, bytes } }) => {
    return { subject, name, sha256: await digestOf(bytes ?? value) };
  });
  const policyDigest = policy && (await digestOf(policyBytes(policy)));
  return { policy: policy?.name ?? null, policyDigest, verifiedAt, evidence: await Promise.all(entries) };
}

/** SHA-256 in hex, of bytes or of text; null of anything else, which has no bytes. */
async function digestOf(value: unknown): Promise<string | null> {
  if (typeof value === "string") return toHex(await sha256(toUtf8(value)));
  return value instanceof Uint8Array ? toHex(await sha256(value)) : null;
}

/** Every piece verified, no check failed, and a policy held: nothing less is `verified`. */
function judge(
  checklists: readonly Checklist[],
  pieces: readonly unknown[],
  policy: Policy | null,
  appraisal: Appraisal | null,
): { readonly verdict: Verdict; readonly checks: readonly Check[] } {
  const checks = [...checklists, ...(appraisal?.checklists ?? [])].flatMap((checklist) => checklist.list());
  const isRejected = pieces.includes(null) || checks.some((check) => check.status === "fail");
  if (isRejected) return { verdict: "rejected", checks };
  return { verdict: policy === null ? "authentic" : "verified", checks };
}

/** Of what was not rejected, where every piece is verified. */
function evidenceClaims(
  boots: readonly CheckedBootProof[],
  appProofs: readonly (VerifiedAppProof | null)[],
  activity: VerifiedActivity | null,
  appraisal: Appraisal | null,
): Claims {
  const bootProofs = boots.map(({ verified }) => verified);
  return {
    bootProofs: boots.flatMap(({ verified, trustAnchor }, index) => {
      return verified && trustAnchor
        ? [bootProofClaims(verified, trustAnchor, appraisal?.deployments[index] ?? null)]
        : [];
    }),
    appProofs: appProofs.flatMap((app) => (app ? [appProofClaims(app, bootProofs.indexOf(app.bootProof))] : [])),
    activity: activity && activityClaims(activity),
  };
}

/** Evidence that was rejected, where it was demanded that it is not. */
export class RejectedError extends Error {
  override readonly name: string = "RejectedError";
  readonly code = "rejected";
  readonly report: Report;
  /** Every check that failed. */
  readonly failures: readonly Check[];

  constructor(report: Report, message: string) {
    super(message);
    this.report = report;
    this.failures = report.checks.filter((check) => check.status === "fail");
  }
}

/**
 * Demands the verdict `verified`, of a report that this package made. Throws {@link RejectedError} with every failed
 * check; also for `authentic`, which says that a genuine enclave is there, and not that it is the caller's. Throws
 * TypeError for any other object: a report that came with evidence is evidence, not a verdict.
 */
export function requireVerified(report: Report): void {
  requireMade(report);
  if (report.verdict !== "verified") throw rejection(report);
}

/** Demands the verdict `verified` or `authentic`. Throws as {@link requireVerified} does. */
export function requireAuthentic(report: Report): void {
  requireMade(report);
  if (report.verdict === "rejected") throw rejection(report);
}

function requireMade(report: Report): void {
  if (!isMadeReport(report))
    throw new TypeError(
      "a report of this package's verification is wanted: one that was read from anywhere proves nothing",
    );
}

function rejection(report: Report): RejectedError {
  if (report.verdict === "authentic")
    return new RejectedError(report, "not verified: no policy was given, so that any enclave of anybody passes");
  return new RejectedError(report, `rejected: ${failureText(report.checks)}`);
}
