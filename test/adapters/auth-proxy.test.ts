/** The auth proxy through a wrapped fetch, against the lab's own faults and a proxy on the wire. */
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  RejectedAuthProxyError,
  type VerifiedFetchOptions,
  isUnproven,
  reportOf,
  tokenReportOf,
  verifiedFetch,
} from "../../src/adapters/index.js";
import { AuthProxyVerifier } from "../../src/door/auth-proxy-verifier.js";
import { Door } from "../../src/door/door.js";
import { LATER } from "../../src/door/later.js";
import { type ClientError, apiKeyStamper, createClient } from "../../src/client/index.js";
import { type Report, parsePolicy, renderText, verifyBootProof } from "../../src/index.js";
import { AUTH_FAULTS, type FaultName, stampWithApiKey, startLab } from "../../src/lab/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { notSent, rejectionOf } from "../client/support.js";
import { type Json, TWO_ACCOUNTS, envelope, query } from "../lab/support.js";
import { REFUSED } from "./auth-faults.js";

let now = new Date("2026-03-04T05:06:07.000Z");
const lab = await startLab({ now: () => now });
const { policy, url: authProxyUrl } = lab.authProxy;
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));

const CONFIGURED = { "Content-Type": "application/json", "X-Auth-Proxy-Config-ID": "lab" };
const KEY = generateApiKey().publicKey;
const byKey = async (ephemeralKey: string): Promise<unknown> => {
  return (await query(lab, "get_boot_proof", { ephemeralKey })).body["bootProof"];
};
const OPTIONS: VerifiedFetchOptions = { policy, baseUrl: lab.baseUrl, authProxyUrl, evidence: byKey, now: () => now };
const wrapped = (more: Partial<VerifiedFetchOptions> = {}) => verifiedFetch({ ...OPTIONS, ...more });
const post = (through: typeof fetch, name: string, body: unknown, more: RequestInit = {}): Promise<Response> =>
  through(`${authProxyUrl}/v1/${name}`, { method: "POST", body: JSON.stringify(body), headers: CONFIGURED, ...more });
const PERSON = { userName: "new", apiKeys: [], authenticators: [], oauthProviders: [] };
const signUp = (through = wrapped(), name = "signup_v2", more: Json = { wallet: TWO_ACCOUNTS }): Promise<Response> =>
  post(through, name, { ...PERSON, ...more });
const jsonOf = async (response: Promise<Response>): Promise<Json> => (await (await response).json()) as Json;
const failedOf = async (answer: Promise<unknown>): Promise<readonly (string | null)[]> => {
  const error = await rejectionOf<RejectedAuthProxyError>(answer);
  expect(error).toBeInstanceOf(RejectedAuthProxyError);
  const { report } = error;
  return [...new Set(report?.checks.filter(({ status }) => status === "fail").map(({ id }) => id) ?? [])];
};

/** The lab's answers, changed on the wire. */
const changing = (change: (json: Json, name: string) => unknown, more: Partial<VerifiedFetchOptions> = {}) =>
  wrapped({
    ...more,
    fetch: (async (url: string, init: RequestInit) => {
      const answer = await fetch(url, init);
      const json = change((await answer.json()) as Json, new URL(url).pathname);
      return new Response(typeof json === "string" ? json : JSON.stringify(json));
    }) as typeof fetch,
  });

describe.each(["signup", "signup_v2"])("%s", (name) => {
  it("is verified by its app proofs, and says what is not proven", async () => {
    const response = await signUp(wrapped(), name);
    const report = reportOf(response) as Report;
    expect([response.headers.get("x-bootproof-verified"), report.verdict]).toEqual(["sign-up", "verified"]);
    const answer = (await response.clone().json()) as Json;
    expect(Object.keys(answer)).toEqual(["organizationId", "wallet", "userId", "appProofs"]);
    expect(report.claims!.signUp).toEqual({
      organizationId: answer["organizationId"],
      walletId: answer["wallet"].walletId,
      addresses: answer["wallet"].addresses,
    });
    const text = renderText(report, { width: 4000 });
    expect(text).toContain(`That the organization is new and yours ("${answer["organizationId"]}")`);
    expect(text).toContain("The user and the credentials of the organization: the auth proxy's word");
    expect(text).toContain("The curve and the format of each address: app proofs contain neither.");
    expect(text).toContain("That the wallet was made by your request");
    expect(text).toContain(`seed ("${answer["wallet"].walletId}")`);
    expect(isUnproven(response)).toBe(false);
  });
});

describe("a fault of the lab", () => {
  const ask = (name: string, through: typeof fetch): Promise<Response> => {
    if (name.startsWith("signup")) return signUp(through);
    if (name.startsWith("otp-target")) return post(through, "otp_init_v2", OTP);
    return post(through, "oauth_login", { oidcToken: "any", publicKey: KEY, organizationId: lab.organizationId });
  };

  it("is in this table", () => {
    for (const { name, fails } of AUTH_FAULTS) expect(Array.isArray(REFUSED[name]), name).toBe(fails.length > 0);
  });

  it.each(Object.entries(REFUSED))(
    "%s is refused, and honestly it is not, with and without allowUnproven",
    async (fault, why) => {
      // A proof that is wrong is so whatever is allowed: one fault stands for all.
      const isEither = !Array.isArray(why) || fault === "signup-proof-broken";
      for (const allowUnproven of isEither ? [false, true] : [false]) {
        const through = wrapped({ allowUnproven });
        await signUp(through);
        expect(isUnproven(await ask(fault, through))).toBe(false);
        lab.setFault(fault as FaultName);
        const refused = ask(fault, through);
        await refused.catch(() => {});
        lab.setFault(null);
        // Allowed passes what has no proof, and never a missing wallet or a proof that is wrong.
        if (fault === "signup-proofs-missing" && allowUnproven) expect(isUnproven(await refused)).toBe(true);
        else if (Array.isArray(why)) expect(await failedOf(refused)).toEqual(why);
        else if (!allowUnproven) await expect(refused).rejects.toThrow(why as RegExp);
        else
          await expect(refused).rejects.toThrow(
            /^rejected: signup_v2: a wallet was requested, and the answer has none\./,
          );
      }
    },
  );
});

const OTP = { otpType: "OTP_TYPE_EMAIL", contact: "customer@lab.example" };

describe("a sign-up", () => {
  it("without a wallet is not sent, unless that is allowed, and then is marked", async () => {
    for (const more of [{}, { wallet: null }, { wallet: { walletName: "w", accounts: [] } }])
      expect(await notSent(signUp(wrapped(), "signup", more))).toMatch(/nothing that can be verified.*allowUnproven/);
    for (const allowUnproven of [true, ["signup"]] as const) {
      const response = await signUp(wrapped({ allowUnproven }), "signup", {});
      expect([response.headers.get("x-bootproof"), isUnproven(response), reportOf(response)?.verdict]).toEqual([
        "unproven",
        true,
        "unverified",
      ]);
    }
    await notSent(signUp(wrapped({ allowUnproven: ["signup"] }), "signup_v2", {}));
    await notSent(signUp(wrapped({ allowUnproven: [] }), "signup", {}));
  });

  it("without an account is unproven, also with a genuine app proof of something else", async () => {
    const body = envelope(
      lab,
      "ACTIVITY_TYPE_UPDATE_WALLET",
      { walletId: lab.ids.walletId, walletName: "decided" },
      { timestampMs: String(now.getTime()), generateAppProofs: true },
    );
    const headers = { "Content-Type": "application/json", "X-Stamp": stampWithApiKey(lab.apiKey, body) };
    const url = `${lab.baseUrl}/public/v1/submit/update_wallet`;
    const { activity } = await jsonOf(fetch(url, { method: "POST", body, headers }));
    const { organizationId } = activity;
    const appProofs = activity.appProofs.filter(({ proofPayload }: Json) =>
      proofPayload.includes("policyOutcomeProof"),
    );
    expect(appProofs.length).toBeGreaterThan(0);
    const through = changing(() => ({ organizationId, userId: "u", appProofs }), { allowUnproven: true });
    const response = await signUp(through, "signup", {});
    expect([isUnproven(response), reportOf(response)?.verdict]).toEqual([true, "unverified"]);
  });

  it("of more accounts than an answer can prove is not sent", async () => {
    const accounts = Array.from({ length: 2049 }, () => TWO_ACCOUNTS.accounts[0]);
    expect(await notSent(signUp(wrapped(), "signup", { wallet: { ...TWO_ACCOUNTS, accounts } }))).toMatch(/accounts/);
  });

  it("has one answer to two questions refused the second time, while both are open", async () => {
    const whole = await jsonOf(signUp());
    const through = changing(() => whole);
    const both = await Promise.allSettled([signUp(through), signUp(through)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await expect(signUp(through)).rejects.toThrow(/the organization answered another sign-up before/);
  });

  it("may be as old as a clock is wrong, and no older", async () => {
    const whole = await jsonOf(signUp());
    const at = now;
    now = new Date(at.getTime() + 59_000);
    expect((await signUp(changing(() => whole))).status).toBe(200);
    now = new Date(at.getTime() + 61_000);
    expect(await failedOf(signUp(changing(() => whole)))).toEqual(["app.time"]);
    now = at;
  });
});

describe("evidence by a function", () => {
  it("that rejects is an error of evidence, which says that an organization was made", async () => {
    const evidence = () => Promise.reject(new Error("no network"));
    const error = await rejectionOf<ClientError>(signUp(wrapped({ evidence })));
    expect([error.code, error.effect]).toEqual(["evidence", "unknown"]);
    expect(error.message).toMatch(/no network.*An organization was made/);
  });

  it("that never resolves ends with the caller's signal", async () => {
    const [controller, reason] = [new AbortController(), new Error("mine")];
    const evidence = (): Promise<never> => {
      controller.abort(reason);
      return new Promise(() => {});
    };
    const { signal } = controller;
    const asking = post(wrapped({ evidence }), "signup", { ...PERSON, wallet: TWO_ACCOUNTS }, { signal });
    await expect(asking).rejects.toBe(reason);
  });

  it("cannot pass a boot proof that was verified under another policy", async () => {
    const root = lab.authProxy.policyFile;
    const loose = parsePolicy(JSON.stringify({ ...root, deployments: root.deployments.map((one) => ({ ...one })) }));
    const evidence = async (key: string): Promise<unknown> =>
      (await verifyBootProof(await byKey(key), { policy: loose, now })).bootProof;
    const deployments = root.deployments.map((one) => ({ ...one, namespace: "other" }));
    const strict = parsePolicy(JSON.stringify({ ...root, deployments }));
    expect(await failedOf(signUp(wrapped({ evidence, policy: strict })))).toContain("policy.deployment");
  });

  it("verifies activities, too, and cannot list what verifyAddresses needs", () => {
    expect(() => wrapped({ verifyAddresses: true })).toThrow(/verifyAddresses lists wallets/);
  });

  it("may be a client, or the boot proofs", async () => {
    const client = createClient({
      baseUrl: lab.baseUrl,
      organizationId: lab.organizationId,
      stamper: await apiKeyStamper(lab.apiKey),
      maxRetries: 0,
    });
    expect((await signUp(wrapped({ evidence: client }))).status).toBe(200);
    const { appProofs } = await jsonOf(signUp());
    const keys = new Set<string>(appProofs.map(({ publicKey }: Json) => publicKey));
    const bootProofs = (await Promise.all([...keys].map(byKey))) as object[];
    expect((await signUp(wrapped({ evidence: bootProofs }))).status).toBe(200);
  });
});

describe("an auth proxy on the wire", () => {
  const answering = (answer: () => Response, more: Partial<VerifiedFetchOptions> = {}) =>
    wrapped({ fetch: async () => answer(), ...more });

  it.each<[string, () => Response, RegExp]>([
    ["20 MiB", () => new Response(new Uint8Array(20 * 1024 * 1024).fill(32)), /longer than/],
  ])("that answers with %s is refused, also where it is allowed", async (_, answer, message) => {
    for (const allowUnproven of [false, true]) {
      const error = await rejectionOf<ClientError>(signUp(answering(answer, { allowUnproven })));
      expect([error.name, error.code, error.effect]).toEqual(["ClientError", "answer", "unknown"]);
      expect(error.message).toMatch(message);
    }
  });

  it("that writes what is missing as empty is verified", async () => {
    expect((await signUp(changing((json) => ({ ...json, userId: "" })))).status).toBe(200);
    const none = { walletId: "", addresses: [] };
    const through = changing((json) => ({ ...json, wallet: none }), { allowUnproven: true });
    expect(isUnproven(await signUp(through, "signup_v2", {}))).toBe(true);
    await expect(signUp(through)).rejects.toThrow("a wallet was requested, and the answer has none");
    const unnamed = changing(({ wallet, ...json }) => ({ ...json, wallet: { ...wallet, walletId: "" } }));
    expect((await rejectionOf<ClientError>(signUp(unnamed))).message).toMatch(/wallet\.walletId: empty/);
  });

  it("whose evidence could not be fetched may give the same answer again", async () => {
    let answer: Json | undefined;
    let isAway = true;
    const evidence = async (key: string): Promise<unknown> => (isAway ? Promise.reject(new Error("away")) : byKey(key));
    const through = changing((json) => (answer ??= json), { evidence });
    expect((await rejectionOf<ClientError>(signUp(through))).code).toBe("evidence");
    isAway = false;
    expect((await signUp(through)).status).toBe(200);
    expect(await failedOf(signUp(through))).toEqual(["app.request"]);
  });

  it.each<[string, () => unknown]>([
    ["no valid Date", () => new Date(NaN)],
    ["a text", () => "2026"],
  ])("gets nothing where the clock gives %s", async (_, clock) => {
    const sent: unknown[] = [];
    const fetch = async (url: unknown) => (sent.push(url), Response.json({}));
    const through = wrapped({ fetch: fetch as typeof globalThis.fetch, now: clock as () => Date });
    await expect(signUp(through)).rejects.toThrow(/options\.now: .*Nothing was sent/);
    expect(sent).toEqual([]);
  });

  it("gets no body that is not JSON, and no path but its own on the service's origin", async () => {
    const broken = wrapped()(`${authProxyUrl}/v1/signup_v2`, { method: "POST", body: "{", headers: CONFIGURED });
    expect(await notSent(broken)).toMatch(/signup_v2: not sent: the body is not strict JSON: /);
    for (const path of ["signup_v2/", "signup_v2?x=1"]) {
      const same = wrapped({ authProxyUrl: lab.baseUrl });
      const call = same(`${lab.baseUrl}/v1/${path}`, { method: "POST", body: "{}", headers: CONFIGURED });
      expect(await notSent(call)).toMatch(/only POST \/v1\/NAME is sent to the auth proxy/);
    }
  });

  it("has an address, and a fetch whose answers can be read", () => {
    expect(() => wrapped({ authProxyUrl: "authproxy" })).toThrow("authProxyUrl: expected an http or https address");
    vi.stubGlobal("Response", class {});
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(() => wrapped()).toThrow("options.fetch: required, as answers of the global fetch have no body");
    expect(() => wrapped({ fetch })).not.toThrow();
    vi.stubGlobal("URL", class {});
    expect(() => wrapped({ fetch })).toThrow("this runtime has no URL.canParse (add core-js/actual/url/can-parse)");
  });

  it("is remembered with the last 10,000 organizations", async () => {
    const query = () => Promise.reject(new Error("a query"));
    const verifier = new AuthProxyVerifier(new Door({ policy, now: () => now }, LATER), () => true);
    const answered = async (at: number): Promise<boolean> => {
      const value = { organizationId: `o${at}` };
      const settled = verifier.settle(
        verifier.ask("signup", { value: {}, faults: [] }),
        { value, faults: [] },
        { query },
      );
      return settled.then(
        () => true,
        (error: unknown) => !(error instanceof RejectedAuthProxyError),
      );
    };
    for (let at = 0; at < 10_001; at++) if (!(await answered(at))) throw new Error(`refused ${at}`);
    expect([await answered(1), await answered(10_000), await answered(0)]).toEqual([false, false, true]);
  });

  it("gets nothing where the signal is aborted before", async () => {
    const sent: unknown[] = [];
    const through = wrapped({ fetch: async (url) => (sent.push(url), Response.json({})) });
    const signal = AbortSignal.abort(new Error("mine"));
    await expect(post(through, "signup", { ...PERSON, wallet: TWO_ACCOUNTS }, { signal })).rejects.toBe(signal.reason);
    expect(sent).toEqual([]);
  });

  it("has at most 1,000 characters of each reason quoted", () => {
    const { message } = new RejectedAuthProxyError("signup", ["x".repeat(100_000), "y"], null);
    expect([message.length < 2000, message.includes("; y. Do not use")]).toEqual([true, true]);
  });
});

describe("log-ins and one-time passwords", () => {
  const verifiedOtp = async (through = wrapped(), version = ""): Promise<Response> => {
    const { otpId } = await jsonOf(post(through, "otp_init", OTP));
    const more = version === "" ? { otpCode: "000000", publicKey: KEY } : { encryptedOtpBundle: "00" };
    return post(through, `otp_verify${version}`, { otpId, ...more });
  };
  const login = (through = wrapped(), more: Json = {}): Promise<Response> =>
    post(through, "oauth_login", { oidcToken: "any", publicKey: KEY, organizationId: lab.organizationId, ...more });

  it.each(["", "_v2"])("otp_verify%s has its token verified", async (version) => {
    const response = await verifiedOtp(wrapped(), version);
    expect([response.headers.get("x-bootproof-verified"), tokenReportOf(response)?.verdict]).toEqual([
      "token",
      "verified",
    ]);
    expect(Object.keys((await response.json()) as Json)).toEqual(["verificationToken"]);
    expect(reportOf(response)).toBeUndefined();
  });

  it("log-ins have their session verified, for the key and organization that were requested", async () => {
    const through = wrapped();
    await signUp(through, "signup", { wallet: TWO_ACCOUNTS, userEmail: OTP.contact });
    const { verificationToken } = await jsonOf(verifiedOtp(through));
    for (const name of ["otp_login", "otp_login_v2"]) {
      const response = await post(through, name, { verificationToken, publicKey: KEY, clientSignature: {} });
      expect(tokenReportOf(response)).toMatchObject({
        kind: "session",
        verdict: "verified",
        claims: { publicKey: KEY },
      });
    }
    expect(tokenReportOf(await login())!.verdict).toBe("verified");
    const session = ((await (await login()).json()) as Json)["session"] as string;
    expect(
      await failedOf(
        login(
          changing(() => ({ session })),
          { publicKey: generateApiKey().publicKey },
        ),
      ),
    ).toEqual(["token.expected"]);
    expect(
      await failedOf(
        login(
          changing(() => ({ session })),
          { organizationId: "mine" },
        ),
      ),
    ).toEqual(["token.expected"]);
  });

  it("are not sent where the policy pins no key, unless that is allowed, and then are marked", async () => {
    const { policy: keyless } = lab;
    expect(await notSent(login(wrapped({ policy: keyless })))).toMatch(
      /prod\/notarizer.*bootproof pin --release.*allowUnproven/,
    );
    const response = await login(wrapped({ policy: keyless, allowUnproven: ["oauth_login"] }));
    expect([isUnproven(response), tokenReportOf(response)]).toEqual([true, undefined]);
    expect(
      await notSent(post(wrapped({ policy: keyless, allowUnproven: ["oauth_login"] }), "otp_init_v2", OTP)),
    ).toContain("prod/tls-fetcher");
  });

  it("are refused with a warning under acceptance strict", async () => {
    const { policyFile } = lab.authProxy;
    const deployments = policyFile.deployments.map((one) =>
      one.namespace === "prod/notarizer" ? { ...one, commitment: "legacy" } : one,
    );
    const legacy = parsePolicy(JSON.stringify({ ...policyFile, deployments }));
    expect(tokenReportOf(await login(wrapped({ policy: legacy })))!.verdict).toBe("verified");
    await expect(login(wrapped({ policy: legacy, acceptance: "strict" }))).rejects.toThrow(
      /^rejected: oauth_login: .*legacy/,
    );
  });
});

describe("other requests to the auth proxy", () => {
  it("are refused with an activity's result in the answer", async () => {
    const activity = { id: "a", result: { createWalletResult: { walletId: "w" } } };
    const through = changing(() => ({ activity }));
    await expect(post(through, "account", {})).rejects.toThrow(/holds an activity with a result/);
  });

  it("are sent to an unknown operation where that is allowed, and then are marked", async () => {
    const send = async (): Promise<Response> => new Response('{"organizationId":"o"}');
    const through = wrapped({ allowUnproven: ["signup_v3"], fetch: send });
    expect(isUnproven(await post(through, "signup_v3", {}))).toBe(true);
    expect(isUnproven(await post(through, "wallet_kit_config", {}))).toBe(false);
  });

  it("are not sent with a stamp, and no redirect is followed", async () => {
    const headers = { ...CONFIGURED, "X-Stamp": "s" };
    expect(
      await notSent(signUp(((url: string, init: RequestInit) => wrapped()(url, { ...init, headers })) as typeof fetch)),
    ).toContain("takes no stamp");
    const through = wrapped({ fetch: async () => new Response(null, { status: 302, headers: { location: "/" } }) });
    await expect(signUp(through)).rejects.toThrow(/redirects are not followed/);
  });

  it("are refused as those of another origin without authProxyUrl", async () => {
    const { authProxyUrl: own, ...without } = OPTIONS;
    const through = verifiedFetch({ ...without, baseUrl: "https://service.example" });
    expect(own).toBe(authProxyUrl);
    await expect(signUp(through)).rejects.toThrow(/x-auth-proxy-config-id/);
  });
});

describe("options", () => {
  it.each<[string, Partial<Record<keyof VerifiedFetchOptions, unknown>>]>([
    ["allowUnproven", { allowUnproven: "signup" }],
    ["allowUnproven", { allowUnproven: [1] }],
    ["allowUnproven", { allowUnproven: [""] }],
    ["authProxyUrl", { authProxyUrl: "" }],
    ["authProxyUrl", { authProxyUrl: "ftp://x" }],
    ["authProxyUrl", { authProxyUrl: "https://x/?a=1" }],
    ["evidence", { evidence: "key" }],
  ])("%s of another type is a TypeError: %j", (name, more) => {
    expect(() => wrapped(more as Partial<VerifiedFetchOptions>)).toThrow(TypeError);
    expect(() => wrapped(more as Partial<VerifiedFetchOptions>)).toThrow(name);
  });

  it("allowUnproven with operations lets only these submits go without generateAppProofs", async () => {
    const parameters = { walletId: lab.ids.walletId, walletName: "renamed" };
    const timestampMs = String(now.getTime());
    const body = envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", parameters, { timestampMs });
    const headers = { "Content-Type": "application/json", "X-Stamp": stampWithApiKey(lab.apiKey, body) };
    const rename = (allowUnproven: readonly string[]): Promise<Response> =>
      wrapped({ allowUnproven })(`${lab.baseUrl}/public/v1/submit/update_wallet`, { method: "POST", body, headers });
    expect(await notSent(rename(["create_wallet"]))).toContain("generateAppProofs");
    expect(isUnproven(await rename(["update_wallet"]))).toBe(true);
  });
});
