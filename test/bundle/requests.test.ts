/** A bundle has no request: what only the request decides is not a difference between its report and a new one. */
import { describe, expect, it } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { decodeBundle } from "../../src/bundle/file.js";
import { packBundle } from "../../src/bundle/pack.js";
import { POLICY_OF_THE_BUNDLE, verifyBundle } from "../../src/bundle/verify.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { parseTrustAnchor } from "../../src/verify/trust-anchor.js";
import { ACCEPTED } from "../attacks/accepted.table.js";
import { NOW, forge, lab } from "../attacks/support.js";
import { IS_LONG } from "../support/long.js";

/** Every third, or each where `BOOTPROOF_TESTS=long`. */
const EACH = IS_LONG ? 1 : 3;
const ASKED = ACCEPTED.filter(({ judge }) => judge?.given && judge.expected && !judge.noPolicy).filter(
  (_, index) => index % EACH === 0,
);

describe("accepted evidence that was packed with its request", () => {
  it.each(ASKED)("$name", async ({ forge: alterations, judge = {} }) => {
    const { expected, given, deployments = (all) => [all], now = NOW } = judge;
    const evidence = forge(alterations);
    const policy = labPolicy(evidence.anchorPem, deployments(labDeployment(lab)), judge.policy);
    const { bundle, report } = await packBundle(given!(evidence), {
      policy: policy as unknown as PolicyFile,
      now,
      expected: expected!,
    });
    expect(report.verdict).toBe("verified");
    const { packed } = await verifyBundle(decodeBundle(JSON.stringify(bundle)), {
      policy: POLICY_OF_THE_BUNDLE,
      trustAnchors: [parseTrustAnchor("lab", evidence.anchorPem)],
      now,
    });
    expect(packed).toMatchObject({ verdict: "verified", differences: [] });
  });
});
