import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Check } from "../../src/checks.js";
import { type ReportParts, isMadeReport, makeReport } from "../../src/report/report.js";
import { TOOL } from "../../src/version.js";
import { ACTIVITY, BOOT, PASSED, REPORT_MEMBERS, report } from "./reports.js";

const parts = (): ReportParts => ({
  verdict: "verified",
  stale: false,
  policy: "signer, production",
  policyDigest: null,
  verifiedAt: new Date("2026-03-05T06:07:08Z"),
  validationTime: new Date("2026-03-04T05:06:07Z"),
  evidence: [{ subject: "boot[0]", name: "boot.json", sha256: "5a".repeat(32) }],
  checks: PASSED.map((check) => ({ ...check })),
  claims: structuredClone({
    bootProofs: [BOOT],
    appProofs: [{ bootProof: 0, type: "T", time: "t", payload: { a: [{ b: 1 }] }, expectation: null, answers: null }],
    activity: ACTIVITY,
  }),
});

it("the tool is this package, in its version", () => {
  const { name, version } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  ) as typeof TOOL;
  expect(TOOL).toEqual({ name, version });
});

describe("makeReport", () => {
  it("answers the parts in the order of the contract, times in RFC 3339", () => {
    const made = makeReport(parts());
    expect(Object.keys(made)).toEqual(REPORT_MEMBERS);
    expect(made).toMatchObject({
      tool: TOOL,
      policyDigest: null,
      verifiedAt: "2026-03-05T06:07:08.000Z",
      validationTime: "2026-03-04T05:06:07.000Z",
    });
    expect(made).toMatchObject({
      evidence: parts().evidence,
      checks: PASSED,
      claims: { bootProofs: [BOOT], activity: ACTIVITY },
    });
    expect(makeReport({ ...parts(), validationTime: null }).validationTime).toBeNull();
  });

  it("is stale only where it is rejected, and for age alone", () => {
    const old: Check = { id: "policy.age", subject: "policy", status: "fail", detail: "old", stale: true };
    const rejected = { ...parts(), verdict: "rejected", stale: true, claims: null } as const;
    expect(makeReport({ ...rejected, checks: [...PASSED, old] }).stale).toBe(true);
    const other: Check = { id: "policy.age", subject: "policy", status: "fail", detail: "old" };
    for (const checks of [PASSED, [old, other], [other]])
      expect(() => makeReport({ ...rejected, checks })).toThrow(/^bug: rejected as stale/);
    expect(() => makeReport({ ...parts(), stale: true })).toThrow(/^bug: verified as stale/);
  });

  it("answers nothing that can be changed, at any depth", () => {
    const open: string[] = [];
    const walk = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      for (const [name, member] of Object.entries(value)) walk(member, `${path}.${name}`);
    };
    walk(makeReport(parts()), "report");
    expect(open).toEqual([]);
  });

  it("is not changed by what becomes of the lists it was given", () => {
    const given = parts();
    const made = makeReport(given);
    (given.checks as Check[]).length = 0;
    expect(made.checks).toHaveLength(PASSED.length);
  });

  it("refuses parts that contradict each other", () => {
    const failed = { ...PASSED[0]!, status: "fail" as const };
    expect(() => makeReport({ ...parts(), checks: [failed] })).toThrow("bug: verified, with a failed check");
    expect(() => makeReport({ ...parts(), verdict: "authentic", checks: [failed] })).toThrow(
      "bug: authentic, with a failed check",
    );
    expect(() => makeReport({ ...parts(), claims: null })).toThrow("bug: verified, without claims");
    expect(() => makeReport({ ...parts(), verdict: "rejected" })).toThrow("bug: rejected, with claims");
    expect(makeReport({ ...parts(), verdict: "rejected", checks: [failed], claims: null }).claims).toBeNull();
  });
});

describe("isMadeReport", () => {
  it("knows what makeReport made, that very object", () => {
    expect(isMadeReport(makeReport(parts()))).toBe(true);
  });

  it.each<[string, unknown]>([
    ["one made by hand", report({})],
    ["a copy", { ...makeReport(parts()) }],
    ["one that was read", JSON.parse(JSON.stringify(makeReport(parts())))],
    ["a clone", structuredClone(makeReport(parts()))],
    ["one with it as prototype", Object.create(makeReport(parts()))],
    ["a proxy of one", new Proxy(makeReport(parts()), {})],
    ["null", null],
    ["nothing", undefined],
    ["text", "verified"],
  ])("knows not %s", (_, value) => {
    expect(isMadeReport(value)).toBe(false);
  });
});
