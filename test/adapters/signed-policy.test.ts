/** A wrapped client and a wrapped fetch under a signed policy, which changes while they live. */
import { describe, expect } from "vitest";
import { reportOf, verified, verifiedFetch } from "../../src/adapters/index.js";
import { RejectedActivityError } from "../../src/client/index.js";
import type { LivingWorld } from "../support/living-policy.js";
import { livesByItsPolicy } from "../support/living-policy.js";
import { BASE_URL, ORGANIZATION, testStamper } from "../client/support.js";

/** A client of another SDK, as small as it can be. */
class OtherClient {
  readonly config: { readonly world: LivingWorld; readonly organizationId: string };
  readonly updateWallet: (body: object) => Promise<object>;

  constructor(config: OtherClient["config"]) {
    this.config = config;
    this.updateWallet = async (body) => this.request("/public/v1/submit/update_wallet", body);
  }

  async request(path: string, body: unknown): Promise<object> {
    const { fetch } = this.config.world.service;
    const response = await fetch(BASE_URL + path, { method: "POST", body: JSON.stringify(body) });
    return (await response.json()) as object;
  }
}

const submitOf = ({ service }: LivingWorld): object => ({
  type: "ACTIVITY_TYPE_UPDATE_WALLET",
  timestampMs: String(service.now.getTime()),
  organizationId: ORGANIZATION,
  parameters: { walletId: "w1", walletName: "new" },
  generateAppProofs: true,
});

const failuresOf = async (answer: Promise<object>): Promise<readonly string[]> => {
  try {
    expect(reportOf(await answer)).toMatchObject({ signedPolicy: { name: "test/signer" } });
    return [];
  } catch (error) {
    if (error instanceof RejectedActivityError) return [...new Set(error.failures.map(({ id }) => id))];
    throw error;
  }
};

describe("a wrapped client under a signed policy", () => {
  livesByItsPolicy(async (world, policy) => {
    const now = (): Date => world.service.now;
    const client = verified(new OtherClient({ world, organizationId: ORGANIZATION }), { policy, now });
    return () => failuresOf(client.updateWallet(submitOf(world)));
  });
});

describe("a wrapped fetch under a signed policy", () => {
  livesByItsPolicy(async (world, policy) => {
    const { service } = world;
    const evidence = await service.client();
    const now = (): Date => service.now;
    const fetching = verifiedFetch({ policy, baseUrl: BASE_URL, evidence, fetch: service.fetch, now });
    return async () => {
      const body = JSON.stringify(submitOf(world));
      const { header, value } = await (await testStamper()).stamp(Buffer.from(body));
      const headers = { "Content-Type": "application/json", [header]: value };
      const answer = fetching(`${BASE_URL}/public/v1/submit/update_wallet`, { method: "POST", body, headers });
      return failuresOf(answer);
    };
  });
});
