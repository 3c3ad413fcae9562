/** The clients of SDKs in adapters, as doors. */
import { ApiKeyStamper, TurnkeyClient as CoreClient } from "@turnkey/core";
import { reportOf, verified } from "../../src/adapters/index.js";
import type { Lab } from "../../src/lab/index.js";
import type { Json } from "../lab/support.js";
import { type Door, type Opener, type Outcome, POLLING, type Wire, made, outcomeOf } from "../support/lying-doors.js";
import { type AnyClient, SDKS, type Sdk, placeOf } from "./support.js";

/** Doors without memory of anything. */
export const SDK_DOORS: readonly Opener[] = SDKS.map((sdk) => async (wire) => adapterDoor(sdk, wire));

/** A client of an SDK; of core with a callback for MFA. */
export function sdkClient(sdk: Sdk, lab: Lab, baseUrl: string, onMfaRequired?: (context: Json) => unknown): AnyClient {
  if (onMfaRequired === undefined) return sdk.client(placeOf(lab, { baseUrl }));
  const { publicKey: apiPublicKey, privateKey: apiPrivateKey } = lab.apiKey;
  const stamper = new ApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const core = new CoreClient({ apiBaseUrl: baseUrl, organizationId: lab.organizationId }, stamper as never);
  const config = { activityPoller: { intervalMs: 1, numRetries: 1 }, onMfaRequired };
  return core.createHttpClient(config as never) as object as AnyClient;
}

/** The wrapped client of a door, and its options. */
export function wrapped(sdk: Sdk, { lab, url, evidenceUrl }: Wire, client = sdkClient(sdk, lab, url)): AnyClient {
  const evidence = sdk.client(placeOf(lab, { baseUrl: evidenceUrl }));
  return verified(client, { policy: lab.policy, evidence, ...POLLING });
}

function valueOutcome(value: unknown): Outcome {
  const report = reportOf(value);
  const isActivity = typeof value === "object" && value !== null && Object.hasOwn(value, "activity");
  if (report?.verdict === "verified") return made("verified", value, report);
  return made(isActivity ? "unfinished" : "other", value);
}

function adapterDoor(sdk: Sdk, wire: Wire): Door {
  const client = wrapped(sdk, wire);
  const { organizationId: own } = wire.lab;
  const call = (method: string, input: Json): Promise<Outcome> =>
    outcomeOf(async () => valueOutcome(await client[method]!(input)));
  return {
    name: `adapters of ${sdk.name}`,
    kind: "adapters",
    isFlat: sdk.isFlat,
    submit: ({ name, type, method }, parameters, { organizationId = own, timestampMs = String(Date.now()) } = {}) => {
      const whole = { type, timestampMs, organizationId, parameters };
      if (method === "request")
        return outcomeOf(async () => {
          const asking = { ...whole, generateAppProofs: true };
          return valueOutcome(await client.request(`/public/v1/submit/${name}`, asking));
        });
      return call(method, sdk.isFlat ? { organizationId, timestampMs, ...parameters } : whole);
    },
    getActivity: (activityId, { organizationId = own } = {}) => call("getActivity", { organizationId, activityId }),
    list: () => call("getActivities", { organizationId: own }),
    query: (_, method, parameters = {}) => call(method, { organizationId: own, ...parameters }),
    close: async () => {},
  };
}
