/**
 * The checks of an activity: whether it is the response to the request, and whether its app proofs agree with what the
 * service reports (verify/README.md, "Activities"). This file is loaded only for an activity. bin/build.mjs bundles it
 * with copies of its imports, so nothing here may keep state.
 */
import type { Cause, Checklist } from "../checks.js";
import { type Activity, COMPLETED, readActivity, soleMember } from "../decode/activity.js";
import { isSubOrganizationType } from "../decode/activity-rules.js";
import type { AddressDerivationProof } from "../decode/app-proof.js";
import { type InputCopy, readInput, unwrap } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject, memberPath } from "../decode/json.js";
import { decimalKey } from "../decode/json-numbers.js";
import { type Reading, listed, wholeOf } from "../errors.js";
import { type Coverage, coverageOf } from "./addresses.js";
import type { SignedRequest, VerifiedSignature, VerifiedSignatures } from "./signatures.js";
import type { AppProofUses, UsedFor } from "./app-proof-uses.js";
import { type VerifiedAppProof, lastDecisions } from "./app-proof.js";
import {
  type ActivityQuestion,
  activityContradictions,
  activityQuestion,
  claimOf,
  comparedMembers,
  isEmpty,
  isVotedOn,
  organizationCauses,
  unansweredAddresses,
} from "./contradictions.js";
import type { Expectation, Expected } from "./expectation.js";
import { type UnfinishedActivity, faultsBesideResult, unfinishedOf } from "./unfinished.js";

/**
 * Activity types that make keys, so their results have new addresses. Such an address needs an app proof even if the
 * intent repeats it, because an end user may have chosen the address in the intent.
 */
const MAKES_KEYS = /^ACTIVITY_TYPE_(?:CREATE|IMPORT|INIT)_/;

/** Facts of an activity, or null unless every check passed, and the app proofs that contradict it each by itself. */
interface CheckedActivity {
  readonly facts: ActivityFacts | null;
  readonly contradicted: ReadonlySet<VerifiedAppProof | null>;
}

export interface ActivityFacts {
  readonly activity: Activity;
  readonly appProofs: readonly VerifiedAppProof[];
  readonly asked: readonly (keyof Expected)[];
  readonly question: ActivityQuestion | null;
  readonly coveredAddresses: readonly string[];
  readonly uncoveredAddresses: readonly string[];
  readonly walletId: string | null;
  readonly subOrganizationId: string | null;
  readonly resultWithoutProof: readonly string[];
  readonly signatures: readonly VerifiedSignature[] | null;
}

type ReadActivity = Reading<Activity>["value"];

export interface ActivityReading {
  readonly checklist: Checklist;
  readonly value: ReadActivity;
  /** The activity, or null if any part of it has a fault. */
  readonly whole: Activity | null;
  /** What the activity waits for. Null if it is finished, or has no status. */
  readonly unfinished: UnfinishedActivity | null;
}

/** Runs `activity.decode` on an activity, bare or in its wrapper. */
export function readActivityInput(input: InputCopy, checklist: Checklist): ActivityReading {
  const reading = readInput(input, readActivity);
  const activity = unwrap(input.value, "activity") as JsonValue | undefined;
  const unfinished = unfinishedOf(activity);
  const faults = unfinished ? faultsBesideResult(activity as JsonObject, reading.faults) : reading.faults;
  // `activity.request` then says what the activity waits for.
  if (faults.length < reading.faults.length && faults.length === 0)
    checklist.skip("activity.decode", unfinished!.state);
  else checklist.decoded("activity.decode", faults);
  return { checklist, value: reading.value, whole: wholeOf(reading), unfinished };
}

export interface ActivityDemands {
  readonly expectation: Expectation | null;
  /** Whether an address without a proof is a failure instead of a warning. */
  readonly coverage: boolean;
  /** Memory of used app proofs, and what they are used for. Null means that reuse is not checked. */
  readonly uses: AppProofUses | null;
  readonly use: UsedFor | null;
  /** The signatures, or null if the request asks for none. */
  readonly signatures: VerifiedSignatures | Unverified | null;
  /** Reasons for which the caller refuses the activity. */
  readonly refusals: readonly string[];
}

/**
 * Runs `activity.request`, `activity.claims` and `activity.coverage`, and `activity.signature` if the request asks for
 * signatures. `appProofs` are all app proofs of the verification, with null for a rejected one. The function is
 * synchronous: nothing may be awaited between the check of reuse and the record of the use.
 */
export function checkActivity(
  decoded: ActivityReading,
  appProofs: readonly (VerifiedAppProof | null)[],
  demands: ActivityDemands,
): CheckedActivity {
  const { expectation, coverage: required, signatures } = demands;
  const { checklist, value, whole } = decoded;
  const proofs = appProofs.filter((proof) => proof !== null);
  const wallet = walletOf(value);
  const derivations = derivationsOf(proofs);
  const coverage = coverageOf({
    intent: soleMember(value.intent),
    result: soleMember(value.result),
    walletId: wallet.id,
    makesKeys: MAKES_KEYS.test(String(value.type)),
    proofs: derivations,
  });
  const answers = checkRequest(demands, decoded, coverage);
  const made = madeOrganization(value, expectation);
  const organization = spokenOf(value, proofs, made);
  const isRead = value.intent !== undefined && value.result !== undefined;
  const found: readonly (readonly [Cause, readonly string[]])[] = [
    ["two-organizations", organization.contradictions],
    ["activity.claims", isRead ? [...wallet.contradictions, ...walletContradictions(wallet, proofs)] : []],
    ["activity.claims", coverage.stray.map(({ address, derivationPath }) => strayText(address, derivationPath))],
    ["denied", outcomeContradictions(proofs, value.status)],
    ["used-before", reuseContradictions(proofs, demands)],
  ];
  const contradictions = found.flatMap(([, texts]) => texts);
  const causes = found.filter(([, texts]) => texts.length > 0).map(([cause]) => cause);
  const { subOrganizationId } = organization;
  const compared = { contradictions, causes, proofs: proofs.length, given: appProofs.length, subOrganizationId };
  const agrees = checkClaims(decoded, compared);
  const covers = checkCoverage(decoded, coverage, required);
  const isSigned = checkSignatures(signatures, checklist);
  const stray = new Set(coverage.stray);
  const isContradicted = (proof: VerifiedAppProof): boolean =>
    spokenOf(value, [proof], made).contradictions.length > 0 ||
    (isRead && walletContradictions(wallet, [proof]).length > 0) ||
    derivationsOf([proof]).some((derivation) => stray.has(derivation));
  const contradicted = new Set(contradictions.length === 0 ? [] : proofs.filter(isContradicted));
  if (whole === null || !answers || !agrees || !covers || !isSigned) return { facts: null, contradicted };
  const signed = typeof signatures === "string" ? null : signatures;
  const facts = {
    activity: whole,
    appProofs: proofs,
    asked: comparedMembers(expectation, whole),
    question: activityQuestion(expectation, whole),
    coveredAddresses: coverage.covered,
    uncoveredAddresses: coverage.uncovered,
    walletId: wallet.id,
    subOrganizationId,
    resultWithoutProof: membersWithoutProof(whole, proofs, coverage, subOrganizationId).filter(
      (path) => !signed?.provenMembers.includes(path),
    ),
    signatures: signed && signed.signatures,
  };
  return { facts, contradicted };
}

function derivationsOf(proofs: readonly VerifiedAppProof[]): AddressDerivationProof[] {
  return proofs.flatMap(({ payload }) => payload.addressDerivationProof ?? []);
}

/** Returns what identifies the activity that uses app proofs: its id and, if there is one, the submitted request. */
export function usedFor(
  { expectation, began }: Pick<ActivityDemands, "expectation"> & { readonly began: number | null },
  activity: ReadActivity,
): UsedFor {
  const { organizationId, type, parameters, requestedAt } = expectation ?? {};
  const isSubmitted = parameters && requestedAt && !isVotedOn(expectation, activity);
  const submitted = isSubmitted ? decimalKey([organizationId ?? null, type ?? null, parameters, requestedAt]) : null;
  const call = began === null || expectation === null ? null : { began, request: expectation };
  return { activityId: activity.id ?? "", submitted, call };
}

const VOTED_ON =
  "the answer to a vote is the activity that was voted on; only its fingerprint was compared, so type and parameters " +
  "are the service's word: verify the activity with the request that was voted on, or compare them with what you " +
  "meant to vote on";

function checkRequest(
  { expectation, refusals }: ActivityDemands,
  { checklist, value: activity, whole, unfinished }: ActivityReading,
  coverage: Coverage,
): boolean {
  // An unfinished activity without app proofs fails here, even if nothing is expected.
  if (expectation === null && refusals.length === 0 && (unfinished === null || whole !== null)) {
    checklist.skip("activity.request", "nothing is expected, so the owner of the activity is not checked");
    return true;
  }
  const reasons = [...refusals, ...(expectation === null ? [] : activityContradictions(expectation, activity))];
  if (unfinished !== null) return failUnfinished(unfinished, reasons, checklist);
  const missing = unansweredAddresses(expectation, coverage.covered);
  if (missing.length > 0) reasons.push(`no app proof in it backs ${listed(missing, ", ")}, which was expected`);
  if (reasons.length > 0) {
    const organizations = [expectation?.organizationId, activity.organizationId] as const;
    const causes = organizationCauses("activity.request", organizations, reasons);
    return checklist.conclude("activity.request", [...new Set(reasons)], undefined, { causes });
  }
  if (isVotedOn(expectation, activity)) return checklist.warn("activity.request", VOTED_ON);
  return checklist.pass("activity.request", `as expected: ${comparedMembers(expectation, activity).join(", ")}`);
}

/** Reports what the activity waits for. If the activity is not the expected one, that matters more. */
function failUnfinished(
  { text, cause }: UnfinishedActivity,
  reasons: readonly string[],
  checklist: Checklist,
): boolean {
  const causes = reasons.length === 0 ? [cause] : [];
  return checklist.conclude("activity.request", [...new Set([...reasons, text])], undefined, { causes });
}

interface Organizations {
  readonly contradictions: readonly string[];
  /** The organization that the activity creates, or null if no proof names it. */
  readonly subOrganizationId: string | null;
}

/** Returns a contradiction for each organization that a proof names, unless it is the activity's own or a new one. */
function spokenOf(
  { organizationId }: ReadActivity,
  proofs: readonly VerifiedAppProof[],
  made: string | null,
): Organizations {
  if (organizationId === undefined) return { contradictions: [], subOrganizationId: null };
  const spoken = [...new Set(proofs.flatMap(({ payload }) => claimOf(payload)?.organizationId ?? []))];
  const foreign = spoken.filter((claimed) => claimed !== organizationId);
  return {
    contradictions: foreign
      .filter((claimed) => claimed !== made)
      .map((claimed) => `an app proof names organization ${claimed}, the activity names ${organizationId}`),
    subOrganizationId: foreign.length > 0 ? made : null,
  };
}

/**
 * Returns the organization in the result that the activity creates. Null if there is none, or if the activity's type or
 * the expected type creates none.
 */
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
  /** Id of the wallet in the result. If it is not null, a proof that names no wallet is a contradiction. */
  readonly inResult: string | null;
  readonly contradictions: readonly string[];
}

function walletOf({ intent, result }: ReadActivity): ActivityWallet {
  const [intended, answered] = [walletsIn(soleMember(intent)), walletsIn(soleMember(result))];
  const [inIntent = null, inResult = null] = [intended[0], answered[0]];
  const all = [...new Set([...intended, ...answered])];
  const contradictions = all.length > 1 ? [`intent and result name several wallets: ${listed(all, ", ")}`] : [];
  return { id: inIntent ?? inResult, inResult, contradictions };
}

function walletsIn(holder: JsonValue | undefined): string[] {
  const nested = isJsonObject(holder) ? holder["wallet"] : undefined;
  return [textMember(holder, "walletId"), textMember(nested, "walletId")].filter((id) => id !== null);
}

function walletContradictions({ id, inResult }: ActivityWallet, proofs: readonly VerifiedAppProof[]): string[] {
  const named = [...new Set(derivationsOf(proofs).map(({ walletId }) => walletId))];
  return named.flatMap((walletId) => {
    if (walletId === undefined)
      return inResult === null ? [] : [`an app proof names no wallet, the result names ${inResult}`];
    return walletId === id ? [] : [`an app proof names wallet ${walletId}, the activity names ${id ?? "none"}`];
  });
}

function strayText(address: string, derivationPath: string | undefined): string {
  const path = derivationPath === undefined ? "without a path" : `at path ${derivationPath}`;
  return `an app proof names address ${address} ${path}, which is not in the result`;
}

function outcomeContradictions(proofs: readonly VerifiedAppProof[], status: string | undefined): string[] {
  if (status !== COMPLETED) return [];
  const denied = [...lastDecisions(proofs)].filter(
    ([, outcomes]) => !outcomes.every((outcome) => outcome === "OUTCOME_ALLOW"),
  );
  return denied.map(
    ([organizationId, outcomes]) =>
      `the enclave's last decision for ${organizationId} is ${outcomes.join(", ")}, but the activity is completed`,
  );
}

function reuseContradictions(proofs: readonly VerifiedAppProof[], { uses, use }: ActivityDemands): string[] {
  const isReused = use !== null && uses?.areFree(proofs, use) === false;
  return isReused ? ["one of its app proofs was used for another activity before"] : [];
}

const NEW_ORGANIZATION = "its app proofs name a new sub-organization: no enclave signed that it is new or yours";

interface ComparedClaims {
  readonly contradictions: readonly string[];
  readonly causes: readonly Cause[];
  readonly proofs: number;
  readonly given: number;
  readonly subOrganizationId: string | null;
}

function checkClaims(
  { checklist, value: activity, whole, unfinished }: ActivityReading,
  { contradictions, causes, proofs, given, subOrganizationId }: ComparedClaims,
): boolean {
  if (contradictions.length > 0) return checklist.conclude("activity.claims", contradictions, undefined, { causes });
  if (unfinished !== null && whole === null) return checklist.skip("activity.claims", unfinished.state);
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
  { checklist, value: activity, whole, unfinished }: ActivityReading,
  { covered, uncovered }: Coverage,
  required: boolean,
): boolean {
  if (unfinished !== null && whole === null) return checklist.skip("activity.coverage", unfinished.state);
  if (activity.result === undefined) return checklist.skip("activity.coverage", "the result could not be read");
  const reason = `no verified app proof backs ${listed(uncovered, ", ")}`;
  if (uncovered.length === 0)
    checklist.pass("activity.coverage", covered.length === 0 ? "the result holds no new address" : undefined);
  else if (required) checklist.fail("activity.coverage", reason);
  else checklist.warn("activity.coverage", reason);
  return uncovered.length === 0 || !required;
}

const SIGNING_TYPE = /^ACTIVITY_TYPE_SIGN_(RAW_PAYLOADS?|TRANSACTION)(?:_V[0-9]+)?$/;
const KINDS: Readonly<Record<string, SignedRequest["kind"]>> = {
  RAW_PAYLOAD: "payload",
  RAW_PAYLOADS: "payloads",
  TRANSACTION: "transaction",
};

/** Returns the request if it asks for signatures. The activity does not decide this, because the service could lie. */
function signedRequest(expectation: Expectation | null): SignedRequest | null {
  if (expectation === null || expectation.parameters === null) return null;
  const { type, parameters, publicKey } = expectation;
  const kind = type === null ? kindOfParameters(parameters) : kindOfType(type);
  return kind === null ? null : { kind, parameters, publicKey };
}

function kindOfType(type: string): SignedRequest["kind"] | null {
  const [, what] = SIGNING_TYPE.exec(type) ?? [];
  return what === undefined ? null : KINDS[what]!;
}

function kindOfParameters(parameters: JsonObject): SignedRequest["kind"] | null {
  if ("unsignedTransaction" in parameters) return "transaction";
  if (!("encoding" in parameters && "hashFunction" in parameters)) return null;
  return "payloads" in parameters ? "payloads" : "payload";
}

/** Reason why no signature was verified, although there is one to verify. */
type Unverified = "unasked" | "unfinished" | "unread" | "unproven";

/**
 * Verifies the signatures that the caller's request asks for. Returns null if it asks for none, and `unasked` if the
 * activity signs but the caller gave no request. Returns `unfinished` if the activity has no result yet, `unread` if it
 * could not be read, or `unproven` if an app proof was rejected. In these cases no signature is verified, so that
 * forged evidence causes no work.
 */
export async function signaturesOf(
  expectation: Expectation | null,
  { value, whole, unfinished }: ActivityReading,
  appProofs: readonly (VerifiedAppProof | null)[],
): Promise<VerifiedSignatures | Unverified | null> {
  const request = signedRequest(expectation);
  if (request === null) {
    const isAsked = expectation !== null && expectation.parameters !== null;
    return !isAsked && kindOfType(value.type ?? "") !== null ? "unasked" : null;
  }
  if (unfinished !== null) return "unfinished";
  if (whole === null) return "unread";
  if (appProofs.includes(null)) return "unproven";
  const { verifySignatures } = await import("./signatures.js");
  return verifySignatures(request, whole);
}

const UNVERIFIED: Readonly<Record<Unverified, string>> = {
  unasked: "no request was given, so it is unknown what had to be signed",
  unfinished: "the activity is not finished",
  unread: "the activity could not be read",
  unproven: "an app proof was rejected, so the signatures were not verified",
};

/** Runs `activity.signature`, unless there are no signatures to verify. */
function checkSignatures(signatures: ActivityDemands["signatures"], checklist: Checklist): boolean {
  if (signatures === null) return true;
  if (typeof signatures === "string") {
    checklist.skip("activity.signature", UNVERIFIED[signatures]);
    return signatures === "unasked";
  }
  const { contradictions, signatures: all, hiddenBy } = signatures;
  if (contradictions.length > 0) return checklist.fail("activity.signature", listed(contradictions, "; "));
  if (hiddenBy !== null) {
    checklist.skip("activity.signature", hiddenBy);
    return true;
  }
  const open = all.flatMap(({ index, open: reason }) => (reason === null ? [] : [`signature ${index}: ${reason}`]));
  return open.length > 0
    ? checklist.warn("activity.signature", listed(open, "; "))
    : checklist.pass("activity.signature");
}

const MAX_WITHOUT_PROOF = 100;

/** Returns paths of the result that no app proof covers. A list is split only if some of its items are covered. */
function membersWithoutProof(
  { result }: Activity,
  proofs: readonly VerifiedAppProof[],
  { coveredPaths }: Coverage,
  subOrganizationId: string | null,
): string[] {
  const wallets = derivationsOf(proofs).map(({ walletId }) => walletId);
  const proven = new Set<JsonValue | undefined>([...wallets, subOrganizationId]);
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

/** Returns the paths above `path`. For `wallet.addresses[0]`, they are `wallet` and `wallet.addresses`. */
function ancestorsOf(path: string): string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index));
}
