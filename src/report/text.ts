/** The report for a person at a terminal: the verdict, every check, what is proven and what is not. */
import { CHECK_ADVICE, type Check, type CheckId, type CheckStatus, type CheckSubject } from "../checks.js";
import { sideBySide } from "./compare.js";
import { type Paint, type Style, painter, wrapped } from "./layout.js";
import { printable, printableStart, quoted, shortHex } from "./printable.js";
import { renderWhole } from "./rendering.js";
import type { Report, Verdict } from "./report.js";
import { provenStatements, unprovenWords } from "./statements.js";
import { caveats, unprovenStatements } from "./unproven.js";

export interface TextOptions {
  /** ANSI colours. */
  readonly color: boolean;
  /** Columns, 60 to 200. */
  readonly width?: number;
}

/** `cose` of `cose.signature`. */
type Family = CheckId extends `${infer F}.${string}` ? F : never;

/** The group of each family of checks. Total: the compiler holds it against the ids. */
export const GROUPS: Readonly<Record<Family, string>> = {
  boot: "Document and certificate chain",
  cose: "Document and certificate chain",
  doc: "Document and certificate chain",
  chain: "Document and certificate chain",
  manifest: "Manifest and approvals",
  envelope: "Manifest and approvals",
  bind: "What ties them together",
  mode: "What ties them together",
  app: "App proofs",
  activity: "Activity",
  policy: "Policy",
};
/** Of checks that this version does not know: a report may have been made by another one, or by anybody. */
const OTHER = "Other";

const WORDS: Readonly<Record<CheckStatus, string>> = { pass: "ok  ", fail: "FAIL", warn: "WARN", skip: "skip" };
const STYLES: Readonly<Record<CheckStatus, Style[]>> = {
  pass: ["green"],
  fail: ["bold", "red"],
  warn: ["yellow"],
  skip: ["dim"],
};
const VERDICT_STYLES: Readonly<Record<Verdict, Style>> = { verified: "green", authentic: "yellow", rejected: "red" };
const ID_WIDTH = 20;
const MAX_ID = 48;
const INDENT = "  ";
/** Beneath the word and before the id: long hex needs the room. */
const DEEP_INDENT = " ".repeat(8);
const MAX_LINES = 16;
/** Pieces of evidence that are listed; the others are counted. */
const MAX_PIECES = 8;
/** Details quote evidence, which may be long; the JSON report has the whole of them. */
const MAX_DETAIL = 1200;
const MAX_SENTENCE = 160;

const WANTED =
  "report: a whole report wanted (bootproof-report/1), such as `report` in what verifyEvidence answers, once awaited";

/**
 * The whole report as text, its lines at most 100 columns wide, with a line feed at its end. Throws TypeError for what
 * is no report.
 */
export function renderText(report: Report, options: TextOptions = { color: false }): string {
  const paint = painter(options.color);
  return renderWhole(report, WANTED, () => reportText(report, paint));
}

function reportText(report: Report, paint: Paint): string {
  return paragraphs([
    verdictLines(report, paint),
    ...checkParagraphs(report, paint),
    ...(report.claims === null ? [] : [statementLines("Proven", provenStatements(report), paint)]),
    ...unprovenWords(report).map(({ heading, statements }) => {
      return statementLines(`Not proven: ${heading}`, statements, paint);
    }),
    statementLines("Not proven", unprovenStatements(report), paint),
  ]);
}

/** The verdict and the failed checks alone, for where the report itself is not the result. */
export function renderFailures(report: Report, options: TextOptions): string {
  const paint = painter(options.color);
  const failed = report.checks.filter((check) => check.status === "fail");
  const lines = failed.flatMap((check) => checkLines(check, `${labelOf(check.subject, report)}: `, paint));
  return paragraphs([verdictLines(report, paint), lines]);
}

/** What each verdict says; `policy`: the policy in words. */
const SENTENCES: Readonly<Record<Verdict, (report: Report, policy: string) => string>> = {
  verified: (_, policy) => `VERIFIED: every check passed, and the deployment is one that ${policy} pins.`,
  authentic: () => {
    return (
      "AUTHENTIC: every check passed, but no policy was given: a genuine enclave that agrees with itself, " +
      "anybody's."
    );
  },
  rejected: (report) => `REJECTED: nothing is proven. ${failureSentence(report)}`,
};

/** The verdict in one sentence. */
function verdictSentence(report: Report): string {
  const policy = report.policy === null ? "the policy" : `the policy ${quoted(report.policy)}`;
  const sentence = known(SENTENCES, report.verdict);
  if (sentence !== undefined) return sentence(report, policy);
  return `UNKNOWN: ${quoted(String(report.verdict))} is no verdict that this tool gives. Nothing is proven.`;
}

/** The entry of a table that is total for reports of this version; undefined for what another report may say. */
function known<K extends string, V>(table: Readonly<Record<K, V>>, key: K): V | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

function failureSentence(report: Report): string {
  const failed = report.checks.filter((check) => check.status === "fail");
  const [first] = failed;
  if (first === undefined) return "";
  const count = failed.length === 1 ? "One check failed:" : `${failed.length} checks failed, the first is`;
  const { detail: whole } = first;
  const detail = printable(whole.length > MAX_SENTENCE ? `${whole.slice(0, MAX_SENTENCE)}…` : whole);
  return `${count} ${printable(first.id)} (${labelOf(first.subject, report)}): ${detail}`;
}

function verdictLines(report: Report, paint: Paint): string[] {
  const sentence = verdictSentence(report);
  const word = sentence.slice(0, sentence.indexOf(":"));
  const style = known(VERDICT_STYLES, report.verdict) ?? "red";
  const [first, ...others] = wrapped("", sentence);
  const buts = [...new Set(caveats(report))].flatMap((caveat) => wrapped("BUT ", caveat));
  const time = report.validationTime === null ? [] : [`certificates judged as of ${printable(report.validationTime)}`];
  const small = [[...countWords(report.checks), ...time].join(", "), ...originLines(report)];
  return [
    paint(word, "bold", style) + first!.slice(word.length),
    ...others,
    ...buts.map((line) => paint(line, "bold", "yellow")),
    ...[...small.flatMap((line) => wrapped("", line)), ...evidenceLines(report)].map((line) => paint(line, "dim")),
  ];
}

/** By which policy, when and by what the report was made. */
function originLines({ policy, policyDigest, verifiedAt, tool }: Report): string[] {
  const digest = policyDigest === null ? "" : ` (SHA-256 ${shortHex(policyDigest)})`;
  const name = policy === null ? "without a name" : quoted(policy);
  const by = policy === null && policyDigest === null ? [] : [`policy ${name}${digest}`];
  const made = `${printableStart(tool.name, 40)} ${printableStart(tool.version, 40)}`;
  return [...by, `verified at ${printable(verifiedAt)} by ${made}`];
}

/** The pieces that have a name, each in a line; nothing where none has. */
function evidenceLines({ evidence }: Report): string[] {
  const named = evidence.filter(({ name }) => name !== null);
  const lines = named.slice(0, MAX_PIECES).flatMap((piece, index) => {
    const digest = piece.sha256 === null ? "" : ` (SHA-256 ${shortHex(piece.sha256)})`;
    return wrapped(
      index === 0 ? "evidence: " : " ".repeat("evidence: ".length),
      labelOf(piece.subject, { evidence }) + digest,
    );
  });
  return named.length <= MAX_PIECES ? lines : [...lines, `and ${named.length - MAX_PIECES} more`];
}

/** `boot[0]`, or `boot[0] = boot.json` where the caller has a name for it. */
function labelOf(subject: CheckSubject, { evidence }: Pick<Report, "evidence">): string {
  const name = evidence.find((piece) => piece.subject === subject)?.name ?? null;
  return printable(subject) + (name === null ? "" : ` = ${nameText(name)}`);
}

/** A file name as it is; one that could be taken for more than a name, in quotes. */
function nameText(name: string): string {
  return /^[\w./@+-]{1,80}$/.test(name) ? name : quoted(name, 80);
}

function countWords(checks: readonly Check[]): string[] {
  const count = (status: CheckStatus): number => checks.filter((check) => check.status === status).length;
  const words: [number, string][] = [
    [count("pass"), "passed"],
    [count("fail"), "failed"],
    [count("warn"), count("warn") === 1 ? "warning" : "warnings"],
    [count("skip"), "skipped"],
  ];
  return words.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
}

/**
 * A paragraph for each subject and group of checks. The subject is named in each heading where there are several of its
 * kind, and in its first one where it has a name.
 */
function checkParagraphs(report: Report, paint: Paint): string[][] {
  const bySubject = grouped(report.checks, (check) => check.subject);
  const kinds = grouped([...bySubject.keys()], kindOf);
  return [...bySubject].flatMap(([subject, own]) => {
    const kind = kindOf(subject);
    const several = kinds.get(kind)!.length > 1;
    const label = labelOf(subject, report);
    return [...grouped(own, (check) => groupOf(check.id))].map(([title, group], index) => {
      const isNamed = several || (index === 0 && label !== printable(subject));
      return groupLines(isNamed ? `${title}: ${label}` : title, group, several && kind === "app", paint);
    });
  });
}

function groupOf(id: CheckId): string {
  return known(GROUPS, id.split(".", 1)[0] as Family) ?? OTHER;
}

/** The items under their keys, both in the order in which they come. */
function grouped<T, K extends string>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
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
  const runs = alike ? [checks] : runsOfSkips(checks);
  const lines = runs.flatMap((run) => {
    return alike || run.length > 1 ? mergedLines(run, paint) : checkLines(run[0]!, "", paint);
  });
  return [...wrapped("", heading).map((line) => paint(line, "bold")), ...lines];
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
  const ids = checks.map((check) => printable(check.id)).join(", ");
  const lines = marked(wrapped(`${INDENT}${wordOf(status)}  `, ids), status, paint);
  return status === "pass" ? lines : [...lines, ...wrapped(DEEP_INDENT, printableStart(detail, MAX_DETAIL))];
}

function checkLines(check: Check, prefix: string, paint: Paint): string[] {
  const id = printableStart(check.id, MAX_ID).padEnd(ID_WIDTH);
  const lines = wrapped(`${INDENT}${wordOf(check.status)}  ${id}  `, prefix + printableStart(check.detail, MAX_DETAIL));
  return [...marked(lines, check.status, paint), ...(check.status === "fail" ? failureLines(check, paint) : [])];
}

/** A status that is none of ours is not taken for a good one. */
function wordOf(status: CheckStatus): string {
  return known(WORDS, status) ?? "????";
}

/** The lines with the status word at their beginning painted. */
function marked([first, ...others]: readonly string[], status: CheckStatus, paint: Paint): string[] {
  const word = wordOf(status);
  const styles = known(STYLES, status) ?? ["bold", "red"];
  return [INDENT + paint(word, ...styles) + first!.slice(INDENT.length + word.length), ...others];
}

/** Beneath a failure: expected and actual side by side, then what to do. */
function failureLines(check: Check, paint: Paint): string[] {
  const advice = known(CHECK_ADVICE, check.id);
  const lines = advice === undefined ? [] : wrapped(`${DEEP_INDENT}-> `, advice);
  return [...comparisonLines(check, paint), ...lines.map((line) => paint(line, "dim"))];
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
  const shown =
    values.length > MAX_LINES ? [...values.slice(0, MAX_LINES), `and ${values.length - MAX_LINES} more`] : values;
  return shown.flatMap((value, index) =>
    wrapped(`${DEEP_INDENT}${(index === 0 ? title : "").padEnd("expected".length)}  `, value),
  );
}

function markDifferences(line: string, style: Style, paint: Paint): string {
  return line.replace(/\[(?:[0-9a-f]{2})+\]/g, (bytes) => paint(bytes, "bold", style));
}

function statementLines(title: string, statements: readonly string[], paint: Paint): string[] {
  return [paint(title, "bold"), ...statements.flatMap((statement) => wrapped(`${INDENT}- `, statement))];
}

function paragraphs(list: readonly string[][]): string {
  return `${list
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}
