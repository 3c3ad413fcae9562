/** EAT Attestation Results with AR4SI's tiers, as a JWT (formats/README.md, "EAR"). */
import { plain, typedOptions } from "../decode/options.js";
import { type MembersOf, nullish, optional, text } from "../decode/shapes.js";
import type { BundleFacts } from "../bundle/text.js";
import { fromHex } from "../bytes.js";
import { type Check, type CheckId, type ClaimGroup, checkRow, checksOf } from "../checks.js";
import type { Question } from "../appraise/questions.js";
import { hasBadChecks, isBad } from "../report/facts.js";
import { isGoodVerdict } from "../report/accepted.js";
import { type BootProofClaims, type Report, isMadeReport } from "../report/report.js";
import { carriesNonce, isVouchedFor } from "../report/statements.js";
import { ofReport } from "../show/verdict.js";
import {
  OWN_CLAIM,
  TOOL_URI,
  bootIndex,
  meetsCallersPolicy,
  ownClaim,
  policyUri,
  toBase64url,
  whyNotPassed,
} from "./results.js";
import { type SigningJwk, signerOf } from "./signing-key.js";

/** The profile of draft-ietf-rats-ear-04 section 3. */
const PROFILE = "tag:ietf.org,2026:rats/ear#04";
/** The type of RFC 9782 section 6.1, without `application/`, as RFC 7515 section 4.1.9 recommends. */
const TYPE = "eat+jwt";

/** The tiers of draft-ietf-rats-ar4si-10 section 2.3.2, the best first. */
const TIERS = ["none", "affirming", "warning", "contraindicated"] as const;
type Tier = (typeof TIERS)[number];

/**
 * Values of draft-ietf-rats-ar4si-10 section 2.3.4. `OWN_WARNING` is our own value, for warnings that no standard
 * describes.
 */
const NO_STATEMENT = 0;
const AFFIRMED = 2;
const BOOTED_AS_APPROVED = 3;
const UNRECOGNIZED_CODE = 33;
const CONFIGURATION_UNAVAILABLE = 36;
const OWN_WARNING = -33;
const CONTRAINDICATED = 96;
const NOT_RECOGNIZED = 97;
const CRYPTOGRAPHY_FAILED = 99;

interface Verified {
  readonly boot: BootProofClaims;
  readonly passed: (id: CheckId) => boolean;
  /** Whether a deployment of the caller's policy matched. */
  readonly matches: boolean;
}

interface ClaimRow {
  /** The open question of a policy that lowers the claim. */
  readonly question?: Question;
  /** The value if nothing speaks against the claim. Without it, the claim is left without a statement. */
  readonly worth?: (verified: Verified) => number;
}

/** The claims of draft-ietf-rats-ar4si-10 section 2.3.4, in the order of EAR's CDDL. */
const CLAIMS = {
  "instance-identity": { question: "operator", worth: (all) => (namesOperator(all) ? AFFIRMED : NO_STATEMENT) },
  configuration: {
    question: "application",
    worth: ({ passed, matches }) => (matches && CONFIGURATION_PINS.some(passed) ? AFFIRMED : NO_STATEMENT),
  },
  executables: {
    question: "application",
    worth: ({ boot, matches }) => (matches && pinsCode(boot) ? BOOTED_AS_APPROVED : UNRECOGNIZED_CODE),
  },
  "file-system": {},
  hardware: { worth: ({ passed }) => (HARDWARE_CHECKS.every(passed) ? AFFIRMED : NO_STATEMENT) },
  "runtime-opaque": {},
  "storage-opaque": {},
  "sourced-data": {},
} as const satisfies Readonly<Record<string, ClaimRow>>;
type TrustClaim = keyof typeof CLAIMS;

type Values = readonly [fail: number, warn?: number];

/** The values of claims if a check fails or warns. Without the second, a warning does not change the claim. */
const AGAINST: Readonly<Record<ClaimGroup, Readonly<Partial<Record<TrustClaim, Values>>>>> = {
  hardware: { hardware: [CRYPTOGRAPHY_FAILED] },
  anchor: { hardware: [NOT_RECOGNIZED] },
  manifest: { configuration: [CONTRAINDICATED, CONFIGURATION_UNAVAILABLE] },
  approvals: { configuration: [CRYPTOGRAPHY_FAILED] },
  configuration: { configuration: [CONTRAINDICATED] },
  code: { executables: [CONTRAINDICATED] },
  key: { "instance-identity": [CRYPTOGRAPHY_FAILED] },
  debug: { executables: [CONTRAINDICATED, UNRECOGNIZED_CODE], "runtime-opaque": [CONTRAINDICATED, OWN_WARNING] },
  scope: {
    executables: [CONTRAINDICATED, UNRECOGNIZED_CODE],
    configuration: [CONTRAINDICATED, CONFIGURATION_UNAVAILABLE],
    "instance-identity": [NOT_RECOGNIZED, OWN_WARNING],
  },
  identity: { "instance-identity": [NOT_RECOGNIZED] },
};

/** The checks that must all pass before `hardware` is affirmed. Without lists of the caller the last one is skipped. */
const HARDWARE_CHECKS = /* @__PURE__ */ checksOf("cose", "doc", "chain").filter((id) => id !== "chain.revocation");
const CONFIGURATION_PINS: readonly CheckId[] = ["policy.manifest-set", "policy.manifest-hash"];
const IDENTITY_PINS: readonly CheckId[] = [...CONFIGURATION_PINS, "policy.quorum-key", "policy.public-key"];
/** The PCRs of the image. `OPERATOR_PCRS` are those of its role, instance and signing certificate. */
const CODE_PCRS = [0, 1, 2];
const OPERATOR_PCRS = [3, 4, 8];

export interface EarOptions {
  /** The key that signs the token. Default: none, and `alg` is `none`: anybody could have written such a token. */
  readonly key?: SigningJwk;
  /**
   * The algorithm by which the key signs. Default: the key's `alg`, or the first of its kind. Ed25519 is `EdDSA`,
   * whatever the key's `alg`: most readers do not know the newer name `Ed25519` (RFC 9864).
   */
  readonly alg?: string;
  /** The bundle that contained the evidence. */
  readonly bundle?: BundleFacts | null;
}

const EAR_OPTIONS: MembersOf<EarOptions> = { key: optional(plain), alg: optional(text), bundle: nullish(plain) };

/**
 * Returns the report as an EAR in a JWT, with a line feed at its end. Throws TypeError for a value that is not a report
 * and for an unfit key; no message shows the key. A signature is the verifier's statement, so with a key it also throws
 * TypeError for a report of another process.
 */
export async function renderEar(report: Report, options: EarOptions = {}): Promise<string> {
  const own = typedOptions("options", options, EAR_OPTIONS);
  if (own.alg !== undefined && own.key === undefined) throw new TypeError("options.alg: expected a key beside it");
  if (own.key !== undefined && !isMadeReport(report))
    throw new TypeError("report: expected a report of this process: no other report can be signed");
  return earToken(report, own);
}

/** Like {@link renderEar}, for callers that know where the report is from. */
export async function earToken(report: Report, { key, alg, bundle = null }: EarOptions = {}): Promise<string> {
  const claims = ofReport(report, () => earClaims(report, bundle));
  const { SignJWT, UnsecuredJWT } = await import("jose");
  if (key === undefined) return `${new UnsecuredJWT(claims).encode()}\n`;
  const { header, privateKey } = await signerOf(key, alg);
  return `${await new SignJWT(claims).setProtectedHeader({ ...header, typ: TYPE }).sign(privateKey as CryptoKey)}\n`;
}

function earClaims(report: Report, bundle: BundleFacts | null): Record<string, unknown> {
  const best = bestStatusOf(report, bundle);
  const submods = attestersOf(report).map((label) => [label, appraisalOf(label, report, bundle, best)] as const);
  const { name, version } = report.tool;
  const milliseconds = Date.parse(report.verifiedAt);
  if (Number.isNaN(milliseconds)) throw new TypeError("verifiedAt: not a time");
  return {
    eat_profile: PROFILE,
    iat: Math.floor(milliseconds / 1000),
    ear_verifier_id: { developer: TOOL_URI, build: `${name} ${version}` },
    ear_status: worst(submods.map(([, { ear_status: status }]) => status)),
    submods: Object.fromEntries(submods),
    [OWN_CLAIM]: ownClaim(report, bundle),
  };
}

/** Returns the subjects of the boot proofs. Without any, returns those of other evidence, since there has to be one. */
function attestersOf({ evidence }: Report): string[] {
  const subjects = evidence.map(({ subject }) => String(subject));
  const boots = subjects.filter((subject) => subject.startsWith("boot["));
  return [boots, subjects].find((found) => found.length > 0) ?? ["evidence"];
}

/**
 * Returns the best status that any piece of evidence can have, since verdict and warnings are about all the evidence.
 * The warning about another root is ignored, since a policy that names that root relies on it; `hardware` is then not
 * affirmed. A warning of a check that this version does not know counts as any other.
 */
function bestStatusOf(report: Report, bundle: BundleFacts | null): Tier {
  if (!isGoodVerdict(report.verdict) || hasBadChecks(report) || report.claims === null) return "contraindicated";
  const warned = report.checks.filter(({ status }) => status === "warn");
  const checks = report.checks.map((check): Check =>
    check.id === "chain.anchor" && warned.includes(check) ? { ...check, status: "pass" } : check,
  );
  const hasWarnings = ownClaim({ ...report, checks }, bundle).warnings.length > 0;
  const isKnown = warned.every(({ id }) => checkRow(id) !== undefined);
  return whyNotPassed(report, bundle) === null && !hasWarnings && isKnown ? "affirming" : "warning";
}

type Appraisal = Readonly<Record<string, unknown>> & { readonly ear_status: Tier };

function appraisalOf(label: string, report: Report, bundle: BundleFacts | null, best: Tier): Appraisal {
  const index = bootIndex(label);
  const boot = report.claims?.bootProofs[index];
  const checks = report.checks.filter((check) => (check.about ?? check.subject) === label);
  const passed = (id: CheckId): boolean => checks.find((check) => check.id === id)?.status === "pass";
  const matches = meetsCallersPolicy(report, bundle) && boot?.image.pinned === true && passed("policy.deployment");
  const vector = vectorOf(checks, boot, best === "contraindicated" ? null : { passed, matches });
  const policy = policyUri(report);
  const nonce = nonceOf(report, index);
  return {
    ear_status: worst([best, ...Object.values(vector).map(tierOf)]),
    ear_trustworthiness_vector: vector,
    ...(policy !== null && { ear_appraisal_policy_ids: [policy] }),
    ...(nonce !== null && { eat_nonce: toBase64url(nonce) }),
    ...(boot !== undefined && { ear_attester_claims: attesterClaims(boot) }),
    ear_verifier_claims: verifierClaims(checks, boot),
  };
}

/** Returns the caller's nonce. Null if there is none, or none of 8 to 64 bytes (RFC 9711 section 4.1). */
function nonceOf(report: Report, index: number): Uint8Array | null {
  const hex = report.claims?.bootProofs[index]?.hardware.nonce ?? "";
  return carriesNonce(report, index) && /^(?:..){8,64}$/.test(hex) ? fromHex(hex) : null;
}

/**
 * Returns a value for each claim: the worst value against it or, if there is none, the value of what was verified. No
 * claim of rejected evidence (`verified` is null) is affirmed, even if its checks passed.
 */
function vectorOf(
  checks: readonly Check[],
  boot: BootProofClaims | undefined,
  verified: Omit<Verified, "boot"> | null,
): Readonly<Record<string, number>> {
  const rows = Object.entries<ClaimRow>(CLAIMS) as [TrustClaim, ClaimRow][];
  const values = rows.map(([claim, { worth }]) => {
    const against = checks.flatMap((check) => valueAgainst(claim, check, boot) ?? []);
    const own = (boot && verified && worth?.({ boot, ...verified })) ?? NO_STATEMENT;
    return [claim, against.length > 0 ? gravest(against) : own] as const;
  });
  return Object.fromEntries(values);
}

/** Returns the value, if the check speaks against the claim. AR4SI has no claim about age and about signed content. */
function valueAgainst(claim: TrustClaim, check: Check, boot: BootProofClaims | undefined): number | undefined {
  const group = checkRow(check.id)?.claim;
  const [fail, warn] = (group && AGAINST[group][claim]) ?? [];
  if (isBad(check)) return fail;
  return check.status === "warn" && (group !== "scope" || isLeftOpen(claim, boot)) ? warn : undefined;
}

/** Whether the policy declares the claim open. All claims are, if `policy.scope` has another reason to warn, too. */
function isLeftOpen(claim: TrustClaim, boot: BootProofClaims | undefined): boolean {
  const { question }: ClaimRow = CLAIMS[claim];
  const { open = [], scope = [] } = boot ?? {};
  const hasOtherReasons = open.length === 0 || scope.length !== open.length;
  return hasOtherReasons || open.some((each) => each === question);
}

function pinsCode(boot: BootProofClaims): boolean {
  const { manifest, pinnedPcrs } = boot.image;
  return isVouchedFor(boot) && (manifest !== null || CODE_PCRS.every((index) => pinnedPcrs.includes(index)));
}

function namesOperator({ boot: { image, open }, passed, matches }: Verified): boolean {
  const isNamed = IDENTITY_PINS.some(passed) || OPERATOR_PCRS.some((index) => image.pinnedPcrs.includes(index));
  return matches && isNamed && !open.includes("operator");
}

/**
 * Returns the worst value (draft-ietf-rats-ar4si-10 section 2.3.3): one of the worst tier, preferably a standard value.
 */
function gravest(values: readonly number[]): number {
  const rank = (value: number): number => 1000 * TIERS.indexOf(tierOf(value)) + (value > 0 ? 500 + value : -value);
  return values.reduce((one, other) => (rank(other) > rank(one) ? other : one));
}

/** Returns the tier (draft-ietf-rats-ar4si-10 section 2.3.2). */
function tierOf(value: number): Tier {
  if (value >= -1 && value <= 1) return "none";
  if (value >= -32 && value <= 31) return "affirming";
  return value >= -96 && value <= 95 ? "warning" : "contraindicated";
}

function worst(tiers: readonly Tier[]): Tier {
  return TIERS[Math.max(...tiers.map((tier) => TIERS.indexOf(tier)))]!;
}

/** Returns what identifies the enclave, without the statements of app proofs. */
function attesterClaims({ hardware, image }: BootProofClaims): object {
  const { moduleId, documentTime, pcrs, publicKey, userData } = hardware;
  const { commitment, restsOn, debug } = image;
  const { version, hash, namespace, nonce, quorumKey, pivotHash, workloads } = image.manifest ?? {};
  const manifest = image.manifest && { version, hash, namespace, nonce, quorumKey, pivotHash, workloads };
  return { moduleId, documentTime, pcrs, publicKey, userData, commitment, restsOn, debug, manifest };
}

function verifierClaims(checks: readonly Check[], boot: BootProofClaims | undefined): object {
  return {
    deployment: boot?.deployment ?? null,
    trustAnchor: boot?.hardware.trustAnchor ?? null,
    open: boot?.open ?? [],
    scope: boot?.scope ?? [],
    failed: checks.filter(isBad).map(({ id }) => id),
    warnings: checks.filter(({ status }) => status === "warn").map(({ id }) => id),
  };
}
