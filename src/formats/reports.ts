/**
 * The output formats of reports: one row each, total over the names in `report/report.ts`. What is large is loaded when
 * it is asked for.
 */
import { type BundleFacts, bundleNotices } from "../bundle/text.js";
import { type JudgedEvidence, type VerifyOptions, givenPieces, isDocument, plainOptions } from "../inputs.js";
import { renderJson } from "../report/json.js";
import type { Detail, TextOptions } from "../report/layout.js";
import type { Report, ReportFormat } from "../report/report.js";
import { renderSummary } from "../report/summary.js";
import { type Notice, renderReport } from "../report/text.js";
import type { SigningJwk } from "./signing-key.js";

/** A report, and what it is of. */
export interface Judged {
  readonly report: Report;
  /** What became of the bundle that the evidence came in; null where it came in none. */
  readonly bundle: BundleFacts | null;
  /** As it was given. */
  readonly evidence: JudgedEvidence;
  /** As they were given; of a policy that is undefined, the bundle's own. */
  readonly options: Omit<VerifyOptions, "policy"> & { readonly policy: VerifyOptions["policy"] | undefined };
}

interface ReportOptions extends Omit<TextOptions, "detail"> {
  readonly detail?: Detail;
  /** Of `ear`: what signs it. */
  readonly earKey?: SigningJwk | undefined;
}

type Renderer = (judged: Judged, options: ReportOptions) => string | Promise<string>;

/** Each ends with a line feed. */
export const REPORT_RENDERERS: Readonly<Record<ReportFormat, Renderer>> = {
  text: (judged, { detail = "normal", ...options }) => {
    const { report } = judged;
    return detail === "summary"
      ? renderSummary(report, options, noticesOf(judged))
      : renderReport(report, { ...options, detail }, noticesOf(judged));
  },
  json: ({ report, bundle }) => renderJson(bundle === null ? report : withBundle(report, bundle)),
  html: async ({ report, bundle, evidence, options }) => {
    // The one is loaded from a file of its own, which knows no class of this one: what it gets is plain data.
    const [{ renderPage }, { PAGE_SCRIPT }] = await Promise.all([
      import("../page/page.js"),
      import("bootproof/page/script"),
    ]);
    const given = bundle === null ? evidence : bundleBytes(evidence);
    return renderPage({ evidence: given, options: plainOptions(options), report }, { script: PAGE_SCRIPT });
  },
  junit: async (judged) => (await import("./junit.js")).renderJunit(judged.report, noticesOf(judged)),
  sarif: async (judged) => (await import("./sarif.js")).renderSarif(judged.report, noticesOf(judged)),
  github: async (judged) => (await import("./github.js")).renderGithub(judged.report, noticesOf(judged)),
  markdown: async (judged) => (await import("./markdown.js")).renderMarkdown(judged.report, noticesOf(judged)),
  ear: async ({ report, bundle }, { earKey }) => {
    const { earToken } = await import("./ear.js");
    return earToken(report, { bundle, ...(earKey && { key: earKey }) });
  },
  vsa: async ({ report, bundle, evidence }) => {
    const { vsaStatement } = await import("./vsa.js");
    // Taken apart here: what is loaded later may know classes of its own, in a bundle.
    return vsaStatement(report, { pieces: givenPieces(evidence), isDocument: isDocument(evidence) }, bundle);
  },
};

/** What is to be said beside the verdict, in whatever format. */
function noticesOf({ report, bundle }: Judged): readonly Notice[] {
  return bundle === null ? [] : bundleNotices(bundle, report.verdict);
}

/** The bundle's file, which each of its pieces names. */
function bundleBytes(evidence: JudgedEvidence): { readonly bundle: Uint8Array; readonly name: string } {
  const { bytes, name } = givenPieces(evidence)[0]!.piece;
  return { bundle: bytes!, name: name! };
}

/** What became of the bundle stands beside the report. */
function withBundle(report: Report, { policyFrom, packed }: BundleFacts): Report {
  const whole = { ...report, bundle: { policyFrom, packed } };
  return whole;
}
