/** Requests of the client that JSON cannot express, and demands on their answers that are undefined. */
import { describe, expect, it } from "vitest";
import type { ClientError } from "../../src/client/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { NOT_JSON } from "../support/not-json.js";
import { AttestedService, policyOf } from "./attested.js";
import { rejectionOf } from "./support.js";

const PARAMETERS = { walletId: "w1", walletName: "new" };
const edited = (activity: JsonObject): JsonObject => ({
  ...activity,
  intent: { updateWalletIntent: { ...PARAMETERS, walletName: "other" } },
});

describe("a request", () => {
  it.each(NOT_JSON)("with %s is refused before anything is stamped, with its path", async (_, value, words) => {
    let stamps = 0;
    const stamper = { stamp: () => Promise.reject(new Error(`stamped ${++stamps}`)) };
    const service = new AttestedService();
    const client = await service.client({ stamper: stamper as never });
    const verified = client.withVerification(policyOf());
    const given = { ...PARAMETERS, more: [{ a: value }] } as never;
    const operation = { name: "update_wallet", type: "ACTIVITY_TYPE_UPDATE_WALLET" };
    const calls = [verified.updateWallet(given), verified.submit(operation, given), client.updateWallet(given)];
    for (const error of await Promise.all(calls.map((call) => rejectionOf<ClientError>(call)))) {
      expect([error.name, error.code]).toEqual(["ClientError", "request"]);
      expect(error.message).toContain(`parameters.more[0].a: ${words}, which no JSON value is`);
    }
    expect([stamps, service.requests]).toEqual([0, []]);
  });

  it("leaves out what is undefined, as JSON does, and is then verified", async () => {
    const service = new AttestedService();
    const call = await (await service.verified()).updateWallet({ ...PARAMETERS, extra: undefined } as never);
    expect(call.report.verdict).toBe("verified");
    expect(service.requests[0]!.body["parameters"]).toEqual(PARAMETERS);
  });

  it("of an organization that is undefined is sent to none: the client's own would answer", async () => {
    const service = new AttestedService();
    const call = (await service.verified()).updateWallet(PARAMETERS, { organizationId: undefined } as never);
    await expect(call).rejects.toThrow(/^options\.organizationId: undefined: leave it out, or give a value$/);
    expect(service.requests).toEqual([]);
  });

  it("is what a past activity is compared with, unless parameters are expected; undefined is none", async () => {
    const service = new AttestedService();
    const verified = await service.verified();
    const { activity } = await verified.updateWallet(PARAMETERS);
    const lie = edited(activity as unknown as JsonObject);
    await expect(verified.verifyActivity(lie)).rejects.toThrow("activity.request");
    for (const expected of [undefined, { parameters: undefined }, { requestedAt: undefined }, { id: undefined }])
      await expect(verified.verifyActivity(lie, { expected } as never)).rejects.toThrow(
        /^(?:options\.expected|expected\.\w+): undefined: leave it out, or give a value$/,
      );
    expect((await verified.verifyActivity(activity, { expected: {} })).report.verdict).toBe("verified");
  });
});
