/**
 * The report: a public contract (`bootproof-report/1`; report/README.md, "JSON report"). Data only; `text.ts` makes it
 * readable, `json.ts` a file. It is made once, by `makeReport`, and changes no more.
 */
import { MANIFEST_PINS } from "../appraise/appraisal.js";
import type { Question } from "../appraise/questions.js";
import type { Check, CheckSubject } from "../checks.js";
import type { ManifestVersion } from "../decode/manifest/index.js";
import type { JsonObject } from "../decode/json.js";
import type { CommitmentKind } from "../verify/commitment.js";
import { TOOL } from "../version.js";

/**
 * `verified`: every check passed, and the deployment is one that the policy pins. `authentic`: every check passed, and
 * the caller asked for no policy: a genuine enclave, anybody's. `rejected`: a check failed.
 */
export type Verdict = "verified" | "authentic" | "rejected";

/** The output formats of what is no report, and of all commands but `verify`. */
export const FORMATS = ["text", "json"] as const;
export type Format = (typeof FORMATS)[number];

/** The output formats of reports; `formats/reports.ts` has a renderer for each. */
export const REPORT_FORMATS = [...FORMATS, "html", "junit", "sarif", "github", "markdown", "ear", "vsa"] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export interface Report {
  readonly format: "bootproof-report/1";
  readonly verdict: Verdict;
  /** Rejected for its age alone: genuine, and older than the policy allows. False of everything else. */
  readonly stale: boolean;
  /** What made the report. */
  readonly tool: { readonly name: string; readonly version: string };
  /** The policy's name; null where none was given, or it has none. */
  readonly policy: string | null;
  /** SHA-256 of the policy's bytes, in hex; null where none was given, or it was given as a value. */
  readonly policyDigest: string | null;
  /** RFC 3339: the present that the caller gave, by which ages were counted. */
  readonly verifiedAt: string;
  /** RFC 3339, the moment certificates were held against; null where it could not be read from the evidence. */
  readonly validationTime: string | null;
  /** The pieces that were judged, so that the report can be filed and found again. */
  readonly evidence: readonly EvidencePiece[];
  /** Ordered by subject, then as in the table of checks. */
  readonly checks: readonly Check[];
  /**
   * Rules of the policy that were not applied: such as `appProofs.required` where only boot proofs were asked for, and
   * `appProofs.coverage` without an activity. Left out where there are none.
   */
  readonly notApplied?: readonly string[];
  /** What was verified, and nothing else; null where the verdict is `rejected`. */
  readonly claims: Claims | null;
}

/** The report of an activity: where anything is claimed, something is claimed of the activity. */
export interface ActivityReport extends Report {
  readonly claims: (Claims & { readonly activity: ActivityClaims }) | null;
}

export interface EvidencePiece {
  readonly subject: CheckSubject;
  /** The caller's name for it, a file name on the command line; null where it has none. */
  readonly name: string | null;
  /** SHA-256 of its bytes as given, in hex; null where it was given as a value. */
  readonly sha256: string | null;
  /** Of a boot proof that was asked for as an application's newest one: the application. Left out of any other. */
  readonly latestOf?: string;
}

export interface Claims {
  readonly bootProofs: readonly BootProofClaims[];
  readonly appProofs: readonly AppProofClaims[];
  readonly activity: ActivityClaims | null;
}

/** All byte strings in lower-case hex, all times in RFC 3339. */
export interface BootProofClaims {
  readonly hardware: HardwareClaims;
  readonly image: ImageClaims;
  /** Name of the deployment of the policy that matched (or its place in the policy); null without a policy. */
  readonly deployment: string | null;
  /** What that deployment leaves open. */
  readonly open: readonly Question[];
  /** The reasons of `policy.scope`, a sentence each: what is open or answered weakly, and what an attacker could do. */
  readonly scope: readonly string[];
}

/** What the hardware signed, whatever image runs on it. */
export interface HardwareClaims {
  /** Name of the trust anchor that the certificate path starts at. */
  readonly trustAnchor: string;
  readonly moduleId: string;
  readonly documentTime: string;
  /** By index: those that the document attests. */
  readonly pcrs: Readonly<Record<string, string>>;
  /** The attested key; null in a bare document without one. */
  readonly publicKey: string | null;
  /** As attested; null where there is none. */
  readonly userData: string | null;
  /** As attested; null where there is none. `bind.nonce` says whether it was asked for. */
  readonly nonce: string | null;
}

/** What the measured image vouches for. Where nothing pins the image, it is the word of an unknown one. */
export interface ImageClaims {
  /** A deployment of the policy matched, which says which image it means. */
  readonly pinned: boolean;
  /** The PCRs that every image which that deployment accepts is pinned by, in order; empty where nothing is pinned. */
  readonly pinnedPcrs: readonly number[];
  /** The PCRs that the caller gave beside any policy, as of an image of his own, and that are attested. */
  readonly givenPcrs?: readonly number[];
  /** An enclave or an application in debug mode, which the caller allowed: nothing about its code is proven. */
  readonly debug: boolean;
  /** Null for a bare document. */
  readonly manifest: ManifestClaims | null;
  /** What the enclave itself committed to: null for a bare document. */
  readonly commitment: CommitmentKind | null;
  /**
   * What says that the enclave booted with this manifest: the enclave's own commitment; for a legacy document a pin of
   * the policy. Null: only an application in the enclave says so, or there is no manifest.
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
  /** The digest of each workload's image, `sha256:…`, by name; null where the manifest runs one application. */
  readonly workloads: Readonly<Record<string, string>> | null;
  readonly threshold: number;
  readonly members: number;
  /** Members of the manifest set whose approvals were verified. */
  readonly approvedBy: readonly { readonly alias: string; readonly pubKey: string }[];
}

export interface AppProofClaims {
  /** Index of the boot proof that it was judged under. */
  readonly bootProof: number;
  readonly type: string;
  readonly time: string;
  /** The signed payload, whole. */
  readonly payload: JsonObject;
}

export interface ActivityClaims {
  readonly id: string;
  readonly organizationId: string;
  readonly type: string;
  /**
   * What the caller asked, of `organizationId`, `id`, `type`, `parameters`, `requestedAt`, `addresses`; empty: nobody
   * said whose it should be.
   */
  readonly asked: readonly string[];
  /** Addresses in its result that a verified app proof backs. */
  readonly coveredAddresses: readonly string[];
  readonly uncoveredAddresses: readonly string[];
  /** Paths of the members of its result that no app proof speaks of. */
  readonly resultWithoutProof: readonly string[];
  /** The organization that it makes, where its proofs speak of that one; null elsewhere. */
  readonly subOrganizationId: string | null;
  /** The wallet that it is about; null where there is none. */
  readonly walletId: string | null;
  /** How many of its app proofs are policy outcomes. */
  readonly decisions: number;
}

/** What a report is made of. */
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

/** An object of these members with a mark that no copy, proxy or heir of it has. Otherwise it is a plain object. */
class MadeReport {
  readonly #made = true;

  constructor(members: Report) {
    Object.setPrototypeOf(Object.assign(this, members), Object.prototype);
  }

  static is(value: unknown): value is Report {
    return typeof value === "object" && value !== null && #made in value;
  }
}

/**
 * Makes the report. It is frozen at every depth, its parts with it. Throws Error where the parts contradict each other:
 * a failed check or no claims under a good verdict, claims under `rejected`, more than age against what is stale.
 */
export function makeReport(parts: ReportParts): Report {
  const { verdict, stale, policy, policyDigest, verifiedAt, validationTime, evidence, checks, claims } = parts;
  const { notApplied = [] } = parts;
  refuseContradictions(parts);
  const report = new MadeReport({
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
  return deepFrozen(report as object as Report);
}

function refuseContradictions({ verdict, stale, checks, claims }: ReportParts): void {
  const isRejected = verdict === "rejected";
  const failed = checks.filter((check) => check.status === "fail");
  if (stale && !(isRejected && areStale(failed))) throw new Error(`bug: ${verdict} as stale, and that is not why`);
  if (failed.length > 0 && !isRejected) throw new Error(`bug: ${verdict}, and a check failed`);
  if (isRejected && claims !== null) throw new Error(`bug: ${verdict}, with claims`);
  if (!isRejected && claims === null) throw new Error(`bug: ${verdict}, without claims`);
}

/** Whether age is all that is against the evidence: there is a failure, and each one is of age. */
export function areStale(failed: readonly Check[]): boolean {
  return failed.length > 0 && failed.every((check) => check.stale === true);
}

/** Whether {@link makeReport} made this very object: a report that was read, or altered, is nobody's word. */
export function isMadeReport(value: unknown): value is Report {
  return MadeReport.is(value);
}

/** What {@link deepFrozen} froze: parts that many reports share are gone through once. */
const frozen = new WeakSet();

/** The value itself, which is of plain objects, arrays and primitives. */
function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || frozen.has(value)) return value;
  for (const member of Object.values(value)) deepFrozen(member);
  frozen.add(value);
  return Object.freeze(value);
}
