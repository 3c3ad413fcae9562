/** Serves the service on a loopback socket. It responds with JSON, even to invalid requests. */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { concatBytes } from "../bytes.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { Refusal, notFound } from "./refusal.js";
import { GUESS_HEADER, Service, bodyJson } from "./service.js";

const MAX_BODY_BYTES = 1024 * 1024;
/**
 * Number of bytes that are read even if a body is too large, because some clients send all of it before they read the
 * response.
 */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const KEEP_ALIVE_MS = 60_000;

const HOST = "127.0.0.1";

/** A resource with a function for each HTTP method. The functions throw Refusal. Text is JSON Lines. */
export interface Resource {
  readonly get?: () => JsonObject | string | Promise<string>;
  readonly put?: (json: JsonValue) => JsonObject;
  readonly post?: (json: JsonValue, headers: IncomingHttpHeaders) => Promise<JsonObject>;
}

type Resources = ReadonlyMap<string, Resource>;

/** The headers of browser clients (client/README.md, "Browsers"). */
const CLIENT_HEADERS = ["content-type", "accept", "x-stamp", "x-stamp-webauthn", "x-client-version"];
/** The lab has no secrets, so every origin is allowed. */
const ANY_ORIGIN = { "Access-Control-Allow-Origin": "*" } as const;
const EXPOSED = { "Access-Control-Expose-Headers": Object.keys(GUESS_HEADER).join(", ") } as const;

export class HttpServer {
  readonly #server: Server;

  constructor(service: Service, resources: Resources) {
    this.#server = createServer((request, response) => void answer(request, response, service, resources));
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.on("clientError", refuseNoise);
  }

  /** Starts listening. Resolves to the base URL. Rejects if the port is in use. */
  async listen(port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, HOST, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  service: Service,
  resources: Resources,
): Promise<void> {
  request.on("error", () => response.destroy());
  response.on("error", () => request.destroy());
  const guess = Service.guesses(pathOf(request)) ? GUESS_HEADER : {};
  try {
    if (request.method === "OPTIONS") preflight(request, response, resources);
    else send(response, 200, await bodyOf(request, service, resources), guess);
  } catch (error) {
    if (!request.complete) return void response.destroy();
    const refusal = error instanceof Refusal ? error : new Refusal("INTERNAL", "the lab failed: a bug in the lab");
    if (refusal !== error) process.emitWarning(error instanceof Error ? error : String(error));
    const { status, body, retryAfter } = refusal;
    send(response, status, body, { ...guess, ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }) });
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").split("?", 1)[0]!;
}

/** Answers a preflight (Fetch standard, "CORS-preflight request"). */
function preflight(request: IncomingMessage, response: ServerResponse, resources: Resources): void {
  request.resume();
  const requested = (request.headers["access-control-request-headers"] ?? "").toLowerCase().split(",");
  const named = requested.map((name) => name.trim()).filter((name) => /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name));
  const headers = [...new Set([...CLIENT_HEADERS, ...named])];
  response.writeHead(204, {
    ...ANY_ORIGIN,
    "Access-Control-Allow-Methods": [...methodsOf(resources.get(pathOf(request))), "OPTIONS"].join(", "),
    "Access-Control-Allow-Headers": headers.join(", "),
  });
  response.end();
}

function methodsOf(resource: Resource | undefined): string[] {
  if (resource === undefined) return ["POST"];
  return (["get", "put", "post"] as const).filter((name) => resource[name]).map((name) => name.toUpperCase());
}

async function bodyOf(request: IncomingMessage, service: Service, resources: Resources): Promise<JsonObject | string> {
  const path = pathOf(request);
  // The body is always read, so that the connection can be reused.
  const body = await readBody(request);
  const resource = resources.get(path);
  if (resource === undefined && !Service.knows(path)) throw notFound(`there is no ${path}`);
  const { method = "this method" } = request;
  const wanted = methodsOf(resource);
  if (!wanted.includes(method)) {
    const message = `${method} is not allowed for this path: expected ${wanted.join(" or ")}`;
    throw new Refusal("REQUEST_INVALID", message, { status: 405, code: 12 });
  }
  if (resource === undefined) return service.handle({ path, headers: request.headers, body });
  if (method === "GET") return resource.get!();
  return method === "PUT" ? resource.put!(bodyJson(body)) : resource.post!(bodyJson(body), request.headers);
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    total += chunk.length;
    if (total <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
    if (total > MAX_DRAINED_BYTES) break;
  }
  if (total > MAX_BODY_BYTES) {
    throw new Refusal("REQUEST_INVALID", `the body is larger than ${MAX_BODY_BYTES} bytes`, { status: 413, code: 3 });
  }
  return concatBytes(...chunks);
}

function send(
  response: ServerResponse,
  status: number,
  body: JsonObject | string,
  more: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const type = typeof body === "string" ? "application/jsonl" : "application/json";
  response.writeHead(status, {
    ...ANY_ORIGIN,
    ...EXPOSED,
    ...more,
    "Content-Type": type,
    "Content-Length": bytes.length,
  });
  response.end(bytes);
}

/** Refuses input that is not HTTP, or headers that are too large. */
function refuseNoise(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const { status, body } = new Refusal(
    "REQUEST_INVALID",
    tooLarge ? "the headers are too large" : "this is not an HTTP request",
    { status: tooLarge ? 431 : 400, code: 3 },
  );
  const bytes = JSON.stringify(body);
  const reason = tooLarge ? "Request Header Fields Too Large" : "Bad Request";
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: ` +
      `application/json\r\nContent-Length: ${Buffer.byteLength(bytes)}\r\nConnection: close\r\n\r\n${bytes}`,
  );
}
