/** The report for a person at a terminal: the verdict, every check, what is proven and what is not. */
import { CHECK_ADVICE, type Check, type CheckId, type CheckStatus } from "../checks.js";
import { sideBySide } from "./compare.js";
import { type Paint, type Style, painter, wrapped } from "./layout.js";
import { printable, printableStart, quoted } from "./printable.js";
import type { Report, Verdict } from "./report.js";
import { caveats, provenStatements, unprovenStatements } from "./statements.js";

export interface TextOptions {
  /** ANSI colours. */
  readonly color: boolean;
}

/** Groups of checks, by the first part of their ids. */
const GROUPS: readonly { readonly title: string; readonly rooms: readonly string[] }[] = [
  { title: "Document and certificate chain", rooms: ["boot", "cose", "doc", "chain"] },
  { title: "Manifest and approvals", rooms: ["manifest", "envelope"] },
  { title: "What ties them together", rooms: ["bind", "mode"] },
  { title: "App proofs", rooms: ["app"] },
  { title: "Activity", rooms: ["activity"] },
  { title: "Policy", rooms: ["policy"] },
];

const WORDS: Readonly<Record<CheckStatus, string>> = { pass: "ok  ", fail: "FAIL", warn: "WARN", skip: "skip" };
const STYLES: Readonly<Record<CheckStatus, Style[]>> = { pass: ["green"], fail: ["bold", "red"], warn: ["yellow"], skip: ["dim"] };
const VERDICT_STYLES: Readonly<Record<Verdict, Style>> = { verified: "green", authentic: "yellow", rejected: "red" };
const ID_WIDTH = 20;
const INDENT = "  ";
/** Beneath the word and before the id: long hex needs the room. */
const DEEP_INDENT = " ".repeat(8);
const MAX_LINES = 16;
/** Details quote evidence, which may be long; the JSON report has the whole of them. */
const MAX_DETAIL = 1200;
const MAX_SENTENCE = 160;

/** The whole report as text, its lines at most 100 columns wide, with a line feed at its end. */
export function renderText(report: Report, options: TextOptions): string {
  const paint = painter(options.color);
  return paragraphs([
    verdictLines(report, paint),
    ...checkParagraphs(report.checks, paint),
    ...(report.claims === null ? [] : [statementLines("Proven", provenStatements(report), paint)]),
    statementLines("Not proven", unprovenStatements(report), paint),
  ]);
}

/** The verdict and the failed checks alone, for where the report itself is not the result. */
export function renderFailures(report: Report, options: TextOptions): string {
  const paint = painter(options.color);
  const failed = report.checks.filter((check) => check.status === "fail");
  return paragraphs([verdictLines(report, paint), failed.flatMap((check) => checkLines(check, subjectPrefix(check), paint))]);
}

/** The verdict in one sentence. */
export function verdictSentence(report: Report): string {
  const policy = report.policy === null ? "the policy" : `the policy ${quoted(report.policy)}`;
  switch (report.verdict) {
    case "verified":
      return `VERIFIED: every check passed, and the deployment is one that ${policy} pins.`;
    case "authentic":
      return "AUTHENTIC: every check passed, but no policy was given: a genuine enclave that agrees with itself, anybody's.";
    case "rejected":
      return `REJECTED: nothing is proven. ${failureSentence(report)}`;
  }
}

function failureSentence(report: Report): string {
  const failed = report.checks.filter((check) => check.status === "fail");
  const [first] = failed;
  if (first === undefined) return "";
  const count = failed.length === 1 ? "One check failed:" : `${failed.length} checks failed, the first is`;
  const detail = printable(first.detail.length > MAX_SENTENCE ? `${first.detail.slice(0, MAX_SENTENCE)}…` : first.detail);
  return `${count} ${first.id} (${first.subject}): ${detail}`;
}

function verdictLines(report: Report, paint: Paint): string[] {
  const word = report.verdict.toUpperCase();
  const sentence = wrapped("", verdictSentence(report)).join("\n");
  const painted = paint(word, "bold", VERDICT_STYLES[report.verdict]) + sentence.slice(word.length);
  const time = report.validationTime === null ? [] : [`certificates judged as of ${printable(report.validationTime)}`];
  const buts = [...new Set(caveats(report))].flatMap((caveat) => wrapped("BUT ", caveat)).map((line) => paint(line, "bold", "yellow"));
  return [...painted.split("\n"), ...buts, paint([...countWords(report.checks), ...time].join(", "), "dim")];
}

function countWords(checks: readonly Check[]): string[] {
  const count = (status: CheckStatus): number => checks.filter((check) => check.status === status).length;
  const words: [number, string][] = [
    [count("pass"), "passed"], [count("fail"), "failed"], [count("warn"), count("warn") === 1 ? "warning" : "warnings"],
    [count("skip"), "skipped"],
  ];
  return words.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
}

/** A paragraph for each subject and group of checks. The subject is named where there are several of its kind. */
function checkParagraphs(checks: readonly Check[], paint: Paint): string[][] {
  const bySubject = grouped(checks, (check) => check.subject);
  const kinds = grouped([...bySubject.keys()], kindOf);
  return [...bySubject].flatMap(([subject, own]) => {
    const kind = kindOf(subject);
    const several = kinds.get(kind)!.length > 1;
    return [...grouped(own, (check) => groupOf(check.id))].map(([title, group]) => {
      return groupLines(several ? `${title}: ${subject}` : title, group, several && kind === "app", paint);
    });
  });
}

function groupOf(id: CheckId): string {
  const room = id.slice(0, id.indexOf("."));
  return GROUPS.find(({ rooms }) => rooms.includes(room))!.title;
}

/** The items under their keys, both in the order in which they come. */
function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** `app` of `app[0]`. */
function kindOf(subject: string): string {
  return subject.split("[", 1)[0]!;
}

function groupLines(heading: string, checks: readonly Check[], brief: boolean, paint: Paint): string[] {
  const alike = brief && checks.every((check) => check.status === "pass");
  const lines = alike ? mergedLines(checks, paint) : runsOfSkips(checks).flatMap((run) => (run.length > 1 ? mergedLines(run, paint) : checkLines(run[0]!, "", paint)));
  return [paint(heading, "bold"), ...lines];
}

/** The checks in runs: of several neighbours that are skipped for the same reason, of one where not. */
function runsOfSkips(checks: readonly Check[]): Check[][] {
  const runs: Check[][] = [];
  for (const check of checks) {
    const last = runs.at(-1)?.[0];
    if (check.status === "skip" && last?.status === "skip" && last.detail === check.detail) runs.at(-1)!.push(check);
    else runs.push([check]);
  }
  return runs;
}

/** Checks that have the same to say, as one: their ids, and the reason where they are skipped. */
function mergedLines(checks: readonly Check[], paint: Paint): string[] {
  const { status, detail } = checks[0]!;
  const ids = marked(wrapped(`${INDENT}${WORDS[status]}  `, checks.map((check) => check.id).join(", ")), status, paint);
  return status === "pass" ? ids : [...ids, ...wrapped(DEEP_INDENT, printableStart(detail, MAX_DETAIL))];
}

function subjectPrefix(check: Check): string {
  return `${check.subject}: `;
}

function checkLines(check: Check, prefix: string, paint: Paint): string[] {
  const lines = wrapped(`${INDENT}${WORDS[check.status]}  ${check.id.padEnd(ID_WIDTH)}  `, prefix + printableStart(check.detail, MAX_DETAIL));
  return [...marked(lines, check.status, paint), ...(check.status === "fail" ? failureLines(check, paint) : [])];
}

/** The lines with the status word at their beginning painted. */
function marked([first, ...others]: readonly string[], status: CheckStatus, paint: Paint): string[] {
  const word = WORDS[status];
  return [INDENT + paint(word, ...STYLES[status]) + first!.slice(INDENT.length + word.length), ...others];
}

/** Beneath a failure: expected and actual side by side, then what to do. */
function failureLines(check: Check, paint: Paint): string[] {
  const advice = wrapped(`${DEEP_INDENT}-> `, CHECK_ADVICE[check.id]);
  return [...comparisonLines(check, paint), ...advice.map((line) => paint(line, "dim"))];
}

function comparisonLines(check: Check, paint: Paint): string[] {
  if (check.expected === undefined && check.actual === undefined) return [];
  const { expected, actual, note } = sideBySide(check.expected ?? "", check.actual ?? "");
  return [
    ...sideLines("expected", expected).map((line) => markDifferences(line, "green", paint)),
    ...sideLines("actual", actual).map((line) => markDifferences(line, "red", paint)),
    ...(note === null ? [] : sideLines("", [note]).map((line) => paint(line, "dim"))),
  ];
}

function sideLines(title: string, values: readonly string[]): string[] {
  const shown = values.length > MAX_LINES ? [...values.slice(0, MAX_LINES), `and ${values.length - MAX_LINES} more`] : values;
  return shown.flatMap((value, index) => wrapped(`${DEEP_INDENT}${(index === 0 ? title : "").padEnd("expected".length)}  `, value));
}

function markDifferences(line: string, style: Style, paint: Paint): string {
  return line.replace(/\[(?:[0-9a-f]{2})+\]/g, (bytes) => paint(bytes, "bold", style));
}

function statementLines(title: string, statements: readonly string[], paint: Paint): string[] {
  return [paint(title, "bold"), ...statements.flatMap((statement) => wrapped(`${INDENT}- `, statement))];
}

function paragraphs(list: readonly string[][]): string {
  return `${list.filter((lines) => lines.length > 0).map((lines) => lines.join("\n")).join("\n\n")}\n`;
}
