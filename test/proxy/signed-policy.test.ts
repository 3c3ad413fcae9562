/** The proxy under a signed policy, which changes while it runs. */
import { describe, expect, it } from "vitest";
import { openSignedPolicy } from "../../src/index.js";
import { VerifyingProxy } from "../../src/proxy/proxy.js";
import { renameWallet } from "../lab/support.js";
import { livesByItsPolicy } from "../support/living-policy.js";
import { TestFeed } from "../support/signed-policies.js";
import { BASE_URL, ORGANIZATION, testStamper } from "../client/support.js";
import { lyingLab, proxyFor } from "./support.js";

describe("a proxy under a signed policy", () => {
  livesByItsPolicy(async ({ service }, policy) => {
    const client = await service.client();
    const evidence = { now: () => service.now, query: client.query };
    const proxy = new VerifyingProxy({ policy, evidence, allowUnproven: false });
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

const { lab } = await lyingLab();

describe("a proxy that was started with a signed policy", () => {
  it("uses the newest version for the next answer", async () => {
    const feed = new TestFeed();
    const publish = (policy: object): void => void feed.add({ policy, issuedAt: new Date(Date.now() - 60_000) });
    publish(lab.policyFile);
    const source = async (): Promise<string> => feed.text();
    const policy = await openSignedPolicy({ signers: feed.pinned, source, now: () => new Date() });
    const proxy = await proxyFor(lab, { policy });
    const rename = async (): Promise<unknown> => (await renameWallet(proxy.lab, "new")).status;
    expect(await rename()).toBe("ACTIVITY_STATUS_COMPLETED");
    const deployments = (lab.policyFile["deployments"] as readonly object[]).map((one) => ({
      ...one,
      pivotHash: "ab".repeat(32),
    }));
    publish({ ...lab.policyFile, deployments });
    await policy.refresh();
    await expect(rename()).rejects.toThrow();
    expect(proxy.notes.at(-1)).toContain("policy.");
    publish(lab.policyFile);
    await policy.refresh();
    expect(await rename()).toBe("ACTIVITY_STATUS_COMPLETED");
    await proxy.close();
  });
});
