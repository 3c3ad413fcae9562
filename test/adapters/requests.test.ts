/** Requests of wrapped clients that JSON cannot express: their answers would be compared with nothing. */
import { afterAll, describe, expect, it } from "vitest";
import { verified } from "../../src/adapters/index.js";
import { stampWithApiKey, startLab } from "../../src/lab/index.js";
import type { Json } from "../lab/support.js";
import { NOT_JSON } from "../support/not-json.js";

const lab = await startLab();
afterAll(() => lab.close());
const { organizationId, policy } = lab;
const { walletId } = lab.ids;

/** Shaped as the clients of SDKs: a `request` of the prototype, and one for what the caller signed. */
class Sdk {
  readonly config = { organizationId };
  readonly sent: string[] = [];

  async request(path: string, body: unknown): Promise<Json> {
    this.sent.push(path);
    return this.sendSignedRequest({ url: lab.baseUrl + path, body: JSON.stringify(body) });
  }

  async sendSignedRequest({ url, body }: { readonly url: string; readonly body: string }): Promise<Json> {
    const headers = { "X-Stamp": stampWithApiKey(lab.apiKey, body) };
    const response = await fetch(url, { method: "POST", body, headers });
    if (!response.ok) throw new Error(`${response.status} refused`);
    return (await response.json()) as Json;
  }
}

const wrapped = (): Sdk => verified(new Sdk(), { policy, verifyAddresses: true });
const COMPARED = [
  ["/public/v1/query/list_wallet_accounts", { organizationId }],
  ["/public/v1/query/get_wallet_account", { organizationId, walletId }],
  ["/public/v1/query/list_private_keys", { organizationId }],
  ["/public/v1/submit/update_wallet", { organizationId, type: "ACTIVITY_TYPE_UPDATE_WALLET", timestampMs: "1" }],
] as const;

describe("a request whose answer would be compared", () => {
  it.each(NOT_JSON)("is not sent with %s, and the error has its path", async (_, value, words) => {
    const client = wrapped();
    for (const [path, body] of COMPARED)
      await expect(client.request(path, { ...body, parameters: { a: [value] } })).rejects.toThrow(
        `not sent: the body is not strict JSON: parameters.a[0]: ${words}, which no JSON value is`,
      );
    expect(client.sent).toEqual([]);
  });

  it("is sent without members that are undefined, as JSON writes it", async () => {
    const [path] = COMPARED[0];
    const { accounts } = await wrapped().request(path, { organizationId, walletId, paginationOptions: undefined });
    expect(accounts).toHaveLength(2);
  });

  it("is text where the caller signed it: a boxed one is not sent", async () => {
    const client = wrapped();
    const body = JSON.stringify({ organizationId, walletId });
    const signed = { url: lab.baseUrl + COMPARED[0][0], body };
    const boxed = { ...signed, body: Object(body) as string };
    await expect(client.sendSignedRequest(boxed)).rejects.toThrow(
      "not sent: the body is not strict JSON: an object of String",
    );
    expect((await client.sendSignedRequest(signed))["accounts"]).toHaveLength(2);
  });
});

it("a request whose answer is compared with nothing is sent as the SDK writes it", async () => {
  const answer = await wrapped().request("/public/v1/query/list_wallets", { organizationId: Object(organizationId) });
  expect(answer["wallets"]).not.toHaveLength(0);
});
