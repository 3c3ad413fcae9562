/** The proxy under a signed policy, which changes while it runs. */
import { describe } from "vitest";
import { VerifyingProxy } from "../../src/proxy/proxy.js";
import { livesByItsPolicy } from "../support/living-policy.js";
import { BASE_URL, ORGANIZATION, testStamper } from "../client/support.js";

describe("a proxy under a signed policy", () => {
  livesByItsPolicy(async ({ service }, policy) => {
    const client = await service.client();
    const now = (): Date => service.now;
    const proxy = new VerifyingProxy({ policy, now, query: client.query, allowUnproven: false });
    return async () => {
      const target = "/public/v1/submit/update_wallet";
      const body = Buffer.from(
        JSON.stringify({
          type: "ACTIVITY_TYPE_UPDATE_WALLET",
          timestampMs: String(service.now.getTime()),
          organizationId: ORGANIZATION,
          parameters: { walletId: "w1", walletName: "new" },
          generateAppProofs: true,
        }),
      );
      const { value } = (await (await testStamper()).stamp(body)) as { readonly value: string };
      const decided = proxy.decide({ method: "POST", target, headers: [["x-stamp", value]], body });
      if ("refused" in decided) throw new Error(decided.refused.body);
      const response = await service.fetch(BASE_URL + target, { method: "POST", body });
      const answer = {
        ...{ status: response.status, rawHeaders: ["Content-Type", "application/json"], rawTrailers: [] },
        body: new Uint8Array(await response.arrayBuffer()),
      };
      const reply = await proxy.answer(decided.forwarded.exchange, answer, new AbortController().signal);
      if (reply.status === 200) return [];
      const { details } = JSON.parse(reply.body) as { readonly details: readonly { readonly id?: string }[] };
      return [...new Set(details.flatMap(({ id }) => id ?? []))];
    };
  });
});
