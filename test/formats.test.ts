import { expect, it } from "vitest";
import type { BundleFacts } from "../src/bundle/text.js";
import { RENDERERS } from "../src/formats.js";
import { FORMATS } from "../src/report/report.js";
import { type Inspection } from "../src/inspect/inspect.js";
import { renderJson } from "../src/report/json.js";
import { renderText } from "../src/report/text.js";
import { report } from "./report/reports.js";

const PLAIN = { color: false };
const bundle: BundleFacts = { policyFrom: "bundle", packed: null };
const inspection: Inspection = {
  "NOT VERIFIED": "Nothing below was checked.",
  kind: "app proof",
  encoding: "JSON",
  faults: [],
  leftOut: [],
  says: null,
};

it("are the ones that are documented", () => {
  expect(FORMATS).toEqual(["text", "json"]);
});

it("render reports and inspections", () => {
  expect(RENDERERS.text.report(report({}), { ...PLAIN, bundle: null })).toBe(renderText(report({}), PLAIN));
  expect(RENDERERS.json.report(report({}), { ...PLAIN, bundle: null })).toBe(renderJson(report({})));
  expect(RENDERERS.text.inspection(inspection, PLAIN)).toMatch(/^NOT VERIFIED/);
  expect(JSON.parse(RENDERERS.json.inspection(inspection, PLAIN))).toEqual(inspection);
});

it("tell what became of a bundle", () => {
  expect(RENDERERS.text.report(report({}), { ...PLAIN, bundle })).toMatch(
    /^VERIFIED: [^]* pins\.\nBUT the policy came out of the bundle itself/,
  );
  expect(JSON.parse(RENDERERS.json.report(report({}), { ...PLAIN, bundle }))).toEqual({ ...report({}), bundle });
});
