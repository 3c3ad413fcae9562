/** Accounts that a real SDK lists, with `verifyAddresses` (door/README.md, "Addresses"). */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AnyClient, SDKS, placeOf } from "./support.js";
import { RejectedAddressesError } from "../../src/client/index.js";
import { reportOf, verified } from "../../src/adapters/index.js";
import { type Lab, startLab } from "../../src/lab/index.js";

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));

describe.each(SDKS.map((sdk) => [sdk.name, sdk] as const))("accounts of %s", (_, sdk) => {
  const answered = async (): Promise<Awaited<ReturnType<AnyClient[string]>>> => {
    const client = sdk.client(placeOf(lab));
    const { organizationId, policy } = lab;
    const wrapped = verified(client, { policy, organizationId, verifyAddresses: true }) as object as AnyClient;
    return wrapped["getWalletAccounts"]!({ organizationId, walletId: lab.ids.walletId });
  };
  const list = async (): Promise<{ address: string }[]> => (await answered())["accounts"] as { address: string }[];

  it("are handed on if each was derived, with their classes", async () => {
    const answer = await answered();
    expect(answer["accounts"]).toHaveLength(2);
    expect(reportOf(answer)?.rows?.map((row) => row.class)).toEqual(["derived", "derived"]);
    expect(answer["unverified"].accounts[0]).toHaveProperty("createdAt");
  });

  it.each(["exchanged-address", "exchanged-path", "account-of-another-wallet"])("are refused: %s", async (fault) => {
    lab.setFault(fault);
    const error: unknown = await list().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RejectedAddressesError);
    expect((error as RejectedAddressesError).rows.map((row) => row.class)).toContain("contradicted");
  });
});
