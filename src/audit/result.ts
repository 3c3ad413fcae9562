import type { EvidenceVerdict } from "../bootproof.js";
import { CHECK_IDS, type CheckId } from "../checks.js";
import { printableJson } from "../decode/json.js";
import type { Report, Verdict } from "../report/report.js";
import type { VerifiedAttestation } from "../verify/attestation.js";

/** Depends on entry and setting alone. The members of a line are a public contract (audit/README.md, "A result"). */
export interface AuditResult {
  /** The entry's place in the input, from 1; for NDJSON, the line. */
  readonly n: number;
  /** For a folder: the file's path inside it. */
  readonly file?: string;
  readonly verdict: Verdict | "malformed";
  /** Each once, in the order of their table. */
  readonly failed: readonly CheckId[];
  /** Only because of its age. */
  readonly stale?: true;
  /** Where expectations are given: none is of this entry, so it was compared with nothing. */
  readonly expected?: false;
  /** Why an entry is malformed, or has no boot proof, or cannot be compared with its expectation. */
  readonly reason?: string;
  /** The policy's deployments that matched, each once. */
  readonly deployments?: readonly string[];
  /** What weakens a good verdict, where the setting's acceptance is `strict`: the entry is not accepted. */
  readonly refusedFor?: readonly string[];
  /** Rules of the policy that do not apply to boot proofs alone or to a document. */
  readonly notApplied?: readonly string[];
  /** RFC 3339, for accepted entries: of the oldest and the newest document. Not in the line. */
  readonly documentTimes?: readonly [oldest: string, newest: string];
}

export type EntryResult = Omit<AuditResult, "n" | "file" | "expected">;

/** One line of JSON, without its line feed: the same bytes for the same entry and setting. */
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

/** `attestations`: those of the boot proofs, or that of the document. */
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
  // Only a report has the reasons, and it costs time.
  const refused = acceptance === "strict" ? reasonsOf(await report()) : {};
  return { ...judged, ...factsOf(appraisal, attestations), ...refused };
}

/** Of an accepted entry. */
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
