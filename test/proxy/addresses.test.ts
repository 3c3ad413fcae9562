/** Accounts and private keys in answers through the proxy, verified on request (proxy/README.md, "Answers"). */
import { afterAll, expect, it } from "vitest";
import { DerivationPolicyError } from "../../src/addresses/index.js";
import { parsePolicy } from "../../src/index.js";
import { stampWithApiKey } from "../../src/lab/index.js";
import { plainPolicy } from "../../src/plain-settings.js";
import type { RunningProxy } from "../../src/proxy/node.js";
import { type Json, TWO_ACCOUNTS, completed, submit } from "../lab/support.js";
import { lyingLab, proxyFor } from "./support.js";

const { lab, liar } = await lyingLab();
const { organizationId, ids } = lab;
const { walletId } = ids;
const options = { upstream: liar.url, verifyAddresses: true } as const;
const proxy = await proxyFor(lab, options);
const tolerant = await proxyFor(lab, { ...options, accept: ["service"] });
afterAll(() => Promise.all([proxy.close(), tolerant.close()]));
const { result } = await completed(submit(lab, "createWallet", TWO_ACCOUNTS));
const unproven = (result as Json)["createWalletResult"] as Json;
const addressFormats = ["ADDRESS_FORMAT_ETHEREUM"];
const key = { privateKeyName: "unproven", curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats };
await completed(submit(lab, "createPrivateKeys", { privateKeys: [key] }));

interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

const ask = async (name: string, input: Json, { url }: RunningProxy = proxy): Promise<Asked> => {
  const body = JSON.stringify({ organizationId, ...input });
  const sent = { "content-type": "application/json", "x-stamp": stampWithApiKey(lab.apiKey, body) };
  const response = await fetch(`${url}/public/v1/query/${name}`, { method: "POST", body, headers: sent });
  const { status, headers } = response;
  const text = await response.text();
  return { status, headers, text, json: JSON.parse(text) as Json };
};

const said = ({ headers }: Asked): (string | null)[] => [
  headers.get("x-bootproof-verified"),
  headers.get("x-bootproof-accounts"),
];

it("hands on what was judged, and says how many addresses are of which class", async () => {
  const listed = await ask("list_wallet_accounts", { walletId });
  expect([listed.status, ...said(listed)]).toEqual([200, "accounts", "derived=2"]);
  const [account] = listed.json["accounts"] as [Json];
  expect(account).not.toHaveProperty("createdAt");
  expect(listed.json["unverified"].accounts[0]).toHaveProperty("createdAt");
  const one = await ask("get_wallet_account", { walletId, address: account["address"] });
  expect([one.json["account"], ...said(one)]).toEqual([account, "accounts", "derived=1"]);
  const all = await ask("list_wallet_accounts", {}, tolerant);
  expect(said(all)).toEqual(["accounts", "derived=2, service=2"]);
  expect(said(await ask("list_wallets", {}))).toEqual(["none", null]);
});

it("judges nothing without the option", async () => {
  const plain = await proxyFor(lab, { upstream: liar.url });
  const answer = await ask("list_wallet_accounts", { walletId }, plain);
  expect(said(answer)).toEqual(["none", null]);
  expect(answer.json["accounts"][0]).toHaveProperty("createdAt");
  await plain.close();
});

it("refuses other classes, and names each address", async () => {
  const refused = await ask("list_wallet_accounts", { walletId: unproven["walletId"] });
  expect([refused.status, refused.headers.get("x-bootproof-refused"), ...said(refused)]).toEqual([
    502,
    "rejected",
    null,
    null,
  ]);
  expect(refused.json["message"]).toMatch(/^bootproof proxy: query\/list_wallet_accounts: rejected: .*service: 0x/);
  expect(refused.json["details"]).toEqual(
    (unproven["addresses"] as string[]).map((address) => ({ class: "service", address, reason: expect.any(String) })),
  );
  expect((await ask("list_private_keys", {})).headers.get("x-bootproof-refused")).toBe("rejected");
});

it("refuses options that cannot verify", async () => {
  await expect(proxyFor(lab, { ...options, evidence: { bootProofs: [] } })).rejects.toThrow(/expected a client/);
  await expect(proxyFor(lab, { accept: ["service"] })).rejects.toThrow(/options.accept/);
  const file = JSON.stringify(lab.policyFile).replaceAll("APP_PROOF_TYPE_ADDRESS_DERIVATION", "OTHER");
  const policy = plainPolicy(parsePolicy(file));
  await expect(proxyFor(lab, { ...options, policy })).rejects.toThrow(DerivationPolicyError);
});
