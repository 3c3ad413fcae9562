/** What an entry came to, and its one spelling as a line. */
import { CHECK_IDS, type CheckId } from "../checks.js";
import { printableJson } from "../decode/json.js";
import type { Report, Verdict } from "../report/report.js";

/** What depends on entry and setting alone. The members of a line are a public contract (README.md, "A result"). */
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
  /** RFC 3339, of accepted entries: when the oldest and the newest document was made. Not in the line. */
  readonly documentTimes?: readonly [oldest: string, newest: string];
}

/** What evidence came to, wherever it stood. */
export type JudgedEvidence = Omit<AuditResult, "n" | "file">;

/** Whether `verify` would end with exit code 0. */
export function isAccepted({ verdict }: Pick<AuditResult, "verdict">): boolean {
  return verdict === "verified" || verdict === "authentic";
}

/** One line of JSON, without its line feed: the same bytes for the same entry and setting. */
export function resultLine({ n, file, verdict, failed, stale, reason, deployments }: AuditResult): string {
  return printableJson(
    JSON.stringify({
      n,
      ...(file !== undefined && { file }),
      verdict,
      failed,
      ...(stale && { stale }),
      ...(reason !== undefined && { reason }),
      ...(deployments && { deployments }),
    }),
  );
}

/** The result that an entry is none, for the reason. */
export function malformedResult(n: number, reason: string): AuditResult {
  return { n, verdict: "malformed", failed: [], reason };
}

/** What a report comes to in a result. */
export function resultOf({ verdict, stale, checks, claims }: Report): JudgedEvidence {
  const failed = new Set(checks.filter(({ status }) => status === "fail").map(({ id }) => id));
  const boots = claims?.bootProofs ?? [];
  const deployments = new Set(boots.map(({ deployment }) => deployment).filter((name) => name !== null));
  const times = boots.map(({ hardware }) => hardware.documentTime).sort();
  return {
    verdict,
    failed: CHECK_IDS.filter((id) => failed.has(id)),
    ...(stale && { stale }),
    ...(deployments.size > 0 && { deployments: [...deployments] }),
    ...(times.length > 0 && { documentTimes: [times[0]!, times.at(-1)!] as const }),
  };
}
