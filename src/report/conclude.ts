/** The last step of every verification, which makes the verdict and the report. */
import { type Appraisal, ageLimit } from "../appraise/appraisal.js";
import type { ParsedPolicy } from "../appraise/parsed-policy.js";
import { toHex, toUtf8 } from "../bytes.js";
import type { Check, CheckSubject, Checklist, Finding } from "../checks.js";
import { sha256 } from "../verify/digest.js";
import {
  type Claims,
  type EvidencePiece,
  type Report,
  type Verdict,
  areStale,
  makeReport,
  refusedReport,
} from "./report.js";

interface Conclusion {
  readonly setting: {
    readonly policy: ParsedPolicy | null;
    readonly policyFrom: "caller" | "bundle";
    readonly acceptance: "standard" | "strict";
    readonly maxAgeMs: number | null;
    readonly context: { readonly now: Date };
  };
  /** Evidence in the order of the report. */
  readonly given: readonly {
    readonly subject: CheckSubject;
    readonly piece: {
      readonly name: string | null;
      readonly value: unknown;
      readonly bytes: Uint8Array | null;
      readonly latestOf: string | null;
    };
  }[];
  readonly checklists: readonly Checklist[];
  /** Verified evidence, with null for each rejected piece. */
  readonly pieces: readonly unknown[];
  readonly appraisal: Appraisal | null;
  /** Checks of provenance. They follow the checks of the policy, because the policy decides what they compare. */
  readonly provenance?: readonly Checklist[];
  readonly validationTime: Date | null;
  /** Makes the claims. It is called only if no evidence was rejected. */
  readonly claims: () => Claims;
}

export interface VerdictAndReport {
  readonly verdict: Verdict;
  readonly stale: boolean;
  /** All checks, without the caller's names. */
  readonly checks: readonly Finding[];
  /** Makes the report. It is asynchronous because of digests and advice. */
  readonly report: () => Promise<Report>;
}

/** Returns the verdict at once. The report is made on demand. */
export function conclude(conclusion: Conclusion): VerdictAndReport {
  const { setting, checklists, pieces, appraisal, provenance = [] } = conclusion;
  const checks: Finding[] = [];
  for (const checklist of checklists) checklist.appendTo(checks);
  for (const checklist of appraisal?.checklists ?? []) checklist.appendTo(checks);
  for (const checklist of provenance) checklist.appendTo(checks);
  const verdict = verdictOf(checks, pieces, callersPolicy(setting));
  const judged = { verdict, stale: isStale(checks, pieces), checks };
  return { ...judged, report: () => reportOf(conclusion, judged) };
}

async function reportOf(conclusion: Conclusion, judged: Omit<VerdictAndReport, "report">): Promise<Report> {
  const { setting, given, appraisal, validationTime, claims } = conclusion;
  const policy = callersPolicy(setting);
  const { verdict, stale, checks } = judged;
  const report = makeReport({
    verdict,
    stale,
    policy: policy?.name ?? null,
    policyDigest: policy && (await digestOf(policy.bytes())),
    signed: policy && policy.signed,
    verifiedAt: setting.context.now,
    validationTime,
    evidence: await evidencePieces(given),
    checks: await reported(checks, given),
    notApplied: appraisal?.notApplied ?? [],
    ...(setting.maxAgeMs !== null && { maxAge: ageLimit(setting.policy?.maxAge ?? null, setting.maxAgeMs)! }),
    claims: verdict === "rejected" ? null : claims(),
  });
  return setting.acceptance === "strict" ? strictReport(report) : report;
}

/**
 * Returns the report for a caller who accepts no warning, neither of the report nor in `others`. Rejects if the texts
 * of warnings cannot be loaded, because the report would look accepted without them.
 */
export async function strictReport(report: Report, others: readonly string[] = []): Promise<Report> {
  if (report.verdict === "rejected") return report;
  const { caveats } = await import("./unproven.js");
  return refusedReport(report, [...others, ...caveats(report)]);
}

/** Returns the caller's policy, or null. A policy that came with the evidence affects neither verdict nor report. */
function callersPolicy({ policy, policyFrom }: Conclusion["setting"]): ParsedPolicy | null {
  return policyFrom === "caller" ? policy : null;
}

function verdictOf(checks: readonly Check[], pieces: readonly unknown[], policy: ParsedPolicy | null): Verdict {
  if (pieces.includes(null) || checks.some((check) => check.status === "fail")) return "rejected";
  return policy === null ? "authentic" : "verified";
}

/** Whether all evidence was verified, and only checks of age failed. */
function isStale(checks: readonly Check[], pieces: readonly unknown[]): boolean {
  return !pieces.includes(null) && areStale(checks.filter((check) => check.status === "fail"));
}

async function reported(checks: readonly Finding[], given: Conclusion["given"]): Promise<Check[]> {
  const names = new Map(given.map(({ subject, piece }) => [subject, piece.name]));
  const advised = checks.some(({ causes }) => causes !== undefined) ? await withAdvice(checks) : checks;
  return advised.map((check) => {
    const name = names.get(check.about ?? check.subject) ?? null;
    if (name === null) return check;
    const { id, subject, about, ...rest } = check;
    return { id, subject, ...(about !== undefined && { about }), name, ...rest };
  });
}

/**
 * Puts advice in the place of causes, and loads it, since only a rejection needs it. If loading fails, as in a browser
 * that is offline, the report is the same without advice.
 */
export async function withAdvice(checks: readonly Finding[]): Promise<Check[]> {
  const loaded = await Promise.all([import("./causes.js"), import("./advice.js")]).catch(() => null);
  return checks.map((check) => {
    const { causes, stale, ...rest } = check;
    if (causes === undefined) return check;
    const advice = loaded && loaded[0].adviceOn(causes, loaded[1].ADVICE);
    return { ...rest, ...(advice !== null && { advice }), ...(stale && { stale }) };
  });
}

/** Lists the evidence. Evidence from one file has the same digest. */
async function evidencePieces(given: Conclusion["given"]): Promise<EvidencePiece[]> {
  const digests = new Map<unknown, string | null>();
  for (const content of new Set(given.map(({ piece }) => contentOf(piece))))
    digests.set(content, await digestOf(content));
  return given.map(({ subject, piece }) => {
    const { name, latestOf } = piece;
    return { subject, name, sha256: digests.get(contentOf(piece))!, ...(latestOf !== null && { latestOf }) };
  });
}

function contentOf({ bytes, value }: Conclusion["given"][number]["piece"]): unknown {
  return bytes ?? value;
}

/** Returns SHA-256 in hex of bytes or text, and null for any other value, which has no bytes. */
async function digestOf(value: unknown): Promise<string | null> {
  if (typeof value === "string") return toHex(await sha256(toUtf8(value)));
  return value instanceof Uint8Array ? toHex(await sha256(value)) : null;
}
