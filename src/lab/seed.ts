/** Creates the content of a new lab, by the operations of the service where it has them. */
import { randomBytes, randomUUID } from "node:crypto";
import { type ApiKeyPair, generateApiKey } from "./api-key.js";
import type { Call, Outcome } from "./call.js";
import { withoutPrototype } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import type { ReadOf } from "../decode/shapes.js";
import { createSubOrganization, createWallet } from "./new-keys.js";
import { LAB_OPERATIONS } from "./operations.js";
import { ETHEREUM, type PastSources, putPastActivity } from "./past-activities.js";
import { createPolicies } from "./policies.js";
import { type Seed, noncesId } from "./records.js";
import { createUserTag } from "./tags.js";
import { addRequestedUser, createUsers, type rootUserShape } from "./users.js";

const ACCOUNTS = ["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"].map((path) => ({
  ...{ ...ETHEREUM, pathFormat: "PATH_FORMAT_BIP32" as const, path },
}));
const POLICIES = [
  {
    policyName: "operators rename wallets together",
    effect: "EFFECT_ALLOW" as const,
    condition: "activity.type == 'ACTIVITY_TYPE_UPDATE_WALLET'",
    consensus: "approvers.count() >= 2",
  },
  {
    policyName: "everybody makes sessions",
    effect: "EFFECT_ALLOW" as const,
    condition: "activity.type in ['ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', 'ACTIVITY_TYPE_STAMP_LOGIN']",
    consensus: "true",
  },
];
const PROVIDER = {
  providerName: "lab sign-in",
  oidcClaims: { iss: "https://accounts.lab.example", sub: "admin", aud: "lab-app" },
};
const ON_RAMP = {
  onrampProvider: "FIAT_ON_RAMP_PROVIDER_ALPHA",
  projectId: "lab-project",
  publishableApiKey: "pk_lab",
  encryptedSecretApiKey: "lab",
};

/** Creates the content. Enclaves must be running, since they prove the addresses of wallets. */
export async function createSeed(sources: PastSources): Promise<Seed> {
  const { tx, fleet, now } = sources;
  const organizationId = randomUUID();
  const [apiKey, operatorKey, childKey] = [generateApiKey(), generateApiKey(), generateApiKey()];
  const admin = { ...userOf("admin", { lab: apiKey, spare: generateApiKey() }), oauthProviders: [PROVIDER] };
  const userId = addRequestedUser(tx, organizationId, admin, now);
  // The operations look up members that these have not, and no prototype may answer.
  const organization = withoutPrototype({
    organizationId,
    organizationName: "Lab",
    rootUserIds: [userId],
    features: [],
  });
  tx.put("organizations", organizationId, organization);
  const actor = tx.get("users", userId)!;
  const { quorumKey } = fleet;
  const call = <T>(parameters: T): Call<T> => ({ tx, organization, actor, parameters, now, quorumKey });
  const operators = [{ ...userOf("operator", { operator: operatorKey }), userTags: [] }];
  const [operatorId] = idsIn(createUsers(call(null), operators));
  const [userTagId] = idsIn(createUserTag(call({ userTagName: "engineers", userIds: [operatorId!] })));
  const [policyId] = idsIn(createPolicies(call({ policies: POLICIES })));
  const [fiatOnrampCredentialId] = idsIn(await LAB_OPERATIONS.createFiatOnRampCredential.carryOut(call(ON_RAMP)));
  const rootUsers = [userOf("customer", { customer: childKey })];
  const suborg = withoutPrototype({
    subOrganizationName: "Lab, first customer",
    rootUsers,
    rootQuorumThreshold: 1 as const,
  });
  const [childOrganizationId] = idsIn(createSubOrganization(call(suborg)));
  const child = tx.get("organizations", childOrganizationId!)!;
  const wallet = putWallet(sources, call({ walletName: "treasury", accounts: ACCOUNTS }));
  const childWallet = putWallet(sources, {
    ...call({ walletName: "savings", accounts: ACCOUNTS }),
    organization: child,
    actor: tx.get("users", child.rootUserIds[0]!)!,
  });
  putVaults(sources, organizationId, wallet.address);
  const named = { userTagId: userTagId!, policyId: policyId!, spareApiKeyId: actor.user.apiKeys[1]!.apiKeyId };
  return {
    organizationId,
    childOrganizationId: childOrganizationId!,
    apiKey,
    ids: { userId, walletId: wallet.walletId, ...named, fiatOnrampCredentialId: fiatOnrampCredentialId! },
    walletActivityId: wallet.activityId,
    operator: { userId: operatorId!, apiKey: operatorKey },
    child: {
      userId: child.rootUserIds[0]!,
      walletId: childWallet.walletId,
      walletActivityId: childWallet.activityId,
      apiKey: childKey,
    },
  };
}

function userOf(userName: string, keys: Readonly<Record<string, ApiKeyPair>>): ReadOf<typeof rootUserShape> {
  const apiKeys = Object.entries(keys).map(([apiKeyName, { publicKey }]) => ({
    ...{ apiKeyName, publicKey, curveType: "API_KEY_CURVE_P256" as const },
  }));
  return { userName, userEmail: `${userName}@lab.example`, userPhoneNumber: "+15550100", apiKeys };
}

/** The ids of the first member of a result. */
function idsIn({ result }: Outcome): string[] {
  return [Object.values(result)[0]!].flat() as string[];
}

/** Creates a wallet, and the activity that created it, with the signer's proofs of its addresses. */
function putWallet(
  sources: PastSources,
  call: Parameters<typeof createWallet>[0],
): { readonly walletId: string; readonly address: string; readonly activityId: string } {
  const { organization, actor } = call;
  const outcome = createWallet(call);
  const { walletId, addresses } = outcome.result as { readonly walletId: string; readonly addresses: string[] };
  addresses.forEach((address, index) => putNonces(sources, address, index));
  const submitted = {
    ...{ organizationId: organization.organizationId, userId: actor.user.userId },
    ...{ operation: LAB_OPERATIONS.createWallet, parameters: call.parameters as unknown as JsonObject },
  };
  return { walletId, address: addresses[0]!, activityId: putPastActivity(sources, submitted, outcome) };
}

function putNonces({ tx }: PastSources, address: string, index: number): void {
  for (const [caip2, nonce, gasStationNonce] of [
    ["eip155:1", 7 + index, 2 + index],
    ["eip155:8453", 41 + index, 12 + index],
  ] as const) {
    const nonces = { nonce: String(nonce), gasStationNonce: String(gasStationNonce) };
    tx.put("nonces", noncesId(caip2, address), { caip2, address: address.toLowerCase(), ...nonces });
  }
}

const VAULTS = [
  {
    provider: "EARN_PROVIDER_ALPHA",
    caip19: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    name: "Lab USDC Prime",
    curator: "Lab Curators",
    apyPct: "0.0512",
    netApyPct: "0.0461",
    totalDeposited: "1250000000",
    display: { usd: "1250.00", crypto: "1250.0" },
    claimableClientFee: "1840000",
    claimableClientFeeDisplay: { usd: "1.84", crypto: "1.84" },
  },
  {
    provider: "EARN_PROVIDER_BETA",
    caip19: "eip155:1/erc20:0x6B175474E89094C44Da98b954EedeAC495271d0F",
    name: "DAI",
    curator: "",
    apyPct: "0.0300",
    netApyPct: "0.0270",
    totalDeposited: "42000000000000000000",
    display: { usd: "42.00", crypto: "42.0" },
    claimableClientFee: "0",
    claimableClientFeeDisplay: { usd: "0.00", crypto: "0.0" },
  },
];

function putVaults({ tx }: PastSources, organizationId: string, clientFeeWallet: string): void {
  for (const facts of VAULTS) {
    const [vaultAddress, wrapperAddress] = [0, 1].map(() => `0x${randomBytes(20).toString("hex")}`) as [string, string];
    const common = { clientFeeBps: "1000", depositsDisabled: false, clientFeeWallet };
    tx.put("vaults", wrapperAddress, { organizationId, vault: { vaultAddress, wrapperAddress, ...common, ...facts } });
  }
}
