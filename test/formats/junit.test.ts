/** JUnit XML, held against the schema of Jenkins by libxml2. */
import { describe, expect, it } from "vitest";
import { renderJunit, renderJunitFailure } from "../../src/formats/junit.js";
import type { Report } from "../../src/report/report.js";
import { NamedEvidence, verifyEvidence } from "../../src/index.js";
import { forge, optionsOf } from "../attacks/support.js";
import { junitFaults } from "./schemas.js";
import { CONTRADICTORY, FAILURE, NOTICES, REJECTED, TOLD, UNKNOWN_STATUS, VERIFIED, WITH_WARNING } from "./told.js";

interface Case {
  readonly classname: string;
  readonly name: string;
  readonly inner: string;
}

function casesOf(xml: string): Case[] {
  const found = xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)" time="0"(?:\/>|>(.*?)<\/testcase>)/gs);
  return [...found].map(([, classname, name, inner = ""]) => ({ classname: classname!, name: name!, inner }));
}

/** Jenkins takes what is before the last dot of a class for its package, and shows the rest. */
function jenkinsPlace(classname: string): readonly [pack: string, name: string] {
  const dot = classname.lastIndexOf(".");
  return dot < 0 ? ["(root)", classname] : [classname.slice(0, dot), classname.slice(dot + 1)];
}

const count = (xml: string, element: string): number =>
  xml.split(`<${element} `).length + xml.split(`<${element}>`).length - 2;
const named = (report: Report, id: string): Case =>
  casesOf(renderJunit(report)).find(({ name }) => name.startsWith(id))!;

describe("in place of a report", () => {
  it("is one test case in error, with every problem and what to do", () => {
    const xml = renderJunitFailure(FAILURE);
    expect(xml.match(/<testsuites? .*>/g)).toEqual([
      '<testsuites name="bootproof" tests="1" failures="0" errors="1" time="0">',
      '<testsuite name="bootproof" tests="1" failures="0" errors="1" skipped="0" time="0">',
    ]);
    expect(casesOf(xml)).toEqual([
      { classname: "bootproof.report", name: "verdict", inner: expect.any(String) as string },
    ]);
    expect(casesOf(xml)[0]!.inner.trim()).toBe(
      '<error type="exit code 2" message="the evidence cannot be read">a &lt;b&gt;.json: expected an object\n' +
        "no policy\nRead the help.\nOr the README.</error>",
    );
  });
});

describe("JUnit XML", () => {
  it("is as the schema demands, which refuses others", async () => {
    const xml = TOLD.map(([, report]) => renderJunit(report, NOTICES));
    expect(await junitFaults(renderJunitFailure(FAILURE), ...xml)).toEqual([]);
    for (const [from, to] of [["<testsuite ", "<testsuit "] as const, ["bootproof", "\u0001"] as const])
      expect(await junitFaults(renderJunit(VERIFIED).replace(from, to))).not.toEqual([]);
  });

  it.each(TOLD)("counts right: %s", (_, report) => {
    const xml = renderJunit(report, NOTICES);
    expect(casesOf(xml)).toHaveLength(report.checks.length + 1);
    for (const line of xml.match(/^ *<testsuites? .*>$/gm)!) {
      expect(line).toContain(` tests="${casesOf(xml).length}" `);
      expect(line).toContain(` failures="${count(xml, "failure")}" errors="${count(xml, "error")}"`);
    }
    expect(xml).toContain(` skipped="${count(xml, "skipped")}" `);
  });

  it("has a test case for each check, in the class of its kind, named after the check and the piece", () => {
    expect(named(REJECTED, "policy.pcrs")).toMatchObject({
      classname: "bootproof.policy",
      name: "policy.pcrs: the measurements are pinned (boot[0])",
    });
    expect(named(REJECTED, "app.request")).toMatchObject({ classname: "bootproof.app" });
    expect(named(UNKNOWN_STATUS, "cose.novel")).toMatchObject({ classname: "bootproof.cose" });
  });

  it("has classes of one package for Jenkins, and no name twice, whatever the files are called", async () => {
    const { bootProof, appProofs } = forge();
    const twice = (kind: string, json: unknown): NamedEvidence[] =>
      ["1.0", "2.0"].map((version) => new NamedEvidence(`a.b/${kind}.v${version}.json`, json));
    const evidence = { bootProofs: twice("boot", bootProof), appProofs: twice("app", appProofs[0]) };
    const { report } = await verifyEvidence(evidence, optionsOf(forge(), {}));
    expect(report.checks.length).toBeGreaterThan(70);
    for (const each of [report, ...TOLD.map(([, told]) => told)]) {
      const places = casesOf(renderJunit(each, NOTICES)).map(({ classname }) => jenkinsPlace(classname));
      expect(new Set(places.map(([pack]) => pack))).toEqual(new Set(["bootproof"]));
    }
    const ours = casesOf(renderJunit(report));
    expect(ours.filter(({ classname }) => !/^bootproof\.[a-z]+$/.test(classname))).toEqual([]);
    expect(new Set(ours.map(({ classname, name }) => `${classname} ${name}`)).size).toBe(report.checks.length + 1);
  });

  it("says of a failure what was compared, whole, and what to do", () => {
    const { inner } = named(REJECTED, "policy.pcrs");
    expect(inner.trim()).toBe(
      `<failure type="policy.pcrs" message="PCR0 is another one">` +
        `boot[0] = &quot;evidence/boot proof.json&quot;\nPCR0 is another one\n` +
        `expected  PCR0 ${"aa".repeat(48)}\n          PCR1 ${"bb".repeat(48)}\n` +
        `actual    PCR0 ${"ab".repeat(48)}\n          PCR1 ${"bb".repeat(48)}\n` +
        "to do     Compare with the release you expect.</failure>",
    );
  });

  it("passes what is only a warning, and tells it; skips with the reason", () => {
    expect(named(WITH_WARNING, "chain.anchor").inner.trim()).toBe(
      "<system-out>WARNING: starts at another one</system-out>",
    );
    expect(named(VERIFIED, "app.request").inner.trim()).toBe("<skipped>nobody asked</skipped>");
  });

  it("has an error where the status is none of ours", () => {
    expect(named(UNKNOWN_STATUS, "cose.novel").inner).toContain(
      '<error type="cose.novel" message="unknown status perfect: PCR0 is another one">',
    );
  });

  it("says that a report contradicts itself", () => {
    expect(casesOf(renderJunit(CONTRADICTORY))[0]!.inner).toContain(
      'message="REFUSED: the verdict &quot;verified&quot; is wrong: a check failed."',
    );
  });

  it("tells verdict, warnings, notes and what is not proven with the verdict, and as properties", () => {
    const xml = renderJunit(WITH_WARNING, NOTICES);
    const { inner } = casesOf(xml)[0]!;
    for (const words of [
      "VERIFIED with 2 warnings: every check passed",
      "\nWARNING the policy came with the bundle\n",
      "\nWARNING the certificates lead to &quot;lab-root&quot;, not to AWS",
      "\nThe bundle was made at noon.\n- verdict: verified in the report, rejected by its evidence\n",
      "\nNot proven\n- That the enclave is AWS hardware",
    ])
      expect(inner).toContain(words);
    for (const [name, value] of [
      ["verdict", "verified"],
      ["stale", "false"],
      ["policy", "signer, production"],
      ["policy.sha256", "9d".repeat(32)],
      ["verified-at", "2026-03-05T06:07:08.000Z"],
      ["evidence.boot[0]", `evidence/boot proof.json, SHA-256 ${"13".repeat(32)}`],
      ["tool", "bootproof 1.2.3"],
      ["warning.1", "the policy came with the bundle"],
      ["note.1", "The bundle was made at noon."],
    ])
      expect(xml).toContain(`<property name="${name!}" value="${value!}"/>`);
    expect(xml).toContain(' timestamp="2026-03-05T06:07:08"');
  });
});
