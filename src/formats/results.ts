/** The parts that EAR and VSA share. */
import { type BundleFacts, bundleNotices } from "../bundle/text.js";
import { fromHex, toBase64 } from "../bytes.js";
import { isBad, warningsOf, whyNotGood } from "../report/facts.js";
import type { Report } from "../report/report.js";
import { unprovenWords } from "../report/statements.js";
import { unprovenStatements } from "../report/unproven.js";

/** The tool as a package URL (ECMA-427), which no other tool has. */
export const TOOL_URI = "pkg:npm/bootproof";
/** Name of our own claim in an EAR, and of our own member in a VSA. As a URI, it collides with no other name. */
export const OWN_CLAIM = `${TOOL_URI}#report`;

/**
 * Returns the report without passed checks, for readers who know neither EAR nor VSA. `warnings` is what weakens the
 * verdict, in sentences.
 */
export function ownClaim(
  report: Report,
  bundle: BundleFacts | null,
): Readonly<Record<string, unknown>> & { readonly warnings: readonly string[] } {
  const notices = bundleNotices(bundle, report.verdict);
  return {
    verdict: report.verdict,
    stale: report.stale,
    policy: report.policy,
    policyDigest: report.policyDigest,
    ...(bundle !== null && { policyFrom: bundle.policyFrom }),
    verifiedAt: report.verifiedAt,
    validationTime: report.validationTime,
    evidence: report.evidence,
    failed: report.checks.filter(isBad),
    warningChecks: report.checks.filter(({ status }) => status === "warn"),
    warnings: warningsOf(report, notices),
    ...(report.refusedFor && { refusedFor: report.refusedFor }),
    notes: notices.filter(({ kind }) => kind !== "warning").map((notice) => notice.text),
    notProven: [
      ...unprovenWords(report).flatMap(({ heading, statements }) => statements.map((each) => `${heading}: ${each}`)),
      ...unprovenStatements(report),
    ],
  };
}

/** Whether every check passed under the caller's own policy, as opposed to one that came with the evidence. */
export function meetsCallersPolicy({ verdict, checks, claims }: Report, bundle: BundleFacts | null): boolean {
  return verdict === "verified" && claims !== null && !checks.some(isBad) && bundle?.policyFrom !== "bundle";
}

/**
 * Returns why the evidence does not pass a policy of the caller, or is not accepted although it passes. Null otherwise.
 */
export function whyNotPassed(report: Report, bundle: BundleFacts | null): string | null {
  if (bundle?.policyFrom === "bundle") return "the policy came with the bundle: the bundle's maker chose it";
  if (report.verdict === "authentic") return "no policy was given";
  if (report.claims?.bootProofs.some(({ image }) => image.debug) === true)
    return "debug mode was found and allowed: nothing about the code is proven";
  if (!meetsCallersPolicy(report, bundle)) return "the evidence was rejected";
  const refusal = whyNotGood(report);
  if (refusal !== null) return refusal;
  const { notApplied = [] } = report;
  return notApplied.length === 0 ? null : `rules of the policy were not applied: ${notApplied.join(", ")}`;
}

/** Returns the index of a boot proof by its subject. NaN for other evidence, of which no claims are. */
export function bootIndex(subject: string): number {
  return Number(/^boot\[(\d+)\]$/.exec(subject)?.[1]);
}

/** Returns the digest of the policy as a URI (RFC 6920). Null if the digest is not known. */
export function policyUri({ policyDigest }: Report): string | null {
  return policyDigest === null ? null : digestUri(policyDigest);
}

/** Returns the URI of RFC 6920 section 3, or null if the text is not a SHA-256. */
export function digestUri(hex: string): string | null {
  const bytes = fromHex(hex);
  return bytes?.length === 32 ? `ni:///sha-256;${toBase64url(bytes)}` : null;
}

export function toBase64url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
