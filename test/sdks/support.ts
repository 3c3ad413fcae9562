/** The clients of the three SDKs, called alike. */
import { ApiKeyStamper, TurnkeyClient as CoreClient } from "@turnkey/core";
import { TurnkeyClient } from "@turnkey/http";
import { Turnkey } from "@turnkey/sdk-server";
import type { ForeignClient } from "../../src/adapters/index.js";
import type { ApiKeyPair, Lab } from "../../src/lab/index.js";
import { LAB_OPERATIONS } from "../../src/lab/operations.js";
import { rejectionOf } from "../client/support.js";
import type { Json } from "../lab/support.js";

export type AnyClient = ForeignClient & Record<string, (...args: unknown[]) => Promise<Json>>;

interface Place {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly key: ApiKeyPair;
  /** Only core has an auth proxy. */
  readonly authProxyUrl?: string;
}

export interface Sdk {
  readonly name: "http" | "sdk-server" | "core";
  readonly isFlat: boolean;
  readonly client: (place: Place) => AnyClient;
}

const keysOf = ({ key }: Place): { apiPublicKey: string; apiPrivateKey: string } => ({
  apiPublicKey: key.publicKey,
  apiPrivateKey: key.privateKey,
});
const POLLER = { intervalMs: 1, numRetries: 1 };

export const SDKS: readonly Sdk[] = [
  {
    name: "http",
    isFlat: false,
    client: (place) =>
      new TurnkeyClient({ baseUrl: place.baseUrl }, new ApiKeyStamper(keysOf(place))) as object as AnyClient,
  },
  {
    name: "sdk-server",
    isFlat: true,
    client: (place) =>
      new Turnkey({
        apiBaseUrl: place.baseUrl,
        defaultOrganizationId: place.organizationId,
        activityPoller: POLLER,
        ...keysOf(place),
      }).apiClient() as object as AnyClient,
  },
  {
    name: "core",
    isFlat: true,
    client: (place) => {
      const { baseUrl: apiBaseUrl, organizationId, authProxyUrl } = place;
      const proxy = authProxyUrl === undefined ? {} : { authProxyUrl, authProxyConfigId: "id" };
      const stamper = new ApiKeyStamper(keysOf(place));
      const core = new CoreClient({ apiBaseUrl, organizationId, ...proxy }, stamper as never);
      return core.createHttpClient({ activityPoller: POLLER } as never) as object as AnyClient;
    },
  },
];

export function placeOf(lab: Lab, more: Partial<Place> = {}): Place {
  return { baseUrl: lab.baseUrl, organizationId: lab.organizationId, key: lab.apiKey, ...more };
}

const TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(LAB_OPERATIONS).map(([name, { type }]) => [name, type])),
  approveActivity: "ACTIVITY_TYPE_APPROVE_ACTIVITY",
  rejectActivity: "ACTIVITY_TYPE_REJECT_ACTIVITY",
};

/** The input of a submit, in the form of the SDK. */
export function inputOf(sdk: Sdk, method: string, organizationId: string, parameters: Json): Json {
  if (sdk.isFlat) return { organizationId, ...parameters };
  return { type: TYPES[method], timestampMs: String(Date.now()), organizationId, parameters };
}

/** The rejection, which core keeps as the cause of its own error. */
export async function causeOf(calling: Promise<unknown>): Promise<Error> {
  let error: unknown = await rejectionOf(calling);
  while (error instanceof Error && error.name === "TurnkeyError" && error.cause !== undefined) error = error.cause;
  return error as Error;
}
