/** The checks of a report as rows: every check of a single piece, or a row for each of several pieces. */
import type { Check, CheckStatus, CheckSubject } from "../checks.js";
import { runsOf, sideBySide } from "../report/compare.js";
import { countWords, isBad, isNote, shownCheck } from "../report/facts.js";
import { type ShownCheck, checkGroup, known, labelOf } from "../report/labels.js";
import { capitalized, printable, printableLines, printableStart } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { grouped, subjectRanges } from "../report/statements.js";
import { type Row, type Section, type Tone, labelled, rows, section } from "./doc.js";

/** `summary` is one screen, `normal` has every check or a line for each of several, and `verbose` has everything. */
export type Detail = "summary" | "normal" | "verbose";

/** How much of a report is shown. */
export interface Look {
  readonly detail: Detail;
  /** Returns long hex in full or only its two ends. */
  readonly hex: (hex: string) => string;
  /** The name of the policy's file. */
  readonly policyFile?: string | null;
}

const WORDS: Readonly<Record<ShownCheck["status"], readonly [word: string, tone: Tone]>> = {
  pass: ["ok", "good"],
  fail: ["FAIL", "bad"],
  warn: ["WARN", "warning"],
  note: ["note", "quiet"],
  skip: ["skip", "quiet"],
};
/** An unknown status is never shown as good. */
const UNKNOWN = ["????", "bad"] as const;
const MAX_LINES = 16;
/** Maximum characters of a detail, which may quote long evidence. The JSON report has all of it. */
const MAX_DETAIL = 1200;

/** Returns a row with the status and id of a check, and this text. */
export function statusRow({ status, id }: Pick<ShownCheck, "status"> & { readonly id?: string }, text: string): Row {
  const [label, tone] = known(WORDS, status) ?? UNKNOWN;
  return { label, tone, ...(id !== undefined && { id }), text };
}

/**
 * Returns the row of a check. Beneath a failure are the compared values and the advice. `shown` collects advice, so
 * that none is repeated.
 */
export function rowOfCheck(check: ShownCheck, look: Look, { prefix = "", shown = new Set<string>() } = {}): Row {
  const detail = printableStart(check.detail, look.detail === "verbose" ? Infinity : MAX_DETAIL);
  const row = statusRow(check, prefix + detail);
  if (check.status === "fail") return { ...row, below: [...comparedRows(check, look), ...adviceRows(check, shown)] };
  if (look.detail !== "verbose" || check.actual === undefined) return row;
  return { ...row, below: labelled("value", check.actual.split("\n")) };
}

export function adviceRows({ advice }: ShownCheck, shown = new Set<string>()): Row[] {
  if (advice === undefined || shown.has(advice)) return [];
  shown.add(advice);
  const lines = labelled("to do", printableLines(advice, MAX_DETAIL));
  return lines.map((row) => (row.text!.startsWith("bootproof ") ? { ...row, isCommand: true } : row));
}

/** Returns the compared values: with `verbose` in full, also a single one, and in a summary a line each. */
export function comparedRows({ expected, actual }: ShownCheck, { detail, hex }: Look): Row[] {
  if (detail === "verbose")
    return Object.entries({ expected, actual }).flatMap(([label, text]) => labelled(label, text?.split("\n") ?? []));
  if (expected === undefined || actual === undefined) return [];
  const sides = sideBySide(expected, actual);
  const side = (title: "expected" | "actual", marks: Tone): Row[] => {
    if (detail === "summary")
      return labelled(title, [sides[title].join(", ").replace(WHOLE_HEX, hex)], { marks, lines: 1 });
    return labelled(title, atMost(sides[title]), { marks });
  };
  const note = sides.note === null || detail === "summary" ? [] : [{ label: "", text: sides.note }];
  return [...side("expected", "good"), ...side("actual", "bad"), ...note];
}

/** Long hex without differing bytes in brackets. */
const WHOLE_HEX = /[0-9a-f]{48,}/g;

/** Returns the first lines, and the number of the others. */
function atMost(lines: readonly string[]): readonly string[] {
  const rest = lines.length - MAX_LINES;
  return rest > 0 ? [...lines.slice(0, MAX_LINES), `and ${rest} more`] : lines;
}

export function checkSections(report: Report, look: Look): Section[] {
  const several = severalOf(report.checks);
  // If there are several boot proofs, the policy's checks of each are shown with that boot proof.
  const pieceOf = ({ subject, about = subject }: Check): CheckSubject => (several.has(kindOf(about)) ? about : subject);
  const byKind = grouped(report.checks, (check) => kindOf(pieceOf(check)));
  return [...byKind].flatMap(([kind, checks]) => {
    const byPiece = grouped(checks, pieceOf);
    if (several.has(kind) && look.detail !== "verbose") return piecesSections(kind, byPiece, report, look);
    return [...byPiece].flatMap(([subject, own]) => {
      const label = labelOf(subject, report);
      const isNamed = (index: number): boolean => several.has(kind) || (index === 0 && label !== printable(subject));
      return [...grouped(own, ({ id }) => checkGroup(id))].flatMap(([title, group], index) =>
        section(isNamed(index) ? `${title}: ${label}` : title, [rows(groupRows(group, report, look))]),
      );
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

/** Returns a row for each check. Consecutive checks that are skipped for the same reason share one. */
function groupRows(checks: readonly Check[], report: Report, look: Look): Row[] {
  const isAlike = (one: Check, other: Check): boolean =>
    look.detail !== "verbose" && [one, other].every(({ status }) => status === "skip") && one.detail === other.detail;
  return runsOf(checks, isAlike).map((run) => {
    const first = shownCheck(run[0], report);
    if (run.length === 1) return rowOfCheck(first, look);
    const { label, tone, text } = rowOfCheck(first, look) as Required<Row>;
    return { label, tone, text: run.map(({ id }) => printable(id)).join(", "), below: [{ text }] };
  });
}

/** Returns a row for each subject of a kind, with its failures beneath. All warnings and notes follow. */
function piecesSections(
  kind: string,
  byPiece: ReadonlyMap<CheckSubject, readonly Check[]>,
  report: Report,
  look: Look,
): Section[] {
  const shown = new Set<string>();
  const first = new Map<string, CheckSubject>();
  const failureRow = (check: Check, subject: CheckSubject): Row => {
    // A failure that an earlier subject also has is shown in full only there.
    const key = [check.id, check.detail, check.expected, check.actual].join("\n");
    const other = first.get(key);
    if (other !== undefined) return statusRow(check, `same as under ${printable(other)}`);
    first.set(key, subject);
    return rowOfCheck(check, look, { shown });
  };
  const pieces = [...byPiece].map(([subject, checks]): Row => {
    const status = statusOf(checks);
    // If the subject passed, checks are skipped only for members that its policy does not pin, so they are not counted.
    const counted = status === "pass" ? checks.filter((check) => check.status !== "skip") : checks;
    const row = statusRow({ status, id: labelOf(subject, report) }, countWords(counted, report));
    return { ...row, below: checks.filter(isBad).map((check) => failureRow(check, subject)) };
  });
  const checks = [...byPiece.values()].flat();
  const failed = [...byPiece.values()].filter((own) => own.some(isBad)).length;
  const title = capitalized(piecesText(kind));
  return [
    ...section(`${title}: ${pieces.length}${failed === 0 ? "" : `, of which ${failed} failed`}`, [rows(pieces)]),
    ...warningSections(kind, checks, report),
  ];
}

/** Returns the worst status, or `skip` if no check ran. */
function statusOf(checks: readonly Check[]): CheckStatus {
  const bad = checks.find(isBad);
  if (bad !== undefined) return bad.status;
  return checks.every(({ status }) => status === "skip") ? "skip" : "pass";
}

function warningSections(kind: string, checks: readonly Check[], report: Report): Section[] {
  const warned = checks.filter(({ status }) => status === "warn");
  return [...grouped(warned, (check) => (isNote(check, report) ? "Notes" : "Warnings"))].flatMap(([title, own]) => {
    const groups = grouped(own, ({ id, detail }) => `${id}\n${detail}`);
    const list = [...groups.values()].map((group) => {
      const first = shownCheck(group[0]!, report);
      return statusRow(first, `${whoText(group, report)}: ${printableStart(first.detail, MAX_DETAIL)}`);
    });
    return section(`${title} of ${piecesText(kind)}`, [rows(list)]);
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
