/** What verifications answer, and how it is demanded of them that they are good. */
import { type Check, rejectedText } from "./checks.js";
import { type ActivityReport, type Report, type Verdict, isMadeReport } from "./report/report.js";
import type { VerifiedActivity } from "./verify/activity.js";
import type { VerifiedAppProof } from "./verify/app-proof.js";
import type { VerifiedAttestation } from "./verify/attestation.js";
import type { VerifiedBootProof } from "./verify/boot-proof.js";

/** The report, and what was verified: one entry for each piece of evidence, null where it was rejected. */
export interface Verification {
  readonly report: Report;
  readonly bootProofs: readonly (VerifiedBootProof | null)[];
  readonly appProofs: readonly (VerifiedAppProof | null)[];
  /** Null also where none was given. */
  readonly activity: VerifiedActivity | null;
}

/** The verification of an activity: there is one, or it was rejected. */
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

export type AnyVerification = Verification | BootProofVerification | AppProofVerification | AttestationVerification;

/** What each member is where the verdict is `Passed`: nothing was rejected then, and something is claimed. */
interface Whole<V extends AnyVerification, Passed extends Verdict> {
  readonly report: V["report"] & { readonly verdict: Passed; readonly claims: NonNullable<V["report"]["claims"]> };
  readonly bootProofs: readonly VerifiedBootProof[];
  readonly appProofs: readonly VerifiedAppProof[];
  readonly activity: V["report"] extends ActivityReport ? VerifiedActivity : VerifiedActivity | null;
  readonly bootProof: VerifiedBootProof;
  readonly appProof: VerifiedAppProof;
  readonly attestation: VerifiedAttestation;
}

/** A verification that was not rejected: no piece of it is null. */
type Accepted<V extends AnyVerification, Passed extends Verdict> = {
  readonly [Name in keyof V]: Name extends keyof Whole<V, Passed> ? Whole<V, Passed>[Name] : V[Name];
};
/** What {@link requireVerified} lets pass. */
export type Verified<V extends AnyVerification> = Accepted<V, "verified">;
/** What {@link requireAuthentic} lets pass. */
export type Authentic<V extends AnyVerification> = Accepted<V, "verified" | "authentic">;

/** An object of these members with a mark that no copy, proxy or heir of it has. Otherwise it is a plain object. */
class MadeVerification {
  readonly #made = true;

  constructor(members: AnyVerification) {
    Object.freeze(Object.setPrototypeOf(Object.assign(this, members), Object.prototype));
  }

  static is(value: unknown): value is AnyVerification {
    return typeof value === "object" && value !== null && #made in value;
  }
}

/** A verification, frozen: its pieces stay those that its report is of. For the verifying functions only. */
export function madeVerification<V extends AnyVerification>(members: V): V {
  for (const member of Object.values(members)) if (Array.isArray(member)) Object.freeze(member);
  return new MadeVerification(members) as object as V;
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
 * Demands the verdict `verified`, of what a verification answered, or of its report. Answers the verification, of which
 * no piece is null. Throws {@link RejectedError} with every failed check; also for `authentic`, which says that a
 * genuine enclave is there, and not that it is the caller's. Throws TypeError for any other object, copies included: a
 * report that came with evidence is evidence, not a verdict, and pieces beside a report need not be those it is of.
 */
export function requireVerified(report: Report): void;
export function requireVerified<V extends AnyVerification>(verification: V): Verified<V>;
export function requireVerified(answer: Report | AnyVerification): unknown {
  const report = reportOf(answer);
  if (report.verdict !== "verified") throw rejection(report);
  return answer === report ? undefined : answer;
}

/** Demands the verdict `verified` or `authentic`. Answers and throws as {@link requireVerified} does. */
export function requireAuthentic(report: Report): void;
export function requireAuthentic<V extends AnyVerification>(verification: V): Authentic<V>;
export function requireAuthentic(answer: Report | AnyVerification): unknown {
  const report = reportOf(answer);
  if (report.verdict === "rejected") throw rejection(report);
  return answer === report ? undefined : answer;
}

function reportOf(answer: Report | AnyVerification): Report {
  if (isMadeReport(answer)) return answer;
  if (MadeVerification.is(answer)) return answer.report;
  const isPromise = typeof (answer as { then?: unknown } | null | undefined)?.then === "function";
  throw new TypeError(
    isPromise
      ? "a verification is wanted, and this is a promise of one: await it"
      : "what this package's verification answered is wanted, or its report, the very object: one that was read from " +
          "anywhere, copied or put together proves nothing",
  );
}

function rejection(report: Report): RejectedError {
  if (report.verdict === "authentic")
    return new RejectedError(report, "not verified: no policy was given, so that any enclave of anybody passes");
  return new RejectedError(report, rejectedText(report));
}
