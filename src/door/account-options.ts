/** The options of an entrance that verifies accounts and private keys in answers (door/README.md, "Accounts"). */
import { ACCEPTABLE_WORDS, type Acceptable } from "../addresses/classes.js";
import { requireDerivationPolicy } from "../appraise/derivation.js";
import type { Policy } from "../appraise/policy.js";
import { callable } from "../decode/options.js";
import { type MembersOf, demand, flag, list, oneOf, optional } from "../decode/shapes.js";
import type { FindSignUp } from "./sign-up-evidence.js";

export interface AccountOptions {
  /**
   * Whether accounts and private keys in answers to `list_wallet_accounts`, `get_wallet_account`, `list_private_keys`
   * and `get_private_key` are verified: each address must be of the class `derived`, or of one in `accept`. What was
   * not judged is in the member `unverified` of the answer. Each such query lists wallets and activities, too.
   * Default: false.
   */
  readonly verifyAddresses?: boolean;
  /**
   * Classes of addresses that are accepted besides `derived`. `unplaced` accepts addresses although a key was exported
   * or imported that may be theirs, since nothing says in which wallet it is. Default: none.
   */
  readonly accept?: readonly Acceptable[];
  /** Whether all activities are read for it, and not only those of known types. Default: false. */
  readonly allActivities?: boolean;
  /**
   * Finds the kept evidence of an organization's sign-up, for the key of its user, who cannot list the parent's
   * activities. It is verified like all evidence. Default: none.
   */
  readonly signUpEvidence?: FindSignUp;
}

/** Boot proofs alone cannot verify accounts. */
export const NEEDS_CLIENT = "options.evidence: expected a client, since verifyAddresses lists wallets and activities";

export const ACCOUNT_OPTIONS: MembersOf<AccountOptions> = {
  verifyAddresses: demand(flag),
  accept: optional(list(oneOf(...ACCEPTABLE_WORDS))),
  allActivities: demand(flag),
  signUpEvidence: optional(callable),
};

/** Throws `DerivationPolicyError`, and TypeError for options that need others. */
export function requireAccountOptions(policy: Policy, options: AccountOptions): void {
  if (options.verifyAddresses === true) requireDerivationPolicy(policy);
  else
    for (const name of ["accept", "allActivities", "signUpEvidence"] as const)
      if (options[name] !== undefined) throw new TypeError(`options.${name}: expected verifyAddresses: true beside it`);
}
