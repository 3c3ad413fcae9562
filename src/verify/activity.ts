/** Verified activities (verify/README.md, "Activities"). The checks are in `activity-checks.ts`. */
import { Checklist } from "../checks.js";
import type { Activity } from "../decode/activity.js";
import type { InputCopy } from "../decode/input.js";
import type { VerifiedSignature } from "./signatures.js";
import type * as ActivityChecks from "./activity-checks.js";
import type { ActivityDemands, ActivityFacts, ActivityReading } from "./activity-checks.js";
import type { UsedFor } from "./app-proof-uses.js";
import type { VerifiedAppProof } from "./app-proof.js";
import type { ActivityQuestion } from "./contradictions.js";
import type { Expectation, Expected } from "./expectation.js";

/** An activity that agrees with its verified app proofs. Only verification makes one. */
export class VerifiedActivity {
  readonly #verified = true;
  readonly activity!: Activity;
  readonly appProofs!: readonly VerifiedAppProof[];
  /** Members of the expectation that the activity was compared with. The list is empty if nothing was expected. */
  readonly asked!: readonly (keyof Expected)[];
  /**
   * Strongest comparison with the caller's request, or null if no parameters, id or fingerprint were compared.
   * `request` means that the caller's parameters were compared with the intent, and `id` that only the id was compared.
   * `fingerprint` means that this is the answer to the caller's vote, and only the unsigned fingerprint was compared.
   */
  readonly question!: ActivityQuestion | null;
  /** Addresses in the result that an app proof backs. The next member has the others. */
  readonly coveredAddresses!: readonly string[];
  readonly uncoveredAddresses!: readonly string[];
  /** Id of the wallet, or null if the activity names none. */
  readonly walletId!: string | null;
  /** The new organization that app proofs name, or null if all app proofs name the activity's organization. */
  readonly subOrganizationId!: string | null;
  /** Paths of the result that no app proof covers. */
  readonly resultWithoutProof!: readonly string[];
  /** The signatures, or null if the caller's request asks for none. */
  readonly signatures!: readonly VerifiedSignature[] | null;

  /** @internal */
  constructor(facts: ActivityFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedActivity is made by verification only");
    Object.assign(this, facts);
    Object.freeze(this);
  }

  static isVerified(value: unknown): value is VerifiedActivity {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** A token that stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

/** A decoded activity with its checks. */
export interface DecodedActivity extends ActivityReading {
  /** Verifies the signatures that the caller's request asks for. Rejects if something cannot be loaded. */
  readonly signatures: (
    expectation: Expectation | null,
    appProofs: readonly (VerifiedAppProof | null)[],
  ) => Promise<ActivityDemands["signatures"]>;
  /** Runs the other checks synchronously. `activity` is null unless every check passed. */
  readonly check: (
    appProofs: readonly (VerifiedAppProof | null)[],
    demands: ActivityDemands,
  ) => { readonly activity: VerifiedActivity | null; readonly contradicted: ReadonlySet<VerifiedAppProof | null> };
  readonly usedFor: (by: Parameters<typeof ActivityChecks.usedFor>[0]) => UsedFor;
}

/** Loads the checks and runs `activity.decode`. Rejects if the checks cannot be loaded. */
export async function decodeActivityInput(input: InputCopy): Promise<DecodedActivity> {
  const { checkActivity, readActivityInput, signaturesOf, usedFor } = await import("./activity-checks.js");
  const reading = readActivityInput(input, new Checklist("activity"));
  return {
    ...reading,
    signatures: (expectation, appProofs) => signaturesOf(expectation, reading, appProofs),
    check: (appProofs, demands) => {
      const { facts, contradicted } = checkActivity(reading, appProofs, demands);
      return { activity: facts && new VerifiedActivity(facts, TOKEN), contradicted };
    },
    usedFor: (by) => usedFor(by, reading.value),
  };
}
