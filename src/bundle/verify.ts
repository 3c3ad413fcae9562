/** Verifies a bundle again, and compares the report inside. */
import { plain, requireShape, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, list, objectOf, optional, simple } from "../decode/shapes.js";
import { ParsedPolicy } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import { type Evidence, NO_POLICY_ANY_ENCLAVE, type VerifyOptions, preparedVerification } from "../bootproof.js";
import { fromHex, toHex } from "../bytes.js";
import type { CheckId } from "../checks.js";
import { copyPlain, otherMembers, withoutPrototype } from "../decode/input.js";
import { MalformedError } from "../errors.js";
import {
  NamedEvidence,
  OF_BUNDLE,
  VERIFY_OPTIONS,
  evidenceMembers,
  refuseUnverifiable,
  settingOf,
  withBuilds,
} from "../inputs.js";
import { verifyOptionsOf } from "../plain-settings.js";
import { strictReport } from "../report/conclude.js";
import { reportDifferences } from "../report/differences.js";
import type { Report } from "../report/report.js";
import { type Verification, madeVerification } from "../verification.js";
import { sha256 } from "../verify/digest.js";
import { SignatureCache } from "../verify/signature-cache.js";
import type { Bundle, Judgement } from "./file.js";
import type { ReportDifference, ShownPolicy } from "./text.js";

/**
 * Chooses the policy inside the bundle. The bundle's maker chose that policy, so it may only tighten, and the verdict
 * is `authentic` at best.
 */
export const POLICY_OF_THE_BUNDLE = Symbol("the policy that the bundle's maker chose");

export interface BundleVerifyOptions extends Omit<VerifyOptions, "policy" | "bootProofsOnly"> {
  /** The caller's policy, or explicitly the policy of the bundle, or none. */
  readonly policy: Policy | typeof NO_POLICY_ANY_ENCLAVE | typeof POLICY_OF_THE_BUNDLE;
  /** Sigstore bundles of builds. They come before those inside the bundle. Both together may be at most 64. */
  readonly provenance?: readonly unknown[] | undefined;
}

const OPTIONS: MembersOf<BundleVerifyOptions> = {
  ...otherMembers(VERIFY_OPTIONS, "bootProofsOnly"),
  policy: simple("a policy from parsePolicy, POLICY_OF_THE_BUNDLE or NO_POLICY_ANY_ENCLAVE", isChosenPolicy),
  provenance: optional(list(plain)),
};

function isChosenPolicy(value: unknown): value is BundleVerifyOptions["policy"] {
  return value === POLICY_OF_THE_BUNDLE || value === NO_POLICY_ANY_ENCLAVE || ParsedPolicy.is(value);
}

export interface BundleVerification extends Verification {
  readonly policyFrom: "caller" | "bundle";
  /** Comparison of the report inside the bundle, or null if there is none. */
  readonly packed: PackedReport | null;
  /** The signed policy in the bundle if another version, or another policy, judged. */
  readonly otherPolicy?: ShownPolicy;
}

interface PackedReport {
  /** The time at which the bundle's maker verified, in RFC 3339. */
  readonly now: string;
  /** The verdict by the bundle's policy and time. */
  readonly verdict: Report["verdict"];
  /** Up to 100 differences in verdict, statuses and claims. Texts are not compared, since versions change them. */
  readonly differences: readonly ReportDifference[];
}

/**
 * Verifies the evidence again, and rejects as {@link verifyEvidence} does. The report inside is compared, but not
 * trusted. Under {@link POLICY_OF_THE_BUNDLE} the verdict is `authentic` at best. This function then rejects with
 * TypeError if the bundle has no policy, and with {@link MalformedError} (`bundle`) if that policy allows other trust
 * anchors or debug mode than the options.
 * @example
 * ```ts
 * requireVerified(await verifyBundle(decodeBundle(text), { policy, now: new Date() }));
 * ```
 */
export async function verifyBundle(bundle: Bundle, options: BundleVerifyOptions): Promise<BundleVerification> {
  const given = withoutPrototype(typedOptions("options", options, OPTIONS));
  const { provenance = [], policy: asked, cache = new SignatureCache(), ...others } = given;
  const { evidence: packedEvidence, judgement } = requireShape("bundle", bundle, BUNDLE);
  const policyFrom = asked === POLICY_OF_THE_BUNDLE ? "bundle" : "caller";
  const policy = asked === POLICY_OF_THE_BUNDLE ? policyInside(judgement) : asked;
  const evidence = copyPlain(evidenceMembers(packedEvidence));
  const compared = judgement && packedComparison(evidence, judgement, { ...others, cache });
  const setting = settingOf({ ...others, policy, cache }, policyFrom === "bundle" ? OF_BUNDLE : undefined);
  const verification = await preparedVerification(withBuilds(evidence, provenance), setting)();
  const packed = compared && (await compared()).packed;
  const other = await otherPolicy(judgement?.policy, asked);
  const whole: BundleVerification = { ...verification, policyFrom, packed, ...(other && { otherPolicy: other }) };
  const report = setting.acceptance === "strict" ? await refused(whole) : whole.report;
  return madeVerification<BundleVerification>({ ...whole, report });
}

function policyInside(judgement: Judgement | null): Policy {
  const inside = judgement?.policy;
  if (!inside) throw new TypeError("the bundle has no policy");
  if (inside.signed !== null)
    throw new TypeError("the policy in the bundle is signed, and never judges: pass your own, from openSignedPolicy");
  return inside;
}

const BUNDLE = /* @__PURE__ */ objectOf<Bundle>({ evidence: unchecked, judgement: plain }, { unknown: "ignore" });

/** Returns the signed policy of the bundle if the caller's is not the same payload. */
async function otherPolicy(
  inside: Policy | null | undefined,
  asked: BundleVerifyOptions["policy"],
): Promise<ShownPolicy | null> {
  if (!ParsedPolicy.is(inside) || inside.signed === null) return null;
  const digest = toHex(await sha256(inside.content()));
  const { name, version } = inside.signed;
  return ParsedPolicy.is(asked) && asked.signed?.sha256 === digest ? null : { name, version, sha256: digest };
}

/** Returns the report for a strict caller, who also refuses warnings about the bundle. */
async function refused({ report, ...facts }: BundleVerification): Promise<Report> {
  const { bundleNotices } = await import("./text.js");
  const warnings = bundleNotices(facts, report.verdict).filter(({ kind }) => kind === "warning");
  return strictReport(
    report,
    warnings.map(({ text }) => text),
  );
}

/** Verifies the evidence as the bundle's maker did, and compares the report inside. Null if there is no report. */
export async function verifyAsPacked({ evidence, judgement }: Bundle): Promise<RemadeReport | null> {
  return judgement && packedComparison(copyPlain(evidenceMembers(evidence)), judgement, {})();
}

interface RemadeReport {
  readonly report: Report;
  readonly packed: PackedReport;
}

type CallersOptions = Pick<VerifyOptions, "cache" | "nonce" | "provenanceVerifier">;

/** Copies the evidence at once, and returns a function that verifies it and compares the report. */
function packedComparison(
  evidence: Evidence,
  judgement: Judgement,
  given: CallersOptions,
): () => Promise<RemadeReport> {
  const { cache, nonce, provenanceVerifier } = withoutPrototype(given);
  const options = {
    ...(cache && { cache }),
    ...(nonce && { nonce }),
    ...(provenanceVerifier && { provenanceVerifier }),
  };
  const made = new Date(judgement.now);
  // The caller's options are checked first: a wrong one is a TypeError, but a wrong option of the bundle's maker is a
  // fault of the bundle.
  settingOf({ ...options, policy: NO_POLICY_ANY_ENCLAVE, now: made });
  const judge = preparedAsPacked(evidence, judgement, { ...options, now: made });
  return async () => {
    const { report } = await judge();
    const differences = packedDifferences(judgement.report, report);
    return { report, packed: { now: made.toISOString(), verdict: report.verdict, differences } };
  };
}

function preparedAsPacked(
  evidence: Evidence,
  { policy, options }: Judgement,
  given: CallersOptions & { readonly now: Date },
): () => Promise<Verification> {
  if (policy !== null) refuseUnverifiable(policy, given);
  const { requestedKeys = [], policyFrom = "caller", ...rest } = options;
  try {
    const packed = verifyOptionsOf({ ...rest, policy: null, now: given.now.toISOString() });
    const own: VerifyOptions = { ...given, ...packed, policy: policy ?? NO_POLICY_ANY_ENCLAVE };
    const setting = settingOf(own, policy !== null && policyFrom === "bundle" ? OF_BUNDLE : undefined);
    return preparedVerification(asRequested(evidence, requestedKeys), setting);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new MalformedError("bundle", [{ path: "options", message: error.message }]);
  }
}

function asRequested({ appProofs = [], ...evidence }: Evidence, keys: readonly (string | null)[]): Evidence {
  const bootProofs = evidence.bootProofs.map((piece: unknown, index) => {
    const key = keys[index];
    const value = piece instanceof NamedEvidence ? piece.value : piece;
    return key ? new NamedEvidence(null, value, { ephemeralKey: fromHex(key)! }) : piece;
  });
  // With `bootProofsOnly`, even an empty list of app proofs is refused, so it is left out.
  return { ...evidence, bootProofs, ...(appProofs.length > 0 && { appProofs }) };
}

/**
 * Members that depend on how the report was made. `OF_THE_QUESTION` and `ASKED` name what depends on the request, or on
 * revocation lists, which no bundle contains.
 */
const NOT_COMPARED: readonly string[] = ["tool", "verifiedAt", "policyDigest", "evidence", "refusedFor"];
const OF_THE_QUESTION: readonly string[] = [
  "app.request",
  "activity.request",
  "activity.signature",
  "chain.revocation",
] satisfies readonly CheckId[];
const ASKED =
  /^claims\.(?:activity\.(?:asked|question|signatures|resultWithoutProof)|appProofs\[\d+\]\.(?:expectation|answers))/;

/** Compares the statuses of checks, in any order, and the other members. The report inside may have any shape. */
function packedDifferences(packed: object, report: Report): ReportDifference[] {
  const anew = statusesOf(report.checks);
  const { checks } = packed as { readonly checks?: unknown };
  // Checks that only the report inside has are differences. Their number is limited, because not all are reported.
  const said = Array.isArray(checks) ? statusesOf(checks, anew.size + MAX_EXCESS) : null;
  const excess = [...(said?.keys() ?? [])].filter((place) => !anew.has(place));
  const places = [...anew.keys(), ...excess];
  const compared = {
    packed: { ...packed, ...(said && { checks: places.map((place) => said.get(place)) }) },
    anew: { ...report, checks: [...anew.values()] },
  };
  return reportDifferences(compared.packed, compared.anew, {
    checks: places,
    byValue: true,
    isIgnored: (path) => NOT_COMPARED.includes(path) || ASKED.test(path),
  }).map(({ place, theirs, anew }) => ({ place, packed: theirs, anew }));
}

/** Maximum number of extra checks that are read. It is above the number of differences that are reported. */
const MAX_EXCESS = 1000;

/** Returns statuses by subject and id. Checks of the policy repeat for each boot proof, so their index is added. */
function statusesOf(checks: readonly unknown[], most = Infinity): Map<string, unknown> {
  const statuses = new Map<string, unknown>();
  for (const [index, check] of checks.entries()) {
    const { subject, id, status } = (check ?? {}) as Record<string, unknown>;
    if (OF_THE_QUESTION.includes(id as string)) continue;
    if (statuses.size >= most) break;
    const place = typeof subject === "string" && typeof id === "string" ? `${subject} ${id}` : `checks[${index}]`;
    // Without a time, an app proof has the status `skip` only if it answers a challenge. No bundle contains the
    // challenge, so the status is compared as `warn`.
    const own = id === "app.time" && status === "skip" ? "warn" : status;
    statuses.set(statuses.has(place) ? `${place} (${index})` : place, own);
  }
  return statuses;
}
