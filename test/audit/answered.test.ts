/** Results from another process: what is taken for them, and what is not. */
import { describe, expect, it } from "vitest";
import { readResults } from "../../src/audit/answered.js";
import { CHECK_IDS } from "../../src/checks.js";

const [first, second, third] = CHECK_IDS;
const TIMES = ["2026-03-04T05:06:07.000Z", "2026-03-04T05:06:08.000Z"];
const VERIFIED = { n: 7, verdict: "verified", failed: [] };
const REJECTED = { n: 7, verdict: "rejected", failed: [first, third] };
const MALFORMED = { n: 7, verdict: "malformed", failed: [], reason: "no JSON" };

describe("results are taken", () => {
  it.each<[string, object]>([
    ["verified", VERIFIED],
    [
      "authentic, with all that an accepted one may have",
      {
        ...VERIFIED,
        verdict: "authentic",
        deployments: ["prod"],
        notApplied: ["maxAge"],
        documentTimes: TIMES,
      },
    ],
    ["rejected", REJECTED],
    ["verified, and refused by a strict setting", { ...VERIFIED, refusedFor: ["a BUT"] }],
    ["rejected, stale, with a reason", { ...REJECTED, failed: [second], stale: true, reason: "too old" }],
    ["malformed", MALFORMED],
    ["a long reason", { ...MALFORMED, reason: "x".repeat(65_536) }],
  ])("%s", (_, result) => {
    expect(readResults([result], 7, 1)).toEqual([result]);
  });

  it("in their order", () => {
    const results = [VERIFIED, { ...REJECTED, n: 8 }];
    expect(readResults(results, 7, 2)).toEqual(results);
    expect(readResults([...results].reverse(), 7, 2)).toBe(null);
    expect(readResults([], 7, 0)).toEqual([]);
  });
});

describe("results are refused", () => {
  it.each<[string, unknown]>([
    ["no list", { 0: VERIFIED, length: 1 }],
    ["one too few", []],
    ["one too many", [VERIFIED, { ...VERIFIED, n: 8 }]],
    ["null", [null]],
    ["inherited members", [Object.create(VERIFIED)]],
    ["a list in place of a result", [[7]]],
    ["another number", [{ ...VERIFIED, n: 8 }]],
    ["no number", [{ verdict: "verified", failed: [] }]],
    ["another member", [{ ...VERIFIED, file: "x" }]],
    ["another verdict", [{ ...REJECTED, verdict: "good" }]],
    ["no failed checks", [{ n: 7, verdict: "rejected" }]],
    ["failed checks that are a text", [{ ...REJECTED, failed: first }]],
    ["a check that is none", [{ ...REJECTED, failed: ["no.check"] }]],
    ["a known check behind one that is none", [{ ...REJECTED, failed: ["no.check", first] }]],
    ["checks in another order", [{ ...REJECTED, failed: [third, first] }]],
    ["a check twice", [{ ...REJECTED, failed: [first, first] }]],
    ["refused for nothing", { ...VERIFIED, refusedFor: [] }],
    ["refused, and rejected", { ...REJECTED, refusedFor: ["a BUT"] }],
    ["refused, with a failed check", { ...VERIFIED, failed: [first], refusedFor: ["a BUT"] }],
    ["stale: false", [{ ...REJECTED, stale: false }]],
    ["a reason that is none", [{ ...REJECTED, reason: 1 }]],
    ["a reason that is too long", [{ ...MALFORMED, reason: "x".repeat(65_537) }]],
    ["deployments that are a text", [{ ...VERIFIED, deployments: "prod" }]],
    ["a deployment that is no text", [{ ...VERIFIED, deployments: [1] }]],
    ["rules that are a text", [{ ...VERIFIED, notApplied: "maxAge" }]],
    ["one time", [{ ...VERIFIED, documentTimes: TIMES.slice(1) }]],
    ["three times", [{ ...VERIFIED, documentTimes: [...TIMES, TIMES[0]] }]],
    ["times that are a text", [{ ...VERIFIED, documentTimes: "xy" }]],
    ["a time that is none", [{ ...VERIFIED, documentTimes: [TIMES[0], "yesterday"] }]],
    ["a time with more before it", [{ ...VERIFIED, documentTimes: [TIMES[0], `x${TIMES[1]}`] }]],
    ["a time with more behind it", [{ ...VERIFIED, documentTimes: [TIMES[0], `${TIMES[1]}x`] }]],
    ["accepted, with a failed check", [{ ...VERIFIED, failed: [first] }]],
    ["accepted, and stale", [{ ...VERIFIED, stale: true }]],
    ["malformed, with a failed check", [{ ...MALFORMED, failed: [first] }]],
    ["malformed, without a reason", [{ n: 7, verdict: "malformed", failed: [] }]],
  ])("%s", (_, value) => {
    expect(readResults(value, 7, 1)).toBe(null);
  });
});
