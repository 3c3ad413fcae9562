/** Equal derivation proofs: two calls for one account within a millisecond, and proofs shown again. */
import { describe, expect, it, vi } from "vitest";
import { verifiedFetch } from "../../src/adapters/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { addressDerivationPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { stampWithApiKey } from "../../src/lab/index.js";
import { AttestedService, policyOf } from "../client/attested.js";
import { BASE_URL, ORGANIZATION, apiKey } from "../client/support.js";

const { walletId, derivationPath: path, address } = LAB_ADDRESS;
const AUTH_PROXY = "https://auth.test";
const ACCOUNT = { curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path };
const accounts = [{ ...ACCOUNT, addressFormat: "ADDRESS_FORMAT_ETHEREUM" }];
const derived = ({ now }: AttestedService): JsonObject =>
  addressDerivationPayload(now, { ...LAB_ADDRESS, organizationId: ORGANIZATION });

/** A service whose every answer has one address and an equal proof of it. */
class EqualProofs extends AttestedService {
  /** Gives the answers that wait, in the order of their questions. Null: no answer waits. */
  held: (() => void)[] | null = null;

  constructor(...decisions: JsonObject[]) {
    super({
      payloads: (_, service) => [derived(service), ...decisions],
      activity: (activity) => {
        const name = activity["type"] === "ACTIVITY_TYPE_CREATE_WALLET" ? "createWallet" : "createWalletAccounts";
        const [intent] = Object.values(activity["intent"] as JsonObject);
        const result = { [`${name}Result`]: { walletId, addresses: [address] } };
        return { ...activity, intent: { [`${name}Intent`]: intent! }, result };
      },
    });
  }

  readonly send = (async (input: string, init: RequestInit) => {
    const isSignUp = input.startsWith(AUTH_PROXY);
    if (isSignUp || input.includes("/submit/")) await this.#given();
    return isSignUp ? Response.json(this.#signedUp()) : this.fetch(input, init);
  }) as typeof fetch;

  async #given(): Promise<void> {
    if (this.held !== null) await new Promise<void>((resolve) => this.held!.push(resolve));
  }

  #signedUp(): JsonObject {
    const wallet = { walletId, addresses: [address] };
    return { organizationId: ORGANIZATION, wallet, userId: "u", appProofs: [this.enclave.appProof(derived(this))] };
  }
}

type Ask = (name: string, body: JsonObject) => Promise<unknown>;

const POST = { method: "POST", headers: { "Content-Type": "application/json" } };
const stamped = (text: string): RequestInit => ({
  ...POST,
  headers: { ...POST.headers, "X-Stamp": stampWithApiKey(apiKey, text) },
  body: text,
});

const asking = async (service: EqualProofs): Promise<Ask> => {
  const wrapped = verifiedFetch({
    policy: policyOf(),
    baseUrl: BASE_URL,
    authProxyUrl: AUTH_PROXY,
    evidence: await service.client(),
    fetch: service.send,
    now: () => service.now,
  });
  return (name, body) => {
    const text = JSON.stringify(body);
    const group = name.startsWith("get_") ? "query" : "submit";
    if (name !== "signup_v2") return wrapped(`${BASE_URL}/public/v1/${group}/${name}`, stamped(text));
    const headers = { ...POST.headers, "X-Auth-Proxy-Config-ID": "c" };
    return wrapped(`${AUTH_PROXY}/v1/${name}`, { ...POST, headers, body: text });
  };
};

type Call = (ask: Ask, service: EqualProofs) => Promise<unknown>;
let count = 0;
/** Requests differ, so that none is the same activity as another. */
const submitOf =
  (name: string, parameters: JsonObject, more: JsonObject = {}): Call =>
  (ask, { now }) => {
    const timestampMs = String(now.getTime() + ++count);
    const type = `ACTIVITY_TYPE_${name.toUpperCase()}`;
    return ask(name, { type, timestampMs, organizationId: ORGANIZATION, parameters, generateAppProofs: true, ...more });
  };
const account = submitOf("create_wallet_accounts", { walletId, accounts });
const otherOrganization = submitOf("create_wallet_accounts", { walletId, accounts }, { organizationId: "another" });
const otherWallet = submitOf("create_wallet_accounts", { walletId: "another", accounts });
const otherPath = submitOf("create_wallet_accounts", {
  walletId,
  accounts: [{ ...accounts[0]!, path: "m/44'/60'/9'" }],
});
const ofType = (type: string): Call => submitOf("create_wallet_accounts", { walletId, accounts }, { type });
const otherType = ofType("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS_OTHERWISE");
/** A member that no create_wallet has: the type decides, and not what the parameters happen to name. */
const namedWallet = submitOf("create_wallet", { walletName: "w", walletId, accounts });
const wallet = submitOf("create_wallet", { walletName: "w", accounts });
const signUp: Call = (ask) =>
  ask("signup_v2", {
    userName: "new",
    apiKeys: [],
    authenticators: [],
    oauthProviders: [],
    wallet: { walletName: "w", accounts },
  });

const outcomeOf = async (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "verified",
    (error: Error) => error.message,
  );

/** All are open before the first is answered. Each has ended before the next is answered. */
async function atOnce(calls: readonly Call[]): Promise<string[]> {
  const service = new EqualProofs();
  const ask = await asking(service);
  const held = (service.held = [] as (() => void)[]);
  const open: Promise<string>[] = [];
  for (const call of calls) {
    open.push(outcomeOf(call(ask, service)));
    await vi.waitFor(() => expect(held).toHaveLength(open.length), { interval: 1 });
  }
  const outcomes: string[] = [];
  for (const [at, give] of held.entries()) {
    give();
    outcomes.push(await open[at]!);
  }
  return outcomes;
}

async function inTurn(calls: readonly Call[]): Promise<string[]> {
  const service = new EqualProofs();
  const ask = await asking(service);
  const outcomes: string[] = [];
  for (const call of calls) outcomes.push(await outcomeOf(call(ask, service)));
  return outcomes;
}

const REUSED = /one of its app proofs was used (?:for another activity )?before/;
const refusedFor = (words: RegExp): string => expect.stringMatching(words) as string;

describe("an equal proof", () => {
  it("of one account answers calls at once", async () => {
    expect(await atOnce([account, account])).toEqual(["verified", "verified"]);
  });

  it("does not answer a third call behind the first, nor two at once with an equal decision", async () => {
    const service = new EqualProofs();
    const ask = await asking(service);
    await Promise.all([account(ask, service), account(ask, service)]);
    await expect(account(ask, service)).rejects.toThrow(REUSED);
    const deciding = new EqualProofs(policyOutcomePayload(service.now, ORGANIZATION));
    const asked = await asking(deciding);
    const both = [account(asked, deciding), account(asked, deciding)].map(outcomeOf);
    expect((await Promise.all(both)).sort()).toEqual([refusedFor(REUSED), "verified"]);
  });

  it("does not answer calls one after the other", async () => {
    expect(await inTurn([account, account])).toEqual(["verified", refusedFor(REUSED)]);
  });

  it.each<[string, Call]>([
    ["that make a wallet and name one", namedWallet],
    ["of another type", otherType],
  ])("never answers two calls at once %s", async (__, call) => {
    expect(await atOnce([call, call])).toEqual(["verified", refusedFor(REUSED)]);
  });

  it.each<[string, Call]>([
    ["for an account and one that makes a wallet", wallet],
    ["of two organizations", otherOrganization],
    ["of two wallets", otherWallet],
    ["of two paths", otherPath],
  ])("does not answer calls at once %s", async (__, other) => {
    expect(await atOnce([account, other])).toEqual(["verified", refusedFor(REUSED)]);
  });
});

describe("an equal proof in a sign-up", () => {
  const ANSWERED = /answered another sign-up before/;
  it.each<[string, Call[], RegExp]>([
    ["does not answer a call for an account after it", [signUp, account], REUSED],
    ["does not answer a call that makes a wallet after it", [signUp, wallet], REUSED],
    ["does not answer it after a call for an account", [account, signUp], REUSED],
    ["does not answer it after a call that makes a wallet", [wallet, signUp], REUSED],
    ["does not answer another sign-up", [signUp, signUp], ANSWERED],
  ])("%s", async (_, calls, words) => {
    expect(await inTurn(calls)).toEqual(["verified", refusedFor(words)]);
    expect(await atOnce(calls)).toEqual(["verified", refusedFor(words)]);
  });

  it("answers the later reading of its activity by id", async () => {
    const read: Call = (ask, service) => {
      const appProofs = [service.enclave.appProof(derived(service))];
      const type = "ACTIVITY_TYPE_CREATE_WALLET";
      const intent = { createWalletIntent: { walletName: "w", accounts } };
      const result = { createWalletResult: { walletId, addresses: [address] } };
      const facts = { id: "made", organizationId: ORGANIZATION, type, status: "ACTIVITY_STATUS_COMPLETED" };
      const time = String(service.now.getTime());
      service.activities.push({ ...facts, intent, result, createdAt: time, updatedAt: time, appProofs });
      return ask("get_activity", { organizationId: ORGANIZATION, activityId: "made" });
    };
    expect(await inTurn([signUp, read])).toEqual(["verified", "verified"]);
    expect(await inTurn([read, signUp])).toEqual(["verified", refusedFor(REUSED)]);
  });
});
