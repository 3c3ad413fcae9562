/** Calls whose app proofs are equal: two of one account within a millisecond, and proofs that are shown again. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import { addressDerivationPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { AttestedService, type Lies, type Verified } from "./attested.js";
import { ORGANIZATION } from "./support.js";

const { walletId, derivationPath: path, address } = LAB_ADDRESS;
const ACCOUNTS = { name: "create_wallet_accounts", type: "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS" } as const;
const WALLET = { name: "create_wallet", type: "ACTIVITY_TYPE_CREATE_WALLET" } as const;

/** Of one address, whatever is asked. */
const derived: NonNullable<Lies["payloads"]> = (_, { now }) => [
  addressDerivationPayload(now, { ...LAB_ADDRESS, organizationId: ORGANIZATION }),
];
const answered = (more: Lies = {}): AttestedService =>
  new AttestedService({
    payloads: derived,
    activity: (activity) => {
      const name = activity["type"] === WALLET.type ? "createWallet" : "createWalletAccounts";
      const [intent] = Object.values(activity["intent"] as JsonObject);
      const result = { [`${name}Result`]: { walletId, addresses: [address] } };
      return { ...activity, intent: { [`${name}Intent`]: intent! }, result };
    },
    ...more,
  });

type Call = (verified: Verified, index: number) => Promise<unknown>;
const accounts =
  (more: (index: number) => JsonObject = () => ({})): Call =>
  (verified, index) => {
    const account = { curve: "CURVE_SECP256K1", path, addressFormat: "ADDRESS_FORMAT_ETHEREUM", name: `a${index}` };
    return verified.submit(ACCOUNTS, { walletId, accounts: [account], ...more(index) });
  };

async function atOnce(service: AttestedService, call: Call): Promise<string[]> {
  const verified = await service.verified();
  const settled = await Promise.allSettled([call(verified, 0), call(verified, 1)]);
  return settled.map((each) => (each.status === "fulfilled" ? "verified" : String(each.reason)));
}

const REUSED = /activity\.claims: .*was used for another activity before/;

describe("an equal app proof", () => {
  it("does not answer a third call that began when the first had ended", async () => {
    const service = answered();
    const verified = await service.verified();
    await Promise.all([accounts()(verified, 0), accounts()(verified, 1)]);
    await expect(accounts()(verified, 2)).rejects.toThrow(REUSED);
  });

  it("of a decision never answers two calls", async () => {
    const payloads: Lies["payloads"] = (request, service) => [
      ...derived(request, service),
      policyOutcomePayload(service.now, ORGANIZATION),
    ];
    const outcomes = (await atOnce(answered({ payloads }), accounts())).sort();
    expect(outcomes).toEqual([expect.stringMatching(REUSED), "verified"]);
  });
});
