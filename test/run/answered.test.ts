/** Results from another process: what is taken for them, and what is not. */
import { describe, expect, it } from "vitest";
import { readResults, writeResults } from "../../src/run/answered.js";
import type { EntryResult } from "../../src/run/result.js";
import { CHECK_IDS } from "../../src/checks.js";

const [first, second, third] = CHECK_IDS;
const TIMES = ["2026-03-04T05:06:07.000Z", "2026-03-04T05:06:08.000Z"];
const VERIFIED = { verdict: "verified", failed: [], warnings: [] };
const REJECTED = { verdict: "rejected", failed: [first, third], warnings: [] };
const MALFORMED = { verdict: "malformed", failed: [], warnings: [], reason: "no JSON" };

/** As `writeResults` writes them, whatever they are. */
function written(results: unknown): unknown {
  return Array.isArray(results) ? { forms: results as unknown[], order: results.map((_, index) => index) } : results;
}

const FORMS = [VERIFIED];

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
    ["verified, and refused by a strict setting", { ...VERIFIED, refusedFor: ["a warning"] }],
    ["rejected, stale, with a reason", { ...REJECTED, failed: [second], stale: true, reason: "too old" }],
    ["malformed", MALFORMED],
    ["unjudged", { ...MALFORMED, verdict: "unjudged" }],
    ["a long reason", { ...MALFORMED, reason: "x".repeat(65_536) }],
  ])("%s", (_, result) => {
    expect(readResults(written([result]), 1)).toEqual([result]);
  });

  it("in their order, each form once", () => {
    const results = [VERIFIED, REJECTED, VERIFIED] as EntryResult[];
    const answer = writeResults(results);
    expect(answer.order).toEqual([0, 1, 0]);
    expect(readResults(JSON.parse(JSON.stringify(answer)), 3)).toEqual(results);
    expect(readResults({ forms: [], order: [] }, 0)).toEqual([]);
  });
});

describe("results are refused", () => {
  it.each<[string, unknown]>([
    ["no list", { 0: VERIFIED, length: 1 }],
    ["one too few", []],
    ["one too many", [VERIFIED, VERIFIED]],
    ["null", [null]],
    ["inherited members", [Object.create(VERIFIED)]],
    ["a list in place of a result", [[7]]],
    ["a list", { ...FORMS }],
    ["a form that is not there", { forms: FORMS, order: [1] }],
    ["a form below the first", { forms: FORMS, order: [-1] }],
    ["half a form", { forms: FORMS, order: [0.5] }],
    ["an order that is too long", { forms: FORMS, order: [0, 0] }],
    ["no order", { forms: FORMS }],
    ["more forms than entries", { forms: [...FORMS, ...FORMS], order: [0] }],
    ["another member", [{ ...VERIFIED, file: "x" }]],
    ["another verdict", [{ ...REJECTED, verdict: "good" }]],
    ["no failed checks", [{ verdict: "rejected", warnings: [] }]],
    ["failed checks that are a text", [{ ...REJECTED, failed: first }]],
    ["a check that is none", [{ ...REJECTED, failed: ["no.check"] }]],
    ["a known check behind one that is none", [{ ...REJECTED, failed: ["no.check", first] }]],
    ["checks in another order", [{ ...REJECTED, failed: [third, first] }]],
    ["no warnings", [{ verdict: "verified", failed: [] }]],
    ["a warning that is no check", [{ ...VERIFIED, warnings: ["no.check"] }]],
    ["unjudged, without a reason", [{ verdict: "unjudged", failed: [], warnings: [] }]],
    ["a check twice", [{ ...REJECTED, failed: [first, first] }]],
    ["refused for nothing", [{ ...VERIFIED, refusedFor: [] }]],
    ["refused, and rejected", [{ ...REJECTED, refusedFor: ["a warning"] }]],
    ["refused, with a failed check", [{ ...VERIFIED, failed: [first], refusedFor: ["a warning"] }]],
    ["stale: false", [{ ...REJECTED, stale: false }]],
    ["a reason that is none", [{ ...REJECTED, reason: 1 }]],
    ["a reason that is too long", [{ ...MALFORMED, reason: "x".repeat(65_537) }]],
    ["deployments that are a text", [{ ...VERIFIED, deployments: "prod" }]],
    ["a deployment that is not text", [{ ...VERIFIED, deployments: [1] }]],
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
    ["malformed, without a reason", [{ verdict: "malformed", failed: [], warnings: [] }]],
  ])("%s", (_, value) => {
    expect(readResults(written(value), 1)).toBe(null);
  });
});
