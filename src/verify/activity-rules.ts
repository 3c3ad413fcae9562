/** Which type an activity has, which members its intent and result have, and what has to be equal among them. */
/** A result member that says again what the request said. */
export interface Repetition {
  readonly result: string;
  /** The member of intent and parameters; or what was asked. */
  readonly of: { readonly intent: string } | "organizationId";
}

export interface ActivityRule {
  /** The activity type, with the version that the members below are of; null: of any. */
  readonly type: string | null;
  /** The one member of the activity's intent, and of its result; null: of any name. */
  readonly intentMember: string | null;
  readonly resultMember: string | null;
  /** Places in the parameters that the service may fill in where they were not sent. */
  readonly filledIn: readonly string[];
  readonly repeats: readonly Repetition[];
  /** The result's list that has to hold these members of the intent, as one entry. */
  readonly lists?: { readonly result: string; readonly members: readonly string[] };
}

/** Of an operation with documented members. */
type SubmitRule = ActivityRule & Readonly<Record<"type" | "intentMember" | "resultMember", string>>;

const repeated = (result: string, intent = result): Repetition => ({ result, of: { intent } });

/** The documented submits (client/README.md, "Operations"): the client and the lab make their operations from these. */
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

/** All activities with a rule: those of the documented submits, and others. */
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
