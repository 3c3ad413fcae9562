/** What an entry came to, and its one spelling as a line. */
import type { EvidenceVerdict } from "../bootproof.js";
import { CHECK_IDS, type CheckId } from "../checks.js";
import { printableJson } from "../decode/json.js";
import { isGoodVerdict } from "../report/facts.js";
import type { Verdict } from "../report/report.js";
import type { VerifiedAttestation } from "../verify/attestation.js";

/**
 * What depends on entry and setting alone. The members of a line are a public contract (audit/README.md, "A result").
 */
export interface AuditResult {
  /** The entry's place in the input, from 1: of NDJSON the line. */
  readonly n: number;
  /** Of a folder: the file's path inside it. */
  readonly file?: string;
  readonly verdict: Verdict | "malformed";
  /** The checks that failed, each once, in the order of their table. */
  readonly failed: readonly CheckId[];
  /** Rejected for its age alone. */
  readonly stale?: true;
  /** Of what is malformed, or has no boot proof: why. */
  readonly reason?: string;
  /** The deployments of the policy that matched, each once. */
  readonly deployments?: readonly string[];
  /** Rules of the policy that the entry was not asked, being no more than boot proofs or a document. */
  readonly notApplied?: readonly string[];
  /** RFC 3339, of accepted entries: when the oldest and the newest document was made. Not in the line. */
  readonly documentTimes?: readonly [oldest: string, newest: string];
}

/** What evidence came to, wherever it stood. */
export type EntryResult = Omit<AuditResult, "n" | "file">;

/** Whether `verify` would end with exit code 0. */
export function isAccepted({ verdict }: Pick<AuditResult, "verdict">): boolean {
  return isGoodVerdict(verdict);
}

/** One line of JSON, without its line feed: the same bytes for the same entry and setting. */
export function resultLine(result: AuditResult): string {
  const { n, file, verdict, failed, stale, reason, deployments, notApplied } = result;
  return printableJson(
    JSON.stringify({
      n,
      ...(file !== undefined && { file }),
      verdict,
      failed,
      ...(stale && { stale }),
      ...(reason !== undefined && { reason }),
      ...(deployments && { deployments }),
      ...(notApplied && { notApplied }),
    }),
  );
}

/** The result that an entry is none, for the reason. */
export function malformedResult(n: number, reason: string): AuditResult {
  return { n, verdict: "malformed", failed: [], reason };
}

/** What verification came to, in a result. `attestations`: of the boot proofs, or of the document itself. */
export function resultOf(
  { verdict, stale, checks, appraisal }: Pick<EvidenceVerdict, "verdict" | "stale" | "checks" | "appraisal">,
  attestations: readonly (VerifiedAttestation | null)[],
): EntryResult {
  const failed = new Set(checks.filter(({ status }) => status === "fail").map(({ id }) => id));
  const matched = (appraisal?.deployments ?? []).flatMap((deployment) => deployment?.name ?? []);
  const times = attestations.flatMap((attestation) => attestation?.document.timestamp ?? []);
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  const notApplied = appraisal?.notApplied ?? [];
  const isRejected = verdict === "rejected";
  return {
    verdict,
    failed: CHECK_IDS.filter((id) => failed.has(id)),
    ...(stale && { stale }),
    ...(!isRejected && matched.length > 0 && { deployments: [...new Set(matched)] }),
    ...(!isRejected && notApplied.length > 0 && { notApplied }),
    ...(!isRejected && times.length > 0 && { documentTimes: timeTexts(oldest, newest) }),
  };
}

function timeTexts(oldest: number, newest: number): readonly [string, string] {
  const text = new Date(oldest).toISOString();
  return [text, oldest === newest ? text : new Date(newest).toISOString()];
}
