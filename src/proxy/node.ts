/** The proxy as a server on this machine (proxy/README.md, "The server"). */
import { AsyncLocalStorage } from "node:async_hooks";
import { rm } from "node:fs/promises";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { fromHex } from "../bytes.js";
import { BoundedBytes } from "../client/bounded-bytes.js";
import type { Client } from "../client/client.js";
import type { EvidenceSource } from "../client/evidence.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { replaceWhole } from "../disk/whole.js";
import { startOf } from "../errors.js";
import { type PlainPolicy, parsePlainPolicy } from "../plain-settings.js";
import { demandsProvenance } from "../inputs.js";
import type { ProvenanceVerifier } from "../verify/provenance-demand.js";
import { printable } from "../report/printable.js";
import { Upstream, UpstreamFault } from "./node-upstream.js";
import { VerifyingProxy } from "./proxy.js";
import { type Reply, refusal } from "./reply.js";
import { type ForwardedRequest, MAX_REQUEST_BYTES } from "./request.js";

export interface StartProxyOptions {
  /** The address of the service, without `/public/v1`. */
  readonly upstream: string;
  /** As plain data: the command is another copy of the library. */
  readonly policy: PlainPolicy;
  /** A client that fetches the evidence with its own key; or boot proofs. */
  readonly evidence: Pick<Client, "query"> | { readonly bootProofs: readonly JsonObject[] };
  readonly port: number;
  readonly allowUnproven: boolean;
  readonly acceptance: "standard" | "strict";
  /** Sigstore bundles of the builds that the policy demands, as JSON text. */
  readonly provenance: readonly string[];
  /** Milliseconds that one answer of the service may take. */
  readonly timeoutMs: number;
  /** Rewritten every few seconds while the proxy serves, and removed at its end. */
  readonly healthFile?: string;
  readonly now: () => Date;
  /** A line for the operator. */
  readonly onNote: (text: string) => void;
}

interface ProxySummary {
  readonly requests: number;
  /** Answered by the proxy itself with an error. */
  readonly refused: number;
}

export interface RunningProxy {
  readonly url: string;
  /** Finishes the current requests, for a while, and ends. */
  close(): Promise<ProxySummary>;
}

const HOST = "127.0.0.1";
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 1024;
/** Of requests and answers that are buffered at one time. */
const MAX_BUFFERED_BYTES = 512 * 1024 * 1024;
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
/** Longer than the pools of most clients keep a connection: they close it first. */
const KEEP_ALIVE_MS = 65_000;
const CHECK_MS = 2000;
const HEALTH_MS = 5000;
/** The longest wait for requests at the end, beside the answer's own time. */
const GRACE_MS = 5000;
const MAX_NOTE = 1000;
/** Verification may fetch the boot proofs of several keys, one after the other, and try again. */
const VERIFICATION_TIMES = 3;

/**
 * Rejects with the errors of the platform for a port that cannot be used and a health file that cannot be written, and
 * with TypeError for boot proofs without `ephemeralPublicKeyHex`, and for a policy that demands provenance without
 * bundles.
 */
export async function startProxy(options: StartProxyOptions): Promise<RunningProxy> {
  const server = new ProxyServer(options, await verifierFor(options));
  await server.start();
  return server;
}

/** The package is loaded only where the policy demands provenance. */
async function verifierFor({ policy }: StartProxyOptions): Promise<ProvenanceVerifier | undefined> {
  if (!demandsProvenance(parsePlainPolicy(policy))) return undefined;
  const { sigstoreVerifier } = await import("../provenance/index.js");
  return sigstoreVerifier();
}

class ProxyServer implements RunningProxy {
  readonly #options: StartProxyOptions;
  readonly #proxy: VerifyingProxy;
  readonly #upstream: Upstream;
  readonly #server: Server;
  /** The organization of the request whose evidence is fetched. */
  readonly #organization = new AsyncLocalStorage<string>();
  readonly #active = new Set<Promise<void>>();
  #bufferedBytes = 0;
  #requests = 0;
  #refused = 0;
  #isEnding = false;
  #health: NodeJS.Timeout | undefined;
  #healthFault = "";

  constructor(options: StartProxyOptions, provenanceVerifier: ProvenanceVerifier | undefined) {
    const { upstream, policy, evidence, allowUnproven, acceptance, provenance, timeoutMs, now } = options;
    this.#options = options;
    const source = "query" in evidence ? this.#clientSource(evidence) : fileSource(evidence.bootProofs, now);
    this.#proxy = new VerifyingProxy({
      policy: parsePlainPolicy(policy),
      evidence: source,
      allowUnproven,
      acceptance,
      provenance,
      ...(provenanceVerifier && { provenanceVerifier }),
    });
    this.#upstream = new Upstream(upstream, timeoutMs);
    this.#server = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        insecureHTTPParser: false,
        requireHostHeader: true,
        headersTimeout: HEADERS_MS,
        requestTimeout: REQUEST_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
      },
      (request, response) => this.#serve(request, response),
    );
    this.#server.maxConnections = MAX_CONNECTIONS;
    // Bounds a client that does not read its answer.
    this.#server.setTimeout(REQUEST_MS + (1 + VERIFICATION_TIMES) * timeoutMs);
    this.#server.on("clientError", refuseNoise);
  }

  get url(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<void> {
    await this.#prepare();
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#options.port, HOST, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    if (this.#options.healthFile === undefined) return;
    await this.#writeHealth(this.#options.healthFile).catch(async (error: unknown) => {
      await this.#closeServer(0);
      throw error;
    });
    this.#health = setInterval(() => void this.#renewHealth(), HEALTH_MS);
  }

  async close(): Promise<ProxySummary> {
    this.#isEnding = true;
    clearInterval(this.#health);
    await this.#closeServer(this.#options.timeoutMs + GRACE_MS);
    if (this.#options.healthFile !== undefined) await rm(this.#options.healthFile, { force: true }).catch(() => {});
    return { requests: this.#requests, refused: this.#refused };
  }

  async #closeServer(graceMs: number): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
    await Promise.race([Promise.all(this.#active), new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
  }

  /** Boot proofs of files are verified at once: an operator learns early that the policy rejects one. */
  async #prepare(): Promise<void> {
    const { evidence, onNote } = this.#options;
    if ("query" in evidence) return;
    const rejected = await this.#proxy.prepare(evidence.bootProofs.map(keyOf));
    for (const key of rejected) onNote(`warning: the policy rejects the boot proof of key ${key.slice(0, 16)}…`);
  }

  /** The cache of boot proofs names no organization: the key's owner reads them in that of the request. */
  #clientSource(client: Pick<Client, "query">): EvidenceSource {
    return {
      now: this.#options.now,
      query: (name, parameters, call) => {
        const organizationId = call.organizationId ?? this.#organization.getStore();
        return client.query(name, parameters, { ...call, ...(organizationId !== undefined && { organizationId }) });
      },
    };
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const done = this.#reply(request, response).catch((error: unknown) => {
      this.#note(`a request failed: ${error instanceof Error ? error.name : "unknown"}`);
      response.destroy();
    });
    this.#active.add(done);
    void done.finally(() => this.#active.delete(done));
  }

  async #reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    // An error is followed by "close".
    response.on("error", () => {});
    const buffer = new Share(this);
    try {
      const body = await readBody(request, buffer);
      if (body === null) return;
      const reply = body instanceof Uint8Array ? await this.#replyTo(request, body, buffer, gone.signal) : body;
      this.#requests++;
      if (reply.note !== null) this.#refused++;
      if (reply.note !== null) this.#note(`${reply.status} ${reply.note}`);
      await sent(response, reply, this.#isEnding || !(body instanceof Uint8Array));
    } finally {
      buffer.release();
    }
  }

  async #replyTo(request: IncomingMessage, body: Uint8Array, buffer: Share, gone: AbortSignal): Promise<Reply> {
    const { method = "", url: target = "", rawHeaders } = request;
    const decision = this.#proxy.decide({ method, target, rawHeaders, body });
    return "refused" in decision ? decision.refused : this.#forward(decision.forwarded, buffer, gone);
  }

  async #forward(forwarded: ForwardedRequest, buffer: Share, gone: AbortSignal): Promise<Reply> {
    const { question } = forwarded;
    // A submit takes effect whether its caller waits or not, and its request is kept for get_activity.
    const signal = question.kind === "submit" ? new AbortController().signal : gone;
    try {
      const answer = await this.#upstream.exchange(forwarded, signal, (bytes) => buffer.take(bytes));
      const organizationId = question.kind === "submit" ? question.sent.organizationId : question.organizationId;
      const ended = AbortSignal.timeout(VERIFICATION_TIMES * this.#options.timeoutMs);
      return await this.#organization.run(organizationId ?? "", () => this.#proxy.answer(question, answer, ended));
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error;
      const advice = question.kind === "submit" ? ". The service may have carried it out" : "";
      return refusal(error.kind, `${question.kind}/${question.name}: ${error.message}${advice}`);
    }
  }

  /** For {@link Share}. */
  buffer(bytes: number): boolean {
    if (bytes > 0 && this.#bufferedBytes + bytes > MAX_BUFFERED_BYTES) return false;
    this.#bufferedBytes += bytes;
    return true;
  }

  async #renewHealth(): Promise<void> {
    try {
      await this.#writeHealth(this.#options.healthFile!);
      this.#healthFault = "";
    } catch (error) {
      const { code = "unknown" } = error as NodeJS.ErrnoException;
      if (code !== this.#healthFault) this.#note(`the health file cannot be written (${code})`);
      this.#healthFault = code;
    }
  }

  async #writeHealth(path: string): Promise<void> {
    if (this.#isEnding) return;
    const at = this.#options.now().toISOString();
    const state = { at, url: this.url, requests: this.#requests, refused: this.#refused };
    await replaceWhole(path, `${JSON.stringify(state)}\n`);
  }

  #note(text: string): void {
    this.#options.onNote(printable(startOf(text, MAX_NOTE)));
  }
}

/** The bytes that one exchange has buffered. */
class Share {
  readonly #server: ProxyServer;
  #bytes = 0;

  constructor(server: ProxyServer) {
    this.#server = server;
  }

  take(bytes: number): boolean {
    if (!this.#server.buffer(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  release(): void {
    this.#server.buffer(-this.#bytes);
    this.#bytes = 0;
  }
}

/** Null if the client is gone. */
async function readBody(request: IncomingMessage, buffer: Share): Promise<Uint8Array | Reply | null> {
  const bytes = new BoundedBytes(MAX_REQUEST_BYTES);
  try {
    for await (const piece of request as AsyncIterable<Uint8Array>) {
      if (!buffer.take(piece.length)) return refusal("busy", "too many bytes are in transit: try again later");
      if (!bytes.add(piece)) return refusal("too-large", `the body is larger than ${MAX_REQUEST_BYTES} bytes`);
    }
    return bytes.bytes;
  } catch {
    return null;
  }
}

/** Resolves when the client has read it, or is gone. */
async function sent(response: ServerResponse, reply: Reply, isLast: boolean): Promise<void> {
  if (response.destroyed) return;
  const bytes = Buffer.from(reply.body);
  response.writeHead(reply.status, {
    ...reply.headers,
    "Content-Type": "application/json",
    "Content-Length": bytes.length,
    "Cache-Control": "no-store",
    ...(isLast && { Connection: "close" }),
  });
  await new Promise<void>((resolve) => {
    response.once("close", resolve);
    response.end(bytes);
  });
}

/** Input that is not HTTP, is ambiguous, or takes too long. */
function refuseNoise(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { body } = refusal("invalid-request", "this is not one HTTP/1.1 request of a permitted size in time");
  socket.end(
    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n" +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Boot proofs by key. App proofs come with their activity, or there are none. */
function fileSource(bootProofs: readonly JsonObject[], now: () => Date): EvidenceSource {
  const byKey = new Map(bootProofs.map((bootProof) => [keyOf(bootProof), bootProof]));
  const answers: Readonly<Record<string, (parameters: JsonObject) => JsonValue>> = {
    get_boot_proof: ({ ephemeralKey }) => ({ bootProof: byKey.get(String(ephemeralKey).toLowerCase()) ?? null }),
    list_app_proofs: () => ({ appProofs: [] }),
  };
  return { now, query: (name, parameters) => Promise.resolve(answers[name]?.(parameters) ?? {}) };
}

function keyOf(bootProof: JsonObject): string {
  const key = isJsonObject(bootProof) ? bootProof["ephemeralPublicKeyHex"] : undefined;
  if (typeof key === "string" && fromHex(key)?.length === QOS_PUBLIC_KEY_LENGTH) return key.toLowerCase();
  throw new TypeError(`bootProofs: ephemeralPublicKeyHex: ${QOS_PUBLIC_KEY_LENGTH} bytes in hex wanted`);
}
