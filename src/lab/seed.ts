/** Creates the content of a new lab. */
import { randomBytes, randomUUID } from "node:crypto";
import { type ApiKeyPair, generateApiKey } from "./api-key.js";
import type { Fleet } from "./fleet.js";
import { type ApiKey, type Organization, type Seed, type User, noncesId } from "./records.js";
import type { Transaction } from "./state.js";
import { makeWallet } from "./new-keys.js";
import { LAB_OPERATIONS } from "./operations.js";
import { putPastActivity } from "./past-activities.js";
import { addUser, createdAt, newApiKey } from "./users.js";

const PATHS = ["m/44'/60'/0'/0/0", "m/44'/60'/0'/0/1"];
const ETHEREUM = { curve: "CURVE_SECP256K1", addressFormat: "ADDRESS_FORMAT_ETHEREUM" } as const;
const USDC = "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const DAI = "eip155:1/erc20:0x6B175474E89094C44Da98b954EedeAC495271d0F";

/** Creates the content. Enclaves must be running, since they prove the addresses of wallets. */
export function createSeed(tx: Transaction, fleet: Fleet, now: Date): Seed {
  const fixtures = new FixtureBuilder(tx, fleet, now);
  const [organizationId, childOrganizationId] = [randomUUID(), randomUUID()];
  const [apiKey, operatorKey, childKey] = [generateApiKey(), generateApiKey(), generateApiKey()];
  const keyOf = (name: string, { publicKey }: ApiKeyPair): ApiKey => newApiKey(name, publicKey, now);
  const userTagId = fixtures.tag(organizationId, "engineers");
  const spare = keyOf("spare", generateApiKey());
  const provider = {
    providerId: randomUUID(),
    providerName: "lab sign-in",
    issuer: "https://accounts.lab.example",
    audience: "lab-app",
    subject: "admin",
    ...createdAt(now),
  };
  const admin = fixtures.user(organizationId, "admin", {
    apiKeys: [keyOf("lab", apiKey), spare],
    oauthProviders: [provider],
  });
  const operator = fixtures.user(organizationId, "operator", {
    apiKeys: [keyOf("operator", operatorKey)],
    userTags: [userTagId],
  });
  const customer = fixtures.user(childOrganizationId, "customer", { apiKeys: [keyOf("customer", childKey)] });
  fixtures.organization({ organizationId, organizationName: "Lab", rootUserIds: [admin], features: [] });
  fixtures.organization({
    organizationId: childOrganizationId,
    organizationName: "Lab, first customer",
    parentOrganizationId: organizationId,
    rootUserIds: [customer],
    features: [],
  });
  const wallet = fixtures.wallet(organizationId, admin, "treasury");
  const childWallet = fixtures.wallet(childOrganizationId, customer, "savings");
  const ids = {
    userId: admin,
    walletId: wallet.walletId,
    userTagId,
    policyId: fixtures.policies(organizationId),
    spareApiKeyId: spare.apiKeyId,
    fiatOnrampCredentialId: fixtures.onRampCredential(organizationId),
  };
  fixtures.vaults(organizationId, wallet.address);
  return {
    organizationId,
    childOrganizationId,
    apiKey,
    ids,
    walletActivityId: wallet.activityId,
    operator: { userId: operator, apiKey: operatorKey },
    child: {
      userId: customer,
      walletId: childWallet.walletId,
      walletActivityId: childWallet.activityId,
      apiKey: childKey,
    },
  };
}

class FixtureBuilder {
  readonly #tx: Transaction;
  readonly #fleet: Fleet;
  readonly #now: Date;

  constructor(tx: Transaction, fleet: Fleet, now: Date) {
    this.#tx = tx;
    this.#fleet = fleet;
    this.#now = now;
  }

  organization(organization: Organization): void {
    this.#tx.put("organizations", organization.organizationId, organization);
  }

  user(organizationId: string, userName: string, more: Partial<User>): string {
    const userEmail = `${userName}@lab.example`;
    return addUser(this.#tx, organizationId, { userName, userEmail, userPhoneNumber: "+15550100", ...more }, this.#now);
  }

  tag(organizationId: string, userTagName: string): string {
    const userTagId = randomUUID();
    const tag = { tagId: userTagId, tagName: userTagName, tagType: "TAG_TYPE_USER" as const };
    this.#tx.put("tags", userTagId, { organizationId, ...tag, ...createdAt(this.#now) });
    return userTagId;
  }

  /** Creates the policies. Returns the id of the first one. */
  policies(organizationId: string): string {
    const policies = [
      {
        policyName: "operators rename wallets together",
        condition: "activity.type == 'ACTIVITY_TYPE_UPDATE_WALLET'",
        consensus: "approvers.count() >= 2",
      },
      {
        policyName: "everybody makes sessions",
        condition: "activity.type in ['ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2', 'ACTIVITY_TYPE_STAMP_LOGIN']",
        consensus: "true",
      },
    ].map((policy) => ({
      ...{ organizationId, policyId: randomUUID(), effect: "EFFECT_ALLOW" as const, notes: "" },
      ...policy,
      ...createdAt(this.#now),
    }));
    for (const policy of policies) this.#tx.put("policies", policy.policyId, policy);
    return policies[0]!.policyId;
  }

  onRampCredential(organizationId: string): string {
    const fiatOnrampCredentialId = randomUUID();
    const record = {
      fiatOnrampCredentialId,
      organizationId,
      onrampProvider: "FIAT_ON_RAMP_PROVIDER_ALPHA",
      projectId: "lab-project",
      publishableApiKey: "pk_lab",
      encryptedSecretApiKey: "lab",
      ...createdAt(this.#now),
    };
    const [kind, id] = ["fiatOnRampCredential", fiatOnrampCredentialId];
    this.#tx.put("kept", id, { organizationId, kind, id, record });
    return fiatOnrampCredentialId;
  }

  /** Creates a wallet, and the activity that created it, with the signer's proofs of its addresses. */
  wallet(
    organizationId: string,
    userId: string,
    walletName: string,
  ): { walletId: string; address: string; activityId: string } {
    const accounts = PATHS.map((path) => ({ pathFormat: "PATH_FORMAT_BIP32" as const, path, ...ETHEREUM }));
    const parameters = { walletName, accounts };
    const made = makeWallet(this.#tx, organizationId, parameters, { now: this.#now });
    const { walletId, addresses } = made;
    addresses.forEach((address, index) => this.#nonces(address, index));
    const activityId = putPastActivity(
      { tx: this.#tx, fleet: this.#fleet, now: this.#now },
      { organizationId, userId, operation: LAB_OPERATIONS.createWallet, parameters },
      { result: { walletId, addresses }, addresses: made.proven },
    );
    return { walletId, address: addresses[0]!, activityId };
  }

  #nonces(address: string, index: number): void {
    for (const [caip2, nonce, gasStationNonce] of [
      ["eip155:1", 7 + index, 2 + index],
      ["eip155:8453", 41 + index, 12 + index],
    ] as const) {
      const record = {
        caip2,
        address: address.toLowerCase(),
        nonce: String(nonce),
        gasStationNonce: String(gasStationNonce),
      };
      this.#tx.put("nonces", noncesId(caip2, address), record);
    }
  }

  vaults(organizationId: string, clientFeeWallet: string): void {
    const address = (): string => `0x${randomBytes(20).toString("hex")}`;
    const common = { clientFeeBps: "1000", depositsDisabled: false, clientFeeWallet };
    const vaults = [
      {
        provider: "EARN_PROVIDER_ALPHA",
        caip19: USDC,
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
        caip19: DAI,
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
    for (const vault of vaults) {
      const wrapperAddress = address();
      const whole = { vaultAddress: address(), wrapperAddress, ...common, ...vault };
      this.#tx.put("vaults", wrapperAddress, { organizationId, vault: whole });
    }
  }
}
