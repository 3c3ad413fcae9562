/** Rules by activity type: member names, what the service may choose, and the names in an activity that checks read. */
import type { NamesRead } from "./folded-names.js";

export interface ActivityRule {
  /** The type with its version. Null means any type. */
  readonly type: string | null;
  /** Name of the only member of the intent. Null means any name. The next member is the same for the result. */
  readonly intentMember: string | null;
  readonly resultMember: string | null;
  /** Parameters that the service may fill in, in the intent. */
  readonly filledIn: readonly string[];
  /** Members that the result must have, as the request has them. `organizationId` is the expected organization. */
  readonly repeats: readonly string[];
  /** Members of the result that the service chooses where the request leaves them empty. */
  readonly chosen: readonly string[];
  /** A list in the result. One of its entries must have these members of the intent. */
  readonly lists?: { readonly result: string; readonly members: readonly string[] };
}

type OwnRule = Partial<Pick<ActivityRule, "filledIn" | "repeats" | "chosen" | "lists">>;
type RuleOf<Type extends string> = ActivityRule & { readonly type: `ACTIVITY_TYPE_${Type}` };

const ANY = { type: null, intentMember: null, resultMember: null } as const;
const OTHER_RULE: ActivityRule = { ...ANY, filledIn: [], repeats: [], chosen: [] };
const CREATE_SUB_ORGANIZATION = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION";
const SUB_ORGANIZATION_RULE: ActivityRule = { ...OTHER_RULE, filledIn: ["wallet.mnemonicLength"] };

function typeRule<const Type extends string>(type: Type, own: OwnRule): RuleOf<Type> {
  return { ...OTHER_RULE, ...own, type: `ACTIVITY_TYPE_${type}` };
}

function submitRule<const Type extends string, const Name extends string, const Version extends "" | "V2" = "">(
  type: Type,
  name: Name,
  own: OwnRule,
  version = "" as Version,
): RuleOf<Type> & {
  readonly intentMember: `${Name}Intent${Version}`;
  readonly resultMember: `${Name}Result${Version}`;
} {
  return { ...typeRule(type, own), intentMember: `${name}Intent${version}`, resultMember: `${name}Result${version}` };
}

/** Rules of the documented submits (client/README.md, "Operations"), which client and lab also use. */
export const SUBMIT_RULES = {
  updateWallet: submitRule("UPDATE_WALLET", "updateWallet", { repeats: ["walletId"] }),
  updateFiatOnRampCredential: submitRule("UPDATE_FIAT_ON_RAMP_CREDENTIAL", "updateFiatOnRampCredential", {
    repeats: ["fiatOnRampCredentialId"],
  }),
  updateUserTag: submitRule("UPDATE_USER_TAG", "updateUserTag", { repeats: ["userTagId"] }),
  deleteApiKeys: submitRule("DELETE_API_KEYS", "deleteApiKeys", { repeats: ["apiKeyIds"] }),
  deletePolicies: submitRule("DELETE_POLICIES", "deletePolicies", { repeats: ["policyIds"] }),
  createReadWriteSession: submitRule(
    "CREATE_READ_WRITE_SESSION_V2",
    "createReadWriteSession",
    {
      filledIn: ["userId", "apiKeyName", "expirationSeconds"],
      repeats: ["organizationId", "userId"],
      // Without a user the session is that of whoever asks.
      chosen: ["userId"],
    },
    "V2",
  ),
  setOrganizationFeature: submitRule("SET_ORGANIZATION_FEATURE", "setOrganizationFeature", {
    lists: { result: "features", members: ["name", "value"] },
  }),
};

export const ACTIVITY_RULES = {
  ...SUBMIT_RULES,
  createWallet: typeRule("CREATE_WALLET", { filledIn: ["mnemonicLength"] }),
  updateOrganizationName: typeRule("UPDATE_ORGANIZATION_NAME", { repeats: ["organizationId"] }),
  // Sets are made, and a wallet is, where the request names none.
  createTvcApp: typeRule("CREATE_TVC_APP", { chosen: ["manifestSetId", "shareSetId"] }),
  createTvcOperator: typeRule("CREATE_TVC_OPERATOR", { chosen: ["walletId"] }),
  // The service has a provider of its own choice.
  executeSwap: typeRule("EXECUTE_SWAP", { chosen: ["provider"] }),
  // What the request leaves empty stays as it was configured before.
  upsertSwapConfig: typeRule("UPSERT_SWAP_CONFIG", { chosen: ["feeReceiverWalletAddress", "feeBps", "stableFeeBps"] }),
};

const RULES: ReadonlyMap<string, ActivityRule> = new Map(
  Object.values(ACTIVITY_RULES).map((rule) => [withoutVersion(rule.type), rule]),
);

function withoutVersion(type: string): string {
  return type.replace(/_V[0-9]+$/, "");
}

/** Returns the rule for a type of any version. Its member names apply only to the version that the rule lists. */
export function ruleOf(type: string | undefined): ActivityRule {
  const rule = type === undefined ? undefined : RULES.get(withoutVersion(type));
  if (rule !== undefined) return rule.type === type ? rule : { ...rule, intentMember: null, resultMember: null };
  return isSubOrganizationType(type) ? SUB_ORGANIZATION_RULE : OTHER_RULE;
}

export function isSubOrganizationType(type: string | null | undefined): boolean {
  return type?.startsWith(CREATE_SUB_ORGANIZATION) === true;
}

const WALLET = { walletId: {}, accounts: { path: {} } };
const SIGNATURE = { r: {}, s: {}, v: {} };

/** Names that checks read in the only member of an intent, for any activity type. */
const INTENT_NAMES: NamesRead = { ...WALLET, wallet: WALLET, address: {}, addresses: {} };
/** Names that checks read in the only member of a result, for any activity type. Members of signatures are included. */
const RESULT_NAMES: NamesRead = {
  walletId: {},
  wallet: { walletId: {} },
  subOrganizationId: {},
  ...SIGNATURE,
  signatures: SIGNATURE,
  signedTransaction: {},
};
/** Names that are read at any depth of a result, where coverage looks for addresses. */
export const RESULT_NAMES_ANYWHERE: NamesRead = { address: {}, addresses: {} };

/**
 * The names that checks read in the only member of the intent and of the result. Members that intent and result share
 * are compared in every spelling (verify/README.md, "The question").
 */
export function namesOf({ lists }: ActivityRule): { readonly intent: NamesRead; readonly result: NamesRead } {
  const members: NamesRead = Object.fromEntries(lists?.members.map((name) => [name, {}]) ?? []);
  const inResult = lists && { [lists.result]: members };
  return { intent: { ...INTENT_NAMES, ...members }, result: { ...RESULT_NAMES, ...inResult } };
}
