/** Results of other processes: the form that this package writes, and nothing else. */
import { describe, expect, it } from "vitest";
import { readResults } from "../../src/audit/answered.js";

const TIME = "2026-03-04T05:06:07.000Z";
const good = {
  n: 7,
  verdict: "verified",
  failed: [],
  deployments: ["prod"],
  notApplied: [],
  documentTimes: [TIME, TIME],
};
const rejected = { n: 7, verdict: "rejected", failed: ["chain.anchor", "policy.age"], stale: true };
const malformed = { n: 7, verdict: "malformed", failed: [], reason: "no evidence" };

describe("results of another process", () => {
  it.each([good, rejected, malformed, { ...good, deployments: undefined, stale: undefined }])(
    "are read: %j",
    (result) => {
      expect(readResults([result], 7, 1)).toEqual([result]);
    },
  );

  it.each<[string, unknown]>([
    ["no list", { 0: good }],
    ["none", []],
    ["more than there are entries", [good, { ...good, n: 8 }]],
    ["another number", [{ ...good, n: 8 }]],
    ["a file", [{ ...good, file: "a" }]],
    ["an unknown member", [{ ...good, more: 1 }]],
    ["an unknown verdict", [{ ...good, verdict: "good" }]],
    ["an unknown check", [{ ...rejected, failed: ["no.check"] }]],
    ["checks in another order", [{ ...rejected, failed: ["policy.age", "chain.anchor"] }]],
    ["a check twice", [{ ...rejected, failed: ["chain.anchor", "chain.anchor"] }]],
    ["stale that is false", [{ ...rejected, stale: false }]],
    ["a long reason", [{ ...malformed, reason: "x".repeat(65_537) }]],
    ["a time of another form", [{ ...good, documentTimes: [TIME, "2026-03-04"] }]],
    ["one time", [{ ...good, documentTimes: [TIME] }]],
    ["accepted, with a failed check", [{ ...good, failed: ["policy.age"] }]],
    ["accepted and stale", [{ ...good, stale: true }]],
    ["malformed without a reason", [{ ...malformed, reason: undefined }]],
    ["malformed with a failed check", [{ ...malformed, failed: ["policy.age"] }]],
    ["inherited members", [Object.create(good)]],
  ])("are refused: %s", (_, value) => {
    expect(readResults(value, 7, 1)).toBeNull();
  });
});
