/** The report on one screen. Each part has its share of the lines, and anything that does not fit is counted. */
import type { Check } from "../checks.js";
import { INDENT, besideId, comparedLines } from "./check-lines.js";
import { type Notice, countsOf, numbered, warningsOf } from "./facts.js";
import { type Page, type TextOptions, clipped, cutTo, headingLines, pageOf, warningLines } from "./layout.js";
import { whoText } from "./pieces.js";
import { printableStart } from "./printable.js";
import { renderWhole } from "./rendering.js";
import type { Report } from "./report.js";
import { grouped } from "./statements.js";
import { WANTED, factLines, originLines, paintedVerdict, verdictSentence } from "./text.js";
import { unprovenStatements } from "./unproven.js";

/** Number of rows of the smallest screen in use. */
const LINES = 24;
const FAILURE = 4;
/** Number of lines after the failures: two empty lines, a heading, a line beneath it, and the last line. */
const AFTER = 5;
const MAX_TEXT = 400;
const MORE = "More: omit --summary, or use --verbose.";

const MAX_HEADLINE = 4;
/** Number of lines for warnings. Warnings are never truncated, so more lines make the summary longer. */
const WARNING_LINES = 4;
const MAX_FACTS = 3;

/**
 * Renders the report on one screen of 24 lines, at any width, with a line feed at its end: verdict, warnings, enclaves,
 * the first failures, and the topics that are not proven. Warnings are never truncated, so more than four lines of them
 * make it longer. `notices` are those of `renderReport`, without notes. Throws TypeError for a value that is not a
 * report.
 */
export function renderSummary(
  report: Report,
  options: Pick<TextOptions, "color" | "width"> = {},
  notices: readonly Notice[] = [],
): string {
  const own = notices.map(({ kind, text }) => ({ kind, text }));
  return `${summaryOf(report, options, own)}\n${MORE}\n`;
}

/** Renders as {@link renderSummary} does, without the last line. */
function summaryOf(report: Report, options: Pick<TextOptions, "color" | "width">, notices: readonly Notice[]): string {
  const page = pageOf({ ...options, detail: "summary" });
  return renderWhole(report, WANTED, () => `${summaryLines(report, notices, page).join("\n")}\n`);
}

function summaryLines(report: Report, notices: readonly Notice[], page: Page): string[] {
  const warnings = warningsOf(report, notices).flatMap((text) => warningLines(text, page));
  const above = aboveAll(report, notices, page);
  const counted = [...above.verdict, ...warnings.slice(0, WARNING_LINES), ...above.rest].length;
  const left = LINES - counted - AFTER;
  const failures = failureLines(report, page, left);
  const room = left - failures.length + 1;
  return [
    ...above.verdict,
    ...warnings,
    ...above.rest,
    ...failures,
    "",
    ...headingLines("Not proven", page),
    ...clipped(page, INDENT, topics(unprovenStatements(report)), room),
  ];
}

function aboveAll(
  report: Report,
  notices: readonly Notice[],
  page: Page,
): { readonly verdict: string[]; readonly rest: string[] } {
  const counts = `${countsOf(report, notices)}; evidence: ${numbered(report.evidence.length, "item")}`;
  const facts = factLines(report, 1);
  return {
    verdict: paintedVerdict(clipped(page, "", verdictSentence(report, notices), MAX_HEADLINE), page),
    rest: [
      ...facts.flatMap((text) => clipped(page, "", text, report.claims === null ? 1 : MAX_FACTS)),
      ...[counts, ...originLines(report, page)].flatMap((text) => clipped(page, "", text, 1)),
    ],
  };
}

/** Returns an empty line, the first failures, and the number of others. */
function failureLines(report: Report, page: Page, room: number): string[] {
  const failed = report.checks.filter(({ status }) => status === "fail");
  const alike = [...grouped(failed, ({ id, detail }) => `${id}\n${detail}`).values()];
  const lines: string[] = [];
  let shown = 0;
  for (const group of alike) {
    // Two more lines are needed: an empty line, and the number of the other failures.
    if (lines.length + FAILURE + 2 > room) break;
    lines.push(...failureOf(group, report, page));
    shown += group.length;
  }
  if (shown < failed.length) lines.push(`${INDENT}and ${failed.length - shown} more failed`);
  return lines.length === 0 ? [] : ["", ...lines];
}

function failureOf(group: readonly Check[], report: Report, page: Page): string[] {
  const [first] = group as [Check];
  const compared = comparedLines(first, page);
  const text = `${printableStart(first.detail, MAX_TEXT)} (${whoText(group, report)})`;
  return [...cutTo(FAILURE - compared.length, besideId(first, text, page), page), ...compared];
}

/** Returns the words before the colon of each statement, or a single statement in full. */
function topics(statements: readonly string[]): string {
  return statements.length === 1
    ? statements[0]!
    : statements.map((text) => /^(?:boot\[.*?\]: )?[^:]*/.exec(text)![0]).join("; ");
}
