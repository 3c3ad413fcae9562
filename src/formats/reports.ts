/** The output formats of reports, one row for each of `REPORT_FORMATS`. Large formats are loaded on demand. */
import { type BundleFacts, bundleNotices, ofPage } from "../bundle/text.js";
import { type EvidenceInput, type VerifyOptions, inputPieces, isDocument } from "../inputs.js";
import type { Notice } from "../report/facts.js";
import { renderJson } from "../report/json.js";
import type { Report, ReportFormat } from "../report/report.js";
import type { Detail } from "../show/checks.js";
import { type SummaryOptions, type TextOptions, renderReport, renderSummary, verdictBrief } from "../show/text.js";
import type { SigningJwk } from "./signing-key.js";

export interface VerifiedSource {
  readonly report: Report;
  /** The bundle that contained the evidence. Null without one. */
  readonly bundle: BundleFacts | null;
  readonly evidence: EvidenceInput;
  /** The name of the page that contained the evidence, if any. */
  readonly page?: string;
  /** The options of the verification. Their policy is the caller's, or that of the bundle. */
  readonly options: VerifyOptions;
}

interface ReportOptions extends Omit<TextOptions, "detail">, SummaryOptions {
  readonly detail?: Detail;
  readonly earKey?: SigningJwk | undefined;
  readonly earAlg?: string | undefined;
  /** What a page is about, and the name of its file. */
  readonly title?: string | undefined;
  readonly file?: string | undefined;
}

type Renderer = (judged: VerifiedSource, options: ReportOptions) => string | Promise<string>;

/** The text of each format ends with a line feed. */
export const REPORT_RENDERERS: Readonly<Record<ReportFormat, Renderer>> = {
  text: (judged, { detail = "normal", ...options }) => {
    const { report, page } = judged;
    const text =
      detail === "summary"
        ? renderSummary(report, options, noticesOf(judged))
        : renderReport(report, { ...options, detail }, noticesOf(judged));
    return ofPage(page, "was judged") + text;
  },
  json: (judged) => renderJson(withWhatStandsBeside(judged)),
  html: async ({ report, bundle, evidence, options }, { title, file }) => {
    // The page is a separate build with its own classes, so it gets plain data.
    const [{ plainOptions }, { renderPage }] = await Promise.all([
      import("../plain-settings.js"),
      import("../page/page.js"),
    ]);
    return renderPage({
      evidence,
      options: plainOptions(options),
      report,
      bundle,
      title: title ?? null,
      file: file ?? null,
    });
  },
  junit: async (judged) => (await import("./junit.js")).renderJunit(judged.report, noticesOf(judged)),
  sarif: async (judged) => (await import("./sarif.js")).renderSarif(judged.report, noticesOf(judged)),
  github: async (judged) => (await import("./github.js")).renderGithub(judged.report, noticesOf(judged)),
  markdown: async (judged) => (await import("./markdown.js")).renderMarkdown(judged.report, noticesOf(judged)),
  ear: async ({ report, bundle }, { earKey, earAlg }) => {
    const { earToken } = await import("./ear.js");
    return earToken(report, { bundle, ...(earKey && { key: earKey }), ...(earAlg !== undefined && { alg: earAlg }) });
  },
  vsa: async (judged) => {
    const { report, bundle, evidence } = judged;
    const { vsaStatement } = await import("./vsa.js");
    // The evidence is unpacked here, since a module that is loaded later may have its own classes in the bundled
    // command.
    return vsaStatement(report, inputPieces(evidence), isDocument(evidence), bundle);
  },
};

/** Returns the verdict in at most six lines, for where the report does not show it. */
export function briefOf(judged: Pick<VerifiedSource, "report" | "bundle">, options: TextOptions): string {
  return verdictBrief(judged.report, noticesOf(judged), options);
}

function noticesOf({ report, bundle }: Pick<VerifiedSource, "report" | "bundle">): readonly Notice[] {
  return bundleNotices(bundle, report.verdict);
}

function withWhatStandsBeside({ report, bundle }: VerifiedSource): Report {
  const { policyFrom, packed, otherPolicy } = bundle ?? {};
  const facts = { policyFrom, packed, ...(otherPolicy && { otherPolicy }) };
  return Object.assign({ ...report }, bundle !== null && { bundle: facts });
}
