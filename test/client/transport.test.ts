/** Failures: retries, waits, and the content of errors. */
import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { type Client, ClientError, type ClientOptions, ServiceError } from "../../src/client/index.js";
import type { Retry } from "../../src/client/transport.js";
import {
  AT,
  type Answer,
  type Recorded,
  type Reply,
  TIMEOUT_MS,
  fakeFetch,
  neverTimeUp,
  rejectionOf,
  testClient,
} from "./support.js";

const USER = { user: { userId: "u" } };
const ACTIVITY = { activity: { id: "a", organizationId: "o", status: "ACTIVITY_STATUS_PENDING", type: "T" } };
const network = (code?: string): Error =>
  Object.assign(new TypeError("fetch failed"), code && { cause: Object.assign(new Error("x"), { code }) });

/** A step: a reply, or what the network throws. */
type Step = Reply | Error;

async function scripted(
  steps: Step[],
  options: Partial<ClientOptions> = {},
): Promise<{ client: Client; requests: Recorded[]; waits: number[] }> {
  const waits: number[] = [];
  const left = [...steps];
  const { fetch, requests } = fakeFetch(() => {
    const step = left.shift()!;
    if (step instanceof Error) throw step;
    return step;
  });
  return { client: await testClient({ fetch, waits, ...options }), requests, waits };
}

const ok: Step = { body: USER };
const date = (ms: number): string => new Date(AT.getTime() + ms).toUTCString();

describe("a query", () => {
  // With dice that always say one half, the backoff is half its bound: 200, 400, 800, … up to 10,000 ms.
  const repeated: [string, Step[], number[]][] = [
    ["a broken connection", [network("ECONNRESET"), ok], [100]],
    ["no connection, three times", [network("ECONNREFUSED"), network(), network("ENOTFOUND"), ok], [100, 200, 400]],
    ["502 with a page of HTML", [{ status: 502, body: "<html>" }, ok], [100]],
    ["503, then 504", [{ status: 503 }, { status: 504 }, ok], [100, 200]],
    ["429", [{ status: 429 }, ok], [100]],
    ["429 that asks for seconds", [{ status: 429, headers: { "retry-after": "7" } }, ok], [7000]],
    ["429 that asks for none", [{ status: 429, headers: { "retry-after": "0" } }, ok], [100]],
    [
      "503 that names a date",
      [{ status: 503, headers: { "retry-after": date(12_000) } }, ok],
      [12_000 - AT.getMilliseconds()],
    ],
    ["429 that names a date gone by", [{ status: 429, headers: { "retry-after": date(-9000) } }, ok], [100]],
    ["429 that asks for nonsense", [{ status: 429, headers: { "retry-after": "soon" } }, ok], [100]],
    ["429 that asks for a number with a sign", [{ status: 429, headers: { "retry-after": "-5" } }, ok], [100]],
  ];
  it.each(repeated)("is repeated after %s", async (_, steps, expected) => {
    const { client, requests, waits } = await scripted(steps);
    expect(await client.getUser({ userId: "u" })).toEqual(USER);
    expect(requests).toHaveLength(steps.length);
    expect(waits).toEqual(expected);
    expect(
      new Set(requests.map((request) => `${request.headers["x-stamp"]}${Buffer.from(request.raw).toString()}`)).size,
    ).toBe(1);
  });

  const once: [string, Step, string][] = [
    ["400", { status: 400 }, "service"],
    ["401", { status: 401 }, "service"],
    ["404", { status: 404 }, "service"],
    ["302", { status: 302, headers: { location: "https://elsewhere.test" } }, "service"],
    ["201", { status: 201, body: USER }, "service"],
    ["429 that asks for an hour", { status: 429, headers: { "retry-after": "3600" } }, "service"],
    ["an answer that is not JSON", { body: "<html>" }, "answer"],
    ["bytes that are not UTF-8", { body: Uint8Array.of(0x22, 0xff, 0x22) }, "answer"],
  ];
  it.each(once)("is not repeated after %s", async (_, step, code) => {
    const { client, requests, waits } = await scripted([step, ok]);
    expect(await rejectionOf(client.getUser({ userId: "u" }))).toMatchObject({
      code,
      operation: "get_user",
      effect: "none",
    });
    expect(requests).toHaveLength(1);
    expect(waits).toEqual([]);
  });

  it("tells of each repetition before it waits", async () => {
    const told: Retry[] = [];
    const steps = [network("ECONNRESET"), { status: 429, headers: { "retry-after": "7" } }, ok];
    const { client } = await scripted(steps, { onRetry: (retry) => told.push(retry) });
    await client.getUser({ userId: "u" });
    expect(told).toMatchObject([
      { next: 2, attempts: 4, waitMs: 100 },
      { next: 3, attempts: 4, waitMs: 7000 },
    ]);
    expect(told.map(({ error }) => error.message)).toEqual([
      expect.stringMatching(/^get_user: .*ECONNRESET/),
      expect.stringMatching(/^get_user: .*HTTP 429/),
    ]);
  });

  it("is given up after the last retry, with the last error", async () => {
    const { client, requests, waits } = await scripted(
      [{ status: 500 }, { status: 500 }, { status: 503, body: { code: 14, message: "busy" } }],
      { maxRetries: 2 },
    );
    expect(await rejectionOf(client.getUser({ userId: "u" }))).toMatchObject({ status: 503, serviceMessage: "busy" });
    expect([requests.length, waits]).toEqual([3, [100, 200]]);
    const impatient = await scripted([{ status: 500 }, ok], { maxRetries: 0 });
    expect(await rejectionOf(impatient.client.getUser({ userId: "u" }))).toMatchObject({ status: 500 });
  });

  it("waits no longer than the bound, and anything up to it", async () => {
    const failing = (count: number): Step[] => Array.from({ length: count }, () => ({ status: 500 }));
    const { client, waits } = await scripted([...failing(9), ok], { maxRetries: 9, random: () => 0.999_999 });
    await client.getUser({ userId: "u" });
    expect(waits).toEqual([200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
    const none = await scripted([...failing(2), ok], { random: () => 0 });
    await none.client.getUser({ userId: "u" });
    expect(none.waits).toEqual([0, 0]);
  });
});

describe("a submit", () => {
  const effects: [string, Step, "none" | "unknown"][] = [
    ["a broken connection", network("ECONNRESET"), "unknown"],
    ["503", { status: 503, headers: { "retry-after": "1" } }, "unknown"],
    ["408", { status: 408 }, "unknown"],
    ["302", { status: 302 }, "unknown"],
    ["another shape", { body: {} }, "unknown"],
    ["429", { status: 429, headers: { "retry-after": "1" } }, "none"],
    ["400", { status: 400 }, "none"],
    ["401", { status: 401 }, "none"],
  ];
  it.each(effects)("is sent once, and after %s reports whether it may have had an effect", async (_, step, effect) => {
    const { client, requests, waits } = await scripted([step, { body: ACTIVITY }]);
    expect(await rejectionOf(client.updateWallet({ walletId: "w" }))).toMatchObject({
      effect,
      operation: "update_wallet",
    });
    expect([requests.length, waits]).toEqual([1, []]);
  });

  it(
    "is repeated by the same bytes and stamp where the caller says that the service makes one activity of " + "them",
    async () => {
      let clock = AT.getTime();
      const { client, requests } = await scripted([network(), { status: 502 }, { status: 429 }, { body: ACTIVITY }], {
        resendSubmits: true,
        now: () => new Date((clock += 1000)),
      });
      await client.updateWallet({ walletId: "w" });
      expect(requests).toHaveLength(4);
      expect(
        new Set(requests.map(({ raw, headers }) => `${Buffer.from(raw).toString()} ${headers["x-stamp"]}`)).size,
      ).toBe(1);
    },
  );
});

describe("an error answer", () => {
  const errorOf = async (reply: Reply): Promise<ServiceError> =>
    rejectionOf((await scripted([reply], { maxRetries: 0 })).client.updateWallet({ walletId: "w" }));

  it("is reported with all facts of the service", async () => {
    const details = [
      { "@type": "x" },
      { "@type": "type.test/errors", turnkeyErrorCode: "SIGNATURE_INVALID", other: [1] },
    ];
    const error = await errorOf({ status: 401, body: { code: 16, message: "no such signature", details } });
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({
      name: "ServiceError",
      code: "service",
      operation: "update_wallet",
      status: 401,
      grpcCode: 16,
      serviceMessage: "no such signature",
      details,
      category: "SIGNATURE_INVALID",
      retryAfterMs: null,
      effect: "none",
    });
    expect(error.message).toBe(
      "update_wallet: the service responded with HTTP 401 SIGNATURE_INVALID: no such signature. " +
        "Check that the private key matches the public key, and that no proxy changes the body.",
    );
  });

  const odd: [string, Reply][] = [
    ["HTML", { status: 404, body: "<html>not here</html>" }],
    ["nothing", { status: 404 }],
    ["an array", { status: 404, body: [1] }],
    ["other types", { status: 404, body: { code: "5", message: { a: 1 }, details: "none" } }],
  ];
  it.each(odd)("in another form (%s) is reported by its status", async (_, reply) => {
    const error = await errorOf(reply);
    expect(error).toMatchObject({ status: 404, grpcCode: null, serviceMessage: null, category: null, details: [] });
    expect(error.message).toBe(
      "update_wallet: the service responded with HTTP 404. Check the ids, the organization and the base address.",
    );
  });

  it("reports a wait that is too long", async () => {
    expect(await errorOf({ status: 429, headers: { "retry-after": "3600" } })).toMatchObject({
      retryAfterMs: 3_600_000,
    });
    expect(await errorOf({ status: 429, headers: { "retry-after": date(-9000) } })).toMatchObject({ retryAfterMs: 0 });
  });

  it("has its message cut to a length", async () => {
    const error = await errorOf({ status: 400, body: { message: "x".repeat(100_000) } });
    expect(error.message.length).toBeLessThan(1000);
  });

  it("does not carry a stamp that the service quotes", async () => {
    const answer: Answer = ({ headers }) => ({
      status: 400,
      body: { message: `bad ${headers["x-stamp"]}`, details: [{ seen: headers["x-stamp"] }] },
    });
    const { fetch, requests } = fakeFetch(answer);
    const error = await rejectionOf<ServiceError>((await testClient({ fetch })).updateWallet({ walletId: "w" }));
    expect(error.serviceMessage).toBe("bad [stamp]");
    expect(inspect(error, { depth: 9 })).not.toContain(requests[0]!.headers["x-stamp"]);
  });

  it("does not carry a passkey's stamp that the service quotes inside JSON", async () => {
    const value = JSON.stringify({ credentialId: "c", signature: "5ecret" });
    const stamper = { stamp: async () => ({ header: "X-Stamp-WebAuthn" as const, value }) };
    const { fetch } = fakeFetch(({ headers }) => ({ status: 400, body: { message: headers["x-stamp-webauthn"] } }));
    const error = await rejectionOf<ServiceError>(
      (await testClient({ fetch, stamper })).updateWallet({ walletId: "w" }),
    );
    expect(inspect(error, { depth: 9 })).not.toContain("5ecret");
  });
});

it("does not pass on the platform's error of a request, which may quote a header", async () => {
  const fetch = (async (_: string, init: RequestInit) => {
    const { "X-Stamp": stamp } = init.headers as Record<string, string>;
    const cause = Object.assign(new Error(stamp), { code: `invalid header ${stamp}` });
    throw Object.assign(new TypeError(`invalid header value: ${stamp}`), { cause });
  }) as unknown as typeof globalThis.fetch;
  const error = await rejectionOf<ClientError>((await testClient({ fetch, maxRetries: 0 })).getUser({ userId: "u" }));
  expect(error.code).toBe("unreachable");
  expect(error.cause).toBeUndefined();
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("invalid header");
  expect(error.message).toBe(
    "get_user: the service cannot be reached (network error). Check the base address and the network.",
  );
});

it("calls fetch as a function, not as a method, which browsers refuse, and lets it follow no redirect", async () => {
  const receivers: unknown[] = [];
  const fetch = function (this: unknown, _: string, { redirect }: RequestInit) {
    receivers.push([this, redirect]);
    return Promise.resolve(new Response(JSON.stringify(USER)));
  } as unknown as typeof globalThis.fetch;
  await (await testClient({ fetch })).getUser({ userId: "u" });
  expect(receivers).toEqual([[undefined, "manual"]]);
});

describe("the size of a response", () => {
  it("is bounded, and the rest is not read", async () => {
    let pulled = 0;
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => (pulled++, controller.enqueue(new Uint8Array(1000).fill(0x20))),
      cancel: () => void (cancelled = true),
    });
    const fetch = (async () => new Response(endless)) as unknown as typeof globalThis.fetch;
    const error = await rejectionOf<ClientError>(
      (await testClient({ fetch, maxResponseBytes: 5000 })).getUser({ userId: "u" }),
    );
    expect(error).toMatchObject({ code: "answer" });
    expect(error.message).toContain("longer than 5000 bytes");
    expect(pulled).toBeLessThan(10);
    expect(cancelled).toBe(true);
  });

  it("may be just the bound", async () => {
    const body = JSON.stringify(USER);
    expect(
      await (await scripted([{ body }], { maxResponseBytes: body.length })).client.getUser({ userId: "u" }),
    ).toEqual(USER);
  });

  it("bounds errors too", async () => {
    const { client } = await scripted([{ status: 400, body: "x".repeat(6000) }], { maxResponseBytes: 5000 });
    expect(await rejectionOf(client.getUser({ userId: "u" }))).toMatchObject({ code: "answer" });
  });
});

/** A fetch that never responds. It heeds its signal or not. */
function silent(minds: boolean): { fetch: typeof fetch; signals: AbortSignal[] } {
  const signals: AbortSignal[] = [];
  const fake = (_: unknown, init: RequestInit): Promise<Response> => {
    signals.push(init.signal!);
    return new Promise((_resolve, reject) => {
      if (minds) init.signal!.addEventListener("abort", () => reject(init.signal!.reason as Error));
    });
  };
  return { fetch: fake as typeof fetch, signals };
}

describe.each([
  ["that minds its signal", true],
  ["that does not", false],
])("with a fetch %s", (_, minds) => {
  it("a missing response times out, and the query is repeated", async () => {
    const { fetch, signals } = silent(minds);
    const waits: number[] = [];
    const sleep = async (milliseconds: number): Promise<void> => void waits.push(milliseconds);
    const error = await rejectionOf<ClientError>(
      (await testClient({ fetch, sleep, maxRetries: 2 })).getUser({ userId: "u" }),
    );
    expect(error).toMatchObject({ code: "timeout", effect: "none" });
    expect(error.message).toBe(`get_user: no answer within ${TIMEOUT_MS} ms`);
    expect(waits).toEqual([TIMEOUT_MS, 100, TIMEOUT_MS, 200, TIMEOUT_MS]);
    expect(signals.map((signal) => signal.aborted)).toEqual([true, true, true]);
  });

  it("a submit is not repeated, and may have been done", async () => {
    const { fetch, signals } = silent(minds);
    const error = await rejectionOf(
      (await testClient({ fetch, sleep: async () => {} })).updateWallet({ walletId: "w" }),
    );
    expect(error).toMatchObject({ code: "timeout", effect: "unknown" });
    expect(signals).toHaveLength(1);
  });

  it("the caller can stop waiting", async () => {
    const { fetch, signals } = silent(minds);
    const controller = new AbortController();
    const client = await testClient({ fetch });
    const calls = [
      client.getUser({ userId: "u" }, { signal: controller.signal }),
      client.updateWallet({ walletId: "w" }, { signal: controller.signal }),
    ];
    const errors = calls.map((call) => rejectionOf(call));
    while (signals.length < 2) await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error("s3cr3t reason"));
    expect(await Promise.all(errors)).toMatchObject([
      { code: "aborted", effect: "none" },
      { code: "aborted", effect: "unknown" },
    ]);
    expect(signals.every((signal) => signal.aborted)).toBe(true);
  });
});

it("sends nothing for a caller that has stopped before", async () => {
  const { client, requests } = await scripted([ok]);
  expect(await rejectionOf(client.updateWallet({ walletId: "w" }, { signal: AbortSignal.abort() }))).toMatchObject({
    code: "aborted",
    effect: "none",
  });
  expect(requests).toHaveLength(0);
});

it.each(["none", "unknown"] as const)("stops between two attempts where the caller says so: %s", async (effect) => {
  const controller = new AbortController();
  const { fetch, requests } = fakeFetch(() => ({ status: 500 }));
  const rest = neverTimeUp([]);
  const sleep = async (milliseconds: number, signal: AbortSignal): Promise<void> => {
    if (milliseconds !== TIMEOUT_MS) controller.abort();
    return rest(milliseconds, signal);
  };
  const client = await testClient({ fetch, sleep, resendSubmits: true });
  const { signal } = controller;
  const call =
    effect === "none"
      ? client.getUser({ userId: "u" }, { signal })
      : client.updateWallet({ walletId: "w" }, { signal });
  expect(await rejectionOf(call)).toMatchObject({ code: "aborted", effect });
  expect(requests).toHaveLength(1);
});

it("may be given a sleep that rejects when it is stopped", async () => {
  const { setTimeout: delay } = await import("node:timers/promises");
  const replies = [500, 200];
  const { fetch } = fakeFetch(() => ({ status: replies.shift()!, body: USER }));
  const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    delay(milliseconds, undefined, { signal });
  expect(await (await testClient({ fetch, sleep, random: () => 0 })).getUser({ userId: "u" })).toEqual(USER);
  const failing = await testClient({ fetch: fakeFetch(() => ({ status: 500 })).fetch, sleep });
  expect(await rejectionOf(failing.getUser({ userId: "u" }, { signal: AbortSignal.timeout(20) }))).toMatchObject({
    code: "aborted",
  });
});

it("waits by itself, and stops at once when aborted", async () => {
  const { fetch } = silent(true);
  // What is undefined counts as not given: the client's own clock is used.
  const real = { fetch, sleep: undefined as never, maxRetries: 0 };
  const client = await testClient({ ...real, timeoutMs: 20 });
  expect(await rejectionOf(client.getUser({ userId: "u" }))).toMatchObject({ code: "timeout" });
  const slow = await testClient({ ...real, timeoutMs: 60_000 });
  expect(await rejectionOf(slow.getUser({ userId: "u" }, { signal: AbortSignal.timeout(5) }))).toMatchObject({
    code: "aborted",
  });
});

it("leaves no listener and no timer behind", async () => {
  const controller = new AbortController();
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on("warning", note);
  // The timers of this test alone: those of the process are also vitest's.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const running: number[] = [];
    const { fetch } = fakeFetch(() => {
      running.push(vi.getTimerCount());
      return { body: USER };
    });
    const client = await testClient({ fetch, sleep: undefined as never });
    for (let i = 0; i < 64; i++) await client.getUser({ userId: "u" }, { signal: controller.signal });
    await Promise.all(Array.from({ length: 64 }, () => client.getUser({ userId: "u" })));
    await new Promise((resolve) => setImmediate(resolve));
    expect(Math.min(...running)).toBeGreaterThan(0);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
    process.off("warning", note);
  }
  expect(warnings).toEqual([]);
});
