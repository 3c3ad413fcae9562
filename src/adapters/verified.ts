/** Wraps clients of other SDKs. A wrapped client returns a result only after verification. */
import { fromUtf8 } from "../bytes.js";
import { jsonInput, ownMembers } from "../decode/input.js";
import { isJsonObject } from "../decode/json.js";
import { callable, having } from "../decode/options.js";
import { type MembersOf, type Shape, demand, either, list, nonEmptyText, oneOf, optional } from "../decode/shapes.js";
import { attempt } from "../errors.js";
import { ACCOUNT_OPTIONS, type AccountOptions } from "../door/account-options.js";
import { AT_DOOR, type AtDoor, POLLING_OPTIONS, type PollingOptions, doorOf, optionsAtDoor } from "../door/door.js";
import { Entrance } from "../door/entrance.js";
import { LATER } from "../door/later.js";
import type { FindBootProof } from "../door/evidence-source.js";
import type { AnyStamper, PublishedStamp } from "../client/stamp.js";
import { takesText } from "../client/stamp-shapes.js";
import { type AuthProxyOperation, isAuthOperation } from "../door/auth-proxy.js";
import { type SubmitQuestion, operationOf } from "../door/question.js";
import { Call, type CallSetting, pathIn } from "./call.js";
import {
  type ForeignClient,
  type ForeignMembers,
  type Method,
  instanceLike,
  foreignMembers,
  methodNamesOf,
} from "./foreign.js";
import { allowedUnproven, keepReport } from "./results.js";

export type { ForeignClient } from "./foreign.js";

export interface VerifiedOptions<Client extends object = object> extends AtDoor, PollingOptions, AccountOptions {
  /**
   * Methods that are called without verification, such as `stampCreateWallet`. Operations of the auth proxy that may be
   * answered without a proof, such as `signup_v2`, or their methods, such as `proxySignupV2`. `true` means all
   * operations of the auth proxy, and no method. A proof in an answer of the auth proxy is verified all the same, and a
   * value without one is marked ({@link isUnproven}). Default: none.
   */
  readonly allowUnproven?: true | readonly ((keyof Client & string) | AuthProxyOperation)[];
  /** The auth proxy's address, which has to be that of the client's configuration. Default: that one. */
  readonly authProxyUrl?: string;
  /**
   * Another client, which fetches evidence, or a function that gets an ephemeral key in lower-case hex and returns its
   * boot proof, or null. A client is useful if each request prompts for a passkey, and a function for a new user, who
   * has no stamper. Default: the client itself.
   */
  readonly evidence?: ForeignClient | FindBootProof;
  /** Organization of requests that name none. Default: that of the client's configuration, if it has one. */
  readonly organizationId?: string;
}

const OPTIONS: MembersOf<VerifiedOptions> = {
  ...AT_DOOR,
  ...POLLING_OPTIONS,
  ...ACCOUNT_OPTIONS,
  allowUnproven: optional(
    either(oneOf(true), list(nonEmptyText as Shape<never>), "true, or a list of methods and operations"),
  ),
  authProxyUrl: demand(nonEmptyText),
  evidence: optional(either(callable, having("request"), "a client with a function request, or a function")),
  organizationId: optional(nonEmptyText),
};
/** How often to poll if the client's configuration has no `activityPoller`. */
const DEFAULT_POLLING = { intervalMs: 500, numRetries: 120 };

/**
 * A method was refused: it would return an unverified value, or send a request without verification. Nothing was sent.
 */
export class UnverifiedMethodError extends Error {
  override readonly name = "UnverifiedMethodError";
  readonly code = "unverified-method";
  readonly method: string;

  constructor(method: string, why: string) {
    super(`${method}: ${why}. To call it without verification, name it in allowUnproven.`);
    this.method = method;
  }
}

/**
 * Returns a client of the same kind whose results are verified: `TurnkeyClient` of `@turnkey/http` 6, `apiClient()` of
 * `@turnkey/sdk-server` 8, `createHttpClient()` of `@turnkey/core` 2. Create it once, because it caches verified boot
 * proofs. The given client does not change.
 *
 * - A submit requests app proofs, is polled until it is finished, and is verified against the request that was sent.
 *   The value has `activity` and, if the SDK returns them, the members of the result. No other member of the response
 *   is returned.
 * - For an unfinished, failed or refused activity, the value is `{activity}` without `result` and `appProofs`, and
 *   {@link reportOf} says `unverified`.
 * - `getActivity` is verified against the request, if this client submitted it, else by id and organization alone.
 *   `getActivities` returns activities without results. Other queries are not verified.
 * - `proxy…` methods of `@turnkey/core` are verified as {@link verifiedFetch} verifies the auth proxy, if the client's
 *   configuration has `authProxyUrl`.
 * - Other `proxy…` methods and `stamp…` of a submit throw {@link UnverifiedMethodError}. So does any other method that
 *   does not send through the client's `request`.
 *
 * Throws TypeError for invalid options and for another kind of client. Methods reject with RejectedActivityError; its
 * message begins with `rejected:` and the ids of the failed checks. They reject with ClientError (`evidence`) if
 * evidence could not be fetched, with RejectedAddressesError (`verifyAddresses`), with RejectedAuthProxyError, and pass
 * on the SDK's own errors.
 *
 * @example
 * const verifying = verified(turnkey, { policy });
 * const { activity } = await verifying.getActivity({ organizationId, activityId }); // throws unless verified
 */
export function verified<Client extends ForeignClient>(client: Client, options: VerifiedOptions<Client>): Client {
  const own = optionsAtDoor(options as VerifiedOptions, OPTIONS);
  if (typeof client !== "object" || client === null || typeof client.request !== "function")
    throw new TypeError("client: expected a client with a function request");
  const names = methodNamesOf(client);
  const allowed: readonly string[] = own.allowUnproven === true ? [] : (own.allowUnproven ?? []);
  const unknown = allowed.find((name) => !names.includes(name) && !isAuthOperation(name));
  if (unknown !== undefined) throw new TypeError(`options.allowUnproven: the client has no method ${unknown}`);
  const wrapper = new Wrapper(client, own);
  const made = instanceLike(client);
  for (const name of names)
    Object.defineProperty(made, name, { value: wrapper.method(name), writable: true, configurable: true });
  return made as object as Client;
}

/**
 * Makes a stamper of `createClient` from one of another SDK, such as `ApiKeyStamper` or `WebauthnStamper`. The body is
 * passed to it as text, never as bytes.
 *
 * @example
 * const own = createClient({ baseUrl, organizationId, stamper: stamperFrom(turnkey.stamper) });
 */
export function stamperFrom(theirs: ForeignStamper): AnyStamper {
  if (typeof theirs?.stamp !== "function") throw new TypeError("stamper: expected an object with a function stamp");
  return takesText({ stamp: (body) => theirs.stamp(typeof body === "string" ? body : fromUtf8(body)!) });
}

export interface ForeignStamper {
  stamp(body: string): Promise<PublishedStamp>;
}

class Wrapper {
  readonly #client: ForeignClient;
  readonly #allowed: readonly string[];
  readonly #setting: CallSetting;
  /**
   * Whether the SDK returns the members of the result beside the activity. `@turnkey/http` returns only the activity.
   */
  readonly #isFlat: boolean;

  constructor(client: ForeignClient, options: VerifiedOptions) {
    const { allowUnproven = [], evidence = null } = options;
    const { command, activity } = foreignMembers(client);
    const { organizationId, intervalMs, numRetries, authProxyUrl } = configuredBy(client);
    requireSameAuthProxy(options.authProxyUrl, authProxyUrl);
    const own = { ...options, organizationId: options.organizationId ?? organizationId };
    this.#client = client;
    this.#allowed = allowUnproven === true ? [] : allowUnproven;
    this.#isFlat = typeof command === "function" || typeof activity === "function";
    this.#setting = {
      client,
      evidence,
      entrance: new Entrance(doorOf(options, LATER), own, LATER),
      hasAuthProxy: authProxyUrl !== undefined,
      organizationId: own.organizationId,
      pollIntervalMs: options.pollIntervalMs ?? intervalMs,
      pollAttempts: options.pollAttempts ?? numRetries,
      isFlagAmongParameters: typeof command === "function",
    };
  }

  method(name: string): Method {
    const isProxy = /^(?:proxy|authProxy)/.test(name);
    if (isProxy && this.#setting.hasAuthProxy) return (...args) => this.#called(name, args);
    if (this.#allowed.includes(name))
      return (...args) => allowedUnproven((foreignMembers(this.#client)[name] as Method).call(this.#client, ...args));
    if (isProxy) return async () => this.#refuse(name, ELSEWHERE);
    if (name.startsWith("stamp")) return (...args) => this.#stamped(name, args);
    return (...args) => this.#called(name, args);
  }

  /**
   * Calls a method. Any value with `then` is awaited, since promises of other realms and of zone.js have other classes.
   */
  #called(name: string, args: readonly unknown[]): unknown {
    const call = new Call(this.#setting);
    const returned = this.#invoke(name, this.#instance(call, name), args);
    if (isThenable(returned)) return this.#awaited(name, call, returned);
    return this.#finished(name, call, returned);
  }

  #invoke(name: string, instance: ForeignMembers, args: readonly unknown[]): unknown {
    const method = instance[name];
    if (typeof method !== "function") return this.#refuse(name, "the client's class has no such method");
    return (method as Method).call(instance, ...args);
  }

  /**
   * Calls the method twice, first as a trial: with stampers that do not stamp, and without sending. If the trial is
   * refused, no passkey prompt appears. A method that sends, such as `stampLogin`, sends only in the second call.
   */
  async #stamped(name: string, args: readonly unknown[]): Promise<unknown> {
    const trial = new Call(this.#setting, true);
    const instance = withoutStampers(this.#instance(trial, name));
    const returned = (async () => this.#invoke(name, instance, args))();
    const value = await returned.catch((error: unknown) => {
      if (trial.isSilent) throw error;
    });
    if (trial.isSilent && this.#finished(name, trial, value, true) === undefined) return undefined;
    return this.#called(name, args);
  }

  /** Makes an instance for one call. The call sends the requests of this instance. */
  #instance(call: Call, name: string): ForeignMembers {
    const instance = instanceLike(this.#client);
    const [sendSigned, send] = [instance["sendSignedRequest"], instance["authProxyRequest"] as Method];
    instance["request"] = call.request.bind(call);
    instance["authProxyRequest"] = async (path: string, body: unknown, ...more: readonly unknown[]) =>
      this.#setting.hasAuthProxy
        ? call.proxied({ send, isAllowed: this.#allowed.includes(name) || undefined }, path, body, more)
        : this.#refuse(name, ELSEWHERE);
    if (typeof sendSigned === "function")
      instance["sendSignedRequest"] = (...args: readonly unknown[]) =>
        this.#sendSigned(call, instance, sendSigned as Method, args);
    return instance;
  }

  /**
   * Sends a signed request. To poll and to prompt for MFA, the SDK gets the answer after its comparison, never the raw
   * one.
   */
  async #sendSigned(call: Call, instance: ForeignMembers, send: Method, args: readonly unknown[]): Promise<unknown> {
    const { url, body } = (args[0] ?? {}) as ForeignMembers;
    const json = attempt(() => jsonInput(body ?? null)!);
    const settled = await call.signed(String(url), json, async (question) => {
      const raw = {
        // The SDK keeps only the id of the first answer and fetches the activity again. The submit is bound to that id.
        ...(question.kind === "submit" && { pollForCompletion: async (id: string) => pendingOf(question, id) }),
        handleMfaIfNeeded: async (data: unknown) => data,
        handleActivityResponse: (data: unknown) => data,
      };
      return send.call(Object.assign(Object.create(instance) as ForeignMembers, raw), ...args);
    });
    const { handleMfaIfNeeded } = instance;
    const isActivity = isJsonObject(settled) && Object.hasOwn(settled, "activity");
    return isActivity && typeof handleMfaIfNeeded === "function"
      ? (handleMfaIfNeeded as Method).call(instance, settled)
      : settled;
  }

  async #awaited(name: string, call: Call, returned: unknown): Promise<unknown> {
    return this.#finished(name, call, await returned, true);
  }

  /**
   * Returns the value for the caller. Refuses a value that no request of the call produced, unless it is undefined or a
   * signed query, or was returned without a promise.
   */
  #finished(name: string, call: Call, returned: unknown, isAwaited = false): unknown {
    const finished = call.finished(returned, !this.#isFlat || name === "request");
    const isOwn = !isAwaited || returned === undefined || isSigned(returned);
    if (finished === null || (call.isSilent && !isOwn) || isSignedSubmit(returned))
      return this.#refuse(name, "it returns a stamped submit, or a value from a request that this wrapper did not see");
    const { value, report, reason } = finished;
    keepReport(report, [value, (value as ForeignMembers | undefined)?.["activity"]], reason);
    return value;
  }

  #refuse(name: string, why: string): never {
    throw new UnverifiedMethodError(name, why);
  }
}

/** Throws TypeError for another auth proxy than that of the client's configuration. */
function requireSameAuthProxy(given: string | undefined, configured: string | undefined): void {
  if (given !== undefined && given.replace(/\/+$/, "") !== configured?.replace(/\/+$/, ""))
    throw new TypeError("options.authProxyUrl: expected the authProxyUrl of the client's configuration");
}

interface Configured {
  readonly authProxyUrl?: string;
  readonly organizationId?: string;
  readonly intervalMs: number;
  readonly numRetries: number;
}

/** Reads the client's `config`, without inherited members. */
function configuredBy(client: ForeignClient): Configured {
  const config = ownMembers((foreignMembers(client)["config"] ?? {}) as ForeignMembers, CONFIGURED);
  const { organizationId, activityPoller, authProxyUrl } = config;
  const polling = ownMembers((activityPoller ?? {}) as Partial<typeof DEFAULT_POLLING>, DEFAULT_POLLING);
  return {
    ...DEFAULT_POLLING,
    ...polling,
    ...(typeof organizationId === "string" && { organizationId }),
    ...(typeof authProxyUrl === "string" && authProxyUrl !== "" && { authProxyUrl }),
  };
}

const CONFIGURED = { organizationId: true, activityPoller: true, authProxyUrl: true };

function pendingOf({ organizationId, type }: SubmitQuestion, id: string): ForeignMembers {
  return { activity: { id, organizationId, type, status: PENDING } };
}

const ELSEWHERE = "it uses the auth proxy, and the client's configuration has no authProxyUrl";
const PENDING = "ACTIVITY_STATUS_PENDING";
const NO_STAMPER = { stamp: async () => ({ stampHeaderName: "X-Stamp", stampHeaderValue: "" }) };

function withoutStampers(instance: ForeignMembers): ForeignMembers {
  for (const [name, value] of Object.entries(instance)) if (isStamper(value)) instance[name] = NO_STAMPER;
  return instance;
}

function isStamper(value: unknown): boolean {
  return isHolder(value) && typeof (value as ForeignMembers)["stamp"] === "function";
}

function isSigned(value: unknown): boolean {
  const { url, body, stamp } = (value ?? {}) as ForeignMembers;
  return typeof url === "string" && typeof body === "string" && typeof stamp === "object";
}

/**
 * Whether a signed request may be a submit. The service could read any path that is not exactly that of a query as a
 * submit.
 */
function isSignedSubmit(value: unknown): boolean {
  const { url } = (value ?? {}) as ForeignMembers;
  return isSigned(value) && !["activity", "list", "query"].includes(operationOf(pathIn(url as string))?.kind ?? "");
}

function isThenable(value: unknown): boolean {
  return isHolder(value) && typeof (value as ForeignMembers)["then"] === "function";
}

function isHolder(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
