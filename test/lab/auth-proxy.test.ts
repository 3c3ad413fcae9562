/** The auth proxy: sign-ups whose app proofs verify, tokens of pinned quorum keys, and each of its faults alone. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { verifyEvidence } from "../../src/index.js";
import { type FaultName, type Lab, startLab } from "../../src/lab/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { claimsOf } from "../../src/lab/tokens.js";
import { ANY_USER, verifyOtpToken, verifySessionToken, verifySignedBundle } from "../../src/token/verify.js";
import { type Answer, type Json, TWO_ACCOUNTS, query } from "./support.js";

let now = new Date("2026-03-04T05:06:07.000Z");
const lab = await startLab({ now: () => now });
const { policy } = lab.authProxy;
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));

const CONFIGURED = { "X-Auth-Proxy-Config-ID": "lab" };
const KEY = generateApiKey().publicKey;
const CONTACT = "customer@lab.example";
const HOUR = 3_600_000;

async function post(name: string, body: Json = {}, headers: Record<string, string> = CONFIGURED): Promise<Answer> {
  const answer = await fetch(`${lab.authProxy.url}/v1/${name}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers,
  });
  return { status: answer.status, body: (await answer.json()) as Json };
}

async function good(name: string, body: Json = {}): Promise<Json> {
  const answer = await post(name, body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

function signUp(name = "signup", more: Json = { wallet: TWO_ACCOUNTS }): Promise<Json> {
  return good(name, { userName: "new", apiKeys: [], authenticators: [], oauthProviders: [], ...more });
}

const target = async (): Promise<string> =>
  (await good("otp_init_v2", { otpType: "OTP_TYPE_EMAIL", contact: CONTACT }))["otpEncryptionTargetBundle"] as string;

async function verified(contact = CONTACT): Promise<string> {
  const { otpId } = await good("otp_init", { otpType: "OTP_TYPE_EMAIL", contact });
  return (await good("otp_verify", { otpId, otpCode: "000000", publicKey: KEY }))["verificationToken"] as string;
}

const proofPayload = (proof: Json): Json => JSON.parse(proof["proofPayload"]) as Json;
const claims = (answer: Json): Json[] =>
  answer["appProofs"].map((one: Json) => proofPayload(one)["addressDerivationProof"]);

async function evidence(answer: Json, from: Lab = lab): Promise<Json[]> {
  const keys = new Set<string>(answer["appProofs"].map((proof: Json) => proof["publicKey"]));
  const asked = [...keys].map((ephemeralKey) => query(from, "get_boot_proof", { ephemeralKey }));
  return (await Promise.all(asked)).map(({ body }) => body["bootProof"] as Json);
}

/** The checks that fail for the app proofs of a sign-up. */
async function failingOf(answer: Json): Promise<string[]> {
  const pieces = { bootProofs: await evidence(answer), appProofs: answer["appProofs"] };
  const { report } = await verifyEvidence(pieces, { policy, now });
  return failing(report);
}

function failing(report: { readonly checks: readonly { readonly id: string; readonly status: string }[] }): string[] {
  return [...new Set(report.checks.filter(({ status }) => status === "fail").map(({ id }) => id))].sort();
}

const sessionReport = (token: string) =>
  verifySessionToken(token, { policy, now, expected: { organizationId: lab.childOrganizationId, publicKey: KEY } });
const targetReport = (bundle: string) =>
  verifySignedBundle(bundle, {
    ...{ policy, now, kind: "otp-target" },
    expected: { organizationId: lab.organizationId, userId: ANY_USER },
  });

describe("an honest auth proxy", () => {
  it("wants the id of its configuration, and no stamp", async () => {
    expect(await post("account", {}, {})).toMatchObject({ status: 401, body: { code: 16 } });
    expect(await post("signup_v3")).toMatchObject({ status: 404, body: { code: 5 } });
    expect(await post("signup", { apiKeys: 1 })).toMatchObject({ status: 400 });
    expect(await good("wallet_kit_client_params")).toEqual({});
    expect(await good("wallet_kit_config")).toMatchObject({
      sessionExpirationSeconds: "900",
      organizationId: lab.organizationId,
    });
    const claims = { nonce: "n", clientId: "c" };
    expect(claimsOf((await good("oauth2_authenticate", claims))["oidcToken"])).toMatchObject({ nonce: "n", aud: "c" });
  });

  it.each(["signup", "signup_v2"])("proves each address of %s", async (name) => {
    now = new Date(now.getTime() + 60_000);
    const key = generateApiKey();
    const apiKeys = [{ apiKeyName: "k", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256" }];
    const answer = await signUp(name, { apiKeys, userEmail: `${name}@example.org`, wallet: TWO_ACCOUNTS });
    const { organizationId, wallet, userId, appProofs } = answer;
    expect(claims(answer)).toEqual(
      TWO_ACCOUNTS.accounts.map(({ path: derivationPath }, index) => ({
        ...{ organizationId, walletId: wallet.walletId, derivationPath, address: wallet.addresses[index] },
      })),
    );
    expect(appProofs.map((one: Json) => proofPayload(one)["timestampMs"])).toEqual(
      Array(2).fill(String(now.getTime())),
    );
    expect(await failingOf(answer)).toEqual([]);
    const asked = await query(lab, "get_user", { userId }, { key, organizationId, timestampMs: String(now.getTime()) });
    expect(asked).toMatchObject({ status: 200, body: { user: { userName: "new" } } });
    const filter = { filterType: "EMAIL", filterValue: `${name}@example.org` };
    expect(await good("account", filter)).toEqual({ organizationId });
  });

  it("makes no wallet that was not requested", async () => {
    const answer = await signUp("signup", {});
    expect(answer).toEqual({ organizationId: expect.any(String), userId: expect.any(String), appProofs: [] });
    expect(await good("account", { filterType: "EMAIL", filterValue: "nobody" })).toEqual({});
  });

  it("has sessions and OTP tokens of the quorum keys that its policy pins", async () => {
    const verificationToken = await verified();
    const expected = { organizationId: lab.organizationId, contact: CONTACT, publicKey: KEY };
    const otp = await verifyOtpToken(verificationToken, { policy, now, expected });
    expect(otp).toMatchObject({ verdict: "verified", deployment: "tls-fetcher lab.1" });
    expect(otp.claims!.expiresAt).toBe(new Date(now.getTime() + HOUR).toISOString());
    for (const [name, body] of [
      ["otp_login", { verificationToken }],
      ["otp_login_v2", { verificationToken, clientSignature: {} }],
      ["oauth_login", { oidcToken: "t", organizationId: lab.childOrganizationId }],
    ] as const) {
      const { session } = await good(name, { publicKey: KEY, ...body });
      const report = await sessionReport(session);
      expect(report).toMatchObject({ verdict: "verified", deployment: "notarizer lab.1" });
      expect(report.claims).toMatchObject({ userId: lab.child.userId, sessionType: "SESSION_TYPE_READ_WRITE" });
      expect(claimsOf(session)["exp"]).toBe(Math.floor(now.getTime() / 1000) + 900);
    }
    const { otpId } = await good("otp_init_v2", { otpType: "OTP_TYPE_SMS", contact: "+1" });
    const second = await good("otp_verify_v2", { otpId, encryptedOtpBundle: "sealed" });
    expect(failing(await verifyOtpToken(second["verificationToken"], { policy, now, expected }))).toEqual([
      "token.expected",
    ]);
    expect(await targetReport(await target())).toMatchObject({ verdict: "verified", deployment: "tls-fetcher lab.1" });
    // The policy of evidence pins no key of tokens.
    const bare = await verifyOtpToken(verificationToken, { policy: lab.policy, now, expected });
    expect(failing(bare)).toEqual(["token.key"]);
  });

  it("refuses unknown passwords, contacts and organizations", async () => {
    expect(await post("otp_verify", { otpId: "none" })).toMatchObject({ status: 404 });
    const unknown = await verified("nobody@example.org");
    expect(await post("otp_login", { publicKey: KEY, verificationToken: unknown })).toMatchObject({ status: 404 });
    expect(await post("otp_login", { publicKey: KEY, verificationToken: "t" })).toMatchObject({ status: 400 });
    expect(await post("otp_login", { publicKey: KEY, organizationId: "none" })).toMatchObject({ status: 404 });
    expect((await post("oauth_login", { oidcToken: "t", publicKey: KEY })).status).toBe(200);
  });
});

describe("the faults of the auth proxy", () => {
  it.each(["tampered-payload", "another-signer", "stale-manifest", "dropped-app-proofs"] satisfies FaultName[])(
    "%s, which is not of the auth proxy, alters sign-ups too",
    async (name) => {
      lab.setFault(name);
      const answer = await signUp();
      const failed = answer["appProofs"].length === 0 ? ["none"] : await failingOf(answer);
      expect(failed).not.toEqual([]);
    },
  );
});
