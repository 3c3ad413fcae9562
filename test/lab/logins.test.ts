/** Log-ins, users, policies and bundles of keys: what an application does before and around its signatures. */
import { afterAll, describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/lab/api-key.js";
import { type ApiKeyPair, stampWithApiKey, startLab } from "../../src/lab/index.js";
import { openSealed } from "../../src/lab/session.js";
import { bundleData, claimsOf } from "../../src/lab/tokens.js";
import { ANY_USER, verifySessionToken, verifySignedBundle } from "../../src/token/verify.js";
import { fromUtf8 } from "../../src/bytes.js";
import { type Json, TARGET_PUBLIC_KEY, completed, envelope, query, send, statusOf, submit } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
const { organizationId, ids, operator } = lab;
const { policy } = lab.authProxy;
const byOperator = { key: operator.apiKey };
const resultOf = async (name: Parameters<typeof submit>[1], parameters: Json, sending = {}): Promise<Json> =>
  Object.values((await completed(submit(lab, name, parameters, sending)))["result"] as Json)[0] as Json;
const whoami = async (key: ApiKeyPair, sending = {}): Promise<Json> =>
  (await query(lab, "whoami", {}, { key, ...sending })).body;

describe("a log-in", () => {
  it("by stamp gives the caller's user a session key, for its lifetime", async () => {
    const { publicKey, ...key } = generateApiKey();
    const { session } = await resultOf("stampLogin", { publicKey, expirationSeconds: "60" }, byOperator);
    expect(claimsOf(session)).toMatchObject({ user_id: operator.userId, public_key: publicKey });
    const expected = { organizationId, userId: operator.userId, publicKey };
    expect((await verifySessionToken(session, { policy, now: new Date(), expected })).verdict).toBe("verified");
    expect(await whoami({ publicKey, ...key })).toMatchObject({ userId: operator.userId });
    const next = generateApiKey();
    await resultOf("stampLogin", { publicKey: next.publicKey, invalidateExisting: true }, byOperator);
    expect(await whoami({ publicKey, ...key })).toMatchObject({ code: 16 });
    expect(await statusOf(submit(lab, "stampLogin", { publicKey: "04" }))).toBe(400);
    expect(await statusOf(submit(lab, "stampLogin", { publicKey, expirationSeconds: "2592001" }))).toBe(400);
  });

  it("by a one-time password, which a parent may submit for its child", async () => {
    const sending = { organizationId: lab.childOrganizationId };
    const contact = "customer@lab.example";
    const otp = { otpType: "OTP_TYPE_EMAIL", contact, appName: "a" };
    const { otpId, otpEncryptionTargetBundle } = await resultOf("initOtp", otp, sending);
    expect(bundleData(otpEncryptionTargetBundle)).toMatchObject(sending);
    const refused = submit(lab, "verifyOtp", { otpId, encryptedOtpBundle: "{}" }, sending);
    expect(await refused).toMatchObject({ status: 400 });
    const { verificationToken } = await resultOf("verifyOtpV1", { otpId, otpCode: "1" }, sending);
    const key = generateApiKey();
    const { session } = await resultOf("otpLogin", { verificationToken, publicKey: key.publicKey }, sending);
    expect(claimsOf(session)).toMatchObject({ user_id: lab.child.userId, organization_id: lab.childOrganizationId });
    expect(await whoami(key, sending)).toMatchObject({ userId: lab.child.userId });
    expect(await statusOf(submit(lab, "stampLogin", { publicKey: key.publicKey }, sending))).toBe(403);
    expect(await statusOf(submit(lab, "verifyOtpV1", { otpId: "none", otpCode: "1" }, sending))).toBe(404);
  });

  it("by a provider's token, of the user who has the provider", async () => {
    const jwtOf = (claims: Json): string => `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.e30`;
    const { publicKey } = generateApiKey();
    const oidcToken = jwtOf({ iss: "https://accounts.lab.example", sub: "admin" });
    const { session } = await resultOf("oauthLogin", { oidcToken, publicKey });
    expect(claimsOf(session)["user_id"]).toBe(ids.userId);
    const { credentialBundle } = await resultOf("oauth", { oidcToken, targetPublicKey: TARGET_PUBLIC_KEY });
    expect(credentialBundle).toMatch(/^[1-9A-HJ-NP-Za-km-z]{100,}$/);
    const other = jwtOf({ iss: "https://accounts.lab.example", sub: "nobody" });
    expect(await statusOf(submit(lab, "oauthLogin", { oidcToken: other, publicKey }))).toBe(404);
    expect(await statusOf(submit(lab, "oauthLogin", { oidcToken: "no token", publicKey }))).toBe(400);
  });
});

describe("users", () => {
  it("are made with keys that stamp, changed, and deleted, but not from the root quorum", async () => {
    const key = generateApiKey();
    const apiKeys = [{ apiKeyName: "k", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256" }];
    const users = [{ userName: "new", userTags: [], apiKeys, authenticators: [], oauthProviders: [] }];
    const { userIds } = await resultOf("createUsers", { users });
    expect(await whoami(key)).toMatchObject({ userId: userIds[0], username: "new" });
    await resultOf("updateUserName", { userId: userIds[0], userName: "renamed" });
    expect((await query(lab, "list_users")).body["users"].at(-1)).toMatchObject({ userName: "renamed" });
    const tag = await resultOf("createUserTag", { userTagName: "t", userIds });
    expect((await query(lab, "list_user_tags")).body["userTags"].at(-1)).toMatchObject({ tagName: "t" });
    expect((await resultOf("deleteUserTags", { userTagIds: [tag["userTagId"]] }))["userIds"]).toEqual(userIds);
    expect((await query(lab, "get_user", { userId: userIds[0] })).body["user"].userTags).toEqual([]);
    expect(await statusOf(submit(lab, "deleteUsers", { userIds: [userIds[0], ids.userId] }))).toBe(400);
    await resultOf("deleteUsers", { userIds });
    expect(await whoami(key)).toMatchObject({ code: 16 });
  });
});

describe("policies", () => {
  const RENAME = "ACTIVITY_TYPE_UPDATE_WALLET";
  const rename = (walletName: string) =>
    submit(lab, "updateWallet", { walletId: ids.walletId, walletName }, byOperator);
  const policyOf = (facts: Json): Json => ({ policyName: "made", effect: "EFFECT_ALLOW", notes: "", ...facts });

  it("that deny make the activity fail, with a message and a proof of the decision", async () => {
    const denying = policyOf({ effect: "EFFECT_DENY", condition: `activity.type in ['${RENAME}']` });
    const { policyId } = await resultOf("createPolicy", denying);
    const sending = { ...byOperator, generateAppProofs: true };
    const { status, body } = await submit(lab, "updateWallet", { walletId: ids.walletId }, sending);
    expect([status, body["activity"]]).toMatchObject([
      200,
      { status: "ACTIVITY_STATUS_FAILED", failure: { code: 7, message: `policy made denies ${RENAME}` }, result: {} },
    ]);
    expect(body["activity"].appProofs[0].proofPayload).toContain("OUTCOME_DENY_EXPLICIT");
    await resultOf("updatePolicy", { policyId, policyCondition: "activity.resource == 'POLICY'" });
    expect((await rename("waits")).body["activity"].status).toBe("ACTIVITY_STATUS_CONSENSUS_NEEDED");
    await resultOf("deletePolicy", { policyId });
    expect((await query(lab, "get_policy", { policyId })).status).toBe(404);
  });

  it("that allow one user, by id or by tag", async () => {
    const consensus = `approvers.any(user, user.id == '${operator.userId}')`;
    const { policyIds } = await resultOf("createPolicies", {
      policies: [policyOf({ condition: "activity.action == 'UPDATE' && activity.type != 'x'", consensus })],
    });
    expect((await rename("by id")).body["activity"].status).toBe("ACTIVITY_STATUS_COMPLETED");
    const byTag = `approvers.any(user, user.tags.contains('${ids.userTagId}'))`;
    await resultOf("updatePolicy", { policyId: policyIds[0], policyConsensus: `false || ${byTag}` });
    expect((await rename("by tag")).body["activity"].status).toBe("ACTIVITY_STATUS_COMPLETED");
    await resultOf("deletePolicies", { policyIds });
  });

  it.each(["activity.params.wallet == 'x'", "true &&", "eth.tx.to == '0x1'"])(
    "400 for what the lab does not read: %s",
    async (condition) => {
      const refused = await submit(lab, "createPolicy", policyOf({ condition }));
      expect([refused.status, refused.body["message"]]).toEqual([
        400,
        expect.stringContaining("the lab does not read"),
      ]);
      expect(await statusOf(submit(lab, "createPolicy", policyOf({})))).toBe(400);
    },
  );

  it("do not bind the root quorum, of which several may have to approve", async () => {
    const other = await startLab();
    const [{ userId }, admin] = [other.operator, other.ids.userId];
    expect(await statusOf(submit(other, "updateRootQuorum", { threshold: 3, userIds: [admin, userId] }))).toBe(400);
    await completed(submit(other, "updateRootQuorum", { threshold: 2, userIds: [admin, userId] }));
    const waiting = await submit(other, "createWallet", { walletName: "w", accounts: [] });
    expect(waiting.body["activity"].status).toBe("ACTIVITY_STATUS_CONSENSUS_NEEDED");
    const { fingerprint } = waiting.body["activity"];
    const vote = envelope(other, "ACTIVITY_TYPE_APPROVE_ACTIVITY", { fingerprint });
    const approved = await send(other, "submit/approve_activity", vote, { key: other.operator.apiKey });
    expect(approved.body["activity"].status).toBe("ACTIVITY_STATUS_COMPLETED");
    await other.close();
  });
});

describe("bundles of keys", () => {
  it("that are exported are signed by the signer's quorum key, and open to the target", async () => {
    const { publicKey, privateKey } = generateApiKey();
    const wallet = await resultOf("exportWallet", { walletId: ids.walletId, targetPublicKey: publicKey });
    const options = {
      policy,
      now: new Date(),
      kind: "export",
      expected: { organizationId, userId: ANY_USER },
    } as const;
    expect((await verifySignedBundle(wallet["exportBundle"], options)).verdict).toBe("verified");
    const data = bundleData(wallet["exportBundle"]);
    expect(fromUtf8(await openSealed(JSON.stringify(data), privateKey))).toMatch(/^(?:[a-z]+ ){11}[a-z]+$/);
    await expect(openSealed(JSON.stringify(data), generateApiKey().privateKey)).rejects.toThrow("does not open");
  });

  it("that are imported need a target of the user", async () => {
    const parameters = { userId: operator.userId, encryptedBundle: "{}", walletName: "w", accounts: [] };
    expect(await statusOf(submit(lab, "importWallet", parameters))).toBe(400);
    const { importBundle } = await resultOf("initImportWallet", { userId: operator.userId });
    const expected = { organizationId, userId: operator.userId };
    const report = await verifySignedBundle(importBundle, { policy, now: new Date(), kind: "import", expected });
    expect(report.verdict).toBe("verified");
    expect(await statusOf(submit(lab, "importWallet", parameters))).toBe(400);
  });
});

it("a guess says so in its answer's header, and what is known does not", async () => {
  const headerOf = async (path: string): Promise<string | null> => {
    const body = JSON.stringify({ organizationId });
    const headers = { "X-Stamp": stampWithApiKey(lab.apiKey, body) };
    return (await fetch(`${lab.baseUrl}/public/v1/${path}`, { method: "POST", body, headers })).headers.get(
      "x-bootproof-lab",
    );
  };
  expect(await headerOf("query/list_tvc_apps")).toBe("behaviour not known");
  expect(await headerOf("submit/create_mfa_policy")).toBe("behaviour not known");
  expect(await headerOf("query/list_wallets")).toBeNull();
});
