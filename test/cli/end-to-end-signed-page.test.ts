/** The page of a report under a signed policy. Needs `npm run build`, which makes the page's script in dist/. */
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { TestFeed, newSigner } from "../support/signed-policies.js";
import { type Answer, bootproof, fileOf, refused } from "./support.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();
const forged = forgeEvidence({ lab, at: AT });
const signers = [newSigner("p384"), newSigner("ed25519")];
const feed = new TestFeed(signers, 2, "prod/signer");
feed.add({ policy: labPolicy(forged.anchorPem, [labDeployment(lab)]), issuedAt: AT });
const BY_FEED = ["--policy", fileOf(feed.text(), "feed.jsonl"), "--policy-signers", fileOf(feed.pinned, "s.json")];
const run = (...argv: readonly string[]): Promise<Answer> => bootproof(["verify", ...argv], { now: AT.toISOString() });

it("names the version and its signers, and verifies under the caller's policy alone", async () => {
  expect(existsSync(new URL("../../dist/page/script.js", import.meta.url))).toBe(true);
  const { stdout } = await run("--boot-proof", fileOf(forged.bootProof), ...BY_FEED, "--format", "html");
  expect(stdout).toMatch(/version 1 of .{1,8}prod\/signer/);
  for (const { keyid } of signers) expect(stdout).toContain(keyid);
  const page = fileOf(stdout, "page.html");
  expect((await run(page, ...BY_FEED)).code).toBe(0);
  await refused(2, run(page, "--bundle-policy"), /the policy in .* is signed, and never judges/);
});
