/** The service on a socket of the loopback. Whatever comes in, the answer is JSON, and the next request is served. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { concatBytes } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { Refusal, notFound } from "./refusal.js";
import { Service } from "./service.js";

export const MAX_BODY_BYTES = 1024 * 1024;
/** Of a body that is too large, so much is read and dropped, for a client that reads the answer only when all is sent. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const KEEP_ALIVE_MS = 60_000;

const HOST = "127.0.0.1";

/** What GET answers, by path. */
export type Documents = ReadonlyMap<string, () => JsonObject>;

/** The service as HTTP. */
export class HttpDoor {
  readonly #server: Server;

  constructor(service: Service, documents: Documents) {
    this.#server = createServer((request, response) => void answer(request, response, service, documents));
    this.#server.keepAliveTimeout = KEEP_ALIVE_MS;
    this.#server.on("clientError", refuseNoise);
  }

  /** Answers the base URL. Rejects where the port is taken. */
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

  /** Ends all connections. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, service: Service, documents: Documents): Promise<void> {
  request.on("error", () => response.destroy());
  response.on("error", () => request.destroy());
  try {
    send(response, 200, await bodyOf(request, service, documents));
  } catch (error) {
    // Whoever asked has gone.
    if (!request.complete) return void response.destroy();
    const refusal = error instanceof Refusal ? error : new Refusal("INTERNAL", "the lab failed; this is a bug of it");
    if (refusal !== error) process.emitWarning(error instanceof Error ? error : String(error));
    send(response, refusal.status, refusal.body);
  }
}

async function bodyOf(request: IncomingMessage, service: Service, documents: Documents): Promise<JsonObject> {
  const path = (request.url ?? "").split("?", 1)[0]!;
  // Read even where it is not wanted: the connection is used again.
  const body = await readBody(request);
  const document = documents.get(path);
  if (document === undefined && !Service.knows(path)) throw notFound(`there is no ${path}`);
  const wanted = document === undefined ? "POST" : "GET";
  if (request.method !== wanted) {
    throw new Refusal("REQUEST_INVALID", `${request.method ?? "this method"} is not for this path: ${wanted} wanted`, { status: 405, code: 12 });
  }
  return document?.() ?? service.handle({ path, headers: request.headers, body });
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

function send(response: ServerResponse, status: number, body: JsonObject): void {
  if (response.destroyed || response.headersSent) return;
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": bytes.length });
  response.end(bytes);
}

/** What is no HTTP at all, or has headers without end. */
function refuseNoise(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const tooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const { status, body } = new Refusal("REQUEST_INVALID", tooLarge ? "the headers are too large" : "this is no HTTP request", { status: tooLarge ? 431 : 400, code: 3 });
  const bytes = JSON.stringify(body);
  const reason = tooLarge ? "Request Header Fields Too Large" : "Bad Request";
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(bytes)}\r\nConnection: close\r\n\r\n${bytes}`);
}
