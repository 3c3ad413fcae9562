/** Any invalid request returns an error of the documented form, and the next request is served. */
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { AUTH_FAULTS, FAULTS, FEED_FAULTS, startLab, stampWithApiKey } from "../../src/lab/index.js";
import { type Answer, type Json, envelope, query, send } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
const { ids, organizationId } = lab;
const RENAME = "ACTIVITY_TYPE_UPDATE_WALLET";

afterEach(async () => {
  expect((await query(lab, "get_user", { userId: ids.userId })).status).toBe(200);
});

function expectRefused({ status, body }: Answer, wanted: number): void {
  expect(status).toBe(wanted);
  expect(body).toEqual({
    code: expect.any(Number),
    message: expect.stringMatching(/./),
    details: [{ "@type": expect.any(String), turnkeyErrorCode: expect.any(String) }],
  });
}

const rename = (change: (json: Json) => Json): string =>
  JSON.stringify(change(JSON.parse(envelope(lab, RENAME, { walletId: ids.walletId })) as Json));
const ask = (change: (json: Json) => Json): string =>
  JSON.stringify(change({ organizationId, address: `0x${"1".repeat(40)}`, caip2: "eip155:1" }));

const without =
  (name: string) =>
  (json: Json): Json =>
    Object.fromEntries(Object.entries(json).filter(([other]) => other !== name));

describe("a submit", () => {
  const bodies: [string, string, number?][] = [
    ["empty", ""],
    ["no JSON", "{"],
    ["a member twice", rename((json) => json).replace("{", `{"type":"${RENAME}",`)],
    ["nested beyond reason", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["no type", rename(without("type"))],
    ["another operation's type", rename((json) => ({ ...json, type: "ACTIVITY_TYPE_DELETE_POLICIES" }))],
    ["no time", rename(without("timestampMs"))],
    ["a time that is a number", rename((json) => ({ ...json, timestampMs: Date.now() }))],
    ["an old time", rename((json) => ({ ...json, timestampMs: String(Date.now() - 3_600_000) }))],
    ["a time ahead", rename((json) => ({ ...json, timestampMs: String(Date.now() + 3_600_000) }))],
    ["no organization", rename(without("organizationId"))],
    ["no parameters", rename(without("parameters"))],
    ["a wallet that is a number", rename((json) => ({ ...json, parameters: { walletId: 1 } }))],
    ["no wallet", rename((json) => ({ ...json, parameters: {} }))],
    ["an unknown parameter", rename((json) => ({ ...json, parameters: { ...json["parameters"], colour: "blue" } }))],
    [
      "__proto__ as a parameter",
      rename((json) => json).replace('"parameters":{', '"parameters":{"__proto__":{"walletId":"x"},'),
    ],
    ["generateAppProofs as text", rename((json) => ({ ...json, generateAppProofs: "true" }))],
    ["an organization that is nowhere", rename((json) => ({ ...json, organizationId: "nowhere" })), 404],
    ["another organization", rename((json) => ({ ...json, organizationId: lab.childOrganizationId })), 403],
  ];
  it.each(bodies)("%s", async (_, text, status = 400) => {
    expectRefused(await send(lab, "submit/update_wallet", text), status);
  });
});

describe("a query", () => {
  const bodies: [string, string][] = [
    ["no organization", ask(without("organizationId"))],
    ["no address", ask(without("address"))],
    ["an unknown chain", ask((json) => ({ ...json, caip2: "eip155:0" }))],
    ["an unknown member", ask((json) => ({ ...json, block: 1 }))],
  ];
  it.each(bodies)("%s: 400", async (_, text) => {
    expectRefused(await send(lab, "query/get_nonces", text), 400);
  });
});

describe("a path", () => {
  const paths = [
    "",
    "query/get_users",
    "query/GET_USER",
    "query/update_wallet",
    "submit/get_user",
    "query/__proto__",
    "submit/toString",
    "query/get%5Fuser",
  ];
  it.each(paths)("/public/v1/%s: 404", async (path) => {
    expectRefused(await send(lab, path, JSON.stringify({ organizationId, userId: ids.userId })), 404);
  });

  it("elsewhere: 404", async () => {
    for (const path of ["/", "/public/v2/query/get_user", "/public/v1/query/get_user/..", "//"]) {
      const answer = await fetch(lab.baseUrl + path, { method: "POST", body: "{}" });
      expectRefused({ status: answer.status, body: (await answer.json()) as Json }, 404);
    }
  });

  it("ignores a query string", async () => {
    expect((await send(lab, "query/get_user?x=1", JSON.stringify({ organizationId, userId: ids.userId }))).status).toBe(
      200,
    );
  });

  it.each(["GET", "PUT", "DELETE", "PATCH"])("with %s: 405", async (method) => {
    const answer = await fetch(`${lab.baseUrl}/public/v1/query/get_user`, { method });
    expectRefused({ status: answer.status, body: (await answer.json()) as Json }, 405);
    const keys = await fetch(lab.jwksUrl, { method: "POST", body: "{}" });
    expectRefused({ status: keys.status, body: (await keys.json()) as Json }, 405);
    expect((await fetch(lab.jwksUrl, { method: "HEAD" })).status).toBe(405);
  });
});

/** A browser's preflight of another origin (Fetch standard, "CORS protocol"). */
describe("a page of another origin", () => {
  const headersOf = (answer: Response, name: string): string[] =>
    answer.headers.get(`access-control-allow-${name}`)!.split(", ");
  const preflight = (url: string, asked: string): Promise<Response> =>
    fetch(url, {
      method: "OPTIONS",
      headers: {
        Origin: "https://app.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": asked,
      },
    });

  it.each(["query/get_user"])("may request %s with the headers of clients and others that it names", async (path) => {
    const answer = await preflight(`${lab.baseUrl}/public/v1/${path}`, "x-stamp,X-Special");
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect(headersOf(answer, "origin")).toEqual(["*"]);
    expect(headersOf(answer, "methods")).toEqual(["POST", "OPTIONS"]);
    expect(headersOf(answer, "headers")).toEqual([
      "content-type",
      "accept",
      "x-stamp",
      "x-stamp-webauthn",
      "x-client-version",
      "x-special",
    ]);
  });

  it("gets no invalid header names back", async () => {
    expect(headersOf(await preflight(lab.faultsUrl, "a b,x-ok,,<>"), "headers")).not.toContain("a b");
    expect(headersOf(await preflight(lab.faultsUrl, ""), "methods")).toEqual(["GET", "PUT", "OPTIONS"]);
  });

  it("can read every response, including errors", async () => {
    const texts = [JSON.stringify({ organizationId, userId: ids.userId }), "{", "x".repeat(2 * 1024 * 1024)];
    const answers = await Promise.all(
      texts.map((body) =>
        fetch(`${lab.baseUrl}/public/v1/query/get_user`, {
          method: "POST",
          body,
          headers: { "X-Stamp": stampWithApiKey(lab.apiKey, body) },
        }),
      ),
    );
    const others = [await fetch(lab.jwksUrl), await fetch(lab.baseUrl), await fetch(lab.jwksUrl, { method: "POST" })];
    expect([...answers, ...others].map(({ status }) => status)).toEqual([200, 400, 413, 200, 404, 405]);
    for (const answer of [...answers, ...others]) expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("the faults over HTTP", () => {
  const put = async (body: string): Promise<Answer> => {
    const answer = await fetch(lab.faultsUrl, { method: "PUT", body });
    return { status: answer.status, body: (await answer.json()) as Json };
  };

  it("are read and set", async () => {
    expect(lab.faultsUrl).toBe(`${lab.baseUrl}/lab/faults`);
    expect(await put('{"faults":["stale-manifest","nonce-present"]}')).toEqual({
      status: 200,
      body: { faults: ["stale-manifest", "nonce-present"] },
    });
    expect(lab.faults).toEqual(["stale-manifest", "nonce-present"]);
    const read = (await (await fetch(lab.faultsUrl)).json()) as Json;
    expect(read["faults"]).toEqual(["stale-manifest", "nonce-present"]);
    expect(read["known"]).toEqual([...FAULTS, ...AUTH_FAULTS, ...FEED_FAULTS]);
    expect(await put('{"faults":[]}')).toMatchObject({ status: 200, body: { faults: [] } });
    expect(lab.faults).toEqual([]);
  });

  it("are unchanged after an invalid request", async () => {
    await put('{"faults":["nonce-present"]}');
    const refused = await put('{"faults":["no-such"]}');
    expectRefused(refused, 400);
    expect(refused.body["message"]).toContain("no-such");
    expect(refused.body["message"]).toContain("stale-manifest");
    for (const body of [
      "",
      "{",
      "[]",
      '{"faults":"nonce-present"}',
      '{"faults":[1]}',
      '{"faults":["constructor"]}',
      "{}",
    ])
      expectRefused(await put(body), 400);
    expect(lab.faults).toEqual(["nonce-present"]);
    lab.setFault(null);
  });
});

describe("a body", () => {
  it("of 10 MiB: 413, however it is sent", async () => {
    expectRefused(await send(lab, "submit/update_wallet", "x".repeat(10 * 1024 * 1024)), 413);
    expectRefused(await inChunks(10 * 1024 * 1024, {}), 413);
    expectRefused(await inChunks(10 * 1024 * 1024, { "Content-Length": 10 * 1024 * 1024 }), 413);
  });

  it("may have 1 MiB, but no byte more", async () => {
    const padded = (length: number): string => ask((json) => json).padEnd(length);
    expect((await send(lab, "query/get_nonces", padded(1024 * 1024))).status).toBe(200);
    expectRefused(await send(lab, "query/get_nonces", padded(1024 * 1024 + 1)), 413);
  });

  it("that breaks off does not affect others", async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(new URL(lab.baseUrl).port), "127.0.0.1", () => {
        socket.write("POST /public/v1/query/get_user HTTP/1.1\r\nHost: lab\r\nContent-Length: 100\r\n\r\n{");
        setTimeout(() => socket.destroy(), 20);
      });
      socket.on("close", () => resolve());
    });
  });
});

describe("input that is not HTTP", () => {
  const noise: [string, string, number][] = [
    ["noise", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n", 400],
    ["a method of another world", "BREW / HTTP/1.1\r\nHost: lab\r\n\r\n", 400],
    ["headers without end", `POST / HTTP/1.1\r\nHost: lab\r\nX-Stamp: ${"a".repeat(100_000)}\r\n\r\n`, 431],
  ];
  it.each(noise)("%s", async (_, text, status) => {
    const answer = await raw(text);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)) as Json;
    expectRefused({ status, body }, status);
  });
});

function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(new URL(lab.baseUrl).port), "127.0.0.1", () => socket.write(text));
    socket
      .setEncoding("utf8")
      .on("data", (data) => (answer += data))
      .on("end", () => resolve(answer))
      .on("error", reject);
  });
}

function inChunks(length: number, headers: Record<string, number>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${lab.baseUrl}/public/v1/submit/update_wallet`, { method: "POST", headers }, (answer) => {
      let text = "";
      answer
        .setEncoding("utf8")
        .on("data", (data) => (text += data))
        .on("end", () => resolve({ status: answer.statusCode!, body: JSON.parse(text) as Json }));
    });
    sent.on("error", reject);
    const chunk = Buffer.alloc(65536, 0x20);
    for (let left = length; left > 0; left -= chunk.length) sent.write(chunk.subarray(0, Math.min(left, chunk.length)));
    sent.end();
  });
}
