/** A report on a page: verdict, what is proven and not, the chain of trust, the evidence. */
import type { Check } from "../checks.js";
import { type EvidenceInput, NamedEvidence, inputPieces } from "../inputs.js";
import { isGoodVerdict } from "../report/accepted.js";
import { type Notice, countsOf, headlineFacts, isBad, isGood, numbered, warningsOf } from "../report/facts.js";
import { labelOf } from "../report/labels.js";
import { printable, quoted } from "../report/printable.js";
import type { Report, Verdict } from "../report/report.js";
import { capitalized, provenAddresses, provenStatements, unprovenWords } from "../report/statements.js";
import { signedText, verdictSentence } from "../show/verdict.js";
import { isByMakersPolicy, unprovenStatements } from "../report/unproven.js";
import { chainSection, straySection } from "./chain-view.js";
import { adviceOf, checkList, foldable, listOf, titledPart, shownValue, valueList } from "./checks.js";
import { icon } from "./diagram.js";
import { evidencePieces } from "./evidence.js";
import type { LinkState } from "./links.js";
import { type Markup, type MarkupNode, element } from "../show/markup.js";

export interface Shown {
  readonly report: Report;
  readonly evidence: EvidenceInput;
  readonly notices: readonly Notice[];
}

/** Returns the content of `main`: a header with the one `h1`, then a section for each part. */
export async function reportView({ report, evidence, notices }: Shown): Promise<MarkupNode[]> {
  const isBare = evidence instanceof NamedEvidence || evidence instanceof Uint8Array;
  const pieces = await evidencePieces(inputPieces(evidence), isBare, report);
  return [
    verdictHeader(report, notices),
    ...noticeList(notices),
    statementsPart(report),
    chainSection(report),
    ...straySection(report),
    evidencePart(pieces, report),
    originPart(report),
  ];
}

const VERDICT_SHAPES: Readonly<Record<Verdict, LinkState>> = {
  verified: "proven",
  authentic: "open",
  rejected: "failed",
};

/** Returns the band with the one `h1`: a verdict with its shape, the number of warnings, and what it means. */
export function verdictBand(state: LinkState, word: string, count: string, sentences: readonly MarkupNode[]): Markup {
  const shown = [icon({ state, warnings: [] }), element("span", { class: "word" }, word)];
  const title = element("h1", {}, shown, count === "" ? null : element("span", { class: "count" }, count));
  return element("div", { class: "verdict-band" }, title, sentences);
}

/** Shows the verdict. A good verdict that is not accepted looks like a rejection. */
function verdictHeader(report: Report, notices: readonly Notice[]): Markup {
  const warnings = warningsOf(report, notices);
  const sentence = verdictSentence(report, notices, false);
  const end = sentence.indexOf(":");
  const [, word, count = ""] = /^(.*?)( with \d+ warnings?)?$/.exec(sentence.slice(0, end))!;
  const { age, lines } = headlineFacts(report);
  const isKnown = Object.hasOwn(VERDICT_SHAPES, report.verdict);
  const shown = isGood(report) || !isGoodVerdict(report.verdict) ? report.verdict : "rejected";
  const state = isKnown ? VERDICT_SHAPES[shown] : "unproven";
  return element(
    "header",
    { class: `verdict verdict-${isKnown ? shown : "unknown"}` },
    verdictBand(state, word!, count, [
      element("p", { class: "sentence" }, capitalized(sentence.slice(end + 1).trim())),
      ...(age === null ? [] : [element("p", { class: "age" }, age)]),
      element("p", { class: "counts" }, countsOf(report, notices)),
      ...(report.claims === null ? [] : [element("p", { class: "left" }, openCount(report))]),
    ]),
    failuresInSight(report),
    element("div", { class: "gist" }, warningPart(warnings), addressPart(report)),
    valueList([...lines.map((line) => ["Enclave", line] as const), ["Verified at", printable(report.verifiedAt)]]),
  );
}

/** Limit of failed checks below the first, each of which is one line beside the verdict. */
const MAX_FAILURES = 4;

/**
 * Shows the first failed check with its advice. If it compared no values, the failed check of its subject that did
 * stands before the advice, which may have many steps. Each other failed check is a line, or counted with a link to the
 * chain, where it is in full.
 */
function failuresInSight(report: Report): Markup | null {
  const [first, ...others] = report.checks.filter(isBad);
  if (first === undefined) return null;
  const hasValues = ({ expected, about }: Check): boolean => expected !== undefined && about === first.about;
  const shown = [first, ...(hasValues(first) ? [] : others.filter(hasValues).slice(0, 1))];
  const rest = others.filter((check) => !shown.includes(check));
  const inLines = rest.slice(0, rest.length === MAX_FAILURES + 1 ? rest.length : MAX_FAILURES);
  const left = rest.length - inLines.length;
  const items = inLines.map(({ id, detail, about, subject }) => {
    const where = printable(` ${labelOf(about ?? subject, report)}: ${detail}`);
    return element("li", {}, element("code", {}, printable(id)), where);
  });
  const more = element("li", {}, element("a", { href: "#chain" }, `and ${left} more that failed`));
  const also = element("ul", { class: "also-failed" }, items, left === 0 ? null : more);
  const { advice, ...withoutAdvice } = first;
  const isLater = shown.length > 1 && advice !== undefined;
  const list = checkList(isLater ? [withoutAdvice, ...shown.slice(1)] : shown, report);
  const steps = isLater ? adviceOf(advice) : null;
  return element("div", { class: "first-failure" }, list, steps, rest.length === 0 ? null : also);
}

function warningPart(warnings: readonly string[]): Markup[] {
  if (warnings.length === 0) return [];
  const sentences = warnings.map((text) => printable(text.charAt(0).toUpperCase() + text.slice(1)));
  const title = element("p", {}, element("strong", {}, numbered(warnings.length, "warning")));
  return [element("div", { class: "warnings" }, title, listOf(sentences))];
}

/** Limit of addresses beside the verdict. All of them are under "Proven". */
const MAX_ADDRESSES = 3;

function addressPart({ claims }: Report): Markup[] {
  const addresses = claims === null ? [] : provenAddresses(claims);
  if (addresses.length === 0) return [];
  const shown = addresses.slice(0, MAX_ADDRESSES).map((address) => element("li", {}, element("code", {}, address)));
  const rest = addresses.length - shown.length;
  const title = addresses.length === 1 ? "1 proven address" : `${addresses.length} proven addresses`;
  const list = element("ul", {}, shown, rest > 0 ? element("li", {}, `and ${rest} more`) : null);
  return [element("div", { class: "addresses" }, element("p", {}, element("strong", {}, title)), list)];
}

/** Returns a link to the part about what is not proven, which is further down on a narrow page. */
function openCount(report: Report): Markup {
  const words = unprovenWords(report).flatMap(({ statements }) => statements);
  const count = words.length + unprovenStatements(report).length;
  return element("a", { href: "#not-proven" }, `Not proven: ${count === 1 ? "one thing" : `${count} things`}`);
}

function noticeList(notices: readonly Notice[]): MarkupNode[] {
  const others = notices.filter(({ kind }) => kind !== "warning");
  if (others.length === 0) return [];
  return [
    element(
      "ul",
      { class: "notices" },
      others.map(({ kind, text }) => element("li", { class: `notice-${kind}` }, printable(text))),
    ),
  ];
}

/** Shows what is proven and what is not, side by side. Nothing of rejected evidence is proven. */
function statementsPart(report: Report): Markup {
  const proven = provenStatements(report);
  const open = unprovenStatements(report);
  return element(
    "div",
    { class: "statements" },
    report.claims === null ? null : statementSection("proven", "Proven", foldedList(proven)),
    statementSection("not-proven", "Not proven", [
      ...unprovenWords(report).map(({ heading, statements }) => {
        const title = element("h3", {}, `${capitalized(heading)}:`);
        return element("div", { class: "image-word" }, title, foldedList(statements));
      }),
      listOf(open),
    ]),
  );
}

function statementSection(id: string, title: string, content: readonly Markup[]): Markup {
  const mark = icon({ state: id === "proven" ? "proven" : "open", warnings: [] });
  return titledPart(id, [mark, title], element("div", {}, content));
}

/** Limit of statements that are shown unfolded, so a narrow page soon shows what is not proven. */
const MAX_IN_SIGHT = 12;

function foldedList(statements: readonly string[]): Markup[] {
  const [first, rest] = [statements.slice(0, MAX_IN_SIGHT), statements.slice(MAX_IN_SIGHT)];
  return [listOf(first), ...(rest.length === 0 ? [] : [foldable("", [`and ${rest.length} more`], listOf(rest))])];
}

function evidencePart(pieces: readonly Markup[], report: Report): Markup {
  const believed =
    report.claims === null
      ? "The evidence was rejected. It is shown here in full: do not trust any of it."
      : "The evidence is shown here in full. Trust only what is shown as proven above.";
  return titledPart("evidence", ["Evidence"], element("p", { class: "unverified" }, believed), pieces);
}

function originPart(report: Report): Markup {
  const { policyDigest, tool, verifiedAt, validationTime, format } = report;
  const signed = signedText(report, printable);
  const rows: [string, MarkupNode][] = [
    ["Verified at", printable(verifiedAt)],
    ["Certificates checked as of", printable(validationTime ?? "no time: it could not be read from the evidence")],
    ["Verified by", printable(`${tool.name} ${tool.version}`)],
    ["Policy", policyText(report)],
    ...(policyDigest === null ? [] : [["Policy, SHA-256", shownValue(policyDigest)] as [string, MarkupNode]]),
    ...(signed === null ? [] : [["Who decided", signed] as [string, MarkupNode]]),
    ["Report", printable(format)],
  ];
  return titledPart("origin", ["How it was verified"], valueList(rows));
}

function policyText(report: Report): string {
  const { policy, policyDigest, checks } = report;
  if (policy !== null) return quoted(policy);
  if (isByMakersPolicy(report)) return "the one that came with the evidence, not the caller’s";
  const wasGiven = policyDigest !== null || checks.some(({ id }) => id.startsWith("policy."));
  return wasGiven ? "it has no name" : "none";
}
