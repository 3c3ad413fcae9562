/** Accounts that a real SDK lists, with `verifyAddresses` (client/README.md, "Addresses"). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AnyClient, SDKS, placeOf } from "./support.js";
import { RejectedAddressesError } from "../../src/client/index.js";
import { verified } from "../../src/adapters/index.js";
import { type Lab, startLab } from "../../src/lab/index.js";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));

describe.each(SDKS.map((sdk) => [sdk.name, sdk] as const))("accounts of %s", (_, sdk) => {
  const list = async (): Promise<{ address: string }[]> => {
    const client = sdk.client(placeOf(lab));
    const { organizationId, policy } = lab;
    const wrapped = verified(client, { policy, organizationId, verifyAddresses: true }) as object as AnyClient;
    const answer = await wrapped["getWalletAccounts"]!({ organizationId, walletId: lab.ids.walletId });
    return answer["accounts"] as { address: string }[];
  };

  it("are handed on if each was derived", async () => {
    expect(await list()).toHaveLength(2);
  });

  it.each(["exchanged-address", "exchanged-path", "account-of-another-wallet"])("are refused: %s", async (fault) => {
    lab.setFault(fault);
    const error: unknown = await list().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RejectedAddressesError);
    expect((error as RejectedAddressesError).rows.map((row) => row.class)).toContain("contradicted");
  });
});
