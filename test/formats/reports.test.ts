import { describe, expect, it } from "vitest";
import { NO_POLICY_ANY_ENCLAVE } from "../../src/bootproof.js";
import type { BundleFacts } from "../../src/bundle/text.js";
import { renderGithub } from "../../src/formats/github.js";
import { renderJunit } from "../../src/formats/junit.js";
import { renderMarkdown } from "../../src/formats/markdown.js";
import { renderSarif } from "../../src/formats/sarif.js";
import { renderVsa } from "../../src/formats/vsa.js";
import { REPORT_RENDERERS, type VerifiedSource } from "../../src/formats/reports.js";
import { type AppProofClaims, REPORT_FORMATS } from "../../src/report/report.js";
import { renderJson } from "../../src/report/json.js";
import { renderText } from "../../src/show/text.js";
import { CHALLENGE, UNTIMED, report } from "../report/reports.js";

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
    expect(told).toContain("the policy came with the bundle");
  }
});

it.each([renderJunit, renderSarif, renderGithub, renderMarkdown, renderVsa])(
  "take no report for none: %s",
  async (render) => {
    for (const value of [null, {}])
      await expect((async () => render(value as never, [] as never))()).rejects.toThrow(TypeError);
  },
);

it("tell what became of a bundle", async () => {
  expect(await REPORT_RENDERERS.text({ ...judged, bundle }, PLAIN)).toMatch(
    /^VERIFIED with 1 warning: [^]* pins\.\nWARNING the policy came with the bundle/,
  );
  expect(JSON.parse(await REPORT_RENDERERS.json({ ...judged, bundle }, PLAIN))).toEqual({ ...report({}), bundle });
});

// A page is made of evidence, which these reports have none of.
describe.each(REPORT_FORMATS.filter((format) => format !== "html"))("%s takes app proofs", (format) => {
  const rendered = async (proof: AppProofClaims): Promise<string> => {
    const claims = { ...report({}).claims!, appProofs: [proof] };
    const text = await REPORT_RENDERERS[format]({ ...judged, report: report({ claims }) }, PLAIN);
    if (format !== "ear") return text;
    return Buffer.from(text.split(".")[1]!, "base64url").toString();
  };
  const ANSWER = { ...UNTIMED, answers: CHALLENGE };
  const hasStatements = ["text", "json", "markdown", "sarif"].includes(format);

  it("without a time: a warning, and no time is made up", async () => {
    const text = await rendered(UNTIMED);
    expect(text).not.toMatch(/1970|Invalid|undefined|NaN/);
    if (format !== "json" && format !== "vsa") expect(text).toMatch(/app\[0\]`? has no time: it may be an old answer/);
    if (format === "ear") expect(JSON.parse(text)).toMatchObject({ ear_status: "warning" });
    if (format === "json") expect(JSON.parse(text)).toMatchObject({ claims: { appProofs: [{ time: null }] } });
  });

  it("that answer a challenge", async () => {
    const text = await rendered(ANSWER);
    expect(text.includes(CHALLENGE.value)).toBe(hasStatements);
    expect(text).not.toContain("has no time: it may be");
  });
});
