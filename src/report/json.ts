import { printableJson } from "../decode/json.js";
import type { Report } from "./report.js";

/** Renders a report (`bootproof-report/1`) or an inspection as indented JSON, with a line feed at its end. */
export function renderJson(report: Report | { readonly "NOT VERIFIED": string }): string {
  return jsonDocument(report);
}

/** Renders any value as indented JSON that is safe to print, with a line feed at its end. */
export function jsonDocument(value: object): string {
  return printableJson(`${JSON.stringify(value, undefined, 2)}\n`);
}
