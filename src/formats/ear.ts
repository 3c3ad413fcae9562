/** EAT Attestation Results with AR4SI's tiers, as a JWT (formats/README.md, "EAR"). */
import { plain, typedOptions } from "../decode/options.js";
import { type MembersOf, nullish, optional } from "../decode/shapes.js";
import type { BundleFacts } from "../bundle/text.js";
import { fromHex, toUtf8 } from "../bytes.js";
import { type Check, type CheckId, type CheckStatus, type ClaimGroup, checkRow, checksOf } from "../checks.js";
import { printableJson } from "../decode/json.js";
import { hasBadChecks, isBad } from "../report/facts.js";
import { isGoodVerdict } from "../report/accepted.js";
import { type BootProofClaims, type Report, isMadeReport } from "../report/report.js";
import { carriesNonce, isVouchedFor } from "../report/statements.js";
import { WANTED } from "../show/verdict.js";
import {
  OWN_CLAIM,
  type OwnClaim,
  TOOL_URI,
  meetsCallersPolicy,
  ownClaim,
  policyUri,
  toBase64url,
  whyNotPassed,
} from "./results.js";
import { type SigningJwk, type SigningKey, signingKeyOf } from "./signing-key.js";

/** The profile of draft-ietf-rats-ear-04 section 3. */
const PROFILE = "tag:ietf.org,2026:rats/ear#04";
/** The type of RFC 9782 section 6.1, without `application/`, as RFC 7515 section 4.1.9 recommends. */
const TYPE = "eat+jwt";

/** The claims of draft-ietf-rats-ar4si-10 section 2.3.4, in the order of EAR's CDDL. */
const TRUST_CLAIMS = [
  "instance-identity",
  "configuration",
  "executables",
  "file-system",
  "hardware",
  "runtime-opaque",
  "storage-opaque",
  "sourced-data",
] as const;
type TrustClaim = (typeof TRUST_CLAIMS)[number];
type TrustVector = Readonly<Record<TrustClaim, number>>;

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

/**
 * The value of a claim if a check fails (`fail`) or warns (`warn`). Without `warn`, a warning does not change the
 * claim.
 */
interface Speaks {
  readonly claim: TrustClaim;
  readonly fail: number;
  readonly warn?: number;
}

const says = (claim: TrustClaim, fail: number, warn?: number): readonly Speaks[] => [
  { claim, fail, ...(warn !== undefined && { warn }) },
];

const SPEAKS: Readonly<Record<ClaimGroup, readonly Speaks[]>> = {
  hardware: says("hardware", CRYPTOGRAPHY_FAILED),
  anchor: says("hardware", NOT_RECOGNIZED),
  manifest: says("configuration", CONTRAINDICATED, CONFIGURATION_UNAVAILABLE),
  approvals: says("configuration", CRYPTOGRAPHY_FAILED),
  configuration: says("configuration", CONTRAINDICATED),
  code: says("executables", CONTRAINDICATED),
  key: says("instance-identity", CRYPTOGRAPHY_FAILED),
  debug: [
    { claim: "executables", fail: CONTRAINDICATED, warn: UNRECOGNIZED_CODE },
    { claim: "runtime-opaque", fail: CONTRAINDICATED, warn: OWN_WARNING },
  ],
  scope: [
    { claim: "executables", fail: CONTRAINDICATED, warn: UNRECOGNIZED_CODE },
    { claim: "configuration", fail: CONTRAINDICATED, warn: CONFIGURATION_UNAVAILABLE },
    { claim: "instance-identity", fail: NOT_RECOGNIZED, warn: OWN_WARNING },
  ],
  identity: says("instance-identity", NOT_RECOGNIZED),
};

/** The checks that must all pass before `hardware` is affirmed. Without lists of the caller the last one is skipped. */
const HARDWARE_CHECKS = /* @__PURE__ */ checksOf("cose", "doc", "chain").filter((id) => id !== "chain.revocation");

export interface EarOptions {
  /**
   * The key that signs the token. Default: none. The token then has `alg` `none`, and anybody could have written it.
   */
  readonly key?: SigningJwk;
  /** The bundle that contained the evidence. */
  readonly bundle?: BundleFacts | null;
}

const EAR_OPTIONS: MembersOf<EarOptions> = {
  key: optional(plain),
  bundle: nullish(plain),
};

/**
 * Returns the report as an EAR in a JWT, with a line feed at its end. Throws TypeError for a value that is not a report
 * and for an unfit key; no message shows the key. A signature is the verifier's statement, so with a key it also throws
 * TypeError for a report of another process.
 */
export async function renderEar(report: Report, options: EarOptions = {}): Promise<string> {
  const own = typedOptions("options", options, EAR_OPTIONS);
  if (own.key !== undefined && !isMadeReport(report))
    throw new TypeError("report: expected a report of this process: no other report can be signed");
  return earToken(report, own);
}

/** Like {@link renderEar}, for callers that know where the report is from. */
export async function earToken(report: Report, options: EarOptions = {}): Promise<string> {
  const { key, bundle = null } = options;
  const claims = claimsOf(report, bundle);
  return `${key === undefined ? await unsecured(claims) : await signed(claims, key)}\n`;
}

function claimsOf(report: Report, bundle: BundleFacts | null): EarClaims {
  try {
    return earClaims(report, bundle);
  } catch (cause) {
    throw new TypeError(WANTED, { cause });
  }
}

interface Appraisal {
  readonly ear_status: Tier;
  readonly ear_trustworthiness_vector: TrustVector;
  readonly ear_appraisal_policy_ids?: readonly string[];
  readonly eat_nonce?: string;
  readonly ear_attester_claims?: object;
  readonly ear_verifier_claims: object;
}

interface EarClaims {
  readonly [name: string]: unknown;
  readonly submods: Readonly<Record<string, Appraisal>>;
  readonly [OWN_CLAIM]: OwnClaim;
}

function earClaims(report: Report, bundle: BundleFacts | null): EarClaims {
  const own = ownClaim(report, bundle);
  const best = bestStatusOf(report, bundle);
  const submods = attestersOf(report).map((label) => [label, appraisalOf(label, report, bundle, best)] as const);
  const { name, version } = report.tool;
  return {
    eat_profile: PROFILE,
    iat: secondsOf(report.verifiedAt),
    ear_verifier_id: { developer: TOOL_URI, build: `${name} ${version}` },
    ear_status: worst(submods.map(([, { ear_status: status }]) => status)),
    submods: Object.fromEntries(submods),
    [OWN_CLAIM]: own,
  };
}

function secondsOf(time: string): number {
  const milliseconds = Date.parse(time);
  if (Number.isNaN(milliseconds)) throw new TypeError("verifiedAt: not a time");
  return Math.floor(milliseconds / 1000);
}

/**
 * Returns the subjects of the boot proofs, one for each enclave. Without boot proofs, returns those of the other
 * evidence, since the result must be about something.
 */
function attestersOf({ evidence }: Report): string[] {
  const subjects = evidence.map(({ subject }) => String(subject));
  const boots = subjects.filter((subject) => subject.startsWith("boot["));
  if (boots.length > 0) return boots;
  return subjects.length > 0 ? subjects : ["evidence"];
}

/**
 * Returns the best status that any piece of evidence can have, since verdict and warnings are about all the evidence.
 */
function bestStatusOf(report: Report, bundle: BundleFacts | null): Tier {
  if (!isGoodVerdict(report.verdict) || hasBadChecks(report) || report.claims === null) return "contraindicated";
  const isPassed = whyNotPassed(report, bundle) === null;
  const isAffirmed = isPassed && !hasWarnings(report, bundle) && !warnsOfUnknown(report);
  return isAffirmed ? "affirming" : "warning";
}

/**
 * Whether the report has warnings other than the one about another root. A policy that names that root relies on it, so
 * that warning is ignored here; `hardware` is then not affirmed.
 */
function hasWarnings({ checks, ...report }: Report, bundle: BundleFacts | null): boolean {
  const known = checks.map((check): Check => (isOtherRoot(check) ? { ...check, status: "pass" } : check));
  return ownClaim({ ...report, checks: known }, bundle).buts.length > 0;
}

/** Whether a check that this version does not know has a warning. Such a warning has the same effect as any other. */
function warnsOfUnknown({ checks }: Report): boolean {
  return checks.some(({ id, status }) => status === "warn" && checkRow(id) === undefined);
}

function isOtherRoot({ id, status }: Check): boolean {
  return id === "chain.anchor" && status === "warn";
}

function appraisalOf(label: string, report: Report, bundle: BundleFacts | null, best: Tier): Appraisal {
  const index = indexOf(label, report);
  const boot = index === null ? undefined : report.claims?.bootProofs[index];
  const checks = report.checks.filter((check) => (check.about ?? check.subject) === label);
  const vector = vectorOf(checks, boot, { best, isPinned: meetsCallersPolicy(report, bundle) });
  const policy = policyUri(report);
  const nonce = index !== null && carriesNonce(report, index) ? nonceText(boot?.hardware.nonce ?? "") : null;
  return {
    ear_status: worst([best, ...Object.values(vector).map(tierOf)]),
    ear_trustworthiness_vector: vector,
    ...(policy !== null && { ear_appraisal_policy_ids: [policy] }),
    ...(nonce !== null && { eat_nonce: nonce }),
    ...(boot !== undefined && { ear_attester_claims: attesterClaims(boot) }),
    ear_verifier_claims: verifierClaims(checks, boot),
  };
}

function indexOf(label: string, { evidence }: Report): number | null {
  const boots = evidence.filter(({ subject }) => subject.startsWith("boot["));
  const index = boots.findIndex(({ subject }) => subject === label);
  return index < 0 ? null : index;
}

/** Returns the nonce as base64url. Null unless it has 8 to 64 bytes (RFC 9711 section 4.1). */
function nonceText(hex: string): string | null {
  const bytes = fromHex(hex);
  return bytes !== null && bytes.length >= 8 && bytes.length <= 64 ? toBase64url(bytes) : null;
}

interface Circumstances {
  readonly best: Tier;
  readonly isPinned: boolean;
}

/** Returns a value for each claim: the worst value against it or, if there is none, the value of what was verified. */
function vectorOf(checks: readonly Check[], boot: BootProofClaims | undefined, how: Circumstances): TrustVector {
  const against = valuesAgainst(checks, boot);
  const value = (claim: TrustClaim): number => {
    const values = against.filter((each) => each.claim === claim).map((each) => each.value);
    return values.length > 0 ? gravest(values) : valueFor(claim, checks, boot, how);
  };
  return Object.fromEntries(TRUST_CLAIMS.map((claim) => [claim, value(claim)])) as Record<TrustClaim, number>;
}

function valuesAgainst(
  checks: readonly Check[],
  boot: BootProofClaims | undefined,
): { readonly claim: TrustClaim; readonly value: number }[] {
  return checks.flatMap((check) => {
    const group = checkRow(check.id)?.claim;
    // Checks of age or of signed content have no rows, since AR4SI has no claim about them.
    const rows = group === undefined ? [] : SPEAKS[group];
    const affected = check.id === "policy.scope" && check.status === "warn" ? rows.filter(isLeftOpen(boot)) : rows;
    return affected.flatMap(({ claim, fail, warn }) => {
      if (isBad(check)) return [{ claim, value: fail }];
      return check.status === "warn" && warn !== undefined ? [{ claim, value: warn }] : [];
    });
  });
}

/**
 * Returns a filter for the claims that the policy declares open. It selects all claims if `policy.scope` also has
 * another reason to warn.
 */
function isLeftOpen(boot: BootProofClaims | undefined): (row: Speaks) => boolean {
  const open = boot?.open ?? [];
  if (open.length === 0 || boot?.scope.length !== open.length) return () => true;
  return ({ claim }) =>
    (claim === "executables" && open.includes("application")) ||
    (claim === "instance-identity" && open.includes("operator")) ||
    (claim === "configuration" && open.includes("application"));
}

/**
 * Returns the value of a claim that nothing speaks against. For rejected evidence no claim is affirmed, even if its
 * checks passed.
 */
function valueFor(
  claim: TrustClaim,
  checks: readonly Check[],
  boot: BootProofClaims | undefined,
  { best, isPinned }: Circumstances,
): number {
  if (best === "contraindicated" || boot === undefined) return NO_STATEMENT;
  const passed = (id: CheckId): boolean => statusOf(checks, id) === "pass";
  const matches = isPinned && boot.image.pinned && passed("policy.deployment");
  return WORTH[claim]?.({ boot, passed, matches }) ?? NO_STATEMENT;
}

interface Verified {
  readonly boot: BootProofClaims;
  readonly passed: (id: CheckId) => boolean;
  readonly matches: boolean;
}

/** The value of each claim that can be affirmed. The other claims are left without a statement. */
const WORTH: Readonly<Partial<Record<TrustClaim, (verified: Verified) => number>>> = {
  "instance-identity": ({ boot, passed, matches }) =>
    matches && namesOperator(boot, passed) ? AFFIRMED : NO_STATEMENT,
  configuration: ({ passed, matches }) => (matches && CONFIGURATION_PINS.some(passed) ? AFFIRMED : NO_STATEMENT),
  executables: ({ boot, matches }) => (matches && pinsCode(boot) ? BOOTED_AS_APPROVED : UNRECOGNIZED_CODE),
  hardware: ({ passed }) => (HARDWARE_CHECKS.every(passed) ? AFFIRMED : NO_STATEMENT),
};

function statusOf(checks: readonly Check[], id: CheckId): CheckStatus | undefined {
  return checks.find((check) => check.id === id)?.status;
}

const CONFIGURATION_PINS: readonly CheckId[] = ["policy.manifest-set", "policy.manifest-hash"];
const IDENTITY_PINS: readonly CheckId[] = [...CONFIGURATION_PINS, "policy.quorum-key", "policy.public-key"];
/** The PCRs of the image. `OPERATOR_PCRS` are those of its role, instance and signing certificate. */
const CODE_PCRS = [0, 1, 2];
const OPERATOR_PCRS = [3, 4, 8];

function pinsCode(boot: BootProofClaims): boolean {
  const { manifest, pinnedPcrs } = boot.image;
  return isVouchedFor(boot) && (manifest !== null || CODE_PCRS.every((index) => pinnedPcrs.includes(index)));
}

function namesOperator({ image, open }: BootProofClaims, passed: (id: CheckId) => boolean): boolean {
  const isNamed = IDENTITY_PINS.some(passed) || OPERATOR_PCRS.some((index) => image.pinnedPcrs.includes(index));
  return isNamed && !open.includes("operator");
}

/**
 * Returns the worst value (draft-ietf-rats-ar4si-10 section 2.3.3): one of the worst tier, preferably a standard value.
 */
function gravest(values: readonly number[]): number {
  const tier = worst(values.map(tierOf));
  const own = values.filter((value) => tierOf(value) === tier);
  const standard = own.filter((value) => value > 0);
  return standard.length > 0 ? Math.max(...standard) : Math.min(...own);
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
  const { manifest, commitment, restsOn, debug } = image;
  return {
    moduleId,
    documentTime,
    pcrs,
    publicKey,
    userData,
    commitment,
    restsOn,
    debug,
    manifest: manifest && {
      version: manifest.version,
      hash: manifest.hash,
      namespace: manifest.namespace,
      nonce: manifest.nonce,
      quorumKey: manifest.quorumKey,
      pivotHash: manifest.pivotHash,
      workloads: manifest.workloads,
    },
  };
}

function verifierClaims(checks: readonly Check[], boot: BootProofClaims | undefined): object {
  const idsOf = (wanted: (check: Check) => boolean): string[] => checks.filter(wanted).map(({ id }) => id);
  return {
    deployment: boot?.deployment ?? null,
    trustAnchor: boot?.hardware.trustAnchor ?? null,
    open: boot?.open ?? [],
    scope: boot?.scope ?? [],
    failed: idsOf(isBad),
    warnings: idsOf(({ status }) => status === "warn"),
  };
}

async function unsecured(claims: EarClaims): Promise<string> {
  const { UnsecuredJWT } = await import("jose");
  return new UnsecuredJWT({ ...claims }).encode();
}

async function signed(claims: EarClaims, jwk: SigningJwk): Promise<string> {
  const key = await earSigningKey(jwk);
  return sign(printableJson(JSON.stringify(claims)), key, TYPE);
}

/**
 * Returns a signing key after its public half has verified a trial signature. Throws TypeError; no message shows the
 * key.
 */
export async function earSigningKey(jwk: SigningJwk): Promise<SigningKey> {
  const key = signingKeyOf(jwk);
  const { compactVerify, importJWK } = await import("jose");
  const signs = await sign("", key, "probe")
    .then(async (token) => compactVerify(token, await importJWK(key.publicJwk, key.alg)))
    .then(() => true)
    .catch(() => false);
  if (!signs) throw new TypeError("signing key: damaged, or its members are of different keys");
  return key;
}

async function sign(payload: string, { alg, kid, privateJwk }: SigningKey, typ: string): Promise<string> {
  const { CompactSign, importJWK } = await import("jose");
  return new CompactSign(toUtf8(payload))
    .setProtectedHeader({ alg, typ, ...(kid !== null && { kid }) })
    .sign(await importJWK(privateJwk, alg));
}
