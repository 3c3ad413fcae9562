/** The digest of a setting: the same for what judges the same. */
import { expect, it } from "vitest";
import { policyDigest } from "../../src/audit/setting.js";

it("has no order of the files that a policy names", async () => {
  const digestOf = (anchors: Readonly<Record<string, string>>): Promise<string> =>
    policyDigest({ policy: { text: "{}", anchors } });
  const digest = await digestOf({ a: "1", b: "2", c: "3" });
  expect(await digestOf({ c: "3", a: "1", b: "2" })).toBe(digest);
  expect(await digestOf({ b: "2", c: "3", a: "1" })).toBe(digest);
  expect(await digestOf({ a: "2", b: "1", c: "3" })).not.toBe(digest);
  expect(await digestOf({ a: "1", b: "2" })).not.toBe(digest);
});
