/** What the listener refuses by the head of a request, before it reads the body and before anything is forwarded. */
import type { IncomingMessage } from "node:http";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import { refusedHead } from "../../src/proxy/listener.js";
import { loopback } from "../support/loopback.js";
import { exchange, proxyFor } from "./support.js";

const lab = await startLab();
const forwarded: IncomingMessage[] = [];
const service = await loopback((request, response) => {
  forwarded.push(request);
  response.setHeader("Content-Type", "application/json").end('{"user":{}}');
});
const proxy = await proxyFor(lab, { upstream: service.url });
afterAll(async () => {
  await proxy.close();
  await service.close();
  await lab.close();
});
beforeEach(() => {
  forwarded.length = 0;
});

const { host, port } = new URL(proxy.url);
const GET_USER = "POST /public/v1/query/get_user HTTP/1.1";
const STAMP = "X-Stamp: a";

interface Head {
  readonly line?: string;
  readonly hosts?: readonly string[];
  readonly stamps?: readonly string[];
  readonly headers?: readonly string[];
}

function request({ line = GET_USER, hosts = [host], stamps = [STAMP], headers = [] }: Head): string {
  const named = hosts.map((value) => `Host: ${value}`);
  return [line, ...named, "Connection: close", "Content-Length: 2", ...stamps, ...headers, "", "{}"].join("\r\n");
}

async function ask(head: Head): Promise<{ status: number; kind: string | undefined; error: Record<string, unknown> }> {
  const received = await exchange(proxy.url, request(head));
  const [top, body] = received.split("\r\n\r\n") as [string, string];
  return {
    status: Number(top.slice(9, 12)),
    kind: /^X-Bootproof-Refused: (.*)$/m.exec(top)?.[1]?.trim(),
    error: JSON.parse(body) as Record<string, unknown>,
  };
}

async function expectSent(head: Head): Promise<void> {
  expect((await ask(head)).status).toBe(200);
  expect(forwarded).toHaveLength(1);
}

async function expectRefused(head: Head, status: number, kind: string, code: number): Promise<string> {
  const answer = await ask(head);
  expect([answer.status, answer.kind]).toEqual([status, kind]);
  expect(answer.error).toEqual({ code, message: expect.any(String) as string, details: [] });
  expect(forwarded).toHaveLength(0);
  return answer.error["message"] as string;
}

describe("the host of a request", () => {
  it.each([`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`])(
    "is the address that the proxy listens on: %s",
    (name) => expectSent({ hosts: [name] }),
  );

  it.each([
    ["a page's own name", [`evil.example:${port}`]],
    ["a name that ends with localhost", [`evil.localhost:${port}`]],
    ["no port", ["localhost"]],
    ["another port", ["127.0.0.1:1"]],
    ["another address of this machine", [`127.0.0.2:${port}`]],
    ["a port with a zero before it", [`localhost:0${port}`]],
    ["two, of which one is right", [host, "evil.example"]],
  ])("is not %s", async (_, hosts) => {
    const message = await expectRefused({ hosts }, 421, "misdirected", 3);
    expect(message).toContain(`Host: expected 127.0.0.1:${port} or localhost:${port}, got `);
  });

  it("may be without its port on port 80", () => {
    const at = (name: string, listening: number): number | undefined =>
      refusedHead(
        {
          method: "POST",
          target: "/public/v1/query/a",
          headers: [
            ["host", name],
            ["x-stamp", "a"],
          ],
        },
        listening,
      )?.status;
    expect(["localhost", "127.0.0.1:80", "127.0.0.1"].map((name) => at(name, 80))).toEqual(Array(3).fill(undefined));
    expect([at("localhost", 8080), at("evil.example", 80), at("localhost:8080", 80)]).toEqual([421, 421, 421]);
  });
});

describe("a request of a browser", () => {
  it.each([
    ["the page of the proxy itself", [`Origin: http://${host}`]],
    ["another page", ["Origin: https://evil.example"]],
    ["a file or a sandbox", ["Origin: null"]],
    ["an empty origin", ["Origin:"]],
    ["another site", ["Sec-Fetch-Site: cross-site"]],
    ["the same origin", ["sec-fetch-site: same-origin"]],
  ])("is refused: %s", async (_, headers) => {
    expect(await expectRefused({ headers }, 403, "forbidden", 7)).toContain("verifiedFetch of bootproof/adapters");
  });

  it("is refused before it is answered as an unknown path, and a preflight, too", async () => {
    const headers = ["Origin: https://evil.example"];
    await expectRefused(
      { line: "OPTIONS /public/v1/query/get_user HTTP/1.1", headers, stamps: [] },
      403,
      "forbidden",
      7,
    );
    await expectRefused({ line: "GET / HTTP/1.1", headers, stamps: [] }, 403, "forbidden", 7);
  });

  it("is what the address bar does not make", () => expectSent({ headers: ["Sec-Fetch-Site: none"] }));
});

it("has one stamp", async () => {
  const message = await expectRefused({ stamps: [STAMP, "X-Stamp-WebAuthn: b"] }, 400, "invalid-request", 3);
  expect(message).toContain("expected exactly one stamp, in X-Stamp, X-Stamp-WebAuthn, X-Stamp-Attested; got ");
  await expectSent({ stamps: ["x-stamp-webauthn: a"] });
});

describe("the content type of a request", () => {
  it.each([
    [],
    ["Content-Type: application/json"],
    ["Content-Type: application/json; charset=utf-8"],
    ["content-type: Application/JSON;charset=UTF-8"],
  ])("may be %s", (...headers) => expectSent({ headers }));

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=a",
    "application/json, text/plain",
    "",
  ])("may not be what forms of a page can send: %s", async (type) => {
    const headers = [`Content-Type: ${type}`];
    expect(await expectRefused({ headers }, 400, "invalid-request", 3)).toContain("Content-Type: expected");
  });
});

describe("a refused request", () => {
  it("is answered before its body comes", async () => {
    const head = request({ hosts: ["evil.example"] }).replace("Content-Length: 2", "Content-Length: 2000000");
    expect(await exchange(proxy.url, head)).toMatch(/^HTTP\/1\.1 421 /);
  });

  it("is answered although its body is still being sent", async () => {
    const length = 30_000_000;
    const head = request({ stamps: [] }).replace("Content-Length: 2", `Content-Length: ${length}`);
    const received = await exchange(proxy.url, head.replace("Connection: close\r\n", "") + "a".repeat(length), "end");
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("has an unknown path, stamped or not", async () => {
    for (const stamps of [[], [STAMP]]) {
      await expectRefused({ line: "GET /healthz HTTP/1.1", stamps }, 404, "not-found", 5);
      await expectRefused({ line: "POST /public/v1/query/get%5Fuser HTTP/1.1", stamps }, 404, "not-found", 5);
    }
  });
});
