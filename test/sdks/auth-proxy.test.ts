/**
 * The auth proxy through core: the `proxy…` methods of its client, and the methods of its TurnkeyClient that sign up
 * and log in. These also submit `stamp_login`, which the lab does not offer: a service before it answers without app
 * proofs.
 */
import { TurnkeyClient as CoreClient } from "@turnkey/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  RejectedAuthProxyError,
  UnverifiedMethodError,
  type VerifiedOptions,
  isUnproven,
  reportOf,
  tokenReportOf,
  verified,
  verifiedFetch,
} from "../../src/adapters/index.js";
import { type ClientError, RejectedActivityError } from "../../src/client/index.js";
import { type ApiKeyPair, stampWithApiKey } from "../../src/lab/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { REFUSED } from "../adapters/auth-faults.js";
import { type Json, TWO_ACCOUNTS } from "../lab/support.js";
import { honestly, lyingLab, wire } from "../proxy/support.js";
import { type AnyClient, causeOf } from "./support.js";

const { lab, liar } = await lyingLab();
const { organizationId } = lab;
const { policy, url: authProxyUrl } = lab.authProxy;
const own = globalThis.fetch;
afterEach(() => void (globalThis.fetch = own));
beforeEach(() => lab.setFault(null));

const KEY = generateApiKey().publicKey;
const OTP = { otpType: "OTP_TYPE_EMAIL", contact: "customer@lab.example" };

async function sent(url: string, body: unknown, headers: Record<string, string>): Promise<Json> {
  const text = JSON.stringify(body);
  const init = { method: "POST", body: text, headers: { "content-type": "application/json", ...headers } };
  return (await (await own(url, init)).json()) as Json;
}
const auth = (name: string, body: Json): Promise<Json> =>
  sent(`${authProxyUrl}/v1/${name}`, body, { "x-auth-proxy-config-id": "id" });
/** As an application's backend does, over a fetch that is not wrapped. */
async function evidence(ephemeralKey: string): Promise<unknown> {
  const body = { organizationId, ephemeralKey };
  const stamp = stampWithApiKey(lab.apiKey, JSON.stringify(body));
  return (await sent(`${lab.baseUrl}/public/v1/query/get_boot_proof`, body, { "x-stamp": stamp }))["bootProof"];
}
async function verificationToken(contact = OTP.contact): Promise<string> {
  const { otpId } = await auth("otp_init", { ...OTP, contact });
  return (await auth("otp_verify", { otpId, otpCode: "000000", publicKey: KEY }))["verificationToken"] as string;
}

const CONFIG = { apiBaseUrl: liar.url, organizationId, authProxyUrl, authProxyConfigId: "id" };
const plainClient = (more: object = {}): AnyClient =>
  new CoreClient({ ...CONFIG, ...more }).createHttpClient() as object as AnyClient;
type Options = Partial<VerifiedOptions<AnyClient>>;
const client = (more: Options = {}): AnyClient => verified(plainClient(), { policy, evidence, ...more });

const PERSON = { userName: "new", apiKeys: [], authenticators: [], oauthProviders: [] };
const SIGN_UP = { ...PERSON, userEmail: OTP.contact, wallet: TWO_ACCOUNTS };
const LOG_IN = { oidcToken: "any", publicKey: KEY, organizationId };
type Proof = "sign-up" | "token" | "none";
const codeOf = async (version: string): Promise<Json> => ({
  otpId: (await auth("otp_init", OTP))["otpId"],
  ...(version === "" ? { otpCode: "000000", publicKey: KEY } : { encryptedOtpBundle: "00" }),
});
const tokenOf = async (): Promise<Json> => ({ verificationToken: await verificationToken(), publicKey: KEY });

const METHODS: Readonly<Record<string, readonly [proof: Proof, input: () => Json | Promise<Json>]>> = {
  proxySignup: ["sign-up", () => SIGN_UP],
  proxySignupV2: ["sign-up", () => SIGN_UP],
  proxyInitOtp: ["none", () => OTP],
  proxyInitOtpV2: ["token", () => OTP],
  proxyVerifyOtp: ["token", () => codeOf("")],
  proxyVerifyOtpV2: ["token", () => codeOf("_v2")],
  proxyOtpLogin: ["token", tokenOf],
  proxyOtpLoginV2: ["token", tokenOf],
  proxyOAuthLogin: ["token", () => LOG_IN],
  proxyOAuth2Authenticate: ["none", () => ({ nonce: "n", clientId: "c" })],
  proxyGetAccount: ["none", () => ({ filterType: "EMAIL", filterValue: "nobody@lab.example" })],
  proxyGetWalletKitConfig: ["none", () => ({})],
  proxyGetWalletKitClientParams: ["none", () => ({})],
};

function proofOf(value: unknown): Proof | "unproven" {
  if (isUnproven(value)) return "unproven";
  if (reportOf(value)?.verdict === "verified") return "sign-up";
  return tokenReportOf(value)?.verdict === "verified" ? "token" : "none";
}

async function expectRefused(calling: Promise<unknown>, why: readonly string[] | RegExp): Promise<void> {
  const error = (await causeOf(calling)) as RejectedAuthProxyError;
  expect(error).toBeInstanceOf(RejectedAuthProxyError);
  expect(error.message).toMatch(/^rejected: /);
  if (why instanceof RegExp) return expect(error.message).toMatch(why);
  const failed = error.report!.checks.filter(({ status }) => status === "fail").map(({ id }) => id as string);
  expect([...new Set(failed)]).toEqual(why);
}

async function notSent(calling: Promise<unknown>, message: RegExp): Promise<void> {
  const error = (await causeOf(calling)) as ClientError;
  expect([error.name, error.code, error.effect]).toEqual(["ClientError", "request", "none"]);
  expect(error.message).toMatch(message);
}

describe("a verified client of core", () => {
  it("has a row here for each of its methods", () => {
    const names = Object.keys(plainClient()).filter((name) => name.startsWith("proxy"));
    expect(names.sort()).toEqual(Object.keys(METHODS).sort());
  });

  it.each(Object.entries(METHODS))("answers %s, and says what proves the answer", async (name, [proof, input]) => {
    await auth("signup", SIGN_UP);
    const value = await client()[name]!(await input());
    expect([name, proofOf(value)]).toEqual([name, proof]);
    if (proof !== "sign-up") return;
    expect(Object.keys(value)).toEqual(["organizationId", "wallet", "userId", "appProofs"]);
    expect(reportOf(value)!.claims!.signUp!.addresses).toEqual(value["wallet"].addresses);
  });

  it("has core's own default, which createHttpClient puts into the configuration", () => {
    const core = new CoreClient({ apiBaseUrl: liar.url, organizationId }).createHttpClient() as object as AnyClient;
    expect(() => verified(core, { policy, evidence, authProxyUrl })).toThrow(/authProxyUrl of the client's/);
    expect(() => verified(core, { policy, evidence, authProxyUrl: "https://authproxy.turnkey.com" })).not.toThrow();
  });
});

describe("what the wallet kits ask over a wrapped global fetch", () => {
  it.each(["wallet_kit_config", "wallet_kit_client_params"])("is sent without a body: %s", async (name) => {
    const answering = (async (_: string, { body }: RequestInit) =>
      new Response(JSON.stringify({ length: (body as Uint8Array).length }))) as typeof fetch;
    const fetching = verifiedFetch({ policy, baseUrl: liar.url, authProxyUrl, evidence, fetch: answering });
    const headers = { "Content-Type": "application/json", "X-Auth-Proxy-Config-ID": "id" };
    const response = await fetching(`${authProxyUrl}/v1/${name}`, { method: "POST", headers });
    expect([proofOf(response), await response.json()]).toEqual(["none", { length: 0 }]);
  });
});

type Methods = Record<string, (input?: unknown) => Promise<Json>>;

/** Core in Node, with what it has in a browser: key pairs, a passkey, a wallet, and storage. */
function coreClient(): CoreClient & Methods {
  const pairs = new Map<string, ApiKeyPair>();
  const sessions = new Map<string, Json>();
  let temporary: string | undefined;
  const stamp =
    (stampHeaderName = "X-Stamp", key = lab.apiKey) =>
    async (body: string) => ({ stampHeaderName, stampHeaderValue: stampWithApiKey(key, body) });
  const apiKeyStamper = {
    stamp: stamp(),
    createKeyPair: async () => {
      const pair = generateApiKey();
      pairs.set(pair.publicKey, pair);
      return pair.publicKey;
    },
    deleteKeyPair: async (key: string) => void pairs.delete(key),
    listKeyPairs: async () => [...pairs.keys()],
    setTemporaryPublicKey: (key: string | undefined) => void (temporary = key),
    getTemporaryPublicKey: () => temporary,
    clearTemporaryPublicKey: () => void (temporary = undefined),
    sign: async () => "00",
  };
  const passkey = JSON.stringify({ credentialId: "c" });
  const passkeyStamper = {
    stamp: async () => ({ stampHeaderName: "X-Stamp-WebAuthn", stampHeaderValue: passkey }),
    setPublicKey: () => {},
    clear: () => {},
  };
  const storageManager = {
    getActiveSession: async () => undefined,
    getSession: async (key: string) => sessions.get(key),
    listSessionKeys: async () => [...sessions.keys()],
    storeSession: async (token: string, key: string) => void sessions.set(key, { token }),
  };
  const attestedStamper = { stamp: stamp("X-Stamp-Attested"), configure: () => {}, clear: () => {} };
  const walletManager = { stamper: { stamp: stamp("X-Stamp", generateApiKey()), setProvider: () => {} } };
  const createPasskey = async () => ({ encodedChallenge: "c", attestation: { credentialId: "c" } });
  const parts = { apiKeyStamper, passkeyStamper, storageManager, attestedStamper, walletManager, createPasskey };
  return Object.assign(new CoreClient(CONFIG), parts) as object as CoreClient & Methods;
}

/** Paths that core sends to. */
const sentPaths: string[] = [];
/** The lab knows only P-256, and a wallet signs with another curve. */
const sending = (async (url: string, init: RequestInit) => {
  sentPaths.push(new URL(url).pathname);
  const text = typeof init.body === "string" ? init.body : Buffer.from(init.body as Uint8Array).toString();
  return own(url, { ...init, body: text.replace("API_KEY_CURVE_ED25519", "API_KEY_CURVE_P256") });
}) as typeof fetch;

interface Door {
  readonly name: string;
  /** Core with this door. `isAllowed`: its log-in may be unproven, and a list of operations, too. */
  readonly core: (allowUnproven?: readonly string[]) => Methods;
  /** What is allowed for the log-in after the sign-up. */
  readonly logIn: readonly string[];
}

const DOORS: readonly Door[] = [
  {
    name: "a wrapped global fetch",
    core: (allowUnproven = []) => {
      const core = coreClient();
      const baseUrl = liar.url;
      globalThis.fetch = verifiedFetch({ policy, baseUrl, authProxyUrl, evidence, fetch: sending, allowUnproven });
      core.httpClient = core.createHttpClient();
      return core;
    },
    logIn: ["stamp_login"],
  },
  {
    name: "a verified client in core.httpClient",
    core: (allowUnproven = []) => {
      globalThis.fetch = sending;
      const core = coreClient();
      const options = { policy, evidence, allowUnproven: allowUnproven as never };
      core.httpClient = verified(core.createHttpClient(), options);
      return core;
    },
    logIn: ["stampLogin", "stampStampLogin", "sendSignedRequest"],
  },
];

const createSubOrgParams = {
  customWallet: { walletName: TWO_ACCOUNTS.walletName, walletAccounts: TWO_ACCOUNTS.accounts },
};
const walletProvider = { interfaceType: "solana", chainInfo: { namespace: "solana" } };
let signedUp = 0;

/** The input of each method, with and without a wallet. */
const SIGN_UPS: Readonly<Record<string, (parameters: object) => Promise<object>>> = {
  signUpWithOtp: async (parameters) => {
    const contact = `customer-${++signedUp}@lab.example`;
    return { ...OTP, contact, verificationToken: await verificationToken(contact), ...parameters };
  },
  signUpWithOauth: async (parameters) => ({ oidcToken: "t", publicKey: KEY, ...parameters }),
  completeOauth: async (parameters) => ({ oidcToken: "t", publicKey: KEY, ...parameters }),
  signUpWithPasskey: async (parameters) => parameters,
  signUpWithWallet: async (parameters) => ({ walletProvider, ...parameters }),
  loginOrSignupWithWallet: async (parameters) => ({ walletProvider, ...parameters }),
};
/** They sign their log-in, and send it later. */
const SIGNS_FIRST = ["signUpWithWallet", "loginOrSignupWithWallet"];
describe.each(DOORS)("core's own methods through $name", ({ core, logIn, name: door }) => {
  const isFetch = door.includes("fetch");
  const submits = (): string[] => sentPaths.filter((path) => path.includes("/submit/"));
  const signUps = (): number => sentPaths.filter((path) => path === "/v1/signup_v2").length;

  beforeEach(() => {
    sentPaths.length = 0;
    /** A service that logs in, and has no app proofs for that. */
    liar.lie = async (honest) => {
      if (honest.path !== "submit/stamp_login") return honestly(honest);
      const { type, parameters, organizationId: named } = JSON.parse(liar.bodies.at(-1)!.toString()) as Json;
      const { publicKey } = parameters;
      const { session } = await auth("oauth_login", { ...LOG_IN, publicKey, organizationId: named });
      const facts = { id: `log-in-${++signedUp}`, organizationId: named as string, type: type as string, votes: [] };
      const outcome = { intent: { stampLoginIntent: parameters as Json }, result: { stampLoginResult: { session } } };
      return wire(JSON.stringify({ activity: { ...facts, ...outcome, status: "ACTIVITY_STATUS_COMPLETED" } }));
    };
  });

  it("getProxyAuthConfig returns what nothing proves", async () => {
    expect(await core()["getProxyAuthConfig"]!()).toMatchObject({ organizationId });
  });

  it("initOtp returns a verified bundle, and no other", async () => {
    const { otpEncryptionTargetBundle } = await core()["initOtp"]!(OTP);
    expect(otpEncryptionTargetBundle).toContain("enclaveQuorumPublic");
    for (const fault of ["otp-target-by-another-key", "otp-target-with-user"] as const) {
      lab.setFault(fault);
      await expectRefused(core()["initOtp"]!(OTP), REFUSED[fault]!);
    }
  });

  it("verifyOtp refuses the lab's bundle by itself, since core pins the service's key", async () => {
    const bundle = await core()["initOtp"]!(OTP);
    const { message } = await causeOf(core()["verifyOtp"]!({ ...bundle, otpCode: "000000" }));
    expect(message).toMatch(/^expected signer key .* does not/);
  });

  it.each(Object.entries(SIGN_UPS))("%s returns a session after a verified sign-up", async (name, input) => {
    const value = await core(logIn)[name]!(await input({ createSubOrgParams }));
    expect([name, typeof value["sessionToken"], value["appProofs"].length]).toEqual([name, "string", 2]);
    expect(submits()).toEqual(["/public/v1/submit/stamp_login"]);
  });

  it.each(Object.entries(SIGN_UPS))("%s is refused with the rejection as cause", async (name, input) => {
    for (const fault of ["signup-addresses-exchanged", "signup-proofs-missing"] as const) {
      const methods = core(logIn);
      await methods["signUpWithOauth"]!(await SIGN_UPS["signUpWithOauth"]!({ createSubOrgParams }));
      sentPaths.length = 0;
      lab.setFault(fault);
      await expectRefused(methods[name]!(await input({ createSubOrgParams })), REFUSED[fault]!);
      lab.setFault(null);
      expect([fault, submits()]).toEqual([fault, []]);
    }
  });

  it.each(Object.entries(SIGN_UPS))("%s is not sent without a wallet, unless that is allowed", async (name, input) => {
    await notSent(core(logIn)[name]!(await input({})), /^signup_v2: not sent: .*nothing that can be verified/);
    expect(signUps()).toBe(0);
    const value = await core([...logIn, "signup_v2"])[name]!(await input({}));
    expect([name, typeof value["sessionToken"]]).toEqual([name, "string"]);
  });

  it.each(Object.entries(SIGN_UPS))("%s signs up, and then does not log in unproven", async (name, input) => {
    const error = await causeOf(core()[name]!(await input({ createSubOrgParams })));
    if (isFetch) {
      expect(error.message).toMatch(/^not sent: stamp_login: generateAppProofs is not true/);
      expect(submits()).toEqual([]);
    } else if (SIGNS_FIRST.includes(name)) expect(error).toBeInstanceOf(UnverifiedMethodError);
    else expect(error).toBeInstanceOf(RejectedActivityError);
    // Those that sign first are refused before they sign up.
    expect(signUps()).toBe(!isFetch && SIGNS_FIRST.includes(name) ? 0 : 1);
  });
});
