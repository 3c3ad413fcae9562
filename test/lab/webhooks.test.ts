/** Deliveries: receivers, signatures and retries. */
import { createPublicKey, verify } from "node:crypto";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DeliveryAttempt } from "../../src/lab/webhooks.js";
import { type Lab, startLab } from "../../src/lab/index.js";
import { type Loopback, loopback } from "../support/loopback.js";
import { type Json, completed, judge, renameWallet, submit } from "./support.js";

interface Received {
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly json: Json;
}

/** The receiver's responses in turn, then 200. `hang up`: none. */
let answers: (number | "hang up")[] = [];
let received: Received[] = [];
let receiver: Loopback;
let url: string;
let waits: number[] = [];
let attempts: DeliveryAttempt[] = [];

const lab: Lab = await startLab({
  sleep: async (milliseconds) => waits.push(milliseconds),
  onDelivery: (attempt) => attempts.push(attempt),
});
afterAll(() => lab.close());

beforeEach(async () => {
  [answers, received, waits, attempts] = [[], [], [], []];
  receiver = await loopback(({ headers }, response, body) => {
    received.push({ headers: headers as Record<string, string>, body, json: JSON.parse(body.toString()) as Json });
    const answer = answers.shift() ?? 200;
    if (answer === "hang up") response.destroy();
    else response.writeHead(answer, answer === 302 ? { Location: "/elsewhere" } : {}).end("thanks");
  });
  url = `${receiver.url}/hook`;
});

afterEach(async () => {
  answers = [];
  // That, too, is an activity, and delivered.
  await register(lab, "");
  await lab.deliveriesSettled();
  await receiver.close();
});

function register(at: Lab, value: string, sending = {}): Promise<Json> {
  return completed(submit(at, "setOrganizationFeature", { name: "FEATURE_NAME_WEBHOOK", value }, sending));
}

describe("a delivery", () => {
  it("is the activity, signed by a published key", async () => {
    await register(lab, url);
    const activity = await renameWallet(lab, "told");
    await lab.deliveriesSettled();
    expect(received).toHaveLength(1);
    const { headers, body, json } = received[0]!;
    expect(json).toEqual(activity);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-webhook-signature-algorithm": "ed25519",
      "x-webhook-signature-version": "v1",
    });
    const jwks = (await (await fetch(lab.jwksUrl)).json()) as { keys: Json[] };
    expect(jwks).toEqual(lab.jwks);
    const key = jwks.keys.find(({ kid }) => kid === headers["x-webhook-signature-key-id"])!;
    const signed = `v1.ed25519.${key["kid"]}.${headers["x-webhook-timestamp"]}.${headers["x-webhook-event-id"]}.`;
    const signature = Buffer.from(headers["x-webhook-signature"]!, "hex");
    expect(
      verify(null, Buffer.concat([Buffer.from(signed), body]), createPublicKey({ key, format: "jwk" }), signature),
    ).toBe(true);
    expect(Math.abs(Date.now() - Number(headers["x-webhook-timestamp"]))).toBeLessThan(60_000);
    expect((await judge(lab, json)).verdict).toBe("verified");
  });

  it(
    "comes of every activity after the webhook was set, the children's too, and no more once it is " + "unset",
    async () => {
      await register(lab, url);
      const { childOrganizationId, child } = lab;
      const again = await register(lab, url);
      const ofChild = await completed(
        submit(
          lab,
          "updateWallet",
          { walletId: child.walletId },
          { organizationId: childOrganizationId, key: child.apiKey },
        ),
      );
      const unset = await register(lab, "");
      await renameWallet(lab, "untold");
      await lab.deliveriesSettled();
      expect(received.map(({ json }) => json["id"]).sort()).toEqual([again["id"], ofChild["id"], unset["id"]].sort());
    },
  );

  it("goes to the child's own webhook too", async () => {
    const sending = { organizationId: lab.childOrganizationId, key: lab.child.apiKey };
    await register(lab, url, sending);
    await completed(submit(lab, "updateWallet", { walletId: lab.child.walletId }, sending));
    await renameWallet(lab, "the parent's own business");
    await register(lab, "", sending);
    await lab.deliveriesSettled();
    expect(received.map(({ json }) => json["organizationId"])).toEqual([
      lab.childOrganizationId,
      lab.childOrganizationId,
    ]);
  });
});

describe("an endpoint", () => {
  it("gets activities from the next one on, while it is active", async () => {
    const made = await completed(submit(lab, "createWebhookEndpoint", { url, name: "e" }));
    const { endpointId, webhookEndpoint } = made["result"].createWebhookEndpointResult;
    expect(webhookEndpoint).toMatchObject({ endpointId, url, name: "e", isActive: true });
    const renamed = await renameWallet(lab, "to an endpoint");
    await completed(submit(lab, "updateWebhookEndpoint", { endpointId, isActive: false }));
    await completed(submit(lab, "deleteWebhookEndpoint", { endpointId }));
    await lab.deliveriesSettled();
    expect(received.map(({ json }) => json["id"])).toEqual([renamed["id"], expect.any(String)]);
    const elsewhere = submit(lab, "createWebhookEndpoint", { url: "https://example.org/", name: "e" });
    expect((await elsewhere).status).toBe(400);
  });
});

describe("a receiver", () => {
  const deliverOne = async (): Promise<void> => {
    await register(lab, url);
    await renameWallet(lab, `delivery at ${Date.now()}`);
    await lab.deliveriesSettled();
  };

  it("that fails gets a retry with the same event and a new time", async () => {
    answers = [500, "hang up", 503, 204];
    await deliverOne();
    expect(attempts.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 500],
      [2, null],
      [3, 503],
      [4, 204],
    ]);
    expect(waits).toEqual([500, 1000, 2000]);
    expect(new Set(received.map(({ headers }) => headers["x-webhook-event-id"])).size).toBe(1);
    expect(new Set(received.map(({ body }) => body.toString())).size).toBe(1);
  });

  it("that keeps failing is abandoned", async () => {
    answers = Array.from({ length: 20 }, () => 500);
    await deliverOne();
    expect(attempts).toHaveLength(6);
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000]);
  });

  it.each([400, 401, 404, 410, 429, 302])("that returns %d gets no retry", async (status) => {
    answers = [status];
    await deliverOne();
    expect(attempts.map((attempt) => attempt.status)).toEqual([status]);
    expect(received).toHaveLength(1);
  });

  it("that is gone does not stop the service", async () => {
    await register(lab, "http://127.0.0.1:1/");
    await renameWallet(lab, "nobody listens");
    await lab.deliveriesSettled();
    expect(attempts.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => null));
  });

  it("that waits beside many others warns of no leak", async () => {
    const warnings: Error[] = [];
    const keep = (warning: Error): void => void warnings.push(warning);
    process.on("warning", keep);
    const made: DeliveryAttempt[] = [];
    const other = await startLab({ onDelivery: (attempt) => made.push(attempt) });
    await register(other, "http://127.0.0.1:1/");
    for (let count = 0; count < 12; count++) await renameWallet(other, `waiting ${count}`);
    await expect.poll(() => made.length, { timeout: 30_000 }).toBeGreaterThanOrEqual(12);
    await other.close();
    process.off("warning", keep);
    expect(warnings).toEqual([]);
  });

  it("that hangs does not delay the end of the lab", async () => {
    const silent = await loopback(() => {});
    const other = await startLab();
    await register(other, silent.url);
    await renameWallet(other, "into the void");
    // Where it were waited for, this would run into the limit of the test.
    await other.close();
    await silent.close();
  });
});

describe("a URL", () => {
  it.each([
    "https://example.com/hook",
    "http://169.254.169.254/",
    "http://0.0.0.0/",
    "http://127.0.0.1.example.com/",
    "ftp://127.0.0.1/",
    "file:///etc/passwd",
    "hook",
    "http://[::2]/",
  ])("%s is refused with the reason", async (value) => {
    const { status, body } = await submit(lab, "setOrganizationFeature", { name: "FEATURE_NAME_WEBHOOK", value });
    expect(status).toBe(400);
    expect(body["message"]).toMatch(/loopback|http or https/);
  });

  it.each(["http://localhost:1/", "http://127.0.0.2:1/", "http://[::1]:1/", "https://127.0.0.1:1/hook"])(
    "%s is accepted",
    async (value) => {
      await register(lab, value);
    },
  );
});
