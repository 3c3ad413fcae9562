/** Verifies a bundle anew, and tells where the report inside says something else. */
import type { Policy } from "../appraise/policy.js";
import {
  type Evidence,
  NO_POLICY_ANY_ENCLAVE,
  type VerifyOptions,
  preparedVerification,
  verifyEvidence,
  verifyEvidenceUnder,
} from "../bootproof.js";
import type { CheckId } from "../checks.js";
import { copyPlain, ownMembers, ownOptions } from "../decode/input.js";
import { OPTION_NAMES, type OptionsBesidePolicy, evidenceMembers } from "../inputs.js";
import { reportDifferences } from "../report/differences.js";
import type { Report } from "../report/report.js";
import { type Verification, madeVerification } from "../verification.js";
import { SignatureCache } from "../verify/signature-cache.js";
import type { Bundle, Judgement } from "./file.js";

/**
 * In place of a policy: the one inside the bundle, which the bundle's maker chose. It may only tighten, and the verdict
 * is `authentic` at best.
 */
export const POLICY_OF_THE_BUNDLE = Symbol("the policy that the bundle's maker chose");

export interface BundleVerifyOptions extends Omit<VerifyOptions, "policy" | "bootProofsOnly"> {
  /** The caller's own; or, in so many words, the bundle's; or none at all. */
  readonly policy: Policy | typeof NO_POLICY_ANY_ENCLAVE | typeof POLICY_OF_THE_BUNDLE;
}

export interface BundleVerification extends Verification {
  readonly policyFrom: "caller" | "bundle";
  /** The report inside the bundle, held against its evidence; null where there is none. */
  readonly packed: PackedReport | null;
}

interface PackedReport {
  /** RFC 3339: the present that it was made by. */
  readonly now: string;
  /** What its evidence yields, by its policy and as of that time. */
  readonly verdict: Report["verdict"];
  /**
   * Where it says something else, up to a hundred places: verdict, statuses, claims; not words, for versions change
   * them.
   */
  readonly differences: readonly Difference[];
}

/** Values as JSON text, long ones cut; null where one side has none. */
interface Difference {
  /** Such as `verdict`, or `boot[0] cose.signature`. */
  readonly place: string;
  readonly packed: string | null;
  readonly anew: string | null;
}

/**
 * Verifies what is in a bundle, anew: as {@link verifyEvidence} does, which says what it throws, and of what it does
 * not. The report inside is compared, and not believed. Under {@link POLICY_OF_THE_BUNDLE} the verdict is `authentic`
 * at best; throws TypeError where the bundle has no policy, and {@link MalformedError} (`bundle`) where that policy
 * loosens what the options do not: other trust anchors, debug mode.
 */
export async function verifyBundle(bundle: Bundle, options: BundleVerifyOptions): Promise<BundleVerification> {
  const given = ownOptions("options", options as BundleVerifyOptions & BootProofsOnly, OPTION_NAMES);
  if (given.bootProofsOnly !== undefined) throw new TypeError("bootProofsOnly: what a bundle holds, its maker chose");
  const { policy, ...rest } = given;
  const own = ownMembers(bundle, BUNDLE_MEMBERS);
  if (policy !== POLICY_OF_THE_BUNDLE)
    return verified(own, rest, "caller", (evidence, options) => {
      return verifyEvidence(evidence, { ...options, policy });
    });
  const inside = own.judgement?.policy;
  if (!inside) throw new TypeError("the bundle has no policy");
  return verifyBundleUnder(own, inside, rest, "bundle");
}

/** As {@link verifyBundle} under {@link POLICY_OF_THE_BUNDLE}, by a policy that came with the bundle, or around it. */
export async function verifyBundleUnder(
  bundle: Bundle,
  policy: Policy,
  options: OptionsBesidePolicy,
  code: "bundle" | "page",
): Promise<BundleVerification> {
  return verified(bundle, options, "bundle", (evidence, own) => {
    return verifyEvidenceUnder(evidence, { policy, options: own, code });
  });
}

const BUNDLE_MEMBERS: Readonly<Record<keyof Bundle, true>> = { evidence: true, judgement: true };

async function verified(
  { evidence: packedEvidence, judgement }: Bundle,
  given: OptionsBesidePolicy,
  policyFrom: BundleVerification["policyFrom"],
  verify: (evidence: Evidence, options: OptionsBesidePolicy) => Promise<Verification>,
): Promise<BundleVerification> {
  const evidence = copyPlain(evidenceMembers(packedEvidence));
  const options: OptionsBesidePolicy = ownMembers(given as VerifyOptions, OPTION_NAMES);
  const { cache = new SignatureCache() } = options;
  const nonce = options.nonce instanceof Uint8Array ? { nonce: new Uint8Array(options.nonce) } : {};
  // Both are copied before anything is awaited: what they are of is the same evidence.
  const compared = judgement && packedComparison(evidence, judgement, { cache, ...nonce });
  const verification = await verify(evidence, { ...options, cache });
  const packed = compared && (await compared());
  return madeVerification<BundleVerification>({ ...verification, policyFrom, packed });
}

type BootProofsOnly = Pick<VerifyOptions, "bootProofsOnly">;

/** Takes over evidence and judgement; verifies and compares when it is called. */
function packedComparison(
  evidence: Evidence,
  { now, policy, report }: Judgement,
  options: Pick<VerifyOptions, "cache" | "nonce">,
): () => Promise<PackedReport> {
  const made = new Date(now);
  const judge = preparedVerification(evidence, { ...options, policy: policy ?? NO_POLICY_ANY_ENCLAVE, now: made });
  const copied = copyPlain(report);
  return async () => {
    const anew = await judge();
    return {
      now: made.toISOString(),
      verdict: anew.report.verdict,
      differences: packedDifferences(copied, anew.report),
    };
  };
}

/** What a report says of its making; and what depends on what was asked, which no bundle says. */
const NOT_COMPARED: readonly string[] = ["tool", "verifiedAt", "policyDigest", "evidence"];
const OF_THE_QUESTION: readonly string[] = ["app.request", "activity.request"] satisfies readonly CheckId[];
const ASKED = /^claims\.activity\.asked/;
/** What reports of earlier versions do not say: compared where it is said. */
const NOT_ALWAYS_SAID = /^(?:stale|notApplied|claims\.bootProofs\[\d+\]\.image\.restsOn)$/;

/** Of checks the statuses are compared, wherever in the list they are. The packed report may be of any shape. */
function packedDifferences(packed: object, report: Report): Difference[] {
  const anew = statusesOf(report.checks);
  const { checks } = packed as { readonly checks?: unknown };
  // Checks in excess are differences: no more of them need to be read than are reported.
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
    isIgnored: (path, theirs) =>
      NOT_COMPARED.includes(path) || ASKED.test(path) || (theirs === undefined && NOT_ALWAYS_SAID.test(path)),
  }).map(({ place, theirs, anew }) => ({ place, packed: theirs, anew }));
}

/** More than differences are reported. */
const MAX_EXCESS = 1000;

/** The status of each check by subject and id. Under several boot proofs a check of the policy is in the list often. */
function statusesOf(checks: readonly unknown[], most = Infinity): Map<string, unknown> {
  const statuses = new Map<string, unknown>();
  for (const [index, check] of checks.entries()) {
    const { subject, id, status } = (check ?? {}) as Record<string, unknown>;
    if (OF_THE_QUESTION.includes(id as string)) continue;
    if (statuses.size >= most) break;
    const place = typeof subject === "string" && typeof id === "string" ? `${subject} ${id}` : `checks[${index}]`;
    statuses.set(statuses.has(place) ? `${place} (${index})` : place, status);
  }
  return statuses;
}
