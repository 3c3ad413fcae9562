/** Reviews of genuine manifests, as their operators could have made them before they approved. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { reviewManifest } from "../../src/review/review.js";
import { renderReview } from "../../src/review/text.js";
import { releasePolicy } from "../../src/release/policy.js";
import { genuine } from "../release/support.js";
import { releaseNames, releaseOf } from "../support/releases.js";
import { codesOf } from "./support.js";

const manifestOf = (version: string, app = "signer"): Uint8Array => releaseOf(version, app).get("manifest")!;

/** The policy of the release's folder, with or without the hash of its manifest. */
async function policyOf(version: string, change: (deployment: Record<string, unknown>) => object = (same) => same) {
  const { policy } = await releasePolicy([await genuine(version)]);
  const deployments = policy.deployments.map((one) => change({ ...one } as Record<string, unknown>));
  return parsePolicy(JSON.stringify({ ...policy, deployments }));
}

const successor = (deployment: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(deployment).filter(([name]) => name !== "manifestHash"));

describe("a review of 2026.9.1", () => {
  it("is good where the policy has the new program, and the rest is as before", async () => {
    const next = await genuine("2026.9.1");
    const pivotHash = Buffer.from(next.manifest!.pivot!.hash).toString("hex");
    const policy = await policyOf("2026.9.0", (one) => ({ ...successor(one), pivotHash }));
    const review = await reviewManifest(manifestOf("2026.9.1"), { policy, previous: manifestOf("2026.9.0") });
    expect(codesOf(review)).toEqual([]);
    expect(review).toMatchObject({ ok: true, deployment: "signer 2026.9.0", measured: [], approvals: [] });
    expect(review.members.map(({ place, status }) => `${place} ${status}`)).toEqual([
      "pivot.restart unchanged",
      "pivot.bridgeConfig unchanged",
      "enclave.qosCommit unchanged",
      "version unchanged",
      "patchSet unchanged",
    ]);
    expect(review.manifestHash).toBe(Buffer.from(next.manifestHash!).toString("hex"));
    expect(review.approvers).toMatchObject({ threshold: 2, members: { length: 11 } });
    const text = renderReview(review);
    expect(text).toMatch(/^Nothing here shows that any hardware booted this manifest/);
    expect(text).toContain(review.manifestHash);
  });
});

it("every genuine manifest is good under the policy of its own release, with the approvals beside it", async () => {
  for (const name of releaseNames()) {
    const [version, app] = name.split("/") as [string, string];
    const files = releaseOf(version, app);
    const approvals = [...files].filter(([file]) => file.endsWith(".approval")).map(([, bytes]) => bytes);
    if (!files.has("manifest") || approvals.length === 0) continue;
    const { policy } = await releasePolicy([await genuine(version, app)]);
    const review = await reviewManifest(files.get("manifest")!, { policy: parsePolicy(policy as never), approvals });
    expect([name, codesOf(review)]).toEqual([name, []]);
    expect(review.approvals).toHaveLength(approvals.length);
  }
});
