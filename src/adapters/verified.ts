/** Wraps clients of other SDKs, so that a result is returned only after verification. */
import type { Policy } from "../appraise/policy.js";
import { fromUtf8 } from "../bytes.js";
import { jsonInput, ownMembers } from "../decode/input.js";
import type { JsonObject } from "../decode/json.js";
import { type OptionShapes, callable, typedOptions } from "../decode/options.js";
import { anyObject, anything, count, list, nonEmptyText, oneOf } from "../decode/shapes.js";
import { attempt } from "../errors.js";
import { ActivityVerifier, type VerificationOptions } from "../client/activity-verifier.js";
import type { AnyStamper, PublishedStamp } from "../client/stamp.js";
import type { Report } from "../report/report.js";
import { Call, type Setting, SubmittedRequests, jsonObjectOf } from "./call.js";
import {
  type ForeignClient,
  type ForeignMembers,
  type Method,
  instanceLike,
  foreignMembers,
  methodNamesOf,
  queriesOf,
  submitOf,
} from "./foreign.js";

export type { ForeignClient } from "./foreign.js";

export interface VerifiedOptions<Client extends object = object> extends VerificationOptions {
  /** As `parsePolicy` returns it. */
  readonly policy: Policy;
  /** Methods that pass without verification, such as `stampCreateWallet`. Default: none. */
  readonly allowUnverified?: readonly (keyof Client & string)[];
  /**
   * Another client for the queries of evidence, such as one with an API key beside one whose passkey prompts its user
   * for each request. Default: the client itself.
   */
  readonly evidence?: ForeignClient;
  /** For requests that name no organization. Default: that of the client's configuration, if it has one. */
  readonly organizationId?: string;
  /** The time of verification. Default: the clock. */
  readonly now?: () => Date;
  /** Between two queries for an unfinished activity. Default: the client's `activityPoller.intervalMs`, or 500. */
  readonly pollIntervalMs?: number;
  /** How many of them. Then the activity is returned unfinished. Default: the client's `numRetries`, or 120. */
  readonly pollAttempts?: number;
}

const OPTIONS: OptionShapes<VerifiedOptions> = {
  policy: anyObject,
  allowUnverified: list(nonEmptyText),
  evidence: anyObject,
  organizationId: nonEmptyText,
  now: callable,
  pollIntervalMs: count,
  pollAttempts: count,
  bootProofLimit: count,
  bootProofMaxAgeMs: count,
  cache: anyObject,
  acceptance: oneOf("standard", "strict"),
  provenance: list(anything),
  provenanceVerifier: anyObject,
};
const DEFAULT_POLLING = { intervalMs: 500, numRetries: 120 };

/** A method that would return something unverified, or a request that would be sent unverified. Nothing was sent. */
export class UnverifiedMethodError extends Error {
  override readonly name = "UnverifiedMethodError";
  readonly code = "unverified-method";
  readonly method: string;

  constructor(method: string, why: string) {
    super(`${method}: ${why}. To call it all the same, name it in allowUnverified.`);
    this.method = method;
  }
}

const REPORTS = new WeakMap<object, Report>();

/**
 * The report of a value that a {@link verified} client returned, or of its `activity`. Undefined for results of
 * queries, unfinished activities, copies, and everything else.
 *
 * @example
 * const value = await verified(turnkey, { policy }).getActivity({ organizationId, activityId });
 * console.log(reportOf(value)?.verdict); // verified
 */
export function reportOf(value: unknown): Report | undefined {
  return typeof value === "object" && value !== null ? REPORTS.get(value) : undefined;
}

/**
 * The same client, whose results are verified: `TurnkeyClient` of `@turnkey/http` 6, `apiClient()` of
 * `@turnkey/sdk-server` 8, `createHttpClient()` of `@turnkey/core` 2. Keep it: it caches verified boot proofs. The
 * client itself stays as it is.
 *
 * - A submit requests app proofs, is polled until it is finished, and is verified against what was sent. Its value has
 *   `activity` and, where the SDK has them, the members of its result; nothing else of the response.
 * - An unfinished, failed or refused activity is `{activity}` without `result` and `appProofs`, and has no report.
 * - `getActivity` is verified: against the request that this client submitted, else by id and organization alone.
 *   `getActivities` returns activities without results. Other queries are unverified.
 * - `proxy…` methods and `stamp…` of a submit throw {@link UnverifiedMethodError}, and so does any other method that
 *   goes round the client's `request`.
 *
 * Throws TypeError for invalid options and for another kind of client. Its methods reject with RejectedActivityError,
 * whose message begins with `rejected:` and the ids of the failed checks; with ClientError (`evidence`) if evidence
 * could not be fetched; and with the SDK's own errors.
 *
 * @example
 * const verifying = verified(turnkey, { policy });
 * const { activity } = await verifying.getActivity({ organizationId, activityId }); // throws unless verified
 */
export function verified<Client extends ForeignClient>(client: Client, options: VerifiedOptions<Client>): Client {
  const own = typedOptions("options", options as VerifiedOptions, OPTIONS);
  if (typeof client !== "object" || client === null || typeof client.request !== "function")
    throw new TypeError("client: a client with a function request wanted");
  if (own.evidence !== undefined && typeof own.evidence.request !== "function")
    throw new TypeError("options.evidence: a client with a function request wanted");
  const names = methodNamesOf(client);
  const unknown = own.allowUnverified?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`options.allowUnverified: the client has no method ${unknown}`);
  const wrapper = new Wrapper(client, own);
  const made = instanceLike(client);
  for (const name of names)
    Object.defineProperty(made, name, { value: wrapper.method(name), writable: true, configurable: true });
  return made as object as Client;
}

/**
 * A stamper of `createClient` from one of another SDK, such as `ApiKeyStamper` or `WebauthnStamper`, which gets the
 * body as text. Unlike the stamper itself it never gets bytes.
 *
 * @example
 * const own = createClient({ baseUrl, organizationId, stamper: stamperFrom(turnkey.stamper) });
 */
export function stamperFrom(theirs: ForeignStamper): AnyStamper {
  if (typeof theirs?.stamp !== "function") throw new TypeError("stamper: a function stamp wanted");
  return { stamp: (body) => theirs.stamp(typeof body === "string" ? body : fromUtf8(body)!) };
}

/** A stamper of another SDK. */
export interface ForeignStamper {
  stamp(body: string): Promise<PublishedStamp>;
}

class Wrapper {
  readonly #client: ForeignClient;
  readonly #allowed: readonly string[];
  readonly #setting: Setting;
  /** http returns the envelope; the others the members of the result, too. */
  readonly #isFlat: boolean;

  constructor(client: ForeignClient, options: VerifiedOptions) {
    const { allowUnverified = [], evidence = null, now = () => new Date() } = options;
    const { command, activity } = foreignMembers(client);
    const { organizationId, intervalMs, numRetries } = configuredBy(client);
    const ownOrganization = options.organizationId ?? organizationId;
    // Each verification has the queries of its own call.
    const query = queriesOf(evidence ?? client, ownOrganization ?? "", []);
    const verification = ownMembers(options, {
      bootProofLimit: true,
      bootProofMaxAgeMs: true,
      cache: true,
      acceptance: true,
      provenance: true,
      provenanceVerifier: true,
    });
    this.#client = client;
    this.#allowed = allowUnverified;
    this.#isFlat = typeof command === "function" || typeof activity === "function";
    this.#setting = {
      client,
      evidence,
      verifier: new ActivityVerifier({ now, query }, options.policy, verification),
      organizationId: ownOrganization,
      pollIntervalMs: options.pollIntervalMs ?? intervalMs,
      pollAttempts: options.pollAttempts ?? numRetries,
      isFlagAmongParameters: typeof command === "function",
      submitted: new SubmittedRequests(),
    };
  }

  method(name: string): Method {
    if (this.#allowed.includes(name))
      return (...args) => (foreignMembers(this.#client)[name] as Method).call(this.#client, ...args);
    if (/^(?:proxy|authProxy)/.test(name)) return async () => this.#refuse(name, ELSEWHERE);
    if (name.startsWith("stamp")) return (...args) => this.#stamped(name, args);
    return (...args) => {
      const call = new Call(this.#setting);
      const returned = this.#invoke(name, this.#instance(call, name), args);
      return returned instanceof Promise ? this.#finished(name, call, returned) : returned;
    };
  }

  #invoke(name: string, instance: ForeignMembers, args: readonly unknown[]): unknown {
    const method = instance[name];
    if (typeof method !== "function") return this.#refuse(name, "it is no method of the client's class");
    return (method as Method).call(instance, ...args);
  }

  /** First with stampers that stamp nothing: the path decides, and a passkey would prompt its user. */
  async #stamped(name: string, args: readonly unknown[]): Promise<unknown> {
    const call = (make: (instance: ForeignMembers) => ForeignMembers): Promise<unknown> => {
      const sending = new Call(this.#setting);
      const instance = make(this.#instance(sending, name));
      return this.#finished(name, sending, Promise.resolve(this.#invoke(name, instance, args)));
    };
    const unstamped = await call(withoutStampers);
    return unstamped === undefined ? undefined : call((instance) => instance);
  }

  /** Of one call, whose requests it sends. */
  #instance(call: Call, name: string): ForeignMembers {
    const instance = instanceLike(this.#client);
    const send = instance["sendSignedRequest"];
    instance["request"] = call.request.bind(call);
    instance["authProxyRequest"] = async () => this.#refuse(name, ELSEWHERE);
    if (typeof send === "function")
      instance["sendSignedRequest"] = (signed: unknown, ...more: readonly unknown[]) => {
        const { url, body } = (signed ?? {}) as ForeignMembers;
        return call.signed(String(url), jsonObject(body), async () => {
          // Neither polls nor builds a value: both are done with what was verified.
          instance["pollForCompletion"] = async (id: string) => ({ activity: { id, status: PENDING } });
          instance["handleActivityResponse"] = (response: unknown) => response;
          return (send as Method).call(instance, signed, ...more);
        });
      };
    return instance;
  }

  async #finished(name: string, call: Call, returned: Promise<unknown>): Promise<unknown> {
    const { value, report } = call.finished(await returned, !this.#isFlat || name === "request");
    if (call.isSilent && value !== undefined && !isSignedQuery(value))
      this.#refuse(name, "it returns a value that this wrapper did not see received, or a stamped submit");
    if (report !== null)
      for (const one of [value, (value as ForeignMembers)["activity"]]) REPORTS.set(one as object, report);
    return value;
  }

  #refuse(name: string, why: string): never {
    throw new UnverifiedMethodError(name, why);
  }
}

interface Configured {
  readonly organizationId?: string;
  readonly intervalMs: number;
  readonly numRetries: number;
}

/** Of the client's `config`: own members only. */
function configuredBy(client: ForeignClient): Configured {
  const config = ownMembers((foreignMembers(client)["config"] ?? {}) as ForeignMembers, CONFIGURED);
  const { organizationId, activityPoller } = config;
  const polling = ownMembers((activityPoller ?? {}) as Partial<typeof DEFAULT_POLLING>, DEFAULT_POLLING);
  return { ...DEFAULT_POLLING, ...polling, ...(typeof organizationId === "string" && { organizationId }) };
}

const CONFIGURED = { organizationId: true, activityPoller: true };
const ELSEWHERE = "it is sent to another service, whose results nothing verifies";
const PENDING = "ACTIVITY_STATUS_PENDING";
const NO_STAMPER = { stamp: async () => ({ stampHeaderName: "X-Stamp", stampHeaderValue: "" }) };

function withoutStampers(instance: ForeignMembers): ForeignMembers {
  for (const [name, value] of Object.entries(instance)) if (isStamper(value)) instance[name] = NO_STAMPER;
  return instance;
}

function isStamper(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as ForeignMembers)["stamp"] === "function";
}

function isSignedQuery(value: unknown): boolean {
  const { url, body, stamp } = (value ?? {}) as ForeignMembers;
  const isSigned = typeof url === "string" && typeof body === "string" && typeof stamp === "object";
  return isSigned && submitOf(url) === null;
}

function jsonObject(text: unknown): JsonObject {
  return jsonObjectOf(attempt(() => jsonInput(text)).value ?? null);
}
