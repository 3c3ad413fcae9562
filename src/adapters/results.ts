/** Reports of values that were handed on, and rejections in a form that suits other libraries. */
import { cut, listed } from "../errors.js";
import { RejectedActivityError, rejectionAdvice } from "../client/errors.js";
import type { Report } from "../report/report.js";

const REPORTS = new WeakMap<object, Report>();

/**
 * Returns the report of a value that a {@link verified} client returned, of its `activity`, or of a Response of
 * {@link verifiedFetch}. It is undefined for results of queries, unfinished activities, copies, and everything else.
 *
 * @example
 * const value = await verified(turnkey, { policy }).getActivity({ organizationId, activityId });
 * console.log(reportOf(value)?.verdict); // verified
 */
export function reportOf(value: unknown): Report | undefined {
  return typeof value === "object" && value !== null ? REPORTS.get(value) : undefined;
}

export function keepReport(report: Report | null, ...values: readonly unknown[]): void {
  if (report !== null) for (const value of values) REPORTS.set(value as object, report);
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
