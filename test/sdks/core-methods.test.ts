/**
 * The high-level methods of core's TurnkeyClient with a verified client in place of its `httpClient`. They never ask
 * for app proofs themselves.
 */
import { ApiKeyStamper, TurnkeyClient as CoreClient } from "@turnkey/core";
import { describe, expect, it } from "vitest";
import { verified } from "../../src/adapters/index.js";
import { RejectedActivityError } from "../../src/client/index.js";
import { type Json, account, query, requestFor } from "../lab/support.js";
import { type Honest, honestly, lyingLab, wire } from "../proxy/support.js";
import { loopback } from "../support/loopback.js";
import { causeOf } from "./support.js";

const { lab, liar } = await lyingLab();

const { organizationId, policy, ids } = lab;
const { userId, walletId } = ids;
const session = { organizationId, userId, publicKey: lab.apiKey.publicKey };
/** What core has of a browser's storage: in Node its `init` throws. */
const storage = {
  getActiveSession: async () => session,
  getActiveSessionKey: async () => "session",
  getSession: async () => session,
};

type Methods = Record<string, (input?: unknown) => Promise<unknown>>;

function coreClient(apiBaseUrl = liar.url, verifyAddresses = false): CoreClient {
  const { publicKey: apiPublicKey, privateKey: apiPrivateKey } = lab.apiKey;
  const stamper = new ApiKeyStamper({ apiPublicKey, apiPrivateKey });
  // Core's own default is the service's.
  const { url: authProxyUrl } = lab.authProxy;
  const core = new CoreClient({ apiBaseUrl, organizationId, authProxyUrl, authProxyConfigId: "id" }, stamper as never);
  Reflect.set(core, "storageManager", storage);
  const passkeys = { stamp: (body: string) => stamper.stamp(body), setPublicKey: () => {}, clear: () => {} };
  Reflect.set(core, "passkeyStamper", passkeys);
  // In place of the key pairs of a browser.
  Reflect.set(stamper, "deleteKeyPair", async () => {});
  const client = core.createHttpClient({ activityPoller: { intervalMs: 1, numRetries: 1 } } as never);
  core.httpClient = verified(client, { policy, verifyAddresses });
  return core;
}
const core = coreClient();
const methods = core as object as Methods;
const paths = (): string[] => liar.requests.map(({ url }) => url!.replace("/public/v1/", ""));
/** Whether each submit asked for app proofs. */
const flags = (): unknown[] =>
  liar.bodies.flatMap((body, at) =>
    paths()[at]!.startsWith("submit/") ? [(JSON.parse(body.toString()) as Json)["generateAppProofs"]] : [],
  );

const [{ address }] = (await query(lab, "list_wallet_accounts")).body["accounts"] as [{ address: string }];
const walletAccount = { address, addressFormat: "ADDRESS_FORMAT_ETHEREUM", source: "embedded" };
const { parameters } = await requestFor(lab, { needs: ["sign_transaction"] });
const transaction = {
  walletAccount,
  unsignedTransaction: parameters["unsignedTransaction"] as string,
  transactionType: "TRANSACTION_TYPE_ETHEREUM",
};
const VERIFIED: Record<string, unknown> = {
  createWallet: { walletName: "new" },
  createWalletAccounts: { walletId, accounts: [account("m/44'/60'/0'/0/9")] },
  signMessage: { message: "m", walletAccount },
  signTransaction: transaction,
};

/** Submits that the lab does not offer. Each has the result that the method would return. */
const OTHERS: Record<string, readonly [input: unknown, result: Json]> = {
  updateUserEmail: [{ email: "a@b.c" }, { updateUserEmailResult: { userId: "evil" } }],
  removeUserEmail: [{}, { updateUserEmailResult: { userId: "evil" } }],
  updateUserPhoneNumber: [{ phoneNumber: "1" }, { updateUserPhoneNumberResult: { userId: "evil" } }],
  removeUserPhoneNumber: [{}, { updateUserPhoneNumberResult: { userId: "evil" } }],
  updateUserName: [{ userName: "n" }, { updateUserNameResult: { userId: "evil" } }],
  removeOauthProviders: [{ providerIds: ["p"] }, { deleteOauthProvidersResult: { providerIds: ["evil"] } }],
  removePasskeys: [{ authenticatorIds: ["a"] }, { deleteAuthenticatorsResult: { authenticatorIds: ["evil"] } }],
  importWallet: [{ encryptedBundle: "b", walletName: "w" }, { importWalletResult: { walletId: "evil" } }],
  importPrivateKey: [
    { encryptedBundle: "b", privateKeyName: "k", curve: "CURVE_SECP256K1", addressFormats: [] },
    { importPrivateKeyResult: { privateKeyId: "evil" } },
  ],
  fetchOrCreatePolicies: [
    { policies: [{ policyName: "p", effect: "EFFECT_ALLOW", condition: "true", consensus: "true", notes: "" }] },
    { createPoliciesResult: { policyIds: ["evil"] } },
  ],
  fetchOrCreateP256ApiKeyUser: [{ publicKey: lab.apiKey.publicKey }, { createUsersResult: { userIds: ["evil"] } }],
  exportWallet: [{ walletId, targetPublicKey: "04" }, { exportWalletResult: { exportBundle: "evil" } }],
  exportPrivateKey: [
    { privateKeyId: "p", targetPublicKey: "04" },
    { exportPrivateKeyResult: { exportBundle: "evil" } },
  ],
  exportWalletAccount: [{ address, targetPublicKey: "04" }, { exportWalletAccountResult: { exportBundle: "evil" } }],
  deleteSubOrganization: [
    { deleteWithoutExport: true },
    { deleteSubOrganizationResult: { subOrganizationUuid: "evil" } },
  ],
  ethSendTransaction: [
    { transaction: { from: address, to: address, caip2: "eip155:1" } },
    { ethSendTransactionResult: { sendTransactionStatusId: "evil" } },
  ],
  solSendTransaction: [
    { transaction: { signWith: address, unsignedTransaction: "00", caip2: "solana:x" } },
    { solSendTransactionResult: { sendTransactionStatusId: "evil" } },
  ],
  refreshSession: [{ publicKey: lab.apiKey.publicKey }, { stampLoginResult: { session: "evil" } }],
};

const QUERIES: Record<string, unknown> = {
  fetchUser: {},
  fetchWallets: {},
  fetchWalletAccounts: { wallet: { walletId, source: "embedded" } },
  fetchPrivateKeys: {},
  fetchBootProofForAppProof: { appProof: { publicKey: lab.enclaves[0]!.ephemeralKey } },
};

/** Submits after a question to the auth proxy: whether another user has the contact. */
const AFTER_QUESTIONS: Record<string, readonly [input: unknown, result: Json]> = {
  updateUserEmail: [{ email: "a@b.c", verificationToken: "t" }, { updateUserEmailResult: { userId: "evil" } }],
  updateUserPhoneNumber: [
    { phoneNumber: "1", verificationToken: "t" },
    { updateUserPhoneNumberResult: { userId: "evil" } },
  ],
  addOauthProvider: [
    { providerName: "p", oidcClaims: [{ iss: "i", sub: "s", aud: "a" }] },
    { createOauthProvidersResult: { providerIds: ["evil"] } },
  ],
};

/** As a service answers that carries out what it likes, with the intent that was submitted. */
const answering =
  (result: Json) =>
  ({ path, text, status }: Honest): string => {
    if (["query/list_users", "query/list_policies"].includes(path)) return wire('{"users":[],"policies":[]}');
    if (!path.startsWith("submit/")) return wire(text, { status });
    const { type, organizationId: organization } = JSON.parse(liar.bodies.at(-1)!.toString()) as Json;
    const facts = { id: "an-id", organizationId: organization as string, type: type as string, intent: {}, votes: [] };
    return wire(JSON.stringify({ activity: { ...facts, status: "ACTIVITY_STATUS_COMPLETED", result } }));
  };

describe("core with a verified httpClient", () => {
  it.each(Object.entries(VERIFIED))("asks for app proofs and returns a verified result: %s", async (name, input) => {
    expect(await methods[name]!(input)).toBeTruthy();
    expect(flags()).toEqual([true]);
    expect(paths()).toHaveLength(liar.requests.length);
  });
});

it("finds wallets and accounts with verifyAddresses, without what nobody judged", async () => {
  const judging = coreClient(liar.url, true) as object as Methods;
  const wallets = (await judging["fetchWallets"]!()) as Json[];
  const found = wallets.find((wallet) => wallet["walletId"] === walletId)!["accounts"] as Json[];
  const accounts = (await judging["fetchWalletAccounts"]!(QUERIES["fetchWalletAccounts"])) as Json[];
  expect(accounts.length).toBeGreaterThan(1);
  expect(found.map((one) => one["address"])).toEqual(accounts.map((one) => one["address"]));
  expect(accounts[0]).toHaveProperty("publicKey");
  expect(accounts[0]).not.toHaveProperty("createdAt");
  liar.lie = ({ path, text }) =>
    wire(path === "query/list_wallet_accounts" ? text.replace('"publicKey":"0', '"publicKey":"1') : text);
  await expect(judging["fetchWallets"]!()).rejects.toThrow();
});

describe("core with a verified httpClient before a lying service", () => {
  it("sends a transaction to a chain only once its signature is verified", async () => {
    const sent: string[] = [];
    const chain = await loopback((_, response, text) => {
      sent.push(text.toString());
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: `0x${"ab".repeat(32)}` }));
    });
    const { url: rpcUrl } = chain;
    try {
      liar.lie = answering({ signTransactionResult: { signedTransaction: "evil" } });
      const refused = await causeOf(methods["signAndSendTransaction"]!({ ...transaction, rpcUrl }));
      expect([refused, sent]).toEqual([expect.any(RejectedActivityError), []]);
      liar.lie = honestly;
      await methods["signAndSendTransaction"]!({ ...transaction, rpcUrl }).catch(() => {});
      expect(sent.join()).toContain("eth_sendRawTransaction");
      expect(flags()).toEqual([true, true]);
    } finally {
      await chain.close();
    }
  });

  it.each(Object.keys(VERIFIED))("throws where the answer is a lie, with the rejection as cause: %s", async (name) => {
    liar.lie = answering({
      createWalletResult: { walletId: "evil", addresses: [] },
      createWalletAccountsResult: { addresses: ["evil"] },
      signRawPayloadResult: { r: "evil" },
      signTransactionResult: { signedTransaction: "evil" },
    });
    const error = await causeOf(methods[name]!(VERIFIED[name]));
    expect(error).toBeInstanceOf(RejectedActivityError);
    expect((error as Error).message).toMatch(/^rejected: /);
  });

  it.each([OTHERS, AFTER_QUESTIONS].flatMap((table) => Object.entries(table)))(
    "asks for app proofs, and returns no unproven result: %s",
    async (name, [input, result]) => {
      liar.lie = answering(result);
      const error = await causeOf(methods[name]!(input));
      expect([name, (error as Error).message]).toEqual([name, expect.stringMatching(/^rejected: .*activity\./)]);
      expect(flags()).toEqual([true]);
    },
  );
});

describe("what core does not submit", () => {
  it.each(Object.entries(QUERIES))("returns the answer of a query: %s", async (name, input) => {
    expect(await methods[name]!(input)).toBeTruthy();
    expect(flags()).toEqual([]);
  });

  it("is replaced by init, which Node has no storage for", async () => {
    const other = coreClient();
    const { httpClient } = other;
    await expect(other.init()).rejects.toThrow("Unsupported environment for storage manager");
    expect(other.httpClient).toBe(httpClient);
    expect(CoreClient.prototype.init.toString()).toContain("this.httpClient = this.createHttpClient()");
  });
});
