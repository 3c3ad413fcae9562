/** Health over HTTP: `/metrics`, `/healthz`, `/readyz` (run/README.md, "Health"). */
import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type PromClient from "prom-client";
import { LABELS, MEASURES } from "./measures.js";
import type { HealthState } from "./health.js";

/** The package `prom-client` is not installed, or cannot be loaded. */
export class MetricsMissingError extends Error {
  override readonly name = "MetricsMissingError";
}

export interface HealthAddress {
  readonly host: string;
  /** Port; 0 means any free one. */
  readonly port: number;
}

interface HealthServer {
  /** Address, such as `http://127.0.0.1:9464`. */
  readonly url: string;
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 64;
const REQUEST_MS = 10_000;

interface Page {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
}

type Pages = ReadonlyMap<string | undefined, () => Page | Promise<Page>>;

/** Rejects with {@link MetricsMissingError}, and with the platform's error if the address cannot be used. */
export async function serveHealth({ host, port }: HealthAddress, state: () => HealthState): Promise<HealthServer> {
  const pages: Pages = new Map<string, () => Page | Promise<Page>>([
    ["/metrics", await metricsPage(state)],
    ["/healthz", () => ({ status: 200, text: "ok\n" })],
    ["/readyz", () => (state().isReady ? { status: 200, text: "ok\n" } : { status: 503, text: "not ready\n" })],
  ]);
  const options = { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS };
  const server = createServer(options, (request, response) => void reply(request, response, pages));
  keepNewest(server);
  server.setTimeout(REQUEST_MS);
  await once(server.listen(port, host), "listening");
  // The server must not keep the process alive.
  server.unref();
  const close = (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    return closed;
  };
  return { url: urlOf(server), close };
}

/**
 * Ends the connection that was idle for the longest time where there are too many. A limit that refuses new ones would
 * let connections that never send a request fail every probe.
 */
function keepNewest(server: Server): void {
  const sockets = new Set<Socket>();
  const touch = (socket: Socket): void => void (sockets.delete(socket), sockets.add(socket));
  server.on("connection", (socket) => {
    touch(socket);
    socket.once("close", () => sockets.delete(socket));
    const [oldest] = sockets.size > MAX_CONNECTIONS ? sockets : [];
    sockets.delete(oldest!);
    oldest?.destroy();
  });
  server.on("request", ({ socket }) => touch(socket));
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

async function reply(request: IncomingMessage, response: ServerResponse, pages: Pages): Promise<void> {
  // Nothing to do: the event "close" follows an error.
  response.on("error", () => {});
  const { method = "", url = "" } = request;
  const found = pageFor(method, pages.get(url.split("?", 1)[0]));
  const { status, text, type = "text/plain; charset=utf-8" } = await found.catch((): Page => FAILED);
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(text),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...(status === 405 && { Allow: "GET, HEAD" }),
  });
  response.end(method === "HEAD" ? undefined : text);
}

const FAILED = { status: 500, text: "failed\n" };

async function pageFor(method: string, page: ReturnType<Pages["get"]>): Promise<Page> {
  if (page === undefined) return { status: 404, text: "not found: the paths are /metrics, /healthz and /readyz\n" };
  if (method !== "GET" && method !== "HEAD") return { status: 405, text: "GET or HEAD only\n" };
  return page();
}

/** Uses a new registry, because the default registry belongs to the program that embeds this package. */
async function metricsPage(state: () => HealthState): Promise<() => Promise<Page>> {
  const { Counter, Gauge, Registry } = await loadPackage();
  const registry = new Registry();
  for (const [name, [help, values]] of Object.entries(MEASURES[state().command])) {
    const collect = function (this: PromClient.Counter | PromClient.Gauge): void {
      this.reset();
      for (const { labels, value } of values(state())) this.inc(labels, value);
    };
    const Kind = name.endsWith("_total") ? Counter : Gauge;
    new Kind({ name, help, labelNames: LABELS, registers: [registry], collect });
  }
  return async () => ({ status: 200, text: await registry.metrics(), type: registry.contentType });
}

/** The package is loaded here, because programs that serve no metrics need not install it. */
async function loadPackage(): Promise<Pick<typeof PromClient, "Counter" | "Gauge" | "Registry">> {
  try {
    const { default: loaded } = await import("prom-client");
    return loaded;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ERR_MODULE_NOT_FOUND" ? "is not installed" : `cannot be loaded (${message})`;
    throw new MetricsMissingError(`metrics need the package prom-client, which ${reason}: npm install prom-client@15`, {
      cause: error,
    });
  }
}
