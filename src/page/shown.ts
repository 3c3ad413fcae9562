/** How a verification is shown. A page's file shows it in the same way as a page that verifies again. */
import { bundleNotices } from "../bundle/text.js";
import { subjectLabel } from "../checks.js";
import type { Notice } from "../report/facts.js";
import { printable, quoted } from "../report/printable.js";
import type { Report } from "../report/report.js";
import type { MarkupNode } from "../show/markup.js";
import { verdictSentence } from "../show/verdict.js";
import type { JudgedPage } from "./verify.js";
import { reportView } from "./view.js";

export function shownReport(verified: JudgedPage, notes: readonly Notice[] = []): Promise<MarkupNode[]> {
  const { evidence, report } = verified;
  return reportView({ report, evidence, notices: [...noticesOf(verified), ...notes] });
}

function noticesOf({ bundle, report }: JudgedPage): Notice[] {
  return bundle === null ? [] : bundleNotices(bundle, report.verdict);
}

/** Returns the title. It begins with the verdict, because a narrow tab shows only its beginning. */
export function titleOf(verified: JudgedPage, about?: string | null): string {
  const [head] = verdictSentence(verified.report, noticesOf(verified), false).split(":");
  const verdict = head!.replace("AUTHENTIC", "AUTHENTIC, of anybody");
  return titleText(`${verdict}: ${about ? printable(about) : subjectOf(verified.report)}`);
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
