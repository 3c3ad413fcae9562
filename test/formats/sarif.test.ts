/** SARIF: held against the published schema, and against what code scanning demands beyond it. */
import { describe, expect, it, vi } from "vitest";
import { CHECK_IDS, CHECK_TITLES } from "../../src/checks.js";
import { renderSarif, renderSarifFailure } from "../../src/formats/sarif.js";
import { explainCheck } from "../../src/report/explanations.js";
import type { Notice } from "../../src/report/facts.js";
import type { Report } from "../../src/report/report.js";
import { TOOL } from "../../src/version.js";
import type { Loose } from "../support/loose.js";
import { sarifFaults } from "./schemas.js";
import {
  AUTHENTIC,
  FAILED,
  FAILURE,
  HOSTILE,
  NOTICES,
  PIECELESS,
  REJECTED,
  STALE_REPORT,
  TOLD,
  UNKNOWN_STATUS,
  VERIFIED,
  WITH_WARNING,
  rejected,
} from "./told.js";

interface Run {
  readonly tool: { readonly driver: Loose };
  readonly invocations: readonly object[];
  readonly artifacts: readonly object[];
  readonly results: readonly Loose[];
  readonly properties: Loose;
}

const runOf = (told: Report, notices: readonly Notice[] = []): Run =>
  (JSON.parse(renderSarif(told, notices)) as { readonly runs: readonly [Run] }).runs[0];
const uris = (told: Report): string[] =>
  runOf(told).results.map(({ locations }) => locations[0].physicalLocation.artifactLocation.uri);

describe("in place of a report", () => {
  it("is a run that failed, with each problem at its file, and without results", () => {
    const log = JSON.parse(renderSarifFailure(FAILURE)) as { readonly runs: readonly Run[] };
    expect(sarifFaults(log)).toEqual([]);
    const advice = "Read the help.\nOr the README.";
    expect(log.runs).toEqual([
      {
        tool: { driver: { ...TOOL, informationUri: "https://www.npmjs.com/package/bootproof" } },
        invocations: [
          {
            executionSuccessful: false,
            exitCode: 2,
            toolExecutionNotifications: [
              {
                level: "error",
                message: { text: `the evidence cannot be read\nexpected an object\n${advice}` },
                locations: [{ physicalLocation: { artifactLocation: { uri: "a%20%3Cb%3E.json" } } }],
              },
              { level: "error", message: { text: `the evidence cannot be read\nno policy\n${advice}` } },
            ],
          },
        ],
      },
    ]);
  });
});

describe("SARIF", () => {
  it.each(TOLD)("is as the schema demands: %s", (_, told) => {
    expect(sarifFaults(JSON.parse(renderSarif(told, NOTICES)))).toEqual([]);
  });

  it("is refused by that schema where it is not", () => {
    const log = JSON.parse(renderSarif(VERIFIED)) as { runs: Record<string, unknown>[] };
    log.runs[0]!["verdict"] = "verified";
    expect(sarifFaults(log)).not.toEqual([]);
  });

  it.each(TOLD)("names a rule and a place for each result, and keeps them apart: %s", (_, told) => {
    const { results, tool } = runOf(told, NOTICES);
    for (const { ruleId, ruleIndex, locations } of results) {
      expect(tool.driver["rules"][ruleIndex].id).toBe(ruleId);
      expect(locations[0].physicalLocation.region.startLine).toBe(1);
      expect(locations[0].physicalLocation.artifactLocation.uri).toMatch(/^[\w.~!*'()%/-]+$/);
    }
    const prints = results.map(({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash);
    expect(new Set(prints).size).toBe(results.length);
    expect(prints.filter((print) => !/^[0-9a-f]{16}:1$/.test(print))).toEqual([]);
  });

  it("has results of failures and warnings, and none of what passed or was skipped", () => {
    const levels = runOf(REJECTED).results.map(({ ruleId, level }) => [ruleId, level]);
    expect(levels).toEqual([
      ["chain.anchor", "note"],
      ["policy.pcrs", "error"],
    ]);
    expect(runOf(VERIFIED).results).toEqual([]);
    expect(runOf(STALE_REPORT).results.map(({ ruleId }) => ruleId)).toEqual(["policy.age"]);
  });

  it("says what was compared, whole, and what to do", () => {
    expect(runOf(REJECTED).results[1]!["message"].text).toBe(
      'boot[0] = "evidence/boot proof.json": PCR0 is another one\n' +
        `expected  PCR0 ${"aa".repeat(48)}\n          PCR1 ${"bb".repeat(48)}\n` +
        `actual    PCR0 ${"ab".repeat(48)}\n          PCR1 ${"bb".repeat(48)}\n` +
        "to do     Compare with the release you expect.",
    );
    expect(runOf(STALE_REPORT).results[0]!["message"].text).toContain("\nstale     genuine, but older than");
  });

  it("has a result of the verdict where no failed check says it", () => {
    const [result] = runOf(PIECELESS).results;
    expect(result).toMatchObject({ ruleId: "verdict", level: "error" });
    expect(result!["message"].text).toMatch(/^REJECTED: nothing is proven\./);
    expect(runOf(REJECTED).results.map(({ ruleId }) => ruleId)).not.toContain("verdict");
  });

  it("has a warning of the verdict where something takes weight from it", () => {
    const [result] = runOf(WITH_WARNING, NOTICES).results;
    expect(result).toMatchObject({ ruleId: "verdict", level: "warning" });
    expect(result!["message"].text).toMatch(
      /^VERIFIED with 2 warnings: [^]*\nWARNING the policy came with the bundle\nWARNING the cert/,
    );
    expect(runOf(REJECTED, NOTICES).results[0]).toMatchObject({ ruleId: "verdict", level: "error" });
  });

  it("does not take an unknown status for a good one", () => {
    const result = runOf(UNKNOWN_STATUS).results.find(({ ruleId }) => ruleId === "cose.novel")!;
    expect(result["level"]).toBe("error");
    expect(result["message"].text).toContain("unknown status perfect: PCR0");
  });

  it("explains every check", () => {
    const { rules } = runOf(VERIFIED).tool.driver as { readonly rules: readonly Loose[] };
    expect(rules.map(({ id }) => id)).toEqual(["verdict", ...CHECK_IDS]);
    const names = rules.map(({ name }) => name as unknown as string);
    expect(names).toEqual(expect.arrayContaining(["ReportVerdict", "ChainAnchor", "PolicyQuorumKey"]));
    expect(names.filter((name) => !/^(?:[A-Z][a-z0-9]*)+$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    for (const { id, shortDescription, help, properties } of rules.slice(1)) {
      expect(properties).toEqual({ tags: ["security"] });
      expect(help.text).toContain(`Source: ${explainCheck(id as keyof typeof CHECK_TITLES).sources.join("; ")}`);
      expect(shortDescription.text).toBe(CHECK_TITLES[id as keyof typeof CHECK_TITLES]);
      for (const heading of ["What it proves", "Which attacks it stops", "What to do", "Source"]) {
        expect(help.text).toContain(`${heading}: `);
        expect(help.markdown).toContain(`**${heading}**\n\n`);
      }
    }
  });

  it("tells the verdict, warnings, what is not proven, and by what it was made", () => {
    const { properties, invocations, tool, artifacts } = runOf(WITH_WARNING, NOTICES);
    const informationUri = "https://www.npmjs.com/package/bootproof";
    expect(tool.driver).toMatchObject({ name: "bootproof", version: "1.2.3", informationUri });
    expect(invocations).toEqual([{ executionSuccessful: true }]);
    expect(properties).toMatchObject({
      verdict: "verified",
      stale: false,
      warnings: ["the policy came with the bundle", expect.stringContaining("lab-root") as string],
      notes: ["The bundle was made at noon.", "- verdict: verified in the report, rejected by its evidence"],
      notProven: [{ heading: "Not proven", statements: expect.arrayContaining([]) as string[] }],
      policy: "signer, production",
      policySha256: "9d".repeat(32),
      checks: { pass: 2, fail: 0, warn: 1, skip: 0 },
    });
    expect(JSON.stringify(properties["notProven"])).toContain("That the enclave is AWS hardware");
    expect(JSON.stringify(runOf(AUTHENTIC).properties)).toContain("Whose enclave this is");
    expect(artifacts).toEqual([
      {
        location: { uri: "evidence/boot%20proof.json" },
        description: { text: "boot[0] = evidence/boot proof.json" },
        hashes: { "sha-256": "13".repeat(32) },
      },
      {
        location: { uri: "apps.json" },
        description: { text: "app[0] = apps.json" },
        hashes: { "sha-256": "f7".repeat(32) },
      },
    ]);
  });

  it.each([
    ["boot proof.json", "boot%20proof.json"],
    ["boots.json[12]", "boots.json"],
    ["boots[1].json", "boots%5B1%5D.json"],
    ["/tmp/a b/boot.json", "file:///tmp/a%20b/boot.json"],
    ["C:\\evidence\\boot.json", "file:///C%3A/evidence/boot.json"],
    ["../boot.json", "../boot.json"],
    ["//evil.example/boot.json", "file:///evil.example/boot.json"],
    ["javascript:alert(1)", "javascript%3Aalert(1)"],
    ["a?b#c%d", "a%3Fb%23c%25d"],
    ["\ud800.json", "%5Cu%7Bd800%7D.json"],
  ])("puts a finding about %j at %s", (name, uri) => {
    const evidence = [{ subject: "boot[0]" as const, name, sha256: null }];
    expect(uris(rejected([{ ...FAILED, name }], { evidence }))).toEqual([uri]);
  });

  it("puts a finding about no file at the first one, so that none is refused", () => {
    const ofNone = { id: "policy.app-proof", subject: "policy", status: "fail", detail: "missing" } as const;
    expect(uris(rejected([ofNone]))).toEqual(["evidence/boot%20proof.json"]);
    expect(uris(rejected([ofNone], { evidence: [] }))).toEqual(["evidence"]);
  });

  it("puts a finding about an app proof of an activity at the activity", () => {
    const evidence = [
      { subject: "boot[0]" as const, name: "boot.json", sha256: null },
      { subject: "activity" as const, name: "activity.json", sha256: null },
    ];
    const check = { id: "app.key", subject: "app[4]", status: "fail", detail: "strange" } as const;
    expect(uris(rejected([check], { evidence }))).toEqual(["activity.json"]);
  });

  it("keeps the fingerprint of a finding while its values change, and not of another", () => {
    const printOf = (check: object): string =>
      runOf(rejected([{ ...FAILED, ...check }])).results[0]!["partialFingerprints"].primaryLocationLineHash;
    expect(printOf({ detail: "another", actual: "another" })).toBe(printOf({}));
    expect(printOf({ about: "boot[1]" })).not.toBe(printOf({}));
    expect(printOf({ id: "policy.age" })).not.toBe(printOf({}));
  });

  it("has the same fingerprint in QuickJS, whose asUintN answers with negative numbers", () => {
    const printed = (): string => runOf(rejected([FAILED])).results[0]!["partialFingerprints"].primaryLocationLineHash;
    const before = printed();
    const stub = vi.spyOn(BigInt, "asUintN").mockImplementation((bits, value) => BigInt.asIntN(bits, value));
    expect(printed()).toBe(before);
    stub.mockRestore();
  });

  it("lets evidence make no links and no arguments of messages", () => {
    for (const { message } of runOf(HOSTILE).results) {
      expect(message.text).not.toContain("](");
      expect(message.text.replace(/\{\{|\}\}/g, "")).not.toMatch(/[{}]/);
    }
  });
});
