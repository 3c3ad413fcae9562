/** How a verification is shown, in the page's file and where a page verifies again: the document, with the evidence. */
import { bundleNotices } from "../bundle/text.js";
import { subjectLabel } from "../checks.js";
import { type EvidenceInput, NamedEvidence, inputPieces } from "../inputs.js";
import type { Described } from "../inspect/described.js";
import { contentRows } from "../inspect/text.js";
import { type Notice, numbered } from "../report/facts.js";
import { printable, quoted } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { provenStatements } from "../report/statements.js";
import { chainSections } from "../show/chain.js";
import { rows, section, words } from "../show/doc.js";
import { writeHtml } from "../show/html.js";
import { type MarkupNode, element } from "../show/markup.js";
import { openParts, openSections, pageBlocks } from "../show/report.js";
import { lookOf } from "../show/text.js";
import { verdictSentence } from "../show/verdict.js";
import { evidenceRows } from "./evidence.js";
import type { JudgedPage } from "./verify.js";

export interface Shown {
  readonly report: Report;
  readonly evidence: EvidenceInput;
  readonly notices: readonly Notice[];
}

const LOOK = lookOf("normal");
/** The number of proven statements that are shown unfolded, so that a narrow page soon shows what is not proven. */
const MAX_IN_SIGHT = 12;

/** Returns the content of `main`: a section with the one `h1`, then a section for each part. */
export async function reportView({ report, evidence, notices }: Shown): Promise<MarkupNode[]> {
  const isBare = evidence instanceof NamedEvidence || evidence instanceof Uint8Array;
  const pieces = await evidenceRows(inputPieces(evidence), isBare, report);
  const open = openParts(report).flatMap(({ statements }) => statements).length;
  const link = element("a", { href: "#not-proven" }, `Not proven: ${open === 1 ? "one thing" : `${open} things`}`);
  const isRejected = report.claims === null;
  const believed = isRejected
    ? "The evidence was rejected. It is shown here in full: do not trust any of it."
    : "The evidence is shown here in full. Trust only what is shown as proven above.";
  const claims = isRejected ? [] : contentRows(report.claims as unknown as Described);
  return [
    ...writeHtml({ sections: [{ blocks: pageBlocks(report, notices, lookOf("verbose")) }] }),
    ...(isRejected ? [] : [element("p", { class: "left" }, link)]),
    element(
      "div",
      { class: "statements" },
      ...writeHtml({
        sections: section("Proven", [{ kind: "list", items: provenStatements(report), inSight: MAX_IN_SIGHT }]),
      }),
      element("div", { id: "not-proven" }, writeHtml({ sections: openSections(report, LOOK) })),
    ),
    ...writeHtml({
      sections: [
        ...chainSections(report),
        ...section("What the report claims, in full", [rows(claims)], true),
        ...section(`Evidence: ${numbered(report.evidence.length, "item")}`, [words(believed), rows(pieces)]),
      ],
    }),
  ];
}

export function shownReport(verified: JudgedPage, notes: readonly Notice[] = []): Promise<MarkupNode[]> {
  const { evidence, report, bundle } = verified;
  return reportView({ report, evidence, notices: [...bundleNotices(bundle, report.verdict), ...notes] });
}

/** Returns the title. It begins with the verdict, because a narrow tab shows only its beginning. */
export function titleOf({ report, bundle }: Pick<JudgedPage, "report" | "bundle">, about?: string | null): string {
  const [head] = verdictSentence(report, bundleNotices(bundle, report.verdict), false).split(":");
  const verdict = head!.replace("AUTHENTIC", "AUTHENTIC, of anybody");
  return titleText(`${verdict}: ${about ? printable(about) : subjectOf(report)}`);
}

export function titleText(text: string): string {
  return `${text} – bootproof`;
}

/** Returns the name that the caller gave the evidence, with the name of the deployment if exactly one matched. */
function subjectOf(report: Report): string {
  const boots = report.evidence.filter(({ subject }) => subject.startsWith("boot["));
  const [first] = boots;
  const named = boots.length === 1 ? nameOf(first!) : `${boots.length} boot proofs`;
  const deployments = report.claims?.bootProofs.flatMap(({ deployment }) => deployment ?? []);
  const [deployment, ...others] = new Set(deployments);
  return deployment === undefined || others.length > 0 ? named : `${named}, deployment ${quoted(deployment)}`;
}

function nameOf({ subject, name }: Report["evidence"][number]): string {
  const label = printable(subjectLabel(subject, name));
  return label.startsWith(`${subject} = `) ? label.slice(subject.length + 3) : label;
}
