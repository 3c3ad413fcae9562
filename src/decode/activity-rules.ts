/** Rules by activity type: member names, values that must be equal, and the names in an activity that checks read. */
import type { NamesRead } from "./folded-names.js";

export interface Repetition {
  readonly result: string;
  /** Source of the repeated value: a member of intent and parameters, or the expected organization. */
  readonly of: { readonly intent: string } | "organizationId";
}

export interface ActivityRule {
  /** The type with its version. Null means any type. */
  readonly type: string | null;
  /** Name of the only member of the intent. Null means any name. The next member is the same for the result. */
  readonly intentMember: string | null;
  readonly resultMember: string | null;
  /** Parameters that the service may fill in. */
  readonly filledIn: readonly string[];
  readonly repeats: readonly Repetition[];
  /** A list in the result. One of its entries must have these members of the intent. */
  readonly lists?: { readonly result: string; readonly members: readonly string[] };
}

type SubmitRule = ActivityRule & Readonly<Record<"type" | "intentMember" | "resultMember", string>>;

const repeated = (result: string, intent = result): Repetition => ({ result, of: { intent } });

/** Rules of the documented submits (client/README.md, "Operations"), which client and lab also use. */
export const SUBMIT_RULES = {
  updateWallet: {
    type: "ACTIVITY_TYPE_UPDATE_WALLET",
    intentMember: "updateWalletIntent",
    resultMember: "updateWalletResult",
    filledIn: [],
    repeats: [repeated("walletId")],
  },
  updateFiatOnRampCredential: {
    type: "ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL",
    intentMember: "updateFiatOnRampCredentialIntent",
    resultMember: "updateFiatOnRampCredentialResult",
    filledIn: [],
    repeats: [repeated("fiatOnRampCredentialId", "fiatOnrampCredentialId")],
  },
  updateUserTag: {
    type: "ACTIVITY_TYPE_UPDATE_USER_TAG",
    intentMember: "updateUserTagIntent",
    resultMember: "updateUserTagResult",
    filledIn: [],
    repeats: [repeated("userTagId")],
  },
  deleteApiKeys: {
    type: "ACTIVITY_TYPE_DELETE_API_KEYS",
    intentMember: "deleteApiKeysIntent",
    resultMember: "deleteApiKeysResult",
    filledIn: [],
    repeats: [repeated("apiKeyIds")],
  },
  deletePolicies: {
    type: "ACTIVITY_TYPE_DELETE_POLICIES",
    intentMember: "deletePoliciesIntent",
    resultMember: "deletePoliciesResult",
    filledIn: [],
    repeats: [repeated("policyIds")],
  },
  createReadWriteSession: {
    type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2",
    intentMember: "createReadWriteSessionIntentV2",
    resultMember: "createReadWriteSessionResultV2",
    filledIn: ["userId", "apiKeyName", "expirationSeconds"],
    repeats: [{ result: "organizationId", of: "organizationId" }, repeated("userId")],
  },
  setOrganizationFeature: {
    type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
    intentMember: "setOrganizationFeatureIntent",
    resultMember: "setOrganizationFeatureResult",
    filledIn: [],
    repeats: [],
    lists: { result: "features", members: ["name", "value"] },
  },
} as const satisfies Record<string, SubmitRule>;

export const ACTIVITY_RULES = {
  ...SUBMIT_RULES,
  createWallet: {
    type: "ACTIVITY_TYPE_CREATE_WALLET",
    intentMember: null,
    resultMember: null,
    filledIn: ["mnemonicLength"],
    repeats: [],
  },
} as const satisfies Record<string, ActivityRule & { readonly type: string }>;

const CREATE_SUB_ORGANIZATION = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION";
const SUB_ORGANIZATION_RULE: ActivityRule = {
  type: null,
  intentMember: null,
  resultMember: null,
  filledIn: ["wallet.mnemonicLength"],
  repeats: [],
};
const OTHER_RULE: ActivityRule = { type: null, intentMember: null, resultMember: null, filledIn: [], repeats: [] };

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

/** The names that checks read in the only member of the intent and of the result. */
export function namesOf({ repeats, lists }: ActivityRule): { readonly intent: NamesRead; readonly result: NamesRead } {
  const repeatedNames = repeats.flatMap(({ result, of }) => (of === "organizationId" ? [result] : [result, of.intent]));
  const read = (names: readonly string[] = []): NamesRead => Object.fromEntries(names.map((name) => [name, {}]));
  const both = read(repeatedNames);
  return {
    intent: { ...INTENT_NAMES, ...both, ...read(lists?.members) },
    result: { ...RESULT_NAMES, ...both, ...(lists && { [lists.result]: read(lists.members) }) },
  };
}
