/**
 * What no client may be misled by: requests that could be read in two ways, and a service that lies on the wire, over
 * genuine evidence.
 */
import { connect } from "node:net";
import { afterAll, describe, expect, it, vi } from "vitest";
import { stampWithApiKey } from "../../src/lab/index.js";
import { faultyServer } from "../faults/servers.js";
import { type Answer, type Json, type Sending, envelope, submit } from "../lab/support.js";
import { type Honest, exchange, honestly, lyingLab, proxyFor, wire } from "./support.js";

const { lab, liar } = await lyingLab();
const proxy = await proxyFor(lab, { upstream: liar.url });
afterAll(() => proxy.close());

const PROVEN: Sending = { generateAppProofs: true };
const { walletId } = lab.ids;
let count = 0;
const rename = (through = proxy.lab, sending: Sending = PROVEN): Promise<Answer> =>
  submit(through, "updateWallet", { walletId, walletName: `name ${++count}` }, sending);
const body = (): string =>
  envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", { walletId, walletName: `body ${++count}` }, PROVEN);

/** A request as it is on the wire. */
function request(
  text: string,
  { line = "POST /public/v1/submit/update_wallet HTTP/1.1", headers = [] as string[], stamp = true } = {},
): string {
  const length = /^(?:content-length|transfer-encoding):/i;
  const own = headers.some((header) => length.test(header)) ? [] : [`Content-Length: ${Buffer.byteLength(text)}`];
  const stamped = stamp ? [`X-Stamp: ${stampWithApiKey(lab.apiKey, text)}`] : [];
  return [line, `Host: ${new URL(proxy.url).host}`, "Connection: close", ...own, ...stamped, ...headers, "", text].join(
    "\r\n",
  );
}

const statusOf = (received: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1]);

describe("requests", () => {
  it("are passed on byte for byte, with stamps and without what is between client and proxy", async () => {
    const text = ` ${body()}\n`;
    const headers = [
      "Content-Type: application/json; charset=utf-8",
      "User-Agent: some/1",
      "X-Client-Version: x",
      "Cookie: c",
      "Authorization: Bearer t",
      "X-Forwarded-For: 1.2.3.4",
      "X-Bootproof: unproven",
      "Accept-Encoding: gzip",
    ];
    const received = await exchange(proxy.url, request(text, { headers }));
    expect(statusOf(received)).toBe(200);
    expect(liar.bodies.map(String)).toEqual([text]);
    const { headers: sent, url, method } = liar.requests[0]!;
    expect([method, url]).toEqual(["POST", "/public/v1/submit/update_wallet"]);
    expect(sent).toEqual({
      host: new URL(liar.url).host,
      connection: "close",
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(text)),
      "user-agent": "some/1",
      "x-stamp": expect.any(String) as string,
      "x-client-version": "x",
      accept: "application/json",
      "accept-encoding": "identity",
    });
  });

  it("may be chunked", async () => {
    const text = body();
    const chunks = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const stamp = `X-Stamp: ${stampWithApiKey(lab.apiKey, text)}`;
    const head = request("", { headers: ["Transfer-Encoding: chunked", stamp], stamp: false });
    expect(statusOf(await exchange(proxy.url, head + chunks))).toBe(200);
    expect(liar.bodies.map(String)).toEqual([text]);
  });

  it.each([
    ["two lengths", ["Content-Length: 5", "Content-Length: 6"]],
    ["a length and chunks", ["Content-Length: 5", "Transfer-Encoding: chunked"]],
    ["chunks that are not the last coding", ["Transfer-Encoding: chunked, identity"]],
    ["a folded header", ["X-A: b", " c: d"]],
    ["a space before the colon", ["X-A : b"]],
    ["a header of 20 KiB", [`X-A: ${"a".repeat(20_000)}`]],
    ["two stamps", ["X-Stamp: other"]],
    ["a coded body", ["Content-Encoding: gzip"]],
  ])("are refused: %s", async (_, headers) => {
    expect(statusOf(await exchange(proxy.url, request(body(), { headers })))).toBe(400);
    expect(liar.requests).toHaveLength(0);
  });

  it("are refused without a host, over the limit, and where a chunk has no size", async () => {
    expect(statusOf(await exchange(proxy.url, request(body()).replace(/Host: .*\r\n/, "")))).toBe(400);
    const large = " ".repeat(8 * 1024 * 1024 + 1);
    expect(statusOf(await exchange(proxy.url, request(large)))).toBe(413);
    const chunked = request("", { headers: ["Transfer-Encoding: chunked"] });
    expect(statusOf(await exchange(proxy.url, `${chunked}zz\r\n`))).toBe(400);
    expect(liar.requests).toHaveLength(0);
  });

  it("that are smuggled behind another are requests of their own", async () => {
    const first = request(body()).replace("Connection: close\r\n", "");
    const second = request("{}", { line: "POST /elsewhere HTTP/1.1" });
    const received = await exchange(proxy.url, first + second);
    expect([...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(["200", "404"]);
    expect(liar.requests.map(({ url }) => url)).toEqual(["/public/v1/submit/update_wallet"]);
  });
});

type Lie = (honest: Honest) => string;

const json = (value: unknown, headers: readonly string[] = []): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const usual = ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`];
  return wire(text, { headers: [...usual, ...headers] });
};
const typed =
  (type: string): Lie =>
  ({ text }) =>
    wire(text, {
      headers: [...(type === "" ? [] : [`Content-Type: ${type}`]), `Content-Length: ${Buffer.byteLength(text)}`],
    });

const SUBMIT_LIES: Readonly<Record<string, Lie>> = {
  "text/html": typed("text/html"),
  "text/plain": typed("text/plain; a=application/json"),
  "no type": typed(""),
  "two types": typed("application/json\r\nContent-Type: text/html"),
  "a coded answer": ({ text }) => json(text, ["Content-Encoding: gzip"]),
  "204": () => wire("", { status: 204, headers: [] }),
  "307 to the honest service": ({ path, text }) =>
    wire(text, {
      status: 307,
      headers: [
        `Location: ${lab.baseUrl}/public/v1/${path}`,
        "Content-Type: application/json",
        `Content-Length: ${text.length}`,
      ],
    }),
  "100 before it": (honest) => `HTTP/1.1 100 Continue\r\n\r\n${honestly(honest)}`,
  "103 before it": (honest) => `HTTP/1.1 103 Early Hints\r\nX-Bootproof-Verified: activity\r\n\r\n${honestly(honest)}`,
  "101": ({ text }) => `HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n${text}`,
  trailers: ({ text }) =>
    wire(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\nX-Bootproof-Verified: activity\r\n\r\n`, {
      headers: ["Content-Type: application/json", "Transfer-Encoding: chunked", "Trailer: X-Bootproof-Verified"],
    }),
  "a length and chunks": ({ text }) =>
    wire(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`, {
      headers: ["Content-Type: application/json", "Transfer-Encoding: chunked", `Content-Length: ${text.length}`],
    }),
  "two lengths": ({ text }) => json(text, ["Content-Length: 3"]),
  "chunks that do not end": ({ text }) =>
    wire(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`, {
      headers: ["Content-Type: application/json", "Transfer-Encoding: chunked"],
    }),
  "a length beyond its end": ({ text }) =>
    wire(text, { headers: ["Content-Type: application/json", `Content-Length: ${text.length + 9}`] }),
  "headers of 20 KiB": ({ text }) => json(text, [`X-A: ${"a".repeat(20_000)}`]),
  "no HTTP": ({ text }) => text,
  "an end at once": () => "",
};

describe("a service that lies about a submit", () => {
  it.each(Object.entries(SUBMIT_LIES))("is refused: %s", async (_, lie) => {
    liar.lie = lie;
    const { status, body: error } = await rename();
    expect(status).toBe(502);
    expect(error).toEqual({
      code: expect.any(Number) as number,
      message: expect.stringMatching(/^bootproof proxy: /) as string,
      details: expect.any(Array) as Json[],
    });
    expect(JSON.stringify(error)).not.toContain('updateWalletResult":');
    liar.lie = honestly;
    expect((await rename()).status).toBe(200);
  });

  it("is refused: 17 MiB", async () => {
    liar.lie = ({ text }) => json(`${" ".repeat(17 * 1024 * 1024)}${text}`);
    expect((await rename()).body["message"]).toContain("longer than 16777216 bytes");
  });

  it("returns nothing beside the verified members, in its own bytes", async () => {
    let honest = "";
    liar.lie = ({ text, json: { activity } }) => {
      honest = text;
      return json(
        JSON.stringify({ activity: { ...activity, walletId: "other", outcome: { walletId: "other" } } }, null, 3),
        [
          "X-Bootproof-Verified: activity",
          "X-Bootproof-Question: id",
          "X-Bootproof: unproven",
          "Set-Cookie: a=b",
          "Location: https://elsewhere",
          "Access-Control-Allow-Origin: *",
          "X-Request-Id: r1",
        ],
      );
    };
    const received = await exchange(proxy.url, request(body()));
    const [head, sent] = received.split("\r\n\r\n") as [string, string];
    expect(JSON.parse(sent)).toEqual(JSON.parse(honest));
    expect(sent).toBe(JSON.stringify(JSON.parse(sent)));
    const names = head
      .split("\r\n")
      .slice(1)
      .map((line) => line.split(":")[0]!.toLowerCase());
    expect(names.sort()).toEqual([
      "cache-control",
      "connection",
      "content-length",
      "content-type",
      "date",
      "x-bootproof-question",
      "x-bootproof-verified",
      "x-request-id",
    ]);
  });
});

describe("a slow or absent service", () => {
  it("is given up after the time, while others are served", async () => {
    const silent = await faultyServer({});
    const half = await faultyServer({
      asked: (socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"a"'),
    });
    for (const { port } of [silent, half]) {
      const impatient = await proxyFor(lab, { upstream: `http://127.0.0.1:${port}`, timeoutMs: 1000 });
      const answers = await Promise.all(Array.from({ length: 10 }, () => rename(impatient.lab)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 504));
      expect(answers[0]!.body["message"]).toContain("The service may have carried it out");
      await impatient.close();
    }
    await silent.close();
    await half.close();
    const gone = await proxyFor(lab, { upstream: `http://127.0.0.1:${silent.port}` });
    expect((await rename(gone.lab)).body["message"]).toContain("ECONNREFUSED");
    await gone.close();
  });

  it("leaves the request of a client that is gone to a later question", async () => {
    const text = body();
    const client = connect(Number(new URL(proxy.url).port), "127.0.0.1", () => client.write(request(text)));
    client.on("error", () => {});
    let id = "";
    liar.lie = async ({ json: { activity }, text: said }) => {
      id = (activity as Json)["id"] as string;
      client.destroy();
      liar.lie = honestly;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return json(said);
    };
    await vi.waitFor(() => expect(id).not.toBe(""), { timeout: 60_000 });
    const asked = JSON.stringify({ organizationId: lab.organizationId, activityId: id });
    const line = "POST /public/v1/query/get_activity HTTP/1.1";
    // Until the proxy has read what the service answered to the client that is gone.
    const bound = async (): Promise<void> => {
      const received = await exchange(proxy.url, request(asked, { line }));
      expect(statusOf(received)).toBe(200);
      expect(received).toContain("X-Bootproof-Question: request");
    };
    await vi.waitFor(bound, { timeout: 60_000, interval: 200 });
  });
});
