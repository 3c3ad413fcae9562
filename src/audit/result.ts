import type { EvidenceVerdict } from "../bootproof.js";
import { CHECK_IDS, type CheckId } from "../checks.js";
import { printableJson } from "../decode/json.js";
import type { Report, Verdict } from "../report/report.js";
import type { VerifiedAttestation } from "../verify/attestation.js";

/**
 * A result, which depends only on entry and setting. The members of a line are a public contract (audit/README.md, "A
 * result").
 */
export interface AuditResult {
  /** The entry's place in the input, from 1. For NDJSON it is the line. */
  readonly n: number;
  /** The file's path inside its folder, for a folder. */
  readonly file?: string;
  readonly verdict: Verdict | "malformed";
  /** The failed checks, each once, in the order of their table. */
  readonly failed: readonly CheckId[];
  /** This is there if the entry is rejected only because of its age. */
  readonly stale?: true;
  /** This is there if expectations are given and none is for this entry, so it was compared with nothing. */
  readonly expected?: false;
  /** Why an entry is malformed, has no boot proof, or cannot be compared with its expectation. */
  readonly reason?: string;
  /** The policy's deployments that matched, each once. */
  readonly deployments?: readonly string[];
  /**
   * The warnings for which an entry with a good verdict is not accepted, where the setting's acceptance is `strict`.
   */
  readonly refusedFor?: readonly string[];
  /** Rules of the policy that do not apply to boot proofs alone or to a document. */
  readonly notApplied?: readonly string[];
  /** The times of the oldest and the newest document, in RFC 3339, for accepted entries. They are not in the line. */
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

/** `attestations` are those of the boot proofs, or that of the document. */
export async function resultOf(
  {
    verdict,
    stale,
    checks,
    appraisal,
    report,
  }: Omit<EvidenceVerdict, "bootProofs" | "appProofs" | "activity" | "provenance">,
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
  // Only a report has the reasons, and making one costs time.
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
