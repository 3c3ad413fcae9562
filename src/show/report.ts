/** The document of a report: verdict, checks, what is proven and what is not (show/README.md, "Reports"). */
import type { Check } from "../checks.js";
import { type Notice, countsOf, headlineFacts, isBad, numbered, warningsOf } from "../report/facts.js";
import { labelOf } from "../report/labels.js";
import { printable, printableStart } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { grouped, provenAddresses, provenRows, provenStatements, unprovenWords } from "../report/statements.js";
import { unprovenStatements } from "../report/unproven.js";
import { type Look, adviceRows, checkSections, comparedRows, rowOfCheck, statusRow, whoText } from "./checks.js";
import {
  type Block,
  type Doc,
  type Row,
  type Section,
  type VerdictLine,
  labelled,
  rows,
  section,
  words,
} from "./doc.js";
import { factLines, originLines, verdictSentence, verdictTone } from "./verdict.js";

const MAX_PIECES = 8;

export function reportDoc(report: Report, notices: readonly Notice[], look: Look): Doc {
  return {
    sections: [
      { blocks: [...headBlocks(report, notices, look), evidenceRows(report, look)] },
      ...checkSections(report, look),
      ...provenSections(report, look),
      ...openSections(report, look),
    ],
  };
}

export function provenSections(report: Report, look: Pick<Look, "hex" | "detail">): Section[] {
  return section("Proven", [{ kind: "list", items: provenStatements(report, look) }]);
}

/** Returns what is not proven, and first the statements of each speaker that nothing vouches for. */
export function openParts(
  report: Report,
  look?: Pick<Look, "hex" | "detail">,
): { readonly heading: string; readonly statements: readonly string[] }[] {
  const words = unprovenWords(report, look).map(({ heading, statements }) => {
    return { heading: `Not proven: ${heading}`, statements };
  });
  return [...words, { heading: "Not proven", statements: unprovenStatements(report) }];
}

export function openSections(report: Report, look: Pick<Look, "hex" | "detail">): Section[] {
  return openParts(report, look).flatMap(({ heading, statements }) =>
    section(heading, [{ kind: "list", items: statements }]),
  );
}

function verdictBlock(report: Report, notices: readonly Notice[], withCause = true): VerdictLine {
  const text = verdictSentence(report, notices, withCause);
  return { kind: "verdict", text, tone: verdictTone(text) };
}

function warningBlocks(texts: readonly string[]): Block[] {
  return texts.map((text) => ({ kind: "warning", text }));
}

/** Returns the verdict, the warnings, the notices, the facts of the evidence, and the origin of the report. */
export function headBlocks(report: Report, notices: readonly Notice[], look: Look): Block[] {
  return [
    verdictBlock(report, notices),
    ...besideVerdict(report, notices),
    ...factTexts(report, notices, look).map((line) => words(line)),
  ];
}

function besideVerdict(report: Report, notices: readonly Notice[]): Block[] {
  return [
    ...warningBlocks(warningsOf(report, notices)),
    ...notices.flatMap(({ kind, text }): Block[] => {
      if (kind === "warning") return [];
      return [kind === "item" ? { kind: "list", items: [text] } : words(text)];
    }),
  ];
}

function factTexts(report: Report, notices: readonly Notice[], look: Look): string[] {
  const time = report.validationTime === null ? [] : [`certificates checked as of ${printable(report.validationTime)}`];
  const lines = [...factLines(report), [countsOf(report, notices), ...time].join(", "), ...originLines(report, look)];
  return lines.filter((line) => line !== "");
}

/** Most addresses beside the verdict. All of them are under "Proven". */
const MAX_ADDRESSES = 3;

/** Returns the head for a page: age, failures and addresses are above the warnings, which may be many. */
export function pageBlocks(report: Report, notices: readonly Notice[], look: Look): Block[] {
  const { age } = headlineFacts(report);
  const facts = factTexts(report, notices, look).filter((text) => text !== age);
  const addresses = report.claims === null ? [] : provenAddresses(report.claims);
  const shown = addresses.slice(0, MAX_ADDRESSES);
  const rest = addresses.length - shown.length;
  const title = addresses.length === 1 ? "1 proven address" : `${addresses.length} proven addresses`;
  return [
    verdictBlock(report, notices, false),
    ...(age === null ? [] : [words(age, "strong")]),
    ...listed(firstFailures(report, { ...look, detail: "normal" })),
    ...listed(labelled(title, [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])])),
    ...besideVerdict(report, notices),
    ...facts.map((text) => words(text)),
  ];
}

function listed(list: readonly Row[]): Block[] {
  return list.length === 0 ? [] : [rows(list)];
}

/** Most failed checks below the first, each of which is one line. */
const MAX_FAILURES = 4;

/**
 * Returns the first failed check with its advice. If it compared no values, the failed check of its subject that did
 * stands before the advice, which may have many steps. Each other failed check is a line, or counted.
 */
function firstFailures(report: Report, look: Look): Row[] {
  const [first, ...others] = report.checks.filter(isBad);
  if (first === undefined) return [];
  const hasValues = ({ expected, about }: Check): boolean => expected !== undefined && about === first.about;
  const whole = [first, ...(hasValues(first) ? [] : others.filter(hasValues).slice(0, 1))];
  const rest = others.filter((check) => !whole.includes(check));
  const lines = rest.slice(0, rest.length === MAX_FAILURES + 1 ? rest.length : MAX_FAILURES);
  const left = rest.length - lines.length;
  const lineOf = (check: Check): Row =>
    statusRow(check, `${labelOf(check.about ?? check.subject, report)}: ${check.detail}`);
  const shown = new Set<string>();
  return [
    ...whole.map((check) => ({ ...lineOf(check), below: comparedRows(check, look) })),
    ...[...whole].reverse().flatMap((check) => adviceRows(check, shown)),
    ...lines.map(lineOf),
    ...(left > 0 ? [{ text: `and ${left} more that failed` }] : []),
  ];
}

function evidenceRows({ evidence }: Report, { detail, hex }: Look): Block {
  const named = evidence.filter(({ name }) => name !== null);
  if (named.length > MAX_PIECES && detail !== "verbose")
    return rows([{ label: "evidence:", text: `${named.length} items` }]);
  return rows(
    named.map(({ subject, sha256 }, index) => {
      const digest = sha256 === null ? "" : ` (SHA-256 ${hex(sha256)})`;
      return { label: index === 0 ? "evidence:" : "", text: labelOf(subject, { evidence }) + digest };
    }),
  );
}

/** The document of the verdict and the failed checks, for commands whose result is not the report. */
export function failuresDoc(report: Report, look: Look): Doc {
  const failed = report.checks.filter((check) => check.status === "fail");
  const list = failed.map((check) =>
    rowOfCheck(check, look, { prefix: `${labelOf(check.about ?? check.subject, report)}: ` }),
  );
  const head = [verdictBlock(report, []), ...warningBlocks(warningsOf(report, []))];
  return { sections: [{ blocks: head }, ...(list.length > 0 ? [{ blocks: [rows(list)] }] : [])] };
}

/** The document of the verdict alone, as the end of a text that is longer than the screen. */
export function verdictDoc(report: Report, notices: readonly Notice[]): Doc {
  return { sections: [{ blocks: [verdictBlock(report, notices, false)] }] };
}

/** The document of the verdict with the first failure, or with the reasons for which the caller refuses it. */
export function briefDoc(report: Report, notices: readonly Notice[], look: Look): Doc {
  const compared = report.checks.filter(({ status }) => status === "fail").slice(0, 1);
  const blocks = [
    { ...verdictBlock(report, notices), lines: 4 },
    rows(compared.flatMap((check) => comparedRows(check, look))),
    ...warningBlocks(report.refusedFor ?? []),
  ];
  return { sections: [{ blocks }] };
}

/** Most lines of each part of a summary, and most failures and rows. Warnings are never cut. */
const MOST = { verdict: 4, fact: 3, failures: 3, failure: 4, advice: 3, proven: 10, open: 4, text: 400 } as const;
const MORE = "More: --verbose, or a pipe or file without --summary.";

/** The document of a report in a few lines. Each part has at most a number of them, and the rest is counted. */
export function summaryDoc(report: Report, notices: readonly Notice[], look: Look): Doc {
  const counts = `${countsOf(report, notices)}; evidence: ${numbered(report.evidence.length, "item")}`;
  const cut = (text: string, lines: number): Block => ({ ...words(text), lines });
  const proven = provenRows(report, look);
  const rest = proven.length - MOST.proven;
  const head = [
    { ...verdictBlock(report, notices, false), lines: MOST.verdict },
    ...warningBlocks(warningsOf(report, notices)),
    // Of rejected evidence nothing is proven, as the verdict says.
    ...[...((report.claims && factLines(report, 1)) ?? []), counts, ...originLines(report, look)].map((text) =>
      cut(text, MOST.fact),
    ),
  ];
  return {
    sections: [
      { blocks: head },
      ...failureSections(report, look),
      ...section("Proven", [
        { kind: "list", items: proven.slice(0, MOST.proven), lines: 1 },
        ...(rest > 0 ? [words(`and ${rest} more`)] : []),
      ]).filter(() => proven.length > 0),
      ...section("Not proven", [cut(topics(unprovenStatements(report)), MOST.open)]),
      { blocks: [words(MORE)] },
    ],
  };
}

/** Returns the first failures, and the number of the others. */
function failureSections(report: Report, look: Look): Section[] {
  const failed = report.checks.filter(({ status }) => status === "fail");
  if (failed.length === 0) return [];
  const shown = [...grouped(failed, ({ id, detail }) => `${id}\n${detail}`).values()].slice(0, MOST.failures);
  const rest = failed.length - shown.flat().length;
  const list = shown.map((group) => failureRow(group, report, look));
  return [{ blocks: [rows(list), ...(rest > 0 ? [words(`and ${rest} more failed`)] : [])] }];
}

function failureRow(group: readonly Check[], report: Report, look: Look): Row {
  const [first] = group as [Check];
  const text = `${printableStart(first.detail, MOST.text)} (${whoText(group, report)})`;
  const advice = adviceRows(first).map((row) => ({ ...row, lines: MOST.advice }));
  return { ...statusRow(first, text), lines: MOST.failure, below: [...comparedRows(first, look), ...advice] };
}

/** Returns the words before the colon of each statement, or a single statement in full. */
function topics(statements: readonly string[]): string {
  return statements.length === 1
    ? statements[0]!
    : statements.map((text) => /^(?:boot\[.*?\]: )?[^:]*/.exec(text)![0]).join("; ");
}
