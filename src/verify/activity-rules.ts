/** Activity types: names of their members, and values that must be equal. */
export interface Repetition {
  readonly result: string;
  /** A member of intent and parameters, or the organization of the question. */
  readonly of: { readonly intent: string } | "organizationId";
}

export interface ActivityRule {
  /** With its version; null: any. */
  readonly type: string | null;
  /** The only member of intent and of result; null: any name. */
  readonly intentMember: string | null;
  readonly resultMember: string | null;
  /** Parameters that the service may fill in. */
  readonly filledIn: readonly string[];
  readonly repeats: readonly Repetition[];
  /** A list of the result that must contain these members of the intent, as one entry. */
  readonly lists?: { readonly result: string; readonly members: readonly string[] };
}

type SubmitRule = ActivityRule & Readonly<Record<"type" | "intentMember" | "resultMember", string>>;

const repeated = (result: string, intent = result): Repetition => ({ result, of: { intent } });

/** Documented submits (client/README.md, "Operations"), for client and lab, too. */
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
