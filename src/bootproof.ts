/** The library's verbs: verify, appraise, report. Each reads as the list of its steps. */
import { DEPLOYMENT_CHECKS, appraiseAppProofs, appraiseDeployment } from "./appraise/appraise.js";
import { type Policy, isPolicy } from "./appraise/policy.js";
import { type Check, type CheckSubject, Checklist } from "./checks.js";
import { MAX_APP_PROOFS } from "./decode/app-proof.js";
import { takeInput } from "./decode/input.js";
import { type MatchedPins, activityClaims, appProofClaims, attestationClaims, bootProofClaims, pinnedPcrs } from "./report/claims.js";
import { type Claims, type EvidencePiece, type Report, type Verdict, makeReport } from "./report/report.js";
import { type VerifiedActivity, checkActivity, openActivity } from "./verify/activity.js";
import { type VerifiedAppProof, checkAppProof } from "./verify/app-proof.js";
import { type VerifiedAttestation, checkAttestation, checkDebugMode, verifiedAttestation } from "./verify/attestation.js";
import { VerifiedBootProof, checkBootProof } from "./verify/boot-proof.js";
import type { VerifyContext } from "./verify/context.js";
import { SignatureMemory } from "./verify/signature-memory.js";
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
  /** Let debug mode pass with a warning, also where the policy does not. */
  readonly allowDebug?: boolean;
  /** Remembers valid signatures from one verification to the next: pass the same one to make later ones cheaper. */
  readonly memory?: SignatureMemory;
}

/** JSON values as parsed, or JSON text. */
export interface Evidence {
  /** Bare, or as `{"bootProof": …}`; or verified already. Where there is none, nothing can be verified: all is rejected. */
  readonly bootProofs: readonly unknown[];
  readonly appProofs?: readonly unknown[];
  /** Bare, or as `{"activity": …}`; the app proofs inside it follow the others. */
  readonly activity?: unknown;
}

/** The report, and what was verified: one entry for each piece of evidence, null where it was rejected. */
export interface Verification {
  readonly report: Report;
  readonly bootProofs: readonly (VerifiedBootProof | null)[];
  readonly appProofs: readonly (VerifiedAppProof | null)[];
  readonly activity: VerifiedActivity | null;
}

/**
 * Verifies boot proofs, the app proofs under them and an activity, and holds all of it against the policy (checks.md,
 * policy.md). Never throws for what is wrong with the evidence: that is in the report, every failure of it.
 * {@link requireVerified} makes an error of it. Throws TypeError for calls that make no sense (no evidence, no policy, an
 * invalid Date) and RangeError for more than {@link MAX_APP_PROOFS} app proofs.
 */
export async function verifyEvidence(evidence: Evidence, options: VerifyOptions): Promise<Verification> {
  if ((evidence.appProofs?.length ?? 0) > MAX_APP_PROOFS) throw new RangeError(`more than ${MAX_APP_PROOFS} app proofs`);
  const { policy, context } = settle(options);
  const { bootProofs: given, appProofs: others = [] } = evidence;
  if (given.length + others.length === 0 && evidence.activity === undefined) throw new TypeError("no evidence was given");
  // Taken over before anything is awaited: what the caller does to its objects meanwhile changes nothing.
  const bootProofInputs = given.map((input) => (VerifiedBootProof.isOne(input) ? input : takeInput(input)));
  const opened = evidence.activity === undefined ? null : openActivity(takeInput(evidence.activity));
  const appProofInputs = [...others, ...(opened?.value.appProofs ?? [])].map(takeInput);

  const boots = await Promise.all(bootProofInputs.map((input, index) => checkBootProof(input, context, `boot[${index}]`)));
  const apps = await Promise.all(appProofInputs.map((input, index) => checkAppProof(input, boots, context, `app[${index}]`)));
  const bootProofs = boots.map((boot) => boot.verified);
  const appProofs = apps.map((app) => app.verified);
  const activity = opened && checkActivity(opened, appProofs, policy?.appProofs.coverage ?? false);
  const appraised = policy && appraise(bootProofs, appProofs, policy, context.now);

  const checks = [...boots, ...apps, ...(opened ? [opened] : []), ...(appraised?.logs.map((log) => ({ log })) ?? [])].flatMap(({ log }) => log.list());
  const pieces = [...bootProofs, ...appProofs, ...(opened ? [activity] : [])];
  const verdict = bootProofs.length === 0 ? "rejected" : verdictOf(checks, pieces, policy);
  const claims = verdict === "rejected" ? null : {
    bootProofs: bootProofs.map((boot, index) => {
      const matched = matchedPins(policy, appraised?.deployments[index] ?? null);
      return bootProofClaims({ ...boot!, manifestCommitted: false }, boots[index]!.trustAnchor!, matched);
    }),
    appProofs: appProofs.map((app) => appProofClaims(app!, bootProofs.indexOf(app!.bootProof))),
    activity: activity && activityClaims({ ...activity, asked: [], resultWithoutProof: [], subOrganizationId: null, walletId: null }),
  };
  const subjects = [...boots, ...apps, ...(opened ? [opened] : [])].map(({ log }) => log.subject);
  const report = reportOf({ verdict, policy, now: context.now, time: boots[0]?.validationTime ?? null, subjects, checks, claims });
  return { report, bootProofs, appProofs, activity };
}

/** Verifies one boot proof: {@link verifyEvidence} of it alone. */
export async function verifyBootProof(
  bootProof: unknown, options: VerifyOptions,
): Promise<{ readonly report: Report; readonly bootProof: VerifiedBootProof | null }> {
  const { report, bootProofs } = await verifyEvidence({ bootProofs: [bootProof] }, options);
  return { report, bootProof: bootProofs[0]! };
}

/** Verifies one app proof under a boot proof, verified already or not: {@link verifyEvidence} of the two. */
export async function verifyAppProof(
  appProof: unknown, bootProof: unknown, options: VerifyOptions,
): Promise<{ readonly report: Report; readonly appProof: VerifiedAppProof | null }> {
  const { report, appProofs } = await verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof] }, options);
  return { report, appProof: appProofs[0]! };
}

/** Verifies app proofs, each under the one of the boot proofs whose key it names: {@link verifyEvidence} of them. */
export async function verifyAppProofs(appProofs: readonly unknown[], bootProofs: readonly unknown[], options: VerifyOptions): Promise<Verification> {
  return verifyEvidence({ bootProofs, appProofs }, options);
}

/** Verifies an activity with the app proofs inside it: {@link verifyEvidence} of it and the boot proofs. */
export async function verifyActivity(activity: unknown, bootProofs: readonly unknown[], options: VerifyOptions): Promise<Verification> {
  return verifyEvidence({ bootProofs, activity }, options);
}

/**
 * Verifies a bare attestation document, the COSE_Sign1 of any Nitro enclave, without the rules of QOS. Of a policy only
 * what a document can show is met: a pin that needs the manifest fails. Throws TypeError as {@link verifyEvidence} does, and
 * for an `ephemeralKey`, which is a boot proof's.
 */
export async function verifyAttestation(
  document: Uint8Array, options: VerifyOptions,
): Promise<{ readonly report: Report; readonly attestation: VerifiedAttestation | null }> {
  const { policy, context } = settle(options);
  if (context.ephemeralKey !== null) throw new TypeError("ephemeralKey: asked of boot proofs only");
  const log = new Checklist("boot[0]");
  const checked = await checkAttestation(new Uint8Array(document), context, log);
  checkDebugMode(checked.document, null, context.allowDebug, log);
  const attestation = verifiedAttestation(checked, log);
  const appraised = policy && appraise([attestation], [], policy, context.now);

  const checks = [log, ...(appraised?.logs ?? [])].flatMap((list) => list.list());
  const verdict = verdictOf(checks, [attestation], policy);
  const debug = log.status("mode.debug") === "warn";
  const claims = verdict === "rejected" ? null : {
    bootProofs: [attestationClaims(attestation!, debug, matchedPins(policy, appraised?.deployments[0] ?? null))], appProofs: [], activity: null,
  };
  const { now } = context;
  return { report: reportOf({ verdict, policy, now, time: checked.validationTime, subjects: [log.subject], checks, claims }), attestation };
}

function settle(options: VerifyOptions): { policy: Policy | null; context: VerifyContext } {
  if (options.policy !== NO_POLICY_ANY_ENCLAVE && !isPolicy(options.policy)) throw new TypeError("a policy of parsePolicy is wanted, or NO_POLICY_ANY_ENCLAVE");
  const policy = options.policy === NO_POLICY_ANY_ENCLAVE ? null : options.policy;
  if (policy !== null && options.trustAnchors !== undefined) throw new TypeError("trustAnchors: a policy names its own");
  const { now, at = "document" } = options;
  if (!isInstant(now)) throw new TypeError("now: a valid Date wanted");
  if (at !== "document" && at !== "now" && !isInstant(at)) throw new TypeError('at: "document", "now" or a valid Date wanted');
  const context = {
    trustAnchors: policy?.trustAnchors ?? options.trustAnchors ?? [AWS_NITRO_ROOT_G1],
    now: new Date(now),
    at: at instanceof Date ? new Date(at) : at,
    allowDebug: options.allowDebug === true || policy?.allowDebug === true,
    ephemeralKey: options.ephemeralKey ? new Uint8Array(options.ephemeralKey) : null,
    memory: options.memory ?? new SignatureMemory(),
  };
  return { policy, context };
}

/** Comparisons with an invalid Date are all false: nothing would ever be too old. */
function isInstant(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

interface Appraisal {
  readonly logs: readonly Checklist[];
  /** The deployment that each boot proof is; null where it matches none, or was rejected before. */
  readonly deployments: readonly (string | null)[];
}

function appraise(
  bootProofs: readonly (VerifiedBootProof | VerifiedAttestation | null)[], appProofs: readonly (VerifiedAppProof | null)[], policy: Policy, now: Date,
): Appraisal {
  const logs = bootProofs.map((_, index) => new Checklist("policy", bootProofs.length > 1 ? `boot[${index}]: ` : ""));
  const deployments = bootProofs.map((bootProof, index) => {
    if (bootProof !== null) return appraiseDeployment(bootProof, policy, now, logs[index]!);
    logs[index]!.skipRest(DEPLOYMENT_CHECKS, `boot[${index}] was rejected before it could be held against the policy`);
    return null;
  });
  const appLog = new Checklist("policy");
  if (bootProofs.length === 0) appLog.skipRest(DEPLOYMENT_CHECKS, "there is no boot proof to hold against the policy");
  appraiseAppProofs(appProofs, policy, now, appLog);
  return { logs: [...logs, appLog], deployments };
}

/** Every piece verified, no check failed, and a policy held: nothing less is `verified`. */
function verdictOf(checks: readonly Check[], pieces: readonly unknown[], policy: Policy | null): Verdict {
  if (pieces.includes(null) || checks.some((check) => check.status === "fail")) return "rejected";
  return policy === null ? "authentic" : "verified";
}

interface Outcome {
  readonly verdict: Verdict;
  readonly policy: Policy | null;
  readonly now: Date;
  readonly time: Date | null;
  readonly subjects: readonly CheckSubject[];
  readonly checks: readonly Check[];
  readonly claims: Claims | null;
}

function reportOf({ verdict, policy, now, time, subjects, checks, claims }: Outcome): Report {
  const evidence: EvidencePiece[] = subjects.map((subject) => ({ subject, name: null, sha256: null }));
  return makeReport({
    verdict, policy: policy?.name ?? null, policyDigest: null, verifiedAt: now, validationTime: time, evidence, checks, claims,
  });
}

function matchedPins(policy: Policy | null, name: string | null): MatchedPins | null {
  if (policy === null || name === null) return null;
  return { name, open: [], pcrs: pinnedPcrs(policy.deployments.find((deployment) => deployment.name === name)?.pcrs) };
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
 * Demands the verdict `verified`. Throws {@link RejectedError} with every failed check; also for `authentic`, which
 * says that a genuine enclave is there, and not that it is the caller's.
 */
export function requireVerified(report: Report): void {
  if (report.verdict !== "verified") throw rejection(report);
}

/** Demands the verdict `verified` or `authentic`. Throws {@link RejectedError} with every failed check. */
export function requireAuthentic(report: Report): void {
  if (report.verdict === "rejected") throw rejection(report);
}

function rejection(report: Report): RejectedError {
  if (report.verdict === "authentic") return new RejectedError(report, "not verified: no policy was given, so that any enclave of anybody passes");
  const failures = report.checks.filter((check) => check.status === "fail");
  return new RejectedError(report, `rejected: ${failures.map(({ subject, id, detail }) => `${subject} ${id}: ${detail}`).join("; ")}`);
}
