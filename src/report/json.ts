/** Reports as JSON text. */
import { printableJson } from "./printable.js";
import type { Report } from "./report.js";

/** A report (`bootproof-report/1`), or an inspection, as it is, indented, with a line feed at its end. */
export function renderJson(report: Report | { readonly "NOT VERIFIED": string }): string {
  return printableJson(`${JSON.stringify(report, undefined, 2)}\n`);
}
