/** A test double for the result of a verified call. */
import type { VerifiedCall } from "../client/verified.js";
import { copyPlain } from "../decode/input.js";
import type { VerifiedActivity } from "../verify/activity.js";

/**
 * Returns a value like a verified call with this result, for unit tests without a service. Nothing in it was verified:
 * `requireVerified` and `requireAuthentic` throw TypeError for it and its report, and `VerifiedActivity.isVerified` is
 * false. `activity` has members that replace the defaults.
 * @example
 * ```ts
 * const call = verifiedCallFor({ walletId: "w-1", addresses: ["0x1"] });
 * const createWallet = async () => call; // in place of verified.createWallet
 * ```
 */
export function verifiedCallFor<Result>(
  result: Result,
  activity: Partial<VerifiedCall<Result>["activity"]> = {},
): VerifiedCall<Result> {
  const whole = { ...ACTIVITY, ...copyPlain(activity) };
  const { id, organizationId, type } = whole;
  return {
    result: copyPlain(result),
    activity: whole,
    report: reportOf({ id, organizationId, type }),
    // The type has a private member, so only verification can make a value without a cast.
    verified: Object.freeze({ ...VERIFIED, activity: whole }) as unknown as VerifiedActivity,
  };
}

const ACTIVITY = {
  id: "activity-of-a-double",
  organizationId: "organization-of-a-double",
  status: "ACTIVITY_STATUS_COMPLETED",
  type: "ACTIVITY_TYPE_OF_A_DOUBLE",
} as const;

const VERIFIED = {
  appProofs: [],
  asked: [],
  question: null,
  coveredAddresses: [],
  uncoveredAddresses: [],
  walletId: null,
  subOrganizationId: null,
  resultWithoutProof: [],
} as const;

type DoubleReport = VerifiedCall<unknown>["report"];

/** The report has no checks, so that no reader takes it for a report of evidence. */
function reportOf(named: Readonly<Record<"id" | "organizationId" | "type", string>>): DoubleReport {
  const { appProofs, walletId, ...open } = VERIFIED;
  return {
    format: "bootproof-report/1",
    verdict: "verified",
    stale: false,
    tool: { name: "bootproof/lab", version: "a double for tests" },
    policy: null,
    policyDigest: null,
    verifiedAt: new Date(0).toISOString(),
    validationTime: null,
    evidence: [],
    checks: [],
    claims: { bootProofs: [], appProofs, activity: { ...named, ...open, walletId, decisions: 0 } },
  };
}
