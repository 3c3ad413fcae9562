/**
 * The output formats of reports: one row each, total over the names in `report/report.ts`. What is large is loaded when
 * it is asked for.
 */
import { type BundleFacts, bundleNotices } from "../bundle/text.js";
import { type EvidenceInput, type VerifyOptions, inputPieces, isDocument } from "../inputs.js";
import { type Notice, butsOf } from "../report/facts.js";
import { renderJson } from "../report/json.js";
import type { Detail, TextOptions } from "../report/layout.js";
import type { Report, ReportFormat } from "../report/report.js";
import { renderSummary } from "../report/summary.js";
import { renderReport } from "../report/text.js";
import type { SigningJwk } from "./signing-key.js";

/** A report, and what it is of. */
export interface VerifiedSource {
  readonly report: Report;
  /** What became of the bundle that the evidence came in; null where it came in none. */
  readonly bundle: BundleFacts | null;
  /** As it was given. */
  readonly evidence: EvidenceInput;
  /** As they were given; of a policy that is undefined, the bundle's own. */
  readonly options: Omit<VerifyOptions, "policy"> & { readonly policy: VerifyOptions["policy"] | undefined };
  /** The caller refuses what has a BUT. */
  readonly failsOnWarning?: boolean;
}

/** Why the caller refuses evidence whose verdict is good: its BUTs. Empty where it is not refused. */
export function refusalOf({ report, bundle, failsOnWarning = false }: VerifiedSource): readonly string[] {
  if (!failsOnWarning || report.verdict === "rejected") return [];
  return butsOf(report, bundle === null ? [] : bundleNotices(bundle, report.verdict));
}

const REFUSED = "REFUSED: a BUT is a failure here (--fail-on-warning).";

interface ReportOptions extends Omit<TextOptions, "detail"> {
  readonly detail?: Detail;
  /** Of `ear`: what signs it. */
  readonly earKey?: SigningJwk | undefined;
}

type Renderer = (judged: VerifiedSource, options: ReportOptions) => string | Promise<string>;

/** Each ends with a line feed. */
export const REPORT_RENDERERS: Readonly<Record<ReportFormat, Renderer>> = {
  text: (judged, { detail = "normal", ...options }) => {
    const { report } = judged;
    return detail === "summary"
      ? renderSummary(report, options, noticesOf(judged))
      : renderReport(report, { ...options, detail }, noticesOf(judged));
  },
  json: (judged) => renderJson(withWhatStandsBeside(judged)),
  html: async ({ report, bundle, evidence, options }) => {
    // renderPage may be in a bundle of its own, with other copies of all classes: it gets plain data.
    const [{ plainOptions }, { renderPage }, { PAGE_SCRIPT }] = await Promise.all([
      import("../plain-settings.js"),
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
  vsa: async (judged) => {
    const { report, bundle, evidence } = judged;
    const { vsaStatement } = await import("./vsa.js");
    // Taken apart here: what is loaded later may know classes of its own, in a bundle.
    const shown = { pieces: inputPieces(evidence), isDocument: isDocument(evidence) };
    return vsaStatement(report, shown, bundle, refusalOf(judged).length > 0 ? REFUSED : null);
  },
};

/** What is to be said beside the verdict, in whatever format. */
function noticesOf(judged: VerifiedSource): readonly Notice[] {
  const { report, bundle } = judged;
  return [
    ...(bundle === null ? [] : bundleNotices(bundle, report.verdict)),
    ...(refusalOf(judged).length > 0 ? [{ kind: "refused", text: REFUSED } as const] : []),
  ];
}

/** The bundle's file, which each of its pieces names. */
function bundleBytes(evidence: EvidenceInput): { readonly bundle: Uint8Array; readonly name: string } {
  const { bytes, name } = inputPieces(evidence)[0]!.piece;
  return { bundle: bytes!, name: name! };
}

/** What became of the bundle, and why the caller refuses the evidence, beside the report. */
function withWhatStandsBeside(judged: VerifiedSource): Report {
  const { report, bundle } = judged;
  const refusedFor = refusalOf(judged);
  const { policyFrom, packed } = bundle ?? {};
  const whole = {
    ...report,
    ...(bundle !== null && { bundle: { policyFrom, packed } }),
    ...(refusedFor.length > 0 && { refusedFor }),
  };
  return whole;
}
