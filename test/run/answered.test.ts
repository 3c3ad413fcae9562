/** Results from another process: what is taken for them, and what is not. */
import { describe, expect, it } from "vitest";
import { readResults, writeResults } from "../../src/run/answered.js";
import { CHECK_IDS } from "../../src/checks.js";

const [first, second, third] = CHECK_IDS;
const TIMES = ["2026-03-04T05:06:07.000Z", "2026-03-04T05:06:08.000Z"];
const VERIFIED = { n: 7, verdict: "verified", failed: [] };
const REJECTED = { n: 7, verdict: "rejected", failed: [first, third] };
const MALFORMED = { n: 7, verdict: "malformed", failed: [], reason: "no JSON" };

type Numbered = { readonly n?: number };

/** As `writeResults` writes them, whatever they are. */
function written(results: unknown): unknown {
  if (!Array.isArray(results)) return results;
  const forms = (results as readonly unknown[]).map((result) => {
    if (typeof result !== "object" || result === null || !Object.hasOwn(result, "n")) return result;
    return Object.fromEntries(Object.entries(result).filter(([name]) => name !== "n"));
  });
  const [{ n = 7 } = {}] = results.filter(Boolean) as Numbered[];
  return { first: n, forms, order: forms.map((_, index) => index) };
}

const FORMS = [{ verdict: "verified", failed: [] }];

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
    ["a long reason", { ...MALFORMED, reason: "x".repeat(65_536) }],
  ])("%s", (_, result) => {
    expect(readResults(written([result]), 7, 1)).toEqual([result]);
  });

  it("in their order", () => {
    const results = [VERIFIED, { ...REJECTED, n: 8 }];
    expect(readResults(written(results), 7, 2)).toEqual(results);
    expect(readResults(written([...results].reverse()), 7, 2)).toBe(null);
    expect(readResults({ first: 7, forms: [], order: [] }, 7, 0)).toEqual([]);
  });

  it("as they were written, each form once", () => {
    const results = [7, 8, 9].map((n) => ({ n, verdict: "rejected" as const, failed: n === 8 ? [third!] : [first!] }));
    const answer = writeResults(results);
    expect(answer.order).toEqual([0, 1, 0]);
    expect(readResults(JSON.parse(JSON.stringify(answer)), 7, 3)).toEqual(results);
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
    ["a list", { ...FORMS }],
    ["a number of its own", { first: 7, forms: [VERIFIED], order: [0] }],
    ["a form that is not there", { first: 7, forms: FORMS, order: [1] }],
    ["a form below the first", { first: 7, forms: FORMS, order: [-1] }],
    ["half a form", { first: 7, forms: FORMS, order: [0.5] }],
    ["an order that is too long", { first: 7, forms: FORMS, order: [0, 0] }],
    ["no order", { first: 7, forms: FORMS }],
    ["more forms than entries", { first: 7, forms: [...FORMS, ...FORMS], order: [0] }],
    ["no first number", { forms: FORMS, order: [0] }],
    ["another member", [{ ...VERIFIED, file: "x" }]],
    ["another verdict", [{ ...REJECTED, verdict: "good" }]],
    ["no failed checks", [{ n: 7, verdict: "rejected" }]],
    ["failed checks that are a text", [{ ...REJECTED, failed: first }]],
    ["a check that is none", [{ ...REJECTED, failed: ["no.check"] }]],
    ["a known check behind one that is none", [{ ...REJECTED, failed: ["no.check", first] }]],
    ["checks in another order", [{ ...REJECTED, failed: [third, first] }]],
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
    ["malformed, without a reason", [{ n: 7, verdict: "malformed", failed: [] }]],
  ])("%s", (_, value) => {
    expect(readResults(written(value), 7, 1)).toBe(null);
  });
});
