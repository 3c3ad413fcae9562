/** Every operation over HTTP: its response in the client's shapes, and its effect. */
import { afterAll, describe, expect, it } from "vitest";
import { activitySchema } from "../../src/client/activity-shapes.js";
import { QUERY_OPERATIONS, SUBMIT_OPERATIONS, type SubmitName } from "../../src/client/operations.js";
import { type Shape, readShape } from "../../src/decode/shapes.js";
import { startLab } from "../../src/lab/index.js";
import { sha256 } from "../../src/lab/qos.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { type Json, completed, envelope, query, send, statusOf, submit } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
const { ids, childOrganizationId, child } = lab;
const ofChild = { organizationId: childOrganizationId, key: child.apiKey };

/** What the client would make of it: nothing is missing, nothing of another type. */
function whole<T>(shape: Shape<T>, value: unknown): T {
  const read = readShape(shape, value);
  expect(read.faults).toEqual([]);
  return read.value!;
}

/** The activity's one intent and one result, in the shapes of the interface. */
async function outcome(
  name: SubmitName,
  parameters: Json,
  sending = {},
): Promise<{ activity: Json; intent: Json; result: Json }> {
  const activity = await completed(submit(lab, name, parameters, sending));
  const operation = SUBMIT_OPERATIONS[name];
  whole(activitySchema, activity);
  expect(activity["type"]).toBe(operation.type);
  expect(Object.keys(activity["intent"])).toEqual([operation.intentMember]);
  expect(Object.keys(activity["result"])).toEqual([operation.resultMember]);
  const intent = activity["intent"][operation.intentMember];
  expect(intent).toMatchObject(parameters);
  return {
    activity,
    intent,
    result: whole<unknown>(operation.result, activity["result"][operation.resultMember]) as Json,
  };
}

async function user(userId: string = ids.userId, sending = {}): Promise<Json> {
  const { status, body } = await query(lab, "get_user", { userId }, sending);
  expect(status).toBe(200);
  return whole(QUERY_OPERATIONS.getUser.result, body).user;
}

describe("submit", () => {
  it("update_wallet renames", async () => {
    const { activity, result } = await outcome("updateWallet", { walletId: ids.walletId, walletName: "vault" });
    expect(result).toEqual({ walletId: ids.walletId });
    expect(activity["votes"]).toHaveLength(1);
    expect(activity["votes"][0]).toMatchObject({
      userId: ids.userId,
      selection: "VOTE_SELECTION_APPROVED",
      activityId: activity["id"],
    });
    const { intent } = await outcome("updateWallet", { walletId: ids.walletId });
    expect(intent).toEqual({ walletId: ids.walletId });
    expect((await query(lab, "get_wallet", { walletId: ids.walletId })).body).toMatchObject({
      wallet: { walletId: ids.walletId, walletName: "vault" },
    });
    const gone = await submit(lab, "updateWallet", { walletId: "another" });
    expect(gone).toMatchObject({ status: 404, body: { code: 5 } });
  });

  it("update_user_tag adds and removes users", async () => {
    await outcome("updateUserTag", { userTagId: ids.userTagId, newUserTagName: "people", addUserIds: [ids.userId] });
    expect((await user())["userTags"]).toEqual([ids.userTagId]);
    await outcome("updateUserTag", {
      userTagId: ids.userTagId,
      newUserTagName: "people",
      addUserIds: [ids.userId],
      removeUserIds: [lab.operator.userId],
    });
    expect((await user())["userTags"]).toEqual([ids.userTagId]);
    expect((await user(lab.operator.userId))["userTags"]).toEqual([]);
    await outcome("updateUserTag", { userTagId: ids.userTagId, removeUserIds: [ids.userId] });
    expect((await user())["userTags"]).toEqual([]);
    expect(await statusOf(submit(lab, "updateUserTag", { userTagId: ids.userTagId, addUserIds: [child.userId] }))).toBe(
      404,
    );
  });

  it("delete_policies deletes, all or none", async () => {
    const policyIds = [ids.policyId];
    expect(await statusOf(submit(lab, "deletePolicies", { policyIds: [ids.policyId, "another"] }))).toBe(404);
    expect((await outcome("deletePolicies", { policyIds })).result).toEqual({ policyIds });
    expect(await statusOf(submit(lab, "deletePolicies", { policyIds }))).toBe(404);
    expect(await statusOf(submit(lab, "deletePolicies", { policyIds: [] }))).toBe(400);
  });

  it("set_organization_feature keeps features by name", async () => {
    await outcome("setOrganizationFeature", { name: "FEATURE_NAME_ONE", value: "1" });
    await outcome("setOrganizationFeature", { name: "FEATURE_NAME_TWO", value: "2" });
    const { result } = await outcome("setOrganizationFeature", { name: "FEATURE_NAME_ONE", value: "3" });
    expect(result["features"]).toEqual([
      { name: "FEATURE_NAME_TWO", value: "2" },
      { name: "FEATURE_NAME_ONE", value: "3" },
    ]);
    expect(await statusOf(submit(lab, "setOrganizationFeature", { name: "colour", value: "blue" }))).toBe(400);
  });

  it("delete_api_keys invalidates a key", async () => {
    const spare = (await user())["apiKeys"].find((key: Json) => key["apiKeyId"] === ids.spareApiKeyId);
    expect(spare.credential.type).toBe("CREDENTIAL_TYPE_API_KEY_P256");
    const { result } = await outcome("deleteApiKeys", { userId: ids.userId, apiKeyIds: [ids.spareApiKeyId] });
    expect(result).toEqual({ apiKeyIds: [ids.spareApiKeyId] });
    expect((await user())["apiKeys"].map((key: Json) => key["apiKeyId"])).not.toContain(ids.spareApiKeyId);
    expect(await statusOf(submit(lab, "deleteApiKeys", { userId: ids.userId, apiKeyIds: [ids.spareApiKeyId] }))).toBe(
      404,
    );
    const own = (await user(child.userId, ofChild))["apiKeys"][0];
    await outcome("deleteApiKeys", { userId: child.userId, apiKeyIds: [own.apiKeyId] }, ofChild);
    const refused = await query(lab, "get_user", { userId: child.userId }, ofChild);
    expect(refused).toMatchObject({
      status: 401,
      body: { code: 16, details: [{ turnkeyErrorCode: "PUBLIC_KEY_NOT_FOUND" }] },
    });
  });

  it("returns the same activity for the same bytes", async () => {
    const text = envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", { walletId: ids.walletId, walletName: "once" });
    const [first, second] = [
      await send(lab, "submit/update_wallet", text),
      await send(lab, "submit/update_wallet", text),
    ];
    expect(second.body).toEqual(first.body);
    expect(first.body["activity"].fingerprint).toBe(`sha256:${toHex(sha256(toUtf8(text)))}`);
    const other = await send(lab, "submit/update_wallet", `${text} `);
    expect(other.body["activity"].id).not.toBe(first.body["activity"].id);
  });
});

describe("query", () => {
  it("get_user shows a user of the organization", async () => {
    const admin = await user();
    expect(admin["apiKeys"][0].credential.publicKey).toBe(lab.apiKey.publicKey);
    expect(await query(lab, "get_user", { userId: "nobody" })).toMatchObject({ status: 404, body: { code: 5 } });
  });

  it("get_oauth_providers, of all users or of one", async () => {
    const all = whole(
      QUERY_OPERATIONS.getOauthProviders.result,
      (await query(lab, "get_oauth_providers")).body,
    ).oauthProviders;
    expect(all).toHaveLength(1);
    expect((await query(lab, "get_oauth_providers", { userId: ids.userId })).body["oauthProviders"]).toEqual(all);
    expect((await query(lab, "get_oauth_providers", { userId: lab.operator.userId })).body["oauthProviders"]).toEqual(
      [],
    );
  });

  it("get_nonces, only the requested ones", async () => {
    const made = (await query(lab, "get_activity", { activityId: lab.walletActivityId })).body["activity"];
    const address: string = made.result.createWalletResult.addresses[0];
    const ask = async (parameters: Json) =>
      whole(QUERY_OPERATIONS.getNonces.result, (await query(lab, "get_nonces", { address, ...parameters })).body);
    expect(await ask({ caip2: "eip155:1", nonce: true, gasStationNonce: true })).toEqual({
      nonce: "7",
      gasStationNonce: "2",
    });
    expect(await ask({ caip2: "eip155:8453", nonce: true })).toEqual({ nonce: "41" });
    expect(await ask({ caip2: "eip155:10", nonce: true, gasStationNonce: false })).toEqual({ nonce: "0" });
    expect(await ask({ caip2: "eip155:1" })).toEqual({});
    await lab.setNonces({
      caip2: "eip155:1",
      address: address.toUpperCase().replace("X", "x"),
      nonce: "8",
      gasStationNonce: "3",
    });
    expect(await ask({ caip2: "eip155:1", nonce: true })).toEqual({ nonce: "8" });
    expect(await statusOf(query(lab, "get_nonces", { address, caip2: "eip155:5" }))).toBe(400);
    expect(await statusOf(query(lab, "get_nonces", { address: "0x12", caip2: "eip155:1" }))).toBe(400);
    expect(await statusOf(query(lab, "list_earn_enabled_vaults", { provider: "EARN_PROVIDER_GAMMA" }))).toBe(400);
  });

  it("list_earn_enabled_vaults, filtered, and without the client's fees for a child", async () => {
    const list = async (parameters: Json = {}, sending = {}): Promise<Json[]> =>
      whole(
        QUERY_OPERATIONS.listEarnEnabledVaults.result,
        (await query(lab, "list_earn_enabled_vaults", parameters, sending)).body,
      ).enabledVaults!;
    const [alpha, beta] = await list();
    expect(alpha).toHaveProperty("clientFeeWallet");
    expect(await list({ provider: "EARN_PROVIDER_BETA" })).toEqual([beta]);
    expect(await list({ caip19: alpha!["caip19"] })).toEqual([alpha]);
    expect(await list({ caip19: "eip155:1/slip44:60" })).toEqual([]);
    const seenByChild = await list({}, { organizationId: childOrganizationId });
    expect(seenByChild.map((vault) => vault["wrapperAddress"])).toEqual([
      alpha!["wrapperAddress"],
      beta!["wrapperAddress"],
    ]);
    for (const name of ["claimableClientFee", "claimableClientFeeDisplay", "clientFeeWallet"])
      expect(seenByChild[0]).not.toHaveProperty(name);
  });

  it("get_boot_proof and get_latest_boot_proof", async () => {
    for (const { ephemeralKey, app, release, manifestVersion } of lab.enclaves) {
      const { body } = await query(lab, "get_boot_proof", { ephemeralKey: ephemeralKey.toUpperCase() });
      expect(whole(QUERY_OPERATIONS.getBootProof.result, body).bootProof).toMatchObject({
        ephemeralPublicKeyHex: ephemeralKey,
        enclaveApp: app,
        owner: "lab",
        deploymentLabel: release,
        qosManifestVersion: manifestVersion,
      });
      expect(body["bootProof"]).not.toHaveProperty("awsAttestationDocB64");
    }
    const { body } = await query(lab, "get_latest_boot_proof", { appName: "signer" });
    expect(lab.enclaves.filter(({ app }) => app === "signer").map(({ ephemeralKey }) => ephemeralKey)).toContain(
      body["bootProof"].ephemeralPublicKeyHex,
    );
    expect(await statusOf(query(lab, "get_latest_boot_proof", { appName: "unknown" }))).toBe(404);
    expect(await statusOf(query(lab, "get_boot_proof", { ephemeralKey: "04".repeat(130) }))).toBe(404);
    expect(await statusOf(query(lab, "get_boot_proof", { ephemeralKey: "no hex" }))).toBe(400);
  });

  it("list_app_proofs, of an activity that has some or none", async () => {
    const proven = await completed(
      submit(lab, "updateWallet", { walletId: ids.walletId }, { generateAppProofs: true }),
    );
    const { body } = await query(lab, "list_app_proofs", { activityId: proven["id"] });
    expect(whole(QUERY_OPERATIONS.listAppProofs.result, body).appProofs).toEqual(proven["appProofs"]);
    const plain = await completed(submit(lab, "updateWallet", { walletId: ids.walletId }));
    expect((await query(lab, "list_app_proofs", { activityId: plain["id"] })).body).toEqual({ appProofs: [] });
    expect(await statusOf(query(lab, "list_app_proofs", { activityId: "none" }))).toBe(404);
  });
});

describe("organizations", () => {
  it("a parent can read its child, but not act for it", async () => {
    expect(
      await statusOf(query(lab, "get_user", { userId: child.userId }, { organizationId: childOrganizationId })),
    ).toBe(200);
    const acting = await submit(
      lab,
      "updateWallet",
      { walletId: child.walletId },
      { organizationId: childOrganizationId },
    );
    expect(acting).toMatchObject({
      status: 403,
      body: { code: 7, details: [{ turnkeyErrorCode: "REQUEST_NOT_AUTHORIZED" }] },
    });
  });

  it("a key of two organizations acts in the one of the request", async () => {
    const apiKeys = [{ apiKeyName: "k", publicKey: lab.apiKey.publicKey, curveType: "API_KEY_CURVE_P256" }];
    const created = await completed(
      submit(lab, "createSubOrganization", {
        ...{ subOrganizationName: "of the same key", rootQuorumThreshold: 1 },
        rootUsers: [{ userName: "delegate", apiKeys, authenticators: [], oauthProviders: [] }],
      }),
    );
    const [{ subOrganizationId }] = Object.values(created["result"]) as [Json];
    const wallet = { walletName: "w", accounts: [] };
    const made = await completed(submit(lab, "createWallet", wallet, { organizationId: subOrganizationId }));
    expect(made["organizationId"]).toBe(subOrganizationId);
    expect((await query(lab, "whoami")).body).toMatchObject({ organizationId: lab.organizationId, username: "admin" });
  });

  it("a child neither reads its parent nor acts for it", async () => {
    // The child of the file's lab has lost its key by now.
    const other = await startLab();
    const key = other.child.apiKey;
    expect(await statusOf(query(other, "get_user", { userId: other.ids.userId }, { key }))).toBe(403);
    expect(await statusOf(submit(other, "updateWallet", { walletId: other.ids.walletId }, { key }))).toBe(403);
    const own = { key, organizationId: other.childOrganizationId };
    expect(await statusOf(submit(other, "updateWallet", { walletId: other.child.walletId }, own))).toBe(200);
    expect(await statusOf(submit(other, "updateWallet", { walletId: other.ids.walletId }, own))).toBe(404);
    const { body } = await query(other, "get_activity", { activityId: other.child.walletActivityId }, own);
    expect(await statusOf(query(other, "get_activity", { activityId: other.child.walletActivityId }))).toBe(404);
    expect(body["activity"].organizationId).toBe(other.childOrganizationId);
    await other.close();
  });
});
