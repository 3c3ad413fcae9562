/** Paragraphs of checks: every check of a single boot proof, app proof or bundle, or a line for each of several. */
import { lastOf } from "../bytes.js";
import type { Check, CheckFamily, CheckId, CheckStatus, CheckSubject } from "../checks.js";
import { INDENT, besideId, checkLines, known, labelOf, mergedLines, statusLines } from "./check-lines.js";
import { countWords, isBad, isNote, shownCheck } from "./facts.js";
import { type Page, headingLines, padded } from "./layout.js";
import { printable, printableStart } from "./printable.js";
import type { Report } from "./report.js";
import { capitalized, grouped, subjectRanges } from "./statements.js";
import { displayWidth } from "./width.js";

export const GROUPS: Readonly<Record<CheckFamily, string>> = {
  boot: "Document and certificate chain",
  cose: "Document and certificate chain",
  doc: "Document and certificate chain",
  chain: "Document and certificate chain",
  manifest: "Manifest and approvals",
  envelope: "Manifest and approvals",
  bind: "Bindings and debug mode",
  mode: "Bindings and debug mode",
  app: "App proofs",
  activity: "Activity",
  policy: "Policy",
  provenance: "Build provenance",
  token: "Token",
};
/** Heading for checks of another version. */
const OTHER = "Other";

/** Number of columns for status and counts after a label. */
const COUNTS_WIDTH = 34;
const MAX_DETAIL = 1200;

export function checkParagraphs(report: Report, page: Page): string[][] {
  const several = severalOf(report.checks);
  // If there are several boot proofs, the policy's checks of each are shown with that boot proof.
  const pieceOf = ({ subject, about = subject }: Check): CheckSubject => (several.has(kindOf(about)) ? about : subject);
  const byKind = grouped(report.checks, (check) => kindOf(pieceOf(check)));
  return [...byKind].flatMap(([kind, checks]) => {
    const byPiece = grouped(checks, pieceOf);
    if (several.has(kind) && page.detail !== "verbose") return piecesParagraphs(kind, byPiece, report, page);
    return [...byPiece].flatMap(([subject, own]) => {
      const label = labelOf(subject, report);
      const isNamed = (index: number): boolean => several.has(kind) || (index === 0 && label !== printable(subject));
      return [...grouped(own, ({ id }) => groupOf(id))].map(([title, group], index) => {
        return groupLines(isNamed(index) ? `${title}: ${label}` : title, group, report, page);
      });
    });
  });
}

function severalOf(checks: readonly Check[]): Map<string, CheckSubject[]> {
  const kinds = grouped([...new Set(checks.map(({ subject }) => subject))], kindOf);
  return new Map([...kinds].filter(([, subjects]) => subjects.length > 1));
}

function kindOf(subject: string): string {
  return subject.split("[", 1)[0]!;
}

function piecesText(kind: string): string {
  return kind === "provenance" ? "provenance bundles" : `${printable(kind)} proofs`;
}

function groupOf(id: CheckId): string {
  return known(GROUPS, id.split(".", 1)[0] as CheckFamily) ?? OTHER;
}

function groupLines(heading: string, checks: readonly Check[], report: Report, page: Page): string[] {
  const runs = page.detail === "verbose" ? checks.map((check) => [check]) : runsOfSkips(checks);
  return [
    ...headingLines(heading, page),
    ...runs.flatMap((run) =>
      run.length > 1 ? mergedLines(run, page) : checkLines(shownCheck(run[0]!, report), "", page),
    ),
  ];
}

/** Joins consecutive checks that are skipped for the same reason. Any other check is a run by itself. */
function runsOfSkips(checks: readonly Check[]): Check[][] {
  const runs: Check[][] = [];
  for (const check of checks) {
    const last = lastOf(runs)?.[0];
    if (check.status === "skip" && last?.status === "skip" && last.detail === check.detail) lastOf(runs)!.push(check);
    else runs.push([check]);
  }
  return runs;
}

/** Returns a line for each subject of a kind, with its failures beneath. All warnings and notes follow. */
function piecesParagraphs(
  kind: string,
  byPiece: ReadonlyMap<CheckSubject, readonly Check[]>,
  report: Report,
  page: Page,
): string[][] {
  const pieces = [...byPiece].map(([subject, checks]) => ({ subject, checks, label: labelOf(subject, report) }));
  const widest = Math.max(...pieces.map(({ label }) => displayWidth(label)));
  const column = Math.min(widest, page.width - COUNTS_WIDTH);
  const failed = pieces.filter(({ checks }) => checks.some(isBad)).length;
  const shown = new Set<string>();
  const first = new Map<string, CheckSubject>();
  const inner = { ...page, width: page.width - INDENT.length };
  const failureLines = (subject: CheckSubject) => (check: Check) => {
    // A failure that an earlier subject also has is shown in full only there.
    const key = [check.id, check.detail, check.expected, check.actual].join("\n");
    const other = first.get(key);
    if (other === undefined) first.set(key, subject);
    const lines =
      other === undefined
        ? checkLines(check, "", inner, shown)
        : besideId(check, `same as under ${printable(other)}`, inner);
    return lines.map((line) => INDENT + line);
  };
  const lines = pieces.flatMap(({ subject, checks, label }) => {
    const status = statusOf(checks);
    // If the subject passed, checks are skipped only for members that its policy does not pin, so they are not counted.
    const counted = status === "pass" ? checks.filter((check) => check.status !== "skip") : checks;
    const text = `${padded(label, column)}  ${countWords(counted, report)}`;
    return [...statusLines({ status }, text, page), ...checks.filter(isBad).flatMap(failureLines(subject))];
  });
  const title = capitalized(piecesText(kind));
  const heading = `${title}: ${pieces.length}${failed === 0 ? "" : `, of which ${failed} failed`}`;
  return [
    [...headingLines(heading, page), ...lines],
    ...warningParagraphs(
      kind,
      pieces.flatMap(({ checks }) => checks),
      report,
      page,
    ),
  ];
}

/** Returns the worst status, or `skip` if no check ran. */
function statusOf(checks: readonly Check[]): CheckStatus {
  const bad = checks.find(isBad);
  if (bad !== undefined) return bad.status;
  return checks.every(({ status }) => status === "skip") ? "skip" : "pass";
}

function warningParagraphs(kind: string, checks: readonly Check[], report: Report, page: Page): string[][] {
  const warned = checks.filter(({ status }) => status === "warn");
  return [...grouped(warned, (check) => (isNote(check, report) ? "Notes" : "Warnings"))].map(([title, own]) => {
    const groups = grouped(own, ({ id, detail }) => `${id}\n${detail}`);
    const lines = [...groups.values()].flatMap((group) => {
      const first = shownCheck(group[0]!, report);
      return besideId(first, `${whoText(group, report)}: ${printableStart(first.detail, MAX_DETAIL)}`, page);
    });
    return [...headingLines(`${title} of ${piecesText(kind)}`, page), ...lines];
  });
}

/** Returns `boot[0] = boot.json`, or `60 boot proofs, boot[0] … boot[59]`. */
export function whoText(checks: readonly Check[], report: Report): string {
  const subjects = checks.map(({ subject, about = subject }) => about);
  if (subjects.length === 1) return labelOf(subjects[0]!, report);
  const kind = kindOf(subjects[0]!);
  const indices = subjects.map((subject) => parseInt(subject.slice(kind.length + 1)));
  return `${subjects.length} ${piecesText(kind)}, ${subjectRanges(printable(kind), indices)}`;
}
