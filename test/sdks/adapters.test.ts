/** Wrapped clients of the real packages against the lab. */
import { createActivityPoller } from "@turnkey/http";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { isUnproven, reportOf, verified } from "../../src/adapters/index.js";
import { RejectedActivityError } from "../../src/client/index.js";
import { startLab } from "../../src/lab/index.js";
import { rejectionOf } from "../client/support.js";
import { type Json, TARGET_PUBLIC_KEY } from "../lab/support.js";
import { SDKS, type Sdk, inputOf, placeOf } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));
const { ids, organizationId, policy } = lab;
const place = placeOf(lab);
const FAST = { policy, pollIntervalMs: 1, pollAttempts: 3 };
const RENAME = { walletId: ids.walletId, walletName: "renamed" };

const clients = new Map(SDKS.map((sdk) => [sdk.name, verified(sdk.client(place), FAST)]));
const submit = (sdk: Sdk, method: string, parameters: Json, client = clients.get(sdk.name)!): Promise<Json> =>
  client[method]!(inputOf(sdk, method, organizationId, parameters));
/** As the SDK has it: the members of the sole result, where they are. */
const resultOf = (sdk: Sdk, value: Json): Json => {
  if (!sdk.isFlat) return Object.values(value["activity"].result)[0] as Json;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== "activity"));
};

describe.each(SDKS)("$name", (sdk) => {
  it("is the same kind of client", () => {
    const client = sdk.client(place);
    const wrapped = verified(client, FAST);
    expect(wrapped).toBeInstanceOf(client.constructor);
    expect((wrapped as Json)["name"]).toBe((client as Json)["name"]);
    expect((wrapped as Json)["config"]).toBe((client as Json)["config"]);
    expect((wrapped as Json)["updateWallet"]).not.toBe((client as Json)["updateWallet"]);
  });

  it("returns verified results with their members", async () => {
    const submits: [string, Json, Json][] = [
      ["setOrganizationFeature", { name: "FEATURE_NAME_LAB", value: "on" }, { features: expect.any(Array) as unknown }],
      [
        "createReadWriteSession",
        { targetPublicKey: TARGET_PUBLIC_KEY },
        expect.objectContaining({ organizationId, userId: ids.userId }) as Json,
      ],
    ];
    for (const [method, parameters, result] of submits) {
      const value = await submit(sdk, method, parameters);
      expect(resultOf(sdk, value)).toEqual(result);
      expect(Object.keys(value)).toEqual(
        sdk.isFlat ? [...Object.keys(resultOf(sdk, value)), "activity"] : ["activity"],
      );
      expect(reportOf(value)?.verdict).toBe("verified");
      expect(reportOf(value["activity"])).toBe(reportOf(value));
      const asked = reportOf(value)!.claims!.activity!.asked;
      expect(asked).toEqual(["organizationId", "type", "parameters", "requestedAt"]);
    }
  });

  it("refuses a fault of the lab, with the ids of its checks first", async () => {
    lab.setFault("altered-intent");
    const error = await rejectionOf<RejectedActivityError>(submit(sdk, "updateWallet", RENAME));
    expect(error).toBeInstanceOf(RejectedActivityError);
    const failed = [...new Set(error.failures.map(({ id }) => id))];
    expect(failed).toEqual(expect.arrayContaining(["activity.request"]));
    expect(error.message).toMatch(new RegExp(`^rejected: ${failed.join(", ")} `));
    expect(error.message).toContain(error.activityId);
  });

  it("refuses to stamp submits and to go to the auth proxy, unless allowed", async () => {
    const client = clients.get(sdk.name)!;
    const input = inputOf(sdk, "updateWallet", organizationId, RENAME);
    expect(await rejectionOf(client["stampUpdateWallet"]!(input))).toMatchObject({
      name: "UnverifiedMethodError",
      code: "unverified-method",
      method: "stampUpdateWallet",
    });
    const stamped = await client["stampGetUser"]!({ organizationId, userId: ids.userId });
    const { url, body, stamp } = stamped;
    const headers = { [stamp.stampHeaderName as string]: stamp.stampHeaderValue as string };
    expect((await fetch(url as string, { method: "POST", body: body as string, headers })).status).toBe(200);
    const allowing = verified(sdk.client(place), { ...FAST, allowUnproven: ["stampUpdateWallet"] });
    const allowed = await allowing["stampUpdateWallet"]!(input);
    expect([allowed, isUnproven(allowed), reportOf(allowed)?.verdict]).toEqual([
      expect.objectContaining({ stamp: expect.anything() as unknown }),
      true,
      "unverified",
    ]);
    expect(() => verified(sdk.client(place), { ...FAST, allowUnproven: ["stampNothing"] })).toThrow(TypeError);
    if (sdk.name !== "core") return;
    // Core always has an authProxyUrl, its own by default, and sends nothing without authProxyConfigId.
    await expect(client["proxyGetAccount"]!({})).rejects.toThrow(/Auth Proxy URL or ID is not configured/);
    await expect(client["authProxyRequest"]!("/v1/account", {})).rejects.toThrow(/is not configured/);
    expect(await rejectionOf(client["authProxyRequest"]!("/v1/other", {}))).toMatchObject({ code: "request" });
  });

  it("verifies request called directly", async () => {
    const envelope = inputOf(SDKS[0]!, "updateWallet", organizationId, RENAME);
    const request = clients.get(sdk.name)!.request as (...args: unknown[]) => Promise<Json>;
    const value = await request("/public/v1/submit/update_wallet", envelope);
    expect([Object.keys(value), reportOf(value)?.verdict]).toEqual([["activity"], "verified"]);
    expect(await rejectionOf(request("/public/v1/submit/update_wallet", {}))).toBeInstanceOf(TypeError);
    lab.setFault("another-organization");
    await expect(request("/public/v1/submit/../submit/update_wallet?", envelope)).rejects.toThrow();
  });

  it("is of a child organization with its key, and of its parent with an evidence client", async () => {
    const child = placeOf(lab, { key: lab.child.apiKey, organizationId: lab.childOrganizationId });
    const client = verified(sdk.client(child), { ...FAST, evidence: sdk.client(place) });
    const value = await client["getActivity"]!({
      organizationId: lab.childOrganizationId,
      activityId: lab.child.walletActivityId,
    });
    expect(reportOf(value)?.verdict).toBe("verified");
  });
});

describe("an SDK's own helpers", () => {
  it("createActivityPoller of http takes a wrapped client", async () => {
    const client = clients.get("http")! as never as Parameters<typeof createActivityPoller>[0]["client"];
    const poll = createActivityPoller({ client, requestFn: client.updateWallet, refreshIntervalMs: 1 });
    const activity = await poll(inputOf(SDKS[0]!, "updateWallet", organizationId, RENAME) as never);
    expect(reportOf(activity)?.verdict).toBe("verified");
  });

  it("sendSignedRequest of core is verified, and needs generateAppProofs", async () => {
    const client = clients.get("core")!;
    const plain = SDKS[2]!.client(place);
    const signed = await plain["stampUpdateWallet"]!({ organizationId, ...RENAME, generateAppProofs: true });
    const value = await client["sendSignedRequest"]!(signed);
    expect(reportOf(value)?.verdict).toBe("verified");
    expect(value).toMatchObject({ walletId: ids.walletId });
    const unproven = await plain["stampUpdateWallet"]!({ organizationId, ...RENAME });
    expect((await rejectionOf(client["sendSignedRequest"]!(unproven))).message).toContain("generateAppProofs is not");
    const query = await plain["stampGetUser"]!({ organizationId, userId: ids.userId });
    expect(await client["sendSignedRequest"]!(query)).toHaveProperty("user");
    lab.setFault("altered-intent");
    const again = await plain["stampUpdateWallet"]!({ organizationId, ...RENAME, generateAppProofs: true });
    expect((await rejectionOf(client["sendSignedRequest"]!(again))).message).toMatch(/^rejected: activity.request/);
  });
});
