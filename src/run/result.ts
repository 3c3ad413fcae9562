/** What an audit says of one entry. It depends only on the entry, its expectation and the setting. */
import type { EvidenceVerdict } from "../bootproof.js";
import { CHECK_IDS, type Check, type CheckId } from "../checks.js";
import type { Verdict } from "../report/report.js";
import type { VerifiedAttestation } from "../verify/attestation.js";

export interface EntryResult {
  /** `malformed`: it is no evidence. `unjudged`: judging it failed, which is no verdict about it. */
  readonly verdict: Verdict | "malformed" | "unjudged";
  /** The failed checks, each once, in the order of the table of checks. */
  readonly failed: readonly CheckId[];
  /** The checks that warn, each once, in the same order. */
  readonly warnings: readonly CheckId[];
  /** Present if the entry is rejected only because of its age. */
  readonly stale?: true;
  /** Why an entry is malformed or unjudged, has no boot proof, or cannot be compared with its expectation. */
  readonly reason?: string;
  /** Warnings for which an entry with a good verdict is not accepted, if the setting's acceptance is `strict`. */
  readonly refusedFor?: readonly string[];
  /** Rules of the policy that were not applied, because the entry has only boot proofs or is a bare document. */
  readonly notApplied?: readonly string[];
  /** The policy's deployments that matched, each once. */
  readonly deployments?: readonly string[];
  /** Times of the oldest and the newest document of an accepted entry, in RFC 3339. No line of results has them. */
  readonly documentTimes?: readonly [oldest: string, newest: string];
}

export function malformedResult(reason: string): EntryResult {
  return { verdict: "malformed", failed: [], warnings: [], reason };
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
  const judged = { verdict, failed: idsOf(checks, "fail"), warnings: idsOf(checks, "warn"), ...(stale && { stale }) };
  if (verdict === "rejected") return judged;
  // Only a report has the reasons, and it takes time to make, so it is made only if the acceptance is `strict`.
  const { refusedFor } = acceptance === "strict" ? await report() : {};
  return { ...judged, ...factsOf(appraisal, attestations), ...(refusedFor && { refusedFor }) };
}

/** Returns the checks that have a status, each once, in the order of the table of checks. */
export function idsOf(checks: readonly Pick<Check, "id" | "status">[], wanted: "fail" | "warn"): readonly CheckId[] {
  const found = new Set(checks.filter(({ status }) => status === wanted).map(({ id }) => id));
  return found.size === 0 ? [] : CHECK_IDS.filter((id) => found.has(id));
}

/** Returns the facts of an accepted entry. */
function factsOf(
  appraisal: EvidenceVerdict["appraisal"],
  attestations: readonly (VerifiedAttestation | null)[],
): Pick<EntryResult, "deployments" | "notApplied" | "documentTimes"> {
  const matched = (appraisal?.deployments ?? []).flatMap((deployment) => deployment?.name ?? []);
  const times = attestations.flatMap((attestation) => attestation?.document.timestamp ?? []);
  const notApplied = appraisal?.notApplied ?? [];
  return {
    ...(matched.length > 0 && { deployments: [...new Set(matched)] }),
    ...(notApplied.length > 0 && { notApplied }),
    ...(times.length > 0 && { documentTimes: timeTexts(Math.min(...times), Math.max(...times)) }),
  };
}

function timeTexts(oldest: number, newest: number): readonly [string, string] {
  const text = new Date(oldest).toISOString();
  return [text, oldest === newest ? text : new Date(newest).toISOString()];
}
