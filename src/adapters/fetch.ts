/** A fetch that verifies the service's answers, for any SDK and any runtime. It shares its rules with the proxy. */
import type { Client } from "../client/client.js";
import { type JsonObject, parseJson } from "../decode/json.js";
import { callable, required } from "../decode/options.js";
import { type MembersOf, demand, either, flag, list, nonEmptyText, optional } from "../decode/shapes.js";
import { ACCOUNT_OPTIONS, type AccountOptions, NEEDS_CLIENT } from "../door/account-options.js";
import { exactText } from "../door/answer.js";
import { checkedBaseUrl } from "../door/base-url.js";
import { readBounded } from "../door/bounded-bytes.js";
import { authOperationOf, isSubmit } from "../door/question.js";
import { AT_DOOR, type AtDoor, doorOf, optionsAtDoor } from "../door/door.js";
import { type AllowUnproven, Entrance, type EntranceCall } from "../door/entrance.js";
import type { Handed } from "../door/handed.js";
import { ClientError, answerError } from "../door/errors.js";
import { LATER } from "../door/later.js";
import { type FindBootProof, type Query, evidenceByKey, givenEvidence } from "../door/evidence-source.js";
import { HttpFault, MAX_ANSWER_BYTES, exchangeOf, replyTo, requireSize, stampIn } from "../door/http.js";
import type { ReadAnswer } from "../door/answer.js";
import type { Fetch } from "../door/platform.js";
import { attempt } from "../errors.js";
import { requireRuntime } from "../verify/runtime.js";
import { type ForeignClient, queriesOf } from "./foreign.js";
import { keepProof, keepReport } from "./results.js";

type BootProofs = readonly object[];

/** It needs a `policy`, or a `door` that has one. */
export interface VerifiedFetchOptions extends AtDoor, AccountOptions {
  /** The service's address, `https://…`, without `/public/v1`. */
  readonly baseUrl: string;
  /**
   * The source of boot proofs and missing app proofs, because a fetch cannot stamp requests of its own: a client of
   * `bootproof/client`, a client that {@link verified} accepts, the boot proofs themselves, or a function that gets an
   * ephemeral key in lower-case hex and returns its boot proof, or null. A new user has no stamper, and needs the last.
   */
  readonly evidence:
    | Pick<Client, "query">
    | ForeignClient
    | BootProofs
    | { readonly bootProofs: BootProofs }
    | FindBootProof;
  /** The fetch that sends requests. Default: the global fetch when `verifiedFetch` is called. */
  readonly fetch?: Fetch;
  /**
   * Operations that may be answered without a proof, such as `signup_v2` or `create_wallet`; `true` means all. A submit
   * is then sent without `generateAppProofs`, too. A proof that is there is verified all the same. An answer without
   * one is marked ({@link isUnproven}, and a header `X-Bootproof: unproven`). Default: none.
   */
  readonly allowUnproven?: AllowUnproven;
  /** The auth proxy's address, without `/v1`. Its sign-ups and tokens are verified. Default: no auth proxy. */
  readonly authProxyUrl?: string;
  /**
   * Other origins to which stamps and `X-Auth-Proxy-Config-ID` may be sent. Their answers are not verified. Default:
   * none.
   */
  readonly otherOrigins?: readonly string[];
}

const ANY_EVIDENCE = "a client, a list of boot proofs, or a function from an ephemeral key to a boot proof";
const OPTIONS: MembersOf<VerifiedFetchOptions> = {
  ...AT_DOOR,
  ...ACCOUNT_OPTIONS,
  baseUrl: nonEmptyText,
  evidence: required(ANY_EVIDENCE),
  fetch: optional(callable),
  allowUnproven: optional(either(flag, list(nonEmptyText), "true, false, or a list of operations")),
  authProxyUrl: demand(nonEmptyText),
  otherOrigins: optional(list(nonEmptyText)),
};

/**
 * Returns a function with fetch's signature. Create it once, because it remembers requests and boot proofs.
 *
 * - A submit to `baseUrl` has to ask for app proofs (`generateAppProofs: true`), which its stamp covers. Its answer
 *   and later answers of `get_activity` are verified against the request; `reportOf(response)` returns the report.
 * - An unfinished activity has neither result nor app proofs. Lists of activities have no results. Accounts of
 *   wallets are verified with `verifyAddresses`. Other queries are not verified. An error of the service becomes a
 *   Response with the same status.
 * - A sign-up by the auth proxy is verified by its app proofs: an app proof of the new organization and wallet, made
 *   after the request, for each account at its requested path. Log-ins and one-time passwords are verified by their
 *   tokens. Not proven: the user, the credentials, and that the organization is the caller's.
 * - A request to another origin is sent unchanged. If it has a stamp or `X-Auth-Proxy-Config-ID`, it is sent only if
 *   `otherOrigins` names the origin.
 *
 * Throws TypeError for invalid options. The function rejects with RejectedActivityError if an activity is not verified,
 * with RejectedAddressesError if accounts are not, and with RejectedAuthProxyError if an answer of the auth proxy is
 * not.
 * It rejects with ClientError `request` if nothing was sent, `answer` for a redirect or an invalid answer, and
 * `evidence` if evidence could not be fetched. Errors of the fetch that sends are passed on.
 *
 * @example
 * globalThis.fetch = verifiedFetch({ policy, baseUrl, evidence: client }); // client: createClient(…)
 */
export function verifiedFetch(options: VerifiedFetchOptions): Fetch {
  const own = optionsAtDoor(options, OPTIONS);
  const entrance = new FetchEntrance(own);
  return (async (input: Input, init?: RequestInit) => entrance.fetch(input, init)) as Fetch;
}

type Input = string | URL | Request;

/** A request that was checked, and how its answer is verified. */
interface Asked {
  readonly operation: string;
  readonly effect: "none" | "unknown";
  settle(read: ReadAnswer, call: EntranceCall): Promise<Handed>;
}

interface SentRequest {
  readonly request: Request;
  readonly body: Uint8Array;
}

class FetchEntrance {
  readonly #base: URL;
  readonly #authBase: URL | null;
  readonly #send: Fetch;
  readonly #query: Query;
  readonly #entrance: Entrance;
  readonly #otherOrigins: readonly string[];

  constructor(options: VerifiedFetchOptions) {
    const { baseUrl, fetch = globalThis.fetch, otherOrigins = [], authProxyUrl } = options;
    if (typeof fetch !== "function") throw new TypeError("options.fetch: required, as there is no global fetch");
    // Before anything is sent: a sign-up whose answer cannot be read has made an organization all the same.
    requireRuntime(["URL.canParse"]);
    if (options.fetch === undefined && !("body" in Response.prototype)) throw new TypeError(NO_BODY);
    this.#base = new URL(checkedBaseUrl(baseUrl));
    this.#authBase = authProxyUrl === undefined ? null : new URL(checkedBaseUrl(authProxyUrl, "authProxyUrl"));
    this.#send = ((...args: Parameters<Fetch>) => Reflect.apply(fetch, globalThis, args) as ReturnType<Fetch>) as Fetch;
    this.#query = queryOf(options);
    this.#entrance = new Entrance(doorOf(options, LATER), options, LATER);
    this.#otherOrigins = otherOrigins.map((origin) => new URL(checkedBaseUrl(origin, "otherOrigins")).origin);
  }

  async fetch(input: Input, init?: RequestInit): Promise<Response> {
    const url = urlOf(input);
    const ask = url && this.#questionAt(url);
    if (url === null || ask === null) {
      this.#refuseStamps(url, init?.headers ?? (input as Request).headers);
      const response = await this.#send(input, init);
      keepReport(null, [response]);
      return response;
    }
    // The request is a copy, so the caller's later changes have no effect.
    const request = new Request(typeof input === "string" ? url : input, init);
    const settings = { ...settingsOf(request), ...init };
    // The caller's signal is used, not the copy's: in Node, the copy's signal stops following the caller's signal once
    // the copy is garbage-collected.
    const signal = (init?.signal === undefined ? (input as Request).signal : init.signal) ?? null;
    const body = new Uint8Array(await request.arrayBuffer());
    const asked = await requested(ask({ request, body }));
    if (signal?.aborted === true) throw signal.reason;
    const { method } = request;
    const headers = [...request.headers] as [string, string][];
    const sent: RequestInit = { ...settings, method, headers, body, signal, redirect: "manual" };
    const response = await this.#send(url.origin + url.pathname, sent);
    return this.#answered(asked, response, signal);
  }

  /** Returns what checks a request to this address. Null if it is neither the service's nor the auth proxy's. */
  #questionAt(url: URL): ((sent: SentRequest) => Promise<Asked>) | null {
    const auth = this.#authBase === null ? null : pathBelow(url, this.#authBase);
    const operation = auth === null ? null : authOperationOf(auth);
    if (operation !== null) return (sent) => this.#askAuthProxy(operation, sent);
    const path = pathWithin(url, this.#base);
    // On one origin with the service, a path is the auth proxy's unless it may be the service's.
    if (path !== null && (auth === null || plainPath(path).includes("/public/v1/")))
      return (sent) => this.#askService(path, sent);
    return auth === null ? null : refuseAuthPath;
  }

  /**
   * Refuses a stamped request to an origin that is not allowed. A stamp is for the service, and answers of other
   * origins are not verified.
   */
  #refuseStamps(url: URL | null, given: HeadersInit | undefined): void {
    const names = [...new Headers(given).keys()];
    const private_ = names.find((name) => isStampName(name) || name === "x-auth-proxy-config-id");
    if (private_ === undefined || (url !== null && this.#otherOrigins.includes(url.origin))) return;
    const origin = url?.origin ?? "an unknown origin";
    const advice = "Its answer would not be verified. To send it, name the origin in otherOrigins";
    throw new ClientError("request", `not sent: a request with ${private_} to ${origin}. ${advice}`);
  }

  async #askAuthProxy(operation: string, { request, body }: SentRequest): Promise<Asked> {
    const stamped = [...request.headers.keys()].find(isStampName);
    if (request.method !== "POST") return refuseAuthPath();
    if (stamped !== undefined)
      throw new HttpFault(
        "invalid-request",
        `not sent: ${operation}: the auth proxy takes no stamp, such as ${stamped}`,
      );
    requireSize(body);
    const verifier = await this.#entrance.authProxy();
    const asked = verifier.ask(
      operation,
      attempt(() => parseJson(body)),
    );
    return { operation, effect: "unknown", settle: (read, call) => verifier.settle(asked, read, call) };
  }

  async #askService(path: string, { request, body }: SentRequest): Promise<Asked> {
    const { method, headers } = request;
    const stamp = stampIn([...headers]);
    if ("fault" in stamp) throw new HttpFault("invalid-request", `not sent: ${stamp.fault}`);
    const exchange = exchangeOf(this.#entrance, { method, path, body, ...stamp });
    await this.#entrance.ready(exchange);
    const { question } = exchange;
    const effect = isSubmit(question) ? "unknown" : "none";
    return {
      operation: question.operation,
      effect,
      settle: (read, call) => this.#entrance.settle(exchange, read, call),
    };
  }

  async #answered(
    { operation, effect, settle }: Asked,
    response: Response,
    signal: AbortSignal | null,
  ): Promise<Response> {
    const header = (name: string): string[] => [response.headers.get(name) ?? []].flat();
    const call = { query: this.#query, ...(signal !== null && { signal }) };
    try {
      // In browsers a redirect that is not followed has the status 0.
      const isRedirect = response.redirected || response.type === "opaqueredirect";
      if (isRedirect) throw new HttpFault("invalid-answer", "redirects are not followed");
      const body = await readBounded(response, MAX_ANSWER_BYTES);
      const reply = await replyTo({ status: response.status, header, body }, (read) => settle(read, call));
      const made = new Response(exactText(reply.value), {
        status: reply.status,
        headers: { ...reply.headers, "Content-Type": "application/json" },
      });
      keepProof(made, reply);
      return made;
    } catch (error) {
      if (error instanceof HttpFault) throw answerError(operation, [{ path: "", message: error.message }], effect);
      throw error instanceof ClientError && error.code === "aborted" ? (signal?.reason ?? error) : error;
    }
  }
}

const NO_BODY =
  "options.fetch: required, as answers of the global fetch have no body that can be read as a stream. Pass a fetch " +
  "whose answers have one, such as that of expo/fetch";

async function refuseAuthPath(): Promise<never> {
  throw new HttpFault("not-found", "not sent: only POST /v1/NAME is sent to the auth proxy");
}

function isStampName(name: string): boolean {
  return name.toLowerCase().startsWith("x-stamp");
}

/** Awaits the check of a request. Its {@link HttpFault} becomes a {@link ClientError}. */
async function requested(check: Promise<Asked>): Promise<Asked> {
  return check.catch((error: unknown) => {
    throw error instanceof HttpFault ? new ClientError("request", error.message) : error;
  });
}

/** Returns what asks for evidence. Throws TypeError unless `evidence` is one of the three kinds. */
function queryOf({ evidence, verifyAddresses }: VerifiedFetchOptions): Query {
  if (typeof evidence === "function" && verifyAddresses !== true) return evidenceByKey(evidence);
  const given = (evidence ?? {}) as Partial<Client & ForeignClient & { readonly bootProofs: BootProofs }>;
  const isNamed = Object.hasOwn(Object(evidence) as object, "bootProofs");
  const bootProofs = isNamed ? given.bootProofs : evidence;
  if ((Array.isArray(bootProofs) || typeof evidence === "function") && verifyAddresses === true)
    throw new TypeError(NEEDS_CLIENT);
  if (Array.isArray(bootProofs)) return givenEvidence(bootProofs as readonly JsonObject[]);
  if (typeof given.query === "function") return (name, parameters, call) => given.query!(name, parameters, call);
  if (typeof given.request === "function") return queriesOf(evidence as ForeignClient, "");
  throw new TypeError(`options.evidence: expected ${ANY_EVIDENCE}`);
}

/**
 * Parses an input; null if it is not a URL. A relative URL is resolved as fetch does: in a page against its `<base>`,
 * in a worker against its location.
 */
function urlOf(input: Input): URL | null {
  const text = typeof input === "object" && "url" in input ? input.url : String(input);
  const { document, location } = globalThis as Partial<Pick<typeof globalThis, "document" | "location">>;
  const base = document?.baseURI ?? location?.href;
  return URL.canParse(text, base) ? new URL(text, base) : null;
}

/**
 * Returns the path after the base address, with query string and fragment. Null if the request has another address. A
 * path that a service may read as one below the base address is treated as such.
 */
function pathWithin({ origin, pathname, search, hash }: Where, base: URL): string | null {
  const below = pathBelow({ origin, pathname, search, hash }, base);
  if (below !== null || origin !== base.origin) return below;
  return plainPath(pathname).includes("/public/v1/") ? pathname + search + hash : null;
}

/** Returns the path after an address, or the whole path if a server may read it as one below the address. */
function pathBelow({ origin, pathname, search, hash }: Where, base: URL): string | null {
  if (origin !== base.origin) return null;
  const root = base.pathname.replace(/\/+$/, "");
  if (pathname.startsWith(`${root}/`)) return pathname.slice(root.length) + search + hash;
  return plainPath(pathname).startsWith(`${plainPath(root)}/`) ? pathname + search + hash : null;
}

type Where = Pick<URL, "origin" | "pathname" | "search" | "hash">;

/** Normalizes a path as a tolerant server may read it: decoded, with single slashes, in lower case. */
function plainPath(path: string): string {
  const decoded = path.replace(/%(?:25)*([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const { pathname } = new URL(decoded.replaceAll(/[\t\n\r]/g, "").replaceAll(/[\\/]+/g, "/"), "http://host");
  return pathname.toLowerCase();
}

/** Returns the settings that a new Request would not keep. */
function settingsOf({ credentials, mode, cache }: Request): RequestInit {
  return { credentials, mode, cache };
}
