/** App proofs of applications: the library, verified calls and webhooks accept each form. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import {
  type Client,
  ClientError,
  type VerifyAppProofsOptions,
  fetchEvidence,
  webhookHandler,
} from "../../src/client/index.js";
import type { ReceivedAppProof } from "../../src/client/verified-app-proofs.js";
import type { SchemaResult, StandardSchema } from "../../src/client/payload-schemas.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { RejectedError, VerifiedAppProof, verifyEvidence } from "../../src/index.js";
import { type AppProofForm, proofOf, sign } from "../../src/lab/application-proofs.js";
import type { SoftwareEnclave } from "../../src/lab/enclave.js";
import { generateQosKeyPair, qosKeyPair } from "../../src/lab/qos.js";
import { AttestedService, policyOf } from "./attested.js";
import { JWKS, delivered } from "./deliveries.js";
import { ORGANIZATION, isStamped, rejectionOf } from "./support.js";

const TYPE = "APP_PROOF_TYPE_QUOTE";
const UNTIMED_TYPE = "APP_PROOF_TYPE_TIMELESS_QUOTE";
const POLICY = policyOf({ appProofs: { untimed: [UNTIMED_TYPE] } });

type Form = Readonly<Pick<Required<AppProofForm>, "key" | "signature">>;

const FORMS = (["whole", "signing-half"] as const).flatMap((key) =>
  (["raw", "der"] as const).map((signature): Form => ({ key, signature })),
);

/** As an application of the lab signs: test/lab/applications.test.ts verifies its forms by node:crypto. */
function signed({ ephemeralKey }: SoftwareEnclave, payload: string, form: Form): JsonObject {
  return proofOf(sign(ephemeralKey, payload, {}), { ...form, names: "standard" }, {}, {});
}

interface Scene {
  readonly service: AttestedService;
  readonly client: Client;
  readonly challenge: string;
  readonly payload: JsonObject;
  readonly expected: VerifyAppProofsOptions["expected"];
  readonly ephemeralKey: string;
}

async function scene(type = TYPE): Promise<Scene> {
  const service = new AttestedService();
  const challenge = randomBytes(16).toString("base64url");
  const time = type === TYPE ? { timestampMs: String(service.now.getTime()) } : {};
  const payload = { type, ...time, challenge, quote: { pair: "A/B", price: 1.5 } };
  const values = { "/challenge": challenge, "/quote/pair": "A/B" };
  const expected = { payload: [{ type, values, challenge: "/challenge" }] };
  const ephemeralKey = toHex(service.enclave.ephemeralKey.publicKey);
  return { service, client: await service.client(), challenge, payload, expected, ephemeralKey };
}

/** The ids of the failed checks; "verified" without one; the code of a ClientError. */
type Outcome = string;

async function byLibrary({ service, expected }: Scene, appProof: JsonObject): Promise<Outcome> {
  const bootProofs = [...service.bootProofs.values()];
  const { report } = await verifyEvidence(
    { bootProofs, appProofs: [appProof] },
    { policy: POLICY, now: service.now, expected },
  );
  const failed = report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
  return failed.length === 0 ? report.verdict : failed.join();
}

function failedOf(error: unknown): Outcome {
  if (error instanceof RejectedError) return error.failures.map(({ id }) => id).join();
  return error instanceof ClientError ? error.code : String(error);
}

async function byClient({ client, expected, ephemeralKey }: Scene, appProof: JsonObject): Promise<Outcome> {
  const isHalf = String(appProof["publicKey"]).length === 130;
  const received = isHalf ? { appProof, ephemeralKey } : { appProof };
  const call = client.withVerification(POLICY).verifyAppProofs([received], { expected });
  return call.then(({ report }) => report.verdict, failedOf);
}

/** The app proof beside the service's own, whose whole key is the same. */
async function byWebhook({ service, client }: Scene, appProof: JsonObject): Promise<Outcome> {
  await client.updateWallet({ walletId: "w1" }, { generateAppProofs: true });
  const activity = service.activities.at(-1)!;
  const proofs = activity["appProofs"] as JsonValue[];
  let seen: Outcome = "";
  const handle = webhookHandler({
    verified: client.withVerification(POLICY),
    organizationIds: [ORGANIZATION],
    jwks: JWKS,
    now: () => service.now,
    onVerified: (_, { report }) => void (seen = report.verdict),
    onRejected: (_, error) => void (seen = failedOf(error)),
  });
  const body = JSON.stringify({ ...activity, appProofs: [...proofs, appProof] });
  const { headers, rawBody } = delivered({ body, timestamp: String(service.now.getTime()) });
  await handle(new Request("https://hooks.test/", { method: "POST", headers, body: rawBody as BodyInit }));
  return seen;
}

it.each(FORMS)("an app proof is verified by the library, a client and a webhook: %j", async (form) => {
  const here = await scene();
  const proof = signed(here.service.enclave, JSON.stringify(here.payload), form);
  for (const verdictBy of [byLibrary, byClient, byWebhook]) expect(await verdictBy(here, proof)).toBe("verified");
});

const HALF = { key: "signing-half", signature: "der" } as const;
const WHOLE = { key: "whole", signature: "raw" } as const;

interface Received extends Scene {
  readonly received: readonly [ReceivedAppProof];
}

/** With a proof of this form, as an application would return it. */
async function answered(form: Form = WHOLE, change: JsonObject = {}): Promise<Received> {
  const here = await scene();
  const appProof = signed(here.service.enclave, JSON.stringify({ ...here.payload, ...change }), form);
  return { ...here, received: [{ appProof }] };
}

describe("verified app proofs", () => {
  it("are returned as signed, with the expectation that they met and the challenge", async () => {
    const { client, received, expected, payload, challenge, service, ephemeralKey } = await answered();
    const verified = client.withVerification(POLICY);
    const { report, payloads, others } = await verified.verifyAppProofs(received, { expected });
    expect(report).toMatchObject({ verdict: "verified", policy: "lab" });
    expect(others).toEqual([]);
    expect(payloads).toHaveLength(1);
    const [quote] = payloads;
    expect(quote).toMatchObject({
      type: TYPE,
      payload,
      timestampMs: service.now.getTime(),
      expectation: 0,
      answers: { pointer: "/challenge", value: challenge },
    });
    expect(quote).toHaveProperty("value", undefined);
    expect(VerifiedAppProof.isVerified(quote!.appProof)).toBe(true);
    expect(service.asked).toEqual([ephemeralKey]);
    expect(service.requests.every(({ headers, raw }) => isStamped(headers["x-stamp"] as string, raw))).toBe(true);
  });

  it.each<[string, (proof: JsonObject) => unknown]>([
    ["text", (proof) => JSON.stringify(proof)],
    ["bytes", (proof) => Buffer.from(JSON.stringify(proof))],
  ])("may be %s", async (_, formOf) => {
    const { client, received, expected } = await answered();
    const appProof = formOf(received[0].appProof as JsonObject);
    const { payloads } = await client.withVerification(POLICY).verifyAppProofs([{ appProof }], { expected });
    expect(payloads).toHaveLength(1);
  });

  it("have a null time where the policy lets their type have none", async () => {
    const here = await scene(UNTIMED_TYPE);
    const appProof = signed(here.service.enclave, JSON.stringify(here.payload), WHOLE);
    const call = here.client.withVerification(POLICY).verifyAppProofs([{ appProof }], { expected: here.expected });
    expect((await call).payloads[0]!.timestampMs).toBeNull();
  });

  it("of one key need one fetch, and none while their boot proof is remembered", async () => {
    const { client, service, received, expected, payload } = await answered();
    const again = signed(service.enclave, JSON.stringify({ ...payload, more: 1 }), HALF);
    const ephemeralKey = service.enclave.ephemeralKey.publicKey;
    const verified = client.withVerification(POLICY);
    const both = [...received, { appProof: again, ephemeralKey }];
    const { payloads } = await verified.verifyAppProofs(both, { expected });
    expect(payloads.map(({ payload: { more } }) => more)).toEqual([undefined, 1]);
    await verified.verifyAppProofs([{ appProof: again }], { expected });
    expect(service.asked).toHaveLength(1);
  });

  it("of one key may be more than 16", async () => {
    const { client, received, expected } = await answered();
    const many = Array.from({ length: 17 }, () => received[0]);
    expect((await client.withVerification(POLICY).verifyAppProofs(many, { expected })).payloads).toHaveLength(17);
  });

  it("may name the halves of several remembered keys", async () => {
    const { client, service, received, expected, payload } = await answered();
    const enclaves = [service.enclave, service.boot()];
    const proofs = (form: Form): ReceivedAppProof[] =>
      enclaves.map((each) => ({ appProof: signed(each, JSON.stringify(payload), form) }));
    const verified = client.withVerification(POLICY);
    await verified.verifyAppProofs([...received, ...proofs(WHOLE)], { expected });
    const { payloads } = await verified.verifyAppProofs(proofs(HALF), { expected });
    expect(payloads.map(({ appProof }) => appProof.bootProof.ephemeralKey)).toEqual(
      enclaves.map(({ ephemeralKey }) => ephemeralKey.publicKey),
    );
    expect(service.asked).toHaveLength(2);
  });

  it("is not found by a half that remembered boot proofs of two keys attest", async () => {
    const { client, service, received, expected, payload } = await answered();
    const { encryption } = generateQosKeyPair();
    const other = service.boot(qosKeyPair(encryption, service.enclave.ephemeralKey.signing));
    const verified = client.withVerification(POLICY);
    await verified.verifyAppProofs(received, { expected });
    const whole = signed(other, JSON.stringify(payload), WHOLE);
    await verified.verifyAppProofs([{ appProof: whole }], { expected });
    const half = signed(service.enclave, JSON.stringify(payload), HALF);
    const call = verified.verifyAppProofs([{ appProof: half }], { expected });
    await expect(call).rejects.toMatchObject({ code: "ephemeral-key" });
  });

  it("of a type that no expectation names are listed apart, wherever they are", async () => {
    const { client, service, received, expected } = await answered();
    const other = { type: "APP_PROOF_TYPE_OTHER", timestampMs: String(service.now.getTime()), challenge: "mine" };
    const proofs = [other, service.allow()].map((payload) => ({ appProof: service.enclave.appProof(payload) }));
    const verified = client.withVerification(POLICY);
    const { payloads, others } = await verified.verifyAppProofs([...proofs, ...received], { expected });
    expect(payloads.map(({ type, expectation }) => [type, expectation])).toEqual([[TYPE, 0]]);
    expect(others.map(({ payload }) => payload.type)).toEqual([other.type, "APP_PROOF_TYPE_POLICY_OUTCOME"]);
    // Of the known types, the organization is compared.
    const organizationId = ORGANIZATION;
    const owned = await verified.verifyAppProofs(proofs, { expected: { organizationId } });
    expect(owned.payloads.map(({ type, expectation }) => [type, expectation])).toEqual([
      ["APP_PROOF_TYPE_POLICY_OUTCOME", null],
    ]);
    expect(owned.others).toHaveLength(1);
  });

  it("are refused if the service returns the boot proof of another key", async () => {
    const { client, received, expected, service, ephemeralKey } = await answered();
    service.boot();
    service.bootProofs.set(ephemeralKey, [...service.bootProofs.values()].at(-1)!);
    const failed = await client.withVerification(POLICY).verifyAppProofs(received, { expected }).catch(failedOf);
    expect(failed).toContain("bind.key");
  });
});

describe("a signing half", () => {
  const hexOf = (key: Uint8Array): string => toHex(key);
  it.each<[string, (key: Uint8Array) => string | Uint8Array]>([
    ["hex", hexOf],
    ["upper-case hex", (key) => hexOf(key).toUpperCase()],
    ["bytes", (key) => new Uint8Array(key)],
  ])("is looked up by the key beside it, as %s", async (_, formOf) => {
    const { client, service, received, expected, ephemeralKey: asked } = await answered(HALF);
    const [{ appProof }] = received;
    const ephemeralKey = formOf(service.enclave.ephemeralKey.publicKey);
    await client.withVerification(POLICY).verifyAppProofs([{ appProof, ephemeralKey }], { expected });
    expect(service.asked).toEqual([asked]);
  });

  it("alone is refused before anything is sent, with a code", async () => {
    const { client, service, received, expected } = await answered(HALF);
    const error = await rejectionOf<ClientError>(
      client.withVerification(POLICY).verifyAppProofs(received, { expected }),
    );
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({ code: "ephemeral-key", effect: "none" });
    expect(error.message).toMatch(/^not sent: appProofs\[0\]: .* Pass the 130 bytes of the key as ephemeralKey$/);
    expect(service.requests).toEqual([]);
  });

  it("is matched with a verified boot proof of an earlier call, an activity's too", async () => {
    const { client, service, received, expected } = await answered(HALF);
    const verified = client.withVerification(POLICY);
    await verified.updateWallet({ walletId: "w1" });
    const { payloads } = await verified.verifyAppProofs(received, { expected });
    expect(payloads).toHaveLength(1);
    expect(service.asked).toHaveLength(1);
    // Fetched again by its whole key when it is too old.
    const hasty = client.withVerification(POLICY, { bootProofMaxAgeMs: 0 });
    await hasty.updateWallet({ walletId: "w1" });
    service.clock += 1;
    await hasty.verifyAppProofs(received, { expected });
    expect(service.asked).toHaveLength(3);
  });

  it("is not matched with a key that no boot proof attests, whoever asked for it", async () => {
    const { client, service, received, expected, ephemeralKey } = await answered(HALF);
    const [{ appProof }] = received;
    const verified = client.withVerification(POLICY);
    const forgedKey = ephemeralKey.slice(130) + ephemeralKey.slice(130);
    // The service returns the genuine boot proof for the forged key, which it does not attest.
    service.bootProofs.set(forgedKey, service.bootProofs.get(ephemeralKey)!);
    const refused = verified.verifyAppProofs([{ appProof, ephemeralKey: forgedKey }], { expected });
    const waiting = verified.verifyAppProofs(received, { expected });
    expect(await waiting.catch(failedOf)).toBe("ephemeral-key");
    expect(await refused.catch(failedOf)).toContain("bind.key");
    expect(await verified.verifyAppProofs(received, { expected }).catch(failedOf)).toBe("ephemeral-key");
    expect(service.asked).toEqual([forgedKey]);
  });

  it("in an activity needs the whole key in another app proof, or a remembered boot proof", async () => {
    const here = await scene();
    const { client, service, payload } = here;
    const half = signed(service.enclave, JSON.stringify(payload), HALF);
    await client.updateWallet({ walletId: "w1" }, { generateAppProofs: true });
    const activity = service.activities[0]!;
    const allowed = (activity["appProofs"] as JsonObject[])[0]!;
    const halved = { ...allowed, publicKey: String(allowed["publicKey"]).slice(130) };
    const verified = client.withVerification(POLICY);
    const alone = { ...activity, appProofs: [halved, half] };
    expect(await verified.verifyActivity(alone).catch(failedOf)).toBe("app.key,app.key");
    expect(service.asked).toEqual([]);
    const both = { ...activity, appProofs: [half, allowed] };
    const { bootProofs, missing } = await fetchEvidence(both, async (key) => Promise.resolve(key));
    expect([bootProofs.map(({ key }) => key), missing]).toEqual([[here.ephemeralKey], []]);
    await verified.verifyActivity(both);
    await verified.verifyActivity(alone);
    expect(service.asked).toHaveLength(1);
  });
});

describe("a call for app proofs", () => {
  type Call = (here: Received) => readonly [unknown, unknown?];
  it.each<[string, Call, RegExp]>([
    ["an empty list", ({ expected }) => [[], { expected }], /^appProofs: expected at least one app proof/],
    ["no expectation", ({ received }) => [received, {}], /^options.expected: expected an object, with/],
    ["an empty one", ({ received }) => [received, { expected: {} }], /^expected.organizationId: /],
    ["no payloads", ({ received }) => [received, { expected: { payload: [] } }], /^options.expected.payload: /],
    [
      "an inherited one",
      ({ received, expected }) => [received, Object.create({ expected })],
      /^options.expected: inherited/,
    ],
    [
      "one about an activity",
      ({ received, expected }) => [received, { expected: { ...expected, id: "a1" } }],
      /^options.expected.id: unknown/,
    ],
    [
      "a bare app proof",
      ({ received, expected }) => [[received[0].appProof], { expected }],
      /^appProofs\[0\].\w+: unknown/,
    ],
    [
      "no schema",
      ({ received, expected }) => [received, { expected, schemas: { [TYPE]: {} } }],
      /^schemas.APP_PROOF_TYPE_QUOTE: expected a Standard Schema of version 1/,
    ],
    [
      "a schema of another version",
      ({ received, expected }) => [
        received,
        { expected, schemas: { [TYPE]: { "~standard": { ...ANY["~standard"], version: 2 } } } },
      ],
      /expected a Standard Schema of version 1/,
    ],
  ])("throws TypeError for %s, and sends nothing", async (_, argumentsOf, message) => {
    const here = await answered();
    const error = await rejectionOf<TypeError>(
      here.client.withVerification(POLICY).verifyAppProofs(...(argumentsOf(here) as [[], never])),
    );
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(message);
    expect(here.service.requests).toEqual([]);
  });

  it("throws RangeError for app proofs of more than 16 keys, or more than 2,048", async () => {
    const { client, service, received, expected } = await answered();
    const key = (index: number): string => index.toString(16).padStart(2, "0").repeat(130);
    const many = Array.from({ length: 17 }, (_, index) => ({
      appProof: { ...(received[0].appProof as JsonObject), publicKey: key(index) },
    }));
    const verified = client.withVerification(POLICY);
    await expect(verified.verifyAppProofs(many, { expected })).rejects.toThrow(
      /^app proofs of 17 keys: expected at most 16/,
    );
    const all = Array.from({ length: 2049 }, () => received[0]);
    await expect(verified.verifyAppProofs(all, { expected })).rejects.toThrow(RangeError);
    expect(service.requests).toEqual([]);
    expect(await verified.verifyAppProofs(many.slice(1), { expected }).catch(failedOf)).toContain("app.key");
  });

  it("names the evidence and the cause if a boot proof cannot be fetched, and may be made again", async () => {
    const { received, expected, service } = await answered();
    let isDown = true;
    const fetch = (async (...request: Parameters<typeof globalThis.fetch>) => {
      if (isDown) throw new TypeError("down");
      return service.fetch(...request);
    }) as typeof globalThis.fetch;
    const verified = (await service.client({ fetch })).withVerification(POLICY);
    const error = await rejectionOf<ClientError>(verified.verifyAppProofs(received, { expected }));
    expect(error).toMatchObject({ code: "evidence", effect: "none", cause: { code: "unreachable" } });
    expect(error.message).toMatch(/^the boot proofs of the app proofs could not be fetched \(get_boot_proof: /);
    isDown = false;
    expect((await verified.verifyAppProofs(received, { expected })).payloads).toHaveLength(1);
  });

  it("ends when its signal is aborted, without the fetch of others", async () => {
    const { client, received, expected, service } = await answered();
    const verified = client.withVerification(POLICY);
    const aborted = verified.verifyAppProofs(received, { expected, signal: AbortSignal.abort() });
    const other = verified.verifyAppProofs(received, { expected });
    expect(await rejectionOf<ClientError>(aborted)).toMatchObject({ code: "aborted" });
    expect((await other).payloads).toHaveLength(1);
    expect(service.asked).toHaveLength(1);
  });

  it("is verified at its own time, with boot proofs of before", async () => {
    const { client, received, expected, service } = await answered();
    const verified = client.withVerification(policyOf({ appProofs: { maxAge: "1h" } }));
    await verified.verifyAppProofs(received, { expected });
    service.clock += 2 * 3_600_000;
    expect(await verified.verifyAppProofs(received, { expected }).catch(failedOf)).toBe("policy.app-proof");
  });
});

interface Quote {
  readonly pair: string;
  readonly cents: number;
}

function schemaOf<Output>(
  validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>,
): StandardSchema<Output> {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

const ANY = schemaOf((value) => ({ value }));
const QUOTE = schemaOf<Quote>((value) => {
  const { quote } = value as { readonly quote?: { readonly pair?: string; readonly price?: unknown } };
  if (typeof quote?.price === "number") return { value: { pair: quote.pair!, cents: quote.price * 100 } };
  return { issues: [{ message: "expected a number", path: ["quote", { key: "price" }] }] };
});

describe("a schema of the caller's", () => {
  it("gives a typed value beside the signed payload", async () => {
    const { client, received, expected, payload } = await answered();
    const verified = client.withVerification(POLICY);
    const { payloads } = await verified.verifyAppProofs(received, { expected, schemas: { [TYPE]: QUOTE } });
    const [quote] = payloads;
    if (quote?.type !== TYPE) throw new Error("no quote");
    const value: Quote = quote.value;
    expect(value).toEqual({ pair: "A/B", cents: 150 });
    expect(quote.payload).toEqual(payload);
    // @ts-expect-error: only payloads of types with a schema have a value.
    const other: Quote = payloads[0]!.value;
    expect(other).toBe(value);
  });

  it("may be a function, inherit its members, and be asynchronous", async () => {
    const { client, received, expected } = await answered();
    class Schema {
      readonly factor = 2;
      get "~standard"(): StandardSchema<number>["~standard"] {
        return { version: 1, vendor: "test", validate: async () => Promise.resolve({ value: this.factor }) };
      }
    }
    const asFunction = Object.assign(() => {}, QUOTE);
    const bound = {
      version: 1 as const,
      vendor: "test",
      validate(this: { readonly vendor: string }) {
        return { value: this.vendor };
      },
    };
    for (const [schema, value] of [
      [new Schema(), 2],
      [{ "~standard": bound }, "test"],
      [asFunction, { pair: "A/B", cents: 150 }],
    ] as const) {
      const call = client.withVerification(POLICY).verifyAppProofs(received, { expected, schemas: { [TYPE]: schema } });
      expect((await call).payloads[0]!.value).toEqual(value);
    }
  });

  it.each(["at once", "later"])("that changes its input %s does not change the payload", async (when) => {
    const { client, received, expected, payload } = await answered();
    const greedy = schemaOf(async (value) => {
      if (when === "later") await new Promise((resolve) => setImmediate(resolve));
      const { quote } = value as { quote: { price: number } };
      quote.price = 0;
      return { value };
    });
    const call = client.withVerification(POLICY).verifyAppProofs(received, { expected, schemas: { [TYPE]: greedy } });
    const [quote] = (await call).payloads;
    expect(quote!.payload).toEqual(payload);
    expect(quote!.appProof.payload.json).toEqual(payload);
    expect(quote!.value).toMatchObject({ quote: { price: 0 } });
  });

  it("gets each payload of its type, and no other", async () => {
    const { client, service, received, expected } = await answered();
    const seen: unknown[] = [];
    const schema = schemaOf((value) => ({ value: seen.push(value) }));
    const appProof = service.enclave.appProof(service.allow());
    const proofs = [{ appProof }, ...received, ...received];
    const schemas = { [TYPE]: schema, APP_PROOF_TYPE_POLICY_OUTCOME: schema };
    const { payloads } = await client.withVerification(POLICY).verifyAppProofs(proofs, { expected, schemas });
    expect(payloads.map(({ value }) => value)).toEqual([1, 2]);
    expect(seen).toHaveLength(2);
  });

  it("throws its issues with their paths, and says that the evidence is verified", async () => {
    const { client, received, expected } = await answered(WHOLE, { quote: { pair: "A/B", price: "1.5" } });
    const call = client.withVerification(POLICY).verifyAppProofs(received, { expected, schemas: { [TYPE]: QUOTE } });
    const error = await rejectionOf<ClientError>(call);
    expect(error).toMatchObject({
      code: "schema",
      effect: "none",
      faults: [{ path: "appProofs[0].payload.quote.price", message: "expected a number" }],
    });
    expect(error.message).toBe(
      "the app proofs are verified, but payloads do not fit your schemas: " +
        "appProofs[0].payload.quote.price: expected a number",
    );
  });

  it("throws what it throws", async () => {
    const { client, received, expected } = await answered();
    const own = new Error("of the schema");
    const schema = schemaOf(() => {
      throw own;
    });
    const call = client.withVerification(POLICY).verifyAppProofs(received, { expected, schemas: { [TYPE]: schema } });
    expect(await rejectionOf(call)).toBe(own);
  });

  it("sees nothing of app proofs that are not verified", async () => {
    const { client, received, expected } = await answered(WHOLE, { challenge: "another" });
    let calls = 0;
    const schema = schemaOf((value) => ({ value, calls: ++calls }));
    const call = client.withVerification(POLICY).verifyAppProofs(received, { expected, schemas: { [TYPE]: schema } });
    expect(await call.catch(failedOf)).toBe("app.request");
    expect(calls).toBe(0);
  });
});
