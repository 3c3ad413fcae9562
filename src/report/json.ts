/** Reports as JSON text. */
import type { Inspection } from "./inspect.js";
import { printableJson } from "./printable.js";
import type { Report } from "./report.js";

/** The report (`bootproof-report/1`) or inspection as it is, indented, with a line feed at its end. */
export function renderJson(report: Report | Inspection): string {
  return printableJson(`${JSON.stringify(report, undefined, 2)}\n`);
}
