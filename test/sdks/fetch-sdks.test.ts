/** The SDKs of this service over a wrapped global fetch: which of them it reaches, and what they then return. */
import { ApiKeyStamper, TurnkeyClient as CoreClient } from "@turnkey/core";
import { TurnkeyBrowserClient } from "@turnkey/sdk-browser";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reportOf, verifiedFetch } from "../../src/adapters/index.js";
import { RejectedActivityError, apiKeyStamper, createClient } from "../../src/client/index.js";
import { stampWithApiKey } from "../../src/lab/index.js";
import { rejectionOf } from "../client/support.js";
import { type Json, TWO_ACCOUNTS, envelope } from "../lab/support.js";
import { type Honest, honestly, lyingLab, wire } from "../proxy/support.js";
import { type AnyClient, SDKS, inputOf, placeOf } from "./support.js";

const { lab, liar } = await lyingLab();
const { organizationId, policy, ids } = lab;
const place = placeOf(lab, { baseUrl: liar.url });
const own = globalThis.fetch;
const stamper = await apiKeyStamper(lab.apiKey);
const evidence = createClient({ baseUrl: lab.baseUrl, organizationId, stamper, fetch: own });
/** What each answer that an SDK got was compared with. */
const questions: (string | undefined)[] = [];
beforeEach(() => {
  questions.length = 0;
  const fetching = verifiedFetch({ policy, baseUrl: liar.url, evidence, fetch: own });
  globalThis.fetch = (async (...args: Parameters<typeof fetch>) => {
    const response = await fetching(...args);
    questions.push(reportOf(response)?.claims?.activity?.question ?? undefined);
    return response;
  }) as typeof fetch;
});
afterEach(() => void (globalThis.fetch = own));

const keys = { apiPublicKey: lab.apiKey.publicKey, apiPrivateKey: lab.apiKey.privateKey };
/** Its own constructor takes a stamper only in this way. */
const browserClient = (): AnyClient =>
  new TurnkeyBrowserClient({
    apiBaseUrl: liar.url,
    organizationId,
    activityPoller: { intervalMs: 1, numRetries: 1 },
    stamper: new ApiKeyStamper(keys),
  } as never) as object as AnyClient;

const REACHED: readonly [name: string, client: () => AnyClient][] = [
  ...SDKS.filter(({ name }) => name !== "http").map((sdk): [string, () => AnyClient] => [
    sdk.name,
    () => sdk.client(place),
  ]),
  ["sdk-browser", browserClient],
];
const RENAME = { walletId: ids.walletId, walletName: "renamed", organizationId };
const FLAGGED = { ...RENAME, generateAppProofs: true };

/** A wallet that nobody asked about. */
const lie = ({ text, json, path, status }: Honest): string => {
  if (!path.startsWith("submit/")) return wire(text, { status });
  const activity = { ...json["activity"], result: { updateWalletResult: { walletId: "evil" } } } as Json;
  return wire(JSON.stringify({ activity }));
};

function pendingOf({ activity }: Json): Json {
  const status = "ACTIVITY_STATUS_PENDING";
  return { activity: { ...(activity as Json), result: undefined, appProofs: undefined, status } };
}

describe.each(REACHED)("%s over a wrapped global fetch", (name, make) => {
  it("returns verified results where the caller asks for app proofs", async () => {
    expect(await make()["updateWallet"]!(FLAGGED)).toMatchObject({ walletId: ids.walletId });
    const made = await make()["createWallet"]!({ ...TWO_ACCOUNTS, organizationId, generateAppProofs: true });
    expect(made["addresses"]).toHaveLength(2);
    expect(questions).toEqual(["request", "request"]);
  });

  it("is refused by the service that lies", async () => {
    liar.lie = lie;
    const error = await rejectionOf(make()["updateWallet"]!(FLAGGED));
    expect(error).toBeInstanceOf(RejectedActivityError);
    expect(error.message).toMatch(/^rejected: activity\./);
  });

  it("verifies what the SDK polls against the submit", async () => {
    liar.lie = (honest) =>
      honest.path.startsWith("submit/") ? wire(JSON.stringify(pendingOf(honest.json))) : honestly(honest);
    expect(await make()["updateWallet"]!(FLAGGED)).toMatchObject({ walletId: ids.walletId });
    expect(questions).toEqual([undefined, "request"]);
    const { activity } = await make()["updateWallet"]!(FLAGGED);
    liar.lie = ({ json, path }) =>
      wire(JSON.stringify(path.startsWith("submit/") ? pendingOf(json) : { activity: activity as Json }));
    await expect(make()["updateWallet"]!(FLAGGED)).rejects.toThrow(/^rejected: activity\.request/);
  });

  it("passes queries, and errors of the service as the SDK has them", async () => {
    const user = await make()["getUser"]!({ organizationId, userId: ids.userId });
    expect(user["user"].userId).toBe(ids.userId);
    const failing = async (): Promise<Error & { code: number }> =>
      rejectionOf(make()["getUser"]!({ organizationId, userId: "x" }));
    const wrapped = await failing();
    globalThis.fetch = own;
    const plain = await failing();
    expect([wrapped.name, wrapped.code, wrapped.message]).toEqual([plain.name, plain.code, plain.message]);
    expect(questions).toEqual([undefined, undefined]);
  });

  it("sends its stamped requests by hand, and they are verified", async () => {
    const client = make();
    const { url, body, stamp } = await client["stampUpdateWallet"]!(FLAGGED);
    const headers = { [stamp.stampHeaderName as string]: stamp.stampHeaderValue as string };
    const sent = fetch(url as string, { method: "POST", body: body as string, headers });
    // sdk-server and sdk-browser have the flag among the parameters, as they have it in updateWallet.
    expect([(await sent).status, questions]).toEqual([200, ["request"]]);
    if (name !== "core") return;
    const again = await client["stampUpdateWallet"]!(FLAGGED);
    expect(await client["sendSignedRequest"]!(again)).toMatchObject({ walletId: ids.walletId });
    liar.lie = lie;
    const third = await client["stampUpdateWallet"]!(FLAGGED);
    await expect(client["sendSignedRequest"]!(third)).rejects.toThrow(/^rejected: /);
  });
});

describe("core over a wrapped global fetch", () => {
  const core = (): CoreClient => {
    const made = new CoreClient({ apiBaseUrl: liar.url, organizationId }, new ApiKeyStamper(keys) as never);
    made.httpClient = made.createHttpClient();
    return made;
  };
  const wallet = { address: "", addressFormat: "ADDRESS_FORMAT_ETHEREUM", source: "embedded" };

  it("does not send what its high-level methods submit, since they never ask for app proofs", async () => {
    const sending = core().signMessage({ message: "m", walletAccount: wallet as never });
    const error = await rejectionOf<Error & { cause?: Error }>(sending);
    expect(String(error.cause?.message ?? error.message)).toContain("generateAppProofs is not true");
    expect(liar.requests).toHaveLength(0);
  });
});

describe("http over a wrapped global fetch", () => {
  it("is not reached in Node, where it sends with node-fetch", async () => {
    const [sdk] = SDKS;
    globalThis.fetch = () => Promise.reject(new Error("the global fetch"));
    const client = sdk!.client(place);
    liar.lie = lie;
    const parameters = { walletId: ids.walletId, walletName: "renamed" };
    const { activity } = await client["updateWallet"]!(inputOf(sdk!, "updateWallet", organizationId, parameters));
    expect((activity as Json)["result"]).toEqual({ updateWalletResult: { walletId: "evil" } });
  });
});

describe.each(SDKS)("evidence from a client of $name", (sdk) => {
  beforeEach(() => void (globalThis.fetch = own));
  const parameters = { walletId: ids.walletId, walletName: "renamed" };
  const rename = (through: typeof fetch, baseUrl: string): Promise<Response> => {
    const body = envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", parameters, { generateAppProofs: true });
    const headers = { "content-type": "application/json", "x-stamp": stampWithApiKey(lab.apiKey, body) };
    return through(`${baseUrl}/public/v1/submit/update_wallet`, { method: "POST", body, headers });
  };

  it.each(["before", "after"])("is fetched without recursion, where the client was made %s", async (when) => {
    const make = (): AnyClient => sdk.client(placeOf(lab));
    const later: { client?: AnyClient } = {};
    const request = (...args: [string, unknown]): unknown => later.client!.request(...args);
    const given = when === "before" ? make() : ({ request } as never);
    globalThis.fetch = verifiedFetch({ policy, baseUrl: lab.baseUrl, evidence: given });
    later.client = make();
    expect(reportOf(await rename(globalThis.fetch, lab.baseUrl))?.verdict).toBe("verified");
  });
});
