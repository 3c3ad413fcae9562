/** What the clients of other SDKs have in common: members, paths, statuses, and how to copy an instance. */
import { type JsonObject, type JsonValue, copyJson } from "../decode/json.js";
import { attempt } from "../errors.js";
import type { Query } from "../door/evidence-source.js";
import { ClientError, ServiceError, serviceFacts } from "../door/errors.js";

/**
 * A client of this service: `TurnkeyClient` of `@turnkey/http`, `apiClient()` of `@turnkey/sdk-server`, or
 * `createHttpClient()` of `@turnkey/core`. Its methods send through its `request`.
 */
export interface ForeignClient {
  request(path: string, body: unknown): Promise<unknown>;
}

/** `more` holds the arguments after the body, such as the name of a stamper. */
type Request = (path: string, body: unknown, ...more: readonly unknown[]) => Promise<unknown>;
export type Method = (...args: readonly unknown[]) => unknown;
export type ForeignMembers = Record<string, unknown>;

export function foreignMembers(client: object): ForeignMembers {
  return client as ForeignMembers;
}

export function foreignRequest(client: ForeignClient): Request {
  return (path, body, ...more) => (client.request as Request).call(client, path, body, ...more);
}

/**
 * Returns a new instance with the same state. The methods are arrow functions that the constructor makes for its
 * instance, so only a new instance sends through another `request`. Throws TypeError for another kind of client.
 */
export function instanceLike(client: ForeignClient): ForeignMembers {
  const chain = prototypesOf(client);
  // The constructor of the base class is used, since that of a subclass may have other parameters.
  const base = chain.findLast((one) => Object.hasOwn(one, "request"))?.constructor;
  if (typeof base !== "function")
    throw new TypeError("client: expected an instance of a class that has a request method");
  const { config, stamper, constructor } = foreignMembers(client);
  const made = Reflect.construct(base, [config, stamper], constructor as () => void) as ForeignMembers;
  for (const [name, value] of Object.entries(client)) if (typeof value !== "function") made[name] = value;
  return made;
}

function prototypesOf(value: object): object[] {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype ? [] : [prototype, ...prototypesOf(prototype)];
}

/** Returns the names of the functions of the client and of its classes. */
export function methodNamesOf(client: object): string[] {
  const names = [client, ...prototypesOf(client)].flatMap((one) =>
    Object.entries(Object.getOwnPropertyDescriptors(one)).flatMap(([name, { value }]) =>
      typeof value === "function" && name !== "constructor" ? [name] : [],
    ),
  );
  return [...new Set(names)];
}

export const GET_ACTIVITY = "/public/v1/query/get_activity";

/** Copies a response that the SDK parsed; null for what is not JSON. */
function responseOf(value: unknown): JsonValue {
  return attempt(() => copyJson(value)).value ?? null;
}

/** Returns a copy whose objects have the usual prototypes. */
export function plainJson<T extends JsonValue>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Returns a function that queries through a client. `organizationId` is used for queries that name no organization. */
export function queriesOf(client: ForeignClient, organizationId: string, more: readonly unknown[] = []): Query {
  return async (name, parameters, options) => {
    const body: JsonObject = { organizationId: options.organizationId ?? organizationId, ...parameters };
    try {
      return responseOf(await foreignRequest(client)(`/public/v1/query/${name}`, body, ...more));
    } catch (error) {
      throw queryError(name, error);
    }
  };
}

/** HTTP status by gRPC code (client/README.md, "Errors"). */
const HTTP_STATUS = new Map([
  [3, 400],
  [5, 404],
  [7, 403],
  [8, 429],
  [12, 501],
  [13, 500],
  [16, 401],
]);

/**
 * Converts an error of an SDK. The error has `code`, `message` and `details` of the service, or a message that begins
 * with the HTTP status.
 */
function queryError(operation: string, error: unknown): ClientError {
  const { code, message = "", details = null } = (error ?? {}) as ForeignMembers;
  const text = String(message).slice(0, 500);
  const stated = Number(/^(\d{3}) /.exec(text)?.[1]);
  const status = HTTP_STATUS.get(Number(code)) ?? (Number.isNaN(stated) ? null : stated);
  if (status === null) return new ClientError("unreachable", text, { operation });
  const body = responseOf({ code, message: text, details });
  return new ServiceError(serviceFacts(status, body, null), { operation });
}
