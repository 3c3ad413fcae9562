/** A lab, a service before it that lies on the wire, and proxies. */
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeEach } from "vitest";
import { apiKeyStamper, createClient } from "../../src/client/index.js";
import { parsePolicy } from "../../src/index.js";
import { type Lab, type LabOptions, startLab } from "../../src/lab/index.js";
import { plainPolicy } from "../../src/plain-settings.js";
import { type RunningProxy, type StartProxyOptions, startProxy } from "../../src/proxy/node.js";
import type { Json } from "../lab/support.js";
import { loopback } from "../support/loopback.js";

export interface TestProxy extends RunningProxy {
  readonly notes: readonly string[];
  /** The lab, by the proxy's address. */
  readonly lab: Lab;
}

export async function proxyFor(lab: Lab, given: Partial<StartProxyOptions> = {}): Promise<TestProxy> {
  const notes: string[] = [];
  const client = createClient({
    baseUrl: lab.baseUrl,
    organizationId: "none",
    stamper: await apiKeyStamper(lab.apiKey),
    maxRetries: 0,
  });
  const proxy = await startProxy({
    upstream: lab.baseUrl,
    policy: plainPolicy(parsePolicy(JSON.stringify(lab.policyFile))),
    evidence: client,
    port: 0,
    allowUnproven: false,
    acceptance: "standard",
    provenance: [],
    timeoutMs: 20_000,
    now: () => new Date(),
    onNote: (text) => notes.push(text),
    ...given,
  });
  return {
    url: proxy.url,
    close: () => proxy.close(),
    notes,
    lab: Object.create(lab, { baseUrl: { value: proxy.url } }) as Lab,
  };
}

/** What the honest service answered, to be changed. */
export interface Honest {
  readonly path: string;
  readonly status: number;
  readonly json: Json;
  readonly text: string;
}

export interface Liar {
  readonly url: string;
  readonly requests: IncomingMessage[];
  readonly bodies: Buffer[];
  /** What is written to the socket for each honest answer. */
  lie: (honest: Honest) => Buffer | string | Promise<string>;
  close(): Promise<void>;
}

/** Tests may replace the global one. */
const plainFetch = globalThis.fetch;

/** A service that asks the lab, and writes what it wants to the socket. */
async function liarBefore(lab: Lab): Promise<Liar> {
  const liar = { requests: [] as IncomingMessage[], bodies: [] as Buffer[], lie: honestly as Liar["lie"] };
  const server = await loopback(async (request, response, body) => {
    liar.requests.push(request);
    liar.bodies.push(body);
    const { "x-stamp": stamp = "" } = request.headers;
    const answer = await plainFetch(lab.baseUrl + request.url!, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "x-stamp": String(stamp) },
    });
    const text = await answer.text();
    const path = request.url!.replace("/public/v1/", "");
    const said = await liar.lie({ path, status: answer.status, text, json: JSON.parse(text) as Json });
    response.socket!.end(said);
  });
  return Object.assign(liar, server);
}

/** A lab and a service before it, for all tests of a file. Each test begins with an honest service. */
export async function lyingLab(options?: LabOptions): Promise<{ readonly lab: Lab; readonly liar: Liar }> {
  const lab = await startLab(options);
  const liar = await liarBefore(lab);
  afterAll(async () => {
    await liar.close();
    await lab.close();
  });
  beforeEach(() => {
    liar.lie = honestly;
    liar.requests.length = 0;
    liar.bodies.length = 0;
  });
  return { lab, liar };
}

export function honestly({ status, text }: Honest): string {
  return wire(text, { status });
}

/** An answer as it is on the wire. `headers` replace the usual ones. */
export function wire(
  body: string,
  { status = 200, headers }: { readonly status?: number; readonly headers?: readonly string[] } = {},
): string {
  const usual = ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`];
  return [`HTTP/1.1 ${status} Words`, ...(headers ?? usual), "Connection: close", "", body].join("\r\n");
}

/**
 * Writes these bytes, and resolves to everything that comes back until the proxy ends the connection. `end`: this side
 * ends it once the bytes are written.
 */
export function exchange(url: string, bytes: string | Buffer, end?: "end"): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(bytes, () => end && socket.end());
    });
    let received = "";
    socket.setEncoding("latin1").on("data", (text: string) => (received += text));
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
  });
}
