/**
 * An activity and its app proofs: whether it is the answer to what was asked, and whether what the enclave signed
 * agrees with what the service says was done (rules: verify/README.md, "Activities").
 */
import { Checklist } from "../checks.js";
import { type Activity, COMPLETED, readActivity } from "../decode/activity.js";
import type { AddressDerivationProof, PolicyOutcome } from "../decode/app-proof.js";
import { type InputCopy, readInput } from "../decode/input.js";
import { type JsonValue, isJsonObject, jsonKey, memberPath } from "../decode/json.js";
import { type Reading, faultText, listed, wholeOf } from "../errors.js";
import { type Coverage, coverageOf } from "./addresses.js";
import type { AppProofUses, UsedFor } from "./app-proof-uses.js";
import type { VerifiedAppProof } from "./app-proof.js";
import {
  type Expectation,
  type Expected,
  activityContradictions,
  comparedMembers,
  isEmpty,
  isSubOrganizationType,
  isVotedOn,
  soleMember,
  unansweredAddresses,
} from "./expectation.js";

/** Types that make keys: whatever address their results hold is new, unless the caller sent it. */
const MAKES_KEYS = /^ACTIVITY_TYPE_(?:CREATE|IMPORT|INIT)_/;

interface ActivityFacts {
  readonly activity: Activity;
  readonly appProofs: readonly VerifiedAppProof[];
  readonly coverage: Coverage;
  readonly expectation: Expectation | null;
  readonly wallet: string | null;
  readonly subOrganizationId: string | null;
}

/** An activity that its verified app proofs agree with. Only verification makes one. */
export class VerifiedActivity {
  readonly #verified = true;
  readonly activity: Activity;
  readonly appProofs: readonly VerifiedAppProof[];
  /** What was asked of it: where it is empty, nobody said whose activity it should be. */
  readonly asked: readonly (keyof Expected)[];
  /** Addresses in the result that an app proof backs, and those that none does. */
  readonly coveredAddresses: readonly string[];
  readonly uncoveredAddresses: readonly string[];
  /** The wallet that it is about; null where it is about none. */
  readonly walletId: string | null;
  /** The new organization that app proofs speak of; null where they all speak of the activity's own. */
  readonly subOrganizationId: string | null;
  /** Members of the result, as paths, that no app proof speaks of. */
  readonly resultWithoutProof: readonly string[];

  /** @internal */
  constructor({ activity, appProofs, coverage, expectation, wallet, subOrganizationId }: ActivityFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedActivity is made by verification only");
    this.activity = activity;
    this.appProofs = appProofs;
    this.asked = comparedMembers(expectation, activity);
    this.coveredAddresses = coverage.covered;
    this.uncoveredAddresses = coverage.uncovered;
    this.walletId = wallet;
    this.subOrganizationId = subOrganizationId;
    this.resultWithoutProof = membersWithoutProof(activity, appProofs, coverage, subOrganizationId);
    Object.freeze(this);
  }

  static isVerified(value: unknown): value is VerifiedActivity {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** Stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

type ReadActivity = Reading<Activity>["value"];

/** What could be read of an activity: its app proofs are judged before it is. */
export interface DecodedActivity {
  readonly checklist: Checklist;
  readonly value: ReadActivity;
  /** Null where there is a fault. */
  readonly whole: Activity | null;
}

/** Checks `activity.decode` of the input, bare or in its wrapper. */
export function decodeActivityInput(input: InputCopy): DecodedActivity {
  const checklist = new Checklist("activity");
  const reading = readInput(input, readActivity);
  checklist.conclude("activity.decode", reading.faults.length > 0 ? [faultText(reading.faults)] : []);
  return { checklist, value: reading.value, whole: wholeOf(reading) };
}

/** What an activity is held against. */
interface ActivityDemands {
  readonly expectation: Expectation | null;
  /** An address without a proof fails, instead of warning. */
  readonly coverage: boolean;
  /** Null: reuse is not asked. */
  readonly uses: AppProofUses | null;
}

/**
 * Checks `activity.request`, `activity.claims` and `activity.coverage`. `appProofs`: all that came with the activity,
 * inside it or beside it: who gives them together says that they are about it. Null stands for one that was rejected.
 */
export function checkActivity(
  decoded: DecodedActivity,
  appProofs: readonly (VerifiedAppProof | null)[],
  { expectation, coverage: required, uses }: ActivityDemands,
): VerifiedActivity | null {
  const { checklist, value, whole } = decoded;
  const proofs = appProofs.filter((proof) => proof !== null);
  const wallet = walletOf(value);
  const derivations = proofs.flatMap(({ payload }) => payload.addressDerivationProof ?? []);
  const coverage = coverageOf({
    intent: soleMember(value.intent),
    result: soleMember(value.result),
    walletId: wallet.id,
    // An intent that was held against what was submitted is the caller's own word.
    mayRepeatIntent: isJsonObject(expectation?.parameters) || !MAKES_KEYS.test(String(value.type)),
    proofs: derivations,
  });
  const answers = checkRequest(expectation, value, coverage, checklist);
  const organization = spokenOf(value, proofs, expectation);
  // Of what could not be read nothing is known to differ.
  const isRead = value.intent !== undefined && value.result !== undefined;
  const contradictions = [
    ...organization.contradictions,
    ...(isRead ? [...wallet.contradictions, ...walletContradictions(wallet, derivations)] : []),
    ...coverage.stray.map(({ address, derivationPath }) => strayText(address, derivationPath)),
    ...outcomeContradictions(proofs, value.status),
    ...reuseContradictions(proofs, usedFor(expectation, value), uses),
  ];
  const { subOrganizationId } = organization;
  const compared = { contradictions, proofs: proofs.length, given: appProofs.length, subOrganizationId };
  const agrees = checkClaims(value, compared, checklist);
  const covers = checkCoverage(value, coverage, required, checklist);
  if (whole === null || !answers || !agrees || !covers) return null;
  const facts = {
    activity: whole,
    appProofs: proofs,
    coverage,
    expectation,
    wallet: wallet.id,
    subOrganizationId,
  };
  return new VerifiedActivity(facts, TOKEN);
}

/** What an activity's app proofs stand for: the request that was sent, where one was, and the activity's id. */
export function usedFor(expectation: Expectation | null, activity: ReadActivity): UsedFor {
  const { organizationId, type, parameters, requestedAt } = expectation ?? {};
  const isSubmitted = parameters && requestedAt && !isVotedOn(expectation, activity);
  const submitted = isSubmitted ? jsonKey([organizationId ?? null, type ?? null, parameters, requestedAt]) : null;
  return { activityId: activity.id ?? "", submitted };
}

function checkRequest(
  expectation: Expectation | null,
  activity: ReadActivity,
  coverage: Coverage,
  checklist: Checklist,
): boolean {
  if (expectation === null) {
    checklist.skip("activity.request", "nobody said what was asked: whose activity it should be is open");
    return true;
  }
  const missing = unansweredAddresses(expectation, coverage.covered);
  const reasons = [
    ...activityContradictions(expectation, activity),
    ...(missing.length === 0 ? [] : [`no app proof in it backs ${listed(missing, ", ")}, which was asked for`]),
  ];
  return checklist.conclude(
    "activity.request",
    reasons,
    `as asked: ${comparedMembers(expectation, activity).join(", ")}`,
  );
}

interface Organizations {
  readonly contradictions: readonly string[];
  /** Where proofs speak of the organization that the activity made, and may. */
  readonly subOrganizationId: string | null;
}

/** A proof speaks of the activity's organization; those of a new sub-organization may speak of that one. */
function spokenOf(
  activity: ReadActivity,
  proofs: readonly VerifiedAppProof[],
  expectation: Expectation | null,
): Organizations {
  const { organizationId } = activity;
  if (organizationId === undefined) return { contradictions: [], subOrganizationId: null };
  const spoken = [...new Set(proofs.flatMap(({ payload }) => claimedOrganization(payload) ?? []))];
  const foreign = spoken.filter((claimed) => claimed !== organizationId);
  const made = madeOrganization(activity, expectation);
  return {
    contradictions: foreign
      .filter((claimed) => claimed !== made)
      .map((claimed) => `an app proof speaks of organization ${claimed}, the activity of ${organizationId}`),
    subOrganizationId: foreign.length > 0 ? made : null,
  };
}

function claimedOrganization({
  addressDerivationProof,
  policyOutcomeProof,
}: VerifiedAppProof["payload"]): string | undefined {
  return (addressDerivationProof ?? policyOutcomeProof)?.organizationId;
}

/** The one place where the result may name an organization: and only of the one type, where no other was asked for. */
function madeOrganization(activity: ReadActivity, expectation: Expectation | null): string | null {
  const asked = expectation?.type ?? activity.type;
  if (!isSubOrganizationType(activity.type) || !isSubOrganizationType(asked)) return null;
  return textMember(soleMember(activity.result), "subOrganizationId");
}

function textMember(value: JsonValue | undefined, name: string): string | null {
  const member = isJsonObject(value) ? value[name] : undefined;
  return typeof member === "string" && member !== "" ? member : null;
}

interface ActivityWallet {
  readonly id: string | null;
  /** The result's own, which a proof without a wallet does not fit. */
  readonly inResult: string | null;
  readonly contradictions: readonly string[];
}

/** The wallet that the activity is about: the intent's, which the result's has to equal; else the result's. */
function walletOf({ intent, result }: ReadActivity): ActivityWallet {
  const [intended, answered] = [walletsIn(soleMember(intent)), walletsIn(soleMember(result))];
  const [inIntent = null, inResult = null] = [intended[0], answered[0]];
  const all = [...new Set([...intended, ...answered])];
  const contradictions = all.length > 1 ? [`intent and result name several wallets: ${listed(all, ", ")}`] : [];
  return { id: inIntent ?? inResult, inResult, contradictions };
}

/** A wallet is named by `walletId`, here or one level down. */
function walletsIn(holder: JsonValue | undefined): string[] {
  const nested = isJsonObject(holder) ? holder["wallet"] : undefined;
  return [textMember(holder, "walletId"), textMember(nested, "walletId")].filter((id) => id !== null);
}

function walletContradictions({ id, inResult }: ActivityWallet, proofs: readonly AddressDerivationProof[]): string[] {
  const named = [...new Set(proofs.map(({ walletId }) => walletId))];
  return named.flatMap((walletId) => {
    if (walletId === undefined)
      return inResult === null ? [] : [`an app proof names no wallet, the result names ${inResult}`];
    return walletId === id ? [] : [`an app proof speaks of wallet ${walletId}, the activity of ${id ?? "none"}`];
  });
}

function strayText(address: string, derivationPath: string | undefined): string {
  const path = derivationPath === undefined ? "without a path" : `at path ${derivationPath}`;
  return `an app proof speaks of address ${address} ${path}, which is nowhere in the result`;
}

/** The outcomes of each organization's last decision, by organization: the order of the proofs says nothing. */
export function lastDecisions(proofs: readonly VerifiedAppProof[]): ReadonlyMap<string, readonly PolicyOutcome[]> {
  const latest = new Map<string, { timestampMs: number; outcomes: PolicyOutcome[] }>();
  for (const {
    payload: { policyOutcomeProof, timestampMs },
  } of proofs) {
    if (policyOutcomeProof === undefined) continue;
    const { organizationId, outcome } = policyOutcomeProof;
    const known = latest.get(organizationId);
    if (known === undefined || timestampMs > known.timestampMs)
      latest.set(organizationId, { timestampMs, outcomes: [outcome] });
    else if (timestampMs === known.timestampMs) known.outcomes.push(outcome);
  }
  return new Map([...latest].map(([organizationId, { outcomes }]) => [organizationId, outcomes]));
}

/** An activity that is completed was allowed: by what the enclave decided last, where it says what it decided. */
function outcomeContradictions(proofs: readonly VerifiedAppProof[], status: string | undefined): string[] {
  if (status !== COMPLETED) return [];
  const denied = [...lastDecisions(proofs)].filter(
    ([, outcomes]) => !outcomes.every((outcome) => outcome === "OUTCOME_ALLOW"),
  );
  return denied.map(
    ([organizationId, outcomes]) =>
      `the enclave's last decision for ${organizationId} is ${outcomes.join(", ")}, and the activity is said to be ` +
      `completed`,
  );
}

function reuseContradictions(proofs: readonly VerifiedAppProof[], use: UsedFor, uses: AppProofUses | null): string[] {
  return uses?.areFree(proofs, use) === false
    ? ["one of its app proofs came with the answer to something else before"]
    : [];
}

/** The caveat of the one exception, which headlines repeat. */
const NEW_ORGANIZATION = "its app proofs speak of a new sub-organization: no enclave signed that it is new, or yours";

/** What comparing an activity with its app proofs came to. */
interface ComparedClaims {
  readonly contradictions: readonly string[];
  /** How many app proofs are verified, of those that were given. */
  readonly proofs: number;
  readonly given: number;
  readonly subOrganizationId: string | null;
}

function checkClaims(
  activity: ReadActivity,
  { contradictions, proofs, given, subOrganizationId }: ComparedClaims,
  checklist: Checklist,
): boolean {
  if (contradictions.length > 0) return checklist.conclude("activity.claims", contradictions);
  if (activity.organizationId === undefined || !activity.intent || !activity.result)
    return checklist.skip("activity.claims", "the activity could not be read");
  if (proofs === 0) return checklist.skip("activity.claims", "there is no verified app proof to compare with");
  if (proofs < given) {
    const rejected = `${given - proofs} of ${given} app proofs were rejected, and are not compared`;
    return checklist.skip("activity.claims", rejected);
  }
  if (subOrganizationId !== null) return checklist.warn("activity.claims", NEW_ORGANIZATION);
  return checklist.pass("activity.claims");
}

function checkCoverage(
  activity: ReadActivity,
  { covered, uncovered }: Coverage,
  required: boolean,
  checklist: Checklist,
): boolean {
  if (activity.result === undefined) return checklist.skip("activity.coverage", "the result could not be read");
  const reason = `no verified app proof backs ${listed(uncovered, ", ")}`;
  if (uncovered.length === 0)
    checklist.pass("activity.coverage", covered.length === 0 ? "the result holds no new address" : undefined);
  else if (required) checklist.fail("activity.coverage", reason);
  else checklist.warn("activity.coverage", reason);
  return uncovered.length === 0 || !required;
}

/** So many are told. */
const MAX_WITHOUT_PROOF = 100;

/** The result's members that no app proof speaks of: whole, but for those in which some place is covered. */
function membersWithoutProof(
  { result }: Activity,
  proofs: readonly VerifiedAppProof[],
  { coveredPaths }: Coverage,
  subOrganizationId: string | null,
): string[] {
  const derivations = proofs.flatMap(({ payload }) => payload.addressDerivationProof ?? []);
  const proven = new Set<JsonValue | undefined>([...derivations.map(({ walletId }) => walletId), subOrganizationId]);
  const provenNames: readonly (string | undefined)[] = ["walletId", "subOrganizationId"];
  const covered = new Set(coveredPaths);
  const partly = new Set(coveredPaths.flatMap(ancestorsOf));
  const walk = (value: JsonValue | undefined, path: string, name?: string): string[] => {
    const isProven = covered.has(path) || (provenNames.includes(name) && proven.has(value));
    if (isEmpty(value) || isProven) return [];
    if (Array.isArray(value) && partly.has(path))
      return value.flatMap((item, index) => walk(item, `${path}[${index}]`));
    if (!isJsonObject(value)) return [path];
    return Object.entries(value).flatMap(([member, inner], index) =>
      walk(inner, memberPath(path, member, index), member),
    );
  };
  return walk(soleMember(result), "").slice(0, MAX_WITHOUT_PROOF);
}

/** Of `wallet.addresses[0]`: `wallet.addresses` and `wallet`. */
function ancestorsOf(path: string): string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index));
}
