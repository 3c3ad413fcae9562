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
import { copyPlain, otherMembers, ownMembers, ownOptions } from "../decode/input.js";
import { type JsonObject, memberPath } from "../decode/json.js";
import { cut } from "../errors.js";
import { type OptionsBesidePolicy, evidenceMembers } from "../inputs.js";
import type { Report } from "../report/report.js";
import { type Verification, madeVerification } from "../verification.js";
import { SignatureCache } from "../verify/signature-cache.js";
import type { Bundle, Judgement } from "./file.js";

/**
 * More statements than the report of any bundle has. What goes beyond is not compared, and counts as a difference.
 */
const MAX_STATEMENTS = 100_000;
/** Characters of their places. */
const MAX_PLACES = 8 * 1024 * 1024;
/** A report that differs in more places is another report. */
const MAX_DIFFERENCES = 100;
const MAX_VALUE = 1000;
const UNCOMPARED = '"not compared"';

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
  const given = ownOptions("options", options as BundleVerifyOptions & BootProofsOnly, NAMES);
  if (given.bootProofsOnly !== undefined) throw new TypeError("bootProofsOnly: what a bundle holds, its maker chose");
  const { policy } = given;
  const rest = otherMembers(given, "policy");
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
  const options: OptionsBesidePolicy = ownMembers(given, OPTIONS_BESIDE_POLICY);
  const { cache = new SignatureCache() } = options;
  const nonce = options.nonce instanceof Uint8Array ? { nonce: new Uint8Array(options.nonce) } : {};
  // Both are copied before anything is awaited: what they are of is the same evidence.
  const compared = judgement && packedComparison(evidence, judgement, { cache, ...nonce });
  const verification = await verify(evidence, { ...options, cache });
  const packed = compared && (await compared());
  return madeVerification<BundleVerification>({ ...verification, policyFrom, packed });
}

type BootProofsOnly = Pick<VerifyOptions, "bootProofsOnly">;

const OPTIONS_BESIDE_POLICY: Readonly<Record<keyof OptionsBesidePolicy, true>> = {
  now: true,
  at: true,
  trustAnchors: true,
  measurements: true,
  ephemeralKey: true,
  nonce: true,
  expected: true,
  allowDebug: true,
  cache: true,
  uses: true,
  bootProofsOnly: true,
};
const NAMES = { policy: true, ...OPTIONS_BESIDE_POLICY } as const;

/** Takes over evidence and judgement; verifies and compares when it is called. */
function packedComparison(
  evidence: Evidence,
  { now, policy, report }: Judgement,
  options: Pick<VerifyOptions, "cache" | "nonce">,
): () => Promise<PackedReport> {
  const made = new Date(now);
  const judge = preparedVerification(evidence, { ...options, policy: policy ?? NO_POLICY_ANY_ENCLAVE, now: made });
  const copied = copyPlain(report);
  const said = statements(copied);
  const names = new Set(Object.keys(copied));
  return async () => {
    const anew = await judge();
    return {
      now: made.toISOString(),
      verdict: anew.report.verdict,
      differences: differences(said, statements(withoutUnsaid(anew.report, names))),
    };
  };
}

function withoutUnsaid(anew: Report, packed: ReadonlySet<string>): object {
  return Object.fromEntries(
    Object.entries(anew).filter(([name]) => !NOT_ALWAYS_SAID.includes(name) || packed.has(name)),
  );
}

/** What is not compared counts as a difference: nothing passes that was not looked at. */
function differences(packed: Statements, anew: Statements): Difference[] {
  const found = [...new Set([...packed.keys(), ...anew.keys()])]
    .map((place) => ({ place, packed: packed.get(place) ?? null, anew: anew.get(place) ?? null }))
    .filter(({ place, packed, anew }) => packed !== anew && !(packed === null && NEW_PLACE.test(place)));
  const rest =
    packed.isFull || anew.isFull
      ? [{ place: "(the rest, which is too long)", packed: UNCOMPARED, anew: UNCOMPARED }]
      : [];
  return [...rest, ...found].slice(0, MAX_DIFFERENCES);
}

/** What a report says of its making; and what depends on what was asked, which no bundle says. */
const NOT_COMPARED = ["tool", "verifiedAt", "policyDigest", "evidence"];
/** What reports of earlier versions do not say: compared where it is said. */
const NOT_ALWAYS_SAID = ["stale", "notApplied"];
const NEW_PLACE = /^claims\.bootProofs\[\d+\]\.image\.restsOn$/;
const OF_THE_QUESTION: readonly string[] = ["app.request", "activity.request"] satisfies readonly CheckId[];

/** What a report says, by place, as far as there is room. */
class Statements extends Map<string, string> {
  #left = MAX_PLACES;

  get isFull(): boolean {
    return this.size >= MAX_STATEMENTS || this.#left <= 0;
  }

  override set(place: string, text: string): this {
    this.#left -= place.length;
    return super.set(place, text);
  }
}

/** The packed one may be of any shape. */
function statements(report: object): Statements {
  const said = new Statements();
  for (const [index, [name, value]] of Object.entries(report).entries()) {
    if (name === "checks" && Array.isArray(value))
      value.slice(0, MAX_STATEMENTS).forEach((check, index) => addStatus(check, index, said));
    else if (!NOT_COMPARED.includes(name)) addValue(said, memberPath("", name, index), value as unknown);
  }
  for (const place of [...said.keys()]) if (place.startsWith("claims.activity.asked")) said.delete(place);
  return said;
}

function addStatus(check: unknown, index: number, said: Statements): void {
  const { id } = (check ?? {}) as Record<string, unknown>;
  if (!OF_THE_QUESTION.includes(id as string)) said.set(...statusOf(check, index, said));
}

function statusOf(check: unknown, index: number, said: ReadonlyMap<string, string>): [string, string] {
  const { subject, id, status } = (check ?? {}) as Record<string, unknown>;
  const place = typeof subject === "string" && typeof id === "string" ? `${subject} ${id}` : `checks[${index}]`;
  // Under several boot proofs a check of the policy has an answer for each.
  return [said.has(place) ? `${place} (${index})` : place, jsonText(status)];
}

function addValue(said: Statements, place: string, value: unknown): void {
  if (said.isFull) return;
  if (typeof value !== "object" || value === null || isEmpty(value)) {
    if (value !== undefined) said.set(place, jsonText(value));
    return;
  }
  let index = 0;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    addValue(
      said,
      Array.isArray(value) ? `${place}[${name}]` : memberPath(place, name, index),
      (value as JsonObject)[name],
    );
    index++;
  }
}

function isEmpty(value: object): boolean {
  for (const name in value) if (Object.hasOwn(value, name)) return false;
  return true;
}

function jsonText(value: unknown): string {
  return cut(JSON.stringify(value) ?? "null", MAX_VALUE);
}
