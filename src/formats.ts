/** The output formats: one row each. Total over the names in `report/report.ts`. */
import { type BundleFacts, bundleNotices } from "./bundle/text.js";
import type { Difference } from "./diff/diff.js";
import { renderDiff } from "./diff/text.js";
import { renderInspection } from "./inspect/text.js";
import type { Inspection } from "./inspect/inspect.js";
import { renderJson } from "./report/json.js";
import type { Format, Report } from "./report/report.js";
import type { Detail, TextOptions } from "./report/layout.js";
import { renderSummary } from "./report/summary.js";
import { renderReport } from "./report/text.js";

interface ReportOptions extends Omit<TextOptions, "detail"> {
  readonly detail?: Detail;
  /** What became of the bundle that the evidence came in; null where it came in none. */
  readonly bundle: BundleFacts | null;
}

interface Renderer {
  readonly report: (report: Report, options: ReportOptions) => string;
  readonly inspection: (inspection: Inspection, options: TextOptions) => string;
  readonly difference: (difference: Difference, options: TextOptions) => string;
}

/** Each ends with a line feed. */
export const RENDERERS: Readonly<Record<Format, Renderer>> = {
  text: {
    report: (report, { bundle, detail = "normal", ...options }) => {
      const notices = bundle === null ? [] : bundleNotices(bundle, report.verdict);
      return detail === "summary"
        ? renderSummary(report, options, notices)
        : renderReport(report, { ...options, detail }, notices);
    },
    inspection: renderInspection,
    difference: renderDiff,
  },
  json: {
    report: (report, { bundle }) => renderJson(bundle === null ? report : withBundle(report, bundle)),
    inspection: (inspection) => renderJson(inspection),
    difference: (difference) => renderJson(difference),
  },
};

/** What became of the bundle stands beside the report. */
function withBundle(report: Report, { policyFrom, packed }: BundleFacts): Report {
  const whole = { ...report, bundle: { policyFrom, packed } };
  return whole;
}
