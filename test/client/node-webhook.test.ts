/** The webhook handler in real servers of node:http returns the responses of the fetch form. */
import { EventEmitter } from "node:events";
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  createServer,
  request as httpRequest,
} from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { type AddressInfo, type Socket, connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type WebhookHandlerOptions, nodeWebhookHandler, webhookHandler } from "../../src/client/index.js";
import { AttestedService, policyOf } from "./attested.js";
import { JWKS, delivered as signedDelivery } from "./deliveries.js";
import { ORGANIZATION } from "./support.js";

const service = new AttestedService();
const client = await service.client();
await client.updateWallet({ walletId: "w1" }, { generateAppProofs: true });
const BODY = Buffer.from(JSON.stringify(service.activities[0]!));

interface Delivered {
  readonly method?: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Uint8Array;
}

/** Signed, and then with other headers. */
function delivered(changes: Record<string, string> = {}, body: Uint8Array = BODY): Delivered {
  const { headers, rawBody } = signedDelivery({ timestamp: String(service.now.getTime()), body });
  return { headers: Object.entries({ ...headers, ...changes }).flat(), body: rawBody };
}

interface Told {
  readonly seen: string[];
  readonly errors: unknown[];
  readonly options: WebhookHandlerOptions;
}

function told(changes: Partial<WebhookHandlerOptions> = {}): Told {
  const [seen, errors]: [string[], unknown[]] = [[], []];
  const options: WebhookHandlerOptions = {
    verified: client.withVerification(policyOf()),
    organizationIds: [ORGANIZATION],
    jwks: JWKS,
    now: () => service.now,
    onVerified: (delivery) => void seen.push(`verified ${delivery.eventId}`),
    onRejected: (delivery) => void seen.push(`rejected ${delivery.eventId}`),
    onError: (error) => void errors.push(error),
    ...changes,
  };
  return { seen, errors, options };
}

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A server on the loopback. Returns its port. */
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Over a connection of its own, with these headers and no others that matter. */
async function post(port: number, { method = "POST", headers, body }: Delivered): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = ["Content-Length", String(body.length)];
    const all = ["Host", "hooks.test", ...length, ...headers];
    const sent = httpRequest({ port, host: "127.0.0.1", method, headers: all, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => resolve({ status: answer.statusCode!, text: Buffer.concat(chunks).toString() }));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

async function fetched(options: WebhookHandlerOptions, { method = "POST", headers, body }: Delivered): Promise<number> {
  const all = new Headers();
  for (let index = 0; index < headers.length; index += 2) all.append(headers[index]!, headers[index + 1]!);
  const init = { method, headers: all, ...(method === "POST" && { body: body as BodyInit }) };
  return (await webhookHandler(options)(new Request("https://hooks.test/", init))).status;
}

function event(of: NodeJS.EventEmitter, name: string): Promise<unknown> {
  return new Promise((resolve) => of.once(name, resolve));
}

describe("a handler in a server of Node's http", () => {
  const good = delivered();
  const again = (name: string): string[] => [...good.headers, name, good.headers[good.headers.indexOf(name) + 1]!];
  const large = delivered({}, Buffer.alloc(5 * 1024 * 1024, " "));
  const rows: [string, Delivered, number][] = [
    ["a delivery that is proven", good, 204],
    ["a body that is not what was signed", { ...good, body: Buffer.concat([BODY, Buffer.from(" ")]) }, 401],
    ["too large a body", large, 413],
    ["no headers", { ...good, headers: [] }, 400],
    ["GET", { ...good, method: "GET", body: Buffer.alloc(0) }, 405],
    ["header names in lower case", { ...good, headers: good.headers.map((text) => text.replace(/^X-.*/, lower)) }, 204],
    ["an event id twice", { ...good, headers: again("X-Webhook-Event-Id") }, 400],
    ["a signature twice", { ...good, headers: again("X-Webhook-Signature") }, 400],
    ["an event id twice, once in lower case", { ...good, headers: [...good.headers, "x-webhook-event-id", "e2"] }, 400],
  ];
  it.each(rows)("responds like the fetch form: %s", async (_, delivery, status) => {
    const [here, there] = [told(), told()];
    const port = await serve(nodeWebhookHandler(here.options));
    expect(await post(port, delivery)).toEqual({ status, text: "" });
    expect(await fetched(there.options, delivery)).toBe(status);
    expect(here.seen).toEqual(status === 204 ? ["verified e1"] : []);
    expect(here).toMatchObject({ seen: there.seen, errors: [] });
    // Nothing that is refused uses up the event, and the server goes on.
    expect((await post(port, good)).status).toBe(status === 204 ? 200 : 204);
  });

  it("accepts a body in pieces of one byte", async () => {
    const { seen, options } = told();
    const pieces: number[] = [];
    const handle = nodeWebhookHandler(options);
    const port = await serve((request, response) => {
      request.on("data", (piece: Buffer) => void pieces.push(piece.length));
      request.pause();
      handle(request, response);
    });
    const socket = await opened(port, ["Transfer-Encoding", "chunked", ...good.headers]);
    for (const byte of BODY) socket.write(Buffer.concat([Buffer.from("1\r\n"), Buffer.of(byte), Buffer.from("\r\n")]));
    socket.write("0\r\n\r\n");
    expect(await statusLine(socket)).toBe("HTTP/1.1 204 No Content");
    expect([seen, new Set(pieces), pieces.length]).toEqual([["verified e1"], new Set([1]), BODY.length]);
  });

  it("does not read an endless body", async () => {
    const { seen, errors, options } = told({ maxBodyBytes: 1000 });
    const port = await serve(nodeWebhookHandler(options));
    const socket = await opened(port, ["Transfer-Encoding", "chunked", ...good.headers]);
    socket.on("error", () => {});
    const piece = Buffer.alloc(65_536, "a");
    const pump = (): void => {
      while (socket.writable && socket.write(Buffer.concat([Buffer.from("10000\r\n"), piece, Buffer.from("\r\n")])));
    };
    socket.on("drain", pump);
    const line = statusLine(socket);
    pump();
    expect(await line).toBe("HTTP/1.1 413 Payload Too Large");
    if (!socket.closed) await event(socket, "close");
    expect(socket.bytesWritten).toBeLessThan(64 * 1024 * 1024);
    expect([seen, errors]).toEqual([[], []]);
    expect((await post(port, { ...good, body: Buffer.alloc(999) })).status).toBe(401);
  });

  it("does not consume the event of a body that is cut off, and reports it", async () => {
    const { seen, errors, options } = told();
    const handle = nodeWebhookHandler(options);
    let arrived = (): void => {};
    const here = new Promise<void>((resolve) => (arrived = resolve));
    const port = await serve((request, response) => (handle(request, response), arrived()));
    const socket = await opened(port, ["Content-Length", String(BODY.length), ...good.headers]);
    socket.write(BODY.subarray(0, 10));
    await here;
    socket.destroy();
    while (errors.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(errors).toMatchObject([{ message: expect.stringMatching(/cut off|aborted/) as string }]);
    expect([(await post(port, good)).status, seen]).toEqual([204, ["verified e1"]]);
  });

  it.each([
    ["that the request was closed", {}, "the request ended before its body was complete"],
    ["that there is something made of the body", { body: {} }, "the body was read before"],
  ])("ends if a runtime only reports %s", async (_, more, message) => {
    const { errors, options } = told();
    const facts = { method: "POST", rawHeaders: good.headers, resume: () => {}, ...more };
    const request = Object.assign(new EventEmitter(), facts);
    const response = { statusCode: 0, headersSent: false, setHeader: () => {}, end: () => {} };
    nodeWebhookHandler(options)(request, response);
    request.emit("close");
    while (response.statusCode === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(String(errors[0])).toContain(message);
  });

  it("responds with 500 if onError throws, and the process continues", async () => {
    const failing = (): never => {
      throw new Error("offline");
    };
    const { options } = told({ jwks: failing, onError: failing });
    const port = await serve(nodeWebhookHandler(options));
    expect([(await post(port, good)).status, (await post(port, good)).status]).toEqual([500, 500]);
  });

  it("leaves a response that other code has begun", async () => {
    const { seen, options } = told();
    const handle = nodeWebhookHandler(options);
    const port = await serve((request, response) => {
      response.writeHead(202).write("early");
      handle(request, response);
      const end = (): unknown =>
        seen.length > 0 ? setTimeout(() => response.end(" and late"), 20) : setImmediate(end);
      end();
    });
    expect(await post(port, good)).toEqual({ status: 202, text: "early and late" });
  });
});

function lower(text: string): string {
  return text.toLowerCase();
}

/** A connection on which the head of a request was sent. */
async function opened(port: number, headers: readonly string[]): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  await event(socket, "connect");
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]!}`] : []));
  socket.write(`POST / HTTP/1.1\r\nHost: hooks.test\r\n${lines.join("\r\n")}\r\n\r\n`);
  return socket;
}

async function statusLine(socket: Socket): Promise<string> {
  const data = (await event(socket, "data")) as Buffer;
  return data.toString().split("\r\n", 1)[0]!;
}

describe("behind the middleware of a framework", () => {
  const good = delivered();
  type Middleware = (request: IncomingMessage & { body?: unknown; rawBody?: unknown }) => Promise<void> | void;

  /** The handler behind a middleware, as Express runs it: what is added to the request is there for the handler. */
  async function behind(middleware: Middleware, delivery = good): Promise<Told & { readonly answer: Answer }> {
    const facts = told();
    const handle = nodeWebhookHandler(facts.options);
    const port = await serve((request, response) => {
      void Promise.resolve(middleware(request)).then(() => handle(request, response));
    });
    return { ...facts, answer: await post(port, delivery) };
  }

  async function bytesOf(request: IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }

  const taken: [string, Middleware][] = [
    ["that does not look at the body", () => {}],
    ["that takes its time", () => new Promise((resolve) => setTimeout(resolve, 50))],
    // body-parser 1 does so for types of content that it is not for.
    ["that sets an empty body and reads nothing", (request) => void (request.body = {})],
    ["that keeps the bytes as the body", async (request) => void (request.body = await bytesOf(request))],
    [
      "that keeps the bytes beside what it made of them",
      async (request) => {
        request.rawBody = await bytesOf(request);
        request.body = JSON.parse(String(request.rawBody));
      },
    ],
  ];
  it.each(taken)("is a delivery taken %s", async (_, middleware) => {
    const { answer, seen, errors } = await behind(middleware);
    expect([answer, seen, errors]).toEqual([{ status: 204, text: "" }, ["verified e1"], []]);
  });

  const refused: [string, Middleware][] = [
    ["parsed", async (request) => void (request.body = JSON.parse(String(await bytesOf(request))))],
    ["made text", async (request) => void (request.body = String(await bytesOf(request)))],
    ["read and thrown away", async (request) => void (await bytesOf(request))],
    ["read in part", async (request) => void (await event(request, "data"), request.pause())],
    ["said to be text", (request) => void request.setEncoding("utf8")],
  ];
  it.each(refused)("is a body refused that was %s, and the answer says what to do", async (_, middleware) => {
    const { answer, seen, errors } = await behind(middleware);
    expect(answer.status).toBe(500);
    expect(answer.text).toMatch(
      /the body was read before .* put the handler before body parsers such as express\.json/,
    );
    expect(errors).toEqual([new TypeError(answer.text)]);
    expect(seen).toEqual([]);
  });

  it("is an empty body refused, too, that was read before", async () => {
    const { answer } = await behind(async (request) => void (await bytesOf(request)), {
      ...good,
      body: Buffer.alloc(0),
    });
    expect(answer.status).toBe(500);
  });

  it("is a request noticed whose sender left while others were at work", async () => {
    const facts = told();
    const handle = nodeWebhookHandler(facts.options);
    const port = await serve((request, response) => {
      request.on("error", () => {});
      request.on("close", () => setImmediate(() => handle(request, response)));
    });
    const socket = await opened(port, ["Content-Length", "1000", ...good.headers]);
    setTimeout(() => socket.destroy(), 50);
    while (facts.errors.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(facts.errors).toMatchObject([{ message: "the request ended before its body was complete" }]);
  });

  it("is a body of too many bytes refused as elsewhere", async () => {
    const facts = told({ maxBodyBytes: 100 });
    const handle = nodeWebhookHandler(facts.options);
    const port = await serve((request: IncomingMessage & { body?: unknown }, response) => {
      void bytesOf(request).then((bytes) => handle(Object.assign(request, { body: bytes }), response));
    });
    expect(await post(port, good)).toEqual({ status: 413, text: "" });
  });
});

describe("a handler of the other kind", () => {
  it("says which one is wanted", async () => {
    const { options } = told();
    const request = new Request("https://hooks.test/", { method: "POST" });
    expect(() => nodeWebhookHandler(options)(request as never, undefined as never)).toThrow(
      /webhookHandler takes a Req/,
    );
    const ofNode = { method: "POST", headers: {}, rawHeaders: [] };
    await expect(webhookHandler(options)(ofNode as never)).rejects.toThrow(/nodeWebhookHandler takes request and resp/);
  });

  it("takes the same options, and says what is wrong with them when it is made", () => {
    expect(() => nodeWebhookHandler({ ...told().options, onVerfied: () => {} } as never)).toThrow(/onVerfied: unknown/);
  });

  it("fits the servers of Node, also that of HTTP/2, by its types", () => {
    const handle = nodeWebhookHandler(told().options);
    const ofHttp: RequestListener = handle;
    const ofHttp2: (request: Http2ServerRequest, response: Http2ServerResponse) => void = handle;
    expect([ofHttp, ofHttp2]).toEqual([handle, handle]);
  });
});
