/** The report as text for a terminal: the verdict, every check, and statements on what is proven and what is not. */
import { INDENT, checkLines, comparedLines, known, labelOf } from "./check-lines.js";
import { type Notice, countsOf, headlineFacts, numbered, warningsOf, whyNotGood } from "./facts.js";
import {
  type Page,
  type Style,
  type TextOptions,
  cutTo,
  headingLines,
  pageOf,
  paragraphs,
  warningLines,
  wordFirst,
  wrapped,
} from "./layout.js";
import { checkParagraphs } from "./pieces.js";
import { printable, printableStart, quoted } from "./printable.js";
import { renderWhole } from "./rendering.js";
import type { Report, Verdict } from "./report.js";
import { provenStatements, unprovenWords } from "./statements.js";
import { isByMakersPolicy, unprovenStatements } from "./unproven.js";

/** Styles of the first sentence by its first word. Any other word has the style of a rejection. */
const GOOD_STYLES: Readonly<Record<string, Style[]>> = { VERIFIED: ["onGreen"], AUTHENTIC: ["onYellow"] };
const BAD_STYLE: readonly Style[] = ["bold", "red"];
const MAX_PIECES = 8;
const MAX_SENTENCE = 160;

export const WANTED =
  "report: expected a whole report (bootproof-report/1), such as `report` in the awaited result of verifyEvidence";

/**
 * Renders the report as text, with a line feed at its end, in lines no wider than the options allow. Throws TypeError
 * for a value that is not a report.
 * @example
 * ```ts
 * const { report } = await verifyEvidence(evidence, { policy, now: new Date() });
 * console.log(renderText(report, { width: 100 }));
 * ```
 */
export function renderText(report: Report, options: TextOptions = {}): string {
  return renderReport(report, options, []);
}

/** Renders as {@link renderText} does, with notices beside the verdict. */
export function renderReport(report: Report, options: TextOptions, notices: readonly Notice[]): string {
  const page = pageOf(options);
  return renderWhole(report, WANTED, () => {
    const text = reportText(report, notices, page);
    // The prompt also takes a row.
    const isLonger = text.split("\n").length > page.height;
    return isLonger ? `${text}\n${paragraphs([headlineLines(report, notices, page, false)])}` : text;
  });
}

function reportText(report: Report, notices: readonly Notice[], page: Page): string {
  return paragraphs([
    verdictLines(report, notices, page),
    ...checkParagraphs(report, page),
    ...(report.claims === null ? [] : [statementLines("Proven", provenStatements(report, page), page)]),
    ...unprovenWords(report, page).map(({ heading, statements }) => {
      return statementLines(`Not proven: ${heading}`, statements, page);
    }),
    statementLines("Not proven", unprovenStatements(report), page),
  ]);
}

/** Renders only the verdict and the failed checks, for commands whose result is not the report. */
export function renderFailures(report: Report, options: TextOptions): string {
  const page = pageOf(options);
  const failed = report.checks.filter((check) => check.status === "fail");
  const lines = failed.flatMap((check) =>
    checkLines(check, `${labelOf(check.about ?? check.subject, report)}: `, page),
  );
  return paragraphs([verdictLines(report, [], page), lines]);
}

const SENTENCES: Readonly<Record<Verdict, (report: Report, policy: string, withCause: boolean) => string>> = {
  verified: (_, policy) => `VERIFIED: every check passed, and the deployment is one that ${policy} pins.`,
  authentic: (report) => {
    const none = isByMakersPolicy(report) ? "the only policy came with the evidence" : "no policy was given";
    return `AUTHENTIC: every check passed, but ${none}: the enclave is genuine, and may be anybody's.`;
  },
  rejected: (report, _, withCause) => {
    const rejection = report.stale === true ? staleSentence(report) : "REJECTED: nothing is proven.";
    return `${rejection} ${failureSentence(report, withCause)}`;
  },
};

function staleSentence({ maxAge }: Report): string {
  const allowed = maxAge?.from === "caller" ? "you allow" : "the policy allows";
  return `REJECTED, STALE: the evidence is genuine, but older than ${allowed}. Nothing is proven.`;
}

/**
 * Returns the first sentence of every format, with the number of WARNING lines. It begins with a good verdict only if
 * that verdict is accepted. Without the cause it only counts the failed checks: the text has the cause elsewhere.
 */
export function verdictSentence(report: Report, notices: readonly Notice[] = [], withCause = true): string {
  const count = warningsOf(report, notices).length;
  return sentenceOf(report, withCause).replace(":", count === 0 ? ":" : ` with ${numbered(count, "warning")}:`);
}

function sentenceOf(report: Report, withCause: boolean): string {
  const policy = report.policy === null ? "the policy" : `the policy ${quoted(report.policy)}`;
  const sentence = known(SENTENCES, report.verdict)?.(report, policy, withCause);
  if (sentence === undefined)
    return `UNKNOWN: ${quoted(String(report.verdict))} is not a verdict of this tool. Nothing is proven.`;
  const why = whyNotGood(report);
  return why === null ? sentence : `REFUSED: ${why}.`;
}

function failureSentence(report: Report, withCause: boolean): string {
  const failed = report.checks.filter((check) => check.status === "fail");
  const [first] = failed;
  if (first === undefined) return "";
  if (!withCause) return failed.length === 1 ? "One check failed." : `${failed.length} checks failed.`;
  const count = failed.length === 1 ? "One check failed:" : `${failed.length} checks failed, the first is`;
  const detail = printableStart(first.detail, MAX_SENTENCE);
  return `${count} ${printable(first.id)} (${labelOf(first.about ?? first.subject, report)}): ${detail}`;
}

function headlineLines(report: Report, notices: readonly Notice[], page: Page, withCause = true): string[] {
  return paintedVerdict(wrapped(page, "", verdictSentence(report, notices, withCause)), page);
}

export function paintedVerdict(lines: readonly string[], page: Page): string[] {
  const [word] = /^[A-Z, ]*[A-Z]/.exec(lines[0]!)!;
  return wordFirst(page, [word, ...(known(GOOD_STYLES, word) ?? BAD_STYLE)], lines);
}

function verdictLines(report: Report, notices: readonly Notice[], page: Page): string[] {
  const time = report.validationTime === null ? [] : [`certificates checked as of ${printable(report.validationTime)}`];
  const small = [[countsOf(report, notices), ...time].join(", "), ...originLines(report, page)];
  return [
    ...headlineLines(report, notices, page),
    ...warningsOf(report, notices).flatMap((text) => warningLines(text, page)),
    ...notices.flatMap(({ kind, text }) =>
      kind === "warning" ? [] : wrapped(page, kind === "item" ? "    - " : "", text),
    ),
    ...[...factLines(report), ...small].flatMap((line) => wrapped(page, "", line)),
    ...evidenceLines(report, page),
  ];
}

/** Returns the age, then the line of each boot proof. More than `most` boot proofs share a line. */
export function factLines(report: Report, most?: number): string[] {
  const { age, lines } = headlineFacts(report, most);
  return age === null ? [...lines] : [age, ...lines];
}

const MAX_BRIEF = 6;

/**
 * Returns the verdict in at most six lines: the sentence, which names the first failed check and its reason, then what
 * was expected and found, or the warnings for which the caller refuses it.
 */
export function verdictBrief(report: Report, notices: readonly Notice[], options: TextOptions): string {
  const page = pageOf({ ...options, detail: "summary" });
  const compared = report.checks.filter(({ status }) => status === "fail").slice(0, 1);
  const below = [
    ...compared.flatMap((check) => comparedLines(check, page)),
    ...(report.refusedFor ?? []).flatMap((text) => warningLines(text, page)),
  ];
  const sentence = cutTo(MAX_BRIEF - 2, headlineLines(report, notices, page), page);
  return paragraphs([cutTo(MAX_BRIEF, [...sentence, ...below], page)]);
}

/** Returns lines with the policy, the time and the tool. */
export function originLines(report: Report, page: Page): string[] {
  const { policy, policyDigest, verifiedAt, tool } = report;
  const digest = policyDigest === null ? "" : ` (SHA-256 ${page.hex(policyDigest)})`;
  const name = policy === null ? "without a name" : quoted(policy);
  const isShort = page.detail === "summary" && page.policyFile !== null;
  const words = isShort ? `${printable(page.policyFile)}${digest}, ${name}` : `${name}${digest}`;
  const by = policy === null && policyDigest === null ? [] : [`policy ${words}`];
  const made = `${printableStart(tool.name, 40)} ${printableStart(tool.version, 40)}`;
  const signed = signedText(report, page.hex);
  return [...by, ...(signed === null ? [] : [signed]), `verified at ${printable(verifiedAt)} by ${made}`];
}

/** Returns which version of a signed policy judged, and who signed it. Null for any other policy. */
export function signedText(
  { signedPolicy }: Pick<Report, "signedPolicy">,
  hex: (text: string) => string,
): string | null {
  if (signedPolicy === undefined) return null;
  const { name, version, expiresAt, signedBy } = signedPolicy;
  const by = signedBy.map(hex).join(", ");
  return `version ${version} of ${quoted(name)}, valid until ${printable(expiresAt)}, signed by ${by}`;
}

function evidenceLines({ evidence }: Report, page: Page): string[] {
  const named = evidence.filter(({ name }) => name !== null);
  const isMany = named.length > MAX_PIECES && page.detail !== "verbose";
  if (isMany) return wrapped(page, "evidence: ", `${named.length} items`);
  return named.flatMap((piece, index) => {
    const digest = piece.sha256 === null ? "" : ` (SHA-256 ${page.hex(piece.sha256)})`;
    const first = index === 0 ? "evidence: " : "          ";
    return wrapped(page, first, labelOf(piece.subject, { evidence }) + digest);
  });
}

function statementLines(title: string, statements: readonly string[], page: Page): string[] {
  return [...headingLines(title, page), ...statements.flatMap((statement) => wrapped(page, `${INDENT}- `, statement))];
}
