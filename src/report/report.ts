/**
 * The report, a public contract (`bootproof-report/1`; report/README.md, "JSON report"). It is data that `makeReport`
 * makes once and that never changes.
 */
import { privateMark } from "../decode/private-mark.js";
import { type AgeLimit, MANIFEST_PINS } from "../appraise/appraisal.js";
import type { SignedFacts } from "../appraise/parsed-policy.js";
import type { Question } from "../appraise/questions.js";
import type { Check, CheckSubject } from "../checks.js";
import type { BootProofForm } from "../decode/boot-proof.js";
import type { ManifestVersion } from "../decode/manifest/index.js";
import type { JsonObject } from "../decode/json.js";
import type { CommitmentKind } from "../verify/commitment.js";
import type { SignUp } from "../verify/app-proof.js";
import type { ActivityQuestion } from "../verify/contradictions.js";
import type { GithubRelease } from "../decode/github-release.js";
import type { VerifiedSignature } from "../verify/signatures.js";
import type { ProvenanceThresholds } from "../verify/provenance-demand.js";
import { TOOL } from "../version.js";

/**
 * `verified` means that every check passed, and the policy pins the deployment. `authentic` means that every check
 * passed, but the caller chose to give no policy, so it is anybody's genuine enclave. `rejected` means that a check
 * failed.
 */
export type Verdict = "verified" | "authentic" | "rejected";

/** The output formats of commands that make no report. */
export const FORMATS = ["text", "json"] as const;
export type Format = (typeof FORMATS)[number];

/** The output formats of reports; `formats/reports.ts` has a renderer for each. */
export const REPORT_FORMATS = [...FORMATS, "html", "junit", "sarif", "github", "markdown", "ear", "vsa"] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export interface Report {
  readonly format: "bootproof-report/1";
  readonly verdict: Verdict;
  /** Whether the evidence was rejected only because it is older than the policy allows. */
  readonly stale: boolean;
  readonly tool: { readonly name: string; readonly version: string };
  /** The policy's name, or null without a policy or a name. */
  readonly policy: string | null;
  /** SHA-256 of the policy's bytes in hex, or null without a policy or if it was passed as a value. */
  readonly policyDigest: string | null;
  /** The version of the signed policy, absent for any other policy. */
  readonly signedPolicy?: SignedPolicyClaims;
  /** The current time that the caller gave, in RFC 3339. Ages are counted from it. */
  readonly verifiedAt: string;
  /** The time at which certificates must be valid, in RFC 3339, or null if the evidence does not show it. */
  readonly validationTime: string | null;
  /** The evidence, so that the report can be filed and found again. */
  readonly evidence: readonly EvidencePiece[];
  /** Ordered by subject, then as in the table of checks. */
  readonly checks: readonly Check[];
  /**
   * Rules of the policy that were not applied, such as `appProofs.required` in a verification of boot proofs only.
   * It is absent if all were applied.
   */
  readonly notApplied?: readonly string[];
  /**
   * Reasons why a good verdict is not accepted, such as what weakens it if the caller's `acceptance` is `strict`. It is
   * never empty, and absent if there are no reasons or the verdict is `rejected`.
   */
  readonly refusedFor?: readonly string[];
  /** The limit of age that counted, absent if the caller set none (`maxAgeMs`). */
  readonly maxAge?: AgeLimit;
  /** Verified facts only, or null if the verdict is `rejected`. */
  readonly claims: Claims | null;
}

/** The version of a signed policy. `remembered` is false where no state is kept: an older version could be shown. */
export type SignedPolicyClaims = Omit<SignedFacts, "issuedAt" | "envelope">;

/** The report of an activity, whose claims always include the activity. */
export interface ActivityReport extends Report {
  readonly claims: (Claims & { readonly activity: ActivityClaims }) | null;
}

export interface EvidencePiece {
  readonly subject: CheckSubject;
  /** The caller's name for the evidence, such as a file name, or null if there is none. */
  readonly name: string | null;
  /** SHA-256 in hex of the bytes as they were passed, or null if the evidence was passed as a value. */
  readonly sha256: string | null;
  /** The application, if the boot proof was requested as the latest one of this application. */
  readonly latestOf?: string;
}

export interface Claims {
  readonly bootProofs: readonly BootProofClaims[];
  readonly appProofs: readonly AppProofClaims[];
  readonly activity: ActivityClaims | null;
  /** Bytes that the application signed, absent for other evidence. */
  readonly signedBytes?: SignedBytesClaims;
  /** The sign-up that the app proofs answer, absent for other evidence. */
  readonly signUp?: SignUp;
  /** The bundles that meet a demand of the caller's policy, absent if there are none. */
  readonly provenance?: readonly ProvenanceClaims[];
}

export interface SignedBytesClaims {
  /** Index of the boot proof whose key signed them. */
  readonly bootProof: number;
  /** Number of bytes. */
  readonly length: number;
  /** SHA-256 of the bytes in lower-case hex. */
  readonly sha256: string;
  /** Whether they are the bytes that the caller expected. False means that the caller named none. */
  readonly expected: boolean;
}

/** A build or a release that the services of a trusted root state. */
export interface ProvenanceClaims {
  /** Index of the bundle. */
  readonly bundle: number;
  /** The demands that the bundle meets. Each is about a digest in the verified manifest of a boot proof. */
  readonly meets: readonly {
    readonly bootProof: number;
    readonly deployment: string;
    /** The workload. Null means the application. */
    readonly workload: string | null;
    /** SHA-256 of the application binary or the workload's image, in lower-case hex. */
    readonly digest: string;
  }[];
  readonly predicateType: string;
  readonly signer: BuildSignerClaims;
  /** The release of GitHub that carries the binary. Absent for a build. */
  readonly release?: GithubRelease;
  /** Times in RFC 3339 that a log or a timestamp authority signed. */
  readonly signedTimes: readonly string[];
  /** Name of the trusted root in the policy, and SHA-256 of its JSON text. */
  readonly trustedRoot: { readonly name: string; readonly sha256: string };
  /** Thresholds of that root. */
  readonly demanded: ProvenanceThresholds;
}

/** Identity in the certificate that signed. A member is null if its extension is missing. */
export interface BuildSignerClaims {
  readonly issuer: string | null;
  readonly repository: string | null;
  readonly repositoryId: string | null;
  /** URI of the workflow that was run, with its ref. */
  readonly workflow: string | null;
  readonly ref: string | null;
  readonly commit: string | null;
  /** URI of the workflow that signed. It differs from `workflow` if a reusable workflow signed. */
  readonly signer: string | null;
  readonly runner: string | null;
  readonly trigger: string | null;
  /** The subject alternative name. */
  readonly identity: string;
}

/** Claims of a boot proof. All byte strings are in lower-case hex, and all times in RFC 3339. */
export interface BootProofClaims {
  /** Form of provisioning details, which share holders see. It is absent for other boot proofs. */
  readonly form?: Exclude<BootProofForm, "service">;
  readonly hardware: HardwareClaims;
  readonly image: ImageClaims;
  /** Name or place of the policy's deployment that matched, or null without a policy. */
  readonly deployment: string | null;
  /** Questions that this deployment leaves open. */
  readonly open: readonly Question[];
  /** Reasons of `policy.scope` as sentences: what is open or weakly pinned, and what an attacker could do. */
  readonly scope: readonly string[];
}

/** Facts that the hardware signed, whatever image runs on it. */
export interface HardwareClaims {
  /** The name of the trust anchor at which the certificate path starts. */
  readonly trustAnchor: string;
  readonly moduleId: string;
  readonly documentTime: string;
  /** The attested PCRs by index. */
  readonly pcrs: Readonly<Record<string, string>>;
  /** The attested key, or null for a bare document without one. */
  readonly publicKey: string | null;
  /** User data, or null if the document has none. */
  readonly userData: string | null;
  /** Nonce, or null if the document has none. `bind.nonce` checks whether it is the caller's. */
  readonly nonce: string | null;
}

/** Facts that the measured image vouches for. Unless a policy pins the image, anybody may have made it. */
export interface ImageClaims {
  /** Whether a deployment of the policy matched, so that the policy determines the image. */
  readonly pinned: boolean;
  /** Ordered PCRs that the deployment pins for every image that it accepts. There are none if nothing is pinned. */
  readonly pinnedPcrs: readonly number[];
  /** Indexes of the attested PCRs that the caller gave values for, such as those of an image that the caller built. */
  readonly givenPcrs?: readonly number[];
  /** Whether the enclave or application is in debug mode, and that is allowed: nothing about its code is proven. */
  readonly debug: boolean;
  /** Manifest, or null for a bare document. */
  readonly manifest: ManifestClaims | null;
  /** Commitment of the enclave itself, or null for a bare document. */
  readonly commitment: CommitmentKind | null;
  /**
   * Evidence that the enclave booted with this manifest: its own commitment or, for a legacy document, a pin of the
   * policy. Null means that only an application in the enclave says so, or that there is no manifest.
   */
  readonly restsOn: RestsOn | null;
  /** Whether the enclave also committed to the manifest in PCR18. */
  readonly manifestCommitted: boolean;
}

export const RESTS_ON = ["commitment", ...MANIFEST_PINS] as const;
export type RestsOn = (typeof RESTS_ON)[number];

export interface ManifestClaims {
  readonly version: ManifestVersion;
  readonly hash: string;
  readonly namespace: string;
  readonly nonce: number;
  readonly quorumKey: string;
  /** SHA-256 of the application binary, or null if the manifest runs workloads. */
  readonly pivotHash: string | null;
  /** Arguments, or null if the manifest runs workloads. */
  readonly pivotArgs: readonly string[] | null;
  /** Environment by name, or null if the manifest runs workloads. */
  readonly pivotEnv: Readonly<Record<string, string>> | null;
  /** Image digest (`sha256:…`) of each workload by name, or null if the manifest runs one application. */
  readonly workloads: Readonly<Record<string, string>> | null;
  readonly threshold: number;
  readonly members: number;
  /** Members of the manifest set whose approvals were verified. */
  readonly approvedBy: readonly { readonly alias: string; readonly pubKey: string }[];
}

export interface AppProofClaims {
  /** Index of the boot proof that attests the key of this app proof. */
  readonly bootProof: number;
  readonly type: string;
  /** Time of the payload in RFC 3339. Null means that it has none. */
  readonly time: string | null;
  /** The signed payload in full. */
  readonly payload: JsonObject;
  /** Index in `expected.payload` of the expectation that the payload meets, or null if none names its type. */
  readonly expectation: number | null;
  /** The caller's challenge, which the payload repeats, so the payload is newer. Null without a challenge. */
  readonly answers: { readonly pointer: string; readonly value: string } | null;
}

export interface ActivityClaims {
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  /**
   * Which of `organizationId`, `id`, `type`, `parameters`, `requestedAt` and `addresses` the activity was compared
   * with. If there are none, it is not known whose activity it should be.
   */
  readonly asked: readonly string[];
  /**
   * How the activity was compared with the caller's request. `request` means by its parameters, and `id` by its id
   * only. `fingerprint` means that the caller voted on it: type and parameters are unsigned claims of the service. Null
   * means that it was not compared.
   */
  readonly question: ActivityQuestion | null;
  /** Addresses in its result that a verified app proof backs. */
  readonly coveredAddresses: readonly string[];
  readonly uncoveredAddresses: readonly string[];
  /** Paths of the members of its result that no app proof covers. */
  readonly resultWithoutProof: readonly string[];
  /** The organization that the activity creates, or null if no app proof names it. */
  readonly subOrganizationId: string | null;
  /** The wallet, or null if the activity names none. */
  readonly walletId: string | null;
  /** The verified signatures, absent if the request does not sign. */
  readonly signatures?: readonly SignatureClaims[];
  /** Number of its app proofs that are policy outcomes. */
  readonly decisions: number;
}

/** A signature in the result of an activity. No app proof covers it, so the signature itself was verified. */
export interface SignatureClaims extends VerifiedSignature {}

export interface ReportParts extends Omit<
  Report,
  "format" | "tool" | "verifiedAt" | "validationTime" | "refusedFor" | "signedPolicy"
> {
  readonly signed?: SignedFacts | null;
  readonly verifiedAt: Date;
  readonly validationTime: Date | null;
}

const REPORTS = /* @__PURE__ */ privateMark<Report>();

/**
 * Makes the report, and freezes it and its parts at every depth. Throws Error if the parts contradict each other: a
 * failed check or no claims under a good verdict, claims under `rejected`, `stale` with a failure other than age.
 */
export function makeReport(parts: ReportParts): Report {
  const { verdict, stale, policy, policyDigest, verifiedAt, validationTime, evidence, checks, claims } = parts;
  const { notApplied = [], maxAge, signed = null } = parts;
  refuseContradictions(parts);
  const report = REPORTS.on({
    format: "bootproof-report/1",
    verdict,
    stale,
    tool: TOOL,
    policy,
    policyDigest,
    // The maker of a bundle says what it has signed, so the digest is that of the payload which is here.
    ...(signed !== null && { signedPolicy: { ...signedClaims(signed), sha256: policyDigest ?? signed.sha256 } }),
    verifiedAt: verifiedAt.toISOString(),
    validationTime: validationTime?.toISOString() ?? null,
    evidence: [...evidence],
    checks: [...checks],
    ...(notApplied.length > 0 && { notApplied: [...notApplied] }),
    ...(maxAge && { maxAge }),
    claims,
  });
  return deepFrozen(report);
}

export function signedClaims({
  name,
  version,
  sha256,
  expiresAt,
  signedBy,
  remembered,
}: SignedFacts): SignedPolicyClaims {
  return { name, version, sha256, expiresAt, signedBy, remembered };
}

/** Returns the report of a caller who refuses a good verdict for these reasons. Without reasons it is unchanged. */
export function refusedReport(report: Report, reasons: readonly string[]): Report {
  if (reasons.length === 0 || report.verdict === "rejected") return report;
  const { claims, ...others } = report;
  const refusedFor = [...new Set([...(report.refusedFor ?? []), ...reasons])];
  return deepFrozen(REPORTS.on({ ...others, refusedFor, claims }));
}

function refuseContradictions({ verdict, stale, checks, claims }: ReportParts): void {
  const isRejected = verdict === "rejected";
  const failed = checks.filter((check) => check.status === "fail");
  if (stale && !(isRejected && areStale(failed))) throw new Error(`bug: ${verdict} as stale, but not only for its age`);
  if (failed.length > 0 && !isRejected) throw new Error(`bug: ${verdict}, with a failed check`);
  if (isRejected && claims !== null) throw new Error(`bug: ${verdict}, with claims`);
  if (!isRejected && claims === null) throw new Error(`bug: ${verdict}, without claims`);
}

/** Whether there are failures, and all of them are only about age. */
export function areStale(failed: readonly Check[]): boolean {
  return failed.length > 0 && failed.every((check) => check.stale === true);
}

/** Whether {@link makeReport} made this object. A report that was read or altered proves nothing. */
export function isMadeReport(value: unknown): value is Report {
  return REPORTS.isOn(value);
}

/** Freezes plain objects and arrays at every depth. Frozen ones are skipped, because they are frozen at every depth. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFrozen(member);
  return Object.freeze(value);
}
