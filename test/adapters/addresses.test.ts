/** Accounts in answers to a wrapped client and a wrapped fetch, verified on request, against the lab. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type VerifiedFetchOptions, type VerifiedOptions, verified, verifiedFetch } from "../../src/adapters/index.js";
import type { RejectedAddressesError } from "../../src/client/index.js";
import { type ClientError, DerivationPolicyError, apiKeyStamper, createClient } from "../../src/client/index.js";
import { parsePolicy } from "../../src/index.js";
import { stampWithApiKey, startLab } from "../../src/lab/index.js";
import { rejectionOf } from "../client/support.js";
import { type Json, TARGET_PUBLIC_KEY, TWO_ACCOUNTS, account, completed, submit } from "../lab/support.js";

const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => {
  lab.setFault(null);
  lab.setSettings({});
});
const { organizationId, policy } = lab;
const { walletId } = lab.ids;
const PROVEN = { generateAppProofs: true };
const made = async (parameters: Json, more = {}): Promise<Json> => {
  const { result } = await completed(submit(lab, "createWallet", parameters, more));
  return (result as Json)["createWalletResult"] as Json;
};
const unproven = await made(TWO_ACCOUNTS);
const path = "m/44'/60'/3'/0/0";
const twoFormats = await made(
  { walletName: "formats", accounts: [account(path), account(path, "ADDRESS_FORMAT_COMPRESSED")] },
  PROVEN,
);

/** Shaped as the clients of SDKs: methods that the constructor binds, and a `request` of the prototype. */
class Sdk {
  readonly config: { readonly organizationId: string };
  readonly sent: string[] = [];
  getWalletAccounts: (input: Json) => Promise<Json>;
  getWalletAccount: (input: Json) => Promise<Json>;
  getWallets: (input: Json) => Promise<Json>;

  constructor(config: { readonly organizationId: string }) {
    this.config = config;
    this.getWalletAccounts = (input) => this.request("/public/v1/query/list_wallet_accounts", input);
    this.getWalletAccount = (input) => this.request("/public/v1/query/get_wallet_account", input);
    this.getWallets = (input) => this.request("/public/v1/query/list_wallets", input);
  }

  async request(requestPath: string, body: unknown): Promise<Json> {
    this.sent.push(requestPath.slice(requestPath.lastIndexOf("/") + 1));
    const text = JSON.stringify(body);
    const headers = { "X-Stamp": stampWithApiKey(lab.apiKey, text) };
    const response = await fetch(lab.baseUrl + requestPath, { method: "POST", body: text, headers });
    if (!response.ok) throw new Error(`${response.status} refused`);
    return (await response.json()) as Json;
  }
}

type Door = (name: string, input: Json, options?: Partial<VerifiedOptions & VerifiedFetchOptions>) => Promise<Json>;

const wrapped: Door = (name, input, options = {}) => {
  const client = verified(new Sdk({ organizationId }), { policy, verifyAddresses: true, ...(options as object) });
  const methods: Record<string, (input: Json) => Promise<Json>> = {
    list_wallet_accounts: client.getWalletAccounts,
    get_wallet_account: client.getWalletAccount,
    list_wallets: client.getWallets,
  };
  return methods[name]!({ organizationId, ...input });
};

const stamper = await apiKeyStamper(lab.apiKey);
const evidence = createClient({ baseUrl: lab.baseUrl, organizationId, stamper });
const fetching: Door = async (name, input, options = {}) => {
  const through = verifiedFetch({ policy, baseUrl: lab.baseUrl, evidence, verifyAddresses: true, ...options });
  const body = JSON.stringify({ organizationId, ...input });
  const headers = { "Content-Type": "application/json", "X-Stamp": stampWithApiKey(lab.apiKey, body) };
  const response = await through(`${lab.baseUrl}/public/v1/query/${name}`, { method: "POST", body, headers });
  return (await response.json()) as Json;
};

const refusal = (answer: Promise<unknown>): Promise<RejectedAddressesError> =>
  rejectionOf<RejectedAddressesError>(answer);

describe.each([
  ["a wrapped client", wrapped],
  ["a wrapped fetch", fetching],
] as const)("%s", (_, ask) => {
  it("returns derived accounts, of a list and one by one", async () => {
    const { accounts } = await ask("list_wallet_accounts", { walletId });
    expect(accounts).toHaveLength(2);
    const [{ address }] = accounts as [Json];
    const { account: one } = await ask("get_wallet_account", { walletId, address });
    expect(one).toEqual((accounts as Json[])[0]);
    expect(await ask("list_wallet_accounts", { walletId, paginationOptions: { limit: "1" } })).toMatchObject({
      accounts: [{ address }],
    });
  });

  it("refuses every other class, with its rows, unless it is accepted", async () => {
    const input = { walletId: unproven["walletId"] };
    const error = await refusal(ask("list_wallet_accounts", input));
    expect([error.name, error.code, error.operation]).toEqual([
      "RejectedAddressesError",
      "rejected",
      "list_wallet_accounts",
    ]);
    expect(error.message).toMatch(/^rejected: list_wallet_accounts: service: 0x/);
    expect(error.rows.map((row) => [row.class, row.address])).toEqual(
      (unproven["addresses"] as string[]).map((address) => ["service", address]),
    );
    expect(JSON.stringify(error)).not.toContain("rows");
    expect((await ask("list_wallet_accounts", input, { accept: ["service"] }))["accounts"]).toHaveLength(2);
    await expect(ask("list_wallet_accounts", input, { accept: ["imported", "exported"] })).rejects.toThrow("service");
    expect((await ask("list_wallet_accounts", input, { verifyAddresses: false }))["accounts"]).toHaveLength(2);
  });

  it("refuses a page with one such account among others", async () => {
    const error = await refusal(ask("list_wallet_accounts", {}));
    expect(error.rows).toHaveLength(2);
  });

  it("never accepts what is contradicted", async () => {
    const { accounts } = await ask("list_wallet_accounts", { walletId });
    for (const [fault, name, input] of [
      ["exchanged-address", "list_wallet_accounts", { walletId }],
      ["exchanged-path", "list_wallet_accounts", { walletId }],
      ["exchanged-address", "get_wallet_account", { walletId, path: accounts[0].path }],
    ] as const) {
      lab.setFault(fault);
      const error = await refusal(ask(name, input, { accept: ["service", "imported", "exported"] }));
      expect(error.rows.map((row) => row.class)).toContain("contradicted");
    }
  });

  it("refuses a derived account that was not requested", async () => {
    lab.setFault("account-of-another-wallet");
    await expect(ask("get_wallet_account", { walletId, path: "m/44'/60'/0'/0/0" })).rejects.toThrow(/another walletId/);
  });

  it("lists all accounts before an account is contradicted by another format of its path", async () => {
    const [address] = twoFormats["addresses"] as [string];
    const { account: one } = await ask("get_wallet_account", { walletId: twoFormats["walletId"], address });
    expect(one).toMatchObject({ address, path });
  });

  it("verifies nothing of other queries, and errors as they are", async () => {
    expect((await ask("list_wallets", {}))["wallets"]).toHaveLength(3);
  });

  it("rejects with ClientError where something cannot be fetched or read", async () => {
    lab.setSettings({ listsAppProofs: false, appProofsKeptMs: 0 });
    expect((await refusal(ask("list_wallet_accounts", { walletId }))).rows[0]!.class).toBe("service");
    lab.setSettings({});
    lab.setFault("foreign-account");
    const error = await rejectionOf<ClientError>(ask("list_wallet_accounts", {}));
    expect([error.name, error.code]).toEqual(["ClientError", "answer"]);
  });

  it("refuses policies and options that cannot verify", async () => {
    const other = JSON.stringify(lab.policyFile).replaceAll("APP_PROOF_TYPE_ADDRESS_DERIVATION", "OTHER");
    const options = (async () => ask("list_wallet_accounts", {}, { policy: parsePolicy(other) }))();
    await expect(options).rejects.toThrow(DerivationPolicyError);
    const useless = (async () => ask("list_wallet_accounts", {}, { verifyAddresses: false, accept: ["service"] }))();
    await expect(useless).rejects.toThrow(TypeError);
    const never = (async () => ask("list_wallet_accounts", {}, { accept: ["contradicted" as never] }))();
    await expect(never).rejects.toThrow(TypeError);
  });
});

it.each<[string, string, (answer: Json) => Json]>([
  ["get_wallet_account", "accounts", ({ account: one }) => ({ account: one, accounts: [one] })],
  ["get_wallet_account", "Account", ({ account: one }) => ({ account: one, Account: { ...one, address: "0x42" } })],
  ["get_wallet_account", "Accounts", ({ account: one }) => ({ account: one, Accounts: [one] })],
  ["get_wallet_account", "account.Address", ({ account: one }) => ({ account: { ...one, Address: "0x42" } })],
  ["list_wallet_accounts", "account", ({ accounts }) => ({ accounts, account: accounts[0] })],
  ["list_wallet_accounts", "ACCOUNTS", ({ accounts }) => ({ accounts, ACCOUNTS: [] })],
])("an answer of %s with %s, which nothing judged, is refused", async (name, path, alter) => {
  class Altered extends Sdk {
    override async request(requestPath: string, body: unknown): Promise<Json> {
      const answer = await super.request(requestPath, body);
      return requestPath.endsWith(name) ? alter(answer) : answer;
    }
  }
  const client = verified(new Altered({ organizationId }), { policy, verifyAddresses: true });
  const honest = await evidence.query("list_wallet_accounts", { walletId }, {});
  const { address } = (honest as Json)["accounts"][0] as { address: string };
  const input = { organizationId, walletId };
  const answer =
    name === "get_wallet_account" ? client.getWalletAccount({ ...input, address }) : client.getWalletAccounts(input);
  const error = await rejectionOf<ClientError>(answer);
  expect([error.name, error.code]).toEqual(["ClientError", "answer"]);
  expect(error.message).toContain(path);
});

it("a wrapped fetch needs a client as evidence", () => {
  const options = { policy, baseUrl: lab.baseUrl, verifyAddresses: true };
  expect(() => verifiedFetch({ ...options, evidence: [] })).toThrow("options.evidence: expected a client");
});

it("a wrapped client asks for the organization that its SDK fills in, and each boot proof once", async () => {
  const sdk = new Sdk({ organizationId });
  const client = verified(sdk, { policy, verifyAddresses: true });
  for (let time = 0; time < 2; time++)
    expect((await client.getWalletAccounts({ organizationId, walletId }))["accounts"]).toHaveLength(2);
  expect(sdk.sent.filter((name) => name === "get_boot_proof").length).toBeLessThanOrEqual(4);
  expect(sdk.sent.filter((name) => name === "list_wallets")).toHaveLength(2);
  expect(sdk.sent.filter((name) => name === "list_wallet_accounts")).toHaveLength(2);
});

it("a wrapped client may ask for a hexadecimal address in another case", async () => {
  const [address] = twoFormats["addresses"] as [string];
  const lower = address.toLowerCase();
  class Tolerant extends Sdk {
    override request(requestPath: string, body: unknown): Promise<Json> {
      return super.request(requestPath, JSON.parse(JSON.stringify(body).replace(lower, address)) as Json);
    }
  }
  const client = verified(new Tolerant({ organizationId }), { policy, verifyAddresses: true });
  const input = { organizationId, walletId: twoFormats["walletId"], address: lower };
  expect((await client.getWalletAccount(input))["account"].address).toBe(address);
});

// The last tests, since they make wallets.
it.each([
  ["a wrapped client", wrapped],
  ["a wrapped fetch", fetching],
] as const)("%s refuses another account whose key was exported in another format", async (_, ask) => {
  const other = "m/44'/60'/4'/0'";
  const { walletId: ofKey, addresses } = await made(
    { walletName: "key", accounts: [account(other), account(other, "ADDRESS_FORMAT_COMPRESSED")] },
    PROVEN,
  );
  const [address, sibling] = addresses as [string, string];
  const sent = () => ask("get_wallet_account", { walletId: ofKey, address: sibling });
  expect(await sent()).toMatchObject({ account: { address: sibling } });
  await completed(submit(lab, "exportWalletAccount", { address, targetPublicKey: TARGET_PUBLIC_KEY }));
  expect((await refusal(sent())).rows.map((row) => row.class)).toEqual(["exported"]);
});
