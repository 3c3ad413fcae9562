import type { Check } from "../checks.js";
import { type Notice, countsOf, isBad, numbered, shownCheck } from "../report/facts.js";
import { labelOf } from "../report/labels.js";
import type { Report } from "../report/report.js";
import { grouped } from "../report/statements.js";
import { rowOfCheck, statusRow, whoText } from "../show/checks.js";
import { type Doc, type Row, rows, section } from "../show/doc.js";
import { writeMarkdown } from "../show/markdown.js";
import { headBlocks, openSections, provenSections } from "../show/report.js";
import { lookOf } from "../show/text.js";
import { ofReport } from "../show/verdict.js";

/**
 * Returns the report as Markdown for GitHub's step summaries and comments, with a line feed at its end
 * (formats/README.md, "markdown"). No text from evidence becomes a link, an image, a mention, a reference or HTML.
 * `notices` are those of a bundle, and are shown with the verdict. Throws TypeError for a value that is not a report.
 */
export function renderMarkdown(report: Report, notices: readonly Notice[] = []): string {
  return ofReport(report, () => writeMarkdown(markdownDoc(report, notices)));
}

const LOOK = lookOf("normal");

/** The document of a report whose failures come first, and whose passed checks are folded. */
function markdownDoc(report: Report, notices: readonly Notice[]): Doc {
  const { checks, evidence } = report;
  const groups = grouped(checks.filter(isBad), ({ id, detail, expected, actual }) =>
    JSON.stringify([id, detail, expected, actual]),
  );
  const failed = [...groups.values()].map((group) => withWho(group, report, rowOfCheck(group[0]!, LOOK)));
  const all = checks.map((check) => withWho([check], report, statusRow(shownCheck(check, report), check.detail)));
  const pieces = evidence.map(({ subject, sha256 }): Row => {
    return { text: labelOf(subject, report), below: sha256 === null ? [] : [{ label: "SHA-256", text: sha256 }] };
  });
  return {
    sections: [
      { blocks: headBlocks(report, notices, lookOf("verbose")) },
      ...section("Failed checks", [rows(failed)]),
      ...openSections(report, LOOK),
      ...provenSections(report, LOOK),
      ...section(`All checks: ${countsOf(report, notices)}`, [rows(all)], true),
      ...section(`Evidence: ${numbered(evidence.length, "item")}`, [rows(pieces)], true),
    ],
  };
}

function withWho(group: readonly Check[], report: Report, row: Row): Row {
  return { ...row, text: `${whoText(group, report)}: ${row.text}` };
}
