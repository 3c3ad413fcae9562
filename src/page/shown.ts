/** Shows a verification, alike in a page's file and when a page verifies again. */
import { bundleNotices } from "../bundle/text.js";
import type { Notice } from "../report/facts.js";
import type { Report } from "../report/report.js";
import { carriesNonce } from "../report/statements.js";
import type { MarkupNode } from "./markup.js";
import type { PageVerification } from "./verify.js";
import { reportView } from "./view.js";

/** `requestedBy`: who chose nonce, challenge and expectation; reports call that person "you". */
export function shownReport(
  { evidence, report, bundle }: Pick<PageVerification, "evidence" | "report" | "bundle">,
  requestedBy: "reader" | "maker",
): Promise<MarkupNode[]> {
  const notices = [
    ...(bundle === null ? [] : bundleNotices(bundle, report.verdict)),
    ...(requestedBy === "maker" ? makersNotes(report) : []),
  ];
  return reportView({ report, evidence, notices });
}

/** A reader must not take the maker's nonce or challenge for the reader's own. */
function makersNotes(report: Report): Notice[] {
  const { bootProofs = [], appProofs = [], activity = null } = report.claims ?? {};
  const chosen = [
    ...(bootProofs.some((_, index) => carriesNonce(report, index)) ? ["the nonce"] : []),
    ...(appProofs.some(({ answers }) => answers) ? ["the challenge"] : []),
    ...(appProofs.some(({ expectation }) => typeof expectation === "number") ? ["the expected payloads"] : []),
    ...(activity !== null && activity.asked.length > 0 ? ["the request"] : []),
  ];
  if (chosen.length === 0) return [];
  const text = `“You” and “your” on this page mean its maker, who chose ${chosen.join(", ")}.`;
  return [{ kind: "note", text }];
}
