/** The report on one screen, whatever the evidence: each part has its lines, and what does not fit is counted. */
import type { Check } from "../checks.js";
import { INDENT, besideId, markDifferences, sideStart } from "./check-lines.js";
import { sideBySide } from "./compare.js";
import { type Notice, butsOf, countWords, headlineFacts } from "./facts.js";
import { BUT, type Page, type TextOptions, butLines, headingLines, pageOf, wrapped } from "./layout.js";
import { whoText } from "./pieces.js";
import { printableStart } from "./printable.js";
import { renderWhole } from "./rendering.js";
import type { Report } from "./report.js";
import { grouped } from "./statements.js";
import { WANTED, originLines, paintedVerdict, verdictSentence } from "./text.js";
import { unprovenStatements } from "./unproven.js";
import { piecesOf } from "./width.js";

/** The smallest screen that is in use. */
const LINES = 24;
/** A failure takes up to four. */
const FAILURE = 4;
/** The empty line, the heading, and one line beneath; the empty line and the last one. */
const AFTER = 5;
const MAX_TEXT = 400;
const MORE = "More: omit --summary, or use --verbose.";

/** Lines of the verdict. */
const MAX_HEADLINE = 4;
/** Lines of BUTs that have room on the screen: a BUT is never cut, and more of them make the summary longer. */
const BUT_LINES = 4;
/** Lines of what the head says of the enclaves. */
const MAX_FACTS = 3;

/**
 * The report on one screen of 24 lines at any width, with a line feed at its end: the verdict, what weighs against it,
 * which enclave it is, the first failures, and what is not proven by its topics. BUTs are never cut: where they need
 * more than four lines, it is so many lines longer. `notices`: see `renderReport`; notes are left out. Throws TypeError
 * for what is no report.
 */
export function renderSummary(
  report: Report,
  options: Pick<TextOptions, "color" | "width"> = {},
  notices: readonly Notice[] = [],
): string {
  const own = notices.map(({ kind, text }) => ({ kind, text }));
  return `${summaryOf(report, options, own)}\n${MORE}\n`;
}

/** {@link renderSummary} without its last line, which says where more is told. */
export function summaryOf(
  report: Report,
  options: Pick<TextOptions, "color" | "width">,
  notices: readonly Notice[],
): string {
  const page = pageOf({ ...options, detail: "summary" });
  return renderWhole(report, WANTED, () => `${summaryLines(report, notices, page).join("\n")}\n`);
}

function summaryLines(report: Report, notices: readonly Notice[], page: Page): string[] {
  const buts = butsOf(report, notices).flatMap((text) => butLines(wrapped(page, `${BUT} `, text), page));
  const refused = notices.flatMap(({ kind, text }) => (kind === "refused" ? wrapped(page, "", text) : []));
  const above = aboveAll(report, page);
  const counted = [...above.verdict, ...buts.slice(0, BUT_LINES), ...refused, ...above.rest].length;
  const left = LINES - counted - AFTER;
  const failures = failureLines(report, page, left);
  const room = left - failures.length + 1;
  return [
    ...above.verdict,
    ...buts,
    ...refused,
    ...above.rest,
    ...failures,
    "",
    ...headingLines("Not proven", page),
    ...clipped(page, INDENT, topics(unprovenStatements(report)), room),
  ];
}

/** The verdict; and which enclaves, and counts: in as many lines as leave room for the rest. */
function aboveAll(report: Report, page: Page): { readonly verdict: string[]; readonly rest: string[] } {
  const counts = [
    ...countWords(report.checks),
    report.evidence.length === 1 ? "1 piece" : `${report.evidence.length} pieces`,
  ].join(", ");
  const facts = headlineFacts(report, 1).lines.join("; ");
  return {
    verdict: paintedVerdict(clipped(page, "", verdictSentence(report), MAX_HEADLINE), report, page),
    rest: [
      ...clipped(page, "", facts, report.claims === null ? 1 : MAX_FACTS),
      ...[counts, ...originLines(report, page)].flatMap((text) => clipped(page, "", text, 1)),
    ],
  };
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
  if (told < failed.length) lines.push(`${INDENT}and ${failed.length - told} more failed`);
  return lines.length === 0 ? [] : ["", ...lines];
}

function failureOf(group: readonly Check[], report: Report, page: Page): string[] {
  const [first] = group as [Check];
  const compared = comparedLines(first, page);
  const text = `${printableStart(first.detail, MAX_TEXT)} (${whoText(group, report)})`;
  return [...cutTo(FAILURE - compared.length, besideId(first, text, page), page), ...compared];
}

/** What the statements are about: what stands before the colon; of a single one all. */
function topics(statements: readonly string[]): string {
  return statements.length === 1
    ? statements[0]!
    : statements.map((text) => /^(?:boot\[.*?\]: )?[^:]*/.exec(text)![0]).join("; ");
}

/** A line for each side. */
function comparedLines({ expected, actual }: Check, page: Page): string[] {
  if (expected === undefined || actual === undefined) return [];
  const sides = sideBySide(expected, actual);
  const line = (title: "expected" | "actual"): string[] =>
    clipped(page, sideStart(title), sides[title].join(", ").replace(WHOLE_HEX, page.hex), 1);
  return [
    ...line("expected").map((text) => markDifferences(text, ["green"], page)),
    ...line("actual").map((text) => markDifferences(text, ["bold", "red"], page)),
  ];
}

/** Without brackets around bytes that differ. */
const WHOLE_HEX = /[0-9a-f]{48,}/g;

/** As `wrapped`, of so many lines at most. */
function clipped(page: Page, first: string, text: string, most: number): string[] {
  return cutTo(most, wrapped(page, first, text), page);
}

/** So many of the lines: what is left out ends in `…`. */
function cutTo(most: number, lines: readonly string[], { width }: Page): string[] {
  if (lines.length <= most) return [...lines];
  const [start] = piecesOf(lines[most - 1]!, width - 1);
  return [...lines.slice(0, most - 1), `${start!.trimEnd()}…`];
}
