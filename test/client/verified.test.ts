/** Verified calls: what they return, and every lie of a service. */
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import { ClientError, RejectedActivityError } from "../../src/client/index.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { RejectedError, VerifiedActivity, VerifiedBootProof } from "../../src/index.js";
import { labDeployment } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { AttestedService, type Lies, type Verified, lab, policyOf } from "./attested.js";
import { ORGANIZATION, type Reply, isStamped, rejectionOf } from "./support.js";

const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

const child = "11111111-1111-4111-8111-111111111111";
const PARAMETERS = { walletId: "w1", walletName: "new" };

type Edit = (activity: JsonObject) => JsonObject;

function edited(activity: JsonObject, change: JsonObject): JsonObject {
  return { ...activity, ...change };
}

/** The activity with one member of its intent or result replaced, or removed if undefined. */
function inside(part: "intent" | "result", name: string, value: JsonValue | undefined): Edit {
  return (activity) => {
    const [[member, object]] = Object.entries(activity[part] as JsonObject) as [[string, JsonObject]];
    const rest = withoutMember(object, name);
    return edited(activity, { [part]: { [member]: value === undefined ? rest : { ...rest, [name]: value } } });
  };
}

function withoutMember(activity: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(activity).filter(([other]) => other !== name));
}

describe("an honest service", () => {
  it("is verified: result, activity, report, and evidence", async () => {
    const service = new AttestedService();
    const verified = await service.verified();
    const { result, activity, report, verified: proven } = await verified.updateWallet(PARAMETERS);
    expect(result).toEqual({ walletId: "w1" });
    expect(activity).toEqual(service.activities[0]);
    expect(report).toMatchObject({ format: "bootproof-report/1", verdict: "verified", policy: "lab" });
    expect(report.checks.filter((check) => check.status === "fail")).toEqual([]);
    expect(report.claims).toMatchObject({
      activity: { id: activity.id },
      appProofs: [{ type: "APP_PROOF_TYPE_POLICY_OUTCOME" }],
    });
    expect(VerifiedActivity.isVerified(proven)).toBe(true);
    expect(VerifiedBootProof.isVerified(proven.appProofs[0]!.bootProof)).toBe(true);
    expect(toHex(proven.appProofs[0]!.bootProof.ephemeralKey)).toBe(service.asked[0]);
    const [submitted] = service.requests;
    expect(submitted!.body).toMatchObject({
      generateAppProofs: true,
      organizationId: ORGANIZATION,
      timestampMs: String(service.now.getTime()),
      parameters: PARAMETERS,
    });
    expect(service.requests.every(({ headers, raw }) => isStamped(headers["x-stamp"] as string, raw))).toBe(true);
  });
});

const other = generateQosKeyPair();

const ALTERED_MANIFEST = (nonce: number): Lies => ({
  boot: { alterManifest: { manifest: (manifest) => ({ ...manifest, namespace: { ...manifest.namespace, nonce } }) } },
});

async function refused(
  lies: Lies,
  policy?: JsonObject,
): Promise<{ service: AttestedService; error: RejectedActivityError }> {
  const service = new AttestedService(lies);
  return { service, error: await rejectionOf((await service.verified(policy)).updateWallet(PARAMETERS)) };
}

describe("an activity", () => {
  it("whose verdict something weakens is refused under strict acceptance, and only there", async () => {
    const service = new AttestedService();
    const client = await service.client();
    // Its certificates lead to another root than AWS's, which the policy names.
    await client.withVerification(policyOf(), { acceptance: "standard" }).updateWallet(PARAMETERS);
    const strict = client.withVerification(policyOf(), { acceptance: "strict" });
    const error = await rejectionOf<RejectedActivityError>(strict.updateWallet(PARAMETERS));
    expect(error).toBeInstanceOf(RejectedActivityError);
    expect(error).toMatchObject({ code: "warning", failures: [], report: { verdict: "verified" } });
    expect(error.report.refusedFor![0]).toMatch(/^the certificates lead to .* not to AWS/);
    expect(error.message).toMatch(
      /^rejected: chain\.anchor \(update_wallet \S+\): .* Details: refused, though verified: the certificates /,
    );
    expect(error.message).not.toContain("..");
    expect(() => client.withVerification(policyOf(), { acceptance: "loose" as never })).toThrow(TypeError);
  });

  it("that is rejected prints in ten lines, stack frames not counted", async () => {
    const { error } = await refused({ ...ALTERED_MANIFEST(6), proof: { signer: other } });
    expect(error.failures.length).toBeGreaterThan(2);
    const lines = inspect(error)
      .split("\n")
      .filter((line) => !/^\s+at /.test(line));
    expect(lines.length).toBeLessThanOrEqual(10);
    expect(Object.keys(error)).not.toContain("report");
    expect(JSON.stringify(error)).not.toContain("checks");
  });

  it("is reported with every failure", async () => {
    const { service, error } = await refused({
      ...ALTERED_MANIFEST(6),
      proof: { signer: other },
      activity: inside("result", "walletId", "w2"),
    });
    expect(error.failures.map(({ subject, id }) => `${subject} ${id}`)).toEqual([
      "app[0] app.signature",
      "activity activity.request",
      "activity activity.claims",
      "policy policy.deployment",
      "policy policy.nonce",
    ]);
    expect(error).toBeInstanceOf(RejectedError);
    expect(Object.keys(error).sort()).toEqual(["activityId", "activityStatus", "code", "name", "operation"]);
    expect(error).toMatchObject({
      operation: "update_wallet",
      activityId: service.activities[0]!["id"],
      activityStatus: "ACTIVITY_STATUS_COMPLETED",
      report: { verdict: "rejected", claims: null },
    });
  });

  it("may name any number of keys, of which sixteen are requested", async () => {
    const { service, error } = await refused({
      activity: (activity) => {
        const [proof] = activity["appProofs"] as [JsonObject];
        const key = String(proof["publicKey"]);
        const others = Array.from({ length: 40 }, (_, index) => ({
          ...proof,
          publicKey: key.slice(0, -2) + (parseInt(key.slice(-2), 16) ^ (index + 1)).toString(16).padStart(2, "0"),
        }));
        return edited(activity, { appProofs: [...others, proof] });
      },
    });
    expect(service.asked).toHaveLength(16);
    expect(error.failures.filter(({ id }) => id === "app.key").length).toBeGreaterThanOrEqual(40);
  });
});

describe("evidence that cannot be fetched", () => {
  const failures: [string, Lies["bootProof"], object][] = [
    ["the service is in trouble", () => ({ status: 503 }), { status: 503 }],
    [
      "the service does not allow it",
      () => ({ status: 403, body: { code: 7, message: "no", details: [] } }),
      { status: 403 },
    ],
  ];
  it.each(failures)("because of %s is reported as that, with the activity", async (_, bootProof, cause) => {
    const service = new AttestedService({ bootProof: bootProof! });
    const error = await rejectionOf<ClientError>((await service.verified()).updateWallet(PARAMETERS));
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({
      code: "evidence",
      operation: "update_wallet",
      effect: "unknown",
      activityId: service.activities[0]!["id"],
      cause,
    });
    expect(error.message).toContain("verify it later with verifyActivity");
    expect(inspect(error, { depth: 9 })).not.toContain(String(service.requests[0]!.headers["x-stamp"]));
  });
});

describe("the cache of boot proofs", () => {
  it("fetches each key once, for calls one after the other and at once", async () => {
    const service = new AttestedService();
    const verified = await service.verified();
    const calls = await Promise.all(
      Array.from({ length: 8 }, (_, index) => verified.updateWallet({ walletId: `w${index}` })),
    );
    expect(calls.map(({ result }) => result.walletId)).toEqual(Array.from({ length: 8 }, (_, index) => `w${index}`));
    for (let index = 0; index < 3; index++) await verified.updateWallet({ walletId: "w" });
    expect(service.asked).toHaveLength(1);
    service.enclave = service.boot();
    await Promise.all([verified.updateWallet({ walletId: "w" }), verified.updateWallet({ walletId: "w" })]);
    expect(service.asked).toHaveLength(2);
  });

  it("repeats only checks that depend on time and policy, on every call", async () => {
    const service = new AttestedService();
    const verified = await service.verified({ maxAge: "10m" }, { bootProofMaxAgeMs: 1e9 });
    await verified.updateWallet(PARAMETERS);
    service.clock += 6 * 60_000;
    const error = await rejectionOf<RejectedActivityError>(verified.updateWallet(PARAMETERS));
    expect(error.failures.map(({ id }) => id)).toEqual(["policy.age"]);
    expect(service.asked).toHaveLength(1);
  });

  it("has an age, and is not fooled by a clock that goes back", async () => {
    const service = new AttestedService();
    const verified = await service.verified(undefined, { bootProofMaxAgeMs: 60_000 });
    const asked: number[] = [];
    for (const step of [0, 60_000, 1, 60_000, -60_001]) {
      service.clock += step;
      await verified.updateWallet(PARAMETERS).catch(() => {});
      asked.push(service.asked.length);
    }
    expect(asked).toEqual([1, 1, 2, 2, 3]);
  });

  it.each<[string, object, object]>([
    ["the policy", { maxAge: "4m" }, {}],
    ["the limit of age of this client", {}, { maxAgeMs: 240_000 }],
    ["a strict client", {}, { acceptance: "strict" }],
  ])("does not remember what %s refuses, though it is genuine", async (_, rest, options) => {
    const service = new AttestedService();
    const verified = await service.verified(rest as JsonObject, options);
    for (const walletId of ["1", "2"]) await rejectionOf(verified.updateWallet({ walletId }));
    expect(service.asked).toHaveLength(2);
  });

  it.each<[string, (answer: JsonObject) => Reply, CheckId]>([
    ["no such key", () => ({ status: 404, body: { code: 5, message: "no such key", details: [] } }), "app.key"],
    ["nothing", () => ({ body: {} }), "app.key"],
    ["null", () => ({ body: { bootProof: null } }), "app.key"],
    ["what cannot be decoded", () => ({ body: { bootProof: [[[]]] } }), "boot.decode"],
    [
      "what is rejected",
      ({ bootProof }) => ({ body: { bootProof: { ...(bootProof as JsonObject), qosManifestB64: "AAAA" } } }),
      "manifest.decode",
    ],
  ])("does not remember an answer of %s", async (_, lie, id) => {
    const lies = [lie];
    const service = new AttestedService({ bootProof: (body) => lies.pop()?.(body) ?? { body } });
    const verified = await service.verified();
    const error = await rejectionOf<RejectedActivityError>(verified.updateWallet({ walletId: "1" }));
    expect([error.name, error.failures[0]?.id]).toEqual(["RejectedActivityError", id]);
    expect((await verified.updateWallet({ walletId: "2" })).report.verdict).toBe("verified");
    expect(service.asked).toHaveLength(2);
  });

  it("belongs to one policy: another policy verifies again", async () => {
    const service = new AttestedService();
    const client = await service.client();
    const strict = { ...labDeployment(lab), pivotHash: "00".repeat(32) };
    await client.withVerification(policyOf()).updateWallet(PARAMETERS);
    const error = await rejectionOf<RejectedActivityError>(
      client.withVerification(policyOf({}, [strict])).updateWallet(PARAMETERS),
    );
    expect(error.failures.map(({ id }) => id)).toEqual(["policy.deployment", "policy.pivot"]);
    expect(service.asked).toHaveLength(2);
  });
});

const past = async (
  lies: Lies = {},
): Promise<{ service: AttestedService; activity: JsonObject; verified: Verified }> => {
  const service = new AttestedService(lies);
  const client = await service.client();
  await client.updateWallet(PARAMETERS, { generateAppProofs: true });
  service.clock += 86_400_000;
  return { service, activity: service.activities[0]!, verified: client.withVerification(policyOf()) };
};
const bad: [string, (activity: JsonObject) => unknown, CheckId[]][] = [
  [
    "without proofs anywhere",
    (activity) => edited(withoutMember(activity, "appProofs"), { id: "unknown" }),
    ["activity.decode"],
  ],
  ["that is none", () => [], ["activity.decode", "activity.request"]],
];

describe("a past activity", () => {
  it("is verified: as an object, in its wrapper, as text, as bytes", async () => {
    const { service, activity, verified } = await past();
    const text = JSON.stringify({ activity });
    for (const input of [activity, { activity }, text, Buffer.from(text), structuredClone(activity)]) {
      const call = await verified.verifyActivity(input);
      expect(call).toMatchObject({ result: { walletId: "w1" }, report: { verdict: "verified" } });
    }
    expect(service.asked).toHaveLength(1);
  });

  it("has its app proofs listed where it carries none", async () => {
    const { service, activity, verified } = await past();
    const call = await verified.verifyActivity(withoutMember(activity, "appProofs"));
    expect(call.verified.appProofs).toHaveLength(1);
    expect(service.requests.find(({ path }) => path.endsWith("list_app_proofs"))!.body).toEqual({
      organizationId: ORGANIZATION,
      activityId: activity["id"],
    });
  });

  it.each(bad)("%s is rejected", async (_, change, fails) => {
    const { activity, verified } = await past();
    const error = await rejectionOf<RejectedActivityError>(verified.verifyActivity(change(activity)));
    expect(error).toBeInstanceOf(RejectedActivityError);
    expect([...new Set(error.failures.map(({ id }) => id))]).toEqual(fails);
    expect(error.operation).toBeNull();
  });

  it("of a child organization is verified where it is named", async () => {
    const service = new AttestedService();
    const client = await service.client();
    await client.updateWallet(PARAMETERS, { generateAppProofs: true, organizationId: child });
    const verified = client.withVerification(policyOf());
    expect(
      (await verified.verifyActivity(service.activities[0], { organizationId: child })).activity.organizationId,
    ).toBe(child);
    expect(await rejectionOf(verified.verifyActivity(service.activities[0]))).toBeInstanceOf(RejectedActivityError);
  });
});

describe("a call with an impossible request", () => {
  const child2 = "22222222-2222-4222-8222-222222222222";
  it.each([
    { organizationId: "" },
    { organizationId: 5 },
    { organizationId: null },
    { organisationId: child2 },
    { signal: 1 },
  ])("with %j is a TypeError, before anything is sent", async (options) => {
    const service = new AttestedService();
    const client = await service.client();
    await expect(client.withVerification(policyOf()).updateWallet(PARAMETERS, options as never)).rejects.toThrow(
      TypeError,
    );
    await expect(client.updateWallet(PARAMETERS, options as never)).rejects.toThrow(TypeError);
    await expect(client.query("get_wallet", {}, options as never)).rejects.toThrow(TypeError);
    expect(service.requests).toHaveLength(0);
  });

  it.each([
    { id: "other" },
    { expect: {} },
    { expected: [] },
    { expected: null },
    { expected: { id: "" } },
    { organizationId: child2, expected: { organizationId: child } },
  ])("of a past activity with %j is a TypeError, before anything is fetched", async (options) => {
    const service = new AttestedService();
    const verified = await service.verified();
    await expect(verified.verifyActivity({ id: "a" }, options as never)).rejects.toThrow(TypeError);
    expect(service.requests).toHaveLength(0);
  });

  it.each([
    { resendSubmits: "false" },
    { timeoutMs: "5" },
    { maxRetries: -1 },
    { maxRetries: 1.5 },
    { baseURL: "https://a" },
    { fetch: {} },
    { organizationId: "" },
    { stamper: {} },
  ])("of a client with %j is a TypeError", async (options) => {
    await expect(new AttestedService().client(options as never)).rejects.toThrow(TypeError);
  });

  it.each([{ bootProofLimit: "5" }, { cache: {} }, { cache: null }, { limit: 5 }])(
    "of verified calls with %j is a TypeError",
    async (options) => {
      const client = await new AttestedService().client();
      expect(() => client.withVerification(policyOf(), options as never)).toThrow(TypeError);
    },
  );
});
