/** Reports as text for a terminal. */
import { ownMembers } from "../decode/input.js";
import type { Notice } from "../report/facts.js";
import { printable, shortHex } from "../report/printable.js";
import type { Report } from "../report/report.js";
import type { Detail, Look } from "./checks.js";
import type { Doc } from "./doc.js";
import { briefDoc, failuresDoc, reportDoc, summaryDoc, verdictDoc } from "./report.js";
import { type LineOptions, cutTo, pageOf, writeText } from "./terminal.js";
import { ofReport } from "./verdict.js";

export interface TextOptions extends LineOptions {
  /** Rows of the terminal. A longer text repeats the verdict at its end. Default: no limit. */
  readonly height?: number;
  /** Amount of detail. `renderSummary` makes the summary. Default: `normal`. */
  readonly detail?: Exclude<Detail, "summary">;
}

export interface SummaryOptions extends LineOptions {
  /** Name of the policy's file, which the summary shows beside its digest. Default: none. */
  readonly policyFile?: string | undefined;
}

/** Returns how a report is shown. Long hex is shortened unless the detail is `verbose`. */
export function lookOf(detail: Detail, policyFile: string | null = null): Look {
  return { detail, hex: detail === "verbose" ? printable : (hex) => shortHex(hex), policyFile };
}

const TEXT_OPTIONS: Readonly<Record<keyof TextOptions, true>> = {
  color: true,
  width: true,
  height: true,
  detail: true,
};
const SUMMARY_OPTIONS: Readonly<Record<keyof SummaryOptions, true>> = { color: true, width: true, policyFile: true };

/**
 * Renders the report as text, with a line feed at its end, in lines no wider than the options allow. Throws TypeError
 * for a value that is not a report.
 * @example
 * ```ts
 * const { report } = await verifyEvidence(evidence, { policy, now: new Date() });
 * console.log(renderText(report, { width: 100 }));
 * ```
 */
export function renderText(report: Report, options: TextOptions = {}): string {
  return renderReport(report, options, []);
}

/** Renders as {@link renderText} does, with notices beside the verdict. */
export function renderReport(report: Report, options: TextOptions, notices: readonly Notice[]): string {
  const { height = Infinity, detail = "normal", ...lines } = ownMembers(options, TEXT_OPTIONS);
  return ofReport(report, () => {
    const text = writeText(reportDoc(report, notices, lookOf(detail)), lines);
    // The prompt also takes a row.
    const isLonger = text.split("\n").length > height;
    return isLonger ? `${text}\n${writeText(verdictDoc(report, notices), lines)}` : text;
  });
}

/**
 * Renders the report in a few lines at any width, with a line feed at its end: verdict, warnings, age, enclaves,
 * policy, the first failures, up to ten rows of what is proven, and the topics that are not. Only warnings are never
 * truncated. `notices` are those of `renderReport`, without notes. Throws TypeError for a value that is not a report.
 */
export function renderSummary(report: Report, options: SummaryOptions = {}, notices: readonly Notice[] = []): string {
  const { policyFile, ...lines } = ownMembers(options, SUMMARY_OPTIONS);
  const own = notices.map(({ kind, text }) => ({ kind, text }));
  return ofReport(report, () => writeText(summaryDoc(report, own, lookOf("summary", policyFile)), lines));
}

/** Renders only the verdict and the failed checks, for commands whose result is not the report. */
export function renderFailures(report: Report, options: LineOptions): string {
  return writeText(failuresDoc(report, lookOf("normal")), options);
}

const MAX_BRIEF = 6;

/**
 * Returns the verdict in at most six lines: the sentence, which names the first failed check and its reason, then what
 * was expected and found, or the warnings for which the caller refuses it.
 */
export function verdictBrief(report: Report, notices: readonly Notice[], options: LineOptions): string {
  const doc: Doc = briefDoc(report, notices, lookOf("summary"));
  const lines = writeText(doc, options).trimEnd().split("\n");
  return `${cutTo(MAX_BRIEF, lines, pageOf(options)).join("\n")}\n`;
}
