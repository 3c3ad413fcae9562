/** Accounts in answers to a wrapped client and a wrapped fetch, verified on request, against the lab. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  type VerifiedFetchOptions,
  type VerifiedOptions,
  reportOf,
  verified,
  verifiedFetch,
} from "../../src/adapters/index.js";
import type { RejectedAddressesError } from "../../src/client/index.js";
import { type ClientError, apiKeyStamper, createClient } from "../../src/client/index.js";
import { DerivationPolicyError } from "../../src/addresses/index.js";
import { type Report, parsePolicy } from "../../src/index.js";
import { stampWithApiKey, startLab } from "../../src/lab/index.js";
import { rejectionOf } from "../client/support.js";
import { type Json, TARGET_PUBLIC_KEY, TWO_ACCOUNTS, account, completed, submit } from "../lab/support.js";

const lab = await startLab();
afterAll(() => lab.close());
/** Changes the text of the service's answer to a query. */
type Lie = (operation: string, text: string) => string;
const honestly: Lie = (_, text) => text;
let lie = honestly;
/** Changes the answer to one query, as JSON. */
const lying = (operation: string, alter: (answer: Json) => unknown): void => {
  lie = (name, text) => (name === operation ? JSON.stringify(alter(JSON.parse(text) as Json)) : text);
};

beforeEach(() => {
  lie = honestly;
  lab.setFault(null);
  lab.setSettings({});
});
const { organizationId, policy } = lab;
const { walletId } = lab.ids;
const EVIL = "0x000000000000000000000000000000000000dEaD";
const EVIL_ADDRESS = { format: "ADDRESS_FORMAT_ETHEREUM", address: EVIL };
const PROVEN = { generateAppProofs: true };
const NOT_APPLICABLE = "HASH_FUNCTION_NOT_APPLICABLE";
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

const madeKey = async (privateKeyName: string, more = {}): Promise<string> => {
  const addressFormats = ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_COMPRESSED"];
  const key = { privateKeyName, curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats };
  const { result } = await completed(submit(lab, "createPrivateKeys", { privateKeys: [key] }, more));
  return ((result as Json)["createPrivateKeysResultV2"].privateKeys as Json[])[0]!["privateKeyId"] as string;
};
const privateKeyId = await madeKey("proven", PROVEN);
const otherKeyId = await madeKey("unproven");

/** Shaped as the clients of SDKs: methods that the constructor binds, and a `request` of the prototype. */
class Sdk {
  readonly config: { readonly organizationId: string };
  readonly sent: string[] = [];
  getWalletAccounts: (input: Json) => Promise<Json>;
  getWalletAccount: (input: Json) => Promise<Json>;
  getPrivateKeys: (input: Json) => Promise<Json>;
  getPrivateKey: (input: Json) => Promise<Json>;
  getWallets: (input: Json) => Promise<Json>;

  constructor(config: { readonly organizationId: string }) {
    this.config = config;
    this.getWalletAccounts = (input) => this.request("/public/v1/query/list_wallet_accounts", input);
    this.getWalletAccount = (input) => this.request("/public/v1/query/get_wallet_account", input);
    this.getPrivateKeys = (input) => this.request("/public/v1/query/list_private_keys", input);
    this.getPrivateKey = (input) => this.request("/public/v1/query/get_private_key", input);
    this.getWallets = (input) => this.request("/public/v1/query/list_wallets", input);
  }

  async request(requestPath: string, body: unknown): Promise<Json> {
    const operation = requestPath.slice(requestPath.lastIndexOf("/") + 1);
    this.sent.push(operation);
    const text = JSON.stringify(body);
    const headers = { "X-Stamp": stampWithApiKey(lab.apiKey, text) };
    const response = await fetch(lab.baseUrl + requestPath, { method: "POST", body: text, headers });
    if (!response.ok) throw new Error(`${response.status} refused`);
    return JSON.parse(lie(operation, await response.text())) as Json;
  }
}

type Options = Partial<VerifiedOptions & VerifiedFetchOptions>;
type Door = (name: string, input: Json, options?: Options) => Promise<Json>;
type Reported = (name: string, input: Json) => Promise<{ readonly json: Json; readonly value: unknown }>;

const wrap = (options: Options = {}): Sdk =>
  verified(new Sdk({ organizationId }), { policy, verifyAddresses: true, ...(options as object) });
/** Keeps its boot proofs. */
const usual = wrap();
const wrapped: Door = (name, input, options) => {
  const client = options === undefined ? usual : wrap(options);
  const methods: Record<string, (input: Json) => Promise<Json>> = {
    list_wallet_accounts: client.getWalletAccounts,
    get_wallet_account: client.getWalletAccount,
    list_private_keys: client.getPrivateKeys,
    get_private_key: client.getPrivateKey,
    list_wallets: client.getWallets,
  };
  return methods[name]!({ organizationId, ...input });
};

const stamper = await apiKeyStamper(lab.apiKey);
const evidence = createClient({ baseUrl: lab.baseUrl, organizationId, stamper });
const lyingFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { pathname } = new URL(String(input));
  return new Response(lie(pathname.slice(pathname.lastIndexOf("/") + 1), await response.text()), response);
};
const common = { policy, baseUrl: lab.baseUrl, evidence, fetch: lyingFetch, verifyAddresses: true };
const usualFetch = verifiedFetch(common);
const responseOf = (name: string, input: Json, options?: Options): Promise<Response> => {
  const through = options === undefined ? usualFetch : verifiedFetch({ ...common, ...options });
  const body = JSON.stringify({ organizationId, ...input });
  const headers = { "Content-Type": "application/json", "X-Stamp": stampWithApiKey(lab.apiKey, body) };
  return through(`${lab.baseUrl}/public/v1/query/${name}`, { method: "POST", body, headers });
};
const fetching: Door = async (...asked) => (await (await responseOf(...asked)).json()) as Json;

const reported: Readonly<Record<string, Reported>> = {
  "a wrapped client": async (...asked) => {
    const json = await wrapped(...asked);
    return { json, value: json };
  },
  "a wrapped fetch": async (...asked) => {
    const value = await responseOf(...asked);
    return { json: (await value.clone().json()) as Json, value };
  },
};

const refusal = (answer: Promise<unknown>): Promise<RejectedAddressesError> =>
  rejectionOf<RejectedAddressesError>(answer);

const DOORS = [
  ["a wrapped client", wrapped],
  ["a wrapped fetch", fetching],
] as const;

describe.each(DOORS)("%s", (_, ask) => {
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
});

describe.each(DOORS)("the answer of %s", (door, ask) => {
  it("hands on what was judged, all else in unverified, and the class of each address", async () => {
    const { json, value } = await reported[door]!("list_wallet_accounts", { walletId, includeWalletDetails: true });
    const [first] = json["accounts"] as [Json];
    expect(Object.keys(first).sort()).toEqual([
      ...["address", "addressFormat", "curve", "organizationId", "path"],
      ...["publicKey", "walletAccountId", "walletDetails", "walletId"],
    ]);
    expect(first["walletDetails"]).toEqual({ walletId });
    expect(Object.keys(json).sort()).toEqual(["accounts", "unverified"]);
    const [others] = json["unverified"].accounts as [Json];
    expect(Object.keys(others).sort()).toEqual(["createdAt", "pathFormat", "updatedAt", "walletDetails"]);
    expect(others["walletDetails"]).toMatchObject({ walletId, exported: false });
    const { accounts } = json as { accounts: Json[] };
    expect(reportOf(value)?.rows?.map((row) => [row.class, row.address, row.walletId])).toEqual(
      accounts.map(({ address }) => ["derived", address, walletId]),
    );
    expect([reportOf(value)?.verdict, reportOf(value)?.claims]).toEqual([undefined, undefined]);
    const { value: wallets } = await reported[door]!("list_wallets", {});
    expect(reportOf(wallets)?.verdict).toBe("unverified");
  });

  it("hands on no member that a service adds, wherever it is", async () => {
    lying("get_wallet_account", ({ account: one }) => ({
      account: { ...one, payTo: EVIL, name: EVIL, walletDetails: { walletId: "another", address: EVIL } },
      payTo: EVIL,
      unverified: EVIL,
    }));
    const { address } = (await ask("list_wallet_accounts", { walletId }))["accounts"][0] as Json;
    const { unverified, ...answer } = await ask("get_wallet_account", { walletId, address });
    expect(JSON.stringify(answer)).not.toContain(EVIL);
    expect(answer).toMatchObject({ account: { address, walletDetails: { walletId } } });
    expect(unverified).toMatchObject({
      payTo: EVIL,
      unverified: EVIL,
      account: { payTo: EVIL, name: EVIL, walletDetails: { walletId: "another", address: EVIL } },
    });
  });

  it("refuses the public key of another address, and hands on as unverified one that nobody compared", async () => {
    const { accounts } = await ask("list_wallet_accounts", { walletId });
    const [{ address }, { publicKey }] = accounts as [Json, Json];
    for (const other of [publicKey, "00", "no key"]) {
      lying("get_wallet_account", ({ account: one }) => ({ account: { ...one, publicKey: other } }));
      const error = await refusal(ask("get_wallet_account", { walletId, address }));
      expect(error.rows).toMatchObject([{ class: "contradicted", address }]);
      expect(error.message).toContain("its publicKey is that of another address");
    }
    for (const other of ["", 5, { key: publicKey }]) {
      lying("get_wallet_account", ({ account: one }) => ({ account: { ...one, publicKey: other } }));
      const { account: one, unverified } = await ask("get_wallet_account", { walletId, address });
      expect(one).not.toHaveProperty("publicKey");
      expect(unverified.account.publicKey).toEqual(other);
    }
  });
});

describe.each(DOORS)("an answer with __proto__ to %s", (_, ask) => {
  it.each(["list_wallet_accounts", "get_wallet_account"])("is refused: %s", async (name) => {
    const { address } = (await ask("list_wallet_accounts", { walletId }))["accounts"][0] as Json;
    for (const place of ['"address":', '"createdAt":', '"account', '"seconds":']) {
      lie = (operation, text) =>
        operation === name ? text.replace(place, `"__proto__":{"address":"0x42"},${place}`) : text;
      const input = name === "get_wallet_account" ? { walletId, address } : { walletId };
      const error = await rejectionOf<ClientError>(ask(name, input));
      expect([error.name, error.code]).toEqual(["ClientError", "answer"]);
      expect(error.message).toContain("__proto__");
    }
  });
});

describe.each(DOORS)("private keys of %s", (door, ask) => {
  it("are judged as accounts are", async () => {
    const { json, value } = await reported[door]!("get_private_key", { privateKeyId });
    const { privateKey, unverified } = json;
    expect(Object.keys(privateKey as Json).sort()).toEqual(["addresses", "curve", "privateKeyId", "publicKey"]);
    expect(privateKey.addresses).toHaveLength(2);
    expect(unverified.privateKey).toMatchObject({ privateKeyName: "proven", exported: false, imported: false });
    expect(reportOf(value)?.rows?.map((row) => [row.class, row.privateKeyId])).toEqual([
      ["derived", privateKeyId],
      ["derived", privateKeyId],
    ]);
    const all = await refusal(ask("list_private_keys", {}));
    expect(all.rows.map((row) => row.class)).toContain("service");
    const listed = await ask("list_private_keys", {}, { accept: ["service", "imported", "exported"] });
    expect((listed["privateKeys"] as Json[]).map((key) => key["privateKeyId"])).toContain(privateKeyId);
    expect(listed["unverified"].privateKeys).toHaveLength((listed["privateKeys"] as Json[]).length);
  });

  it("are refused with another id than was requested, another address, public key or flag", async () => {
    const { privateKey: other } = await ask("get_private_key", { privateKeyId: otherKeyId }, { accept: ["service"] });
    const alterations: [RegExp, (key: Json) => Json][] = [
      [/contradicted: .*another privateKeyId/, (key) => ({ ...key, privateKeyId: other["privateKeyId"] })],
      [/service: 0x0+dEaD/, (key) => ({ ...key, publicKey: "", addresses: [EVIL_ADDRESS] })],
      [/contradicted: 0x0+dEaD .*publicKey/, (key) => ({ ...key, addresses: [...key["addresses"], EVIL_ADDRESS] })],
      [/contradicted: .*publicKey/, (key) => ({ ...key, publicKey: other["publicKey"] })],
      [/exported/, (key) => ({ ...key, exported: true })],
    ];
    for (const [message, alter] of alterations) {
      lying("get_private_key", ({ privateKey }) => ({ privateKey: alter(privateKey as Json) }));
      await expect(ask("get_private_key", { privateKeyId })).rejects.toThrow(message);
    }
  });
});

describe.each(DOORS)("what cannot be verified by %s", (_, ask) => {
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
  lying(name, alter);
  const client = verified(new Sdk({ organizationId }), { policy, verifyAddresses: true });
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
  expect(sdk.sent.filter((name) => name === "list_wallet_accounts")).toHaveLength(4);
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

it.each(DOORS)(
  "%s refuses an exported account that the answer says to be of another curve, id or format",
  async (_, ask) => {
    const at = "m/44'/60'/5'/0'";
    const { walletId: ofKey, addresses } = await made(
      { walletName: "curve", accounts: [account(at), account(at, "ADDRESS_FORMAT_COMPRESSED")] },
      PROVEN,
    );
    const [address, sibling] = addresses as [string, string];
    await completed(submit(lab, "exportWalletAccount", { address, targetPublicKey: TARGET_PUBLIC_KEY }));
    for (const format of ["ADDRESS_FORMAT_COMPRESSED", "ADDRESS_FORMAT_COSMOS"]) {
      const other = { curve: "CURVE_P256", walletAccountId: "another", addressFormat: format };
      lying("get_wallet_account", ({ account: one }) => ({ account: { ...one, ...other } }));
      const error = await refusal(ask("get_wallet_account", { walletId: ofKey, address: sibling }));
      expect(error.rows.map((row) => row.class)).toEqual(["exported"]);
    }
  },
);

it("a wrapped client verifies a signature by the key that an answer has for an address that is a hash", async () => {
  const sui = { ...account("m/44'/784'/0'/0'/0'", "ADDRESS_FORMAT_SUI"), curve: "CURVE_ED25519" };
  const { walletId: own, addresses } = await made({ walletName: "sui", accounts: [sui] }, PROVEN);
  const [signWith] = addresses as [string];
  const client = verified(new Sdk({ organizationId }), { policy, verifyAddresses: true });
  const parameters = { signWith, payload: "pay", encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: NOT_APPLICABLE };
  const status = async (): Promise<unknown> => {
    const body = { organizationId, type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", parameters, ...PROVEN };
    const sent = { ...body, timestampMs: String(Date.now()) };
    const answer = await client.request("/public/v1/submit/sign_raw_payload", sent);
    const { checks } = reportOf(answer) as Report;
    return checks.find(({ id }) => id === "activity.signature")!.status;
  };
  expect(await status()).toBe("warn");
  await client.getWalletAccount({ organizationId, walletId: own, address: signWith });
  expect(await status()).toBe("pass");
  const changed = (digit: string): string => (digit === "0" ? "1" : "0");
  const junk = (text: string): string => text.replace(/(?<="r":")./, changed);
  lying("sign_raw_payload", (answer) => JSON.parse(junk(JSON.stringify(answer))));
  await expect(status()).rejects.toThrow(/^rejected: activity\.signature/);
});
