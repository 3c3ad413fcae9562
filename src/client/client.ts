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
import type { SharedDoor } from "../door/door.js";
import type { CallOptions } from "../door/evidence-source.js";
import type { Fetch } from "../door/platform.js";
import {
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
import type { SignedPolicy } from "../signed-policy/open.js";
import { pause } from "../door/waiting.js";
import { checkedBaseUrl } from "../door/base-url.js";
import type { ClientOptions, Transport } from "./transport.js";
import { type VerifiedClient, type VerifiedClientOptions, verifiedClient } from "./verified.js";

const DEFAULTS = {
  fetch: ((input, init) => globalThis.fetch(input, init)) as Fetch,
  now: () => new Date(),
  sleep: pause,
  random: () => Math.random(),
  timeoutMs: 30_000,
  maxRetries: 3,
  resendSubmits: false,
  maxResponseBytes: 8 * 1024 * 1024,
  onRetry: () => {},
};

type SubmitFunctions = {
  readonly [N in SubmitName]: (
    parameters: SubmitParameters<N>,
    options?: SubmitOptions,
  ) => Promise<Submitted<SubmitResult<N>>>;
};

type QueryFunctions = {
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
   * for. Create it once, because it caches verified evidence. Each verification begins and ends under one version of a
   * signed policy. A door of `createDoor` of `bootproof/adapters` has a policy and all options of verification.
   */
  withVerification(policy: Policy | SignedPolicy | SharedDoor, options?: VerifiedClientOptions): VerifiedClient;
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
  onRetry: optional(callable),
};

function transportOf(options: ClientOptions): Transport {
  const own = typedOptions("options", options, CLIENT_OPTIONS);
  return { ...DEFAULTS, ...own, baseUrl: checkedBaseUrl(own.baseUrl) };
}
