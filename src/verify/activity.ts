/** Activities (verify/README.md, "Activities"). `activity-checks.ts` has the checks. */
import type { Activity } from "../decode/activity.js";
import type { InputCopy } from "../decode/input.js";
import type { VerifiedSignature } from "./signatures.js";
import type { ActivityDemands, ActivityFacts, ActivityReading } from "./activity-checks.js";
import type { UsedFor } from "./app-proof-uses.js";
import type { VerifiedAppProof } from "./app-proof.js";
import type { ActivityQuestion } from "./contradictions.js";
import type { Expectation, Expected } from "./expectation.js";

/** An activity that agrees with its verified app proofs. Only verification makes one. */
export class VerifiedActivity {
  readonly #verified = true;
  readonly activity: Activity;
  readonly appProofs: readonly VerifiedAppProof[];
  /** Members of the expectation that it was compared with. Empty: nothing was expected. */
  readonly asked: readonly (keyof Expected)[];
  /**
   * `request`: the caller's parameters were compared with the intent. `id`: its id was compared, but no parameters.
   * `fingerprint`: it is the answer to the caller's vote, and only the unsigned fingerprint was compared. Null: none of
   * these was expected.
   */
  readonly question: ActivityQuestion | null;
  /** Addresses in the result with an app proof, and those without. */
  readonly coveredAddresses: readonly string[];
  readonly uncoveredAddresses: readonly string[];
  /** Null if it is about no wallet. */
  readonly walletId: string | null;
  /** The new organization that app proofs name; null if they all name the activity's own. */
  readonly subOrganizationId: string | null;
  /** Paths of the result that no app proof covers. */
  readonly resultWithoutProof: readonly string[];
  /** Null where the caller's request asks for no signature. */
  readonly signatures: readonly VerifiedSignature[] | null;

  /** @internal */
  constructor(facts: ActivityFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedActivity is made by verification only");
    this.activity = facts.activity;
    this.appProofs = facts.appProofs;
    this.asked = facts.asked;
    this.question = facts.question;
    this.coveredAddresses = facts.coveredAddresses;
    this.uncoveredAddresses = facts.uncoveredAddresses;
    this.walletId = facts.walletId;
    this.subOrganizationId = facts.subOrganizationId;
    this.resultWithoutProof = facts.resultWithoutProof;
    this.signatures = facts.signatures;
    Object.freeze(this);
  }

  static isVerified(value: unknown): value is VerifiedActivity {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** Stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

/** A decoded activity with its checks. */
export interface DecodedActivity extends ActivityReading {
  /** Verifies the signatures that the caller's request asks for. Rejects if something cannot be loaded. */
  readonly signatures: (
    expectation: Expectation | null,
    appProofs: readonly (VerifiedAppProof | null)[],
  ) => Promise<ActivityDemands["signatures"]>;
  /** {@link VerifiedActivity}, or null unless every check passed. Synchronous. */
  readonly check: (
    appProofs: readonly (VerifiedAppProof | null)[],
    demands: ActivityDemands,
  ) => VerifiedActivity | null;
  readonly usedFor: (expectation: ActivityDemands["expectation"]) => UsedFor;
}

/** Loads the checks, and runs `activity.decode`. Rejects if they cannot be loaded. */
export async function decodeActivityInput(input: InputCopy): Promise<DecodedActivity> {
  const { checkActivity, readActivityInput, signaturesOf, usedFor } = await import("./activity-checks.js");
  const reading = readActivityInput(input);
  return {
    ...reading,
    signatures: (expectation, appProofs) => signaturesOf(expectation, reading, appProofs),
    check: (appProofs, demands) => {
      const facts = checkActivity(reading, appProofs, demands);
      return facts && new VerifiedActivity(facts, TOKEN);
    },
    usedFor: (expectation) => usedFor(expectation, reading.value),
  };
}
