/** Webhook deliveries are accepted once, and refused after any change of what was signed. */
import { describe, expect, it } from "vitest";
import {
  type Delivery,
  type EventStore,
  MemoryEventStore,
  WebhookError,
  type WebhookHandlerOptions,
  type WebhookInput,
  verifyWebhook,
  webhookHandler,
} from "../../src/client/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { ed25519Point } from "../../src/lab/keys.js";
import { AttestedService, type Lies, policyOf } from "./attested.js";
import { ACTIVITY, JWKS, type Parts, delivered, jwk, key, other } from "./deliveries.js";
import { AT, ORGANIZATION, rejectionOf } from "./support.js";

/** Verifies with a store of its own. */
async function verify(input: Partial<WebhookInput>): Promise<Delivery> {
  return verifyWebhook({ ...delivered(), jwks: JWKS, now: AT, store: new MemoryEventStore(), ...input });
}

describe("a delivery", () => {
  it("is accepted, its activity typed and whole", async () => {
    expect(await verify({})).toEqual({ eventId: "e1", keyId: "k1", timestamp: AT, activity: ACTIVITY, json: ACTIVITY });
  });

  const headers = delivered().headers;
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const forms: [string, Partial<WebhookInput>][] = [
    ["as Headers", { headers: new Headers(headers) }],
    ["in lower case", { headers: lower }],
    [
      "each in an array",
      { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])) },
    ],
    ["among others", { headers: { ...lower, host: "hooks.test", "x-forwarded-for": ["a", "b"], absent: undefined } }],
    [
      "with the signature in upper case",
      { headers: { ...headers, "X-Webhook-Signature": headers["X-Webhook-Signature"]!.toUpperCase() } },
    ],
    ["behind the vendor's prefix", { ...delivered({ prefix: "X-Vendor-" }), headerPrefix: "x-vendor-" }],
    ["with its body as text", { rawBody: JSON.stringify(ACTIVITY) }],
    ["with its activity in a wrapper", delivered({ body: JSON.stringify({ activity: ACTIVITY }) })],
    ["at the end of the tolerance", { now: new Date(AT.getTime() + 300_000) }],
    ["from a clock that is ahead", { now: new Date(AT.getTime() - 300_000) }],
    ["signed with another key of the set", delivered({ keyId: "old", pair: other })],
    ["under a key without alg and use", { jwks: { keys: [jwk(key, "k1", { alg: undefined, use: undefined })] } }],
  ];
  it.each(forms)("is accepted with its headers or body %s", async (_, input) => {
    expect((await verify(input)).activity).toEqual(ACTIVITY);
  });

  const without = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name));
  const put = (name: string, value: string): Partial<WebhookInput> => ({
    headers: { ...headers, [`X-Webhook-${name}`]: value },
  });
  const resigned = (parts: Parts): Partial<WebhookInput> => delivered(parts);
  const body = JSON.stringify(ACTIVITY);

  const attacks: [string, Partial<WebhookInput>, WebhookError["fault"]][] = [
    ["a changed body", { rawBody: Buffer.from(body.replace("PENDING", "COMPLETED")) }, "signature"],
    ["an empty body", { rawBody: new Uint8Array() }, "signature"],
    [
      "a body parsed and written again",
      { ...delivered({ body: JSON.stringify(ACTIVITY, null, 1) }), rawBody: Buffer.from(body) },
      "signature",
    ],
    ["another event's id", put("Event-Id", "e2"), "signature"],
    ["another time", put("Timestamp", String(AT.getTime() + 1)), "signature"],
    ["a key that is not an Ed25519 key", put("Signature-Key-Id", "rsa"), "key"],
    ["another's signature", resigned({ pair: other }), "signature"],
    [
      "a signature with one bit turned over",
      put(
        "Signature",
        headers["X-Webhook-Signature"]!.replace(/^./, (digit) => (parseInt(digit, 16) ^ 1).toString(16)),
      ),
      "signature",
    ],
    [
      "a signature with its scalar out of range",
      put("Signature", headers["X-Webhook-Signature"]!.slice(0, 64) + "ff".repeat(32)),
      "signature",
    ],
    ["a signature cut short", put("Signature", headers["X-Webhook-Signature"]!.slice(2)), "header"],
    [
      "a signature in base64",
      put("Signature", Buffer.from(headers["X-Webhook-Signature"]!, "hex").toString("base64")),
      "header",
    ],
    ["another version, signed as such", resigned({ version: "v2" }), "version"],
    ["a version in upper case", put("Signature-Version", "V1"), "version"],
    ["another algorithm, signed as such", resigned({ algorithm: "none" }), "algorithm"],
    ["too late", { now: new Date(AT.getTime() + 300_001) }, "stale"],
    ["from the future", { now: new Date(AT.getTime() - 300_001) }, "stale"],
    ["later than a tolerance of its own", { now: new Date(AT.getTime() + 1001), toleranceMs: 1000 }, "stale"],
    ["a time in seconds", resigned({ timestamp: String(AT.getTime() / 1000) }), "stale"],
    ["a time in another spelling", resigned({ timestamp: `0${AT.getTime()}` }), "header"],
    ["a time that is none", resigned({ timestamp: AT.toISOString() }), "header"],
    ["an event's id with a dot: the parts could be shifted", resigned({ eventId: 'e1.{"id"' }), "header"],
    ["a key's id with a dot", { ...resigned({ keyId: "k1.1" }), jwks: { keys: [jwk(key, "k1.1")] } }, "header"],
    ["an empty event's id", resigned({ eventId: "" }), "header"],
    ["an endless event's id", resigned({ eventId: "e".repeat(257) }), "header"],
    ...Object.keys(headers).map((name): [string, Partial<WebhookInput>, WebhookError["fault"]] => [
      `no ${name}`,
      { headers: without(name) },
      "header",
    ]),
    ...Object.keys(headers).map((name): [string, Partial<WebhookInput>, WebhookError["fault"]] => [
      `${name} in two cases`,
      { headers: { ...headers, [name.toLowerCase()]: headers[name]! } },
      "header",
    ]),
    ["a header twice in an array", { headers: { ...headers, "X-Webhook-Event-Id": ["e1", "e1"] } }, "header"],
    ["a header twice, joined by a comma", put("Event-Id", "e1, e1"), "header"],
    [
      "a header twice in Headers",
      { headers: ((twice) => (twice.append("X-Webhook-Signature", "00"), twice))(new Headers(headers)) },
      "header",
    ],
    ["headers behind another prefix", delivered({ prefix: "X-Other-" }), "header"],
    ["a body that is not JSON", resigned({ body: "activity" }), "body"],
    ["a body with a member twice", resigned({ body: body.replace("{", '{"id":"a0",') }), "body"],
    ["a body that is not UTF-8", resigned({ body: Uint8Array.of(0x22, 0xff, 0x22) }), "body"],
    ["a body that is not an activity", resigned({ body: '{"id":"a1"}' }), "body"],
    ["a body with boot proofs beside its activity", resigned({ body: `{"activity":${body},"bootProofs":[]}` }), "body"],
    ["no key set", { jwks: undefined }, "key"],
    ["a key set of another form", { jwks: [jwk(key, "k1")] }, "key"],
    ["a key set with the id twice", { jwks: { keys: [jwk(key, "k1"), jwk(key, "k1")] } }, "key"],
    ["a key for another curve", { jwks: { keys: [jwk(key, "k1", { crv: "X25519" })] } }, "key"],
    ["a key of another type", { jwks: { keys: [jwk(key, "k1", { kty: "EC" })] } }, "key"],
    ["a key for another algorithm", { jwks: { keys: [jwk(key, "k1", { alg: "ES256" })] } }, "key"],
    ["a key for encryption", { jwks: { keys: [jwk(key, "k1", { use: "enc" })] } }, "key"],
    [
      "a key of 31 bytes",
      { jwks: { keys: [jwk(key, "k1", { x: Buffer.alloc(31, 1).toString("base64url") })] } },
      "key",
    ],
    ["a key with padding", { jwks: { keys: [jwk(key, "k1", { x: `${ed25519Point(key)}=` })] } }, "key"],
    ["a key without x", { jwks: { keys: [jwk(key, "k1", { x: undefined })] } }, "key"],
    ["a key whose private half is published", { jwks: { keys: [jwk(key, "k1", { d: "AAAA" })] } }, "key"],
    [
      "entries of the key set that are none",
      { jwks: { keys: [null, "k1", { ...jwk(key, "k1"), kid: ["k1"] }] } },
      "key",
    ],
  ];
  it.each(attacks)("is refused with %s", async (_, input, fault) => {
    const store = new MemoryEventStore();
    const error = await rejectionOf<WebhookError>(verify({ ...input, store }));
    expect(error).toBeInstanceOf(WebhookError);
    expect(error).toMatchObject({ name: "WebhookError", code: "webhook", fault });
    // Only a signer can use up an event.
    expect((await verify({ store })).eventId).toBe("e1");
  });

  it("throws TypeError for an invalid clock", async () => {
    await expect(verify({ now: new Date(NaN) })).rejects.toThrow(TypeError);
  });
});

describe("an event", () => {
  const again = async (store: EventStore, now: Date, parts: Parts = {}): Promise<Delivery> =>
    verifyWebhook({ ...delivered(parts), jwks: JWKS, now, store });

  it("is accepted once, also when it is signed anew, and also at once", async () => {
    const store = new MemoryEventStore();
    await again(store, AT);
    expect(await rejectionOf(again(store, AT))).toMatchObject({ fault: "replayed", eventId: "e1" });
    const later = new Date(AT.getTime() + 3_600_000);
    expect(await rejectionOf(again(store, later, { timestamp: String(later.getTime()) }))).toMatchObject({
      fault: "replayed",
    });
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => again(store, AT, { eventId: "e2" })));
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("is remembered by the process without a store", async () => {
    const input = { ...delivered({ eventId: "process-wide" }), jwks: JWKS, now: AT };
    await verifyWebhook(input);
    expect(await rejectionOf(verifyWebhook(input))).toMatchObject({ fault: "replayed" });
  });

  it("is forgotten after its time, and never before it is stale", async () => {
    const store = new MemoryEventStore();
    const claims: number[] = [];
    const noting: EventStore = {
      claim: (id, until, now) => (claims.push(until.getTime() - now.getTime()), store.claim(id, until, now)),
      release: () => {},
    };
    const day = 86_400_000;
    await again(noting, AT);
    expect(
      await rejectionOf(again(noting, new Date(AT.getTime() + day - 1), { timestamp: String(AT.getTime() + day - 1) })),
    ).toMatchObject({ fault: "replayed" });
    await again(noting, new Date(AT.getTime() + day), { timestamp: String(AT.getTime() + day) });
    expect(claims[0]).toBe(day);
    await verify({ store: noting, rememberMs: 0, ...delivered({ eventId: "e3" }) });
    expect(claims.at(-1)).toBe(600_000);
  });

  it("is refused if the store is full of recent events", async () => {
    const store = new MemoryEventStore(2);
    await again(store, AT, { eventId: "e1" });
    await again(store, AT, { eventId: "e2" });
    expect(await rejectionOf(again(store, AT, { eventId: "e3" }))).toMatchObject({ fault: "full" });
    expect(await rejectionOf(again(store, AT, { eventId: "e1" }))).toMatchObject({ fault: "replayed" });
    store.release("e1");
    await again(store, AT, { eventId: "e3" });
    const tomorrow = AT.getTime() + 86_400_000;
    await again(store, new Date(tomorrow), { eventId: "e4", timestamp: String(tomorrow) });
  });
});

describe("a handler", () => {
  const child = "11111111-1111-4111-8111-111111111111";

  interface Setting {
    readonly service: AttestedService;
    readonly activity: JsonObject;
    readonly seen: string[];
    readonly errors: unknown[];
    readonly post: (parts?: Parts, changes?: RequestInit) => Promise<number>;
  }

  /** A handler for the activity of an attested service. */
  async function setting(options: Partial<WebhookHandlerOptions> = {}, lies: Lies = {}): Promise<Setting> {
    const service = new AttestedService(lies);
    const client = await service.client();
    await client.updateWallet({ walletId: "w1" }, { generateAppProofs: true });
    const activity = service.activities[0]!;
    const seen: string[] = [];
    const errors: unknown[] = [];
    const handle = webhookHandler({
      verified: client.withVerification(policyOf()),
      organizationIds: [ORGANIZATION],
      jwks: JWKS,
      now: () => service.now,
      onVerified: (delivery, call) =>
        void seen.push(`verified ${delivery.eventId} ${call.report.verdict} ${JSON.stringify(call.result)}`),
      onRejected: (delivery, error) =>
        void seen.push(`rejected ${delivery.eventId} ${error.failures.map(({ id }) => id).join()}`),
      onError: (error) => void errors.push(error),
      ...options,
    });
    const post = async (parts: Parts = {}, changes: RequestInit = {}): Promise<number> => {
      const { headers, rawBody } = delivered({
        body: JSON.stringify(activity),
        timestamp: String(service.now.getTime()),
        ...parts,
      });
      const response = await handle(
        new Request("https://hooks.test/", { method: "POST", headers, body: rawBody as BodyInit, ...changes }),
      );
      expect(await response.text()).toBe("");
      return response.status;
    };
    return { service, activity, seen, errors, post };
  }

  it("passes on a proven activity once", async () => {
    const { seen, errors, post } = await setting();
    expect([await post(), await post()]).toEqual([204, 200]);
    expect(seen).toEqual(['verified e1 verified {"walletId":"w1"}']);
    expect(errors).toEqual([]);
  });

  it("passes on an unproven activity as rejected", async () => {
    const { activity, seen, post } = await setting();
    const pending = { ...activity, id: "unknown", status: "ACTIVITY_STATUS_PENDING", appProofs: null };
    expect([await post({ body: JSON.stringify(pending) }), await post({ body: JSON.stringify(pending) })]).toEqual([
      422, 200,
    ]);
    expect(seen).toEqual(["rejected e1 activity.request"]);
  });

  it("refuses an activity of somebody else", async () => {
    const { seen, errors, post } = await setting();
    expect(await post({ body: JSON.stringify({ ...ACTIVITY, organizationId: child }) })).toBe(403);
    expect([seen, errors]).toEqual([[], []]);
    expect(await post()).toBe(204);
  });

  it("requests a redelivery if the evidence cannot be fetched, and accepts it then", async () => {
    const statuses = [403, 200];
    const { seen, errors, post } = await setting(
      {},
      { bootProof: (answer) => ({ status: statuses.shift() ?? 200, body: answer }) },
    );
    expect([await post(), await post()]).toEqual([500, 204]);
    expect(errors).toMatchObject([{ code: "evidence" }]);
    expect(seen).toHaveLength(1);
  });

  it("requests a redelivery if the receiver fails", async () => {
    let broken = true;
    const { errors, post } = await setting({
      onVerified: () => {
        if (broken) throw new Error("no room");
      },
    });
    expect(await post()).toBe(500);
    broken = false;
    expect(await post()).toBe(204);
    expect(errors).toMatchObject([{ message: "no room" }]);
  });

  it("requests a redelivery while it handles the same event", async () => {
    const atWork: (() => void)[] = [];
    const { seen, post } = await setting({
      onVerified: () => new Promise<void>((resolve) => void atWork.push(resolve)),
    });
    const first = post();
    while (atWork.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await post()).toBe(503);
    atWork[0]!();
    expect([await first, await post(), seen]).toEqual([204, 200, []]);
  });

  it("fetches the keys of a delivery, and requests a redelivery without them", async () => {
    const asked: string[] = [];
    const jwks = async (keyId: string): Promise<unknown> => {
      if (asked.push(keyId) === 1) throw new Error("offline");
      return JWKS;
    };
    const { errors, post } = await setting({ jwks });
    expect([await post(), await post()]).toEqual([500, 204]);
    expect(asked).toEqual(["k1", "k1"]);
    expect(errors).toMatchObject([{ message: "offline" }]);
  });

  it.each<[name: string, headers: Record<string, string>, status: number]>([
    ["no key id", { "Signature-Key-Id": "" }, 400],
    ["another version", { "Signature-Version": "v2" }, 401],
    ["another algorithm", { "Signature-Algorithm": "none" }, 401],
    ["no signature", { Signature: "" }, 400],
  ])("looks no key up for %s", async (_, changes, status) => {
    const asked: string[] = [];
    const { service, activity, post } = await setting({ jwks: async (keyId) => (asked.push(keyId), JWKS) });
    const { headers } = delivered({ body: JSON.stringify(activity), timestamp: String(service.now.getTime()) });
    const prefixed = Object.fromEntries(Object.entries(changes).map(([name, value]) => [`X-Webhook-${name}`, value]));
    expect([await post({}, { headers: { ...headers, ...prefixed } }), asked]).toEqual([status, []]);
    expect([await post(), asked]).toEqual([204, ["k1"]]);
  });

  it("works with a store of the receiver's", async () => {
    const events = new Set<string>();
    const store: EventStore = {
      claim: async (eventId) => !events.has(eventId) && !!events.add(eventId),
      release: async (eventId) => void events.delete(eventId),
    };
    const { post } = await setting({ store }, {});
    expect([await post(), await post(), [...events]]).toEqual([204, 200, ["e1"]]);
    const offline = await setting({
      store: { claim: () => Promise.reject(new Error("store offline")), release: () => {} },
    });
    expect(await offline.post()).toBe(500);
  });
});

it.each([
  { toleranceMs: NaN },
  { toleranceMs: "5m" },
  { rememberMs: "1d" },
  { rememberMs: NaN },
  { headerPrefix: "" },
  { store: 1 },
  { tolerance: 1 },
  { rawBody: 7 },
  { rawBody: [] },
])("a call with %j is a TypeError", async (wrong) => {
  await expect(verify(wrong as never)).rejects.toThrow(TypeError);
});

it.each([
  { organizationIds: "org-1" },
  { organizationIds: [""] },
  { rememberMs: "1d" },
  { onVerfied: () => {} },
  { maxBodyBytes: -1 },
])("a handler with %j is a TypeError", (wrong) => {
  const options = {
    verified: {},
    organizationIds: ["o"],
    jwks: {},
    onVerified: () => {},
    onRejected: () => {},
    ...wrong,
  };
  expect(() => webhookHandler(options as never)).toThrow(TypeError);
});
