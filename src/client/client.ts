/** The client has one function for each documented operation, and `submit` and `query` for all others. */
import type { Policy } from "../appraise/policy.js";
import type { JsonObject } from "../decode/json.js";
import { callable, having, typedOptions } from "../decode/options.js";
import { type MembersOf, count, flag, nonEmptyText, optional } from "../decode/shapes.js";
import {
  QUERY_OPERATIONS,
  type QueryName,
  type QueryOperation,
  type QueryParameters,
  type QueryResult,
  SUBMIT_OPERATIONS,
  type SubmitName,
  type SubmitParameters,
  type SubmitResult,
} from "./operations.js";
import type { Fetch, Signal } from "./platform.js";
import {
  type CallOptions,
  type SubmitOptions,
  type Submitted,
  type UndocumentedSubmit,
  functionsOf,
  ownOperation,
  query,
  readObject,
  readQueried,
  readSubmitted,
  submit,
} from "./requests.js";
import type { AnyStamper } from "./stamp.js";
import { type Transport, checkedBaseUrl, pause } from "./transport.js";
import { type VerifiedClient, type VerifiedClientOptions, verifiedClient } from "./verified.js";

export interface ClientOptions {
  /** The service's address, `https://…`, without `/public/v1`. */
  readonly baseUrl: string;
  /** Default organization of calls. */
  readonly organizationId: string;
  /**
   * The result of `apiKeyStamper(…)` or `webauthnStamper(…)`, a session's stamper, or a published stamper for this
   * family of services.
   */
  readonly stamper: AnyStamper;
  readonly fetch?: Fetch;
  readonly now?: () => Date;
  /** Resolves after this many milliseconds. Resolves or rejects at once when the signal is aborted. */
  readonly sleep?: (milliseconds: number, signal: Signal) => Promise<void>;
  /** Returns a number in [0, 1) for the jitter between retries. */
  readonly random?: () => number;
  /** Milliseconds until one attempt times out. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Number of times that a failed query is repeated. Default: 3. */
  readonly maxRetries?: number;
  /**
   * Whether submits are repeated, too, with the same bytes and stamp. Set it only for a service that promises to make
   * only one activity if a request is repeated. Default: false.
   */
  readonly resendSubmits?: boolean;
  /** Limit of a decompressed response in bytes. Default: 8 MiB; for a boot proof never more than 1 MiB. */
  readonly maxResponseBytes?: number;
}

const DEFAULTS = {
  fetch: ((input, init) => globalThis.fetch(input, init)) as Fetch,
  now: () => new Date(),
  sleep: pause,
  random: () => Math.random(),
  timeoutMs: 30_000,
  maxRetries: 3,
  resendSubmits: false,
  maxResponseBytes: 8 * 1024 * 1024,
};

export type SubmitFunctions = {
  readonly [N in SubmitName]: (
    parameters: SubmitParameters<N>,
    options?: SubmitOptions,
  ) => Promise<Submitted<SubmitResult<N>>>;
};

export type QueryFunctions = {
  readonly [N in QueryName]: (parameters: QueryParameters<N>, options?: CallOptions) => Promise<QueryResult<N>>;
};

/**
 * A client. Its results are unverified claims of the service; {@link Client.withVerification} returns a client that
 * verifies them.
 */
export interface Client extends SubmitFunctions, QueryFunctions {
  readonly organizationId: string;
  /** Sends a submit that the interface does not document. Resolves to the whole response body. */
  submit(operation: UndocumentedSubmit, parameters: object, options?: SubmitOptions): Promise<JsonObject>;
  /** Sends a query, named by the last segment of its path. Resolves to the whole response body. */
  query(name: string, parameters: object, options?: CallOptions): Promise<JsonObject>;
  /**
   * Returns the same submits with verification. Each resolves only to what an enclave pinned by the policy has vouched
   * for. Create it once, because it caches verified evidence.
   */
  withVerification(policy: Policy, options?: VerifiedClientOptions): VerifiedClient;
}

/**
 * Makes a client. Throws TypeError for invalid options.
 *
 * @example
 * const client = createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(key) });
 * const { user } = await client.getUser({ userId });
 */
export function createClient(options: ClientOptions): Client {
  const transport = transportOf(options);
  return {
    ...functionsOf<SubmitFunctions, SubmitOptions>(SUBMIT_OPERATIONS, async (operation, parameters, call) =>
      readSubmitted(operation, await submit(transport, operation, parameters, call)),
    ),
    ...functionsOf<QueryFunctions, CallOptions, QueryOperation>(QUERY_OPERATIONS, async (operation, parameters, call) =>
      readQueried(operation, await query(transport, operation, parameters, call)),
    ),
    organizationId: transport.organizationId,
    submit: async (operation, parameters, call) => {
      const own = ownOperation(operation);
      return readObject(own.name, await submit(transport, own, parameters, call), "unknown");
    },
    query: async (name, parameters, call) =>
      readObject(name, await query(transport, { name }, parameters, call), "none"),
    withVerification: (policy, verification) => verifiedClient(transport, policy, verification),
  };
}

const CLIENT_OPTIONS: MembersOf<ClientOptions> = {
  baseUrl: nonEmptyText,
  organizationId: nonEmptyText,
  stamper: having("stamp"),
  fetch: optional(callable),
  now: optional(callable),
  sleep: optional(callable),
  random: optional(callable),
  timeoutMs: optional(count),
  maxRetries: optional(count),
  resendSubmits: optional(flag),
  maxResponseBytes: optional(count),
};

function transportOf(options: ClientOptions): Transport {
  const own = typedOptions("options", options, CLIENT_OPTIONS);
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return { ...DEFAULTS, ...(given as unknown as ClientOptions), baseUrl: checkedBaseUrl(own.baseUrl) };
}
