/** A fetch that verifies the service's answers, for any SDK in any runtime with fetch. Its rules are the proxy's. */
import type { Policy } from "../appraise/policy.js";
import { ActivityVerifier, VERIFICATION_OPTIONS, type VerificationOptions } from "../client/activity-verifier.js";
import type { Client } from "../client/client.js";
import { ClientError, answerError } from "../client/errors.js";
import { type EvidenceSource, givenEvidence } from "../client/evidence.js";
import type { Fetch } from "../client/platform.js";
import { checkedBaseUrl, readBounded } from "../client/transport.js";
import type { JsonObject } from "../decode/json.js";
import { callable, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, flag, list, nonEmptyText, optional } from "../decode/shapes.js";
import { exactText } from "../exchange/answer.js";
import { Bindings } from "../exchange/bindings.js";
import type { Exchange } from "../exchange/exchange.js";
import { HttpFault, MAX_ANSWER_BYTES, exchangeOf, replyTo, stampIn } from "../exchange/http.js";
import { type ForeignClient, queriesOf } from "./foreign.js";
import { keepReport, rejected } from "./results.js";

type BootProofs = readonly object[];

export interface VerifiedFetchOptions extends VerificationOptions {
  /** The policy that `parsePolicy` returns. */
  readonly policy: Policy;
  /** The service's address, `https://…`, without `/public/v1`. */
  readonly baseUrl: string;
  /**
   * The source of boot proofs and missing app proofs, since a fetch has no stamper. It is a client of
   * `bootproof/client`, a client that {@link verified} takes, or the boot proofs themselves.
   */
  readonly evidence: Pick<Client, "query"> | ForeignClient | BootProofs | { readonly bootProofs: BootProofs };
  /** The fetch that sends. Default: the global one at the time of this call. */
  readonly fetch?: Fetch;
  /** Whether submits without `generateAppProofs` are sent. Their answers are not verified. Default: false. */
  readonly allowUnproven?: boolean;
  /** Other origins that may get stamps or `X-Auth-Proxy-Config-ID`, unverified. Default: none. */
  readonly otherOrigins?: readonly string[];
  /** The time of verification. Default: the clock. */
  readonly now?: () => Date;
}

const OPTIONS: MembersOf<VerifiedFetchOptions> = {
  policy: unchecked,
  baseUrl: nonEmptyText,
  evidence: unchecked,
  fetch: optional(callable),
  allowUnproven: optional(flag),
  otherOrigins: optional(list(nonEmptyText)),
  now: optional(callable),
  ...VERIFICATION_OPTIONS,
};

/**
 * Returns a function with fetch's signature. Keep it, because it remembers requests and boot proofs.
 *
 * - A submit to `baseUrl` has to ask for app proofs (`generateAppProofs: true`), which its stamp covers. Its answer,
 *   and that of `get_activity`, is verified against the request; `reportOf(response)` is the report.
 * - An unfinished activity has neither result nor app proofs. Lists of activities have no results. Other queries are
 *   not verified. The service's own error is a Response with its status.
 * - A request to another origin is passed on as it is. With a stamp or `X-Auth-Proxy-Config-ID` it is not sent, unless
 *   `otherOrigins` names its origin.
 *
 * Throws TypeError for invalid options. The function rejects with RejectedActivityError for what is not verified, with
 * ClientError (`request`: nothing was sent; `answer`: a redirect, or not an answer of the service; `evidence`), and
 * with the errors of the fetch that sends.
 *
 * @example
 * globalThis.fetch = verifiedFetch({ policy, baseUrl, evidence: client }); // client: createClient(…)
 */
export function verifiedFetch(options: VerifiedFetchOptions): Fetch {
  const own = typedOptions("options", options, OPTIONS);
  const door = new FetchDoor(own);
  return (async (input: Input, init?: RequestInit) => door.fetch(input, init)) as Fetch;
}

type Input = string | URL | Request;

class FetchDoor {
  readonly #base: URL;
  readonly #send: Fetch;
  readonly #verifier: ActivityVerifier;
  readonly #rules: { readonly bindings: Bindings; readonly allowUnproven: boolean };
  readonly #otherOrigins: readonly string[];

  constructor(options: VerifiedFetchOptions) {
    const { baseUrl, fetch = globalThis.fetch, otherOrigins = [], allowUnproven = false, policy } = options;
    if (typeof fetch !== "function") throw new TypeError("options.fetch: required, as there is no global fetch");
    this.#base = new URL(checkedBaseUrl(baseUrl));
    this.#send = ((...args: Parameters<Fetch>) => Reflect.apply(fetch, globalThis, args) as ReturnType<Fetch>) as Fetch;
    this.#verifier = new ActivityVerifier(sourceOf(options), policy, options);
    this.#rules = { bindings: new Bindings(), allowUnproven };
    this.#otherOrigins = otherOrigins.map((origin) => new URL(checkedBaseUrl(origin)).origin);
  }

  async fetch(input: Input, init?: RequestInit): Promise<Response> {
    const url = urlOf(input);
    const path = url && pathWithin(url, this.#base);
    if (url === null || path === null) {
      this.#refuseStamps(url, init?.headers ?? (input as Request).headers);
      return this.#send(input, init);
    }
    // This is a copy: what the caller changes later has no effect.
    const request = new Request(typeof input === "string" ? url : input, init);
    const settings = { ...settingsOf(request), ...init };
    // In Node, the signal of a Request stops following the caller's once the Request is collected.
    const signal = (init?.signal === undefined ? (input as Request).signal : init.signal) ?? null;
    const body = new Uint8Array(await request.arrayBuffer());
    const exchange = this.#exchangeOf(request, path, body);
    if (signal?.aborted === true) throw signal.reason;
    const { method } = request;
    const headers = [...request.headers] as [string, string][];
    const sent: RequestInit = { ...settings, method, headers, body, signal, redirect: "manual" };
    const response = await this.#send(url.origin + url.pathname, sent);
    return this.#answered(exchange, response, signal);
  }

  /** A stamp is for the service. Nothing verifies what another origin answers to it. */
  #refuseStamps(url: URL | null, given: HeadersInit | undefined): void {
    const names = [...new Headers(given).keys()];
    const private_ = names.find((name) => name.startsWith("x-stamp") || name === "x-auth-proxy-config-id");
    if (private_ === undefined || (url !== null && this.#otherOrigins.includes(url.origin))) return;
    const origin = url?.origin ?? "an unknown origin";
    const advice = "Its answer would not be verified. To send it, name the origin in otherOrigins";
    throw new ClientError("request", `not sent: a request with ${private_} to ${origin}. ${advice}`);
  }

  #exchangeOf({ method, headers }: Request, path: string, body: Uint8Array): Exchange {
    const stamp = stampIn([...headers]);
    if ("fault" in stamp) throw new ClientError("request", `not sent: ${stamp.fault}`);
    try {
      return exchangeOf({ method, path, body, ...stamp }, this.#rules);
    } catch (error) {
      if (error instanceof HttpFault) throw new ClientError("request", error.message);
      throw error;
    }
  }

  async #answered(exchange: Exchange, response: Response, signal: AbortSignal | null): Promise<Response> {
    const { kind, operation } = exchange.question;
    const effect = kind === "submit" || kind === "vote" ? "unknown" : "none";
    const header = (name: string): string[] => [response.headers.get(name) ?? []].flat();
    try {
      // In browsers a redirect that is not followed has the status 0.
      const isRedirect = response.redirected || response.type === "opaqueredirect";
      if (isRedirect) throw new HttpFault("invalid-answer", "redirects are not followed");
      const body = await readBounded(response, MAX_ANSWER_BYTES);
      const answer = { status: response.status, header, body };
      const call = signal === null ? {} : { signal };
      const reply = await replyTo(exchange, answer, (asked) => rejected(this.#verifier.verify(asked, call)));
      const made = new Response(exactText(reply.value), {
        status: reply.status,
        headers: { ...reply.headers, "Content-Type": "application/json" },
      });
      keepReport(reply.report, made);
      return made;
    } catch (error) {
      if (error instanceof HttpFault) throw answerError(operation, [{ path: "", message: error.message }], effect);
      throw error instanceof ClientError && error.code === "aborted" ? (signal?.reason ?? error) : error;
    }
  }
}

/** Throws TypeError unless `evidence` is one of the three kinds. */
function sourceOf({ evidence, now = () => new Date() }: VerifiedFetchOptions): EvidenceSource {
  const given = (evidence ?? {}) as Partial<Client & ForeignClient & { readonly bootProofs: BootProofs }>;
  const isNamed = Object.hasOwn(Object(evidence) as object, "bootProofs");
  const bootProofs = isNamed ? given.bootProofs : evidence;
  if (Array.isArray(bootProofs)) return givenEvidence(bootProofs as readonly JsonObject[], now);
  if (typeof given.query === "function")
    return { now, query: (name, parameters, call) => given.query!(name, parameters, call) };
  if (typeof given.request === "function") return { now, query: queriesOf(evidence as ForeignClient, "") };
  throw new TypeError("options.evidence: expected a client or a list of boot proofs");
}

/** Null means that it is not a URL. A page resolves it against its `<base>`, a worker against its location. */
function urlOf(input: Input): URL | null {
  const text = typeof input === "object" && "url" in input ? input.url : String(input);
  const { document, location } = globalThis as Partial<Pick<typeof globalThis, "document" | "location">>;
  const base = document?.baseURI ?? location?.href;
  return URL.canParse(text, base) ? new URL(text, base) : null;
}

/**
 * Returns the path from the base address on, with query string and fragment; null for a request to another address. A
 * spelling that a service may read as a path below the base address counts as one.
 */
function pathWithin({ origin, pathname, search, hash }: URL, base: URL): string | null {
  if (origin !== base.origin) return null;
  const root = base.pathname.replace(/\/+$/, "");
  if (pathname.startsWith(`${root}/`)) return pathname.slice(root.length) + search + hash;
  const plain = plainPath(pathname);
  const isWithin = plain.startsWith(`${plainPath(root)}/`) || plain.includes("/public/v1/");
  return isWithin ? pathname + search + hash : null;
}

/** Reads a path as a tolerant server does: decoded, with one slash between segments, in lower case. */
function plainPath(path: string): string {
  const decoded = path.replace(/%(?:25)*([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const { pathname } = new URL(decoded.replaceAll(/[\t\n\r]/g, "").replaceAll(/[\\/]+/g, "/"), "http://host");
  return pathname.toLowerCase();
}

/** Settings of the request that a new request would lose. */
function settingsOf({ credentials, mode, cache }: Request): RequestInit {
  return { credentials, mode, cache };
}
