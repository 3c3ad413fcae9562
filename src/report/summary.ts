/** The report in short. Each part has at most a number of lines, and anything that does not fit is counted. */
import type { Check } from "../checks.js";
import { INDENT, adviceLines, besideId, comparedLines } from "./check-lines.js";
import { type Notice, countsOf, numbered, warningsOf } from "./facts.js";
import { type Page, type SummaryOptions, clipped, cutTo, headingLines, pageOf, warningLines } from "./layout.js";
import { whoText } from "./pieces.js";
import { printableStart } from "./printable.js";
import { renderWhole } from "./rendering.js";
import type { Report } from "./report.js";
import { grouped, provenRows } from "./statements.js";
import { WANTED, factLines, originLines, paintedVerdict, verdictSentence } from "./text.js";
import { unprovenStatements } from "./unproven.js";

/** Most lines of each part, and most failures and rows. Warnings are never truncated. */
const MAX_HEADLINE = 4;
const MAX_FACT = 3;
const MAX_FAILURES = 3;
const MAX_FAILURE = 7;
const MAX_ADVICE = 3;
const MAX_ROWS = 10;
const MAX_OPEN = 4;
const MAX_TEXT = 400;
const MORE = "More: --verbose, or a pipe or file without --summary.";

/**
 * Renders the report in a few lines at any width, with a line feed at its end: verdict, warnings, age, enclaves,
 * policy, the first failures, up to ten rows of what is proven, and the topics that are not. Only warnings are never
 * truncated. `notices` are those of `renderReport`, without notes. Throws TypeError for a value that is not a report.
 */
export function renderSummary(report: Report, options: SummaryOptions = {}, notices: readonly Notice[] = []): string {
  const own = notices.map(({ kind, text }) => ({ kind, text }));
  const page = pageOf({ ...options, detail: "summary" });
  return renderWhole(report, WANTED, () => `${summaryLines(report, own, page).join("\n")}\n`);
}

function summaryLines(report: Report, notices: readonly Notice[], page: Page): string[] {
  const counts = `${countsOf(report, notices)}; evidence: ${numbered(report.evidence.length, "item")}`;
  return [
    ...paintedVerdict(clipped(page, "", verdictSentence(report, notices, false), MAX_HEADLINE), page),
    ...warningsOf(report, notices).flatMap((text) => warningLines(text, page)),
    ...factLines(report, 1).flatMap((text) => clipped(page, "", text, report.claims === null ? 1 : MAX_FACT)),
    ...[counts, ...originLines(report, page)].flatMap((text) => clipped(page, "", text, MAX_FACT)),
    ...failureLines(report, page),
    ...provenLines(report, page),
    "",
    ...headingLines("Not proven", page),
    ...clipped(page, INDENT, topics(unprovenStatements(report)), MAX_OPEN),
    "",
    MORE,
  ];
}

/** Returns an empty line, the first failures, and the number of others. */
function failureLines(report: Report, page: Page): string[] {
  const failed = report.checks.filter(({ status }) => status === "fail");
  if (failed.length === 0) return [];
  const shown = [...grouped(failed, ({ id, detail }) => `${id}\n${detail}`).values()].slice(0, MAX_FAILURES);
  const rest = failed.length - shown.flat().length;
  const more = rest > 0 ? [`${INDENT}and ${rest} more failed`] : [];
  return ["", ...shown.flatMap((group) => failureOf(group, report, page)), ...more];
}

function failureOf(group: readonly Check[], report: Report, page: Page): string[] {
  const [first] = group as [Check];
  const below = [...comparedLines(first, page), ...cutTo(MAX_ADVICE, adviceLines(first, page), page)];
  const text = `${printableStart(first.detail, MAX_TEXT)} (${whoText(group, report)})`;
  return [...cutTo(MAX_FAILURE - below.length, besideId(first, text, page), page), ...below];
}

/** Returns a line for each statement that is proven, and the number of others. */
function provenLines(report: Report, page: Page): string[] {
  const rows = provenRows(report, page);
  if (rows.length === 0) return [];
  const lines = rows.slice(0, MAX_ROWS).flatMap((row) => clipped(page, `${INDENT}- `, row, 1));
  const more = rows.length > MAX_ROWS ? [`${INDENT}and ${rows.length - MAX_ROWS} more`] : [];
  return ["", ...headingLines("Proven", page), ...lines, ...more];
}

/** Returns the words before the colon of each statement, or a single statement in full. */
function topics(statements: readonly string[]): string {
  return statements.length === 1
    ? statements[0]!
    : statements.map((text) => /^(?:boot\[.*?\]: )?[^:]*/.exec(text)![0]).join("; ");
}
