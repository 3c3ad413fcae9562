/** Shows a verification, alike in a page's file and when a page verifies again. */
import { bundleNotices } from "../bundle/text.js";
import { type Notice, withRefusal } from "../report/facts.js";
import type { MarkupNode } from "./markup.js";
import type { PageVerification } from "./verify.js";
import { reportView } from "./view.js";

export function shownReport(
  { evidence, report, bundle }: Pick<PageVerification, "evidence" | "report" | "bundle">,
  notes: readonly Notice[] = [],
): Promise<MarkupNode[]> {
  const notices = bundle === null ? [] : bundleNotices(bundle, report.verdict);
  return reportView({ report, evidence, notices: withRefusal(report, [...notices, ...notes]) });
}
