/** Reports as JSON text. */
import type { Check } from "../checks.js";
import { adviceOn } from "./advice.js";
import { printableJson } from "./printable.js";
import type { Report } from "./report.js";

/**
 * A report (`bootproof-report/1`), or an inspection, as it is, indented, with a line feed at its end. Each failed check
 * carries its advice, the usual one too.
 */
export function renderJson(report: Report | { readonly "NOT VERIFIED": string }): string {
  const isReport = "checks" in report && Array.isArray(report.checks);
  const whole = isReport ? { ...report, checks: report.checks.map(withAdvice) } : report;
  return printableJson(`${JSON.stringify(whole, undefined, 2)}\n`);
}

function withAdvice(check: Check): Check {
  const advice = adviceOn(check);
  return advice === undefined ? check : { ...check, advice };
}
