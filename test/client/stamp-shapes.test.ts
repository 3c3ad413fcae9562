/** Stampers of both shapes: which are accepted, which are refused before a request, and which bytes they sign. */
import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { stamperFrom } from "../../src/adapters/index.js";
import { type AnyStamper, type ClientError, apiKeyStamper, webauthnStamper } from "../../src/client/index.js";
import type { PublishedStamp } from "../../src/client/stamp.js";
import { SoftwarePasskey, startLab } from "../../src/lab/index.js";
import { apiKey, fakeFetch, isStamped, rejectionOf, testClient } from "./support.js";

const USER = { user: { userId: "u" } };
const own = await apiKeyStamper(apiKey);

/** What a published stamper does with its payload: the name says on which platform. */
const READS: Readonly<Record<string, (payload: never) => Uint8Array>> = {
  "as Buffer.from": (payload: string | Uint8Array) => Buffer.from(payload as string),
  "as TextEncoder": (payload: string) => new TextEncoder().encode(payload),
  "as what a structured clone leaves of it": (payload: string) => new TextEncoder().encode(structuredClone(payload)),
};

interface Counted {
  readonly stamper: AnyStamper;
  readonly given: unknown[];
}

function publishedStamper(read: (payload: never) => Uint8Array): Counted {
  const given: unknown[] = [];
  return {
    given,
    stamper: {
      stamp: async (payload) => {
        given.push(payload);
        const { header, value } = await own.stamp(read(payload as never));
        return { stampHeaderName: header, stampHeaderValue: value };
      },
    },
  };
}

function answering(returned: unknown): AnyStamper {
  return { stamp: async () => returned as { header: "X-Stamp"; value: string } };
}

describe("a published stamper", () => {
  it.each(Object.entries(READS))("that reads its payload %s stamps the bytes that are sent", async (_, read) => {
    const { stamper } = publishedStamper(read);
    const { fetch, requests } = fakeFetch(() => ({ body: USER }));
    const client = await testClient({ fetch, stamper });
    for (const userId of ["u", "Ærø ✓"]) await client.getUser({ userId });
    expect(requests.map(({ headers, raw }) => isStamped(headers["x-stamp"] as string, raw))).toEqual([true, true]);
  });

  it("is called once for each request where its stamp verifies, and with text from the second on", async () => {
    const { stamper, given } = publishedStamper(READS["as TextEncoder"]!);
    const { fetch } = fakeFetch(() => ({ body: USER }));
    const client = await testClient({ fetch, stamper });
    for (let count = 0; count < 3; count++) await client.getUser({ userId: "u" });
    expect(given.map((payload) => typeof payload)).toEqual(["object", "string", "string"]);
  });

  it("of passkeys uses the passkey once, under its own spelling of the header", async () => {
    const lab = await startLab();
    const passkey = new SoftwarePasskey("lab.test");
    await lab.registerPasskey(lab.ids.userId, passkey);
    const inner = webauthnStamper({ rpId: "lab.test", get: (options) => passkey.get(options as never) });
    let prompts = 0;
    const stamper: AnyStamper = {
      stamp: async (payload) => {
        prompts++;
        const { value } = await inner.stamp(Buffer.from(payload));
        return { stampHeaderName: "X-Stamp-Webauthn", stampHeaderValue: value };
      },
    };
    const { baseUrl, organizationId } = lab;
    const client = await testClient({ baseUrl, organizationId, stamper, fetch, now: () => new Date() });
    expect((await client.getUser({ userId: lab.ids.userId })).user.userId).toBe(lab.ids.userId);
    expect(prompts).toBe(1);
    await lab.close();
  });

  it("whose stamp cannot be verified here gets text", async () => {
    const stamper: AnyStamper = {
      stamp: async (payload) => ({
        stampHeaderName: "X-Stamp",
        stampHeaderValue: createHash("sha256").update(structuredClone(payload)).digest("hex") + typeof payload,
      }),
    };
    const { fetch, requests } = fakeFetch(() => ({ body: USER }));
    await (await testClient({ fetch, stamper })).getUser({ userId: "u" });
    const hash = createHash("sha256").update(requests[0]!.raw).digest("hex");
    expect(requests.map(({ headers }) => headers["x-stamp"])).toEqual([`${hash}string`]);
  });

  it("in stamperFrom stamps text only, and once, though its stamp cannot be verified here", async () => {
    const bodies: unknown[] = [];
    const stamp = async (body: string): Promise<PublishedStamp> => {
      bodies.push(body);
      return { stampHeaderName: "X-Stamp", stampHeaderValue: "of a wallet" };
    };
    const { fetch, requests } = fakeFetch(() => ({ body: USER }));
    await (await testClient({ fetch, stamper: stamperFrom({ stamp }) })).getUser({ userId: "u" });
    expect(bodies).toEqual(requests.map(({ raw }) => Buffer.from(raw).toString()));
    expect(() => stamperFrom({} as never)).toThrow(TypeError);
  });
});

describe("any stamper", () => {
  it.each([["X-Stamp"], ["x-stamp"], ["X-Stamp-WebAuthn"], ["X-STAMP-ATTESTED"]])(
    "may use the header %s",
    async (name) => {
      for (const stamp of [
        { header: name, value: '{"a": "b"}' },
        { stampHeaderName: name, stampHeaderValue: '{"a": "b"}' },
      ]) {
        const { fetch, requests } = fakeFetch(() => ({ body: USER }));
        await (await testClient({ fetch, stamper: answering(stamp) })).getUser({ userId: "u" });
        expect(requests.map(({ headers }) => headers[name.toLowerCase()])).toEqual(['{"a": "b"}']);
      }
    },
  );

  const secret = "5ecret";
  it.each([
    ["nothing", undefined],
    ["a text", secret],
    ["an empty object", {}],
    ["a list", [secret]],
    ["members that it inherits", Object.create({ header: "X-Stamp", value: secret })],
    ["no value", { header: "X-Stamp" }],
    ["no header", { value: secret }],
    ["no stampHeaderName", { stampHeaderValue: secret }],
    ["a member of each shape", { header: "X-Stamp", stampHeaderValue: secret }],
    ["both shapes", { header: "X-Stamp", value: secret, stampHeaderName: "X-Stamp", stampHeaderValue: secret }],
    ["another header", { stampHeaderName: "Authorization", stampHeaderValue: secret }],
    ["a header that is not text", { stampHeaderName: ["X-Stamp"], stampHeaderValue: secret }],
    ["an empty value", { stampHeaderName: "X-Stamp", stampHeaderValue: "" }],
    ["a blank value", { header: "X-Stamp", value: " " }],
    ["a value that is not text", { stampHeaderName: "X-Stamp", stampHeaderValue: { secret } }],
    ["a value with a line feed", { stampHeaderName: "X-Stamp", stampHeaderValue: `${secret}\r\nX-Other: 1` }],
    ["a value with a space at its end", { header: "X-Stamp", value: `${secret} ` }],
    ["a value beyond ASCII", { header: "X-Stamp", value: `${secret}é` }],
  ])("that returns %s is refused, and nothing is sent", async (_, returned) => {
    const { fetch, requests } = fakeFetch(() => ({ body: USER }));
    const client = await testClient({ fetch, stamper: answering(returned) });
    const error = await rejectionOf<ClientError>(client.updateWallet({ walletId: "w" }));
    expect([error.name, error.code, error.effect, requests.length]).toEqual(["ClientError", "stamp", "none", 0]);
    expect(error.message).toMatch(/^update_wallet: not sent: the stamper/);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret);
  });

  it("cannot change what is sent, nor the stamp after it was checked", async () => {
    const stamp = { header: "X-Stamp", value: "once" };
    const stamper = {
      stamp: async (body: Uint8Array) => {
        body.fill(0x20);
        return stamp as { header: "X-Stamp"; value: string };
      },
    };
    const { fetch, requests } = fakeFetch(() => {
      Object.assign(stamp, { header: "X-Other", value: "later" });
      return { status: 503, body: {} };
    });
    await rejectionOf((await testClient({ fetch, stamper })).getUser({ userId: "u" }));
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.map(({ headers, body }) => [headers["x-stamp"], headers["x-other"], body["userId"]])).toEqual(
      requests.map(() => ["once", undefined, "u"]),
    );
  });
});
