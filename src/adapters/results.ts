/** Reports of values that were handed on, and rejections in a form that suits other libraries. */
import { cut, listed } from "../errors.js";
import { RejectedActivityError, rejectionAdvice } from "../client/errors.js";
import type { AccountReport, HttpReply, Proven } from "../exchange/http.js";
import type { Report } from "../report/report.js";
import type { TokenReport } from "../token/verify.js";

/** A report. That of accounts and private keys has `rows`, and no other member. */
type AnyReport = Report & Partial<AccountReport>;

const REPORTS = new WeakMap<object, AnyReport>();
const TOKEN_REPORTS = new WeakMap<object, TokenReport<object>>();
const UNPROVEN = new WeakSet<object>();

/**
 * Returns the report of a value that a {@link verified} client returned, of its `activity`, or of a Response of
 * {@link verifiedFetch}. For accounts and private keys (`verifyAddresses`) it has `rows`, one for each address, and no
 * other member. It is undefined for results of other queries, unfinished activities, copies, and everything else.
 *
 * @example
 * const value = await verified(turnkey, { policy }).getActivity({ organizationId, activityId });
 * console.log(reportOf(value)?.verdict); // verified
 */
export function reportOf(value: unknown): AnyReport | undefined {
  return typeof value === "object" && value !== null ? REPORTS.get(value) : undefined;
}

export function keepReport(report: HttpReply["report"], ...values: readonly unknown[]): void {
  if (report !== null) for (const value of values) REPORTS.set(value as object, report as AnyReport);
}

/**
 * Returns the report of the token in an answer of the auth proxy: a session, a verified one-time password, or the key
 * to which one is encrypted. It is undefined for everything else.
 */
export function tokenReportOf(value: unknown): TokenReport<object> | undefined {
  return typeof value === "object" && value !== null ? TOKEN_REPORTS.get(value) : undefined;
}

/** Whether a Response or value was handed on without a proof, because `allowUnproven` says so. Copies are not known. */
export function isUnproven(value: unknown): boolean {
  return typeof value === "object" && value !== null && UNPROVEN.has(value);
}

/** Keeps what was found out about a value that is handed on. */
export function keepProof(value: object, { proven, report, tokenReport = null }: KeptProof): void {
  keepReport(report, value);
  if (tokenReport !== null) TOKEN_REPORTS.set(value, tokenReport);
  if (proven === "unproven") UNPROVEN.add(value);
}

interface KeptProof {
  readonly proven: Proven;
  readonly report: HttpReply["report"];
  readonly tokenReport?: TokenReport<object> | null;
}

/**
 * Makes rejections begin with `rejected:` and the ids of the failed checks, because signers of other libraries keep
 * only an error's message.
 */
export async function rejected<T>(verifying: Promise<T>): Promise<T> {
  try {
    return await verifying;
  } catch (error) {
    throw error instanceof RejectedActivityError ? named(error) : error;
  }
}

function named(error: RejectedActivityError): RejectedActivityError {
  const { report, failures, operation, activityId } = error;
  const ids = [...new Set(failures.map(({ id }) => id))].join(", ");
  const about = [operation, activityId].filter((one) => one !== null).join(" ");
  const reasons = failures.map(({ id, detail }) => `${id}: ${cut(detail, 1000)}`);
  const what = about === "" ? ids : `${ids} (${about})`;
  const message = `rejected: ${what}: ${listed(reasons, "; ")}. ${rejectionAdvice(error)}`;
  const { activityStatus, unfinished, hasAppProofs } = error;
  const facts = { operation, activityId, activityStatus, unfinished, hasAppProofs };
  return new RejectedActivityError(report, { ...facts, message });
}
