/** The proxy as a server on this machine (proxy/README.md, "The server"). */
import { rm } from "node:fs/promises";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type AccountOptions, NEEDS_CLIENT } from "../door/account-options.js";
import type { Client } from "../client/client.js";
import { givenEvidence, keyOfBootProof } from "../door/evidence-source.js";
import type { JsonObject } from "../decode/json.js";
import { replaceWhole } from "../disk/whole.js";
import { startOf } from "../errors.js";
import { type PlainPolicy, parsePlainPolicy } from "../plain-settings.js";
import type { VerificationOptions } from "../door/door.js";
import { SignedPolicy } from "../signed-policy/open.js";
import type { ProvenanceVerifier } from "../verify/provenance-demand.js";
import { MAX_REQUEST_BYTES } from "../door/http.js";
import { isSubmit } from "../door/question.js";
import { printable } from "../report/printable.js";
import { refusedHead } from "./listener.js";
import { NO_ROOM, Upstream, UpstreamFault, declaredLength } from "./node-upstream.js";
import { type ForwardedRequest, type RawAnswer, type RawRequest, VerifyingProxy, headersOf } from "./proxy.js";
import { type Reply, refusal } from "./reply.js";
import { Pool, Share, readWhole, valueBytes } from "./transit.js";

export interface StartProxyOptions extends AccountOptions, Pick<VerificationOptions, "maxAgeMs" | "signerKeys"> {
  /** Address of the service, without `/public/v1`. */
  readonly upstream: string;
  /** A signed policy, or plain data, because the command has its own copy of the library's classes. */
  readonly policy: PlainPolicy | SignedPolicy;
  /** Either a client that fetches evidence with its own key, or the boot proofs themselves. */
  readonly evidence: Pick<Client, "query"> | { readonly bootProofs: readonly JsonObject[] };
  readonly port: number;
  readonly allowUnproven: boolean;
  readonly acceptance: "standard" | "strict";
  /** Sigstore bundles, as JSON texts, of the builds for which the policy demands provenance. */
  readonly provenance: readonly string[];
  readonly provenanceVerifier?: ProvenanceVerifier;
  /** Milliseconds until an answer of the service times out. */
  readonly timeoutMs: number;
  /** A file that is rewritten every few seconds while the proxy serves, and removed when the proxy ends. */
  readonly healthFile?: string;
  readonly now: () => Date;
  /** Receives a line for the operator. */
  readonly onNote: (text: string) => void;
}

interface ProxySummary {
  readonly requests: number;
  /** Number of requests that the proxy refused itself. */
  readonly refused: number;
}

export interface RunningProxy {
  readonly url: string;
  /** Ends the proxy after a short wait for current requests. */
  close(): Promise<ProxySummary>;
}

const HOST = "127.0.0.1";
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 1024;
const MIB = 1024 * 1024;
/**
 * Each pool has room for the largest body. All exchanges take from the pools in this order, which prevents a deadlock.
 */
const POOL_BYTES = { requests: 64 * MIB, questions: 144 * MIB, answers: 96 * MIB, parsed: 304 * MIB };
/**
 * Number of timeouts for which an exchange waits for room while no other exchange gets any. A client that does not read
 * its reply is cut off after one or two timeouts, so its room is free before the third has passed.
 */
const WAIT_TIMES = 3;
const HEADERS_MS = 10_000;
/** Milliseconds until an idle connection is closed. Most clients close theirs earlier. */
const KEEP_ALIVE_MS = 65_000;
const CHECK_MS = 2000;
const HEALTH_MS = 5000;
/** Milliseconds to wait for current requests at the end, in addition to the timeout. */
const GRACE_MS = 5000;
const MAX_NOTE = 1000;
/** Number of timeouts that a verification may take: it may fetch the boot proofs of several keys one by one. */
const VERIFICATION_TIMES = 3;

/**
 * Starts the proxy. Rejects with the platform's error if the port cannot be used or the health file cannot be written.
 * Rejects with TypeError if a boot proof has no `ephemeralPublicKeyHex`, or if the policy demands provenance and there
 * are no bundles.
 */
export async function startProxy(options: StartProxyOptions): Promise<RunningProxy> {
  const server = new ProxyServer(options);
  await server.start();
  return server;
}

class ProxyServer implements RunningProxy {
  readonly #options: StartProxyOptions;
  readonly #proxy: VerifyingProxy;
  readonly #upstream: Upstream;
  readonly #server: Server;
  readonly #active = new Set<Promise<void>>();
  /** Requests whose clients wait for the proxy or the service. */
  readonly #working = new Set<IncomingMessage>();
  readonly #pools: Pools;
  #requests = 0;
  #refused = 0;
  #isEnding = false;
  #health: NodeJS.Timeout | undefined;
  #healthFault = "";

  constructor(options: StartProxyOptions) {
    const { upstream, policy, evidence, timeoutMs } = options;
    if (options.verifyAddresses === true && !("query" in evidence)) throw new TypeError(NEEDS_CLIENT);
    this.#options = options;
    const query = "query" in evidence ? evidence.query : givenEvidence(evidence.bootProofs);
    const parsed = SignedPolicy.is(policy) ? policy : parsePlainPolicy(policy);
    this.#proxy = new VerifyingProxy({ ...options, policy: parsed, query });
    this.#upstream = new Upstream(upstream, timeoutMs);
    this.#pools = ofPools((name) => new Pool(POOL_BYTES[name], WAIT_TIMES * timeoutMs));
    this.#server = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        insecureHTTPParser: false,
        requireHostHeader: true,
        headersTimeout: HEADERS_MS,
        requestTimeout: 0,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: CHECK_MS,
      },
      (request, response) => this.#serve(request, response),
    );
    this.#server.maxConnections = MAX_CONNECTIONS;
    // A connection is idle if, for one timeout, Node reads nothing from it and the platform accepts no part of a reply.
    this.#server.setTimeout(timeoutMs, (socket) => this.#endIdle(socket));
    this.#server.on("clientError", refuseNoise);
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://${HOST}:${this.#port}`;
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

  #endIdle(socket: Socket): void {
    const isWorking = [...this.#working].some((request) => request.socket === socket);
    if (isWorking) socket.setTimeout(this.#options.timeoutMs);
    else socket.destroy();
  }

  /**
   * Verifies the boot proofs from files at the start, so that the operator learns at once if the policy rejects one.
   */
  async #prepare(): Promise<void> {
    const { evidence, onNote } = this.#options;
    if ("query" in evidence) return;
    const rejected = await this.#proxy.prepare(evidence.bootProofs.map(keyOfBootProof));
    for (const key of rejected) onNote(`warning: the policy rejects the boot proof of key ${key.slice(0, 16)}…`);
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
    // Nothing to do: the event "close" follows an error.
    response.on("error", () => {});
    const shares = ofPools((name) => new Share(this.#pools[name]));
    try {
      const reply = await this.#written(request, shares, gone.signal);
      if (reply === null) return;
      this.#requests++;
      if (reply.note !== null) this.#refused++;
      if (reply.note !== null) this.#note(`${reply.status} ${reply.note}`);
      await drained(request);
      await sent(response, reply, this.#isEnding);
    } finally {
      for (const share of Object.values(shares)) share.end();
    }
  }

  /** Resolves to the reply as bytes, and frees all other memory of the exchange. Null if the client is gone. */
  async #written(request: IncomingMessage, shares: Shares, gone: AbortSignal): Promise<WrittenReply | null> {
    const refused = refusedHead(headOf(request), this.#port);
    const reply = refused ?? (await this.#replyTo(request, shares, gone));
    if (reply === null) return null;
    for (const share of [shares.requests, shares.questions, shares.parsed]) share.end();
    // The share `answers` now covers the reply, which is not longer than the answer.
    return { ...reply, body: Buffer.from(reply.body) };
  }

  async #replyTo(request: IncomingMessage, shares: Shares, gone: AbortSignal): Promise<Reply | null> {
    const body = await this.#bodyOf(request, shares.requests, gone);
    if (!(body instanceof Uint8Array)) return body;
    return this.#during(request, async () => {
      // The question keeps values of the body, which take at most two bytes a character.
      if (!(await shares.questions.take(2 * body.length + valueBytes(body), gone))) return noRoom(gone);
      const decision = this.#proxy.decide({ ...headOf(request), body });
      return "refused" in decision ? decision.refused : this.#forward(decision.forwarded, shares, gone);
    });
  }

  /** Resolves to the body, or to a refusal. Null if the client is gone. */
  async #bodyOf(request: IncomingMessage, share: Share, gone: AbortSignal): Promise<Uint8Array | Reply | null> {
    const pieces = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    const take = (bytes: number): Promise<boolean> => this.#during(request, () => share.take(bytes, gone));
    try {
      const body = await readWhole(pieces, { length: declaredLength(request), limit: MAX_REQUEST_BYTES, take });
      if (body === "busy") return noRoom(gone);
      if (body === "too-large") return refusal("too-large", `the body is larger than ${MAX_REQUEST_BYTES} bytes`);
      return body;
    } catch {
      return null;
    }
  }

  /** Runs the work. Meanwhile the connection of the waiting client is not closed for lack of progress. */
  async #during<T>(request: IncomingMessage, work: () => Promise<T>): Promise<T> {
    this.#working.add(request);
    try {
      return await work();
    } finally {
      this.#working.delete(request);
    }
  }

  async #forward(forwarded: ForwardedRequest, shares: Shares, gone: AbortSignal): Promise<Reply> {
    const { exchange } = forwarded;
    const { question } = exchange;
    const isLasting = isSubmit(question);
    // A submit takes effect even if its caller is gone, and its answer must be bound to its request.
    const signal = isLasting ? new AbortController().signal : gone;
    try {
      const answer = await this.#upstream.exchange(forwarded, signal, (bytes) => shares.answers.take(bytes, signal));
      await takeParsed(answer, shares, signal);
      const ended = AbortSignal.timeout(VERIFICATION_TIMES * this.#options.timeoutMs);
      return await this.#proxy.answer(exchange, answer, ended);
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error;
      const advice = isLasting ? ". The service may have carried it out" : "";
      return refusal(error.kind, `${isLasting ? "submit" : "query"}/${question.operation}: ${error.message}${advice}`);
    }
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

function headOf({ method = "", url: target = "", rawHeaders }: IncomingMessage): Omit<RawRequest, "body"> {
  return { method, target, headers: headersOf(rawHeaders) };
}

type Pools = Readonly<Record<keyof typeof POOL_BYTES, Pool>>;
type Shares = Readonly<Record<keyof typeof POOL_BYTES, Share>>;
type WrittenReply = Omit<Reply, "body"> & { readonly body: Uint8Array };

function ofPools<T>(make: (name: keyof typeof POOL_BYTES) => T): Readonly<Record<keyof typeof POOL_BYTES, T>> {
  const [requests, questions] = [make("requests"), make("questions")];
  return { requests, questions, answers: make("answers"), parsed: make("parsed") };
}

/** Returns the refusal for lack of room. Null if the client is gone. */
function noRoom(gone: AbortSignal): Reply | null {
  return gone.aborted ? null : refusal("busy", NO_ROOM);
}

/** Takes room for the answer's text, the reply's text, and the parsed values. Each text takes two bytes a character. */
async function takeParsed({ body }: RawAnswer, { answers, parsed }: Shares, signal: AbortSignal): Promise<void> {
  answers.keep(body?.length ?? 0);
  if (body === null || (await parsed.take(10 * body.length + valueBytes(body), signal))) return;
  throw new UpstreamFault("busy", NO_ROOM);
}

/**
 * Reads the rest of a body. If it were not read, the connection would be reset, and the client could miss the reply.
 */
async function drained(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  const late = AbortSignal.timeout(HEADERS_MS);
  await new Promise<void>((resolve) => {
    late.addEventListener("abort", () => resolve());
    request.on("close", resolve).on("end", resolve).resume();
  });
}

/** Sends the reply. Resolves when the client has read it, or is gone. */
async function sent(response: ServerResponse, reply: WrittenReply, isLast: boolean): Promise<void> {
  if (response.destroyed) return;
  response.writeHead(reply.status, {
    ...reply.headers,
    "Content-Type": "application/json",
    "Content-Length": reply.body.length,
    "Cache-Control": "no-store",
    ...(isLast && { Connection: "close" }),
  });
  await new Promise<void>((resolve) => {
    response.once("close", resolve);
    response.end(reply.body);
  });
}

/** Refuses input that is not HTTP, is ambiguous, or takes too long. */
function refuseNoise(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { body } = refusal("invalid-request", "expected one HTTP/1.1 request, within the limits of size and time");
  socket.end(
    "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n" +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
