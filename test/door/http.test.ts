/** The rules for requests and answers over HTTP. */
import { describe, expect, it } from "vitest";
import { Bindings } from "../../src/door/bindings.js";
import { Entrance } from "../../src/door/entrance.js";
import type { AskedActivity } from "../../src/door/exchange.js";
import * as verifying from "../../src/door/verifying.js";
import { HttpFault, exchangeOf, replyTo, stampIn } from "../../src/door/http.js";

const BODY = {
  organizationId: "o",
  type: "ACTIVITY_TYPE_X",
  parameters: { a: 1 },
  timestampMs: "1",
  generateAppProofs: true,
};
const stampOf = (stamp: object) => Buffer.from(JSON.stringify(stamp)).toString("base64url");
const STAMP = stampOf({ publicKey: "k" });
const MIB = 1024 * 1024;
const bytes = (text: string) => new TextEncoder().encode(text);

interface Given {
  readonly method?: string;
  readonly path?: string;
  readonly body?: unknown;
  readonly stamp?: string;
  readonly allowUnproven?: boolean;
  readonly bindings?: Bindings;
}

function opened({ method = "POST", path = "submit/x", body = BODY, stamp = STAMP, ...rules }: Given = {}) {
  const { allowUnproven = false, bindings = new Bindings() } = rules;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const request = { method, path: `/public/v1/${path}`, body: bytes(text), stamp };
  const verify = async ({ activity, refusals, expected }: AskedActivity) => {
    if (expected === null || refusals.length > 0) throw new Error("refused");
    return { activity, report: { claims: { activity: { question: "id" } } }, verified: null };
  };
  const entrance = new Entrance(
    { bindings, verify, verifying: async () => verifying } as never,
    { allowUnproven },
    null,
  );
  const exchange = exchangeOf(entrance, request);
  return Object.assign(exchange, { entrance });
}

function faultOf(given: Given): [string, string] {
  try {
    opened(given);
  } catch (error) {
    if (error instanceof HttpFault) return [error.kind, error.message];
  }
  throw new Error("was not refused");
}

describe("a request", () => {
  it("has the question of its path and body, with numbers as they are written", () => {
    expect(opened().question).toMatchObject({ kind: "submit", operation: "x", isProven: true });
    expect(opened({ path: "query/x", body: "no JSON" }).question).toMatchObject({ kind: "query" });
    expect(opened({ path: "query/list_activities", body: "no JSON" }).question).toMatchObject({ kind: "list" });
    expect(opened({ path: "query/x", body: " ".repeat(8 * MIB) }).question).toMatchObject({ kind: "query" });
  });

  it.each<[string, Given, string]>([
    ["of another method", { method: "GET" }, "not-found"],
    ["of another path", { path: "submit/x?" }, "not-found"],
    ["larger than 8 MiB", { path: "query/x", body: " ".repeat(8 * MIB + 1) }, "too-large"],
    ["that is not JSON", { body: "{" }, "invalid-request"],
    ["with a member twice", { body: '{"type":"a","type":"b"}' }, "invalid-request"],
    ["without app proofs", { body: { ...BODY, generateAppProofs: false } }, "invalid-request"],
    ["without an id", { path: "query/get_activity", body: { organizationId: "o" } }, "invalid-request"],
  ])("%s is not sent", (_, given, kind) => {
    expect(faultOf(given)[0]).toBe(kind);
  });

  it("that is not JSON says so", () => {
    expect(faultOf({ body: "{" })[1]).toMatch(/^not sent: x: the body is not strict JSON: /);
  });

  it("without app proofs is sent where that is allowed", () => {
    const body = { ...BODY, generateAppProofs: false };
    expect(opened({ body, allowUnproven: true }).question).toMatchObject({ isProven: false });
    expect(faultOf({ body })[1]).toMatch(/allowUnproven, --allow-unproven/);
  });

  it.each([
    ["the public key of a stamp", STAMP, true],
    ["the credential id of a passkey", '{"credentialId":"k"}', true],
    ["a public key in base64url of its own digits", stampOf({ more: "\u0c3e>>>???", publicKey: "k" }), true],
    ["another public key", stampOf({ publicKey: "l" }), false],
  ])("is counted for %s", async (_, stamp, isSame) => {
    expect(await lost(stamp, STAMP)).toBe(isSame);
  });
});

/** Whether the first binding is lost to many others, as it is where both stamps name one submitter. */
async function lost(one: string, other: string): Promise<boolean> {
  const bindings = new Bindings(3000);
  const answered = (stamp: string, id: string) =>
    settled(opened({ bindings, stamp, body: { ...BODY, parameters: { id } } }), { id, status: "S" });
  await answered(one, "first");
  for (let index = 0; index < 9; index++) await answered(other, `${index}`);
  return bindings.get("first") === null;
}

describe("a stamp", () => {
  it("names a submitter by 300 characters, and none where it is not read", async () => {
    const named = (end: string, length: number) => stampOf({ publicKey: "k".repeat(length) + end });
    expect(await lost(named("a", 300), named("b", 300))).toBe(true);
    expect(await lost(named("a", 299), named("b", 299))).toBe(false);
    const unread = ["%", "AA=A", Buffer.from([0xff, 0xfe]).toString("base64url"), stampOf([]), stampOf({}), "{"];
    for (const stamp of unread) expect(await lost(stamp, "none")).toBe(true);
  });

  it.each(["X-Stamp", "x-stamp-webauthn", "X-STAMP-ATTESTED"])("is read from %s", (name) => {
    expect(stampIn([["x-other", "o"], [name, "s"]])).toEqual({ stamp: "s" }); // oxfmt-ignore
  });

  it.each<[string, readonly (readonly [string, string])[]]>([
    ["none", []],
    ["two", [["x-stamp", "s"], ["x-stamp-webauthn", "t"]]], // oxfmt-ignore
    [
      "one twice",
      [
        ["x-stamp", "s"],
        ["X-Stamp", "s"],
      ],
    ],
    ["one of another name", [["x-stamp-other", "s"]]],
    ["one beside one of another name", [["x-stamp", "s"], ["x-stamp-other", "s"]]], // oxfmt-ignore
  ])("has to be one of a known name: %s", (_, headers) => {
    expect(stampIn(headers)).toHaveProperty("fault");
  });

  it.each<[string, readonly (readonly [string, string])[], string]>([
    ["none", [], "none"], // oxfmt-ignore
    ["many", Array.from({ length: 20 }, () => ["x-stamp", "s"]), "x-stamp, ".repeat(12).slice(0, 100)],
  ])("says what it got: %s", (_, headers, got) => {
    const fault = `expected exactly one stamp, in X-Stamp, X-Stamp-WebAuthn, X-Stamp-Attested; got ${got}. Stamp the`;
    expect(stampIn(headers)).toMatchObject({ fault: expect.stringContaining(fault) as string });
  });
});

interface Answered {
  readonly status?: number;
  readonly body?: string | null;
  readonly headers?: Readonly<Record<string, readonly string[]>>;
}

const ACTIVITY = { id: "a", organizationId: "o", type: BODY.type, status: "ACTIVITY_STATUS_COMPLETED" };

function reply(given: Answered, exchange = opened({ path: "query/get_user", body: {} })) {
  const { status = 200, body = "{}", headers = {} } = given;
  const header = (name: string) => headers[name] ?? [];
  const answer = { status, header, body: body === null ? null : bytes(body) };
  return replyTo(answer, (read) => exchange.entrance.settle(exchange, read, { query: () => Promise.resolve({}) }));
}

const settled = (exchange: ReturnType<typeof opened>, more: object = {}) =>
  reply({ body: JSON.stringify({ activity: { ...ACTIVITY, ...more } }) }, exchange);

describe("an answer", () => {
  it.each<[string, Answered, string]>([
    ["the status 201", { status: 201 }, "200 is expected"],
    ["the status 300", { status: 300 }, "redirects are not followed"],
    ["the status 307", { status: 307 }, "redirects are not followed"],
    ["the status 399", { status: 399 }, "redirects are not followed"],
    ["the status 600", { status: 600 }, "200 is expected"],
    ["more than 16 MiB", { body: null }, `longer than ${16 * MIB} bytes`],
    ["a member twice", { body: '{"a":1,"a":2}' }, "it is not strict JSON: "],
  ])("is refused with %s, and says what is wrong with it", async (_, given, words) => {
    const message = expect.stringContaining(words) as string;
    await expect(reply(given)).rejects.toMatchObject({ kind: "invalid-answer", message });
  });

  it("names what was verified, by what, and what was not", async () => {
    expect(await settled(opened())).toMatchObject({
      headers: { "X-Bootproof-Verified": "activity", "X-Bootproof-Question": "id" },
      value: { activity: ACTIVITY },
    });
    const waiting = await settled(opened(), { status: "ACTIVITY_STATUS_PENDING", result: {} });
    expect([waiting.headers, waiting.value]).toEqual([
      { "X-Bootproof": "unfinished", "X-Bootproof-Verified": "none" },
      { activity: { ...ACTIVITY, status: "ACTIVITY_STATUS_PENDING" } },
    ]);
    // Whatever a service writes there, it is not completed.
    for (const status of [null, 5, "", []])
      expect((await settled(opened(), { status })).headers).toMatchObject({ "X-Bootproof": "unfinished" });
    const unproven = opened({ body: { ...BODY, generateAppProofs: false }, allowUnproven: true });
    expect((await settled(unproven)).headers).toEqual({ "X-Bootproof": "unproven", "X-Bootproof-Verified": "none" });
    expect((await reply({})).headers).toEqual({ "X-Bootproof-Verified": "none" });
  });

  it("has two of the service's headers, once each and short", async () => {
    const of = async (headers: Answered["headers"]) => (await reply({ headers: headers! })).headers;
    const none = { "X-Bootproof-Verified": "none" };
    const both = {
      "retry-after": ["3"],
      "x-request-id": ["r"],
      "set-cookie": ["c"],
      "x-bootproof-verified": ["activity"],
    };
    expect(await of(both)).toEqual({ ...none, "Retry-After": "3", "X-Request-Id": "r" });
    for (const values of [["1", "2"], ["a\nb"], ["\u00e9"], ["x".repeat(201)], [""]])
      expect(await of({ "retry-after": values })).toEqual(none);
  });

  it("that is an error has code, message and details of the service, and nothing else", async () => {
    const of = async (body: unknown) => (await reply({ status: 400, body: JSON.stringify(body) })).value;
    expect(JSON.stringify(await of({ code: 5, message: "m", details: [{ a: 1 }], activity: {} }))).toContain('"m"');
    expect(await of({ code: 5, message: "m", details: [{ a: "b" }], activity: {} })).toEqual({
      code: expect.objectContaining({ text: "5" }) as unknown,
      message: "m",
      details: [{ a: "b" }],
    });
    expect(await of([])).toMatchObject({ code: { text: "2" }, message: "the service gave no message", details: [] });
    expect(await of({ code: "5", details: [{ activity: { result: {} } }] })).toMatchObject({
      code: { text: "2" },
      details: [],
    });
    expect(await of({ message: "x".repeat(5000) })).toMatchObject({ message: "x".repeat(4096) });
    for (const code of [-5, 5.25, 5000]) expect(await of({ code })).toMatchObject({ code: { text: "2" } });
    expect(await of({ code: 500 })).toMatchObject({ code: { text: "500" } });
    expect(await of(null)).toMatchObject({ code: { text: "2" } });
    for (const status of [400, 599])
      expect(await reply({ status })).toMatchObject({ status, headers: { "X-Bootproof-Verified": "none" } });
  });
});
