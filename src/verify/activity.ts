/** An activity and its app proofs: whether what the enclave signed agrees with what the service says was done. */
import { type CheckId, Checklist } from "../checks.js";
import { type Activity, readActivity, stringsNamed } from "../decode/activity.js";
import type { AppProofPayload } from "../decode/app-proof.js";
import { type TakenInput, readInput } from "../decode/input.js";
import { type Reading, faultText, listed } from "../errors.js";
import type { VerifiedAppProof } from "./app-proof.js";

export const ACTIVITY_CHECKS = ["activity.decode", "activity.claims", "activity.coverage"] as const satisfies readonly CheckId[];

const COMPLETED = "ACTIVITY_STATUS_COMPLETED";
const ADDRESS_NAMES = ["address", "addresses"];
const WALLET_NAMES = ["walletId", "walletIds"];
/** Where an activity makes or names another organization, its proofs may speak of that one. */
const ORGANIZATION_NAMES = ["organizationId", "subOrganizationId"];

/** An activity that its verified app proofs agree with. Only verification makes one. */
export class VerifiedActivity {
  readonly #verified = true;
  readonly activity: Activity;
  readonly appProofs: readonly VerifiedAppProof[];
  /** Addresses in the result that an app proof backs, and those that none does. */
  readonly coveredAddresses: readonly string[];
  readonly uncoveredAddresses: readonly string[];

  /** @internal */
  constructor(activity: Activity, appProofs: readonly VerifiedAppProof[], addresses: Coverage, leave: symbol) {
    if (leave !== LEAVE) throw new TypeError("a VerifiedActivity is made by verification only");
    this.activity = activity;
    this.appProofs = appProofs;
    this.coveredAddresses = addresses.covered;
    this.uncoveredAddresses = addresses.uncovered;
    Object.freeze(this);
  }

  static isOne(value: unknown): value is VerifiedActivity {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** Stays in this module, so that no other code can make the verified type. */
const LEAVE = Symbol("verified");

interface Coverage {
  readonly covered: readonly string[];
  readonly uncovered: readonly string[];
}

/** What could be read of an activity: its app proofs are judged before it is. */
export interface OpenedActivity {
  readonly log: Checklist;
  readonly value: Reading<Activity>["value"];
}

/** Asks `activity.decode` of the input, bare or in its wrapper. */
export function openActivity(input: TakenInput): OpenedActivity {
  const log = new Checklist("activity");
  const { value, faults } = readInput(input, readActivity);
  log.conclude("activity.decode", faults.length > 0 ? [faultText(faults)] : []);
  return { log, value };
}

/**
 * Asks `activity.claims` and `activity.coverage`. `appProofs`: all that came with the activity, inside it or beside it: who
 * gives them together says that they are about it. Null stands for one that was rejected.
 * `coverageRequired`: an address without a proof fails, instead of warning.
 */
export function checkActivity(
  opened: OpenedActivity, appProofs: readonly (VerifiedAppProof | null)[], coverageRequired: boolean,
): VerifiedActivity | null {
  const { log, value } = opened;
  const proofs = appProofs.filter((proof) => proof !== null);
  checkClaims(value, proofs, appProofs.length, log);
  const coverage = checkCoverage(value, proofs, coverageRequired, log);
  const whole = log.allPassed(ACTIVITY_CHECKS) && proofs.length === appProofs.length;
  return whole ? new VerifiedActivity(value as Activity, proofs, coverage, LEAVE) : null;
}

function checkClaims(activity: OpenedActivity["value"], proofs: readonly VerifiedAppProof[], given: number, log: Checklist): void {
  const statements = statementsOf(activity);
  const contradictions = [...proofs.flatMap(({ payload }) => contradictionsOf(payload, statements)), ...outcomeContradictions(proofs, activity.status)];
  if (contradictions.length > 0) log.conclude("activity.claims", contradictions);
  else if (activity.organizationId === undefined || !activity.intent || !activity.result) log.skip("activity.claims", "the activity could not be read");
  else if (proofs.length === 0) log.skip("activity.claims", "there is no verified app proof to compare with");
  else if (proofs.length < given) log.skip("activity.claims", `${given - proofs.length} of ${given} app proofs were rejected, and are not compared`);
  else log.pass("activity.claims");
}

/** What an activity speaks of, each in its comparable form. */
interface Statements {
  readonly organizations: ReadonlySet<string>;
  readonly wallets: ReadonlySet<string>;
  readonly addresses: ReadonlySet<string>;
}

function statementsOf(activity: OpenedActivity["value"]): Statements {
  const said = (names: readonly string[]): string[] => [...stringsNamed(activity.intent, names), ...stringsNamed(activity.result, names)];
  const comparable = (texts: readonly string[]): Set<string> => new Set(texts.map(comparableIdentifier));
  return {
    organizations: comparable([activity.organizationId ?? [], said(ORGANIZATION_NAMES)].flat()),
    wallets: comparable(said(WALLET_NAMES)),
    addresses: comparable(said(ADDRESS_NAMES)),
  };
}

function contradictionsOf(payload: AppProofPayload, { organizations, wallets, addresses }: Statements): string[] {
  const claim = payload.addressDerivationProof ?? payload.policyOutcomeProof;
  if (claim === undefined) return [];
  const { walletId, address } = "address" in claim ? claim : {};
  return [
    ...contradiction("organization", claim.organizationId, organizations),
    ...contradiction("wallet", walletId, wallets),
    ...contradiction("address", address, addresses),
  ];
}

function contradiction(what: string, claimed: string | undefined, stated: ReadonlySet<string>): string[] {
  if (claimed === undefined || stated.size === 0 || stated.has(comparableIdentifier(claimed))) return [];
  const [first] = stated;
  const others = stated.size > 1 ? ` and ${stated.size - 1} others` : "";
  return [`an app proof speaks of ${what} ${claimed}, the activity of ${first}${others}`];
}

/** An activity that is completed was allowed: by what the enclave decided last, where it says what it decided. */
function outcomeContradictions(proofs: readonly VerifiedAppProof[], status: string | undefined): string[] {
  const decisions = proofs.filter(({ payload }) => payload.policyOutcomeProof !== undefined).map(({ payload }) => payload);
  const last = Math.max(...decisions.map((payload) => payload.timestampMs));
  const outcomes = decisions.filter((payload) => payload.timestampMs === last).map((payload) => payload.policyOutcomeProof!.outcome);
  if (status !== COMPLETED || outcomes.every((outcome) => outcome === "OUTCOME_ALLOW")) return [];
  return [`the enclave's last decision is ${outcomes.join(", ")}, and the activity is said to be completed`];
}

function checkCoverage(
  activity: OpenedActivity["value"], proofs: readonly VerifiedAppProof[], required: boolean, log: Checklist,
): Coverage {
  if (activity.result === undefined) {
    log.skip("activity.coverage", "the result could not be read");
    return { covered: [], uncovered: [] };
  }
  const addresses = [...new Set(stringsNamed(activity.result, ADDRESS_NAMES))];
  const proven = new Set(proofs.flatMap((proof) => proof.payload.addressDerivationProof?.address ?? []).map(comparableIdentifier));
  const isCovered = (address: string): boolean => proven.has(comparableIdentifier(address));
  const uncovered = addresses.filter((address) => !isCovered(address));
  const reason = `no verified app proof backs ${listed(uncovered, ", ")}`;
  if (uncovered.length === 0) log.pass("activity.coverage", addresses.length === 0 ? "the result holds no address" : undefined);
  else if (required) log.fail("activity.coverage", reason);
  else log.warn("activity.coverage", reason);
  return { covered: addresses.filter(isCovered), uncovered };
}

/** The case of hex digits carries a checksum (EIP-55), not another address: it does not tell two apart. */
function comparableIdentifier(text: string): string {
  return /^0x[0-9a-fA-F]+$/.test(text) ? text.toLowerCase() : text;
}
