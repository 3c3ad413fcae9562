/** Reviews of genuine manifests, as their operators could have made them before they approved. */
import { expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { reviewManifest } from "../../src/review/review.js";
import { releasePolicy } from "../../src/release/policy.js";
import { genuine } from "../release/support.js";
import { releaseNames, releaseOf } from "../support/releases.js";
import { codesOf } from "./support.js";

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
