/** Shared by the client's tests: a scripted service, keys, and stamps verified by node:crypto alone. */
import { createECDH, createPublicKey, createVerify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import {
  type ApiKey,
  type ClientError,
  type ClientOptions,
  type Stamper,
  apiKeyStamper,
  createClient,
} from "../../src/client/index.js";
import type { Client } from "../../src/client/index.js";
import { expect } from "vitest";
import { loopback } from "../support/loopback.js";

export const AT = new Date("2026-03-04T05:06:07.000Z");
export const ORGANIZATION = "3a2de333-972b-45bf-8a7a-83c4167b81e2";
export const BASE_URL = "https://service.test";

/** A key pair made by node:crypto, in the form of a key file. */
export function newApiKey(): ApiKey {
  const ecdh = createECDH("prime256v1");
  ecdh.generateKeys();
  return { publicKey: ecdh.getPublicKey("hex", "compressed"), privateKey: ecdh.getPrivateKey("hex").padStart(64, "0") };
}

export const apiKey = newApiKey();

/** Whether X-Stamp is the key's over exactly these bytes: nothing of the package is used. */
export function isStamped(header: string, body: Uint8Array, publicKey = apiKey.publicKey): boolean {
  const stamp = JSON.parse(Buffer.from(header, "base64url").toString("utf8")) as Record<string, string>;
  const isFormed =
    Object.keys(stamp).join() === "publicKey,scheme,signature" &&
    stamp["scheme"] === "SIGNATURE_SCHEME_TK_API_P256" &&
    !/[=+/]/.test(header) &&
    stamp["publicKey"] === publicKey;
  // SubjectPublicKeyInfo of a compressed point.
  const spki = Buffer.from(`3039301306072a8648ce3d020106082a8648ce3d030107032200${stamp["publicKey"]}`, "hex");
  const key = createPublicKey({ key: spki, format: "der", type: "spki" });
  return isFormed && createVerify("SHA256").update(body).verify(key, Buffer.from(stamp["signature"]!, "hex"));
}

export interface Recorded {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Uint8Array;
  readonly body: Record<string, unknown>;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** JSON; text and bytes as they are. */
  readonly body?: unknown;
}

/** Returns a response, or throws like a network. */
export type Answer = (request: Recorded) => Reply | Promise<Reply>;

/** A `fetch` with scripted responses that records the requests. */
export function fakeFetch(answer: Answer): { fetch: typeof fetch; requests: Recorded[] } {
  const requests: Recorded[] = [];
  const fake = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const raw = new Uint8Array(await request.arrayBuffer());
    const recorded = record(new URL(request.url).pathname, request.method, Object.fromEntries(request.headers), raw);
    requests.push(recorded);
    const { status = 200, headers = {}, body } = await answer(recorded);
    return new Response(bodyOf(body) as BodyInit | null, { status, headers });
  };
  return { fetch: fake as typeof fetch, requests };
}

function record(path: string, method: string, headers: IncomingHttpHeaders, raw: Uint8Array): Recorded {
  return { path, method, headers, raw, body: JSON.parse(Buffer.from(raw).toString("utf8")) as Record<string, unknown> };
}

function bodyOf(body: unknown): Buffer | null {
  if (body === undefined) return null;
  return Buffer.from(typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body));
}

/** A real HTTP server on the loopback that does the same. */
export async function fakeServer(
  answer: Answer,
): Promise<{ baseUrl: string; requests: Recorded[]; close: () => Promise<void> }> {
  const requests: Recorded[] = [];
  const { url, close } = await loopback(async (incoming, outgoing, bytes) => {
    const recorded = record(incoming.url!, incoming.method!, incoming.headers, new Uint8Array(bytes));
    requests.push(recorded);
    const { status = 200, headers = {}, body } = await answer(recorded);
    outgoing.writeHead(status, headers).end(bodyOf(body));
  });
  return { baseUrl: url, requests, close };
}

let stamper: Stamper | undefined;

export async function testStamper(): Promise<Stamper> {
  return (stamper ??= await apiKeyStamper(apiKey));
}

/** A client with a fixed clock, randomness of one half, and no waits. */
export async function testClient(options: Partial<ClientOptions> & { waits?: number[] } = {}): Promise<Client> {
  const { waits = [], ...rest } = options;
  return createClient({
    baseUrl: BASE_URL,
    organizationId: ORGANIZATION,
    stamper: await testStamper(),
    now: () => AT,
    random: () => 0.5,
    sleep: neverTimeUp(waits),
    timeoutMs: TIMEOUT_MS,
    ...rest,
  });
}

export const TIMEOUT_MS = 12_345;

/** Waits between attempts are noted and over at once; the time for an answer never runs out. */
export function neverTimeUp(waits: number[]): (milliseconds: number, signal: AbortSignal) => Promise<void> {
  return async (milliseconds, signal) => {
    if (milliseconds !== TIMEOUT_MS) return void waits.push(milliseconds);
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  };
}

/** What a promise was rejected with; fails where it was not. */
export async function rejectionOf<T extends Error>(promise: Promise<unknown>): Promise<T> {
  return promise.then(
    (value) => {
      throw new Error(`was not rejected: ${JSON.stringify(value)}`);
    },
    (error: T) => error,
  );
}

/** The message of a request that was refused before it was sent. */
export async function notSent(answer: Promise<unknown>): Promise<string> {
  const { name, code, effect, message } = await rejectionOf<ClientError>(answer);
  expect([name, code, effect]).toEqual(["ClientError", "request", "none"]);
  return message;
}
