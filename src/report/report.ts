/**
 * The report, a public contract (`bootproof-report/1`; report/README.md, "JSON report"). It is data, made once by
 * `makeReport`, and never changes.
 */
import { privateMark } from "../decode/private-mark.js";
import { MANIFEST_PINS } from "../appraise/appraisal.js";
import type { Question } from "../appraise/questions.js";
import type { Check, CheckSubject } from "../checks.js";
import type { BootProofForm } from "../decode/boot-proof.js";
import type { ManifestVersion } from "../decode/manifest/index.js";
import type { JsonObject } from "../decode/json.js";
import type { CommitmentKind } from "../verify/commitment.js";
import type { ActivityQuestion } from "../verify/contradictions.js";
import type { ProvenanceThresholds } from "../verify/provenance-demand.js";
import { TOOL } from "../version.js";

/**
 * `verified`: every check passed, and the deployment is one that the policy pins. `authentic`: every check passed, but
 * the caller chose to give no policy: a genuine enclave, anybody's. `rejected`: a check failed.
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
  /** Rejected only because the evidence is older than the policy allows. */
  readonly stale: boolean;
  readonly tool: { readonly name: string; readonly version: string };
  /** The policy's name; null without a policy or a name. */
  readonly policy: string | null;
  /** SHA-256 of the policy's bytes, in hex; null without a policy, or where it was passed as a value. */
  readonly policyDigest: string | null;
  /** RFC 3339: the current time that the caller gave, from which ages count. */
  readonly verifiedAt: string;
  /** RFC 3339: the time at which certificates have to be valid; null where the evidence does not show it. */
  readonly validationTime: string | null;
  /** The verified pieces, so that the report can be filed and found again. */
  readonly evidence: readonly EvidencePiece[];
  /** Ordered by subject, then as in the table of checks. */
  readonly checks: readonly Check[];
  /**
   * Rules of the policy that were not applied, such as `appProofs.required` in a verification of boot proofs only. Left
   * out where all were.
   */
  readonly notApplied?: readonly string[];
  /**
   * Why a good verdict is not accepted: what weakens it, where the caller's `acceptance` is `strict`; of a page that is
   * not intact, that. Never empty; left out where there is nothing, and under `rejected`.
   */
  readonly refusedFor?: readonly string[];
  /** Only what was verified; null where the verdict is `rejected`. */
  readonly claims: Claims | null;
}

/** The report of an activity: claims always include the activity. */
export interface ActivityReport extends Report {
  readonly claims: (Claims & { readonly activity: ActivityClaims }) | null;
}

export interface EvidencePiece {
  readonly subject: CheckSubject;
  /** The caller's name for it, such as a file name; null where there is none. */
  readonly name: string | null;
  /** SHA-256 of its bytes as they were passed, in hex; null where it was passed as a value. */
  readonly sha256: string | null;
  /** Of a boot proof that was fetched as the latest of an application: that application. Otherwise left out. */
  readonly latestOf?: string;
}

export interface Claims {
  readonly bootProofs: readonly BootProofClaims[];
  readonly appProofs: readonly AppProofClaims[];
  readonly activity: ActivityClaims | null;
  /** The bundles that meet a demand of the caller's policy; left out where there are none. */
  readonly provenance?: readonly ProvenanceClaims[];
}

/** A build that the identity provider, the certificate authority and the logs of a trusted root state. */
export interface ProvenanceClaims {
  /** Its index among the bundles. */
  readonly bundle: number;
  /** What it is about: the digest in the verified manifest of that boot proof. */
  readonly meets: readonly {
    readonly bootProof: number;
    readonly deployment: string;
    /** Null: the application. */
    readonly workload: string | null;
    /** SHA-256. */
    readonly digest: string;
  }[];
  readonly predicateType: string;
  readonly signer: BuildSignerClaims;
  /** RFC 3339: those that were verified, by a log or a timestamp authority. */
  readonly signedTimes: readonly string[];
  /** Its name in the policy, and SHA-256 of its JSON text. */
  readonly trustedRoot: { readonly name: string; readonly sha256: string };
  /** How many of each that root demands. */
  readonly demanded: ProvenanceThresholds;
}

/** By the certificate that signed; null where it lacks the extension. */
export interface BuildSignerClaims {
  readonly issuer: string | null;
  readonly repository: string | null;
  readonly repositoryId: string | null;
  /** URI of the workflow that was run, with its ref. */
  readonly workflow: string | null;
  readonly ref: string | null;
  readonly commit: string | null;
  /** URI of the workflow that signed: another one where that is reusable. */
  readonly signer: string | null;
  readonly runner: string | null;
  readonly trigger: string | null;
  /** The subject alternative name. */
  readonly identity: string;
}

/** All byte strings in lower-case hex, all times in RFC 3339. */
export interface BootProofClaims {
  /** Only of provisioning details, as share holders are shown; otherwise left out. */
  readonly form?: Exclude<BootProofForm, "service">;
  readonly hardware: HardwareClaims;
  readonly image: ImageClaims;
  /** The deployment of the policy that matched, by its name or its place in the policy; null without a policy. */
  readonly deployment: string | null;
  /** What that deployment leaves open. */
  readonly open: readonly Question[];
  /** The reasons of `policy.scope`, a sentence each: what is open or weakly pinned, and what an attacker could do. */
  readonly scope: readonly string[];
}

/** What the hardware signed, whatever image runs on it. */
export interface HardwareClaims {
  /** The name of the trust anchor at which the certificate path starts. */
  readonly trustAnchor: string;
  readonly moduleId: string;
  readonly documentTime: string;
  /** By index: those that the document attests. */
  readonly pcrs: Readonly<Record<string, string>>;
  /** The attested key; null in a bare document without one. */
  readonly publicKey: string | null;
  /** Null where the document has none. */
  readonly userData: string | null;
  /** Null where the document has none. `bind.nonce` checks whether it is the caller's. */
  readonly nonce: string | null;
}

/** What the measured image vouches for: the word of an unknown image, unless a policy pins the image. */
export interface ImageClaims {
  /** A deployment of the policy matched, so the policy determines the image. */
  readonly pinned: boolean;
  /** The PCRs that the deployment pins for every image that it accepts, in order; empty where nothing is pinned. */
  readonly pinnedPcrs: readonly number[];
  /** The attested PCRs that the caller gave beside any policy, for example those of an image that they built. */
  readonly givenPcrs?: readonly number[];
  /** The enclave or the application is in debug mode, which the caller allowed: nothing about its code is proven. */
  readonly debug: boolean;
  /** Null for a bare document. */
  readonly manifest: ManifestClaims | null;
  /** What the enclave itself committed to; null for a bare document. */
  readonly commitment: CommitmentKind | null;
  /**
   * Why the enclave booted with this manifest: its own commitment or, for a legacy document, a pin of the policy. Null:
   * only an application in the enclave says so, or there is no manifest.
   */
  readonly restsOn: RestsOn | null;
  /** The enclave committed to the manifest in PCR18 too. */
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
  /** SHA-256 of the application binary; null where the manifest runs workloads. */
  readonly pivotHash: string | null;
  /** Null where the manifest runs workloads. */
  readonly pivotArgs: readonly string[] | null;
  /** By name; null where the manifest runs workloads. */
  readonly pivotEnv: Readonly<Record<string, string>> | null;
  /** The image digest of each workload, `sha256:…`, by name; null where the manifest runs one application. */
  readonly workloads: Readonly<Record<string, string>> | null;
  readonly threshold: number;
  readonly members: number;
  /** Members of the manifest set whose approvals were verified. */
  readonly approvedBy: readonly { readonly alias: string; readonly pubKey: string }[];
}

export interface AppProofClaims {
  /** Index of the boot proof that attests its key. */
  readonly bootProof: number;
  readonly type: string;
  /** Null: the payload has no time. */
  readonly time: string | null;
  /** The signed payload in full. */
  readonly payload: JsonObject;
  /** Index in `expected.payload` of the expectation that it meets; null if none names its type. */
  readonly expectation: number | null;
  /** The caller's challenge that it repeats: the enclave signed it after the caller made that. Null without one. */
  readonly answers: { readonly pointer: string; readonly value: string } | null;
}

export interface ActivityClaims {
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  /**
   * What the caller specified of `organizationId`, `id`, `type`, `parameters`, `requestedAt`, `addresses`. Empty: whose
   * activity it should be is not known.
   */
  readonly asked: readonly string[];
  /**
   * What the activity was compared with: `request`, the caller's parameters; `id`, its id, but no parameters;
   * `fingerprint`, where the caller voted on it: type and parameters are the service's word. Null: none of these.
   */
  readonly question: ActivityQuestion | null;
  /** Addresses in its result that a verified app proof backs. */
  readonly coveredAddresses: readonly string[];
  readonly uncoveredAddresses: readonly string[];
  /** Paths of the members of its result that no app proof covers. */
  readonly resultWithoutProof: readonly string[];
  /** The organization that the activity creates, where its proofs are about that one; otherwise null. */
  readonly subOrganizationId: string | null;
  /** Null where it has no wallet. */
  readonly walletId: string | null;
  /** The verified signatures of a request that signs; otherwise left out. */
  readonly signatures?: readonly SignatureClaims[];
  /** How many of its app proofs are policy outcomes. */
  readonly decisions: number;
}

/** A signature in the result of an activity. No app proof covers it: the signature itself was verified. */
export interface SignatureClaims {
  /** Place of the payload among the submitted ones; 0 of a transaction. */
  readonly index: number;
  /** The address, public key or id that the caller submitted. */
  readonly signWith: string;
  /** The key that verifies the signature, in hex; null where it could not be checked. */
  readonly publicKey: string | null;
  /** What is not proven, a sentence; null where the signature verifies under `signWith`. */
  readonly open: string | null;
}

export interface ReportParts {
  readonly verdict: Verdict;
  readonly stale: boolean;
  readonly policy: string | null;
  readonly policyDigest: string | null;
  readonly verifiedAt: Date;
  readonly validationTime: Date | null;
  readonly evidence: readonly EvidencePiece[];
  readonly checks: readonly Check[];
  readonly notApplied?: readonly string[];
  readonly claims: Claims | null;
}

const REPORTS = /* @__PURE__ */ privateMark<Report>();

/**
 * Makes the report, frozen at every depth with its parts. Throws Error where the parts contradict each other: a failed
 * check or no claims under a good verdict, claims under `rejected`, `stale` with a failure that is not of age.
 */
export function makeReport(parts: ReportParts): Report {
  const { verdict, stale, policy, policyDigest, verifiedAt, validationTime, evidence, checks, claims } = parts;
  const { notApplied = [] } = parts;
  refuseContradictions(parts);
  const report = REPORTS.on({
    format: "bootproof-report/1",
    verdict,
    stale,
    tool: TOOL,
    policy,
    policyDigest,
    verifiedAt: verifiedAt.toISOString(),
    validationTime: validationTime?.toISOString() ?? null,
    evidence: [...evidence],
    checks: [...checks],
    ...(notApplied.length > 0 && { notApplied: [...notApplied] }),
    claims,
  });
  return deepFrozen(report);
}

/** The report of a caller who refuses a good verdict for these reasons; the report itself where there is none. */
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

/** There is a failure, and every failure is of age alone. */
export function areStale(failed: readonly Check[]): boolean {
  return failed.length > 0 && failed.every((check) => check.stale === true);
}

/** Whether {@link makeReport} made this object: a report that was read or altered proves nothing. */
export function isMadeReport(value: unknown): value is Report {
  return REPORTS.isOn(value);
}

/** For plain objects, arrays and primitives. Whatever is frozen already is frozen at every depth. */
function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFrozen(member);
  return Object.freeze(value);
}
