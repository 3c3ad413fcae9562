/** The auth proxy through a wrapped client that has the form of core's; test/sdks has the SDK itself. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  RejectedAuthProxyError,
  UnverifiedMethodError,
  type VerifiedOptions,
  isUnproven,
  reportOf,
  tokenReportOf,
  verified,
} from "../../src/adapters/index.js";
import type { ClientError } from "../../src/client/index.js";
import { startLab } from "../../src/lab/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { rejectionOf } from "../client/support.js";
import { type Json, TWO_ACCOUNTS, query } from "../lab/support.js";

const lab = await startLab();
const { policy, url: authProxyUrl } = lab.authProxy;
afterAll(() => lab.close());

/** What was sent to the auth proxy, and what becomes of its answers. */
const sent: { readonly path: string; readonly body: unknown; readonly more: readonly unknown[] }[] = [];
let change: (json: Json) => unknown = (json) => json;
beforeEach(() => {
  lab.setFault(null);
  sent.length = 0;
  change = (json) => json;
});

interface Config {
  readonly authProxyUrl?: unknown;
  readonly organizationId?: string;
}

class CoreLike {
  readonly config: Config;
  readonly proxySignupV2: (input: unknown, captcha?: string) => Promise<Json>;
  readonly proxyOAuthLogin: (input: unknown) => Promise<Json>;
  readonly proxyGetAccount: (input: unknown) => Promise<Json>;
  readonly proxyLie: () => Promise<unknown>;
  readonly signUp: (input: unknown) => Promise<Json>;

  constructor(config: Config) {
    this.config = config;
    this.proxySignupV2 = async (input, captcha) => this.authProxyRequest("/v1/signup_v2", input, captcha);
    this.proxyOAuthLogin = async (input) => this.authProxyRequest("/v1/oauth_login", input);
    this.proxyGetAccount = async (input) => this.authProxyRequest("/v1/account", input);
    this.signUp = async (input) => this.authProxyRequest("/v1/signup_v2", input);
    this.proxyLie = async () => ({ organizationId: "mine" });
  }

  async request(): Promise<unknown> {
    throw new Error("a request of the service");
  }

  async authProxyRequest(path: string, body: unknown, ...more: readonly unknown[]): Promise<Json> {
    sent.push({ path, body, more });
    const headers = { "Content-Type": "application/json", "X-Auth-Proxy-Config-ID": "lab" };
    const response = await fetch(authProxyUrl + path, { method: "POST", headers, body: JSON.stringify(body) });
    return change((await response.json()) as Json) as Json;
  }
}

const evidence = async (ephemeralKey: string): Promise<unknown> =>
  (await query(lab, "get_boot_proof", { ephemeralKey })).body["bootProof"];
type Options = VerifiedOptions<CoreLike>;
const wrapped = (more: Partial<Options> = {}, config: Config = { authProxyUrl }): CoreLike =>
  verified(new CoreLike(config), { policy, evidence, ...more });
const INPUT = { userName: "new", apiKeys: [], authenticators: [], oauthProviders: [], wallet: TWO_ACCOUNTS };
const BARE = { ...INPUT, wallet: undefined };
const refusedWith = async (answer: Promise<unknown>): Promise<string> => {
  const error = await rejectionOf(answer);
  expect(error).toBeInstanceOf(RejectedAuthProxyError);
  return error.message;
};

describe("a sign-up", () => {
  it("is verified, and is sent as given, with further arguments", async () => {
    const value = await wrapped().proxySignupV2(INPUT, "captcha");
    expect(reportOf(value)).toMatchObject({
      verdict: "verified",
      claims: { signUp: { addresses: value["wallet"].addresses } },
    });
    expect(isUnproven(value)).toBe(false);
    expect(sent).toEqual([{ path: "/v1/signup_v2", body: INPUT, more: ["captcha"] }]);
    expect(reportOf({ ...value })).toBeUndefined();
  });

  it("that is a lie is refused, also where it is allowed", async () => {
    for (const allowUnproven of [[], ["signup_v2"], ["proxySignupV2"], true] as const) {
      lab.setFault("signup-proof-broken");
      expect(await refusedWith(wrapped({ allowUnproven }).proxySignupV2(INPUT))).toMatch(/^rejected: signup_v2: /);
    }
  });

  it.each([[["signup_v2"]], [["proxySignupV2"]], [true]] as const)(
    "without a proof is marked under %j",
    async (allowUnproven) => {
      change = (json) => ({ ...json, appProofs: undefined });
      const client = wrapped({ allowUnproven });
      for (const input of [INPUT, BARE]) {
        const value = await client.proxySignupV2(input);
        expect([isUnproven(value), reportOf(value)?.verdict]).toEqual([true, "unverified"]);
      }
      expect(isUnproven(await wrapped({ allowUnproven }).proxyGetAccount({}))).toBe(false);
    },
  );

  it.each([[[]], [["signup"]], [["proxyOAuthLogin"]], [["proxyGetAccount", "otp_login"]]] as const)(
    "without a proof is refused under %j",
    async (allowUnproven) => {
      const client = wrapped({ allowUnproven });
      expect(await rejectionOf<ClientError>(client.proxySignupV2(BARE))).toMatchObject({ code: "request" });
      expect(sent).toEqual([]);
      change = (json) => ({ ...json, appProofs: [] });
      expect(await refusedWith(client.proxySignupV2(INPUT))).toContain("has no app proofs");
    },
  );

  it("is compared with what was sent, whatever becomes of the input", async () => {
    let reads = 0;
    const input = {
      ...INPUT,
      get wallet() {
        return ++reads > 1 ? undefined : TWO_ACCOUNTS;
      },
    };
    const value = await wrapped().proxySignupV2(input);
    expect([reads, (sent[0]!.body as Json)["wallet"], value["wallet"].addresses.length]).toEqual([1, TWO_ACCOUNTS, 2]);
  });

  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["a text", "x"],
    ["an error", { code: 3, message: "no" }],
    ["an integer that was changed", { organizationId: "o", at: 2 ** 53 }],
    ["a BigInt", { organizationId: "o", at: 1n }],
    ["members of a prototype", Object.create({ organizationId: "o" })],
    ["a circle", circle()],
  ])("whose answer is %s is an answer that does not match", async (_, answer) => {
    change = () => answer;
    const error = await rejectionOf<ClientError>(wrapped({ allowUnproven: true }).proxySignupV2(BARE));
    expect([error.name, error.code, error.effect]).toEqual(["ClientError", "answer", "unknown"]);
  });
});

function circle(): object {
  const made: Record<string, unknown> = { organizationId: "o" };
  made["self"] = made;
  return made;
}

describe("other methods", () => {
  const publicKey = generateApiKey().publicKey;
  const LOGIN = { oidcToken: "any", publicKey, organizationId: lab.organizationId };

  it("log-ins have their token verified", async () => {
    const client = wrapped();
    const value = await client.proxyOAuthLogin(LOGIN);
    expect([tokenReportOf(value)?.verdict, reportOf(value), isUnproven(value)]).toEqual(["verified", undefined, false]);
    lab.setFault("session-for-another-key");
    expect(await refusedWith(client.proxyOAuthLogin(LOGIN))).toContain("token.expected");
  });

  it.each([[["oauth_login"]], [["proxyOAuthLogin"]]] as const)(
    "without a pinned key pass under %j alone",
    async (allowUnproven) => {
      const { policy: keyless } = lab;
      const value = await wrapped({ policy: keyless, allowUnproven }).proxyOAuthLogin(LOGIN);
      expect([isUnproven(value), tokenReportOf(value)]).toEqual([true, undefined]);
      const other = wrapped({ policy: keyless, allowUnproven: ["proxySignupV2"] });
      expect(await rejectionOf<ClientError>(other.proxyOAuthLogin(LOGIN))).toMatchObject({ code: "request" });
    },
  );

  it("that return what no request answered are refused", async () => {
    expect(await rejectionOf(wrapped().proxyLie())).toBeInstanceOf(UnverifiedMethodError);
    expect(await rejectionOf(wrapped({ allowUnproven: ["proxyLie"] }).proxyLie())).toBeInstanceOf(
      UnverifiedMethodError,
    );
  });

  it.each<[string, unknown]>([
    ["/v1/signup_v2?", INPUT],
    ["//other.example/v1/signup_v2", INPUT],
    ["/public/v1/submit/create_wallet", INPUT],
    ["/v1/signup_v2", JSON.stringify(INPUT)],
    ["/v1/signup_v2", [INPUT]],
    ["/v1/signup_v2", null],
    ["/v1/signup_v2", { ...INPUT, at: 1n }],
  ])("authProxyRequest does not send %s with %#", async (path, body) => {
    const asking = wrapped({ allowUnproven: true }).authProxyRequest(path, body);
    expect(await rejectionOf(asking)).toMatchObject({
      name: "TypeError",
      message: expect.stringContaining("not sent") as string,
    });
    expect(sent).toEqual([]);
  });

  it("authProxyRequest is verified as the methods are", async () => {
    expect(reportOf(await wrapped().authProxyRequest("/v1/signup_v2", INPUT))!.verdict).toBe("verified");
    const unknown = wrapped().authProxyRequest("/v1/signup_v3", INPUT);
    expect(await rejectionOf<ClientError>(unknown)).toMatchObject({ code: "request" });
  });
});

describe("a client without authProxyUrl", () => {
  it.each<[string, Config]>([
    ["none", {}],
    ["an inherited one", Object.create({ authProxyUrl }) as Config],
  ])("has its methods refused, unless allowed by name, with %s", async (_, config) => {
    for (const allowUnproven of [[], true, ["signup_v2"]] as const)
      expect(await rejectionOf(wrapped({ allowUnproven }, config).proxySignupV2(INPUT))).toBeInstanceOf(
        UnverifiedMethodError,
      );
    expect(await rejectionOf(wrapped({}, config).authProxyRequest("/v1/account", {}))).toBeInstanceOf(
      UnverifiedMethodError,
    );
    expect(sent).toEqual([]);
    const value = await wrapped({ allowUnproven: ["proxySignupV2"] }, config).proxySignupV2(INPUT);
    expect([value["wallet"].addresses.length, isUnproven(value), reportOf(value)]).toMatchObject([
      2,
      true,
      { verdict: "unverified", reason: "it was handed on without a proof, as allowUnproven says" },
    ]);
  });
});

describe("options", () => {
  it.each<[string, Partial<Record<keyof Options, unknown>>, Config?]>([
    ["authProxyUrl", { authProxyUrl: "https://other.example" }],
    ["authProxyUrl", { authProxyUrl: `${authProxyUrl}/v1` }],
    ["authProxyUrl", { authProxyUrl: "" }],
    ["authProxyUrl", { authProxyUrl }, {}],
    ["allowUnproven", { allowUnproven: false }],
    ["allowUnproven", { allowUnproven: "signup_v2" }],
    ["allowUnproven", { allowUnproven: ["signup_v3"] }],
    ["allowUnproven", { allowUnproven: ["__proto__"] }],
    ["evidence", { evidence: [] }],
    ["evidence", { evidence: null }],
  ])("%s that does not fit is a TypeError: %j", (name, more, config) => {
    const made = (): unknown => wrapped(more as Partial<Options>, config);
    expect(made).toThrow(TypeError);
    expect(made).toThrow(name);
  });

  it("authProxyUrl may end in a slash, in the options or the configuration", async () => {
    expect(await wrapped({ authProxyUrl: `${authProxyUrl}/` }).proxyGetAccount({})).toBeTypeOf("object");
    expect(() => wrapped({ authProxyUrl }, { authProxyUrl: `${authProxyUrl}//` })).not.toThrow();
  });
});
