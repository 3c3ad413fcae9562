/** Results of verifications, and functions that require a good one. */
import { privateMark } from "./decode/private-mark.js";
import { type Check, rejectedText } from "./checks.js";
import { listed } from "./errors.js";
import { type Judged, isAccepted } from "./report/accepted.js";
import { type ActivityReport, type Report, type Verdict, isMadeReport } from "./report/report.js";
import type { VerifiedActivity } from "./verify/activity.js";
import type { VerifiedAppProof } from "./verify/app-proof.js";
import type { VerifiedAttestation } from "./verify/attestation.js";
import type { VerifiedBootProof } from "./verify/boot-proof.js";
import type { VerifiedProvenance } from "./verify/provenance.js";
import type { VerifiedSignedBytes } from "./verify/signed-bytes.js";

/** The report, and the verified evidence in the given order. Rejected evidence is null. */
export interface Verification {
  readonly report: Report;
  readonly bootProofs: readonly (VerifiedBootProof | null)[];
  readonly appProofs: readonly (VerifiedAppProof | null)[];
  /** The activity, or null if it was rejected or none was given. */
  readonly activity: VerifiedActivity | null;
  /** The bundles. A bundle that meets no demand of the policy is null: it is allowed, but proves nothing. */
  readonly provenance: readonly (VerifiedProvenance | null)[];
}

/** The verification of an activity. Its `activity` is null only if the activity was rejected. */
export interface ActivityVerification extends Verification {
  readonly report: ActivityReport;
}

export interface BootProofVerification {
  readonly report: Report;
  readonly bootProof: VerifiedBootProof | null;
}

export interface AppProofVerification {
  readonly report: Report;
  readonly appProof: VerifiedAppProof | null;
}

export interface AttestationVerification {
  readonly report: Report;
  readonly attestation: VerifiedAttestation | null;
}

/** The verification of signed bytes. Its members are null if they were rejected. */
export interface SignedBytesVerification extends BootProofVerification {
  readonly signedBytes: VerifiedSignedBytes | null;
}

export type AnyVerification =
  | Verification
  | BootProofVerification
  | AppProofVerification
  | AttestationVerification
  | SignedBytesVerification;

/** Members of a verification with the verdict `Passed`: no member is null, and there are claims. */
interface Whole<V extends AnyVerification, Passed extends Verdict> {
  readonly report: V["report"] & { readonly verdict: Passed; readonly claims: NonNullable<V["report"]["claims"]> };
  readonly bootProofs: readonly VerifiedBootProof[];
  readonly appProofs: readonly VerifiedAppProof[];
  readonly activity: V["report"] extends ActivityReport ? VerifiedActivity : VerifiedActivity | null;
  readonly bootProof: VerifiedBootProof;
  readonly appProof: VerifiedAppProof;
  readonly attestation: VerifiedAttestation;
  readonly signedBytes: VerifiedSignedBytes;
}

type Accepted<V extends AnyVerification, Passed extends Verdict> = {
  readonly [Name in keyof V]: Name extends keyof Whole<V, Passed> ? Whole<V, Passed>[Name] : V[Name];
};
/** The result of {@link requireVerified}. */
export type Verified<V extends AnyVerification> = Accepted<V, "verified">;
/** The result of {@link requireAuthentic}. */
export type Authentic<V extends AnyVerification> = Accepted<V, "verified" | "authentic">;

const VERIFICATIONS = /* @__PURE__ */ privateMark<AnyVerification>();

/** Freezes a verification, so that its evidence cannot be exchanged under its report. For verifying functions only. */
export function madeVerification<V extends AnyVerification>(members: V): V {
  for (const member of Object.values(members)) if (Array.isArray(member)) Object.freeze(member);
  return Object.freeze(VERIFICATIONS.on(members)) as V;
}

/**
 * Thrown for evidence without the required verdict and, if `acceptance` is `strict`, for a good verdict with a warning.
 * `report` and `failures` are not enumerable, so that logs show only the message.
 */
export class RejectedError extends Error {
  override readonly name: string = "RejectedError";
  /** `warning` means that the verdict is good, but `report.refusedFor` says what weakens it. */
  readonly code: "rejected" | "warning";
  declare readonly report: Report;
  /** Every failed check. The list is empty under the code `warning`. */
  declare readonly failures: readonly Check[];

  constructor(report: Report, message: string) {
    super(message);
    this.code = report.refusedFor === undefined ? "rejected" : "warning";
    const failures = report.checks.filter((check) => check.status === "fail");
    Object.defineProperties(this, { report: { value: report }, failures: { value: failures } });
  }
}

/** Whether the report has the verdict `verified`, and the caller does not refuse it. */
export function isAcceptedReport(report: Judged): boolean {
  return report.verdict === "verified" && isAccepted(report);
}

/** Returns the refusal in one line, or the rejection if that is the verdict. */
export function refusalText(report: Report): string {
  if (report.refusedFor === undefined) return rejectedText(report);
  const words = report.refusedFor.map((reason) => reason.slice(0, MAX_REASON));
  return `refused, though ${report.verdict}: ${listed(words, " ")}`;
}

/** Maximum characters of a reason, which may quote the evidence. */
const MAX_REASON = 1000;

/**
 * Requires the verdict `verified` of a verification or its report. Returns the verification, typed without nulls.
 * Throws {@link RejectedError} with every failed check. Also throws it for `authentic`, which any genuine enclave
 * reaches, and under `acceptance` `strict` for a weakened verdict.
 * Throws TypeError for any object that this package did not make, also for copies. A report from elsewhere proves
 * nothing, and evidence beside a report may not be what the report is about.
 * @example
 * ```ts
 * const { bootProofs } = requireVerified(await verifyEvidence(evidence, { policy, now: new Date() }));
 * ```
 */
export function requireVerified(report: Report): void;
export function requireVerified<V extends AnyVerification>(verification: V): Verified<V>;
export function requireVerified(answer: Report | AnyVerification): unknown {
  const report = reportOf(answer);
  if (!isAcceptedReport(report)) throw rejection(report);
  return answer === report ? undefined : answer;
}

/**
 * Requires the verdict `verified` or `authentic`. Returns and throws as {@link requireVerified} does.
 * @example
 * ```ts
 * const options = { policy: NO_POLICY_ANY_ENCLAVE, now: new Date() } as const;
 * const { bootProofs } = requireAuthentic(await verifyEvidence(evidence, options));
 * ```
 */
export function requireAuthentic(report: Report): void;
export function requireAuthentic<V extends AnyVerification>(verification: V): Authentic<V>;
export function requireAuthentic(answer: Report | AnyVerification): unknown {
  const report = reportOf(answer);
  if (!isAccepted(report)) throw rejection(report);
  return answer === report ? undefined : answer;
}

function reportOf(answer: Report | AnyVerification): Report {
  if (isMadeReport(answer)) return answer;
  if (VERIFICATIONS.isOn(answer)) return answer.report;
  const isPromise = typeof (answer as { then?: unknown } | null | undefined)?.then === "function";
  throw new TypeError(
    isPromise
      ? "expected a verification, got a promise of one: await it"
      : "expected the verification or report object that this package returned: a copy proves nothing",
  );
}

function rejection(report: Report): RejectedError {
  // An accepted report that is not verified has the verdict `authentic`.
  if (isAccepted(report))
    return new RejectedError(report, "not verified: no policy was given, so any genuine enclave passes");
  return new RejectedError(report, refusalText(report));
}
