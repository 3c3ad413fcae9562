/** The report on one screen, whatever the evidence: each part has its lines, and what does not fit is counted. */
import type { Check } from "../checks.js";
import { INDENT, besideId, comparisonLines } from "./check-lines.js";
import { type Page, clipped, headingLines } from "./layout.js";
import { whoText } from "./pieces.js";
import { printableStart } from "./printable.js";
import type { Report } from "./report.js";
import { grouped } from "./statements.js";

/** The smallest screen that is in use. */
const LINES = 24;
/** A failure takes up to four. */
const FAILURE = 4;
/** The empty line, the heading, and one line beneath; the empty line and the last one. */
const AFTER = 5;
const MAX_TEXT = 400;
const MORE = "More: without --summary, or with --verbose.";

/** `above`: the verdict, what weighs against it, and counts, in as many lines as leave room for the rest. */
export function summaryLines(
  report: Report,
  above: readonly string[],
  unproven: readonly string[],
  page: Page,
): string[] {
  const failures = failureLines(report, page, LINES - above.length - AFTER);
  return [
    ...above,
    ...failures,
    "",
    ...headingLines("Not proven", page),
    ...clipped(page, INDENT, topics(unproven), LINES - above.length - failures.length - AFTER + 1),
    "",
    MORE,
  ];
}

/** The first failures, what was compared in short, and how many more there are; after an empty line. */
function failureLines(report: Report, page: Page, room: number): string[] {
  const failed = report.checks.filter(({ status }) => status === "fail");
  const alike = [...grouped(failed, ({ id, detail }) => `${id}\n${detail}`).values()];
  const lines: string[] = [];
  let told = 0;
  for (const group of alike) {
    // The empty line, and the one that counts the others.
    if (lines.length + FAILURE + 2 > room) break;
    lines.push(...failureOf(group, report, page));
    told += group.length;
  }
  if (told < failed.length) lines.push(`${INDENT}and ${failed.length - told} more checks failed`);
  return lines.length === 0 ? [] : ["", ...lines];
}

function failureOf(group: readonly Check[], report: Report, page: Page): string[] {
  const [first] = group as [Check];
  const compared = comparisonLines(first, page);
  const text = `${printableStart(first.detail, MAX_TEXT)} (${whoText(group, report)})`;
  return [...besideId(first, text, page, FAILURE - compared.length), ...compared];
}

/** What the statements are about: what stands before the colon; of a single one all. */
function topics(statements: readonly string[]): string {
  return statements.length === 1
    ? statements[0]!
    : statements.map((text) => /^(?:boot\[.*?\]: )?[^:]*/.exec(text)![0]).join("; ");
}
