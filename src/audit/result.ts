import type { EvidenceVerdict } from "../bootproof.js";
import { CHECK_IDS, type CheckId } from "../checks.js";
import { printableJson } from "../decode/json.js";
import type { Report, Verdict } from "../report/report.js";
import type { VerifiedAttestation } from "../verify/attestation.js";

/**
 * A result. It depends only on entry and setting. The members of a line are a public contract (audit/README.md, "A
 * result").
 */
export interface AuditResult {
  /** Number of the entry in the input, from 1. In a file of lines, it is the number of the line. */
  readonly n: number;
  /** Path of the file inside its folder, if the input is a folder. */
  readonly file?: string;
  readonly verdict: Verdict | "malformed";
  /** The failed checks, each once, in the order of the table of checks. */
  readonly failed: readonly CheckId[];
  /** Present if the entry is rejected only because of its age. */
  readonly stale?: true;
  /** Present if there are expectations but none for this entry, which was therefore compared with nothing. */
  readonly expected?: false;
  /** Why an entry is malformed, has no boot proof, or cannot be compared with its expectation. */
  readonly reason?: string;
  /** The policy's deployments that matched, each once. */
  readonly deployments?: readonly string[];
  /** Warnings for which an entry with a good verdict is not accepted, if the setting's acceptance is `strict`. */
  readonly refusedFor?: readonly string[];
  /** Rules of the policy that were not applied, because the entry has only boot proofs or is a bare document. */
  readonly notApplied?: readonly string[];
  /**
   * Times of the oldest and the newest document of an accepted entry, in RFC 3339. The written line leaves them out.
   */
  readonly documentTimes?: readonly [oldest: string, newest: string];
}

export type EntryResult = Omit<AuditResult, "n" | "file" | "expected">;

/** Returns one line of JSON, without its line feed. The same entry and setting give the same bytes. */
export function resultLine(result: AuditResult): string {
  const { n, file, verdict, failed, stale, expected, reason, deployments, refusedFor, notApplied } = result;
  return printableJson(
    JSON.stringify({
      n,
      ...(file !== undefined && { file }),
      verdict,
      failed,
      ...(stale && { stale }),
      ...(expected === false && { expected }),
      ...(reason !== undefined && { reason }),
      ...(deployments && { deployments }),
      ...(refusedFor && { refusedFor }),
      ...(notApplied && { notApplied }),
    }),
  );
}

export function malformedResult(n: number, reason: string): AuditResult {
  return { n, verdict: "malformed", failed: [], reason };
}

/** Returns the result of a judged entry. `attestations` are those of its boot proofs, or its bare document. */
export async function resultOf(
  {
    verdict,
    stale,
    checks,
    appraisal,
    report,
  }: Omit<EvidenceVerdict, "blamed" | "bootProofs" | "appProofs" | "activity" | "provenance">,
  attestations: readonly (VerifiedAttestation | null)[],
  acceptance: "standard" | "strict",
): Promise<EntryResult> {
  const failed = new Set(checks.filter(({ status }) => status === "fail").map(({ id }) => id));
  const judged = {
    verdict,
    failed: CHECK_IDS.filter((id) => failed.has(id)),
    ...(stale && { stale }),
  };
  if (verdict === "rejected") return judged;
  // Only a report has the reasons, and it takes time to make, so it is made only if the acceptance is `strict`.
  const refused = acceptance === "strict" ? reasonsOf(await report()) : {};
  return { ...judged, ...factsOf(appraisal, attestations), ...refused };
}

/** Returns the facts of an accepted entry. */
function factsOf(
  appraisal: EvidenceVerdict["appraisal"],
  attestations: readonly (VerifiedAttestation | null)[],
): Pick<AuditResult, "deployments" | "notApplied" | "documentTimes"> {
  const matched = (appraisal?.deployments ?? []).flatMap((deployment) => deployment?.name ?? []);
  const times = attestations.flatMap((attestation) => attestation?.document.timestamp ?? []);
  const notApplied = appraisal?.notApplied ?? [];
  return {
    ...(matched.length > 0 && { deployments: [...new Set(matched)] }),
    ...(notApplied.length > 0 && { notApplied }),
    ...(times.length > 0 && { documentTimes: timeTexts(Math.min(...times), Math.max(...times)) }),
  };
}

function reasonsOf({ refusedFor }: Report): Pick<AuditResult, "refusedFor"> {
  return refusedFor === undefined ? {} : { refusedFor };
}

function timeTexts(oldest: number, newest: number): readonly [string, string] {
  const text = new Date(oldest).toISOString();
  return [text, oldest === newest ? text : new Date(newest).toISOString()];
}
