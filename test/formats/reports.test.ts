import { expect, it } from "vitest";
import { NO_POLICY_ANY_ENCLAVE } from "../../src/bootproof.js";
import type { BundleFacts } from "../../src/bundle/text.js";
import { renderGithub } from "../../src/formats/github.js";
import { renderJunit } from "../../src/formats/junit.js";
import { renderMarkdown } from "../../src/formats/markdown.js";
import { renderSarif } from "../../src/formats/sarif.js";
import { REPORT_RENDERERS, type VerifiedSource } from "../../src/formats/reports.js";
import { REPORT_FORMATS } from "../../src/report/report.js";
import { renderJson } from "../../src/report/json.js";
import { renderText } from "../../src/report/text.js";
import { report } from "../report/reports.js";

const PLAIN = { color: false };
const bundle: BundleFacts = { policyFrom: "bundle", packed: null };
const options = { policy: NO_POLICY_ANY_ENCLAVE, now: new Date(0) } as const;
const judged: VerifiedSource = { report: report({}), bundle: null, evidence: { bootProofs: [] }, options };

it("are the ones that are documented", () => {
  expect(Object.keys(REPORT_RENDERERS)).toEqual([...REPORT_FORMATS]);
});

it("render reports", async () => {
  expect(await REPORT_RENDERERS.text(judged, PLAIN)).toBe(renderText(report({}), PLAIN));
  expect(await REPORT_RENDERERS.json(judged, PLAIN)).toBe(renderJson(report({})));
});

it("render reports for CI", async () => {
  const rows = [
    ["junit", renderJunit],
    ["sarif", renderSarif],
    ["github", renderGithub],
    ["markdown", renderMarkdown],
  ] as const;
  for (const [format, render] of rows) {
    expect(await REPORT_RENDERERS[format](judged, PLAIN)).toBe(render(report({})));
    const told = await REPORT_RENDERERS[format]({ ...judged, bundle }, PLAIN);
    expect(told).toContain("the policy came out of the bundle itself");
  }
});

it("tell what became of a bundle", async () => {
  expect(await REPORT_RENDERERS.text({ ...judged, bundle }, PLAIN)).toMatch(
    /^VERIFIED: [^]* pins\.\nBUT the policy came out of the bundle itself/,
  );
  expect(JSON.parse(await REPORT_RENDERERS.json({ ...judged, bundle }, PLAIN))).toEqual({ ...report({}), bundle });
});
