/** Reports of values that were handed on. */
import type { AccountReport, Handed } from "../door/handed.js";
import type { Report } from "../report/report.js";
import type { TokenReport } from "../token/verify.js";

/** Marks a value that was handed on, and that nothing verified. */
export interface UnverifiedReport {
  readonly verdict: "unverified";
  /** Why, as a phrase for people. It may quote the service. */
  readonly reason: string;
  readonly claims: null;
  readonly rows?: undefined;
}

/** A report. That of accounts and private keys has `rows`, and no other member. */
type AnyReport = (Report & Partial<AccountReport>) | UnverifiedReport;

const REPORTS = new WeakMap<object, AnyReport>();
const TOKEN_REPORTS = new WeakMap<object, TokenReport<object>>();
const UNPROVEN = new WeakSet<object>();

/**
 * Returns the report of a value that a {@link verified} client returned, of its `activity`, or of a Response of
 * {@link verifiedFetch}. For accounts and private keys (`verifyAddresses`) it has `rows`, one for each address, and no
 * other member. For what was handed on without verification its verdict is `unverified`: lists, results of other
 * queries, unfinished activities, errors of the service, and what `allowUnproven` lets pass.
 *
 * It is undefined for answers that {@link tokenReportOf} knows, and for what was never handed on. Copies and primitive
 * values cannot be marked.
 *
 * @example
 * const value = await verified(turnkey, { policy }).getActivity({ organizationId, activityId });
 * console.log(reportOf(value)?.verdict); // verified
 */
export function reportOf(value: unknown): AnyReport | undefined {
  return typeof value === "object" && value !== null ? REPORTS.get(value) : undefined;
}

/** Keeps the report of values that are handed on. Null marks those that have none as unverified, for the reason. */
export function keepReport(report: Handed["report"], values: readonly unknown[], reason = UNVERIFIED): void {
  for (const value of values) {
    if (typeof value !== "object" || value === null) continue;
    if (report !== null) REPORTS.set(value, report as AnyReport);
    else if (!REPORTS.has(value) && !TOKEN_REPORTS.has(value)) REPORTS.set(value, unverified(reason));
  }
}

const UNVERIFIED =
  "nothing of it was verified: it is the answer to a list or another query, an error, or no answer of this service";
const ALLOWED = "it was handed on without a proof, as allowUnproven says";

function unverified(reason: string): UnverifiedReport {
  return Object.freeze({ verdict: "unverified", reason, claims: null });
}

/** Marks what a method that `allowUnproven` names returns, also once it is there. */
export function allowedUnproven(returned: unknown): unknown {
  if (typeof returned !== "object" || returned === null) return returned;
  const { then } = returned as Partial<Promise<unknown>>;
  if (typeof then === "function") return then.call(returned, allowedUnproven);
  keepProof(returned, { proven: "unproven", report: null });
  return returned;
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
export function keepProof(value: object, { proven, report, tokenReport, reason }: Omit<Handed, "value">): void {
  if (tokenReport) TOKEN_REPORTS.set(value, tokenReport);
  if (proven === "unproven") {
    UNPROVEN.add(value);
    REPORTS.set(value, unverified(ALLOWED));
  } else keepReport(report, [value], reason);
}
